//! The keys of `config.toml`, with their defaults and bounds.

use std::{collections::BTreeMap, ops::RangeInclusive};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Capability;

/// Settings of langport.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "langport config.toml")]
pub struct Settings {
    /// The longest that any call takes.
    pub max_wait_ms: u64,
    /// The longest that a server may take to start.
    pub start_timeout_ms: u64,
    /// The longest that one request to a server may take.
    pub request_timeout_ms: u64,
    /// Servers that run at once: where more are needed, unused ones are ended, and calls wait for a place.
    pub instances: usize,
    /// Documents that one server has open at once.
    pub documents: usize,
    /// The largest file that a server is told of.
    pub document_bytes: u64,
    /// Requests that one server has unanswered at once.
    pub pending: usize,
    /// A server that nobody asks for this long is stopped; 0: never.
    pub idle_stop_ms: u64,
    /// How often a server that fails is started again within `restart_window_ms`; after that it is tried once, after a pause
    /// that doubles from `backoff_ms` to `backoff_longest_ms`, and at once when its program or a manifest changes.
    pub restarts: usize,
    /// The time in which restarts count; one that has run for so long has held.
    pub restart_window_ms: u64,
    /// The first pause of a server that keeps failing.
    pub backoff_ms: u64,
    /// The longest of these pauses.
    pub backoff_longest_ms: u64,
    /// Quiet after a list of problems before it counts as complete.
    pub settle_ms: u64,
    /// The same after an empty list, for a server whose definition does not say; 2.4 times that after a file's first, and
    /// longer for one that has been seen to follow it up late.
    pub empty_ms: u64,
    /// The longest that a call waits for the file system's events, or, where none come, until all files are compared.
    pub barrier_ms: u64,
    /// Problems of one file in one answer.
    pub diagnostics_file: usize,
    /// Problems in one answer.
    pub diagnostics_delivery: usize,
    /// Folders that are watched.
    pub watched_folders: usize,
    /// Whether the file system is asked for events; without them all files are compared at each call.
    pub watch_events: bool,
    pub output: Output,
    /// Characters of one answer.
    pub max_chars: usize,
    /// How tool names are spelt.
    pub tool_names: ToolNames,
    pub permission: Permission,
    /// Who has to agree before a plan is made; a person has `max_wait_ms` for it where the client asks during the call.
    pub confirm: Confirm,
    /// MiB that a server and all that it starts may use together before they are ended; 0: no limit.
    pub memory_mb: u64,
    /// Niceness of servers: above 0, the agent's own programs go first.
    pub nice: u8,
    /// What servers are shut into.
    pub sandbox: Sandbox,
    /// Definitions that serve, by name and in this order; empty: `languages` or all that fit decide.
    pub bind: Vec<String>,
    /// Languages that are served; empty: all.
    pub languages: Vec<String>,
    /// Capabilities that may be used; empty: all.
    pub capabilities: Vec<Capability>,
    /// Files and folders that are never changed: globs, relative to a root.
    pub withheld: Vec<String>,
    /// Language ids by ending (`.inc`), whole name (`Jobfile`) or glob, before the built-in table is asked.
    pub filetypes: BTreeMap<String, String>,
}

/// What results are made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    #[default]
    Text,
    Structured,
    Both,
}

/// How tool names are spelt on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolNames {
    /// `lsp_hover`: what every client takes.
    #[default]
    Underscore,
    /// `lsp/hover`
    Slash,
    /// `lsp.hover`
    Dot,
}

/// What agents may do to files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    ReadOnly,
    #[default]
    WorkspaceWrite,
}

/// Who has to agree before a plan is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    #[default]
    None,
    /// A person, asked through the client (MCP elicitation); where that cannot be, nothing is made.
    Elicit,
}

/// What a server is shut into: no network, a `/tmp` and a home folder of its own, and of the disk only the workspace,
/// toolchains and what langport installed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    #[default]
    None,
    /// bubblewrap; the workspace can only be read.
    Bwrap,
    /// bubblewrap; the workspace can be written.
    BwrapWrite,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_wait_ms: 25_000,
            start_timeout_ms: 60_000,
            request_timeout_ms: 15_000,
            instances: 16,
            documents: 64,
            document_bytes: 5 << 20,
            pending: 64,
            idle_stop_ms: 600_000,
            restarts: 3,
            restart_window_ms: 300_000,
            backoff_ms: 1_000,
            backoff_longest_ms: 300_000,
            settle_ms: 150,
            empty_ms: 500,
            barrier_ms: 200,
            diagnostics_file: 50,
            diagnostics_delivery: 200,
            watched_folders: 50_000,
            watch_events: true,
            output: Output::default(),
            max_chars: 8_000,
            tool_names: ToolNames::default(),
            permission: Permission::default(),
            confirm: Confirm::default(),
            memory_mb: 0,
            nice: 0,
            sandbox: Sandbox::default(),
            bind: Vec::new(),
            languages: Vec::new(),
            capabilities: Vec::new(),
            withheld: Vec::new(),
            filetypes: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// The first key whose value is out of bounds, with what is wrong about it.
    pub(super) fn out_of_bounds(&self) -> Option<(&'static str, String)> {
        const MINUTE: u64 = 60_000;
        let numbers: [(&'static str, u64, RangeInclusive<u64>); 21] = [
            ("max_wait_ms", self.max_wait_ms, 100..=60 * MINUTE),
            ("start_timeout_ms", self.start_timeout_ms, 100..=60 * MINUTE),
            ("request_timeout_ms", self.request_timeout_ms, 100..=60 * MINUTE),
            ("instances", self.instances as u64, 1..=256),
            ("restarts", self.restarts as u64, 0..=10_000),
            ("documents", self.documents as u64, 1..=4096),
            ("document_bytes", self.document_bytes, 1024..=64 << 20),
            ("pending", self.pending as u64, 1..=1024),
            ("idle_stop_ms", self.idle_stop_ms, 0..=7 * 24 * 60 * MINUTE),
            ("restart_window_ms", self.restart_window_ms, 1_000..=24 * 60 * MINUTE),
            ("backoff_ms", self.backoff_ms, 1..=60 * MINUTE),
            ("backoff_longest_ms", self.backoff_longest_ms, 1..=24 * 60 * MINUTE),
            ("settle_ms", self.settle_ms, 0..=MINUTE),
            ("empty_ms", self.empty_ms, 0..=MINUTE),
            ("barrier_ms", self.barrier_ms, 1..=MINUTE),
            ("diagnostics_file", self.diagnostics_file as u64, 1..=1000),
            ("diagnostics_delivery", self.diagnostics_delivery as u64, 1..=10_000),
            ("watched_folders", self.watched_folders as u64, 1..=1_000_000),
            ("max_chars", self.max_chars as u64, 200..=40_000),
            ("memory_mb", self.memory_mb, 0..=1 << 20),
            ("nice", self.nice.into(), 0..=19),
        ];
        let number = numbers.into_iter().find(|(_, value, range)| !range.contains(value)).map(|(key, value, range)| {
            (key, format!("is {value}, and has to be within {} and {}", range.start(), range.end()))
        });
        let globs = self.filetypes.keys().map(|pattern| ("filetypes", pattern));
        let mut globs = globs.chain(self.withheld.iter().map(|pattern| ("withheld", pattern)));
        number.or_else(|| {
            globs.find_map(|(key, pattern)| {
                Some((key, format!("has `{pattern}`, which is no glob: {}", globset::Glob::new(pattern).err()?.kind())))
            })
        })
    }
}
