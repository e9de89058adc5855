//! The wire under rmcp: mends what clients are known to send slightly wrong, keeps what would end the handshake away
//! from it, and says when the client has closed its end.

use std::{borrow::Cow, sync::Arc};

use rmcp::{
    RoleServer,
    model::{
        ClientCapabilities, ClientJsonRpcMessage, ClientRequest, CustomRequest, GetMeta, Implementation,
        JsonRpcMessage, ProtocolVersion,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;

use super::lines::{Come, Input, Judged, Output, judge, too_long};

/// Bytes of one message from a client: arguments are small.
const MESSAGE: usize = 4 * 1024 * 1024;
/// Messages that wait for the client to read them; with that many, nothing more is read from it.
const UNREAD: usize = 256;

pub(super) struct Mending<R, W> {
    input: Input<R>,
    output: Output<W>,
    /// An error that has yet to be written.
    owed: Option<Vec<u8>>,
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
        Self {
            input: Input::new(read, MESSAGE),
            output: Output::new(write, closing.clone()),
            owed: None,
            closing,
            begun: false,
            unread: Arc::new(Semaphore::new(UNREAD)),
        }
    }

    /// The next message; what is none is answered here. May be dropped at any time.
    async fn message(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(line) = &self.owed {
                // Dropped in the middle of this, it is written twice at worst, and never in two pieces.
                let written = self.output.line(line.clone()).await;
                self.owed = None;
                written.ok()?;
            }
            let judged = match self.input.next().await {
                Come::Line(line) => judge(&line),
                Come::TooLong(seen) => too_long(&seen, MESSAGE),
                Come::End => return None,
            };
            match judged {
                Judged::Message(message) => return Some(*message),
                Judged::Refuse(line) => self.owed = Some(line),
                Judged::Ignore(why) => tracing::debug!(why, "ignored what a client sent"),
            }
        }
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
        let output = self.output.clone();
        async move {
            let _place = place;
            output.line(serde_json::to_vec(&item)?).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // rmcp keeps every answer until it is written: a client that asks and never reads must not fill the memory.
            drop(self.unread.acquire().await);
            let Some(message) = self.message().await else {
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
        self.output.close().await;
        Ok(())
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
