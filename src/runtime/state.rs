//! What an instance is doing, and how often it may be started.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{query::Shortfall, session::Session};

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
