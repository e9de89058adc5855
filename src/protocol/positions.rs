//! Positions as the wire has them, and the one place that converts them: LSP's zero-based line and code unit in the
//! server's encoding, to and from byte offsets and code points. Pure.

use serde::{Deserialize, Serialize};

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

/// A position in a text as people and agents count it here: zero-based line, zero-based column in code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Point {
    pub line: u32,
    pub column: u32,
}
