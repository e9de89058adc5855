//! The life of servers: how they are started, die, come back, and say that they are ready.

use std::{
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Ask, Script, watch},
    support::{Answer, BUSY, Definition, Langport, Workspace, eventually, procs},
};

trials![
    lif_01_a_killed_server_comes_back_whole,
    lif_01_a_request_in_flight_survives_one_death,
    lif_01_a_request_in_flight_fails_after_the_second_death,
    lif_02_a_crash_loop_ends_and_says_why,
    lif_07_a_missing_and_a_broken_server_do_no_harm,
    lif_09_a_whole_project_question_waits_for_progress,
    lif_09_progress_that_never_ends_is_said,
    lif_09_without_a_signal_two_answers_must_agree,
    a7_1_the_handshake_is_whole,
    a7_2_the_root_is_the_one_of_the_file,
    a7_3_two_worktrees_are_two_truths,
    a8_6_a_slow_start_is_visible_and_bounded,
    b4_a_death_in_a_call_leaves_the_session_whole,
    b8_client_capabilities_are_the_same_for_all,
    b16_nothing_installed_is_no_failure_to_start,
    d1_5_a_file_outside_starts_no_server,
    d1_9_fifty_calls_start_one_server,
    x9_shutdown_has_no_params_and_exit_follows,
    x24_secrets_do_not_reach_servers,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn lif_01_a_killed_server_comes_back_whole() {
    let ws = Workspace::new("//- a.py\nalpha = ERR\n");
    let mut lp = Langport::with(&ws, Script::new().on("initialized", [watch("**/*").into()]));
    lp.tolerate();
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    for round in 1..=2 {
        let pid = *lp.log().pids().last().unwrap();
        procs::signal(pid, libc::SIGKILL);
        eventually("the end of the server", || (!procs::alive(pid)).then_some(()));
        ws.write("a.py", &format!("beta{round}\n"));
        lp.hover(&at("a.py")).fine().contains(&format!("WORD beta{round}"));
        lp.diagnostics("a.py").says("fresh · fake · no problems");
        assert_eq!(lp.log().starts(), round + 1);
        lp.log().wait_event("answer", round + 1);
        assert_eq!(lp.log().count("textDocument/didOpen"), round + 1);
    }
}

/// A hover that hangs in the first `n` starts.
fn hanging(ws: &Workspace, starts: usize) -> Script {
    Script::new().on("textDocument/hover", [Act::FirstStarts(starts), Act::Await(ws.gate("never"))])
}

fn kill_while_asked(lp: &Langport, start: usize) {
    eventually("a hover in flight", || {
        lp.log().lines().iter().any(|l| l["in"]["method"] == "textDocument/hover" && l["start"] == start).then_some(())
    });
    procs::signal(lp.log().pids()[start - 1], libc::SIGKILL);
}

fn lif_01_a_request_in_flight_survives_one_death() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let mut lp = Langport::with(&ws, hanging(&ws, 1));
    lp.tolerate();
    let call = lp.call("lsp_hover", &at("a.py"));
    kill_while_asked(&lp, 1);
    Answer::of(&lp.answer(call)).fine().contains("WORD alpha");
    assert_eq!(lp.log().starts(), 2);
}

fn lif_01_a_request_in_flight_fails_after_the_second_death() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let mut lp = Langport::with(&ws, hanging(&ws, 2));
    lp.tolerate();
    let call = lp.call("lsp_hover", &at("a.py"));
    kill_while_asked(&lp, 1);
    kill_while_asked(&lp, 2);
    let begun = Instant::now();
    Answer::of(&lp.answer(call)).fails("failed").contains("fake");
    assert!(begun.elapsed() < BUSY, "at once: {:?}", begun.elapsed());
    let back = eventually("a healthy third start", || Some(lp.hover(&at("a.py"))).filter(|a| !a.is_error));
    back.contains("WORD alpha");
}

fn lif_02_a_crash_loop_ends_and_says_why() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let script = Script::new().on("initialized", [Act::Stderr("fatal: out of memory".into(), 1), Act::Exit(134)]);
    let lp = Langport::builder(&ws).server(Definition::new("fake", script)).max_wait(8_000).start();
    for _ in 0..6 {
        let answer = lp.hover(&at("a.py"));
        assert!(answer.is_error, "{answer}");
        answer.verdict_in(&["failed", "unavailable"]).contains("out of memory");
    }
    let starts = lp.log().starts();
    assert!((2..=6).contains(&starts), "within the restart budget: {starts} starts");
}

fn lif_07_a_missing_and_a_broken_server_do_no_harm() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.rs\nfn b() {}\n//- c.go\npackage c\n");
    let stub = ws.home().join("stub-server");
    std::fs::write(&stub, "#!/bin/sh\necho \"error: Unknown binary 'stub' in official toolchain\" >&2\nexit 1\n")
        .unwrap();
    std::fs::set_permissions(&stub, PermissionsExt::from_mode(0o755)).unwrap();
    let missing = Definition::command("missing", "no-such-server-anywhere")
        .languages(&["rust"])
        .table("[install]\nhint = \"ask your vendor\"");
    let broken = Definition::command("broken", &stub.to_string_lossy()).languages(&["go"]);
    let lp = Langport::builder(&ws)
        .server(Definition::new("good", Script::new()))
        .server(missing)
        .server(broken)
        .env("PATH", "/usr/bin:/bin")
        .start();
    assert!(lp.tools().len() >= 10);
    lp.hover(&at("a.py")).verdict_is("fresh");
    let begun = Instant::now();
    let missing = lp.hover(&at("b.rs"));
    missing.fails("unavailable").contains("no-such-server-anywhere").contains("ask your vendor");
    missing.contains("no program `no-such-server-anywhere` in /usr/bin, /bin");
    assert!(begun.elapsed() < BUSY, "at once: {:?}", begun.elapsed());
    let broken = lp.hover(&at("c.go"));
    assert!(broken.is_error, "{broken}");
    broken.verdict_in(&["failed", "unavailable"]).contains("Unknown binary 'stub' in official toolchain");
    lp.tool("status", &json!({})).fine().contains("good").contains("missing").contains("broken");
    lp.hover(&at("a.py")).verdict_is("fresh");
}

/// Loads the project until a gate opens: progress is announced, begun, and ended.
fn loading(ws: &Workspace) -> Script {
    let progress = |value| Act::Tell("$/progress".into(), json!({"token": "load", "value": value}));
    Script::new().on("textDocument/references", [Act::Growing("load".into())]).on(
        "initialized",
        [
            Ask::new(1, "window/workDoneProgress/create", json!({"token": "load"})).into(),
            progress(json!({"kind": "begin", "title": "Indexing", "percentage": 10})),
            Act::Await(ws.gate("loaded")),
            progress(json!({"kind": "end"})),
        ],
    )
}

const HUB: &str = "//- core.py\ndef hub(): pass\n//- a.py\nhub()\nhub()\n//- b.py\nhub()\n";

fn lif_09_a_whole_project_question_waits_for_progress() {
    let ws = Workspace::new(HUB);
    let lp = Langport::with(&ws, loading(&ws));
    let call = lp.call("lsp_references", &json!({"file_path": "core.py", "line": 1, "column": 5}));
    lp.log().wait_event("answer", 1);
    ws.open("loaded");
    let answer = Answer::of(&lp.answer(call));
    answer.verdict_is("fresh");
    assert_eq!(answer.places().len(), 4, "{answer}");
}

fn lif_09_progress_that_never_ends_is_said() {
    let ws = Workspace::new(HUB);
    let lp = Langport::builder(&ws).server(Definition::new("fake", loading(&ws))).max_wait(3_000).start();
    let begun = Instant::now();
    lp.tool("references", &json!({"file_path": "core.py", "line": 1, "column": 5})).fine().verdict_is("indexing");
    assert!(begun.elapsed() < Duration::from_secs(3) + BUSY, "bounded: {:?}", begun.elapsed());
}

fn lif_09_without_a_signal_two_answers_must_agree() {
    let ws = Workspace::new(HUB);
    let script = Script::new().each(
        "textDocument/references",
        [vec![Act::Reply(json!([]))], vec![Act::Reply(json!([{"uri": "$uri", "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 7}}}]))], vec![Act::Default]],
    );
    let lp = Langport::builder(&ws).server(Definition::new("fake", script).table("[ready]\nagree = true")).start();
    let answer = lp.tool("references", &json!({"file_path": "core.py", "line": 1, "column": 5}));
    assert_eq!(answer.fine().places().len(), 4, "{answer}");
    assert!(lp.log().count("textDocument/references") >= 4);
}

fn a7_1_the_handshake_is_whole() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let definition =
        Definition::new("fake", Script::new()).table("[initialization]\nmode = \"strict\"\nlevels = [1, 2]");
    let lp = Langport::builder(&ws).server(definition).start();
    lp.hover(&at("a.py")).fine();
    assert_eq!(lp.log().methods()[..2], ["initialize", "initialized"]);
    let params = &lp.log().of("initialize")[0];
    let root = url::Url::from_file_path(ws.root()).unwrap();
    assert_eq!(params["rootUri"], root.as_str());
    assert_eq!(params["workspaceFolders"], json!([{"uri": root.as_str(), "name": "ws"}]));
    assert_eq!(params["initializationOptions"], json!({"mode": "strict", "levels": [1, 2]}));
    assert!(params["processId"].is_null() || params["processId"].is_u64());
    assert_eq!(params["clientInfo"]["name"], "langport");
    assert_eq!(lp.log().events("start")[0]["about"]["cwd"], json!(ws.root()));
}

fn a7_2_the_root_is_the_one_of_the_file() {
    let ws = Workspace::new("//- web/package.json\n{}\n//- web/src/a.py\nalpha\n//- b.py\nbeta\n");
    let definition = Definition::new("fake", Script::new()).table("[root]\nmarkers = [[\"package.json\"]]");
    let lp = Langport::builder(&ws).server(definition).start();
    lp.hover(&at("web/src/a.py")).contains("WORD alpha");
    lp.hover(&at("b.py")).contains("WORD beta");
    let roots: Vec<String> =
        lp.log().of("initialize").iter().map(|p| p["rootUri"].as_str().unwrap().to_owned()).collect();
    assert_eq!(roots, [ws.uri("web"), url::Url::from_file_path(ws.root()).unwrap().to_string()]);
}

fn a7_3_two_worktrees_are_two_truths() {
    let ws = Workspace::new("//- one/x.py\nERR = 1\n//- two/x.py\nfine = 1\n");
    let definition = Definition::new("fake", Script::new());
    let lp = Langport::builder(&ws).server(definition).roots(&[ws.path("one"), ws.path("two")]).start();
    let broken = lp.diagnostics("one/x.py");
    broken.verdict_is("fresh").contains("1 error").contains("one/x.py:1:1");
    lp.diagnostics("two/x.py").verdict_is("fresh").contains("no problems");
    let roots: Vec<Value> = lp.log().of("initialize").iter().map(|p| p["rootUri"].clone()).collect();
    assert_eq!(roots, [json!(ws.uri("one")), json!(ws.uri("two"))]);
}

fn a8_6_a_slow_start_is_visible_and_bounded() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let script = Script::new().on("initialize", [Act::Await(ws.gate("start")), Act::Default]);
    let lp = Langport::builder(&ws).server(Definition::new("fake", script)).max_wait(7_000).start();
    let begun = Instant::now();
    let call = lp.call_with_progress("lsp_hover", &at("a.py"), "p1");
    eventually("a start", || (lp.log().starts() == 1).then_some(()));
    lp.tool("status", &json!({})).contains("starting");
    let answer = Answer::of(&lp.answer(call));
    answer.fine().verdict_is("indexing").contains("start");
    assert!(begun.elapsed() < Duration::from_secs(7) + BUSY, "bounded: {:?}", begun.elapsed());
    let notes = lp.notes("notifications/progress");
    assert!(notes.iter().any(|n| n["params"]["progressToken"] == "p1"), "progress is said: {notes:?}");
    let values: Vec<f64> = notes.iter().filter_map(|n| n["params"]["progress"].as_f64()).collect();
    assert!(values.is_sorted_by(|a, b| a < b), "progress rises: {values:?}");
    ws.open("start");
    let ready = eventually("a ready server", || Some(lp.hover(&at("a.py"))).filter(|a| a.verdict() == "fresh"));
    ready.contains("WORD alpha");
    assert_eq!(lp.log().starts(), 1, "a slow start is not a failed one");
}

fn b4_a_death_in_a_call_leaves_the_session_whole() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\npackage b\n");
    let deadly = Script::new().on("textDocument/hover", [Act::Die]);
    let mut lp = Langport::builder(&ws)
        .server(Definition::new("deadly", deadly))
        .server(Definition::new("good", Script::new()).languages(&["go"]))
        .start();
    lp.tolerate();
    let answer = lp.hover(&at("a.py"));
    assert!(answer.is_error, "{answer}");
    answer.verdict_in(&["failed", "unavailable"]).contains("deadly");
    lp.hover(&at("b.go")).verdict_is("fresh");
    lp.tool("symbols", &json!({"file_path": "b.go"})).verdict_is("fresh");
    assert!(lp.request("ping", json!({}))["result"].is_object());
}

fn b8_client_capabilities_are_the_same_for_all() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\npackage b\n");
    let lp = Langport::builder(&ws)
        .server(Definition::new("one", Script::new()))
        .server(Definition::new("two", Script::new().encoding("utf-8").pull()).languages(&["go"]))
        .start();
    lp.hover(&at("a.py")).fine();
    lp.hover(&at("b.go")).fine();
    let of = |name| lp.log_of(name).of("initialize")[0]["capabilities"].clone();
    assert_eq!(of("one"), of("two"));
}

fn b16_nothing_installed_is_no_failure_to_start() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = Langport::builder(&ws).server(Definition::command("gone", "no-such-server-anywhere")).start();
    assert!(lp.hello["serverInfo"]["name"] == "langport", "{}", lp.hello);
    assert!(lp.tools().len() >= 10);
    for tool in ["hover", "definition", "references"] {
        lp.tool(tool, &at("a.py")).fails("unavailable").contains("no-such-server-anywhere");
    }
    lp.diagnostics("a.py").fails("unavailable").lacks("no problems");
    lp.tool("status", &json!({})).fine().contains("gone");
}

fn d1_5_a_file_outside_starts_no_server() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    std::fs::write(ws.home().join("outside.py"), "secret\n").unwrap();
    let lp = Langport::with(&ws, Script::new());
    let absolute = ws.home().join("outside.py");
    for path in ["../outside.py", &absolute.to_string_lossy(), "/etc/hosts", "sub/../../outside.py"] {
        lp.hover(&at(path)).fails("outside_workspace").lacks("secret");
        lp.diagnostics(path).fails("outside_workspace");
    }
    assert_eq!(lp.log().starts(), 0);
}

fn d1_9_fifty_calls_start_one_server() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let script = Script::new().on("initialize", [Act::Sleep(300), Act::Default]);
    let lp = Langport::with(&ws, script);
    let calls: Vec<i64> = (0..50).map(|_| lp.call("lsp_hover", &at("a.py"))).collect();
    for call in calls {
        Answer::of(&lp.answer(call)).verdict_is("fresh").contains("WORD alpha");
    }
    assert_eq!(lp.log().starts(), 1);
    assert_eq!(lp.log().count("textDocument/didOpen"), 1);
}

fn x9_shutdown_has_no_params_and_exit_follows() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let mut lp = Langport::with(&ws, Script::new());
    lp.hover(&at("a.py")).fine();
    assert_eq!(lp.hang_up().and_then(|s| s.code()), Some(0));
    let messages = lp.log().received();
    let [.., shutdown, exit] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!((shutdown["method"].as_str(), exit["method"].as_str()), (Some("shutdown"), Some("exit")));
    assert!(shutdown.get("params").is_none_or(Value::is_null) && exit.get("params").is_none_or(Value::is_null));
}

fn x24_secrets_do_not_reach_servers() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let mut builder =
        Langport::builder(&ws).server(Definition::new("fake", Script::new()).env("NAMED_BY_DEFINITION", "1"));
    let secrets =
        ["OTEL_EXPORTER_OTLP_HEADERS", "GITHUB_TOKEN", "ANTHROPIC_API_KEY", "NODE_OPTIONS", "AWS_SECRET_ACCESS_KEY"];
    for secret in secrets {
        builder = builder.env(secret, "hunter2");
    }
    let lp = builder.start();
    lp.hover(&at("a.py")).fine();
    let names = lp.log().events("start")[0]["about"]["env"].clone();
    let names: Vec<&str> = names.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(names.contains(&"PATH") && names.contains(&"HOME") && names.contains(&"NAMED_BY_DEFINITION"), "{names:?}");
    assert!(secrets.iter().all(|s| !names.contains(s)), "{names:?}");
    lp.tool("status", &json!({})).lacks("hunter2");
    assert!(!lp.stderr().contains("hunter2"));
}
