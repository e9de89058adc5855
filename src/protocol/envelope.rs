//! The outer layer of a JSON-RPC message, read with everything inside left as raw text. Pure.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// An id longer than this is not one.
const ID_BYTES: usize = 1024;
const ERROR_TEXT: usize = 2_000;
const LONG_TEXT: usize = 64 * 1024;

/// A message as it came; JSON `null` is the same as absent.
#[derive(Debug, Deserialize)]
pub(super) struct Envelope<'a> {
    #[serde(borrow, default)]
    pub id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub error: Option<&'a RawValue>,
}

/// What a message is for.
#[derive(Debug)]
pub(super) enum Kind<'a> {
    Request {
        id: &'a RawValue,
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// The id is ours, unless the server made it up.
    Response {
        id: u64,
        result: Option<&'a RawValue>,
        error: Option<&'a RawValue>,
    },
    /// Of no use; says why.
    Unusable(&'static str),
}

impl<'a> Envelope<'a> {
    /// Nothing where the text is no JSON object, or a member is of the wrong kind.
    pub(super) fn read(body: &'a [u8]) -> Option<Self> {
        // serde would read an array as the members in order.
        body.starts_with(b"{").then(|| serde_json::from_slice(body).ok()).flatten()
    }

    pub(super) fn kind(self) -> Kind<'a> {
        match (self.method, self.id) {
            (Some(method), None) => Kind::Notification { method, params: self.params },
            (Some(method), Some(id)) if usable(id) => Kind::Request { id, method, params: self.params },
            (Some(_), Some(_)) => Kind::Unusable("a request whose id is neither a number nor a string"),
            (None, None) if self.error.is_some() => Kind::Unusable("an error that answers no request"),
            (None, None) => Kind::Unusable("a message without method and id"),
            (None, Some(id)) => match our_id(id) {
                Some(id) => Kind::Response { id, result: self.result, error: self.error },
                None => Kind::Unusable("an answer whose id is none of ours"),
            },
        }
    }
}

fn usable(id: &RawValue) -> bool {
    let text = id.get();
    text.len() <= ID_BYTES && text.starts_with(|first: char| first.is_ascii_digit() || first == '-' || first == '"')
}

/// Our ids are whole numbers; some servers send them back as text or as `7.0`.
fn our_id(id: &RawValue) -> Option<u64> {
    id_of(id.get())
}

/// The same for an id as it stands in the message.
pub(super) fn id_of(text: &str) -> Option<u64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let text = text.trim_matches('"');
    text.parse().ok().or_else(|| text.strip_suffix(".0")?.parse().ok())
}

/// A response's `error`, however incomplete.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WireError {
    pub code: i64,
    pub message: String,
    pub retrigger: bool,
}

impl WireError {
    pub(super) fn read(raw: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Parts<'a> {
            #[serde(borrow, default)]
            code: Option<&'a RawValue>,
            #[serde(borrow, default)]
            message: Option<&'a RawValue>,
            #[serde(borrow, default)]
            data: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Data {
            #[serde(rename = "retriggerRequest")]
            retrigger: bool,
        }
        let parts = serde_json::from_str::<Parts<'_>>(raw.get()).unwrap_or(Parts {
            code: None,
            message: Some(raw),
            data: None,
        });
        let message = parts.message.map_or_else(
            || "no reason given".to_owned(),
            |message| match message.get() {
                // Of a text that fills a large message no second copy is made.
                long if long.len() > LONG_TEXT => long.trim_start_matches('"').chars().take(ERROR_TEXT).collect(),
                text => serde_json::from_str(text).unwrap_or_else(|_| text.to_owned()),
            },
        );
        // LSP: a server that leaves `retriggerRequest` out asks to be asked again.
        let data = parts.data.and_then(|data| serde_json::from_str::<Data>(data.get()).ok());
        Self {
            code: parts.code.map_or(-32603, |code| whole(code.get())),
            message: cut(message, ERROR_TEXT),
            retrigger: data.is_none_or(|data| data.retrigger),
        }
    }
}

fn whole(text: &str) -> i64 {
    let text = text.trim_matches('"');
    #[expect(clippy::cast_possible_truncation, reason = "saturates, which is what an absurd code deserves")]
    text.parse::<i64>().or_else(|_| text.parse::<f64>().map(|code| code as i64)).unwrap_or(-32603)
}

/// At most `chars` characters of a text.
pub(super) fn cut(mut text: String, chars: usize) -> String {
    if text.len() > chars
        && let Some((at, _)) = text.char_indices().nth(chars)
    {
        text.truncate(at);
        text.shrink_to_fit();
    }
    text
}

/// Whether arrays and objects are nested deeper than `limit`. Works on any bytes.
pub(super) fn deeper_than(body: &[u8], limit: usize) -> bool {
    if body.len() <= limit {
        return false;
    }
    let (mut depth, mut at) = (0usize, 0);
    while at < body.len() {
        match body[at] {
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => at = string_end(body, at + 1),
            _ => {}
        }
        at += 1;
    }
    false
}

/// The index of the quote that ends the string whose text begins at `at`.
pub(super) fn string_end(body: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', body.get(at..).unwrap_or_default()) {
        at += found;
        if body[at] == b'"' {
            return at;
        }
        at += 2;
    }
    body.len()
}
