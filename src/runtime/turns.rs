//! Turns at one server: so many questions at once, and where more wait, one caller after the other, so that a flood of
//! one starves nobody else.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use indexmap::IndexMap;
use tokio::{sync::oneshot, time::Instant};

use super::shortfall::Occupied;

/// So many wishes of one caller are never looked through for those that were given up.
const FEW: usize = 64;

/// The turns of one session.
#[derive(Debug)]
pub(super) struct Turns(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    free: usize,
    /// Since when each turn is taken, in their order.
    taken: BTreeMap<u64, Instant>,
    last: u64,
    /// Who waits, by caller; the first caller is next.
    waiting: IndexMap<u64, VecDeque<oneshot::Sender<Turn>>>,
}

/// A question's turn; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Turn(Option<(Arc<Mutex<Inner>>, u64)>);

impl Turns {
    /// So many at once.
    pub(super) fn new(limit: usize) -> Self {
        Self(Arc::new(Mutex::new(Inner { free: limit.max(1), ..Inner::default() })))
    }

    /// Waits for a turn. Dropping the future gives the place up.
    pub(super) async fn take(&self, caller: u64) -> Turn {
        let granted = {
            let mut inner = lock(&self.0);
            if inner.free > 0 {
                inner.free -= 1;
                return Turn(Some((self.0.clone(), inner.begin())));
            }
            let (grant, granted) = oneshot::channel();
            let wishes = inner.waiting.entry(caller).or_default();
            // Those that were given up are not kept until it is their turn.
            if wishes.len() >= FEW && wishes.len() == wishes.capacity() {
                wishes.retain(|wish| !wish.is_closed());
            }
            wishes.push_back(grant);
            granted
        };
        // The sender lives in the list until it is used.
        granted.await.unwrap_or(Turn(None))
    }

    /// Why there is none.
    pub(super) fn taken(&self) -> Occupied {
        let inner = lock(&self.0);
        let first = inner.taken.first_key_value().map(|(_, since)| since.elapsed());
        Occupied::Questions { number: inner.taken.len(), after: first.unwrap_or_default() }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some((shared, number)) = self.0.take() else { return };
        let next = {
            let mut inner = lock(&shared);
            inner.taken.remove(&number);
            let next = inner.next();
            if next.is_none() {
                inner.free += 1;
            }
            next.map(|next| (next, inner.begin()))
        };
        // Outside the lock: where nobody takes it any more, the turn comes back here and goes to the one after.
        if let Some((next, number)) = next {
            let _ = next.send(Self(Some((shared, number))));
        }
    }
}

impl Inner {
    /// A turn begins.
    fn begin(&mut self) -> u64 {
        self.last += 1;
        self.taken.insert(self.last, Instant::now());
        self.last
    }

    /// The oldest wish of the caller whose turn it is; that caller goes to the end.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        while let Some((caller, mut wishes)) = self.waiting.shift_remove_index(0) {
            let wish = std::iter::from_fn(|| wishes.pop_front()).find(|wish| !wish.is_closed());
            if !wishes.is_empty() {
                self.waiting.insert(caller, wishes);
            }
            if wish.is_some() {
                return wish;
            }
        }
        None
    }
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{future::Future, pin::Pin, task::Poll};

    use futures::poll;

    use super::*;

    type Wish<'a> = Pin<Box<dyn Future<Output = Turn> + 'a>>;

    async fn asked(turns: &Turns, caller: u64) -> Wish<'_> {
        let mut wish: Wish<'_> = Box::pin(turns.take(caller));
        assert!(poll!(&mut wish).is_pending());
        wish
    }

    #[tokio::test]
    async fn a_flood_of_one_caller_lets_the_other_through() {
        let turns = Turns::new(2);
        let (one, two) = (turns.take(1).await, turns.take(1).await);
        let mut flood = Vec::new();
        for _ in 0..100 {
            flood.push(asked(&turns, 1).await);
        }
        let mut other = asked(&turns, 2).await;
        drop(one);
        let Poll::Ready(first) = poll!(&mut flood[0]) else { panic!("the longest waiting caller is first") };
        drop(two);
        assert!(poll!(&mut other).is_ready(), "then the other one");
        assert!(poll!(&mut flood[1]).is_ready(), "whose turn has ended at once");
        drop(first);
        assert!(poll!(&mut flood[2]).is_ready());
    }

    #[tokio::test(start_paused = true)]
    async fn who_gets_none_hears_how_many_have_one_and_since_when() {
        let turns = Turns::new(2);
        let first = turns.take(1).await;
        tokio::time::advance(std::time::Duration::from_secs(3)).await;
        let _second = turns.take(1).await;
        tokio::time::advance(std::time::Duration::from_secs(2)).await;
        let seconds = |after| std::time::Duration::from_secs(after);
        assert_eq!(turns.taken(), Occupied::Questions { number: 2, after: seconds(5) });
        drop(first);
        assert_eq!(turns.taken(), Occupied::Questions { number: 1, after: seconds(2) });
    }

    #[tokio::test]
    async fn who_gives_up_loses_no_turn() {
        let turns = Turns::new(1);
        let first = turns.take(1).await;
        let (gone, mut stays) = (asked(&turns, 1).await, asked(&turns, 2).await);
        drop(gone);
        drop(first);
        let Poll::Ready(turn) = poll!(&mut stays) else { panic!("the turn was lost") };
        // Granted, but never taken.
        let gone = asked(&turns, 3).await;
        drop(turn);
        drop(gone);
        turns.take(4).await;
    }

    #[tokio::test]
    async fn wishes_that_were_given_up_are_not_kept() {
        let turns = Turns::new(1);
        let first = turns.take(1).await;
        let mut stays = asked(&turns, 1).await;
        for _ in 0..10_000 {
            drop(asked(&turns, 1).await);
        }
        assert!(lock(&turns.0).waiting[&1].len() <= 2 * FEW);
        drop(first);
        assert!(poll!(&mut stays).is_ready());
    }
}
