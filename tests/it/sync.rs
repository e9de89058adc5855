//! The next answer is about the bytes on disk, whoever wrote them.

use std::{
    fs::{File, FileTimes},
    process::Command,
};

use serde_json::json;

use crate::{
    fake::script::{Script, watch},
    support::{Answer, Definition, Langport, Pace, Workspace, in_pace, within},
};

trials![
    syn_01_an_open_file_is_never_frozen,
    syn_01_the_servers_text_is_the_disks,
    syn_01_odd_bytes_are_read_as_text,
    syn_01_a_file_that_cannot_be_read_hides_no_change,
    syn_02_a_dependency_that_is_not_open,
    syn_02_a_dependency_pulled,
    syn_02_a_checkout_changes_many_files,
    syn_03_a_new_file_counts_at_once,
    syn_03_new_folders_are_seen_whole,
    syn_05_versions_rise_over_five_edits,
    a7_4_documents_are_opened_changed_and_closed,
    d1_17_watched_files_are_told_before_documents,
    syn_02_files_that_are_told_unasked,
    syn_02_files_that_ask_for_a_new_start,
    syn_02_many_callers_make_one_new_start,
    x4_every_kind_of_file_change_is_told,
    syn_03_what_changed_beside_a_lost_file_is_told,
    x17_a_link_in_the_place_of_an_open_file_is_not_followed_out,
];

fn syn_02_files_that_are_told_unasked() {
    let ws = Workspace::new("//- a.py\nx\n//- sub/schema.json\n{}\n//- notes.txt\n\n");
    let definition = Definition::new("fake", Script::new()).table("[watch]\nfiles = [\"**/*.json\"]");
    let lp = Langport::builder(&ws).server(definition).start();
    lp.diagnostics("a.py").says("fresh · fake · no problems");
    ws.write("notes.txt", "changed\n");
    ws.write("sub/schema.json", "[]\n");
    lp.diagnostics("a.py").fine();
    let told = lp.log().of("workspace/didChangeWatchedFiles");
    let uris: Vec<_> = told.iter().flat_map(|note| note["changes"].as_array().cloned().unwrap()).collect();
    assert!(!uris.is_empty() && uris.iter().all(|change| change["uri"] == ws.uri("sub/schema.json")), "{uris:?}");
}

fn syn_02_files_that_ask_for_a_new_start() {
    let ws = Workspace::new("//- a.py\nx\n//- fake.json\n{}\n");
    let definition = Definition::new("fake", Script::new()).table("[watch]\nrestart = [\"**/fake.json\"]");
    let lp = Langport::builder(&ws).server(definition).start();
    lp.diagnostics("a.py").says("fresh · fake · no problems");
    ws.write("a.py", "y\n");
    lp.diagnostics("a.py").says("fresh · fake · no problems");
    assert_eq!(lp.log().starts(), 1);
    ws.write("fake.json", "[]\n");
    lp.diagnostics("a.py").says("fresh · fake · no problems");
    assert_eq!(lp.log().starts(), 2);
}

fn syn_02_many_callers_make_one_new_start() {
    let ws = Workspace::new("//- a.py\nalpha\n//- fake.json\n{}\n");
    let definition = Definition::new("fake", Script::new()).table("[watch]\nrestart = [\"**/fake.json\"]");
    let lp = Langport::builder(&ws).server(definition).start();
    let place = json!({"file_path": "a.py", "line": 1, "column": 1});
    lp.hover(&place).verdict_is("fresh");
    for round in 1..=3 {
        ws.write("fake.json", &format!("[{round}]\n"));
        let calls: Vec<i64> = (0..12).map(|_| lp.call("lsp_hover", &place)).collect();
        for call in calls {
            Answer::of(&lp.answer(call)).verdict_is("fresh").contains("WORD alpha");
        }
        assert_eq!(lp.log().starts(), 1 + round);
    }
}

fn syn_03_what_changed_beside_a_lost_file_is_told() {
    let ws = Workspace::new("//- aa.py\nfirst\n//- use.py\ndef calc(): pass\n");
    let lp = Langport::with(&ws, Script::new().pull());
    lp.diagnostics("use.py").says("fresh · fake · no problems");
    lp.tool("workspace_symbols", &json!({"query": "calc"})).fine();
    // The file that stood for the project goes while another one changes.
    ws.remove("aa.py");
    ws.write("use.py", "def calc(): pass  # ERR\n");
    lp.tool("workspace_symbols", &json!({"query": "calc"})).verdict_is("fresh").contains("use.py:1:5");
    lp.diagnostics("use.py").says("fresh · fake · 1 error");
}

fn x17_a_link_in_the_place_of_an_open_file_is_not_followed_out() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.py\nbeta\n//- sub/c.py\ngamma\n");
    let beside = ws.home().join("beside");
    std::fs::create_dir_all(&beside).unwrap();
    std::fs::write(beside.join("c.py"), "secret\n").unwrap();
    let lp = Langport::with(&ws, Script::new());
    for file in ["a.py", "b.py", "sub/c.py"] {
        lp.hover(&json!({"file_path": file, "line": 1, "column": 1})).verdict_is("fresh");
    }
    ws.remove("a.py");
    std::os::unix::fs::symlink(beside.join("c.py"), ws.path("a.py")).unwrap();
    std::fs::remove_dir_all(ws.path("sub")).unwrap();
    std::os::unix::fs::symlink(&beside, ws.path("sub")).unwrap();
    lp.hover(&json!({"file_path": "b.py", "line": 1, "column": 1})).verdict_is("fresh");
    assert!(lp.log().events("text").iter().all(|event| event["about"]["text"] != "secret\n"));
    assert_eq!(lp.log().count("textDocument/didClose"), 2);
}

fn syn_01_an_open_file_is_never_frozen() {
    let ws = Workspace::new("//- use.py\ncalc('x')  # ERR\n");
    let lp = Langport::with(&ws, Script::new());
    lp.diagnostics("use.py").says("fresh · fake · 1 error");
    for round in 0..6 {
        ws.write("use.py", &format!("calc({round})\n"));
        lp.diagnostics("use.py").says("fresh · fake · no problems");
        lp.hover(&json!({"file_path": "use.py", "line": 1, "column": 1})).contains(&format!("calc({round})"));
        ws.write("use.py", &format!("broken_{round} # ERR\n"));
        lp.hover(&json!({"file_path": "use.py", "line": 1, "column": 1})).contains(&format!("WORD broken_{round}"));
        lp.diagnostics("use.py").says("fresh · fake · 1 error").contains(&format!("broken_{round}"));
    }
    assert_eq!(lp.log().count("textDocument/didOpen"), 1);
}

fn syn_01_the_servers_text_is_the_disks() {
    let pieces = ["", "x\n", "é = 1\r\n", "😀 = '日本'\n", "tail without end", "\r", "\n\n\n", "a\tb\u{2028}c\n"];
    for (encoding, change) in [("utf-8", 2), ("utf-16", 2), ("utf-32", 2), ("utf-16", 1)] {
        let ws = Workspace::new("//- a.py\nbegin\n");
        let lp = Langport::with(
            &ws,
            Script::new()
                .encoding(encoding)
                .capability("textDocumentSync", json!({"openClose": true, "change": change})),
        );
        let mut seed = 12_345_usize;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345) % (1 << 31);
            seed / 7 % below
        };
        for _ in 0..25 {
            let text: String = (0..next(12)).map(|_| pieces[next(pieces.len())]).collect();
            ws.write("a.py", &text);
            lp.tool("symbols", &json!({"file_path": "a.py"})).verdict_is("fresh");
            let told = lp.log().events("text").last().expect("a text").clone();
            assert_eq!(told["about"]["text"], json!(text), "{encoding}");
        }
    }
}

fn syn_01_a_file_that_cannot_be_read_hides_no_change() {
    let ws = Workspace::new("//- a.py\none\n");
    let lp = Langport::with(&ws, Script::new());
    lp.hover(&json!({"file_path": "a.py", "line": 1, "column": 1})).contains("WORD one");
    ws.write("a.py", "two\n");
    std::fs::write(ws.path("large.py"), vec![b' '; 6 << 20]).unwrap();
    lp.diagnostics("large.py").verdict_in(&["unavailable", "failed"]);
    lp.hover(&json!({"file_path": "a.py", "line": 1, "column": 1})).contains("WORD two");
}

fn syn_01_odd_bytes_are_read_as_text() {
    let ws = Workspace::new("//- a.py\nx\n");
    let told = |lp: &Langport| lp.log().events("text").last().expect("a text")["about"]["text"].clone();
    std::fs::write(ws.path("bom.py"), "\u{feff}total = 1\r\ntotal\r\n").unwrap();
    std::fs::write(ws.path("latin.py"), b"# caf\xe9\ntotal = 1\n").unwrap();
    let lp = Langport::with(&ws, Script::new());
    let first = lp.hover(&json!({"file_path": "bom.py", "line": 1, "column": 1}));
    first.verdict_is("fresh").contains("WORD total").contains("received 0:0");
    assert_eq!(told(&lp), json!("total = 1\r\ntotal\r\n"), "without its byte order mark");
    let references = lp.tool("references", &json!({"file_path": "bom.py", "line": 2, "column": 1}));
    assert!(references.places().contains(&("bom.py".to_owned(), 1, 1)), "{references}");
    lp.hover(&json!({"file_path": "latin.py", "line": 2, "column": 1})).fine().contains("WORD total");
}

/// The ways in which programs write files.
fn ways(ws: &Workspace, round: usize, text: &str) {
    let path = ws.path("lib.py");
    match round % 5 {
        0 => ws.write("lib.py", text),
        1 => ws.replace("lib.py", text),
        2 => {
            let before = std::fs::metadata(&path).unwrap();
            ws.write("lib.py", text);
            let times =
                FileTimes::new().set_modified(before.modified().unwrap()).set_accessed(before.accessed().unwrap());
            File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
        }
        3 => {
            ws.write("lib.py", "nothing at all\n");
            ws.write("lib.py", text);
        }
        _ => {
            ws.remove("lib.py");
            ws.write("lib.py", text);
        }
    }
}

fn dependency(script: Script, verdicts: &[&str]) {
    // Both texts have the same length: neither size nor, in one of the ways, time tells them apart.
    let texts = ["# LACKING! tally\n", "# PROVIDES tally\n"];
    let ws = Workspace::new("//- lib.py\n# LACKING! tally\n//- use.py\nNEEDS tally\n");
    let lp = Langport::with(&ws, script);
    lp.diagnostics("use.py").says("fresh · fake · 1 error");
    for round in 0..10 {
        ways(&ws, round / 2, texts[(round + 1) % 2]);
        let answer = lp.diagnostics("use.py");
        let expected = if round % 2 == 0 { "· no problems" } else { "· 1 error" };
        assert!(answer.first().ends_with(expected), "round {round}: {answer}");
        answer.verdict_in(verdicts);
    }
    assert_eq!(lp.log().count("textDocument/didOpen"), 1, "only the asked file is opened");
}

fn syn_02_a_dependency_that_is_not_open() {
    dependency(Script::watching("**/*"), &["fresh", "settling", "unconfirmed"]);
}

fn syn_02_a_dependency_pulled() {
    dependency(Script::watching("**/*.py").pull(), &["fresh"]);
}

fn syn_02_a_checkout_changes_many_files() {
    let ws = Workspace::new("//- use.py\nNEEDS tally\n");
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=it", "-c", "user.email=it@localhost"]).args(args).current_dir(ws.root());
        assert!(command.output().unwrap().status.success(), "git {args:?}");
    };
    git(&["init", "-q"]);
    (0..150).for_each(|i| ws.write(&format!("pkg{}/m{i}.py", i % 10), "# LACKING! tally\n"));
    git(&["add", "."]);
    git(&["commit", "-qm", "one"]);
    git(&["checkout", "-qb", "two"]);
    (0..150).for_each(|i| ws.write(&format!("pkg{}/m{i}.py", i % 10), "# PROVIDES tally\n"));
    git(&["commit", "-qam", "two"]);
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    for _ in 0..2 {
        lp.diagnostics("use.py").says("fresh · fake · no problems");
        git(&["checkout", "-q", "master"]);
        lp.diagnostics("use.py").says("fresh · fake · 1 error");
        git(&["checkout", "-q", "two"]);
    }
}

fn syn_03_a_new_file_counts_at_once() {
    let ws = Workspace::new("//- core.py\ndef hub(): return 1\n");
    (0..6).for_each(|i| ws.write(&format!("u{i}.py"), "from core import hub\nx = hub()\n"));
    let lp = Langport::with(&ws, Script::watching("**/*.py"));
    let hub = json!({"file_path": "core.py", "symbol": "hub"});
    let count = || lp.tool("references", &hub).verdict_is("fresh").places().len();
    assert_eq!(count(), 13);
    for i in 0..8 {
        ws.write(&format!("late{i}.py"), "from core import hub\nz = hub()\n");
        assert_eq!(count(), 15 + 2 * i, "after late{i}.py");
    }
    ws.remove("late0.py");
    assert_eq!(count(), 27, "a deleted file is gone at once");
}

fn syn_03_new_folders_are_seen_whole() {
    let ws = Workspace::new("//- core.py\ndef hub(): return 1\n");
    let lp = Langport::with(&ws, Script::watching("**/*"));
    let hub = json!({"file_path": "core.py", "symbol": "hub"});
    let mut expected = lp.tool("references", &hub).places().len();
    for i in 0..10 {
        ws.write(&format!("pkg{i}/a/b/deep.py"), "from core import hub\n");
        ws.write(&format!("pkg{i}/a/flat.py"), "from core import hub\n");
        expected += 2;
        let answer = lp.tool("references", &hub);
        assert_eq!(answer.places().len(), expected, "after pkg{i}: {answer}");
    }
    std::fs::rename(ws.path("pkg0"), ws.path("moved")).unwrap();
    let answer = lp.tool("references", &hub);
    assert_eq!(answer.places().len(), expected, "a moved folder: {answer}");
    answer.contains("moved/a/flat.py").lacks("pkg0/");
}

fn syn_05_versions_rise_over_five_edits() {
    let ws = Workspace::new("//- a.py\nx0\n");
    let lp = Langport::with(&ws, Script::new());
    for i in 1..=5 {
        ws.write("a.py", &format!("x{i}\n"));
        lp.hover(&json!({"file_path": "a.py", "line": 1, "column": 1})).contains(&format!("WORD x{i}"));
    }
    let opened = lp.log().of("textDocument/didOpen");
    let versions: Vec<i64> =
        lp.log().of("textDocument/didChange").iter().filter_map(|p| p["textDocument"]["version"].as_i64()).collect();
    assert_eq!(opened.len(), 1);
    assert_eq!(versions.len(), 4, "the first edit was there before the file was opened");
    assert!(opened[0]["textDocument"]["version"].as_i64() < versions.first().copied(), "{versions:?}");
    assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
}

fn a7_4_documents_are_opened_changed_and_closed() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    (0..70).for_each(|i| ws.write(&format!("f{i}.py"), "word\n"));
    let lp = Langport::with(&ws, Script::new());
    let hover = |file: &str| lp.hover(&json!({"file_path": file, "line": 1, "column": 1}));
    hover("a.py").contains("WORD alpha");
    let opened = &lp.log().of("textDocument/didOpen")[0]["textDocument"];
    assert_eq!(
        *opened,
        json!({"uri": ws.uri("a.py"), "languageId": "python", "version": opened["version"], "text": "alpha\n"})
    );
    ws.write("a.py", "beta\n");
    hover("a.py").contains("WORD beta");
    lp.log().wait("textDocument/didChange", 1);
    for i in 0..70 {
        hover(&format!("f{i}.py")).contains("WORD word");
    }
    let mut open = 0;
    let mut most = 0;
    for method in lp.log().methods() {
        open += i32::from(method == "textDocument/didOpen") - i32::from(method == "textDocument/didClose");
        most = most.max(open);
    }
    assert!((60..=64).contains(&most), "at most 64 documents are open at a time, not {most}");
    hover("a.py").contains("WORD beta");
    let reopened = lp.log().of("textDocument/didOpen");
    assert_eq!(reopened.iter().filter(|p| p["textDocument"]["uri"] == ws.uri("a.py")).count(), 2);
    ws.remove("a.py");
    hover("a.py").fails("not_found");
}

fn d1_17_watched_files_are_told_before_documents() {
    in_pace(watched_files_are_told_before_documents);
}

fn watched_files_are_told_before_documents(pace: &Pace) {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.py\nother\n");
    let lp = Langport::with(&ws, Script::watching("**/*"));
    let hover = || lp.hover(&json!({"file_path": "a.py", "line": 1, "column": 1}));
    hover().contains("WORD alpha");
    for i in 0..5 {
        // Changes are told without a question, too: whatever is told of these counts.
        let before = lp.log().methods().len();
        pace.keep(|| {
            ws.write("b.py", &format!("other{i}\n"));
            ws.write("a.py", &format!("alpha{i}\n"));
        });
        hover().contains(&format!("WORD alpha{i}"));
        let new = lp.log().methods().split_off(before);
        let at =
            |method: &str| new.iter().position(|m| m == method).unwrap_or_else(|| panic!("no {method} in {new:?}"));
        assert!(at("workspace/didChangeWatchedFiles") < at("textDocument/didChange"), "{new:?}");
        assert!(at("textDocument/didChange") < at("textDocument/hover"), "{new:?}");
    }
}

fn x4_every_kind_of_file_change_is_told() {
    let ws = Workspace::new("//- a.py\nalpha\n//- old.py\nx\n//- note.txt\nx\n");
    let lp = Langport::builder(&ws);
    let script = Script::new().on("initialized", [watch("**/*.py").into()]);
    let lp = lp.server(Definition::new("fake", script)).start();
    let ask = || lp.hover(&json!({"file_path": "a.py", "line": 1, "column": 1})).fine().verdict().to_owned();
    ask();
    let told = |path: &str, kind: i64| {
        let uri = ws.uri(path);
        let changes = |p: &serde_json::Value| p["changes"].as_array().cloned().unwrap_or_default();
        lp.log()
            .of("workspace/didChangeWatchedFiles")
            .iter()
            .flat_map(changes)
            .any(|c| c == json!({"uri": uri, "type": kind}))
    };
    ws.write("new.py", "y\n");
    ask();
    assert!(told("new.py", 1), "created");
    ws.write("old.py", "changed\n");
    ws.write("note.txt", "not asked for\n");
    ask();
    assert!(told("old.py", 2), "changed");
    ws.remove("old.py");
    ask();
    assert!(told("old.py", 3), "deleted");
    assert!(
        within(std::time::Duration::ZERO, || told("note.txt", 2).then_some(())).is_none(),
        "the glob leaves it out"
    );
}
