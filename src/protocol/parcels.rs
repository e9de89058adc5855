//! The contents of the server's requests and notifications while async-lsp carries only their numbers: so nothing large
//! or odd ever reaches it, order is kept, and what waits is bounded in bytes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::types::{LostList, Published};

const UNIT: usize = 1024;
/// In units: 8 MiB of parcels may wait for the router, or one larger one alone.
const UNITS: u32 = 8 * 1024;

/// One message's content.
#[derive(Debug)]
pub(super) enum Content {
    /// The JSON text of `params`; empty where absent.
    Params(Bytes),
    Published(Box<Published>),
    Lost(LostList),
}

/// A content with its place in the server's stream.
#[derive(Debug)]
pub(super) struct Parcel {
    /// Counts requests and notifications from 1.
    pub order: u64,
    pub content: Content,
    _room: OwnedSemaphorePermit,
}

/// All parcels on their way, and the servers' own ids of requests that are not yet answered.
#[derive(Debug)]
pub(super) struct Parcels {
    room: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    parcels: VecDeque<(i32, Parcel)>,
    ids: VecDeque<(i32, Box<str>)>,
    last: u64,
}

impl Parcels {
    pub(super) fn new() -> Self {
        Self { room: Arc::new(Semaphore::new(UNITS as usize)), state: Mutex::default() }
    }

    /// Waits for room, then keeps a content; gives its number. `id` is the server's own id of a request.
    pub(super) async fn put(&self, size: usize, content: Content, id: Option<&str>) -> i32 {
        let units = u32::try_from(size / UNIT).unwrap_or(UNITS).clamp(1, UNITS);
        let room = Arc::clone(&self.room).acquire_many_owned(units).await;
        let Ok(room) = room else { unreachable!("the semaphore is never closed") };
        let mut state = self.lock();
        state.last += 1;
        let order = state.last;
        // Unique among those on their way, of which there are at most `UNITS`.
        let number = i32::try_from(order & 0x7fff_ffff).unwrap_or_default();
        state.parcels.push_back((number, Parcel { order, content, _room: room }));
        if let Some(id) = id {
            state.ids.push_back((number, id.into()));
        }
        number
    }

    pub(super) fn take(&self, number: i32) -> Option<Parcel> {
        let mut state = self.lock();
        let at = state.parcels.iter().position(|(known, _)| *known == number)?;
        state.parcels.remove(at).map(|(_, parcel)| parcel)
    }

    /// The server's own id of the request that went by this number.
    pub(super) fn take_id(&self, number: i32) -> Option<Box<str>> {
        let mut state = self.lock();
        let at = state.ids.iter().position(|(known, _)| *known == number)?;
        state.ids.remove(at).map(|(_, id)| id)
    }

    /// How many requests and notifications have come so far.
    pub(super) fn order(&self) -> u64 {
        self.lock().last
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
