//! Pushed lists of problems that cannot be kept: the answer says so, and what was told before is not taken for current.

use crate::{
    fake::script::{Act, Publish, Script},
    support::{Definition, Langport, Workspace, eventually},
};

trials![
    d2_3_a_pushed_list_that_is_too_large_is_named,
    d2_3_a_list_of_another_shape_is_named,
    d2_3_what_is_pulled_beside_a_list_that_is_too_large_is_partial,
    d2_3_one_of_two_pushes_a_list_that_is_too_large,
];

/// Pushes a list of so many MiB for this version of `a.py`.
fn large(ws: &Workspace, version: u32, mib: usize) -> Act {
    let range = r#"{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}"#;
    let one = format!(r#"{{"range":{range},"severity":1,"message":"{}"}}"#, "x".repeat(60_000));
    let method = "textDocument/publishDiagnostics";
    let head = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"diagnostics":["#);
    let tail = format!(r#"{one}],"uri":"{}","version":{version}}}}}"#, ws.uri("a.py"));
    let piece = format!("{one},");
    Act::Pieces { head, times: (mib << 20) / piece.len(), piece, tail }
}

/// Publishes nothing by itself.
fn pushing(on_open: Act, on_change: [Act; 2]) -> Script {
    let script = Script::watching("**/*").publish(Publish::never()).on("textDocument/didOpen", [on_open]);
    script.each("textDocument/didChange", on_change.map(|act| vec![act]))
}

fn start(ws: &Workspace, servers: impl IntoIterator<Item = Definition>) -> Langport {
    let patient = "barrier_ms = 20000\nrequest_timeout_ms = 100000";
    let mut builder = Langport::builder(ws).config(patient).max_wait(100_000);
    for server in servers {
        builder = builder.server(server);
    }
    let mut lp = builder.start();
    lp.tolerate();
    lp
}

fn d2_3_a_pushed_list_that_is_too_large_is_named() {
    for mib in [21, 44] {
        let ws = Workspace::new("//- a.py\nERR a\n");
        let lp = start(&ws, [Definition::new("fake", pushing(Act::Publish, [large(&ws, 2, mib), Act::Publish]))]);
        lp.diagnostics("a.py").says("fresh · fake · 1 error");
        ws.write("a.py", "ERR b\n");
        // What it said before is not what it says now, however long the list takes, and however often it is asked.
        eventually("the list has come", || {
            let answer = lp.diagnostics("a.py");
            assert_ne!(answer.verdict(), "fresh", "{answer}");
            answer.is_error.then_some(())
        });
        for _ in 0..2 {
            let answer = lp.diagnostics("a.py");
            answer.fails("failed").contains("fake: its list of problems of a.py has").contains("more than the 20 MiB");
            answer.lacks("ERR a").lacks("fresh");
        }
        // The next text is told of as ever.
        ws.write("a.py", "ERR c\n");
        lp.diagnostics("a.py").says("fresh · fake · 1 error").contains("ERR c");
    }
}

fn d2_3_a_list_of_another_shape_is_named() {
    let ws = Workspace::new("//- a.py\nERR a\n");
    let bad = serde_json::json!({"uri": ws.uri("a.py"), "version": 1, "diagnostics": 7});
    let bad = Act::Tell("textDocument/publishDiagnostics".into(), bad);
    let lp = start(&ws, [Definition::new("fake", pushing(bad, [Act::Publish, Act::Publish]))]);
    lp.diagnostics("a.py").fails("failed").contains("fake: its list of problems of a.py has the wrong shape");
    ws.write("a.py", "ERR b\n");
    lp.diagnostics("a.py").says("fresh · fake · 1 error").contains("ERR b");
}

fn d2_3_what_is_pulled_beside_a_list_that_is_too_large_is_partial() {
    let ws = Workspace::new("//- a.py\nERR a\n");
    let script = pushing(large(&ws, 1, 21), [Act::Publish, Act::Publish]).pull();
    let lp = start(&ws, [Definition::new("fake", script)]);
    let answer = lp.diagnostics("a.py");
    answer.fine().verdict_is("partial").contains("1 error").contains("what it pushed of a.py has");
    answer.contains("more than the 20 MiB").contains("ERR a");
    ws.write("a.py", "ERR b\n");
    lp.diagnostics("a.py").says("fresh · fake · 1 error").contains("ERR b");
}

fn d2_3_one_of_two_pushes_a_list_that_is_too_large() {
    let ws = Workspace::new("//- a.py\nERR a\n//- b.py\nfine\n");
    let linter = pushing(large(&ws, 1, 21), [Act::Publish, Act::Publish]);
    let linter = Definition::new("linter", linter).key("role = \"linter\"");
    let lp = start(&ws, [Definition::new("fake", Script::new().pull()), linter]);
    let answer = lp.diagnostics("a.py");
    answer.fine().verdict_is("partial").contains("1 error").contains("fake fresh");
    answer.contains("linter: its list of problems of a.py has").contains("more than the 20 MiB");
}
