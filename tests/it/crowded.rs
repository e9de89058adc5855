//! More projects than places for processes, servers that are still starting, and more calls than any server takes: each
//! waits for its own, and what was not asked is never said to be silent.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Answer, Definition, Langport, Workspace, procs},
};

trials![
    per_03_more_projects_than_places_are_all_asked,
    per_05_a_server_that_starts_takes_no_time_from_files_of_others,
    per_05_a_crowd_of_calls_to_a_silent_server_keeps_nobody_waiting,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn per_03_more_projects_than_places_are_all_asked() {
    let ws = Workspace::new("");
    for number in 0..6 {
        ws.write(&format!("p{number}/mark"), "");
        ws.write(&format!("p{number}/a.py"), &format!("def alpha{number}(n)\nERR {number}\n"));
    }
    // Of the second one it is thought at first that one process can do for all.
    for (share, places) in [(false, 2), (true, 1)] {
        let table = format!("[root]\nmarkers = [[\"mark\"]]\nshare = {share}");
        let fake = Definition::new("fake", Script::watching("**/*").pull()).table(&table);
        let config = format!("instances = {places}");
        let lp = Langport::builder(&ws).server(fake).config(&config).max_wait(60_000).start();
        everything_is_asked(&lp, places);
    }
}

fn everything_is_asked(lp: &Langport, places: usize) {
    let before = lp.log().pids().len();
    for _ in 0..2 {
        let all = lp.tool("diagnostics", &json!({"scope": "workspace"}));
        all.says("fresh · fake · 6 errors in 6 of 6 files");
        let alive = lp.log().pids().into_iter().skip(before).filter(|pid| procs::alive(*pid)).count();
        assert!(alive <= places, "{alive} at once");
    }
    lp.hover(&json!({"symbol": "alpha5"})).verdict_is("fresh").contains("WORD alpha5");
    // Calls that come together wait for each other.
    let calls: Vec<i64> = (0..6).map(|number| lp.call("lsp_hover", &at(&format!("p{number}/a.py")))).collect();
    for call in calls {
        Answer::of(&lp.answer(call)).verdict_is("fresh").contains("WORD def");
    }
}

fn per_05_a_server_that_starts_takes_no_time_from_files_of_others() {
    let ws = Workspace::new("");
    let write = |text: &str| {
        for file in ["a0.py", "a1.py", "b0.go", "b1.go", "b2.go", "c0.lua", "c1.lua", "c2.lua"] {
            ws.write(file, text);
        }
    };
    write("ERR 0\n");
    let starting = Script::new().pull().on("initialize", [Act::Await(ws.gate("never")), Act::Default]);
    let quick = || Script::watching("**/*").pull();
    let mut lp = Langport::builder(&ws)
        .server(Definition::new("slow", starting))
        .server(Definition::new("quick-go", quick()).languages(&["go"]))
        .server(Definition::new("quick-lua", quick()).languages(&["lua"]))
        .max_wait(8_000)
        .start();
    lp.tolerate();
    for file in ["b0.go", "c0.lua"] {
        lp.diagnostics(file).verdict_is("fresh");
    }
    for scope in ["workspace", "changed"] {
        write(&format!("ERR {scope}\n"));
        let answer = lp.tool("diagnostics", &json!({"scope": scope}));
        answer.verdict_is("partial").contains("6 errors in 6 of 8 files").lacks("no answer within");
        answer.contains("slow indexing");
    }
    ws.open("never");
}

fn per_05_a_crowd_of_calls_to_a_silent_server_keeps_nobody_waiting() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\nbeta\n");
    let silent = Script::new().on("textDocument/hover", [Act::Await(ws.gate("speak")), Act::Default]);
    let lp = Langport::builder(&ws)
        .server(Definition::new("silent", silent))
        .server(Definition::new("quick", Script::new()).languages(&["go"]))
        .max_wait(60_000)
        .start();
    lp.hover(&at("b.go")).verdict_is("fresh");
    let crowd: Vec<i64> = (0..400).map(|_| lp.call("lsp_hover", &at("a.py"))).collect();
    lp.log_of("silent").wait("textDocument/hover", 1);
    lp.hover(&at("b.go")).verdict_is("fresh").contains("WORD beta");
    lp.tool("status", &json!({})).fine().contains("silent");
    assert!(crowd.iter().all(|call| lp.answers_for(*call) == 0), "nobody had to wait until others had ended");
    ws.open("speak");
    for call in crowd {
        Answer::of(&lp.answer(call)).verdict_is("fresh").contains("WORD alpha");
    }
}
