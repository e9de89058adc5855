//! The identifiers of a line, so that an address can name one instead of a column. Knows Unicode's idea of an
//! identifier, no language's: keywords are identifiers too.

use unicode_ident::{is_xid_continue, is_xid_start};

use super::{LineMap, Point};

/// An identifier of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identifier<'t> {
    /// Column of its first character, in code points.
    pub start: u32,
    /// Column just behind its last character.
    pub end: u32,
    pub text: &'t str,
}

impl LineMap {
    /// Every identifier of a line, from left to right; none where there is no such line. `_` and `$` belong to
    /// identifiers, a sigil before them (`@`, `#`) does not, and what begins with a digit is a number.
    pub fn identifiers_on(&self, line: u32) -> Vec<Identifier<'_>> {
        self.line(line).map(identifiers).unwrap_or_default()
    }

    /// The identifier at a point, or the one that ends there.
    pub fn identifier_at(&self, at: Point) -> Option<Identifier<'_>> {
        let mut touching = None;
        for identifier in self.identifiers_on(at.line) {
            if (identifier.start..identifier.end).contains(&at.column) {
                return Some(identifier);
            }
            if identifier.end == at.column {
                touching = Some(identifier);
            }
        }
        touching
    }
}

fn identifiers(line: &str) -> Vec<Identifier<'_>> {
    let mut found = Vec::new();
    let mut characters = (0u32..).zip(line.char_indices()).peekable();
    while let Some((start, (from, first))) = characters.next() {
        if !continues(first) {
            continue;
        }
        let mut end = start + 1;
        let mut to = from + first.len_utf8();
        while let Some((column, (at, c))) = characters.next_if(|(_, (_, c))| continues(*c)) {
            end = column + 1;
            to = at + c.len_utf8();
        }
        if begins(first) {
            found.push(Identifier { start, end, text: &line[from..to] });
        }
    }
    found
}

fn begins(c: char) -> bool {
    c == '_' || c == '$' || is_xid_start(c)
}

fn continues(c: char) -> bool {
    c == '$' || is_xid_continue(c)
}
