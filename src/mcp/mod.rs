//! The MCP side: names and lists, calls with their progress and cancellation, resources and their updates, both
//! protocol eras, over stdio. Knows tools only as something that is called and rendered; nothing about language servers.

mod calls;
mod catalog;
mod changes;
mod consent;
mod handler;
mod instructions;
mod lines;
mod names;
mod once;
mod progress;
mod resources;
mod subscriptions;
mod transport;

use std::{sync::Arc, time::Duration};

use rmcp::{
    ServiceExt,
    service::{QuitReason, ServerInitializeError},
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

pub use changes::ListChanges;
pub use names::{ToolNames, nearest, parse};
pub use once::{Once, Reply};

use crate::{
    render::Output,
    tools::{ToolId, Tools},
};

/// How a connection is served.
#[derive(Clone)]
pub struct McpSettings {
    pub output: Output,
    pub names: ToolNames,
    /// The longest that a call may take; tools keep it, and a little later it is kept for them.
    pub max_wait: Duration,
    /// Characters of one answer.
    pub max_chars: usize,
    /// The tools to list, asked at every list. Any known one can be called.
    pub offered: Arc<dyn Fn() -> Vec<ToolId> + Send + Sync>,
    /// Whoever changes what is offered says so here.
    pub changes: ListChanges,
    /// Calls that may be under way at once on one connection; more are refused. None waits for another one here: how many
    /// ask a server at once is each server's own limit, so that one that answers nothing holds up no other.
    pub calls: usize,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            output: Output::default(),
            names: ToolNames::default(),
            max_wait: Duration::from_secs(25),
            max_chars: 8_000,
            offered: Arc::new(|| ToolId::ALL.to_vec()),
            changes: ListChanges::default(),
            calls: 512,
        }
    }
}

/// Serves one client over standard input and output, until its input ends.
///
/// # Errors
///
/// When the connection breaks in another way than by its end.
pub async fn serve_stdio(tools: Arc<dyn Tools>, settings: McpSettings) -> anyhow::Result<()> {
    let (read, write) = rmcp::transport::stdio_pipes();
    serve(tools, settings, read, write, CancellationToken::new()).await
}

/// Serves one client over any two streams, until its input ends or `stop` is cancelled.
///
/// # Errors
///
/// As [`serve_stdio`].
pub async fn serve<R, W>(
    tools: Arc<dyn Tools>,
    settings: McpSettings,
    read: R,
    write: W,
    stop: CancellationToken,
) -> anyhow::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let closing = CancellationToken::new();
    let listeners = Arc::<changes::Listeners>::default();
    let changes = settings.changes.subscribe();
    let handler = handler::Handler::new(tools, settings, Arc::clone(&listeners), closing.clone());
    let updates = handler.clone();
    let transport = transport::Mending::new(read, write, closing.clone());
    let connection = async {
        let service = match handler.serve_with_ct(transport, stop).await {
            Ok(service) => service,
            // The client went away, or never came.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        match service.waiting().await? {
            QuitReason::JoinError(error) => Err(error.into()),
            reason => {
                tracing::debug!(?reason, "the connection ended");
                Ok(())
            }
        }
    };
    tokio::select! {
        ended = connection => ended,
        // Never ends before the connection does: the handle lives in the settings.
        ended = async { listeners.run(changes).await; std::future::pending().await } => ended,
        ended = async { updates.tell_of_updates().await; std::future::pending().await } => ended,
    }
}

#[cfg(test)]
mod tests;
