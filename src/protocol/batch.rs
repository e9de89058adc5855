//! A batch of messages, read as far as anybody would send one: a list of a million numbers is no reason to keep a million
//! references. Pure.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

const MESSAGES: usize = 1_000;

/// The first messages of a batch, and whether there were more.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    pub first: Vec<&'a RawValue>,
    pub more: bool,
}

impl<'de> Deserialize<'de> for Batch<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Messages)
    }
}

struct Messages;

impl<'de> Visitor<'de> for Messages {
    type Value = Batch<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Batch<'de>, A::Error> {
        let mut first = Vec::new();
        while first.len() < MESSAGES {
            let Some(message) = array.next_element()? else { return Ok(Batch { first, more: false }) };
            first.push(message);
        }
        let mut more = false;
        while array.next_element::<IgnoredAny>()?.is_some() {
            more = true;
        }
        Ok(Batch { first, more })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_read_as_far_as_anybody_would_send_one() {
        let read = |count: usize| {
            let text = format!("[{}]", vec!["{}"; count].join(","));
            let batch: Batch<'_> = serde_json::from_str(&text).unwrap();
            (batch.first.len(), batch.more)
        };
        assert_eq!(
            [read(0), read(2), read(1_000), read(5_000)],
            [(0, false), (2, false), (1_000, false), (1_000, true)]
        );
        assert!(serde_json::from_str::<Batch<'_>>("[1,").is_err());
    }
}
