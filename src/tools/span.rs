//! RANGE: a part of a file as agents give it, 1-based, its end exclusive; left out, the whole file. Pure.

use crate::config::count;
use crate::protocol::positions::{LineMap, Point};

use super::{
    args::{Args, invalid},
    outcome::Failure,
};

/// A range as it was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Given {
    start_line: Option<u32>,
    start_column: Option<u32>,
    end_line: Option<u32>,
    end_column: Option<u32>,
}

impl Given {
    /// Reads the range out of a call's arguments.
    ///
    /// # Errors
    /// `invalid` for a number that is none.
    pub(super) fn read(args: &mut Args<'_>) -> Result<Self, Failure> {
        Ok(Self {
            start_line: args.number("start_line")?,
            start_column: args.number("start_column")?,
            end_line: args.number("end_line")?,
            end_column: args.number("end_column")?,
        })
    }

    /// The part of a text that is meant; nothing for all of it. A start alone means the rest of its line.
    ///
    /// # Errors
    /// `invalid` for a place past the end, an end before the start, or a column without its line.
    pub(super) fn in_text(self, lines: &LineMap, shown: &str) -> Result<Option<(Point, Point)>, Failure> {
        let Self { start_line, start_column, end_line, end_column } = self;
        let Some(first) = start_line else {
            if self == Self::default() {
                return Ok(None);
            }
            return Err(invalid(
                "a range is given without `start_line`",
                "give start_line, or nothing for the whole file",
            ));
        };
        let last = end_line.unwrap_or(first);
        let start = place(lines, shown, first, start_column.unwrap_or(1))?;
        let count = lines.line_count();
        let end = match end_column {
            // What ends at the beginning of the line behind the last one ends with the text.
            Some(1) | None if last == count + 1 => end_of(lines, count),
            None => end_of(lines, last.min(count)),
            Some(column) => place(lines, shown, last, column)?,
        };
        if last > count + 1 {
            return Err(beyond(lines, shown, last));
        }
        if end < start {
            return Err(invalid("the range ends before it starts", "give end_line and end_column behind the start"));
        }
        Ok(Some((start, end)))
    }
}

fn end_of(lines: &LineMap, line: u32) -> Point {
    Point { line: line - 1, column: lines.line_columns(line - 1).unwrap_or_default() }
}

fn place(lines: &LineMap, shown: &str, line: u32, column: u32) -> Result<Point, Failure> {
    let Some(columns) = lines.line_columns(line - 1) else { return Err(beyond(lines, shown, line)) };
    if column > columns + 1 {
        let mut failure = invalid(
            format!("line {line} of {shown} has {columns} columns, and column {column} was asked for"),
            format!("give a column from 1 to {}", columns + 1),
        );
        failure.details.extend(lines.line(line - 1).map(str::to_owned));
        return Err(failure);
    }
    Ok(Point { line: line - 1, column: column - 1 })
}

fn beyond(lines: &LineMap, shown: &str, line: u32) -> Failure {
    let last = lines.line_count();
    let what = format!("{shown} has {}, and line {line} was asked for", count(last as usize, "line", "lines"));
    invalid(what, format!("give a line from 1 to {last}"))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    use super::*;

    fn check(arguments: Value, expected: &Expect) {
        let Value::Object(map) = arguments else { panic!("an object") };
        let lines = LineMap::new("one\n😀 two\nthree\n".into());
        let read = Given::read(&mut Args::new(&map)).and_then(|given| given.in_text(&lines, "a.py"));
        let said = match read {
            Ok(None) => "all".to_owned(),
            Ok(Some((start, end))) => format!("{}:{}-{}:{}", start.line, start.column, end.line, end.column),
            Err(failure) => format!("{}; {}", failure.what, failure.next),
        };
        expected.assert_eq(&said);
    }

    #[test]
    fn parts_of_a_file() {
        check(json!({}), &expect!["all"]);
        check(json!({"start_line": 2}), &expect!["1:0-1:5"]);
        check(json!({"start_line": 1, "end_line": 2}), &expect!["0:0-1:5"]);
        check(json!({"start_line": 2, "start_column": 3, "end_line": 2, "end_column": 6}), &expect!["1:2-1:5"]);
        check(json!({"start_line": 1, "end_line": 5}), &expect!["0:0-3:0"]);
        check(json!({"start_line": "3", "end_line": 4, "end_column": 1}), &expect!["2:0-3:0"]);
    }

    #[test]
    fn what_is_no_part() {
        check(
            json!({"end_line": 2}),
            &expect!["a range is given without `start_line`; give start_line, or nothing for the whole file"],
        );
        check(
            json!({"start_line": 9}),
            &expect!["a.py has 4 lines, and line 9 was asked for; give a line from 1 to 4"],
        );
        check(
            json!({"start_line": 1, "end_line": 9}),
            &expect!["a.py has 4 lines, and line 9 was asked for; give a line from 1 to 4"],
        );
        check(
            json!({"start_line": 2, "start_column": 7}),
            &expect!["line 2 of a.py has 5 columns, and column 7 was asked for; give a column from 1 to 6"],
        );
        check(
            json!({"start_line": 2, "end_line": 1}),
            &expect!["the range ends before it starts; give end_line and end_column behind the start"],
        );
    }
}
