//! The threads around the engine, and the barrier.
//!
//! The kernel puts an event into the queue before the system call that caused it returns. So what the queue holds at
//! one moment, and what was read from it before, is everything that happened until then: to have worked through it is
//! the barrier. No cookie file is needed to find the place in the queue, and where nothing waits there, one `ioctl`
//! tells.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use tokio::sync::watch;

use super::engine::{Engine, Round};
use super::facts::TICK_NS;
use super::log::Log;
use super::mounts::{self, Bell};
use super::queue::Queue;
use super::rules::Rules;
use super::source::Feed;
use super::{Barrier, Options, State};
use crate::sys::{awake::while_awake, files};

/// Room for some thousand events.
const BUFFER: usize = 64 << 10;

/// The running service. Dropping it ends its threads.
#[derive(Debug)]
pub(super) struct Service {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    queue: Arc<Queue>,
    log: Arc<Mutex<Log>>,
    /// Held while events are read and until they are worked through: who gets it finds the log complete.
    engine: Mutex<Engine>,
    /// Who waits for the engine, beside who looks through folders: that one would else take it again and again before
    /// anybody has woken up.
    waiting: AtomicU64,
    /// Wakes the event thread.
    bell: OwnedFd,
    stop: AtomicBool,
    /// Barriers asked for.
    asked: AtomicU64,
    /// Barriers reached.
    reached: watch::Sender<u64>,
    /// The log's newest position.
    head: watch::Sender<u64>,
    state: watch::Sender<State>,
    /// Why no event can be relied upon somewhere: a file system without events in the workspace.
    blind: Mutex<Option<String>>,
    /// Whether something has been mounted.
    mounts: Bell,
    /// Another folder may go by a root's name: to be looked at in the next turn.
    renewed: AtomicBool,
}

impl Service {
    pub(super) fn start(roots: &[PathBuf], options: &Options, feed: Feed) -> io::Result<Service> {
        let Feed { log, head, state, tops, sweeper } = feed;
        let queue = Arc::new(Queue::open()?);
        let engine = Engine::new(Arc::clone(&queue), Arc::clone(&log), tops, sweeper, options.max_folders);
        let shared = Arc::new(Shared {
            queue,
            log,
            engine: Mutex::new(engine),
            waiting: AtomicU64::new(0),
            bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            stop: AtomicBool::new(false),
            asked: AtomicU64::new(0),
            reached: watch::Sender::new(0),
            head,
            state,
            blind: Mutex::new(None),
            mounts: Bell::new(),
            renewed: AtomicBool::new(false),
        });
        let service = Service { shared: Arc::clone(&shared) };
        let round = shared.engine().begin_round(files::now_ns() - TICK_NS);
        let (roots, ignore) = (roots.to_vec(), options.ignore.clone());
        Shared::walk(&shared, round, move |shared| {
            // Compiling patterns takes milliseconds, and a file system that does not answer takes for ever.
            let rules = Rules::new(&roots, &ignore);
            let roots: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
            let mounts = mounts::mounts(&roots);
            let blind = mounts::blind(&roots, &mounts);
            shared.set_blind(blind.first().map(|(_, why)| why.clone()));
            shared.engine().rule(rules, blind.into_iter().map(|(folder, _)| folder).collect(), mounts);
        })?;
        std::thread::Builder::new().name("watch-events".into()).spawn(move || Shared::run(&shared))?;
        Ok(service)
    }

    pub(super) async fn barrier(&self, deadline: Duration, renewed: bool) -> Barrier {
        if renewed {
            self.shared.renewed.store(true, Ordering::SeqCst);
        } else if !self.shared.mounts.has_rung()
            && let Some(barrier) = self.shared.at_once()
        {
            // Nearly always nothing is waiting and nobody at work.
            return barrier;
        }
        while_awake(deadline, self.reach()).await.unwrap_or(Barrier::TimedOut)
    }

    async fn reach(&self) -> Barrier {
        let shared = &self.shared;
        loop {
            let mut state = shared.state.subscribe();
            // The sender is ours: it cannot be gone.
            state.wait_for(|state| !matches!(state, State::SettingUp { .. })).await.ok();
            shared.turn().await;
            match *shared.state.borrow() {
                State::Watching { .. } => return Barrier::Seen,
                State::SettingUp { .. } => {}
                State::Exhausted { .. } | State::NoEvents { .. } => return Barrier::NoEvents,
            }
        }
    }

    /// Works through what has happened in the folders that are watched so far.
    pub(super) async fn catch_up(&self, deadline: Duration) {
        while_awake(deadline, self.shared.turn()).await;
    }

    /// Watches folders below `path`, which the rules leave out. False if there is no such folder.
    pub(super) fn exempt(&self, path: &Path, start: i128) -> bool {
        let mut engine = self.shared.engine();
        engine.exempt(path, start);
        engine.watches(path)
    }

    /// Keeps the event thread from its work.
    #[cfg(test)]
    pub(super) fn hold(&self) -> impl Drop {
        self.shared.engine()
    }

    pub(super) fn covers(&self, path: &Path) -> bool {
        let folder = path.parent().unwrap_or(path);
        self.shared.watching() && self.shared.engine.try_lock().is_ok_and(|engine| engine.watches(folder))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.ring();
    }
}

impl Shared {
    fn engine(&self) -> MutexGuard<'_, Engine> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        engine
    }

    /// The engine when nobody else wants it.
    fn engine_in_turn(&self) -> MutexGuard<'_, Engine> {
        while self.waiting.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn of the event thread that begins after this was asked for.
    async fn turn(&self) {
        let mut reached = self.reached.subscribe();
        let ticket = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.ring();
        // The sender is ours: it cannot be gone.
        reached.wait_for(|&reached| reached >= ticket).await.ok();
    }

    fn watching(&self) -> bool {
        matches!(*self.state.borrow(), State::Watching { .. })
    }

    /// The barrier, if it needs no waiting.
    fn at_once(&self) -> Option<Barrier> {
        let reached = match *self.state.borrow() {
            State::Watching { .. } => Barrier::Seen,
            State::Exhausted { .. } | State::NoEvents { .. } => Barrier::NoEvents,
            State::SettingUp { .. } => return None,
        };
        let mut engine = self.engine.try_lock().ok()?;
        if self.queue.pending() > 0 || !self.state.borrow().is_settled() {
            return None;
        }
        engine.look_at_linked();
        self.tell_head();
        Some(reached)
    }

    fn set_blind(&self, why: Option<String>) {
        *self.blind.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// The log may have grown.
    fn tell_head(&self) {
        let head = self.log.lock().unwrap_or_else(PoisonError::into_inner).head();
        self.head.send_if_modified(|known| std::mem::replace(known, head) != head);
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    fn ring(&self) {
        // It can only fail because it has been rung 2^64 times.
        rustix::io::write(&self.bell, &1_u64.to_ne_bytes()).ok();
    }

    /// The event thread.
    fn run(shared: &Arc<Shared>) {
        let mut buffer = vec![0; BUFFER];
        let mut complete = files::now_ns();
        while !shared.stopped() {
            let mut fds = [PollFd::new(&*shared.queue, PollFlags::IN), PollFd::new(&shared.bell, PollFlags::IN)];
            poll(&mut fds, None).ok();
            rustix::io::read(&shared.bell, &mut [0_u8; 8]).ok();
            // Before the queue is looked at: who asks after that waits for the next turn.
            let asked = shared.asked.load(Ordering::SeqCst);
            let round = {
                let mut engine = shared.engine();
                // Not until the queue is empty: under a constant stream of events it never is.
                let waiting = shared.queue.pending();
                let mut taken = 0;
                while taken < waiting {
                    let read = shared.queue.read(&mut buffer);
                    if read == 0 {
                        break;
                    }
                    engine.take(&buffer[..read]);
                    taken += read as u64;
                }
                if engine.take_lost() {
                    let round = engine.begin_round(complete - TICK_NS);
                    shared.state.send_replace(engine.setting_up());
                    Some(round)
                } else {
                    let now = files::now_ns();
                    if shared.queue.pending() == 0 {
                        complete = now;
                    }
                    // At the start everything is looked through anyhow.
                    if shared.state.borrow().is_settled() && shared.mounts.take() {
                        shared.set_blind(engine.follow_mounts());
                    }
                    if shared.renewed.swap(false, Ordering::SeqCst) {
                        engine.follow_roots();
                    }
                    if asked > *shared.reached.borrow() {
                        engine.look_at_linked();
                    }
                    if shared.state.borrow().is_settled() {
                        shared.settle(&engine);
                    }
                    None
                }
            };
            shared.tell_head();
            shared.reached.send_replace(asked);
            if round.is_some_and(|round| Shared::walk(shared, round, |_| ()).is_err()) {
                shared.state.send_replace(State::NoEvents { why: "no thread can be started".into() });
            }
        }
    }

    /// Looks through everything in a thread of its own, so that events are read meanwhile.
    fn walk(shared: &Arc<Shared>, round: Round, first: impl FnOnce(&Shared) + Send + 'static) -> io::Result<()> {
        let shared = Arc::clone(shared);
        let walk = move || {
            first(&shared);
            shared.look_through(round);
        };
        std::thread::Builder::new().name("watch-walk".into()).spawn(walk).map(drop)
    }

    fn look_through(&self, mut round: Round) {
        // Broad before deep: where there are too many folders, the deepest go without.
        while let Some(folder) = round.left.pop_front() {
            let mut engine = self.engine_in_turn();
            // Events were lost again, and another walk is under way.
            if self.stopped() || engine.round() != round.number {
                return;
            }
            round.left.extend(engine.visit_in_round(&folder, round.start));
            if engine.folders().is_multiple_of(256) {
                self.state.send_replace(engine.setting_up());
            }
        }
        let mut engine = self.engine();
        if engine.round() == round.number {
            engine.end_round();
            self.settle(&engine);
        }
        drop(engine);
        self.ring();
    }

    /// Says how it stands when everything has been looked through.
    fn settle(&self, engine: &Engine) {
        let blind = self.blind.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let state = State::settled(engine.folders(), blind.as_ref(), engine.root_gone(), engine.limit.as_ref());
        self.state.send_if_modified(|known| {
            let differs = *known != state;
            *known = state;
            differs
        });
    }
}
