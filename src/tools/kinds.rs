//! The words for LSP's numbered kinds.

/// The word for a `SymbolKind`.
pub(super) fn symbol(kind: u8) -> &'static str {
    const WORDS: [&str; 26] = [
        "file",
        "module",
        "namespace",
        "package",
        "class",
        "method",
        "property",
        "field",
        "constructor",
        "enum",
        "interface",
        "function",
        "variable",
        "constant",
        "string",
        "number",
        "boolean",
        "array",
        "object",
        "key",
        "null",
        "member",
        "struct",
        "event",
        "operator",
        "type",
    ];
    WORDS.get(usize::from(kind).wrapping_sub(1)).copied().unwrap_or("symbol")
}

/// The word for a `CompletionItemKind`.
pub(super) fn completion(kind: Option<u8>) -> &'static str {
    const WORDS: [&str; 25] = [
        "text",
        "method",
        "function",
        "constructor",
        "field",
        "variable",
        "class",
        "interface",
        "module",
        "property",
        "unit",
        "value",
        "enum",
        "keyword",
        "snippet",
        "color",
        "file",
        "reference",
        "folder",
        "member",
        "constant",
        "struct",
        "event",
        "operator",
        "type",
    ];
    kind.and_then(|kind| WORDS.get(usize::from(kind).wrapping_sub(1))).copied().unwrap_or("item")
}

/// `1 error`, `2 errors`.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {many}", thousands(number)) }
}

/// A number with its thousands apart.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_counts() {
        assert_eq!(
            [symbol(5), symbol(12), symbol(26), symbol(0), symbol(200)],
            ["class", "function", "type", "symbol", "symbol"]
        );
        assert_eq!([completion(Some(3)), completion(None)], ["function", "item"]);
        assert_eq!(
            [count(1, "error", "errors"), count(0, "error", "errors"), count(20_001, "reference", "references")],
            ["1 error", "0 errors", "20,001 references"]
        );
    }
}
