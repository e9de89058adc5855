//! One definition for one root: an actor that alone starts, restarts and stops its server process. Starting is lazy and
//! single-flight; a dead server is started again on the next call, within a budget.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, timeout},
};

use crate::registry::Entry;

use super::{
    event::{Event, Events},
    ground::Ground,
    query::{Question, Reply, Shortfall},
    readiness::Standing,
    session::Session,
    start::{Starter, start},
    stop::stop,
};

/// What an instance is doing.
#[derive(Debug, Clone)]
pub enum State {
    /// Not started yet, or stopped on purpose.
    Stopped,
    Starting {
        since: Instant,
    },
    Running(Arc<Session>),
    /// The last start failed, or the process died.
    Failed(Shortfall),
    /// Failed so often that it is not tried again before the window has passed or somebody restarts it.
    Broken(Shortfall),
}

impl State {
    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Starting { .. } => "starting",
            Self::Running(_) => "running",
            Self::Failed(_) => "failed",
            Self::Broken(_) => "broken",
        }
    }
}

/// How often a server may be started again.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    pub restarts: usize,
    pub window: Duration,
}

enum Command {
    Ensure(oneshot::Sender<Result<Arc<Session>, Shortfall>>),
    Stop(oneshot::Sender<()>),
    /// Stop, forget all failures.
    Reset(oneshot::Sender<()>),
    /// Stop the session of this number, if it still runs: it is not to be used any more.
    Retire(u64, oneshot::Sender<()>),
}

/// A handle to the actor.
#[derive(Debug)]
pub struct Instance {
    pub entry: Arc<Entry>,
    pub root: PathBuf,
    commands: mpsc::Sender<Command>,
    state: watch::Receiver<State>,
    starts: Arc<AtomicU64>,
}

/// The whole shutdown of a server that has not loaded its project.
const LOADING: Duration = Duration::from_millis(700);

/// Commands that may wait for one actor.
const COMMANDS: usize = 256;

impl Instance {
    /// Starts the actor; no process yet.
    pub fn spawn(entry: Arc<Entry>, root: PathBuf, starter: Arc<Starter>, budget: Budget, events: Events) -> Arc<Self> {
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let (state, seen) = watch::channel(State::Stopped);
        let starts = Arc::new(AtomicU64::new(0));
        let actor = Actor {
            entry: entry.clone(),
            root: root.clone(),
            starter,
            budget,
            events,
            state,
            starts: starts.clone(),
            attempts: VecDeque::new(),
            last_failure: None,
        };
        tokio::spawn(actor.run(inbox));
        Arc::new(Self { entry, root, commands, state: seen, starts })
    }

    /// The state now.
    pub fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Whether its process runs and can be asked.
    pub fn is_running(&self) -> bool {
        matches!(&*self.state.borrow(), State::Running(session) if !session.wire.is_closed())
    }

    /// How often its process was started.
    pub fn starts(&self) -> u64 {
        self.starts.load(Ordering::Relaxed)
    }

    /// A live session, started if need be; waits no longer than `longest` (the start itself goes on).
    ///
    /// # Errors
    /// `Starting` when the time is over first, else why there is none.
    pub async fn session(&self, longest: Duration) -> Result<Arc<Session>, Shortfall> {
        if self.is_running()
            && let State::Running(session) = &*self.state.borrow()
        {
            return Ok(session.clone());
        }
        let asked = Instant::now();
        let (answer, ready) = oneshot::channel();
        if self.commands.try_send(Command::Ensure(answer)).is_err() {
            return Err(Shortfall::Busy);
        }
        match timeout(longest, ready).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(Shortfall::NotStarted {
                reason: "langport is shutting down".into(),
                stderr: Vec::new(),
                hint: None,
            }),
            Err(_) => {
                let since = match &*self.state.borrow() {
                    State::Starting { since } => *since,
                    _ => asked,
                };
                Err(Shortfall::Starting { after: since.elapsed() })
            }
        }
    }

    /// Asks; a server that dies meanwhile is started again and asked once more.
    ///
    /// # Errors
    /// With the reason why there is no answer.
    pub async fn ask(&self, ground: &Ground, question: &Question) -> Result<Reply, Shortfall> {
        let mut again = true;
        loop {
            let session = self.session(question.left()).await?;
            let _hold = session.hold();
            let Ok(Ok(_turn)) = timeout(question.left(), session.gate.acquire()).await else {
                return Err(Shortfall::Busy);
            };
            match session.ask(ground, question).await {
                Err(Shortfall::Died { .. }) if again && !question.left().is_zero() => again = false,
                Err(Shortfall::Died { .. }) => {
                    session.settle_death().await;
                    return Err(session.died());
                }
                Err(Shortfall::Outrun) if again => {
                    again = false;
                    // Of several callers that find this out, only the first one ends a session.
                    let _ = timeout(question.left(), self.tell(|done| Command::Retire(session.number, done))).await;
                }
                other => return other,
            }
        }
    }

    /// Stops the process, if any, politely and then by force.
    pub async fn stop(&self) {
        self.tell(Command::Stop).await;
    }

    /// Stops the process and forgets its failures, so that the next call starts it afresh.
    pub async fn reset(&self) {
        self.tell(Command::Reset).await;
    }

    async fn tell(&self, command: impl FnOnce(oneshot::Sender<()>) -> Command) {
        let (done, wait) = oneshot::channel();
        if self.commands.send(command(done)).await.is_ok() {
            let _ = wait.await;
        }
    }
}

/// Owns the state; nothing else changes it.
struct Actor {
    entry: Arc<Entry>,
    root: PathBuf,
    starter: Arc<Starter>,
    budget: Budget,
    events: Events,
    state: watch::Sender<State>,
    starts: Arc<AtomicU64>,
    /// When the process was started, within the budget's window.
    attempts: VecDeque<Instant>,
    last_failure: Option<Shortfall>,
}

impl Actor {
    async fn run(mut self, mut inbox: mpsc::Receiver<Command>) {
        loop {
            let session = match &*self.state.borrow() {
                State::Running(session) => Some(session.clone()),
                _ => None,
            };
            tokio::select! {
                command = inbox.recv() => match command {
                    None => break,
                    Some(Command::Ensure(answer)) => {
                        if !self.ensure(answer, &mut inbox).await {
                            break;
                        }
                    }
                    Some(Command::Stop(done)) => {
                        self.halt("asked to stop").await;
                        let _ = done.send(());
                    }
                    Some(Command::Reset(done)) => {
                        self.halt("asked to restart").await;
                        self.attempts.clear();
                        self.last_failure = None;
                        let _ = done.send(());
                    }
                    Some(Command::Retire(number, done)) => {
                        if session.as_ref().is_some_and(|session| session.number == number) {
                            self.halt("more had changed than it could be told").await;
                            // No fault of the server's: it costs it nothing of its budget.
                            self.attempts.pop_back();
                        }
                        let _ = done.send(());
                    }
                },
                () = gone(session.as_deref()) => self.bury().await,
            }
        }
        self.halt("langport is shutting down").await;
    }

    /// Answers with a running session, starting one if need be. Whoever asks meanwhile gets the same answer. False when
    /// the handle is gone.
    async fn ensure(
        &mut self,
        answer: oneshot::Sender<Result<Arc<Session>, Shortfall>>,
        inbox: &mut mpsc::Receiver<Command>,
    ) -> bool {
        let running = match &*self.state.borrow() {
            State::Running(session) if !session.wire.is_closed() => Some(session.clone()),
            _ => None,
        };
        if let Some(session) = running {
            let _ = answer.send(Ok(session));
            return true;
        }
        if matches!(&*self.state.borrow(), State::Running(_)) {
            self.bury().await;
        }
        if let Err(shortfall) = self.within_budget() {
            self.enter(State::Broken(shortfall.clone()), "out of its restart budget");
            let _ = answer.send(Err(shortfall));
            return true;
        }
        self.enter(State::Starting { since: Instant::now() }, "asked for");
        let mut waiting = vec![answer];
        let mut stopping: Vec<oneshot::Sender<()>> = Vec::new();
        let mut open = true;
        let result = {
            let starting = start(&self.starter, &self.entry, &self.root, &self.starts, &self.events);
            tokio::pin!(starting);
            loop {
                tokio::select! {
                    result = &mut starting => break result,
                    command = inbox.recv(), if open => match command {
                        Some(Command::Ensure(answer)) => waiting.push(answer),
                        Some(Command::Stop(done) | Command::Reset(done)) => {
                            stopping.push(done);
                            break Err(Shortfall::NotStarted { reason: "it was stopped while it started".into(), stderr: Vec::new(), hint: None });
                        }
                        // The one to be retired is gone already: this start is its successor's.
                        Some(Command::Retire(_, done)) => {
                            let _ = done.send(());
                        }
                        None => {
                            open = false;
                            break Err(Shortfall::NotStarted { reason: "langport is shutting down".into(), stderr: Vec::new(), hint: None });
                        }
                    },
                }
            }
        };
        match &result {
            Ok(session) => self.enter(State::Running(session.clone()), "started"),
            Err(shortfall) => {
                let cause = shortfall.to_string();
                // What was never spawned costs nothing to look for again.
                if matches!(
                    shortfall,
                    Shortfall::NotInstalled { .. } | Shortfall::Untrusted(_) | Shortfall::Definition(_)
                ) || !stopping.is_empty()
                {
                    self.attempts.pop_back();
                } else {
                    self.last_failure = Some(shortfall.clone());
                }
                self.enter(if stopping.is_empty() { State::Failed(shortfall.clone()) } else { State::Stopped }, &cause);
            }
        }
        for answer in waiting {
            let _ = answer.send(result.clone());
        }
        for done in stopping {
            let _ = done.send(());
        }
        open
    }

    /// Takes one start out of the budget: the first one, and `restarts` more within the window.
    fn within_budget(&mut self) -> Result<(), Shortfall> {
        let now = Instant::now();
        while self.attempts.front().is_some_and(|at| now.duration_since(*at) > self.budget.window) {
            self.attempts.pop_front();
        }
        if self.attempts.len() > self.budget.restarts {
            let (reason, stderr) = match &self.last_failure {
                Some(shortfall) => (shortfall.to_string(), shortfall.lines()),
                None => ("for no known reason".into(), Vec::new()),
            };
            return Err(Shortfall::Broken {
                times: self.attempts.len(),
                minutes: self.budget.window.as_secs() / 60,
                reason,
                stderr,
            });
        }
        self.attempts.push_back(now);
        Ok(())
    }

    /// The process is gone without our doing.
    async fn bury(&mut self) {
        let session = match &*self.state.borrow() {
            State::Running(session) => Some(session.clone()),
            _ => None,
        };
        let Some(session) = session else { return };
        // The exit status and the last of stderr arrive a moment after the pipe closes.
        session.settle_death().await;
        let shortfall = session.died();
        stop(&session, Duration::ZERO).await;
        self.last_failure = Some(shortfall.clone());
        let cause = shortfall.to_string();
        self.enter(State::Failed(shortfall), &cause);
    }

    async fn halt(&mut self, cause: &str) {
        let session = match &*self.state.borrow() {
            State::Running(session) => Some(session.clone()),
            _ => None,
        };
        if let Some(session) = session {
            // One that is still loading answers nothing, `shutdown` neither, and has nothing to lose.
            let loading = !matches!(session.heard.standing(), Standing::Ready);
            let longest = if loading { self.starter.shutdown.min(LOADING) } else { self.starter.shutdown };
            stop(&session, longest).await;
        }
        self.enter(State::Stopped, cause);
    }

    fn enter(&self, state: State, cause: &str) {
        let word = state.word();
        tracing::info!(server = %self.entry.name, root = %self.root.display(), state = word, cause, "server state");
        self.state.send_replace(state);
        let event = Event::State {
            name: self.entry.name.to_string(),
            root: self.root.clone(),
            state: word.into(),
            cause: cause.into(),
        };
        self.events.tell(event);
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
