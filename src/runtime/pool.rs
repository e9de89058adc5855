//! All instances of one langport: one for each definition and root, or for several roots where they can share one; bounded
//! in number, stopped when idle, replaced when their definition changes.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak},
    time::Duration,
};

use futures::future::join_all;
use tokio::{
    sync::{broadcast, watch},
    time::{Instant, sleep, timeout},
};

use crate::registry::{Capability, Entry, Registry, ScopedName};

use super::{
    event::{Event, Events},
    ground::Ground,
    instance::{Budget, HOMELESS, Instance, State},
    places::Claim,
    query::{Question, Reply},
    session::Session,
    shortfall::Shortfall,
    start::Starter,
    turns::Turns,
};

/// Events that a slow subscriber may be behind.
const EVENTS: usize = 256;

/// Processes that may turn a further root away before it gets one of its own.
const SHARERS: u8 = 4;

/// How long calls may go on with a server whose definition has changed.
const DRAIN: Duration = Duration::from_secs(10);

/// How often it is looked for what can be stopped, at the most.
const LOOK: Duration = Duration::from_secs(2);

/// How often folders are looked at of which nobody tells, and how long after somebody has told.
const FOLDERS: Duration = Duration::from_secs(5);
const MOMENT: Duration = Duration::from_millis(100);

/// The limits of a pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolLimits {
    /// Processes at once.
    pub instances: usize,
    /// Unused for so long, a server is stopped.
    pub idle: Duration,
    pub budget: Budget,
}

/// What every instance works with: another one after a reload.
#[derive(Debug)]
pub(super) struct Common(RwLock<(Arc<Starter>, PoolLimits)>);

impl Common {
    pub(super) fn starter(&self) -> Arc<Starter> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    pub(super) fn limits(&self) -> PoolLimits {
        self.0.read().unwrap_or_else(PoisonError::into_inner).1
    }
}

/// All instances.
#[derive(Debug)]
pub struct Pool {
    ground: Arc<Ground>,
    pub(super) common: Arc<Common>,
    instances: Mutex<Vec<Arc<Instance>>>,
    /// The definitions as they are now, once there has been a reload: a call that began before it ends with them.
    current: Mutex<Option<Vec<Arc<Entry>>>>,
    pub(super) events: Events,
    /// Where calls wait that found no place: one looks for one at a time.
    pub(super) line: Turns,
}

impl Pool {
    /// An empty pool. Must be called inside a tokio runtime: idle servers are stopped in the background.
    pub fn new(starter: Starter, limits: PoolLimits) -> Arc<Self> {
        let pool = Arc::new(Self {
            ground: starter.ground.clone(),
            common: Arc::new(Common(RwLock::new((Arc::new(starter), limits)))),
            instances: Mutex::default(),
            current: Mutex::default(),
            events: Events::new(EVENTS),
            line: Turns::new(1),
        });
        tokio::spawn(reap(Arc::downgrade(&pool)));
        tokio::spawn(dispose(Arc::downgrade(&pool), pool.ground.watcher.subscribe()));
        pool
    }

    /// The ground that all instances stand on.
    pub fn ground(&self) -> &Arc<Ground> {
        &self.ground
    }

    /// How long a start may take.
    pub(super) fn start_timeout(&self) -> Duration {
        self.common.starter().start_timeout
    }

    /// What happens from now on.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    /// Whether a server has registered this while it ran, although its definition does not list it.
    pub fn has_learned(&self, name: &ScopedName, capability: Capability) -> bool {
        self.events.has_learned(name, capability)
    }

    /// The instance of a definition for a root; made if need be, not started.
    pub fn instance(&self, entry: &Arc<Entry>, root: &Path) -> Arc<Instance> {
        self.find(entry, root, true)
    }

    pub(super) fn find(&self, entry: &Arc<Entry>, root: &Path, share: bool) -> Arc<Instance> {
        let mut instances = self.lock();
        let own = |it: &&Arc<Instance>| it.entry.name == entry.name && it.root == root;
        let shared =
            |it: &&Arc<Instance>| share && entry.def.root.share && it.entry.name == entry.name && it.may_share(root);
        if let Some(known) = instances.iter().find(own).or_else(|| instances.iter().find(shared)) {
            return known.clone();
        }
        let new = Instance::spawn(entry.clone(), root.to_owned(), self.common.clone(), self.events.clone());
        instances.push(new.clone());
        new
    }

    /// Whether any process of a definition runs now.
    pub fn runs(&self, entry: &Entry) -> bool {
        self.lock().iter().any(|instance| instance.entry.name == entry.name && instance.is_running())
    }

    /// All instances, in the order in which they were first asked for.
    pub fn all(&self) -> Vec<Arc<Instance>> {
        self.lock().clone()
    }

    /// Asks one definition's instance for one root, for a caller.
    ///
    /// # Errors
    /// With the reason why there is no answer.
    pub async fn ask(
        &self,
        caller: u64,
        entry: &Arc<Entry>,
        root: &Path,
        question: &Question,
    ) -> Result<Reply, Shortfall> {
        let (mut alone, mut again) = (0, true);
        loop {
            let entry = self.newest(entry).ok_or(Shortfall::Replaced)?;
            let room = self.with_room(caller, &entry, root, alone < SHARERS, question.deadline);
            let (instance, _claim) = room.await?;
            match instance.ask(caller, &self.ground, root, question).await {
                // It serves other folders, and cannot take this one: another one may.
                Err(Shortfall::Alone) if alone < SHARERS => alone += 1,
                // Its definition has changed while it was asked.
                Err(Shortfall::Replaced) if again && !question.left().is_zero() => again = false,
                other => return other,
            }
        }
    }

    /// A live session of a definition for a root, started if need be; it has its place while the claim lives.
    pub(super) async fn session(
        &self,
        caller: u64,
        entry: &Arc<Entry>,
        root: &Path,
        deadline: Instant,
    ) -> Result<(Arc<Session>, Arc<Claim>), Shortfall> {
        let entry = self.newest(entry).ok_or(Shortfall::Replaced)?;
        let mut alone = 0;
        loop {
            let (instance, claim) = self.with_room(caller, &entry, root, alone < SHARERS, deadline).await?;
            instance.expect(caller);
            let session = instance.session(deadline.saturating_duration_since(Instant::now())).await?;
            match session.join(root).await {
                Err(Shortfall::Alone) if alone < SHARERS => alone += 1,
                Err(Shortfall::Died { .. }) => {
                    session.settle_death().await;
                    return Err(session.died());
                }
                joined => return joined.map(|()| (session, claim)),
            }
        }
    }

    /// The definition as it is now; none where it has been taken away.
    pub(super) fn newest(&self, entry: &Arc<Entry>) -> Option<Arc<Entry>> {
        match &*self.current.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(current) => current.iter().find(|now| now.name == entry.name).cloned(),
            None => Some(entry.clone()),
        }
    }

    /// How many processes there may be at once.
    pub fn places(&self) -> usize {
        self.common.limits().instances.max(1)
    }

    /// Starts a server without asking it anything; failures show in its state.
    pub fn warm(&self, entry: &Arc<Entry>, root: &Path) {
        let instance = self.instance(entry, root);
        let longest = self.start_timeout();
        tokio::spawn(async move { instance.session(longest).await.map(|_| ()) });
    }

    /// Tells every running server what has changed on the disk.
    pub async fn catch_up(&self) {
        for session in self.running() {
            session.catch_up(&self.ground).await;
        }
    }

    /// Tells every running server that wants to hear of it that a file or folder has been moved.
    pub fn tell_moved(&self, from: &Path, to: &Path) {
        for session in self.running() {
            session.tell_moved(from, to, to.is_dir());
        }
    }

    /// The files that servers have open, each once.
    pub fn open_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = self.running().iter().flat_map(|session| session.open_files()).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    fn running(&self) -> Vec<Arc<Session>> {
        let session = |instance: Arc<Instance>| match instance.state() {
            State::Running(session) if !session.wire.is_closed() => Some(session),
            _ => None,
        };
        self.all().into_iter().filter_map(session).collect()
    }

    /// Goes on with other definitions and limits. Instances whose definition is what it was stay as they are; the others
    /// are ended once the calls that use them are over, and nothing that they still say counts.
    pub fn reload(self: &Arc<Self>, registry: &Registry, change: impl FnOnce(&mut Starter), limits: PoolLimits) {
        {
            let mut common = self.common.0.write().unwrap_or_else(PoisonError::into_inner);
            let mut starter = Starter::clone(&common.0);
            change(&mut starter);
            *common = (Arc::new(starter), limits);
        }
        // There may be more places now.
        self.events.let_go();
        let current = registry.all().to_vec();
        let gone = |it: &Arc<Instance>| match current.iter().find(|entry| entry.name == it.entry.name) {
            None => Some("its definition was taken away"),
            Some(entry) => (!entry.runs_alike(&it.entry)).then_some("its definition has changed"),
        };
        let ending: Vec<_> =
            self.lock().extract_if(.., |it| gone(it).is_some()).filter_map(|it| Some((gone(&it)?, it))).collect();
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(current);
        for (cause, instance) in ending {
            tokio::spawn(async move { instance.end(cause, DRAIN).await });
        }
    }

    /// Ends the servers of a definition that was installed anew: the next call starts what is there now.
    pub fn renew(self: &Arc<Self>, name: &ScopedName) {
        let ending: Vec<_> = self.lock().extract_if(.., |it| it.entry.name == *name).collect();
        for instance in ending {
            tokio::spawn(async move { instance.end("another version was installed", DRAIN).await });
        }
    }

    /// A caller is gone: servers that nobody else has asked are stopped.
    pub fn forget(&self, caller: u64) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        for instance in self.all() {
            if instance.leave(caller) && instance.is_running() {
                runtime.spawn(async move { instance.stop("the last one who asked it is gone").await });
            }
        }
    }

    /// Stops every server, all at once.
    pub async fn shutdown(&self) {
        let instances: Vec<_> = self.lock().drain(..).collect();
        let stopping = instances.iter().map(|instance| instance.end("langport is shutting down", Duration::ZERO));
        // The ladder is bounded itself; what hangs beyond it dies with the process.
        let _ = timeout(self.common.starter().shutdown + Duration::from_millis(500), join_all(stopping)).await;
    }

    /// What has no folder has no place in the list, either.
    fn drop_homeless(&self) {
        self.lock().retain(|instance| instance.state().is_live() || instance.root.is_dir());
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<Arc<Instance>>> {
        self.instances.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops servers that have not been asked anything for as long as the limits say.
async fn reap(pool: Weak<Pool>) {
    loop {
        let Some(idle) = pool.upgrade().map(|pool| pool.common.limits().idle) else { return };
        sleep((idle / 4).clamp(Duration::from_millis(100), LOOK)).await;
        let Some(pool) = pool.upgrade() else { return };
        for instance in pool.all() {
            let State::Running(session) = instance.state() else { continue };
            session.part_with_vanished();
            if !session.is_held() && Instant::now().duration_since(session.last_used()) >= idle {
                // One that will not end keeps no other one running.
                tokio::spawn(async move { instance.retire(&session, "nobody has asked it for a while").await });
            }
        }
    }
}

/// Stops servers whose folder is gone, soon after it went; where nobody tells of that, within a moment.
async fn dispose(pool: Weak<Pool>, mut news: watch::Receiver<u64>) {
    loop {
        let told = timeout(FOLDERS, news.changed()).await;
        // Many changes at once are looked at once.
        sleep(MOMENT).await;
        let Some(pool) = pool.upgrade() else { return };
        for instance in pool.all() {
            if let State::Running(session) = instance.state()
                && !session.is_at_home()
            {
                let pool = pool.clone();
                tokio::spawn(async move {
                    instance.retire(&session, HOMELESS).await;
                    pool.drop_homeless();
                });
            }
        }
        pool.drop_homeless();
        if told.is_ok_and(|told| told.is_err()) {
            return;
        }
    }
}
