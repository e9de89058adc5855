//! The words for LSP's numbered kinds.

pub(super) use crate::config::count;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_kinds() {
        assert_eq!(
            [symbol(5), symbol(12), symbol(26), symbol(0), symbol(200)],
            ["class", "function", "type", "symbol", "symbol"]
        );
        assert_eq!([completion(Some(3)), completion(None)], ["function", "item"]);
    }
}
