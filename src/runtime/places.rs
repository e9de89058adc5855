//! The places that processes have: each call needs one for the server that it asks. Where all are taken, those that nobody
//! uses are ended to make room, and where all are in use calls wait in line for one, to the end of their time.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared, join_all},
};
use tokio::{
    task::JoinHandle,
    time::{Instant, timeout_at},
};

use super::{
    event::Events,
    instance::{Instance, State},
    pool::Pool,
    shortfall::Shortfall,
};
use crate::registry::{self, Entry};

/// See [`Instance::claim`].
#[derive(Debug)]
pub(super) struct Claim {
    /// Ends when those that had the place are gone.
    leaving: OnceLock<Shared<BoxFuture<'static, ()>>>,
    events: Events,
}

impl Claim {
    pub(super) fn new(events: Events) -> Self {
        Self { leaving: OnceLock::new(), events }
    }

    /// The place is free when these have come to their end.
    fn behind(&self, ends: Vec<JoinHandle<()>>) {
        if !ends.is_empty() {
            let _ = self.leaving.set(join_all(ends).map(drop).boxed().shared());
        }
    }

    /// Waits until the place is free.
    async fn free(&self) {
        if let Some(leaving) = self.leaving.get() {
            leaving.clone().await;
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.events.let_go();
    }
}

/// An instance with the place for its process.
type Placed = (Arc<Instance>, Arc<Claim>);

/// A server's place, kept from one question to the next.
#[derive(Debug)]
pub struct Seat {
    _claim: Arc<Claim>,
}

impl Pool {
    /// Keeps a place for a server that is to be asked several questions, so that it is not ended between two of them.
    ///
    /// # Errors
    /// When no place came free in time.
    pub async fn seat(
        &self,
        caller: u64,
        entry: &Arc<Entry>,
        root: &Path,
        deadline: Instant,
    ) -> Result<Seat, Shortfall> {
        let entry = self.newest(entry).ok_or(Shortfall::Replaced)?;
        let (_, claim) = self.with_room(caller, &entry, root, true, deadline).await?;
        Ok(Seat { _claim: claim })
    }

    /// The instance, with a place for its process for as long as the claim lives.
    pub(super) async fn with_room(
        &self,
        caller: u64,
        entry: &Arc<Entry>,
        root: &Path,
        share: bool,
        deadline: Instant,
    ) -> Result<Placed, Shortfall> {
        let placed = async {
            let placed = match self.placed(entry, root, share) {
                Some(placed) => placed,
                // No process comes of it: that is told at once.
                None if registry::resolve(entry, root, &self.common.starter().around).is_err() => {
                    let instance = self.find(entry, root, share);
                    let claim = instance.claim();
                    (instance, claim)
                }
                None => self.in_line(caller, entry, root, share).await,
            };
            placed.1.free().await;
            placed
        };
        // Where there is a place at once no time is needed.
        timeout_at(deadline, placed).await.map_err(|_| Shortfall::PoolFull { limit: self.places() })
    }

    /// The instance, where it has a place.
    fn placed(&self, entry: &Arc<Entry>, root: &Path, share: bool) -> Option<Placed> {
        let instance = self.find(entry, root, share);
        // Under the lock: nobody chooses it for its end meanwhile.
        let _instances = self.lock();
        let claim = instance.has_place().then(|| instance.claim())?;
        Some((instance, claim))
    }

    /// Waits for a place: who came first looks first, one caller after the other, and the others behind.
    async fn in_line(&self, caller: u64, entry: &Arc<Entry>, root: &Path, share: bool) -> Placed {
        let turn = self.line.take(caller);
        tokio::pin!(turn);
        let mut states = self.find(entry, root, share).states();
        let _turn = loop {
            tokio::select! {
                biased;
                turn = &mut turn => break turn,
                // Another call may have got a place for it.
                Ok(()) = states.changed() => {
                    if let Some(placed) = self.placed(entry, root, share) {
                        return placed;
                    }
                }
            }
        };
        loop {
            let freed = self.events.freed();
            tokio::pin!(freed);
            freed.as_mut().enable();
            if let Some(placed) = self.make_room(entry, root, share) {
                return placed;
            }
            freed.await;
        }
    }

    /// Takes a place for a newcomer. Where the limit is reached without it, the least recently used server that nobody
    /// waits for has to go: the claim is good once that has ended, which keeps nobody from choosing another one.
    fn make_room(&self, entry: &Arc<Entry>, root: &Path, share: bool) -> Option<Placed> {
        let newcomer = self.find(entry, root, share);
        // Under the lock: two never choose at once.
        let instances = self.lock();
        if newcomer.has_place() {
            let claim = newcomer.claim();
            drop(instances);
            return Some((newcomer, claim));
        }
        let others = || instances.iter().filter(|it| !Arc::ptr_eq(it, &newcomer));
        let taken = others().filter(|it| it.takes_room()).count();
        let may_go = |it: &Arc<Instance>| match it.state() {
            State::Running(session) if !session.is_held() => Some((Some(session.last_used()), session.number)),
            // It goes anyway.
            State::Stopping => Some((None, 0)),
            _ => None,
        };
        let mut going: Vec<_> = others()
            .filter(|it| !it.is_claimed() && !it.has_heir())
            .filter_map(|it| may_go(it).map(|(used, number)| (used, number, it)))
            .collect();
        // What goes anyway may take its time: it comes last.
        going.sort_by_key(|(used, ..)| (used.is_none(), *used));
        // More than one where the limit has been lowered.
        let surplus = (taken + 1).saturating_sub(self.places());
        if surplus > going.len() {
            return None;
        }
        let claim = newcomer.claim();
        claim.behind(going.into_iter().take(surplus).map(|(_, number, it)| it.leave_to(&claim, number)).collect());
        drop(instances);
        Some((newcomer, claim))
    }
}
