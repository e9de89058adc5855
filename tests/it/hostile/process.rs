//! Servers as processes: they die at any moment, take too much memory, leave files behind, and are shut in.

use std::{fs, time::Duration};

use serde_json::json;

use super::{at, honest, small};
use crate::{
    fake::script::{Act, Script},
    support::{Definition, Langport, Workspace, eventually, procs, within},
};

trials![
    a8_4_an_end_in_any_phase_is_told,
    a_server_that_takes_too_much_memory_is_ended_and_said_so,
    niceness_and_passed_variables_reach_the_server,
    temporary_files_go_with_their_server,
    without_the_sandbox_nothing_starts,
];

fn a8_4_an_end_in_any_phase_is_told() {
    for phase in ["start", "initialize", "initialized", "textDocument/didOpen", "textDocument/hover"] {
        let script = Script::new().on(phase, [Act::Stderr("the last words".into(), 1), Act::Exit(3)]);
        small(script, 8_000, |lp| {
            let answer = lp.hover(&at());
            honest(&answer);
            assert!(answer.is_error, "{phase}: {answer}");
            // Out of its budget it is not started again, and the reason stays.
            let told = within(Duration::from_secs(20), || {
                Some(lp.hover(&at())).filter(|a| a.verdict() == "unavailable" && a.has("times"))
            });
            told.unwrap_or_else(|| panic!("broken, after an end at {phase}")).contains("code 3").contains("last words");
        });
    }
    // In the last phase there is nobody to be told; the end is clean.
    small(Script::new().on("shutdown", [Act::Exit(3)]), 8_000, |lp| {
        lp.hover(&at()).verdict_is("fresh");
    });
}

fn a_server_that_takes_too_much_memory_is_ended_and_said_so() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let hungry = Script::new().on("textDocument/hover", [Act::Eat(400)]);
    let mut lp = Langport::builder(&ws)
        .server(Definition::new("fake", hungry).key("memory_mb = 200"))
        .config("memory_mb = 4000")
        .max_wait(15_000)
        .start();
    lp.tolerate();
    let answer = lp.hover(&at());
    assert!(answer.is_error, "{answer}");
    answer.verdict_in(&["failed", "unavailable"]).contains("MiB of memory").contains("memory_mb");
    lp.tool("definition", &at()).verdict_is("fresh");
}

fn niceness_and_passed_variables_reach_the_server() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let definition =
        Definition::new("fake", Script::new()).key("nice = 9\npass_env = [\"MY_CACHE\", \"NOT_SET_ANYWHERE\"]");
    let lp = Langport::builder(&ws).server(definition).env("MY_CACHE", "/cache").env("OTHER", "1").start();
    lp.hover(&at()).verdict_is("fresh");
    let names = lp.log().events("start")[0]["about"]["env"].to_string();
    assert!(
        names.contains("\"MY_CACHE\"") && !names.contains("NOT_SET_ANYWHERE") && !names.contains("\"OTHER\""),
        "{names}"
    );
    let stat = fs::read_to_string(format!("/proc/{}/stat", lp.log().pids()[0])).unwrap();
    assert_eq!(stat.rsplit_once(") ").unwrap().1.split(' ').nth(16), Some("9"), "{stat}");
}

fn temporary_files_go_with_their_server() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let temporary = ws.home().join("t");
    fs::create_dir(&temporary).unwrap();
    let folders = || fs::read_dir(&temporary).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>();
    let script = Script::new().each("textDocument/hover", [vec![Act::Default], vec![Act::FirstStarts(1), Act::Die]]);
    let mut lp = Langport::builder(&ws)
        .server(Definition::new("fake", script))
        .server(Definition::new("other", Script::new()).languages(&["go"]))
        .env("TMPDIR", temporary.to_str().unwrap())
        .start();
    lp.tolerate();
    lp.hover(&at()).verdict_is("fresh");
    ws.write("b.go", "beta\n");
    lp.hover(&json!({"file_path": "b.go", "line": 1, "column": 1})).verdict_is("fresh");
    let two = folders();
    assert_eq!(two.len(), 2, "{two:?}");
    for folder in &two {
        fs::write(folder.join("left"), "behind").unwrap();
    }
    // It dies, and the next one begins with a new one.
    lp.hover(&at());
    eventually("a new folder", || {
        let now = folders();
        (now.len() == 2 && now.iter().filter(|folder| two.contains(folder)).count() == 1).then_some(())
    });
    assert!(lp.hang_up().is_some());
    assert_eq!(folders(), Vec::<std::path::PathBuf>::new());
}

fn without_the_sandbox_nothing_starts() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let empty = ws.home().join("empty");
    fs::create_dir(&empty).unwrap();
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", Script::new()))
        .config("sandbox = \"bwrap\"")
        .env("PATH", empty.to_str().unwrap())
        .start();
    let answer = lp.hover(&at());
    assert!(answer.is_error, "{answer}");
    answer.verdict_is("unavailable").contains("sandbox").contains("bubblewrap");
    assert_eq!(lp.log().starts(), 0);
    assert!(procs::alive(lp.pid()));
}
