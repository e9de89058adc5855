//! Entries of a list without the shape that they have to have are counted, and what lacks them is no fact; a formatter that
//! cannot parse a file has not found it well formatted.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Langport, Workspace},
};

trials![
    never_silently_wrong_an_entry_without_its_shape_is_told,
    never_silently_wrong_what_cannot_be_parsed_is_not_formatted,
];

fn at() -> Value {
    json!({"file_path": "a.py", "line": 1, "column": 1})
}

fn never_silently_wrong_an_entry_without_its_shape_is_told() {
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}});
    let place = json!({"uri": "$uri", "range": range});
    let bad = [json!(5), json!({}), json!({"uri": "$uri"}), json!({"uri": "$uri", "range": 5})];
    let of = |good: &Value| bad.iter().flat_map(|bad| [json!([good, bad]), json!([bad])]).collect::<Vec<_>>();
    let item = json!({"name": "beta", "kind": 12, "uri": "$uri", "range": range, "selectionRange": range});
    let action = json!({"title": "mend", "edit": {"changes": {"$uri": [{"range": range, "newText": "x"}]}}});
    let query = json!({"query": "beta"});
    for (method, tool, arguments, good) in [
        ("textDocument/references", "references", at(), &place),
        ("textDocument/definition", "definition", at(), &place),
        ("textDocument/documentSymbol", "symbols", json!({"file_path": "a.py"}), &item),
        ("textDocument/completion", "completions", at(), &json!({"label": "alpha"})),
        ("textDocument/codeAction", "code_actions", json!({"file_path": "a.py"}), &action),
        ("textDocument/prepareCallHierarchy", "calls", at(), &item),
        ("workspace/symbol", "workspace_symbols", query, &json!({"name": "beta", "kind": 12, "location": place})),
    ] {
        for list in of(good) {
            let ws = Workspace::new("//- a.py\nalpha beta\n");
            let script = Script::new().on(method, [Act::Reply(list.clone())]);
            let lp = Langport::with(&ws, script.on("callHierarchy/incomingCalls", [Act::Reply(json!([]))]));
            let answer = lp.tool(tool, &arguments);
            assert_eq!(answer.verdict(), "partial", "{method} with {list}: {answer}");
            answer.contains(" of its answer could not be used");
        }
    }
}

fn never_silently_wrong_what_cannot_be_parsed_is_not_formatted() {
    for silence in [json!(null), json!([])] {
        let ws = Workspace::new("//- a.py\nERR here\n//- b.py\nfine\n");
        let lp = Langport::with(&ws, Script::new().on("textDocument/formatting", [Act::Reply(silence)]));
        let format = |file: &str| lp.tool("format", &json!({"file_path": file}));
        let doubtful = format("a.py");
        doubtful.verdict_is("unconfirmed").contains("would change nothing").contains("fake sees 1 error there");
        format("b.py").says("fresh · fake · fake would change nothing in b.py");
    }
}
