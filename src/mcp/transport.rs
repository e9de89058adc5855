//! The wire under rmcp's: mends what clients are known to send slightly wrong, keeps what would end the handshake away
//! from it, and says when the client has closed its end.

use std::{
    borrow::Cow,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use rmcp::{
    RoleServer,
    model::{
        ClientCapabilities, ClientJsonRpcMessage, ClientRequest, CustomRequest, GetMeta, Implementation,
        JsonRpcMessage, ProtocolVersion,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;

/// Bytes of one message from a client: arguments are small.
const MESSAGE: usize = 4 * 1024 * 1024;
/// Messages that wait for the client to read them; with that many, nothing more is read from it.
const UNREAD: usize = 256;

pub(super) struct Mending<R: AsyncRead + Unpin, W: AsyncWrite> {
    inner: AsyncRwTransport<RoleServer, LastLine<R>, W>,
    /// Cancelled at the end of the client's stream.
    closing: CancellationToken,
    /// The request that selects the protocol era has been seen: whatever comes now is the service's.
    begun: bool,
    unread: Arc<Semaphore>,
}

impl<R, W> Mending<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, write: W, closing: CancellationToken) -> Self {
        let inner = AsyncRwTransport::new_server(LastLine { inner: read, ended: false, open: false }, write)
            .with_max_line_length(MESSAGE);
        Self { inner, closing, begun: false, unread: Arc::new(Semaphore::new(UNREAD)) }
    }
}

impl<R, W> Transport<RoleServer> for Mending<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn name() -> Cow<'static, str> {
        "stream".into()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        // Taken when the message is handed over, not when it is its turn, and never waited for: only reading waits.
        let place = Arc::clone(&self.unread).try_acquire_owned();
        let sent = self.inner.send(item);
        async move {
            let _place = place;
            sent.await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // rmcp keeps every answer until it is written: a client that asks and never reads must not fill the memory.
            drop(self.unread.acquire().await);
            let Some(message) = self.inner.receive().await else {
                self.closing.cancel();
                return None;
            };
            match message {
                JsonRpcMessage::Request(mut request) => {
                    request.request = mend(request.request);
                    self.begun |= selects_era(&request.request);
                    return Some(ClientJsonRpcMessage::Request(request));
                }
                // Before that request rmcp takes these for a broken handshake and gives up.
                _ if !self.begun => tracing::debug!("dropped a message before the handshake"),
                other => return Some(other),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Whether rmcp serves the connection from this request on: a handshake, or a request that carries its own metadata.
fn selects_era(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        other => {
            let meta = other.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

/// A request that rmcp could not read as what its method says, mended where it is clear what was meant.
fn mend(request: ClientRequest) -> ClientRequest {
    let ClientRequest::CustomRequest(custom) = request else { return request };
    let mended = match custom.method.as_str() {
        "tools/call" => mend_call(&custom),
        "initialize" => Some(mend_initialize(&custom)),
        _ => None,
    };
    mended
        .and_then(|params| serde_json::from_value(json!({"method": custom.method, "params": params})).ok())
        .filter(|mended| !matches!(mended, ClientRequest::CustomRequest(_)))
        .unwrap_or(ClientRequest::CustomRequest(custom))
}

/// The parameters with the `_meta` that rmcp keeps apart.
fn params(custom: &CustomRequest) -> Value {
    serde_json::to_value(custom).ok().and_then(|mut value| value.get_mut("params").map(Value::take)).unwrap_or_default()
}

/// Arguments that models encode twice, as text that holds a JSON object.
fn mend_call(custom: &CustomRequest) -> Option<Value> {
    let mut params = params(custom);
    let text = params.get("arguments")?.as_str()?.trim();
    let arguments = if text.is_empty() { json!({}) } else { serde_json::from_str(text).ok()? };
    if !arguments.is_object() {
        return None;
    }
    params["arguments"] = arguments;
    Some(params)
}

/// A handshake without a version, capabilities or a name still gets an answer: with the newest version there is.
fn mend_initialize(custom: &CustomRequest) -> Value {
    let mut params = params(custom);
    if !params.is_object() {
        params = json!({});
    }
    if !params["protocolVersion"].is_string() {
        params["protocolVersion"] = json!("unknown");
    }
    let capabilities = params["capabilities"].take();
    let readable = serde_json::from_value::<ClientCapabilities>(capabilities.clone()).is_ok();
    params["capabilities"] = if readable { capabilities } else { json!({}) };
    if serde_json::from_value::<Implementation>(params["clientInfo"].clone()).is_err() {
        params["clientInfo"] = json!({"name": "unknown", "version": ""});
    }
    params
}

/// Ends the stream with a line end, so that a last message without one is still read.
struct LastLine<R> {
    inner: R,
    ended: bool,
    /// The last byte was not a line end.
    open: bool,
}

impl<R: AsyncRead + Unpin> AsyncRead for LastLine<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        if self.ended || buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, buf);
        if matches!(polled, Poll::Ready(Ok(()))) {
            match buf.filled()[before..].last() {
                Some(last) => self.open = *last != b'\n',
                None => {
                    self.ended = true;
                    if std::mem::take(&mut self.open) {
                        buf.put_slice(b"\n");
                    }
                }
            }
        }
        polled
    }
}
