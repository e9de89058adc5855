//! What a stuck server does to the next call: that one hears what is in its way and what helps, in time; and nobody else
//! waits for it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Ask, Script},
    support::{Answer, Definition, Langport, Workspace, eventually},
};

trials![
    e12_a_command_that_is_not_answered_is_named_and_a_restart_ends_it,
    a8_4_who_gets_no_turn_hears_how_many_questions_are_in_its_way,
    a8_4_thirty_stuck_questions_keep_nobody_else_waiting,
    d2_5_folders_that_are_wanted_together_are_told_together,
    d2_5_a_loaded_folder_answers_while_another_one_is_loaded,
];

/// What a call may take beyond its time on a machine that is busy with other tests.
const BUSY: Duration = Duration::from_secs(10);

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn e12_a_command_that_is_not_answered_is_named_and_a_restart_ends_it() {
    let ws = Workspace::new("//- a.py\nfirst = 1\n");
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}});
    let edit = json!({"edit": {"changes": {"$root/a.py": [{"range": range, "newText": "second"}]}}});
    let runs =
        [Act::Await(ws.gate("answers")), Ask::new("ask", "workspace/applyEdit", edit).into(), Act::Reply(Value::Null)];
    let script = Script::new()
        .capability("executeCommandProvider", json!({"commands": ["fake.fix"]}))
        .on("textDocument/codeAction", [Act::Reply(json!([{"title": "by command", "command": "fake.fix"}]))])
        .on("workspace/executeCommand", runs);
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", script))
        .config("request_timeout_ms = 1000")
        .max_wait(5_000)
        .start();
    let act = json!({"file_path": "a.py", "action": "by command"});
    lp.hover(&at("a.py")).fine();
    let first = lp.tool("code_actions", &act);
    assert!(first.is_error, "{first}");
    assert_eq!(lp.log().count("workspace/executeCommand"), 1, "{first}");
    // The next one has to wait for it, and hears that.
    let second = lp.tool("code_actions", &act);
    second.fails("unavailable").contains("a command of its own has been running for").contains("nobody waits for it");
    second.contains("lsp_status with server \"fake\" and restart true").contains("the command: fake.fix");
    second.lacks("too many requests");
    assert!(!second.first().contains("fake.fix"), "what a server says is never in the first line: {second}");
    // Everything else goes on.
    lp.hover(&at("a.py")).verdict_is("fresh");
    lp.tool("status", &json!({"server": "fake"})).contains("one of its own has been running for").contains("fake.fix");
    lp.tool("status", &json!({"server": "fake", "restart": true})).fine();
    ws.open("answers");
    let third = eventually("a command that runs", || Some(lp.tool("code_actions", &act)).filter(|it| !it.is_error));
    third.contains("+second").plan();
    assert_eq!(lp.log().starts(), 2);
    lp.tool("status", &json!({"server": "fake"})).lacks("has been running");
}

fn a8_4_who_gets_no_turn_hears_how_many_questions_are_in_its_way() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\nbeta\n");
    let script = Script::new().on("textDocument/hover", [Act::Await(ws.gate("answers")), Act::Default]);
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", script))
        .server(Definition::new("good", Script::new()).languages(&["go"]))
        .config("documents = 3\nrequest_timeout_ms = 60000")
        .max_wait(20_000)
        .start();
    let stuck: Vec<i64> = (0..3).map(|_| lp.call("lsp_hover", &at("a.py"))).collect();
    lp.log().wait("textDocument/hover", 3);
    let begun = Instant::now();
    let next = lp.call("lsp_definition", &at("a.py"));
    lp.hover(&at("b.go")).verdict_is("fresh").contains("WORD beta");
    for call in stuck {
        Answer::of(&lp.answer(call)).verdict_in(&["unanswered", "indexing"]);
    }
    let answer = Answer::of(&lp.answer(next));
    assert!(begun.elapsed() < Duration::from_secs(20) + BUSY, "{answer}");
    // Its turn comes when the others are over, which may be just before its own time is.
    if answer.verdict() == "unanswered" {
        answer.contains("3 other questions are with it already, the first for").lacks("too many requests");
        answer.contains("lsp_status with server \"fake\" and restart true");
    }
    ws.open("answers");
    eventually("an answer", || Some(lp.hover(&at("a.py"))).filter(|it| it.verdict() == "fresh"));
}

fn a8_4_thirty_stuck_questions_keep_nobody_else_waiting() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\nbeta\n");
    let script = Script::new().on("textDocument/hover", [Act::Await(ws.gate("answers")), Act::Default]);
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", script))
        .server(Definition::new("good", Script::new()).languages(&["go"]))
        .config("request_timeout_ms = 100000")
        .max_wait(100_000)
        .start();
    let stuck: Vec<i64> = (0..30).map(|_| lp.call("lsp_hover", &at("a.py"))).collect();
    lp.log().wait("textDocument/hover", 30);
    let begun = Instant::now();
    lp.hover(&at("b.go")).verdict_is("fresh").contains("WORD beta");
    lp.tool("definition", &at("a.py")).verdict_is("fresh");
    lp.diagnostics("a.py").verdict_is("fresh");
    assert!(begun.elapsed() < Duration::from_secs(90), "they waited for the stuck ones");
    for call in &stuck {
        lp.cancel(*call);
    }
    let cancelled = lp.log().wait("$/cancelRequest", 30);
    let mut ids: Vec<i64> = cancelled.iter().filter_map(|params| params["id"].as_i64()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 30, "each once: {cancelled:?}");
    // What comes late is nobody's; the turns are free.
    ws.open("answers");
    for _ in 0..3 {
        lp.hover(&at("a.py")).verdict_is("fresh").contains("WORD alpha");
    }
    for call in stuck {
        assert_eq!(lp.answers_for(call), 0, "who has cancelled hears nothing");
    }
    eventually("no request that waits", || {
        lp.tool("status", &json!({"server": "fake"})).has(" 0 pending").then_some(())
    });
}

fn sharing(script: Script) -> Definition {
    let folders = json!({"workspaceFolders": {"supported": true, "changeNotifications": true}});
    let root = "[root]\nmarkers = [[\"package.json\"]]\nshare = true";
    Definition::new("fake", script.capability("workspace", folders)).table(root)
}

fn packages(count: usize) -> Workspace {
    let ws = Workspace::new("//- README.md\nx\n");
    for n in 0..count {
        ws.write(&format!("p{n}/package.json"), "{}\n");
        ws.write(&format!("p{n}/a.py"), &format!("word{n}\n"));
    }
    ws
}

fn d2_5_folders_that_are_wanted_together_are_told_together() {
    let ws = packages(12);
    let script = Script::new().on("initialize", [Act::Await(ws.gate("starts")), Act::Default]);
    let lp = Langport::builder(&ws).server(sharing(script)).max_wait(100_000).start();
    // All of them wait for the same start.
    let calls: Vec<i64> = (0..12).map(|n| lp.call("lsp_hover", &at(&format!("p{n}/a.py")))).collect();
    lp.log().wait("initialize", 1);
    ws.open("starts");
    for (n, call) in calls.into_iter().enumerate() {
        Answer::of(&lp.answer(call)).fine().contains(&format!("WORD word{n}"));
    }
    assert_eq!(lp.log().starts(), 1);
    let told = lp.log().of("workspace/didChangeWorkspaceFolders");
    let added: usize = told.iter().map(|params| params["event"]["added"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!(added, 11, "each once: {told:?}");
    assert!(told.len() < 8, "they were told one by one: {told:?}");
}

fn d2_5_a_loaded_folder_answers_while_another_one_is_loaded() {
    let ws = packages(2);
    let state = |quiet: bool| Act::Tell("fake/status".into(), json!({"state": {"quiescent": quiet}}));
    let script = Script::new()
        .on("initialized", [state(true)])
        .on("workspace/didChangeWorkspaceFolders", [state(false), Act::Await(ws.gate("loaded")), state(true)]);
    let ready = "[ready]\nnotification = { method = \"fake/status\", field = \"state.quiescent\" }";
    let lp = Langport::builder(&ws).server(sharing(script).table(ready)).max_wait(100_000).start();
    lp.hover(&at("p0/a.py")).verdict_is("fresh").contains("WORD word0");
    let other = lp.call("lsp_hover", &at("p1/a.py"));
    lp.log().wait("workspace/didChangeWorkspaceFolders", 1);
    let begun = Instant::now();
    let meanwhile = eventually("an answer while it loads", || {
        Some(lp.hover(&at("p0/a.py"))).filter(|answer| answer.verdict() == "settling")
    });
    meanwhile.contains("WORD word0").contains("it is loading another folder");
    assert!(begun.elapsed() < Duration::from_secs(40), "it has waited for the other folder");
    assert_eq!(lp.answers_for(other), 0, "the new folder is waited for");
    ws.open("loaded");
    Answer::of(&lp.answer(other)).verdict_is("fresh").contains("WORD word1");
    lp.hover(&at("p0/a.py")).verdict_is("fresh").contains("WORD word0");
}
