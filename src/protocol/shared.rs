//! What the tasks of a connection have in common, and how they end together: the first reason counts.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use super::closed::{CloseReason, Closed};
use super::outbox::Outbox;
use super::room::Room;
use super::stats::Stats;
use super::writer::{Frame, Queue, Refused};
use crate::sys::unread::Unread;

/// What one connection may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireLimits {
    pub header_bytes: usize,
    pub body_bytes: usize,
    /// A larger body is read and dropped: its answer fails, everything else goes on.
    pub kept_bytes: usize,
    /// Nesting of arrays and objects.
    pub depth: usize,
    /// A request or notification of the server may be this large; published diagnostics may be half as large as what is kept.
    pub inbound_bytes: usize,
    /// An edit that the server wants to make (`workspace/applyEdit`) may be this large.
    pub edit_bytes: usize,
    /// Bytes in a row on the server's output that are no message.
    pub junk_bytes: usize,
    /// Requests without an answer.
    pub pending: usize,
    /// Bytes that the server leaves unread before requests are refused; at four times this the connection ends.
    pub backlog_bytes: usize,
    /// Log and trace messages a second; twice as many at once.
    pub logs_per_second: u32,
    /// Progress reports a second (begin and end always pass); twice as many at once.
    pub reports_per_second: u32,
}

impl Default for WireLimits {
    fn default() -> Self {
        Self {
            header_bytes: 8 * 1024,
            body_bytes: 64 * 1024 * 1024,
            kept_bytes: 40 * 1024 * 1024,
            depth: 128,
            inbound_bytes: 1024 * 1024,
            edit_bytes: 16 * 1024 * 1024,
            junk_bytes: 1024 * 1024,
            pending: 64,
            backlog_bytes: 16 * 1024 * 1024,
            logs_per_second: 500,
            reports_per_second: 100,
        }
    }
}

/// What the tasks of a connection have in common.
pub(super) struct Shared {
    pub limits: WireLimits,
    pub room: Room,
    pub outbox: Outbox,
    pub queue: Queue,
    pub stats: Stats,
    /// The order of the last request or notification that the host has handled.
    pub handled: watch::Sender<u64>,
    pub shutting_down: AtomicBool,
    pub closed: watch::Sender<Option<CloseReason>>,
    pub closing: CancellationToken,
    tasks: Mutex<Vec<AbortHandle>>,
    /// Let go of at the end: a server that still writes has to see that nobody reads any more.
    unread: Mutex<Option<Unread>>,
    /// Something has left the server's pipe and is not yet handed on.
    pub busy: Arc<AtomicBool>,
}

impl Shared {
    pub(super) fn new(limits: WireLimits, room: Room, unread: Option<Unread>) -> Self {
        Self {
            limits,
            room,
            outbox: Outbox::new(limits.pending),
            queue: Queue::new(limits.backlog_bytes),
            stats: Stats::default(),
            handled: watch::Sender::new(0),
            shutting_down: AtomicBool::new(false),
            closed: watch::Sender::new(None),
            closing: CancellationToken::new(),
            tasks: Mutex::default(),
            unread: Mutex::new(unread),
            busy: Arc::default(),
        }
    }

    /// Whether the server has written something that has not been read, as far as that can be told.
    pub(super) fn is_any_unread(&self) -> bool {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(Unread::is_any)
    }

    /// Sends what must not be lost.
    pub(super) fn send(&self, frame: Frame) -> Result<(), Closed> {
        match self.queue.push_regardless(frame) {
            Ok(()) => Ok(()),
            Err(Refused::Closed) => Err(Closed(self.reason())),
            Err(Refused::Full) => {
                let waiting = self.queue.bytes();
                self.close(&CloseReason::Deaf(waiting));
                Err(Closed(self.reason()))
            }
        }
    }

    /// Forgets a request; the server hears of it unless it never saw it.
    pub(super) fn give_up(&self, id: u64, method: &str) {
        if self.outbox.forget(id) && !self.queue.withdraw(id) && !matches!(method, "initialize" | "shutdown") {
            self.tell_cancelled(id);
        }
    }

    /// Nobody wants the answer any more, but it is waited for; one that the server never saw is over at once.
    pub(super) fn cancel(&self, id: u64) {
        if self.queue.withdraw(id) {
            self.outbox.forget(id);
        } else {
            self.tell_cancelled(id);
        }
    }

    fn tell_cancelled(&self, id: u64) {
        #[derive(Serialize)]
        struct Cancel {
            id: u64,
        }
        if let Ok(frame) = Frame::notification("$/cancelRequest", &Cancel { id }) {
            // A closed connection has nothing left to cancel.
            let _ = self.send(frame);
        }
    }

    /// The first reason counts.
    pub(super) fn close(&self, reason: &CloseReason) {
        let first = self.closed.send_if_modified(|closed| {
            let first = closed.is_none();
            if first {
                *closed = Some(reason.clone());
            }
            first
        });
        if !first {
            return;
        }
        self.unread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let local = *reason == CloseReason::Local;
        self.outbox.close(reason);
        self.queue.close(local);
        self.closing.cancel();
        self.stop(local);
    }

    pub(super) fn reason(&self) -> CloseReason {
        self.closed.borrow().clone().unwrap_or(CloseReason::Local)
    }

    pub(super) fn ends(&self, reader: AbortHandle, writer: AbortHandle) {
        *self.tasks.lock().unwrap_or_else(PoisonError::into_inner) = vec![reader, writer];
        // It may have ended before the handles were here.
        let closed = self.closed.borrow().clone();
        if let Some(reason) = closed {
            self.stop(reason == CloseReason::Local);
        }
    }

    /// Stops the reader, and the writer unless it has last words. Without a reader the router ends by itself.
    fn stop(&self, last_words: bool) {
        let tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let keep = usize::from(last_words);
        for task in tasks.iter().take(2 - keep) {
            task.abort();
        }
    }
}
