//! The files that a server has asked to be told of.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::globs::literal_folders;
use super::{Glob, Globs};
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
    glob: Glob,
    kinds: u64,
}

impl Watch {
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.base == other.base && self.pattern == other.pattern && self.kinds == other.kinds
    }

    pub(super) fn read<'a>(options: &'a Value, globs: &'a mut Globs) -> impl Iterator<Item = Self> + use<'a> {
        let watchers = options.get("watchers").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        watchers.iter().filter_map(move |watcher| {
            let (base, pattern) = Base::and_pattern(watcher.get("globPattern")?)?;
            let kinds = watcher.get("kind").and_then(Value::as_u64).unwrap_or(7);
            Some(Self { base, pattern: pattern.to_owned(), glob: globs.get(pattern), kinds })
        })
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
