//! What the tests stand on: workspaces, langport under test, an MCP client, and the log of the scripted server.

pub(crate) mod answer;
pub(crate) mod cli;
pub(crate) mod definition;
pub(crate) mod langport;
pub(crate) mod log;
pub(crate) mod mcp;
pub(crate) mod procs;
pub(crate) mod workspace;

use std::time::{Duration, Instant};

pub(crate) use self::{
    answer::Answer,
    definition::Definition,
    langport::Langport,
    log::Log,
    mcp::{Era, Mcp},
    workspace::Workspace,
};

/// How long a test waits for something that has to happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until `look` finds something; panics with `what` when it never does.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(PATIENCE, look).unwrap_or_else(|| panic!("never happened: {what}"))
}

/// Waits at most `time` until `look` finds something.
pub(crate) fn within<T>(time: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + time;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() > end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
