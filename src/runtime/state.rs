//! What an instance is doing: a closed list, and which of them may follow which.

use std::{fmt, sync::Arc};

use tokio::time::Instant;

use super::{session::Session, shortfall::Shortfall};
use crate::protocol::ServerInfo;

/// The number of an instance, for as long as langport runs: never given twice, and no name of anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(pub(super) u64);

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What an instance is doing.
#[derive(Debug, Clone)]
pub enum State {
    /// Not started yet, or stopped on purpose.
    Stopped,
    Starting {
        since: Instant,
    },
    Running(Arc<Session>),
    /// Being stopped: it takes nothing new.
    Stopping,
    /// The last start failed, or the process died; the next call starts it again.
    Failed(Shortfall),
    /// Failed so often that it is left alone for a while, or until something changes.
    Broken(Shortfall),
    /// Another instance has taken its place, or nothing needs it any more: it never starts again.
    Ended,
}

/// The same without what belongs to it, for events and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    Stopped,
    Starting,
    Running,
    Stopping,
    Failed,
    Broken,
    Ended,
}

impl State {
    pub fn phase(&self) -> Phase {
        match self {
            Self::Stopped => Phase::Stopped,
            Self::Starting { .. } => Phase::Starting,
            Self::Running(_) => Phase::Running,
            Self::Stopping => Phase::Stopping,
            Self::Failed(_) => Phase::Failed,
            Self::Broken(_) => Phase::Broken,
            Self::Ended => Phase::Ended,
        }
    }

    /// Whether it has a process, or is about to.
    pub fn is_live(&self) -> bool {
        self.phase().is_live()
    }
}

impl Phase {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Failed => "failed",
            Self::Broken => "broken",
            Self::Ended => "ended",
        }
    }

    pub fn is_live(self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::Stopping)
    }

    /// Whether one may follow on the other.
    pub fn may_become(self, next: Self) -> bool {
        use Phase::{Broken, Ended, Failed, Running, Starting, Stopped, Stopping};
        match (self, next) {
            // From the end nothing leads away.
            (Ended, _) => false,
            (Stopped | Failed | Broken, Starting | Stopped | Ended) => true,
            // A start that succeeds, fails, or is stopped.
            (Starting, Running | Failed | Broken | Stopped | Ended) => true,
            // What runs dies, or is stopped.
            (Running, Stopping | Failed | Broken) => true,
            (Stopping, Stopped | Ended) => true,
            _ => false,
        }
    }
}

/// A state with when and why it was entered.
#[derive(Debug, Clone)]
pub struct Entered {
    pub state: State,
    pub since: Instant,
    pub cause: String,
    /// What went wrong last, and when; a new chance does not wipe it out.
    pub failed: Option<(Shortfall, Instant)>,
    /// What is left of the last session.
    pub past: Option<Past>,
}

/// What is left of a session that has ended.
#[derive(Debug, Clone)]
pub struct Past {
    /// The name and version that the server gave itself: untrusted.
    pub server: Option<ServerInfo>,
    pub pid: Option<u32>,
    /// The last of its stderr: untrusted.
    pub stderr: Vec<String>,
}

impl Past {
    pub(super) fn of(session: &Session) -> Self {
        let server = session.heard.record().effective.server_info();
        Self { server, pid: session.pid(), stderr: session.last_words() }
    }
}

#[cfg(test)]
mod tests {
    use super::Phase::{self, *};

    const ALL: [Phase; 7] = [Stopped, Starting, Running, Stopping, Failed, Broken, Ended];

    #[test]
    fn every_state_is_left_but_the_last_and_runs_only_after_a_start() {
        for phase in ALL {
            assert_eq!(ALL.iter().any(|next| phase.may_become(*next)), phase != Ended, "{phase:?}");
            assert_eq!(phase.may_become(Running), phase == Starting, "{phase:?}");
            assert!(!Ended.may_become(phase));
        }
        // What runs is never forgotten without having been stopped or buried.
        assert!(!Running.may_become(Starting) && !Running.may_become(Stopped) && !Running.may_become(Ended));
    }
}
