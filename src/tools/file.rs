//! A file that a call is about: inside the workspace, read, with its language; and which definitions serve it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    binding::Fit,
    language,
    protocol::positions::LineMap,
    registry::{self, Entry},
    workspace::{disk::ReadError, roots::PathError},
};

use super::{
    args::invalid,
    ask::Ask,
    engine::Engine,
    outcome::{Code, Failure},
    short::no_server,
    similar::similar,
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
    pub answering: Vec<(Arc<Entry>, PathBuf)>,
    pub linters: Vec<(Arc<Entry>, PathBuf)>,
}

impl Engine {
    /// Who serves a file of a language below a root of the workspace.
    pub(super) fn route(&self, path: &Path, language: &str, ceiling: &Path) -> Serving {
        self.route_among(path, language, ceiling, |entry| self.available(entry))
    }

    /// The same, where it is known already which programs are there.
    pub(super) fn route_among(
        &self,
        path: &Path,
        language: &str,
        ceiling: &Path,
        available: impl Fn(&Entry) -> bool,
    ) -> Serving {
        let root = |entry: &Entry| registry::root_of(path, &entry.def.root, ceiling);
        let fit = |entry: &Entry| match root(entry) {
            None => Fit::Never,
            Some(_) if available(entry) => Fit::Ready,
            Some(_) => Fit::Missing,
        };
        let chosen = self.bound.for_file(path, (!language.is_empty()).then_some(language), fit);
        let rooted = |entry: &Arc<Entry>| root(entry).map(|root| (entry.clone(), root));
        Serving {
            answering: chosen.answering().filter_map(rooted).collect(),
            linters: chosen.linters.iter().filter_map(rooted).collect(),
        }
    }
}

/// A folder of the workspace is gone, and its servers with it.
pub(super) fn root_gone(what: String) -> Failure {
    failure(Code::NotFound, what, "its servers were stopped; they start again when it is there again")
}

impl Ask<'_> {
    /// What is to be said of folders of the workspace that are gone, in an answer about all of them.
    ///
    /// # Errors
    /// None is there.
    pub(super) fn gone_roots(&self) -> Result<Vec<String>, Failure> {
        let roots = self.engine.ground.roots.all();
        let gone: Vec<_> = roots.iter().filter(|root| !root.path.is_dir()).collect();
        match gone.first().filter(|_| gone.len() == roots.len()) {
            Some(root) => Err(root_gone(PathError::RootGone(root.path.clone()).to_string())),
            None => Ok(gone.iter().map(|root| format!("{} is gone: nothing is known of it", root.name)).collect()),
        }
    }

    /// The file that an argument names.
    ///
    /// # Errors
    /// When it is outside the workspace, missing, a folder, too large or not a text.
    pub(super) fn file(&self, given: &str) -> Result<File, Failure> {
        let engine = self.engine;
        let roots = &engine.ground.roots;
        let located = roots.resolve(given).map_err(|error| self.no_path(given, &error))?;
        let snapshot = engine.ground.read(&located.path).map_err(|error| {
            let what = roots.relative(&error.to_string());
            match error {
                ReadError::NotFound(path) => self.no_path(given, &PathError::NotFound(path)),
                ReadError::TooLarge { .. } => failure(
                    Code::Unavailable,
                    what,
                    "read it with another tool: language servers are not given files of this size",
                ),
                ReadError::Special(_) => failure(Code::Invalid, what, "give the path of a text file"),
                ReadError::Directory { .. } => failure(Code::Invalid, what, "give the path of a file"),
                ReadError::Binary { .. } => failure(Code::Invalid, what, "give the path of a text file"),
                ReadError::Io { .. } => failure(Code::Failed, what, "check the file's permissions"),
            }
        })?;
        let head = || Some(language::head(&snapshot.text).to_owned());
        let language = engine.languages.detect(&located.path, head).map(str::to_owned);
        Ok(File {
            shown: engine.ground.roots.display(&located.path),
            ceiling: engine.ground.roots.all()[located.root].path.clone(),
            path: located.path,
            language: language.unwrap_or_default(),
            lines: engine.ground.lines(&snapshot),
        })
    }

    /// Why a path that was given is of no use; of one that leads nowhere, with those that it may have been meant for.
    pub(super) fn no_path(&self, given: &str, error: &PathError) -> Failure {
        let PathError::NotFound(path) = error else { return no_path(given, error) };
        let roots = &self.engine.ground.roots;
        let what = format!("{} does not exist", roots.display(path));
        let similar = similar(roots, path);
        let next = match similar.as_slice() {
            [] => "give the path of an existing file, relative to the workspace",
            [_] => "did you mean this one?",
            _ => "did you mean one of these?",
        };
        Failure { details: similar, ..failure(Code::NotFound, what, next) }
    }

    /// Who serves a file.
    ///
    /// # Errors
    /// `unavailable` when no definition does.
    pub(super) fn serving(&self, file: &File) -> Result<Serving, Failure> {
        let engine = self.engine;
        let serving = engine.route(&file.path, &file.language, &file.ceiling);
        if serving.answering.is_empty() && serving.linters.is_empty() {
            return Err(no_server(self, file));
        }
        Ok(serving)
    }
}

/// Why a path that was given is of no use.
pub(super) fn no_path(given: &str, error: &PathError) -> Failure {
    let what = error.to_string();
    match error {
        PathError::OutsideWorkspace { .. } => {
            // Not where a link leads: that is the repository's text.
            let what = format!("{given} leads outside the workspace");
            failure(Code::OutsideWorkspace, what, "give a path inside the workspace")
        }
        PathError::NotFound { .. } => {
            let what = format!("{given} does not exist");
            failure(Code::NotFound, what, "give the path of an existing file, relative to the workspace")
        }
        PathError::Denied(_) => {
            let what = format!("{given} cannot be reached: permission denied");
            failure(Code::Failed, what, "check the permissions of the folders above it")
        }
        PathError::RootGone { .. } => root_gone(what),
        PathError::IsDirectory { .. } => {
            failure(Code::Invalid, format!("{given} is a folder"), "give the path of a file")
        }
        PathError::Ambiguous(paths) => {
            let what = format!("{given} may be one of {} paths, in roots of their own", paths.len());
            let details = paths.iter().map(|path| path.display().to_string()).collect();
            Failure { details, ..failure(Code::Ambiguous, what, "give one of these") }
        }
        PathError::Invalid { .. } => failure(Code::Invalid, what, "give a path relative to the workspace"),
    }
}

pub(super) fn failure(code: Code, what: impl Into<String>, next: impl Into<String>) -> Failure {
    Failure { code, ..invalid(what, next) }
}
