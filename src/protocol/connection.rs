//! One connection to one language server over any two byte streams: starts the tasks, ties their ends together, and is
//! the only way in from above. Knows nothing of processes.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite, duplex};
use tokio::time::Instant;

use super::closed::{CloseReason, Closed};
use super::frames::{Body, FrameError, FrameLimits, FrameReader};
use super::guard::{Guard, NoRoom};
use super::host::Host;
use super::inbound;
use super::noting::Noting;
use super::outbox::RequestError;
use super::parcels::Parcels;
use super::pending::Pending;
use super::room::{Room, SMALL};
use super::shared::{Shared, WireLimits};
use super::skim::Skim;
use super::stats::WireStats;
use super::writer::{self, Frame, Refused};
use crate::sys::unread::Unread;

/// Room between the guard and async-lsp; only short messages pass there.
const INNER_PIPE: usize = 16 * 1024;
/// How long a closing connection tries to write what was said before.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How often, and how long each time, a server is listened to whose output has not been read to its end.
const LISTENS: u32 = 20;
const LISTEN: Duration = Duration::from_millis(2);

/// The server's output, which is our input, and its input.
pub struct Streams {
    pub input: Box<dyn AsyncRead + Send + Unpin>,
    pub output: Box<dyn AsyncWrite + Send + Unpin>,
    /// Where it can be told whether any of the output waits to be read.
    pub unread: Option<Unread>,
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}

/// A live connection; dropping it closes it.
pub struct Connection {
    shared: Arc<Shared>,
    parcels: Arc<Parcels>,
}

impl Connection {
    /// Starts to serve a connection, whose messages share `room` with those of others. Must be called inside a tokio
    /// runtime.
    pub fn open(streams: Streams, host: Arc<dyn Host>, limits: WireLimits, room: &Room) -> Self {
        let shared = Arc::new(Shared::new(limits, room.clone(), streams.unread));
        let parcels = Arc::new(Parcels::new());
        let (to_router, router_in) = duplex(INNER_PIPE);
        let (router_out, from_router) = duplex(INNER_PIPE);

        let reader = tokio::spawn(read(streams.input, Guard::new(&shared, &parcels, to_router), Arc::clone(&shared)));
        let writer = tokio::spawn(write(streams.output, Arc::clone(&shared)));
        tokio::spawn(inbound::serve(router_in, router_out, host, Arc::clone(&shared), Arc::clone(&parcels)));
        tokio::spawn(inbound::carry_replies(from_router, Arc::clone(&shared), Arc::clone(&parcels)));
        shared.ends(reader.abort_handle(), writer.abort_handle());
        Self { shared, parcels }
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
        let outbox = &self.shared.outbox;
        self.shared.stats.read(outbox.asked(), outbox.pending(), self.shared.queue.bytes())
    }

    /// Resolves when the host has handled every request and notification that arrived before the response with this
    /// `order`; with `u64::MAX`, when the connection has ended and all that came before its end is handled.
    pub async fn caught_up(&self, order: u64) {
        let mut handled = self.shared.handled.subscribe();
        // The sender lives in `shared`, so this cannot fail.
        let _ = handled.wait_for(|handled| *handled >= order).await;
    }

    /// Resolves when all is handled that the server has written until now, or after a moment: one that never stops to
    /// write is never heard out. Whoever takes silence for an answer has to listen first, since what the server said in
    /// time may lie in its pipe for as long as a crowded machine keeps this process from its turn.
    pub async fn heard_out(&self) {
        for _ in 0..LISTENS {
            // In this order: what has left the pipe makes the reader busy before, and is numbered before it is idle again.
            let idle = !self.shared.is_any_unread() && !self.shared.busy.load(SeqCst);
            if idle && *self.shared.handled.borrow() >= self.parcels.order() {
                return;
            }
            tokio::time::sleep(LISTEN).await;
        }
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

async fn read(input: Box<dyn AsyncRead + Send + Unpin>, mut guard: Guard, shared: Arc<Shared>) {
    let limits = FrameLimits {
        header: shared.limits.header_bytes,
        body: shared.limits.body_bytes,
        keep: shared.limits.kept_bytes.min(SMALL),
        junk: shared.limits.junk_bytes,
    };
    let input = Noting { input, busy: shared.busy.clone() };
    let mut frames = FrameReader::new(input, limits, |line: &[u8]| shared.stats.junk(line));
    let reason = loop {
        let received = match frames.next().await {
            Ok(Body::Whole(body)) => match shared.room.take(body.len()).await {
                Some(taken) => guard.receive(body, taken).await,
                None => guard.no_room(Skim::of(&body), NoRoom::Taken).await,
            },
            Ok(Body::Large(length)) => large(&mut frames, &mut guard, &shared, length).await,
            Err(error) => Err(ended(error)),
        };
        if let Err(reason) = received {
            break reason;
        }
        if frames.is_drained() {
            shared.busy.store(false, SeqCst);
        }
    };
    shared.busy.store(false, SeqCst);
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
        Some(why) => guard.no_room(skim.seen(), why).await,
        None => guard.too_large(length, skim.seen()).await,
    }
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
