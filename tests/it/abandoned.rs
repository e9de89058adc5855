//! Commands of a server that nobody waits for any more: they are over when the server says so, and what they want to
//! change is nobody's, least of all the next one's.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Ask, Script},
    support::{Answer, Definition, Langport, Workspace, within},
};

trials![
    e12_the_edit_of_a_cancelled_command_is_not_the_next_ones,
    e12_the_edit_of_a_command_that_took_too_long_is_not_the_next_ones,
];

/// How the caller of the first command goes.
#[derive(Clone, Copy)]
enum Goes {
    Cancels,
    RunsOutOfTime,
}

fn edit(id: &str, text: &str) -> Act {
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}});
    let edit = json!({"edit": {"changes": {"$root/a.py": [{"range": range, "newText": text}]}}});
    Ask::new(id, "workspace/applyEdit", edit).into()
}

fn abandoned(goes: Goes) {
    let ws = Workspace::new("//- a.py\nfirst = 1\n");
    let (one, two) = (ws.gate("one"), ws.gate("two"));
    let done = || Act::Reply(Value::Null);
    let runs = vec![
        vec![Act::Await(one), edit("ask-one", "ONE"), done()],
        vec![Act::Await(two), edit("ask-two", "TWO"), done()],
    ];
    let script = Script::new()
        .capability("executeCommandProvider", json!({"commands": ["fake.fix"]}))
        .on("textDocument/codeAction", [Act::Reply(json!([{"title": "by command", "command": "fake.fix"}]))])
        .each("workspace/executeCommand", runs);
    let builder = Langport::builder(&ws).server(Definition::new("fake", script)).max_wait(60_000);
    let lp = match goes {
        Goes::Cancels => builder.start(),
        Goes::RunsOutOfTime => builder.config("request_timeout_ms = 6000").start(),
    };
    let act = json!({"file_path": "a.py", "action": "by command"});
    let first = lp.call("lsp_code_actions", &act);
    lp.log().wait("workspace/executeCommand", 1);
    match goes {
        Goes::Cancels => lp.cancel(first),
        Goes::RunsOutOfTime => {
            let answer = Answer::of(&lp.answer(first));
            assert!(answer.is_error, "{answer}");
        }
    }
    lp.log().wait("$/cancelRequest", 1);
    let second = lp.call("lsp_code_actions", &act);
    // What would come too early comes at once.
    let early = within(Duration::from_millis(500), || (lp.log().count("workspace/executeCommand") > 1).then_some(()));
    assert!(early.is_none(), "the second command runs beside the first one");
    ws.open("one");
    lp.log().wait("workspace/executeCommand", 2);
    assert_eq!(lp.log().answer_to(&json!("ask-one"))["result"]["applied"], false);
    ws.open("two");
    let planned = Answer::of(&lp.answer(second));
    planned.contains("+TWO").lacks("ONE");
    assert_eq!(ws.read("a.py"), "first = 1\n");
}

fn e12_the_edit_of_a_cancelled_command_is_not_the_next_ones() {
    abandoned(Goes::Cancels);
}

fn e12_the_edit_of_a_command_that_took_too_long_is_not_the_next_ones() {
    abandoned(Goes::RunsOutOfTime);
}
