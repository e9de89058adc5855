//! What tools/list says: names, titles, descriptions, schemas. Written by hand, because clients refuse much of what
//! generators write: every schema is flat, with one scalar `type` each.

use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::names::ToolNames;
use crate::{
    render::{self, Output},
    tools::ToolId,
};

/// The tools as the wire lists them, in their fixed order.
pub(super) fn tools(offered: &[ToolId], names: ToolNames, output: Output) -> Vec<Tool> {
    ToolId::ALL.into_iter().filter(|tool| offered.contains(tool)).map(|tool| entry(tool, names, output)).collect()
}

fn entry(tool: ToolId, names: ToolNames, output: Output) -> Tool {
    let annotations =
        ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false);
    let meta = JsonObject::from_iter([("langport/id".to_owned(), json!(tool.canonical()))]);
    let entry = Tool::new(names.name(tool), description(tool), Arc::new(object(input(tool))))
        .with_title(title(tool))
        .with_annotations(annotations)
        .with_meta(MetaObject::from(meta));
    if output == Output::Text { entry } else { entry.with_raw_output_schema(Arc::new(object(render::schema()))) }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(map) => map,
        _ => JsonObject::new(),
    }
}

fn title(tool: ToolId) -> &'static str {
    match tool {
        ToolId::Diagnostics => "Diagnostics",
        ToolId::Hover => "Hover",
        ToolId::Definition => "Definition",
        ToolId::References => "References",
        ToolId::Completions => "Completions",
        ToolId::Signature => "Signature help",
        ToolId::Symbols => "Symbols of a file",
        ToolId::WorkspaceSymbols => "Symbols of the workspace",
        ToolId::Calls => "Call hierarchy",
        ToolId::Types => "Type hierarchy",
        ToolId::Status => "Language server status",
    }
}

fn description(tool: ToolId) -> &'static str {
    match tool {
        ToolId::Diagnostics => {
            "Errors and warnings of type checkers and linters for the text now on disk. Call it after every edit: with \
             file_path for one file, scope `changed` for the files changed since `since`, `workspace` for all. \
             \"no problems\" counts only with the verdict `fresh`."
        }
        ToolId::Hover => {
            "Type, signature and documentation of a symbol. Address it by file_path+line+column, \
             file_path+line+symbol, file_path+symbol, or symbol alone."
        }
        ToolId::Definition => {
            "Where a symbol is defined, with the source line; `kind` asks for its declaration, its type's definition, \
             or its implementations instead. Follows imports, also into dependencies."
        }
        ToolId::References => {
            "Every use of a symbol in the project, grouped by file, each with its line. Resolved by the language \
             server: no false hits in comments, strings or other symbols of the same name."
        }
        ToolId::Completions => {
            "What can be written at a place: members, names in scope, keywords. Needs file_path, line and column; the \
             column is where the next character would be typed."
        }
        ToolId::Signature => {
            "Parameters of the call around a place, the current one marked. Needs file_path, line and column, inside \
             the brackets of the call."
        }
        ToolId::Symbols => "Outline of a file: classes, functions and more, one line each with its line number.",
        ToolId::WorkspaceSymbols => "Finds symbols by name in the whole project, with their places.",
        ToolId::Calls => "Who calls a function (`incoming`), or what it calls (`outgoing`), as a tree.",
        ToolId::Types => "Supertypes or subtypes of a class or interface, as a tree.",
        ToolId::Status => {
            "Every known language server: running, indexing, not installed (with the install command) or failed (with \
             its last output). With file_path: which servers serve that file, and why."
        }
    }
}

/// Schemas of the arguments. Other spellings (`path`, `uri`, `character`, numbers as strings) are taken, not listed.
fn input(tool: ToolId) -> Value {
    let mut properties = JsonObject::new();
    let mut required = Vec::new();
    let mut add = |name: &str, schema: Value| {
        properties.insert(name.to_owned(), schema);
    };
    let choice = |values: &[&str]| json!({"type": "string", "enum": values, "default": values[0]});
    let level = || json!({"type": "integer", "minimum": 1, "maximum": 5, "default": 1});
    match tool {
        ToolId::Diagnostics => {
            add("file_path", text("relative to the workspace"));
            add("scope", choice(&["file", "changed", "workspace"]));
            add(
                "severity",
                json!({"type": "string", "enum": ["error", "warning", "info", "hint"], "default": "warning",
                    "description": "the least severe to show"}),
            );
            add("new_only", json!({"type": "boolean", "default": false, "description": "only what `since` did not have"}));
            add("since", text("a mark from an earlier answer, or a git revision"));
        }
        ToolId::Hover | ToolId::Completions | ToolId::Signature => address(&mut add),
        ToolId::Definition => {
            address(&mut add);
            add("kind", choice(&["definition", "declaration", "type_definition", "implementation"]));
        }
        ToolId::References => {
            address(&mut add);
            add("include_declaration", json!({"type": "boolean", "default": true}));
        }
        ToolId::Symbols => {
            add("file_path", text("relative to the workspace"));
            add("depth", json!({"type": "integer", "minimum": 1, "default": 2}));
            add("query", text("only names that contain this"));
            required.push("file_path");
        }
        ToolId::WorkspaceSymbols => {
            add("query", text("a name or a part of it"));
            add("kind", text("only this kind: class, function, ..."));
            required.push("query");
        }
        ToolId::Calls => {
            address(&mut add);
            add("direction", choice(&["incoming", "outgoing"]));
            add("depth", level());
        }
        ToolId::Types => {
            address(&mut add);
            add("direction", choice(&["supertypes", "subtypes"]));
            add("depth", level());
        }
        ToolId::Status => {
            add("server", text("only this one"));
            add("file_path", text("explain which servers serve it"));
            add("restart", json!({"type": "boolean", "default": false, "description": "restart `server`"}));
        }
    }
    add("cursor", text("from an answer that left items out"));
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn address(add: &mut impl FnMut(&str, Value)) {
    add("file_path", text("relative to the workspace"));
    add("line", json!({"type": "integer", "description": "from 1"}));
    add("column", json!({"type": "integer", "description": "from 1, in code points; or give symbol"}));
    add("symbol", text("a name, or a path such as Cart/add"));
    add("occurrence", json!({"type": "integer", "description": "which one on the line, from 1"}));
}

#[cfg(test)]
mod tests;
