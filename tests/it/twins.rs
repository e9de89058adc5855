//! What a definition is called is not what it is: two of one name, definitions that come and go, servers of an older
//! generation, and several that start at once.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Publish, Script},
    support::{Answer, Definition, Langport, Workspace, eventually, procs},
};

trials![
    b14_two_of_one_name_live_side_by_side,
    b14_a_mark_outlives_another_name_for_the_same_server,
    b13_what_an_older_generation_publishes_is_not_shown,
    b7_servers_start_at_once_and_stand_in_one_order,
    d2_4_the_status_tells_of_each_state,
    d2_4_an_end_that_is_seen_before_its_reason_is_told_with_it,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn status(lp: &Langport, server: &str) -> Answer {
    lp.tool("status", &json!({"server": server}))
}

/// A linter that is called as another definition is, in another namespace.
fn team(script: Script) -> Definition {
    Definition::new("team-twin", script).scoped("team/twin").key("role = \"linter\"")
}

/// What follows on a label in an answer.
fn fact(answer: &Answer, label: &str) -> String {
    let rest = answer.text.split(&format!("{label}: ")).nth(1).unwrap_or_else(|| panic!("{label} in\n{answer}"));
    rest.split([';', '\n']).next().unwrap().to_owned()
}

fn b14_two_of_one_name_live_side_by_side() {
    let ws = Workspace::new("//- a.py\nalpha = ERR\n");
    let lp = Langport::builder(&ws).server(Definition::new("twin", Script::new())).server(team(Script::new())).start();
    let mut lp = lp;
    lp.tolerate();
    lp.diagnostics("a.py").says("fresh · local/twin, team/twin · 1 error");
    lp.hover(&at("a.py")).says("fresh · local/twin · hover");
    let (one, other) = (status(&lp, "local/twin"), status(&lp, "team/twin"));
    for (label, differs) in [("instance", true), ("pid", true), ("defined in", true), ("root", false)] {
        assert_eq!(fact(&one, label) != fact(&other, label), differs, "{label}:\n{one}\n{other}");
    }
    one.contains("local/twin  running").lacks("team/twin  ");
    other.contains("team/twin  running").lacks("local/twin  ");
    // A bare name is the first one's.
    status(&lp, "twin").contains("local/twin  running").lacks("team/twin  ");
    // One that dies or is started anew leaves the other alone.
    procs::signal(lp.log_of("twin").pids()[0], libc::SIGKILL);
    lp.tool("status", &json!({"server": "team/twin", "restart": true})).contains("1 instance stopped");
    lp.diagnostics("a.py").says("fresh · local/twin, team/twin · 1 error");
    assert_eq!((lp.log_of("twin").starts(), lp.log_of("team-twin").starts()), (2, 2));
    status(&lp, "local/twin").contains("signal 9");
    status(&lp, "team/twin").lacks("last failure");
}

/// A second definition of the name changes what the first one is called, and nothing of what is known from it.
fn b14_a_mark_outlives_another_name_for_the_same_server() {
    let ws = Workspace::new("//- a.py\nalpha = ERR\n");
    let twin = Definition::new("twin", Script::new());
    let lp = Langport::builder(&ws).server(twin).auto().env("PATH", "/nowhere").start();
    let first = lp.diagnostics("a.py");
    let mark = |answer: &Answer| answer.text.rsplit_once("mark ").unwrap().1.trim().to_owned();
    let since = mark(first.says("fresh · twin · 1 error"));
    let clean = Script::new().pull().on("textDocument/diagnostic", [Act::Reply(json!({"kind": "full", "items": []}))]);
    team(clean).write(&ws);
    let asked = json!({"file_path": "a.py", "new_only": true, "since": since});
    let told = lp.tool("diagnostics", &asked);
    told.verdict_is("fresh").contains("local/twin, team/twin").contains("no new problems").lacks("a.py:1");
    assert_eq!(lp.log().starts(), 1, "it is the same one");
    ws.write("a.py", "alpha = ERR\nbeta = ERR\n");
    let told = lp.tool("diagnostics", &json!({"file_path": "a.py", "new_only": true, "since": mark(&told)}));
    told.contains("1 new error").contains("a.py:2").lacks("a.py:1");
}

fn b13_what_an_older_generation_publishes_is_not_shown() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}});
    let list = json!([{"range": range, "severity": 1, "message": "of the old one"}]);
    let publish = json!({"uri": ws.uri("a.py"), "version": 1, "diagnostics": list});
    let script = || {
        Script::new().publish(Publish::default()).on(
            "textDocument/hover",
            [
                Act::FirstStarts(1),
                Act::Await(ws.gate("go")),
                Act::Tell("textDocument/publishDiagnostics".into(), publish.clone()),
                Act::Default,
            ],
        )
    };
    let lp = Langport::with(&ws, script());
    let call = lp.call("lsp_hover", &at("a.py"));
    lp.log().wait("textDocument/hover", 1);
    Definition::new("fake", script()).table("[initialization]\nmode = \"new\"").write(&ws);
    lp.diagnostics("a.py").says("fresh · fake · no problems");
    assert_eq!(lp.log().starts(), 2);
    ws.open("go");
    Answer::of(&lp.answer(call)).fine().contains("WORD alpha");
    // The list came before that answer.
    lp.diagnostics("a.py").says("fresh · fake · no problems").lacks("of the old one");
    let old = lp.log().pids()[0];
    eventually("the end of the old one", || (!procs::alive(old)).then_some(()));
    lp.diagnostics("a.py").says("fresh · fake · no problems");
    status(&lp, "fake").contains("read anew once");
}

fn b7_servers_start_at_once_and_stand_in_one_order() {
    let names = ["one", "two", "three"];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let ws = Workspace::new("//- a.py\nalpha = ERR\n");
        let server = |name: &str| {
            let script = Script::new().on("initialize", [Act::Await(ws.gate(name)), Act::Default]);
            let role = if name == "one" { "primary" } else { "linter" };
            Definition::new(name, script).key(&format!("role = \"{role}\""))
        };
        let lp = Langport::builder(&ws).server(server("one")).server(server("two")).server(server("three")).start();
        let call = lp.call("lsp_diagnostics", &json!({"file_path": "a.py"}));
        // None of them waits for another one.
        names.iter().for_each(|name| _ = lp.log_of(name).wait("initialize", 1));
        for next in order {
            ws.open(names[next]);
            lp.log_of(names[next]).wait("textDocument/didOpen", 1);
        }
        Answer::of(&lp.answer(call)).says("fresh · one, two, three · 1 error");
        let told = lp.tool("status", &json!({}));
        told.contains("3 running").lacks("read anew");
        let lines: Vec<_> = ["local/one  ", "local/three  ", "local/two  "].map(|name| told.text.find(name)).into();
        assert!(lines.is_sorted() && lines[0].is_some(), "in the order of the registry: {told}");
    }
}

fn d2_4_the_status_tells_of_each_state() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let script = Script::new().on("initialized", [Act::Stderr("hello from below".into(), 1)]);
    let mut lp = Langport::with(&ws, script);
    lp.tolerate();
    let this = std::env::current_exe().unwrap().display().to_string();
    let holds = |told: &Answer, facts: &[&str]| facts.iter().for_each(|fact| _ = told.contains(fact));
    holds(&status(&lp, "fake"), &["local/fake  not started", "defined in: ", &format!("program: {this}")]);
    lp.hover(&at("a.py")).fine();
    let root = format!("root: {}", ws.root().display());
    let pid = lp.log().pids()[0];
    let both = ["instance: ", &root, "since: ", "callers: 1", "hello from below", &format!("program: {this}")];
    let running = status(&lp, "fake");
    holds(&running, &both);
    let own =
        ["local/fake  running", "because: it started in ", "requests: ", "messages: ", "memory: ", "server: fake"];
    holds(&running, &own);
    holds(&running, &["starts: 1", "restarts: 0", &format!("pid: {pid}")]);
    lp.tool("status", &json!({"server": "fake", "restart": true})).fine();
    let stopped = status(&lp, "fake");
    holds(&stopped, &both);
    let own = ["local/fake  stopped", "because: asked to start anew", "last server: fake", "restarts: 0"];
    holds(&stopped, &own);
    holds(&stopped, &[&format!("last pid: {pid}")]);
    lp.hover(&at("a.py")).fine();
    let second = lp.log().pids()[1];
    procs::signal(second, libc::SIGKILL);
    let failed = eventually("its end", || Some(status(&lp, "fake")).filter(|told| told.has("  failed  ")));
    holds(&failed, &both);
    holds(&failed, &["reason: it died: ", "signal 9", "next: ", "starts: 2", "restarts: 1", "last server: fake"]);
    holds(&failed, &[&format!("last pid: {second}")]);
}

/// The pipes of a server close before its exit status is there.
fn d2_4_an_end_that_is_seen_before_its_reason_is_told_with_it() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let end = [Act::Default, Act::CloseOutput, Act::Sleep(250), Act::Exit(7)];
    let script = Script { ignore_exit: true, ..Script::new().on("textDocument/hover", end) };
    let mut lp = Langport::with(&ws, script);
    lp.tolerate();
    lp.hover(&at("a.py"));
    let seen = eventually("its end", || Some(status(&lp, "fake")).filter(|told| !told.has("local/fake  running")));
    seen.contains("local/fake  failed").contains("exit code 7");
}
