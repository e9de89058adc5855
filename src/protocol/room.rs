//! The memory that the messages of all servers may take together. Who sends a large one waits until it fits beside the
//! others, for a while; nobody who sends small ones waits for that.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// A larger body asks for room before it is read, a smaller one afterwards: so one that comes slowly keeps no room.
pub(super) const SMALL: usize = 1024 * 1024;
/// Bodies below this are not counted.
const UNIT: usize = 64 * 1024;
/// How long a message waits for room: less than a request may take, so that who asked hears why.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a message that is still coming may keep room that others wait for.
const TERM: Duration = Duration::from_secs(5);
/// How often it is looked after that whether anybody waits.
const LOOK: Duration = Duration::from_millis(100);

/// Shared by the connections to all servers.
#[derive(Debug, Clone)]
pub struct Room {
    large: Arc<Semaphore>,
    small: Arc<Semaphore>,
    /// Messages that wait for room.
    waiting: Arc<AtomicUsize>,
}

/// A part of the room, taken until it is dropped.
#[derive(Debug)]
pub(super) struct Taken(Option<OwnedSemaphorePermit>);

impl Taken {
    /// Whether it is more than nothing.
    fn counts(&self) -> bool {
        self.0.is_some()
    }
}

impl Room {
    /// For `large` bytes of messages of more than a MiB, and `small` bytes of the others.
    pub fn new(large: usize, small: usize) -> Self {
        let semaphore = |bytes: usize| Arc::new(Semaphore::new((bytes / UNIT).clamp(1, Semaphore::MAX_PERMITS)));
        Self { large: semaphore(large), small: semaphore(small), waiting: Arc::default() }
    }

    /// Room for a body, as soon as there is some. `None`: others have kept it for too long.
    pub(super) async fn take(&self, length: usize) -> Option<Taken> {
        if length < UNIT {
            return Some(Taken(None));
        }
        let side = if length > SMALL { &self.large } else { &self.small };
        let units = u32::try_from(length.div_ceil(UNIT)).ok()?;
        if let Ok(permit) = Arc::clone(side).try_acquire_many_owned(units) {
            return Some(Taken(Some(permit)));
        }
        let _waiting = Waiting::new(&self.waiting);
        let permit = timeout(PATIENCE, Arc::clone(side).acquire_many_owned(units)).await.ok()?.ok()?;
        Some(Taken(Some(permit)))
    }

    /// Resolves when a message that has only just begun to come has kept its room for its term, and others want it.
    pub(super) async fn is_missed(&self) {
        sleep(TERM).await;
        while self.waiting.load(Relaxed) == 0 {
            sleep(LOOK).await;
        }
    }
}

/// Counts one that waits until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Default for Room {
    /// For one of the largest messages that are kept.
    fn default() -> Self {
        Self::new(super::WireLimits::default().kept_bytes, 8 * 1024 * 1024)
    }
}

/// A body, whose room is free again once the last part of it is dropped.
pub(super) fn bytes(body: Vec<u8>, taken: Taken) -> Bytes {
    struct Body {
        bytes: Vec<u8>,
        _taken: Taken,
    }
    impl AsRef<[u8]> for Body {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }
    if taken.counts() { Bytes::from_owner(Body { bytes: body, _taken: taken }) } else { Bytes::from(body) }
}
