//! `langport serve`: one agent over standard input and output, until its input ends or a signal comes.

use std::sync::Arc;

use crate::{mcp, sys::signals, tools::Tools};

use super::{assemble::Flagged, on_runtime};

/// Flags of `serve`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    flagged: Flagged,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    on_runtime(async {
        let langport = args.flagged.assemble()?;
        langport.engine.current().recover();
        let tools: Arc<dyn Tools> = langport.engine.clone();
        let served = tokio::select! {
            served = mcp::serve_stdio(tools, langport.mcp) => served,
            signal = signals::ended() => {
                tracing::info!(signal, "asked to end");
                Ok(())
            }
        };
        langport.engine.shutdown().await;
        served.map(|()| 0)
    })
}
