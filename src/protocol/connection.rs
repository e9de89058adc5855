//! One connection to one language server over any two byte streams: starts the tasks, ties their ends together, and is
//! the only way in from above. Knows nothing of processes.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite, duplex};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::frames::{Body, FrameError, FrameLimits, FrameReader};
use super::guard::{Guard, NoRoom};
use super::host::Host;
use super::inbound;
use super::outbox::{Outbox, Pending, RequestError};
use super::parcels::Parcels;
use super::room::{Room, SMALL};
use super::skim::Skim;
use super::stats::{Stats, WireStats};
use super::writer::{self, Frame, Queue, Refused};

/// Room between the guard and async-lsp; only short messages pass there.
const INNER_PIPE: usize = 16 * 1024;
/// How long a closing connection tries to write what was said before.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The server's output, which is our input, and its input.
pub struct Streams {
    pub input: Box<dyn AsyncRead + Send + Unpin>,
    pub output: Box<dyn AsyncWrite + Send + Unpin>,
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}

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

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    #[error("the server closed its output")]
    Eof,
    /// The server broke the base protocol beyond repair.
    #[error("the server sent {0}")]
    Frame(String),
    #[error("{0}")]
    Io(String),
    /// We closed it.
    #[error("closed by langport")]
    Local,
}

/// The connection has ended: nothing can be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed: {0}")]
pub struct Closed(pub CloseReason);

/// A live connection; dropping it closes it.
pub struct Connection {
    shared: Arc<Shared>,
}

impl Connection {
    /// Starts to serve a connection, whose messages share `room` with those of others. Must be called inside a tokio
    /// runtime.
    pub fn open(streams: Streams, host: Arc<dyn Host>, limits: WireLimits, room: &Room) -> Self {
        let shared = Arc::new(Shared::new(limits, room.clone()));
        let parcels = Arc::new(Parcels::new());
        let (to_router, router_in) = duplex(INNER_PIPE);
        let (router_out, from_router) = duplex(INNER_PIPE);

        let reader = tokio::spawn(read(streams.input, Guard::new(&shared, &parcels, to_router), Arc::clone(&shared)));
        let writer = tokio::spawn(write(streams.output, Arc::clone(&shared)));
        tokio::spawn(inbound::serve(router_in, router_out, host, Arc::clone(&shared), Arc::clone(&parcels)));
        tokio::spawn(inbound::carry_replies(from_router, Arc::clone(&shared), parcels));
        shared.ends(reader.abort_handle(), writer.abort_handle());
        Self { shared }
    }

    /// Sends a request; it is queued, behind everything sent before, when this returns.
    ///
    /// # Errors
    ///
    /// [`RequestError::Closed`], [`RequestError::Busy`] or [`RequestError::Backlog`]: nothing was sent then.
    pub fn request(&self, method: &str, params: &impl Serialize, timeout: Duration) -> Result<Pending, RequestError> {
        let shared = &self.shared;
        // A server must always be able to be told to shut down.
        let (id, hear) = shared.outbox.enter(method == "shutdown")?;
        let sent = Frame::request(id, method, params)
            .map_err(|error| RequestError::Server {
                code: -32603,
                message: format!("the parameters of {method} are no JSON: {error}"),
                retrigger: false,
            })
            .and_then(|frame| match shared.queue.push(frame) {
                Ok(()) => Ok(()),
                Err(Refused::Full) => Err(RequestError::Backlog),
                Err(Refused::Closed) => Err(RequestError::Closed(shared.reason())),
            });
        if let Err(error) = sent {
            shared.outbox.forget(id);
            return Err(error);
        }
        if method == "shutdown" {
            shared.shutting_down.store(true, Relaxed);
        }
        Ok(Pending {
            shared: Arc::clone(shared),
            id,
            method: method.into(),
            hear,
            after: timeout,
            deadline: Instant::now() + timeout,
            sleep: None,
            done: false,
        })
    }

    /// Sends a notification, behind everything sent before. A server that has left so much unread that it does not
    /// fit would be out of step for good, so that ends the connection.
    ///
    /// # Errors
    ///
    /// [`Closed`].
    pub fn notify(&self, method: &str, params: &impl Serialize) -> Result<(), Closed> {
        let frame = Frame::notification(method, params)
            .map_err(|error| Closed(CloseReason::Io(format!("the parameters of {method} are no JSON: {error}"))))?;
        self.shared.send(frame)
    }

    /// Resolves when the connection has ended.
    pub fn closed(&self) -> impl Future<Output = CloseReason> + Send + use<> {
        let mut closed = self.shared.closed.subscribe();
        async move {
            let reason = closed.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
            reason.unwrap_or(CloseReason::Local)
        }
    }

    /// Why the connection has ended, once it has.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.shared.closed.borrow().clone()
    }

    pub fn is_closed(&self) -> bool {
        self.shared.closed.borrow().is_some()
    }

    pub fn stats(&self) -> WireStats {
        self.shared.stats.read(self.shared.outbox.pending(), self.shared.queue.bytes())
    }

    /// Resolves when the host has handled every request and notification that arrived before the response with this
    /// `order`; with `u64::MAX`, when the connection has ended and all that came before its end is handled.
    pub async fn caught_up(&self, order: u64) {
        let mut handled = self.shared.handled.subscribe();
        // The sender lives in `shared`, so this cannot fail.
        let _ = handled.wait_for(|handled| *handled >= order).await;
    }

    /// Ends the connection: requests fail at once; what was sent before is still written, for at most a second.
    pub fn close(&self) {
        self.shared.close(&CloseReason::Local);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("stats", &self.stats()).finish_non_exhaustive()
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
    closed: watch::Sender<Option<CloseReason>>,
    closing: CancellationToken,
    tasks: Mutex<Vec<AbortHandle>>,
}

impl Shared {
    fn new(limits: WireLimits, room: Room) -> Self {
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
        }
    }

    /// Sends what must not be lost.
    pub(super) fn send(&self, frame: Frame) -> Result<(), Closed> {
        match self.queue.push_regardless(frame) {
            Ok(()) => Ok(()),
            Err(Refused::Closed) => Err(Closed(self.reason())),
            Err(Refused::Full) => {
                let waiting = self.queue.bytes();
                self.close(&CloseReason::Io(format!("the server does not read its input: {waiting} bytes wait")));
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
        let local = *reason == CloseReason::Local;
        self.outbox.close(reason);
        self.queue.close(local);
        self.closing.cancel();
        self.stop(local);
    }

    fn reason(&self) -> CloseReason {
        self.closed.borrow().clone().unwrap_or(CloseReason::Local)
    }

    fn ends(&self, reader: AbortHandle, writer: AbortHandle) {
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

async fn read(input: Box<dyn AsyncRead + Send + Unpin>, mut guard: Guard, shared: Arc<Shared>) {
    let limits = FrameLimits {
        header: shared.limits.header_bytes,
        body: shared.limits.body_bytes,
        keep: shared.limits.kept_bytes.min(SMALL),
        junk: shared.limits.junk_bytes,
    };
    let mut frames = FrameReader::new(input, limits, |line: &[u8]| shared.stats.junk(line));
    let reason = loop {
        let received = match frames.next().await {
            Ok(Body::Whole(body)) => match shared.room.take(body.len()).await {
                Some(taken) => guard.receive(body, taken).await,
                None => {
                    guard.no_room(Skim::of(&body), NoRoom::Taken);
                    Ok(())
                }
            },
            Ok(Body::Large(length)) => large(&mut frames, &mut guard, &shared, length).await,
            Err(error) => Err(ended(error)),
        };
        if let Err(reason) = received {
            break reason;
        }
    };
    shared.close(&reason);
}

/// Keeps a large body if there is room for it, and if it comes before others miss that; else it is passed over.
async fn large<R: AsyncRead + Unpin, J: FnMut(&[u8])>(
    frames: &mut FrameReader<R, J>,
    guard: &mut Guard,
    shared: &Shared,
    length: usize,
) -> Result<(), CloseReason> {
    let mut skim = Skim::default();
    let mut why = None;
    let mut come = 0;
    if length <= shared.limits.kept_bytes {
        match shared.room.take(length).await {
            None => why = Some(NoRoom::Taken),
            Some(taken) => {
                let mut body = Vec::new();
                let fetched = tokio::select! {
                    biased;
                    fetched = frames.fetch(length, &mut body) => Some(fetched),
                    () = shared.room.is_missed() => None,
                };
                if let Some(fetched) = fetched {
                    fetched.map_err(ended)?;
                    return guard.receive(body, taken).await;
                }
                why = Some(NoRoom::Slow);
                come = body.len();
                skim.feed(&body);
            }
        }
    }
    frames.pass_over(length - come, &mut |bytes| skim.feed(bytes)).await.map_err(ended)?;
    match why {
        Some(why) => guard.no_room(skim.seen(), why),
        None => guard.too_large(length, skim.seen()),
    }
    Ok(())
}

fn ended(error: FrameError) -> CloseReason {
    match error {
        FrameError::Eof => CloseReason::Eof,
        FrameError::Io(error) => CloseReason::Io(format!("its output cannot be read: {error}")),
        FrameError::Bad(what) => CloseReason::Frame(what),
    }
}

async fn write(output: Box<dyn AsyncWrite + Send + Unpin>, shared: Arc<Shared>) {
    let out_of_patience = async {
        shared.closing.cancelled().await;
        tokio::time::sleep(LAST_WORDS).await;
        Ok(())
    };
    let written = tokio::select! {
        biased;
        written = writer::run(&shared.queue, &shared.stats, output) => written,
        given_up = out_of_patience => given_up,
    };
    if let Err(error) = written {
        shared.close(&CloseReason::Io(format!("its input cannot be written: {error}")));
    }
}
