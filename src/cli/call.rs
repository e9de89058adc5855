//! `langport call`: one tool call through the same handler that agents reach, and its answer on standard output; with
//! `--apply` a second one, which makes the plan.

use anyhow::Context;
use serde_json::{Value, json};

use crate::{
    mcp::{self, Once, Reply},
    tools::{ProgressSink, ToolId},
};

use super::{assemble::Flagged, on_runtime, out};

/// Arguments of `call`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The tool, in any spelling: lsp_hover, lsp/hover, hover
    tool: String,
    /// Its arguments as a JSON object
    #[arg(default_value = "{}")]
    json: String,
    /// Make the plan of the answer at once: plans and ids end with the command
    #[arg(long)]
    apply: bool,
    #[command(flatten)]
    flagged: Flagged,
}

const EXAMPLE: &str = r#"{"file_path": "src/main.py", "line": 1, "column": 5}"#;

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let arguments: Value = serde_json::from_str(&args.json)
        .with_context(|| format!("the tool's arguments must be a JSON object, such as '{EXAMPLE}'"))?;
    let progress = ProgressSink::new(|text| tracing::info!("{text}"));
    on_runtime(async {
        let langport = args.flagged.assemble()?;
        let mut once = Once::new(langport.engine.clone(), langport.mcp, progress);
        let called = call(args, &arguments, &mut once).await;
        let ended = once.end().await;
        langport.engine.shutdown().await;
        let code = called?;
        ended?;
        Ok(code)
    })
}

/// Calls, and makes the plan where that is asked for; gives the exit code.
async fn call(args: &Args, arguments: &Value, once: &mut Once) -> anyhow::Result<u8> {
    let reply = once.call(&args.tool, arguments).await?;
    out::print(&format!("{}\n", reply.text))?;
    let Some(plan) = plan(&reply).filter(|_| args.apply) else {
        if let Some(note) = note(args, &reply) {
            out::note(note);
        }
        return Ok(u8::from(reply.is_error));
    };
    let made = once.call(ToolId::Apply.canonical(), &json!({ "plan": plan })).await?;
    out::print(&format!("{}\n", made.text))?;
    if !made.is_error {
        out::note("what takes it back ends with this command: `undo` cannot be called by another one");
    }
    Ok(u8::from(made.is_error))
}

/// The id that a planner's first line ends in.
fn plan(reply: &Reply) -> Option<&str> {
    let (_, id) = reply.text.lines().next()?.rsplit_once("plan ")?;
    (!reply.is_error && !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(id)
}

/// What a person has to know of ids, which an agent that stays connected need not.
fn note(args: &Args, reply: &Reply) -> Option<&'static str> {
    match mcp::parse(&args.tool)? {
        tool if tool.plans() && plan(reply).is_some() => {
            Some("the plan ends with this command: the same with --apply makes it")
        }
        ToolId::CodeActions if !reply.is_error => {
            Some("these ids end with this command: give an action's title as `action`, and --apply to make its plan")
        }
        ToolId::Apply if reply.is_error => {
            Some("a plan ends with the command that made it: call the planner with --apply")
        }
        _ if args.apply && !reply.is_error => Some("there is no plan to make"),
        _ => None,
    }
}
