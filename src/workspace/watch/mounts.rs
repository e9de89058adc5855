//! Where other file systems lie in the workspace: what is mounted on a folder hides what was watched there, and may report
//! no changes.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::facts::{unescape, without_events};

const TABLE: &str = "/proc/self/mountinfo";

/// Tells when anything is mounted or unmounted, anywhere.
#[derive(Debug)]
pub(super) struct Bell {
    table: Mutex<Option<File>>,
    rung: AtomicBool,
}

impl Bell {
    pub(super) fn new() -> Bell {
        Bell { table: Mutex::new(File::open(TABLE).ok()), rung: AtomicBool::new(false) }
    }

    /// Has anything been mounted since this was answered?
    pub(super) fn has_rung(&self) -> bool {
        // The kernel says so once: who asks at the same time waits until it is noted.
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = &*table {
            let mut fds = [PollFd::new(table, PollFlags::PRI)];
            poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).ok();
            if fds[0].revents().intersects(PollFlags::PRI | PollFlags::ERR) {
                self.rung.store(true, Ordering::SeqCst);
            }
        }
        self.rung.load(Ordering::SeqCst)
    }

    /// It is answered from now on.
    pub(super) fn take(&self) -> bool {
        self.rung.swap(false, Ordering::SeqCst)
    }
}

/// The folders at and below the roots that file systems are mounted on, with what tells one mount from another.
pub(super) fn mounts(roots: &[&Path]) -> BTreeSet<(PathBuf, Vec<u8>)> {
    let table = std::fs::read(TABLE).unwrap_or_default();
    let mount = |line: &[u8]| {
        let mut fields = line.split(|&byte| byte == b' ');
        let (number, point) = (fields.next()?, unescape(fields.nth(3)?));
        roots.iter().any(|root| point.starts_with(root)).then(|| (point, number.to_vec()))
    };
    table.split(|&byte| byte == b'\n').filter_map(mount).collect()
}

/// Of the roots and of these folders those that report no changes, with why.
pub(super) fn blind(roots: &[&Path], mounts: &BTreeSet<(PathBuf, Vec<u8>)>) -> Vec<(PathBuf, String)> {
    let points = mounts.iter().map(|(point, _)| point.as_path());
    let mut all: Vec<&Path> = roots.iter().copied().chain(points).collect();
    all.dedup();
    all.into_iter().filter_map(|point| Some((point.to_owned(), without_events(point)?))).collect()
}
