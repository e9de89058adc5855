//! One call without a client: the real server at the other end of a pipe in memory, so that a command line and a wire
//! get the same answers by the same way.

use std::sync::Arc;

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio_util::sync::CancellationToken;

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

/// Calls one tool as a client would; what it says meanwhile goes to `progress`.
///
/// # Errors
///
/// For what the wire answers with an error of its own: an unknown tool, arguments that are no object.
pub async fn call_once(
    tools: Arc<dyn Tools>,
    settings: McpSettings,
    name: &str,
    arguments: &Value,
    progress: ProgressSink,
) -> anyhow::Result<Reply> {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(theirs);
    let stop = CancellationToken::new();
    let _ended = stop.clone().drop_guard();
    let server = tokio::spawn(serve(tools, settings, read, write, stop));
    let (read, mut write) = tokio::io::split(ours);
    let request = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": name,
            "arguments": arguments,
            "_meta": {
                "progressToken": 1,
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "langport call", "version": env!("CARGO_PKG_VERSION")},
            },
        },
    });
    write.write_all(format!("{request}\n").as_bytes()).await.context("the server ended early")?;
    let mut lines = BufReader::new(read).lines();
    while let Some(line) = lines.next_line().await? {
        let message: Message = serde_json::from_str(&line).context("the server sent what is no message")?;
        if message.method.as_deref() == Some("notifications/progress") {
            if let Some(text) = message.params.as_ref().and_then(|params| params["message"].as_str()) {
                progress.say(text);
            }
        } else if message.id == Some(1) {
            drop((write, lines));
            server.await.context("the server did not end")??;
            if let Some(error) = message.error {
                bail!(error.message);
            }
            return reply(message.result.unwrap_or_default());
        }
    }
    bail!("the server ended without an answer")
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
