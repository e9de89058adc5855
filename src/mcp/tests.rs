//! The server over a pipe in memory, with scripted tools, as clients of both eras see it.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    sync::{Notify, Semaphore, mpsc, watch},
    task::JoinHandle,
};

use super::*;
use crate::tools::{
    News, ProgressSink, ToolCall,
    outcome::{Body, Code, Failure, HoverText, Outcome, Page, ServerVerdict, Verdict},
};

mod calls;
mod eras;
mod updates;

/// Tools that do what the argument `do` says, and tell of what they see.
struct Script {
    seen: mpsc::UnboundedSender<ToolCall>,
    /// Futures dropped before their end.
    dropped: Arc<Notify>,
    gate: Semaphore,
    sink: Mutex<Option<ProgressSink>>,
    happen: Happen,
    /// What it says of a file's problems.
    problems: Mutex<String>,
}

/// What may have changed its answers.
#[derive(Default)]
struct Happen {
    files: watch::Sender<u64>,
    problems: watch::Sender<u64>,
    states: watch::Sender<u64>,
}

struct OnDrop(Option<Arc<Notify>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(notify) = self.0.take() {
            notify.notify_one();
        }
    }
}

impl Tools for Script {
    fn call(self: Arc<Self>, call: ToolCall) -> Pin<Box<dyn Future<Output = Result<Outcome, Failure>> + Send>> {
        self.seen.send(call.clone()).unwrap();
        Box::pin(async move {
            let mut on_drop = OnDrop(Some(Arc::clone(&self.dropped)));
            let answer = match call.arguments.get("do").and_then(Value::as_str).unwrap_or("hover") {
                "hang" => std::future::pending().await,
                "panic" => panic!("scripted"),
                "fail" => Err(failure()),
                "gate" => {
                    self.gate.acquire().await.unwrap().forget();
                    Ok(hover())
                }
                "say" => {
                    call.progress.say("pyright is loading the project");
                    *self.sink.lock().unwrap() = Some(call.progress.clone());
                    self.gate.acquire().await.unwrap().forget();
                    Ok(hover())
                }
                _ if call.tool == ToolId::Diagnostics => {
                    let summary = self.problems.lock().unwrap().clone();
                    if summary.is_empty() { Err(failure()) } else { Ok(Outcome { summary, ..hover() }) }
                }
                _ => Ok(hover()),
            };
            on_drop.0 = None;
            answer
        })
    }

    fn news(&self) -> News {
        let Happen { files, problems, states } = &self.happen;
        News { files: files.subscribe(), problems: problems.subscribe(), states: states.subscribe() }
    }
}

fn hover() -> Outcome {
    Outcome {
        verdict: Verdict::Fresh,
        servers: vec![ServerVerdict {
            id: "builtin/pyright".parse().unwrap(),
            server: crate::registry::DisplayName::new("pyright"),
            verdict: Verdict::Fresh,
            reason: None,
        }],
        summary: "class Cart".to_owned(),
        notes: Vec::new(),
        details: Vec::new(),
        body: Body::Hover(HoverText {
            file: "cart.py".to_owned(),
            line: 3,
            column: 7,
            code: vec!["class Cart".to_owned()],
            prose: String::new(),
            truncated: false,
        }),
        page: Page::default(),
    }
}

const HOVER: &str = "fresh · pyright · class Cart\ncart.py:3:7\n  class Cart";

fn failure() -> Failure {
    Failure {
        code: Code::NotFound,
        what: "cart.py has no line 900".to_owned(),
        next: "pass a line from 1 to 12".to_owned(),
        details: vec!["12 return total".to_owned()],
        servers: Vec::new(),
    }
}

/// A client that sends and reads lines.
struct Client {
    write: Option<WriteHalf<DuplexStream>>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    server: JoinHandle<anyhow::Result<()>>,
    script: Arc<Script>,
    seen: mpsc::UnboundedReceiver<ToolCall>,
    settings: McpSettings,
    next: u64,
    modern: bool,
}

impl Client {
    fn start(settings: McpSettings) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (seen_tx, seen) = mpsc::unbounded_channel();
        let script = Arc::new(Script {
            seen: seen_tx,
            dropped: Arc::default(),
            gate: Semaphore::new(0),
            sink: Mutex::default(),
            happen: Happen::default(),
            problems: Mutex::new("no problems".to_owned()),
        });
        let (read, write) = tokio::io::split(theirs);
        let tools: Arc<dyn Tools> = Arc::clone(&script) as Arc<dyn Tools>;
        let server = tokio::spawn(serve(tools, settings.clone(), read, write, CancellationToken::new()));
        let (read, write) = tokio::io::split(ours);
        let lines = BufReader::new(read).lines();
        Self { write: Some(write), lines, server, script, seen, settings, next: 1, modern: false }
    }

    /// After the handshake of the older era.
    async fn legacy(settings: McpSettings) -> Self {
        let mut client = Self::start(settings);
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = client.request("initialize", hello).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    /// In the era without a handshake: every request has its metadata.
    fn modern(settings: McpSettings) -> Self {
        Self { modern: true, ..Self::start(settings) }
    }

    async fn raw(&mut self, text: &str) {
        self.write.as_mut().unwrap().write_all(text.as_bytes()).await.unwrap();
    }

    async fn send(&mut self, message: &Value) {
        self.raw(&format!("{message}\n")).await;
    }

    async fn receive(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().expect("the server ended");
        serde_json::from_str(&line).expect("a line that is no message")
    }

    /// Sends a request, returns its id.
    async fn post(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if self.modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "t", "version": "1"});
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    async fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": name, "arguments": arguments})).await
    }

    async fn post_call(&mut self, what: &str, token: Option<&str>) -> u64 {
        let mut params = json!({"name": "lsp_hover", "arguments": {"do": what}});
        if let Some(token) = token {
            params["_meta"] = json!({"progressToken": token});
        }
        self.post("tools/call", params).await
    }

    async fn cancel(&mut self, id: u64) {
        let params = json!({"requestId": id, "reason": "test"});
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
    }

    /// Closes the client's end; the server ends well, and what it still sent is returned.
    async fn close(mut self) -> Vec<Value> {
        self.write.take().unwrap().shutdown().await.unwrap();
        let mut rest = Vec::new();
        let Self { mut lines, server, .. } = self;
        server.await.unwrap().unwrap();
        while let Some(line) = lines.next_line().await.unwrap() {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        rest
    }
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}
