//! All instances of one langport: one for each definition and root, bounded in number, stopped when idle.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use futures::future::join_all;
use indexmap::IndexMap;
use tokio::{
    sync::{broadcast, watch},
    time::{Instant, sleep, timeout},
};

use crate::registry::Entry;

use super::{
    event::{Event, Events},
    ground::Ground,
    instance::{Budget, HOMELESS, Instance, State},
    query::{Question, Reply, Shortfall},
    session::Session,
    start::Starter,
};

/// Events that a slow subscriber may be behind.
const EVENTS: usize = 256;

/// How often folders are looked at of which nobody tells, and how long after somebody has told.
const LOOK: Duration = Duration::from_secs(5);
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

/// All instances.
#[derive(Debug)]
pub struct Pool {
    ground: Arc<Ground>,
    starter: Arc<Starter>,
    limits: PoolLimits,
    instances: Mutex<IndexMap<(String, PathBuf), Arc<Instance>>>,
    events: Events,
}

impl Pool {
    /// An empty pool. Must be called inside a tokio runtime: idle servers are stopped in the background.
    pub fn new(starter: Starter, limits: PoolLimits) -> Arc<Self> {
        let pool = Arc::new(Self {
            ground: starter.ground.clone(),
            starter: Arc::new(starter),
            limits,
            instances: Mutex::default(),
            events: Events::new(EVENTS),
        });
        tokio::spawn(reap(Arc::downgrade(&pool), limits.idle));
        tokio::spawn(dispose(Arc::downgrade(&pool), pool.ground.watcher.subscribe()));
        pool
    }

    /// The ground that all instances stand on.
    pub fn ground(&self) -> &Arc<Ground> {
        &self.ground
    }

    /// How long a start may take.
    pub(super) fn start_timeout(&self) -> Duration {
        self.starter.start_timeout
    }

    /// What happens from now on.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    /// The instance of a definition for a root; made if need be, not started.
    pub fn instance(&self, entry: &Arc<Entry>, root: &Path) -> Arc<Instance> {
        let mut instances = self.lock();
        instances
            .entry((entry.name.to_string(), root.to_owned()))
            .or_insert_with(|| {
                Instance::spawn(
                    entry.clone(),
                    root.to_owned(),
                    self.starter.clone(),
                    self.limits.budget,
                    self.events.clone(),
                )
            })
            .clone()
    }

    /// Whether any process of a definition runs now.
    pub fn runs(&self, entry: &Entry) -> bool {
        self.lock().values().any(|instance| instance.entry.name == entry.name && instance.is_running())
    }

    /// All instances, in the order in which they were first asked for.
    pub fn all(&self) -> Vec<Arc<Instance>> {
        self.lock().values().cloned().collect()
    }

    /// Asks one definition's instance for one root.
    ///
    /// # Errors
    /// With the reason why there is no answer.
    pub async fn ask(&self, entry: &Arc<Entry>, root: &Path, question: &Question) -> Result<Reply, Shortfall> {
        self.with_room(entry, root).await?.ask(&self.ground, question).await
    }

    /// A live session of a definition for a root, started if need be.
    pub(super) async fn session(
        &self,
        entry: &Arc<Entry>,
        root: &Path,
        longest: Duration,
    ) -> Result<Arc<Session>, Shortfall> {
        self.with_room(entry, root).await?.session(longest).await
    }

    /// The instance, where there is room for its process.
    async fn with_room(&self, entry: &Arc<Entry>, root: &Path) -> Result<Arc<Instance>, Shortfall> {
        let instance = self.instance(entry, root);
        if !matches!(instance.state(), State::Running(_) | State::Starting { .. }) {
            self.make_room().await?;
        }
        Ok(instance)
    }

    /// Starts a server without asking it anything; failures show in its state.
    pub fn warm(&self, entry: &Arc<Entry>, root: &Path) {
        let instance = self.instance(entry, root);
        let longest = self.starter.start_timeout;
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

    /// Stops the least recently used server that nobody waits for, where the limit is reached.
    async fn make_room(&self) -> Result<(), Shortfall> {
        let limit = self.limits.instances;
        let mut running = Vec::new();
        let mut busy = 0;
        for instance in self.all() {
            match instance.state() {
                State::Running(session) if !session.is_held() => running.push((session.last_used(), instance)),
                State::Running(_) | State::Starting { .. } => busy += 1,
                State::Stopped | State::Failed(_) | State::Broken(_) => {}
            }
        }
        if running.len() + busy < limit {
            return Ok(());
        }
        let oldest = running.into_iter().min_by_key(|(used, _)| *used);
        let (_, instance) = oldest.ok_or(Shortfall::PoolFull { limit })?;
        instance.stop().await;
        Ok(())
    }

    /// Stops every server, all at once.
    pub async fn shutdown(&self) {
        let instances: Vec<_> = self.lock().drain(..).map(|(_, instance)| instance).collect();
        let stopping = instances.iter().map(|instance| instance.stop());
        // The ladder is bounded itself; what hangs beyond it dies with the process.
        let _ = timeout(self.starter.shutdown + Duration::from_millis(500), join_all(stopping)).await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, IndexMap<(String, PathBuf), Arc<Instance>>> {
        self.instances.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops servers that have not been asked anything for `idle`.
async fn reap(pool: Weak<Pool>, idle: Duration) {
    let mut every = tokio::time::interval((idle / 4).max(Duration::from_millis(100)));
    loop {
        every.tick().await;
        let Some(pool) = pool.upgrade() else { return };
        for instance in pool.all() {
            if let State::Running(session) = instance.state()
                && !session.is_held()
                && Instant::now().duration_since(session.last_used()) >= idle
            {
                tracing::info!(server = %instance.entry.name, "idle: stopping it");
                instance.stop().await;
            }
        }
    }
}

/// Stops servers whose folder is gone, soon after it went; where nobody tells of that, within a moment.
async fn dispose(pool: Weak<Pool>, mut news: watch::Receiver<u64>) {
    loop {
        let told = timeout(LOOK, news.changed()).await;
        // Many changes at once are looked at once.
        sleep(MOMENT).await;
        let Some(pool) = pool.upgrade() else { return };
        let disposed = pool.all().into_iter().map(|instance| async move {
            if let State::Running(session) = instance.state()
                && !session.is_at_home()
            {
                instance.retire(&session, HOMELESS).await;
            }
        });
        join_all(disposed).await;
        // What has no folder has no place in the list, either.
        pool.lock().retain(|_, instance| instance.is_running() || instance.root.is_dir());
        if told.is_ok_and(|told| told.is_err()) {
            return;
        }
    }
}
