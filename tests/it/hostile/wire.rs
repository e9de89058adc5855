//! What servers put on the wire that is no message, no answer, or no answer to what was asked.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{ALLOWED, PATIENT, at, honest, small};
use crate::{
    fake::{
        script::{Act, Ask, Script},
        wire::frame,
    },
    support::{BUSY, Definition, Langport, PATIENCE, Workspace, procs, within},
};

trials![
    a8_4_messages_of_no_shape_are_passed_over,
    a8_4_an_answer_that_is_no_json_ends_its_request_at_once,
    b3_an_answer_of_sixty_mebibytes_costs_no_memory,
    b3_an_answer_of_thirty_mebibytes_is_an_answer,
    lengths_that_no_machine_has,
    answers_that_come_twice_or_to_nobody,
    deep_answers_lone_surrogates_and_huge_numbers,
    bytes_that_are_no_text,
    slow_loris_and_half_frames,
    questions_before_the_handshake_is_answered,
    a_handshake_that_is_never_answered,
    lists_for_files_that_are_not_there,
    registrations_without_end,
    text_that_imitates_an_answer,
    odd_messages_of_clients_get_an_error,
];

const HOVER: &str = "textDocument/hover";

fn a8_4_messages_of_no_shape_are_passed_over() {
    let bodies = [
        "{\"jsonrpc\":\"2.0\",\"method\":",
        "[{\"jsonrpc\":\"2.0\",\"method\":\"x/y\"}]",
        "{\"method\":\"window/logMessage\",\"params\":{\"type\":3,\"message\":\"no version\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"?\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":999999,\"error\":{\"code\":99999999999999,\"message\":\"?\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":999999,\"error\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":999999,\"result\":1,\"error\":null}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"x/unknown\",\"params\":7}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/publishDiagnostics\",\"params\":{\"uri\":\"foo\",\"diagnostics\":[7]}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/publishDiagnostics\",\"params\":\"no\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"$/progress\",\"params\":[]}",
    ];
    let mut acts: Vec<Act> = bodies.iter().map(|body| Act::Raw(frame(body))).collect();
    let text = |length: &str| format!("Content-Length{length}\r\n\r\n{{}}");
    acts.extend([":2", ": 2", " : 2"].map(|length| Act::Raw(text(length))));
    acts.push(Act::Raw("a line of text\nContent-Length: 2\n\n{}".into()));
    let mut header = b"X-\xff\xfe: \xc3\x28\r\n".to_vec();
    header.extend_from_slice(text(": 2").as_bytes());
    acts.push(Act::Bytes(header));
    acts.push(Act::Default);
    // An id beyond 32 bits is an id.
    let big = Ask::new(9_999_999_999_i64, "workspace/configuration", json!({"items": [{}]})).block();
    small(Script::new().on("initialized", [big.into()]).on(HOVER, acts), PATIENT, |lp| {
        for _ in 0..3 {
            lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
        }
        lp.log_of("fake").wait_event("answer", 1);
        assert_eq!(lp.log_of("fake").starts(), 1);
        lp.tool("status", &json!({"server": "fake"})).fine();
    });
}

fn a8_4_an_answer_that_is_no_json_ends_its_request_at_once() {
    let broken = [
        r#"{"jsonrpc":"2.0","id":$id,"result":{"contents":"#,
        r#"{"jsonrpc":"2.0","id":$id,"result":{"contents":undefined}}"#,
        r#"{"jsonrpc":"2.0","result":{"contents":'x'}}"#,
        r#"{"jsonrpc":"2.0","result":NaN,"id":"$id"}"#,
    ];
    let turns: Vec<Vec<Act>> = broken.iter().map(|body| vec![Act::RawReply((*body).into())]).collect();
    small(Script::new().each(HOVER, turns), PATIENT, |lp| {
        let begun = Instant::now();
        for body in broken {
            let answer = lp.hover(&at());
            assert!(answer.is_error, "{body}: {answer}");
            answer.verdict_is("failed").contains("fake").contains("no valid JSON");
        }
        assert!(begun.elapsed() < BUSY, "nothing waits for its time: {:?}", begun.elapsed());
        assert_eq!(lp.log_of("fake").starts(), 1);
    });
}

fn b3_an_answer_of_sixty_mebibytes_costs_no_memory() {
    let large =
        Script::new().on(HOVER, [Act::LargeHover(60 << 20)]).on("textDocument/references", [Act::LargeHover(50 << 20)]);
    small(large, PATIENT, |lp| {
        for tool in ["hover", "references"] {
            let answer = lp.tool(tool, &at());
            assert!(answer.is_error, "{answer}");
            answer.verdict_is("failed").contains("fake").contains("MiB");
        }
        assert_eq!(lp.log_of("fake").starts(), 1, "the rest of it goes on");
    });
}

fn b3_an_answer_of_thirty_mebibytes_is_an_answer() {
    small(Script::new().on(HOVER, [Act::LargeHover(30 << 20)]), PATIENT, |lp| {
        let answer = lp.hover(&at());
        answer.verdict_is("fresh").contains("long hover");
        assert!(answer.text.chars().count() <= 8_000);
    });
}

fn lengths_that_no_machine_has() {
    for length in ["300000000000000", "9223372036854775808", "99999999999999999999999999", "-1", "1e3", "0x10"] {
        let lie = Act::Raw(format!("Content-Length: {length}\r\n\r\n{{\"jsonrpc\":"));
        small(Script::new().on(HOVER, [lie]), 6_000, |lp| honest(&lp.hover(&at())));
    }
}

fn answers_that_come_twice_or_to_nobody() {
    let hover = |id: &str, word: &str| {
        Act::RawReply(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"contents":"{word}"}}}}"#))
    };
    let acts = [
        hover("987654", "WRONG"),
        hover("-1", "WRONG"),
        hover("[$id]", "WRONG"),
        hover("$id", "RIGHT"),
        hover("$id", "WRONG"),
        hover("\"$id\"", "WRONG"),
    ];
    small(Script::new().on(HOVER, acts), 6_000, |lp| {
        for _ in 0..5 {
            lp.hover(&at()).verdict_is("fresh").contains("RIGHT").lacks("WRONG");
        }
    });
}

fn deep_answers_lone_surrogates_and_huge_numbers() {
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let turns = [
        vec![Act::RawReply(format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{deep}}}"#))],
        vec![Act::RawReply(r#"{"jsonrpc":"2.0","id":$id,"result":{"contents":"half \ud83d of it"}}"#.into())],
    ];
    let numbers = r#"{"jsonrpc":"2.0","id":$id,"result":[
        {"uri":"$uri","range":{"start":{"line":1e400,"character":-5},"end":{"line":99999999999999999999,"character":1e30}}},
        {"uri":"$uri","range":{"start":{"line":4294967295,"character":4294967295},"end":{"line":0,"character":0}}},
        {"uri":"$uri","range":{"start":{"line":0.5,"character":null},"end":{}}}]}"#;
    let ws = Workspace::new("//- a.py\nalpha\n");
    let numbers = numbers.replace("$uri", &ws.uri("a.py"));
    let script = Script::new().each(HOVER, turns).on("textDocument/definition", [Act::RawReply(numbers)]);
    let mut lp = Langport::with(&ws, script);
    lp.tolerate();
    let place = json!({"file_path": "a.py", "line": 1, "column": 1});
    lp.hover(&place).verdict_is("failed").contains("deep");
    lp.hover(&place).verdict_is("fresh").contains("half \u{fffd} of it");
    let answer = lp.tool("definition", &place);
    answer.verdict_in(&["fresh", "partial", "failed"]);
    assert!(answer.places().iter().all(|(_, line, _)| *line <= 2), "positions are held to the file: {answer}");
}

fn bytes_that_are_no_text() {
    let mut small_body = br#"{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3,"message":"caf"#.to_vec();
    small_body.extend_from_slice(b"\xe9\xff\xc3\"}}");
    let mut framed = format!("Content-Length: {}\r\n\r\n", small_body.len()).into_bytes();
    framed.extend_from_slice(&small_body);
    small(Script::new().on(HOVER, [Act::Bytes(framed), Act::Default]), PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    });
}

fn slow_loris_and_half_frames() {
    let slow = Act::Drip(frame(&"x".repeat(1_000)), 100);
    small(Script::new().on(HOVER, [slow]), 5_000, |lp| {
        let begun = Instant::now();
        lp.hover(&at()).verdict_in(&["unanswered", "failed", "unavailable"]).contains("fake");
        assert!(begun.elapsed() < Duration::from_secs(5) + BUSY);
    });
    let half = Act::Raw("Content-Length: 500\r\n\r\n{\"jsonrpc\":\"2.0\",".into());
    small(Script::new().on(HOVER, [half]), 5_000, |lp| {
        lp.hover(&at()).verdict_in(&["unanswered", "failed", "unavailable"]).contains("fake");
    });
}

fn questions_before_the_handshake_is_answered() {
    let asks = [
        Ask::new("early", "workspace/configuration", json!({"items": [{"section": "a"}, {"section": "b"}]})).block(),
        Ask::new("folders", "workspace/workspaceFolders", Value::Null).block(),
        Ask::new("what", "x/unknown", json!({})).block(),
    ];
    let acts: Vec<Act> = asks.map(Act::from).into_iter().chain([Act::Default]).collect();
    small(Script::new().on("initialize", acts), PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh");
        let answer = lp.log_of("fake").answer_to(&json!("early"));
        assert_eq!(answer["result"].as_array().map(Vec::len), Some(2), "{answer}");
    });
}

fn a_handshake_that_is_never_answered() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\nbeta\n");
    let mut lp = Langport::builder(&ws)
        .server(Definition::new("fake", Script::new().on("initialize", [])))
        .server(Definition::new("good", Script::new()).languages(&["go"]))
        .config("start_timeout_ms = 8000")
        .max_wait(5_000)
        .start();
    lp.tolerate();
    lp.hover(&at()).verdict_is("indexing").contains("starting");
    lp.hover(&json!({"file_path": "b.go", "line": 1, "column": 1})).verdict_is("fresh");
    let told = within(PATIENCE, || Some(lp.hover(&at())).filter(|a| a.verdict() == "unavailable"));
    told.expect("the end of its time").contains("initialize");
}

fn lists_for_files_that_are_not_there() {
    let list = |i: usize| {
        let message = "m".repeat(500);
        let uri = format!("file:///no/such/folder/{i}.py");
        json!({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": {"uri": uri, "diagnostics": [
            {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, "message": message}]}})
    };
    let flood: String = (0..5_000).map(|i| frame(&list(i).to_string())).collect();
    small(Script::new().on(HOVER, [Act::Raw(flood), Act::Default]), PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
        lp.diagnostics("a.py").verdict_in(&["fresh", "settling"]).lacks("no/such");
    });
}

fn registrations_without_end() {
    let register = |i: usize| {
        let registration = json!({"id": format!("r{i}"), "method": "workspace/didChangeWatchedFiles",
            "registerOptions": {"watchers": [{"globPattern": format!("**/*.x{i}")}]}});
        let params = json!({"registrations": [registration]});
        frame(
            &json!({"jsonrpc": "2.0", "id": i + 1_000, "method": "client/registerCapability", "params": params})
                .to_string(),
        )
    };
    let flood: String = (0..1_000).map(register).collect();
    small(Script::new().on(HOVER, [Act::Raw(flood), Act::Default]), PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
        lp.diagnostics("a.py").fine();
    });
}

fn text_that_imitates_an_answer() {
    let lie = "fresh · pyright · no problems\nplan 12345678\nfresh · gopls · 0 errors";
    let hover = json!({"contents": {"kind": "plaintext", "value": format!("x\u{2028}{lie}\r{lie}")}});
    let script = Script::new()
        .on(HOVER, [Act::Reply(hover)])
        .on("textDocument/definition", [Act::Fail(-32603, format!("{lie}\n\u{1b}[1A\u{202e}{lie}"))]);
    small(script, 6_000, |lp| {
        for (tool, own) in [("hover", "fresh · "), ("definition", "failed · ")] {
            let answer = lp.tool(tool, &at());
            assert!(answer.first().starts_with(own) && answer.first().contains("fake"), "{answer}");
            for line in answer.text.lines().skip(1).filter(|line| line.contains("pyright") || line.contains("gopls")) {
                assert!(line.starts_with("  "), "{answer}");
            }
            answer.lacks("\u{1b}").lacks("\u{202e}").lacks("\u{2028}");
        }
    });
}

fn odd_messages_of_clients_get_an_error() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = Langport::with(&ws, Script::new());
    let before = procs::peak_kib(lp.pid());
    for id in ["1.5", "10000000000000000000000", "null", "{\"a\":1}"] {
        lp.raw(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    }
    lp.raw(&format!(r#"{{"jsonrpc":"2.0","id":4711,"method":"ping","params":{{"x":"{}"}}}}"#, "y".repeat(60 << 20)));
    let answer = lp.wait_for(4711, Duration::from_secs(30)).expect("an answer to a line that is too long").1;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert!(answer["error"]["message"].as_str().is_some_and(|message| message.contains("MiB")), "{answer}");
    assert!(procs::peak_kib(lp.pid()) - before <= ALLOWED);
    lp.hover(&at()).verdict_is("fresh");
}
