//! Every shape of every answer, as servers send it and as no server should.

mod actions;
mod completions;
mod diagnostics;
mod edits;
mod hierarchy;
mod hostile;
mod hover;
mod locations;
mod outline;
mod symbols;

use std::fmt::Debug;

use expect_test::Expect;

use super::{Caps, ReadError};
use crate::protocol::positions::Range;
use crate::protocol::types::FileRef;

/// Reads `raw` and compares what `show` says of it.
fn check<T>(
    read: impl Fn(&[u8], &Caps) -> Result<T, ReadError>,
    show: impl Fn(&T) -> String,
    raw: &str,
    expected: &Expect,
) {
    let shown = match read(raw.as_bytes(), &Caps::default()) {
        Ok(answer) => show(&answer),
        Err(error) => format!("error: {error}"),
    };
    expected.assert_eq(&shown);
}

fn lines(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

fn show_range(range: &Range) -> String {
    let Range { start, end } = range;
    format!("{}:{}-{}:{}", start.line, start.character, end.line, end.character)
}

fn show_file(file: &FileRef) -> String {
    match file {
        FileRef::Path(path) => path.display().to_string(),
        FileRef::Foreign(uri) => format!("<{uri}>"),
    }
}

/// ` key=value` where there is one.
fn show_some<T: Debug>(key: &str, value: &Option<T>) -> String {
    value.as_ref().map(|value| format!(" {key}={value:?}")).unwrap_or_default()
}

/// ` flag` where it is set.
fn show_flag(flag: &str, set: bool) -> String {
    if set { format!(" {flag}") } else { String::new() }
}
