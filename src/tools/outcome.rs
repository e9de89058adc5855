//! What a tool answers, typed and without any wire's words: the renderer makes text or structured content of it.
//!
//! Every coordinate here is as agents see it: 1-based lines, 1-based columns in code points, paths relative to the
//! workspace with forward slashes.

use schemars::JsonSchema;
use serde::Serialize;

use crate::registry::{DisplayName, ScopedName};
pub use crate::runtime::verdict::Verdict;

/// One server's part in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServerVerdict {
    /// Whose it is: what is told apart and remembered goes by this, never by what it is called.
    #[serde(skip)]
    pub id: ScopedName,
    /// Display name: `pyright` for `builtin/pyright`, the scoped name where two would be alike.
    pub server: DisplayName,
    pub verdict: Verdict,
    /// Why, when the verdict is not `fresh`: in langport's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A tool's answer.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The worst verdict, or `partial` where some servers answered and others did not.
    pub verdict: Verdict,
    pub servers: Vec<ServerVerdict>,
    /// The third part of the first line, in langport's own words: `1 error, 2 warnings`.
    pub summary: String,
    /// Remarks of langport's own, a line each: what moved, what is missing and how to get it.
    pub notes: Vec<String>,
    /// What files and servers have to say to the notes, such as a dead server's last words: shown below them, indented.
    pub details: Vec<String>,
    pub body: Body,
    pub page: Page,
}

/// Which part of a list the body holds.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Items before the first one in the body.
    pub offset: usize,
    /// All items that can be paged through.
    pub total: usize,
    /// Binds a cursor to query, generation and result; the renderer puts it and the next offset into the cursor.
    pub fingerprint: u64,
    /// The point in time that the answer stands for, as `since` takes it back: opaque, langport's own.
    pub mark: Option<String>,
    /// Errors, warnings, infos, hints: all that the answer is about, listed or not.
    pub counts: Option<[usize; 4]>,
}

/// The payload. Lists begin at `page.offset` and may hold more than fits: the renderer stops at its budget.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Nothing but the first line and the notes.
    None,
    Problems(Vec<Problem>),
    Hover(HoverText),
    Places(Vec<Place>),
    Completions(Vec<CompletionLine>),
    Signatures(Vec<SignatureLine>),
    Symbols(Vec<SymbolLine>),
    Found(Vec<FoundSymbol>),
    Tree(Vec<TreeLine>),
    Status(Vec<StatusLine>),
    Actions(Vec<ActionLine>),
    Diff(Vec<DiffLine>),
}

/// A diagnostic. All text but `file` comes from a server or a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    /// `error`, `warning`, `info`, `hint`.
    pub severity: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The source line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<RelatedPlace>,
}

/// A place that a diagnostic refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RelatedPlace {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub message: String,
}

/// A hover: code before prose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HoverText {
    /// The place that was asked about, resolved.
    pub file: String,
    pub line: u32,
    pub column: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prose: String,
    pub truncated: bool,
}

/// A location with its line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    /// The source line; absent outside the workspace, where places are named but not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// `definition` where the server's own definition answer names this place (references only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// A completion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CompletionLine {
    pub label: String,
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What would be inserted, where it is not the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert: Option<String>,
    pub deprecated: bool,
}

/// A signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SignatureLine {
    pub label: String,
    pub active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_parameter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
}

/// A line of an outline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SymbolLine {
    /// 0 for the outermost.
    pub depth: u32,
    pub kind: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Where the name stands.
    pub line: u32,
    pub column: u32,
    /// Last line of the whole declaration.
    pub end_line: u32,
    /// Children that `depth` hides.
    pub hidden: u32,
}

/// A symbol found in the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoundSymbol {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub kind: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
}

/// A line of a call or type tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TreeLine {
    /// 0 for the asked symbol itself.
    pub depth: u32,
    pub kind: String,
    pub name: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// Lines of the call sites (calls only).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<u32>,
    /// Already shown above: not opened again.
    pub repeated: bool,
}

/// A code action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActionLine {
    /// Takes it; langport's own.
    pub action: String,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    pub preferred: bool,
    /// Why it cannot be taken now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<String>,
    /// Who offers it, where several were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// A line of a plan's diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiffLine {
    /// The file, and what happens to it: langport's own words.
    pub file: String,
    /// As in a unified diff, with `@@`, a blank, `+` or `-` in front.
    pub text: String,
}

/// A definition or an instance, as `lsp/status` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StatusLine {
    /// Scoped name.
    pub name: String,
    /// `builtin`, `user`, …
    pub scope: String,
    /// `running`, `starting`, `indexing`, `stopped`, `not installed`, `untrusted`, `failed`, ….
    pub state: String,
    /// The languages, the role, the root, the pid, requests, restarts, in order: label and value, langport's own.
    pub facts: Vec<Fact>,
    /// Untrusted text: last lines of stderr, junk on stdout.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<String>,
}

/// A labelled value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fact {
    pub label: String,
    pub value: String,
}

/// Why a call has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    Invalid,
    NotFound,
    Ambiguous,
    OutsideWorkspace,
    ReadOnly,
    Conflict,
    Refused,
    TooLarge,
    Failed,
    Unavailable,
    Unsupported,
    Expired,
}

/// A failed call: the first line is `CODE · WHAT · NEXT STEP`.
#[derive(Debug, Clone)]
pub struct Failure {
    pub code: Code,
    /// langport's own words; quoted arguments are folded and capped by the renderer.
    pub what: String,
    pub next: String,
    /// Addresses that can be passed straight back, source lines, stderr lines: untrusted, indented by the renderer.
    pub details: Vec<String>,
    /// `unavailable` and `failed` carry the servers' states.
    pub servers: Vec<ServerVerdict>,
}
