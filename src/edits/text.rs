//! One file's edits made in its text: ranges found, ordered, checked, line ends adapted. Pure, and linear but for the
//! sorting.

use std::borrow::Cow;
use std::sync::Arc;

use super::snippet;
use crate::protocol::positions::{Encoding, LineMap, Position};
use crate::protocol::types::TextEdit;

/// Why edits cannot be made in a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TextError {
    #[error("a range of the edit ends before it starts (line {line})", line = .0 + 1)]
    Reversed(u32),
    #[error("a range of the edit begins or ends in the middle of a character (line {line})", line = .0 + 1)]
    Inside(u32),
    #[error("two edits overlap (line {line})", line = .0 + 1)]
    Overlap(u32),
    #[error("the edit is a snippet that needs an editor ({0})")]
    Snippet(&'static str),
    #[error("the new text would have {0} bytes")]
    TooLarge(u64),
}

/// How a text ends its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnds {
    Lf,
    CrLf,
    /// Mixed, `\r` alone, or none at all.
    Other,
}

impl LineEnds {
    pub(super) fn of(text: &str) -> LineEnds {
        let bytes = text.as_bytes();
        let (mut lf, mut crlf) = (false, false);
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            match bytes[at] {
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => crlf = true,
                b'\r' => return LineEnds::Other,
                _ if at > 0 && bytes[at - 1] == b'\r' => {}
                _ => lf = true,
            }
            if lf && crlf {
                return LineEnds::Other;
            }
        }
        match (lf, crlf) {
            (true, false) => LineEnds::Lf,
            (false, true) => LineEnds::CrLf,
            _ => LineEnds::Other,
        }
    }

    /// `text` with its line ends made like these.
    fn adapt(self, text: &str) -> Cow<'_, str> {
        match self {
            LineEnds::Lf if text.contains("\r\n") => Cow::Owned(text.replace("\r\n", "\n")),
            LineEnds::CrLf if memchr::memchr(b'\n', text.as_bytes()).is_some() => {
                Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n"))
            }
            _ => Cow::Borrowed(text),
        }
    }
}

/// What came of edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edited {
    pub(super) text: Arc<str>,
    /// How many edits changed something.
    pub(super) places: usize,
}

/// Makes all edits in `base`, a text without byte order mark. Ranges past a line's or the text's end are clamped to it.
///
/// # Errors
/// When they are no valid edits of one text, such as one that would take a half of a character away, or the result would have more than `limit` bytes.
pub(super) fn edit(base: &LineMap, edits: &[TextEdit], encoding: Encoding, limit: u64) -> Result<Edited, TextError> {
    let old = base.text();
    // Before anything is copied: a hundred megabytes of replacement must not be held twice.
    let incoming: u64 = edits.iter().map(|edit| edit.text.len() as u64).sum();
    if incoming > limit {
        return Err(TextError::TooLarge(incoming));
    }
    let ends = LineEnds::of(old);
    let mut changes = Vec::with_capacity(edits.len());
    for edit in edits {
        if edit.range.end < edit.range.start {
            return Err(TextError::Reversed(edit.range.start.line));
        }
        let plain = if edit.snippet {
            Cow::Owned(snippet::flatten(&edit.text).map_err(TextError::Snippet)?)
        } else {
            Cow::Borrowed(&*edit.text)
        };
        let new = match plain {
            Cow::Borrowed(text) => ends.adapt(text),
            Cow::Owned(text) => Cow::Owned(ends.adapt(&text).into_owned()),
        };
        let exact = |at: Position| base.exact_offset(at, encoding).ok_or(TextError::Inside(at.line));
        let (start, end) = (exact(edit.range.start)?, exact(edit.range.end)?);
        changes.push(Change { start, end, new, line: edit.range.start.line });
    }
    // Stable: inserts at one place keep the server's order, and come before what is replaced from there on.
    changes.sort_by_key(|change| (change.start, change.end));
    // A replacement that is sent twice, word for word, is meant once; two that differ contradict each other.
    changes.dedup_by(|later, earlier| {
        later.start < later.end && (later.start, later.end) == (earlier.start, earlier.end) && later.new == earlier.new
    });
    if let Some(pair) = changes.windows(2).find(|pair| pair[1].start < pair[0].end) {
        return Err(TextError::Overlap(pair[1].line));
    }
    let size = old.len() + changes.iter().map(|change| change.new.len()).sum::<usize>()
        - changes.iter().map(|change| change.end - change.start).sum::<usize>();
    if size as u64 > limit {
        return Err(TextError::TooLarge(size as u64));
    }
    let mut text = String::with_capacity(size);
    let (mut at, mut places) = (0, 0);
    for change in &changes {
        places += usize::from(old[change.start..change.end] != *change.new);
        text.push_str(&old[at..change.start]);
        text.push_str(&change.new);
        at = change.end;
    }
    text.push_str(&old[at..]);
    if !old.starts_with(BOM) && text.starts_with(BOM) {
        text.drain(..BOM.len_utf8());
    }
    Ok(Edited { text: text.into(), places })
}

/// The byte order mark: whether a file has one is no matter of edits.
const BOM: char = '\u{feff}';

struct Change<'e> {
    start: usize,
    end: usize,
    new: Cow<'e, str>,
    line: u32,
}

#[cfg(test)]
mod tests;
