//! What the tests stand on: workspaces, langport under test, an MCP client, and the log of the scripted server.

pub(crate) mod answer;
pub(crate) mod cli;
pub(crate) mod definition;
pub(crate) mod langport;
pub(crate) mod log;
pub(crate) mod mcp;
pub(crate) mod procs;
pub(crate) mod workspace;

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    time::{Duration, Instant},
};

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

/// What something that comes at once, or at a set time, may take beyond that on a machine that is busy with other tests,
/// or stands still for some seconds. Whatever might be waited for wrongly takes longer: a request 15 s, a call 25 s, a
/// start 60 s.
pub(crate) const BUSY: Duration = Duration::from_secs(10);

/// Requires that `attempt` takes less than `bound` at least once: others use the machine, too, and what counts is what it
/// can do.
#[track_caller]
pub(crate) fn quick<T>(bound: Duration, mut attempt: impl FnMut() -> T) {
    let mut took = Vec::new();
    for _ in 0..8 {
        let begun = Instant::now();
        let made = attempt();
        took.push(begun.elapsed());
        drop(made);
        if took.last().is_some_and(|last| *last < bound) {
            return;
        }
    }
    panic!("never within {bound:?}: {took:?}");
}

/// Whether a trial could keep its pace: whether what it does in one go was not torn apart by a machine that gave it no
/// turn. A file that is written in place is empty for a moment, and langport looks after 100 ms.
#[derive(Debug, Default)]
pub(crate) struct Pace(Cell<bool>);

impl Pace {
    /// Does what has to be done in one go.
    pub(crate) fn keep<T>(&self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.lost_if(begun.elapsed() > Duration::from_millis(60));
        done
    }

    pub(crate) fn lost_if(&self, lost: bool) {
        self.0.set(self.0.get() || lost);
    }
}

/// Runs a trial, anew where it has failed without having kept its pace. It has to succeed once as a whole.
pub(crate) fn in_pace(attempt: impl Fn(&Pace)) {
    for left in (0..8).rev() {
        let pace = Pace::default();
        let Err(failure) = catch_unwind(AssertUnwindSafe(|| attempt(&pace))) else { return };
        if left == 0 || !pace.0.get() {
            resume_unwind(failure);
        }
    }
}

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
