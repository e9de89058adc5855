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
    // Planners write nothing: only what makes their plans does.
    let writes = tool == ToolId::Apply;
    let annotations =
        ToolAnnotations::new().read_only(!writes).destructive(writes).idempotent(!writes).open_world(false);
    let mut meta = JsonObject::from_iter([("langport/id".to_owned(), json!(tool.canonical()))]);
    // Claude Code shows a model only names until it searches for tools; these are worth being there from the start.
    if matches!(tool, ToolId::Diagnostics | ToolId::Hover | ToolId::Definition | ToolId::References) {
        meta.insert("anthropic/alwaysLoad".to_owned(), json!(true));
    }
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
        ToolId::Rename => "Rename a symbol",
        ToolId::CodeActions => "Code actions",
        ToolId::Format => "Format",
        ToolId::MoveFile => "Move a file",
        ToolId::Apply => "Apply or undo a plan",
        ToolId::Status => "Language server status",
    }
}

fn description(tool: ToolId) -> &'static str {
    match tool {
        ToolId::Diagnostics => {
            "Errors and warnings of type checkers and linters for the texts now on disk: of a file, of what changed (since \
             `since`: a mark that an answer ended with, or a git revision; default: your last mark, else HEAD), or of the \
             workspace. Call it after every edit. new_only leaves out what was there before. Shows `severity` and worse. \
             \"no problems\" counts only with `fresh`."
        }
        ToolId::Hover => {
            "Type, signature and documentation of a symbol. Address it by file_path+line+column, \
             file_path+line+symbol (occurrence picks one on that line), file_path+symbol, or symbol alone."
        }
        ToolId::Definition => {
            "Where a symbol is defined, with its source line; or its declaration, its type's definition, its \
             implementations. Leads into dependencies too."
        }
        ToolId::References => {
            "Every use of a symbol in the project, by file, each with its line; by meaning, not by text."
        }
        ToolId::Completions => "What can be written at file_path+line+column: members, names in scope, keywords.",
        ToolId::Signature => "Parameters of the call around file_path+line+column, the current one marked.",
        ToolId::Symbols => "Outline of a file: classes, functions and more, one line each; query filters by name.",
        ToolId::WorkspaceSymbols => "Finds symbols by a part of their name in the whole project.",
        ToolId::Calls => "Who calls a function, or what it calls, as a tree.",
        ToolId::Types => "Supertypes or subtypes of a class or interface, as a tree.",
        ToolId::Rename => "Plans to rename a symbol in all files that use it; apply makes the plan.",
        ToolId::CodeActions => {
            "Quick fixes and refactorings for a range or a file; action: plans one, by id or title. only: kinds such \
             as quickfix, source.organizeImports, source.fixAll."
        }
        ToolId::Format => "Plans to format a file or a range of it.",
        ToolId::MoveFile => "Plans to move a file or folder, imports mended.",
        ToolId::Apply => {
            "Makes a plan of another tool, whole or not at all, and tells which problems are new; or takes it back. The \
             only tool that writes."
        }
        ToolId::Status => {
            "Servers: running, indexing, failed, not installed (with the command), untrusted. file_path: who \
             serves that file, and why. server: name or all; restart restarts it."
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
    let level = || json!({"type": "integer", "maximum": 5, "default": 1});
    match tool {
        ToolId::Diagnostics => {
            add("file_path", text("or a folder, with another scope"));
            add("scope", choice(&["file", "changed", "workspace"]));
            add("new_only", json!({"type": "boolean"}));
            add("since", json!({"type": "string"}));
            add(
                "severity",
                json!({"type": "string", "enum": ["error", "warning", "info", "hint"], "default": "warning"}),
            );
        }
        ToolId::Hover | ToolId::Completions | ToolId::Signature => address(tool, &mut add),
        ToolId::Definition => {
            address(tool, &mut add);
            add("kind", choice(&["definition", "declaration", "type_definition", "implementation"]));
        }
        ToolId::References => {
            address(tool, &mut add);
            add("include_declaration", json!({"type": "boolean", "default": true}));
        }
        ToolId::Symbols => {
            add("file_path", json!({"type": "string"}));
            add("depth", json!({"type": "integer", "default": 2}));
            add("query", json!({"type": "string"}));
            required.push("file_path");
        }
        ToolId::WorkspaceSymbols => {
            add("query", json!({"type": "string"}));
            add("kind", json!({"type": "string"}));
            required.push("query");
        }
        ToolId::Calls => {
            address(tool, &mut add);
            add("direction", choice(&["incoming", "outgoing"]));
            add("depth", level());
        }
        ToolId::Types => {
            address(tool, &mut add);
            add("direction", choice(&["supertypes", "subtypes"]));
            add("depth", level());
        }
        ToolId::Rename => {
            address(tool, &mut add);
            add("new_name", json!({"type": "string"}));
            add("allow_partial", json!({"type": "boolean"}));
            required.push("new_name");
        }
        ToolId::CodeActions => {
            add("file_path", json!({"type": "string"}));
            range(&mut add);
            add("only", text("with commas"));
            add("action", json!({"type": "string"}));
        }
        ToolId::Format => {
            add("file_path", json!({"type": "string"}));
            range(&mut add);
            required.push("file_path");
        }
        ToolId::MoveFile => {
            add("from", json!({"type": "string"}));
            add("to", json!({"type": "string"}));
            required.extend(["from", "to"]);
        }
        ToolId::Apply => {
            add("plan", text("id"));
            add("undo", text("id of an applied plan"));
        }
        ToolId::Status => {
            add("server", json!({"type": "string"}));
            add("file_path", json!({"type": "string"}));
            add("restart", json!({"type": "boolean", "default": false}));
        }
    }
    add("cursor", json!({"type": "string"}));
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn address(tool: ToolId, add: &mut impl FnMut(&str, Value)) {
    // They stand in most tools: how they go together is said in the instructions and by the first of the tools, which
    // clients show from the start.
    let said = matches!(tool, ToolId::Hover | ToolId::Definition | ToolId::References);
    let described = |kind: &str, description: &str| match said {
        true => json!({"type": kind, "description": description}),
        false => json!({"type": kind}),
    };
    add("file_path", json!({"type": "string"}));
    add("line", described("integer", "from 1"));
    add("column", described("integer", "from 1, in code points"));
    add("symbol", described("string", "name or path: Cart/add"));
    add("occurrence", described("integer", "which of that name on the line"));
}

/// The end is exclusive; nothing given is the whole file.
fn range(add: &mut impl FnMut(&str, Value)) {
    for name in ["start_line", "start_column", "end_line", "end_column"] {
        add(name, json!({"type": "integer"}));
    }
}

#[cfg(test)]
mod tests;
