//! What a user or a definition says about file names, before the built-in tables are asked.

use std::path::Path;

use super::{detect, table::Table};

/// File-name patterns with their languages, in order: the first one stands.
#[derive(Debug, Default)]
pub struct Overrides {
    languages: Vec<String>,
    table: Table<usize>,
}

/// A pattern that is no valid glob.
#[derive(Debug, Clone, thiserror::Error)]
#[error("`{pattern}` is not a pattern of file names: {reason}")]
pub struct PatternError {
    pub pattern: String,
    pub reason: String,
}

impl Overrides {
    /// # Errors
    /// A glob that does not compile.
    pub fn new<P, L>(patterns: impl IntoIterator<Item = (P, L)>) -> Result<Self, PatternError>
    where
        P: Into<String>,
        L: Into<String>,
    {
        let mut languages = Vec::new();
        let mut indexed = Vec::new();
        for (pattern, language) in patterns {
            indexed.push((pattern.into(), languages.len()));
            languages.push(language.into());
        }
        let table = Table::new(indexed).map_err(|error| PatternError {
            pattern: error.glob().unwrap_or_default().to_owned(),
            reason: error.kind().to_string(),
        })?;
        Ok(Self { languages, table })
    }

    /// What these patterns alone say.
    pub fn named(&self, path: &Path) -> Option<&str> {
        let name = path.file_name()?.to_str()?;
        self.table.by_name(name, path).map(|index| self.languages[index].as_str())
    }

    /// The language of a file: these patterns, then the built-in tables, then the text's beginning.
    pub fn detect(&self, path: &Path, head: impl FnOnce() -> Option<String>) -> Option<&str> {
        self.named(path).or_else(|| detect(path, head))
    }
}
