//! A request on its way, as the one who asked holds it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep};

use super::closed::CloseReason;
use super::outbox::{Outcome, RequestError, Response};
use super::shared::Shared;

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
