//! Positions in text, counted the way a server was told to; deliberately not langport's own code.

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Utf8,
    Utf16,
    Utf32,
}

impl Unit {
    pub(crate) fn named(name: Option<&str>) -> Self {
        match name {
            Some("utf-8") => Self::Utf8,
            Some("utf-32") => Self::Utf32,
            _ => Self::Utf16,
        }
    }

    fn of(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    pub(crate) fn length(self, text: &str) -> usize {
        text.chars().map(|c| self.of(c)).sum()
    }
}

/// Byte offsets at which lines begin.
fn starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut at = vec![0];
    for (i, b) in bytes.iter().enumerate() {
        let ends = *b == b'\n' || (*b == b'\r' && bytes.get(i + 1) != Some(&b'\n'));
        if ends {
            at.push(i + 1);
        }
    }
    at
}

/// The lines without their ends.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    let at = starts(text);
    (0..at.len())
        .map(|i| text[at[i]..at.get(i + 1).copied().unwrap_or(text.len())].trim_end_matches(['\n', '\r']))
        .collect()
}

/// The byte offset of a position; `None` where the position is not in the text, or inside a character.
pub(crate) fn offset(text: &str, line: usize, column: usize, unit: Unit) -> Option<usize> {
    let start = *starts(text).get(line)?;
    let content = *lines(text).get(line)?;
    let mut seen = 0;
    for (i, c) in content.char_indices() {
        if seen == column {
            return Some(start + i);
        }
        seen += unit.of(c);
    }
    (seen == column).then_some(start + content.len())
}

/// Line and column of a byte offset.
pub(crate) fn place(text: &str, at: usize, unit: Unit) -> (usize, usize) {
    let starts = starts(text);
    let line = starts.partition_point(|s| *s <= at) - 1;
    (line, unit.length(&text[starts[line]..at]))
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The identifier that touches this offset, with where it begins.
pub(crate) fn word_at(text: &str, at: usize) -> Option<(usize, &str)> {
    let begin = text[..at].char_indices().rev().take_while(|(_, c)| in_word(*c)).last().map_or(at, |(i, _)| i);
    let end = text[at..].char_indices().find(|(_, c)| !in_word(*c)).map_or(text.len(), |(i, _)| at + i);
    (begin < end).then(|| (begin, &text[begin..end]))
}

/// Byte offsets of whole words.
pub(crate) fn occurrences(text: &str, word: &str) -> Vec<usize> {
    text.match_indices(word)
        .map(|(i, _)| i)
        .filter(|i| {
            !text[..*i].chars().next_back().is_some_and(in_word)
                && !text[i + word.len()..].chars().next().is_some_and(in_word)
        })
        .collect()
}
