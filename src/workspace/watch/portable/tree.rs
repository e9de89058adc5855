//! The folders that are watched through `notify` and what is in them. Backends tell the same change in different
//! words (FSEvents repeats old ones), so an event only says where to look, and the disk says what is there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::config::count;
use crate::sys::files;
use crate::workspace::watch::facts::{REPORTED, changed};
use crate::workspace::watch::log::Log;
use crate::workspace::watch::names::Names;
use crate::workspace::watch::rules::Rules;
use crate::workspace::watch::{Kind, Top, links, stamps};

/// Why a folder is looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visit {
    /// At the start, or after events were lost: what has the later ctime is reported.
    Since(i128),
    /// It is new: all in it is reported.
    New,
    /// It may be another folder than before, or what is ignored may have changed.
    Again,
}

#[derive(Debug, Default)]
struct Folder {
    /// Its files.
    names: Names,
    /// Device and number tell it from another of that name; zeros if there was none.
    inode: (u64, u64),
}

/// What is known.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) log: Arc<Mutex<Log>>,
    pub(super) rules: Rules,
    /// Folders without a watched parent: the roots and the exempt ones.
    pub(super) tops: Vec<PathBuf>,
    /// Where cookies are put: never told of.
    pub(super) private: PathBuf,
    pub(super) watcher: Option<RecommendedWatcher>,
    /// Each folder has a watch of its own.
    pub(super) each: bool,
    pub(super) max_folders: usize,
    folders: BTreeMap<Arc<Path>, Folder>,
    /// Folders whose `.gitignore` has changed.
    rewritten: BTreeSet<PathBuf>,
    /// Why there are folders that are not watched.
    pub(super) limit: Option<String>,
    roots: Arc<[Top]>,
    /// Everything has been looked through once: a folder that is unknown then is new.
    pub(super) complete: bool,
}

impl Tree {
    pub(super) fn new(log: Arc<Mutex<Log>>, roots: Arc<[Top]>, each: bool, max_folders: usize) -> Tree {
        Tree {
            log,
            rules: Rules::default(),
            tops: roots.iter().map(|root| root.path.clone()).collect(),
            private: PathBuf::new(),
            watcher: None,
            each,
            max_folders,
            folders: BTreeMap::new(),
            rewritten: BTreeSet::new(),
            limit: None,
            roots,
            complete: false,
        }
    }

    pub(super) fn folders(&self) -> usize {
        self.folders.len()
    }

    pub(super) fn knows(&self, folder: &Path) -> bool {
        self.folders.contains_key(folder)
    }

    /// Watches one folder, or all below it too. False if that is not possible.
    pub(super) fn watch(&mut self, folder: &Path, mode: RecursiveMode) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        let Err(error) = watcher.watch(folder, mode) else { return true };
        let why = match &error.kind {
            // It is gone again, or nobody can look into it.
            ErrorKind::PathNotFound => return false,
            ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::NotFound => return false,
            ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::PermissionDenied => return false,
            ErrorKind::MaxFilesWatch => "the system's limit of watches is reached".to_owned(),
            _ => format!("{} cannot be watched: {error}", folder.display()),
        };
        self.limit.get_or_insert(why);
        false
    }

    /// Watches a folder that the rules leave out, with everything below. False if there is no such folder.
    pub(super) fn exempt(&mut self, folder: &Path, start: i128) -> bool {
        self.rules.exempt(folder);
        let way: Vec<&Path> = folder.ancestors().take_while(|above| !self.knows(above)).collect();
        if way.last().is_some_and(|first| first.parent().is_some()) {
            // The way to it, too, should it come later.
            for step in way.iter().rev().take_while(|step| step.is_dir()) {
                self.enter(step, Visit::Since(start));
            }
        }
        self.knows(folder)
    }

    /// Something has happened to what goes by this name. `renewed` says that it may be another file or folder now.
    pub(super) fn look_at(&mut self, path: &Path, renewed: bool) {
        let metadata = path.symlink_metadata().ok();
        let is_folder = metadata.as_ref().is_some_and(std::fs::Metadata::is_dir);
        if self.tops.iter().any(|top| top == path) {
            if self.roots.iter().any(|root| root.path == path && root.is_renewed()) {
                self.follow_roots();
            } else if renewed && self.knows(path) {
                self.enter(path, Visit::Again);
            }
            return;
        }
        // What is not below a known folder is ignored, or will be found when that folder is looked through.
        let Some(parent) = path.parent().filter(|parent| self.knows(parent)) else {
            if stamps::dependent(path).is_some() {
                self.record(path, if metadata.is_some() { Kind::Changed } else { Kind::Deleted }, is_folder);
            }
            return;
        };
        if !is_folder {
            if self.knows(path) {
                self.gone(path);
            }
            self.file(parent, path, metadata.is_some() && !links::leads_nowhere(path));
            return;
        }
        self.file(parent, path, false);
        if self.leaves_out(path) {
            return;
        }
        if renewed {
            // One that is not known is new.
            self.enter(path, Visit::Again);
        }
    }

    fn file(&mut self, parent: &Path, path: &Path, exists: bool) {
        let (Some(folder), Some(name)) = (self.folders.get_mut(parent), path.file_name()) else { return };
        let kind = match (folder.names.contains(name), exists) {
            (true, true) => Kind::Changed,
            (true, false) => {
                folder.names.remove(name);
                Kind::Deleted
            }
            (false, true) => {
                folder.names.insert(name);
                Kind::Created
            }
            // It came and went.
            (false, false) => return,
        };
        self.record(path, kind, false);
        if Rules::is_source(name) {
            self.rules.rewritten(parent);
            self.rewritten.insert(parent.to_owned());
        } else if Rules::is_marker(name) && exists && self.rules.leaves_out(parent) {
            // It was made before its mark was.
            self.leave(parent, false);
        }
    }

    /// Looks for what is not ignored any more. To be called after events were worked through.
    pub(super) fn obey_rewritten(&mut self) {
        for folder in std::mem::take(&mut self.rewritten) {
            if self.knows(&folder) {
                self.enter(&folder, Visit::Again);
            }
        }
    }

    /// Looks through one folder of all; returns the folders in it.
    pub(super) fn visit_in_round(&mut self, folder: &Arc<Path>, start: i128) -> Vec<Arc<Path>> {
        let top = self.tops.iter().any(|top| **top == **folder);
        if top && !folder.is_dir() {
            self.follow_roots();
            return Vec::new();
        }
        let new = self.complete && !top && !self.knows(folder);
        if new {
            self.record(folder, Kind::Created, true);
        }
        let below = self.visit(folder, if new { Visit::New } else { Visit::Since(start) });
        below.into_iter().map(|(folder, _)| folder).collect()
    }

    /// Looks through a folder and all below it, until nothing is left to look through.
    fn enter(&mut self, folder: &Path, visit: Visit) {
        let mut left = vec![(Arc::from(folder), visit)];
        while let Some((folder, visit)) = left.pop() {
            left.extend(self.visit(&folder, visit));
        }
    }

    /// Watches one folder, lists it, reports what is to be reported, and returns the folders in it.
    fn visit(&mut self, folder: &Arc<Path>, visit: Visit) -> Vec<(Arc<Path>, Visit)> {
        let known = self.knows(folder);
        if !known && self.folders.len() >= self.max_folders {
            let max = self.max_folders;
            self.limit.get_or_insert_with(|| format!("there are more than {}", count(max, "folder", "folders")));
            return Vec::new();
        }
        // Also where it is watched: it may be another folder of that name.
        if self.each && !self.watch(folder, RecursiveMode::NonRecursive) {
            return Vec::new();
        }
        let listing = folder.symlink_metadata().and_then(|metadata| Ok((metadata, folder.read_dir()?)));
        let Ok((metadata, entries)) = listing else { return Vec::new() };
        let identity = files::identity(&metadata);
        let inode = (identity.dev, identity.ino);
        let new = Folder { names: Names::default(), inode };
        let old = self.folders.insert(Arc::clone(folder), new).unwrap_or_default();
        // Another one by that name is a new one.
        let visit = if visit == Visit::Again && old.inode != inode {
            self.record(folder, Kind::Created, true);
            Visit::New
        } else {
            visit
        };
        let old = old.names;
        let (mut names, mut files, mut below) = (Vec::new(), Vec::new(), BTreeSet::new());
        for entry in entries.flatten() {
            let name = entry.file_name();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                below.insert(Arc::from(entry.path()));
                continue;
            }
            if entry.file_type().is_ok_and(|kind| !kind.is_file()) && links::leads_nowhere(&entry.path()) {
                continue;
            }
            let before = old.contains(&name);
            let kind = match visit {
                Visit::Since(start) => {
                    entry.metadata().ok().and_then(|metadata| changed(&metadata, start, known.then_some(before)))
                }
                Visit::New if before => Some(Kind::Changed),
                Visit::Again if before => None,
                Visit::New | Visit::Again => Some(Kind::Created),
            };
            files.extend(kind.map(|kind| (entry.path(), kind)));
            names.push(name);
        }
        let gone = self.below(folder).filter(|path| path.parent() == Some(&**folder) && !below.contains(&**path));
        for path in gone.collect::<Vec<_>>() {
            self.gone(&path);
        }
        if names.iter().any(|name| Rules::is_marker(name)) && self.rules.leaves_out(folder) {
            // It got its mark after we had decided to watch it.
            self.leave(folder, false);
            return Vec::new();
        }
        let source = names.iter().any(|name| Rules::is_source(name));
        let names: Names = names.iter().collect();
        let ended = old.iter().filter(|name| !names.contains(name)).map(|name| (folder.join(name), Kind::Deleted));
        files.extend(ended);
        if let Some(folder) = self.folders.get_mut(folder) {
            folder.names = names;
        }
        self.rules.source(folder, source);
        for (path, kind) in files {
            self.record(&path, kind, false);
        }
        let (left_out, below): (Vec<Arc<Path>>, Vec<Arc<Path>>) =
            below.into_iter().partition(|folder| self.leaves_out(folder));
        for folder in left_out {
            // It may not have been left out before.
            self.leave(&folder, false);
        }
        if visit == Visit::New {
            below.iter().filter(|folder| !self.knows(folder)).for_each(|new| self.record(new, Kind::Created, true));
        }
        below.into_iter().map(|folder| (folder, visit)).collect()
    }

    fn leaves_out(&mut self, folder: &Path) -> bool {
        *folder == *self.private || self.rules.leaves_out(folder)
    }

    /// The known folders from this one on downwards.
    fn below(&self, folder: &Path) -> impl Iterator<Item = Arc<Path>> {
        let below = self.folders.range::<Path, _>((Bound::Included(folder), Bound::Unbounded));
        below.take_while(move |(path, _)| path.starts_with(folder)).map(|(path, _)| Arc::clone(path))
    }

    /// Forgets a folder and all below it. Reports what is known to have been in it, unless that is too much.
    fn leave(&mut self, folder: &Path, report: bool) {
        let paths: Vec<Arc<Path>> = self.below(folder).collect();
        let known: Vec<(Arc<Path>, Folder)> =
            paths.into_iter().filter_map(|path| self.folders.remove_entry(&path)).collect();
        let few = known.iter().map(|(_, below)| below.names.len() + 1).sum::<usize>() <= REPORTED
            || self.roots.iter().any(|root| root.path == folder);
        for (path, below) in known {
            self.rules.source(&path, false);
            if report && few {
                below.names.iter().for_each(|name| self.record(&path.join(name), Kind::Deleted, false));
                if *path != *folder {
                    self.record(&path, Kind::Deleted, true);
                }
            }
            if !report
                && self.each
                && let Some(watcher) = &mut self.watcher
            {
                // It fails if the folder is gone.
                watcher.unwatch(&path).ok();
            }
        }
    }

    /// A folder is gone. Its watch is the backend's to end: a folder that was renamed may have it by now.
    fn gone(&mut self, path: &Path) {
        self.leave(path, true);
        self.record(path, Kind::Deleted, true);
    }

    /// Where another folder goes by a root's name than before, what was in the old one is gone, and what is in the new
    /// one is new.
    pub(super) fn follow_roots(&mut self) {
        let roots = Arc::clone(&self.roots);
        for root in roots.iter() {
            let Some(now) = root.renew() else { continue };
            let known: Vec<Arc<Path>> = self.below(&root.path).collect();
            for folder in known.iter().filter(|folder| self.each || ***folder == *root.path) {
                if let Some(watcher) = &mut self.watcher {
                    // The old folder may be somewhere else by now. It fails if it is gone.
                    watcher.unwatch(folder).ok();
                }
            }
            if !known.is_empty() {
                self.gone(&root.path);
            }
            if now.is_some() {
                if !self.each {
                    self.watch(&root.path, RecursiveMode::Recursive);
                }
                self.record(&root.path, Kind::Created, true);
                self.enter(&root.path, Visit::New);
            }
        }
    }

    /// Is any root gone?
    pub(super) fn root_gone(&self) -> bool {
        self.roots.iter().any(|root| root.folder().is_none())
    }

    fn record(&self, path: &Path, kind: Kind, folder: bool) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).record(path, kind, folder);
    }
}
