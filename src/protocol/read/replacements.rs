//! Replacements in texts, exactly as they stand: what has no exact range or text is refused, never mended.

use serde::de::{MapAccess, SeqAccess};

use super::Found;
use super::basic::Short;
use super::edits::Ledger;
use super::keys::{One, Two};
use super::shape::{Number, Shape, item, key, skip, value};
use crate::protocol::positions::{Position, Range};
use crate::protocol::types::TextEdit;

/// A whole number, such as a document's version.
pub(super) struct VersionShape;

impl Shape<'_> for VersionShape {
    type Value = Option<i64>;

    fn other(self, _: Found) -> Option<i64> {
        None
    }

    fn number(self, value: Number) -> Option<i64> {
        match value {
            Number::Unsigned(n) => Some(i64::try_from(n).unwrap_or(i64::MAX)),
            Number::Negative(n) => Some(n),
            Number::Float(n) => (n.fract() == 0.0).then_some(n as i64),
        }
    }
}

/// A list of text edits: plain, annotated, or snippets in either of their forms.
pub(super) struct ListShape(pub(super) Ledger);

impl<'de> Shape<'de> for ListShape {
    type Value = Result<Option<Vec<TextEdit>>, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(None)
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut edits = Vec::new();
        while let Some(edit) = item(&mut array, OneShape(self.0.clone()))? {
            let edit = edit.map_err(|found| self.0.refuse(found))?;
            self.0.count(edit.text.len())?;
            edits.push(edit);
        }
        Ok(Ok(Some(edits)))
    }
}

struct OneShape(Ledger);

impl<'de> Shape<'de> for OneShape {
    type Value = Result<TextEdit, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let (mut range, mut text, mut snippet) = (None, None, false);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "range" => range = value(&mut object, ExactRange)?,
                "newText" => text = value(&mut object, Short(usize::MAX))?,
                // `StringValue`, and rust-analyzer's own form of it.
                "snippet" => {
                    text = value(&mut object, One { key: "value", value: Short(usize::MAX) })?;
                    snippet = true;
                }
                "annotationId" => self.0.bears(value(&mut object, Short(usize::MAX))?),
                "insertTextFormat" => snippet |= value(&mut object, VersionShape)? == Some(2),
                _ => skip(&mut object)?,
            }
        }
        Ok(range.ok_or(Found::Without("range")).and_then(|range| {
            let text = text.ok_or(Found::Without("newText"))?;
            Ok(TextEdit { range, text, snippet })
        }))
    }
}

/// A range as it stands: one that is reversed, or has a number that is none, is not mended.
struct ExactRange;

impl<'de> Shape<'de> for ExactRange {
    type Value = Option<Range>;

    fn other(self, _: Found) -> Option<Range> {
        None
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Option<Range>, A::Error> {
        let ends = Two { keys: ["start", "end"], each: ExactPosition }.object(object)?;
        Ok(ends.filter(|(start, end)| start <= end).map(|(start, end)| Range { start, end }))
    }
}

#[derive(Clone, Copy)]
struct ExactPosition;

impl<'de> Shape<'de> for ExactPosition {
    type Value = Option<Position>;

    fn other(self, _: Found) -> Option<Position> {
        None
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Option<Position>, A::Error> {
        let both = Two { keys: ["line", "character"], each: Exact }.object(object)?;
        Ok(both.map(|(line, character)| Position { line, character }))
    }
}

/// A whole number that is not negative; a very large one, which servers send for "to the end", is the largest.
#[derive(Clone, Copy)]
struct Exact;

impl Shape<'_> for Exact {
    type Value = Option<u32>;

    fn other(self, _: Found) -> Option<u32> {
        None
    }

    fn number(self, value: Number) -> Option<u32> {
        match value {
            Number::Negative(_) => None,
            Number::Float(n) if n < 0.0 || n.fract() != 0.0 => None,
            number => Some(number.clamped()),
        }
    }
}
