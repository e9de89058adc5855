//! The owner of one instance's state: it alone starts, buries, stops and ends the server process. Each change of state is
//! logged with its cause and told as an event.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};

use crate::registry::{self, Entry};

use super::{
    breaker::{Breaker, Then},
    event::{Event, Events},
    pool::Common,
    readiness::Standing,
    session::Session,
    shortfall::Shortfall,
    start::start,
    state::{Entered, InstanceId, Past, State},
    stop::stop,
};

/// The whole shutdown of a server that has not loaded its project.
const LOADING: Duration = Duration::from_millis(700);

/// Where whoever asked for a session gets it.
pub(super) type Answer = oneshot::Sender<Result<Arc<Session>, Shortfall>>;

/// What an actor is told; each is answered when it is done.
pub(super) enum Command {
    Ensure(Answer),
    /// With the cause.
    Stop(&'static str, oneshot::Sender<()>),
    /// Stop, forget all failures.
    Reset(oneshot::Sender<()>),
    /// Stop the session of this number, if it still runs: it is not to be used any more.
    Retire(u64, &'static str, oneshot::Sender<()>),
    /// The session of this number does not answer any more, with what was seen of that.
    Mute(u64, String, oneshot::Sender<()>),
    /// Stop for good.
    End(&'static str, oneshot::Sender<()>),
}

/// Owns the state; nothing else changes it.
pub(super) struct Actor {
    id: InstanceId,
    entry: Arc<Entry>,
    root: PathBuf,
    common: Arc<Common>,
    events: Events,
    state: watch::Sender<Entered>,
    starts: Arc<AtomicU64>,
    breaker: Breaker,
    /// What a start depended on when it was last tried.
    stamp: u64,
}

/// Whether the actor goes on.
#[derive(PartialEq, Eq)]
enum Goes {
    On,
    Away,
}

impl Actor {
    pub(super) fn new(
        id: InstanceId,
        entry: Arc<Entry>,
        root: PathBuf,
        common: Arc<Common>,
        events: Events,
        starts: Arc<AtomicU64>,
    ) -> (Self, watch::Receiver<Entered>) {
        let (since, cause) = (Instant::now(), "not needed yet".into());
        let entered = Entered { state: State::Stopped, since, cause, failed: None, past: None };
        let (state, seen) = watch::channel(entered);
        let breaker = Breaker::new(common.limits().budget);
        (Self { id, entry, root, common, events, state, starts, breaker, stamp: 0 }, seen)
    }

    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<Command>) {
        loop {
            let session = self.running();
            let goes = tokio::select! {
                command = inbox.recv() => match command {
                    None => Goes::Away,
                    Some(Command::Ensure(answer)) => self.ensure(answer, &mut inbox).await,
                    Some(command) => self.obey(command).await,
                },
                () = gone(session.as_deref()) => {
                    self.bury().await;
                    Goes::On
                }
            };
            if goes == Goes::Away {
                break;
            }
        }
        self.halt("nothing needs it any more").await;
        self.enter(State::Ended, "nothing needs it any more");
    }

    /// Everything but a start.
    async fn obey(&mut self, command: Command) -> Goes {
        let is_current = |actor: &Self, number| actor.running().is_some_and(|session| session.number == number);
        let (goes, done) = match command {
            Command::Ensure(answer) => {
                let _ = answer.send(Err(Shortfall::Replaced));
                return Goes::On;
            }
            Command::Stop(cause, done) => {
                self.halt(cause).await;
                (Goes::On, done)
            }
            Command::Reset(done) => {
                self.halt("asked to start anew").await;
                self.breaker.reset();
                self.enter(State::Stopped, "asked to start anew");
                (Goes::On, done)
            }
            Command::Retire(number, cause, done) => {
                if is_current(self, number) {
                    self.halt(cause).await;
                }
                (Goes::On, done)
            }
            Command::Mute(number, reason, done) => {
                if let Some(session) = self.running().filter(|session| session.number == number) {
                    let (command, stderr) = (session.launch.command(), session.last_words());
                    session.heard.mute();
                    // It would not hear a polite word either.
                    stop(&session, Duration::ZERO).await;
                    self.failed(Shortfall::Died { command, reason, stderr }, session.started.elapsed());
                }
                (Goes::On, done)
            }
            Command::End(cause, done) => {
                self.halt(cause).await;
                self.enter(State::Ended, cause);
                (Goes::Away, done)
            }
        };
        let _ = done.send(());
        goes
    }

    fn running(&self) -> Option<Arc<Session>> {
        match &self.state.borrow().state {
            State::Running(session) => Some(session.clone()),
            _ => None,
        }
    }

    /// Answers with a running session, starting one if need be. Whoever asks meanwhile gets the same answer.
    async fn ensure(&mut self, answer: Answer, inbox: &mut mpsc::Receiver<Command>) -> Goes {
        match self.running() {
            Some(session) if !session.wire.is_closed() => {
                let _ = answer.send(Ok(session));
                return Goes::On;
            }
            Some(_) => self.bury().await,
            None => {}
        }
        if let Err(shortfall) = self.may_start() {
            let _ = answer.send(Err(shortfall));
            return Goes::On;
        }
        self.enter(State::Starting { since: Instant::now() }, "a call needs it");
        let mut waiting = vec![answer];
        let mut stopped = None;
        let result = {
            let starter = self.common.starter();
            let starting = start(&starter, &self.entry, &self.root, &self.starts, &self.events);
            tokio::pin!(starting);
            loop {
                tokio::select! {
                    result = &mut starting => break result,
                    command = inbox.recv() => match command {
                        Some(Command::Ensure(answer)) => waiting.push(answer),
                        // The one that is meant is gone already: this start is its successor's.
                        Some(Command::Retire(_, _, done) | Command::Mute(_, _, done)) => _ = done.send(()),
                        other => {
                            stopped = Some(other);
                            break Err(Shortfall::NotStarted {
                                command: self.entry.def.command.clone(),
                                reason: "it was stopped while it started".into(),
                                stderr: Vec::new(),
                                hint: None,
                                left: false,
                            });
                        }
                    },
                }
            }
        };
        let result = match (result, &stopped) {
            (Ok(session), _) => {
                let cause = format!("it started in {} ms", session.handshake.as_millis());
                self.enter(State::Running(session.clone()), &cause);
                Ok(session)
            }
            (Err(shortfall), Some(_)) => {
                self.breaker.refund();
                self.enter(State::Stopped, "stopped while it started");
                Err(shortfall)
            }
            (Err(shortfall), None) => Err(self.failed(shortfall, Duration::ZERO)),
        };
        for answer in waiting {
            let _ = answer.send(result.clone());
        }
        match stopped {
            None => Goes::On,
            Some(None) => Goes::Away,
            Some(Some(command)) => self.obey(command).await,
        }
    }

    /// Takes one start out of the budget. Where that is spent, something that has changed is a new chance.
    fn may_start(&mut self) -> Result<(), Shortfall> {
        let stamp = registry::stamp(&self.entry, &self.root, &self.common.starter().around);
        let broken = match &self.state.borrow().state {
            State::Broken(shortfall) => Some(shortfall.clone()),
            _ => None,
        };
        if broken.is_some() && stamp != self.stamp {
            tracing::info!(server = %self.entry.name, "its program or a manifest has changed: it is tried again");
            self.breaker.reset();
        }
        self.stamp = stamp;
        self.breaker.set(self.common.limits().budget);
        match (self.breaker.start(Instant::now()), broken) {
            (Err(_), Some(shortfall)) => Err(shortfall),
            // Only what is broken is kept back.
            _ => Ok(()),
        }
    }

    /// A start has failed, or the process is gone after it had lived for `lived`; answers with what callers are told.
    fn failed(&mut self, shortfall: Shortfall, lived: Duration) -> Shortfall {
        let cause = shortfall.to_string();
        // What was never spawned costs nothing to look for again.
        if matches!(
            shortfall,
            Shortfall::NotInstalled { .. }
                | Shortfall::NoProgram { .. }
                | Shortfall::Untrusted(_)
                | Shortfall::Definition(_)
                | Shortfall::Homeless(_)
        ) {
            self.breaker.refund();
            self.enter(State::Failed(shortfall.clone()), &cause);
            return shortfall;
        }
        match self.breaker.failed(Instant::now(), lived) {
            Then::Again => self.enter(State::Failed(shortfall.clone()), &cause),
            Then::Wait { until, times, since } => {
                let broken = Shortfall::Broken {
                    times,
                    within: since.elapsed(),
                    reason: cause.clone(),
                    stderr: shortfall.lines(),
                    hint: self.entry.def.install.hint.clone(),
                    until,
                };
                self.enter(State::Broken(broken), &cause);
            }
        }
        shortfall
    }

    /// The process is gone without our doing.
    async fn bury(&mut self) {
        let Some(session) = self.running() else { return };
        // The exit status and the last of stderr arrive a moment after the pipe closes.
        session.settle_death().await;
        let shortfall = session.died();
        let lived = session.started.elapsed();
        session.heard.mute();
        stop(&session, Duration::ZERO).await;
        self.failed(shortfall, lived);
    }

    /// Stops what runs, on purpose: that costs nothing of the budget.
    async fn halt(&mut self, cause: &str) {
        let Some(session) = self.running() else { return };
        self.enter(State::Stopping, cause);
        session.heard.mute();
        // One that is still loading answers nothing, `shutdown` neither, and has nothing to lose.
        let loading = !matches!(session.heard.standing(), Standing::Ready);
        let longest = self.common.starter().shutdown;
        stop(&session, if loading { longest.min(LOADING) } else { longest }).await;
        // What it said when it went.
        self.state.send_modify(|entered| entered.past = Some(Past::of(&session)));
        self.breaker.refund();
        self.enter(State::Stopped, cause);
    }

    fn enter(&self, state: State, cause: &str) {
        let (from, phase) = (self.state.borrow().state.phase(), state.phase());
        if !from.may_become(phase) {
            // Only the end can be reached twice.
            debug_assert_eq!(from, phase, "from {} to {}", from.word(), phase.word());
            return;
        }
        let (word, before) = (phase.word(), from.word());
        let said = match &state {
            State::Failed(shortfall) | State::Broken(shortfall) => shortfall.lines().join(" | "),
            _ => String::new(),
        };
        tracing::info!(server = %self.entry.name, instance = %self.id, root = %self.root.display(), from = before, state = word, cause, said, "server state");
        let now = Instant::now();
        let failed = match &state {
            State::Failed(shortfall) | State::Broken(shortfall) => Some((shortfall.clone(), now)),
            _ => self.state.borrow().failed.clone(),
        };
        let past = self.running().map(|session| Past::of(&session)).or_else(|| self.state.borrow().past.clone());
        self.state.send_replace(Entered { state, since: now, cause: cause.into(), failed, past });
        let (name, root) = (self.entry.name.clone(), self.root.clone());
        self.events.tell(Event::State { instance: self.id, name, root, phase, cause: cause.into() });
        self.events.let_go();
    }
}

/// Ends when the session's connection does; never, without a session.
async fn gone(session: Option<&Session>) {
    match session {
        Some(session) => {
            session.wire.closed().await;
        }
        None => std::future::pending().await,
    }
}
