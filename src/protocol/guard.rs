//! Stands between a server's output and everything else: drops what has no shape, hands answers to the outbox without
//! a hop, and passes what the server asks and tells to the router in a form that cannot hurt it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::time::Instant;

use super::batch::Batch;
use super::closed::CloseReason;
use super::envelope::{Envelope, Kind, WireError, deeper_than, id_of};
use super::outbox::{Completed, RequestError, Response};
use super::parcels::{Content, Parcels};
use super::read::{Caps, published};
use super::room::{self, Taken};
use super::shared::Shared;
use super::skim::{Seen, Skim};
use super::throttle::Bucket;
use super::types::LostList;
use super::uri::uri_to_ref;
use super::writer::Frame;
use crate::sys::secrets;

const METHOD_BYTES: usize = 200;
/// Bodies up to this size are mended on a copy.
const MENDED: usize = 1024 * 1024;

/// Why a message is dropped although it is not too large.
#[derive(Debug, Clone, Copy)]
pub(super) enum NoRoom {
    Taken,
    Slow,
}

pub(super) struct Guard {
    shared: Arc<Shared>,
    parcels: Arc<Parcels>,
    to_router: DuplexStream,
    logs: Bucket,
    reports: Bucket,
}

impl Guard {
    pub(super) fn new(shared: &Arc<Shared>, parcels: &Arc<Parcels>, to_router: DuplexStream) -> Self {
        let (limits, now) = (shared.limits, Instant::now());
        Self {
            shared: Arc::clone(shared),
            parcels: Arc::clone(parcels),
            to_router,
            logs: Bucket::new(limits.logs_per_second, limits.logs_per_second.saturating_mul(2), now),
            reports: Bucket::new(limits.reports_per_second, limits.reports_per_second.saturating_mul(2), now),
        }
    }

    /// Deals with one body; an error means that the router is gone.
    pub(super) async fn receive(&mut self, body: Vec<u8>, taken: Taken) -> Result<(), CloseReason> {
        let body = readable(body, taken);
        if body.first() != Some(&b'[') {
            return self.message(body).await;
        }
        // LSP knows no batches; their messages are as good as others.
        let Ok(batch) = serde_json::from_slice::<Batch<'_>>(&body) else {
            self.shared.stats.drop_message("a batch that is not valid JSON");
            return Ok(());
        };
        if batch.more {
            self.shared.stats.drop_message("messages of a batch that has too many");
        }
        let messages: Vec<_> =
            batch.first.into_iter().map(|message| body.slice_ref(message.get().as_bytes())).collect();
        for message in messages {
            self.message(message).await?;
        }
        Ok(())
    }

    async fn message(&mut self, body: Bytes) -> Result<(), CloseReason> {
        let stats = &self.shared.stats;
        let Some(envelope) = Envelope::read(&body) else {
            stats.drop_message("a message that is not a JSON object, or has a part of the wrong kind");
            return self.lost(Skim::of(&body), "is no valid JSON").await;
        };
        let deep = deeper_than(&body, self.shared.limits.depth);
        match envelope.kind() {
            Kind::Unusable(why) => stats.drop_message(why),
            Kind::Response { id, result, error } => self.answer(id, &body, result, error, deep),
            Kind::Request { id, method, params } => {
                if let Some(why) = self.refusal(&method, params, deep) {
                    stats.drop_message(why);
                    self.refuse(id.get(), why);
                    return Ok(());
                }
                stats.received.fetch_add(1, Relaxed);
                let content = Content::Params(slice(&body, params));
                let number = self.parcels.put(size(params), content, Some(id.get())).await;
                self.pass(&Frame::ticket(Some(number), &method, number)).await?;
            }
            Kind::Notification { method, params } => {
                // Of a list most is text, which is copied: half of what is kept makes all of it.
                let most = self.shared.limits.kept_bytes / 2;
                let content = if method == "textDocument/publishDiagnostics" {
                    let read = if deep {
                        Err("is nested too deep".to_owned())
                    } else if size(params) > most {
                        Err(format!("has {} MiB, more than the {} MiB that are kept", mib(size(params)), mib(most)))
                    } else {
                        published(params.map_or("null", RawValue::get).as_bytes(), &Caps::default())
                            .map_err(|why| format!("has the wrong shape: {why}"))
                    };
                    match read {
                        Ok(list) => Content::Published(Box::new(list)),
                        Err(why) => {
                            stats.drop_message(&format!("a list of problems that {why}"));
                            return self.lost(Skim::of(&body), &why).await;
                        }
                    }
                } else if let Some(why) = self.refusal(&method, params, deep) {
                    stats.drop_message(why);
                    return Ok(());
                } else if self.too_many(&method, params) {
                    self.shared.stats.throttled.fetch_add(1, Relaxed);
                    return Ok(());
                } else {
                    Content::Params(slice(&body, params))
                };
                self.shared.stats.received.fetch_add(1, Relaxed);
                let number = self.parcels.put(size(params), content, None).await;
                self.pass(&Frame::ticket(None, &method, number)).await?;
            }
        }
        Ok(())
    }

    fn answer(&self, id: u64, body: &Bytes, result: Option<&RawValue>, error: Option<&RawValue>, deep: bool) {
        let outcome = if deep {
            self.shared.stats.drop_message("an answer nested too deep");
            Err(RequestError::Unusable(format!("is nested more than {} deep", self.shared.limits.depth)))
        } else if let Some(error) = error {
            let WireError { code, message, retrigger } = WireError::read(error);
            let message = secrets::hide(&message).into_owned();
            Err(RequestError::Server { code, message, retrigger })
        } else {
            let result = result.map(|result| {
                let start = result.get().as_ptr().addr() - body.as_ptr().addr();
                start..start + result.get().len()
            });
            Ok(Response { order: self.parcels.order(), body: body.clone(), result })
        };
        let stats = &self.shared.stats;
        match self.shared.outbox.complete(id, outcome) {
            Completed::Delivered => stats.received.fetch_add(1, Relaxed),
            Completed::Late => stats.late.fetch_add(1, Relaxed),
            Completed::Unknown => {
                stats.drop_message("an answer whose id is none of ours");
                0
            }
        };
    }

    /// A message was too large to be kept. Whoever waits for it must not wait in vain.
    pub(super) async fn too_large(&mut self, length: usize, seen: Seen) -> Result<(), CloseReason> {
        self.shared.stats.drop_message("a message that is too large to be kept");
        let kept = self.shared.limits.kept_bytes;
        let limit = mib(if matches!(seen, Seen::Problems(..)) { kept / 2 } else { kept });
        self.lost(seen, &format!("has {} MiB, more than the {limit} MiB that are kept", mib(length))).await
    }

    /// There was no room for a message, or it came too slowly to be given any.
    pub(super) async fn no_room(&mut self, seen: Seen, why: NoRoom) -> Result<(), CloseReason> {
        let (dropped, why) = match why {
            NoRoom::Taken => {
                ("a message for which there was no room", "was dropped: there were too many large ones at once")
            }
            NoRoom::Slow => (
                "a large message that came too slowly",
                "was dropped: it is large, came slowly, and others waited for its room",
            ),
        };
        self.shared.stats.drop_message(dropped);
        self.lost(seen, why).await
    }

    /// Ends the request whose answer is of no use. One without a readable id is that of the only request there is. Of a
    /// list of problems it is told that there was one, in its turn.
    async fn lost(&mut self, seen: Seen, why: &str) -> Result<(), CloseReason> {
        let outbox = &self.shared.outbox;
        match seen {
            Seen::Answer(id) => {
                let id = match id {
                    Some(id) => id_of(&id),
                    None => outbox.only(),
                };
                if let Some(id) = id {
                    outbox.complete(id, Err(RequestError::Unusable(why.to_owned())));
                }
            }
            Seen::Request(id) => self.refuse(&id, &format!("the request {why}")),
            Seen::Problems(uri, version) => {
                let (file, why) = (uri_to_ref(&uri), why.to_owned());
                let number = self.parcels.put(0, Content::Lost(LostList { file, version, why }), None).await;
                return self.pass(&Frame::ticket(None, "textDocument/publishDiagnostics", number)).await;
            }
            Seen::Other => {}
        }
        Ok(())
    }

    fn refuse(&self, id: &str, why: &str) {
        // The id may be a piece of a message that was no JSON.
        let (Ok(id), Ok(error)) = (
            serde_json::from_str::<&RawValue>(id),
            serde_json::value::to_raw_value(&serde_json::json!({ "code": -32600, "message": why })),
        ) else {
            return;
        };
        // If the connection is closed there is nobody to answer.
        let _ = self.shared.send(Frame::reply(id.get(), Err(&error)));
    }

    fn refusal(&self, method: &str, params: Option<&RawValue>, deep: bool) -> Option<&'static str> {
        let limits = &self.shared.limits;
        let most = if method == "workspace/applyEdit" { limits.edit_bytes } else { limits.inbound_bytes };
        if deep {
            Some("a request or notification nested too deep")
        } else if method.len() > METHOD_BYTES {
            Some("a method name that is too long")
        } else if size(params) > most {
            Some("a request or notification that is too large")
        } else {
            None
        }
    }

    fn too_many(&mut self, method: &str, params: Option<&RawValue>) -> bool {
        match method {
            "window/logMessage" | "$/logTrace" | "telemetry/event" => !self.logs.pass(Instant::now()),
            // Readiness hangs on begin and end.
            "$/progress" => is_report(params) && !self.reports.pass(Instant::now()),
            _ => false,
        }
    }

    async fn pass(&mut self, frame: &Frame) -> Result<(), CloseReason> {
        let passed = self.to_router.write_all(frame.as_bytes()).await;
        passed.map_err(|error| CloseReason::Io(format!("the inbound router has stopped: {error}")))
    }
}

/// The body as JSON can be read from it: without byte order mark and blanks, stray bytes replaced.
fn readable(mut body: Vec<u8>, taken: Taken) -> Bytes {
    if std::str::from_utf8(&body).is_err() {
        if body.len() <= MENDED {
            body = String::from_utf8_lossy(&body).into_owned().into_bytes();
        } else {
            blot(&mut body);
        }
    }
    let body = room::bytes(body, taken);
    let text = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&body).trim_ascii();
    body.slice_ref(text)
}

/// Writes `?` over every byte that is not of UTF-8: in place, where U+FFFD would take three times the room.
fn blot(body: &mut [u8]) {
    let mut at = 0;
    while let Err(error) = std::str::from_utf8(&body[at..]) {
        let from = at + error.valid_up_to();
        let to = error.error_len().map_or(body.len(), |length| from + length);
        body[from..to].fill(b'?');
        at = to;
    }
}

fn slice(body: &Bytes, part: Option<&RawValue>) -> Bytes {
    part.map_or_else(Bytes::new, |part| body.slice_ref(part.get().as_bytes()))
}

fn mib(bytes: usize) -> usize {
    bytes.div_ceil(1024 * 1024)
}

fn size(params: Option<&RawValue>) -> usize {
    params.map_or(0, |params| params.get().len())
}

fn is_report(params: Option<&RawValue>) -> bool {
    #[derive(serde::Deserialize)]
    struct Progress<'a> {
        #[serde(borrow)]
        value: Value<'a>,
    }
    #[derive(serde::Deserialize)]
    struct Value<'a> {
        #[serde(borrow)]
        kind: std::borrow::Cow<'a, str>,
    }
    params
        .and_then(|params| serde_json::from_str::<Progress<'_>>(params.get()).ok())
        .is_some_and(|progress| progress.value.kind == "report")
}
