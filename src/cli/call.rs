//! `langport call`: one tool call through the same handler that agents reach, and its answer on standard output.

use anyhow::Context;
use serde_json::Value;

use crate::{mcp, tools::ProgressSink};

use super::{assemble::Flagged, on_runtime, out};

/// Arguments of `call`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The tool, in any spelling: lsp_hover, lsp/hover, hover
    tool: String,
    /// Its arguments as a JSON object
    #[arg(default_value = "{}")]
    json: String,
    #[command(flatten)]
    flagged: Flagged,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let arguments: Value = serde_json::from_str(&args.json).context("the tool's arguments must be a JSON object")?;
    let progress = ProgressSink::new(|text| tracing::info!("{text}"));
    on_runtime(async {
        let langport = args.flagged.assemble()?;
        let reply = mcp::call_once(langport.engine.clone(), langport.mcp, &args.tool, &arguments, progress).await;
        langport.engine.shutdown().await;
        let reply = reply?;
        out::print(&format!("{}\n", reply.text))?;
        Ok(u8::from(reply.is_error))
    })
}
