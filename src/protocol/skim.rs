//! What can be seen of a JSON message without keeping or parsing it: whose answer it is. For messages that are too large
//! to be kept, and for those that are no valid JSON. Pure; works on any bytes, in pieces of any size.

/// An id longer than this is none.
const ID: usize = 64;
/// A key longer than this is none that is looked for.
const KEY: usize = 16;

/// What a text turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It answers the request of this id, as it is written there.
    Answer(Option<String>),
    Request(String),
    /// A notification, or no message at all.
    Other,
}

/// Looks over a text. Only the keys of the outermost object count.
#[derive(Debug, Default)]
pub(crate) struct Skim {
    depth: usize,
    string: bool,
    escaped: bool,
    /// The outermost thing is an object.
    object: bool,
    /// The next text at the outermost level is a key.
    key_next: bool,
    key: Vec<u8>,
    /// The value of `id` is being read.
    in_id: bool,
    id: Vec<u8>,
    method: bool,
    answers: bool,
}

impl Skim {
    pub(crate) fn of(text: &[u8]) -> Seen {
        let mut skim = Self::default();
        skim.feed(text);
        skim.seen()
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            if self.string && !self.escaped && !self.is_kept() {
                // Most of a large message is text that says nothing here.
                match memchr::memchr2(b'"', b'\\', &bytes[at..]) {
                    Some(found) => at += found,
                    None => return,
                }
            }
            self.byte(bytes[at]);
            at += 1;
        }
    }

    pub(crate) fn seen(&self) -> Seen {
        let id = std::str::from_utf8(&self.id).ok().map(str::trim).filter(|id| !id.is_empty() && id.len() <= ID);
        let is_value = |id: &str| serde_json::from_str::<serde::de::IgnoredAny>(id).is_ok();
        let id = id.filter(|id| *id != "null" && is_value(id)).map(str::to_owned);
        match (self.method, id) {
            (true, Some(id)) => Seen::Request(id),
            (false, id) if id.is_some() || self.answers => Seen::Answer(id),
            _ => Seen::Other,
        }
    }

    fn is_kept(&self) -> bool {
        self.depth == 1 && self.object && (self.key_next || self.in_id)
    }

    fn byte(&mut self, byte: u8) {
        let outer = self.depth == 1 && self.object;
        if self.string {
            let ends = byte == b'"' && !self.escaped;
            self.escaped = byte == b'\\' && !self.escaped;
            if outer && self.in_id {
                push(&mut self.id, byte, ID);
            } else if outer && self.key_next && !ends {
                push(&mut self.key, byte, KEY);
            }
            if ends {
                self.string = false;
                if outer && self.key_next {
                    self.key_next = false;
                }
            }
            return;
        }
        match byte {
            b'"' => {
                self.string = true;
                if outer && self.key_next {
                    self.key.clear();
                } else if outer && self.in_id {
                    push(&mut self.id, byte, ID);
                }
            }
            b'{' | b'[' => {
                if self.depth == 0 {
                    self.object = byte == b'{';
                    self.key_next = self.object;
                }
                self.depth += 1;
                if std::mem::take(&mut self.in_id) {
                    self.id.clear();
                }
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.in_id = false;
            }
            b',' if outer => {
                self.in_id = false;
                self.key_next = true;
            }
            b':' if outer && !self.in_id => match &*self.key {
                b"id" => {
                    self.in_id = true;
                    self.id.clear();
                }
                b"method" => self.method = true,
                b"result" | b"error" => self.answers = true,
                _ => {}
            },
            _ if outer && self.in_id => push(&mut self.id, byte, ID),
            _ => {}
        }
    }
}

/// Keeps one byte more than the limit, which tells that it was too long.
fn push(text: &mut Vec<u8>, byte: u8, limit: usize) {
    if text.len() <= limit {
        text.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &Expect) {
        expected.assert_eq(&format!("{:?}", Skim::of(text.as_bytes())));
    }

    #[test]
    fn whose_answer_it_is() {
        check(r#"{"jsonrpc":"2.0","id":7,"result":[1,{"id":8,"method":"x"}]}"#, &expect![[r#"Answer(Some("7"))"#]]);
        check(r#"{"result":{"a":"\"}{,\"id\":9"},"id": "7" }"#, &expect![[r#"Answer(Some("\"7\""))"#]]);
        check(r#"{"error":{},"id":null}"#, &expect!["Answer(None)"]);
        check(r#"{"id":3,"method":"a/b","params":[]}"#, &expect![[r#"Request("3")"#]]);
        check(r#"{"method":"a/b","params":{"id":3}}"#, &expect!["Other"]);
        check(r#"[{"id":1,"result":2}]"#, &expect!["Other"]);
        check(r#"{"id":{"a":1},"result":2}"#, &expect!["Answer(None)"]);
        check("", &expect!["Other"]);
    }

    #[test]
    fn what_is_broken_is_seen_as_far_as_it_goes() {
        check(r#"{"jsonrpc":"2.0","id":7,"result":{"contents":"#, &expect![[r#"Answer(Some("7"))"#]]);
        check(r#"{"jsonrpc":"2.0","id":7,"result":{"contents":nan},,}"#, &expect![[r#"Answer(Some("7"))"#]]);
        check(r#"{"id":7 "result":'x'}"#, &expect!["Other"]);
        check(r#"{"result":undefined,"id":12}"#, &expect![[r#"Answer(Some("12"))"#]]);
        check("{'id':7}", &expect!["Other"]);
        check(&format!(r#"{{"id":{},"result":1}}"#, "7".repeat(100)), &expect!["Answer(None)"]);
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(text in r#"[{}\[\]",:\\a-d7 idmethodresult]{0,80}"#, piece in 1usize..9) {
            let mut skim = Skim::default();
            text.as_bytes().chunks(piece).for_each(|bytes| skim.feed(bytes));
            prop_assert_eq!(skim.seen(), Skim::of(text.as_bytes()));
        }

        #[test]
        fn messages_that_serde_reads_are_seen_as_they_are(id in 0u64..1000, text: String, deep: Vec<String>) {
            let answer = serde_json::json!({"a": text, "result": {"id": deep, "method": text}, "id": id}).to_string();
            prop_assert_eq!(Skim::of(answer.as_bytes()), Seen::Answer(Some(id.to_string())));
        }
    }
}
