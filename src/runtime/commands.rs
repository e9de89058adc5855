//! A server's own commands: they run one at a time, since which of them an edit belongs to is not said. Who waits for a
//! turn and gets none hears which one has it, and since when.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    runtime::Handle,
    sync::OwnedMutexGuard,
    time::{Instant, sleep_until, timeout},
};

use crate::protocol::{Pending, RequestError};

use super::shortfall::{Occupied, Shortfall};

/// Some servers ask for their edit after they have said that the command is done.
pub(super) const LATE: Duration = Duration::from_millis(500);

/// The turn of one session's commands.
#[derive(Debug, Default)]
pub(super) struct Commands {
    turn: Arc<tokio::sync::Mutex<()>>,
    now: Arc<Mutex<Option<Running>>>,
}

/// A command that runs.
#[derive(Debug, Clone)]
pub struct Running {
    /// Its name, which is the server's to choose.
    pub name: String,
    pub since: Instant,
    /// Nobody waits for it any more.
    pub left: bool,
}

/// A command on its way. Who does not wait for its end leaves the turn with it: the edit of a command that is still at
/// work would be taken for that of the next one.
pub(super) struct Command {
    pub asked: Option<Pending>,
    /// It has ended, and may still ask for its edit until then.
    pub late: Option<Instant>,
    turn: Option<Turn>,
}

struct Turn {
    now: Arc<Mutex<Option<Running>>>,
    _held: OwnedMutexGuard<()>,
}

impl Commands {
    /// Takes the turn for a command, within a time.
    ///
    /// # Errors
    /// With what has it.
    pub(super) async fn take(&self, name: &str, longest: Duration) -> Result<Command, Shortfall> {
        let Ok(held) = timeout(longest, self.turn.clone().lock_owned()).await else {
            let by = self.running().map(|Running { name, since, left }| (name, since.elapsed(), left));
            let (name, after, left) = by.unwrap_or_default();
            return Err(Shortfall::Busy(Occupied::Command { name, after, left }));
        };
        *lock(&self.now) = Some(Running { name: name.to_owned(), since: Instant::now(), left: false });
        let turn = Turn { now: self.now.clone(), _held: held };
        Ok(Command { asked: None, late: None, turn: Some(turn) })
    }

    /// The one that has the turn.
    pub(super) fn running(&self) -> Option<Running> {
        lock(&self.now).clone()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Before the next one has it.
        *lock(&self.now) = None;
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        let (asked, late) = (self.asked.take(), self.late);
        let Ok(runtime) = Handle::try_current() else { return };
        if asked.is_none() && late.is_none() {
            return;
        }
        let turn = self.turn.take();
        if let Some(turn) = &turn
            && let Some(running) = lock(&turn.now).as_mut()
        {
            running.left = true;
        }
        asked.iter().for_each(Pending::cancel);
        // It ends with the connection at the latest.
        runtime.spawn(async move {
            let until = match asked {
                None => late,
                // It may say that it was cancelled, and ask all the same.
                Some(asked) => {
                    let gone = matches!(asked.await, Err(RequestError::Closed(_)));
                    (!gone).then(|| Instant::now() + LATE)
                }
            };
            if let Some(until) = until {
                sleep_until(until).await;
            }
            drop(turn);
        });
    }
}

fn lock(now: &Mutex<Option<Running>>) -> MutexGuard<'_, Option<Running>> {
    now.lock().unwrap_or_else(PoisonError::into_inner)
}
