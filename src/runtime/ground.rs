//! The ground that sessions stand on: the workspace's roots, the disk as it is now, and the watcher. Shared by all.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::verdict::Verdict;
use crate::{
    protocol::positions::LineMap,
    workspace::{
        disk::{Disk, ReadError, Snapshot},
        roots::Roots,
        watch::{Barrier, Watcher},
    },
};

/// Texts whose line index is kept.
const INDEXED: usize = 32;

/// A content hash and the line index of that text.
type Indexed = (u64, Arc<LineMap>);

/// Whether all changes to files were seen in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    All,
    /// The events of a change that was just made may still be on their way.
    Perhaps,
    /// The folders of the workspace are still being looked through: changes in some of them may not have been seen.
    SoFar,
    /// There are no events, or not everywhere, and comparing all files took too long: only open ones were.
    OpenFiles,
}

impl Seen {
    /// A verdict that rests on events that may be missing is not `fresh`.
    pub fn judged(self, verdict: Verdict, reason: Option<String>) -> (Verdict, Option<String>) {
        match (self, verdict) {
            (Self::Perhaps, Verdict::Fresh) => {
                (Verdict::Settling, Some("file events are late: a change just made may be missing".into()))
            }
            (Self::SoFar, Verdict::Fresh) => {
                let reason = "the watch is still being set up: a change to a file that is not open may be missing";
                (Verdict::Unconfirmed, Some(reason.into()))
            }
            (Self::OpenFiles, Verdict::Fresh) => {
                let reason =
                    "not every file could be compared in time: a change to one that is not open may be missing";
                (Verdict::Unconfirmed, Some(reason.into()))
            }
            _ => (verdict, reason),
        }
    }
}

/// Roots, disk and watcher of one workspace.
#[derive(Debug)]
pub struct Ground {
    pub roots: Roots,
    pub disk: Disk,
    pub watcher: Arc<Watcher>,
    /// How long the barrier may take before the stat sweep has to do.
    pub barrier: Duration,
    lines: Mutex<HashMap<Arc<Path>, Indexed>>,
}

impl Ground {
    /// Brings them together.
    pub fn new(roots: Roots, disk: Disk, watcher: Arc<Watcher>, barrier: Duration) -> Self {
        Self { roots, disk, watcher, barrier, lines: Mutex::default() }
    }

    /// A file of the workspace as it is on disk now. A link that has taken its place, or that of a folder above it, is
    /// not followed out of the workspace.
    ///
    /// # Errors
    /// When it cannot be read as a text of bounded size.
    pub fn read(&self, path: &Path) -> Result<Arc<Snapshot>, ReadError> {
        self.disk.read_if(path, || self.roots.contains(path))
    }

    /// The line index of a snapshot's text, kept while the text stays the same.
    pub fn lines(&self, snapshot: &Snapshot) -> Arc<LineMap> {
        let mut kept = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((hash, lines)) = kept.get(&snapshot.path)
            && *hash == snapshot.hash
        {
            return lines.clone();
        }
        if kept.len() >= INDEXED {
            kept.clear();
        }
        let lines = Arc::new(LineMap::new(snapshot.text.clone()));
        kept.insert(snapshot.path.clone(), (snapshot.hash, lines.clone()));
        lines
    }

    /// Waits until every change that was made before this call has been seen.
    pub async fn barrier(&self) -> Seen {
        match self.watcher.barrier(self.barrier).await {
            Barrier::Seen => Seen::All,
            Barrier::SettingUp => Seen::SoFar,
            Barrier::NoEvents => Seen::OpenFiles,
            Barrier::TimedOut => Seen::Perhaps,
        }
    }
}
