//! Servers that fail in every phase, for a while or for good, and what is said of them.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::{
    fake::{
        SCRIPT,
        script::{Act, Script},
    },
    support::{Answer, Definition, Langport, Workspace, cli, eventually, procs},
};

trials![
    x10_a_death_in_any_phase_is_got_over,
    x10_a_server_that_leaves_before_its_first_answer_is_started_twice_more,
    b12_a_crash_loop_is_broken_and_says_what_helps,
    d2_2_a_broken_server_is_mended_by_another_program,
    d2_2_a_server_installed_meanwhile_is_found,
    lif_02_a_slow_start_is_not_for_ever,
    x11_the_others_work_while_one_is_broken,
    x22_a_restart_by_hand_is_a_new_chance,
    d2_4_the_status_tells_all_of_an_instance,
    d2_4_the_status_tells_why_a_file_goes_where,
    d2_5_forty_packages_keep_the_limit,
    d2_5_one_process_serves_them_all,
    a_mute_server_is_started_anew_and_a_slow_one_left_alone,
    no_last_words_are_promised_where_there_are_none,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn status(lp: &Langport) -> Answer {
    lp.tool("status", &json!({"server": "local/fake"}))
}

fn x10_a_death_in_any_phase_is_got_over() {
    let phases = ["start", "initialize", "initialized", "textDocument/didOpen", "textDocument/hover"];
    for phase in phases {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let script = Script::new().on(phase, [Act::FirstStarts(1), Act::Stderr("oops".into(), 1), Act::Exit(3)]);
        let mut lp = Langport::with(&ws, script);
        lp.tolerate();
        // Where it dies while it starts, that call tells; a later death is got over inside the call.
        let first = lp.hover(&at("a.py"));
        if first.is_error {
            assert!(["start", "initialize"].contains(&phase), "{phase}: {first}");
            first.contains("oops").contains("exit code 3");
        }
        lp.hover(&at("a.py")).says("fresh · fake · hover").contains("WORD alpha");
        assert_eq!(lp.log().starts(), 2, "{phase}");
        let told = status(&lp);
        told.contains("running").contains("last failure: ").contains("before that: oops");
    }
}

fn x10_a_server_that_leaves_before_its_first_answer_is_started_twice_more() {
    // The first two starts, and the two after the restart that its configuration asks for.
    for (first, last, phase) in
        [(1, 2, "initialized"), (2, 3, "initialized"), (1, 2, "initialize"), (2, 3, "initialize")]
    {
        let ws = Workspace::new("//- a.py\nalpha\n//- fake.json\n{}\n");
        let script = Script::new().on(phase, [Act::Starts(first, last), Act::Exit(0)]);
        let definition = Definition::new("fake", script).table("[watch]\nrestart = [\"**/fake.json\"]");
        let mut lp = Langport::builder(&ws).server(definition).start();
        lp.tolerate();
        lp.hover(&at("a.py")).says("fresh · fake · hover").contains("WORD alpha");
        ws.write("fake.json", "[]\n");
        lp.hover(&at("a.py")).says("fresh · fake · hover").contains("WORD alpha");
        assert_eq!(lp.log().starts(), 4, "{phase}: {first} to {last}");
    }
}

fn crashing() -> Script {
    Script::new().on("initialize", [Act::Stderr("fatal: no licence".into(), 1), Act::Exit(7)])
}

fn b12_a_crash_loop_is_broken_and_says_what_helps() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let definition = Definition::new("fake", crashing()).table("[install]\nhint = \"buy a licence\"");
    let lp = Langport::builder(&ws).server(definition).config("restarts = 2\nbackoff_ms = 60000").start();
    for start in 1..=3 {
        lp.hover(&at("a.py")).fails("unavailable").contains("exit code 7").contains("buy a licence");
        assert_eq!(lp.log().starts(), start);
    }
    for _ in 0..3 {
        let answer = lp.hover(&at("a.py"));
        answer.fails("unavailable").contains("stopped 3 times").contains("exit code 7").contains("fatal: no licence");
        answer.contains("buy a licence").contains("restart true");
    }
    assert_eq!(lp.log().starts(), 3, "the first start, and exactly as many new ones as are allowed");
    status(&lp).contains("broken").contains("exit code 7").contains("fatal: no licence").contains("starts: 3");
}

fn d2_2_a_broken_server_is_mended_by_another_program() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let path = cli::program(&ws, "fickle", "echo 'not today' >&2\nexit 1");
    let healthy = Definition::new("fake", Script::new());
    healthy.write(&ws);
    let script = ws.home().join("fake.script.json");
    let definition = Definition::command("fake", "fickle").env(SCRIPT, &script.to_string_lossy());
    let lp = Langport::builder(&ws)
        .server(definition)
        .config("restarts = 0\nbackoff_ms = 600000\nbackoff_longest_ms = 600000")
        .env("PATH", &format!("{path}:/usr/bin:/bin"))
        .start();
    lp.hover(&at("a.py")).fails("unavailable").contains("not today");
    lp.hover(&at("a.py")).fails("unavailable").contains("stopped once").contains("not today");
    let this = std::env::current_exe().unwrap();
    cli::program(&ws, "fickle", &format!("exec '{}'", this.display()));
    lp.hover(&at("a.py")).fine().contains("WORD alpha");
}

fn d2_2_a_server_installed_meanwhile_is_found() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    Definition::new("fake", Script::new()).write(&ws);
    let script = ws.home().join("fake.script.json");
    let definition = Definition::command("fake", "come-late").env(SCRIPT, &script.to_string_lossy());
    let bin = ws.home().join("bin");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let lp = Langport::builder(&ws).server(definition).env("PATH", &path).start();
    for _ in 0..6 {
        lp.hover(&at("a.py")).fails("unavailable").contains("come-late");
    }
    status(&lp).contains("not installed");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(std::env::current_exe().unwrap(), bin.join("come-late")).unwrap();
    lp.hover(&at("a.py")).fine().contains("WORD alpha");
    status(&lp).contains("running");
}

fn lif_02_a_slow_start_is_not_for_ever() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let script = Script::new().on("initialize", [Act::FirstStarts(1), Act::Await(ws.gate("never"))]);
    let mut lp = Langport::builder(&ws)
        .server(Definition::new("fake", script))
        .config("start_timeout_ms = 5000\nrestarts = 0\nbackoff_ms = 1")
        .start();
    lp.tolerate();
    lp.hover(&at("a.py")).fails("unavailable").contains("no answer to initialize within 5 s");
    let answer = eventually("another chance", || Some(lp.hover(&at("a.py"))).filter(|answer| !answer.is_error));
    answer.contains("WORD alpha");
    assert_eq!(lp.log().starts(), 2);
}

fn x11_the_others_work_while_one_is_broken() {
    let ws = Workspace::new("//- a.py\nalpha = ERR\n");
    let lint = Definition::new("lint", Script::new()).key("role = \"linter\"");
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", crashing()))
        .server(lint)
        .config("restarts = 0\nbackoff_ms = 60000")
        .start();
    for _ in 0..3 {
        let answer = lp.diagnostics("a.py");
        answer.fine().verdict_is("partial").contains("fake").contains("lint").contains("1 error");
    }
    assert_eq!(lp.log_of("fake").starts(), 1);
}

fn x22_a_restart_by_hand_is_a_new_chance() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let script = Script::new().on("initialize", [Act::FirstStarts(1), Act::Exit(7)]);
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", script))
        .config("restarts = 0\nbackoff_ms = 600000\nbackoff_longest_ms = 600000")
        .start();
    lp.hover(&at("a.py")).fails("unavailable");
    lp.hover(&at("a.py")).fails("unavailable").contains("restart true");
    lp.tool("status", &json!({"server": "fake", "restart": true})).fine().contains("stopped");
    lp.hover(&at("a.py")).fine().contains("WORD alpha");
}

fn d2_4_the_status_tells_all_of_an_instance() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let script = Script::new().on("initialized", [Act::Stderr("hello from below".into(), 1)]);
    let lp = Langport::with(&ws, script);
    status(&lp).contains("not started");
    lp.hover(&at("a.py")).fine();
    let told = status(&lp);
    let pid = lp.log().pids()[0];
    let root = ws.root().display().to_string();
    for fact in [
        "running",
        "instance: ",
        &format!("root: {root}"),
        "since: ",
        "server: fake",
        &format!("pid: {pid}"),
        "memory: ",
        "documents: 1",
        " pending",
        "can: diagnostics, hover",
        "starts: 1",
        "callers: 1",
        "hello from below",
        "defined in: ",
    ] {
        told.contains(fact);
    }
    let megabytes = told.text.split("memory: ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse::<u64>();
    assert!(megabytes.is_ok_and(|n| (1..10_000).contains(&n)), "{told}");
    procs::signal(pid, libc::SIGKILL);
    let told = eventually("its end", || Some(status(&lp)).filter(|told| !told.has("  running  ")));
    told.contains("failed").contains("signal 9").contains("next: ").contains("hello from below");
}

fn d2_4_the_status_tells_why_a_file_goes_where() {
    let ws = Workspace::new("//- a.py\nalpha\n//- tool\n#!/usr/bin/env python3\nalpha\n//- odd.xyz\n?\n");
    let strict =
        Definition::new("strict", Script::new()).table("[root]\nmarkers = [[\"strict.json\"]]\nmode = \"strict\"");
    let missing = Definition::command("missing", "no-such-server-anywhere");
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", Script::new()))
        .server(strict)
        .server(missing)
        .server(Definition::new("other", Script::new()))
        .auto()
        .start();
    let told = lp.tool("status", &json!({"file_path": "a.py", "server": "local/fake"}));
    told.contains("a.py: language python by its name").contains("fake answers; root .");
    told.contains("strict not asked: no folder above the file has one of its markers");
    told.contains("missing not asked: not installed; install `no-such-server-anywhere`");
    told.contains("other not asked: an earlier one answers");
    let told = lp.tool("status", &json!({"file_path": "tool", "server": "local/fake"}));
    told.contains("tool: language python by its first line");
    let told = lp.tool("status", &json!({"file_path": "odd.xyz", "server": "local/fake"}));
    told.contains("language is not known").contains("no definition speaks it");
    assert_eq!(lp.log().starts(), 0, "to explain starts nothing");
}

/// Forty packages, each a root of its own.
fn packages(ws: &Workspace) -> Vec<String> {
    let files: Vec<String> = (0..40).map(|n| format!("packages/p{n}/src/a.py")).collect();
    for (n, file) in files.iter().enumerate() {
        ws.write(&format!("packages/p{n}/package.json"), "{}\n");
        ws.write(file, &format!("word{n}\n"));
    }
    files
}

fn alive(lp: &Langport) -> usize {
    lp.log().pids().into_iter().filter(|pid| procs::alive(*pid)).count()
}

fn d2_5_forty_packages_keep_the_limit() {
    let ws = Workspace::new("//- README.md\nx\n");
    let files = packages(&ws);
    let definition = Definition::new("fake", Script::new()).table("[root]\nmarkers = [[\"package.json\"]]");
    let lp = Langport::builder(&ws).server(definition).config("instances = 4").start();
    for (n, file) in files.iter().enumerate() {
        lp.hover(&at(file)).fine().contains(&format!("WORD word{n}"));
        assert!(alive(&lp) <= 4, "{} at once", alive(&lp));
    }
    assert_eq!(lp.log().starts(), 40);
    lp.hover(&at(&files[0])).fine().contains("WORD word0");
}

fn d2_5_one_process_serves_them_all() {
    let ws = Workspace::new("//- README.md\nx\n");
    let files = packages(&ws);
    let folders = json!({"workspaceFolders": {"supported": true, "changeNotifications": true}});
    let script = Script::new().capability("workspace", folders);
    let definition = Definition::new("fake", script).table("[root]\nmarkers = [[\"package.json\"]]\nshare = true");
    let lp = Langport::builder(&ws).server(definition).config("instances = 4").start();
    for (n, file) in files.iter().enumerate() {
        lp.hover(&at(file)).fine().contains(&format!("WORD word{n}"));
    }
    assert_eq!(lp.log().starts(), 1);
    assert_eq!(lp.log().count("workspace/didChangeWorkspaceFolders"), 39);
    status(&lp).contains("folders: ").contains("35 more");
}

fn a_mute_server_is_started_anew_and_a_slow_one_left_alone() {
    for mute in [true, false] {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let mut script =
            Script::new().on("textDocument/hover", [Act::FirstStarts(1), Act::Stderr("thinking".into(), 1)]);
        script.unknown_silent = mute;
        let mut lp =
            Langport::builder(&ws).server(Definition::new("fake", script)).config("request_timeout_ms = 1500").start();
        lp.tolerate();
        for _ in 0..5 {
            lp.hover(&at("a.py")).verdict_in(&["unanswered", "fresh"]);
        }
        if !mute {
            lp.log().wait("$/langport/alive", 1);
            assert_eq!(lp.log().starts(), 1, "it answers the cheap question");
            continue;
        }
        let answer = eventually("a new one", || Some(lp.hover(&at("a.py"))).filter(|it| it.verdict() == "fresh"));
        answer.contains("WORD alpha");
        assert_eq!(lp.log().starts(), 2);
        status(&lp).contains("answered nothing any more").contains("before that: thinking");
    }
}

fn no_last_words_are_promised_where_there_are_none() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let stub = ws.home().join("stub");
    std::fs::write(&stub, "#!/bin/sh\nexit 4\n").unwrap();
    std::fs::set_permissions(&stub, PermissionsExt::from_mode(0o755)).unwrap();
    let lp = Langport::builder(&ws).server(Definition::command("fake", &stub.to_string_lossy())).start();
    lp.hover(&at("a.py")).fails("unavailable").contains("exit code 4").lacks("last words");
}
