//! What servers are told of open documents, how long these stay open, and which settings reach a server.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Publish, Script, Step},
    support::{Answer, Definition, Langport, Pace, Workspace, in_pace},
};

trials![
    x4_whoever_writes_an_open_file,
    x7_a_hundred_files_leave_64_open,
    x7_what_is_asked_about_stays_open,
    syn_05_versions_over_close_reopen_and_restart,
    d1_18_incremental_sync,
    d1_19_a_touch_keeps_what_was_said,
    rou_05_settings_reach_the_server,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn x4_whoever_writes_an_open_file() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = Langport::with(&ws, Script::new());
    lp.hover(&at("a.py")).contains("WORD alpha");
    let shell = |script: &str| {
        let status = std::process::Command::new("sh").args(["-ec", script]).current_dir(ws.root()).status().unwrap();
        assert!(status.success(), "{script}");
    };
    let ways = [
        "printf 'w0\\n' > a.py",
        "sed -i s/w0/w1/ a.py",
        "printf 'w2\\n' > b && touch -r a.py b && mv b a.py",
        "touch -r a.py stamp && printf 'w3\\n' > a.py && touch -r stamp a.py",
        "cp a.py c && sed s/w3/w4/ c > a.py && rm c",
        "rm a.py && printf 'w5\\n' > a.py",
        "printf 'w6\\n' | dd of=a.py conv=notrunc 2> /dev/null",
        "printf 'w7\\n' > d && ln -f d a.py",
    ];
    for (round, way) in ways.iter().enumerate() {
        shell(way);
        lp.hover(&at("a.py")).verdict_is("fresh").contains(&format!("WORD w{round}"));
    }
    // Two names of one file.
    shell("printf 'w8\\n' > d");
    lp.hover(&at("a.py")).verdict_is("fresh").contains("WORD w8");
}

fn x7_a_hundred_files_leave_64_open() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    (0..100).for_each(|i| ws.write(&format!("f{i}.py"), "word\n"));
    let lp = Langport::with(&ws, Script::new());
    for i in 0..100 {
        lp.hover(&at(&format!("f{i}.py"))).verdict_is("fresh");
    }
    let count = |method: &str| lp.log().count(method);
    assert_eq!(count("textDocument/didOpen"), 100);
    assert_eq!(count("textDocument/didClose"), 36);
}

fn x7_what_is_asked_about_stays_open() {
    let slow = Publish::steps([Step::Sleep(30), Step::Full]);
    let pull = vec![Act::Sleep(30), Act::Default];
    // What a server pushes of one file may be from before another one was opened: right, but not proven.
    let pushed = (Script::new().publish(slow), &["fresh", "settling", "unconfirmed"][..]);
    let pulled = (Script::new().pull().on("textDocument/diagnostic", pull), &["fresh"][..]);
    for (limit, (script, verdicts)) in [1, 2, 3].into_iter().flat_map(|n| [(n, pushed.clone()), (n, pulled.clone())]) {
        let ws = Workspace::new("//- a.py\nalpha\n");
        (0..8).for_each(|i| ws.write(&format!("f{i}.py"), &format!("w{i} = ERR\n")));
        let server = Definition::new("fake", script);
        let lp = Langport::builder(&ws).server(server).config(&format!("documents = {limit}")).start();
        for _ in 0..2 {
            let ask = |i| lp.call("lsp_diagnostics", &json!({"file_path": format!("f{i}.py")}));
            let calls: Vec<i64> = (0..8).map(ask).collect();
            for (i, call) in calls.into_iter().enumerate() {
                let answer = Answer::of(&lp.answer(call));
                answer.verdict_in(verdicts).contains("· 1 error").contains(&format!("w{i}"));
            }
        }
        let (mut open, mut most) = (0_i32, 0);
        for method in lp.log().methods() {
            open += i32::from(method == "textDocument/didOpen") - i32::from(method == "textDocument/didClose");
            most = most.max(open);
        }
        assert_eq!(most, limit, "open at once");
    }
}

fn syn_05_versions_over_close_reopen_and_restart() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.py\nbeta\n");
    let mut lp = Langport::builder(&ws).server(Definition::new("fake", Script::new())).config("documents = 1").start();
    lp.tolerate();
    for round in 0..5 {
        ws.write("a.py", &format!("w{round}\n"));
        lp.hover(&at("a.py")).verdict_is("fresh").contains(&format!("WORD w{round}"));
        // Pushes the other one out.
        lp.hover(&at("b.py")).verdict_is("fresh");
    }
    assert_eq!(lp.log().violations(), Vec::<String>::new());
    let opened = lp.log().of("textDocument/didOpen");
    let versions: Vec<i64> = opened.iter().filter_map(|note| note["textDocument"]["version"].as_i64()).collect();
    assert!(versions.len() == 10 && versions.is_sorted_by(|a, b| a < b), "{versions:?}");
    lp.tool("status", &json!({"server": "local/fake", "restart": true})).fine();
    lp.hover(&at("a.py")).verdict_is("fresh").contains("WORD w4");
    let starts = lp.log().starts();
    assert_eq!(starts, 2);
    let last = lp.log().lines().into_iter().rfind(|line| line["in"]["method"] == "textDocument/didOpen").unwrap();
    assert_eq!((&last["start"], &last["in"]["params"]["textDocument"]["text"]), (&json!(2), &json!("w4\n")));
    assert_eq!(lp.log().violations(), Vec::<String>::new());
}

fn d1_18_incremental_sync() {
    in_pace(incremental_sync);
}

fn incremental_sync(pace: &Pace) {
    for change in [1, 2] {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let sync = json!({"openClose": true, "change": change, "save": {"includeText": true}});
        let lp = Langport::with(&ws, Script::new().capability("textDocumentSync", sync));
        lp.hover(&at("a.py")).contains("WORD alpha");
        for (round, text) in ["beta\nlast", "", "é😀\r\nx\r\n", "beta\n"].iter().enumerate() {
            pace.keep(|| ws.write("a.py", text));
            lp.tool("symbols", &json!({"file_path": "a.py"})).verdict_is("fresh");
            let changes = lp.log().wait("textDocument/didChange", round + 1);
            let content = changes[round]["contentChanges"].as_array().unwrap().clone();
            assert_eq!(content, [json!({"text": text})], "the whole text, which both kinds allow");
            assert_eq!(lp.log().events("text").last().unwrap()["about"]["text"], json!(text));
            assert_eq!(lp.log().of("textDocument/didSave")[round]["text"], json!(text));
        }
    }
}

/// clangd publishes again only where something has changed: what it said of the same text stands.
fn d1_19_a_touch_keeps_what_was_said() {
    let ws = Workspace::new("//- a.py\nalpha = ERR\n");
    let lp = Langport::with(&ws, Script::new());
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    for round in 0..3 {
        let file = std::fs::File::options().write(true).open(ws.path("a.py")).unwrap();
        file.set_modified(std::time::SystemTime::now() + Duration::from_secs(round)).unwrap();
        lp.diagnostics("a.py").says("fresh · fake · 1 error");
        ws.write("a.py", "alpha = ERR\n");
        lp.diagnostics("a.py").says("fresh · fake · 1 error");
    }
    assert_eq!(lp.log().count("textDocument/didChange"), 0);
    drop(lp);
    // A change that the server has not looked at yet: what it said before is shown, and is called old.
    let late = Publish { change_steps: Some(vec![]), ..Publish::default() };
    let lp =
        Langport::builder(&ws).server(Definition::new("fake", Script::new().publish(late))).max_wait(6_000).start();
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    ws.write("a.py", "beta = ERR\n");
    lp.diagnostics("a.py").verdict_in(&["stale", "unconfirmed"]).contains("alpha");
}

/// Sections are looked up in the tree; `initializationOptions` are another thing; paths are the root's.
fn rou_05_settings_reach_the_server() {
    let ws = Workspace::new("//- a.py\nalpha\n//- .venv/bin/python\n\n");
    let items = json!({"items": [
        {"section": "python"}, {"section": "python.analysis", "scopeUri": ws.uri("a.py")},
        {"section": "python.analysis.typeCheckingMode"}, {"section": ""}, {}, {"section": "unknown"},
    ]});
    let ask = crate::fake::script::Ask::new(7, "workspace/configuration", items);
    let server = Definition::new("fake", Script::new().on("initialized", [Act::Ask(ask)])).table(
        "[workspace_settings]\n\"python.pythonPath\" = \"${root}/.venv/bin/python\"\n\
         \"python.analysis.typeCheckingMode\" = \"strict\"\n[initialization]\nmode = \"own\"",
    );
    let lp = Langport::builder(&ws).server(server).start();
    lp.hover(&at("a.py")).verdict_is("fresh");
    let path = ws.path(".venv/bin/python");
    let tree = json!({"python": {"pythonPath": path, "analysis": {"typeCheckingMode": "strict"}}});
    let expected = json!([tree["python"], tree["python"]["analysis"], "strict", tree, tree, null]);
    assert_eq!(lp.log().answer_to(&json!(7))["result"], expected);
    assert_eq!(lp.log().of("workspace/didChangeConfiguration"), [json!({"settings": tree})]);
    assert_eq!(lp.log().of("initialize")[0]["initializationOptions"], json!({"mode": "own"}));
}
