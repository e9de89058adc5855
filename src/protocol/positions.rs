//! Positions as the wire has them, and the one place that converts them: LSP's zero-based line and code unit in the
//! server's encoding, to and from byte offsets and code points. Pure.

mod identifiers;
mod lines;
#[cfg(test)]
mod tests;
mod unseen;

use serde::{Deserialize, Serialize};

pub use identifiers::Identifier;
pub use lines::LineMap;
pub use unseen::is_unseen;

/// The unit in which a server counts `character` (LSP `PositionEncodingKind`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Encoding {
    /// Bytes of UTF-8.
    Utf8,
    /// Code units of UTF-16: what LSP assumes when a server says nothing.
    #[default]
    Utf16,
    /// Code points.
    Utf32,
    /// Code units of UTF-16, in lines that U+2028 and U+2029 end as well, as ECMAScript has it: tsserver counts so.
    EcmaScript,
}

impl Encoding {
    /// Reads LSP's name of an encoding; an unknown one is `None`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "utf-8" => Some(Self::Utf8),
            "utf-16" => Some(Self::Utf16),
            "utf-32" => Some(Self::Utf32),
            _ => None,
        }
    }

    /// LSP's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 | Self::EcmaScript => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    /// How many units `c` takes.
    fn width(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 | Self::EcmaScript => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// The same lines, in UTF-16: what some answers count in, whatever was agreed on.
    #[must_use]
    pub fn in_utf16(self) -> Self {
        match self {
            Self::EcmaScript => Self::EcmaScript,
            Self::Utf8 | Self::Utf16 | Self::Utf32 => Self::Utf16,
        }
    }
}

/// A position in a server's own units: both numbers are zero-based.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Position {
    pub line: u32,
    pub character: u32,
}

/// A half-open range in a server's own units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Range {
    pub start: Position,
    pub end: Position,
}

impl Range {
    /// Whether `other` lies wholly inside (or is the same).
    pub fn encloses(&self, other: &Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// A position in a text as people and agents count it here: zero-based line, zero-based column in code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Point {
    pub line: u32,
    pub column: u32,
}
