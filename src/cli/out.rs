//! What a command prints for a person or a script. Never used by `serve`, whose standard output is the protocol's.

use std::io::Write;

/// Prints a line; a closed pipe is nobody's fault.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
