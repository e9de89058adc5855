//! Deaths and starts that fail, for a user to see: which command, how it ended, what it said last; and what is forgotten
//! with a server that is gone.

use std::{os::unix::fs::PermissionsExt, time::Instant};

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script, watch},
    support::{Answer, BUSY, Definition, Langport, Workspace, cli, eventually, procs},
};

trials![
    a8_2_lif_01_nothing_of_a_dead_server_counts,
    lif_01_whatever_is_in_flight_fails_at_once,
    lif_02_a_server_that_always_dies_a_second_after_its_start,
    lif_02_a_server_that_is_healthy_from_its_third_start,
    lif_02_a_start_that_takes_longer_than_a_request,
    lif_02_a_failure_names_command_exit_and_last_words,
    lif_07_each_bad_one_says_what_was_run_and_what_helps,
    lif_10_scripts_that_cannot_be_run_say_why,
    syn_05_versions_rise_over_five_edits_and_a_death,
    a_change_of_state_is_logged_with_its_cause,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

/// What the scripted server is run as.
fn this() -> String {
    std::env::current_exe().unwrap().display().to_string()
}

fn kill(lp: &Langport, start: usize) {
    let pid = lp.log().pids()[start - 1];
    procs::signal(pid, libc::SIGKILL);
    eventually("the end of the server", || (!procs::alive(pid)).then_some(()));
}

/// How often one start was told this.
fn told(lp: &Langport, start: usize, method: &str) -> usize {
    lp.log().lines().iter().filter(|line| line["start"] == start && line["in"]["method"] == method).count()
}

fn without_mark(answer: &Answer) -> &str {
    answer.text.split("\nmark @").next().unwrap()
}

fn a8_2_lif_01_nothing_of_a_dead_server_counts() {
    const WATCHED: &str = "workspace/didChangeWatchedFiles";
    let ws = Workspace::new("//- a.py\nalpha = ERR\n//- b.py\nbeta\n");
    // Only the first life asks to be told of files.
    let script = || Script::new().on("initialized", [Act::FirstStarts(1), watch("**/*").into()]);
    let mut lp = Langport::with(&ws, script());
    lp.tolerate();
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    lp.log().wait_event("answer", 1);
    ws.write("b.py", "beta2\n");
    lp.hover(&at("a.py")).verdict_is("fresh").contains("WORD alpha");
    assert_eq!(told(&lp, 1, WATCHED), 1);
    kill(&lp, 1);
    ws.write("a.py", "gamma\n");
    let answers = |lp: &Langport| {
        let hover = lp.hover(&at("a.py"));
        let problems = lp.diagnostics("a.py");
        let outline = lp.tool("symbols", &json!({"file_path": "a.py"}));
        [hover, problems, outline].map(|answer| without_mark(&answer).to_owned())
    };
    let after = answers(&lp);
    assert!(after[0].contains("WORD gamma") && after[1].starts_with("fresh · fake · no problems"), "{after:?}");
    lp.tool("rename", &json!({"file_path": "a.py", "line": 1, "column": 1, "new_name": "delta"})).fine().plan();
    ws.write("b.py", "beta3\n");
    lp.hover(&at("a.py")).verdict_is("fresh");
    assert_eq!(told(&lp, 2, WATCHED), 0, "what the dead one has registered is forgotten");
    assert_eq!((lp.log().starts(), told(&lp, 2, "textDocument/didOpen")), (2, 1));
    drop(lp);
    // As a fresh start says it.
    let fresh = Langport::with(&ws, Script::new());
    assert_eq!(answers(&fresh), after);
}

fn lif_01_whatever_is_in_flight_fails_at_once() {
    let place = at("a.py");
    for (method, tool, arguments) in [
        ("textDocument/hover", "hover", place.clone()),
        ("textDocument/diagnostic", "diagnostics", json!({"file_path": "a.py"})),
        ("textDocument/rename", "rename", json!({"file_path": "a.py", "line": 1, "column": 1, "new_name": "beta"})),
    ] {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let script = Script::new().pull().on(method, [Act::FirstStarts(2), Act::Await(ws.gate("never"))]);
        let mut lp = Langport::with(&ws, script);
        lp.tolerate();
        let call = lp.call(&format!("lsp_{tool}"), &arguments);
        for start in 1..=2 {
            eventually(method, || (told(&lp, start, method) > 0).then_some(()));
            kill(&lp, start);
        }
        let begun = Instant::now();
        let answer = Answer::of(&lp.answer(call));
        assert!(begun.elapsed() < BUSY, "{method}: at once, not after {:?}", begun.elapsed());
        answer.fails("failed").contains("fake: it died: ").contains(&this()).contains("signal 9");
        let again = Answer::of(&lp.answer(lp.call(&format!("lsp_{tool}"), &arguments)));
        again.fine().verdict_is("fresh");
        assert_eq!(lp.log().starts(), 3, "{method}");
    }
}

/// Dies with status 134, as an abort does, a second after its handshake.
fn dying() -> [Act; 3] {
    [Act::Sleep(1000), Act::Stderr("fatal: out of memory".into(), 1), Act::Exit(134)]
}

/// The end of a start, which may come in the middle of a call, and have a successor by then.
fn dead(lp: &Langport, start: usize) {
    let pid = lp.log().pids()[start - 1];
    eventually("its death", || (!procs::alive(pid)).then_some(()));
}

fn lif_02_a_server_that_always_dies_a_second_after_its_start() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let definition = Definition::new("fake", Script::new().on("initialized", dying()));
    let lp = Langport::builder(&ws)
        .server(definition)
        .config("restarts = 1\nbackoff_ms = 1000\nbackoff_longest_ms = 2000")
        .start();
    let mut kept_back = Vec::new();
    // The first start, the one restart, and what is tried after the pauses.
    while lp.log().starts() < 5 {
        let answer = lp.hover(&at("a.py"));
        if answer.is_error {
            answer.contains(&this()).contains("exit code 134").contains("fatal: out of memory");
            answer.verdict_in(&["failed", "unavailable"]);
            if answer.has("started again when asked after") {
                kept_back.push(answer);
            }
        } else {
            answer.contains("WORD alpha");
        }
    }
    assert!(!kept_back.is_empty(), "it is not started at every call");
    for answer in &kept_back {
        let seconds = answer.text.split("asked after ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        assert!(["1", "2", "3"].contains(&seconds), "no pause is longer than its cap: {answer}");
    }
}

fn lif_02_a_server_that_is_healthy_from_its_third_start() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let [sleep, words, exit] = dying();
    let script = Script::new().on("initialized", [Act::FirstStarts(2), sleep, words, exit]);
    let mut lp = Langport::with(&ws, script);
    lp.tolerate();
    for start in 1..=2 {
        eventually("a call of this start", || {
            lp.hover(&at("a.py"));
            (lp.log().starts() >= start).then_some(())
        });
        dead(&lp, start);
    }
    let healed = eventually("health", || Some(lp.hover(&at("a.py"))).filter(|answer| !answer.is_error));
    healed.says("fresh · fake · hover").contains("WORD alpha");
    assert_eq!(lp.log().starts(), 3);
    let told = lp.tool("status", &json!({"server": "fake"}));
    told.contains("running").contains("starts: 3; restarts: 2").contains("last failure: ");
    told.contains(&this()).contains("exit code 134").contains("before that: fatal: out of memory");
}

/// The time for a start is another one than that for a request, and than that for a call.
fn lif_02_a_start_that_takes_longer_than_a_request() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let script = Script::new().on("initialize", [Act::Await(ws.gate("start")), Act::Default]);
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", script))
        .config("request_timeout_ms = 300\nrestarts = 0")
        .max_wait(1_500)
        .start();
    for _ in 0..2 {
        lp.hover(&at("a.py")).fine().verdict_is("indexing").contains("it is still starting");
    }
    ws.open("start");
    let ready = eventually("its start", || Some(lp.hover(&at("a.py"))).filter(|answer| answer.verdict() == "fresh"));
    ready.contains("WORD alpha");
    assert_eq!(lp.log().starts(), 1);
    lp.tool("status", &json!({"server": "fake"})).contains("restarts: 0").lacks("last failure");
}

fn lif_02_a_failure_names_command_exit_and_last_words() {
    // In each phase, by exit code and by signal.
    for (phase, act, how) in [
        ("start", Act::Exit(3), "exit code 3"),
        ("initialize", Act::Die, "signal 9"),
        ("textDocument/hover", Act::Exit(5), "exit code 5"),
        ("textDocument/hover", Act::Die, "signal 9"),
    ] {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let script = Script::new().on(phase, [Act::Stderr("its last word".into(), 1), act]);
        let definition = Definition::new("fake", script).key("args = [\"--stdio\"]");
        let mut lp = Langport::builder(&ws).server(definition).start();
        lp.tolerate();
        let command = format!("`{} --stdio`", this());
        let answer = lp.hover(&at("a.py"));
        assert!(answer.is_error, "{phase}: {answer}");
        for part in [command.as_str(), how, "its last word"] {
            answer.contains(part);
        }
        let told = lp.tool("status", &json!({"server": "fake"}));
        for part in ["  failed  ", &command, how, "its last word", "program: ", "next: "] {
            told.contains(part);
        }
    }
}

fn lif_07_each_bad_one_says_what_was_run_and_what_helps() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.rs\nfn b() {}\n//- c.go\npackage c\n");
    let folder = cli::program(&ws, "stub", "echo \"error: Unknown binary 'stub' in official toolchain\" >&2\nexit 1");
    let stub = format!("{folder}/stub");
    let lp = Langport::builder(&ws)
        .server(Definition::new("good", Script::new()))
        .server(Definition::command("missing", "no-such-server-anywhere").languages(&["rust"]))
        .server(Definition::command("broken", &stub).languages(&["go"]))
        .env("PATH", "/usr/bin:/bin")
        .start();
    assert!(lp.tools().len() >= 10);
    lp.hover(&at("a.py")).verdict_is("fresh");
    let begun = Instant::now();
    let missing = lp.hover(&at("b.rs"));
    missing.says(
        "unavailable · missing: `no-such-server-anywhere` is not installed · install `no-such-server-anywhere`, or \
         correct `command` in its definition",
    );
    missing.contains("no program `no-such-server-anywhere` in /usr/bin, /bin");
    let broken = lp.hover(&at("c.go"));
    broken.says(&format!(
        "unavailable · broken: it could not be started: `{stub}`: exit code 1 · see its last words below; the next call \
         tries again"
    ));
    broken.contains("error: Unknown binary 'stub' in official toolchain");
    assert!(begun.elapsed() < BUSY, "at once: {:?}", begun.elapsed());
    let told = lp.tool("status", &json!({}));
    told.contains("local/good  running").contains("local/missing  failed").contains("local/broken  failed");
    told.contains(&stub).contains("exit code 1").contains("Unknown binary 'stub'").contains("/usr/bin, /bin");
    lp.hover(&at("a.py")).verdict_is("fresh");
}

fn lif_10_scripts_that_cannot_be_run_say_why() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let folder = ws.home().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let script = |name: &str, text: &str, mode: u32| {
        std::fs::write(folder.join(name), text).unwrap();
        std::fs::set_permissions(folder.join(name), PermissionsExt::from_mode(mode)).unwrap();
        folder.join(name).display().to_string()
    };
    let unmarked = script("unmarked", "#!/bin/sh\nexit 0\n", 0o644);
    let dos = script("dos", "#!/bin/sh\r\nexit 0\r\n", 0o755);
    let dos_env = script("dos-env", "#!/usr/bin/env sh\r\nexit 0\r\n", 0o755);
    let nowhere = script("nowhere", "#!/no/such/interpreter\n", 0o755);
    let path = format!("{}:/usr/bin:/bin", folder.display());
    for (command, said) in [
        ("unmarked", vec![format!("passed over, because it is not executable: {unmarked}")]),
        (&unmarked, vec![format!("`{unmarked}` may not be executed")]),
        ("dos", vec![format!("`{dos}`: its first line, `#!/bin/sh`, ends with CR LF")]),
        (&dos, vec![format!("`{dos}`: its first line, `#!/bin/sh`, ends with CR LF")]),
        ("dos-env", vec![dos_env, "exit code 127: its first line, `#!/usr/bin/env sh`, ends with CR LF".into()]),
        ("nowhere", vec![nowhere, "names the interpreter `/no/such/interpreter`, which is not there".into()]),
    ] {
        let lp = Langport::builder(&ws).server(Definition::command("fake", command)).env("PATH", &path).start();
        let told = lp.hover(&at("a.py"));
        told.fails("unavailable");
        let state = lp.tool("status", &json!({"server": "fake"}));
        for part in &said {
            told.contains(part);
            state.contains(part);
        }
    }
}

fn syn_05_versions_rise_over_five_edits_and_a_death() {
    let ws = Workspace::new("//- a.py\nw0\n//- b.py\nbeta\n");
    let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new())).config("documents = 1");
    let mut lp = lp.start();
    lp.tolerate();
    for round in 1..=5 {
        ws.write("a.py", &format!("w{round}\n"));
        lp.hover(&at("a.py")).verdict_is("fresh").contains(&format!("WORD w{round}"));
        match round {
            // Takes its place.
            2 => _ = lp.hover(&at("b.py")).verdict_is("fresh"),
            4 => kill(&lp, 1),
            _ => {}
        }
    }
    assert_eq!((lp.log().starts(), lp.log().violations()), (2, Vec::<String>::new()));
    for start in 1..=2 {
        let (mut open, mut last) = (false, 0);
        for line in lp.log().lines().iter().filter(|line| line["start"] == start) {
            let (method, document) = (&line["in"]["method"], &line["in"]["params"]["textDocument"]);
            if document["uri"] != ws.uri("a.py") {
                continue;
            }
            match method.as_str() {
                Some("textDocument/didOpen") => assert!(!std::mem::replace(&mut open, true), "opened twice"),
                Some("textDocument/didClose") => assert!(std::mem::replace(&mut open, false), "closed twice"),
                _ => {}
            }
            if let Some(version) = document["version"].as_i64().filter(|_| method != "textDocument/didClose") {
                assert!(version > last, "start {start}: {version} after {last}");
                last = version;
            }
        }
        assert!(last > 0, "start {start} was told of it");
    }
}

fn a_change_of_state_is_logged_with_its_cause() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let script = Script::new().on("initialized", [Act::FirstStarts(1), Act::Stderr("its last word".into(), 1)]);
    let mut lp = Langport::with(&ws, script);
    lp.tolerate();
    lp.hover(&at("a.py")).verdict_is("fresh");
    kill(&lp, 1);
    lp.hover(&at("a.py")).verdict_is("fresh");
    assert!(lp.hang_up().is_some());
    let folder = ws.home().join("state/log");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let states: Vec<Value> = lines.map(|line| line["fields"].clone()).filter(|it| it["state"].is_string()).collect();
    let mut before = "stopped";
    let mut seen = Vec::new();
    for entered in &states {
        assert_eq!(entered["from"], before, "{text}");
        assert!(entered["cause"].as_str().is_some_and(|cause| !cause.is_empty()), "{entered}");
        assert_eq!((&entered["server"], &entered["root"]), (&json!("local/fake"), &json!(ws.root())));
        before = entered["state"].as_str().unwrap();
        seen.push(before);
    }
    assert_eq!(seen, ["starting", "running", "failed", "starting", "running", "stopping", "stopped", "ended"]);
    let died = states[2]["cause"].as_str().unwrap();
    assert!(died.contains(&this()) && died.contains("signal 9"), "{died}");
    assert_eq!(states[2]["said"], "its last word");
}
