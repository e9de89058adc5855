//! The runtime's edge: one closed `Query` → `Answer` with its verdict. Whatever else may answer questions about code one
//! day stands behind the same edge.

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use tokio::time::Instant;

use crate::{
    protocol::{
        Method,
        positions::{Encoding, Point},
        read::Sought,
        types::{
            Capped, CodeAction, Completions, HierarchyItem, Hover, Listed, Locations, Outline, Signatures, SymbolHits,
            WorkspaceEdit,
        },
    },
    registry::Capability,
    workspace::disk::Snapshot,
};

use super::verdict::Verdict;

/// What is asked about one file, or about the project that it belongs to.
#[derive(Debug, Clone)]
pub struct Question {
    /// The file (canonical, inside the workspace). Project-wide queries name any file of the project or none.
    pub file: Option<PathBuf>,
    /// LSP language id of `file`.
    pub language: String,
    pub query: Query,
    /// What happened to files before this point is in the answer.
    pub asked: Instant,
    /// Nothing is waited for past this point.
    pub deadline: Instant,
}

impl Question {
    /// The time that is left.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// The kinds of place that a name can lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Definition,
    Declaration,
    TypeDefinition,
    Implementation,
}

/// The two trees that servers know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hierarchy {
    IncomingCalls,
    OutgoingCalls,
    Supertypes,
    Subtypes,
}

/// A question. Points are zero-based lines and code points; the runtime converts them for each server. Diagnostics are
/// those of a file; those of a project are what the server says of all of its files at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    Diagnostics,
    ProjectDiagnostics,
    Hover {
        at: Point,
    },
    Locations {
        at: Point,
        target: Target,
    },
    References {
        at: Point,
        declaration: bool,
    },
    Completions {
        at: Point,
        /// What stands before the place of the name there.
        typed: String,
    },
    Signature {
        at: Point,
    },
    /// The symbols of a file; where it has too many, those that are sought.
    Outline {
        sought: Sought,
    },
    Symbols {
        query: String,
    },
    Tree {
        at: Point,
        hierarchy: Hierarchy,
        depth: u32,
    },
    Rename {
        at: Point,
        new_name: String,
    },
    /// Formats a part of the file, or all of it.
    Format {
        span: Option<(Point, Point)>,
    },
    /// The code actions for a part of the file, or all of it; of these kinds only, where there are any. Where there are too
    /// many, above all those of this title.
    Actions {
        span: Option<(Point, Point)>,
        only: Vec<String>,
        title: Option<String>,
    },
    /// What one of those actions changes.
    Act {
        span: Option<(Point, Point)>,
        only: Vec<String>,
        pick: Pick,
    },
    /// What else is to be changed when a file or folder is moved.
    Move {
        from: PathBuf,
        to: PathBuf,
        folder: bool,
    },
}

/// Tells one code action from the others of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pick {
    pub title: String,
    pub kind: Option<String>,
    /// Which of those that are alike.
    pub nth: usize,
    /// Whether a command of the server may run for it: some write files or run programs by themselves.
    pub may_run: bool,
}

impl Query {
    /// The capability that a server needs for it.
    pub fn capability(&self) -> Capability {
        match self {
            Self::Diagnostics | Self::ProjectDiagnostics => Capability::Diagnostics,
            Self::Hover { .. } => Capability::Hover,
            Self::Locations { .. } => Capability::Definitions,
            Self::References { .. } => Capability::References,
            Self::Completions { .. } => Capability::Completions,
            Self::Signature { .. } => Capability::SignatureHelp,
            Self::Outline { .. } => Capability::DocumentSymbols,
            Self::Symbols { .. } => Capability::WorkspaceSymbols,
            Self::Tree { hierarchy: Hierarchy::IncomingCalls | Hierarchy::OutgoingCalls, .. } => {
                Capability::CallHierarchy
            }
            Self::Tree { .. } => Capability::TypeHierarchy,
            Self::Rename { .. } => Capability::Rename,
            Self::Format { .. } => Capability::Formatting,
            Self::Actions { .. } | Self::Act { .. } => Capability::CodeActions,
            Self::Move { .. } => Capability::FileOperations,
        }
    }

    /// What it asks for, as messages say it: the capability, and of places which kind.
    pub fn wants(&self) -> &'static str {
        match self {
            Self::Locations { target: Target::Declaration, .. } => "declarations",
            Self::Locations { target: Target::TypeDefinition, .. } => "type definitions",
            Self::Locations { target: Target::Implementation, .. } => "implementations",
            Self::ProjectDiagnostics => "diagnostics of the whole project",
            Self::Format { span: Some(_) } => "formatting of a part of a file",
            Self::Actions { .. } | Self::Act { .. } => "code actions",
            Self::Move { .. } => "edits for a moved file",
            other => other.capability().word(),
        }
    }

    /// The LSP request that asks it (the first one, for trees).
    pub fn method(&self) -> Method {
        match self {
            Self::Diagnostics | Self::ProjectDiagnostics => Method::Diagnostic,
            Self::Hover { .. } => Method::Hover,
            Self::Locations { target: Target::Definition, .. } => Method::Definition,
            Self::Locations { target: Target::Declaration, .. } => Method::Declaration,
            Self::Locations { target: Target::TypeDefinition, .. } => Method::TypeDefinition,
            Self::Locations { target: Target::Implementation, .. } => Method::Implementation,
            Self::References { .. } => Method::References,
            Self::Completions { .. } => Method::Completion,
            Self::Signature { .. } => Method::SignatureHelp,
            Self::Outline { .. } => Method::DocumentSymbol,
            Self::Symbols { .. } => Method::WorkspaceSymbol,
            Self::Tree { hierarchy: Hierarchy::IncomingCalls | Hierarchy::OutgoingCalls, .. } => Method::CallHierarchy,
            Self::Tree { .. } => Method::TypeHierarchy,
            Self::Rename { .. } => Method::Rename,
            Self::Format { span: None } => Method::Formatting,
            Self::Format { span: Some(_) } => Method::RangeFormatting,
            Self::Actions { .. } | Self::Act { .. } => Method::CodeAction,
            Self::Move { .. } => Method::WillRenameFiles,
        }
    }

    /// Whether the answer depends on the whole project being loaded, so that an early one may lack entries.
    pub fn project_wide(&self) -> bool {
        match self {
            Self::References { .. }
            | Self::Symbols { .. }
            | Self::Tree { .. }
            | Self::Rename { .. }
            | Self::Move { .. } => true,
            Self::Locations { target, .. } => *target == Target::Implementation,
            Self::Diagnostics
            | Self::ProjectDiagnostics
            | Self::Hover { .. }
            | Self::Completions { .. }
            | Self::Signature { .. }
            | Self::Outline { .. }
            | Self::Format { .. }
            | Self::Actions { .. }
            | Self::Act { .. } => false,
        }
    }

    /// Whether it does nothing but read, so that it can be asked again when the server dies over it.
    pub fn repeatable(&self) -> bool {
        match self {
            Self::Diagnostics
            | Self::Hover { .. }
            | Self::Locations { .. }
            | Self::References { .. }
            | Self::Completions { .. }
            | Self::Signature { .. }
            | Self::Outline { .. }
            | Self::Symbols { .. }
            | Self::Tree { .. }
            | Self::ProjectDiagnostics
            | Self::Rename { .. }
            | Self::Format { .. }
            | Self::Actions { .. }
            | Self::Move { .. } => true,
            // It may run a command of the server's.
            Self::Act { .. } => false,
        }
    }

    /// Where it asks, if it asks at a place.
    pub fn at(&self) -> Option<Point> {
        match self {
            Self::Hover { at }
            | Self::Locations { at, .. }
            | Self::References { at, .. }
            | Self::Completions { at, .. }
            | Self::Signature { at }
            | Self::Tree { at, .. }
            | Self::Rename { at, .. } => Some(*at),
            Self::Diagnostics
            | Self::ProjectDiagnostics
            | Self::Outline { .. }
            | Self::Symbols { .. }
            | Self::Format { .. }
            | Self::Actions { .. }
            | Self::Act { .. }
            | Self::Move { .. } => None,
        }
    }
}

/// One node of a call or type tree, in the order of a walk from the top.
#[derive(Debug, Clone)]
pub struct Node {
    pub depth: u32,
    pub item: HierarchyItem,
    /// Call sites in server units, and whether they stand in this node's file (incoming) or its parent's (outgoing).
    pub sites: Vec<crate::protocol::positions::Range>,
    /// Opened further up: its children are not repeated.
    pub repeated: bool,
}

/// A call or type tree; cut at a number of nodes or at the deadline.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    pub nodes: Vec<Node>,
    pub cut: bool,
    /// Entries that have the wrong shape.
    pub dropped: usize,
}

/// What a server answered.
#[derive(Debug, Clone)]
pub enum Answer {
    Problems(Listed),
    /// Of each file that the server has spoken of completely.
    Project(Vec<(PathBuf, Listed)>),
    Hover(Hover),
    Locations(Locations),
    Completions(Completions),
    Signatures(Signatures),
    Outline(Outline),
    Symbols(SymbolHits),
    Tree(Tree),
    Actions(Actions),
    Edit(Proposal),
}

impl Answer {
    /// What is missing of an answer that is looked through, where it has more than is read. Of places the number alone
    /// says enough.
    pub(super) fn unread(&self) -> Option<String> {
        self.cut_off().or_else(|| {
            let entries = match self.dropped() {
                0 => return None,
                1 => "1 entry".to_owned(),
                number => format!("{number} entries"),
            };
            Some(format!("{entries} of its answer could not be used"))
        })
    }

    /// Entries without the shape that they have to have.
    fn dropped(&self) -> usize {
        match self {
            Self::Locations(all) => all.dropped,
            Self::Completions(all) => all.dropped,
            Self::Outline(all) => all.dropped,
            Self::Symbols(all) => all.dropped,
            Self::Actions(all) => all.list.dropped,
            Self::Tree(tree) => tree.dropped,
            // Problems that could not be read are told with the others.
            Self::Problems(_) | Self::Project(_) | Self::Hover(_) | Self::Signatures(_) | Self::Edit(_) => 0,
        }
    }

    fn cut_off(&self) -> Option<String> {
        let (read, all) = match self {
            Self::Completions(all) if all.missed > 0 => (all.items.len(), all.total),
            Self::Signatures(all) => (all.signatures.len(), all.total),
            Self::Outline(all) if all.missed > 0 => (all.symbols.len(), all.total + all.dropped),
            Self::Symbols(all) => (all.items.len(), all.total),
            Self::Actions(all) => (all.list.items.len(), all.list.total),
            // Nothing that could be opened is left.
            Self::Tree(tree) if tree.cut && tree.nodes.iter().all(|node| node.depth == 0) => {
                return Some("what it answered could not be followed".to_owned());
            }
            Self::Problems(_)
            | Self::Project(_)
            | Self::Hover(_)
            | Self::Locations(_)
            | Self::Completions(_)
            | Self::Outline(_)
            | Self::Tree(_)
            | Self::Edit(_) => return None,
        };
        (read < all).then(|| format!("{read} of the {all} entries of its answer could be read"))
    }
}

/// The code actions of a server.
#[derive(Debug, Clone, Default)]
pub struct Actions {
    pub list: Capped<CodeAction>,
    /// What the diagnostics were worth that it was asked with; nothing, where it has none at all.
    pub diagnosed: Option<Verdict>,
    /// Why others may be missing.
    pub lack: Option<Lack>,
}

/// What an answer lacks that is right as far as it goes.
#[derive(Debug, Clone)]
pub struct Lack {
    pub verdict: Verdict,
    pub reason: String,
    pub remark: Option<String>,
}

/// A change to files as a server has computed it.
#[derive(Debug, Clone, Default)]
pub struct Proposal {
    /// Nothing, where the server has nothing to change.
    pub edit: Option<WorkspaceEdit>,
    /// The texts that its ranges are about, and under which version each was told.
    pub told: HashMap<PathBuf, (Arc<Snapshot>, i32)>,
    /// Remarks of langport's own.
    pub notes: Vec<String>,
    /// Why it may be a part of what there is to change.
    pub lack: Option<Lack>,
}

/// An answer with what it is worth.
#[derive(Debug, Clone)]
pub struct Reply {
    pub answer: Answer,
    pub verdict: Verdict,
    /// Why the verdict is not `fresh`, in langport's own words.
    pub reason: Option<String>,
    /// Remarks of langport's own.
    pub remarks: Vec<String>,
    /// The unit of every range in the answer.
    pub encoding: Encoding,
}
