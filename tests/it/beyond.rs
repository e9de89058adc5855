//! Answers with more than langport keeps: what was asked for is kept whatever its place, and what was left out is said.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Definition, Langport, Workspace},
};

trials![
    b3_a_symbol_beyond_all_that_is_kept_is_found_by_its_name,
    b3_what_could_not_be_placed_is_not_called_missing,
    b3_an_outline_shows_what_it_is_asked_for_whatever_its_place,
    b3_a_search_of_the_project_keeps_what_is_called_so,
    b3_the_active_one_of_very_many_signatures,
    b3_the_best_of_very_many_completions,
    b3_references_in_the_asked_file_are_kept,
    b3_definitions_that_are_cut_off_are_counted,
    b3_actions_of_the_asked_kind_and_title_are_kept,
];

const RANGE: &str = r#"{"start":{"line":0,"character":0},"end":{"line":0,"character":5}}"#;

/// An answer whose list has one piece very often, and then these.
fn answer(head: &str, piece: &str, times: usize, last: &[String], tail: &str) -> Act {
    Act::Pieces {
        head: format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{head}["#),
        piece: format!("{piece},"),
        times,
        tail: format!("{}]{tail}}}", last.join(",")),
    }
}

fn symbol(name: &str, children: &str) -> String {
    format!(r#"{{"name":"{name}","kind":5,"range":{RANGE},"selectionRange":{RANGE},"children":[{children}]}}"#)
}

/// More than is kept of symbols.
const MANY: usize = 51_000;

fn outline(last: &[String]) -> Script {
    let same = format!(r#"{{"name":"same","range":{RANGE}}}"#);
    Script::new().on("textDocument/documentSymbol", [answer("", &same, MANY, last, "")])
}

/// What is large takes its time on a machine that is busy with other tests.
fn patient(ws: &Workspace, script: Script) -> Langport {
    let builder = Langport::builder(ws).server(Definition::new("fake", script));
    builder.config("request_timeout_ms = 200000").max_wait(200_000).start()
}

fn named(symbol: &str) -> Value {
    json!({"file_path": "a.py", "symbol": symbol})
}

fn b3_a_symbol_beyond_all_that_is_kept_is_found_by_its_name() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let cart = symbol("Cart", &[symbol("sum", ""), symbol("add(int)", "")].join(","));
    let lp = patient(&ws, outline(&[cart, symbol("Basket", &symbol("add", ""))]));
    for path in ["Cart/add", "Basket.add"] {
        lp.hover(&named(path)).verdict_is("fresh").contains("WORD alpha").lacks("could be read");
    }
    // Every name was looked at: that there is no other one is known.
    lp.hover(&named("Shop/add")).fails("not_found").contains("has no symbol of that name");
}

fn b3_what_could_not_be_placed_is_not_called_missing() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lost = r#"{"name":"lost","kind":5}"#.to_owned();
    let lp = patient(&ws, outline(&[lost]));
    let answer = lp.hover(&named("lost"));
    answer.fails("failed").contains("50000 of the 51001 symbols of a.py could be read").contains("partial");
    lp.hover(&named("other")).fails("not_found");
}

fn b3_an_outline_shows_what_it_is_asked_for_whatever_its_place() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = patient(&ws, outline(&[symbol("Cart", &symbol("recount", ""))]));
    let ask = |query: &str| lp.tool("symbols", &json!({"file_path": "a.py", "query": query}));
    ask("COUNT").verdict_is("fresh").contains("1 of 51,002 symbols").contains("recount");
    ask("nobody").verdict_is("fresh").contains("none of 51,002 symbols fits the query");
    drop(lp);
    // Of one class with very many members the class beside it is not lost.
    let members = vec![format!(r#"{{"name":"m","range":{RANGE}}}"#); MANY].join(",");
    let classes = json!(
        serde_json::from_str::<Value>(&format!("[{},{}]", symbol("Large", &members), symbol("Small", ""))).unwrap()
    );
    let lp = patient(&ws, Script::new().on("textDocument/documentSymbol", [Act::Reply(classes)]));
    let shown = lp.tool("symbols", &json!({"file_path": "a.py", "depth": 1}));
    shown.verdict_is("partial").contains("Large").contains("Small");
}

fn b3_a_search_of_the_project_keeps_what_is_called_so() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let hit = |name: &str| {
        format!(r#"{{"name":"{name}","kind":5,"location":{{"uri":"{}","range":{RANGE}}}}}"#, ws.uri("a.py"))
    };
    let list = answer("", &hit("realpha"), MANY, &[hit("alpha")], "");
    let lp = patient(&ws, Script::new().on("workspace/symbol", [list]));
    lp.hover(&json!({"symbol": "alpha"})).fine().contains("WORD alpha");
    let found = lp.tool("workspace_symbols", &json!({"query": "alpha"}));
    found.verdict_is("partial").contains("more were cut off");
    let first = found.body().lines().find(|line| line.contains("alpha")).unwrap_or_default().to_owned();
    assert!(first.contains("alpha") && !first.contains("realpha"), "{found}");
}

fn b3_the_active_one_of_very_many_signatures() {
    let ws = Workspace::new("//- a.py\nalpha(beta)\n");
    let last = r#"{"label":"last(x, y)","parameters":[{"label":"x"},{"label":"y"}]}"#.to_owned();
    let list = answer(
        r#"{"signatures":"#,
        r#"{"label":"first()"}"#,
        MANY,
        &[last],
        r#","activeSignature":51000,"activeParameter":1}"#,
    );
    let lp = patient(&ws, Script::new().on("textDocument/signatureHelp", [list]));
    let at = json!({"file_path": "a.py", "line": 1, "column": 7});
    let shown = lp.tool("signature", &at);
    shown.verdict_is("partial").contains("the server sent 51001; the rest is cut off");
    let body = shown.body();
    let first = body.lines().find(|line| line.starts_with("  ")).unwrap_or_default();
    assert_eq!(first, "  > last(x, «y»)", "{shown}");
    // The others are on the pages behind.
    let mut next = at.clone();
    next["cursor"] = json!(shown.cursor().expect("more pages"));
    lp.tool("signature", &next).contains("first()").lacks("last(");
}

fn b3_the_best_of_very_many_completions() {
    let ws = Workspace::new("//- a.py\nal\n");
    let item = |label: &str, sort: &str| format!(r#"{{"label":"{label}","sortText":"{sort}"}}"#);
    let at = json!({"file_path": "a.py", "line": 1, "column": 3});
    let complete = |piece: &str| {
        let list = answer("", &item(piece, "5"), MANY, &[item("alpha", "1"), item("also", "9")], "");
        let lp = patient(&ws, Script::new().on("textDocument/completion", [list]));
        lp.tool("completions", &at)
    };
    // Whatever does not fit what is typed takes no place.
    complete("zulu").verdict_is("fresh").contains("2 completions").contains("alpha").contains("also");
    let many = complete("album");
    many.verdict_is("partial").contains("50,000 completions of 51002 that fit");
    let first = many.body().lines().next().unwrap_or_default().to_owned();
    assert!(
        many.body().lines().any(|line| line.contains("alpha")),
        "the best one is on the first page: {first}\n{many}"
    );
}

fn b3_references_in_the_asked_file_are_kept() {
    let ws = Workspace::new("//- a.py\nalpha\nalpha\n//- b.py\nalpha\n");
    let place = |file: &str, line: usize| {
        let uri = ws.uri(file);
        format!(
            r#"{{"uri":"{uri}","range":{{"start":{{"line":{line},"character":0}},"end":{{"line":{line},"character":5}}}}}}"#
        )
    };
    let list = answer("", &place("b.py", 0), 100_500, &[place("a.py", 1)], "");
    let lp = patient(&ws, Script::new().on("textDocument/references", [list]));
    let found = lp.tool("references", &json!({"file_path": "a.py", "line": 1, "column": 1}));
    found.contains("2 references in 2 files").contains("the server sent 100501");
    assert_eq!(found.places()[0], ("a.py".to_owned(), 2, 1), "{found}");
}

fn b3_definitions_that_are_cut_off_are_counted() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.py\nalpha\n");
    let place = |file: &str| format!(r#"{{"uri":"{}","range":{RANGE}}}"#, ws.uri(file));
    let list = answer("", &place("b.py"), 100_500, &[place("a.py")], "");
    let lp = patient(&ws, Script::new().on("textDocument/definition", [list]));
    let found = lp.tool("definition", &json!({"file_path": "a.py", "line": 1, "column": 1}));
    found.contains("the server sent 100501; the rest is cut off");
    assert_eq!(found.places()[0].0, "a.py", "{found}");
}

fn b3_actions_of_the_asked_kind_and_title_are_kept() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let action = |title: &str, kind: &str| {
        let edit = format!(r#"{{"changes":{{"{}":[{{"range":{RANGE},"newText":"{title}"}}]}}}}"#, ws.uri("a.py"));
        format!(r#"{{"title":"{title}","kind":"{kind}","edit":{edit}}}"#)
    };
    let last = [action("mend", "quickfix"), action("asked", "refactor")];
    let list = answer("", &action("tidy", "refactor"), 3_000, &last, "");
    let lp = patient(&ws, Script::new().on("textDocument/codeAction", [list]));
    let ask = |more: Value| {
        let mut arguments = json!({"file_path": "a.py"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        lp.tool("code_actions", &arguments)
    };
    let mended = ask(json!({"only": "quickfix"}));
    mended.verdict_is("fresh").contains("1 action;").contains("mend");
    ask(json!({"action": "asked"})).contains("+asked").plan();
    ask(json!({"action": "mend", "only": "quickfix"})).contains("+mend").plan();
    ask(json!({})).verdict_is("partial").contains("2,002 more were cut off");
    // Which of those that look alike is meant stays the same.
    let listed = ask(json!({}));
    let id = listed.body().lines().find_map(|line| line.trim().split("  ").next().map(str::to_owned)).unwrap();
    lp.tool("code_actions", &json!({"action": id})).contains("+tidy").plan();
}
