//! Where events come from: which source serves, and what a source feeds.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;

use super::log::Log;
use super::sweeper::Sweeper;
use super::{Barrier, Options, State, Top, portable};

/// Where events come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// What suits the system: inotify without anything between on Linux, [`Source::Trees`] on macOS and Windows.
    #[default]
    System,
    /// `notify`, with a watch for each root: for systems whose watches include all that is below.
    Trees,
    /// `notify`, with a watch for each folder.
    Folders,
}

/// What a source keeps up to date.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) log: Arc<Mutex<Log>>,
    /// The log's newest position.
    pub(super) head: watch::Sender<u64>,
    pub(super) state: watch::Sender<State>,
    pub(super) tops: Arc<[Top]>,
    /// Takes the folders that no events come from.
    pub(super) sweeper: Arc<Sweeper>,
}

/// The source that serves. Dropping it ends its threads.
#[derive(Debug)]
pub(super) enum Events {
    #[cfg(target_os = "linux")]
    Inotify(super::service::Service),
    Notify(portable::Service),
    None,
}

impl Events {
    /// # Errors
    /// Why there are no events.
    pub(super) fn start(roots: &[PathBuf], options: &Options, feed: Feed) -> Result<Events, String> {
        if !options.events {
            return Err("it is switched off".into());
        }
        let each = match options.source {
            #[cfg(target_os = "linux")]
            Source::System => {
                // EMFILE stands for the user's limit of instances here.
                let service = super::service::Service::start(roots, options, feed);
                let service = service.map_err(|error| format!("{error} (see fs.inotify.max_user_instances)"));
                return service.map(Events::Inotify);
            }
            // kqueue watches each file by an open descriptor, and tells in no certain order.
            #[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
            Source::System => return Err("this system is not supported".into()),
            #[cfg(any(target_os = "macos", windows))]
            Source::System => false,
            Source::Trees => false,
            Source::Folders => true,
        };
        let private = std::env::temp_dir();
        let service = portable::Service::start(roots, options, each, private, feed);
        service.map(Events::Notify).map_err(|error| error.to_string())
    }

    /// `renewed` says that another folder goes by the name of a root than before, or none.
    pub(super) async fn barrier(&self, deadline: Duration, renewed: bool) -> Barrier {
        match self {
            #[cfg(target_os = "linux")]
            Events::Inotify(service) => service.barrier(deadline, renewed).await,
            Events::Notify(service) => service.barrier(deadline, renewed).await,
            Events::None => Barrier::NoEvents,
        }
    }

    /// Works through what has happened in the folders that are watched so far.
    pub(super) async fn catch_up(&self, deadline: Duration) {
        match self {
            #[cfg(target_os = "linux")]
            Events::Inotify(service) => service.catch_up(deadline).await,
            // One thread both looks through folders and works through events.
            Events::Notify(_) | Events::None => {}
        }
    }

    pub(super) fn covers(&self, path: &Path) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Events::Inotify(service) => service.covers(path),
            Events::Notify(service) => service.covers(path),
            Events::None => false,
        }
    }

    /// Watches a folder with everything below, although the rules leave it out; reports what has the later ctime. False if there is no such folder.
    pub(super) fn exempt(&self, folder: &Path, start: i128) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Events::Inotify(service) => service.exempt(folder, start),
            Events::Notify(service) => service.exempt(folder, start),
            Events::None => false,
        }
    }
}
