//! What goes to the server: a queue bounded in bytes, filled without waiting and emptied by a task of its own, so that
//! a server that does not read can never stop us from reading.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

use super::stats::Stats;

/// Small messages that wait together are written together, up to about this size.
const BATCH: usize = 64 * 1024;
/// What may wait beyond the bound before notifications and replies count as lost: then the connection ends.
const HARD_FACTOR: usize = 4;
/// Room for the header in front of the body.
const HEADER_ROOM: usize = 48;

/// A message as it goes over the wire.
#[derive(Debug)]
pub(super) struct Frame {
    bytes: Vec<u8>,
    start: usize,
    request: Option<u64>,
}

impl Frame {
    pub(super) fn request(id: u64, method: &str, params: &impl Serialize) -> Result<Self, serde_json::Error> {
        let mut bytes = begin();
        bytes.extend_from_slice(b",\"id\":");
        bytes.extend_from_slice(id.to_string().as_bytes());
        method_and_params(&mut bytes, method, params)?;
        Ok(Self { request: Some(id), ..finish(bytes) })
    }

    pub(super) fn notification(method: &str, params: &impl Serialize) -> Result<Self, serde_json::Error> {
        let mut bytes = begin();
        method_and_params(&mut bytes, method, params)?;
        Ok(finish(bytes))
    }

    pub(super) fn reply(id: &str, outcome: Result<Option<&RawValue>, &RawValue>) -> Self {
        let mut bytes = begin();
        bytes.extend_from_slice(b",\"id\":");
        bytes.extend_from_slice(id.as_bytes());
        let (key, value) = match outcome {
            Ok(result) => (&b",\"result\":"[..], result.map_or("null", RawValue::get)),
            Err(error) => (&b",\"error\":"[..], error.get()),
        };
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(value.as_bytes());
        finish(bytes)
    }

    /// A message for async-lsp: method and the number under which the parameters are kept.
    pub(super) fn ticket(id: Option<i32>, method: &str, ticket: i32) -> Self {
        let mut bytes = begin();
        if let Some(id) = id {
            bytes.extend_from_slice(format!(",\"id\":{id}").as_bytes());
        }
        let method = serde_json::Value::from(method);
        bytes.extend_from_slice(format!(",\"method\":{method},\"params\":{ticket}").as_bytes());
        finish(bytes)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn len(&self) -> usize {
        self.bytes.len() - self.start
    }
}

fn begin() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    bytes.resize(HEADER_ROOM, 0);
    bytes.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
    bytes
}

fn method_and_params(bytes: &mut Vec<u8>, method: &str, params: &impl Serialize) -> Result<(), serde_json::Error> {
    bytes.extend_from_slice(b",\"method\":");
    serde_json::to_writer(&mut *bytes, method)?;
    let before = bytes.len();
    bytes.extend_from_slice(b",\"params\":");
    serde_json::to_writer(&mut *bytes, params)?;
    // Several servers refuse `"params":null` of `shutdown` and `exit`: JSON-RPC wants an object, an array or nothing.
    if bytes.ends_with(b",\"params\":null") && bytes.len() == before + b",\"params\":null".len() {
        bytes.truncate(before);
    }
    Ok(())
}

fn finish(mut bytes: Vec<u8>) -> Frame {
    bytes.push(b'}');
    let header = format!("Content-Length: {}\r\n\r\n", bytes.len() - HEADER_ROOM);
    let start = HEADER_ROOM - header.len();
    bytes[start..HEADER_ROOM].copy_from_slice(header.as_bytes());
    Frame { bytes, start, request: None }
}

/// Messages that may wait beside the bound in bytes: each takes some hundred bytes more than it has.
const FRAMES: usize = 16 * 1024;

/// Why a frame was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// The server has left too much unread.
    Full,
    Closed,
}

/// The frames that the server has not read yet.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    wake: Notify,
    bound: usize,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<Frame>,
    bytes: usize,
    closed: bool,
}

impl Queue {
    pub(super) fn new(bound: usize) -> Self {
        Self { state: Mutex::default(), wake: Notify::new(), bound }
    }

    /// Takes a request if the server reads what it is sent.
    pub(super) fn push(&self, frame: Frame) -> Result<(), Refused> {
        self.push_within(frame, self.bound)
    }

    /// Takes what cannot be refused without losing step with the server: notifications, replies, cancellations.
    pub(super) fn push_regardless(&self, frame: Frame) -> Result<(), Refused> {
        self.push_within(frame, self.bound.saturating_mul(HARD_FACTOR))
    }

    fn push_within(&self, frame: Frame, bound: usize) -> Result<(), Refused> {
        let mut state = self.lock();
        if state.closed {
            return Err(Refused::Closed);
        }
        if state.bytes > 0 && state.bytes + frame.len() > bound || state.frames.len() >= FRAMES {
            return Err(Refused::Full);
        }
        state.bytes += frame.len();
        state.frames.push_back(frame);
        drop(state);
        self.wake.notify_one();
        Ok(())
    }

    /// Takes back a request that has not been written; says whether it could.
    pub(super) fn withdraw(&self, id: u64) -> bool {
        let mut state = self.lock();
        let Some(at) = state.frames.iter().position(|frame| frame.request == Some(id)) else {
            return false;
        };
        if let Some(frame) = state.frames.remove(at) {
            state.bytes -= frame.len();
        }
        true
    }

    /// Takes no more; what waits is still written when `drain`, else forgotten.
    pub(super) fn close(&self, drain: bool) {
        let mut state = self.lock();
        state.closed = true;
        if !drain {
            state.bytes -= state.frames.iter().map(Frame::len).sum::<usize>();
            state.frames.clear();
        }
        drop(state);
        self.wake.notify_one();
    }

    pub(super) fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn next(&self) -> Next {
        let mut state = self.lock();
        let Some(first) = state.frames.pop_front() else {
            return if state.closed { Next::End } else { Next::Wait };
        };
        let mut batch = Batch { bytes: first.bytes, start: first.start, messages: 1 };
        while let Some(frame) = state.frames.front()
            && batch.bytes.len() + frame.len() <= BATCH
        {
            batch.bytes.extend_from_slice(frame.as_bytes());
            batch.messages += 1;
            state.frames.pop_front();
        }
        Next::Write(batch)
    }

    fn written(&self, bytes: usize) {
        self.lock().bytes -= bytes;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Next {
    Write(Batch),
    Wait,
    End,
}

struct Batch {
    bytes: Vec<u8>,
    start: usize,
    messages: u64,
}

/// Writes what is queued until the queue is closed and empty, then ends the stream.
pub(super) async fn run(queue: &Queue, stats: &Stats, mut output: impl AsyncWrite + Unpin) -> io::Result<()> {
    loop {
        match queue.next() {
            Next::Write(batch) => {
                let bytes = &batch.bytes[batch.start..];
                output.write_all(bytes).await?;
                queue.written(bytes.len());
                stats.sent.fetch_add(batch.messages, Relaxed);
            }
            Next::Wait => {
                output.flush().await?;
                queue.wake.notified().await;
            }
            Next::End => {
                output.flush().await?;
                return output.shutdown().await;
            }
        }
    }
}
