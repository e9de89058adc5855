//! What servers ask: every request is answered, at any time.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

/// One question and its answer, without `jsonrpc` and `id`.
async fn check(method: &str, params: &Value, answer: Expect) {
    let mut rig = Rig::new();
    let mut got = rig.peer.ask(json!(1), method, params).await;
    let got = got.as_object_mut().expect("an object");
    assert_eq!((got.remove("jsonrpc"), got.remove("id")), (Some(json!("2.0")), Some(json!(1))));
    let told: Vec<_> = rig.host.all().iter().map(|told| format!("\n{told:?}")).collect();
    answer.assert_eq(&format!("{}{}", json!(got), told.concat()));
}

#[tokio::test]
async fn configuration_has_one_value_for_each_item() {
    check(
        "workspace/configuration",
        &json!({ "items": [{ "section": "set", "scopeUri": "file:///a" }, { "section": "unset" }, {}, { "section": "" }, 7, { "section": 7 }] }),
        expect![[r#"{"result":[{"scope":"file:///a","value":1},null,"everything","everything","everything","everything"]}"#]],
    )
    .await;
    check("workspace/configuration", &json!({ "items": [] }), expect![[r#"{"result":[]}"#]]).await;
    check("workspace/configuration", &json!(null), expect![[r#"{"result":[]}"#]]).await;
    let many = json!({ "items": vec![json!({ "section": "a" }); 10_001] });
    check(
        "workspace/configuration",
        &many,
        expect![[r#"{"error":{"code":-32602,"data":null,"message":"too many items"}}"#]],
    )
    .await;
}

#[tokio::test]
async fn configuration_is_answered_while_we_wait_for_the_server() {
    let mut rig = Rig::new();
    let pending = rig.ask("initialize");
    let id = rig.peer.next().await["id"].clone();
    let items: Vec<_> = (0..22).map(|_| json!({ "section": "set" })).collect();
    let answer = rig.peer.ask(json!("config"), "workspace/configuration", &json!({ "items": items })).await;
    assert_eq!(answer["result"].as_array().map(Vec::len), Some(22));
    rig.peer.send(&json!({ "id": id, "result": {} })).await;
    soon(pending).await.expect("an answer");
}

#[tokio::test]
async fn registrations_succeed_whatever_they_are() {
    let registrations = json!({ "registrations": [
        { "id": "1", "method": "workspace/didChangeWatchedFiles", "registerOptions": { "watchers": [] } },
        { "id": "2", "method": "made/up" },
        { "id": 3, "method": "number/id" },
        { "method": "no/id" },
        "odd",
    ] });
    check(
        "client/registerCapability",
        &registrations,
        expect![[r#"
            {"result":null}
            Registered([Registration { id: "1", method: "workspace/didChangeWatchedFiles", options: Object {"watchers": Array []} }, Registration { id: "2", method: "made/up", options: Null }, Registration { id: "3", method: "number/id", options: Null }])"#]],
    )
    .await;
    check(
        "client/registerCapability",
        &json!(7),
        expect![[r#"
        {"result":null}
        Registered([])"#]],
    )
    .await;
    check(
        "client/unregisterCapability",
        &json!({ "unregisterations": [{ "id": "1", "method": "a" }], "unregistrations": [{ "id": "2", "method": "b" }] }),
        expect![[r#"
            {"result":null}
            Unregistered([("1", "a"), ("2", "b")])"#]],
    )
    .await;
}

#[tokio::test]
async fn everything_else_has_its_answer() {
    check("workspace/workspaceFolders", &json!(null), expect![[r#"{"result":[{"name":"w","uri":"file:///w"}]}"#]])
        .await;
    check(
        "window/workDoneProgress/create",
        &json!({ "token": 7 }),
        expect![[r#"
        {"result":null}
        ProgressCreated { token: "7" }"#]],
    )
    .await;
    check(
        "workspace/diagnostic/refresh",
        &json!(null),
        expect![[r#"
        {"result":null}
        Refresh(Diagnostics)"#]],
    )
    .await;
    check(
        "workspace/new/refresh",
        &json!(null),
        expect![[r#"
        {"result":null}
        Refresh(Other)"#]],
    )
    .await;
    check(
        "window/showMessageRequest",
        &json!({ "type": 1, "message": "m", "actions": [{ "title": "go" }] }),
        expect![[r#"
        {"result":null}
        Show { level: 1, text: "m" }"#]],
    )
    .await;
    check("window/showDocument", &json!({ "uri": "file:///a" }), expect![[r#"{"result":{"success":false}}"#]]).await;
    check(
        "workspace/applyEdit",
        &json!({ "edit": {} }),
        expect![[r#"{"result":{"applied":false,"failureReason":"nobody asked for it"}}"#]],
    )
    .await;
    check("custom/known", &json!({ "a": 1 }), expect![[r#"{"result":[{"a":1}]}"#]]).await;
    check(
        "custom/unknown",
        &json!({}),
        expect![[r#"{"error":{"code":-32601,"data":null,"message":"langport does not know custom/unknown"}}"#]],
    )
    .await;
}

#[tokio::test]
async fn ids_come_back_as_they_were() {
    let mut rig = Rig::new();
    for id in [
        "7",
        "-7",
        "2147483648",
        "9223372036854775807",
        "123456789012345678901234567890",
        "1.5",
        "1e3",
        "\"a \\\"b\\\" é\"",
        "\"\"",
    ] {
        rig.peer.body(format!(r#"{{"id":{id},"method":"workspace/workspaceFolders"}}"#)).await;
        let text = rig.peer.text().await;
        assert!(text.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)), "{text}");
    }
    // The same id again and again, also while it is still being answered.
    for _ in 0..3 {
        rig.peer.send(&json!({ "id": 1, "method": "workspace/workspaceFolders" })).await;
    }
    for _ in 0..3 {
        assert_eq!(rig.peer.next().await["id"], 1);
    }
}

#[tokio::test]
async fn after_shutdown_unknown_requests_succeed() {
    let mut rig = Rig::new();
    let pending = rig.ask("shutdown");
    let id = rig.peer.next().await["id"].clone();
    let answer = rig.peer.ask(json!(5), "custom/unknown", &json!({})).await;
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 5, "result": null }));
    rig.peer.send(&json!({ "id": id, "result": null })).await;
    assert_eq!(soon(pending).await.expect("an answer").result(), b"null");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_said_first_is_handled_first() {
    let mut rig = Rig::new();
    for round in 0..50 {
        let pending = rig.ask("hover");
        let id = rig.peer.next().await["id"].clone();
        rig.peer.send(&log(&format!("before {round}"))).await;
        rig.peer.send(&json!({ "id": "r", "method": "client/registerCapability", "params": {} })).await;
        rig.peer.send(&json!({ "id": id, "result": round })).await;
        let response = soon(pending).await.expect("an answer");
        soon(rig.connection.caught_up(response.order)).await;
        let told = rig.host.all();
        assert_eq!(told.len(), 2 * (round + 1));
        assert_eq!(told[2 * round], Told::Log { level: 4, text: format!("before {round}") });
        rig.peer.next().await;
    }
}

#[tokio::test]
async fn progress_in_all_its_forms() {
    let mut rig = Rig::new();
    let mut send = async |token: Value, value: Value| {
        rig.peer.send(&json!({ "method": "$/progress", "params": { "token": token, "value": value } })).await;
    };
    send(json!(1), json!({ "kind": "begin", "title": "Indexing", "percentage": 12.7 })).await;
    send(json!("a"), json!({ "kind": "report", "message": 7, "percentage": 4000 })).await;
    send(json!("a"), json!({ "kind": "end", "message": "done" })).await;
    send(json!("partial"), json!([1, 2])).await;
    send(json!("odd"), json!({ "kind": "other" })).await;
    let told = rig.host.wait_for(3).await;
    expect![[r#"
        [
            Progress {
                token: "1",
                value: Begin {
                    title: "Indexing",
                    message: None,
                    percentage: Some(
                        12,
                    ),
                },
            },
            Progress {
                token: "a",
                value: Report {
                    message: None,
                    percentage: Some(
                        100,
                    ),
                },
            },
            Progress {
                token: "a",
                value: End {
                    message: Some(
                        "done",
                    ),
                },
            },
        ]
    "#]]
    .assert_debug_eq(&told);
    rig.is_alive().await;
    assert_eq!((rig.host.all().len(), rig.connection.stats().dropped), (4, 0));
}

#[tokio::test]
async fn a_failing_host_does_not_end_the_connection() {
    let mut rig = Rig::new();
    rig.host.panics.store(2, Relaxed);
    rig.peer.send(&log("lost")).await;
    let answer = rig.peer.ask(json!(1), "window/workDoneProgress/create", &json!({ "token": 1 })).await;
    assert_eq!(answer["error"]["code"], -32603);
    rig.is_alive().await;
    assert_eq!(rig.host.all().len(), 1);
}
