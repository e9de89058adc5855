//! Looking at every file that is not left out, and comparing it with what was there the last time: for folders that no
//! events come from. Bounded by the number of files that it remembers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::hash::Hasher;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::Kind;
use super::facts::{TICK_NS, changed};
use super::log::Log;
use super::rules::Rules;
use super::{links, stamps};
use crate::sys::files;

/// Files and folders that are remembered: some 40 bytes each.
pub(super) const ENTRIES: usize = 400_000;
/// A file that was just written is read up to this size, to know it again when its time stamps do not change.
const READ: u64 = 5 << 20;

/// What a folder counts for that has not been looked through before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// What has the later ctime has changed.
    Since(i128),
    /// All in it is new.
    New,
}

/// A folder to look through with all below it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Top {
    pub(super) begin: Begin,
    /// It may come again when it is gone.
    pub(super) keep: bool,
    /// Only records of installed packages count in it.
    pub(super) records: bool,
}

/// What was there the last time.
#[derive(Debug)]
pub(super) struct Sweep {
    log: Arc<Mutex<Log>>,
    pub(super) rules: Rules,
    roots: Vec<PathBuf>,
    folders: BTreeMap<Arc<Path>, Listing>,
    /// Contents of files that were written so shortly before they were looked at that the same stamps prove nothing.
    recent: HashMap<PathBuf, u64>,
    /// Tops that have been looked through.
    begun: HashSet<Arc<Path>>,
    entries: usize,
    max: usize,
    round: u32,
}

#[derive(Debug, Default)]
struct Listing {
    round: u32,
    /// Sorted.
    files: Vec<(Box<OsStr>, u64)>,
    /// Only records of installed packages are looked at.
    records: bool,
}

impl Sweep {
    pub(super) fn new(log: Arc<Mutex<Log>>, roots: &[PathBuf], max: usize) -> Sweep {
        Sweep {
            log,
            rules: Rules::default(),
            roots: roots.to_vec(),
            folders: BTreeMap::new(),
            recent: HashMap::new(),
            begun: HashSet::new(),
            entries: 0,
            max,
            round: 0,
        }
    }

    /// Looks through all of these. False if it was told to stop, or there are too many files.
    pub(super) fn run(&mut self, tops: &BTreeMap<Arc<Path>, Top>, stop: impl Fn() -> bool) -> bool {
        self.round += 1;
        let mut left: Vec<(Arc<Path>, Begin, bool)> = Vec::new();
        for (path, top) in tops {
            let begin = if self.begun.insert(Arc::clone(path)) { top.begin } else { Begin::New };
            left.push((Arc::clone(path), begin, top.records));
        }
        let mut whole = true;
        while let Some((folder, begin, records)) = left.pop() {
            if stop() {
                return false;
            }
            if self.entries > self.max {
                whole = false;
                break;
            }
            left.extend(self.visit(&folder, begin, records));
        }
        if whole {
            self.forget_others();
        }
        whole
    }

    fn visit(&mut self, folder: &Arc<Path>, begin: Begin, records: bool) -> Vec<(Arc<Path>, Begin, bool)> {
        if self.folders.get(folder).is_some_and(|known| known.round == self.round) {
            return Vec::new();
        }
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        let known = self.folders.contains_key(folder);
        // What is not known below a known folder is new.
        let begin_below = if known { Begin::New } else { begin };
        let (mut found, mut below) = (Vec::new(), Vec::new());
        for entry in entries.flatten() {
            let (name, path) = (entry.file_name(), entry.path());
            let Ok(kind) = entry.file_type() else { continue };
            if records {
                if stamps::is_record(folder, &name)
                    && let Ok(metadata) = entry.metadata()
                {
                    found.push((name, metadata));
                }
            } else if kind.is_dir() {
                below.push(Arc::from(path));
            } else if let Ok(metadata) = entry.metadata() {
                if kind.is_symlink() {
                    below.extend(self.link(&path, begin_below));
                }
                if kind.is_file() || !links::leads_nowhere(&path) {
                    found.push((name, metadata));
                }
            }
        }
        found.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        self.compare(folder, found, (!known).then_some(begin), records);
        if records {
            return Vec::new();
        }
        let mut left = Vec::new();
        for folder in below {
            if self.rules.leaves_out(&folder) {
                left.extend(stamps::ways(&folder).into_iter().map(|way| (Arc::from(way), begin_below, true)));
                continue;
            }
            if begin_below == Begin::New && !self.folders.contains_key(&folder) {
                self.record(&folder, Kind::Created, true);
            }
            left.push((folder, begin_below, false));
        }
        left
    }

    /// Reports what differs from the last time. `first`: there was none.
    fn compare(&mut self, folder: &Arc<Path>, found: Vec<(OsString, Metadata)>, first: Option<Begin>, records: bool) {
        let old = self.forget(folder).map(|old| old.files).unwrap_or_default();
        let mut before = old.into_iter().peekable();
        let mut now = Vec::with_capacity(found.len());
        let mut sources = first.is_some() && found.iter().any(|(name, _)| Rules::is_source(name));
        for (name, metadata) in found {
            while let Some((gone, _)) = before.next_if(|(known, _)| **known < *name) {
                sources |= Rules::is_source(&gone);
                self.ended(&folder.join(&*gone));
            }
            let path = folder.join(&name);
            let stamp = stamp(&metadata);
            let rewritten = self.look_closer(&path, &metadata);
            let kind = match (before.next_if(|(known, _)| **known == *name), first) {
                (Some((_, same)), _) if same == stamp => rewritten.then_some(Kind::Changed),
                (Some(_), _) => Some(Kind::Changed),
                (None, Some(Begin::Since(start))) => changed(&metadata, start, None),
                (None, _) => Some(Kind::Created),
            };
            if let Some(kind) = kind {
                sources |= Rules::is_source(&name);
                if kind == Kind::Created && self.folders.contains_key(&*path) {
                    self.folder_ended(&path);
                }
                self.record(&path, kind, metadata.is_dir());
            }
            now.push((name.into_boxed_os_str(), stamp));
        }
        for (gone, _) in before {
            sources |= Rules::is_source(&gone);
            self.ended(&folder.join(&*gone));
        }
        if sources && !records {
            self.rules.rewritten(folder);
        }
        self.entries += now.len() + 1;
        self.folders.insert(Arc::clone(folder), Listing { round: self.round, files: now, records });
    }

    /// Has a file, whose stamps are what they were, another content? Remembers the content while they prove nothing.
    fn look_closer(&mut self, path: &Path, metadata: &Metadata) -> bool {
        let identity = files::identity(metadata);
        let now = files::now_ns();
        // A stamp ahead of our clock comes from another clock: it says nothing about how long ago that was.
        let recent = |stamp: i128| now - stamp < TICK_NS;
        if !recent(identity.mtime_ns) && !recent(identity.ctime_ns) {
            // One last look: it may have been written after the one before.
            let before = if self.recent.is_empty() { None } else { self.recent.remove(path) };
            let Some(before) = before else { return false };
            return content(path, metadata) != Some(before);
        }
        let Some(content) = content(path, metadata) else {
            return self.recent.remove(path).is_some();
        };
        self.recent.insert(path.to_owned(), content).is_some_and(|before| before != content)
    }

    /// Follows a link; a folder is then looked through even if the rules leave it out.
    fn link(&mut self, path: &Path, begin: Begin) -> Option<Arc<Path>> {
        let folder = links::target(path, &self.roots)?;
        let new = self.log().link(path, &folder);
        if !folder.is_dir() {
            return None;
        }
        if new {
            if self.rules.lies_in_ignored(&folder) {
                self.rules.exempt(&folder);
            }
            if begin == Begin::New {
                self.spell(path, &folder, Kind::Created);
            }
        }
        self.rules.is_exempt(&folder).then(|| Arc::from(folder))
    }

    /// Reports all that is known in `folder` under the name of a link to it.
    fn spell(&self, link: &Path, folder: &Path, kind: Kind) {
        let below = self.folders.range::<Path, _>((Bound::Included(folder), Bound::Unbounded));
        let mut log = self.log();
        for (holder, listing) in below.take_while(|(path, _)| path.starts_with(folder)) {
            let Ok(rest) = holder.strip_prefix(folder) else { continue };
            let spelt = if rest.as_os_str().is_empty() { link.to_owned() } else { link.join(rest) };
            listing.files.iter().for_each(|(name, _)| log.note(&spelt.join(&**name), kind, false));
        }
    }

    fn ended(&mut self, path: &Path) {
        self.recent.remove(path);
        self.record(path, Kind::Deleted, false);
        let led_to = self.log().unlink(path);
        if let Some(folder) = led_to {
            self.spell(path, &folder, Kind::Deleted);
        }
    }

    /// Lets go of folders that nobody came by: they are gone, or left out now.
    fn forget_others(&mut self) {
        let missed = self.folders.iter().filter(|(_, listing)| listing.round != self.round);
        let missed: Vec<Arc<Path>> = missed.map(|(path, _)| Arc::clone(path)).collect();
        for folder in missed {
            let gone = !folder.is_dir();
            self.let_go(&folder, gone);
        }
    }

    /// A file stands where a folder was: its end is told before the file's beginning.
    fn folder_ended(&mut self, folder: &Path) {
        let below = self.folders.range::<Path, _>((Bound::Included(folder), Bound::Unbounded));
        let below = below.map(|(path, _)| path).take_while(|path| path.starts_with(folder));
        for below in below.cloned().collect::<Vec<_>>().into_iter().rev() {
            self.let_go(&below, true);
        }
    }

    fn let_go(&mut self, folder: &Arc<Path>, gone: bool) {
        let Some(listing) = self.forget(folder) else { return };
        self.rules.source(folder, false);
        for (name, _) in listing.files {
            if gone {
                self.ended(&folder.join(&*name));
            } else {
                self.recent.remove(&folder.join(&*name));
            }
        }
        if gone && !listing.records {
            self.record(folder, Kind::Deleted, true);
        }
    }

    fn forget(&mut self, folder: &Path) -> Option<Listing> {
        let listing = self.folders.remove(folder)?;
        self.entries -= listing.files.len() + 1;
        Some(listing)
    }

    fn record(&self, path: &Path, kind: Kind, folder: bool) {
        self.log().record(path, kind, folder);
    }

    fn log(&self) -> std::sync::MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file's identity in eight bytes.
fn stamp(metadata: &Metadata) -> u64 {
    let identity = files::identity(metadata);
    let mut hasher = Xxh3Default::new();
    for number in [identity.dev, identity.ino, identity.size] {
        hasher.write_u64(number);
    }
    for time in [identity.mtime_ns, identity.ctime_ns] {
        hasher.write_i128(time);
    }
    hasher.finish()
}

/// The hash of a file's content, if it is a file of allowed size.
fn content(path: &Path, metadata: &Metadata) -> Option<u64> {
    (metadata.is_file() && metadata.len() <= READ).then(|| std::fs::read(path).ok().map(|bytes| xxh3_64(&bytes)))?
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
