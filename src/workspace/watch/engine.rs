//! The folders that are watched and what their events mean. A new folder is watched first and listed then: what is
//! made in between is seen by either or both.

mod aside;
mod look;
mod unseen;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::inotify::ReadFlags;

use super::facts::REPORTED;
use super::linked::Linked;
use super::links;
use super::log::Log;
use super::names::Names;
use super::queue::{self, Queue, Raw};
use super::rules::Rules;
use super::sweeper::Sweeper;
use super::{Kind, Top};
pub(super) use look::{Round, Visit};

/// The state behind the event thread.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) queue: Arc<Queue>,
    log: Arc<Mutex<Log>>,
    rules: Rules,
    /// Folders where file systems are mounted that report no changes.
    blind: Vec<PathBuf>,
    /// What is mounted in the workspace.
    mounts: BTreeSet<(PathBuf, Vec<u8>)>,
    linked: Linked,
    sweeper: Arc<Sweeper>,
    roots: Arc<[Top]>,
    /// Folders without a watched parent: the roots and the exempt ones.
    tops: Vec<PathBuf>,
    folders: HashMap<i32, Folder>,
    by_path: BTreeMap<Arc<Path>, i32>,
    /// Folders that are left out, where only the records of installed packages count.
    records: HashMap<i32, Folder>,
    records_by_path: BTreeMap<Arc<Path>, i32>,
    max_folders: usize,
    /// Why there are folders that are not watched.
    pub(super) limit: Option<String>,
    /// The kernel has dropped events since we last looked through everything.
    lost: bool,
    /// Counts the times that everything is looked through.
    round: u32,
    /// Since when changes are looked for, while they are.
    unfinished: Option<i128>,
    /// Everything has been looked through once: a folder that is unknown then is new.
    complete: bool,
}

#[derive(Debug)]
struct Folder {
    path: Arc<Path>,
    /// Its files.
    names: Names,
    /// The newest round that came by.
    round: u32,
}

impl Engine {
    pub(super) fn new(
        queue: Arc<Queue>,
        log: Arc<Mutex<Log>>,
        roots: Arc<[Top]>,
        sweeper: Arc<Sweeper>,
        max_folders: usize,
    ) -> Engine {
        Engine {
            queue,
            log,
            rules: Rules::default(),
            blind: Vec::new(),
            mounts: BTreeSet::new(),
            linked: Linked::default(),
            sweeper,
            tops: roots.iter().map(|root| root.path.clone()).collect(),
            roots,
            folders: HashMap::new(),
            by_path: BTreeMap::new(),
            records: HashMap::new(),
            records_by_path: BTreeMap::new(),
            max_folders,
            limit: None,
            lost: false,
            round: 0,
            unfinished: None,
            complete: false,
        }
    }

    /// To be called before anything is looked through.
    pub(super) fn rule(&mut self, rules: Rules, blind: Vec<PathBuf>, mounts: BTreeSet<(PathBuf, Vec<u8>)>) {
        self.rules = rules;
        self.blind = blind;
        self.mounts = mounts;
    }

    pub(super) fn folders(&self) -> usize {
        self.folders.len()
    }

    pub(super) fn watches(&self, folder: &Path) -> bool {
        self.by_path.contains_key(folder)
    }

    /// Watches a folder that the rules leave out, with everything below, and the way to it, should it come later.
    pub(super) fn exempt(&mut self, folder: &Path, start: i128) {
        self.rules.exempt(folder);
        if self.watches(folder) {
            return;
        }
        let way: Vec<&Path> = folder.ancestors().take_while(|above| !self.watches(above)).collect();
        if way.last().is_none_or(|first| first.parent().is_none()) {
            return;
        }
        for step in way.iter().rev() {
            if !step.is_dir() {
                return;
            }
            self.enter(step, Visit::Since(start));
        }
    }

    /// Makes of read bytes what they mean.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        for event in queue::events(bytes) {
            self.event(&event);
        }
    }

    fn event(&mut self, event: &Raw<'_>) {
        if event.flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            self.lost = true;
            return;
        }
        if event.flags.contains(ReadFlags::IGNORED) {
            // We did not end this watch: the folder is gone. Its parent's word comes later, if it has one.
            if let Some(folder) = self.folders.get(&event.watch) {
                let path = Arc::clone(&folder.path);
                self.gone(&path);
            }
            self.forget_records(event.watch);
            return;
        }
        if self.records.contains_key(&event.watch) {
            self.record_event(event);
            return;
        }
        let Some(folder) = self.folders.get(&event.watch) else { return };
        let path = Arc::clone(&folder.path);
        if event.flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF) {
            self.top_gone(&path);
            return;
        }
        let Some(name) = event.name else { return };
        if event.flags.contains(ReadFlags::ISDIR) {
            self.folder_event(&path.join(name), event.flags);
        } else {
            self.file_event(event.watch, &path, name, event.flags);
        }
    }

    fn folder_event(&mut self, path: &Path, flags: ReadFlags) {
        if flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
            if flags.contains(ReadFlags::MOVED_TO) {
                // It may have replaced an empty folder of that name, of whose end its parent is not told.
                self.leave(path, true);
            }
            // One that is watched was found ahead of its event.
            if self.watches(path) {
                return;
            }
            if self.rules.leaves_out(path) {
                self.watch_records(path, Visit::New);
            } else {
                self.record(path, Kind::Created, true);
                self.enter(path, Visit::New);
            }
        } else if flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) && self.watches(path) {
            self.gone(path);
            // The same with folders.
            if path.symlink_metadata().is_ok_and(|there| there.is_dir()) {
                self.folder_event(path, ReadFlags::MOVED_TO);
            }
        }
    }

    fn file_event(&mut self, watch: i32, folder: &Arc<Path>, name: &OsStr, flags: ReadFlags) {
        let Some(names) = self.folders.get_mut(&watch).map(|folder| &mut folder.names) else { return };
        // Of two files that change places in one step, as those do that langport puts in place, the new one is told of
        // before the end of the old one.
        let is_there = || folder.join(name).symlink_metadata().is_ok_and(|there| !there.is_dir());
        let kind = if flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) && !is_there() {
            names.remove(name);
            Kind::Deleted
        } else if names.contains(name) && !flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
            Kind::Changed
        } else if links::leads_nowhere(&folder.join(name)) {
            // Who knew a file of this name has lost it.
            if !names.remove(name) {
                return;
            }
            Kind::Deleted
        } else if names.insert(name) {
            Kind::Created
        } else {
            Kind::Changed
        };
        let path = folder.join(name);
        self.record(&path, kind, false);
        match kind {
            Kind::Deleted => self.linked.forget(&path),
            Kind::Changed if !self.linked.contains(&path) => {}
            Kind::Created | Kind::Changed => self.note_linked(&path),
        }
        if flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO | ReadFlags::DELETE | ReadFlags::MOVED_FROM) {
            self.look_for_link(&path, kind);
        }
        let written = ReadFlags::CLOSE_WRITE | ReadFlags::MOVED_TO | ReadFlags::DELETE | ReadFlags::MOVED_FROM;
        if Rules::is_source(name) && flags.intersects(written) {
            self.rules.rewritten(folder);
            self.enter(folder, Visit::Again);
        } else if Rules::is_marker(name) && kind != Kind::Deleted && self.rules.leaves_out(folder) {
            // It was made before its mark was.
            self.leave(folder, false);
            self.watch_records(folder, Visit::New);
        }
    }

    /// Stops watching a folder and all below it. Reports what is known to have been in it: who was told of a file
    /// should be told of its end. If that is too much, the end of the folder has to do.
    fn leave(&mut self, folder: &Path, report: bool) {
        let below = self.by_path.range::<Path, _>((Bound::Included(folder), Bound::Unbounded));
        let below = below.take_while(|(path, _)| path.starts_with(folder));
        let watches: Vec<i32> = below.map(|(_, &watch)| watch).collect();
        let known = watches.iter().filter_map(|watch| self.folders.get(watch));
        let whole = || known.clone().map(|folder| folder.names.len() + 1).sum::<usize>() <= REPORTED;
        if report && (self.tops.iter().any(|top| top == folder) || whole()) {
            for below in known {
                below.names.iter().for_each(|name| self.record(&below.path.join(name), Kind::Deleted, false));
                if *below.path != *folder {
                    self.record(&below.path, Kind::Deleted, true);
                }
            }
        }
        self.linked.leave(folder);
        for watch in watches {
            self.queue.remove(watch);
            self.forget(watch);
        }
        self.let_go_of_records(folder);
    }

    /// A folder is gone.
    fn gone(&mut self, path: &Path) {
        self.leave(path, true);
        self.record(path, Kind::Deleted, true);
    }

    /// A folder without a watched parent is gone. Another one may go by its name already.
    fn top_gone(&mut self, path: &Path) {
        self.gone(path);
        self.roots.iter().filter(|root| root.path == path).for_each(Top::lose);
        self.follow_roots();
    }

    /// Where another folder goes by a root's name than before, what was in the old one is gone, and what is in the new
    /// one is new. Nobody is told of a root that comes again: it has to be looked for.
    pub(super) fn follow_roots(&mut self) {
        let roots = Arc::clone(&self.roots);
        for root in roots.iter() {
            let Some(now) = root.renew() else { continue };
            if self.watches(&root.path) {
                self.gone(&root.path);
            }
            if now.is_some() {
                self.record(&root.path, Kind::Created, true);
                self.enter(&root.path, Visit::New);
            }
        }
    }

    /// Is any root gone?
    pub(super) fn root_gone(&self) -> bool {
        self.roots.iter().any(|root| root.folder().is_none())
    }

    fn forget(&mut self, watch: i32) {
        let Some(folder) = self.folders.remove(&watch) else { return };
        self.rules.source(&folder.path, false);
        if self.by_path.get(&folder.path) == Some(&watch) {
            self.by_path.remove(&folder.path);
        }
    }

    fn record(&self, path: &Path, kind: Kind, folder: bool) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).record(path, kind, folder);
    }
}
