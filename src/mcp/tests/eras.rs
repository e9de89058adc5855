//! Handshakes, lists and their changes, odd messages, the end of the stream.

use super::*;

#[tokio::test]
async fn a_known_version_is_echoed_and_another_gets_the_newest() {
    for (asked, answered) in [
        (json!("2024-11-05"), "2024-11-05"),
        (json!("2025-03-26"), "2025-03-26"),
        (json!("2025-06-18"), "2025-06-18"),
        (json!("2025-11-25"), "2025-11-25"),
        (json!("1999-01-01"), "2025-11-25"),
        (json!("2099-01-01"), "2025-11-25"),
        (json!("2026-07-28"), "2025-11-25"),
        (Value::Null, "2025-11-25"),
        (json!(7), "2025-11-25"),
    ] {
        let mut client = Client::start(McpSettings::default());
        let hello = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = client.request("initialize", hello).await;
        assert_eq!(answer["result"]["protocolVersion"], answered, "{asked}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "langport");
        assert!(answer["result"]["instructions"].as_str().unwrap().contains("VERDICT"));
        assert_eq!(
            answer["result"]["capabilities"],
            json!({"resources": {"subscribe": true}, "tools": {"listChanged": true}})
        );
        client.close().await;
    }
}

#[tokio::test]
async fn an_empty_handshake_is_answered_and_a_second_one_too() {
    let mut client = Client::start(McpSettings::default());
    let answer = client.request("initialize", json!({})).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    let answer = client.request("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {}})).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
    assert_eq!(text(&client.call("lsp_hover", json!({})).await), HOVER);
    client.close().await;
}

#[tokio::test]
async fn what_comes_before_the_handshake_does_not_end_the_server() {
    let mut client = Client::start(McpSettings::default());
    client.raw("not json\n\n[]\n").await;
    assert_eq!(client.receive().await["error"]["code"], -32600);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    client.send(&json!({"jsonrpc": "2.0", "id": 77, "result": {}})).await;
    assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
    assert_eq!(client.request("tools/list", json!({})).await["error"]["code"], -32602);
    client.cancel(3).await;
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    assert!(client.request("initialize", hello).await["result"].is_object());
    // Not yet `initialized`: answered all the same.
    assert!(client.request("tools/list", json!({})).await["result"]["tools"].is_array());
    client.close().await;
}

#[tokio::test]
async fn discover_says_what_initialize_says() {
    let mut client = Client::modern(McpSettings::default());
    let answer = client.request("server/discover", json!({})).await;
    let result = &answer["result"];
    assert!(result["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{answer}");
    assert!(result["instructions"].as_str().unwrap().contains("VERDICT"));
    assert_eq!(result["capabilities"], json!({"resources": {"subscribe": true}, "tools": {"listChanged": true}}));
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "langport");
    let answer = client.call("lsp_hover", json!({})).await;
    assert_eq!(text(&answer), HOVER);
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "langport");
    assert_eq!(client.seen.recv().await.unwrap().caller.client, "t 1");
    client.close().await;
}

#[tokio::test]
async fn lists_are_the_same_for_everyone_and_small() {
    let mut old = Client::legacy(McpSettings::default()).await;
    let mut new = Client::modern(McpSettings::default());
    let first = old.request("tools/list", json!({})).await["result"].to_string();
    assert_eq!(first, old.request("tools/list", json!({"cursor": ""})).await["result"].to_string());
    let result = new.request("tools/list", json!({})).await["result"].clone();
    assert_eq!(result["cacheScope"], "private");
    assert_eq!(serde_json::from_str::<Value>(&first).unwrap()["tools"], result["tools"]);
    assert!(first.len() <= 12_000, "{} bytes", first.len());
    assert_eq!(new.request("tools/list", json!({"cursor": "x"})).await["error"]["code"], -32602);
    old.close().await;
    new.close().await;
}

#[tokio::test]
async fn only_what_is_offered_is_listed() {
    let settings = McpSettings {
        offered: Arc::new(|| vec![ToolId::Status, ToolId::Hover]),
        names: ToolNames::Slash,
        ..McpSettings::default()
    };
    let mut client = Client::legacy(settings).await;
    let answer = client.request("tools/list", json!({})).await;
    let names: Vec<&Value> = answer["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["lsp/hover", "lsp/status"]);
    assert_eq!(text(&client.call("lsp_references", json!({})).await), HOVER);
    client.close().await;
}

#[tokio::test(start_paused = true)]
async fn changes_of_the_list_are_told_once_in_both_eras() {
    let mut old = Client::legacy(McpSettings::default()).await;
    let mut new = Client::modern(McpSettings::default());
    assert!(old.request("tools/list", json!({})).await["result"].is_object());
    let id = new
        .post("subscriptions/listen", json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}}))
        .await;
    let acknowledged = new.receive().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({"toolsListChanged": true}), "{acknowledged}");
    for client in [&mut old, &mut new] {
        for _ in 0..5 {
            client.settings.changes.changed();
        }
        assert_eq!(client.receive().await["method"], "notifications/tools/list_changed");
        // Nothing else comes before the next answer.
        assert!(client.request("tools/list", json!({})).await["result"].is_object());
    }
    new.settings.changes.changed();
    let told = new.receive().await;
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{told}");
    // An open subscription ends well with the stream, and does not hold it up.
    let rest = new.close().await;
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["id"], id);
    assert!(old.close().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn without_a_subscription_nothing_is_told() {
    let mut client = Client::modern(McpSettings::default());
    assert!(client.request("tools/list", json!({})).await["result"].is_object());
    client.settings.changes.changed();
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert!(client.request("tools/list", json!({})).await["result"].is_object());
    client.close().await;
}

#[tokio::test]
async fn the_server_ends_with_its_input() {
    assert!(Client::start(McpSettings::default()).close().await.is_empty());
    assert!(Client::legacy(McpSettings::default()).await.close().await.is_empty());
    // A last message without a line end is still answered.
    let mut client = Client::legacy(McpSettings::default()).await;
    client.raw(r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#).await;
    let rest = client.close().await;
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["id"], 9);
}

#[tokio::test(start_paused = true)]
async fn a_running_call_ends_soon_after_the_input() {
    let mut client = Client::legacy(McpSettings::default()).await;
    client.post_call("hang", None).await;
    client.seen.recv().await.unwrap();
    let dropped = Arc::clone(&client.script.dropped);
    let start = tokio::time::Instant::now();
    client.close().await;
    dropped.notified().await;
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

#[tokio::test]
async fn stopping_ends_the_server() {
    let (_ours, theirs) = tokio::io::duplex(1024);
    let (read, write) = tokio::io::split(theirs);
    let client = Client::start(McpSettings::default());
    let stop = CancellationToken::new();
    let server = tokio::spawn(serve(client.script.clone(), McpSettings::default(), read, write, stop.clone()));
    stop.cancel();
    server.await.unwrap().unwrap();
}
