//! Very many small things in one message: what is made of them in memory is bounded, not only their bytes.

use serde_json::{Value, json};

use super::{PATIENT, at, small};
use crate::fake::{
    script::{Act, Script},
    wire::frame,
};

trials![
    a_batch_of_millions_of_nothings,
    a_handshake_of_millions_of_nothings,
    registrations_of_millions_of_nothings,
    selectors_of_very_many_patterns,
];

const HOVER: &str = "textDocument/hover";

/// A list of so many zeros.
fn zeros(count: usize) -> String {
    format!("[{}0]", "0,".repeat(count - 1))
}

fn a_batch_of_millions_of_nothings() {
    let batch = frame(&zeros(6_000_000));
    small(Script::new().on(HOVER, [Act::Raw(batch), Act::Default]), PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    });
}

fn a_handshake_of_millions_of_nothings() {
    let answer = format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{{"capabilities":{{"x":{}}}}}}}"#, zeros(3_000_000));
    small(Script::new().on("initialize", [Act::RawReply(answer)]), PATIENT, |lp| {
        let answer = lp.hover(&at());
        assert!(answer.is_error, "{answer}");
        answer.verdict_is("unavailable").contains("initialize").contains("too large");
    });
}

fn register(id: usize, method: &str, options: &str) -> String {
    let registration = format!(r#"{{"id":"r{id}","method":"{method}","registerOptions":{options}}}"#);
    frame(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"method":"client/registerCapability","params":{{"registrations":[{registration}]}}}}"#,
        id + 1_000
    ))
}

fn registrations_of_millions_of_nothings() {
    let options = format!(r#"{{"z":{}}}"#, zeros(400_000));
    let flood: String = (0..8).map(|id| register(id, "x/y", &options)).collect();
    small(Script::new().on(HOVER, [Act::Raw(flood), Act::Default]), PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
        lp.diagnostics("a.py").fine();
    });
}

fn selectors_of_very_many_patterns() {
    let filters: Vec<Value> = (0..10_000).map(|n| json!({"pattern": format!("**/*.x{n}")})).collect();
    let selector = json!({"documentSelector": filters});
    let watchers: Vec<Value> =
        (0..2_000).map(|n| json!({"globPattern": format!("{}{n}", "**/a*b?".repeat(20))})).collect();
    let watch = json!({"watchers": watchers}).to_string();
    let flood = register(1, "textDocument/completion", &selector.to_string())
        + &register(2, "workspace/didChangeWatchedFiles", &watch)
        + &register(3, "workspace/didChangeWatchedFiles", &watch.replace("a*", "c*"));
    let script = Script::new().on(HOVER, [Act::Raw(flood), Act::Default]).capability("definitionProvider", selector);
    small(script, PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
        // Its capabilities are looked at for each question.
        lp.hover(&at()).verdict_is("fresh");
        lp.tool("definition", &at());
    });
}
