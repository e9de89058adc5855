//! The ways in which problems are told: pushed and pulled, by several sources, registered late, asked for anew.

use std::time::Instant;

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Ask, Publish, Script},
    support::{BUSY, Langport, Workspace},
};

trials![
    b10_a_pull_whose_text_moved_on_is_retried,
    b11_what_was_told_once_is_not_told_again_until_it_comes_anew,
    b11_an_edit_clears_what_was_said,
    d1_11_told_on_two_channels_and_listed_once,
    d1_14_a_source_registered_while_a_list_is_awaited,
    d1_14_a_source_that_is_taken_back,
    d1_15_several_sources_are_asked_at_once,
    d1_16_an_empty_list_first,
    a_wish_to_be_pulled_anew_is_heeded,
    a_report_of_another_file_is_no_answer_for_it,
    null_is_no_clean_bill,
];

const BAD: &str = "//- a.py\nx = ERR\n";

fn b10_a_pull_whose_text_moved_on_is_retried() {
    for code in [-32801, -32802, -32800] {
        let ws = Workspace::new(BAD);
        let fail = || vec![Act::Fail(code, "moved on".into())];
        let script = Script::new().pull().each("textDocument/diagnostic", [fail(), fail(), vec![Act::Default]]);
        let lp = Langport::with(&ws, script);
        let begun = Instant::now();
        lp.diagnostics("a.py").says("fresh · fake · 1 error");
        assert_eq!(lp.log().count("textDocument/diagnostic"), 3, "{code}");
        assert!(begun.elapsed() < BUSY, "{:?}", begun.elapsed());
    }
    let ws = Workspace::new(BAD);
    let script = Script::new().pull().on("textDocument/diagnostic", [Act::Fail(-32801, "moved on".into())]);
    let lp = Langport::with(&ws, script);
    lp.diagnostics("a.py").fails("failed").lacks("no problems");
    assert_eq!(lp.log().count("textDocument/diagnostic"), 5, "the first time, and after 0, 0.5, 1 and 2 s");
}

fn b11_what_was_told_once_is_not_told_again_until_it_comes_anew() {
    let ws = Workspace::new(BAD);
    let lp = Langport::with(&ws, Script::new().pull());
    let new = || lp.tool("diagnostics", &json!({"file_path": "a.py", "new_only": true}));
    lp.diagnostics("a.py").fine().contains("x = ERR");
    new().fine().contains("no new problems").lacks("x = ERR");
    ws.write("a.py", "x = 1\n");
    new().fine().contains("no new problems, 1 gone");
    ws.write("a.py", "x = ERR\n");
    new().fine().contains("1 new error").contains("x = ERR");
}

fn b11_an_edit_clears_what_was_said() {
    for script in [Script::new(), Script::new().pull()] {
        let ws = Workspace::new(BAD);
        let lp = Langport::with(&ws, script);
        for round in 0..3 {
            lp.diagnostics("a.py").says("fresh · fake · 1 error");
            ws.write("a.py", &format!("x = {round}\n"));
            lp.diagnostics("a.py").says("fresh · fake · no problems").lacks("ERR");
            ws.write("a.py", "x = ERR\n");
        }
    }
}

fn d1_11_told_on_two_channels_and_listed_once() {
    let ws = Workspace::new("//- a.py\nx = ERR\ny = ERR\n");
    let script = Script::new().pull().publish(Publish::default());
    // Pulled only once the pushed list is there.
    let lp = Langport::with(&ws, script.on("textDocument/diagnostic", [Act::Sleep(200), Act::Default]));
    for _ in 0..2 {
        lp.diagnostics("a.py").says("fresh · fake · 2 errors");
    }
}

fn registration(id: &str, identifier: &str) -> Value {
    let options = json!({"identifier": identifier, "interFileDependencies": true, "workspaceDiagnostics": false});
    json!({"id": id, "method": "textDocument/diagnostic", "registerOptions": options})
}

/// It says that it can be pulled when langport already waits for a list that never comes.
fn d1_14_a_source_registered_while_a_list_is_awaited() {
    let ws = Workspace::new("//- a.py\nERR late\n");
    let ask = Ask::new(5, "client/registerCapability", json!({"registrations": [registration("p", "late")]}));
    let script = Script { pull_registered: true, ..Script::new().publish(Publish::never()) };
    let lp = Langport::with(&ws, script.on("textDocument/didOpen", [Act::Sleep(700), ask.into()]));
    let begun = Instant::now();
    lp.diagnostics("a.py").says("fresh · fake · 1 error").contains("ERR late");
    assert!(begun.elapsed() < BUSY, "{:?}", begun.elapsed());
    assert_eq!(lp.log().of("textDocument/diagnostic")[0]["identifier"], "late");
}

fn d1_14_a_source_that_is_taken_back() {
    let ws = Workspace::new("//- a.py\nERR both\n");
    let both = json!({"registrations": [registration("p", "both")]});
    let gone = json!({"unregisterations": [{"id": "p", "method": "textDocument/diagnostic"}]});
    let script = Script { pull_registered: true, ..Script::new() };
    let script = script
        .on("initialized", [Ask::new(5, "client/registerCapability", both).block().into()])
        .on("textDocument/hover", [Ask::new(6, "client/unregisterCapability", gone).block().into(), Act::Default]);
    let lp = Langport::with(&ws, script);
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    assert_eq!(lp.log().count("textDocument/diagnostic"), 1);
    lp.hover(&json!({"file_path": "a.py", "line": 1, "column": 1})).fine();
    ws.write("a.py", "ERR both\nERR more\n");
    lp.diagnostics("a.py").says("fresh · fake · 2 errors");
    assert_eq!(lp.log().count("textDocument/diagnostic"), 1, "pushed lists are heeded again");
}

fn d1_15_several_sources_are_asked_at_once() {
    let ws = Workspace::new("//- a.py\nERR one\nERR two\nERR three\nERR four\n");
    let ids = ["one", "two", "three", "four"];
    let all: Vec<Value> = ids.iter().map(|id| registration(id, id)).collect();
    let ask = Ask::new(5, "client/registerCapability", json!({"registrations": all})).block();
    let script = Script { pull_registered: true, ..Script::new().publish(Publish::never()) };
    let script = script.on("initialized", [ask.into()]);
    let lp = Langport::with(&ws, script.on("textDocument/diagnostic", [Act::Await(ws.gate("all")), Act::Default]));
    let call = lp.call("lsp_diagnostics", &json!({"file_path": "a.py"}));
    // None is answered before all are asked.
    assert_eq!(lp.log().wait("textDocument/diagnostic", 4).len(), 4);
    ws.open("all");
    crate::support::Answer::of(&lp.answer(call)).says("fresh · fake · 4 errors");
}

fn d1_16_an_empty_list_first() {
    use crate::fake::script::Step;
    let ws = Workspace::new(BAD);
    let steps = [Step::Empty, Step::Sleep(300), Step::Full];
    let lp = Langport::with(&ws, Script::new().publish(Publish::steps(steps)));
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
}

fn a_wish_to_be_pulled_anew_is_heeded() {
    let ws = Workspace::new(BAD);
    let early = vec![
        Ask::new(9, "workspace/diagnostic/refresh", Value::Null).block().into(),
        Act::Reply(json!({"kind": "full", "items": []})),
    ];
    let lp = Langport::with(&ws, Script::new().pull().each("textDocument/diagnostic", [early, vec![Act::Default]]));
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    assert_eq!(lp.log().count("textDocument/diagnostic"), 2);
}

fn a_report_of_another_file_is_no_answer_for_it() {
    let ws = Workspace::new("//- a.py\nx\n//- b.py\ny = ERR\n");
    let related = json!({ws.uri("b.py"): {"kind": "full", "items": []}});
    let first = vec![Act::Reply(json!({"kind": "full", "items": [], "relatedDocuments": related}))];
    let lp = Langport::with(&ws, Script::new().pull().each("textDocument/diagnostic", [first, vec![Act::Default]]));
    lp.diagnostics("a.py").says("fresh · fake · no problems");
    lp.diagnostics("b.py").says("fresh · fake · 1 error");
}

fn null_is_no_clean_bill() {
    let ws = Workspace::new(BAD);
    let lp = Langport::with(&ws, Script::new().pull().on("textDocument/diagnostic", [Act::Reply(Value::Null)]));
    lp.diagnostics("a.py").fine().verdict_is("unanswered").lacks("no problems");
    lp.tool("diagnostics", &json!({"scope": "workspace"})).fine().verdict_is("unanswered").lacks("no problems");
}
