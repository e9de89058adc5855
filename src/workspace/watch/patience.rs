//! How long questions wait for a look through all folders: together as long as one of them would alone. Who asks later
//! than that does not wait at all.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Until when the round that was waited for last is waited for.
#[derive(Debug, Default)]
pub(super) struct Patience(Mutex<Option<(u32, Instant)>>);

impl Patience {
    /// What is left of the time that this round is waited for.
    pub(super) fn left(&self, round: u32, deadline: Duration) -> Duration {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let until = match *known {
            Some((number, until)) if number == round => until,
            _ => now + deadline,
        };
        *known = Some((round, until));
        deadline.min(until.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_wait_together_once() {
        let (patience, long) = (Patience::default(), Duration::from_secs(1_000));
        assert_eq!(patience.left(1, Duration::ZERO), Duration::ZERO);
        assert_eq!(patience.left(1, long), Duration::ZERO, "the time for this round is over");
        assert_eq!(patience.left(2, long), long);
        assert!(patience.left(2, 2 * long) <= long);
        assert_eq!(patience.left(2, Duration::from_secs(1)), Duration::from_secs(1));
    }
}
