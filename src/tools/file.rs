//! A file that a call is about: inside the workspace, read, with its language; and which definitions serve it.

use std::{path::PathBuf, sync::Arc};

use crate::{
    language,
    protocol::positions::LineMap,
    registry::{self, Entry},
    workspace::{disk::ReadError, roots::PathError},
};

use super::{
    args::invalid,
    engine::Ask,
    outcome::{Code, Failure},
    short::no_server,
};

/// A file of the workspace as it is on disk now.
#[derive(Debug, Clone)]
pub(super) struct File {
    /// Canonical.
    pub path: PathBuf,
    /// The root that it belongs to.
    pub ceiling: PathBuf,
    /// As answers name it.
    pub shown: String,
    /// LSP language id; empty where it is not known.
    pub language: String,
    pub lines: Arc<LineMap>,
}

/// The definitions that serve a file, with the root that each has for it.
#[derive(Debug, Default)]
pub(super) struct Serving {
    /// In the order in which they are asked.
    pub primaries: Vec<(Arc<Entry>, PathBuf)>,
    pub linters: Vec<(Arc<Entry>, PathBuf)>,
}

impl Ask<'_> {
    /// The file that an argument names.
    ///
    /// # Errors
    /// When it is outside the workspace, missing, a folder, too large or not a text.
    pub fn file(&self, given: &str) -> Result<File, Failure> {
        let engine = self.engine;
        let located = engine.ground.roots.resolve(given).map_err(|error| {
            let what = error.to_string();
            match error {
                PathError::OutsideWorkspace { .. } => failure(Code::OutsideWorkspace, what, "give a path inside the workspace"),
                PathError::NotFound { .. } => failure(Code::NotFound, what, "give the path of an existing file, relative to the workspace"),
                PathError::IsDirectory { .. } => failure(Code::Invalid, what, "give the path of a file"),
                PathError::Invalid { .. } => failure(Code::Invalid, what, "give a path relative to the workspace"),
            }
        })?;
        let snapshot = engine.ground.read(&located.path).map_err(|error| {
            let what = error.to_string();
            match error {
                ReadError::NotFound { .. } => failure(Code::NotFound, what, "give the path of an existing file"),
                ReadError::TooLarge { .. } => failure(Code::Unavailable, what, "read it with another tool: language servers are not given files of this size"),
                ReadError::Directory { .. } => failure(Code::Invalid, what, "give the path of a file"),
                ReadError::Binary { .. } => failure(Code::Invalid, what, "give the path of a text file"),
                ReadError::Io { .. } => failure(Code::Failed, what, "check the file's permissions"),
            }
        })?;
        let bound = &engine.bound;
        let first_line = || snapshot.text.lines().next().map(str::to_owned);
        let language = bound.language_of(&located.path).or_else(|| language::detect(&located.path, first_line).map(|id| id.to_string()));
        Ok(File {
            shown: engine.ground.roots.display(&located.path),
            ceiling: engine.ground.roots.path(located.root).to_owned(),
            path: located.path,
            language: language.unwrap_or_default(),
            lines: engine.ground.lines(&snapshot),
        })
    }

    /// Who serves a file.
    ///
    /// # Errors
    /// `unavailable` when no definition does.
    pub fn serving(&self, file: &File) -> Result<Serving, Failure> {
        let engine = self.engine;
        let chosen = engine.bound.for_language(&file.language, |entry| engine.available(entry));
        let rooted = |entries: Vec<Arc<Entry>>| -> Vec<(Arc<Entry>, PathBuf)> {
            entries
                .into_iter()
                .filter_map(|entry| registry::root_of(&file.path, &entry.def.root, &file.ceiling).map(|root| (entry, root)))
                .collect()
        };
        let serving = Serving { primaries: rooted(chosen.primaries), linters: rooted(chosen.linters) };
        if serving.primaries.is_empty() && serving.linters.is_empty() {
            return Err(no_server(self, file));
        }
        Ok(serving)
    }
}

pub(super) fn failure(code: Code, what: impl Into<String>, next: impl Into<String>) -> Failure {
    Failure { code, ..invalid(what, next) }
}
