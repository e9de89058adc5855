//! `examples/clients`: every file parses, has the shape that its client reads, and what it says starts a langport that
//! serves the project.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{Answer, BUSY, Era, Mcp, Workspace, procs::MARK, within};

trials![
    the_files_are_those_that_the_table_names,
    claude_code,
    claude_desktop,
    opencode,
    vscode,
    cursor,
    codex,
    gemini,
    zed,
    crush,
    crush_by_its_shell,
    goose,
];

/// The folder of the examples.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/clients")
}

fn text(file: &str) -> String {
    fs::read_to_string(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// A file as its ending says.
fn read(file: &str) -> Value {
    let text = text(file);
    match Path::new(file).extension().and_then(|ending| ending.to_str()) {
        Some("json") => serde_json::from_str(&text).unwrap(),
        Some("toml") => toml::from_str(&text).unwrap(),
        Some("yaml") => serde_saphyr::from_str(&text).unwrap(),
        other => panic!("{file}: {other:?}"),
    }
}

fn files(below: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(below).unwrap().flatten() {
        if entry.path().is_dir() {
            files(&entry.path(), found);
        } else {
            found.push(entry.path().strip_prefix(folder()).unwrap().to_string_lossy().into_owned());
        }
    }
}

fn the_files_are_those_that_the_table_names() {
    let mut there = Vec::new();
    files(&folder(), &mut there);
    there.retain(|file| file != "README.md");
    there.sort();
    let readme = text("README.md");
    let links = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut named: Vec<String> = links.map(str::to_owned).collect();
    named.sort();
    assert_eq!(named, there);
}

/// Where a client starts its servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    InTheProject,
    /// In no folder in particular.
    Anywhere,
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Starts what a file says, as its client would, and asks about a file of the project.
#[track_caller]
fn check(command: &[String], start: Start) {
    let ws = Workspace::new("//- a.py\nx = 1\n");
    let root = ws.root().display().to_string();
    let binary = env!("CARGO_BIN_EXE_langport");
    assert!(["langport", "/absolute/path/to/langport"].contains(&command[0].as_str()), "{command:?}");
    let mut args = command[1..].to_vec();
    for arg in &mut args {
        for variable in ["${CLAUDE_PROJECT_DIR:-.}", "${workspaceFolder}", "/absolute/path/to/project"] {
            *arg = arg.replace(variable, &root);
        }
        assert!(!arg.contains(['$', '{']), "{arg}");
    }
    let home = ws.home();
    let mut langport = Command::new(binary);
    langport.args(&args).current_dir(if start == Start::InTheProject { ws.root() } else { &home }).env_clear();
    langport.env("HOME", &home).env("PATH", "").env(MARK, ws.mark_text());
    langport.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = langport.spawn().unwrap();
    let mcp = Mcp::new(Era::Legacy("2025-06-18"), child.stdout.take().unwrap(), child.stdin.take().unwrap());
    mcp.greet();
    // Cursor counts the server's name in.
    let longest = mcp.tools().iter().map(|tool| tool["name"].as_str().unwrap().len()).max().unwrap();
    assert!("langport".len() + longest <= 60);
    let answer = Answer::of(&mcp.answer(mcp.call("lsp_diagnostics", &json!({"file_path": "a.py"}))));
    answer.fails("unavailable").contains("is not installed");
    mcp.hang_up();
    let ended = within(Duration::from_secs(5) + BUSY, || child.try_wait().unwrap());
    assert!(ended.is_some_and(|status| status.success()), "{ended:?}");
}

/// A file that holds the command and its arguments at a place.
#[track_caller]
fn check_at(file: &str, place: &str, start: Start) {
    let settings = read(file);
    let server = settings.pointer(place).unwrap_or_else(|| panic!("{file} has nothing at {place}"));
    let mut command = vec![server["command"].as_str().unwrap().to_owned()];
    command.extend(strings(&server["args"]));
    check(&command, start);
}

fn claude_code() {
    check_at("claude-code/.mcp.json", "/mcpServers/langport", Start::Anywhere);
}

fn claude_desktop() {
    let file = "claude-desktop/claude_desktop_config.json";
    check_at(file, "/mcpServers/langport", Start::Anywhere);
    // It reads these keys and no others.
    let server = read(file)["mcpServers"]["langport"].clone();
    assert_eq!(server.as_object().unwrap().keys().collect::<Vec<_>>(), ["args", "command", "env"]);
}

fn opencode() {
    let server = read("opencode/opencode.json")["mcp"]["langport"].clone();
    assert_eq!(server["type"], "local");
    check(&strings(&server["command"]), Start::InTheProject);
}

fn vscode() {
    check_at("vscode/.vscode/mcp.json", "/servers/langport", Start::Anywhere);
}

fn cursor() {
    check_at("cursor/.cursor/mcp.json", "/mcpServers/langport", Start::Anywhere);
}

fn codex() {
    check_at("codex/.codex/config.toml", "/mcp_servers/langport", Start::InTheProject);
}

fn gemini() {
    check_at("gemini/.gemini/settings.json", "/mcpServers/langport", Start::InTheProject);
}

fn zed() {
    check_at("zed/.zed/settings.json", "/context_servers/langport", Start::InTheProject);
}

fn crush() {
    check_at("crush/crush.json", "/mcp/langport", Start::InTheProject);
}

fn crush_by_its_shell() {
    let text = text("crush/crushrc");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words[..3], ["mcp", "add", "langport"]);
    let of = |flag: &'static str| words.windows(2).filter(move |pair| pair[0] == flag).map(|pair| pair[1].to_owned());
    check(&of("--command").chain(of("--args")).collect::<Vec<_>>(), Start::InTheProject);
}

fn goose() {
    let server = read("goose/config.yaml")["extensions"]["langport"].clone();
    assert_eq!((&server["type"], &server["enabled"]), (&json!("stdio"), &json!(true)));
    let mut command = vec![server["cmd"].as_str().unwrap().to_owned()];
    command.extend(strings(&server["args"]));
    check(&command, Start::InTheProject);
}
