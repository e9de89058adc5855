//! One file per tool: arguments to a query to a typed outcome; and the address, which all position tools share.

pub mod caller;
pub mod cursor;
pub mod id;
pub mod outcome;
pub mod progress;

use std::{future::Future, pin::Pin, sync::Arc};

pub use caller::Caller;
pub use id::ToolId;
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
}
