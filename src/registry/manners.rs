//! The tables of a definition about a server's manners: how it tells that it is ready and what is wrong with a file, and
//! which files it wants to hear of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::definition::is_default;

/// How the server tells that it has loaded the project. Several signals: the first one counts. None: progress that has
/// begun within the grace has ended.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ready {
    /// A regular expression for the text of `window/logMessage`.
    #[serde(skip_serializing_if = "is_default")]
    pub log: Option<String>,
    /// A notification of the server's own.
    #[serde(skip_serializing_if = "is_default")]
    pub notification: Option<ReadyNotification>,
    /// A regular expression for the title of the progress whose end is the signal.
    #[serde(skip_serializing_if = "is_default")]
    pub progress: Option<String>,
    /// Its first `workspace/diagnostic/refresh` is the signal: until then its reports are empty.
    #[serde(skip_serializing_if = "is_default")]
    pub refresh: bool,
    /// A regular expression for the titles of progress that stands for a state, as long as that lasts: no work goes on.
    #[serde(skip_serializing_if = "is_default")]
    pub standing: Option<String>,
    /// How long after `initialized` progress may begin.
    pub grace_ms: u64,
    /// The longest wait for the signal: after it, answers say that the project is still being loaded.
    pub timeout_ms: u64,
    /// Globs of file names. When such a file comes or goes the server counts its files anew and gives its signal again:
    /// questions about the whole project wait for it.
    #[serde(skip_serializing_if = "is_default")]
    pub again: Vec<String>,
    /// The longest wait for that: files that the server leaves out bring no signal.
    pub again_ms: u64,
    /// It knows a text once it has pushed a list for it: questions about the whole project wait for the lists of all that
    /// was opened or changed.
    #[serde(skip_serializing_if = "is_default")]
    pub published: bool,
    /// No signal of this server proves that it knows every file: each question about the whole project is asked until two
    /// answers agree, also later, since files come and go.
    #[serde(skip_serializing_if = "is_default")]
    pub agree: bool,
}

impl Default for Ready {
    fn default() -> Self {
        Self {
            log: None,
            notification: None,
            progress: None,
            refresh: false,
            standing: None,
            grace_ms: 300,
            timeout_ms: 60_000,
            again: Vec::new(),
            again_ms: 1_000,
            published: false,
            agree: false,
        }
    }
}

/// A notification that tells readiness.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadyNotification {
    pub method: String,
    /// A field of its parameters (dots descend) that has to be true; left out, the notification is enough.
    #[serde(default, skip_serializing_if = "is_default")]
    pub field: Option<String>,
}

/// How the server tells problems.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Diagnostics {
    #[serde(skip_serializing_if = "is_default")]
    pub mode: DiagnosticMode,
    /// Languages of the files that it can be pulled for, where it cannot for all of its own.
    #[serde(skip_serializing_if = "is_default")]
    pub pull_languages: Option<Vec<String>>,
    /// What it answers when it is pulled for a file is all that it knows of it. What it pushes of that file besides does
    /// not count: of several changes that are told together it may know the first without the last.
    #[serde(skip_serializing_if = "is_default")]
    pub pull_complete: bool,
    /// Whether the first pushed list for a text is its last word.
    #[serde(rename = "final", skip_serializing_if = "is_default")]
    pub finality: Finality,
    /// Quiet after a pushed list before it counts; left out, the setting `settle_ms`.
    #[serde(skip_serializing_if = "is_default")]
    pub settle_ms: Option<u64>,
    /// The same for an empty list; left out, the setting `empty_ms`.
    #[serde(skip_serializing_if = "is_default")]
    pub empty_ms: Option<u64>,
    /// It checks more after a save: a text is not fully checked before its `didSave`.
    #[serde(skip_serializing_if = "is_default")]
    pub on_save: bool,
    /// It tells of each file what it is doing there. Its lists count once it is idle; work that begins after a list ends
    /// in another one.
    #[serde(skip_serializing_if = "is_default")]
    pub work: Option<WorkNotification>,
    /// What makes it look again at a file whose dependency has changed, where it pushes.
    #[serde(skip_serializing_if = "is_default")]
    pub retrigger: Retrigger,
    /// It looks at the dependents of a changed file later, and then asks to be pulled anew: how long to wait for that
    /// before a file is pulled after a change elsewhere.
    #[serde(skip_serializing_if = "is_default")]
    pub refresh_ms: Option<u64>,
    /// What makes a silent server speak, to prove that nothing has changed.
    #[serde(skip_serializing_if = "is_default")]
    pub confirm: Option<Confirm>,
    /// What it says of its whole project (`workspace/diagnostic`) is about the files as it was told of them, and complete
    /// at once. Where that is not known to hold, every file is asked about.
    #[serde(skip_serializing_if = "is_default")]
    pub project: bool,
    /// Commands that it answers with the problems of a file as it is, all together, in the form of tsserver: for one
    /// that pushes lists late, in parts and without version. Where one is refused, what it pushes has to do.
    #[serde(skip_serializing_if = "is_default")]
    pub ask: Vec<ServerCommand>,
    /// Codes of problems with which it says that a file is no part of what it looks at: that it tells no others says
    /// nothing then.
    #[serde(skip_serializing_if = "is_default")]
    pub aside: Vec<String>,
}

/// A notification of the server's own that tells what it is doing at a file, whose address is in the field `uri`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkNotification {
    pub method: String,
    /// The field of its parameters (dots descend) that says so.
    pub field: String,
    /// A regular expression for what stands there while lists of problems are being made.
    pub working: String,
}

/// A command of `workspace/executeCommand`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerCommand {
    pub command: String,
    /// In their texts `${uri}` and `${path}` stand for the file, `${query}` for what is searched.
    #[serde(default, skip_serializing_if = "is_default")]
    pub arguments: Vec<Value>,
}

/// Channels that count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DiagnosticMode {
    /// Pull where the server offers it at that moment, else push; what it pushes of a file that was pulled is merged.
    #[default]
    Both,
    Pull,
    Push,
}

/// Whether more may follow a pushed list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Finality {
    /// Its first list for a text is complete.
    First,
    /// More may follow: it has to be quiet for a while.
    #[default]
    Settle,
}

/// What makes a server look again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Retrigger {
    /// It looks again by itself, or is asked.
    #[default]
    None,
    /// A change that changes nothing.
    Change,
    Save,
    Reopen,
}

/// What makes a silent server speak.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    Save,
    Reopen,
    /// A command that it answers once it has analysed everything.
    Command(String),
}

/// Files beside the workspace's that the server wants to hear of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Watch {
    /// Paths relative to the root, watched although git ignores them.
    #[serde(skip_serializing_if = "is_default")]
    pub paths: Vec<String>,
    /// Globs of paths below the root. The server wants to hear of these files, although it registers nothing: it was
    /// written for one client, which tells it anyway.
    #[serde(skip_serializing_if = "is_default")]
    pub files: Vec<String>,
    /// Globs of paths below the root. Where such a file changes the server is started anew: it would go on with a part of
    /// what the old one said. Of installed packages there are `**/site-packages/*.dist-info` and
    /// `**/node_modules/.package-lock.json`.
    #[serde(skip_serializing_if = "is_default")]
    pub restart: Vec<String>,
    /// The server reads closed files once, and neither looks at them again nor asks to be told: one of its languages that
    /// changes is opened for it, up to this many at once. For more, and where one goes, it is started anew.
    #[serde(skip_serializing_if = "is_default")]
    pub open_changed: Option<u32>,
    /// The server takes a file for unchanged while its modification time is the same: one that was changed behind an older
    /// time is shown to it.
    #[serde(skip_serializing_if = "is_default")]
    pub by_mtime: bool,
}
