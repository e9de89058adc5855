//! Files that have several names: what is written by one of them in a folder that nobody watches brings no event. They are
//! looked at whenever it has to be known what has changed.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::facts::TICK_NS;
use crate::sys::files::{self, Identity};

/// So many are followed: to look at one takes about a microsecond.
pub(super) const MOST: usize = 2_000;

/// Each with what it was.
#[derive(Debug, Default)]
pub(super) struct Linked(BTreeMap<PathBuf, Known>);

#[derive(Debug)]
struct Known {
    identity: Identity,
    /// It was written so shortly before we looked that the same stamps prove nothing.
    recent: bool,
}

impl Known {
    fn of(metadata: &Metadata) -> Known {
        let (identity, now) = (files::identity(metadata), files::now_ns());
        Known { recent: now - identity.mtime_ns.max(identity.ctime_ns) < TICK_NS, identity }
    }
}

impl Linked {
    /// What is there under this name now. False if it should be followed and there are too many.
    pub(super) fn note(&mut self, path: &Path, metadata: &Metadata) -> bool {
        if !metadata.is_file() || metadata.nlink() < 2 {
            self.forget(path);
            return true;
        }
        if self.0.len() >= MOST && !self.0.contains_key(path) {
            return false;
        }
        self.0.insert(path.to_owned(), Known::of(metadata));
        true
    }

    /// Whether this has to be noted at all.
    pub(super) fn concerns(&self, metadata: &Metadata) -> bool {
        !self.0.is_empty() || metadata.nlink() > 1
    }

    pub(super) fn contains(&self, path: &Path) -> bool {
        !self.0.is_empty() && self.0.contains_key(path)
    }

    pub(super) fn forget(&mut self, path: &Path) {
        if !self.0.is_empty() {
            self.0.remove(path);
        }
    }

    /// Nothing at or below this folder is followed any more.
    pub(super) fn leave(&mut self, folder: &Path) {
        self.0.retain(|path, _| !path.starts_with(folder));
    }

    /// Those that are others than when they were looked at last, or may be.
    pub(super) fn changed(&mut self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        self.0.retain(|path, known| {
            // What became of the name itself is told by an event.
            let Ok(metadata) = path.symlink_metadata() else { return true };
            let now = Known::of(&metadata);
            if known.recent || now.identity != known.identity {
                changed.push(path.clone());
            }
            *known = now;
            metadata.nlink() > 1
        });
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_by_another_name() {
        let tmp = tempfile::tempdir().unwrap();
        let (one, two) = (tmp.path().join("one"), tmp.path().join("two"));
        files::write(&one, b"1").unwrap();
        let mut linked = Linked::default();
        let note = |linked: &mut Linked| linked.note(&one, &one.symlink_metadata().unwrap());
        assert!(note(&mut linked) && !linked.contains(&one), "it has one name");
        std::fs::hard_link(&one, &two).unwrap();
        assert!(note(&mut linked) && linked.contains(&one));
        // Until its stamps prove something it counts as changed, and once more after that.
        while linked.0[&one].recent {
            linked.changed();
        }
        assert!(linked.changed().is_empty());
        files::write(&two, b"2").unwrap();
        assert_eq!(linked.changed(), std::slice::from_ref(&one));
        files::remove(&two).unwrap();
        linked.changed();
        assert!(!linked.contains(&one), "it has one name again");
    }
}
