//! Servers' answers, read from raw JSON straight into the types of [`super::types`]. Texts and lists stop growing at
//! their caps, items that are not of LSP's shape are dropped and counted, and no tree of the whole is ever built.

mod actions;
mod basic;
mod completions;
mod diagnostics;
mod edits;
mod hierarchy;
mod hover;
mod keep;
mod keys;
mod locations;
mod markdown;
mod navto;
mod order;
mod outline;
mod problems;
mod repair;
mod replacements;
mod shape;
mod signatures;
mod sought;
mod symbols;
#[cfg(test)]
mod tests;
mod tsserver;

use std::fmt;

pub use actions::{Wanted, code_action, code_actions, is_below, prepare_rename};
pub use completions::completions;
pub use diagnostics::{FileReport, published, report, workspace_report};
pub use edits::{edit_inside, text_edits, workspace_edit};
pub use hierarchy::{calls, hierarchy_items};
pub use hover::hover;
pub use locations::locations;
pub use navto::tsserver_symbols;
pub use outline::outline;
use shape::{Of, Shape};
pub use signatures::signatures;
pub use sought::{Fit, Sought};
pub use symbols::symbol_hits;
pub use tsserver::tsserver_problems;

/// How much of an answer is kept; the rest is counted and let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Places: they are small.
    pub list: usize,
    /// Symbols, completions, diagnostics, calls: they carry texts.
    pub items: usize,
    /// Bytes of a hover in all, or of one documentation.
    pub text: usize,
    /// Bytes of one diagnostic's message.
    pub message: usize,
    /// Bytes of one detail, signature or inserted text.
    pub line: usize,
    /// Bytes of one name or label.
    pub name: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { list: 100_000, items: 50_000, text: 64 * 1024, message: 2048, line: 4096, name: 1024 }
    }
}

/// What stood where something else was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Null,
    Boolean,
    Number,
    Text,
    Array,
    Object,
    /// An object that lacks this key, or has it with a value of the wrong kind.
    Without(&'static str),
    /// More than is read of what must be read whole.
    MoreThan(&'static str),
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean => f.write_str("a boolean"),
            Self::Number => f.write_str("a number"),
            Self::Text => f.write_str("a string"),
            Self::Array => f.write_str("an array"),
            Self::Object => f.write_str("an object"),
            Self::Without(key) => write!(f, "an object without a valid `{key}`"),
            Self::MoreThan(limit) => write!(f, "more than {limit}"),
        }
    }
}

/// Why an answer could not be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("expected {expected}, the server sent {found}")]
    Shape { expected: &'static str, found: Found },
    #[error("expected {expected}, the server sent invalid JSON: {reason}")]
    Json { expected: &'static str, reason: String },
    /// What must be read whole or not at all is larger than is read.
    #[error("more than {0}")]
    TooLarge(&'static str),
}

/// Reads `raw` with a fresh shape, and once more with its text repaired where serde_json refuses it.
fn read<T, S>(raw: &[u8], expected: &'static str, shape: impl Fn() -> S) -> Result<T, ReadError>
where
    S: for<'de> Shape<'de, Value = Result<T, Found>>,
{
    let read = match parse(raw, shape()) {
        Ok(read) => read,
        Err(error) => match repair::repair(raw).map(|mended| parse(&mended, shape())) {
            Some(Ok(read)) => read,
            _ => return Err(ReadError::Json { expected, reason: error.to_string() }),
        },
    };
    read.map_err(|found| ReadError::Shape { expected, found })
}

fn parse<'de, S: Shape<'de>>(raw: &'de [u8], shape: S) -> Result<S::Value, serde_json::Error> {
    use serde::de::DeserializeSeed;
    let mut deserializer = serde_json::Deserializer::from_slice(raw);
    let value = Of(shape).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}
