//! Frames on the fake's own side of the pipes.

use std::io::{BufRead, Write};

use serde_json::Value;

/// The next message's body; `None` at the end of the stream.
pub(crate) fn read(input: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let mut body = vec![0; length?];
    input.read_exact(&mut body).ok()?;
    Some(body)
}

/// Writes one framed message.
pub(crate) fn write(output: &mut impl Write, message: &Value) -> std::io::Result<()> {
    let body = serde_json::to_vec(message)?;
    output.write_all(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes())?;
    output.write_all(&body)?;
    output.flush()
}

/// A message as the bytes of a frame, for scripts that send odd ones.
pub(crate) fn frame(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}
