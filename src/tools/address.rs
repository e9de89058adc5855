//! The address that all position tools share, as far as text alone decides it: a position, or a name on a line. Pure.

use crate::config::count;
use crate::protocol::positions::{LineMap, Point};

use super::{
    args::{Args, invalid},
    outcome::Failure,
    symbol_path::SymbolPath,
};

/// How far from the given line a name is looked for: agents' line numbers are often off by an edit.
const DRIFT: u32 = 3;
/// Identifiers of a line that a message lists.
pub(super) const LISTED: usize = 12;

/// An address as it was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Address {
    pub file: Option<String>,
    /// 1-based.
    pub line: Option<u32>,
    /// 1-based, in code points.
    pub column: Option<u32>,
    pub symbol: Option<String>,
    /// 1-based.
    pub occurrence: Option<u32>,
}

/// Reads an address out of any arguments and looks for it in a text: the whole of this module for those who throw odd
/// inputs at it.
#[doc(hidden)]
pub fn exercise(arguments: &serde_json::Map<String, serde_json::Value>, text: &str) {
    let lines = LineMap::new(text.into());
    for aim in [Aim::Name, Aim::Cursor] {
        let found = Address::read(&mut Args::new(arguments)).and_then(|address| in_text(&lines, "a.py", &address, aim));
        if let Ok(found) = found {
            assert!(found.at.line as usize <= text.len(), "a place inside the text");
        }
    }
}

/// A place in a text, and what to tell about how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub at: Point,
    pub note: Option<String>,
}

/// What a position is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// A name that stands there: white space is an error that helps.
    Name,
    /// A place between characters, where something is being typed.
    Cursor,
}

impl Address {
    /// Reads the address out of a call's arguments.
    ///
    /// # Errors
    /// `invalid` when an argument is malformed or the combination addresses nothing.
    pub(super) fn read(args: &mut Args<'_>) -> Result<Self, Failure> {
        let address = Self {
            file: args.text("file_path")?,
            line: args.number("line")?,
            column: args.number("column")?,
            symbol: args.text("symbol")?,
            occurrence: args.number("occurrence")?,
        };
        let next = "give file_path with line and column, file_path with line and symbol, file_path with symbol, or symbol alone";
        match &address {
            Self { file: None, symbol: None, .. } => Err(invalid("nothing is addressed", next)),
            Self { file: None, line: Some(_), .. } => Err(invalid("`line` is given without `file_path`", next)),
            Self { line: None, column: Some(_), .. } => Err(invalid("`column` is given without `line`", next)),
            Self { line: None, symbol: None, .. } => Err(invalid("the file is addressed, but no place in it", next)),
            _ => Ok(address),
        }
    }
}

/// The place of a line and column, or of a name on a line. `shown` is the file as the message shall name it.
///
/// # Errors
/// `invalid` for a position past the end or on white space, `not_found` for a name that is not near the line; both show
/// the line and its identifiers.
pub(super) fn in_text(lines: &LineMap, shown: &str, address: &Address, aim: Aim) -> Result<Found, Failure> {
    let Some(line) = address.line else { return Err(invalid("`line` is missing", "give a line")) };
    let row = line - 1;
    if row >= lines.line_count() {
        let last = lines.line_count();
        return Err(invalid(
            format!("{shown} has {}, and line {line} was asked for", count(last as usize, "line", "lines")),
            format!("give a line from 1 to {last}"),
        ));
    }
    match (&address.symbol, address.column) {
        (Some(symbol), column) => named(lines, shown, row, symbol, column, address.occurrence),
        (None, Some(column)) => at_column(lines, shown, row, column, aim),
        (None, None) => Err(with_line(
            invalid(format!("line {line} of {shown} has many places"), "add a column or a symbol"),
            lines,
            row,
        )),
    }
}

fn at_column(lines: &LineMap, shown: &str, row: u32, column: u32, aim: Aim) -> Result<Found, Failure> {
    let text = lines.line(row).unwrap_or_default();
    let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    let at = Point { line: row, column: column - 1 };
    if at.column > length {
        let what = format!("line {} of {shown} has {length} columns, and column {column} was asked for", row + 1);
        return Err(with_line(
            invalid(what, format!("give a column from 1 to {}, or a symbol", length + 1)),
            lines,
            row,
        ));
    }
    if aim == Aim::Cursor {
        return Ok(Found { at, note: None });
    }
    let names = lines.identifiers_on(row);
    // One past the end still touches the name; servers differ there, so they are asked about its start.
    if let Some(name) = names
        .iter()
        .find(|name| name.start <= at.column && at.column < name.end)
        .or_else(|| names.iter().find(|name| name.end == at.column))
    {
        let inside = at.column < name.end;
        return Ok(Found { at: if inside { at } else { Point { line: row, column: name.start } }, note: None });
    }
    let blank = text.chars().nth(at.column as usize).is_none_or(char::is_whitespace);
    if blank {
        let what = format!("there is no name at line {}, column {column} of {shown}", row + 1);
        return Err(with_line(invalid(what, "give the column of a name, or the name as symbol"), lines, row));
    }
    Ok(Found { at, note: None })
}

fn named(
    lines: &LineMap,
    shown: &str,
    row: u32,
    symbol: &str,
    column: Option<u32>,
    occurrence: Option<u32>,
) -> Result<Found, Failure> {
    let name = SymbolPath::parse(symbol).map_or_else(|| symbol.to_owned(), |path| path.name().to_owned());
    let here = occurrences(lines, row, &name, symbol);
    if !here.is_empty() {
        let index = match (occurrence, column) {
            (Some(wanted), _) if wanted as usize > here.len() => {
                let what = format!(
                    "line {} of {shown} has {} of `{name}`, and occurrence {wanted} was asked for",
                    row + 1,
                    here.len()
                );
                return Err(with_line(
                    invalid(what, format!("give an occurrence from 1 to {}", here.len())),
                    lines,
                    row,
                ));
            }
            (Some(wanted), _) => wanted as usize - 1,
            (None, Some(column)) => (0..here.len()).min_by_key(|i| here[*i].abs_diff(column - 1)).unwrap_or(0),
            (None, None) => 0,
        };
        return Ok(Found { at: Point { line: row, column: here[index] }, note: None });
    }
    for distance in 1..=DRIFT {
        for near in [row.checked_add(distance), row.checked_sub(distance)].into_iter().flatten() {
            if let Some(first) = occurrences(lines, near, &name, symbol).first() {
                let note = format!("`{name}` is not on line {} but on line {}", row + 1, near + 1);
                return Ok(Found { at: Point { line: near, column: *first }, note: Some(note) });
            }
        }
    }
    let mut failure = invalid(
        format!("`{name}` is not on line {} of {shown}, nor within {DRIFT} lines of it", row + 1),
        "give another line, or file_path and symbol without a line",
    );
    failure.code = super::outcome::Code::NotFound;
    Err(with_line(failure, lines, row))
}

/// Columns of a name on a line: as an identifier, else (for names with other characters) as it was written.
pub(super) fn occurrences(lines: &LineMap, row: u32, name: &str, written: &str) -> Vec<u32> {
    let columns: Vec<u32> =
        lines.identifiers_on(row).iter().filter(|found| found.text == name).map(|found| found.start).collect();
    if !columns.is_empty() {
        return columns;
    }
    let Some(text) = lines.line(row) else { return columns };
    for needle in [written, name] {
        let plain = needle.chars().all(|c| c == '_' || c.is_alphanumeric());
        if needle.is_empty() || plain {
            continue;
        }
        let found: Vec<u32> = text
            .match_indices(needle)
            .map(|(byte, _)| u32::try_from(text[..byte].chars().count()).unwrap_or(u32::MAX))
            .collect();
        if !found.is_empty() {
            return found;
        }
    }
    columns
}

/// Adds the line and its identifiers with their columns.
fn with_line(mut failure: Failure, lines: &LineMap, row: u32) -> Failure {
    failure.details.push(format!("{}: {}", row + 1, lines.line(row).unwrap_or_default()));
    failure.details.extend(listed(lines, row));
    failure
}

/// The identifiers of a line, each with its column.
pub(super) fn listed(lines: &LineMap, row: u32) -> Option<String> {
    let names = lines.identifiers_on(row);
    let each: Vec<String> =
        names.iter().take(LISTED).map(|name| format!("{} at column {}", name.text, name.start + 1)).collect();
    let more = names.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    (!each.is_empty()).then(|| format!("names: {}{more}", each.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "def add_up(a, b):\n    return a + b\n\ns = \"😀é\"; total = add_up(1, 2)\n\t日本 = total\n";

    fn ask(line: u32, column: Option<u32>, symbol: Option<&str>, occurrence: Option<u32>) -> Result<Found, Failure> {
        let address = Address { file: None, line: Some(line), column, symbol: symbol.map(str::to_owned), occurrence };
        in_text(&LineMap::new(TEXT.into()), "calc.py", &address, Aim::Name)
    }

    fn point(line: u32, column: u32) -> Found {
        Found { at: Point { line, column }, note: None }
    }

    #[test]
    fn columns_count_code_points() {
        assert_eq!(ask(4, Some(11), None, None).unwrap(), point(3, 10));
        assert_eq!(ask(4, None, Some("total"), None).unwrap(), point(3, 10));
        assert_eq!(ask(5, Some(2), None, None).unwrap(), point(4, 1), "a tab is one column");
    }

    #[test]
    fn one_past_a_name_still_means_it() {
        assert_eq!(ask(1, Some(11), None, None).unwrap(), point(0, 4));
    }

    #[test]
    fn white_space_is_an_error_that_lists_the_names() {
        let failure = ask(2, Some(1), None, None).unwrap_err();
        assert_eq!(failure.what, "there is no name at line 2, column 1 of calc.py");
        assert_eq!(
            failure.details,
            ["2:     return a + b", "names: return at column 5, a at column 12, b at column 16"]
        );
    }

    #[test]
    fn past_the_end_shows_the_line() {
        assert_eq!(ask(1, Some(40), None, None).unwrap_err().next, "give a column from 1 to 18, or a symbol");
        assert_eq!(ask(99, Some(1), None, None).unwrap_err().next, "give a line from 1 to 6");
    }

    #[test]
    fn a_name_is_found_by_occurrence_by_nearness_and_within_three_lines() {
        assert_eq!(ask(1, None, Some("a"), None).unwrap(), point(0, 11));
        assert_eq!(ask(4, None, Some("add_up"), Some(1)).unwrap(), point(3, 18));
        assert_eq!(ask(4, None, Some("add_up"), Some(2)).unwrap_err().next, "give an occurrence from 1 to 1");
        let moved = ask(3, None, Some("total"), None).unwrap();
        assert_eq!(
            moved,
            Found { at: Point { line: 3, column: 10 }, note: Some("`total` is not on line 3 but on line 4".into()) }
        );
        assert_eq!(ask(1, None, Some("nowhere"), None).unwrap_err().code, crate::tools::outcome::Code::NotFound);
    }
}
