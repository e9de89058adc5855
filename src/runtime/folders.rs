//! The folders that one server process serves: its root, and further ones where its definition lets it share and the
//! server says that it can. They are told as they come and go.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
    time::Duration,
};

use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::{protocol::uri::path_to_uri, registry};

use super::{
    query::{Query, Question},
    readiness::Standing,
    session::Session,
    shortfall::Shortfall,
};

/// Folders that one process may serve.
const FOLDERS: usize = 256;
/// Folders that are wanted within this are told at once: rust-analyzer loads all that it has anew after each time.
const TOGETHER: Duration = Duration::from_millis(25);

/// The folders of a session; the first is its root.
#[derive(Debug)]
pub(super) struct Folders {
    served: Mutex<Arc<[PathBuf]>>,
    /// Those that will be told next.
    wanted: Mutex<Vec<PathBuf>>,
    /// Those that it had loaded when it was given another one.
    loaded: Mutex<HashSet<PathBuf>>,
    /// Roots for which it would have to be started in another way: at the time when that was looked at.
    foreign: Mutex<HashSet<PathBuf>>,
}

impl Folders {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            served: Mutex::new(Arc::from([root.to_owned()])),
            wanted: Mutex::default(),
            loaded: Mutex::default(),
            foreign: Mutex::default(),
        }
    }

    pub(super) fn all(&self) -> Arc<[PathBuf]> {
        self.lock().clone()
    }

    /// A path below the folder that it is in.
    pub(super) fn relative<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        self.all().iter().filter_map(|folder| path.strip_prefix(folder).ok()).min_by_key(|rest| rest.as_os_str().len())
    }

    /// Whether a file is in a folder that was loaded when another one was added.
    pub(super) fn has_loaded(&self, path: &Path) -> bool {
        let all = self.all();
        let own = all.iter().filter(|folder| path.starts_with(folder)).max_by_key(|folder| folder.as_os_str().len());
        own.is_some_and(|own| self.loaded().contains(own))
    }

    fn loaded(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wanted(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Arc<[PathBuf]>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn foreign(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.foreign.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A folder as LSP names it.
pub(super) fn named(folder: &Path) -> (String, String) {
    let name = folder.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy().into_owned());
    (path_to_uri(folder), name)
}

impl Session {
    /// Whether the server says that it takes folders and wants to hear of them.
    pub(super) fn takes_folders(&self) -> bool {
        self.entry.def.root.share && self.heard.record().effective.takes_folders()
    }

    /// The folders that it serves, its root first.
    pub fn folders(&self) -> Arc<[PathBuf]> {
        self.folders.all()
    }

    /// Makes sure that the server serves a folder. Those that are wanted at about the same time are told together.
    ///
    /// # Errors
    /// It cannot take it beside the ones that it has.
    pub(super) async fn join(&self, root: &Path) -> Result<(), Shortfall> {
        if root == self.root {
            return Ok(());
        }
        if self.folders.all().iter().any(|folder| folder == root) {
            return Ok(());
        }
        // The record's lock is never taken under that of the folders.
        let takes = self.takes_folders() && self.would_be_alike(root);
        if !takes {
            return Err(Shortfall::Alone);
        }
        {
            let mut wanted = self.folders.wanted();
            if !wanted.iter().any(|folder| folder == root) {
                wanted.push(root.to_owned());
            }
        }
        sleep(TOGETHER).await;
        self.tell_wanted()?;
        if self.folders.all().iter().any(|folder| folder == root) { Ok(()) } else { Err(Shortfall::Alone) }
    }

    /// Tells of the folders that are wanted, as far as there is room for them.
    fn tell_wanted(&self) -> Result<(), Shortfall> {
        let was_ready = matches!(self.heard.standing(), Standing::Ready);
        {
            let mut folders = self.folders.lock();
            let mut new = std::mem::take(&mut *self.folders.wanted());
            new.retain(|folder| !folders.contains(folder));
            new.truncate(FOLDERS.saturating_sub(folders.len()));
            if new.is_empty() {
                return Ok(());
            }
            for folder in &new {
                tracing::info!(server = %self.entry.name, folder = %folder.display(), "another folder for a server that runs");
            }
            if was_ready {
                self.folders.loaded().extend(folders.iter().cloned());
            }
            *folders = folders.iter().chain(&new).cloned().collect();
            let new: Vec<&Path> = new.iter().map(PathBuf::as_path).collect();
            self.tell_folders(&folders, &new, &[])?;
        }
        self.heard.record().readiness.joined(Instant::now());
        self.agreed.store(false, Ordering::Relaxed);
        // What is ignored in it may have to be watched, too.
        self.desk().followed = None;
        Ok(())
    }

    /// Whether the server only loads another folder than the asked one, and what is asked is about one place or file: then
    /// it can be asked meanwhile. rust-analyzer takes longer for each folder that it has.
    pub(super) fn loads_beside(&self, question: &Question) -> bool {
        let is_local = question.query.at().is_some() || matches!(question.query, Query::Outline { .. });
        is_local
            && !question.query.project_wide()
            && self.heard.record().readiness.is_adding()
            && question.file.as_deref().is_some_and(|file| self.folders.has_loaded(file))
    }

    /// Whether it is for this root what it is for its own.
    fn would_be_alike(&self, root: &Path) -> bool {
        if self.folders.foreign().contains(root) {
            return false;
        }
        let alike = registry::alike(&self.entry, &self.root, root, &self.around);
        let mut foreign = self.folders.foreign();
        if !alike && foreign.len() < FOLDERS {
            foreign.insert(root.to_owned());
        }
        alike
    }

    /// Whether it has turned this root away.
    pub(super) fn is_foreign(&self, root: &Path) -> bool {
        self.folders.foreign().contains(root)
    }

    /// Lets go of folders that are not there any more; the root is none of them.
    pub(super) fn part_with_vanished(&self) {
        let mut folders = self.folders.lock();
        let (stay, gone): (Vec<&PathBuf>, Vec<&PathBuf>) =
            folders.iter().partition(|folder| **folder == self.root || folder.is_dir());
        if gone.is_empty() {
            return;
        }
        let gone: Vec<PathBuf> = gone.into_iter().cloned().collect();
        *folders = stay.into_iter().cloned().collect();
        let gone: Vec<&Path> = gone.iter().map(PathBuf::as_path).collect();
        // A server that is gone needs not be told.
        let _ = self.tell_folders(&folders, &[], &gone);
    }

    fn tell_folders(&self, all: &[PathBuf], added: &[&Path], removed: &[&Path]) -> Result<(), Shortfall> {
        self.heard.set_folders(all.iter().map(|folder| named(folder)).collect());
        let list = |folders: &[&Path]| {
            folders.iter().map(|folder| named(folder)).map(|(uri, name)| json!({"uri": uri, "name": name})).collect()
        };
        let (added, removed): (Vec<_>, Vec<_>) = (list(added), list(removed));
        let event = json!({"event": {"added": added, "removed": removed}});
        self.wire.notify("workspace/didChangeWorkspaceFolders", &event).map_err(|_| self.died())
    }
}
