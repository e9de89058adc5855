//! One definition for one root, as others see it: a handle to the actor that alone starts, restarts and stops its server
//! process. Starting is lazy and single-flight; a dead server is started again on the next call, within a budget.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use crate::{registry::Entry, sys::awake::while_awake};

use super::{
    actor::{Actor, Command},
    event::Events,
    ground::Ground,
    places::Claim,
    pool::Common,
    query::{Question, Reply},
    session::Session,
    shortfall::{Occupied, Shortfall},
    state::Entered,
};
pub use super::{
    breaker::Budget,
    state::{InstanceId, Past, Phase, State},
};

/// A handle to the actor.
#[derive(Debug)]
pub struct Instance {
    pub id: InstanceId,
    pub entry: Arc<Entry>,
    pub root: PathBuf,
    commands: mpsc::Sender<Command>,
    state: watch::Receiver<Entered>,
    starts: Arc<AtomicU64>,
    /// Callers that have asked it and are still there.
    callers: Mutex<BTreeSet<u64>>,
    /// The place that calls have for its process.
    claim: Mutex<Weak<Claim>>,
    /// It is being ended to make room: for whom, as long as that one waits for it.
    heir: Mutex<Option<Weak<Claim>>>,
    events: Events,
}

/// Why sessions are not used any more.
const CROWDED: &str = "another server needed its place";
const OUTRUN: &str = "more had changed than it could be told";
pub(super) const HOMELESS: &str = "its folder is gone, or another one goes by its name";

/// How long an end may take to be explained to who looks at it meanwhile.
const BURIAL: Duration = Duration::from_secs(5);

static INSTANCES: AtomicU64 = AtomicU64::new(1);

/// How often a question is asked anew where its server leaves before it has answered anything. On a busy machine biome's
/// daemon takes its proxy's first try of the socket for its last client, and goes.
const STILLBORN: u32 = 2;

/// With less time than this a question is not asked.
const AT_ONCE: Duration = Duration::from_millis(10);
/// Silence for less than this, after a longer wait for others, is their doing.
const LITTLE: Duration = Duration::from_secs(1);

/// Commands that may wait for one actor.
const COMMANDS: usize = 256;

/// How often it is looked whether the calls that use a session are over.
const DRAINING: Duration = Duration::from_millis(20);

impl Instance {
    /// Starts the actor; no process yet.
    pub(super) fn spawn(entry: Arc<Entry>, root: PathBuf, common: Arc<Common>, events: Events) -> Arc<Self> {
        let id = InstanceId(INSTANCES.fetch_add(1, Ordering::Relaxed));
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let starts = Arc::new(AtomicU64::new(0));
        let (actor, state) = Actor::new(id, entry.clone(), root.clone(), common, events.clone(), starts.clone());
        tokio::spawn(actor.run(inbox));
        let (callers, claim, heir) = (Mutex::default(), Mutex::default(), Mutex::default());
        Arc::new(Self { id, entry, root, commands, state, starts, callers, claim, heir, events })
    }

    /// The state now.
    pub fn state(&self) -> State {
        self.state.borrow().state.clone()
    }

    /// The state now, with when and why it was entered. One whose process is gone has failed, buried or not.
    pub fn entered(&self) -> Entered {
        let mut entered = self.state.borrow().clone();
        if let State::Running(session) = &entered.state
            && session.wire.is_closed()
        {
            let (shortfall, past) = (session.died(), Past::of(session));
            (entered.since, entered.cause) = (Instant::now(), shortfall.to_string());
            (entered.state, entered.past) = (State::Failed(shortfall), Some(past));
        }
        entered
    }

    /// Waits, where its process is gone, until it is known why.
    pub async fn settled(&self) {
        let mut state = self.state.clone();
        let gone = |state: &State| matches!(state, State::Running(session) if session.wire.is_closed());
        while_awake(BURIAL, state.wait_for(|entered| !gone(&entered.state))).await;
    }

    /// What went wrong with it last, and when.
    pub fn last_failure(&self) -> Option<(Shortfall, Instant)> {
        self.state.borrow().failed.clone()
    }

    /// Whether its process runs and can be asked.
    pub fn is_running(&self) -> bool {
        matches!(&self.state.borrow().state, State::Running(session) if !session.wire.is_closed())
    }

    /// Whether another root may be served by the same process: what runs has said so, of what does not it is not known.
    pub(super) fn may_share(&self, root: &Path) -> bool {
        match &self.state.borrow().state {
            State::Running(session) => session.takes_folders() && !session.is_foreign(root),
            State::Ended => false,
            _ => true,
        }
    }

    /// Its states from now on.
    pub(super) fn states(&self) -> watch::Receiver<Entered> {
        let mut states = self.state.clone();
        states.mark_unchanged();
        states
    }

    /// Whether it has a process, or a call has a place for one. A place that is being left is its heir's, who counts
    /// already.
    pub(super) fn takes_room(&self) -> bool {
        self.is_claimed() || self.state.borrow().state.is_live() && !self.has_heir()
    }

    /// Whether a call may ask it: it has a place that nobody else is to have.
    pub(super) fn has_place(&self) -> bool {
        let runs = matches!(self.state.borrow().state, State::Running(_) | State::Starting { .. });
        self.is_claimed() || runs && !self.has_heir()
    }

    /// Whether a call has a place for it.
    pub(super) fn is_claimed(&self) -> bool {
        self.lock_claim().strong_count() > 0
    }

    /// Whether it is being ended to make room for a call that still waits for that.
    pub(super) fn has_heir(&self) -> bool {
        self.lock_heir().as_ref().is_some_and(|heir| heir.strong_count() > 0)
    }

    /// Ends the session of this number, if that still runs, and leaves the place to who has the claim. The end goes on
    /// when nobody waits for it any more.
    pub(super) fn leave_to(self: &Arc<Self>, heir: &Arc<Claim>, session: u64) -> JoinHandle<()> {
        let heir = Arc::downgrade(heir);
        *self.lock_heir() = Some(heir.clone());
        let instance = self.clone();
        tokio::spawn(async move {
            instance.tell(|done| Command::Retire(session, CROWDED, done)).await;
            instance.lock_heir().take_if(|own| own.ptr_eq(&heir));
            instance.events.let_go();
        })
    }

    fn lock_heir(&self) -> std::sync::MutexGuard<'_, Option<Weak<Claim>>> {
        self.heir.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often its process was started.
    pub fn starts(&self) -> u64 {
        self.starts.load(Ordering::Relaxed)
    }

    /// How many callers have asked it and are still there.
    pub fn callers(&self) -> usize {
        self.lock_callers().len()
    }

    /// Puts a caller on the list.
    pub(super) fn expect(&self, caller: u64) {
        self.lock_callers().insert(caller);
    }

    /// Takes a caller off the list; true when it was the last one.
    pub(super) fn leave(&self, caller: u64) -> bool {
        let mut callers = self.lock_callers();
        callers.remove(&caller) && callers.is_empty()
    }

    fn lock_callers(&self) -> std::sync::MutexGuard<'_, BTreeSet<u64>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call uses it: until all of those have dropped this it has a place, whether its process runs or not, and is not
    /// ended to make room.
    pub(super) fn claim(&self) -> Arc<Claim> {
        let mut own = self.lock_claim();
        own.upgrade().unwrap_or_else(|| {
            let new = Arc::new(Claim::new(self.events.clone()));
            *own = Arc::downgrade(&new);
            new
        })
    }

    fn lock_claim(&self) -> std::sync::MutexGuard<'_, Weak<Claim>> {
        self.claim.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A live session, started if need be; waits no longer than `longest` (the start itself goes on).
    ///
    /// # Errors
    /// `Starting` when the time is over first, else why there is none.
    pub async fn session(&self, longest: Duration) -> Result<Arc<Session>, Shortfall> {
        if let State::Running(session) = &self.state.borrow().state
            && !session.wire.is_closed()
        {
            return Ok(session.clone());
        }
        let asked = Instant::now();
        let (answer, ready) = oneshot::channel();
        match self.commands.try_send(Command::Ensure(answer)) {
            Ok(()) => {}
            Err(mpsc::error::TrySendError::Full(_)) => return Err(Shortfall::Busy(Occupied::Calls)),
            Err(mpsc::error::TrySendError::Closed(_)) => return Err(Shortfall::Replaced),
        }
        match timeout(longest, ready).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(Shortfall::Replaced),
            Err(_) => {
                let since = match &self.state.borrow().state {
                    State::Starting { since } => *since,
                    _ => asked,
                };
                Err(Shortfall::Starting { after: since.elapsed() })
            }
        }
    }

    /// Asks for a caller about something below a root; where a server dies meanwhile it is started again, and a question
    /// that does nothing but read is asked once more.
    ///
    /// # Errors
    /// With the reason why there is no answer.
    pub async fn ask(
        &self,
        caller: u64,
        ground: &Ground,
        root: &Path,
        question: &Question,
    ) -> Result<Reply, Shortfall> {
        self.expect(caller);
        let (mut deaths, mut outrun) = (0, false);
        loop {
            let session = match self.session(question.left()).await {
                // Where it was well until it was told to go, this is no fault of the project.
                Err(Shortfall::NotStarted { left, .. }) if (left || outrun) && deaths < STILLBORN => {
                    deaths += 1;
                    continue;
                }
                other => other?,
            };
            let _hold = session.hold();
            let before = Instant::now();
            let Ok(_turn) = timeout(question.left(), session.turns.take(caller)).await else {
                return Err(Shortfall::Busy(session.turns.taken()));
            };
            let waited = before.elapsed();
            // It came at the very end: to ask now would only make the server work for nobody. Those that were asked in
            // time end together, and give their turns to others that have no time left.
            if question.left() < AT_ONCE {
                return Err(if waited > AT_ONCE { Shortfall::Busy(Occupied::Late) } else { Shortfall::Unasked });
            }
            let result = match session.join(root).await {
                Ok(()) => {
                    let asked = Instant::now();
                    let result = session.ask(ground, question).await;
                    session.note(&result, asked.elapsed());
                    result
                }
                // It has gone meanwhile, as it may while it is asked.
                Err(died @ Shortfall::Died { .. }) => Err(died),
                Err(shortfall) => return Err(shortfall),
            };
            match result {
                Err(Shortfall::Died { .. }) => {
                    session.settle_death().await;
                    let allowed = if session.left_untried() { STILLBORN } else { 1 };
                    if deaths >= allowed || !question.query.repeatable() || question.left().is_zero() {
                        return Err(session.died());
                    }
                    deaths += 1;
                }
                Err(Shortfall::Outrun) if !outrun => {
                    outrun = true;
                    // Of several callers that find this out, only the first one ends a session.
                    let _ = timeout(question.left(), self.retire(&session, OUTRUN)).await;
                }
                Err(gone @ Shortfall::Homeless(_)) => {
                    let _ = timeout(question.left(), self.retire(&session, HOMELESS)).await;
                    return Err(gone);
                }
                Err(shortfall) => {
                    if let Some(silence) = session.silence() {
                        self.suspect(session.clone(), silence);
                    }
                    return Err(match shortfall {
                        // It had less time than those before it had taken.
                        Shortfall::Unanswered { after } if after < waited && after < LITTLE => {
                            Shortfall::Busy(Occupied::Crowd { waited })
                        }
                        other => other,
                    });
                }
                reply => return reply,
            }
        }
    }

    /// Asks a server that has let several questions go unanswered a cheap one; where it says nothing at all to that
    /// either, it is ended, so that the next call starts it anew.
    fn suspect(&self, session: Arc<Session>, unanswered: u32) {
        if !session.begin_probe() {
            return;
        }
        let commands = self.commands.clone();
        tokio::spawn(async move {
            let alive = session.shows_life().await;
            session.end_probe();
            if alive {
                return;
            }
            let reason = format!("it answered nothing any more: {unanswered} questions, and then a cheap one");
            let (done, wait) = oneshot::channel();
            if commands.send(Command::Mute(session.number, reason, done)).await.is_ok() {
                let _ = wait.await;
            }
        });
    }

    /// Stops a session that is not to be used any more, if it still runs.
    pub(super) async fn retire(&self, session: &Session, cause: &'static str) {
        self.tell(|done| Command::Retire(session.number, cause, done)).await;
    }

    /// Stops the process, if any, politely and then by force.
    pub async fn stop(&self, cause: &'static str) {
        self.tell(|done| Command::Stop(cause, done)).await;
    }

    /// Stops the process and forgets its failures, so that the next call starts it afresh.
    pub async fn reset(&self) {
        self.tell(Command::Reset).await;
    }

    /// Ends it for good, once the calls that use it are over, or `longest` is.
    pub(super) async fn end(&self, cause: &'static str, longest: Duration) {
        let end = Instant::now() + longest;
        while let State::Running(session) = self.state()
            && session.is_held()
            && !session.wire.is_closed()
            && Instant::now() < end
        {
            sleep(DRAINING).await;
        }
        self.tell(|done| Command::End(cause, done)).await;
    }

    async fn tell(&self, command: impl FnOnce(oneshot::Sender<()>) -> Command) {
        let (done, wait) = oneshot::channel();
        if self.commands.send(command(done)).await.is_ok() {
            let _ = wait.await;
        }
    }
}
