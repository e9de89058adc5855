//! What changed in the workspace, whoever changed it: a bounded log of changes, and a barrier which proves that
//! everything that had happened is in it. Where there are no events that can be relied upon, all files are compared
//! with what they were.

#[cfg(target_os = "linux")]
mod engine;
mod facts;
#[cfg(target_os = "linux")]
mod linked;
mod links;
mod log;
#[cfg(target_os = "linux")]
mod mounts;
mod names;
mod patience;
mod portable;
#[cfg(target_os = "linux")]
mod queue;
mod rules;
#[cfg(target_os = "linux")]
mod service;
mod source;
mod stamps;
mod sweep;
mod sweeper;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::config::count;
use crate::sys::{
    awake::while_awake,
    files::{self, Inode},
};
use crate::workspace::roots::{Roots, settle};
use log::Log;
use patience::Patience;
pub use source::Source;
use source::{Events, Feed};
pub use stamps::dependent;
use sweep::Begin;
use sweeper::Sweeper;

/// What became of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Created,
    /// Written, replaced, or touched: the content may be what it was.
    Changed,
    Deleted,
}

/// A change. With a folder that was renamed the end of each file in it is reported, unless these are thousands: then
/// only the folder itself is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub seq: u64,
    pub path: Arc<Path>,
    pub kind: Kind,
    pub folder: bool,
}

/// What became of each path after a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// One for each path, in the order in which they changed last.
    pub events: Vec<Change>,
    /// The position to ask from next time.
    pub seq: u64,
    /// Some changes after that position are lost: what servers were told of must be compared with the disk.
    pub overflow: bool,
}

/// What a barrier found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barrier {
    /// Everything that had happened when it was asked for is in the log.
    Seen,
    /// The folders are still being looked through: what has happened in the others than those that are watched already
    /// may be missing.
    SettingUp,
    /// It could not be shown in the time allowed.
    TimedOut,
    /// There are no events, or not of everything, and comparing all files took too long.
    NoEvents,
}

/// How watching stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Looking through the folders: at the start, and after the kernel has dropped events.
    SettingUp {
        folders: usize,
        /// Rises with each time.
        round: u32,
    },
    Watching {
        folders: usize,
    },
    /// Only that many folders are watched.
    Exhausted {
        folders: usize,
        why: String,
    },
    NoEvents {
        why: String,
    },
}

impl State {
    /// Whether the watch stands, or cannot.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        !matches!(self, State::SettingUp { .. })
    }

    /// How it stands when everything has been looked through.
    fn settled(folders: usize, blind: Option<&String>, root_gone: bool, limit: Option<&String>) -> State {
        match blind.or(limit) {
            Some(why) if folders == 0 => State::NoEvents { why: why.clone() },
            Some(why) => State::Exhausted { folders, why: why.clone() },
            None if root_gone && folders == 0 => {
                State::NoEvents { why: "the folder of the workspace is gone".to_owned() }
            }
            None => State::Watching { folders },
        }
    }
}

fn counted(folders: usize) -> String {
    count(folders, "folder", "folders")
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            State::SettingUp { folders, .. } => write!(f, "setting up the watch ({} so far)", counted(*folders)),
            State::Watching { folders } => write!(f, "watching {}", counted(*folders)),
            State::Exhausted { folders, why } => {
                write!(f, "watching only {}: {why}; files are compared on each call", counted(*folders))
            }
            State::NoEvents { why } => write!(f, "not watching: {why}; files are compared on each call"),
        }
    }
}

/// How to watch.
#[derive(Debug, Clone)]
pub struct Options {
    /// False: watch nothing.
    pub events: bool,
    pub source: Source,
    /// More folders to leave out, in the words of a `.gitignore` at each root; `!` takes back what git ignores.
    pub ignore: Vec<String>,
    /// How many folders are watched at most.
    pub max_folders: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { events: true, source: Source::default(), ignore: Vec::new(), max_folders: 50_000 }
    }
}

/// The watcher of a workspace. Dropping it ends its threads.
#[derive(Debug)]
pub struct Watcher {
    log: Arc<Mutex<Log>>,
    head: watch::Sender<u64>,
    state: watch::Sender<State>,
    roots: Arc<[Top]>,
    events: Events,
    sweeper: Arc<Sweeper>,
    patience: Patience,
}

/// A root, and which folder goes by its name.
#[derive(Debug)]
struct Top {
    path: PathBuf,
    folder: Mutex<Option<Inode>>,
}

impl Watcher {
    /// Starts to watch. Returns at once: the folders are looked through in the background.
    #[must_use]
    pub fn start(roots: &Roots, options: &Options) -> Arc<Watcher> {
        let began = files::now_ns() - facts::TICK_NS;
        let roots: Vec<PathBuf> = roots.all().iter().map(|root| root.path.clone()).collect();
        let log = Arc::new(Mutex::new(Log::new(log::RECORDS)));
        let (head, state) = (watch::Sender::new(0), watch::Sender::new(State::SettingUp { folders: 0, round: 1 }));
        let sweeper = Arc::new(Sweeper::new(Arc::clone(&log), head.clone(), &roots, &options.ignore));
        let tops = roots.iter().map(|path| Top { path: path.clone(), folder: Mutex::new(files::inode(path)) });
        let tops: Arc<[Top]> = tops.collect();
        let feed = Feed {
            log: Arc::clone(&log),
            head: head.clone(),
            state: state.clone(),
            tops: Arc::clone(&tops),
            sweeper: Arc::clone(&sweeper),
        };
        let events = Events::start(&roots, options, feed).unwrap_or_else(|why| {
            roots.iter().for_each(|root| sweeper.cover(root, Begin::Since(began), true));
            state.send_replace(State::NoEvents { why });
            Events::None
        });
        Arc::new(Watcher { log, head, state, roots: tops, events, sweeper, patience: Patience::default() })
    }

    /// Waits until everything that has happened so far is in the log. Callers at the same time share the wait. While all
    /// folders are looked through, at the start and after the kernel has dropped events, it also waits for that, but all
    /// callers together no longer than `deadline`; where no events come from, it waits for a look at all files there.
    /// Another folder by the name of a root than before is followed.
    pub async fn barrier(&self, deadline: Duration) -> Barrier {
        let began = Instant::now();
        let renewed = self.roots.iter().any(Top::is_renewed);
        if !self.is_set_up(deadline).await {
            self.events.catch_up(deadline).await;
            return Barrier::SettingUp;
        }
        let seen = self.events.barrier(deadline, renewed).await;
        if seen == Barrier::TimedOut {
            return if self.state.borrow().is_settled() { seen } else { Barrier::SettingUp };
        }
        if !self.sweeper.is_needed() {
            // Without any root there is nothing to see.
            return Barrier::Seen;
        }
        if !self.state.borrow().is_settled() {
            // What has to be compared is not known yet.
            return Barrier::SettingUp;
        }
        let left = deadline.saturating_sub(began.elapsed());
        if self.sweeper.barrier(left).await { Barrier::Seen } else { Barrier::NoEvents }
    }

    /// Whether all folders have been looked through, as soon as they have been.
    async fn is_set_up(&self, deadline: Duration) -> bool {
        let State::SettingUp { round, .. } = *self.state.borrow() else { return true };
        let (left, mut states) = (self.patience.left(round, deadline), self.state.subscribe());
        while_awake(left, states.wait_for(State::is_settled)).await.is_some()
    }

    /// The newest position: what happened before it is of no interest to who begins now.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.log().hand_out()
    }

    /// What became of each path after `seq`.
    #[must_use]
    pub fn since(&self, seq: u64) -> Changes {
        self.log().since(seq)
    }

    /// Tells whenever the log has grown: its newest position.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.head.subscribe()
    }

    #[must_use]
    pub fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Is every file watched?
    #[must_use]
    pub fn is_watching(&self) -> bool {
        matches!(*self.state.borrow(), State::Watching { .. })
    }

    /// Tells whenever the state changes.
    #[must_use]
    pub fn states(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// Are changes of this file, existing or not, reported at present? False where it cannot be told at once.
    #[must_use]
    pub fn covers(&self, path: &Path) -> bool {
        self.events.covers(path)
    }

    /// Watches an ignored folder too, with everything below it; what has changed there since a point in time (in
    /// nanoseconds, as files have it) is reported. False outside the roots, links followed, and if there is no such
    /// folder. Looks through it: for a thread that may block.
    pub fn also(&self, folder: &Path, since: i128) -> bool {
        // Servers and repositories choose these: neither `..` nor a link leads out.
        let Ok((folder, _)) = settle(folder) else { return false };
        let folder = &*folder;
        if !self.roots.iter().any(|root| folder.starts_with(&root.path)) {
            return false;
        }
        let since = since - facts::TICK_NS;
        let watched = self.events.exempt(folder, since);
        if matches!(*self.state.borrow(), State::NoEvents { .. }) {
            self.sweeper.exempt(folder, Begin::Since(since));
        }
        watched
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Top {
    fn folder(&self) -> MutexGuard<'_, Option<Inode>> {
        self.folder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_renewed(&self) -> bool {
        let known = *self.folder();
        files::inode(&self.path) != known
    }

    /// Says that it is gone, whatever goes by its name now.
    fn lose(&self) {
        *self.folder() = None;
    }

    /// Another folder than before goes by its name, or none: which, if so. It then counts as followed.
    fn renew(&self) -> Option<Option<Inode>> {
        let mut known = self.folder();
        let now = files::inode(&self.path);
        (std::mem::replace(&mut *known, now) != now).then_some(now)
    }
}
