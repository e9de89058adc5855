//! The problems of the whole workspace: pulled where a server tells them at once, by a bounded sweep elsewhere; nothing
//! that was not reached is called free of problems.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Publish, Script, Step},
    hostile::PATIENT,
    support::{Answer, BUSY, Definition, Langport, Workspace},
};

trials![
    x30_worst_first_with_caps_and_pages,
    x30_a_file_has_its_share,
    out_02_three_hundred_errors_and_five_thousand_hints,
    dia_07_nothing_is_open_and_all_are_asked,
    dia_02_a_dead_server_is_named,
    dia_02_a_silent_server_is_named_in_time,
    dia_02_a_loading_server_is_named,
    one_of_two_servers_is_dead,
    what_the_time_does_not_reach_is_counted,
    what_git_ignores_is_left_out,
    no_more_documents_than_allowed,
    many_files_that_are_pushed,
    told_at_once_where_a_server_can,
    told_at_once_and_the_rest_is_asked,
    told_at_once_by_a_server_that_hangs,
    a_report_of_which_nothing_is_known_does_not_count,
    a_report_that_a_change_overtakes_does_not_count,
    new_ones_of_the_whole_workspace,
    a_file_that_changes_meanwhile_is_never_current,
    files_that_no_server_is_here_for,
];

fn all(lp: &Langport) -> Answer {
    lp.tool("diagnostics", &json!({"scope": "workspace"}))
}

fn pulling() -> Script {
    Script::watching("**/*").pull()
}

/// So many files `f000.py`, with this text each.
fn files(ws: &Workspace, number: usize, text: impl Fn(usize) -> String) {
    (0..number).for_each(|n| ws.write(&format!("f{n:03}.py"), &text(n)));
}

fn x30_worst_first_with_caps_and_pages() {
    let ws = Workspace::new("//- a.py\nWARN a\n//- z.py\nfine\n");
    files(&ws, 50, |n| format!("WARN {n}\nERR {n}\nHINT {n}\n"));
    let server = Definition::new("fake", pulling());
    let lp = Langport::builder(&ws)
        .server(server)
        .config("diagnostics_delivery = 30\nmax_chars = 40000")
        .max_wait(PATIENT)
        .start();
    let mut answer = all(&lp);
    answer.says("fresh · fake · 50 errors, 51 warnings in 51 of 52 files (50 hints not listed)");
    let (mut places, mut pages) = (answer.places(), 1);
    assert_eq!(places.len(), 30, "{answer}");
    while let Some(cursor) = answer.cursor() {
        answer = lp.tool("diagnostics", &json!({"scope": "workspace", "cursor": cursor}));
        places.extend(answer.fine().places());
        pages += 1;
    }
    assert_eq!((places.len(), pages), (101, 4));
    let expected = (0..50).map(|n| (format!("f{n:03}.py"), 2, 1)).chain([("a.py".to_owned(), 1, 1)]);
    let expected: Vec<_> = expected.chain((0..50).map(|n| (format!("f{n:03}.py"), 1, 1))).collect();
    assert_eq!(places, expected);
    // The same question again is the same answer.
    assert_eq!(all(&lp).places(), places[..30]);
}

fn x30_a_file_has_its_share() {
    let ws = Workspace::new("//- a.py\nERR a\n");
    ws.write("big.py", &"ERR big\n".repeat(300));
    let server = Definition::new("fake", pulling());
    let lp = Langport::builder(&ws).server(server).config("diagnostics_file = 5").start();
    let answer = all(&lp);
    answer.says("fresh · fake · 301 errors in 2 of 2 files").contains("file_path for the rest: big.py (5 of 300)");
    assert_eq!(answer.places().len(), 6, "{answer}");
}

fn out_02_three_hundred_errors_and_five_thousand_hints() {
    let ws = Workspace::new("");
    let long = "x".repeat(2_000);
    files(&ws, 100, |n| {
        let hints = (0..50).map(|_| format!("HINT {long}\n")).collect::<String>();
        format!("{hints}ERR {n}\nERR {n}\nERR {n}\n")
    });
    let lp = Langport::builder(&ws).server(Definition::new("fake", pulling())).max_wait(PATIENT).start();
    let answer = all(&lp);
    answer.says("fresh · fake · 300 errors in 100 of 100 files (5,000 hints not listed)").lacks("HINT");
    assert!(answer.text.chars().count() <= 8_000 && answer.cursor().is_some(), "{answer}");
    let hints = lp.tool("diagnostics", &json!({"scope": "workspace", "severity": "hint"}));
    assert!(hints.text.chars().count() <= 8_000, "{hints}");
    assert!(hints.places().iter().all(|place| place.1 > 50), "errors come first: {hints}");
}

fn dia_07_nothing_is_open_and_all_are_asked() {
    for script in [pulling(), Script::watching("**/*")] {
        let ws = Workspace::new("//- a.py\nERR a\n//- deep/er/b.py\nfine\n//- notes.txt\nERR\n");
        let server = Definition::new("fake", script).table("[diagnostics]\nretrigger = \"change\"");
        let lp = Langport::builder(&ws).server(server).start();
        all(&lp).says("fresh · fake · 1 error in 1 of 2 files").contains("a.py:1:1");
        assert_eq!(lp.log().count("textDocument/didOpen"), 2);
        ws.write("a.py", "fine\n");
        all(&lp).says("fresh · fake · no problems in 2 files");
    }
}

fn dia_02_a_dead_server_is_named() {
    let ws = Workspace::new("");
    files(&ws, 60, |n| format!("ERR {n}\n"));
    let script = Script::new().on("textDocument/didOpen", [Act::Exit(3)]).publish(Publish::never());
    let mut lp = Langport::with(&ws, script);
    lp.tolerate();
    let answer = all(&lp);
    assert!(answer.is_error, "{answer}");
    answer.verdict_in(&["failed", "unavailable"]).contains("fake").lacks("no problems");
    // It is not started anew for each file.
    assert!(lp.log().starts() <= 4, "{} starts", lp.log().starts());
}

fn dia_02_a_silent_server_is_named_in_time() {
    let ws = Workspace::new("");
    files(&ws, 60, |n| format!("ERR {n}\n"));
    let server = Definition::new("fake", Script::new().publish(Publish::never()));
    let lp = Langport::builder(&ws).server(server).max_wait(6_000).start();
    let begun = Instant::now();
    let answer = all(&lp);
    answer.fine().verdict_in(&["unanswered", "partial"]).lacks("no problems").contains("fake");
    assert!(begun.elapsed() < Duration::from_secs(6) + BUSY, "{:?}", begun.elapsed());
}

fn dia_02_a_loading_server_is_named() {
    let ws = Workspace::new("//- a.py\nx\n//- b.py\ny\n");
    let begin = json!({"token": "load", "value": {"kind": "begin", "title": "load"}});
    let script = pulling().on("initialized", [Act::Tell("$/progress".into(), begin)]);
    let ready = "[ready]\nprogress = \"load\"\ntimeout_ms = 60000";
    let server = Definition::new("fake", script).table(ready);
    let lp = Langport::builder(&ws).server(server).max_wait(2_000).start();
    all(&lp).fine().verdict_in(&["indexing", "partial"]).lacks("no problems").contains("fake");
}

fn one_of_two_servers_is_dead() {
    let ws = Workspace::new("//- a.py\nERR a\n//- b.py\nfine\n");
    let dead = Script::new().on("initialize", [Act::Exit(9)]);
    let mut lp = Langport::builder(&ws)
        .server(Definition::new("good", pulling()))
        .server(Definition::new("dead", dead).key("role = \"linter\""))
        .start();
    lp.tolerate();
    let answer = all(&lp);
    answer.fine().verdict_is("partial").contains("good fresh").contains("dead").contains("1 error in 1 of 2 files");
    ws.write("a.py", "fine\n");
    let answer = all(&lp);
    answer.verdict_is("partial").contains("no problems where an answer came");
}

fn what_the_time_does_not_reach_is_counted() {
    let ws = Workspace::new("");
    files(&ws, 200, |n| format!("ERR {n}\n"));
    let script = pulling().on("textDocument/diagnostic", [Act::Sleep(400), Act::Default]);
    let server = Definition::new("fake", script).key("");
    let lp = Langport::builder(&ws).server(server).config("documents = 8").max_wait(6_000).start();
    let begun = Instant::now();
    let answer = all(&lp);
    assert!(begun.elapsed() < Duration::from_secs(6) + BUSY, "{:?}", begun.elapsed());
    answer.fine().verdict_is("partial").contains("files not reached").contains("error");
}

fn what_git_ignores_is_left_out() {
    let ws = Workspace::new(
        "//- .gitignore\nbuild/\nskip.py\n//- a.py\nERR a\n//- skip.py\nERR\n//- build/b.py\nERR\n//- .venv/c.py\nERR\n",
    );
    let lp = Langport::with(&ws, pulling());
    all(&lp).says("fresh · fake · 1 error in 1 of 1 file");
    let opened = lp.log().of("textDocument/didOpen");
    assert_eq!(opened.len(), 1, "{opened:?}");
}

fn no_more_documents_than_allowed() {
    for script in [pulling(), Script::watching("**/*")] {
        let ws = Workspace::new("");
        files(&ws, 30, |n| format!("ERR {n}\n"));
        let server = Definition::new("fake", script);
        let lp = Langport::builder(&ws).server(server).config("documents = 7").max_wait(PATIENT).start();
        all(&lp).says("fresh · fake · 30 errors in 30 of 30 files");
        let (mut open, mut most) = (0_i32, 0);
        for method in lp.log().methods() {
            open += i32::from(method == "textDocument/didOpen") - i32::from(method == "textDocument/didClose");
            most = most.max(open);
        }
        assert!((5..=7).contains(&most), "{most} were open at once");
    }
}

fn many_files_that_are_pushed() {
    for versioned in [true, false] {
        let ws = Workspace::new("");
        files(&ws, 70, |n| if n % 2 == 0 { format!("ERR {n}\n") } else { "fine\n".to_owned() });
        let steps = vec![Step::Sleep(20), Step::Full];
        let script = Script::watching("**/*").publish(Publish { versioned, steps, ..Publish::default() });
        let lp = Langport::builder(&ws).server(Definition::new("fake", script)).max_wait(PATIENT).start();
        all(&lp).says("fresh · fake · 35 errors in 35 of 70 files");
    }
}

fn whole(ws: &Workspace, files: &[(&str, usize)]) -> Value {
    let report = |(file, errors): &(&str, usize)| {
        let at = |line| json!({"line": line, "character": 0});
        let problem = |line| json!({"range": {"start": at(line), "end": at(line)}, "severity": 1, "message": "told"});
        let items: Vec<Value> = (0..*errors).map(problem).collect();
        json!({"uri": ws.uri(file), "version": null, "kind": "full", "resultId": "r", "items": items})
    };
    json!({"items": files.iter().map(report).collect::<Vec<_>>()})
}

fn surveyed(acts: impl Into<Vec<Act>>) -> Script {
    let provider = json!({"interFileDependencies": true, "workspaceDiagnostics": true});
    pulling().capability("diagnosticProvider", provider).on("workspace/diagnostic", acts)
}

/// Its definition says that such a report can be relied on.
fn relied_on(ws: &Workspace, acts: impl Into<Vec<Act>>) -> Langport {
    let server = Definition::new("fake", surveyed(acts)).table("[diagnostics]\nproject = true");
    Langport::builder(ws).server(server).max_wait(60_000).start()
}

fn told_at_once_where_a_server_can() {
    let ws = Workspace::new("//- a.py\na\nb\n//- b.py\nb\n");
    let lp = relied_on(&ws, [Act::Reply(whole(&ws, &[("a.py", 2), ("b.py", 0)]))]);
    all(&lp).says("fresh · fake · 2 errors in 1 of 2 files").contains("a.py:1:1").contains("a.py:2:1");
    assert_eq!(lp.log().count("textDocument/didOpen"), 0, "nothing had to be opened");
    assert_eq!(lp.log().count("workspace/diagnostic"), 1);
}

/// That a server is silent about a file proves nothing.
fn told_at_once_and_the_rest_is_asked() {
    let ws = Workspace::new("//- a.py\na\n//- b.py\nERR b\n//- c.py\nc\n");
    let lp = relied_on(&ws, [Act::Reply(whole(&ws, &[("a.py", 1)]))]);
    all(&lp).says("fresh · fake · 2 errors in 2 of 3 files").contains("told").contains("ERR b");
    assert_eq!(lp.log().count("textDocument/didOpen"), 2);
    for reply in [Act::Reply(Value::Null), Act::Fail(-32603, "no".into()), Act::Reply(json!({"items": 7}))] {
        let ws = Workspace::new("//- a.py\nERR a\n//- b.py\nb\n");
        let lp = relied_on(&ws, [reply]);
        all(&lp).says("fresh · fake · 1 error in 1 of 2 files");
    }
}

fn told_at_once_by_a_server_that_hangs() {
    let ws = Workspace::new("//- a.py\nERR a\n//- b.py\nb\n");
    let script = surveyed([Act::Await(ws.gate("never")), Act::Default]);
    let server = Definition::new("fake", script).table("[diagnostics]\nproject = true");
    let lp = Langport::builder(&ws).server(server).max_wait(6_000).start();
    all(&lp).says("fresh · fake · 1 error in 1 of 2 files");
    ws.open("never");
}

/// tombi's report is about the files as they were, pyright's has no end: nothing is known of another server's.
fn a_report_of_which_nothing_is_known_does_not_count() {
    let ws = Workspace::new("//- a.py\nERR a\n//- b.py\nb\n");
    let lp = Langport::with(&ws, surveyed([Act::Reply(whole(&ws, &[("a.py", 0), ("b.py", 2)]))]));
    all(&lp).says("fresh · fake · 1 error in 1 of 2 files").contains("ERR a");
    assert_eq!(lp.log().count("workspace/diagnostic"), 0);
}

/// What a report says of a file that is written while it is made is not about the text on disk.
fn a_report_that_a_change_overtakes_does_not_count() {
    let ws = Workspace::new("//- a.py\nERR a\n//- b.py\nb\n");
    let report = whole(&ws, &[("a.py", 2), ("b.py", 0)]);
    let lp = relied_on(&ws, [Act::Await(ws.gate("report")), Act::Reply(report)]);
    let call = lp.call("lsp_diagnostics", &json!({"scope": "workspace"}));
    lp.log().wait("workspace/diagnostic", 1);
    ws.write("b.py", "ERR b\n");
    ws.open("report");
    let answer = Answer::of(&lp.answer(call));
    answer.contains("ERR a").contains("ERR b").lacks("told");
    let mark = crate::marks::mark(&answer);
    let since = lp.tool("diagnostics", &json!({"file_path": "b.py", "new_only": true, "since": mark}));
    since.says(&format!("fresh · fake · no new problems, since {mark}"));
}

fn new_ones_of_the_whole_workspace() {
    let ws =
        Workspace::new("//- a.py\nold = ERR\n//- b.py\nb = ERR\n//- lib.py\n# PROVIDES it\n//- use.py\nNEEDS it\n");
    let lp = Langport::with(&ws, pulling());
    all(&lp).says("fresh · fake · 2 errors in 2 of 4 files");
    ws.write("a.py", "1\n2\nold = ERR\nyoung = ERR\n");
    ws.write("lib.py", "# LACKING\n");
    ws.write("b.py", "b\n");
    let answer = lp.tool("diagnostics", &json!({"scope": "workspace", "new_only": true}));
    answer.contains("fresh · fake · 2 new errors in 2 of 4 files, 1 gone, since @").contains("a.py:4:1");
    answer.contains("use.py:1:1").lacks("a.py:3:1");
}

fn a_file_that_changes_meanwhile_is_never_current() {
    let ws = Workspace::new("");
    files(&ws, 12, |n| format!("ERR {n}\n"));
    // The second group waits until the first one's file has been written.
    let gate = ws.gate("second");
    let slow = vec![Act::Await(gate), Act::Default];
    let turns: Vec<Vec<Act>> = (0..6).map(|_| vec![Act::Default]).chain([slow]).collect();
    let server = Definition::new("fake", pulling().each("textDocument/diagnostic", turns));
    let lp = Langport::builder(&ws).server(server).config("documents = 6").start();
    let call = lp.call("lsp_diagnostics", &json!({"scope": "workspace"}));
    lp.log().wait("textDocument/diagnostic", 7);
    ws.write("f000.py", "mended\n");
    ws.open("second");
    let answer = Answer::of(&lp.answer(call));
    answer.verdict_in(&["partial", "stale", "settling"]).contains("f000.py").contains("changed");
    all(&lp).says("fresh · fake · 11 errors in 11 of 12 files");
}

fn files_that_no_server_is_here_for() {
    let ws = Workspace::new("//- a.py\nERR a\n//- b.zig\nx\n//- c.zig\ny\n");
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", pulling()))
        .server(Definition::command("absent", "no-such-program-anywhere").languages(&["zig"]))
        .auto()
        .arg("--languages")
        .arg("python,zig")
        .start();
    let answer = all(&lp);
    // A part of what was asked about has been looked at.
    answer
        .verdict_is("partial")
        .contains("1 error in 1 of 1 file")
        .contains("not looked at: 2 files that absent would serve");
    ws.write("a.py", "a\n");
    all(&lp)
        .verdict_is("partial")
        .contains("no problems where an answer came in 1 file")
        .contains("not looked at: 2 files");
    let changed = || lp.tool("diagnostics", &json!({"scope": "changed"}));
    changed().verdict_is("fresh");
    ws.write("b.zig", "z\n");
    ws.write("a.py", "ERR b\n");
    changed().verdict_is("partial").contains("1 error in 1 of 1 file").contains("not looked at: 1 file");
    // Where there is none for any file, nothing is known of any.
    let none = Workspace::new("//- b.zig\nx\n//- c.zig\ny\n");
    let lp = Langport::builder(&none)
        .server(Definition::command("absent", "no-such-program-anywhere").languages(&["zig"]))
        .auto()
        .start();
    let everything = lp.tool("diagnostics", &json!({"scope": "workspace"}));
    everything.fails("unavailable").contains("no server is installed for 2 files").contains("langport install --for");
    everything.contains("not looked at: 2 files that absent would serve");
    none.write("b.zig", "z\n");
    let changed = lp.tool("diagnostics", &json!({"scope": "changed"}));
    changed.fails("unavailable").contains("no server is installed for 1 file").contains("absent would serve");
}
