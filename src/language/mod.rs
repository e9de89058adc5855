//! Language ids: which language a file is in, by its name, its extension, or its first lines. Knows nothing of servers,
//! and reads no file itself.

mod content;
mod overrides;
mod shebang;
mod table;

use std::path::Path;

pub use content::{HEAD, head};
pub use overrides::{Overrides, PatternError};

use content::Said;

/// The language of a file by the built-in tables: whole name, then glob, then extension. Where these say nothing, or
/// several languages share the extension (`.h`, `.m`, `.v`, `.ts`, `.pl`), the beginning of the text decides, which is
/// asked for only then; [`HEAD`] bytes of it are enough. `None` is no language: nobody makes plain text of it.
pub fn detect(path: &Path, head: impl FnOnce() -> Option<String>) -> Option<&'static str> {
    let table = table::builtin();
    let by_name = path.file_name().and_then(|name| name.to_str()).and_then(|name| table.by_name(name, path));
    if by_name.is_some() && !content::is_shared(path) {
        return by_name;
    }
    match head().map_or(Said::Nothing, |head| content::language(path, &head)) {
        Said::Language(language) => Some(language),
        Said::NoText => None,
        Said::Nothing => by_name,
    }
}

/// Whether a built-in table names this language: a definition may still invent one.
pub fn is_known(language: &str) -> bool {
    let mut known = table::builtin().languages().chain(table::interpreters()).chain(table::told());
    known.any(|known| known == language)
}

/// Every language id of the built-in tables, sorted, each once.
pub fn known() -> Vec<&'static str> {
    let mut all: Vec<_> = table::builtin().languages().chain(table::interpreters()).chain(table::told()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
