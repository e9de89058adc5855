//! What langport tells a server that it can do: one fixed offer, to which a definition may add. Pure.

use serde_json::{Value, json};

/// The `capabilities` of `initialize`; `extra` is merged over them, object by object.
pub fn client_capabilities(extra: Option<&Value>) -> Value {
    let mut offer = json!({
        "general": { "positionEncodings": ["utf-8", "utf-16"] },
        "window": { "workDoneProgress": true, "showDocument": { "support": false } },
        "workspace": {
            "applyEdit": true,
            "workspaceEdit": {
                "documentChanges": true,
                "resourceOperations": ["create", "rename", "delete"],
                "failureHandling": "transactional",
                "normalizesLineEndings": false,
                "changeAnnotationSupport": { "groupsOnLabel": false },
            },
            "executeCommand": { "dynamicRegistration": true },
            "fileOperations": { "dynamicRegistration": true, "willRename": true, "didRename": true },
            "configuration": true,
            "workspaceFolders": true,
            "didChangeConfiguration": { "dynamicRegistration": true },
            "didChangeWatchedFiles": { "dynamicRegistration": true, "relativePatternSupport": true },
            "diagnostics": { "refreshSupport": true },
            "symbol": { "dynamicRegistration": true, "symbolKind": { "valueSet": numbers(26) } },
        },
        "textDocument": {
            "synchronization": { "dynamicRegistration": true, "didSave": true },
            "publishDiagnostics": {
                "versionSupport": true,
                "relatedInformation": true,
                "tagSupport": { "valueSet": [1, 2] },
                "codeDescriptionSupport": false,
                // Most servers offer a quick fix only for a diagnostic that comes back with its data.
                "dataSupport": true,
            },
            "diagnostic": {
                "dynamicRegistration": true,
                "relatedDocumentSupport": true,
                "relatedInformation": true,
                "dataSupport": true,
                "tagSupport": { "valueSet": [1, 2] },
            },
            "hover": { "dynamicRegistration": true, "contentFormat": ["markdown", "plaintext"] },
            "definition": { "dynamicRegistration": true, "linkSupport": true },
            "declaration": { "dynamicRegistration": true, "linkSupport": true },
            "typeDefinition": { "dynamicRegistration": true, "linkSupport": true },
            "implementation": { "dynamicRegistration": true, "linkSupport": true },
            "references": { "dynamicRegistration": true },
            "completion": {
                "dynamicRegistration": true,
                "contextSupport": true,
                "completionItem": {
                    // The css, html and json servers of VS Code complete nothing for a client without snippets.
                    "snippetSupport": true,
                    "deprecatedSupport": true,
                    "preselectSupport": true,
                    "labelDetailsSupport": true,
                    "tagSupport": { "valueSet": [1] },
                    "documentationFormat": ["plaintext", "markdown"],
                },
                "completionItemKind": { "valueSet": numbers(25) },
                "completionList": { "itemDefaults": ["editRange", "insertTextFormat", "data"] },
            },
            "signatureHelp": {
                "dynamicRegistration": true,
                "contextSupport": true,
                "signatureInformation": {
                    "documentationFormat": ["markdown", "plaintext"],
                    "parameterInformation": { "labelOffsetSupport": true },
                    "activeParameterSupport": true,
                },
            },
            "documentSymbol": {
                "dynamicRegistration": true,
                "hierarchicalDocumentSymbolSupport": true,
                "symbolKind": { "valueSet": numbers(26) },
                "tagSupport": { "valueSet": [1] },
            },
            "callHierarchy": { "dynamicRegistration": true },
            "typeHierarchy": { "dynamicRegistration": true },
            "rename": {
                "dynamicRegistration": true,
                "prepareSupport": true,
                "prepareSupportDefaultBehavior": 1,
                "honorsChangeAnnotations": true,
            },
            "codeAction": {
                "dynamicRegistration": true,
                "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [
                    "", "quickfix", "refactor", "refactor.extract", "refactor.inline", "refactor.rewrite", "source",
                    "source.organizeImports", "source.fixAll",
                ] } },
                "isPreferredSupport": true,
                "disabledSupport": true,
                "dataSupport": true,
                "honorsChangeAnnotations": true,
                "resolveSupport": { "properties": ["edit", "command"] },
            },
            "formatting": { "dynamicRegistration": true },
            "rangeFormatting": { "dynamicRegistration": true },
        },
    });
    if let Some(extra) = extra {
        merge(&mut offer, extra);
    }
    offer
}

fn numbers(last: u32) -> Vec<u32> {
    (1..=last).collect()
}

/// Objects are merged, everything else replaces what was there.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}
