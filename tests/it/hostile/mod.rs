//! Servers that lie, flood, stall and send nonsense: langport survives, stays small, and says what happened.

pub(crate) mod crowd;
pub(crate) mod floods;
pub(crate) mod lists;
pub(crate) mod masses;
pub(crate) mod poison;
pub(crate) mod process;
pub(crate) mod rows;
pub(crate) mod secrets;
pub(crate) mod shelf;
pub(crate) mod soak;
pub(crate) mod trees;
pub(crate) mod wire;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    fake::{
        script::{Act, Ask, Publish, Script},
        wire::frame,
    },
    support::{Answer, BUSY, Definition, Langport, Workspace, eventually, procs, within},
};

trials![
    a_length_of_a_tebibyte,
    b3_a_body_beyond_the_limit,
    a_header_without_end,
    junk_lines_without_end,
    batch_arrays,
    a_body_of_depth_one_hundred_thousand,
    five_hundred_overlapping_requests,
    a_flood_of_stderr,
    a_flood_of_notifications,
    a_hover_of_three_megabytes,
    two_hundred_thousand_references,
    a_server_that_stops_reading,
    a_server_that_closes_its_stdout_in_a_message,
    results_of_the_wrong_shape,
    a8_4_a_file_that_is_too_large,
    a8_4_a_server_that_hangs_everywhere,
    an_idle_langport_costs_nothing,
];

/// The memory that no misbehaviour may add, in KiB.
const ALLOWED: u64 = 64 * 1024;

/// The longest wait of a call whose answer has to come, however much there is to get through first: machines differ in
/// how long that takes, and not in what is answered.
pub(crate) const PATIENT: u64 = 240_000;

fn at() -> Value {
    json!({"file_path": "a.py", "line": 1, "column": 1})
}

/// Runs a test with a server, and requires that langport stays small.
fn small(script: Script, max_wait: u64, test: impl FnOnce(&Langport)) {
    let ws = Workspace::new(&format!(
        "//- a.py\nalpha {}\n{}//- b.go\nbeta\n",
        "x".repeat(4_100),
        format!("{}\n", "x".repeat(4_100)).repeat(50)
    ));
    let mut lp = Langport::builder(&ws)
        .server(Definition::new("fake", script))
        .server(Definition::new("good", Script::new()).languages(&["go"]))
        .max_wait(max_wait)
        .config(&format!("request_timeout_ms = {}", max_wait.max(15_000)))
        .start();
    lp.tolerate();
    let good = json!({"file_path": "b.go", "line": 1, "column": 1});
    // It starts within as many calls as a busy machine needs.
    eventually("a server that is ready", || Some(lp.hover(&good)).filter(|answer| answer.verdict() == "fresh"));
    let before = procs::peak_kib(lp.pid());
    test(&lp);
    let grown = procs::peak_kib(lp.pid()) - before;
    eprintln!("langport has grown by {grown} KiB");
    assert!(grown <= ALLOWED, "langport has grown by {grown} KiB");
    lp.hover(&good).verdict_is("fresh").contains("WORD beta");
}

/// The server is ended or passed over: an honest answer, whatever it is.
fn honest(answer: &Answer) {
    answer.verdict_in(&["failed", "unavailable", "unanswered", "indexing"]);
    answer.contains("fake");
}

fn a_length_of_a_tebibyte() {
    let lie = || Act::Raw("Content-Length: 1099511627776\r\n\r\n{\"jsonrpc\":".into());
    small(Script::new().on("textDocument/hover", [lie(), Act::Default]), 6_000, |lp| honest(&lp.hover(&at())));
    small(Script::new().on("start", [lie()]), 6_000, |lp| honest(&lp.hover(&at())));
    let once = Script::new().each("textDocument/hover", [vec![Act::FirstStarts(1), lie()]]);
    small(once, 10_000, |lp| {
        lp.hover(&at());
        let healed = within(Duration::from_secs(20), || Some(lp.hover(&at())).filter(|a| a.verdict() == "fresh"));
        healed.expect("a healthy second start").contains("WORD alpha");
    });
}

fn b3_a_body_beyond_the_limit() {
    let huge = || {
        [
            Act::Raw("Content-Length: 70000000\r\n\r\n{\"jsonrpc\":\"2.0\",\"x\":\"".into()),
            Act::RawTimes("0123456789".repeat(1_000), 6_999),
        ]
    };
    small(Script::new().on("textDocument/hover", huge()), 10_000, |lp| honest(&lp.hover(&at())));
    // Just below it, and of no use: passed over, or ended; never kept.
    let large = frame(&format!(r#"{{"jsonrpc":"2.0","method":"x/y","params":["{}"]}}"#, "z".repeat(40_000_000)));
    small(Script::new().on("textDocument/hover", [Act::Raw(large), Act::Default]), PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    });
}

fn a_header_without_end() {
    let endless = || Act::RawTimes("X-Header: and another one and another one\r\n".into(), 1_000_000);
    small(Script::new().on("textDocument/hover", [endless()]), 6_000, |lp| honest(&lp.hover(&at())));
    let line = || Act::RawTimes("no end of line ".into(), 2_000_000);
    small(Script::new().on("textDocument/hover", [line()]), 6_000, |lp| honest(&lp.hover(&at())));
}

fn junk_lines_without_end() {
    let junk = |lines| {
        Script::new()
            .on("textDocument/hover", [Act::RawTimes("Downloading the internet…\n".into(), lines), Act::Default])
    };
    small(junk(30_000), PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    });
    // Five megabytes in a row are no banner any more.
    small(junk(200_000), PATIENT, |lp| honest(&lp.hover(&at())));
}

fn batch_arrays() {
    let batch = r#"[{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3,"message":"x"}},{"jsonrpc":"2.0","id":1,"result":5}]"#;
    let script = Script::new().on("textDocument/hover", [Act::Raw(frame(batch).repeat(100)), Act::Default]);
    small(script, PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    });
}

fn a_body_of_depth_one_hundred_thousand() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let bodies = [
        deep.clone(),
        format!(r#"{{"jsonrpc":"2.0","method":"x/y","params":{deep}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":77,"result":{deep}}}"#),
        "[".repeat(100_000),
        format!("{}1", r#"{"a":"#.repeat(100_000)),
    ];
    let acts: Vec<Act> = bodies.iter().map(|b| Act::Raw(frame(b))).chain([Act::Default]).collect();
    small(Script::new().on("textDocument/hover", acts), PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    });
}

fn five_hundred_overlapping_requests() {
    let asks: Vec<Act> =
        (0..500).map(|i| Ask::new(i, "workspace/configuration", json!({"items": [{"section": "x"}]})).into()).collect();
    let mut acts = vec![Act::Sleep(1)];
    acts.extend(asks);
    let script = Script::new().on("initialized", acts).on("textDocument/hover", [Act::Sleep(30), Act::Default]);
    small(script, PATIENT, |lp| {
        let calls: Vec<i64> = (0..500).map(|_| lp.call("lsp_hover", &at())).collect();
        let mut fresh = 0;
        for call in calls {
            let answer = Answer::of(&lp.answer(call));
            answer.verdict_in(&["fresh", "unavailable", "failed", "unanswered"]);
            fresh += usize::from(answer.verdict() == "fresh");
        }
        assert!(fresh >= 64, "{fresh} of 500 were answered");
        lp.hover(&at()).verdict_is("fresh");
    });
}

fn a_flood_of_stderr() {
    let flood = Act::Stderr("E".repeat(1_000), 20_000);
    small(Script::new().on("textDocument/hover", [flood, Act::Default]), PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
        let status = lp.tool("status", &json!({"server": "fake"}));
        assert!(status.text.chars().count() <= 8_000);
    });
}

fn a_flood_of_notifications() {
    let log = frame(
        r#"{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3,"message":"again and again and again"}}"#,
    );
    let progress = frame(
        r#"{"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"report","message":"x"}}}"#,
    );
    let script = Script::new()
        .on("textDocument/hover", [Act::RawTimes(log, 50_000), Act::RawTimes(progress, 50_000), Act::Default]);
    small(script, PATIENT, |lp| {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    });
}

fn a_hover_of_three_megabytes() {
    small(Script::new().on("textDocument/hover", [Act::Hover(3_000_000)]), PATIENT, |lp| {
        let answer = lp.hover(&at());
        answer.verdict_is("fresh").contains("long hover");
        assert!(answer.text.chars().count() <= 8_000);
    });
}

fn two_hundred_thousand_references() {
    small(Script::new().on("textDocument/references", [Act::Locations(200_000)]), PATIENT, |lp| {
        let answer = lp.tool("references", &at());
        answer.fine().verdict_in(&["fresh", "partial"]);
        assert!(answer.has("200,000") || answer.has("200000"), "the true total: {}", answer.first());
        assert!(answer.text.chars().count() <= 8_000 && answer.cursor().is_some());
    });
}

fn a_server_that_stops_reading() {
    let script = Script::new().on("textDocument/didOpen", [Act::StopReading]).publish(Publish::never());
    small(script, 2_000, |lp| {
        let begun = Instant::now();
        for _ in 0..3 {
            honest(&lp.hover(&at()));
        }
        // More than a pipe holds: the writer must not block anybody.
        let calls: Vec<i64> = (0..80).map(|_| lp.call("lsp_references", &at())).collect();
        for call in calls {
            honest(&Answer::of(&lp.answer(call)));
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    });
}

fn a_server_that_closes_its_stdout_in_a_message() {
    let script = Script::new()
        .on("textDocument/hover", [Act::Raw("Content-Length: 500\r\n\r\n{\"jsonrpc\":\"2.0\",".into()), Act::Exit(0)]);
    small(script, 8_000, |lp| {
        let answer = lp.hover(&at());
        assert!(answer.is_error, "{answer}");
        honest(&answer);
    });
}

fn results_of_the_wrong_shape() {
    let wrong = [
        json!(42),
        json!("text"),
        json!([1, 2]),
        json!({"odd": true}),
        json!([[[]]]),
        json!({"contents": 5}),
        json!({"uri": 5, "range": {}}),
    ];
    for value in wrong {
        let mut script = Script::new();
        let tools = [
            ("hover", "textDocument/hover"),
            ("definition", "textDocument/definition"),
            ("references", "textDocument/references"),
            ("completions", "textDocument/completion"),
            ("signature", "textDocument/signatureHelp"),
            ("calls", "textDocument/prepareCallHierarchy"),
            ("types", "textDocument/prepareTypeHierarchy"),
        ];
        for (_, method) in tools {
            script = script.on(method, [Act::Reply(value.clone())]);
        }
        script = script
            .on("textDocument/documentSymbol", [Act::Reply(value.clone())])
            .on("workspace/symbol", [Act::Reply(value.clone())]);
        small(script, 5_000, |lp| {
            for (tool, _) in tools {
                // Either nothing usable, or said to be wrong; never a made-up place.
                let answer = lp.tool(tool, &at());
                answer.verdict_in(&["fresh", "partial", "failed"]);
                assert!(tool == "hover" || answer.places().is_empty(), "{tool} for {value}: {answer}");
            }
            lp.tool("symbols", &json!({"file_path": "a.py"})).verdict_in(&["fresh", "partial", "failed"]);
            lp.tool("workspace_symbols", &json!({"query": "x"})).verdict_in(&["fresh", "partial", "failed"]);
            assert_eq!(lp.log_of("fake").starts(), 1);
        });
    }
}

fn a8_4_a_file_that_is_too_large() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    ws.write("huge.py", &"x = 1  # a long file\n".repeat(2_500_000));
    let lp = Langport::with(&ws, Script::new());
    lp.hover(&at()).verdict_is("fresh");
    let before = procs::peak_kib(lp.pid());
    for answer in [lp.hover(&json!({"file_path": "huge.py", "line": 1, "column": 1})), lp.diagnostics("huge.py")] {
        assert!(answer.is_error, "{answer}");
        answer.verdict_in(&["unavailable", "too_large"]).contains("huge.py").lacks("no problems");
    }
    assert!(procs::peak_kib(lp.pid()) - before <= ALLOWED);
    assert_eq!(lp.log().count("textDocument/didOpen"), 1);
}

fn a8_4_a_server_that_hangs_everywhere() {
    let mut script = Script::new().publish(Publish::never());
    for method in
        ["textDocument/hover", "textDocument/definition", "textDocument/references", "textDocument/documentSymbol"]
    {
        script = script.on(method, []);
    }
    small(script, 3_000, |lp| {
        eventually("its start", || Some(lp.hover(&at())).filter(|answer| answer.verdict() == "unanswered"));
        let begun = Instant::now();
        for tool in ["hover", "definition", "references"] {
            lp.tool(tool, &at()).fine().verdict_is("unanswered");
        }
        lp.tool("symbols", &json!({"file_path": "a.py"})).verdict_is("unanswered");
        lp.diagnostics("a.py").verdict_is("unanswered");
        assert!(begun.elapsed() < Duration::from_secs(5 * 3) + BUSY, "each call is bounded: {:?}", begun.elapsed());
        assert_eq!(lp.log_of("fake").starts(), 1, "slow is not broken");
    });
}

fn an_idle_langport_costs_nothing() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = Langport::with(&ws, Script::watching("**/*"));
    lp.hover(&at()).verdict_is("fresh");
    lp.diagnostics("a.py").verdict_is("fresh");
    // The time is what is measured, not what is waited for.
    let before = procs::ticks(lp.pid());
    std::thread::sleep(Duration::from_secs(2));
    let used = procs::ticks(lp.pid()) - before;
    assert!(used <= 4, "{used} ticks in two idle seconds");
}
