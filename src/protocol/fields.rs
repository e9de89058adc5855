//! A JSON object read one member at a time, so that one odd member does not spoil the others. Pure.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::envelope::cut;
use super::weight::tree;

/// The members of an object, unparsed.
#[derive(Debug, Default)]
pub(super) struct Fields<'a>(HashMap<Cow<'a, str>, &'a RawValue>);

impl<'a> Fields<'a> {
    /// Absent where the text is no object.
    pub(super) fn read(text: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(text).ok().map(Self)
    }

    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name).copied()
    }

    pub(super) fn object(&self, name: &str) -> Option<Self> {
        Self::read(self.raw(name)?.get().as_bytes())
    }

    /// Absent too where it would take too much memory.
    pub(super) fn value(&self, name: &str) -> Option<Value> {
        tree(self.raw(name)?.get().as_bytes())
    }

    /// A text, at most `chars` long.
    pub(super) fn text(&self, name: &str, chars: usize) -> Option<String> {
        serde_json::from_str(self.raw(name)?.get()).ok().map(|text| cut(text, chars))
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// The members of a list, unparsed; empty where it is absent or no list.
    pub(super) fn list(&self, name: &str) -> Vec<&'a RawValue> {
        self.raw(name).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    /// A progress token: text or a number.
    pub(super) fn token(&self, name: &str) -> Option<String> {
        const CHARS: usize = 200;
        self.text(name, CHARS).or_else(|| {
            let raw = self.raw(name)?.get();
            (self.number(name).is_some() && raw.len() <= CHARS).then(|| raw.to_owned())
        })
    }
}
