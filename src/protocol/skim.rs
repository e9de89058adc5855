//! What can be seen of a JSON message without keeping or parsing it: whose answer it is. For messages that are too large
//! to be kept, and for those that are no valid JSON. Pure; works on any bytes, in pieces of any size.

/// An id longer than this is none.
const ID: usize = 64;
/// A key longer than this is none that is looked for.
const KEY: usize = 16;
/// A longer method is none that is looked for, a longer URI none at all.
const METHOD: usize = 64;
const URI: usize = 8 * 1024;

/// What a text turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It answers the request of this id, as it is written there.
    Answer(Option<String>),
    Request(String),
    /// It tells of the problems of this file, in this version of it.
    Problems(String, Option<i32>),
    /// Another notification, or no message at all.
    Other,
}

/// A value that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Id,
    Method,
    Uri,
    Version,
}

/// Looks over a text. Only the keys of the outermost object count, and those of its `params`.
#[derive(Debug, Default)]
pub(crate) struct Skim {
    depth: usize,
    string: bool,
    escaped: bool,
    /// The outermost thing is an object.
    object: bool,
    /// The next thing is that of `params`.
    params_next: bool,
    /// What is read is inside `params`, an object.
    params: bool,
    /// The next text at a level that counts is a key.
    key_next: bool,
    key: Vec<u8>,
    /// Whose value is being read.
    field: Option<Field>,
    id: Vec<u8>,
    name: Vec<u8>,
    uri: Vec<u8>,
    version: Vec<u8>,
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
            _ => self.problems().unwrap_or(Seen::Other),
        }
    }

    fn problems(&self) -> Option<Seen> {
        let method: String = serde_json::from_slice(&self.name).ok()?;
        let uri: String = serde_json::from_slice(&self.uri).ok()?;
        let told = method == "textDocument/publishDiagnostics" && !uri.is_empty();
        told.then(|| Seen::Problems(uri, serde_json::from_slice(&self.version).ok()))
    }

    /// Whether the keys of what is read count.
    fn is_outer(&self) -> bool {
        (self.depth == 1 && self.object) || (self.depth == 2 && self.params)
    }

    fn is_kept(&self) -> bool {
        self.is_outer() && (self.key_next || self.field.is_some())
    }

    fn keep(&mut self, byte: u8) {
        let (text, limit) = match self.field {
            Some(Field::Id) => (&mut self.id, ID),
            Some(Field::Method) => (&mut self.name, METHOD),
            Some(Field::Uri) => (&mut self.uri, URI),
            Some(Field::Version) => (&mut self.version, ID),
            None => return,
        };
        push(text, byte, limit);
    }

    /// The value of this field begins, or is none that is looked for.
    fn clear(&mut self, field: Field) {
        match field {
            Field::Id => self.id.clear(),
            Field::Method => self.name.clear(),
            Field::Uri => self.uri.clear(),
            Field::Version => self.version.clear(),
        }
    }

    fn byte(&mut self, byte: u8) {
        let outer = self.is_outer();
        if self.string {
            let ends = byte == b'"' && !self.escaped;
            self.escaped = byte == b'\\' && !self.escaped;
            if outer && self.field.is_some() {
                self.keep(byte);
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
                } else if outer {
                    self.keep(byte);
                }
            }
            b'{' | b'[' => {
                if self.depth == 0 {
                    self.object = byte == b'{';
                    self.key_next = self.object;
                } else if self.depth == 1 && std::mem::take(&mut self.params_next) && byte == b'{' {
                    (self.params, self.key_next) = (true, true);
                }
                self.depth += 1;
                if let Some(field) = self.field.take() {
                    self.clear(field);
                }
            }
            b'}' | b']' => {
                if self.depth == 2 && std::mem::take(&mut self.params) {
                    self.key_next = false;
                }
                self.depth = self.depth.saturating_sub(1);
                self.field = None;
            }
            b',' if outer => {
                (self.field, self.params_next) = (None, false);
                self.key_next = true;
            }
            b':' if outer && self.field.is_none() => {
                let field = match (self.depth, &*self.key) {
                    (1, b"id") => Some(Field::Id),
                    (1, b"method") => {
                        self.method = true;
                        Some(Field::Method)
                    }
                    (2, b"uri") => Some(Field::Uri),
                    (2, b"version") => Some(Field::Version),
                    _ => None,
                };
                self.params_next = self.depth == 1 && *self.key == *b"params";
                self.answers |= self.depth == 1 && matches!(&*self.key, b"result" | b"error");
                self.field = field;
                if let Some(field) = field {
                    self.clear(field);
                }
            }
            _ if outer => self.keep(byte),
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
    fn whose_problems_are_told() {
        let told = |params: &str| format!(r#"{{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics",{params}}}"#);
        check(
            &told(r#""params":{"uri":"file:///a%20b.py","diagnostics":[{"uri":"x","range":{}}],"version": 7 }"#),
            &expect![[r#"Problems("file:///a%20b.py", Some(7))"#]],
        );
        check(
            r#"{"params":{"version":null,"diagnostics":[[]],"uri":"file:\/\/\/a"},"method":"textDocument\/publishDiagnostics"}"#,
            &expect![[r#"Problems("file:///a", None)"#]],
        );
        check(&told(r#""params":{"a":{"uri":"file:///a"},"diagnostics":[]}"#), &expect!["Other"]);
        check(&told(r#""uri":"file:///a","params":[{"uri":"file:///a"}]"#), &expect!["Other"]);
        check(&told(r#""params":{"uri":{"uri":"file:///a"}}"#), &expect!["Other"]);
        check(&told(r#""params":{"uri":"file:///a"},"id":3"#), &expect![[r#"Request("3")"#]]);
        check(r#"{"method":"a/b","params":{"uri":"file:///a"}}"#, &expect!["Other"]);
        check(&told(&format!(r#""params":{{"uri":"file:///{}"}}"#, "a".repeat(9_000))), &expect!["Other"]);
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
        fn pieces_make_no_difference(text in r#"([{}\[\]",:\\a-d7 idmethodresult]|"params":\{|"uri":|"textDocument/publishDiagnostics"){0,80}"#, piece in 1usize..9) {
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
