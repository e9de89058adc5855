//! Outlines, found symbols, and trees.

use super::*;
use crate::tools::outcome::{FoundSymbol, SymbolLine, TreeLine};

#[test]
fn outlines() {
    let symbol = |depth, line, kind: &str, name: &str, detail: Option<&str>, hidden| SymbolLine {
        depth,
        kind: kind.to_owned(),
        name: name.to_owned(),
        detail: detail.map(str::to_owned),
        line,
        column: 5,
        end_line: line + 9,
        hidden,
    };
    let body = Body::Symbols(vec![
        symbol(0, 12, "class", "Cart", None, 0),
        symbol(1, 14, "method", "add", Some("(self, item) -> None"), 2),
        symbol(0, 40, "function", "main\n", None, 0),
    ]);
    check(
        ToolId::Symbols,
        &fresh("3 symbols in src/cart.py", body),
        &expect![[r#"
        fresh · pyright · 3 symbols in src/cart.py
          12 class Cart
            14 method add  (self, item) -> None  (+2 inside)
          40 function main"#]],
    );
}

#[test]
fn found_symbols() {
    let found = |name: &str, container: Option<&str>| FoundSymbol {
        file: "src/cart.py".to_owned(),
        line: 14,
        column: 9,
        kind: "method".to_owned(),
        name: name.to_owned(),
        container: container.map(str::to_owned),
    };
    let body = Body::Found(vec![found("add", Some("Cart")), found("add_all", None)]);
    check(
        ToolId::WorkspaceSymbols,
        &fresh("2 symbols", body),
        &expect![[r#"
        fresh · pyright · 2 symbols
        src/cart.py:14:9  method add  in Cart
        src/cart.py:14:9  method add_all"#]],
    );
}

#[test]
fn trees() {
    let line = |depth, name: &str, sites: Vec<u32>, repeated| TreeLine {
        depth,
        kind: "function".to_owned(),
        name: name.to_owned(),
        file: "src/cart.py".to_owned(),
        line: 14,
        column: 5,
        sites,
        repeated,
    };
    let body = Body::Tree(vec![
        line(0, "add", vec![], false),
        line(1, "main", vec![20, 31], false),
        line(2, "run", (1..30).collect(), true),
    ]);
    check(
        ToolId::Calls,
        &fresh("2 callers", body),
        &expect![[r#"
        fresh · pyright · 2 callers
          function add  src/cart.py:14:5
            function main  src/cart.py:14:5  at 20, 31
              function run  src/cart.py:14:5  at 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, … (29 in all)  (shown above)"#]],
    );
}
