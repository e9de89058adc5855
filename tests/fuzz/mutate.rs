//! Inputs that are nearly right: one of the corpus with some changes, each of which can be left out to make a failing
//! input smaller.

use proptest::prelude::*;

/// Texts that protocols and parsers stumble over.
const TOKENS: &[&str] = &[
    "Content-Length: 2\r\n\r\n{}",
    "Content-Length:",
    "\r\n\r\n",
    "\u{feff}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}",
    "null",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "\\",
    "\\ud83d",
    "\\u0000",
    "1e999",
    "-1",
    "18446744073709551616",
    "0.5",
    "\"id\":",
    "\"method\":",
    "\"range\":",
    "\"uri\":",
    "file:///",
    "%2e%2e",
    "%00",
    "file://localhost",
    "\u{202e}",
    "\u{1b}[31m",
    "\n",
    "\r",
    "\u{2028}",
    "\u{e0041}",
    "👩‍👩‍👧",
    "://u:p@",
    "Bearer ",
    "token=",
    "..",
    "::",
    "#",
    "$/progress",
    "textDocument/publishDiagnostics",
];

#[derive(Debug, Clone)]
enum Change {
    /// Leaves out so many bytes.
    Cut(u16, u8),
    /// Writes so many bytes a second time.
    Again(u16, u8),
    Byte(u16, u8),
    Insert(u16, Vec<u8>),
    Token(u16, usize),
    /// Goes on with the rest of another input.
    Splice(u16, usize, u16),
    /// Many times the same.
    Many(u16, u8, u16),
}

/// How to make an input.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    seed: usize,
    changes: Vec<Change>,
}

pub(crate) fn inputs(seeds: usize) -> impl Strategy<Value = Recipe> {
    let change = prop_oneof![
        1 => (any::<u16>(), any::<u8>()).prop_map(|(at, length)| Change::Cut(at, length)),
        1 => (any::<u16>(), any::<u8>()).prop_map(|(at, length)| Change::Again(at, length)),
        1 => (any::<u16>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        1 => (any::<u16>(), proptest::collection::vec(any::<u8>(), 1..6)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        4 => (any::<u16>(), 0..TOKENS.len()).prop_map(|(at, token)| Change::Token(at, token)),
        1 => (any::<u16>(), 0..seeds, any::<u16>()).prop_map(|(at, other, from)| Change::Splice(at, other, from)),
        1 => (any::<u16>(), any::<u8>(), 1_u16..3_000).prop_map(|(at, byte, times)| Change::Many(at, byte, times)),
    ];
    (0..seeds, proptest::collection::vec(change, 0..8)).prop_map(|(seed, changes)| Recipe { seed, changes })
}

impl Recipe {
    pub(crate) fn apply(&self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.seed].clone();
        for change in &self.changes {
            let within = |at: u16, bytes: &[u8]| usize::from(at) % (bytes.len() + 1);
            match change {
                Change::Cut(at, length) => {
                    let at = within(*at, &bytes);
                    let end = (at + usize::from(*length)).min(bytes.len());
                    bytes.drain(at..end);
                }
                Change::Again(at, length) => {
                    let at = within(*at, &bytes);
                    let part = bytes[at..(at + usize::from(*length)).min(bytes.len())].to_vec();
                    bytes.splice(at..at, part);
                }
                Change::Byte(at, byte) => {
                    let at = within(*at, &bytes);
                    if let Some(old) = bytes.get_mut(at) {
                        *old = *byte;
                    }
                }
                Change::Insert(at, new) => insert(&mut bytes, *at, new),
                Change::Token(at, token) => insert(&mut bytes, *at, TOKENS[*token].as_bytes()),
                Change::Splice(at, other, from) => {
                    let other = &seeds[*other];
                    bytes.truncate(within(*at, &bytes));
                    bytes.extend_from_slice(&other[within(*from, other)..]);
                }
                Change::Many(at, byte, times) => insert(&mut bytes, *at, &vec![*byte; usize::from(*times)]),
            }
        }
        bytes
    }
}

fn insert(bytes: &mut Vec<u8>, at: u16, new: &[u8]) {
    let at = usize::from(at) % (bytes.len() + 1);
    bytes.splice(at..at, new.iter().copied());
}

/// What a panic says.
pub(crate) fn reason(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".to_owned())
}
