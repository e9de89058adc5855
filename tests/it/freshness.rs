//! The harder half of freshness: retries, result ids, no events, many hands at once, files that come and go.

use std::time::Instant;

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Publish, Script, Step, register},
    support::{Answer, BUSY, Definition, Langport, Workspace},
};

trials![
    b10_content_modified_is_retried,
    b10_a_server_that_never_stops_modifying,
    pull_unchanged_keeps_what_was_said,
    pull_results_of_other_files_come_along,
    without_events_open_files_are_looked_at,
    eight_hands_write_and_ask_at_once,
    a_file_that_is_deleted_and_made_again,
    a_folder_that_git_ignores_may_be_watched,
    a_push_behind_a_change_elsewhere_is_waited_for,
    x3_a_checked_out_branch_with_folders_moved,
    lif_01_random_deaths_lose_nothing,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn b10_content_modified_is_retried() {
    for code in [-32801, -32802, -32800] {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let fail = || vec![Act::Fail(code, "content modified".into())];
        let lp = Langport::with(&ws, Script::new().each("textDocument/hover", [fail(), fail(), vec![Act::Default]]));
        let begun = Instant::now();
        lp.hover(&at("a.py")).verdict_is("fresh").contains("WORD alpha");
        assert_eq!(lp.log().count("textDocument/hover"), 3, "{code}");
        assert!(begun.elapsed() < BUSY, "{:?}", begun.elapsed());
    }
}

fn b10_a_server_that_never_stops_modifying() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp =
        Langport::with(&ws, Script::new().on("textDocument/hover", [Act::Fail(-32801, "content modified".into())]));
    lp.hover(&at("a.py")).fails("failed").contains("fake");
    let asked = lp.log().count("textDocument/hover");
    assert!((3..=5).contains(&asked), "asked {asked} times");
}

fn report(id: &str, items: Value) -> Act {
    Act::Reply(json!({"kind": "full", "resultId": id, "items": items}))
}

fn problem(message: &str) -> Value {
    json!({"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, "severity": 1, "message": message})
}

fn pull_unchanged_keeps_what_was_said() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let unchanged = vec![Act::Reply(json!({"kind": "unchanged", "resultId": "r1"}))];
    let turns = [vec![report("r1", json!([problem("first")]))], unchanged, vec![report("r2", json!([]))]];
    let lp = Langport::with(&ws, Script::new().pull().each("textDocument/diagnostic", turns));
    lp.diagnostics("a.py").says("fresh · fake · 1 error").contains("first");
    lp.diagnostics("a.py").says("fresh · fake · 1 error").contains("first");
    lp.diagnostics("a.py").says("fresh · fake · no problems");
    let ids: Vec<Value> =
        lp.log().of("textDocument/diagnostic").iter().map(|p| p["previousResultId"].clone()).collect();
    assert_eq!(ids, [Value::Null, json!("r1"), json!("r1")]);
}

fn pull_results_of_other_files_come_along() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.py\nbeta\n");
    let related = json!({ws.uri("b.py"): {"kind": "full", "items": [problem("of b")]}});
    let whole = Act::Reply(json!({"kind": "full", "items": [problem("of a")], "relatedDocuments": related}));
    let lp = Langport::with(&ws, Script::new().pull().on("textDocument/diagnostic", [whole]));
    let answer = lp.diagnostics("a.py");
    answer.says("fresh · fake · 1 error").contains("of a");
    assert!(answer.places().iter().all(|p| p.0 == "a.py"), "{answer}");
}

fn without_events_open_files_are_looked_at() {
    let ws = Workspace::new("//- a.py\nx = ERR\n//- b.py\nbeta\n");
    let server = Definition::new("fake", Script::watching("**/*"));
    let lp = Langport::builder(&ws).server(server).config("watch_events = false").start();
    lp.hover(&at("b.py")).contains("WORD beta");
    for round in 0..5 {
        ws.write("a.py", &format!("x{round} = ERR\n"));
        lp.diagnostics("a.py").says("fresh · fake · 1 error").contains(&format!("x{round} = ERR"));
        ws.replace("a.py", &format!("y{round} = 1\n"));
        lp.diagnostics("a.py").says("fresh · fake · no problems");
        ws.write("b.py", &format!("beta{round}\n"));
        lp.hover(&at("b.py")).verdict_is("fresh").contains(&format!("WORD beta{round}"));
    }
}

fn eight_hands_write_and_ask_at_once() {
    let ws = Workspace::new("//- base.py\nbase\n");
    (0..8).for_each(|i| ws.write(&format!("f{i}.py"), "start\n"));
    // A pushed list may have been made old by another hand's file: then it is right, but not proven.
    for (script, verdicts) in [
        (Script::watching("**/*"), &["fresh", "settling", "unconfirmed"][..]),
        (Script::watching("**/*").pull(), &["fresh"]),
    ] {
        let lp = Langport::with(&ws, script);
        std::thread::scope(|scope| {
            let hand = |i: usize| {
                let (ws, lp) = (&ws, &lp);
                move || {
                    for round in 0..12 {
                        let (file, word) = (format!("f{i}.py"), format!("w{i}_{round}"));
                        ws.write(&file, &format!("{word} = ERR\n"));
                        lp.hover(&at(&file)).verdict_is("fresh").contains(&format!("WORD {word}"));
                        lp.diagnostics(&file).verdict_in(verdicts).contains("· 1 error").contains(&word);
                    }
                }
            };
            let hands: Vec<_> = (0..8).map(|i| scope.spawn(hand(i))).collect();
            for (i, hand) in hands.into_iter().enumerate() {
                assert!(hand.join().is_ok(), "hand {i}");
            }
        });
    }
}

fn a_file_that_is_deleted_and_made_again() {
    let ws = Workspace::new("//- a.py\nalpha = ERR\n");
    let lp = Langport::with(&ws, Script::watching("**/*"));
    for round in 0..4 {
        lp.diagnostics("a.py").says("fresh · fake · 1 error");
        ws.remove("a.py");
        lp.diagnostics("a.py").fails("not_found");
        ws.write("a.py", &format!("beta{round} = 1\n"));
        lp.hover(&at("a.py")).contains(&format!("WORD beta{round}"));
        lp.diagnostics("a.py").says("fresh · fake · no problems");
        ws.write("a.py", "alpha = ERR\n");
    }
}

fn a_folder_that_git_ignores_may_be_watched() {
    let ws = Workspace::new("//- .gitignore\ngen/\n//- a.py\nalpha\n//- gen/out/x.py\nx\n");
    std::fs::create_dir(ws.path(".git")).unwrap();
    let watchers = json!({"watchers": [{"globPattern": "gen/out/*.py"}, {"globPattern": "**/*.py"}]});
    let ask = register("w", "workspace/didChangeWatchedFiles", watchers).block();
    let lp = Langport::with(&ws, Script::new().on("initialized", [ask.into()]));
    lp.hover(&at("a.py")).fine();
    lp.hover(&at("a.py")).fine();
    ws.write("gen/out/x.py", "changed\n");
    lp.hover(&at("a.py")).fine();
    let told = lp.log().of("workspace/didChangeWatchedFiles");
    assert!(told.iter().any(|p| p.to_string().contains("gen/out/x.py")), "{told:?}");
}

/// A server that looks at dependents again by itself, but takes its time.
fn a_push_behind_a_change_elsewhere_is_waited_for() {
    let ws = Workspace::new("//- lib.py\n# LACKING tally\n//- use.py\nNEEDS tally\n");
    let slow = Publish { change_steps: Some(vec![Step::Sleep(250), Step::Full]), ..Publish::default() };
    let lp = Langport::with(&ws, Script::watching("**/*").publish(slow));
    lp.diagnostics("use.py").says("fresh · fake · 1 error");
    for round in 0..4 {
        let provides = round % 2 == 0;
        ws.write("lib.py", if provides { "# PROVIDES tally\n" } else { "# LACKING tally\n" });
        let answer = lp.diagnostics("use.py");
        let right = if provides { "no problems" } else { "1 error" };
        assert!(answer.verdict() != "fresh" || answer.first().ends_with(right), "round {round}: {answer}");
        answer.verdict_in(&["fresh", "settling", "unconfirmed", "stale"]);
    }
}

fn x3_a_checked_out_branch_with_folders_moved() {
    let ws = Workspace::new("//- core.py\ndef hub(): pass\n");
    (0..20).for_each(|i| ws.write(&format!("old/p{i}/m.py"), "hub()\n"));
    let lp = Langport::with(&ws, Script::watching("**/*.py"));
    let count = || lp.tool("references", &json!({"file_path": "core.py", "line": 1, "column": 5}));
    assert_eq!(count().places().len(), 21);
    for i in 0..20 {
        std::fs::create_dir_all(ws.path(&format!("new/p{i}"))).unwrap();
        std::fs::rename(ws.path(&format!("old/p{i}/m.py")), ws.path(&format!("new/p{i}/m.py"))).unwrap();
    }
    std::fs::remove_dir_all(ws.path("old")).unwrap();
    let answer = count();
    assert_eq!(answer.places().len(), 21, "{answer}");
    answer.lacks("old/");
    // A whole folder in one step: its files vanish without an event of their own.
    std::fs::rename(ws.path("new"), ws.path("newer")).unwrap();
    let answer = count();
    assert_eq!(answer.places().len(), 21, "{answer}");
    answer.lacks("new/");
}

fn lif_01_random_deaths_lose_nothing() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let turns: Vec<Vec<Act>> =
        (0..3).map(|_| vec![Act::Default]).chain([vec![Act::FirstStarts(2), Act::Die]]).collect();
    let mut lp = Langport::with(&ws, Script::new().each("textDocument/hover", turns));
    lp.tolerate();
    for round in 0..12 {
        ws.write("a.py", &format!("w{round}\n"));
        let answer: Answer = lp.hover(&at("a.py"));
        answer.verdict_is("fresh").contains(&format!("WORD w{round}"));
    }
    assert_eq!(lp.log().starts(), 3);
}
