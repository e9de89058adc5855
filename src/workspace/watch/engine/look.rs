//! Looking through folders: at the start, when new ones appear, and after events were lost.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;

use super::{Engine, Folder};
use crate::workspace::watch::Kind;
use crate::workspace::watch::facts::changed;
use crate::workspace::watch::names::Names;
use crate::workspace::watch::rules::Rules;

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
        let Some(watch) = self.watch(folder) else { return Vec::new() };
        let visit = if visit == Visit::Again && !known {
            self.record(folder, Kind::Created, true);
            Visit::New
        } else {
            visit
        };
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        let (mut names, mut files, mut below) = (Vec::new(), Vec::new(), Vec::new());
        let old = self.folders.get_mut(&watch).map(|folder| std::mem::take(&mut folder.names)).unwrap_or_default();
        for entry in entries.flatten() {
            let name = entry.file_name();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                below.push(Arc::from(entry.path()));
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
        if names.iter().any(|name| Rules::is_marker(name)) && self.rules.leaves_out(folder) {
            // It got its mark after we had decided to watch it.
            self.leave(folder, false);
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
        below.retain(|folder: &Arc<Path>| !self.rules.leaves_out(folder));
        if visit == Visit::New {
            below.iter().for_each(|folder| self.record(folder, Kind::Created, true));
        }
        below.into_iter().map(|folder| (folder, visit)).collect()
    }

    fn watch(&mut self, folder: &Arc<Path>) -> Option<i32> {
        let known = self.by_path.get(folder).copied();
        if known.is_none() && self.folders.len() >= self.max_folders {
            let max = self.max_folders;
            self.limit.get_or_insert_with(|| format!("there are more than {max} folders"));
            return None;
        }
        let top = self.tops.iter().any(|top| **top == **folder);
        // Also where it is watched: after events were lost, another folder may go by that name.
        match self.queue.add(folder, top) {
            Ok(watch) if known == Some(watch) => Some(watch),
            Ok(watch) => {
                known.into_iter().for_each(|stale| self.forget(stale));
                // The same folder under another name: it was renamed, and we are ahead of the event.
                self.forget(watch);
                let new = Folder { path: Arc::clone(folder), names: Names::default(), round: self.round };
                self.folders.insert(watch, new);
                self.by_path.insert(Arc::clone(folder), watch);
                Some(watch)
            }
            Err(error) => {
                match Errno::from_io_error(&error) {
                    Some(Errno::NOSPC) => {
                        let why = "the system's limit of watches is reached (fs.inotify.max_user_watches)";
                        self.limit.get_or_insert_with(|| why.to_owned());
                    }
                    // It is gone again, or nobody can look into it.
                    Some(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
                    _ => {
                        let folder = folder.display();
                        self.limit.get_or_insert_with(|| format!("{folder} cannot be watched: {error}"));
                    }
                }
                None
            }
        }
    }
}
