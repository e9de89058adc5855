//! `langport try`: the tour of a project, with scripted servers.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use serde_json::json;

use crate::{
    fake::{
        SCRIPT,
        script::{Act, Script},
    },
    support::{
        BUSY, Definition, Log, Workspace,
        procs::{self, MARK},
        within,
    },
};

trials![
    a_tour_asks_breaks_and_mends,
    each_other_language_has_its_line,
    a_language_that_waits_for_a_person_is_told_and_no_failure,
    an_error_that_nobody_finds_is_told,
    a_language_without_an_error_line_goes_without,
    what_a_server_cannot_do_is_no_failure,
    a_server_that_dies_fails_the_tour,
    what_nobody_serves_is_told,
    what_is_missing_is_told_and_nothing_runs,
    what_is_missing_is_installed_when_asked_for,
    a_signal_ends_it_tidily,
];

/// What a tour printed and left.
struct Seen {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Runs `langport try` on the workspace. `path` is the whole PATH.
#[track_caller]
fn tour(ws: &Workspace, flags: &[&str], path: &str) -> Seen {
    end(ws, start(ws, flags, path))
}

#[track_caller]
fn start(ws: &Workspace, flags: &[&str], path: &str) -> Child {
    let home = ws.home();
    let temp = home.join("tmp");
    fs::create_dir_all(&temp).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_langport"));
    command.arg("try").arg(ws.root()).args(flags).current_dir(&home).env_clear();
    command.env("HOME", &home).env("PATH", path).env("TMPDIR", &temp).env(MARK, ws.mark_text());
    for (name, folder) in [("CONFIG", "config"), ("STATE", "state"), ("DATA", "data")] {
        command.env(format!("LANGPORT_{name}_DIR"), home.join(folder));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for its end; proves that nothing is left.
#[track_caller]
fn end(ws: &Workspace, child: Child) -> Seen {
    let temp = ws.home().join("tmp");
    let done = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let seen = Seen { code: done.status.code(), out: text(done.stdout), err: text(done.stderr) };
    assert_eq!(fs::read_dir(&temp).unwrap().count(), 0, "the copy stays\n{}", seen.out);
    let gone = within(BUSY, || procs::marked(&ws.mark_text()).is_empty().then_some(()));
    assert!(gone.is_some(), "left behind: {:?}", procs::marked(&ws.mark_text()));
    seen
}

/// A server named `fake` for a language, and its log.
fn serve(ws: &Workspace, language: &str, script: Script) -> Log {
    Definition::new("fake", script).languages(&[language]).write(ws)
}

#[track_caller]
fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing, or comes too early, in\n{text}"));
        rest = &rest[at + part.len()..];
    }
}

const C: &str = "//- src/shop.c\nclass Cart\n  def add\n  def total\n//- src/till.c\nclass Till\nCart\nERR here\n//- OLD.cob\n STOP RUN.\n";

fn a_tour_asks_breaks_and_mends() {
    let ws = Workspace::new(C);
    let log = serve(&ws, "c", Script::new());
    let seen = tour(&ws, &[], "");
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    in_order(
        &seen.out,
        &[
            "languages   c (2 files)\n",
            "not served  cobol (1 file)\n",
            "fake        c: /",
            "\nc:\n",
            "> lsp_symbols {\"file_path\":\"src/",
            "fresh · fake · ",
            "> lsp_hover {\"file_path\":\"src/",
            "WORD ",
            "> lsp_references {\"file_path\":\"src/",
            " references in ",
            "> lsp_diagnostics {\"file_path\":\"src/till.c\"}",
            "fresh · fake · 1 error\n",
            "src/till.c:3:",
            "In a copy (3 files)",
            "> lsp_diagnostics {\"file_path\":\"src/shop.c\"}",
            "fresh · fake · no problems\n",
            "* line 4 is added to src/shop.c: #error",
            "fresh · fake · 1 error\n",
            "src/shop.c:4:",
            "* line 4 is taken away again",
            "fresh · fake · no problems\n",
            "everything went as it should\n",
        ],
    );
    assert!(!seen.err.contains(['\r', '\x1b']), "progress is for terminals: {:?}", seen.err);
    assert_eq!(ws.read("src/shop.c"), "class Cart\n  def add\n  def total\n");
    assert_eq!(log.violations(), Vec::<String>::new());
    assert_eq!(log.starts(), 2, "one in the project and one in the copy");
}

/// Two languages with problems, one without, one that nobody answers for in time.
const MANY: &str = "//- a.py\nclass Cart\n//- b.py\nclass Till\n//- c.py\nclass Shop\n//- one.go\nalpha\n//- two.go\nalpha\nERR here\n//- x.lua\nalpha\n//- y.rb\nalpha\n";

fn each_other_language_has_its_line() {
    let ws = Workspace::new(MANY);
    let languages = ["python", "go", "lua"];
    Definition::new("fake", Script::new()).languages(&languages).write(&ws);
    let dies = Script::new().on("textDocument/didOpen", [Act::Exit(3)]);
    Definition::new("weak", dies).languages(&["ruby"]).write(&ws);
    let seen = tour(&ws, &[], "");
    assert_eq!(seen.code, Some(1), "{}{}", seen.out, seen.err);
    in_order(
        &seen.out,
        &[
            "\npython:\n",
            "The other languages",
            "  go          fresh · fake · 1 error   (2 files, ",
            "              two.go:2:1  error: ",
            "  ruby        failed · ",
            "  no problems fresh · lua (fake, 1 file)\n",
            "In a copy",
            "not as it should be:\n",
            "y.rb\"} was not answered\n",
        ],
    );
    let seen = tour(&ws, &["--language", "go,lua"], "");
    in_order(
        &seen.out,
        &["\ngo:\n", "> lsp_symbols", "\nlua:\n", "The other languages", "no problems fresh · python ("],
    );
    let seen = tour(&ws, &["--language", "cobol"], "");
    assert!(seen.code == Some(1) && seen.err.contains("in the language `cobol`"), "{}{}", seen.out, seen.err);
    assert!(seen.err.contains("python, go, lua, ruby"), "{}", seen.err);
}

/// Neither one that is not there, nor one that is there and no server, as rustup's without the component.
fn a_language_that_waits_for_a_person_is_told_and_no_failure() {
    let ws = Workspace::new("//- a.c\nclass Cart\n//- b.c\nclass Cart\n//- a.lua\nalpha\n//- a.rb\nalpha\n");
    serve(&ws, "c", Script::new());
    let hint = "[install]\nhint = \"get the component\"";
    Definition::command("none", "no-such-server").languages(&["lua"]).table(hint).write(&ws);
    let stub = Script::new().on("start", [Act::Stderr("unknown component".into(), 1), Act::Exit(1)]);
    Definition::new("stub", stub).languages(&["ruby"]).table(hint).write(&ws);
    let seen = tour(&ws, &["--install"], "");
    let parts = [
        "  ruby        unavailable · stub",
        "unknown component",
        "Not shown, for want of a server:\n",
        "  lua (not installed; its definition says: get the component)\n",
        "  ruby (stub: its definition says: get the component)\n",
        "everything went as it should\n",
    ];
    in_order(&seen.out, &["\nc:\n", "The other languages"]);
    parts.iter().for_each(|part| assert!(seen.out.contains(part), "{part:?} in\n{}{}", seen.out, seen.err));
    // Where it stands alone there is nothing to be shown.
    let ws = Workspace::new("//- a.rb\nalpha\n");
    let stub = Script::new().on("start", [Act::Exit(1)]);
    Definition::new("stub", stub).languages(&["ruby"]).table(hint).write(&ws);
    let seen = tour(&ws, &[], "");
    assert_eq!(seen.code, Some(1), "{}{}", seen.out, seen.err);
    in_order(&seen.out, &["get the component", "nothing was answered"]);
}

fn an_error_that_nobody_finds_is_told() {
    let ws = Workspace::new("//- a.py\nclass Cart\n");
    serve(&ws, "python", Script::new());
    let seen = tour(&ws, &[], "");
    assert_eq!(seen.code, Some(1), "{}{}", seen.out, seen.err);
    in_order(
        &seen.out,
        &[
            "* line 2 is added to a.py",
            "no problems",
            "not as it should be:\n",
            "the error on line 2 of a.py was not found\n",
        ],
    );
}

fn a_language_without_an_error_line_goes_without() {
    let ws = Workspace::new("//- a.lua\nclass Cart\n");
    serve(&ws, "lua", Script::new());
    let seen = tour(&ws, &[], "");
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    in_order(
        &seen.out,
        &[
            "> lsp_diagnostics",
            "No error is made in a copy: langport knows no line that is wrong in every lua file.",
            "4 calls, everything",
        ],
    );
}

fn what_a_server_cannot_do_is_no_failure() {
    let ws = Workspace::new("//- a.lua\nclass Cart\n");
    serve(&ws, "lua", Script::new().capability("documentSymbolProvider", json!(null)));
    let seen = tour(&ws, &[], "");
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    in_order(
        &seen.out,
        &[
            "> lsp_symbols",
            "unsupported · ",
            "without a symbol to ask about",
            "> lsp_diagnostics",
            "2 calls, everything",
        ],
    );
}

fn a_server_that_dies_fails_the_tour() {
    let ws = Workspace::new("//- a.py\nclass Cart\n");
    serve(&ws, "python", Script::new().on("start", [Act::Stderr("no such thing".into(), 1), Act::Exit(3)]));
    let seen = tour(&ws, &[], "");
    assert_eq!(seen.code, Some(1), "{}{}", seen.out, seen.err);
    in_order(&seen.out, &["> lsp_symbols", "· fake", "not as it should be:\n", "was not answered"]);
    assert!(!seen.out.contains("In a copy"), "{}", seen.out);
}

fn what_nobody_serves_is_told() {
    let ws = Workspace::new("//- OLD.cob\n STOP RUN.\n");
    let seen = tour(&ws, &[], "");
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    in_order(
        &seen.out,
        &["not served  cobol (1 file)", "No definition serves these languages", "langport list", "config/servers.d"],
    );
    let ws = Workspace::new("//- blob.bin\n\n");
    in_order(&tour(&ws, &[], "").out, &["No file of a known language is here."]);
}

fn what_is_missing_is_told_and_nothing_runs() {
    let ws = Workspace::new("//- a.lua\nclass Cart\n");
    let install = "[install]\nnpm = \"fake-server@1.0.0\"";
    Definition::command("fake", "fake-server").languages(&["lua"]).table(install).write(&ws);
    let seen = tour(&ws, &[], &npm(&ws));
    assert_eq!(seen.code, Some(1), "{}{}", seen.out, seen.err);
    in_order(
        &seen.out,
        &[
            "not installed; run `langport install local/fake`",
            "--install` installs what is missing",
            "No server is here",
        ],
    );
    assert!(!ws.home().join("ran").exists() && !ws.home().join("data/servers").exists(), "something was run");
}

fn what_is_missing_is_installed_when_asked_for() {
    let ws = Workspace::new("//- a.lua\nclass Cart\n");
    let script = ws.home().join("script.json");
    let log = ws.home().join("fake.log");
    fs::write(&script, serde_json::to_vec(&Script { log: log.clone(), ..Script::new() }).unwrap()).unwrap();
    let install = "[install]\nnpm = \"fake-server@1.0.0\"";
    let definition = Definition::command("fake", "fake-server").languages(&["lua"]).table(install);
    definition.env(SCRIPT, &script.to_string_lossy()).write(&ws);
    let path = npm(&ws);
    for flag in ["--install", "--yes"] {
        let seen = tour(&ws, &[flag], &path);
        assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
        let shown = "To be installed:\nlocal/fake (npm fake-server@1.0.0) into ";
        in_order(
            &seen.out,
            &[shown, "npm install --prefix ", "installed local/fake: ", "> lsp_hover", "everything went"],
        );
        // Once it is there, nothing is installed again.
        let seen = tour(&ws, &[flag], &path);
        assert!(seen.code == Some(0) && !seen.out.contains("To be installed"), "{}{}", seen.out, seen.err);
        fs::remove_dir_all(ws.home().join("data/servers")).unwrap();
    }
    assert_eq!(Log::new(&log).violations(), Vec::<String>::new());
}

/// A PATH with a package manager that installs the scripted server.
fn npm(ws: &Workspace) -> String {
    let folder: PathBuf = ws.home().join("bin");
    fs::create_dir_all(&folder).unwrap();
    let fake = std::env::current_exe().unwrap();
    let ran = ws.home().join("ran");
    let script = format!(
        "#!/bin/sh\n: > '{}'\n/bin/mkdir -p \"$3/node_modules/.bin\"\n/bin/ln -s '{}' \"$3/node_modules/.bin/fake-server\"\n",
        ran.display(),
        fake.display()
    );
    fs::write(folder.join("npm"), script).unwrap();
    fs::set_permissions(folder.join("npm"), fs::Permissions::from_mode(0o755)).unwrap();
    folder.to_string_lossy().into_owned()
}

fn a_signal_ends_it_tidily() {
    let ws = Workspace::new("//- a.c\nclass Cart\n");
    // In the copy, where there is something to be left behind.
    let hold = vec![Act::Await(ws.gate("never")), Act::Default];
    let script = Script::new().pull().each("textDocument/diagnostic", [vec![Act::Default], hold]);
    let log = serve(&ws, "c", script);
    let child = start(&ws, &[], "");
    log.wait("textDocument/diagnostic", 3);
    procs::signal(child.id(), libc::SIGINT);
    let seen = end(&ws, child);
    assert_eq!(seen.code, Some(130), "{}{}", seen.out, seen.err);
    in_order(&seen.out, &["> lsp_references", "In a copy"]);
}
