//! Full pipes, servers that do not read, and crowds of requests: nothing stops for ever.

use serde_json::json;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_pipes_full() {
    let mut rig = Rig::with(WireLimits::default(), 4 * 1024);
    let text = "x".repeat(1024 * 1024);
    rig.connection.notify("textDocument/didOpen", &json!({ "text": text })).expect("open");
    rig.connection.notify("textDocument/didChange", &json!({ "text": text })).expect("open");
    let pending = rig.ask("hover");
    // The server writes a megabyte before it reads anything.
    rig.peer.send(&json!({ "method": "some/thing", "params": "y".repeat(1_000_000) })).await;
    for _ in 0..100 {
        rig.peer
            .send(&json!({ "id": 7, "method": "client/registerCapability", "params": { "x": "z".repeat(5_000) } }))
            .await;
    }
    assert_eq!(rig.peer.next().await["method"], "textDocument/didOpen");
    assert_eq!(rig.peer.next().await["method"], "textDocument/didChange");
    assert_eq!(rig.peer.next().await["method"], "hover");
    for _ in 0..100 {
        assert_eq!(rig.peer.next().await["id"], 7);
    }
    rig.peer.send(&json!({ "id": 1, "result": "done" })).await;
    soon(pending).await.expect("an answer");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_overlapping_requests() {
    let mut rig = Rig::with(WireLimits::default(), 1024);
    for id in 0..500 {
        rig.peer
            .send(
                &json!({ "id": id, "method": "workspace/configuration", "params": { "items": [{ "section": "a" }] } }),
            )
            .await;
        rig.peer.send(&json!({ "method": "$/cancelRequest", "params": { "id": id } })).await;
    }
    for id in 0..500 {
        assert_eq!(rig.peer.next().await, json!({ "jsonrpc": "2.0", "id": id, "result": [null] }));
    }
    rig.is_alive().await;
}

#[tokio::test]
async fn a_server_that_does_not_read_is_a_backlog_then_the_end() {
    let limits = WireLimits { backlog_bytes: 10_000, ..WireLimits::default() };
    let mut rig = Rig::with(limits, 64);
    let text = "x".repeat(9_000);
    // One message may be as large as it likes.
    let first = rig.connection.request("first", &json!({ "text": "x".repeat(20_000) }), SOON).expect("an empty queue");
    let error = rig.connection.request("second", &json!({ "text": text }), SOON).expect_err("a full one");
    assert_eq!(error, RequestError::Backlog);
    // Its answers are still read.
    rig.peer.send(&json!({ "id": first.id(), "result": 1 })).await;
    soon(first).await.expect("an answer");
    let closed = (0..5).map(|_| rig.connection.notify("third", &json!({ "text": text }))).find_map(Result::err);
    let Some(Closed(why @ CloseReason::Deaf(_))) = closed else { panic!("{closed:?}") };
    assert!(why.to_string().starts_with("the server does not read its input: "), "{why}");
    assert_eq!(soon(rig.connection.closed()).await, why);
}

#[tokio::test]
async fn very_many_small_messages_are_too_many_as_well() {
    let rig = Rig::with(WireLimits::default(), 64);
    let told = (0..20_000).take_while(|_| rig.connection.notify("x", &json!({})).is_ok()).count();
    assert!((16_000..17_000).contains(&told), "{told}");
    assert!(matches!(soon(rig.connection.closed()).await, CloseReason::Deaf(bytes) if bytes < 2 << 20));
}

#[tokio::test]
async fn a_request_that_the_server_never_saw_is_taken_back() {
    let mut rig = Rig::with(WireLimits::default(), 64);
    let first = rig.connection.request("first", &json!({ "text": "x".repeat(100_000) }), SOON).expect("open");
    // Lets the writer begin with the first.
    tokio::task::yield_now().await;
    for _ in 0..1_000 {
        drop(rig.ask("never"));
    }
    let last = rig.ask("last");
    assert!(rig.connection.stats().queued_bytes < 101_000);
    assert_eq!(rig.peer.answer(&json!(1)).await, first.id());
    assert_eq!(rig.peer.answer(&json!(2)).await, last.id());
    soon(first).await.expect("an answer");
    soon(last).await.expect("an answer");
}

#[tokio::test]
async fn closing_does_not_wait_for_a_server_that_does_not_read() {
    let rig = Rig::with(WireLimits::default(), 64);
    rig.connection.notify("large", &json!({ "text": "x".repeat(100_000) })).expect("open");
    rig.connection.close();
    // The writer gives up and lets go of the pipe, although nothing was read.
    let mut output = rig.peer.output;
    let gone = async { while output.write_all(b"x").await.is_ok() {} };
    soon(gone).await;
}

#[tokio::test]
async fn a_flood_is_backed_up_not_stored() {
    let mut rig = Rig::with(WireLimits::default(), 64 * 1024);
    let text = "x".repeat(900_000);
    for n in 0..40 {
        rig.peer.send(&json!({ "method": "some/thing", "params": { "n": n, "text": text } })).await;
    }
    let told = rig.host.wait_for(40).await;
    assert!(told.iter().all(|told| matches!(told, Told::Other { params: Value::Null, .. })));
    rig.is_alive().await;
}
