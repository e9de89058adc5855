//! Whether a server may be started now: so many starts within a window, then one try after a pause that doubles from
//! failure to failure. Never for ever; pure, time comes in as an argument.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

/// How often a server may be started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Starts after the first one.
    pub restarts: usize,
    pub window: Duration,
    /// The pause before the first try beyond that, and the longest.
    pub first: Duration,
    pub longest: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        let minutes = |n: u64| Duration::from_secs(n * 60);
        Self { restarts: 3, window: minutes(5), first: Duration::from_secs(1), longest: minutes(5) }
    }
}

/// What a failure has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// The next call may start it again.
    Again,
    /// Not before that point in time; how often it was started since it last held, and since when.
    Wait { until: Instant, times: usize, since: Instant },
}

/// The starts of one instance.
#[derive(Debug)]
pub(super) struct Breaker {
    budget: Budget,
    /// Starts within the window; once the budget is spent, only the first and the number count.
    starts: VecDeque<Instant>,
    spent: Option<Spent>,
}

#[derive(Debug)]
struct Spent {
    since: Instant,
    times: usize,
    /// Failures since then.
    failures: u32,
    until: Instant,
}

impl Breaker {
    pub(super) fn new(budget: Budget) -> Self {
        Self { budget, starts: VecDeque::new(), spent: None }
    }

    /// Another budget from now on; what was counted stays.
    pub(super) fn set(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// Takes one start.
    ///
    /// # Errors
    /// With the time at which it may be tried again.
    pub(super) fn start(&mut self, now: Instant) -> Result<(), Instant> {
        if let Some(spent) = &mut self.spent {
            if now < spent.until {
                return Err(spent.until);
            }
            spent.times += 1;
            return Ok(());
        }
        self.prune(now);
        self.starts.push_back(now);
        Ok(())
    }

    /// The last start cost nothing: nothing was spawned, or it was stopped on purpose.
    pub(super) fn refund(&mut self) {
        match &mut self.spent {
            Some(spent) => spent.times = spent.times.saturating_sub(1),
            None => _ = self.starts.pop_back(),
        }
    }

    /// A start has failed, or the process has died after it had lived for `lived`.
    pub(super) fn failed(&mut self, now: Instant, lived: Duration) -> Then {
        if lived >= self.budget.window {
            // It held: this death is the first of its own.
            self.reset();
            self.starts.push_back(now);
        }
        self.prune(now);
        let Budget { restarts, first, longest, .. } = self.budget;
        let spent = match &mut self.spent {
            Some(spent) => spent,
            None if self.starts.len() <= restarts => return Then::Again,
            None => {
                let since = self.starts.front().copied().unwrap_or(now);
                self.spent.insert(Spent { since, times: self.starts.len(), failures: 0, until: now })
            }
        };
        let pause = first.saturating_mul(2_u32.saturating_pow(spent.failures)).min(longest);
        spent.failures = spent.failures.saturating_add(1);
        spent.until = now + pause;
        Then::Wait { until: spent.until, times: spent.times, since: spent.since }
    }

    /// Somebody, or something that has changed, gives it a new chance.
    pub(super) fn reset(&mut self) {
        self.starts.clear();
        self.spent = None;
    }

    fn prune(&mut self, now: Instant) {
        while self.starts.front().is_some_and(|at| now.duration_since(*at) > self.budget.window) {
            self.starts.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    const NEVER: Duration = Duration::ZERO;

    /// A life of this many seconds for each start, asked for every 100 ms: when starts were let through.
    fn check(lives: &[u64], expected: &Expect) {
        let began = Instant::now();
        let mut breaker = Breaker::new(Budget::default());
        let mut now = began;
        let mut seen = Vec::new();
        for life in lives {
            while breaker.start(now).is_err() {
                now += Duration::from_millis(100);
            }
            let at = now.duration_since(began).as_secs_f32();
            let lived = Duration::from_secs(*life);
            now += lived;
            seen.push(match breaker.failed(now, lived) {
                Then::Again => format!("{at:.0}"),
                Then::Wait { until, times, .. } => {
                    format!("{at:.0} (start {times}, then {} s)", until.duration_since(now).as_secs())
                }
            });
        }
        expected.assert_eq(&seen.join(", "));
    }

    #[test]
    fn a_crash_loop_spends_the_budget_and_is_then_tried_ever_less_often() {
        check(
            &[0; 15],
            &expect![
                "0, 0, 0, 0 (start 4, then 1 s), 1 (start 5, then 2 s), 3 (start 6, then 4 s), 7 (start 7, then 8 s), 15 (start 8, then 16 s), 31 (start 9, then 32 s), 63 (start 10, then 64 s), 127 (start 11, then 128 s), 255 (start 12, then 256 s), 511 (start 13, then 300 s), 811 (start 14, then 300 s), 1111 (start 15, then 300 s)"
            ],
        );
    }

    #[test]
    fn deaths_far_apart_cost_nothing() {
        check(&[200; 6], &expect!["0, 200, 400, 600, 800, 1000"]);
    }

    #[test]
    fn one_that_holds_again_begins_anew() {
        check(
            &[0, 0, 0, 0, 400, 0, 0, 0, 0],
            &expect!["0, 0, 0, 0 (start 4, then 1 s), 1, 401, 401, 401 (start 4, then 1 s), 402 (start 5, then 2 s)"],
        );
    }

    #[test]
    fn a_new_chance_and_what_cost_nothing() {
        let (mut breaker, now) = (Breaker::new(Budget { restarts: 0, ..Budget::default() }), Instant::now());
        assert!(breaker.start(now).is_ok());
        assert!(matches!(breaker.failed(now, NEVER), Then::Wait { times: 1, .. }));
        assert!(breaker.start(now).is_err());
        breaker.reset();
        for _ in 0..10 {
            assert!(breaker.start(now).is_ok());
            breaker.refund();
        }
        assert!(breaker.start(now).is_ok());
    }

    proptest! {
        /// However it dies and is asked for: never more starts at once than the budget, never a pause beyond the longest.
        #[test]
        fn never_for_ever_and_never_too_often(steps in prop::collection::vec((0_u64..400, 0_u64..400), 1..60)) {
            let budget = Budget::default();
            let mut breaker = Breaker::new(budget);
            let mut now = Instant::now();
            let mut starts: Vec<Instant> = Vec::new();
            for (pause, life) in steps {
                now += Duration::from_secs(pause);
                match breaker.start(now) {
                    Ok(()) => {
                        starts.push(now);
                        let close = starts.iter().filter(|at| now.duration_since(**at) < budget.first).count();
                        prop_assert!(close <= budget.restarts + 2, "{close} starts within a second");
                        let lived = Duration::from_secs(life);
                        now += lived;
                        breaker.failed(now, lived);
                    }
                    Err(until) => prop_assert!(until > now && until.duration_since(now) <= budget.longest),
                }
            }
        }
    }
}
