//! A strict MCP client over pipes, in either era of the protocol.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};

/// How the client introduces itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// `initialize` with this version.
    Legacy(&'static str),
    /// 2026-07-28: no handshake, metadata with every request.
    Modern,
}

/// How long an answer is waited for that has to come: longer than any call may take.
const ANSWERED: Duration = Duration::from_secs(300);

/// The newest version.
pub(crate) const MODERN: &str = "2026-07-28";

#[derive(Default)]
struct Inbox {
    answers: HashMap<String, Vec<(Instant, Value)>>,
    notes: Vec<Value>,
    wrong: Vec<String>,
    closed: bool,
}

struct Shared {
    inbox: Mutex<Inbox>,
    came: Condvar,
}

/// The client. Cheap to share between threads.
#[derive(Clone)]
pub(crate) struct Mcp {
    era: Era,
    output: Arc<Mutex<Option<Box<dyn Write + Send>>>>,
    shared: Arc<Shared>,
    next: Arc<AtomicI64>,
    /// What the client says that it can do.
    able: Arc<Mutex<Value>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What is not JSON-RPC about a line that the server wrote.
fn fault(line: &str, message: Option<&Value>) -> Option<String> {
    let Some(message) = message else { return Some(format!("not JSON: {line:?}")) };
    let has = |key| message.get(key).is_some();
    let well_formed = message["jsonrpc"] == "2.0" && (has("method") || (has("id") && (has("result") != has("error"))));
    let orphan_error = message["jsonrpc"] == "2.0" && has("error") && !has("id");
    (!well_formed && !orphan_error).then(|| format!("not JSON-RPC: {line:?}"))
}

impl Mcp {
    pub(crate) fn new(era: Era, input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Self {
        let shared = Arc::new(Shared { inbox: Mutex::default(), came: Condvar::new() });
        let reader = Arc::clone(&shared);
        std::thread::spawn(move || {
            for line in BufReader::new(input).split(b'\n') {
                let Ok(line) = line else { break };
                let line = String::from_utf8_lossy(&line).into_owned();
                let message = serde_json::from_str::<Value>(&line).ok();
                let mut inbox = lock(&reader.inbox);
                inbox.wrong.extend(fault(&line, message.as_ref()));
                if let Some(message) = message {
                    if message.get("method").is_some() {
                        inbox.notes.push(message);
                    } else {
                        inbox.answers.entry(message["id"].to_string()).or_default().push((Instant::now(), message));
                    }
                }
                drop(inbox);
                reader.came.notify_all();
            }
            lock(&reader.inbox).closed = true;
            reader.came.notify_all();
        });
        let output: Box<dyn Write + Send> = Box::new(output);
        Self {
            era,
            output: Arc::new(Mutex::new(Some(output))),
            shared,
            next: Arc::new(AtomicI64::new(1)),
            able: Arc::new(Mutex::new(json!({}))),
        }
    }

    /// Writes a line as it is.
    pub(crate) fn raw(&self, line: &str) {
        if let Some(output) = lock(&self.output).as_mut() {
            let _ = output.write_all(format!("{line}\n").as_bytes()).and_then(|()| output.flush());
        }
    }

    /// Ends the server's stdin.
    pub(crate) fn hang_up(&self) {
        lock(&self.output).take();
    }

    /// Sends a request; answers with its id.
    pub(crate) fn send(&self, method: &str, params: Value) -> i64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let params = self.with_meta(params);
        self.raw(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    fn with_meta(&self, params: Value) -> Value {
        let mut params = match params {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        if self.era == Era::Modern {
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            meta["io.modelcontextprotocol/clientCapabilities"] = lock(&self.able).clone();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "it", "version": "1"});
        }
        Value::Object(params)
    }

    /// The answer to a request, if it comes in time, with the moment it came.
    pub(crate) fn wait_for(&self, id: i64, time: Duration) -> Option<(Instant, Value)> {
        let end = Instant::now() + time;
        let mut inbox = lock(&self.shared.inbox);
        loop {
            if let Some(first) = inbox.answers.get(&id.to_string()).and_then(|a| a.first()) {
                return Some(first.clone());
            }
            let left = end.checked_duration_since(Instant::now())?;
            if inbox.closed {
                return None;
            }
            inbox = self.shared.came.wait_timeout(inbox, left).unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }

    #[track_caller]
    pub(crate) fn answer(&self, id: i64) -> Value {
        match self.wait_for(id, ANSWERED) {
            Some((_, answer)) => answer,
            None => panic!(
                "request {id} was not answered{}",
                if self.closed() { ": langport has closed its stdout" } else { "" }
            ),
        }
    }

    /// How many answers have come for this id.
    pub(crate) fn answers_for(&self, id: i64) -> usize {
        lock(&self.shared.inbox).answers.get(&id.to_string()).map_or(0, Vec::len)
    }

    #[track_caller]
    pub(crate) fn request(&self, method: &str, params: Value) -> Value {
        self.answer(self.send(method, params))
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) {
        self.raw(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Says what the client can do, before it introduces itself. Questions of the server are then allowed.
    pub(crate) fn capable(&self, capabilities: Value) {
        *lock(&self.able) = capabilities;
    }

    /// Introduces the client as its era does; answers with the server's introduction.
    #[track_caller]
    pub(crate) fn greet(&self) -> Value {
        let mut response = match self.era {
            Era::Modern => self.request("server/discover", json!({})),
            Era::Legacy(version) => {
                let able = lock(&self.able).clone();
                let params = json!({"protocolVersion": version, "capabilities": able, "clientInfo": {"name": "it", "version": "1"}});
                let response = self.request("initialize", params);
                self.notify("notifications/initialized", &json!({}));
                response
            }
        };
        assert!(response["result"].is_object(), "an introduction: {response}");
        response["result"].take()
    }

    /// Every tool, over all pages.
    #[track_caller]
    pub(crate) fn tools(&self) -> Vec<Value> {
        let mut tools = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
            let response = self.request("tools/list", params);
            tools
                .extend(response["result"]["tools"].as_array().cloned().unwrap_or_else(|| panic!("tools: {response}")));
            cursor = response["result"]["nextCursor"].clone();
            if cursor.is_null() {
                return tools;
            }
        }
    }

    /// Starts a call of a tool.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> i64 {
        self.send("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Starts a call that asks for progress with this token.
    pub(crate) fn call_with_progress(&self, tool: &str, arguments: &Value, token: &str) -> i64 {
        self.send("tools/call", json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": token}}))
    }

    pub(crate) fn cancel(&self, id: i64) {
        self.notify("notifications/cancelled", &json!({"requestId": id, "reason": "the user pressed Esc"}));
    }

    /// Notifications and requests that the server sent, in order.
    pub(crate) fn notes(&self, method: &str) -> Vec<Value> {
        lock(&self.shared.inbox).notes.iter().filter(|n| n["method"] == method).cloned().collect()
    }

    /// Lines that are not JSON-RPC, and requests that nobody may send us.
    pub(crate) fn wrong(&self) -> Vec<String> {
        let inbox = lock(&self.shared.inbox);
        let mut wrong = inbox.wrong.clone();
        wrong.extend(
            inbox
                .notes
                .iter()
                .filter(|n| n.get("id").is_some())
                .filter(|n| n["method"] != "elicitation/create" || lock(&self.able).get("elicitation").is_none())
                .map(|n| format!("asked for what was not offered: {n}")),
        );
        wrong.extend(
            inbox
                .answers
                .iter()
                .filter(|(id, a)| *id != "null" && a.len() > 1)
                .map(|(id, a)| format!("{} answers to {id}", a.len())),
        );
        wrong
    }

    pub(crate) fn closed(&self) -> bool {
        lock(&self.shared.inbox).closed
    }
}
