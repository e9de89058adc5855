//! Language ids: which language a file is in, by its name, its extension, or its `#!` line. Knows nothing of servers,
//! and reads no file itself.

mod overrides;
mod shebang;
mod table;

use std::path::Path;

pub use overrides::{Overrides, PatternError};

/// The language of a file by the built-in tables: whole name, then glob, then extension, then the `#!` line, which is
/// asked for only when the name says nothing.
pub fn detect(path: &Path, first_line: impl FnOnce() -> Option<String>) -> Option<&'static str> {
    let table = table::builtin();
    let by_name = path.file_name().and_then(|name| name.to_str()).and_then(|name| table.by_name(name, path));
    by_name.or_else(|| shebang::interpreter(&first_line()?).and_then(|program| table::interpreter(&program)))
}

/// Whether a built-in table names this language: a definition may still invent one.
pub fn is_known(language: &str) -> bool {
    table::builtin().languages().any(|known| known == language) || table::interpreters().any(|known| known == language)
}

/// Every language id of the built-in tables, sorted, each once.
pub fn known() -> Vec<&'static str> {
    let mut all: Vec<_> = table::builtin().languages().chain(table::interpreters()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
