//! The small shapes that every answer is made of: numbers, flags, capped texts, ranges and places.

use std::borrow::Cow;

use serde::de::{MapAccess, SeqAccess};

use super::Found;
use super::keys::{One, Two};
use super::shape::{Number, Shape, item, key, skip, value};
use crate::protocol::positions::{Position, Range};

/// A number clamped to `u32`.
#[derive(Clone, Copy)]
pub(super) struct Unsigned;

impl Shape<'_> for Unsigned {
    type Value = Option<u32>;

    fn other(self, _: Found) -> Option<u32> {
        None
    }

    fn number(self, value: Number) -> Option<u32> {
        Some(value.clamped())
    }
}

/// A number that is a small code (`SymbolKind` and the like); `None` outside `u8`.
#[derive(Clone, Copy)]
pub(super) struct Small;

impl Shape<'_> for Small {
    type Value = Option<u8>;

    fn other(self, _: Found) -> Option<u8> {
        None
    }

    fn number(self, value: Number) -> Option<u8> {
        value.signed().and_then(|n| u8::try_from(n).ok())
    }
}

/// A whole number clamped to `i32`: a version that is out of range stays one that is not ours.
#[derive(Clone, Copy)]
pub(super) struct Signed;

impl Shape<'_> for Signed {
    type Value = Option<i32>;

    fn other(self, _: Found) -> Option<i32> {
        None
    }

    fn number(self, value: Number) -> Option<i32> {
        value.signed()
    }
}

/// A number that tells which one; a negative one, as some servers mean "none", is `None`.
#[derive(Clone, Copy)]
pub(super) struct Ordinal;

impl Shape<'_> for Ordinal {
    type Value = Option<u32>;

    fn other(self, _: Found) -> Option<u32> {
        None
    }

    fn number(self, value: Number) -> Option<u32> {
        value.signed().and_then(|n| u32::try_from(n).ok())
    }
}

/// `true`, or anything else for no.
#[derive(Clone, Copy)]
pub(super) struct Flag;

impl Shape<'_> for Flag {
    type Value = bool;

    fn other(self, _: Found) -> bool {
        false
    }

    fn boolean(self, value: bool) -> bool {
        value
    }
}

/// A text of at most so many bytes; the rest is cut off.
#[derive(Clone, Copy)]
pub(super) struct Short(pub(super) usize);

impl Shape<'_> for Short {
    type Value = Option<String>;

    fn other(self, _: Found) -> Option<String> {
        None
    }

    fn text(self, value: &str) -> Option<String> {
        Some(cut(value, self.0).to_owned())
    }
}

/// The longest beginning of `text` that has at most `cap` bytes and ends between two characters.
pub(super) fn cut(text: &str, cap: usize) -> &str {
    let mut end = cap.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A text that is not copied where it need not be.
#[derive(Clone, Copy)]
pub(super) struct Uri;

impl<'de> Shape<'de> for Uri {
    type Value = Option<Cow<'de, str>>;

    fn other(self, _: Found) -> Self::Value {
        None
    }

    fn text(self, value: &str) -> Self::Value {
        Some(Cow::Owned(value.to_owned()))
    }

    fn lasting_text(self, value: &'de str) -> Self::Value {
        Some(Cow::Borrowed(value))
    }
}

/// A list of small numbers as a set of bits (`DiagnosticTag`, `SymbolTag`).
#[derive(Clone, Copy)]
pub(super) struct Tags;

impl<'de> Shape<'de> for Tags {
    type Value = TagSet;

    fn other(self, _: Found) -> TagSet {
        TagSet(0)
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<TagSet, A::Error> {
        let mut tags = 0;
        while let Some(tag) = item(&mut array, Small)? {
            tags |= tag.and_then(|tag| 1u32.checked_shl(tag.into())).unwrap_or(0);
        }
        Ok(TagSet(tags))
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct TagSet(u32);

impl TagSet {
    pub(super) fn has(self, tag: u32) -> bool {
        self.0 & (1 << tag) != 0
    }
}

/// A `Range`; one that is reversed collapses to its end, as VS Code has it.
#[derive(Clone, Copy)]
pub(super) struct RangeShape;

impl<'de> Shape<'de> for RangeShape {
    type Value = Option<Range>;

    fn other(self, _: Found) -> Option<Range> {
        None
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Option<Range>, A::Error> {
        let ends = Two { keys: ["start", "end"], each: PositionShape }.object(object)?;
        Ok(ends.map(|(start, end)| Range { start: start.min(end), end }))
    }
}

#[derive(Clone, Copy)]
pub(super) struct PositionShape;

impl<'de> Shape<'de> for PositionShape {
    type Value = Option<Position>;

    fn other(self, _: Found) -> Option<Position> {
        None
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Option<Position>, A::Error> {
        let both = Two { keys: ["line", "character"], each: Unsigned }.object(object)?;
        Ok(both.map(|(line, character)| Position { line, character }))
    }
}

/// A `Location` or `LocationLink`, with what of it was there.
#[derive(Clone, Copy)]
pub(super) struct PlaceShape;

#[derive(Default)]
pub(super) struct Place<'de> {
    pub(super) uri: Option<Cow<'de, str>>,
    /// The name rather than the whole declaration, where a link tells them apart.
    pub(super) range: Option<Range>,
}

impl<'de> Shape<'de> for PlaceShape {
    type Value = Place<'de>;

    fn other(self, _: Found) -> Place<'de> {
        Place::default()
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Place<'de>, A::Error> {
        let (mut uri, mut range, mut target_uri) = (None, None, None);
        let (mut target, mut selection) = (None, None);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "uri" => uri = value(&mut object, Uri)?,
                "range" => range = value(&mut object, RangeShape)?,
                "targetUri" => target_uri = value(&mut object, Uri)?,
                "targetRange" => target = value(&mut object, RangeShape)?,
                "targetSelectionRange" => selection = value(&mut object, RangeShape)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(if target_uri.is_some() {
            Place { uri: target_uri, range: selection.or(target) }
        } else {
            Place { uri, range }
        })
    }
}

impl Place<'_> {
    /// Whether there is a URI that can name something.
    pub(super) fn named(&self) -> Option<&str> {
        self.uri.as_deref().filter(|uri| !uri.is_empty())
    }
}

/// A string, or the `value` of a `MarkupContent`, of at most so many bytes.
#[derive(Clone, Copy)]
pub(super) struct Documentation(pub(super) usize);

impl<'de> Shape<'de> for Documentation {
    type Value = Option<String>;

    fn other(self, _: Found) -> Option<String> {
        None
    }

    fn text(self, value: &str) -> Option<String> {
        Short(self.0).text(value)
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Option<String>, A::Error> {
        One { key: "value", value: Short(self.0) }.object(object)
    }
}
