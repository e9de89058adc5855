//! What we ask: ids, deadlines, cancellation, and that nothing is left behind.

use serde_json::json;

use super::*;

#[tokio::test]
async fn messages_keep_their_order_and_shape() {
    let mut rig = Rig::new();
    rig.connection.notify("initialized", &json!({})).expect("open");
    let _first = rig.connection.request("textDocument/hover", &json!({ "a": "é" }), SOON).expect("open");
    rig.connection.notify("exit", &()).expect("open");
    let _second = rig.connection.request("shutdown", &Value::Null, SOON).expect("open");
    assert_eq!(rig.peer.next().await, json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
    let hover = json!({ "jsonrpc": "2.0", "id": 1, "method": "textDocument/hover", "params": { "a": "é" } });
    assert_eq!(rig.peer.next().await, hover);
    assert_eq!(rig.peer.next().await, json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(rig.peer.next().await, json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" }));
    assert_eq!(rig.connection.stats().sent, 4);
}

#[tokio::test]
async fn answers_come_back_raw() {
    let mut rig = Rig::new();
    for (answer, expected) in [
        (r#""result" : {"a":[1, 2 ]} "#, r#"{"a":[1, 2 ]}"#),
        (r#""error":null,"result":7"#, "7"),
        (r#""result":null"#, "null"),
        (r#""other":true"#, "null"),
    ] {
        let pending = rig.ask("any");
        let id = rig.peer.next().await["id"].clone();
        assert_eq!(id, pending.id());
        rig.peer.body(format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#)).await;
        assert_eq!(String::from_utf8_lossy(soon(pending).await.expect("an answer").result()), expected);
    }
    // Ids that lost their type on the way.
    for id in ["\"5\"", "6.0"] {
        let pending = rig.ask("any");
        rig.peer.next().await;
        rig.peer.body(format!(r#"{{"id":{id},"result":1}}"#)).await;
        soon(pending).await.expect("an answer");
    }
}

#[tokio::test]
async fn errors_in_every_shape() {
    let mut rig = Rig::new();
    for (error, code, message, retrigger) in [
        (r#"{"code":-32801,"message":"content modified"}"#, -32801, "content modified", true),
        (r#"{"code":-32802,"message":"x","data":{"retriggerRequest":false}}"#, -32802, "x", false),
        (r#"{"code":99999999999,"message":"large"}"#, 99_999_999_999, "large", true),
        (r#"{"code":1e300,"message":"larger"}"#, i64::MAX, "larger", true),
        (r#"{"code":"-5","message":{"a":1}}"#, -5, r#"{"a":1}"#, true),
        (r#"{"code":1}"#, 1, "no reason given", true),
        (r#""only text""#, -32603, "only text", true),
        ("false", -32603, "false", true),
        ("[]", -32603, "no reason given", true),
    ] {
        let pending = rig.ask("any");
        let id = rig.peer.next().await["id"].clone();
        rig.peer.body(format!(r#"{{"id":{id},"error":{error}}}"#)).await;
        let got = soon(pending).await.expect_err("an error");
        assert_eq!(got, RequestError::Server { code, message: message.to_owned(), retrigger }, "{error}");
    }
}

#[tokio::test]
async fn a_dropped_request_is_cancelled_and_its_late_answer_dropped() {
    let mut rig = Rig::new();
    let pending = rig.ask("hover");
    let id = rig.peer.next().await["id"].clone();
    drop(pending);
    assert_eq!(rig.connection.stats().pending, 0);
    let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": id } });
    assert_eq!(rig.peer.next().await, cancel);
    rig.peer.send(&json!({ "id": id, "result": 1 })).await;
    rig.peer.send(&json!({ "id": id, "error": { "code": -32800, "message": "cancelled" } })).await;
    rig.is_alive().await;
    let stats = rig.connection.stats();
    assert_eq!((stats.late, stats.dropped), (2, 0));
}

#[tokio::test]
async fn an_answered_request_is_not_cancelled() {
    let mut rig = Rig::new();
    let pending = rig.ask("hover");
    rig.peer.answer(&json!(1)).await;
    // Proves that the answer has arrived.
    rig.peer.ask(json!(1), "workspace/workspaceFolders", &json!(null)).await;
    drop(pending);
    rig.connection.notify("next", &json!({})).expect("open");
    assert_eq!(rig.peer.next().await["method"], "next");
}

#[tokio::test]
async fn a_thousand_timeouts_leave_nothing() {
    let mut rig = Rig::new();
    let soon_over = Duration::from_millis(1);
    for round in 0..1_000u64 {
        let pending = rig.connection.request("hover", &json!({}), soon_over).expect("open");
        let id = rig.peer.next().await["id"].clone();
        let error = soon(pending).await.expect_err("no answer");
        assert_eq!(error, RequestError::Timeout { method: "hover".to_owned(), after: soon_over });
        assert_eq!(rig.peer.next().await["params"]["id"], id);
        rig.peer.send(&json!({ "id": id, "result": round })).await;
    }
    rig.is_alive().await;
    let stats = rig.connection.stats();
    assert_eq!((stats.pending, stats.late, stats.queued_bytes), (0, 1_000, 0));
}

#[tokio::test]
async fn pending_requests_are_limited_but_shutdown_passes() {
    let mut rig = Rig::new();
    let pending: Vec<_> = (0..64).map(|_| rig.ask("hover")).collect();
    assert!(matches!(rig.connection.request("hover", &json!({}), SOON), Err(RequestError::Busy)));
    let shutdown = rig.connection.request("shutdown", &Value::Null, SOON).expect("always");
    for _ in 0..64 {
        rig.peer.next().await;
    }
    rig.peer.answer(&Value::Null).await;
    soon(shutdown).await.expect("an answer");
    drop(pending);
    rig.ask("hover").id();
}

#[tokio::test]
async fn the_end_of_the_server_fails_everything_at_once() {
    let mut rig = Rig::new();
    let pending: Vec<_> = (0..10).map(|_| rig.ask("hover")).collect();
    rig.peer.send(&log("last words")).await;
    drop(rig.peer);
    for pending in pending {
        assert_eq!(soon(pending).await.expect_err("closed"), RequestError::Closed(CloseReason::Eof));
    }
    assert!(rig.connection.is_closed());
    soon(rig.connection.caught_up(u64::MAX)).await;
    assert_eq!(rig.host.all(), [Told::Log { level: 4, text: "last words".to_owned() }]);
    let refused = rig.connection.request("hover", &json!({}), SOON).expect_err("closed");
    assert_eq!(refused, RequestError::Closed(CloseReason::Eof));
}

#[tokio::test]
async fn closing_writes_what_was_said_and_ends_the_stream() {
    let mut rig = Rig::with(WireLimits::default(), 64);
    let pending = rig.ask("hover");
    rig.connection.notify("exit", &json!({ "long": "x".repeat(1_000) })).expect("open");
    rig.connection.close();
    assert_eq!(soon(pending).await.expect_err("closed"), RequestError::Closed(CloseReason::Local));
    assert_eq!(rig.peer.next().await["method"], "hover");
    assert_eq!(rig.peer.next().await["method"], "exit");
    rig.peer.drained().await;
    assert_eq!(soon(rig.connection.closed()).await, CloseReason::Local);
}

#[tokio::test]
async fn dropping_the_connection_closes_it() {
    let rig = Rig::new();
    let closed = rig.connection.closed();
    let pending = rig.ask("hover");
    drop(rig.connection);
    assert_eq!(soon(closed).await, CloseReason::Local);
    assert!(soon(pending).await.is_err());
    rig.peer.drained().await;
}

#[tokio::test]
async fn requests_can_be_made_outside_the_runtime() {
    let mut rig = Rig::new();
    let connection = Arc::new(rig.connection);
    let asking = Arc::clone(&connection);
    let pending = std::thread::spawn(move || asking.request("hover", &json!({}), SOON)).join().expect("no panic");
    rig.peer.answer(&json!(1)).await;
    soon(pending.expect("open")).await.expect("an answer");
}

#[tokio::test(start_paused = true)]
async fn large_answers_of_all_servers_are_bounded_together() {
    for size in [700_000, 3_000_000] {
        let room = Room::new(6_500_000, 1_500_000);
        let mut rigs = [0, 1, 2].map(|_| Rig::within(&room, WireLimits::default(), 4 * 1024 * 1024));
        let large = json!("x".repeat(size));
        let mut held = Vec::new();
        for rig in &mut rigs {
            let pending = rig.ask("hover");
            rig.peer.answer(&large).await;
            held.push(soon(pending).await);
        }
        assert!(held[0].is_ok() && held[1].is_ok(), "{held:?}");
        let dropped = "was dropped: there were too many large ones at once".to_owned();
        assert_eq!(held.pop().map(Result::err), Some(Some(RequestError::Unusable(dropped))));
        // What is small goes on meanwhile.
        rigs[2].is_alive().await;
        // One that waits goes on as soon as there is room.
        let pending = rigs[2].ask("hover");
        rigs[2].peer.answer(&large).await;
        tokio::task::yield_now().await;
        held.pop();
        soon(pending).await.expect("room again");
    }
}

#[tokio::test(start_paused = true)]
async fn a_large_answer_that_comes_slowly_keeps_no_room_from_others() {
    let room = Room::new(3_000_000, 1_000_000);
    let mut rigs = [0, 1].map(|_| Rig::within(&room, WireLimits::default(), 4 * 1024 * 1024));
    let [slow, quick] = &mut rigs;
    let stuck = slow.ask("hover");
    let id = slow.peer.next().await["id"].clone();
    let body = format!(r#"{{"id":{id},"result":"{}"}}"#, "x".repeat(2_000_000));
    let (begin, end) = body.split_at(1_500_000);
    slow.peer.raw(format!("Content-Length: {}\r\n\r\n{begin}", body.len())).await;
    tokio::task::yield_now().await;
    let pending = quick.ask("hover");
    quick.peer.answer(&json!("y".repeat(2_000_000))).await;
    soon(pending).await.expect("an answer, once the other one has had its time");
    slow.peer.raw(end).await;
    let error = soon(stuck).await.expect_err("passed over");
    assert_eq!(
        error,
        RequestError::Unusable("was dropped: it is large, came slowly, and others waited for its room".to_owned())
    );
    slow.is_alive().await;
}

#[tokio::test]
async fn an_answer_of_no_use_ends_its_request_at_once() {
    let mut rig = Rig::new();
    let (first, second) = (rig.ask("hover"), rig.ask("hover"));
    let (first_id, second_id) = (rig.peer.next().await["id"].clone(), rig.peer.next().await["id"].clone());
    rig.peer.body(format!(r#"{{"jsonrpc":"2.0","id":{second_id},"result":{{"contents":undefined}}}}"#)).await;
    assert_eq!(soon(second).await.expect_err("no JSON"), RequestError::Unusable("is no valid JSON".to_owned()));
    // Without an id it is that of the only request.
    rig.peer.body(r#"{"jsonrpc":"2.0","result":{"contents":"#).await;
    assert_eq!(soon(first).await.expect_err("no JSON"), RequestError::Unusable("is no valid JSON".to_owned()));
    // Of two it may be anybody's; nor is junk, or a notification, anybody's answer.
    let pending = (rig.ask("hover"), rig.ask("hover"));
    let ids = (rig.peer.next().await["id"].clone(), rig.peer.next().await["id"].clone());
    for body in [r#"{"jsonrpc":"2.0","result":{"#, "{{{{", r#"{"method":"x","params":{"id":1"#] {
        rig.peer.body(body).await;
    }
    for id in [ids.0, ids.1] {
        rig.peer.send(&json!({ "id": id, "result": 1 })).await;
    }
    soon(pending.0).await.expect("an answer");
    soon(pending.1).await.expect("an answer");
    assert_ne!(first_id, second_id);
    rig.is_alive().await;
}

#[tokio::test]
async fn what_is_too_large_to_be_kept_is_passed_over() {
    let limits = WireLimits { kept_bytes: 10_000, ..WireLimits::default() };
    let mut rig = Rig::with(limits, 64 * 1024);
    let large = "x".repeat(2_000_000);
    let pending = rig.ask("hover");
    rig.peer.answer(&json!(large)).await;
    let error = soon(pending).await.expect_err("too large");
    assert_eq!(error, RequestError::Unusable("has 2 MiB, more than the 1 MiB that are kept".to_owned()));
    let refused = rig.peer.ask(json!("theirs"), "workspace/configuration", &json!(large)).await;
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    rig.peer.send(&json!({ "method": "textDocument/publishDiagnostics", "params": large })).await;
    // A list may be half as large.
    let limits = WireLimits { inbound_bytes: 1_000, kept_bytes: 10_000, ..WireLimits::default() };
    rig.is_alive().await;
    assert_eq!(rig.connection.stats().dropped, 3);
    let mut rig = Rig::with(limits, 64 * 1024);
    for size in [2_000, 6_000] {
        let params = json!({ "uri": "file:///w/a", "diagnostics": [], "filler": "x".repeat(size) });
        rig.peer.send(&json!({ "method": "textDocument/publishDiagnostics", "params": params })).await;
        rig.is_alive().await;
    }
    assert_eq!(rig.connection.stats().dropped, 1);
}
