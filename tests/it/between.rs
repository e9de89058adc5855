//! What a server says between two things that belong together: a list from between two changes, a word just before an
//! answer.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Publish, Script},
    support::{Answer, Definition, Langport, Workspace},
};

trials![
    dia_01_what_is_pushed_between_two_changes_is_no_part_of_what_was_pulled,
    dia_01_what_is_pushed_of_a_file_that_is_not_pulled_counts,
    dia_01_more_than_was_pulled_may_be_replaced,
    dia_01_more_than_was_pulled_counts_once_it_is_quiet,
    dia_01_more_than_was_pulled_that_is_not_quiet_in_time,
    dia_01_what_was_told_before_an_answer_is_known_by_then,
    dia_01_a_list_that_the_server_works_on_is_not_its_last,
];

const CLEAN: &str = "//- a.py\nx = 1\n";

/// Publishes the first text of the asked file.
fn publish(messages: &[&str]) -> Act {
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
    let list: Vec<Value> = messages.iter().map(|m| json!({"range": range, "severity": 1, "message": m})).collect();
    Act::Tell("textDocument/publishDiagnostics".into(), json!({"uri": "$uri", "version": 1, "diagnostics": list}))
}

fn clean() -> Act {
    Act::Reply(json!({"kind": "full", "items": []}))
}

fn pulled(acts: impl Into<Vec<Act>>) -> Script {
    Script::new().pull().on("textDocument/diagnostic", acts)
}

fn dia_01_what_is_pushed_between_two_changes_is_no_part_of_what_was_pulled() {
    let ws = Workspace::new(CLEAN);
    let script = pulled([publish(&["undefined: x"]), clean()]);
    for key in ["pull_complete = true", "mode = \"pull\""] {
        let definition = Definition::new("fake", script.clone()).table(&format!("[diagnostics]\n{key}"));
        let lp = Langport::builder(&ws).server(definition).start();
        for _ in 0..3 {
            lp.diagnostics("a.py").says("fresh · fake · no problems");
        }
    }
}

fn dia_01_what_is_pushed_of_a_file_that_is_not_pulled_counts() {
    let ws = Workspace::new("//- a.py\nx = 1\n//- b.rs\ny = ERR\n");
    let script = pulled([publish(&["undefined: x"]), clean()]).publish(Publish::default());
    let table = "[diagnostics]\npull_complete = true\npull_languages = [\"python\"]";
    let definition = Definition::new("fake", script).languages(&["python", "rust"]).table(table);
    let lp = Langport::builder(&ws).server(definition).start();
    lp.diagnostics("b.rs").says("fresh · fake · 1 error");
    assert_eq!(lp.log().count("textDocument/diagnostic"), 0);
}

fn dia_01_more_than_was_pulled_may_be_replaced() {
    let ws = Workspace::new(CLEAN);
    let script = pulled([publish(&["undefined: x"]), clean(), Act::Await(ws.gate("later")), publish(&[])]);
    let definition = Definition::new("fake", script).table("[diagnostics]\nsettle_ms = 20000");
    let lp = Langport::builder(&ws).server(definition).start();
    let call = lp.call("lsp_diagnostics", &json!({"file_path": "a.py"}));
    lp.log().wait("textDocument/diagnostic", 1);
    ws.open("later");
    Answer::of(&lp.answer(call)).says("fresh · fake · no problems");
}

fn dia_01_more_than_was_pulled_counts_once_it_is_quiet() {
    let ws = Workspace::new(CLEAN);
    let lp = Langport::with(&ws, pulled([publish(&["checked on save"]), clean()]));
    lp.diagnostics("a.py").says("fresh · fake · 1 error").contains("checked on save");
}

fn dia_01_more_than_was_pulled_that_is_not_quiet_in_time() {
    let ws = Workspace::new(CLEAN);
    let script = pulled([publish(&["undefined: x"]), clean()]);
    let definition = Definition::new("fake", script).table("[diagnostics]\nsettle_ms = 20000");
    let lp = Langport::builder(&ws).server(definition).max_wait(6_000).start();
    lp.diagnostics("a.py").fine().verdict_is("settling").contains("undefined: x");
}

/// It begins to load the project anew, among much else that it tells, and then answers that nothing is wrong.
fn dia_01_what_was_told_before_an_answer_is_known_by_then() {
    let ws = Workspace::new("//- a.py\nx = ERR\n");
    let status = |quiet: bool| Act::Tell("x/status".into(), json!({"quiet": quiet}));
    let noise = Act::Tell("textDocument/publishDiagnostics".into(), json!({"uri": "$root/b.py", "diagnostics": []}));
    let mut first = vec![noise; 500];
    first.extend([status(false), clean(), status(true)]);
    let script = Script::new().pull().on("initialized", [status(true)]);
    let script = script.each("textDocument/diagnostic", [first, vec![Act::Default]]);
    let ready = "[ready]\nnotification = { method = \"x/status\", field = \"quiet\" }";
    let lp = Langport::builder(&ws).server(Definition::new("fake", script).table(ready)).start();
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    assert_eq!(lp.log().count("textDocument/diagnostic"), 2);
}

/// clangd publishes a short list, parses the includes, is idle for a moment between two threads, and publishes the whole.
fn dia_01_a_list_that_the_server_works_on_is_not_its_last() {
    let ws = Workspace::new(CLEAN);
    let state = |state: &str| Act::Tell("x/fileStatus".into(), json!({"uri": "$uri", "state": state}));
    let opened = [
        state("parsing"),
        publish(&[]),
        state("parsing"),
        Act::Sleep(700),
        state("idle"),
        Act::Sleep(700),
        publish(&["undefined: x"]),
        state("idle"),
    ];
    let script = Script::new().publish(Publish::never()).on("textDocument/didOpen", opened);
    let work = "work = { method = \"x/fileStatus\", field = \"state\", working = \"parsing\" }";
    let table = format!("[diagnostics]\nsettle_ms = 20\nempty_ms = 20\n{work}");
    let lp = Langport::builder(&ws).server(Definition::new("fake", script).table(&table)).start();
    lp.diagnostics("a.py").says("fresh · fake · 1 error").contains("undefined: x");
}
