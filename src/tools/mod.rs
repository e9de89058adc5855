//! One file per tool: arguments to a query to a typed outcome; and the address, which all position tools share.

mod action_ids;
#[doc(hidden)]
pub mod address;
mod apply;
mod args;
mod ask;
pub mod caller;
mod calls;
mod checkouts;
mod code_actions;
mod compare;
mod completions;
pub mod cursor;
mod definition;
mod diagnostics;
pub mod engine;
mod file;
mod format;
mod hover;
pub mod id;
mod kinds;
mod languages;
mod links;
mod locate;
mod move_file;
mod moved_along;
pub mod news;
pub mod outcome;
mod places;
mod plan;
mod problems;
pub mod progress;
mod references;
mod rename;
mod routing;
mod search;
pub mod service;
mod short;
mod signature;
mod similar;
mod span;
mod status;
mod strays;
mod symbol_path;
mod symbols;
mod together;
mod tree;
mod types;
mod wake;
mod workspace_symbols;

use std::{future::Future, pin::Pin, sync::Arc};

pub use caller::Caller;
pub use id::ToolId;
pub use news::News;
use outcome::{Failure, Outcome};
pub use progress::ProgressSink;
use tokio::time::Instant;

/// A call of one tool, as the protocol side hands it over.
#[derive(Debug, Clone)]
pub struct ToolCall {
    pub tool: ToolId,
    /// As the client sent them: any JSON object.
    pub arguments: serde_json::Map<String, serde_json::Value>,
    pub caller: Arc<Caller>,
    pub progress: ProgressSink,
    /// What a person has agreed to, where that was asked for.
    pub consent: Option<Consent>,
    /// When it came: its time runs from here.
    pub arrived: Instant,
}

impl ToolCall {
    /// One that has just come.
    pub fn new(
        tool: ToolId,
        arguments: serde_json::Map<String, serde_json::Value>,
        caller: Arc<Caller>,
        progress: ProgressSink,
    ) -> Self {
        Self { tool, arguments, caller, progress, consent: None, arrived: Instant::now() }
    }

    /// A person has agreed, and had time of their own for it.
    #[must_use]
    pub fn agreed(self, consent: Consent) -> Self {
        Self { consent: Some(consent), arrived: Instant::now(), ..self }
    }
}

/// What a person has to agree to before a call is made: this very plan, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// The plan's id.
    pub plan: String,
    /// Over all that it does.
    pub hash: String,
    /// What it does, in a few words; names in it come from files and agents.
    pub what: String,
    /// The files that it concerns.
    pub files: Vec<String>,
}

/// What answers tool calls. Dropping the future cancels the call: everything asked of servers for it is cancelled too.
pub trait Tools: Send + Sync + 'static {
    fn call(self: Arc<Self>, call: ToolCall) -> Pin<Box<dyn Future<Output = Result<Outcome, Failure>> + Send>>;

    /// When answers may have changed.
    fn news(&self) -> News;

    /// What a person has to agree to before this call is made; nothing, as a rule.
    ///
    /// # Errors
    /// When the call is wrong in itself.
    fn consent(&self, call: &ToolCall) -> Result<Option<Consent>, Failure> {
        let _ = call;
        Ok(None)
    }

    /// A caller is gone: what is kept for it is forgotten.
    fn forget(&self, caller: u64) {
        let _ = caller;
    }
}

/// An answer of another kind than the question's: a defect of langport's own.
fn wrong_kind() -> Failure {
    file::failure(
        outcome::Code::Failed,
        "the answer does not belong to the question",
        "this is a defect of langport: please report it",
    )
}
