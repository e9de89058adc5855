//! The requests that wait for an answer: their ids, deadlines and cancellation. Answers stay raw.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep};

use super::connection::{CloseReason, Shared};

/// A server's answer, unparsed. A large one takes room that others wait for: it is read and dropped before the next
/// thing is asked.
#[derive(Clone)]
pub struct Response {
    /// For [`Connection::caught_up`](super::Connection::caught_up): what the server said before this answer.
    pub order: u64,
    pub(super) body: Bytes,
    pub(super) result: Option<Range<usize>>,
}

impl Response {
    /// The JSON text of `result`; `null` where the server left it out.
    pub fn result(&self) -> &[u8] {
        self.result.clone().and_then(|range| self.body.get(range)).unwrap_or(b"null")
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = String::from_utf8_lossy(self.result());
        f.debug_struct("Response").field("order", &self.order).field("result", &result).finish()
    }
}

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    #[error("{method} was not answered within {} ms", after.as_millis())]
    Timeout { method: String, after: Duration },
    #[error("the server answered with an error: {message} ({code})")]
    Server {
        code: i64,
        message: String,
        /// What `data.retriggerRequest` says; true where the server is silent about it.
        retrigger: bool,
    },
    /// There was an answer, of which nothing can be used: says why.
    #[error("its answer {0}")]
    Unusable(String),
    #[error("the connection is closed: {0}")]
    Closed(CloseReason),
    #[error("too many requests wait for an answer")]
    Busy,
    #[error("the server does not read its input")]
    Backlog,
}

type Outcome = Result<Response, RequestError>;

/// All requests without an answer.
#[derive(Debug)]
pub(super) struct Outbox {
    state: Mutex<State>,
    limit: usize,
}

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<u64, oneshot::Sender<Outcome>>,
    last_id: u64,
    closed: Option<CloseReason>,
}

/// What became of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Completed {
    Delivered,
    /// The request was given up before.
    Late,
    /// No such request was ever made.
    Unknown,
}

impl Outbox {
    pub(super) fn new(limit: usize) -> Self {
        Self { state: Mutex::default(), limit }
    }

    /// A new id, and where its answer will arrive.
    pub(super) fn enter(&self, beyond_limit: bool) -> Result<(u64, oneshot::Receiver<Outcome>), RequestError> {
        let mut state = self.lock();
        if let Some(reason) = &state.closed {
            return Err(RequestError::Closed(reason.clone()));
        }
        if state.waiting.len() >= self.limit && !beyond_limit {
            return Err(RequestError::Busy);
        }
        state.last_id += 1;
        let id = state.last_id;
        let (tell, hear) = oneshot::channel();
        state.waiting.insert(id, tell);
        Ok((id, hear))
    }

    pub(super) fn complete(&self, id: u64, outcome: Outcome) -> Completed {
        let mut state = self.lock();
        let Some(tell) = state.waiting.remove(&id) else {
            return if (1..=state.last_id).contains(&id) { Completed::Late } else { Completed::Unknown };
        };
        drop(state);
        match tell.send(outcome) {
            Ok(()) => Completed::Delivered,
            Err(_) => Completed::Late,
        }
    }

    /// Forgets a request; says whether it was still waiting.
    pub(super) fn forget(&self, id: u64) -> bool {
        self.lock().waiting.remove(&id).is_some()
    }

    pub(super) fn close(&self, reason: &CloseReason) {
        let mut state = self.lock();
        state.closed.get_or_insert_with(|| reason.clone());
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for tell in waiting.into_values() {
            // Nobody may be listening any more.
            let _ = tell.send(Err(RequestError::Closed(reason.clone())));
        }
    }

    /// The only request that waits, if it is alone.
    pub(super) fn only(&self) -> Option<u64> {
        let state = self.lock();
        let mut ids = state.waiting.keys();
        ids.next().copied().filter(|_| ids.next().is_none())
    }

    pub(super) fn pending(&self) -> usize {
        self.lock().waiting.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request on its way. Dropped before it is done, or at its deadline, it sends `$/cancelRequest` and forgets the
/// request: an answer that still comes is dropped.
#[must_use = "dropping a pending request cancels it"]
pub struct Pending {
    pub(super) shared: Arc<Shared>,
    pub(super) id: u64,
    pub(super) method: Box<str>,
    pub(super) hear: oneshot::Receiver<Outcome>,
    pub(super) after: Duration,
    pub(super) deadline: Instant,
    pub(super) sleep: Option<Pin<Box<Sleep>>>,
    pub(super) done: bool,
}

impl Pending {
    /// The request's id on the wire.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Tells the server that the answer is of no use any more. Unlike a request that is dropped this one goes on: it ends
    /// when the server says that it is done with it.
    pub fn cancel(&self) {
        self.shared.cancel(self.id);
    }

    fn give_up(&mut self) {
        self.done = true;
        self.shared.give_up(self.id, &self.method);
    }
}

impl Future for Pending {
    type Output = Result<Response, RequestError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let Poll::Ready(heard) = Pin::new(&mut this.hear).poll(cx) {
            this.done = true;
            return Poll::Ready(heard.unwrap_or(Err(RequestError::Closed(CloseReason::Local))));
        }
        // Made here and not with the request, so that requests can be sent from anywhere.
        let deadline = this.deadline;
        let sleep = this.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if sleep.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        this.give_up();
        Poll::Ready(Err(RequestError::Timeout { method: this.method.to_string(), after: this.after }))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.done {
            self.give_up();
        }
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("id", &self.id).field("method", &self.method).finish_non_exhaustive()
    }
}
