//! The thread that looks at files where no events come from, and the barrier of those who wait for it. It is started
//! when it is first needed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::log::Log;
use super::rules::Rules;
use super::sweep::{Begin, ENTRIES, Sweep, Top};
use crate::sys::awake::while_awake;

/// Dropping it ends its thread.
#[derive(Debug)]
pub(super) struct Sweeper {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    log: Arc<Mutex<Log>>,
    head: watch::Sender<u64>,
    roots: Vec<PathBuf>,
    ignore: Vec<String>,
    scope: Mutex<Scope>,
    /// There is something to look through.
    needed: AtomicBool,
    stop: AtomicBool,
    /// Looks asked for.
    asked: AtomicU64,
    done: watch::Sender<Done>,
    bell: SyncSender<()>,
}

#[derive(Debug)]
struct Scope {
    tops: BTreeMap<Arc<Path>, Top>,
    /// Looked through although the rules leave them out.
    exempt: Vec<PathBuf>,
    /// What the thread waits at, until there is one.
    idle: Option<Receiver<()>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Done {
    asked: u64,
    whole: bool,
}

impl Sweeper {
    pub(super) fn new(log: Arc<Mutex<Log>>, head: watch::Sender<u64>, roots: &[PathBuf], ignore: &[String]) -> Sweeper {
        let (bell, idle) = sync_channel(1);
        let shared = Shared {
            log,
            head,
            roots: roots.to_vec(),
            ignore: ignore.to_vec(),
            scope: Mutex::new(Scope { tops: BTreeMap::new(), exempt: Vec::new(), idle: Some(idle) }),
            needed: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            asked: AtomicU64::new(0),
            done: watch::Sender::new(Done::default()),
            bell,
        };
        Sweeper { shared: Arc::new(shared) }
    }

    /// From now on looks through this folder and all below it, at once for the first time. `keep` says that it may
    /// come again when it is gone.
    pub(super) fn cover(&self, folder: &Path, begin: Begin, keep: bool) {
        self.add(folder, Top { begin, keep, records: false });
    }

    /// The same for a folder where only records of installed packages count.
    pub(super) fn cover_records(&self, folder: &Path, begin: Begin) {
        self.add(folder, Top { begin, keep: false, records: true });
    }

    fn add(&self, folder: &Path, top: Top) {
        let shared = &self.shared;
        let mut scope = shared.scope();
        if scope.tops.contains_key(folder) {
            return;
        }
        scope.tops.insert(Arc::from(folder), top);
        shared.needed.store(true, Ordering::SeqCst);
        if let Some(idle) = scope.idle.take() {
            let shared = Arc::clone(shared);
            // Without a thread nobody ever says that all has been looked through.
            std::thread::Builder::new().name("watch-sweep".into()).spawn(move || shared.run(&idle)).ok();
        }
        drop(scope);
        shared.ring();
    }

    /// Looks through a folder that the rules leave out.
    pub(super) fn exempt(&self, folder: &Path, begin: Begin) {
        self.shared.scope().exempt.push(folder.to_owned());
        self.cover(folder, begin, true);
    }

    pub(super) fn is_needed(&self) -> bool {
        self.shared.needed.load(Ordering::SeqCst)
    }

    /// Waits until everything has been looked through once more. False if that was not possible within this time.
    pub(super) async fn barrier(&self, deadline: Duration) -> bool {
        if !self.is_needed() {
            return true;
        }
        let mut done = self.shared.done.subscribe();
        let ticket = self.shared.asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.shared.ring();
        let reached = done.wait_for(|done| done.asked >= ticket);
        // The sender is ours: it cannot be gone.
        while_awake(deadline, reached).await.is_some_and(|done| done.is_ok_and(|done| done.whole))
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.ring();
    }
}

impl Shared {
    fn scope(&self) -> MutexGuard<'_, Scope> {
        self.scope.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        // Where there is no room, it has been rung.
        self.bell.try_send(()).ok();
    }

    fn run(&self, bell: &Receiver<()>) {
        let mut sweep = Sweep::new(Arc::clone(&self.log), &self.roots, ENTRIES);
        sweep.rules = Rules::new(&self.roots, &self.ignore);
        let stopped = || self.stop.load(Ordering::SeqCst);
        while bell.recv().is_ok() && !stopped() {
            // Before anything is looked at: who asks after that waits for the next time.
            let asked = self.asked.load(Ordering::SeqCst);
            let tops = {
                let mut scope = self.scope();
                scope.exempt.drain(..).for_each(|folder| sweep.rules.exempt(&folder));
                scope.tops.clone()
            };
            let whole = sweep.run(&tops, stopped);
            // What was watched by nobody and is gone is its parent's to tell of, should it come again.
            let gone = tops.iter().filter(|(path, top)| !top.keep && !path.is_dir()).map(|(path, _)| path);
            let gone: Vec<_> = gone.cloned().collect();
            self.scope().tops.retain(|path, _| !gone.contains(path));
            let head = self.log.lock().unwrap_or_else(PoisonError::into_inner).head();
            self.head.send_if_modified(|known| {
                let grown = head > *known;
                *known = head.max(*known);
                grown
            });
            self.done.send_replace(Done { asked, whole });
        }
    }
}
