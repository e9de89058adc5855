//! The shutdown ladder: `shutdown`, `exit` and closed pipes, then the process group, then every descendant.

use std::{sync::Arc, time::Duration};

use super::session::Session;

/// Of the whole time for shutting down, the part that the `shutdown` request may take.
const ASK: f32 = 0.4;
/// The part that the process may take to end after `exit`.
const LEAVE: f32 = 0.2;

/// How long a process whose pipe has closed may go on before that alone is what is told of its end.
pub(super) const STATUS: Duration = Duration::from_secs(1);
/// How long the last words of an ended process may take to arrive.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(300);

impl Session {
    /// Gives a process whose pipe has closed a moment to leave its exit status and last words.
    pub(super) async fn settle_death(&self) {
        if let Some(process) = &self.process {
            process.fate(STATUS).await;
            self.stderr.settled(LAST_WORDS).await;
        }
    }
}

/// Stops a session within `total`; with no time at all it is killed.
pub(super) async fn stop(session: &Arc<Session>, total: Duration) {
    session.end();
    if !total.is_zero() && !session.wire.is_closed() {
        // Servers differ on whether null parameters are an error here: none at all are right for all of them.
        if let Ok(pending) = session.wire.request("shutdown", &(), total.mul_f32(ASK)) {
            let _ = pending.await;
        }
        // `exit` asks a process to end: one that somebody else has started is left running, for others that it serves.
        if session.process.is_some() {
            let _ = session.wire.notify("exit", &());
        }
        // Some servers end on end of input only.
        session.wire.close();
        if let Some(process) = &session.process {
            process.ended(total.mul_f32(LEAVE)).await;
        }
    }
    session.wire.close();
    if let Some(process) = &session.process {
        process.stop(total.mul_f32(LEAVE)).await;
    }
}
