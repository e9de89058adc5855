//! A definition: one file of `servers.d`, as it is written. What it means for a root is worked out in `launch`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::{Capability, Sandbox};

/// What is left out of a file need not be shown either.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How a language server is installed, started, rooted, configured, and known to be ready.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "langport server definition")]
pub struct Definition {
    /// `[[server:]namespace/]name`; a bare name is put into `local/`.
    pub name: String,
    /// One line for people.
    #[serde(default, skip_serializing_if = "is_default")]
    pub description: String,
    /// The program: a bare name (found among what langport installed, then on PATH outside the workspace), an absolute
    /// path, or `~/…`.
    pub command: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub args: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub transport: Transport,
    /// `host:port`, for the transport `tcp` only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub address: Option<String>,
    /// Language ids that it serves.
    #[serde(default, skip_serializing_if = "is_default")]
    pub languages: Vec<String>,
    /// File-name endings that the built-in table does not know, with their language ids: `{ ".foo" = "foo" }`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub extensions: BTreeMap<String, String>,
    /// Whole file names that the built-in table does not know; they are in the first of `languages`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub filenames: Vec<String>,
    /// What it can do, and no more than that, unless it registers more while it runs; left out, the server says it itself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capabilities: Option<Vec<Capability>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub role: Role,
    /// Definitions of the same group are alternatives: the first available one serves.
    #[serde(default, skip_serializing_if = "is_default")]
    pub group: Option<String>,
    /// Environment variables for the server, beside the few that every server gets.
    #[serde(default, skip_serializing_if = "is_default")]
    pub env: BTreeMap<String, String>,
    /// Variables of langport's own environment that are passed on, beside those; one that is not set there stays unset.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pass_env: Vec<String>,
    /// It meets others of the same user in the cache folder (a daemon's socket): it gets such folders of its own, which go
    /// with it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub private_cache: bool,
    /// Instead of the setting `memory_mb`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub memory_mb: Option<u64>,
    /// Instead of the setting `nice`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nice: Option<u8>,
    /// Instead of the setting `sandbox`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sandbox: Option<Sandbox>,
    /// Merged into the client capabilities that `initialize` offers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub client_capabilities: Map<String, Value>,
    /// Fixed answers to the server's own requests, by method.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replies: BTreeMap<String, Value>,
    /// What `workspace/configuration` is answered where nothing is set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unset: Unset,
    /// `initializationOptions`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub initialization: Map<String, Value>,
    /// The server's settings; the dots of a key of the first level nest: `"python.analysis.diagnosticMode"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub workspace_settings: Map<String, Value>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub untrusted: Untrusted,
    #[serde(default, skip_serializing_if = "is_default")]
    pub root: Root,
    #[serde(default, skip_serializing_if = "is_default")]
    pub ready: Ready,
    #[serde(default, skip_serializing_if = "is_default")]
    pub diagnostics: Diagnostics,
    #[serde(default, skip_serializing_if = "is_default")]
    pub watch: Watch,
    #[serde(default, skip_serializing_if = "is_default")]
    pub install: Install,
}

/// How the server is talked to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    #[default]
    Stdio,
    /// Spawned and connected to, or only connected to.
    Tcp,
}

/// What a server is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Answers every kind of question.
    #[default]
    Primary,
    /// Only its diagnostics and actions are merged with those of the primary server.
    Linter,
}

/// What stands for a setting that is not set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum Unset {
    #[default]
    #[serde(rename = "{}")]
    Empty,
    #[serde(rename = "null")]
    Null,
}

impl Unset {
    pub fn value(self) -> Value {
        match self {
            Self::Empty => Value::Object(Map::new()),
            Self::Null => Value::Null,
        }
    }
}

/// What is added while the repository is not trusted: it switches off what would run the repository's content.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Untrusted {
    /// Win over `workspace_settings`, key by key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub settings: Map<String, Value>,
    /// The same over `initialization`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub initialization: Map<String, Value>,
    /// Win over `env`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub env: BTreeMap<String, String>,
    /// Appended to `args`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub args: Vec<String>,
    /// What it does not check then, said with the problems that it finds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub note: Option<String>,
    /// Whether all this is enough.
    #[serde(default, skip_serializing_if = "is_default")]
    pub run: Run,
}

/// Which program may run while the repository is not trusted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Run {
    /// Any: nothing of the repository is executed then.
    #[default]
    Any,
    /// Only the one that langport installed: it needs what was installed with it, else it takes the repository's.
    Installed,
    /// None: it cannot work without executing the repository's content.
    None,
}

/// Which folder a file belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// Groups in the order of their priority; the markers of one group are equal. A marker is a file name, a glob
    /// (`*.sln`), or `file#key`: a JSON or TOML file that has this key (of `package.json`, also a dependency).
    #[serde(default, skip_serializing_if = "is_default")]
    pub markers: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub mode: RootMode,
    /// Its texts are the same for every root and one process can serve several folders: where the server says that it takes
    /// them, further roots are given to the process that runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub share: bool,
    /// Markers that keep the server away, where they are at the root that was found or nearer to the file.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exclude: Vec<String>,
    /// Names of folders that hold other people's projects (`node_modules`): no root is inside one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dependencies: Vec<String>,
}

/// Which of the folders with a marker is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RootMode {
    /// The nearest to the file, else the workspace.
    #[default]
    Nearest,
    /// The farthest from the file, else the workspace.
    Outermost,
    /// The nearest; a file without one is not served.
    Strict,
    /// Always the workspace.
    Workspace,
}

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
    /// Commands that it answers with the problems of a file as it is, all together, in the form of tsserver: for one
    /// that pushes lists late, in parts and without version. Where one is refused, what it pushes has to do.
    #[serde(skip_serializing_if = "is_default")]
    pub ask: Vec<ServerCommand>,
}

/// A command of `workspace/executeCommand`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerCommand {
    pub command: String,
    /// In their texts `${uri}` and `${path}` stand for the file.
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

/// How to get the server: one package manager, or a hint for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Install {
    /// `package@version`.
    #[serde(skip_serializing_if = "is_default")]
    pub npm: Option<Packages>,
    /// `package==version`.
    #[serde(skip_serializing_if = "is_default")]
    pub pip: Option<Packages>,
    /// `crate@version`.
    #[serde(skip_serializing_if = "is_default")]
    pub cargo: Option<Packages>,
    /// `module/path@version`.
    #[serde(skip_serializing_if = "is_default")]
    pub go: Option<Packages>,
    /// What a person has to do: shown where langport cannot install it.
    #[serde(skip_serializing_if = "is_default")]
    pub hint: Option<String>,
}

/// One pinned package, or several that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Packages {
    One(String),
    Several(Vec<String>),
}

impl Packages {
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        match self {
            Self::One(package) => std::slice::from_ref(package),
            Self::Several(packages) => packages,
        }
        .iter()
        .map(String::as_str)
    }
}
