//! Calls without a client: the real server at the other end of a pipe in memory, so that a command line and a wire
//! get the same answers by the same way.

use std::sync::Arc;

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    task::JoinHandle,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{McpSettings, serve};
use crate::tools::{ProgressSink, Tools};

/// What the wire would have carried.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The text blocks, a line apart.
    pub text: String,
    pub structured: Option<Value>,
    pub is_error: bool,
}

#[derive(Deserialize)]
struct Message {
    id: Option<u64>,
    method: Option<String>,
    params: Option<Value>,
    result: Option<Value>,
    error: Option<WireError>,
}

#[derive(Deserialize)]
struct WireError {
    message: String,
}

/// A client of langport's own, with a connection that lasts from its first call to its last: what one of them has planned
/// the next one can make.
pub struct Once {
    server: JoinHandle<anyhow::Result<()>>,
    write: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    progress: ProgressSink,
    calls: u64,
    _ended: DropGuard,
}

impl Once {
    /// Connects; what is said while a call runs goes to `progress`.
    pub fn new(tools: Arc<dyn Tools>, settings: McpSettings, progress: ProgressSink) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (read, write) = tokio::io::split(theirs);
        let stop = CancellationToken::new();
        let ended = stop.clone().drop_guard();
        let server = tokio::spawn(serve(tools, settings, read, write, stop));
        let (read, write) = tokio::io::split(ours);
        Self { server, write, lines: BufReader::new(read).lines(), progress, calls: 0, _ended: ended }
    }

    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// For what the wire answers with an error of its own: an unknown tool, arguments that are no object.
    pub async fn call(&mut self, name: &str, arguments: &Value) -> anyhow::Result<Reply> {
        self.calls += 1;
        let request = json!({
            "jsonrpc": "2.0",
            "id": self.calls,
            "method": "tools/call",
            "params": {
                "name": name,
                "arguments": arguments,
                "_meta": {
                    "progressToken": 1,
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo":
                        {"name": "langport call", "version": env!("CARGO_PKG_VERSION")},
                },
            },
        });
        self.write.write_all(format!("{request}\n").as_bytes()).await.context("the server ended early")?;
        while let Some(line) = self.lines.next_line().await? {
            let message: Message = serde_json::from_str(&line).context("the server sent what is no message")?;
            if message.method.as_deref() == Some("notifications/progress") {
                if let Some(text) = message.params.as_ref().and_then(|params| params["message"].as_str()) {
                    self.progress.say(text);
                }
            } else if message.id == Some(self.calls) {
                if let Some(error) = message.error {
                    bail!(error.message);
                }
                return reply(message.result.unwrap_or_default());
            }
        }
        bail!("the server ended without an answer")
    }

    /// Hangs up.
    ///
    /// # Errors
    ///
    /// When the server did not end as it should.
    pub async fn end(self) -> anyhow::Result<()> {
        let Self { server, write, lines, .. } = self;
        drop((write, lines));
        server.await.context("the server did not end")?
    }
}

fn reply(mut result: Value) -> anyhow::Result<Reply> {
    let blocks = result["content"].as_array().context("the answer has no content")?;
    let text: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    Ok(Reply {
        text: text.join("\n"),
        is_error: result["isError"].as_bool().unwrap_or(false),
        structured: result.get_mut("structuredContent").map(Value::take),
    })
}
