//! What a connection needs of its owner, and what it tells it: the seam to the runtime.

use serde_json::Value;

use super::types::{LostList, Published};

/// The owner of a connection. Every method is synchronous and must return quickly: calls come one at a time, in the
/// order in which the server sent things.
pub trait Host: Send + Sync + 'static {
    /// The server told something.
    fn told(&self, what: Told);

    /// The value of one item of `workspace/configuration`; no section means everything.
    fn configuration(&self, section: Option<&str>, scope: Option<&str>) -> Value;

    /// The workspace folders: URI and name.
    fn folders(&self) -> Vec<(String, String)>;

    /// A fixed answer to a request that LSP does not know; `None` answers "method not found".
    fn reply(&self, method: &str, params: &Value) -> Option<Value>;

    /// The server wants files changed (`workspace/applyEdit`, its parameters unparsed).
    ///
    /// # Errors
    /// Why they are not.
    fn apply_edit(&self, params: &[u8]) -> Result<(), String>;
}

/// Something the server said without asking for more than an acknowledgement.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    Published(Published),
    /// A list came that is of no use: whatever was told of the file before is not what the server says now.
    Lost(LostList),
    Progress {
        token: String,
        value: ProgressValue,
    },
    /// `window/workDoneProgress/create`.
    ProgressCreated {
        token: String,
    },
    /// `window/logMessage`; 1 is an error, 4 a log line, 5 debug.
    Log {
        level: u8,
        text: String,
    },
    /// `window/showMessage` and `window/showMessageRequest`.
    Show {
        level: u8,
        text: String,
    },
    Refresh(RefreshKind),
    Registered(Vec<Registration>),
    /// Ids and methods.
    Unregistered(Vec<(String, String)>),
    /// Any other notification; `params` is null where they were larger than 64 KiB or unreadable.
    Other {
        method: String,
        params: Value,
    },
}

/// The value of `$/progress`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgressValue {
    Begin { title: String, message: Option<String>, percentage: Option<u32> },
    Report { message: Option<String>, percentage: Option<u32> },
    End { message: Option<String> },
}

/// What a `workspace/…/refresh` request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefreshKind {
    Diagnostics,
    CodeLens,
    FoldingRange,
    InlayHint,
    InlineValue,
    SemanticTokens,
    Other,
}

/// One entry of `client/registerCapability`.
#[derive(Debug, Clone, PartialEq)]
pub struct Registration {
    pub id: String,
    pub method: String,
    /// `registerOptions`, null where absent.
    pub options: Value,
}
