//! A token bucket: how many messages of a chatty kind are let through. Pure, the clock is passed in.

use std::time::Duration;

use tokio::time::Instant;

/// Lets `burst` pass at once and `rate` a second after that.
#[derive(Debug)]
pub(super) struct Bucket {
    rate: f64,
    burst: f64,
    left: f64,
    filled: Instant,
}

impl Bucket {
    pub(super) fn new(rate: u32, burst: u32, now: Instant) -> Self {
        Self { rate: rate.into(), burst: burst.into(), left: burst.into(), filled: now }
    }

    /// Whether one more may pass now.
    pub(super) fn pass(&mut self, now: Instant) -> bool {
        let passed: Duration = now.saturating_duration_since(self.filled);
        self.filled = now;
        self.left = (self.left + passed.as_secs_f64() * self.rate).min(self.burst);
        let pass = self.left >= 1.0;
        if pass {
            self.left -= 1.0;
        }
        pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_then_the_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::new(10, 3, start);
        let passed = (0..10).filter(|_| bucket.pass(start)).count();
        assert_eq!(passed, 3);
        let later = start + Duration::from_millis(250);
        assert_eq!((0..10).filter(|_| bucket.pass(later)).count(), 2);
        let much_later = later + Duration::from_secs(60);
        assert_eq!((0..10).filter(|_| bucket.pass(much_later)).count(), 3);
    }
}
