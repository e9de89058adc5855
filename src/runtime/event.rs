//! What happens below and is told to those above: a closed list, broadcast to whoever subscribes.

use std::path::PathBuf;

use tokio::sync::broadcast;

/// Something that happened to an instance, or that it said unasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A server pushed a list of a file's problems, or, without a file, asks to be asked anew about all.
    Problems { file: Option<PathBuf> },
    /// An instance entered a state; `name` is the definition's scoped name.
    State { name: String, root: PathBuf, state: String, cause: String },
}

/// Where events go: the pool's own channel. Nobody need listen.
#[derive(Debug, Clone)]
pub struct Events(broadcast::Sender<Event>);

impl Events {
    /// A channel in which a slow subscriber may be `behind` events late before it loses some, and is told so.
    pub fn new(behind: usize) -> Self {
        Self(broadcast::Sender::new(behind))
    }

    /// Tells whoever listens.
    pub fn tell(&self, event: Event) {
        let _ = self.0.send(event);
    }

    /// What happens from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.0.subscribe()
    }
}
