//! The official MCP inspector's command line as the client, in both eras of the protocol.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::Workspace;

use super::{needs, servers};

needs! {
    [Inspector, Ty] => lists_and_calls_in_the_modern_era, lists_and_calls_in_the_legacy_era, schemas_are_portable;
}

/// Runs the inspector against `langport serve` on the workspace.
fn inspect(ws: &Workspace, args: &[&str]) -> Output {
    let modules = servers::inspector().join("node_modules");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", modules.join("node/bin").display());
    let mut inspector = Command::new(modules.join(".bin/mcp-inspector"));
    inspector.arg("--cli").args(args).args(["--format", "json"]);
    // The inspector hands only what it is told to the server.
    for (name, folder) in
        [("CONFIG", ws.home().join("config")), ("STATE", ws.home().join("state")), ("DATA", servers::folder())]
    {
        inspector.arg("-e").arg(format!("LANGPORT_{name}_DIR={}", folder.display()));
    }
    inspector
        .arg(env!("CARGO_BIN_EXE_langport"))
        .arg("serve")
        .arg("--root")
        .arg(ws.root())
        .args(["--bind", "builtin/ty"]);
    inspector.current_dir(ws.home()).env("HOME", ws.home()).env("PATH", path).output().expect("the inspector starts")
}

#[track_caller]
fn result(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    let message: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    message["result"].clone()
}

#[track_caller]
fn lists_and_calls(era: &str) {
    let ws = servers::shop();
    let listed = result(&inspect(&ws, &["--protocol-era", era, "--method", "tools/list"]));
    let names: Vec<&str> =
        listed["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    let expected = [
        "lsp_diagnostics",
        "lsp_hover",
        "lsp_definition",
        "lsp_references",
        "lsp_completions",
        "lsp_signature",
        "lsp_symbols",
        "lsp_workspace_symbols",
        "lsp_calls",
        "lsp_types",
        "lsp_rename",
        "lsp_code_actions",
        "lsp_format",
        "lsp_move_file",
        "lsp_apply",
        "lsp_status",
    ];
    assert_eq!(names, expected);
    let arguments = json!({"file_path": "shop/checkout.py", "line": 46, "column": 10}).to_string();
    let call =
        ["--protocol-era", era, "--method", "tools/call", "--tool-name", "lsp_hover", "--tool-args-json", &arguments];
    let answer = result(&inspect(&ws, &call));
    let text = answer["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.starts_with("fresh · ty · hover\n") && text.contains("bound method Cart.add("), "{answer}");
    // A tool's failure is a result, which the inspector tells by its exit code.
    let arguments = json!({"file_path": "shop/none.py"}).to_string();
    let call = [
        "--protocol-era",
        era,
        "--method",
        "tools/call",
        "--tool-name",
        "lsp_diagnostics",
        "--tool-args-json",
        &arguments,
    ];
    let failed = inspect(&ws, &call);
    assert_eq!(failed.status.code(), Some(5), "{}", String::from_utf8_lossy(&failed.stderr));
    assert!(
        String::from_utf8_lossy(&failed.stdout).contains("not_found · "),
        "{}",
        String::from_utf8_lossy(&failed.stdout)
    );
}

fn lists_and_calls_in_the_modern_era() {
    lists_and_calls("modern");
}

fn lists_and_calls_in_the_legacy_era() {
    lists_and_calls("legacy");
}

fn schemas_are_portable() {
    let ws = servers::shop();
    let output = inspect(&ws, &["--protocol-era", "modern", "--method", "tools/list", "--strict"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(result(&output)["tools"].as_array().map(Vec::len), Some(16), "{said}");
}
