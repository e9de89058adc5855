//! What commands print. Only commands that a person runs do: of `serve`, stdout belongs to the protocol.

use std::io::{self, Write};

use crate::sys::secrets;

/// Prints to stdout. A reader that has gone away (`| head`) wants no more, which is no error.
///
/// # Errors
/// Stdout cannot be written for any other reason.
pub fn print(text: &str) -> io::Result<()> {
    ignore_gone(io::stdout().lock().write_all(text.as_bytes()))
}

/// Prints a line; a closed pipe is nobody's fault.
pub fn line(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Prints a remark to stderr.
pub fn note(text: &str) {
    // Where stderr is closed there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "{}", secrets::hide(text));
}

fn ignore_gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Rows in columns, each as wide as its widest cell; the last one is never padded.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            text += cell;
            if column + 1 < row.len() {
                text += &" ".repeat(widths[column] - cell.chars().count() + 2);
            }
        }
        text.push('\n');
    }
    text
}
