//! The requests whose support langport looks up, and where servers declare them.

use lsp_types::request::{self, Request};

macro_rules! methods {
    ($($variant:ident, $request:ty, $pointer:literal;)*) => {
        /// A request that a server may or may not answer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Method { $($variant,)* }

        impl Method {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The method under which it is registered; hierarchies register their `prepare…` request.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => <$request as Request>::METHOD,)* }
            }

            /// Where it stands in the server's static capabilities, as a JSON pointer.
            pub(super) fn pointer(self) -> &'static str {
                match self { $(Self::$variant => $pointer,)* }
            }
        }
    };
}

methods! {
    Diagnostic, request::DocumentDiagnosticRequest, "/diagnosticProvider";
    Hover, request::HoverRequest, "/hoverProvider";
    Completion, request::Completion, "/completionProvider";
    SignatureHelp, request::SignatureHelpRequest, "/signatureHelpProvider";
    Definition, request::GotoDefinition, "/definitionProvider";
    Declaration, request::GotoDeclaration, "/declarationProvider";
    TypeDefinition, request::GotoTypeDefinition, "/typeDefinitionProvider";
    Implementation, request::GotoImplementation, "/implementationProvider";
    References, request::References, "/referencesProvider";
    DocumentSymbol, request::DocumentSymbolRequest, "/documentSymbolProvider";
    WorkspaceSymbol, request::WorkspaceSymbolRequest, "/workspaceSymbolProvider";
    CallHierarchy, request::CallHierarchyPrepare, "/callHierarchyProvider";
    TypeHierarchy, request::TypeHierarchyPrepare, "/typeHierarchyProvider";
    Rename, request::Rename, "/renameProvider";
    CodeAction, request::CodeActionRequest, "/codeActionProvider";
    Formatting, request::Formatting, "/documentFormattingProvider";
    RangeFormatting, request::RangeFormatting, "/documentRangeFormattingProvider";
    WillRenameFiles, request::WillRenameFiles, "/workspace/fileOperations/willRename";
    ExecuteCommand, request::ExecuteCommand, "/executeCommandProvider";
}
