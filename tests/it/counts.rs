//! However much servers tell of, the counts by severity are exact, and the errors are what is kept of it.

use serde_json::json;

use crate::{
    fake::script::{Act, Publish, Script},
    marks::mark,
    support::{Answer, Definition, Langport, Workspace, procs},
};

trials![
    out_02_d2_6_a_pushed_flood_is_counted_exactly,
    out_02_a_pulled_flood_is_counted_exactly,
    out_02_what_is_pulled_and_pushed_is_counted_once,
    out_02_floods_of_two_servers_add_up,
    out_02_a_workspace_of_floods_is_counted_exactly,
    out_02_what_is_too_much_to_compare_is_said,
    out_02_x30_structured_counts_are_the_same,
    x30_d2_3_files_and_severities_come_in_their_order,
];

const FLOOD: Act = Act::Flood { errors: 300, hints: 5_000, bytes: 2_000 };

fn ws() -> Workspace {
    // One line as wide as there are problems.
    Workspace::new(&format!("//- a.py\n{}\n", "x".repeat(5_400)))
}

fn pushing() -> Script {
    Script::new().publish(Publish::never()).on("textDocument/didOpen", [FLOOD])
}

fn pulling() -> Script {
    Script::new().pull().on("textDocument/diagnostic", [FLOOD])
}

/// All counts are there, the errors are listed, and the hints are counted where they are asked for.
fn check(lp: &Langport, servers: &str, errors: &str, hints: &str) {
    let answer = lp.diagnostics("a.py");
    answer.says(&format!("fresh · {servers} · {errors} errors ({hints} hints not listed)"));
    assert!(answer.text.chars().count() <= 8_000 && answer.places().len() <= 50, "{answer}");
    answer.contains(&format!("of {errors} shown; more: cursor ")).contains("; narrow it with severity");
    let hinted = lp.tool("diagnostics", &json!({"file_path": "a.py", "severity": "hint"}));
    assert!(
        hinted.first().starts_with(&format!("fresh · {servers} · {errors} errors, {hints} hints; too many to keep: ")),
        "{hinted}"
    );
    let kept = hinted.first().rsplit("too many to keep: ").next().unwrap_or_default();
    assert!(kept.ends_with(" hints") && !kept.contains("error"), "no error goes before a hint: {hinted}");
    assert!(hinted.body().contains("error: "), "errors first: {hinted}");
}

/// With time enough for a busy machine.
fn start(ws: &Workspace, servers: impl IntoIterator<Item = Definition>) -> Langport {
    let mut builder = Langport::builder(ws).config("request_timeout_ms = 100000").max_wait(100_000);
    for server in servers {
        builder = builder.server(server);
    }
    builder.start()
}

fn fake(script: Script) -> [Definition; 1] {
    [Definition::new("fake", script)]
}

fn out_02_d2_6_a_pushed_flood_is_counted_exactly() {
    let ws = ws();
    check(&start(&ws, fake(pushing())), "fake", "300", "5,000");
}

fn out_02_a_pulled_flood_is_counted_exactly() {
    let ws = ws();
    check(&start(&ws, fake(pulling())), "fake", "300", "5,000");
}

fn out_02_what_is_pulled_and_pushed_is_counted_once() {
    let ws = ws();
    let both = pulling().on("textDocument/didOpen", [FLOOD]);
    check(&start(&ws, fake(both)), "fake", "300", "5,000");
}

fn out_02_floods_of_two_servers_add_up() {
    let ws = ws();
    let linter = Definition::new("linter", pushing()).key("role = \"linter\"");
    let lp = start(&ws, [Definition::new("fake", pulling()), linter]);
    check(&lp, "fake, linter", "600", "10,000");
}

fn out_02_a_workspace_of_floods_is_counted_exactly() {
    const FILES: usize = 24;
    let files: String = (0..FILES).map(|n| format!("//- m{n:02}.py\n{}\n", "x".repeat(600))).collect();
    let ws = Workspace::new(&files);
    let flood = Act::Flood { errors: 10, hints: 300, bytes: 2_000 };
    let script = Script::new().pull().on("textDocument/diagnostic", [flood]);
    let lp = start(&ws, fake(script));
    lp.hover(&json!({"file_path": "m00.py", "line": 1, "column": 1})).fine();
    let before = procs::peak_kib(lp.pid());
    let all = |severity: &str| lp.tool("diagnostics", &json!({"scope": "workspace", "severity": severity}));
    let answer = all("error");
    answer.says("fresh · fake · 240 errors in 24 of 24 files (7,200 hints not listed)");
    assert!(answer.text.chars().count() <= 8_000, "{answer}");
    let hints = all("hint");
    assert!(
        hints.first().starts_with("fresh · fake · 240 errors, 7,200 hints in 24 of 24 files; too many to keep: "),
        "{hints}"
    );
    hints.contains("not all are listed, ask with file_path for the rest");
    let grown = procs::peak_kib(lp.pid()) - before;
    eprintln!("langport has grown by {grown} KiB");
    assert!(grown <= 96 * 1024, "langport has grown by {grown} KiB");
}

fn out_02_what_is_too_much_to_compare_is_said() {
    let ws = ws();
    let flood = |errors| vec![Act::Flood { errors, hints: 0, bytes: 2_000 }];
    let script = Script::new().pull().each("textDocument/diagnostic", [flood(3_000), flood(3_001)]);
    let lp = start(&ws, fake(script));
    let before = lp.diagnostics("a.py");
    assert!(before.first().starts_with("fresh · fake · 3,000 errors; too many to keep: "), "{before}");
    let mark = mark(&before);
    ws.write("a.py", &format!("{}\n", "y".repeat(5_400)));
    let new = lp.tool("diagnostics", &json!({"file_path": "a.py", "new_only": true, "since": mark}));
    new.fine().contains("not compared, too many to keep: ").lacks("no new problems,").lacks("no new problems (");
}

fn out_02_x30_structured_counts_are_the_same() {
    let ws = ws();
    let lp = Langport::builder(&ws).server(Definition::new("fake", pushing())).config("output = \"both\"").start();
    let answer = lp.diagnostics("a.py");
    let structured = &answer.raw["structuredContent"];
    assert_eq!(structured["counts"], json!({"error": 300, "warning": 0, "info": 0, "hint": 5_000}), "{structured}");
    assert_eq!(structured["summary"], "300 errors (5,000 hints not listed)");
    assert_eq!(structured["total"], 300);
    let hover = lp.hover(&json!({"file_path": "a.py", "line": 1, "column": 1}));
    assert!(hover.raw["structuredContent"].get("counts").is_none());
}

fn x30_d2_3_files_and_severities_come_in_their_order() {
    let warns = "WARN w\n".repeat(60);
    let text = format!("//- b.py\n{warns}ERR late\n//- a.py\nHINT h\nWARN one\nERR two\n//- c.py\nfine\n");
    let ws = Workspace::new(&text);
    let lp = Langport::with(&ws, Script::new().pull());
    let ask = |arguments| lp.tool("diagnostics", &arguments);
    let answer = ask(json!({"scope": "workspace"}));
    answer.says("fresh · fake · 2 errors, 61 warnings in 2 of 3 files (1 hint not listed)");
    // By severity, then by file and place; no file takes more than its share.
    let places = answer.places();
    assert_eq!(places[..3], [("a.py".into(), 3, 1), ("b.py".into(), 61, 1), ("a.py".into(), 2, 1)], "{answer}");
    answer.contains("b.py (50 of 61)");
    let (mut all, mut cursor) = (Answer::places(&answer), answer.cursor());
    while let Some(token) = cursor {
        let page = ask(json!({"scope": "workspace", "cursor": token}));
        all.extend(page.places());
        cursor = page.cursor();
    }
    assert_eq!(all.iter().filter(|(file, ..)| file == "b.py").count(), 50);
    assert!(all.len() == 52 && all[2..].is_sorted_by_key(|(file, line, _)| (file.clone(), *line)), "{all:?}");
    assert_eq!(ask(json!({"scope": "workspace"})).places(), places, "the same order each time");
    let errors = ask(json!({"scope": "workspace", "severity": "error"}));
    errors.contains("2 errors in 2 of 3 files (61 warnings, 1 hint not listed)");
    // What was edited comes first.
    ws.write("c.py", "WARN edited\n");
    let changed = ask(json!({"scope": "changed"}));
    assert_eq!(changed.places().first(), Some(&("c.py".to_owned(), 1, 1)), "{changed}");
}
