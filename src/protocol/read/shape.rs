//! Reading JSON whose shape nobody promises. A [`Shape`] takes a value of any kind and never fails on one it did not
//! expect, so that one odd item costs that item and not the whole answer.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Found;
use crate::protocol::types::Capped;

/// A reader of one value. Each method takes one kind of JSON value; those not written out go to `other`.
pub(super) trait Shape<'de>: Sized {
    type Value;

    /// What stands for a value of a kind that was not expected.
    fn other(self, found: Found) -> Self::Value;

    fn null(self) -> Self::Value {
        self.other(Found::Null)
    }

    fn boolean(self, _value: bool) -> Self::Value {
        self.other(Found::Boolean)
    }

    fn number(self, _value: Number) -> Self::Value {
        self.other(Found::Number)
    }

    fn text(self, _value: &str) -> Self::Value {
        self.other(Found::Text)
    }

    /// A text that lives as long as the input.
    fn lasting_text(self, value: &'de str) -> Self::Value {
        self.text(value)
    }

    fn array<A: SeqAccess<'de>>(self, array: A) -> Result<Self::Value, A::Error> {
        skip_array(array)?;
        Ok(self.other(Found::Array))
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        skip_object(object)?;
        Ok(self.other(Found::Object))
    }
}

/// A JSON number as serde_json hands it over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Unsigned(u64),
    Negative(i64),
    Float(f64),
}

impl Number {
    /// The nearest `u32`; `-1` for "unknown" becomes 0, and `3.0`, as servers in Lua write it, 3.
    pub(super) fn clamped(self) -> u32 {
        match self {
            Self::Unsigned(n) => u32::try_from(n).unwrap_or(u32::MAX),
            Self::Negative(_) => 0,
            // A cast of a float saturates.
            Self::Float(n) => n as u32,
        }
    }

    /// The nearest `i32`, if it is a whole number.
    pub(super) fn signed(self) -> Option<i32> {
        match self {
            Self::Unsigned(n) => Some(i32::try_from(n).unwrap_or(i32::MAX)),
            Self::Negative(n) => Some(i32::try_from(n).unwrap_or(i32::MIN)),
            Self::Float(n) => (n.fract() == 0.0).then_some(n as i32),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(n) => n.fmt(f),
            Self::Negative(n) => n.fmt(f),
            Self::Float(n) => n.fmt(f),
        }
    }
}

/// Lets serde drive a [`Shape`].
pub(super) struct Of<S>(pub(super) S);

impl<'de, S: Shape<'de>> DeserializeSeed<'de> for Of<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S: Shape<'de>> Visitor<'de> for Of<S> {
    type Value = S::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<S::Value, E> {
        Ok(self.0.null())
    }

    fn visit_bool<E>(self, value: bool) -> Result<S::Value, E> {
        Ok(self.0.boolean(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<S::Value, E> {
        Ok(self.0.number(Number::Unsigned(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<S::Value, E> {
        Ok(self.0.number(Number::Negative(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<S::Value, E> {
        Ok(self.0.number(Number::Float(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<S::Value, E> {
        Ok(self.0.text(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<S::Value, E> {
        Ok(self.0.lasting_text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, array: A) -> Result<S::Value, A::Error> {
        self.0.array(array)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<S::Value, A::Error> {
        self.0.object(object)
    }
}

/// Reads the value that belongs to the key just read.
pub(super) fn value<'de, A: MapAccess<'de>, S: Shape<'de>>(object: &mut A, shape: S) -> Result<S::Value, A::Error> {
    object.next_value_seed(Of(shape))
}

/// Skips the value that belongs to the key just read.
pub(super) fn skip<'de, A: MapAccess<'de>>(object: &mut A) -> Result<(), A::Error> {
    object.next_value::<IgnoredAny>().map(|_| ())
}

/// Reads the next item of an array, or `None` at its end.
pub(super) fn item<'de, A: SeqAccess<'de>, S: Shape<'de>>(
    array: &mut A,
    shape: S,
) -> Result<Option<S::Value>, A::Error> {
    array.next_element_seed(Of(shape))
}

/// Reads the next key of an object, or `None` at its end.
pub(super) fn key<'de, A: MapAccess<'de>>(object: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    object.next_key_seed(Of(Words))
}

/// Reads to the end of an array, keeping nothing.
pub(super) fn skip_array<'de, A: SeqAccess<'de>>(mut array: A) -> Result<(), A::Error> {
    while array.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Reads to the end of an object, keeping nothing.
pub(super) fn skip_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<(), A::Error> {
    while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

/// A text, borrowed from the input where it has no escapes; anything else is empty.
#[derive(Clone, Copy)]
struct Words;

impl<'de> Shape<'de> for Words {
    type Value = Cow<'de, str>;

    fn other(self, _: Found) -> Cow<'de, str> {
        Cow::Borrowed("")
    }

    fn text(self, value: &str) -> Cow<'de, str> {
        Cow::Owned(value.to_owned())
    }

    fn lasting_text(self, value: &'de str) -> Cow<'de, str> {
        Cow::Borrowed(value)
    }
}

/// A list of items of one shape, each `None` where it is malformed. It stops keeping, but not counting, at its cap;
/// `null` is empty, since servers in Go send their empty lists so.
#[derive(Clone, Copy)]
pub(super) struct Many<S> {
    pub(super) cap: usize,
    pub(super) each: S,
}

impl<'de, T, S: Shape<'de, Value = Option<T>> + Copy> Shape<'de> for Many<S> {
    type Value = Result<Capped<T>, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Capped::default())
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut list = Capped::default();
        while let Some(read) = item(&mut array, self.each)? {
            match read {
                Some(kept) => {
                    list.total += 1;
                    if list.items.len() < self.cap {
                        list.items.push(kept);
                    }
                }
                None => list.dropped += 1,
            }
        }
        Ok(Ok(list))
    }
}
