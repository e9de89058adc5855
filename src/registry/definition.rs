//! A definition: one file of `servers.d`, as it is written. What it means for a root is worked out in `launch`; the
//! tables about what the server says while it runs are in `manners`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::{Capability, Sandbox};

use super::manners::{Diagnostics, Ready, Watch};
use super::reach::Reach;

/// What is left out of a file need not be shown either.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
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
    /// Languages of other servers to whose files its own refer: it is asked, too, when such a file is moved, and
    /// that it cannot mend what refers to it is told.
    #[serde(default, skip_serializing_if = "is_default")]
    pub refers_to: Vec<String>,
    /// What it can do, and no more than that, unless it registers more while it runs; left out, the server says it itself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capabilities: Option<Vec<Capability>>,
    /// Capabilities that it is known not to have: where another definition lacks one, this one is not named as a help.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lacks: Vec<Capability>,
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
    /// What it takes for the end of a line in the positions that it counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub line_ends: LineEnds,
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
    pub reach: Reach,
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

/// What ends a line where a server counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LineEnds {
    /// `\n`, `\r\n` and `\r`, as the protocol has it.
    #[default]
    Lsp,
    /// U+2028 and U+2029 as well, as in ECMAScript; its positions are in UTF-16, whatever it says.
    Ecmascript,
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
    #[serde(rename = "{}")]
    Empty,
    // As editors answer: some servers crash on `{}` where they expect a list or a word.
    #[default]
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
    /// One process can serve several folders: where the server says that it takes them, further roots are given to the
    /// process that runs, if all that it was started with and told (arguments, environment, settings) is the same for them.
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
