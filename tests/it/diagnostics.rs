//! What counts as an answer about a text: pushes with and without versions, pulls, silence, and death.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Ask, Publish, Script, Step},
    support::{Answer, BUSY, Definition, Langport, Workspace, eventually, in_pace, procs},
};

trials![
    dia_01_an_older_list_is_never_current,
    dia_01_a_list_without_version_that_was_on_its_way_never_counts_alone,
    dia_02_a_server_that_never_publishes,
    dia_02_b_server_that_publishes_late,
    dia_02_c_server_that_dies_of_a_file,
    dia_02_c_beside_a_server_that_lives,
    dia_02_d_server_that_is_silent_about_clean_files,
    dia_02_commands_that_answer_with_the_problems,
    dia_02_a_command_that_is_refused_proves_nothing,
    dia_03_no_pull_where_none_is_offered,
    dia_03_every_registered_identifier_is_pulled,
    dia_06_an_empty_list_may_be_the_first_of_two,
    dia_06_what_was_said_while_langport_stood_still_counts,
    dia_06_one_list_does_not_cost_the_whole_wait,
    dia_06_progress_between_two_lists,
    dia_07_the_file_is_opened_by_the_call,
    dia_07_client_capabilities_are_declared,
    x1_lists_without_version_of_older_texts_do_not_count,
    x1_pulls_are_about_the_new_text,
];

const BAD: &str = "//- a.py\nx = ERR\n";

/// A langport that waits six seconds at most: enough for what comes, on any machine, and not too much for what does not.
fn hasty(ws: &Workspace, script: Script) -> Langport {
    Langport::builder(ws).server(Definition::new("fake", script)).max_wait(6_000).start()
}

fn dia_01_an_older_list_is_never_current() {
    let ws = Workspace::new(BAD);
    let publish =
        Publish { change_steps: Some(vec![Step::Await(ws.gate("change")), Step::Full]), ..Publish::default() };
    let lp = hasty(&ws, Script::new().publish(publish));
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    ws.write("a.py", "x = 1\n");
    let old = lp.diagnostics("a.py");
    old.fine().verdict_in(&["stale", "unanswered", "unconfirmed"]);
    if old.verdict() == "unconfirmed" {
        old.contains("not updated since the last change");
    }
    ws.open("change");
    let current = eventually("the new list", || Some(lp.diagnostics("a.py")).filter(|a| a.verdict() == "fresh"));
    current.says("fresh · fake · no problems");
}

fn dia_01_a_list_without_version_that_was_on_its_way_never_counts_alone() {
    let ws = Workspace::new(BAD);
    let steps = Some(vec![Step::AwaitVersion(ws.gate("v")), Step::Full]);
    let publish = Publish { versioned: false, outdated: true, change_steps: steps, ..Publish::default() };
    let lp = hasty(&ws, Script::new().publish(publish));
    lp.diagnostics("a.py").fine().contains("x = ERR");
    ws.write("a.py", "half = ERR\n");
    lp.hover(&json!({"file_path": "a.py", "line": 1, "column": 1})).contains("WORD half");
    ws.write("a.py", "whole = 1\n");
    let call = lp.call("lsp_diagnostics", &json!({"file_path": "a.py"}));
    let versions: Vec<Value> =
        lp.log().wait("textDocument/didChange", 2).iter().map(|p| p["textDocument"]["version"].clone()).collect();
    // The list that comes now is about the text before, which the server had not finished when it was told of the next.
    ws.open(&format!("v-{}", versions[0]));
    Answer::of(&lp.answer(call)).fine().verdict_in(&["settling", "unconfirmed", "stale", "unanswered"]);
    ws.open(&format!("v-{}", versions[1]));
    let current =
        eventually("the list of this text", || Some(lp.diagnostics("a.py")).filter(|a| a.verdict() == "fresh"));
    current.says("fresh · fake · no problems");
}

fn dia_02_a_server_that_never_publishes() {
    let ws = Workspace::new(BAD);
    let lp = hasty(&ws, Script::new().publish(Publish::never()));
    let begun = Instant::now();
    let answer = lp.diagnostics("a.py");
    answer.fine().verdict_is("unanswered").lacks("no problems").contains("fake");
    assert!(begun.elapsed() < Duration::from_secs(6) + BUSY, "the wait is bounded: {:?}", begun.elapsed());
}

fn dia_02_b_server_that_publishes_late() {
    let ws = Workspace::new(BAD);
    let steps = [Step::Await(ws.gate("publish")), Step::Full];
    let lp = hasty(&ws, Script::new().publish(Publish::steps(steps)));
    lp.diagnostics("a.py").fine().verdict_is("unanswered").lacks("no problems");
    ws.open("publish");
    let late = eventually("the late list", || Some(lp.diagnostics("a.py")).filter(|a| a.verdict() == "fresh"));
    late.says("fresh · fake · 1 error").contains("a.py:1:1");
}

fn dia_02_c_server_that_dies_of_a_file() {
    let ws = Workspace::new("//- a.py\nx = ERR\n//- b.py\ny\n");
    let script =
        Script::new().on("textDocument/didOpen", [Act::Stderr("fatal: out of memory".into(), 1), Act::Exit(134)]);
    let lp = hasty(&ws, script.publish(Publish::never()));
    let answer = lp.diagnostics("a.py");
    assert!(answer.is_error, "{answer}");
    answer.verdict_in(&["failed", "unavailable"]).lacks("no problems").contains("out of memory").contains("134");
    let starts = lp.log().starts();
    assert!((2..=4).contains(&starts), "retried, within the budget: {starts}");
}

fn dia_02_c_beside_a_server_that_lives() {
    let ws = Workspace::new(BAD);
    let script =
        Script::new().on("textDocument/didOpen", [Act::Stderr("fatal: out of memory".into(), 1), Act::Exit(134)]);
    let linter = Definition::new("lint", Script::new()).key("role = \"linter\"");
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", script.publish(Publish::never())))
        .server(linter)
        .max_wait(10_000)
        .start();
    let answer = lp.diagnostics("a.py");
    answer.fine().verdict_is("partial").contains("fake failed").contains("134").contains("x = ERR");
    answer.contains("\n  fake: fatal: out of memory");
}

fn dia_02_d_server_that_is_silent_about_clean_files() {
    let ws = Workspace::new("//- a.py\nx = ERR\n//- clean.py\ny\n");
    let publish = Publish { silent_when_clean: true, ..Publish::default() };
    let lp = hasty(&ws, Script::new().publish(publish));
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    let clean = lp.diagnostics("clean.py");
    clean.fine().verdict_in(&["unanswered", "unconfirmed"]);
    ws.write("a.py", "x = 1\n");
    let silent = lp.diagnostics("a.py");
    silent.fine().verdict_in(&["stale", "unanswered", "unconfirmed"]);
}

/// Publishes without version and nothing for clean files, and answers commands with the problems.
fn with_commands(ws: &Workspace, script: Script) -> Langport {
    let publish = Publish { silent_when_clean: true, versioned: false, ..Publish::default() };
    let ask = "[diagnostics]\nask = [{ command = \"check\", arguments = [\"now\", { of = \"${uri}\" }] }, \
        { command = \"lint\" }]";
    let definition = Definition::new("fake", script.publish(publish)).table(ask);
    Langport::builder(ws).server(definition).max_wait(6_000).start()
}

fn dia_02_commands_that_answer_with_the_problems() {
    let ws = Workspace::new("//- a.py\nx = ERR\n");
    let problem = json!({"start": {"line": 1, "offset": 1}, "end": {"line": 1, "offset": 2}, "text": "it is so",
        "category": "error", "code": 7});
    let answers = [json!({"body": [problem]}), json!({"body": []})].map(|body| vec![Act::Reply(body)]);
    let none = vec![Act::Reply(json!({"body": []}))];
    let [one, empty] = answers;
    // Either command may come first: the second call's both say nothing.
    let script = Script::new().each("workspace/executeCommand", vec![one, empty, none.clone(), none]);
    let lp = with_commands(&ws, script);
    lp.diagnostics("a.py").says("fresh · fake · 1 error").contains("it is so").lacks("ERR (version");
    let asked = lp.log().of("workspace/executeCommand");
    assert_eq!(asked[0], json!({"command": "check", "arguments": ["now", {"of": ws.uri("a.py")}]}));
    assert_eq!(asked[1], json!({"command": "lint", "arguments": []}));
    // What it pushed meanwhile, and what the text was before, is not mixed in.
    ws.write("a.py", "y = ERR\n");
    lp.diagnostics("a.py").says("fresh · fake · no problems");
}

fn dia_02_a_command_that_is_refused_proves_nothing() {
    for answer in [Act::Fail(1, "no project".into()), Act::Reply(json!({"success": false})), Act::Reply(Value::Null)] {
        in_pace(|pace| {
            let ws = Workspace::new("//- a.py\nx\n");
            let lp = with_commands(&ws, Script::new().on("workspace/executeCommand", [answer.clone()]));
            lp.diagnostics("a.py").fine().verdict_in(&["unanswered", "unconfirmed"]);
            ws.write("a.py", "x = ERR\n");
            let told = lp.diagnostics("a.py");
            // The file's second event came after its text had been told, and the time was over before silence counted.
            pace.lost_if(told.verdict() == "stale");
            told.fine().verdict_in(&["fresh", "settling", "unconfirmed"]).contains("x = ERR");
        });
    }
}

fn dia_03_no_pull_where_none_is_offered() {
    for unknown_silent in [true, false] {
        let ws = Workspace::new(BAD);
        let lp = Langport::with(&ws, Script { unknown_silent, ..Script::new() });
        lp.diagnostics("a.py").says("fresh · fake · 1 error");
        assert_eq!(lp.log().count("textDocument/diagnostic"), 0);
        assert_eq!(lp.log().count("workspace/diagnostic"), 0);
    }
}

fn dia_03_every_registered_identifier_is_pulled() {
    let ids = ["syntax", "semantic", "analyzer"];
    let registration = |id: &&str| {
        let options = json!({"identifier": id, "interFileDependencies": true, "workspaceDiagnostics": false});
        json!({"id": format!("pull-{id}"), "method": "textDocument/diagnostic", "registerOptions": options})
    };
    let registrations: Vec<Value> = ids.iter().map(registration).collect();
    let ask = Ask::new(5, "client/registerCapability", json!({"registrations": registrations}));
    let script = Script { pull_registered: true, ..Script::new().publish(Publish::never()) };
    let ws = Workspace::new("//- a.py\nERR syntax\nERR semantic\nERR analyzer\n");
    let lp = Langport::with(&ws, script.on("initialized", [ask.block().into()]));
    lp.diagnostics("a.py")
        .says("fresh · fake · 3 errors")
        .contains("ERR syntax")
        .contains("ERR semantic")
        .contains("ERR analyzer");
    let pulls = lp.log().of("textDocument/diagnostic");
    assert!(ids.iter().all(|id| pulls.iter().any(|p| p["identifier"] == *id)), "{pulls:?}");
    ws.write("a.py", "fine\nERR semantic\n");
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
}

fn dia_06_an_empty_list_may_be_the_first_of_two() {
    for (gap, table) in [(250, ""), (850, ""), (900, "[diagnostics]\nempty_ms = 2500")] {
        in_pace(|pace| {
            let ws = Workspace::new(BAD);
            let steps = [Step::Sleep(50), Step::Empty, Step::Sleep(gap), Step::Full];
            let script = Script::new().publish(Publish::steps(steps));
            let lp = Langport::builder(&ws).server(Definition::new("fake", script).table(table)).start();
            // The second list comes in time only where the machine lets the server have its turn.
            let ask = |told: usize| {
                let answer = lp.diagnostics("a.py");
                lp.log().wait_event("slept", 2 * told);
                pace.lost_if(lp.log().events("slept").iter().any(|slept| slept["about"]["over"].as_u64() > Some(60)));
                answer
            };
            ask(1).says("fresh · fake · 1 error");
            ws.write("a.py", "y = ERR\nz = ERR\n");
            ask(2).says("fresh · fake · 2 errors");
        });
    }
}

/// Its second list lies unread in the pipe when the time for which the first one has to stand is over.
fn dia_06_what_was_said_while_langport_stood_still_counts() {
    in_pace(|pace| {
        let ws = Workspace::new(BAD);
        let gate = Step::Await(ws.gate("second"));
        let steps = [Step::Sleep(1), Step::Empty, Step::Sleep(50), gate, Step::Full, Step::Sleep(1)];
        let lp = Langport::with(&ws, Script::new().publish(Publish::steps(steps)));
        let call = lp.call("lsp_diagnostics", &json!({"file_path": "a.py"}));
        lp.log().wait_event("slept", 1);
        // Stopped before the first list has stood for long enough.
        pace.keep(|| {
            lp.log().wait_event("slept", 2);
            procs::signal(lp.pid(), libc::SIGSTOP);
        });
        ws.open("second");
        lp.log().wait_event("slept", 3);
        // This is the time that it loses.
        std::thread::sleep(Duration::from_secs(3));
        procs::signal(lp.pid(), libc::SIGCONT);
        Answer::of(&lp.answer(call)).says("fresh · fake · 1 error");
    });
}

fn dia_06_one_list_does_not_cost_the_whole_wait() {
    for table in ["[diagnostics]\nfinal = \"first\"", "[diagnostics]\nfinal = \"settle\""] {
        let ws = Workspace::new(BAD);
        let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new()).table(table)).start();
        lp.diagnostics("a.py").says("fresh · fake · 1 error");
        ws.write("a.py", "y = ERR\nz = ERR\n");
        let begun = Instant::now();
        lp.diagnostics("a.py").says("fresh · fake · 2 errors");
        assert!(begun.elapsed() < BUSY, "{table}: {:?}", begun.elapsed());
    }
}

fn dia_06_progress_between_two_lists() {
    let ws = Workspace::new("//- a.py\nERR one\nERR two\n");
    let begin = Step::Begin("check".into());
    let steps = [Step::First, begin, Step::Sleep(700), Step::Full, Step::End("check".into())];
    let lp = Langport::with(&ws, Script::new().publish(Publish::steps(steps)));
    lp.diagnostics("a.py").fine().contains("ERR one").contains("ERR two").verdict_in(&["fresh", "settling"]);
    ws.write("a.py", "ERR one\nERR two\nERR three\n");
    lp.diagnostics("a.py").fine().contains("ERR three").verdict_in(&["fresh", "settling"]);
}

fn dia_07_the_file_is_opened_by_the_call() {
    for script in [Script::new(), Script::new().pull()] {
        let ws = Workspace::new(BAD);
        let lp = Langport::with(&ws, script);
        lp.diagnostics("a.py").says("fresh · fake · 1 error").contains("a.py:1:1").contains("x = ERR");
        let methods = lp.log().methods();
        assert_eq!(methods[..2], ["initialize", "initialized"], "{methods:?}");
        assert_eq!(lp.log().of("textDocument/didOpen")[0]["textDocument"]["uri"], ws.uri("a.py"));
    }
}

fn dia_07_client_capabilities_are_declared() {
    let ws = Workspace::new(BAD);
    let lp = Langport::with(&ws, Script::new());
    lp.diagnostics("a.py").fine();
    let capabilities = lp.log().of("initialize")[0]["capabilities"].clone();
    for path in [
        "/textDocument/publishDiagnostics/versionSupport",
        "/textDocument/publishDiagnostics/relatedInformation",
        "/textDocument/diagnostic/dynamicRegistration",
        "/textDocument/synchronization/didSave",
        "/textDocument/hover/contentFormat",
        "/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport",
        "/textDocument/definition/linkSupport",
        "/workspace/configuration",
        "/workspace/workspaceFolders",
        "/workspace/didChangeWatchedFiles/dynamicRegistration",
        "/window/workDoneProgress",
    ] {
        let value = capabilities.pointer(path);
        assert!(value.is_some_and(|v| *v == true || v.is_array()), "{path} is {value:?}");
    }
}

fn x1_lists_without_version_of_older_texts_do_not_count() {
    let ws = Workspace::new(BAD);
    let slow = Some(vec![Step::Sleep(120), Step::Full]);
    let publish = Publish { versioned: false, outdated: true, change_steps: slow, ..Publish::default() };
    let lp = Langport::with(&ws, Script::new().publish(publish));
    lp.diagnostics("a.py").fine().contains("x = ERR");
    for round in 0..6 {
        let clean = round % 2 == 0;
        ws.write("a.py", "half = ERR\n");
        lp.hover(&json!({"file_path": "a.py", "line": 1, "column": 1})).contains("WORD half");
        ws.write("a.py", &if clean { format!("ok_{round}\n") } else { format!("r{round} = ERR\n") });
        let answer = lp.diagnostics("a.py");
        if answer.verdict() == "fresh" {
            answer.lacks("half = ERR");
            let expected = if clean { "no problems" } else { "1 error" };
            assert!(answer.first().ends_with(expected), "round {round}: {answer}");
        } else {
            answer.verdict_in(&["settling", "unconfirmed", "stale", "unanswered"]);
        }
    }
}

fn x1_pulls_are_about_the_new_text() {
    let ws = Workspace::new(BAD);
    let lp = Langport::with(&ws, Script::new().pull());
    for round in 0..10 {
        ws.write("a.py", &format!("{}a{round} = ERR\n", "b = ERR\n".repeat(round)));
        let expected = if round == 0 {
            "fresh · fake · 1 error".to_owned()
        } else {
            format!("fresh · fake · {} errors", round + 1)
        };
        lp.diagnostics("a.py").says(&expected).contains(&format!("a{round} = ERR"));
    }
}
