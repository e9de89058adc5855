//! Objects of which one or two keys count, and values that are kept as they came.

use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess};
use serde_json::value::RawValue;

use super::Found;
use super::shape::{Of, Shape, key, skip, value};

/// The value of one key.
#[derive(Clone, Copy)]
pub(super) struct One<S> {
    pub(super) key: &'static str,
    pub(super) value: S,
}

impl<'de, T, S: Shape<'de, Value = Option<T>> + Copy> Shape<'de> for One<S> {
    type Value = Option<T>;

    fn other(self, _: Found) -> Self::Value {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = key(&mut object)? {
            match &*key {
                key if key == self.key => found = value(&mut object, self.value)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(found)
    }
}

/// The values of two keys, where both are there.
#[derive(Clone, Copy)]
pub(super) struct Two<S> {
    pub(super) keys: [&'static str; 2],
    pub(super) each: S,
}

impl<'de, T, S: Shape<'de, Value = Option<T>> + Copy> Shape<'de> for Two<S> {
    type Value = Option<(T, T)>;

    fn other(self, _: Found) -> Self::Value {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let (mut first, mut second) = (None, None);
        while let Some(key) = key(&mut object)? {
            match &*key {
                key if key == self.keys[0] => first = value(&mut object, self.each)?,
                key if key == self.keys[1] => second = value(&mut object, self.each)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(first.zip(second))
    }
}

/// A value of at most so many bytes, read, and its text as it came; nothing where it is larger.
pub(super) struct WithText<'de, S> {
    cap: usize,
    shape: S,
    input: PhantomData<&'de ()>,
}

impl<S> WithText<'_, S> {
    pub(super) fn new(cap: usize, shape: S) -> Self {
        Self { cap, shape, input: PhantomData }
    }
}

impl<'de, T, S: Shape<'de, Value = Option<T>>> DeserializeSeed<'de> for WithText<'de, S> {
    type Value = Option<(T, &'de RawValue)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        if raw.get().len() > self.cap {
            return Ok(None);
        }
        let mut inner = serde_json::Deserializer::from_str(raw.get());
        let read = Of(self.shape).deserialize(&mut inner).map_err(D::Error::custom)?;
        Ok(read.map(|read| (read, raw)))
    }
}
