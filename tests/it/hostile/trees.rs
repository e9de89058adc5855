//! Texts that are small on the wire and a hundred times as large once they are values: in answers, in what servers ask
//! and tell, and in what they register.

use serde_json::json;

use super::{PATIENT, at, honest, small};
use crate::fake::{
    script::{Act, Script},
    wire::frame,
};

trials![
    b3_an_introduction_that_grows,
    b3_answers_that_grow,
    b3_batches_that_grow,
    b3_questions_and_registrations_that_grow,
    b3_selectors_and_watchers_that_grow,
    b3_long_words_of_refusal,
];

/// As lists and maps, which grow most.
const PIECES: [&str; 2] = ["[0],", "{\"\":0},"];
const HOVER: &str = "textDocument/hover";

/// An answer with a list of so many MiB, made of one piece again and again.
fn growing(head: &str, piece: &str, mib: usize, tail: &str) -> Act {
    let head = format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{head}["#);
    Act::Pieces { head, piece: piece.into(), times: (mib << 20) / piece.len(), tail: format!("0]{tail}}}") }
}

fn b3_an_introduction_that_grows() {
    for piece in PIECES {
        let act = growing(r#"{"capabilities":{"hoverProvider":true},"more":"#, piece, 8, "}");
        small(Script::new().on("initialize", [act]), PATIENT, |lp| {
            let answer = lp.hover(&at());
            honest(&answer);
            assert!(answer.is_error && answer.has("too large"), "{piece}: {answer}");
        });
    }
}

fn b3_answers_that_grow() {
    let file = || json!({"file_path": "a.py"});
    let range = r#"{"start":{"line":0,"character":0},"end":{"line":0,"character":5}}"#;
    let item =
        format!(r#"[{{"name":"alpha","kind":12,"uri":"file:///x","range":{range},"selectionRange":{range},"data":"#);
    let calls = [
        (HOVER, "hover", at(), r#"{"contents":"#.to_owned(), "}"),
        (HOVER, "hover", at(), r#"{"contents":"x","more":"#.into(), "}"),
        ("textDocument/definition", "definition", at(), String::new(), ""),
        (
            "textDocument/references",
            "references",
            at(),
            format!(r#"[{{"uri":"file:///x","range":{range},"more":"#),
            "}]",
        ),
        (
            "textDocument/documentSymbol",
            "symbols",
            file(),
            format!(r#"[{{"name":"a","kind":5,"range":{range},"selectionRange":{range},"children":"#),
            "}]",
        ),
        (
            "workspace/symbol",
            "workspace_symbols",
            json!({"query": "a"}),
            r#"[{"name":"a","kind":5,"data":"#.into(),
            "}]",
        ),
        ("textDocument/completion", "completions", at(), r#"{"items":[{"label":"a","data":"#.into(), "}]}"),
        ("textDocument/signatureHelp", "signature", at(), r#"{"signatures":[{"label":"a","parameters":"#.into(), "}]}"),
        ("textDocument/prepareCallHierarchy", "calls", at(), item, "}]"),
        ("textDocument/codeAction", "code_actions", file(), r#"[{"title":"a","kind":"quickfix","data":"#.into(), "}]"),
        ("textDocument/formatting", "format", file(), String::new(), ""),
    ];
    for piece in PIECES {
        let mut script = Script::new();
        let mut turns: std::collections::BTreeMap<&str, Vec<Vec<Act>>> = std::collections::BTreeMap::new();
        for (method, _, _, head, tail) in &calls {
            turns.entry(method).or_default().push(vec![growing(head, piece, 3, tail)]);
        }
        for (method, acts) in turns {
            script = script.each(method, acts);
        }
        small(script, PATIENT, |lp| {
            for (method, tool, arguments, _, _) in &calls {
                let answer = lp.tool(tool, arguments);
                assert!(answer.text.chars().count() <= 8_000, "{method} {piece}: {answer}");
            }
            assert_eq!(lp.log_of("fake").starts(), 1);
        });
    }
}

fn b3_batches_that_grow() {
    for piece in ["0,", "[],"] {
        let act =
            Act::Pieces { head: "[".into(), piece: piece.into(), times: (16 << 20) / piece.len(), tail: "0]".into() };
        small(Script::new().on(HOVER, [act, Act::Default]), PATIENT, |lp| {
            lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
            assert_eq!(lp.log_of("fake").starts(), 1);
        });
    }
}

/// What is asked and told has at most a mebibyte.
fn b3_questions_and_registrations_that_grow() {
    for piece in PIECES {
        let list = format!("[{}0]", piece.repeat(1_000_000 / piece.len()));
        let asks = |id: usize, method: &str, params: String| {
            frame(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))
        };
        let mut flood = String::new();
        for i in 0..2 {
            let options = format!(
                r#"{{"registrations":[{{"id":"r{i}","method":"x/{i}","registerOptions":{{"more":{list}}}}}]}}"#
            );
            flood += &asks(5_000 + i, "client/registerCapability", options);
            flood += &asks(6_000 + i, "vendor/unknown", list.clone());
            flood += &asks(7_000 + i, "workspace/configuration", format!(r#"{{"items":{list}}}"#));
            flood += &asks(8_000 + i, "workspace/applyEdit", format!(r#"{{"edit":{{"documentChanges":{list}}}}}"#));
            for (method, params) in [
                ("fake/status", format!(r#"{{"state":{list}}}"#)),
                ("$/progress", format!(r#"{{"token":1,"value":{list}}}"#)),
                ("window/showMessage", format!(r#"{{"type":1,"message":{list}}}"#)),
                ("textDocument/publishDiagnostics", format!(r#"{{"uri":"file:///x","diagnostics":{list}}}"#)),
            ] {
                flood += &frame(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
            }
        }
        small(Script::new().on(HOVER, [Act::Raw(flood), Act::Default]), PATIENT, |lp| {
            lp.hover(&at()).verdict_in(&["fresh", "indexing"]).contains("WORD alpha");
            assert_eq!(lp.log_of("fake").starts(), 1);
        });
    }
}

/// Thousands of different globs in few messages, which are all compiled.
fn b3_selectors_and_watchers_that_grow() {
    let register = |id: usize, method: &str, options: serde_json::Value| {
        let registration = json!({"id": format!("r{id}"), "method": method, "registerOptions": options});
        let params = json!({"registrations": [registration]});
        frame(&json!({"jsonrpc": "2.0", "id": id, "method": "client/registerCapability", "params": params}).to_string())
    };
    let mut flood = String::new();
    for i in 0..8 {
        let filters: Vec<_> = (0..12_000).map(|n| json!({"pattern": format!("**/{i}/*.{n}")})).collect();
        flood += &register(5_000 + i, "textDocument/rangeFormatting", json!({"documentSelector": filters}));
        let watchers: Vec<_> = (0..12_000).map(|n| json!({"globPattern": format!("**/{i}/*.{{{n},x}}")})).collect();
        flood += &register(6_000 + i, "workspace/didChangeWatchedFiles", json!({"watchers": watchers}));
        let long: Vec<_> =
            (0..200).map(|n| json!({"globPattern": format!("**/{}{n}", "[!a-y]*?".repeat(480))})).collect();
        flood += &register(7_000 + i, "workspace/didChangeWatchedFiles", json!({"watchers": long}));
    }
    small(Script::new().on(HOVER, [Act::Raw(flood), Act::Default]), PATIENT, |lp| {
        for _ in 0..2 {
            lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
        }
        assert_eq!(lp.log_of("fake").starts(), 1);
    });
}

fn b3_long_words_of_refusal() {
    let act = Act::Pieces {
        head: r#"{"jsonrpc":"2.0","id":$id,"error":{"code":-32603,"message":""#.into(),
        piece: "so sorry ".into(),
        times: (35 << 20) / 9,
        tail: "\"}}".into(),
    };
    small(Script::new().on(HOVER, [act]), PATIENT, |lp| {
        lp.hover(&at()).verdict_is("failed").contains("so sorry");
    });
}
