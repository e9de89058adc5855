//! Looking through folders: at the start, when new ones appear, and after events were lost.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;

use super::{Engine, Folder};
use crate::config::count;
use crate::workspace::watch::facts::changed;
use crate::workspace::watch::names::Names;
use crate::workspace::watch::rules::Rules;
use crate::workspace::watch::sweep::Begin;
use crate::workspace::watch::{Kind, State, links};

/// Why a folder is looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::workspace::watch) enum Visit {
    /// At the start, or after events were lost: what has the later ctime is reported.
    Since(i128),
    /// It is new: all in it is reported.
    New,
    /// What is ignored has changed: folders not yet watched are new, the others are as they were.
    Again,
}

/// One time that everything is looked through.
#[derive(Debug)]
pub(in crate::workspace::watch) struct Round {
    pub(in crate::workspace::watch) number: u32,
    pub(in crate::workspace::watch) start: i128,
    /// The folders that are still to be looked through.
    pub(in crate::workspace::watch) left: VecDeque<Arc<Path>>,
}

impl Engine {
    /// Begins to look through everything for what changed after `start`, or after the start of a round that was not
    /// brought to its end.
    pub(in crate::workspace::watch) fn begin_round(&mut self, start: i128) -> Round {
        let start = self.unfinished.map_or(start, |earlier| earlier.min(start));
        self.unfinished = Some(start);
        self.round += 1;
        Round { number: self.round, start, left: self.tops.iter().map(|top| Arc::from(&**top)).collect() }
    }

    pub(in crate::workspace::watch) fn round(&self) -> u32 {
        self.round
    }

    pub(in crate::workspace::watch) fn setting_up(&self) -> State {
        State::SettingUp { folders: self.folders(), round: self.round }
    }

    /// Have events been lost since this was asked last?
    pub(in crate::workspace::watch) fn take_lost(&mut self) -> bool {
        std::mem::take(&mut self.lost)
    }

    /// Ends it: folders that nobody came by, because they went while events were lost, are let go.
    pub(in crate::workspace::watch) fn end_round(&mut self) {
        let missed = self.folders.values().filter(|folder| folder.round != self.round);
        for path in missed.map(|folder| Arc::clone(&folder.path)).collect::<Vec<_>>() {
            if self.watches(&path) && !path.is_dir() {
                self.gone(&path);
            }
        }
        self.unfinished = None;
        self.complete = true;
    }

    /// Looks through one folder of a round; returns the folders in it.
    pub(in crate::workspace::watch) fn visit_in_round(&mut self, folder: &Arc<Path>, start: i128) -> Vec<Arc<Path>> {
        let new = self.complete && !self.watches(folder);
        if new && !self.tops.iter().any(|top| **top == **folder) {
            self.record(folder, Kind::Created, true);
        }
        let below = self.visit(folder, if new { Visit::New } else { Visit::Since(start) });
        below.into_iter().map(|(folder, _)| folder).collect()
    }

    /// Looks through a folder and all below it, until nothing is left to look through.
    pub(in crate::workspace::watch) fn enter(&mut self, folder: &Path, visit: Visit) {
        let mut left = vec![(Arc::from(folder), visit)];
        while let Some((folder, visit)) = left.pop() {
            left.extend(self.visit(&folder, visit));
        }
    }

    /// Watches one folder, lists it, reports what is to be reported, and returns the folders in it.
    fn visit(&mut self, folder: &Arc<Path>, visit: Visit) -> Vec<(Arc<Path>, Visit)> {
        let known = self.watches(folder);
        let Some(watch) = self.watch(folder, visit) else { return Vec::new() };
        let visit = if visit == Visit::Again && !known {
            self.record(folder, Kind::Created, true);
            Visit::New
        } else {
            visit
        };
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        let (mut names, mut files, mut below, mut links) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let old = self.folders.get_mut(&watch).map(|folder| std::mem::take(&mut folder.names)).unwrap_or_default();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is = entry.file_type().ok();
            if is.is_some_and(|kind| kind.is_dir()) {
                below.push(Arc::from(entry.path()));
                continue;
            }
            if is.is_some_and(|kind| kind.is_symlink()) {
                links.push(entry.path());
            }
            if is.is_some_and(|kind| !kind.is_file()) && links::leads_nowhere(&entry.path()) {
                continue;
            }
            let before = old.contains(&name);
            let metadata = entry.metadata().ok();
            if let Some(metadata) = metadata.as_ref().filter(|metadata| self.linked.concerns(metadata)) {
                self.note_metadata(&entry.path(), metadata, begin(visit));
            }
            let kind = match visit {
                Visit::Since(start) => metadata.and_then(|metadata| changed(&metadata, start, known.then_some(before))),
                Visit::New if before => Some(Kind::Changed),
                Visit::Again if before => None,
                Visit::New | Visit::Again => Some(Kind::Created),
            };
            files.extend(kind.map(|kind| (entry.path(), kind)));
            names.push(name);
        }
        if names.iter().any(|name| Rules::is_marker(name)) && self.rules.leaves_out(folder) {
            // It got its mark after we had decided to watch it.
            self.leave(folder, false);
            self.watch_records(folder, visit);
            return Vec::new();
        }
        let source = names.iter().any(|name| Rules::is_source(name));
        let names: Names = names.iter().collect();
        let gone = old.iter().filter(|name| !names.contains(name)).map(|name| (folder.join(name), Kind::Deleted));
        files.extend(gone);
        if let Some(folder) = self.folders.get_mut(&watch) {
            folder.names = names;
            folder.round = self.round;
        }
        self.rules.source(folder, source);
        for (path, kind) in files {
            self.record(&path, kind, false);
        }
        for link in links {
            self.link(&link, visit);
        }
        let (left_out, below): (Vec<Arc<Path>>, Vec<Arc<Path>>) =
            below.into_iter().partition(|folder| self.rules.leaves_out(folder));
        for folder in left_out {
            // It may not have been left out before.
            self.leave(&folder, false);
            self.watch_records(&folder, visit);
        }
        if visit == Visit::New {
            below.iter().for_each(|folder| self.record(folder, Kind::Created, true));
        }
        below.into_iter().map(|folder| (folder, visit)).collect()
    }

    fn watch(&mut self, folder: &Arc<Path>, visit: Visit) -> Option<i32> {
        let known = self.by_path.get(folder).copied();
        if self.blind.iter().any(|blind| **blind == **folder) {
            self.sweep(folder, visit);
            return None;
        }
        if known.is_none() && self.folders.len() >= self.max_folders {
            let max = self.max_folders;
            self.limit.get_or_insert_with(|| format!("there are more than {}", count(max, "folder", "folders")));
            self.sweep(folder, visit);
            return None;
        }
        let top = self.tops.iter().any(|top| **top == **folder);
        // Also where it is watched: after events were lost, another folder may go by that name.
        match self.queue.add(folder, top) {
            Ok(watch) if known == Some(watch) => Some(watch),
            Ok(watch) => {
                known.into_iter().for_each(|stale| self.forget(stale));
                // Only its records counted before. What waits in the queue is now told of all.
                self.watch_whole(watch);
                // The same folder under another name: it was renamed, and we are ahead of the event.
                self.forget(watch);
                let new = Folder { path: Arc::clone(folder), names: Names::default(), round: self.round };
                self.folders.insert(watch, new);
                self.by_path.insert(Arc::clone(folder), watch);
                Some(watch)
            }
            Err(error) => {
                if self.note_limit(folder, &error) {
                    self.sweep(folder, visit);
                }
                None
            }
        }
    }

    /// Notes why a folder cannot be watched; false if there is nothing to watch.
    pub(super) fn note_limit(&mut self, folder: &Path, error: &std::io::Error) -> bool {
        let why = match Errno::from_io_error(error) {
            // It is gone again, or nobody can look into it.
            Some(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => return false,
            Some(Errno::NOSPC) => "the system's limit of watches is reached (fs.inotify.max_user_watches)".to_owned(),
            _ => format!("{} cannot be watched: {error}", folder.display()),
        };
        self.limit.get_or_insert(why);
        true
    }

    /// Leaves a folder, with all below it, to those who look for themselves.
    fn sweep(&self, folder: &Path, visit: Visit) {
        let keep = self.tops.iter().any(|top| top == folder);
        self.sweeper.cover(folder, begin(visit), keep);
    }
}

/// What a folder counts for where it is compared instead of watched.
pub(super) fn begin(visit: Visit) -> Begin {
    match visit {
        Visit::Since(start) => Begin::Since(start),
        Visit::New | Visit::Again => Begin::New,
    }
}
