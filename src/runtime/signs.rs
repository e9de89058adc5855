//! Signs of life: a server that leaves question after question unanswered and says nothing at all meanwhile is asked a
//! cheap one before it is given up. A slow one that still says something is left alone.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::sleep;

use crate::{protocol::RequestError, sys::process::Running};

use super::{query::Reply, session::Session, shortfall::Shortfall, verdict::Verdict};

/// Questions in a row without an answer, and without any other message, that make a server suspect.
const SUSPECT: u32 = 3;
/// A question that had less time than this proves nothing by its silence.
const FAIR: Duration = Duration::from_secs(5);
/// What the cheap question may take.
const PROBE: Duration = Duration::from_secs(5);

/// What a session has shown of itself.
#[derive(Debug, Default)]
pub(super) struct Signs {
    silence: Mutex<Silence>,
    probing: AtomicBool,
    answered: AtomicBool,
}

#[derive(Debug, Default)]
struct Silence {
    /// Messages that the server had sent when it last left a question unanswered.
    received: u64,
    unanswered: u32,
}

impl Signs {
    /// A question had `after` and got nothing, while `received` messages had come in all.
    fn unanswered(&self, received: u64, after: Duration, limit: Duration) {
        if after < FAIR.min(limit / 2) {
            return;
        }
        let mut silence = self.lock();
        if silence.received == received {
            silence.unanswered += 1;
        } else {
            *silence = Silence { received, unanswered: 1 };
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Silence> {
        self.silence.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Notes what became of a question that took so long.
    pub(super) fn note(&self, result: &Result<Reply, Shortfall>, took: Duration) {
        if result.is_ok() {
            self.signs.answered.store(true, Ordering::Release);
        }
        let nothing = match result {
            Ok(reply) => reply.verdict == Verdict::Unanswered,
            Err(shortfall) => matches!(shortfall, Shortfall::Unanswered { .. } | Shortfall::Loading { .. }),
        };
        if nothing {
            self.signs.unanswered(self.wire.stats().received, took, self.limits.request_timeout);
        }
    }

    /// True where it has ended as if all were well, and no caller's question had been answered yet.
    pub(super) fn left_untried(&self) -> bool {
        let code = self.process.as_ref().and_then(Running::exit).and_then(|exit| exit.code);
        code == Some(0) && !self.signs.answered.load(Ordering::Acquire)
    }

    /// How many questions in a row it has left unanswered, where these are too many.
    pub(super) fn silence(&self) -> Option<u32> {
        let received = self.wire.stats().received;
        let silence = self.signs.lock();
        (silence.unanswered >= SUSPECT && silence.received == received).then_some(silence.unanswered)
    }

    /// False where it is being probed already.
    pub(super) fn begin_probe(&self) -> bool {
        !self.signs.probing.swap(true, Ordering::AcqRel)
    }

    pub(super) fn end_probe(&self) {
        self.signs.probing.store(false, Ordering::Release);
    }

    /// Asks something that every server can answer at once, if only with an error; false where nothing at all comes.
    pub(super) async fn shows_life(&self) -> bool {
        let before = self.wire.stats().received;
        let longest = PROBE.min(self.limits.request_timeout);
        match self.wire.request("$/langport/alive", &serde_json::json!({}), longest) {
            Ok(asked) => match asked.await {
                // Another one sees to its end.
                Ok(_) | Err(RequestError::Server { .. } | RequestError::Closed(_)) => return true,
                Err(_) => {}
            },
            Err(RequestError::Closed(_)) => return true,
            // It has so much before it that nothing more can be asked: then it has enough to answer.
            Err(_) => sleep(longest).await,
        }
        self.wire.heard_out().await;
        self.wire.stats().received != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_silence_in_a_row_counts() {
        let signs = Signs::default();
        let (long, limit) = (Duration::from_secs(15), Duration::from_secs(15));
        let counts: Vec<u32> = [(1, long), (1, Duration::from_millis(10)), (1, long), (2, long), (2, long)]
            .into_iter()
            .map(|(received, after)| {
                signs.unanswered(received, after, limit);
                signs.lock().unanswered
            })
            .collect();
        assert_eq!(counts, [1, 1, 2, 1, 2]);
    }
}
