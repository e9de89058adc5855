//! The files that a server has asked to be told of.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::Glob;
use super::globs::literal_folders;
use crate::protocol::types::FileRef;
use crate::protocol::uri::uri_to_ref;

pub(super) const METHOD: &str = "workspace/didChangeWatchedFiles";

/// What happened to a file, with LSP's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileEvent {
    Created = 1,
    Changed = 2,
    Deleted = 3,
}

impl FileEvent {
    fn bit(self) -> u64 {
        match self {
            Self::Created => 1,
            Self::Changed => 2,
            Self::Deleted => 4,
        }
    }
}

/// What a pattern is relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Base {
    /// Every workspace folder; an absolute pattern stands for itself.
    Workspace,
    Folder(PathBuf),
    /// Not on this machine's disk.
    Elsewhere,
}

impl Base {
    /// A glob, or a relative pattern whose base is a URI (with or without a slash at its end) or a workspace folder.
    pub(super) fn and_pattern(value: &Value) -> Option<(Self, &str)> {
        if let Some(pattern) = value.as_str() {
            return Some((Self::Workspace, pattern));
        }
        let pattern = value.get("pattern")?.as_str()?;
        let base = value.get("baseUri")?;
        let uri = base.as_str().or_else(|| base.get("uri")?.as_str())?;
        let base = match uri_to_ref(uri) {
            FileRef::Path(path) => Self::Folder(path),
            FileRef::Foreign(_) => Self::Elsewhere,
        };
        Some((base, pattern))
    }
}

/// One watcher of one registration.
#[derive(Debug, Clone)]
pub struct Watch {
    base: Base,
    pattern: String,
    glob: Arc<Glob>,
    kinds: u64,
}

/// A watcher as it was asked for: its glob is not compiled.
pub(super) struct Wish<'a> {
    base: Base,
    pub(super) pattern: &'a str,
    kinds: u64,
}

/// The watchers of one registration.
pub(super) fn wishes(options: &Value) -> impl Iterator<Item = Wish<'_>> {
    let watchers = options.get("watchers").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    watchers.iter().filter_map(|watcher| {
        let (base, pattern) = Base::and_pattern(watcher.get("globPattern")?)?;
        let kinds = watcher.get("kind").and_then(Value::as_u64).unwrap_or(7);
        Some(Wish { base, pattern, kinds })
    })
}

impl Wish<'_> {
    pub(super) fn compiled(self) -> Watch {
        let glob = Arc::new(Glob::new(self.pattern));
        self.with(glob)
    }

    /// With the glob of one that has the same pattern.
    pub(super) fn like(self, other: &Watch) -> Watch {
        self.with(Arc::clone(&other.glob))
    }

    fn with(self, glob: Arc<Glob>) -> Watch {
        Watch { base: self.base, pattern: self.pattern.to_owned(), glob, kinds: self.kinds }
    }
}

impl Watch {
    pub(super) fn is_of(&self, wish: &Wish<'_>) -> bool {
        self.base == wish.base && self.pattern == wish.pattern && self.kinds == wish.kinds
    }

    /// The glob as the server wrote it.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The folder that the glob is relative to, where the server named one.
    pub fn base(&self) -> Option<&Path> {
        match &self.base {
            Base::Folder(folder) => Some(folder),
            Base::Workspace | Base::Elsewhere => None,
        }
    }

    /// The folder below which everything lies that can match: as far as the pattern names it. Relative, and perhaps
    /// empty, where the pattern is relative to every workspace folder.
    pub fn prefix(&self) -> PathBuf {
        let literal = literal_folders(&self.pattern);
        self.base().map_or_else(|| PathBuf::from(literal), |base| base.join(literal.trim_start_matches('/')))
    }

    pub fn wants(&self, path: &Path, event: FileEvent, roots: &[impl AsRef<Path>]) -> bool {
        if self.kinds & event.bit() == 0 {
            return false;
        }
        match &self.base {
            Base::Workspace if self.pattern.starts_with('/') => self.glob.matches(path),
            Base::Workspace => {
                let mut inside = roots.iter().filter_map(|root| path.strip_prefix(root).ok());
                inside.any(|rest| self.glob.matches(rest))
            }
            Base::Folder(folder) => path.strip_prefix(folder).is_ok_and(|rest| self.glob.matches(rest)),
            Base::Elsewhere => false,
        }
    }
}
