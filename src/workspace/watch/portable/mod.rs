//! Events through the crate `notify`, for systems without a source of their own here: one thread that works through
//! what `notify` tells, and the barrier.
//!
//! The barrier is a cookie: an empty file, put into a private folder that the same `notify` watcher watches. What
//! happened before it is told before it.

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
mod tree;

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{Event, EventKind, ModifyKind, RenameMode};
use notify::{Config, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::watch;

use super::facts::{TICK_NS, without_events};
use super::rules::Rules;
use super::source::Feed;
use super::sweep::Begin;
use super::{Barrier, Options, State};
use crate::sys::{
    awake::while_awake,
    files::{self, TempDir},
};
use tree::Tree;

/// Events that may wait; when there are more, everything is looked through instead.
const WAITING: usize = 8_192;
/// When a cookie is given up and another one put.
const LATE: Duration = Duration::from_secs(1);

/// The running service. Dropping it removes the private folder and ends the threads.
#[derive(Debug)]
pub(super) struct Service {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    inbox: Arc<Inbox>,
    /// Held while events are worked through.
    tree: Mutex<Tree>,
    private: Mutex<Option<TempDir>>,
    feed: Feed,
    stop: AtomicBool,
    /// Cookies put.
    cookies: AtomicU64,
    /// Barriers asked for.
    asked: AtomicU64,
    /// Barriers reached.
    reached: watch::Sender<u64>,
    /// Counts the times that everything is looked through.
    round: AtomicU32,
    /// Everything has been looked through once.
    complete: AtomicBool,
    /// Why no event can be relied upon although they come.
    blind: OnceLock<String>,
    /// Another folder may go by a root's name: to be looked at in the next turn.
    renewed: AtomicBool,
    /// When it was started, with what a clock may lag behind.
    began: i128,
}

/// Where `notify` puts what it has to tell.
#[derive(Debug)]
struct Inbox {
    sender: SyncSender<Message>,
    /// Events were lost since this was asked last.
    lost: AtomicBool,
}

#[derive(Debug)]
enum Message {
    Event(Event),
    Wake,
}

/// A cookie that is on its way.
#[derive(Debug)]
struct Cookie {
    path: PathBuf,
    /// The barriers that it is for.
    asked: u64,
    put: Instant,
    put_ns: i128,
}

impl Drop for Cookie {
    fn drop(&mut self) {
        files::remove(&self.path).ok();
    }
}

impl Service {
    /// `each` gives each folder a watch of its own. Below `private` a folder for cookies is made.
    pub(super) fn start(
        roots: &[PathBuf],
        options: &Options,
        each: bool,
        private: PathBuf,
        feed: Feed,
    ) -> io::Result<Service> {
        let (sender, messages) = sync_channel(WAITING);
        let tree = Tree::new(Arc::clone(&feed.log), Arc::clone(&feed.tops), each, options.max_folders);
        let shared = Arc::new(Shared {
            inbox: Arc::new(Inbox { sender, lost: AtomicBool::new(false) }),
            tree: Mutex::new(tree),
            private: Mutex::new(None),
            feed,
            stop: AtomicBool::new(false),
            cookies: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            reached: watch::Sender::new(0),
            round: AtomicU32::new(0),
            complete: AtomicBool::new(false),
            blind: OnceLock::new(),
            renewed: AtomicBool::new(false),
            began: files::now_ns() - TICK_NS,
        });
        let service = Service { shared: Arc::clone(&shared) };
        let (roots, ignore, start) = (roots.to_vec(), options.ignore.clone(), files::now_ns());
        let run = move || {
            match shared.set_up(&roots, &ignore, &private) {
                Ok(private) => shared.run(&messages, &private, start),
                Err(why) => {
                    let began = Begin::Since(start - TICK_NS);
                    shared.feed.tops.iter().for_each(|top| shared.feed.sweeper.cover(&top.path, began, true));
                    shared.feed.state.send_replace(State::NoEvents { why });
                }
            }
            // Ends its thread, which holds the inbox.
            let watcher = shared.tree().watcher.take();
            drop(watcher);
        };
        std::thread::Builder::new().name("watch-notify".into()).spawn(run)?;
        Ok(service)
    }

    pub(super) async fn barrier(&self, deadline: Duration, renewed: bool) -> Barrier {
        self.shared.renewed.fetch_or(renewed, Ordering::SeqCst);
        while_awake(deadline, self.reach()).await.unwrap_or(Barrier::TimedOut)
    }

    async fn reach(&self) -> Barrier {
        let shared = &self.shared;
        loop {
            let mut state = shared.feed.state.subscribe();
            if !shared.complete.load(Ordering::SeqCst) && matches!(*state.borrow(), State::SettingUp { .. }) {
                return Barrier::TimedOut;
            }
            // The sender is ours: it cannot be gone.
            let state =
                state.wait_for(|state| !matches!(state, State::SettingUp { .. })).await.map(|state| state.clone());
            if let Ok(State::Exhausted { .. } | State::NoEvents { .. }) = state
                && !shared.renewed.load(Ordering::SeqCst)
            {
                return Barrier::NoEvents;
            }
            let mut reached = shared.reached.subscribe();
            let ticket = shared.asked.fetch_add(1, Ordering::SeqCst) + 1;
            shared.inbox.wake();
            reached.wait_for(|&reached| reached >= ticket).await.ok();
            match *shared.feed.state.borrow() {
                State::Watching { .. } => return Barrier::Seen,
                State::Exhausted { .. } | State::NoEvents { .. } => return Barrier::NoEvents,
                State::SettingUp { .. } => {}
            }
        }
    }

    /// Watches folders below `path`, which the rules leave out. False if there is no such folder.
    pub(super) fn exempt(&self, path: &Path, start: i128) -> bool {
        self.shared.tree().exempt(path, start)
    }

    pub(super) fn covers(&self, path: &Path) -> bool {
        let folder = path.parent().unwrap_or(path);
        matches!(*self.shared.feed.state.borrow(), State::Watching { .. })
            && self.shared.tree.try_lock().is_ok_and(|tree| tree.knows(folder))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.inbox.wake();
        // Not left to the thread: the process may be about to end.
        let private = self.shared.private().take();
        drop(private);
    }
}

impl Inbox {
    fn take(&self, told: notify::Result<Event>) {
        match told {
            Ok(event) if event.need_rescan() => self.lose(),
            // Reading is no change. Both ends of a renaming were told one by one before.
            Ok(Event {
                kind: EventKind::Access(_) | EventKind::Modify(ModifyKind::Name(RenameMode::Both)), ..
            }) => {}
            Ok(event) => {
                if self.sender.try_send(Message::Event(event)).is_err() {
                    self.lose();
                }
            }
            Err(_) => self.lose(),
        }
    }

    fn lose(&self) {
        self.lost.store(true, Ordering::SeqCst);
        self.wake();
    }

    fn wake(&self) {
        // Where there is no room, the thread is awake.
        self.sender.try_send(Message::Wake).ok();
    }
}

impl Shared {
    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn private(&self) -> MutexGuard<'_, Option<TempDir>> {
        self.private.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Returns the folder for cookies.
    fn set_up(&self, roots: &[PathBuf], ignore: &[String], parent: &Path) -> Result<PathBuf, String> {
        let rules = Rules::new(roots, ignore);
        if let Some(why) = roots.iter().find_map(|root| without_events(root)) {
            self.blind.get_or_init(|| why);
        }
        let inbox = Arc::clone(&self.inbox);
        let told = move |told: notify::Result<Event>| inbox.take(told);
        let watcher = RecommendedWatcher::new(told, Config::default().with_follow_symlinks(false));
        let private = parent.canonicalize().and_then(|parent| TempDir::create(&parent, "langport-watch-"));
        let private = private.map_err(|error| format!("no private folder in {}: {error}", parent.display()))?;
        let path = private.path().to_owned();
        *self.private() = Some(private);
        if self.stopped() {
            self.private().take();
        }
        let mut tree = self.tree();
        tree.rules = rules;
        tree.private.clone_from(&path);
        tree.watcher = Some(watcher.map_err(|error| error.to_string())?);
        let mode = if tree.each { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive };
        let tops: &[PathBuf] = if tree.each { &[] } else { roots };
        let watched = tree.watch(&path, mode) && tops.iter().all(|root| tree.watch(root, mode));
        let why = || tree.limit.clone().unwrap_or_else(|| "a folder cannot be watched".to_owned());
        if watched { Ok(path) } else { Err(why()) }
    }

    /// Works through events until told to stop.
    fn run(&self, messages: &Receiver<Message>, private: &Path, start: i128) {
        // What happened until then has been seen.
        let mut complete = start;
        let mut cookie: Option<Cookie> = None;
        self.look_through(complete - TICK_NS);
        while !self.stopped() {
            let asked = self.asked.load(Ordering::SeqCst);
            let waits = asked > *self.reached.borrow();
            if waits && cookie.as_ref().is_none_or(|cookie| cookie.put.elapsed() > LATE) {
                let name = self.cookies.fetch_add(1, Ordering::Relaxed).to_string();
                let (path, put, put_ns) = (private.join(name), Instant::now(), files::now_ns());
                // If it cannot be written, the barrier is not reached.
                files::write(&path, b"").ok();
                cookie = Some(Cookie { path, asked, put, put_ns });
            }
            let Ok(first) = messages.recv() else { return };
            let seen = self.work_through(first, messages, private, cookie.as_ref());
            if self.inbox.lost.swap(false, Ordering::SeqCst) {
                let now = files::now_ns();
                self.look_through(complete - TICK_NS);
                complete = now;
                // It may be lost, too.
                cookie = None;
            } else {
                let mut tree = self.tree();
                if self.renewed.swap(false, Ordering::SeqCst) {
                    tree.follow_roots();
                }
                self.settle(&tree);
            }
            let head = self.feed.log.lock().unwrap_or_else(PoisonError::into_inner).head();
            self.feed.head.send_if_modified(|known| std::mem::replace(known, head) != head);
            if let Some(cookie) = cookie.take_if(|_| seen) {
                complete = cookie.put_ns;
                let asked = cookie.asked;
                drop(cookie);
                self.reached.send_replace(asked);
            }
        }
    }

    /// Works through what waits; not until nothing does: under a constant stream of events something always does.
    /// True if the cookie was there.
    fn work_through(
        &self,
        first: Message,
        messages: &Receiver<Message>,
        private: &Path,
        cookie: Option<&Cookie>,
    ) -> bool {
        let mut tree = self.tree();
        let mut seen = false;
        for message in std::iter::once(first).chain(messages.try_iter().take(WAITING)) {
            let Message::Event(event) = message else { continue };
            let renewed = !matches!(event.kind, EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_)));
            for path in &event.paths {
                if path.starts_with(private) {
                    seen |= cookie.is_some_and(|cookie| cookie.path == *path);
                } else {
                    tree.look_at(path, renewed);
                }
            }
        }
        tree.obey_rewritten();
        seen
    }

    /// Looks through everything for what changed after `start`.
    fn look_through(&self, start: i128) {
        let round = self.round.fetch_add(1, Ordering::SeqCst) + 1;
        let mut left: VecDeque<Arc<Path>> = {
            let tree = self.tree();
            self.feed.state.send_replace(State::SettingUp { folders: tree.folders(), round });
            tree.tops.iter().map(|top| Arc::from(&**top)).collect()
        };
        // Broad before deep: where there are too many folders, the deepest go without.
        while let Some(folder) = left.pop_front() {
            let mut tree = self.tree();
            if self.stopped() {
                return;
            }
            left.extend(tree.visit_in_round(&folder, start));
            if tree.folders().is_multiple_of(256) {
                self.feed.state.send_replace(State::SettingUp { folders: tree.folders(), round });
            }
        }
        let mut tree = self.tree();
        tree.complete = true;
        self.complete.store(true, Ordering::SeqCst);
        self.settle(&tree);
    }

    /// Says how it stands when everything has been looked through.
    fn settle(&self, tree: &Tree) {
        let state = match self.blind.get() {
            Some(why) => State::NoEvents { why: why.clone() },
            None => State::settled(tree.folders(), None, tree.root_gone(), tree.limit.as_ref()),
        };
        if self.blind.get().or(tree.limit.as_ref()).is_some() {
            let began = Begin::Since(self.began);
            self.feed.tops.iter().for_each(|top| self.feed.sweeper.cover(&top.path, began, true));
        }
        self.feed.state.send_if_modified(|known| {
            let differs = *known != state;
            *known = state;
            differs
        });
    }
}
