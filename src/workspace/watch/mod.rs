//! What changed in the workspace, whoever changed it: a bounded log of changes, and a barrier which proves that
//! everything that had happened is in it. Works by inotify; on other systems there are no events, and callers look for
//! themselves.

#[cfg(target_os = "linux")]
mod engine;
mod log;
#[cfg(target_os = "linux")]
mod names;
#[cfg(target_os = "linux")]
mod queue;
#[cfg(target_os = "linux")]
mod rules;
#[cfg(target_os = "linux")]
mod service;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::workspace::roots::Roots;
use log::Log;

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
    /// It could not be shown in the time allowed: look at the files.
    TimedOut,
    /// There are no events, not of everything, or not yet: look at the files.
    NoEvents,
}

/// How watching stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Looking through the folders: at the start, and after the kernel has dropped events.
    SettingUp {
        folders: usize,
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

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            State::SettingUp { folders } => write!(f, "setting up ({folders} folders so far)"),
            State::Watching { folders } => write!(f, "watching {folders} folders"),
            State::Exhausted { folders, why } => {
                write!(f, "watching only {folders} folders: {why}; files are compared on each call")
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
    /// More folders to leave out, in the words of a `.gitignore` at each root; `!` takes back what git ignores.
    pub ignore: Vec<String>,
    /// How many folders are watched at most.
    pub max_folders: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { events: true, ignore: Vec::new(), max_folders: 50_000 }
    }
}

/// The watcher of a workspace. Dropping it ends its threads.
#[derive(Debug)]
pub struct Watcher {
    log: Arc<Mutex<Log>>,
    head: watch::Sender<u64>,
    state: watch::Sender<State>,
    roots: Vec<PathBuf>,
    #[cfg(target_os = "linux")]
    service: Option<service::Service>,
}

impl Watcher {
    /// Starts to watch. Returns at once: the folders are looked through in the background.
    #[must_use]
    pub fn start(roots: &Roots, options: &Options) -> Arc<Watcher> {
        let roots: Vec<PathBuf> = roots.all().iter().map(|root| root.path.clone()).collect();
        let log = Arc::new(Mutex::new(Log::new(log::RECORDS)));
        let (head, state) = (watch::Sender::new(0), watch::Sender::new(State::SettingUp { folders: 0 }));
        #[cfg(target_os = "linux")]
        let service = if options.events {
            service::Service::start(&roots, options, Arc::clone(&log), head.clone(), state.clone())
                .inspect_err(|error| {
                    // EMFILE stands for the user's limit of instances here.
                    let why = format!("{error} (see fs.inotify.max_user_instances)");
                    state.send_replace(State::NoEvents { why });
                })
                .ok()
        } else {
            None
        };
        #[cfg(not(target_os = "linux"))]
        state.send_replace(State::NoEvents { why: "this system is not supported".into() });
        if !options.events {
            state.send_replace(State::NoEvents { why: "it is switched off".into() });
        }
        Arc::new(Watcher {
            log,
            head,
            state,
            roots,
            #[cfg(target_os = "linux")]
            service,
        })
    }

    /// Waits until everything that has happened so far is in the log. Callers at the same time share the wait. After
    /// the kernel has dropped events, it also waits for the look through all folders that makes it good.
    pub async fn barrier(&self, deadline: Duration) -> Barrier {
        #[cfg(target_os = "linux")]
        if let Some(service) = &self.service {
            return service.barrier(deadline).await;
        }
        let _ = deadline;
        Barrier::NoEvents
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

    /// Tells whenever the state changes.
    #[must_use]
    pub fn states(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// Are changes of this file, existing or not, reported at present? False where it cannot be told at once.
    #[must_use]
    pub fn covers(&self, path: &Path) -> bool {
        #[cfg(target_os = "linux")]
        if let Some(service) = &self.service {
            return service.covers(path);
        }
        let _ = path;
        false
    }

    /// Watches an ignored folder too, with everything below it. False outside the roots, and if there is no such
    /// folder. Looks through it: for a thread that may block.
    pub fn also(&self, folder: &Path) -> bool {
        if !self.roots.iter().any(|root| folder.starts_with(root)) {
            return false;
        }
        #[cfg(target_os = "linux")]
        if let Some(service) = &self.service {
            return service.exempt(folder);
        }
        false
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
