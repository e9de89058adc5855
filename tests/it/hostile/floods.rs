//! More of everything than anybody needs: what a server sends without end is bounded in memory and in time.

use serde_json::{Value, json};

use super::{PATIENT, at, honest, small};
use crate::fake::{
    script::{Act, Publish, Script},
    wire::frame,
};

trials![
    b3_lists_for_one_file_without_end,
    b3_lists_for_files_that_were_never_there,
    b3_progress_without_end,
    b3_registrations_and_questions_without_end,
    b3_questions_of_one_who_reads_no_answers,
    b3_answers_to_nobody_without_end,
    b3_stderr_without_a_line_end,
];

const HOVER: &str = "textDocument/hover";

fn told(method: &str, params: &Value) -> String {
    frame(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
}

fn asks(id: usize, method: &str, params: &Value) -> String {
    frame(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
}

fn problem(message: &str) -> Value {
    let place = json!({"line": 0, "character": 0});
    json!({"range": {"start": place, "end": place}, "severity": 1, "message": message})
}

/// Before a hover is answered this comes; the answer is right all the same.
fn flood(text: String) {
    small(Script::new().on(HOVER, [Act::Raw(text), Act::Default]), PATIENT, |lp| {
        lp.hover(&at()).verdict_in(&["fresh", "indexing"]).contains("WORD alpha");
        lp.tool("status", &json!({"server": "fake"})).fine();
        assert_eq!(lp.log_of("fake").starts(), 1);
    });
}

fn b3_lists_for_one_file_without_end() {
    // Of the file itself, under its current version, and never the same list twice.
    let lists: Vec<Act> = (0..3_000)
        .map(|i| {
            let params =
                json!({"uri": "$uri", "version": 1, "diagnostics": [problem(&format!("{i} {}", "m".repeat(2_000)))]});
            Act::Tell("textDocument/publishDiagnostics".into(), params)
        })
        .collect();
    let script = Script::new().publish(Publish::never()).on("textDocument/didOpen", lists);
    small(script, PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
        // The last one is the one that counts.
        lp.diagnostics("a.py")
            .verdict_in(&["fresh", "settling"])
            .contains("1 error")
            .contains("2999 m")
            .lacks("2998 m");
    });
}

fn b3_lists_for_files_that_were_never_there() {
    let lists = (0..10_000).map(|i| {
        let uri = format!("$root/never/{i}/there.py");
        Act::Tell(
            "textDocument/publishDiagnostics".into(),
            json!({"uri": uri, "diagnostics": [problem(&"n".repeat(900))]}),
        )
    });
    let acts: Vec<Act> = lists.chain([Act::Default]).collect();
    small(Script::new().on(HOVER, acts), PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
        let all = lp.tool("diagnostics", &json!({"scope": "workspace"}));
        all.lacks("there.py").lacks("nnnn");
        lp.diagnostics("never/7/there.py").fails("not_found");
    });
}

fn b3_progress_without_end() {
    let begun = |i: usize| {
        let value = json!({"kind": "begin", "title": format!("work {i}"), "message": "m".repeat(200)});
        told("$/progress", &json!({"token": format!("token {i}"), "value": value}))
    };
    flood((0..30_000).map(begun).collect());
    // Announced as well, and under one token.
    let announced = |i: usize| asks(i + 10_000, "window/workDoneProgress/create", &json!({"token": i}));
    let again = |_| told("$/progress", &json!({"token": "t", "value": {"kind": "begin", "title": "again"}}));
    flood((0..10_000).map(announced).chain((0..10_000).map(again)).collect());
}

fn b3_registrations_and_questions_without_end() {
    let register = |i: usize| {
        let registration = json!({"id": format!("r{i}"), "method": format!("x/{i}"), "registerOptions": {"documentSelector": [{"pattern": format!("**/*.{i}")}]}});
        asks(i + 10_000, "client/registerCapability", &json!({"registrations": [registration]}))
    };
    flood((0..10_000).map(register).collect());
    let watch = |i: usize| {
        let options = json!({"watchers": [{"globPattern": format!("**/{i}/*.{{a,b}}")}]});
        let registration =
            json!({"id": format!("w{i}"), "method": "workspace/didChangeWatchedFiles", "registerOptions": options});
        asks(i + 10_000, "client/registerCapability", &json!({"registrations": [registration]}))
    };
    flood((0..3_000).map(watch).collect());
    let message = |i: usize| {
        asks(
            i + 10_000,
            "window/showMessageRequest",
            &json!({"type": 1, "message": "?", "actions": [{"title": "Yes"}]}),
        )
    };
    let unknown = |i: usize| asks(i + 40_000, "vendor/unknown", &json!([i]));
    flood((0..10_000).flat_map(|i| [message(i), unknown(i)]).collect());
}

fn b3_questions_of_one_who_reads_no_answers() {
    let question = asks(7, "workspace/configuration", &json!({"items": vec![json!({"section": "x"}); 200]}));
    let script = Script::new()
        .on("textDocument/didOpen", [Act::StopReading, Act::RawTimes(question, 10_000)])
        .publish(Publish::never());
    small(script, 3_000, |lp| {
        for _ in 0..3 {
            honest(&lp.hover(&at()));
        }
    });
}

fn b3_answers_to_nobody_without_end() {
    let answer =
        |i: usize| frame(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":"{}"}}"#, i + 100_000, "a".repeat(300)));
    flood((0..30_000).map(answer).collect());
    let late = |i: usize| frame(&format!(r#"{{"jsonrpc":"2.0","id":"x{i}","error":{{"code":1,"message":"late"}}}}"#));
    flood((0..30_000).map(late).collect());
}

fn b3_stderr_without_a_line_end() {
    let flood = Act::Stderr("E".repeat(30 << 20), 1);
    small(Script::new().on(HOVER, [flood, Act::Default]), PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
        let status = lp.tool("status", &json!({"server": "fake"}));
        assert!(status.fine().text.chars().count() <= 8_000);
    });
}
