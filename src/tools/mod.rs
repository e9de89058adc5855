//! One file per tool: arguments to a query to a typed outcome; and the address, which all position tools share.

#[doc(hidden)]
pub mod address;
mod args;
mod ask;
pub mod caller;
mod calls;
mod completions;
pub mod cursor;
mod definition;
mod diagnostics;
pub mod engine;
mod file;
mod hover;
pub mod id;
mod kinds;
mod languages;
mod locate;
pub mod news;
pub mod outcome;
mod places;
pub mod progress;
mod references;
mod search;
mod short;
mod signature;
mod status;
mod symbol_path;
mod symbols;
mod tree;
mod types;
mod workspace_symbols;

use std::{future::Future, pin::Pin, sync::Arc};

pub use caller::Caller;
pub use id::ToolId;
pub use news::News;
use outcome::{Failure, Outcome};
pub use progress::ProgressSink;

/// A call of one tool, as the protocol side hands it over.
#[derive(Debug, Clone)]
pub struct ToolCall {
    pub tool: ToolId,
    /// As the client sent them: any JSON object.
    pub arguments: serde_json::Map<String, serde_json::Value>,
    pub caller: Arc<Caller>,
    pub progress: ProgressSink,
}

/// What answers tool calls. Dropping the future cancels the call: everything asked of servers for it is cancelled too.
pub trait Tools: Send + Sync + 'static {
    fn call(self: Arc<Self>, call: ToolCall) -> Pin<Box<dyn Future<Output = Result<Outcome, Failure>> + Send>>;

    /// When answers may have changed.
    fn news(&self) -> News;
}

/// An answer of another kind than the question's: a defect of langport's own.
fn wrong_kind() -> Failure {
    file::failure(
        outcome::Code::Failed,
        "the answer does not belong to the question",
        "this is a defect of langport: please report it",
    )
}
