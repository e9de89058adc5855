//! Lines from and to a client: bounded on the way in, whole on the way out, and what is no message of MCP gets the error
//! that JSON-RPC has for it, with the request's own id where that can be read. rmcp's own reader is silent then, and a
//! client that gets no answer waits for ever.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rmcp::{
    RoleServer,
    model::{CallToolRequest, ClientRequest, JsonRpcMessage, JsonRpcRequest},
    service::RxJsonRpcMessage,
};
use serde_json::{Value, json, value::RawValue};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::Mutex,
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use crate::protocol::skim::{Seen, Skim};

const PARSE: i32 = -32700;
const INVALID: i32 = -32600;
/// A client that has ended its stream and takes nothing for so long takes nothing more.
const UNTAKEN: Duration = Duration::from_secs(1);
/// The method of most lines.
const CALL: &str = r#""tools/call""#;

/// What came from the client.
pub(super) enum Come {
    Line(Vec<u8>),
    /// One that is too long, as far as it could be seen.
    TooLong(Seen),
    End,
}

/// The client's lines. [`next`](Input::next) may be dropped at any time; nothing is lost.
pub(super) struct Input<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    /// The rest of a line that is too long is on its way.
    passing: Option<Skim>,
    longest: usize,
}

impl<R: AsyncRead + Unpin> Input<R> {
    pub(super) fn new(from: R, longest: usize) -> Self {
        Self { from: BufReader::new(from), line: Vec::new(), passing: None, longest }
    }

    /// The next line; the last one counts also without an end.
    pub(super) async fn next(&mut self) -> Come {
        loop {
            let (taken, ended) = match self.from.fill_buf().await {
                Ok([]) | Err(_) => (0, true),
                Ok(bytes) => {
                    let end = memchr::memchr(b'\n', bytes);
                    let taken = end.map_or(bytes.len(), |end| end + 1);
                    let bytes = &bytes[..taken];
                    match &mut self.passing {
                        Some(skim) => skim.feed(bytes),
                        None if self.line.len() + bytes.len() > self.longest => {
                            let mut skim = Skim::default();
                            skim.feed(&std::mem::take(&mut self.line));
                            skim.feed(bytes);
                            self.passing = Some(skim);
                        }
                        None => self.line.extend_from_slice(bytes),
                    }
                    (taken, end.is_some())
                }
            };
            self.from.consume(taken);
            if let Some(skim) = self.passing.take_if(|_| ended) {
                return Come::TooLong(skim.seen());
            }
            if ended {
                return if taken == 0 && self.line.is_empty() {
                    Come::End
                } else {
                    Come::Line(std::mem::take(&mut self.line))
                };
            }
        }
    }
}

/// Where lines to the client go. A line that was begun is ended before another one, whoever is dropped meanwhile.
pub(super) struct Output<W> {
    out: Arc<Mutex<Out<W>>>,
    /// Bytes that the client has taken.
    taken: Arc<AtomicU64>,
    /// Cancelled when the client has ended its own stream.
    closing: CancellationToken,
}

struct Out<W> {
    to: Option<W>,
    waiting: Vec<u8>,
    written: usize,
}

impl<W> Clone for Output<W> {
    fn clone(&self) -> Self {
        Self { out: Arc::clone(&self.out), taken: Arc::clone(&self.taken), closing: self.closing.clone() }
    }
}

impl<W: AsyncWrite + Unpin> Output<W> {
    pub(super) fn new(to: W, closing: CancellationToken) -> Self {
        let out = Out { to: Some(to), waiting: Vec::new(), written: 0 };
        Self { out: Arc::new(Mutex::new(out)), taken: Arc::default(), closing }
    }

    /// Writes a line.
    ///
    /// # Errors
    /// The client does not listen any more, or the output was closed.
    pub(super) async fn line(&self, line: Vec<u8>) -> std::io::Result<()> {
        let write = async {
            let mut out = self.out.lock().await;
            out.waiting.extend_from_slice(&line);
            out.waiting.push(b'\n');
            out.flush(&self.taken).await
        };
        tokio::select! {
            written = write => written,
            () = self.deserted() => Err(std::io::ErrorKind::TimedOut.into()),
        }
    }

    /// Ends when the client has closed its end and takes nothing of what is left for it: some wait then for our end.
    async fn deserted(&self) {
        self.closing.cancelled().await;
        loop {
            let before = self.taken.load(Ordering::Relaxed);
            sleep(UNTAKEN).await;
            if self.taken.load(Ordering::Relaxed) == before {
                return;
            }
        }
    }

    pub(super) async fn close(&self) {
        self.out.lock().await.to = None;
    }
}

impl<W: AsyncWrite + Unpin> Out<W> {
    async fn flush(&mut self, taken: &AtomicU64) -> std::io::Result<()> {
        let to = self.to.as_mut().ok_or(std::io::ErrorKind::NotConnected)?;
        while self.written < self.waiting.len() {
            match to.write(&self.waiting[self.written..]).await? {
                0 => return Err(std::io::ErrorKind::WriteZero.into()),
                written => {
                    self.written += written;
                    taken.fetch_add(written as u64, Ordering::Relaxed);
                }
            }
        }
        self.waiting.clear();
        // One large answer must not stay resident.
        self.waiting.shrink_to(64 * 1024);
        self.written = 0;
        to.flush().await
    }
}

/// What to do about a line.
pub(super) enum Judged {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// An answer to write: it is no message of MCP.
    Refuse(Vec<u8>),
    /// Nothing that expects an answer.
    Ignore(&'static str),
}

pub(super) fn judge(line: &[u8]) -> Judged {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    match line.first() {
        Some(b'{') => {}
        Some(b'[') => return Judged::Refuse(error(None, INVALID, "a batch: send each message on a line of its own")),
        Some(_) => return Judged::Ignore("a line that is no JSON object"),
        None => return Judged::Ignore("an empty line"),
    }
    let Ok(parts) = serde_json::from_slice::<BTreeMap<Cow<'_, str>, &RawValue>>(line) else {
        let id = match Skim::of(line) {
            Seen::Request(id) => Some(id),
            Seen::Answer(_) | Seen::Problems(..) | Seen::Other => None,
        };
        return Judged::Refuse(error(id.as_deref(), PARSE, "this is no valid JSON"));
    };
    let id = parts.get("id").map(|id| id.get());
    let asks = parts.contains_key("method");
    let answers = parts.contains_key("result") || parts.contains_key("error");
    if let Some(id) = id
        && (asks || !answers)
        && !is_id(id)
    {
        return Judged::Refuse(error(Some(id), INVALID, "the id of a request is a string or a whole number"));
    }
    if !answers
        && parts.get("method").is_some_and(|method| method.get() == CALL)
        && let Some(call) = call(line)
    {
        return Judged::Message(Box::new(call));
    }
    match serde_json::from_slice(line) {
        Ok(message) => Judged::Message(Box::new(message)),
        Err(_) if answers => Judged::Ignore("an answer of the wrong shape"),
        Err(_) if asks && id.is_none() => Judged::Ignore("a notification of the wrong shape"),
        Err(wrong) => Judged::Refuse(error(id, INVALID, &format!("this is no request: {wrong}"))),
    }
}

/// A call of a tool, where it is one: rmcp's own reader tries every kind of request in turn, and calls are what comes nearly
/// always.
fn call(line: &[u8]) -> Option<RxJsonRpcMessage<RoleServer>> {
    let JsonRpcRequest { id, request, .. } = serde_json::from_slice::<JsonRpcRequest<CallToolRequest>>(line).ok()?;
    Some(JsonRpcMessage::Request(JsonRpcRequest::new(id, ClientRequest::CallToolRequest(request))))
}

/// The answer to a line that is too long.
pub(super) fn too_long(seen: &Seen, longest: usize) -> Judged {
    match seen {
        Seen::Request(id) => {
            let limit = longest / (1024 * 1024);
            Judged::Refuse(error(Some(id), INVALID, &format!("a message of more than {limit} MiB")))
        }
        Seen::Answer(_) | Seen::Problems(..) | Seen::Other => Judged::Ignore("a line that is too long"),
    }
}

/// Whether rmcp can carry such an id.
fn is_id(raw: &str) -> bool {
    raw.starts_with('"') || raw.parse::<i64>().is_ok()
}

/// An error with the id as the client wrote it, where it is a number or a string.
fn error(id: Option<&str>, code: i32, message: &str) -> Vec<u8> {
    let id = id.filter(|id| id.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit()));
    // A number beyond all numbers (`1e999`) is none that the client could read.
    let id = id.filter(|id| serde_json::from_str::<Value>(id).is_ok()).unwrap_or("null");
    let error = json!({"code": code, "message": message});
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).into_bytes()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn shown(judged: Judged) -> String {
        match judged {
            Judged::Message(message) => serde_json::to_string(&message).unwrap(),
            Judged::Refuse(line) => String::from_utf8(line).unwrap(),
            Judged::Ignore(why) => format!("ignored: {why}"),
        }
    }

    fn check(line: &str, expected: &Expect) {
        expected.assert_eq(&shown(judge(line.as_bytes())));
    }

    #[test]
    fn odd_ids_get_an_error_with_that_id() {
        let odd = |id: &str| shown(judge(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).as_bytes()));
        for id in ["1.5", "10000000000000000000000", "1e3", "9223372036854775808", "-0.5"] {
            assert!(
                odd(id).starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600"#)),
                "{}",
                odd(id)
            );
        }
        for id in ["null", "{}", "[1]", "true"] {
            assert!(odd(id).starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600"#), "{}", odd(id));
        }
        for id in ["7", "-7", "9223372036854775807", r#""a""#] {
            assert_eq!(odd(id), format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        }
    }

    #[test]
    fn what_is_no_request_is_refused_or_ignored() {
        check(
            r#"{"jsonrpc":"2.0","id":7,"method":"ping""#,
            &expect![[r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32700,"message":"this is no valid JSON"}}"#]],
        );
        check(
            "{",
            &expect![[r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is no valid JSON"}}"#]],
        );
        check(
            r#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#,
            &expect![[
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a batch: send each message on a line of its own"}}"#
            ]],
        );
        check("hello", &expect!["ignored: a line that is no JSON object"]);
        check(" \r", &expect!["ignored: an empty line"]);
        check(r#"{"jsonrpc":"2.0","method":7}"#, &expect!["ignored: a notification of the wrong shape"]);
        check(r#"{"jsonrpc":"2.0","id":{},"error":7}"#, &expect!["ignored: an answer of the wrong shape"]);
        assert!(
            shown(judge(br#"{"jsonrpc":"2.0","id":"a","method":5}"#)).contains(r#""id":"a","error":{"code":-32600"#)
        );
        assert!(shown(judge(br#"{"id":3}"#)).contains(r#""id":3,"error":{"code":-32600"#));
        check(
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r",
            &expect![[r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#]],
        );
    }

    #[test]
    fn a_call_is_read_as_rmcp_reads_it() {
        let calls = [
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{"x":[1,-2.5,"é\u0000"]}}}"#,
            r#"{"method":"tools/call","params":{"name":"a"},"id":"x","jsonrpc":"2.0","more":{"id":8}}"#,
            r#"{"jsonrpc":"2.0","id":-1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":3,"k":[{}]},"y":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{},"name":"a","requestState":"s","inputResponses":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":null}}"#,
        ];
        let shown = |message: &RxJsonRpcMessage<RoleServer>| format!("{message:?}");
        for line in calls {
            let call = call(line.as_bytes()).expect(line);
            assert_eq!(shown(&call), shown(&serde_json::from_str(line).unwrap()), "{line}");
        }
        let others = [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":"{}"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        ];
        for line in others {
            assert!(call(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[tokio::test]
    async fn lines_are_bounded_and_the_last_one_needs_no_end() {
        let long = format!("{{\"id\":5,\"method\":\"x\",\"params\":\"{}\"}}\n", "y".repeat(100_000));
        let text = format!("first\n{long}second\n{}", long.trim_end());
        let mut input = Input::new(text.as_bytes(), 1_000);
        let mut seen = Vec::new();
        loop {
            match input.next().await {
                Come::Line(line) => seen.push(String::from_utf8(line).unwrap()),
                Come::TooLong(what) => seen.push(format!("{what:?}")),
                Come::End => break,
            }
        }
        assert_eq!(seen, ["first\n", "Request(\"5\")", "second\n", "Request(\"5\")"]);
        let mut input = Input::new(&b"a\nb"[..], 1_000);
        assert!(matches!(input.next().await, Come::Line(line) if line == b"a\n"));
        assert!(matches!(input.next().await, Come::Line(line) if line == b"b"));
        assert!(matches!(input.next().await, Come::End));
    }
}
