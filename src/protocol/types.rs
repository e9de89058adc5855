//! What servers answer, read into our own bounded types. Ranges are still in the server's units; paths are decoded.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::value::RawValue;

pub use super::listed::{Cut, Listed, Tally};
use super::positions::Range;

/// Where a server's URI points.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FileRef {
    /// A `file:` URI, decoded to an absolute path (not yet confined to a workspace).
    Path(PathBuf),
    /// Any other URI (`jdt:`, `untitled:`, a remote authority), kept as text of at most 300 characters.
    Foreign(String),
}

impl FileRef {
    /// Its bytes.
    pub fn weight(&self) -> usize {
        match self {
            Self::Path(path) => path.as_os_str().len(),
            Self::Foreign(uri) => uri.len(),
        }
    }
}

/// One place in one of the files of a [`Locations`] table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// Index into [`Locations::files`].
    pub file: u32,
    /// The name itself (`targetSelectionRange` of a link, `range` of a location).
    pub range: Range,
}

/// A list of places, with each file named once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Locations {
    pub files: Vec<FileRef>,
    pub items: Vec<Location>,
    /// How many well-formed items the server sent; more than `items` when the cap cut some off.
    pub total: usize,
    /// Items that were not of LSP's shape.
    pub dropped: usize,
}

/// A hover, split into code and prose in the server's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hover {
    pub sections: Vec<HoverSection>,
    pub range: Option<Range>,
    /// Text was cut at the reader's cap.
    pub truncated: bool,
}

/// A part of a hover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HoverSection {
    Code { language: String, text: String },
    Prose(String),
}

/// One completion; documentation is never read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    pub label: String,
    /// LSP `CompletionItemKind`.
    pub kind: Option<u8>,
    pub detail: Option<String>,
    /// `labelDetails.description`.
    pub description: Option<String>,
    pub sort_text: Option<String>,
    pub filter_text: Option<String>,
    /// What is inserted where it is not the label (`textEdit`, `textEditText` or `insertText`).
    pub insert_text: Option<String>,
    /// `insert_text` is a snippet with `$1` and the like in it.
    pub snippet: bool,
    pub deprecated: bool,
    pub preselect: bool,
}

/// A completion list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completions {
    pub items: Vec<Completion>,
    pub incomplete: bool,
    pub total: usize,
    pub dropped: usize,
    /// Those that fit what is typed and were not kept.
    pub missed: usize,
}

/// One signature of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signature {
    pub label: String,
    pub documentation: Option<String>,
    /// Parameter labels as text (offsets are resolved against `label`).
    pub parameters: Vec<String>,
    pub active_parameter: Option<u32>,
}

/// Signature help.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signatures {
    pub signatures: Vec<Signature>,
    pub active_signature: u32,
    pub active_parameter: Option<u32>,
    /// How many there are, those included that were not kept.
    pub total: usize,
}

/// One symbol of an outline, in document order; `depth` gives the nesting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub detail: Option<String>,
    /// LSP `SymbolKind`.
    pub kind: u8,
    pub range: Range,
    /// The name, where the server says so; the whole range for flat `SymbolInformation`.
    pub selection: Range,
    pub depth: u16,
    pub container: Option<String>,
    pub deprecated: bool,
}

/// An outline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    pub symbols: Vec<Symbol>,
    pub total: usize,
    pub dropped: usize,
    /// Those that were not kept and may be what was asked for.
    pub missed: usize,
    /// The server sent `SymbolInformation`: selections are whole ranges.
    pub flat: bool,
}

/// One symbol of a project-wide search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolHit {
    pub name: String,
    pub kind: u8,
    pub container: Option<String>,
    pub file: FileRef,
    /// Absent where the server gave only a file (`WorkspaceSymbol` without range).
    pub range: Option<Range>,
    pub deprecated: bool,
}

/// The result of a project-wide search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolHits {
    pub items: Vec<SymbolHit>,
    pub total: usize,
    pub dropped: usize,
}

/// An item of a call or type hierarchy; `raw` goes back to the server as it came (at most 64 KiB).
#[derive(Debug, Clone)]
pub struct HierarchyItem {
    pub name: String,
    pub kind: u8,
    pub detail: Option<String>,
    pub file: FileRef,
    pub range: Range,
    pub selection: Range,
    pub raw: Box<RawValue>,
}

/// An edge of a call hierarchy.
#[derive(Debug, Clone)]
pub struct Call {
    /// The caller (`incoming`) or the callee (`outgoing`).
    pub item: HierarchyItem,
    /// Call sites: in `item` for incoming calls, in the asked item for outgoing ones.
    pub sites: Vec<Range>,
}

/// A list with the number of entries that a cap cut off or that had no valid shape.
#[derive(Debug, Clone)]
pub struct Capped<T> {
    pub items: Vec<T>,
    pub total: usize,
    pub dropped: usize,
}

impl<T> Default for Capped<T> {
    fn default() -> Self {
        Self { items: Vec::new(), total: 0, dropped: 0 }
    }
}

/// LSP `DiagnosticSeverity`, ordered from worst to mildest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
    Info,
    Hint,
}

/// One diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    pub range: Range,
    /// What the server left out counts as an error (LSP leaves it to the client).
    pub severity: Severity,
    pub code: Option<String>,
    pub source: Option<String>,
    pub message: String,
    pub unnecessary: bool,
    pub deprecated: bool,
    /// At most 8.
    pub related: Vec<Related>,
    /// As it came: a server takes its own diagnostics back when it is asked what mends them.
    pub wire: Wire,
}

impl Diagnostic {
    /// Whether it only says that code is unused or deprecated.
    pub fn is_faint(&self) -> bool {
        self.severity >= Severity::Info && (self.unnecessary || self.deprecated)
    }

    /// About the memory that it takes, in bytes.
    pub fn weight(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let related = self.related.iter().map(|it| size_of::<Related>() + it.message.len() + it.file.weight());
        size_of::<Self>()
            + self.message.len()
            + text(&self.code)
            + text(&self.source)
            + related.sum::<usize>()
            + self.wire.0.as_ref().map_or(0, |wire| wire.len())
    }
}

/// The JSON text of something that was read, where it was small enough to be kept. It says nothing that its reading does
/// not: two of them are always alike.
#[derive(Debug, Clone, Default)]
pub struct Wire(pub Option<Arc<str>>);

impl PartialEq for Wire {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Wire {}

impl std::hash::Hash for Wire {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// `relatedInformation`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Related {
    pub file: FileRef,
    pub range: Range,
    pub message: String,
}

/// A pull report; `L` is its list, or what stands for it while the message is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report<L = Listed> {
    Full { list: L, result_id: Option<String>, related: Vec<(FileRef, Self)> },
    Unchanged { result_id: String, related: Vec<(FileRef, Self)> },
}

impl<L> Report<L> {
    /// The same with other lists.
    pub(super) fn map<M>(self, with: &mut impl FnMut(L) -> M) -> Report<M> {
        let others = |related: Vec<(FileRef, Self)>, with: &mut _| {
            related.into_iter().map(|(file, report)| (file, report.map(with))).collect()
        };
        match self {
            Self::Full { list, result_id, related } => {
                Report::Full { list: with(list), result_id, related: others(related, with) }
            }
            Self::Unchanged { result_id, related } => Report::Unchanged { result_id, related: others(related, with) },
        }
    }
}

/// `textDocument/publishDiagnostics`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    pub file: FileRef,
    pub version: Option<i32>,
    pub list: Listed,
}

/// A list of problems that was told of and could not be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostList {
    pub file: FileRef,
    pub version: Option<i32>,
    /// In words that go on from "the list".
    pub why: String,
}

/// One replacement in a text, in the units of the server that computed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    pub range: Range,
    pub text: String,
    /// `text` is a snippet (`SnippetTextEdit`), with `$1` and the like in it.
    pub snippet: bool,
}

/// One step of a [`WorkspaceEdit`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditStep {
    /// All edits of one entry refer to the text as it is before the first of them.
    Texts {
        file: FileRef,
        /// The document version that the server computed them for, where it says so.
        version: Option<i64>,
        edits: Vec<TextEdit>,
    },
    Create {
        file: FileRef,
        overwrite: bool,
        ignore_if_exists: bool,
    },
    Rename {
        from: FileRef,
        to: FileRef,
        overwrite: bool,
        ignore_if_exists: bool,
    },
    Delete {
        file: FileRef,
        recursive: bool,
        ignore_if_not_exists: bool,
    },
}

/// A change to files as a server computes it: its steps in the server's order. It is read whole or not at all: an edit
/// of which a part was left out is no edit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceEdit {
    pub steps: Vec<EditStep>,
    /// Labels of the annotations that a part of it bears and that want a person's consent (`needsConfirmation`).
    pub to_confirm: Vec<String>,
}

/// A code action; `raw` goes back to the server as it came (at most 1 MiB).
#[derive(Debug, Clone)]
pub struct CodeAction {
    pub title: String,
    pub kind: Option<String>,
    pub preferred: bool,
    /// Why it cannot be taken now.
    pub disabled: Option<String>,
    /// It carries its edit; else that may come with `codeAction/resolve`.
    pub has_edit: bool,
    /// The command that it runs.
    pub command: Option<String>,
    /// Which of those that are alike.
    pub nth: usize,
    pub raw: Box<RawValue>,
}

/// Whether a place can be renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prepared {
    No,
    /// The identifier there, as the client finds it.
    Default,
    At {
        range: Range,
        placeholder: Option<String>,
    },
}
