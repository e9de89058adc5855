//! `langport doctor`, with scripted servers.

use std::{fs, process::Stdio};

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script, register},
    support::{
        BUSY, Definition, Workspace,
        cli::{self, in_order},
        procs, within,
    },
};

trials![
    a_server_that_works_and_what_it_can,
    the_names_of_the_facts_stay,
    a_project_is_asked_only_about_what_serves_it,
    what_is_registered_late_counts,
    a_server_that_does_not_start_is_told_with_its_last_words,
    a_server_that_leaves_right_after_the_handshake_does_not_work,
    a_server_that_never_answers_keeps_nobody_long,
    a_signal_ends_it_and_its_servers,
    what_is_missing_is_no_failure,
    what_may_not_run_is_told_and_no_failure,
    a_mistake_in_the_configuration_is_one,
    promises_that_are_not_kept_are_remarked,
];

/// A workspace with Python.
fn workspace() -> Workspace {
    Workspace::new("//- shop/a.py\nclass Cart\n//- OLD.cob\n STOP RUN.\n")
}

/// The report as JSON, and the exit code.
#[track_caller]
fn json_of(ws: &Workspace, args: &[&str]) -> (Value, Option<i32>) {
    let seen = cli::run(ws, &[&["doctor", "--json"], args].concat(), "");
    let report = serde_json::from_str(&seen.out).unwrap_or_else(|error| panic!("{error}\n{}{}", seen.out, seen.err));
    (report, seen.code)
}

/// One server of a report.
#[track_caller]
fn server<'r>(report: &'r Value, name: &str) -> &'r Value {
    let servers = report["servers"].as_array().unwrap();
    servers.iter().find(|server| server["name"] == name).unwrap_or_else(|| panic!("no {name} in {report:#}"))
}

fn a_server_that_works_and_what_it_can() {
    let ws = workspace();
    let log = Definition::new("fake", Script::new()).write(&ws);
    let seen = cli::run(&ws, &["doctor"], "");
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    in_order(
        &seen.out,
        &[
            "langport 0.",
            "configuration ",
            "data ",
            "(not there yet)\n",
            "watcher ",
            ": watching ",
            "local/fake (python): works, started in ",
            " ms\n",
            "program ",
            " (found on this machine)\n",
            "says      fake",
            "can       diagnostics, hover, completions, definitions, references, rename, code_actions, formatting, signature_help, document_symbols, workspace_symbols, call_hierarchy, type_hierarchy\n",
            "not installed:\n",
            "builtin/pyright",
            "install npm first, then: run `langport install builtin/pyright`\n",
            "1 of 1 installed server works; ",
        ],
    );
    in_order(&seen.err, &["… starting local/fake\n"]);
    assert_eq!(log.violations(), Vec::<String>::new());
    assert_eq!(log.starts(), 1);
}

fn the_names_of_the_facts_stay() {
    let ws = workspace();
    Definition::new("fake", Script::new().pull()).write(&ws);
    let (report, code) = json_of(&ws, &[]);
    assert_eq!((code, &report["ok"]), (Some(0), &json!(true)), "{report:#}");
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(keys(&report), "langport ok servers unserved");
    let own = &report["langport"];
    assert_eq!(keys(own), "definitions folders managed problems program version watcher");
    assert_eq!(keys(&own["folders"][0]), "path purpose state");
    assert_eq!(keys(&own["watcher"]), "folder says state");
    let fake = server(&report, "local/fake");
    let names = "calls_itself capabilities diagnostics encoding from installed languages mend name outdated output problem \
                 program remarks role root scope source start_ms state version";
    assert_eq!(keys(fake), names);
    for (key, value) in [
        ("state", json!("works")),
        ("from", json!("machine")),
        ("diagnostics", json!("pull")),
        ("encoding", json!("utf-16")),
        ("problem", json!(null)),
        ("root", json!(null)),
        ("role", json!("primary")),
        ("scope", json!("user")),
    ] {
        assert_eq!(fake[key], value, "{key}");
    }
    assert!(fake["start_ms"].is_u64());
    let missing = server(&report, "builtin/ruff");
    assert_eq!((&missing["state"], &missing["role"]), (&json!("missing"), &json!("linter")));
    assert_eq!((&missing["capabilities"], &missing["start_ms"]), (&json!(null), &json!(null)));
}

fn a_project_is_asked_only_about_what_serves_it() {
    let ws = workspace();
    ws.write("shop/pyproject.toml", "");
    let python = Definition::new("py", Script::new()).table("[root]\nmarkers = [[\"pyproject.toml\"]]").write(&ws);
    let other = Definition::new("zig", Script::new()).languages(&["zig"]).write(&ws);
    let root = ws.root().display().to_string();
    let (report, code) = json_of(&ws, &[&root]);
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(server(&report, "local/py")["root"], json!(ws.path("shop").display().to_string()));
    assert!(!report["servers"].to_string().contains("local/zig"), "{report:#}");
    assert_eq!((python.starts(), other.starts()), (1, 0));
    assert_eq!(report["unserved"], json!(["cobol"]));
    assert_eq!(report["langport"]["watcher"]["folder"], json!(root));
}

fn what_is_registered_late_counts() {
    let ws = workspace();
    let late = register("late", "textDocument/formatting", json!({}));
    let script = Script::new().on("initialized", [Act::Sleep(150), late.into()]);
    Definition::new("fake", script).write(&ws);
    let (report, _) = json_of(&ws, &[]);
    let can = server(&report, "local/fake")["capabilities"].as_array().unwrap().clone();
    assert!(can.contains(&json!("formatting")), "{can:?}");
}

fn a_server_that_does_not_start_is_told_with_its_last_words() {
    let ws = workspace();
    let script = Script::new().on("start", [Act::Stderr("no such \u{1b}[31mthing".into(), 1), Act::Exit(3)]);
    Definition::new("bad", script).table("[install]\nnpm = \"bad@1.0.0\"").write(&ws);
    Definition::new("good", Script::new()).write(&ws);
    let seen = cli::run(&ws, &["doctor"], "");
    assert_eq!(seen.code, Some(1), "{}{}", seen.out, seen.err);
    in_order(
        &seen.out,
        &[
            "local/bad (python): does not work\n",
            "problem   it could not be started: ",
            "3\n",
            "| no such thing\n",
            "mend      see its last words; `langport install local/bad` puts one of langport's own before it\n",
            "local/good (python): works",
            "1 of 2 installed servers works",
        ],
    );
    let (report, _) = json_of(&ws, &[]);
    assert_eq!(report["ok"], json!(false));
    let bad = server(&report, "local/bad");
    assert_eq!((&bad["state"], &bad["output"]), (&json!("fails"), &json!(["no such thing"])));
}

fn a_server_that_leaves_right_after_the_handshake_does_not_work() {
    let ws = workspace();
    Definition::new("fake", Script::new().on("initialized", [Act::Exit(7)])).write(&ws);
    let (report, code) = json_of(&ws, &[]);
    assert_eq!(code, Some(1));
    let fake = server(&report, "local/fake");
    assert_eq!(fake["state"], json!("fails"));
    assert!(fake["problem"].as_str().unwrap().contains('7'), "{fake:#}");
}

fn a_server_that_never_answers_keeps_nobody_long() {
    let ws = workspace();
    Definition::new("mute", Script::new().on("initialize", [])).write(&ws);
    fs::write(ws.home().join("config/config.toml"), "start_timeout_ms = 1000\n").unwrap();
    let (report, code) = json_of(&ws, &[]);
    assert_eq!(code, Some(1));
    let problem = server(&report, "local/mute")["problem"].clone();
    let command = std::env::current_exe().unwrap().display().to_string();
    assert_eq!(problem, json!(format!("it could not be started: `{command}`: no answer to initialize within 1 s")));
}

fn a_signal_ends_it_and_its_servers() {
    let ws = workspace();
    let log = Definition::new("mute", Script::new().on("initialize", [])).write(&ws);
    let temp = ws.home().join("tmp");
    fs::create_dir_all(&temp).unwrap();
    let mut doctor = cli::command(&ws, &["doctor"], "").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    log.wait("initialize", 1);
    procs::signal(doctor.id(), libc::SIGTERM);
    let status = within(BUSY, || doctor.try_wait().unwrap());
    assert_eq!(status.and_then(|status| status.code()), Some(130));
    let gone = within(BUSY, || procs::marked(&ws.mark_text()).is_empty().then_some(()));
    assert!(gone.is_some(), "left behind: {:?}", procs::marked(&ws.mark_text()));
    assert_eq!(fs::read_dir(&temp).unwrap().count(), 0, "the empty folders stay");
}

fn what_is_missing_is_no_failure() {
    let ws = workspace();
    Definition::command("gone", "gone-srv").table("[install]\nhint = \"see gone.example\"").write(&ws);
    let seen = cli::run(&ws, &["doctor"], "");
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    in_order(&seen.out, &["not installed:\n", "local/gone", "see gone.example\n", "0 of 0 installed servers work; "]);
}

fn what_may_not_run_is_told_and_no_failure() {
    let ws = workspace();
    let log = Definition::new("fake", Script::new()).table("[untrusted]\nrun = \"none\"").write(&ws);
    let (report, code) = json_of(&ws, &[]);
    assert_eq!(code, Some(0), "{report:#}");
    let fake = server(&report, "local/fake");
    assert_eq!((&fake["state"], &fake["mend"]), (&json!("untrusted"), &json!(null)));
    assert!(fake["problem"].as_str().unwrap().contains("executes code of the repository"), "{fake:#}");
    assert_eq!(log.starts(), 0);
}

fn a_mistake_in_the_configuration_is_one() {
    let ws = workspace();
    Definition::new("fake", Script::new()).write(&ws);
    fs::write(ws.home().join("config/config.toml"), "max_chrs = 9\n").unwrap();
    fs::write(ws.home().join("config/servers.d/x.toml"), "nme = \"x\"\n").unwrap();
    let (report, code) = json_of(&ws, &[]);
    assert_eq!(code, Some(1));
    let problems = report["langport"]["problems"].to_string();
    assert!(problems.contains("max_chrs") && problems.contains("x.toml"), "{problems}");
    // The rest works.
    assert_eq!(server(&report, "local/fake")["state"], json!("works"));
}

fn promises_that_are_not_kept_are_remarked() {
    let ws = workspace();
    let script = Script::new().on("start", [Act::Raw("Welcome!\n".into()), Act::Default]);
    Definition::new("fake", script).key("capabilities = [\"hover\", \"file_operations\"]").write(&ws);
    let (report, code) = json_of(&ws, &[]);
    assert_eq!(code, Some(0), "{report:#}");
    let remarks = server(&report, "local/fake")["remarks"].to_string();
    assert!(remarks.contains("promises what it does not offer: file_operations"), "{remarks}");
    assert!(remarks.contains("Welcome!"), "{remarks}");
}
