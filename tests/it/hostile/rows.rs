//! What a sloppy or hostile server may put on the wire, at every moment of its life, beside a server that is well. The
//! answer is right, or a named error within the time; langport stays small, and the other one is answered meanwhile.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{PATIENT, at, honest, small};
use crate::{
    fake::{
        script::{Act, Publish, Script},
        wire::frame,
    },
    support::{Answer, BUSY, Langport, eventually},
};

trials![
    a8_4_what_can_be_passed_over_is_passed_over_at_every_moment,
    a8_4_answers_that_lack_something_are_answers,
    a8_4_answers_that_are_of_no_use_end_their_request_at_once,
    a8_4_lengths_that_cannot_be_honoured_end_the_server_at_every_moment,
    a8_4_half_a_message_at_every_moment,
    a8_4_an_output_that_is_closed_at_every_moment,
    a8_4_an_input_that_is_closed_at_every_moment,
    a8_4_slow_loris_before_the_handshake,
    a8_4_two_full_pipes_do_not_hold_each_other,
];

const HOVER: &str = "textDocument/hover";
const MOMENTS: [&str; 5] = ["start", "initialize", "initialized", "textDocument/didOpen", HOVER];

/// A hover, and one of the server that is well while it lasts.
fn asked(lp: &Langport, max_wait: u64) -> Answer {
    let begun = Instant::now();
    let call = lp.call("lsp_hover", &at());
    let good = lp.call("lsp_hover", &json!({"file_path": "b.go", "line": 1, "column": 1}));
    Answer::of(&lp.answer(good)).verdict_is("fresh").contains("WORD beta");
    let answer = Answer::of(&lp.answer(call));
    let took = begun.elapsed();
    assert!(took < Duration::from_millis(max_wait) + BUSY, "{took:?} for\n{answer}");
    answer
}

/// Until a server that does not misbehave any more answers.
fn healed(lp: &Langport, max_wait: u64) {
    eventually("a server that is well again", || {
        Some(asked(lp, max_wait)).filter(|answer| answer.verdict() == "fresh")
    })
    .contains("WORD alpha");
}

fn a8_4_what_can_be_passed_over_is_passed_over_at_every_moment() {
    let log = r#"{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3,"message":"hello"}}"#;
    let told = |rest: &str| frame(&format!(r#"{{"jsonrpc":"2.0",{rest}}}"#)).into_bytes();
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let mut bad = frame(&log.replace("hello", "hello___")).into_bytes();
    let at = bad.len() - 8;
    bad[at..at + 3].copy_from_slice(b"\xff\xc3\x28");
    let rows: Vec<Vec<u8>> = vec![
        frame(log).into_bytes(),
        told(r#""id":987654321,"result":1"#),
        told(r#""id":987654321,"result":1,"error":null"#),
        told(r#""id":987654321,"result":{},"error":{"code":1,"message":"x"}"#),
        told(r#""id":null,"error":{"code":-32700,"message":"?"}"#),
        told(r#""error":{"code":-32700,"message":"?"}"#),
        told(r#""id":987654321,"error":{"code":99999999999999,"message":"?"}"#),
        told(r#""id":987654321,"error":{}"#),
        told(r#""id":[1],"method":"workspace/configuration","params":{"items":[{}]}"#),
        told(r#""id":1.5e300,"method":"workspace/configuration","params":{"items":[{}]}"#),
        told(r#""method":"x/unknown","params":7"#),
        told(r#""method":"","params":{}"#),
        told(r#""method":7,"params":{}"#),
        told(&format!(r#""method":"x/deep","params":{deep}"#)),
        told(r#""method":"textDocument/publishDiagnostics","params":{"uri":"foo","diagnostics":[]}"#),
        told(r#""method":"textDocument/publishDiagnostics","params":{"uri":"file:///x","diagnostics":"many"}"#),
        told(r#""method":"$/progress","params":{"token":{},"value":null}"#),
        told(r#""method":"window/showMessage","params":[1,2]"#),
        frame("{\"jsonrpc\":\"2.0\",\"method\":").into_bytes(),
        frame(&format!("[{log},{log},7]")).into_bytes(),
        frame("[]").into_bytes(),
        frame(&log.replace(r#""jsonrpc":"2.0","#, "")).into_bytes(),
        frame(&deep).into_bytes(),
        frame("\u{feff} ").into_bytes(),
        b"a line of text\nand another\r\n".to_vec(),
        format!("Content-Length:{}\r\n\r\n{log}", log.len()).into_bytes(),
        format!("Content-Length: {}\n\n{log}", log.len()).into_bytes(),
        [b"X-\xff\xfe: \xc3\x28\r\n", format!("Content-Length: {}\r\n\r\n{log}", log.len()).as_bytes()].concat(),
        b"Content-Length: 0\r\n\r\n".to_vec(),
        bad,
        b"\xff\xfe\x00\n".to_vec(),
    ];
    for row in rows {
        let script = MOMENTS.iter().fold(Script::new(), |script, moment| {
            script.on(moment, [Act::Bytes(row.clone()), Act::Default, Act::Bytes(row.clone())])
        });
        small(script, 20_000, |lp| {
            for _ in 0..2 {
                let answer = asked(lp, 20_000);
                assert!(answer.verdict() == "fresh" && answer.has("WORD alpha"), "{:?}: {answer}", row.escape_ascii());
            }
            lp.diagnostics("a.py").verdict_is("fresh").contains("no problems");
            assert_eq!(lp.log_of("fake").starts(), 1, "{}", row.escape_ascii());
        });
    }
}

fn a8_4_answers_that_lack_something_are_answers() {
    let right = r#""result":{"contents":"WORD alpha"}"#;
    let rows = [
        format!(r#"{{"jsonrpc":"2.0","id":$id,{right},"error":null}}"#),
        format!(r#"{{"id":$id,{right}}}"#),
        format!(r#"{{"jsonrpc":"1.0","id":$id,{right},"more":[1]}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":"$id",{right}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":$id.0,{right}}}"#),
        format!(r#"[{{"jsonrpc":"2.0","id":$id,{right}}}]"#),
        format!("\u{feff}  {{\"jsonrpc\":\"2.0\",\"id\":$id,{right}}}\r\n"),
        format!(r#"{{"jsonrpc":"2.0",{right},"method":null,"id":$id}}"#),
        r#"{"jsonrpc":"2.0","id":$id,"result":{"contents":"WORD alpha $bad"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":$id,"result":{"contents":"WORD alpha \ud83d\u0000"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":$id,"result":{"contents":"WORD alpha","range":{"start":{"line":1e99,"character":-1},"end":7}}}"#
            .to_owned(),
    ];
    let turns: Vec<Vec<Act>> = rows.iter().map(|row| vec![Act::RawReply(row.clone())]).collect();
    small(Script::new().each(HOVER, turns), 20_000, |lp| {
        for row in &rows {
            let answer = asked(lp, 20_000);
            assert!(answer.verdict() == "fresh" && answer.has("WORD alpha"), "{row}: {answer}");
        }
        assert_eq!(lp.log_of("fake").starts(), 1);
    });
    // Questions of the server's under the id of ours, and two under one id, do not touch it.
    let question = |id: &str| {
        Act::RawReply(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"workspace/configuration","params":{{"items":[{{}}]}}}}"#
        ))
    };
    let acts = [question("$id"), question("7"), question("7"), question("\"$id\""), Act::Default, question("$id")];
    small(Script::new().on(HOVER, acts), 20_000, |lp| {
        for _ in 0..3 {
            asked(lp, 20_000).verdict_is("fresh").contains("WORD alpha");
        }
    });
}

fn a8_4_answers_that_are_of_no_use_end_their_request_at_once() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let rows = [
        (r#""error":{"code":99999999999999,"message":"odd words"}"#.to_owned(), "odd words"),
        (r#""error":{"code":-1}"#.into(), "fake"),
        (r#""error":{}"#.into(), "fake"),
        (r#""error":"odd words""#.into(), "odd words"),
        (r#""error":{"code":"x","message":{"odd":"words"}}"#.into(), "words"),
        (r#""result":{"contents":"x"},"error":{"code":1,"message":"odd words"}"#.into(), "odd words"),
        (format!(r#""result":{deep}"#), "deep"),
        (r#""result":{"contents":{"kind":"#.into(), "no valid JSON"),
        (r#""result":{"contents":NaN}"#.into(), "no valid JSON"),
        (
            r#""result":{"contents":"tab	and
line"}x"#
                .into(),
            "no valid JSON",
        ),
    ];
    let turns: Vec<Vec<Act>> =
        rows.iter().map(|(rest, _)| vec![Act::RawReply(format!(r#"{{"jsonrpc":"2.0","id":$id,{rest}}}"#))]).collect();
    small(Script::new().each(HOVER, turns), 25_000, |lp| {
        for (rest, named) in &rows {
            let begun = Instant::now();
            let answer = asked(lp, 25_000);
            assert!(answer.verdict() == "failed" && answer.is_error && answer.has("fake"), "{rest}: {answer}");
            assert!(answer.has(named), "{rest}: {answer}");
            assert!(begun.elapsed() < BUSY, "nothing waits for its time: {:?} for {rest}", begun.elapsed());
        }
        assert_eq!(lp.log_of("fake").starts(), 1);
    });
}

fn a8_4_lengths_that_cannot_be_honoured_end_the_server_at_every_moment() {
    let rows = [
        (Act::Raw("Content-Length: 1073741824\r\n\r\n{\"jsonrpc\":".into()), "1073741824"),
        (Act::Raw("Content-Length: 1099511627776\r\n\r\n{".into()), "1099511627776"),
        (Act::Raw("Content-Length: 9223372036854775808\r\n\r\n".into()), "9223372036854775808"),
        (Act::Raw("Content-Length: -5\r\n\r\n{}".into()), "-5"),
        (Act::RawTimes("no end of line ".into(), 300_000), "a header line of more than"),
        (Act::RawTimes("X: y\r\n".into(), 1_000_000), "in a row that are no message"),
    ];
    for (index, (act, named)) in rows.into_iter().enumerate() {
        for moment in ["initialize", HOVER] {
            small(Script::new().on(moment, [act.clone()]), PATIENT, |lp| {
                let answer = asked(lp, PATIENT);
                honest(&answer);
                assert!(answer.is_error && answer.has(named), "{named} at {moment}: {answer}");
            });
        }
        // Each moment with some of them; the second start is well.
        for moment in MOMENTS.into_iter().skip(index % 2).step_by(2) {
            small(Script::new().on(moment, [Act::FirstStarts(1), act.clone()]), PATIENT, |lp| {
                let answer = asked(lp, PATIENT);
                if answer.verdict() != "fresh" {
                    honest(&answer);
                }
                healed(lp, PATIENT);
                assert_eq!(lp.log_of("fake").starts(), 2, "{named} at {moment}");
            });
        }
    }
}

fn a8_4_half_a_message_at_every_moment() {
    for moment in MOMENTS {
        let half = Act::Raw("Content-Length: 500\r\n\r\n{\"jsonrpc\":\"2.0\",".into());
        small(Script::new().on(moment, [half]), 1_500, |lp| {
            honest(&asked(lp, 1_500));
            // The half is filled by what it says next; what follows that is read again.
            let again = asked(lp, 1_500);
            if again.verdict() == "fresh" {
                again.contains("WORD alpha");
            } else {
                honest(&again);
            }
        });
    }
}

fn a8_4_an_output_that_is_closed_at_every_moment() {
    for moment in MOMENTS {
        let script = Script::new().on(moment, [Act::FirstStarts(1), Act::CloseOutput]);
        small(Script { ignore_exit: true, ignore_term: true, ..script }, 10_000, |lp| {
            let answer = asked(lp, 10_000);
            if answer.verdict() != "fresh" {
                honest(&answer);
            }
            healed(lp, 10_000);
        });
    }
}

fn a8_4_an_input_that_is_closed_at_every_moment() {
    for moment in MOMENTS {
        let script = Script::new().on(moment, [Act::FirstStarts(1), Act::CloseInput, Act::Default]);
        small(Script { ignore_exit: true, ignore_term: true, ..script }, 2_000, |lp| {
            let answer = asked(lp, 2_000);
            if answer.verdict() != "fresh" {
                honest(&answer);
            }
            // What it does not hear it cannot answer: named each time, or found out and started anew.
            let again = asked(lp, 2_000);
            if again.verdict() != "fresh" {
                honest(&again);
            }
        });
    }
}

fn a8_4_slow_loris_before_the_handshake() {
    let header = || Act::Drip("Content-Length: 100000\r\nX-Slow: and so on and on and on\r\n".into(), 100);
    let line = || Act::Drip("Downloading the whole of the internet, a letter at a time".into(), 100);
    for (moment, act) in [("start", line()), ("start", header()), ("initialize", header())] {
        small(Script::new().on(moment, [act]), 1_500, |lp| {
            asked(lp, 1_500).verdict_in(&["indexing", "unavailable", "failed"]).contains("fake").contains("start");
        });
    }
}

/// The server writes more than a pipe holds before it reads on, while it is sent more than a pipe holds.
fn a8_4_two_full_pipes_do_not_hold_each_other() {
    let ws = crate::support::Workspace::new("");
    for file in ["a.py", "b.py"] {
        ws.write(file, &format!("alpha\n{}", "# a line of many in a large file\n".repeat(45_000)));
    }
    let log = frame(
        &json!({"jsonrpc": "2.0", "method": "window/logMessage", "params": {"type": 3, "message": "m".repeat(1_000)}})
            .to_string(),
    );
    let gate = ws.gate("written");
    let acts = [Act::HoldReading(gate.clone()), Act::RawTimes(log, 2_000), Act::Open(gate)];
    let script = Script::new().on("textDocument/didOpen", acts).publish(Publish::never());
    let lp = Langport::with(&ws, script);
    let calls = ["a.py", "b.py"].map(|file| lp.call("lsp_hover", &json!({"file_path": file, "line": 1, "column": 1})));
    for call in calls {
        Answer::of(&lp.answer(call)).verdict_is("fresh").contains("WORD alpha");
    }
    assert_eq!(lp.log().starts(), 1);
}
