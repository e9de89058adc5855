//! Puts the symbols of an outline in document order: some servers sort them by name, and flat lists say nothing of
//! nesting but by their ranges.

use std::cmp::Reverse;

use crate::protocol::types::Symbol;

/// Sorts a flat list and gives each symbol the depth that its range implies.
pub(super) fn nest(symbols: &mut [Symbol]) {
    symbols.sort_by_key(|symbol| (symbol.range.start, Reverse(symbol.range.end)));
    let mut open = Vec::new();
    for symbol in symbols {
        while open
            .pop_if(|outer: &mut crate::protocol::positions::Range| {
                !outer.encloses(&symbol.range) || *outer == symbol.range
            })
            .is_some()
        {}
        symbol.depth = u16::try_from(open.len()).unwrap_or(u16::MAX);
        open.push(symbol.range);
    }
}

/// Sorts the children of each symbol of a flattened tree by where they begin; a tree in order is left alone.
pub(super) fn sort_tree(symbols: &mut Vec<Symbol>) {
    if symbols.is_sorted_by_key(|symbol| symbol.range.start) {
        return;
    }
    // The key of a symbol is the starts of all above it and its own, with the place it came from to keep ties apart.
    let mut path = Vec::new();
    let mut keyed: Vec<(Vec<_>, Symbol)> = Vec::with_capacity(symbols.len());
    for (place, symbol) in symbols.drain(..).enumerate() {
        path.truncate(symbol.depth.into());
        path.push((symbol.range.start, place));
        keyed.push((path.clone(), symbol));
    }
    keyed.sort_by(|a, b| a.0.cmp(&b.0));
    symbols.extend(keyed.into_iter().map(|(_, symbol)| symbol));
}
