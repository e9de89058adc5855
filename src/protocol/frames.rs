//! Reads LSP's base protocol from any byte stream within fixed bounds: what is no header is handed on as junk, a length
//! that cannot be honoured ends the stream. Knows nothing of JSON.

use std::io;

use bytes::BufMut;
use tokio::io::{AsyncRead, AsyncReadExt};

/// A body's memory is reserved in steps of this size, so that a declared length costs nothing before bytes arrive.
const STEP: usize = 1024 * 1024;
const BUFFER: usize = 32 * 1024;
const LENGTH: &[u8] = b"content-length";

/// What a reader accepts.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrameLimits {
    pub header: usize,
    pub body: usize,
    /// A larger body is not read yet.
    pub keep: usize,
    /// Bytes that are no message, in a row.
    pub junk: usize,
}

/// Why no further frame can come.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    #[error("end of output")]
    Eof,
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The stream cannot be followed any longer; says what was seen.
    #[error("{0}")]
    Bad(String),
}

/// A message's body.
#[derive(Debug)]
pub(super) enum Body {
    Whole(Vec<u8>),
    /// One of this length. It has to be fetched, or passed over, before the next one can be read.
    Large(usize),
}

/// Cuts a byte stream into message bodies.
pub(super) struct FrameReader<R, J> {
    input: R,
    on_junk: J,
    limits: FrameLimits,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
}

impl<R: AsyncRead + Unpin, J: FnMut(&[u8])> FrameReader<R, J> {
    pub(super) fn new(input: R, limits: FrameLimits, on_junk: J) -> Self {
        let buffer = vec![0; BUFFER.max(limits.header.saturating_mul(2))].into_boxed_slice();
        Self { input, on_junk, limits, buffer, start: 0, end: 0 }
    }

    /// The next message's body.
    ///
    /// # Errors
    ///
    /// [`FrameError`]; the reader is of no use afterwards.
    pub(super) async fn next(&mut self) -> Result<Body, FrameError> {
        let length = self.header().await?;
        if length > self.limits.keep {
            return Ok(Body::Large(length));
        }
        let mut body = Vec::new();
        self.fetch(length, &mut body).await?;
        Ok(Body::Whole(body))
    }

    /// Whether all that was read has been given out.
    pub(super) fn is_drained(&self) -> bool {
        self.start == self.end
    }

    /// Shows a large body piece by piece, keeping nothing.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub(super) async fn pass_over(
        &mut self,
        length: usize,
        show: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<(), FrameError> {
        let mut left = length;
        loop {
            let ready = left.min(self.end - self.start);
            show(&self.buffer[self.start..self.start + ready]);
            self.start += ready;
            left -= ready;
            if left == 0 {
                return Ok(());
            }
            (self.start, self.end) = (0, self.input.read(&mut self.buffer).await?);
            if self.end == 0 {
                return Err(cut_off(length - left, length));
            }
        }
    }

    async fn header(&mut self) -> Result<usize, FrameError> {
        let mut length = None;
        let (mut header, mut junk) = (0, 0);
        loop {
            let (from, to) = self.line(length.is_some(), &mut junk).await?;
            let line = &self.buffer[from..to];
            match classify(line, length.is_some()) {
                Line::Blank => {
                    if let Some(length) = length {
                        return Ok(length);
                    }
                }
                Line::Header => header += line.len(),
                Line::Junk => {
                    junk += line.len();
                    (self.on_junk)(line);
                }
                Line::Length { before, digits } => {
                    if !before.is_empty() {
                        junk += before.len();
                        (self.on_junk)(before);
                    }
                    header += line.len();
                    length = Some(self.length(digits)?);
                }
                Line::BadLength(value) => {
                    return Err(FrameError::Bad(no_number(value)));
                }
            }
            if header > self.limits.header {
                return Err(FrameError::Bad(format!("a header of more than {} bytes", self.limits.header)));
            }
            self.check_junk(junk)?;
        }
    }

    fn length(&self, digits: &[u8]) -> Result<usize, FrameError> {
        let text = String::from_utf8_lossy(digits);
        match text.parse::<u128>() {
            Ok(length) if length <= self.limits.body as u128 => Ok(usize::try_from(length).unwrap_or(usize::MAX)),
            _ => Err(FrameError::Bad(format!(
                "a message of {} bytes; the limit is {}",
                text.get(..40).unwrap_or(&text),
                self.limits.body
            ))),
        }
    }

    /// The next line without its end, as a range of the buffer.
    async fn line(&mut self, in_header: bool, junk: &mut usize) -> Result<(usize, usize), FrameError> {
        let mut searched = 0;
        loop {
            let waiting = &self.buffer[self.start..self.end];
            let found = memchr::memchr(b'\n', &waiting[searched..]);
            let length = found.map_or(waiting.len(), |at| searched + at);
            if length > self.limits.header {
                // Progress bars of package downloads end their lines with `\r` alone.
                let bar = memchr::memrchr(b'\r', waiting[..length].trim_ascii_end());
                let Some(at) = bar.filter(|at| *at > 0 && !in_header) else {
                    return Err(FrameError::Bad(format!("a header line of more than {} bytes", self.limits.header)));
                };
                (self.on_junk)(&waiting[..at]);
                *junk += at;
                self.check_junk(*junk)?;
                self.start += at;
                searched = 0;
            } else if found.is_some() {
                let from = self.start;
                self.start += length + 1;
                return Ok((from, from + length));
            } else {
                searched = length;
                self.fill().await?;
            }
        }
    }

    fn check_junk(&self, junk: usize) -> Result<(), FrameError> {
        if junk <= self.limits.junk {
            return Ok(());
        }
        Err(FrameError::Bad(format!("more than {} bytes in a row that are no message", self.limits.junk)))
    }

    async fn fill(&mut self) -> Result<(), FrameError> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let read = self.input.read(&mut self.buffer[self.end..]).await?;
        if read == 0 {
            if self.end > self.start {
                (self.on_junk)(&self.buffer[self.start..self.end]);
            }
            return Err(FrameError::Eof);
        }
        self.end += read;
        Ok(())
    }

    /// Reads a body, or the rest of one, of which `body` has the beginning. Can be given up between two pieces.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub(super) async fn fetch(&mut self, length: usize, body: &mut Vec<u8>) -> Result<(), FrameError> {
        let ready = (length - body.len()).min(self.end - self.start);
        body.reserve_exact((length - body.len()).min(STEP));
        body.extend_from_slice(&self.buffer[self.start..self.start + ready]);
        self.start += ready;
        while body.len() < length {
            if body.len() == body.capacity() {
                body.reserve_exact((length - body.len()).min(STEP));
            }
            let missing = length - body.len();
            if self.input.read_buf(&mut (&mut *body).limit(missing)).await? == 0 {
                return Err(cut_off(body.len(), length));
            }
        }
        Ok(())
    }
}

fn cut_off(come: usize, length: usize) -> FrameError {
    FrameError::Bad(format!("only {come} of the {length} bytes of its last message"))
}

#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    Blank,
    /// A header that says nothing to us.
    Header,
    Length {
        before: &'a [u8],
        digits: &'a [u8],
    },
    BadLength(&'a [u8]),
    Junk,
}

fn classify(line: &[u8], in_header: bool) -> Line<'_> {
    // Text-mode output on Windows makes `\r\r\n` of `\r\n`; some runtimes begin their output with a byte order mark.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Line::Blank;
    }
    let found = line.windows(LENGTH.len()).rposition(|window| window.eq_ignore_ascii_case(LENGTH));
    if let Some(at) = found {
        let (before, rest) = line.split_at(at);
        if let Some(value) = rest[LENGTH.len()..].trim_ascii_start().strip_prefix(b":") {
            let digits = value.trim_ascii();
            if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
                return Line::Length { before, digits };
            }
            if before.is_empty() {
                return Line::BadLength(digits);
            }
        }
    }
    let name_end = memchr::memchr(b':', line).unwrap_or(0);
    let name = &line[..name_end];
    let is_name = name_end > 0 && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    if is_name && (in_header || name.eq_ignore_ascii_case(b"content-type")) { Line::Header } else { Line::Junk }
}

/// A length that is none. The reason is langport's sentence: only what can pass for a number stands in it.
fn no_number(value: &[u8]) -> String {
    let like = value.len() <= 24 && value.iter().all(|byte| byte.is_ascii_digit() || b"+-.,_xXeE ".contains(byte));
    let shown = if like { format!(": `{}`", String::from_utf8_lossy(value)) } else { String::new() };
    format!("a Content-Length that is no number{shown}")
}
