//! What happens below and is told to those above: a closed list, broadcast to whoever subscribes.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, broadcast, futures::Notified};

use super::state::{InstanceId, Phase};
use crate::registry::{Capability, ScopedName};

/// Something that happened to an instance, or that it said unasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A server pushed a list of a file's problems, or, without a file, asks to be asked anew about all.
    Problems { file: Option<PathBuf> },
    /// An instance of the definition of this name entered a state.
    State { instance: InstanceId, name: ScopedName, root: PathBuf, phase: Phase, cause: String },
    /// A server has registered something, while it ran, that its definition does not list.
    Learned { name: ScopedName, capability: Capability },
}

/// Where events go: the pool's own channel. Nobody need listen.
#[derive(Debug, Clone)]
pub struct Events {
    told: broadcast::Sender<Event>,
    learned: Arc<Mutex<Learned>>,
    /// A place for a process may have come free.
    freed: Arc<Notify>,
}

/// What servers have registered beyond what their definitions list: it stays known when they have gone.
type Learned = BTreeSet<(ScopedName, Capability)>;

impl Events {
    /// A channel in which a slow subscriber may be `behind` events late before it loses some, and is told so.
    pub fn new(behind: usize) -> Self {
        Self { told: broadcast::Sender::new(behind), learned: Arc::default(), freed: Arc::default() }
    }

    /// Tells whoever listens.
    pub fn tell(&self, event: Event) {
        if let Event::Learned { name, capability } = &event {
            self.learned().insert((name.clone(), *capability));
        }
        let _ = self.told.send(event);
    }

    /// A call or a process has let go of something: whoever waits for a place looks again.
    pub(super) fn let_go(&self) {
        self.freed.notify_waiters();
    }

    /// Ends with the next time that something is let go, once it has been polled or enabled.
    pub(super) fn freed(&self) -> Notified<'_> {
        self.freed.notified()
    }

    /// Whether a server of the definition of this name has registered this, although it is not listed.
    pub fn has_learned(&self, name: &ScopedName, capability: Capability) -> bool {
        self.learned().contains(&(name.clone(), capability))
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What happens from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.told.subscribe()
    }
}
