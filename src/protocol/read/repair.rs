//! Mends what serde_json refuses in a text but a server may well send: bytes that are not UTF-8 and escapes that are
//! half of a surrogate pair (from servers that cut a string by UTF-16 units). Each becomes U+FFFD.

/// A larger text is not mended: the copy would take as much memory again.
const LARGEST: usize = 8 * 1024 * 1024;

/// The mended text, or `None` where there is nothing to mend.
pub(super) fn repair(raw: &[u8]) -> Option<Vec<u8>> {
    if raw.len() > LARGEST {
        return None;
    }
    let text = String::from_utf8_lossy(raw);
    let mut changed = matches!(text, std::borrow::Cow::Owned(_));
    let mut bytes = text.into_owned().into_bytes();
    let mut at = 0;
    while let Some(next) = memchr::memchr(b'\\', &bytes[at..]) {
        at += next;
        match unit(&bytes, at) {
            Some(0xd800..=0xdbff) if matches!(unit(&bytes, at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                bytes[at + 2..at + 6].copy_from_slice(b"fffd");
                changed = true;
                at += 6;
            }
            // The escaped character may itself be a backslash.
            _ => at = (at + 2).min(bytes.len()),
        }
    }
    changed.then_some(bytes)
}

/// The code unit of the `\uXXXX` at `at`.
fn unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}
