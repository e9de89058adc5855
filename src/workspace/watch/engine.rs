//! The folders that are watched and what their events mean. A new folder is watched first and listed then: what is
//! made in between is seen by either or both.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::OsStr;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::inotify::ReadFlags;
use rustix::io::Errno;
use xxhash_rust::xxh3::xxh3_64;

use super::Kind;
use super::log::Log;
use super::queue::{self, Queue, Raw};
use super::rules::Rules;
use crate::sys::files;

/// Why a folder is looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visit {
    /// At the start, or after events were lost: what has the later ctime is reported.
    Since(i128),
    /// It is new: all in it is reported.
    New,
    /// What is ignored has changed: folders not yet watched are new, the others are as they were.
    Again,
}

/// The state behind the event thread.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) queue: Arc<Queue>,
    log: Arc<Mutex<Log>>,
    rules: Rules,
    /// Folders without a watched parent: the roots and the exempt ones.
    tops: Vec<PathBuf>,
    folders: HashMap<i32, Folder>,
    by_path: BTreeMap<Arc<Path>, i32>,
    max_folders: usize,
    /// Why there are folders that are not watched.
    pub(super) limit: Option<String>,
    /// The kernel has dropped events since we last looked through everything.
    lost: bool,
    /// A root itself is gone: what comes in its place goes unnoticed.
    pub(super) root_gone: bool,
    /// Counts the times that everything is looked through.
    round: u32,
    /// Since when changes are looked for, while they are.
    unfinished: Option<i128>,
    /// Everything has been looked through once: a folder that is unknown then is new.
    complete: bool,
}

/// One time that everything is looked through.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) number: u32,
    pub(super) start: i128,
    /// The folders that are still to be looked through.
    pub(super) left: VecDeque<Arc<Path>>,
}

#[derive(Debug)]
struct Folder {
    path: Arc<Path>,
    /// Hashes of the names of its files, sorted: they tell a file that is replaced from one that is new. Names
    /// themselves would be ten times as large; when two collide, a new file is reported as a changed one.
    names: Vec<u32>,
    /// The newest round that came by.
    round: u32,
}

impl Engine {
    pub(super) fn new(
        queue: Arc<Queue>,
        log: Arc<Mutex<Log>>,
        rules: Rules,
        roots: &[PathBuf],
        max_folders: usize,
    ) -> Engine {
        Engine {
            queue,
            log,
            rules,
            tops: roots.to_vec(),
            folders: HashMap::new(),
            by_path: BTreeMap::new(),
            max_folders,
            limit: None,
            lost: false,
            root_gone: false,
            round: 0,
            unfinished: None,
            complete: false,
        }
    }

    pub(super) fn folders(&self) -> usize {
        self.folders.len()
    }

    pub(super) fn watches(&self, folder: &Path) -> bool {
        self.by_path.contains_key(folder)
    }

    /// Watches a folder that the rules leave out, with everything below.
    pub(super) fn exempt(&mut self, folder: &Path, start: i128) {
        self.rules.exempt(folder);
        if !self.watches(folder) {
            self.tops.push(folder.to_owned());
            self.enter(folder, Visit::Since(start));
        }
    }

    /// Begins to look through everything for what changed after `start`, or after the start of a round that was not
    /// brought to its end.
    pub(super) fn begin_round(&mut self, start: i128) -> Round {
        let start = self.unfinished.map_or(start, |earlier| earlier.min(start));
        self.unfinished = Some(start);
        self.round += 1;
        Round { number: self.round, start, left: self.tops.iter().map(|top| Arc::from(&**top)).collect() }
    }

    pub(super) fn round(&self) -> u32 {
        self.round
    }

    /// Have events been lost since this was asked last?
    pub(super) fn take_lost(&mut self) -> bool {
        std::mem::take(&mut self.lost)
    }

    /// Ends it: folders that nobody came by, because they went while events were lost, are let go.
    pub(super) fn end_round(&mut self) {
        let missed = self.folders.values().filter(|folder| folder.round != self.round);
        for path in missed.map(|folder| Arc::clone(&folder.path)).collect::<Vec<_>>() {
            if self.watches(&path) && !path.is_dir() {
                self.leave(&path);
                self.record(&path, Kind::Deleted, true);
            }
        }
        self.unfinished = None;
        self.complete = true;
    }

    /// Looks through one folder of a round; returns the folders in it.
    pub(super) fn visit_in_round(&mut self, folder: &Arc<Path>, start: i128) -> Vec<Arc<Path>> {
        let new = self.complete && !self.watches(folder);
        if new && !self.tops.iter().any(|top| **top == **folder) {
            self.record(folder, Kind::Created, true);
        }
        let below = self.visit(folder, if new { Visit::New } else { Visit::Since(start) });
        below.into_iter().map(|(folder, _)| folder).collect()
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
            self.log(Log::lost);
            return;
        }
        if event.flags.contains(ReadFlags::IGNORED) {
            // We did not end this watch: the folder is gone. Its parent's word comes later, if it has one.
            if let Some(folder) = self.folders.get(&event.watch) {
                let path = Arc::clone(&folder.path);
                self.forget(event.watch);
                self.record(&path, Kind::Deleted, true);
            }
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
                self.leave(path);
            }
            // One that is watched was found ahead of its event.
            if !self.watches(path) && !self.rules.leaves_out(path) {
                self.record(path, Kind::Created, true);
                self.enter(path, Visit::New);
            }
        } else if flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) {
            let known = self.watches(path);
            self.leave(path);
            if known {
                self.record(path, Kind::Deleted, true);
            }
        }
    }

    fn file_event(&mut self, watch: i32, folder: &Arc<Path>, name: &OsStr, flags: ReadFlags) {
        let Some(names) = self.folders.get_mut(&watch).map(|folder| &mut folder.names) else { return };
        let hash = hash(name);
        let kind = if flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) {
            if let Ok(index) = names.binary_search(&hash) {
                names.remove(index);
            }
            Kind::Deleted
        } else {
            match names.binary_search(&hash) {
                Ok(_) => Kind::Changed,
                Err(index) => {
                    names.insert(index, hash);
                    Kind::Created
                }
            }
        };
        self.record(&folder.join(name), kind, false);
        let written = ReadFlags::CLOSE_WRITE | ReadFlags::MOVED_TO | ReadFlags::DELETE | ReadFlags::MOVED_FROM;
        if Rules::is_source(name) && flags.intersects(written) {
            self.rules.source(folder, kind != Kind::Deleted);
            self.enter(folder, Visit::Again);
        } else if Rules::is_marker(name) && kind == Kind::Created && self.rules.leaves_out(folder) {
            // It was made before its mark was.
            self.leave(folder);
        }
    }

    /// Looks through a folder and all below it, until nothing is left to look through.
    pub(super) fn enter(&mut self, folder: &Path, visit: Visit) {
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
        let mut source = false;
        for entry in entries.flatten() {
            let name = entry.file_name();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                below.push(Arc::from(entry.path()));
                continue;
            }
            let hash = hash(&name);
            source |= Rules::is_source(&name);
            let before = self.folders.get(&watch).is_some_and(|folder| folder.names.binary_search(&hash).is_ok());
            match visit {
                Visit::New => files.push((entry.path(), if before { Kind::Changed } else { Kind::Created })),
                Visit::Since(start) => {
                    let before = known.then_some(before);
                    if let Some(kind) = entry.metadata().ok().and_then(|metadata| changed(&metadata, start, before)) {
                        files.push((entry.path(), kind));
                    }
                }
                Visit::Again if !before => files.push((entry.path(), Kind::Created)),
                Visit::Again => {}
            }
            names.push(hash);
        }
        names.sort_unstable();
        names.dedup();
        names.shrink_to_fit();
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
                let new = Folder { path: Arc::clone(folder), names: Vec::new(), round: self.round };
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

    /// Stops watching a folder and all below it.
    fn leave(&mut self, folder: &Path) {
        let below = self.by_path.range::<Path, _>((Bound::Included(folder), Bound::Unbounded));
        let below = below.take_while(|(path, _)| path.starts_with(folder));
        let watches: Vec<i32> = below.map(|(_, &watch)| watch).collect();
        for watch in watches {
            self.queue.remove(watch);
            self.forget(watch);
        }
    }

    fn top_gone(&mut self, path: &Arc<Path>) {
        self.leave(path);
        self.record(path, Kind::Deleted, true);
        self.root_gone |= !self.rules.is_exempt(path);
    }

    fn forget(&mut self, watch: i32) {
        let Some(folder) = self.folders.remove(&watch) else { return };
        self.rules.source(&folder.path, false);
        if self.by_path.get(&folder.path) == Some(&watch) {
            self.by_path.remove(&folder.path);
        }
    }

    fn record(&self, path: &Path, kind: Kind, folder: bool) {
        self.log(|log| log.record(path, kind, folder));
    }

    fn log(&self, what: impl FnOnce(&mut Log)) {
        what(&mut self.log.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// What to report of a file that is there, if `start` is when we began to look. `before` says whether it was there,
/// where that is known.
fn changed(metadata: &std::fs::Metadata, start: i128, before: Option<bool>) -> Option<Kind> {
    let late = files::identity(metadata).ctime_ns >= start;
    let born = || {
        let born = metadata.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        i128::try_from(born.as_nanos()).ok()
    };
    match before {
        Some(false) => Some(Kind::Created),
        Some(true) => late.then_some(Kind::Changed),
        None if late && born().is_some_and(|born| born >= start) => Some(Kind::Created),
        None => late.then_some(Kind::Changed),
    }
}

fn hash(name: &OsStr) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "half of the hash is enough")]
    let half = xxh3_64(name.as_encoded_bytes()) as u32;
    half
}
