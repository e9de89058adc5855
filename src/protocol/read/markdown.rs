//! Splits Markdown into fenced code and prose, which is all the structure that an answer shows.

use std::borrow::Cow;

use super::basic::cut;
use crate::protocol::types::HoverSection;

/// Bytes of the name of a fence's language.
const LANGUAGE: usize = 40;

/// The sections of `text` in order; a fence that is never closed holds the rest.
pub(super) fn split(text: &str) -> Vec<HoverSection> {
    let mut sections = Vec::new();
    let mut prose = String::new();
    let mut open: Option<Fence> = None;
    for line in text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)) {
        match &mut open {
            Some(fence) if fence.closes(line) => {
                sections.extend(open.take().and_then(Fence::section));
            }
            Some(fence) => fence.add(line),
            None => match Fence::opened(line) {
                Some(fence) => {
                    push_prose(&mut sections, &mut prose);
                    open = Some(fence);
                }
                None => {
                    prose.push_str(line);
                    prose.push('\n');
                }
            },
        }
    }
    sections.extend(open.and_then(Fence::section));
    push_prose(&mut sections, &mut prose);
    sections
}

/// A code section under way.
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    language: String,
    text: String,
}

impl Fence {
    /// A fence of three or more backticks or tildes, however deeply a list indents it.
    fn opened(line: &str) -> Option<Self> {
        let (indent, rest) = unindented(line);
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = rest.trim_start_matches(mark);
        let length = rest.len() - info.len();
        // A line such as ```` ```x``` ```` is code within a line.
        if length < 3 || (mark == '`' && info.contains('`')) {
            return None;
        }
        let language = info.trim().split([' ', '\t', ',', '{']).next().unwrap_or_default();
        Some(Self { mark, length, indent, language: cut(language, LANGUAGE).to_owned(), text: String::new() })
    }

    fn closes(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }

    fn add(&mut self, line: &str) {
        let (indent, _) = unindented(line);
        self.text.push_str(&line[indent.min(self.indent)..]);
        self.text.push('\n');
    }

    fn section(self) -> Option<HoverSection> {
        let text = self.text.trim_matches('\n');
        (!text.trim().is_empty()).then(|| HoverSection::Code { language: self.language, text: text.to_owned() })
    }
}

/// Bytes of leading spaces and tabs, and what follows them.
fn unindented(line: &str) -> (usize, &str) {
    let rest = line.trim_start_matches([' ', '\t']);
    (line.len() - rest.len(), rest)
}

/// Adds the prose gathered, without blank lines and rules around it, spaces at the ends of lines (Markdown's hard
/// breaks), or more than one blank line in a row.
fn push_prose(sections: &mut Vec<HoverSection>, prose: &mut String) {
    let text = entities(prose);
    let text = without_drawings(&text);
    let mut kept: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        let blank = line.is_empty();
        if !(blank && kept.last().is_none_or(|last| last.is_empty()) || kept.is_empty() && is_rule(line)) {
            kept.push(line);
        }
    }
    while kept.pop_if(|line| line.is_empty() || is_rule(line)).is_some() {}
    if !kept.is_empty() {
        sections.push(HoverSection::Prose(kept.join("\n")));
    }
    prose.clear();
}

/// Resolves the entities that servers write to keep indentation and brackets alive in HTML; pyright indents with
/// `&nbsp;`.
fn entities(prose: &str) -> Cow<'_, str> {
    if !prose.contains('&') {
        return Cow::Borrowed(prose);
    }
    let pairs = [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    Cow::Owned(pairs.iter().fold(prose.to_owned(), |text, (entity, plain)| text.replace(entity, plain)))
}

/// Leaves out images that carry their data: the css server of VS Code draws an icon that way before its first word.
fn without_drawings(prose: &str) -> Cow<'_, str> {
    const DRAWING: &str = "](data:";
    if !prose.contains(DRAWING) {
        return Cow::Borrowed(prose);
    }
    let (mut kept, mut rest) = (String::new(), prose);
    while let Some(at) = rest.find(DRAWING) {
        let (before, after) = rest.split_at(at);
        let (Some(start), Some(end)) = (before.rfind("!["), after.find(')')) else { break };
        kept.push_str(&before[..start]);
        rest = after[end + 1..].trim_start_matches(' ');
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// A thematic break: servers put one between signature and documentation.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && ["-", "*", "_"].iter().any(|mark| line.replace(mark, "").trim().is_empty())
}
