//! Roots that are replaced, vanish and come again, and what becomes of the servers that stood in them.

use std::{path::Path, process::Command};

use serde_json::{Value, json};

use crate::{
    fake::script::Script,
    support::{Definition, Langport, Workspace, eventually, procs},
};

trials![
    x23_servers_of_a_root_that_is_gone_are_stopped,
    x23_servers_of_a_nested_root_that_is_gone_are_stopped,
    x23_without_events_too,
    syn_02_a_root_that_is_cloned_anew,
    syn_02_a_root_that_is_made_anew_in_the_same_moment,
    syn_02_the_folder_above_the_root_is_renamed,
    syn_02_one_of_two_roots_is_replaced,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn gone(pid: u32) {
    eventually("the server is gone", || (!procs::alive(pid)).then_some(()));
}

fn vanish(config: &str) {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let server = Definition::new("fake", Script::watching("**/*"));
    let lp = Langport::builder(&ws).server(server).config(config).start();
    lp.hover(&at("a.py")).verdict_is("fresh").contains("WORD alpha");
    std::fs::remove_dir_all(ws.root()).unwrap();
    // Without a question.
    gone(lp.log().pids()[0]);
    lp.hover(&at("a.py")).fails("not_found").contains("the folder of the workspace is gone");
    lp.tool("workspace_symbols", &json!({"query": "x"}))
        .fails("not_found")
        .contains("the folder of the workspace is gone");
    eventually("it is known to be stopped", || lp.tool("status", &json!({})).has("0 running").then_some(()));
    ws.write("a.py", "beta\n");
    ws.write("sub/b.py", "gamma\n");
    lp.hover(&at("a.py")).verdict_is("fresh").contains("WORD beta");
    ws.write("sub/b.py", "delta\n");
    lp.hover(&at("sub/b.py")).verdict_is("fresh").contains("WORD delta");
    assert_eq!(lp.log().starts(), 2);
}

fn x23_servers_of_a_root_that_is_gone_are_stopped() {
    vanish("");
}

fn x23_without_events_too() {
    vanish("watch_events = false\nbarrier_ms = 5000");
}

fn x23_servers_of_a_nested_root_that_is_gone_are_stopped() {
    let ws = Workspace::new("//- tree/pyproject.toml\n\n//- tree/a.py\nalpha\n//- b.py\nbeta\n//- pyproject.toml\n\n");
    let server = Definition::new("fake", Script::watching("**/*"))
        .table("[root]\nmarkers = [[\"pyproject.toml\"]]\nmode = \"nearest\"");
    let lp = Langport::builder(&ws).server(server).start();
    lp.hover(&at("b.py")).verdict_is("fresh");
    lp.hover(&at("tree/a.py")).verdict_is("fresh");
    let pids = lp.log().pids();
    assert_eq!(pids.len(), 2);
    std::fs::remove_dir_all(ws.path("tree")).unwrap();
    gone(pids[1]);
    lp.hover(&at("tree/a.py")).fails("not_found").lacks("the folder of the workspace");
    assert!(procs::alive(pids[0]));
    lp.hover(&at("b.py")).verdict_is("fresh");
    // It has no place in the list any more.
    eventually("one instance", || {
        (lp.tool("status", &json!({"server": "local/fake"})).text.matches("running").count() <= 2).then_some(())
    });
    ws.write("tree/pyproject.toml", "");
    ws.write("tree/a.py", "again\n");
    lp.hover(&at("tree/a.py")).verdict_is("fresh").contains("WORD again");
}

fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=it", "-c", "user.email=it@localhost"]).args(args).current_dir(folder);
    assert!(command.output().unwrap().status.success(), "git {args:?}");
}

fn syn_02_a_root_that_is_cloned_anew() {
    let ws = Workspace::new("//- use.py\nNEEDS tally\n//- lib.py\n# LACKING! tally\n//- old.py\nx\n");
    let origin = ws.home().join("origin");
    std::fs::create_dir(&origin).unwrap();
    git(&origin, &["init", "-q"]);
    std::fs::write(origin.join("use.py"), "NEEDS tally\n").unwrap();
    std::fs::write(origin.join("lib.py"), "# PROVIDES tally\n").unwrap();
    git(&origin, &["add", "."]);
    git(&origin, &["commit", "-qm", "one"]);
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    lp.diagnostics("use.py").says("fresh · fake · 1 error");
    let away = ws.home().join("away");
    std::fs::rename(ws.root(), &away).unwrap();
    git(&ws.home(), &["clone", "-q", "origin", "ws"]);
    lp.diagnostics("use.py").says("fresh · fake · no problems");
    lp.diagnostics("old.py").fails("not_found");
    let start = lp.log().events("start").last().unwrap().clone();
    assert_eq!(start["about"]["cwd"], json!(ws.root()));
    // The new one is watched, the old one is nobody's business.
    let before = lp.log().count("workspace/didChangeWatchedFiles");
    std::fs::write(away.join("lib.py"), "# LACKING! tally\n").unwrap();
    lp.diagnostics("use.py").says("fresh · fake · no problems");
    assert_eq!(lp.log().count("workspace/didChangeWatchedFiles"), before);
    ws.write("lib.py", "# LACKING! tally\n");
    lp.diagnostics("use.py").says("fresh · fake · 1 error");
}

fn syn_02_a_root_that_is_made_anew_in_the_same_moment() {
    let ws = Workspace::new("//- use.py\nNEEDS tally\n//- sub/lib.py\n# LACKING! tally\n");
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    lp.diagnostics("use.py").says("fresh · fake · 1 error");
    for round in 0..6 {
        std::fs::remove_dir_all(ws.root()).unwrap();
        ws.write("use.py", "NEEDS tally\n");
        ws.write("sub/lib.py", if round % 2 == 0 { "# PROVIDES tally\n" } else { "# LACKING! tally\n" });
        let expected = if round % 2 == 0 { "fresh · fake · no problems" } else { "fresh · fake · 1 error" };
        lp.diagnostics("use.py").says(expected);
    }
}

fn syn_02_the_folder_above_the_root_is_renamed() {
    let ws = Workspace::new("//- up/ws/use.py\nNEEDS tally\n//- up/ws/lib.py\n# LACKING! tally\n");
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", Script::watching("**/*").pull()))
        .roots(&[ws.path("up/ws")])
        .start();
    lp.diagnostics("use.py").says("fresh · fake · 1 error");
    std::fs::rename(ws.path("up"), ws.path("away")).unwrap();
    ws.write("up/ws/use.py", "NEEDS tally\n");
    ws.write("up/ws/lib.py", "# PROVIDES tally\n");
    lp.diagnostics("use.py").says("fresh · fake · no problems");
    ws.write("up/ws/lib.py", "# LACKING! tally\n");
    lp.diagnostics("use.py").says("fresh · fake · 1 error");
}

fn syn_02_one_of_two_roots_is_replaced() {
    let ws = Workspace::new("//- one/a.py\nalpha\n//- two/b.py\nbeta\n");
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", Script::watching("**/*")))
        .roots(&[ws.path("one"), ws.path("two")])
        .start();
    lp.hover(&at("one/a.py")).verdict_is("fresh");
    lp.hover(&at("two/b.py")).verdict_is("fresh");
    std::fs::rename(ws.path("two"), ws.path("old")).unwrap();
    // The other one is as good as before.
    ws.write("one/a.py", "alpha2\n");
    lp.hover(&at("one/a.py")).verdict_is("fresh").contains("WORD alpha2");
    lp.hover(&at("two/b.py")).fails("not_found").contains("the folder of the workspace is gone");
    ws.write("two/b.py", "beta2\n");
    lp.hover(&at("two/b.py")).verdict_is("fresh").contains("WORD beta2");
}
