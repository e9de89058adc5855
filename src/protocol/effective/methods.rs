//! The requests whose support langport looks up, and where servers declare them.

macro_rules! methods {
    ($($variant:ident, $name:literal, $pointer:literal;)*) => {
        /// A request that a server may or may not answer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Method { $($variant,)* }

        impl Method {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The method under which it is registered; hierarchies register their `prepare…` request.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Where it stands in the server's static capabilities, as a JSON pointer.
            pub(super) fn pointer(self) -> &'static str {
                match self { $(Self::$variant => $pointer,)* }
            }
        }
    };
}

methods! {
    Diagnostic, "textDocument/diagnostic", "/diagnosticProvider";
    Hover, "textDocument/hover", "/hoverProvider";
    Completion, "textDocument/completion", "/completionProvider";
    SignatureHelp, "textDocument/signatureHelp", "/signatureHelpProvider";
    Definition, "textDocument/definition", "/definitionProvider";
    Declaration, "textDocument/declaration", "/declarationProvider";
    TypeDefinition, "textDocument/typeDefinition", "/typeDefinitionProvider";
    Implementation, "textDocument/implementation", "/implementationProvider";
    References, "textDocument/references", "/referencesProvider";
    DocumentSymbol, "textDocument/documentSymbol", "/documentSymbolProvider";
    WorkspaceSymbol, "workspace/symbol", "/workspaceSymbolProvider";
    CallHierarchy, "textDocument/prepareCallHierarchy", "/callHierarchyProvider";
    TypeHierarchy, "textDocument/prepareTypeHierarchy", "/typeHierarchyProvider";
    Rename, "textDocument/rename", "/renameProvider";
    CodeAction, "textDocument/codeAction", "/codeActionProvider";
    Formatting, "textDocument/formatting", "/documentFormattingProvider";
    RangeFormatting, "textDocument/rangeFormatting", "/documentRangeFormattingProvider";
    WillRenameFiles, "workspace/willRenameFiles", "/workspace/fileOperations/willRename";
}
