//! How a symbol is named: `Cart/add`, `Cart.add`, `Cart::add`, `Cart#add` are one path, and match what servers call it
//! (`(*Cart).Add`, `impl Cart`, `add(int)`). Pure.

/// A symbol's name as a path of plain segments, outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SymbolPath {
    segments: Vec<String>,
}

impl SymbolPath {
    /// Reads what an agent or a server wrote; `None` where no name is left.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut segments = Vec::new();
        let bare = without_groups(text);
        for part in bare.split(['/', '.', '#', ':']) {
            // `impl Display for Cart` is about Cart; `def add`, `class Cart` say what they are first.
            let word = part.split_whitespace().next_back().unwrap_or_default();
            let word = word.trim_matches(|c: char| matches!(c, '*' | '&' | '(' | ')' | ',' | ';' | '"' | '\'' | '`'));
            if !word.is_empty() {
                segments.push(word.to_owned());
            }
        }
        (!segments.is_empty()).then_some(Self { segments })
    }

    /// The last segment: the name that stands in the text.
    pub(super) fn name(&self) -> &str {
        self.segments.last().map_or("", String::as_str)
    }

    /// All segments before the name.
    pub(super) fn is_qualified(&self) -> bool {
        self.segments.len() > 1
    }

    /// Whether a symbol whose own path is `full` is meant: the asked path must be its end.
    pub(super) fn matches(&self, full: &[String]) -> bool {
        full.len() >= self.segments.len() && full[full.len() - self.segments.len()..] == self.segments[..]
    }

    /// All segments, outermost first.
    pub(super) fn segments(&self) -> &[String] {
        &self.segments
    }

    /// The segments, to build the path of a nested symbol.
    pub(super) fn into_segments(self) -> Vec<String> {
        self.segments
    }
}

/// The text without parameter lists and type arguments, but with a Go receiver such as `(*Cart).Add` opened.
fn without_groups(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut depth = 0_u32;
    let receiver = text.starts_with('(');
    let mut opened = !receiver;
    for c in text.chars() {
        match c {
            '(' | '<' | '[' if opened => depth += 1,
            ')' | '>' | ']' if opened => depth = depth.saturating_sub(1),
            ')' if !opened => opened = true,
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::SymbolPath;

    fn segments(text: &str) -> Vec<String> {
        SymbolPath::parse(text).map(SymbolPath::into_segments).unwrap_or_default()
    }

    #[test]
    fn every_spelling_is_the_same_path() {
        for text in [
            "Cart/add",
            "Cart.add",
            "Cart::add",
            "Cart#add",
            "(*Cart).add",
            "impl Cart/add(int)",
            "class Cart.def add",
            "Cart<T>.add<U>(x: T)",
        ] {
            assert_eq!(segments(text), ["Cart", "add"], "{text}");
        }
        assert_eq!(segments("impl Display for Cart"), ["Cart"]);
        assert_eq!(segments("add(int, string) error"), ["error"], "a trailing result type is not understood");
        assert!(SymbolPath::parse(" ").is_none());
        assert!(SymbolPath::parse("()").is_none());
    }

    #[test]
    fn a_path_matches_the_end_of_a_full_one() {
        let full = segments("shop/Cart/add");
        assert!(SymbolPath::parse("add").unwrap().matches(&full));
        assert!(SymbolPath::parse("Cart.add").unwrap().matches(&full));
        assert!(!SymbolPath::parse("Basket.add").unwrap().matches(&full));
        assert!(!SymbolPath::parse("x/shop/Cart/add").unwrap().matches(&full));
    }
}
