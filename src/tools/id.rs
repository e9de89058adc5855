//! The tools' canonical ids.

use crate::registry::Capability;

/// A tool. The order is the order of every list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ToolId {
    Diagnostics,
    Hover,
    Definition,
    References,
    Completions,
    Signature,
    Symbols,
    WorkspaceSymbols,
    Calls,
    Types,
    Rename,
    CodeActions,
    Format,
    MoveFile,
    Apply,
    Status,
}

impl ToolId {
    /// Every tool that exists.
    pub const ALL: [Self; 16] = [
        Self::Diagnostics,
        Self::Hover,
        Self::Definition,
        Self::References,
        Self::Completions,
        Self::Signature,
        Self::Symbols,
        Self::WorkspaceSymbols,
        Self::Calls,
        Self::Types,
        Self::Rename,
        Self::CodeActions,
        Self::Format,
        Self::MoveFile,
        Self::Apply,
        Self::Status,
    ];

    /// What a server must be able to do for it; none for the tools of langport's own.
    pub fn capability(self) -> Option<Capability> {
        Some(match self {
            Self::Diagnostics => Capability::Diagnostics,
            Self::Hover => Capability::Hover,
            Self::Definition => Capability::Definitions,
            Self::References => Capability::References,
            Self::Completions => Capability::Completions,
            Self::Signature => Capability::SignatureHelp,
            Self::Symbols => Capability::DocumentSymbols,
            Self::WorkspaceSymbols => Capability::WorkspaceSymbols,
            Self::Calls => Capability::CallHierarchy,
            Self::Types => Capability::TypeHierarchy,
            Self::Rename => Capability::Rename,
            Self::CodeActions => Capability::CodeActions,
            Self::Format => Capability::Formatting,
            Self::MoveFile => Capability::FileOperations,
            Self::Apply | Self::Status => return None,
        })
    }

    /// Whether it computes changes to files that `lsp/apply` makes.
    pub fn plans(self) -> bool {
        matches!(self, Self::Rename | Self::CodeActions | Self::Format | Self::MoveFile)
    }

    /// The canonical id, as documentation, configuration and logs use it.
    pub fn canonical(self) -> &'static str {
        match self {
            Self::Diagnostics => "lsp/diagnostics",
            Self::Hover => "lsp/hover",
            Self::Definition => "lsp/definition",
            Self::References => "lsp/references",
            Self::Completions => "lsp/completions",
            Self::Signature => "lsp/signature",
            Self::Symbols => "lsp/symbols",
            Self::WorkspaceSymbols => "lsp/workspace-symbols",
            Self::Calls => "lsp/calls",
            Self::Types => "lsp/types",
            Self::Rename => "lsp/rename",
            Self::CodeActions => "lsp/code-actions",
            Self::Format => "lsp/format",
            Self::MoveFile => "lsp/move-file",
            Self::Apply => "lsp/apply",
            Self::Status => "lsp/status",
        }
    }
}
