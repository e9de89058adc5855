//! The opaque token that an answer prints when it leaves items out, and that a call takes back: which tool, how many
//! items were shown, and the fingerprint of the result they belong to. It holds no text and grants nothing.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{
    ToolId,
    outcome::{Code, Failure},
};

/// Keeps other tokens, and tokens of other layouts, from passing the checksum by chance.
const SEED: u64 = 0x6c61_6e67_706f_7274;
const BODY: usize = 1 + 8 + 8;

/// What a token says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// Items before the wanted ones.
    pub offset: usize,
    /// The fingerprint of the answer that printed the token.
    pub fingerprint: u64,
}

/// Why a token is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    #[error("the cursor is not one that langport made")]
    Malformed,
    #[error("the cursor belongs to {}", .0.canonical())]
    OtherTool(ToolId),
    #[error("what the cursor pages through has changed")]
    Stale,
}

impl From<CursorError> for Failure {
    fn from(error: CursorError) -> Self {
        let (code, next) = match error {
            CursorError::Malformed => (Code::Invalid, "pass a cursor exactly as printed, or leave it out"),
            CursorError::OtherTool(_) => (Code::Invalid, "pass it to that tool, or leave it out"),
            CursorError::Stale => (Code::Expired, "ask again without the cursor"),
        };
        Self { code, what: error.to_string(), next: next.to_owned(), details: Vec::new(), servers: Vec::new() }
    }
}

/// The token for the items of `tool`'s answer from `offset` on.
pub fn encode(tool: ToolId, offset: usize, fingerprint: u64) -> String {
    let mut bytes = Vec::with_capacity(BODY + 4);
    bytes.push(tool as u8);
    bytes.extend_from_slice(&(offset as u64).to_le_bytes());
    bytes.extend_from_slice(&fingerprint.to_le_bytes());
    bytes.extend_from_slice(&checksum(&bytes));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads a token back.
///
/// # Errors
///
/// [`CursorError::Malformed`] for anything but a whole token, [`CursorError::OtherTool`] for one of another tool.
pub fn decode(tool: ToolId, token: &str) -> Result<Cursor, CursorError> {
    let bytes = URL_SAFE_NO_PAD.decode(token.trim()).map_err(|_| CursorError::Malformed)?;
    if bytes.len() != BODY + 4 || bytes[BODY..] != checksum(&bytes[..BODY]) {
        return Err(CursorError::Malformed);
    }
    let number = |at: usize| bytes[at..at + 8].try_into().map(u64::from_le_bytes).map_err(|_| CursorError::Malformed);
    let owner = ToolId::ALL.into_iter().find(|id| *id as u8 == bytes[0]).ok_or(CursorError::Malformed)?;
    if owner != tool {
        return Err(CursorError::OtherTool(owner));
    }
    Ok(Cursor { offset: usize::try_from(number(1)?).map_err(|_| CursorError::Malformed)?, fingerprint: number(9)? })
}

/// The offset that `token` asks for, when it belongs to the result with this fingerprint; 0 without a token.
///
/// # Errors
///
/// As [`decode`], and `expired` when the fingerprint is another one.
pub fn resume(tool: ToolId, token: Option<&str>, fingerprint: u64) -> Result<usize, Failure> {
    let Some(token) = token.filter(|token| !token.trim().is_empty()) else { return Ok(0) };
    let cursor = decode(tool, token)?;
    if cursor.fingerprint == fingerprint { Ok(cursor.offset) } else { Err(CursorError::Stale.into()) }
}

fn checksum(body: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = xxh3_64_with_seed(body, SEED).to_le_bytes();
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn round_trip(offset in 0..usize::MAX, fingerprint: u64) {
            for tool in ToolId::ALL {
                let token = encode(tool, offset, fingerprint);
                prop_assert!(token.len() <= 32);
                prop_assert_eq!(decode(tool, &token), Ok(Cursor { offset, fingerprint }));
            }
        }

        #[test]
        fn anything_else_is_refused(token in "\\PC{0,40}") {
            prop_assert_eq!(decode(ToolId::Hover, &token), Err(CursorError::Malformed));
        }

        #[test]
        fn a_changed_letter_is_noticed(at in 0usize..28, letter in "[A-Za-z0-9_-]") {
            let token = encode(ToolId::References, 20, 7);
            let mut other = token.clone();
            other.replace_range(at..=at, &letter);
            prop_assert!(other == token || decode(ToolId::References, &other) == Err(CursorError::Malformed));
        }
    }

    #[test]
    fn wrong_tool_and_changed_result() {
        let token = encode(ToolId::References, 20, 7);
        assert_eq!(token.len(), 28);
        assert_eq!(decode(ToolId::Hover, &token), Err(CursorError::OtherTool(ToolId::References)));
        assert_eq!(resume(ToolId::References, Some(&token), 7).unwrap(), 20);
        assert_eq!(resume(ToolId::References, None, 7).unwrap(), 0);
        assert_eq!(resume(ToolId::References, Some(&token), 8).unwrap_err().code, Code::Expired);
    }
}
