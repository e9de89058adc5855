//! What the server asks and tells, served by async-lsp's router: every request gets an answer, at any time, and no
//! content, however odd, and no failing handler ends the loop.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use async_lsp::router::Router;
use async_lsp::{AnyNotification, AnyRequest, ErrorCode, MainLoop, ResponseError, ServerSocket};
use serde_json::Value;
use tokio::io::DuplexStream;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use super::closed::CloseReason;
use super::envelope::{Envelope, Kind};
use super::frames::{Body, FrameLimits, FrameReader};
use super::host::{Host, Told};
use super::parcels::{Content, Parcel, Parcels};
use super::requests::answer;
use super::shared::Shared;
use super::told::tell;
use super::writer::Frame;

struct Inbound {
    host: Arc<dyn Host>,
    shared: Arc<Shared>,
    parcels: Arc<Parcels>,
    /// async-lsp's loop panics when the last socket is gone.
    _socket: ServerSocket,
}

/// Serves until the guard closes its end.
pub(super) async fn serve(
    input: DuplexStream,
    output: DuplexStream,
    host: Arc<dyn Host>,
    shared: Arc<Shared>,
    parcels: Arc<Parcels>,
) {
    let _end = End(Arc::clone(&shared));
    let state = |socket| Inbound { host, shared: Arc::clone(&shared), parcels, _socket: socket };
    let (main_loop, _socket) = MainLoop::new_client(|socket| {
        let mut router = Router::<Inbound>::new(state(socket));
        router
            .unhandled_request(|inbound, request| std::future::ready(inbound.request(&request)))
            .unhandled_notification(|inbound, notification| {
                inbound.notification(&notification);
                ControlFlow::Continue(())
            })
            .unhandled_event(|_, _| ControlFlow::Continue(()));
        router
    });
    let ended = main_loop.run_buffered(input.compat(), output.compat_write()).await;
    if let Err(error) = ended
        && !matches!(error, async_lsp::Error::Eof)
    {
        shared.close(&CloseReason::Io(format!("the inbound router has stopped: {error}")));
    }
}

/// However the router ends, whoever waits for what came before need not wait any longer.
struct End(Arc<Shared>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.handled.send_replace(u64::MAX);
    }
}

impl Inbound {
    fn request(&mut self, request: &AnyRequest) -> Result<Value, ResponseError> {
        let Some(parcel) = self.parcel(&request.params) else {
            return Err(ResponseError::new(ErrorCode::INTERNAL_ERROR, "the request was lost"));
        };
        let Content::Params(params) = parcel.content else {
            return Err(ResponseError::new(ErrorCode::INTERNAL_ERROR, "the request was lost"));
        };
        let shutting_down = self.shared.shutting_down.load(Relaxed);
        let answered = self.guarded(&request.method, |host| answer(host, &request.method, &params, shutting_down));
        self.handled(parcel.order);
        answered.unwrap_or_else(|| Err(ResponseError::new(ErrorCode::INTERNAL_ERROR, "the handler failed")))
    }

    fn notification(&mut self, notification: &AnyNotification) {
        let Some(parcel) = self.parcel(&notification.params) else {
            return;
        };
        let told = match parcel.content {
            Content::Published(published) => Ok(Some(Told::Published(*published))),
            Content::Lost(list) => Ok(Some(Told::Lost(list))),
            Content::Params(params) => tell(&notification.method, &params),
        };
        match told {
            Ok(Some(told)) => {
                self.guarded(&notification.method, |host| host.told(told));
            }
            Ok(None) => {}
            Err(why) => self.shared.stats.drop_message(why),
        }
        self.handled(parcel.order);
    }

    fn parcel(&self, number: &Value) -> Option<Parcel> {
        self.parcels.take(i32::try_from(number.as_i64()?).ok()?)
    }

    fn handled(&self, order: u64) {
        self.shared.handled.send_replace(order);
    }

    fn guarded<T>(&self, method: &str, handler: impl FnOnce(&dyn Host) -> T) -> Option<T> {
        let outcome = catch_unwind(AssertUnwindSafe(|| handler(&*self.host)));
        if outcome.is_err() {
            tracing::error!(method, "a handler panicked");
            self.shared.stats.drop_message("a handler failed");
        }
        outcome.ok()
    }
}

/// Carries the router's answers to the server, under the server's own ids. Never waits for the server: the router
/// would stop, then the guard, and two full pipes would hold each other for ever.
pub(super) async fn carry_replies(from_router: DuplexStream, shared: Arc<Shared>, parcels: Arc<Parcels>) {
    let limits =
        FrameLimits { header: shared.limits.header_bytes, body: usize::MAX, keep: usize::MAX, junk: usize::MAX };
    let mut frames = FrameReader::new(from_router, limits, |_: &[u8]| {});
    while let Ok(Body::Whole(body)) = frames.next().await {
        let Some(envelope) = Envelope::read(&body) else { continue };
        let Kind::Response { id, result, error } = envelope.kind() else { continue };
        let Some(id) = i32::try_from(id).ok().and_then(|number| parcels.take_id(number)) else { continue };
        let outcome = error.map_or(Ok(result), Err);
        if shared.send(Frame::reply(&id, outcome)).is_err() {
            // Closed: read on all the same, so that the router can end by itself.
            continue;
        }
    }
}
