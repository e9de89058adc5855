//! What brings no event in the folders that are watched: writing by another name of a file, and mounting.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::{Engine, Visit};
use crate::sys::files;
use crate::workspace::watch::facts::TICK_NS;
use crate::workspace::watch::linked::MOST;
use crate::workspace::watch::mounts::{blind, mounts};
use crate::workspace::watch::sweep::Begin;
use crate::workspace::watch::{Kind, Top};

impl Engine {
    /// Follows a file from now on if it has several names.
    pub(super) fn note_linked(&mut self, path: &Path) {
        match path.symlink_metadata() {
            Ok(metadata) => self.note_metadata(path, &metadata, just_now()),
            Err(_) => self.linked.forget(path),
        }
    }

    /// The same where its metadata is known; what is too much to follow is left to those who look through whole folders.
    pub(super) fn note_metadata(&mut self, path: &Path, metadata: &Metadata, begin: Begin) {
        if !self.linked.note(path, metadata)
            && let Some(folder) = path.parent()
        {
            self.limit.get_or_insert_with(|| format!("there are more than {MOST} files with several names"));
            self.sweeper.cover(folder, begin, false);
        }
    }

    /// Reports what was written by other names.
    pub(in crate::workspace::watch) fn look_at_linked(&mut self) {
        for path in self.linked.changed() {
            self.record(&path, Kind::Changed, false);
        }
    }

    /// Something has been mounted or unmounted: what was watched there is hidden, and what is there now is new. Says why
    /// not all changes are reported, if so.
    pub(in crate::workspace::watch) fn follow_mounts(&mut self) -> Option<String> {
        let tops: Vec<PathBuf> = self.roots.iter().map(|root: &Top| root.path.clone()).collect();
        let roots: Vec<&Path> = tops.iter().map(PathBuf::as_path).collect();
        let now = mounts(&roots);
        let silent = blind(&roots, &now);
        let why = silent.first().map(|(_, why)| why.clone());
        self.blind = silent.into_iter().map(|(folder, _)| folder).collect();
        let before = std::mem::replace(&mut self.mounts, now);
        let points: Vec<PathBuf> = before.symmetric_difference(&self.mounts).map(|(point, _)| point.clone()).collect();
        // A root is followed by what goes by its name.
        for point in points.iter().filter(|point| !roots.contains(&point.as_path())) {
            if self.rules.leaves_out(point) || !point.parent().is_some_and(|above| self.watches(above)) {
                continue;
            }
            self.leave(point, true);
            if point.is_dir() {
                self.record(point, Kind::Created, true);
                self.enter(point, Visit::New);
            }
        }
        why
    }
}

/// What a folder counts for that is looked through from now on.
fn just_now() -> Begin {
    Begin::Since(files::now_ns() - TICK_NS)
}
