//! File events that come when the server has the text already: they are no change elsewhere for that file, and one for
//! every other.

use std::process::Command;

use serde_json::json;

use crate::{
    fake::script::{Act, Publish, Script},
    support::{Definition, Langport, Workspace},
};

trials![an_event_of_a_text_that_was_told_is_nothing_new, dia_01_one_list_of_several_changes_is_asked_for_again,];

const TWO: &str = "//- a.py\nx = ERR\n//- b.py\ny = ERR\n";

fn an_event_of_a_text_that_was_told_is_nothing_new() {
    let ws = Workspace::new(TWO);
    let lp = Langport::with(&ws, Script::watching("**/*"));
    let touch = |file: &str| {
        let touched = Command::new("touch").arg(ws.path(file)).status().expect("touch");
        assert!(touched.success());
    };
    for file in ["b.py", "a.py"] {
        lp.diagnostics(file).says("fresh · fake · 1 error");
    }
    for events in 1..3 {
        touch("a.py");
        lp.diagnostics("a.py").says("fresh · fake · 1 error");
        lp.log().wait("workspace/didChangeWatchedFiles", events);
    }
    // Of another file nothing is proven: this server does not look again.
    touch("b.py");
    lp.diagnostics("a.py").verdict_is("unconfirmed").contains("1 error");
    touch("a.py");
    lp.diagnostics("a.py").verdict_is("unconfirmed").contains("1 error");
    assert_eq!(lp.log().count("textDocument/didChange"), 0);
    ws.write("a.py", "x = 1\n");
    lp.diagnostics("a.py").says("fresh · fake · no problems");
}

/// As pyrefly does: of an event, a text and a save it makes one list for each open file, or two. A save makes it speak.
fn dia_01_one_list_of_several_changes_is_asked_for_again() {
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
    let ws = Workspace::new(TWO);
    let of_b = |message: &str| {
        let list = json!([{"range": range, "severity": 1, "message": message}]);
        let uri = format!("file://{}", ws.path("b.py").display());
        Act::Tell("textDocument/publishDiagnostics".into(), json!({"uri": uri, "version": 2, "diagnostics": list}))
    };
    let script = Script::watching("**/*").publish(Publish::default()).each(
        "textDocument/didSave",
        [vec![Act::Default, of_b("made between")], vec![Act::Default, of_b("made after")]],
    );
    let definition = Definition::new("fake", script).table("[diagnostics]\nconfirm = \"save\"");
    let lp = Langport::builder(&ws).server(definition).start();
    for file in ["a.py", "b.py"] {
        lp.diagnostics(file).says("fresh · fake · 1 error");
    }
    ws.write("a.py", "x = 1\n");
    lp.diagnostics("a.py").says("fresh · fake · no problems");
    lp.diagnostics("b.py").says("fresh · fake · 1 error").contains("made after").lacks("made between");
    lp.log().wait("textDocument/didSave", 2);
}
