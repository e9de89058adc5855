//! Calls: spellings, errors, progress, cancellation, deadlines, crowds.

use super::*;

#[tokio::test]
async fn every_spelling_reaches_the_tool() {
    let mut client = Client::legacy(McpSettings::default()).await;
    for name in ["lsp/hover", "lsp_hover", "lsp.hover", "hover", "LSP_HOVER", "mcp__x__lsp_hover"] {
        assert_eq!(text(&client.call(name, json!({"line": "3"})).await), HOVER, "{name}");
        let call = client.seen.recv().await.unwrap();
        assert_eq!(call.tool, ToolId::Hover);
        assert_eq!(call.arguments["line"], "3");
    }
    for name in ["workspaceSymbols", "workspace-symbols"] {
        client.call(name, json!({})).await;
        assert_eq!(client.seen.recv().await.unwrap().tool, ToolId::WorkspaceSymbols);
    }
    client.close().await;
}

#[tokio::test]
async fn an_unknown_name_gets_the_nearest() {
    let mut client = Client::legacy(McpSettings::default()).await;
    let answer = client.call("lsp_hovr\n\u{202e}", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().unwrap();
    assert_eq!(message, "Unknown tool: lsp_hovr. Nearest: lsp_hover");
    let answer = client.call("read_file", json!({})).await;
    assert_eq!(answer["error"]["message"], "Unknown tool: read_file. tools/list has those that there are");
    client.close().await;
}

#[tokio::test]
async fn odd_arguments() {
    let mut client = Client::legacy(McpSettings::default()).await;
    // Encoded twice, as some models do.
    assert_eq!(text(&client.call("hover", json!("{\"line\": 3}")).await), HOVER);
    assert_eq!(client.seen.recv().await.unwrap().arguments["line"], 3);
    for none in [Value::Null, json!(""), json!({})] {
        assert_eq!(text(&client.call("hover", none).await), HOVER);
        assert!(client.seen.recv().await.unwrap().arguments.is_empty());
    }
    for (arguments, what) in [(json!([1]), "an array"), (json!("cart.py"), "a string"), (json!(3), "a number")] {
        let answer = client.call("lsp_hover", arguments).await;
        assert_eq!(answer["error"]["code"], -32602);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("`arguments` is {what}; it must be a JSON object such as")), "{message}");
    }
    let answer = client.request("tools/call", json!({"arguments": {}})).await;
    assert_eq!(answer["error"]["message"], "`name` is missing; it must be the tool's name");
    assert_eq!(client.request("no/such", json!({})).await["error"]["code"], -32601);
    client.close().await;
}

#[tokio::test]
async fn failures_are_results() {
    let mut client = Client::modern(McpSettings { output: Output::Both, ..McpSettings::default() });
    let answer = client.call("lsp_hover", json!({"do": "fail"})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(text(&answer), "not_found · cart.py has no line 900 · pass a line from 1 to 12\n  12 return total");
    assert!(answer["result"].get("structuredContent").is_none());
    client.close().await;
}

#[tokio::test]
async fn structured_output() {
    let mut client = Client::legacy(McpSettings { output: Output::Structured, ..McpSettings::default() }).await;
    let answer = client.call("lsp_hover", json!({})).await;
    let structured = &answer["result"]["structuredContent"];
    assert_eq!(structured["items"][0]["code"], json!(["class Cart"]));
    assert_eq!(&serde_json::from_str::<Value>(text(&answer)).unwrap(), structured);
    let list = client.request("tools/list", json!({})).await;
    assert_eq!(list["result"]["tools"][0]["outputSchema"]["type"], "object");
    client.close().await;
}

#[tokio::test]
async fn a_panic_is_answered() {
    let mut client = Client::legacy(McpSettings::default()).await;
    let answer = client.call("lsp_hover", json!({"do": "panic"})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert!(text(&answer).starts_with("failed · lsp_hover met a defect"), "{answer}");
    assert_eq!(text(&client.call("lsp_hover", json!({})).await), HOVER);
    client.close().await;
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_and_not_answered() {
    for modern in [false, true] {
        let mut client =
            if modern { Client::modern(McpSettings::default()) } else { Client::legacy(McpSettings::default()).await };
        let id = client.post_call("hang", Some("t")).await;
        client.seen.recv().await.unwrap();
        client.cancel(id).await;
        client.script.dropped.notified().await;
        // Twice, of a call that is over, of one that never was.
        client.cancel(id).await;
        client.cancel(999).await;
        assert_eq!(text(&client.call("lsp_hover", json!({})).await), HOVER);
        client.cancel(id + 1).await;
        assert!(client.close().await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn progress_is_told_and_only_rises() {
    let mut client = Client::legacy(McpSettings::default()).await;
    let start = tokio::time::Instant::now();
    let id = client.post_call("say", Some("tok")).await;
    let mut last = 0.0;
    for (at, says) in [
        (0, "pyright is loading the project"),
        (4, "pyright is loading the project (4 s)"),
        (8, "pyright is loading the project (8 s)"),
    ] {
        let told = client.receive().await;
        assert_eq!(told["method"], "notifications/progress");
        assert_eq!(told["params"]["progressToken"], "tok");
        assert_eq!(told["params"]["message"], says);
        assert_eq!(start.elapsed().as_secs(), at);
        let progress = told["params"]["progress"].as_f64().unwrap();
        assert!(progress > last);
        last = progress;
    }
    let sink = client.script.sink.lock().unwrap().clone().unwrap();
    sink.say("nearly\nthere\u{200b}");
    assert_eq!(client.receive().await["params"]["message"], "nearly there");
    client.script.gate.add_permits(1);
    let answer = client.receive().await;
    assert_eq!(answer["id"], id, "{answer}");
    // What is said after the answer is not told.
    sink.say("late");
    tokio::time::advance(Duration::from_secs(60)).await;
    assert!(client.close().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn without_a_token_there_is_no_progress() {
    let mut client = Client::modern(McpSettings::default());
    client.post_call("say", None).await;
    client.seen.recv().await.unwrap();
    tokio::time::sleep(Duration::from_secs(20)).await;
    client.script.gate.add_permits(1);
    assert_eq!(text(&client.receive().await), HOVER);
    client.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_is_ended() {
    let mut client = Client::legacy(McpSettings::default()).await;
    let start = tokio::time::Instant::now();
    client.post_call("hang", None).await;
    let answer = client.receive().await;
    assert_eq!(start.elapsed().as_secs(), 26);
    assert_ne!(answer["result"]["isError"], true);
    assert_eq!(
        text(&answer),
        "unanswered · langport · no answer within 25 s, which says nothing about the code; ask again, or see lsp_status"
    );
    client.script.dropped.notified().await;
    client.close().await;
}

#[tokio::test]
async fn only_so_many_are_under_way_and_neither_lists_nor_the_status_wait() {
    let mut client = Client::legacy(McpSettings { calls: 3, ..McpSettings::default() }).await;
    for _ in 0..10 {
        client.post_call("gate", None).await;
    }
    for _ in 0..3 {
        client.seen.recv().await.unwrap();
    }
    for _ in 0..7 {
        let refused = client.receive().await;
        assert!(text(&refused).starts_with("refused · more than 3 calls are waiting"), "{refused}");
    }
    assert!(client.request("tools/list", json!({})).await["result"].is_object());
    assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
    assert_eq!(text(&client.call("lsp_status", json!({})).await), HOVER);
    assert_eq!(client.seen.recv().await.unwrap().tool, ToolId::Status);
    assert!(client.seen.try_recv().is_err());
    client.script.gate.add_permits(3);
    for _ in 0..3 {
        assert_eq!(text(&client.receive().await), HOVER);
    }
    client.close().await;
}

/// However many wait, none of them waits for another one: each has begun, and the time of each is its own.
#[tokio::test(start_paused = true)]
async fn calls_wait_for_no_other_calls() {
    let mut client = Client::legacy(McpSettings::default()).await;
    let start = tokio::time::Instant::now();
    for _ in 0..500 {
        client.post_call("hang", None).await;
    }
    for _ in 0..500 {
        let call = client.seen.recv().await.unwrap();
        assert!(call.arrived - start < Duration::from_secs(1));
    }
    assert_eq!(text(&client.call("lsp_hover", json!({})).await), HOVER);
    assert!(start.elapsed() < Duration::from_secs(1));
    for _ in 0..500 {
        let answer = client.receive().await;
        assert!(text(&answer).starts_with("unanswered · langport · no answer within 25 s"), "{answer}");
    }
    assert!(start.elapsed() < Duration::from_secs(27), "{:?}", start.elapsed());
    client.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_id_used_twice_harms_nobody() {
    let mut client = Client::legacy(McpSettings::default()).await;
    // The second gets no answer of its own, the first does.
    let id = client.post_call("gate", None).await;
    client.seen.recv().await.unwrap();
    client.next = id;
    client.post_call("gate", None).await;
    assert!(client.request("tools/list", json!({})).await["result"].is_object());
    client.script.gate.add_permits(2);
    let answer = client.receive().await;
    assert_eq!((&answer["id"], text(&answer)), (&json!(id), HOVER));
    // A cancellation reaches the one that runs.
    let id = client.post_call("hang", None).await;
    client.seen.recv().await.unwrap();
    client.next = id;
    client.post_call("hang", None).await;
    assert!(client.request("tools/list", json!({})).await["result"].is_object());
    client.cancel(id).await;
    client.script.dropped.notified().await;
    assert!(client.close().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_crowd_is_refused() {
    let mut client = Client::legacy(McpSettings::default()).await;
    for _ in 0..600 {
        client.post_call("hang", None).await;
    }
    let answer = client.receive().await;
    assert!(text(&answer).starts_with("refused · more than 512 calls are waiting"), "{answer}");
    client.close().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_read_either() {
    let mut client = Client::legacy(McpSettings::default()).await;
    let mut write = client.write.take().unwrap();
    // Far more answers than the pipe holds: at some point the server takes no more questions.
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let asking = tokio::spawn(async move {
        for id in 0..700 {
            let list = json!({"jsonrpc": "2.0", "id": format!("{id:08000}"), "method": "tools/list"});
            write.write_all(format!("{list}\n").as_bytes()).await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
        }
        write
    });
    let mut before = usize::MAX;
    while before != asked.load(Ordering::SeqCst) {
        before = asked.load(Ordering::SeqCst);
        for _ in 0..700 {
            tokio::task::yield_now().await;
        }
    }
    assert!(before < 600, "{before} questions were taken");
    for _ in 0..700 {
        assert!(client.receive().await["result"].is_object());
    }
    client.write = Some(asking.await.unwrap());
    client.close().await;
}

#[tokio::test]
async fn one_call_without_a_client() {
    let client = Client::start(McpSettings::default());
    let call = async |name: &str, arguments: Value, progress: ProgressSink| {
        let mut once = Once::new(client.script.clone(), McpSettings::default(), progress);
        let reply = once.call(name, &arguments).await;
        once.end().await.unwrap();
        reply
    };
    let reply = call("lsp/hover", json!({"line": 3}), ProgressSink::default()).await.unwrap();
    assert_eq!(reply, Reply { text: HOVER.to_owned(), structured: None, is_error: false });
    assert!(call("hover", json!({"do": "fail"}), ProgressSink::default()).await.unwrap().is_error);
    let error = call("hoover", json!({}), ProgressSink::default()).await.unwrap_err();
    assert!(error.to_string().starts_with("Unknown tool: hoover. Nearest: lsp_hover"), "{error}");
    let error = call("hover", json!([]), ProgressSink::default()).await.unwrap_err();
    assert!(error.to_string().starts_with("`arguments` is an array"), "{error}");
    let (say, mut said) = mpsc::unbounded_channel();
    let script = Arc::clone(&client.script);
    let sink = ProgressSink::new(move |text| {
        say.send(text.to_owned()).unwrap();
        script.gate.add_permits(1);
    });
    assert_eq!(call("hover", json!({"do": "say"}), sink).await.unwrap().text, HOVER);
    assert_eq!(said.recv().await.unwrap(), "pyright is loading the project");
}
