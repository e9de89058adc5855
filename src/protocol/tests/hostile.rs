//! What a hostile or sloppy server sends: dropped, repaired or fatal, but never in the way of the next message.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::super::envelope::{Envelope, deeper_than};
use super::*;

/// Sends a body; the connection must go on, and count it the way that is expected.
async fn check(body: impl AsRef<[u8]>, expected: Expect) {
    let mut rig = Rig::new();
    rig.peer.body(body).await;
    rig.is_alive().await;
    let stats = rig.connection.stats();
    let told: Vec<_> = rig.host.all().iter().filter(|told| !is_alive(told)).map(|told| format!("{told:?}\n")).collect();
    expected.assert_eq(&format!("{}dropped {}: {}", told.concat(), stats.dropped, stats.drop_reasons.join("; ")));
}

fn is_alive(told: &Told) -> bool {
    matches!(told, Told::ProgressCreated { token } if token == "alive")
}

#[tokio::test]
async fn malformed_messages_are_dropped_alone() {
    let no_object = "dropped 1: a message that is not a JSON object, or has a part of the wrong kind";
    for body in ["", "{", "not JSON", "{} {}", "7", "null", "\"text\"", r#"{"method":7}"#, "{\"method\":\"\u{0}\"}"] {
        let mut rig = Rig::new();
        rig.peer.body(body).await;
        rig.is_alive().await;
        let stats = rig.connection.stats();
        assert_eq!(format!("dropped {}: {}", stats.dropped, stats.drop_reasons.join("; ")), no_object, "{body}");
    }
    check("{}", expect!["dropped 1: a message without method and id"]).await;
    check(
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#,
        expect!["dropped 1: an error that answers no request"],
    )
    .await;
    check(r#"{"id":[1],"method":"x"}"#, expect!["dropped 1: a request whose id is neither a number nor a string"])
        .await;
    check(r#"{"id":true,"method":"x"}"#, expect!["dropped 1: a request whose id is neither a number nor a string"])
        .await;
    check(r#"{"id":{},"result":1}"#, expect!["dropped 1: an answer whose id is none of ours"]).await;
    check(r#"{"id":4000,"result":1}"#, expect!["dropped 1: an answer whose id is none of ours"]).await;
    check(r#"{"id":"abc","result":1}"#, expect!["dropped 1: an answer whose id is none of ours"]).await;
}

#[tokio::test]
async fn sloppy_messages_are_understood() {
    let told = || {
        expect![[r#"
        Log { level: 3, text: "hi" }
        dropped 0: "#]]
    };
    check(r#"{"method":"window/logMessage","params":{"type":3,"message":"hi"}}"#, told()).await;
    check(r#"{"jsonrpc":"1.0","id":null,"method":"window/logMessage","params":{"type":3,"message":"hi"}}"#, told())
        .await;
    check("\u{feff} {\"method\":\"window/logMessage\",\"params\":{\"type\":3,\"message\":\"hi\"}}\r\n", told()).await;
    check(
        b"{\"method\":\"window/logMessage\",\"params\":{\"type\":3,\"message\":\"caf\xe9\"}}",
        expect![[r#"
            Log { level: 3, text: "caf�" }
            dropped 0: "#]],
    )
    .await;
    check(
        r#"[{"method":"window/logMessage","params":{"message":"one"}},{"method":"window/logMessage","params":{"message":"two"}},7,[]]"#,
        expect![[r#"
            Log { level: 4, text: "one" }
            Log { level: 4, text: "two" }
            dropped 2: a message that is not a JSON object, or has a part of the wrong kind"#]],
    )
    .await;
    let many = format!("[{}]", vec!["{\"method\":\"window/logMessage\",\"params\":{}}"; 5_000].join(","));
    let mut rig = Rig::new();
    rig.peer.body(many).await;
    rig.is_alive().await;
    let WireStats { dropped, drop_reasons, .. } = rig.connection.stats();
    assert_eq!(dropped, 1_001);
    assert_eq!(drop_reasons, ["messages of a batch that has too many", "a log message without text"]);
    check("[1,", expect!["dropped 1: a batch that is not valid JSON"]).await;
}

#[tokio::test]
async fn odd_notifications_do_no_harm() {
    check(
        r#"{"method":"textDocument/publishDiagnostics","params":{"uri":"foo","diagnostics":[]}}"#,
        expect![[r#"
            Published(Published { file: Foreign("foo"), version: None, list: Listed { items: [], prints: [], beyond: Tally { all: [0, 0, 0, 0], faint: [0, 0, 0, 0] }, sum: 0, malformed: 0 } })
            dropped 0: "#]],
    )
    .await;
    let mut rig = Rig::new();
    for params in ["7", "null", "[]", r#"{"uri":7}"#, r#"{"diagnostics":{}}"#] {
        for method in ["textDocument/publishDiagnostics", "$/progress", "window/logMessage", "window/showMessage"] {
            rig.peer.body(format!(r#"{{"method":"{method}","params":{params}}}"#)).await;
        }
    }
    rig.is_alive().await;
    assert_eq!(rig.connection.stats().dropped, 20);
    check(
        r#"{"method":"unknown/thing","params":[1]}"#,
        expect![[r#"
            Other { method: "unknown/thing", params: Array [Number(1)] }
            dropped 0: "#]],
    )
    .await;
    let long = "x".repeat(201);
    check(format!(r#"{{"method":"{long}"}}"#), expect!["dropped 1: a method name that is too long"]).await;
}

#[tokio::test]
async fn depth_is_bounded() {
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    check(
        nested.as_bytes(),
        expect!["dropped 1: a message that is not a JSON object, or has a part of the wrong kind"],
    )
    .await;
    check(
        format!(r#"{{"method":"x/y","params":{nested}}}"#),
        expect!["dropped 1: a request or notification nested too deep"],
    )
    .await;

    let mut rig = Rig::new();
    rig.peer.body(format!(r#"{{"id":"deep","method":"x/y","params":{nested}}}"#)).await;
    let refused = rig.peer.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("deep"), &json!(-32600)));
    let pending = rig.ask("hover");
    let id = rig.peer.next().await["id"].clone();
    rig.peer.body(format!(r#"{{"id":{id},"result":{nested}}}"#)).await;
    let error = soon(pending).await.expect_err("no such answer");
    expect!["its answer is nested more than 128 deep"].assert_eq(&error.to_string());
    rig.is_alive().await;

    // Brackets in texts do not count.
    let brackets = "[".repeat(130);
    check(format!(r#"{{"method":"window/logMessage","params":{{"message":"\"\\{brackets}"}}}}"#), expect![[r#"
        Log { level: 4, text: "\"\\[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[" }
        dropped 0: "#]])
        .await;
}

#[tokio::test]
async fn large_notifications_never_reach_the_router_whole() {
    let mut rig = Rig::with(WireLimits::default(), 1024 * 1024);
    let large = "x".repeat(2 * 1024 * 1024);
    rig.peer.send(&log("before")).await;
    rig.peer.send(&log(&large)).await;
    rig.peer.send(&json!({ "id": 7, "method": "workspace/configuration", "params": { "x": large } })).await;
    assert_eq!(rig.peer.next().await["error"]["code"], -32600);
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 1 } });
    let list: Vec<_> = (0..20_000).map(|n| json!({ "range": range, "message": n.to_string() })).collect();
    let params = json!({ "uri": "file:///a", "version": 3, "diagnostics": list });
    rig.peer.send(&json!({ "method": "textDocument/publishDiagnostics", "params": params })).await;
    rig.peer.send(&log("after")).await;
    let told = rig.host.wait_for(3).await;
    assert_eq!(told[0], Told::Log { level: 4, text: "before".to_owned() });
    assert!(matches!(&told[1], Told::Published(list) if list.list.told().sum() == 20_000 && list.version == Some(3)));
    assert_eq!(told[2], Told::Log { level: 4, text: "after".to_owned() });
    assert_eq!(rig.connection.stats().dropped, 2);
}

#[tokio::test]
async fn floods_are_throttled_but_begin_and_end_pass() {
    let limits = WireLimits { logs_per_second: 1, reports_per_second: 1, ..WireLimits::default() };
    let mut rig = Rig::with(limits, 1024 * 1024);
    let progress = |value: &Value| json!({ "method": "$/progress", "params": { "token": 1, "value": value } });
    for _ in 0..50 {
        rig.peer.send(&log("again")).await;
        rig.peer.send(&progress(&json!({ "kind": "report" }))).await;
        rig.peer.send(&progress(&json!({ "kind": "begin", "title": "t" }))).await;
    }
    rig.is_alive().await;
    let told = rig.host.all();
    let begun = told.iter().filter(|told| matches!(told, Told::Progress { value: ProgressValue::Begin { .. }, .. }));
    assert_eq!(begun.count(), 50);
    assert!(told.len() < 50 + 50, "{}", told.len());
    assert!(rig.connection.stats().throttled > 50);
}

#[tokio::test]
async fn junk_is_kept_harmless() {
    let mut rig = Rig::new();
    rig.peer.raw("\u{1b}[31mStarting\u{202e} up\u{7}…\r\n").await;
    rig.is_alive().await;
    for n in 0..20 {
        rig.peer.raw(format!("line {n} {}\n", "x".repeat(1_000))).await;
    }
    rig.is_alive().await;
    let stats = rig.connection.stats();
    assert_eq!((stats.junk_lines, stats.junk.len()), (21, 5));
    assert_eq!(stats.junk[0], "[31mStarting up…");
    assert_eq!(stats.junk[1].chars().count(), 200);
}

#[tokio::test]
async fn a_fatal_frame_ends_everything_and_is_named() {
    for (bytes, expected) in [
        (
            "Content-Length: 1099511627776\r\n\r\n{",
            expect!["the server sent a message of 1099511627776 bytes; the limit is 67108864"],
        ),
        ("Content-Length: x\r\n\r\n", expect!["the server sent a Content-Length that is no number: `x`"]),
    ] {
        let mut rig = Rig::new();
        let pending = rig.ask("hover");
        rig.peer.raw(bytes).await;
        let reason = soon(rig.connection.closed()).await;
        expected.assert_eq(&reason.to_string());
        assert_eq!(soon(pending).await.expect_err("closed"), RequestError::Closed(reason.clone()));
        assert_eq!(rig.connection.notify("x", &()), Err(Closed(reason)));
        soon(rig.connection.caught_up(u64::MAX)).await;
        rig.peer.drained().await;
    }
}

fn depth_of(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth_of).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth_of).max().unwrap_or(0),
        _ => 0,
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        "[\\[\\]{}\"\\\\a]{0,6}".prop_map(Value::from)
    ];
    leaf.prop_recursive(8, 64, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[\\[\"]{0,3}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #[test]
    fn depth_is_that_of_the_value(value in any_json()) {
        let text = value.to_string();
        let depth = depth_of(&value);
        prop_assert!(!deeper_than(text.as_bytes(), depth));
        prop_assert!(depth == 0 || text.len() < depth || deeper_than(text.as_bytes(), depth - 1));
    }

    #[test]
    fn any_bytes_are_an_envelope_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = deeper_than(&bytes, 3);
        let _ = Envelope::read(&bytes).map(Envelope::kind);
    }

    #[test]
    fn no_message_ends_the_connection(
        messages in proptest::collection::vec(
            proptest::collection::btree_map(
                prop_oneof![Just("id"), Just("method"), Just("params"), Just("result"), Just("error")],
                prop_oneof![any_json(), any_method().prop_map(Value::from)],
                0..5,
            ),
            0..20,
        ),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let mut rig = Rig::with(WireLimits::default(), 1024 * 1024);
            for message in &messages {
                rig.peer.send(&json!(message)).await;
            }
            rig.peer.send(&json!({ "id": "the end", "method": "workspace/workspaceFolders" })).await;
            while rig.peer.next().await["id"] != "the end" {}
            rig.is_alive().await;
        });
    }
}

fn any_method() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "$/progress",
        "client/registerCapability",
        "client/unregisterCapability",
        "custom/known",
        "custom/unknown",
        "telemetry/event",
        "textDocument/publishDiagnostics",
        "window/logMessage",
        "window/showMessageRequest",
        "window/workDoneProgress/create",
        "workspace/applyEdit",
        "workspace/configuration",
        "workspace/diagnostic/refresh",
    ])
}
