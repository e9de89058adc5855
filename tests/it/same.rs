//! What is new and what is gone where two servers say the same, where more is told than can be kept, and where nothing was
//! known before.

use serde_json::{Value, json};

use crate::{
    changes::{apply, rename, undo},
    fake::script::{Act, Script},
    marks::{mark, new_in},
    support::{Answer, Definition, Langport, Workspace, eventually},
};

trials![
    x2_what_one_of_two_still_says_is_not_gone,
    x2_what_one_of_two_begins_to_say_as_well_is_not_new,
    x2_the_same_words_at_another_place_are_new,
    x2_where_one_stops_and_the_other_begins_elsewhere_it_is_both,
    x2_what_the_other_one_may_have_known_is_perhaps_new,
    a7_7_what_one_of_two_still_says_after_a_change_is_not_gone,
    out_02_what_two_servers_say_too_often_counts_once,
    out_02_of_too_many_at_least_so_many_are_gone,
    c22_what_nothing_has_changed_since_is_not_new,
    c22_what_was_learnt_before_a_change_is_known,
    c22_what_was_learnt_after_a_change_is_not_taken_for_older,
];

/// With time enough for a busy machine: what is not seen in time is not known.
fn start(ws: &Workspace, servers: impl IntoIterator<Item = Definition>) -> Langport {
    let patient = "barrier_ms = 20000\nrequest_timeout_ms = 100000";
    let mut builder = Langport::builder(ws).config(patient).max_wait(100_000);
    for server in servers {
        builder = builder.server(server);
    }
    builder.start()
}

/// A report of `boom` on these lines.
fn boom(source: Option<&str>, lines: &[u32]) -> Vec<Act> {
    let one = |line: &u32| {
        let at = |column: u32| json!({"line": line, "character": column});
        let mut one = json!({"range": {"start": at(0), "end": at(1)}, "severity": 1, "message": "boom"});
        if let Some(source) = source {
            one["source"] = source.into();
        }
        one
    };
    vec![Act::Reply(json!({"kind": "full", "items": lines.iter().map(one).collect::<Vec<Value>>()}))]
}

/// Two servers, of which each says these lines the first, second, … time; with a source that they share, or each with its
/// own.
fn two(one: &[&[u32]], other: &[&[u32]], work: impl Fn(&Workspace, &Langport)) {
    for source in [None, Some("lint")] {
        let ws = Workspace::new("//- a.py\na\nb\nc\nd\n");
        let script = |turns: &[&[u32]]| {
            let turns: Vec<Vec<Act>> = turns.iter().map(|lines| boom(source, lines)).collect();
            Script::watching("**/*").pull().each("textDocument/diagnostic", turns)
        };
        let linter = Definition::new("other", script(other)).key("role = \"linter\"");
        let lp = start(&ws, [Definition::new("one", script(one)), linter]);
        work(&ws, &lp);
    }
}

/// Asks, changes the text below everything that is told of, and asks what is new.
fn told(ws: &Workspace, lp: &Langport) -> Answer {
    lp.diagnostics("a.py").verdict_is("fresh");
    ws.write("a.py", "a\nb\nc\nd\ne\n");
    let answer = new_in(lp, "a.py");
    answer.verdict_is("fresh");
    answer
}

fn x2_what_one_of_two_still_says_is_not_gone() {
    two(&[&[0], &[]], &[&[0]], |ws, lp| _ = told(ws, lp).contains("no new problems, since").lacks("gone"));
    two(&[&[0], &[]], &[&[0], &[]], |ws, lp| _ = told(ws, lp).contains("no new problems, ").contains(" gone, since"));
}

fn x2_what_one_of_two_begins_to_say_as_well_is_not_new() {
    two(&[&[], &[1]], &[&[1]], |ws, lp| _ = told(ws, lp).contains("no new problems, since").lacks("boom"));
}

fn x2_the_same_words_at_another_place_are_new() {
    two(&[&[0], &[0, 2]], &[&[0]], |ws, lp| {
        told(ws, lp).contains("1 new error, since").contains("a.py:3:1").lacks("a.py:1:1").lacks("gone");
    });
}

fn x2_where_one_stops_and_the_other_begins_elsewhere_it_is_both() {
    two(&[&[0], &[]], &[&[], &[2]], |ws, lp| {
        told(ws, lp).contains("1 new error, 1 gone, since").contains("a.py:3:1").lacks("a.py:1:1");
    });
}

fn x2_what_the_other_one_may_have_known_is_perhaps_new() {
    let ws = Workspace::new("//- a.py\na\nb\n");
    let script = |turns| Script::watching("**/*").pull().each("textDocument/diagnostic", turns);
    let silent = vec![Act::Fail(-32603, "not now".into())];
    let other = Definition::new("other", script(vec![silent, boom(None, &[1])])).key("role = \"linter\"");
    let one = Definition::new("one", script(vec![boom(None, &[0]), boom(None, &[0, 1])]));
    let lp = start(&ws, [one, other]);
    lp.diagnostics("a.py").verdict_is("partial");
    ws.write("a.py", "a\nb\nc\n");
    let answer = new_in(&lp, "a.py");
    answer.contains("perhaps new errors, since").contains("may be older").contains("a.py:2:1").lacks("a.py:1:1");
}

/// The linter calls out what nothing provides, until the rename makes a line of it that does.
fn a7_7_what_one_of_two_still_says_after_a_change_is_not_gone() {
    for source in [None, Some("fake")] {
        let ws = Workspace::new("//- a.py\nNEEDS w\ntally w\n");
        let at = |column: u32| json!({"line": 0, "character": column});
        let mut said = json!({"range": {"start": at(0), "end": at(7)}, "severity": 1, "message": "w is not provided"});
        if let Some(source) = source {
            said["source"] = source.into();
            said["code"] = "F1".into();
        }
        let report = Act::Reply(json!({"kind": "full", "items": [said]}));
        let always = Script::new().pull().on("textDocument/diagnostic", [report]);
        let linter = Definition::new("linter", Script::new().pull()).key("role = \"linter\"");
        let lp = start(&ws, [Definition::new("fake", always), linter]);
        lp.diagnostics("a.py").contains("a.py:1:1  error: w is not provided");
        let plan = rename(&lp, "a.py", 2, "tally", "PROVIDES").plan();
        let made = apply(&lp, &plan);
        made.fine().verdict_is("fresh").contains("no new problems").lacks("gone").lacks("w is not provided");
        assert_eq!(ws.read("a.py"), "NEEDS w\nPROVIDES w\n");
        lp.diagnostics("a.py").contains("1 error").contains("a.py:1:1  error: w is not provided");
        let back = undo(&lp, &plan);
        back.fine().verdict_is("fresh").contains("no new problems").lacks("new error").lacks("w is not provided");
    }
}

const MANY: usize = 20_000;

/// One line as wide as there are problems.
fn flooded(servers: impl IntoIterator<Item = Definition>) -> (Workspace, Langport) {
    let ws = Workspace::new(&format!("//- a.py\n{}\n", "x".repeat(MANY)));
    let lp = start(&ws, servers);
    (ws, lp)
}

fn flood(source: &str, errors: usize) -> Vec<Act> {
    vec![Act::FloodOf(source.into(), errors)]
}

fn out_02_what_two_servers_say_too_often_counts_once() {
    let server = |name, source, errors| {
        let script = Script::new().pull().on("textDocument/diagnostic", flood(source, errors));
        Definition::new(name, script).key(if name == "fake" { "" } else { "role = \"linter\"" })
    };
    // The longer list has all that the shorter one has.
    let (_ws, lp) = flooded([server("fake", "lint", MANY), server("linter", "lint", MANY - 1_000)]);
    let answer = lp.diagnostics("a.py");
    let first = answer.first();
    assert!(first.starts_with("fresh · fake, linter · 20,000 errors; too many to keep: "), "{answer}");
    drop(lp);
    // Under two names they are two.
    let (_ws, lp) = flooded([server("fake", "lint", MANY), server("linter", "other", MANY - 1_000)]);
    let answer = lp.diagnostics("a.py");
    assert!(answer.first().starts_with("fresh · fake, linter · 39,000 errors; too many to keep: "), "{answer}");
}

fn out_02_of_too_many_at_least_so_many_are_gone() {
    let turns = [flood("lint", MANY), boom(None, &[])];
    let script = Script::watching("**/*").pull().each("textDocument/diagnostic", turns);
    let (ws, lp) = flooded([Definition::new("fake", script)]);
    lp.diagnostics("a.py").contains("20,000 errors; too many to keep: ");
    ws.write("a.py", "y\n");
    let answer = new_in(&lp, "a.py");
    answer.verdict_is("fresh").contains("no new problems, at least ").contains(" gone, since");
}

/// Two files, of which only `a.py` has been asked about, while every change is seen.
fn asked_about_one() -> (Workspace, Langport, String) {
    let ws = Workspace::new("//- a.py\na\n//- b.py\nold = ERR\n");
    let lp = start(&ws, [Definition::new("fake", Script::watching("**/*").pull())]);
    eventually("the watch stands", || lp.tool("status", &json!({})).has("watching ").then_some(()));
    let mark = mark(&lp.diagnostics("a.py"));
    (ws, lp, mark)
}

fn new_since(lp: &Langport, file: &str, mark: &str) -> Answer {
    lp.tool("diagnostics", &json!({"file_path": file, "new_only": true, "since": mark}))
}

fn c22_what_nothing_has_changed_since_is_not_new() {
    let (ws, lp, mark) = asked_about_one();
    let answer = new_since(&lp, "b.py", &mark);
    answer.says(&format!("fresh · fake · no new problems, since {mark}")).lacks("old = ERR");
    answer.contains("nothing at all has changed").contains("b.py (1)");
    lp.diagnostics("b.py").says("fresh · fake · 1 error");
    // From now on it is not known what was there then, but of what has been learnt since.
    ws.write("c.py", "c = ERR\n");
    ws.write("a.py", "a\nyoung = ERR\n");
    new_since(&lp, "a.py", &mark).says(&format!("fresh · fake · 1 new error, since {mark}"));
    new_since(&lp, "b.py", &mark)
        .says(&format!("fresh · fake · no new problems, since {mark}"))
        .lacks("nothing at all");
    new_since(&lp, "c.py", &mark).says(&format!("fresh · fake · 1 new error, since {mark}"));
}

fn c22_what_was_learnt_before_a_change_is_known() {
    let (ws, lp, mark) = asked_about_one();
    lp.diagnostics("b.py").says("fresh · fake · 1 error");
    ws.write("b.py", "old = ERR\nyoung = ERR\n");
    let answer = new_since(&lp, "b.py", &mark);
    answer.says(&format!("fresh · fake · 1 new error, since {mark}")).contains("b.py:2:1").lacks("b.py:1:1");
}

fn c22_what_was_learnt_after_a_change_is_not_taken_for_older() {
    let (ws, lp, mark) = asked_about_one();
    ws.write("b.py", "old = ERR\nyoung = ERR\n");
    lp.diagnostics("b.py").says("fresh · fake · 2 errors");
    ws.write("b.py", "old = ERR\nyoung = ERR\nyoungest = ERR\n");
    let answer = new_since(&lp, "b.py", &mark);
    answer.contains("3 errors").lacks("new error").contains("no earlier answer to compare with").contains("b.py:3:1");
}
