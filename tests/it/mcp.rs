//! The client's side: names, schemas, versions, clean stdout, time limits, cancellation.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Answer, BUSY, Definition, Era, Langport, Workspace, eventually, mcp::MODERN, procs, quick},
};

trials![
    mcp_01_names_suit_every_client,
    mcp_01_every_spelling_is_called,
    mcp_01_the_spelling_is_configurable,
    mcp_03_schemas_are_flat,
    mcp_03_the_list_is_small_and_byte_stable,
    mcp_04_stdout_is_protocol_only,
    mcp_05_lists_are_answered_at_once,
    mcp_06_versions_are_negotiated,
    mcp_06_odd_beginnings_do_no_harm,
    mcp_06_the_modern_era,
    mcp_08_a_cancelled_call_is_cancelled_at_the_server,
    mcp_08_odd_cancellations_do_no_harm,
    mcp_08_a_timeout_is_cancelled_and_late_answers_dropped,
    mcp_08_a_thousand_timeouts_do_not_pile_up,
    per_05_a_slow_server_blocks_nobody,
    b19_a_panic_free_answer_to_malformed_arguments,
];

const WS: &str = "//- a.py\nalpha\n//- b.go\nbeta\n";

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|t| t["name"].as_str()).collect()
}

fn mcp_01_names_suit_every_client() {
    let ws = Workspace::new(WS);
    let lp = Langport::with(&ws, Script::new());
    let tools = lp.tools();
    for name in names(&tools) {
        assert!(name.len() <= 40 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
    }
    for name in [
        "diagnostics",
        "hover",
        "definition",
        "references",
        "completions",
        "signature",
        "symbols",
        "workspace_symbols",
        "calls",
        "types",
        "status",
    ] {
        assert!(names(&tools).contains(&format!("lsp_{name}").as_str()), "lsp_{name} in {:?}", names(&tools));
    }
}

fn mcp_01_every_spelling_is_called() {
    let ws = Workspace::new(WS);
    let lp = Langport::with(&ws, Script::new());
    for name in [
        "lsp_hover",
        "lsp/hover",
        "lsp.hover",
        "hover",
        "LSP_HOVER",
        "Hover",
        "mcp__x__lsp_hover",
        "mcp__langport__lsp_hover",
    ] {
        Answer::of(&lp.answer(lp.call(name, &at("a.py")))).verdict_is("fresh").contains("WORD alpha");
    }
    for name in ["lsp_workspace_symbols", "lsp/workspace-symbols", "workspace-symbols", "lsp_workspace-symbols"] {
        Answer::of(&lp.answer(lp.call(name, &json!({"query": "x"})))).verdict_is("fresh");
    }
    let response = lp.answer(lp.call("lsp_hovr", &at("a.py")));
    assert_eq!(response["error"]["code"], -32602, "{response}");
    assert!(response["error"]["message"].as_str().unwrap().contains("lsp_hover"), "the nearest name: {response}");
}

fn mcp_01_the_spelling_is_configurable() {
    for (style, name) in
        [("slash", "lsp/workspace-symbols"), ("dot", "lsp.workspace-symbols"), ("underscore", "lsp_workspace_symbols")]
    {
        let ws = Workspace::new(WS);
        let builder = Langport::builder(&ws).server(Definition::new("fake", Script::new()));
        let lp = builder.config(&format!("tool_names = \"{style}\"")).start();
        let tools = lp.tools();
        assert!(names(&tools).contains(&name), "{style}: {:?}", names(&tools));
        lp.hover(&at("a.py")).verdict_is("fresh");
    }
}

fn lint(path: &str, schema: &Value, top: bool) {
    let object = schema.as_object().unwrap_or_else(|| panic!("{path} is {schema}"));
    for key in object.keys() {
        let known = [
            "type",
            "properties",
            "required",
            "description",
            "enum",
            "items",
            "default",
            "minimum",
            "maximum",
            "additionalProperties",
            "title",
            "minLength",
        ];
        assert!(known.contains(&key.as_str()), "{path} uses {key}");
    }
    assert!(schema["type"].is_string(), "{path} has one type: {schema}");
    assert!(!object.contains_key("default") || !schema["default"].is_null(), "{path} has a null default");
    assert!(!object.contains_key("additionalProperties") || schema["additionalProperties"].is_boolean(), "{path}");
    match schema["type"].as_str().unwrap() {
        "object" => {
            let properties = schema["properties"].as_object().unwrap_or_else(|| panic!("{path} has no properties"));
            assert!(top || !properties.is_empty(), "{path} is an open object");
            properties.iter().for_each(|(name, inner)| lint(&format!("{path}.{name}"), inner, false));
        }
        "array" => lint(&format!("{path}[]"), &schema["items"], false),
        "string" | "integer" | "number" | "boolean" => assert!(!top, "{path}"),
        other => panic!("{path} is of type {other}"),
    }
}

fn mcp_03_schemas_are_flat() {
    let ws = Workspace::new(WS);
    let lp = Langport::with(&ws, Script::new());
    for tool in lp.tools() {
        let name = tool["name"].as_str().unwrap();
        lint(name, &tool["inputSchema"], true);
        let description = tool["description"].as_str().unwrap();
        assert!((20..=400).contains(&description.chars().count()), "{name}: {description}");
        let annotations = &tool["annotations"];
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(annotations[hint].is_boolean(), "{name} says {hint}: {annotations}");
        }
        if name != "lsp_apply" {
            assert_eq!(
                (&annotations["readOnlyHint"], &annotations["destructiveHint"]),
                (&json!(true), &json!(false)),
                "{name}"
            );
        }
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        assert!(properties.contains_key("cursor"), "{name} takes a cursor");
    }
}

fn mcp_03_the_list_is_small_and_byte_stable() {
    let lists: Vec<String> = [Script::new(), Script::new().pull().encoding("utf-8")]
        .into_iter()
        .map(|script| {
            let ws = Workspace::new(WS);
            let lp = Langport::with(&ws, script);
            let before = lp.request("tools/list", json!({}))["result"].to_string();
            lp.hover(&at("a.py")).fine();
            assert_eq!(before, lp.request("tools/list", json!({}))["result"].to_string(), "a call changes no list");
            assert!(lp.notes("notifications/tools/list_changed").is_empty());
            let instructions = lp.hello["instructions"].as_str().unwrap_or_default().chars().count();
            assert!((100..2_000).contains(&instructions), "{instructions} characters of instructions");
            before
        })
        .collect();
    assert_eq!(lists[0], lists[1]);
    assert!(lists[0].len() <= 12_000, "{} bytes", lists[0].len());
}

fn mcp_04_stdout_is_protocol_only() {
    let ws = Workspace::new(WS);
    let noisy = Script::new().on("start", [Act::Raw("Hello\n".into()), Act::Stderr("hello".into(), 100)]).on(
        "textDocument/hover",
        [Act::Raw("printing\n".into()), Act::Reply(json!({"contents": "two\nlines\r\n\u{2028}more"}))],
    );
    std::fs::create_dir_all(ws.home().join("config/servers.d")).unwrap();
    std::fs::write(ws.home().join("config/servers.d/bad.toml"), "name = [oops").unwrap();
    std::fs::write(
        ws.home().join("config/servers.d/odd.toml"),
        "name = \"odd\"\ncommand = \"x\"\nlanguages = [\"c\"]\nlanguage = 1\n",
    )
    .unwrap();
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", noisy))
        .env("RUST_LOG", "trace")
        .env("LANGPORT_LOG", "trace")
        .config("max_char = 900")
        .env("RUST_BACKTRACE", "1")
        .start();
    lp.tool("status", &json!({}))
        .fine()
        .contains("bad.toml")
        .contains("odd.toml")
        .contains("language")
        .contains("max_chars");
    lp.hover(&at("a.py")).fine().contains("two").contains("lines");
    lp.diagnostics("a.py").fine();
    lp.raw("this is not JSON");
    lp.raw("{\"jsonrpc\": \"2.0\"");
    lp.raw("[]");
    lp.raw("");
    lp.hover(&at("a.py")).fine();
    assert_eq!(lp.wrong(), Vec::<String>::new());
}

fn mcp_05_lists_are_answered_at_once() {
    let ws = Workspace::new(WS);
    let script = Script::new().on("initialize", [Act::Await(ws.gate("never")), Act::Default]);
    let start = || Langport::builder(&ws).server(Definition::new("fake", script.clone())).max_wait(2_000).start();
    quick(Duration::from_secs(1), || {
        let lp = start();
        assert!(lp.tools().len() >= 10);
        lp
    });
    let lp = start();
    assert!(lp.tools().len() >= 10);
    assert_eq!(lp.log().starts(), 0, "nobody asked for a server yet");
    let begun = Instant::now();
    let answer = lp.hover(&at("a.py"));
    answer.fine().verdict_is("indexing");
    assert!(begun.elapsed() < Duration::from_secs(2) + BUSY, "{:?}", begun.elapsed());
    // While a call waits for the server.
    let waits = lp.call("lsp_hover", &at("a.py"));
    quick(Duration::from_millis(500), || {
        lp.tools();
        lp.request("ping", json!({}));
    });
    Answer::of(&lp.answer(waits)).verdict_is("indexing");
}

fn mcp_06_versions_are_negotiated() {
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let ws = Workspace::new(WS);
        let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new())).era(Era::Legacy(asked)).start();
        assert_eq!(lp.hello["protocolVersion"], answered, "{asked}");
        assert_eq!(lp.hello["serverInfo"]["name"], "langport");
        lp.hover(&at("a.py")).verdict_is("fresh");
    }
}

fn mcp_06_odd_beginnings_do_no_harm() {
    let ws = Workspace::new(WS);
    let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new())).silent().start();
    let early = lp.request("tools/list", json!({}));
    assert!(early.get("error").is_some() || early["result"]["tools"].is_array(), "{early}");
    lp.greet();
    let again = lp.send(
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}}),
    );
    lp.answer(again);
    lp.hover(&at("a.py")).verdict_is("fresh");
}

fn mcp_06_the_modern_era() {
    let ws = Workspace::new(WS);
    let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new())).era(Era::Modern).start();
    assert!(lp.hello["supportedVersions"].as_array().unwrap().contains(&json!(MODERN)), "{}", lp.hello);
    assert!(lp.hello["instructions"].is_string());
    let listen = lp.send("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let acknowledged = "notifications/subscriptions/acknowledged";
    eventually("an acknowledged subscription", || lp.notes(acknowledged).first().cloned());
    let list = lp.request("tools/list", json!({}));
    assert_eq!(list["result"]["resultType"], "complete", "{list}");
    assert!(list["result"]["ttlMs"].is_u64() && list["result"]["cacheScope"].is_string(), "{list}");
    lp.hover(&at("a.py")).verdict_is("fresh").contains("WORD alpha");
    assert_eq!(lp.answers_for(listen), 0, "the subscription goes on");
}

/// A hover that never comes.
fn hanging() -> Script {
    Script::new().on("textDocument/hover", [])
}

fn mcp_08_a_cancelled_call_is_cancelled_at_the_server() {
    let ws = Workspace::new(WS);
    let lp = Langport::with(&ws, hanging());
    let call = lp.call("lsp_hover", &at("a.py"));
    lp.log().wait("textDocument/hover", 1);
    lp.cancel(call);
    let cancelled = lp.log().wait("$/cancelRequest", 1);
    let asked = lp.log().received().into_iter().find(|m| m["method"] == "textDocument/hover").unwrap();
    assert_eq!(cancelled[0]["id"], asked["id"]);
    lp.tool("symbols", &json!({"file_path": "a.py"})).verdict_is("fresh");
    assert_eq!(lp.answers_for(call), 0, "a cancelled call has no answer");
}

fn mcp_08_odd_cancellations_do_no_harm() {
    let ws = Workspace::new(WS);
    let lp = Langport::with(&ws, hanging());
    lp.cancel(424_242);
    let call = lp.call("lsp_hover", &at("a.py"));
    lp.log().wait("textDocument/hover", 1);
    lp.cancel(call);
    lp.cancel(call);
    let done = lp.call("lsp_symbols", &json!({"file_path": "a.py"}));
    Answer::of(&lp.answer(done)).verdict_is("fresh");
    lp.cancel(done);
    lp.notify("notifications/cancelled", &json!({}));
    lp.notify("notifications/cancelled", &json!({"requestId": {"x": 1}}));
    lp.tool("symbols", &json!({"file_path": "a.py"})).verdict_is("fresh");
    assert_eq!((lp.answers_for(call), lp.answers_for(done)), (0, 1));
}

fn mcp_08_a_timeout_is_cancelled_and_late_answers_dropped() {
    let ws = Workspace::new(WS);
    let late = vec![Act::Await(ws.gate("late")), Act::Default];
    let script = Script::new().each("textDocument/hover", [late, vec![Act::Default]]);
    let lp = Langport::builder(&ws).server(Definition::new("fake", script)).max_wait(6_000).start();
    lp.hover(&at("a.py")).fine().verdict_is("unanswered");
    lp.log().wait("$/cancelRequest", 1);
    ws.open("late");
    ws.write("a.py", "newer\n");
    lp.hover(&at("a.py")).verdict_is("fresh").contains("WORD newer");
}

fn mcp_08_a_thousand_timeouts_do_not_pile_up() {
    let ws = Workspace::new(WS);
    let lp = Langport::builder(&ws).server(Definition::new("fake", hanging())).max_wait(300).start();
    let before = procs::peak_kib(lp.pid());
    for _ in 0..20 {
        let calls: Vec<i64> = (0..50).map(|_| lp.call("lsp_hover", &at("a.py"))).collect();
        for call in calls {
            let answer = Answer::of(&lp.answer(call));
            answer.verdict_in(&["unanswered", "indexing", "unavailable"]);
        }
    }
    let grown = procs::peak_kib(lp.pid()) - before;
    assert!(grown < 64 * 1024, "{grown} KiB");
    let symbols = || Some(lp.tool("symbols", &json!({"file_path": "a.py"}))).filter(|a| a.verdict() == "fresh");
    eventually("an answer to something else", symbols);
    assert_eq!(lp.log().starts(), 1);
}

fn per_05_a_slow_server_blocks_nobody() {
    let ws = Workspace::new(WS);
    let slow = Script::new().on("initialize", [Act::Await(ws.gate("slow")), Act::Default]).on("textDocument/hover", []);
    let lp = Langport::builder(&ws)
        .server(Definition::new("slow", slow))
        .server(Definition::new("quick", Script::new()).languages(&["go"]))
        .max_wait(12_000)
        .start();
    lp.hover(&at("b.go")).verdict_is("fresh");
    let call = lp.call("lsp_hover", &at("a.py"));
    lp.log_of("slow").wait("initialize", 1);
    // What is behind a call that waits comes before its answer.
    let beside = |call: i64| {
        quick(Duration::from_secs(1), || {
            lp.hover(&at("b.go")).verdict_is("fresh").contains("WORD package");
            lp.tools();
            assert!(lp.request("ping", json!({}))["result"].is_object());
        });
        assert_eq!(lp.answers_for(call), 0, "the slow one is still waited for");
    };
    ws.write("b.go", "package beta\n");
    beside(call);
    Answer::of(&lp.answer(call)).verdict_is("indexing");
    ws.open("slow");
    let hung = lp.call("lsp_hover", &at("a.py"));
    lp.log_of("slow").wait("textDocument/hover", 1);
    beside(hung);
    Answer::of(&lp.answer(hung)).verdict_is("unanswered");
}

fn b19_a_panic_free_answer_to_malformed_arguments() {
    let ws = Workspace::new(WS);
    let lp = Langport::with(&ws, Script::new());
    let place = json!({"line": 1, "column": 1});
    let malformed = [
        json!({}),
        place,
        json!({"file_path": 5, "line": 1, "column": 1}),
        json!({"file_path": "a.py", "line": "one", "column": 1}),
        json!({"file_path": "a.py", "line": -1, "column": 1}),
        json!({"file_path": "a.py", "line": 1e300, "column": 1}),
        json!({"file_path": "a.py", "line": [1], "column": 1}),
        json!({"file_path": "", "line": 1, "column": 1}),
        json!({"file_path": "a\u{0}.py", "line": 1, "column": 1}),
        json!({"file_path": "x".repeat(100_000), "line": 1, "column": 1}),
    ];
    for arguments in malformed {
        let answer = lp.hover(&arguments);
        assert!(answer.is_error, "{answer}");
        answer.verdict_in(&["invalid", "not_found", "ambiguous"]);
    }
    for (arguments, word) in [
        (json!({"file_path": "a.py", "line": 1, "colum": 1}), "column"),
        (json!({"file_path": "a.py", "kind": "definitoin", "line": 1, "column": 1}), "definition"),
    ] {
        let answer = lp.tool("definition", &arguments);
        answer.fails("invalid").contains(word);
    }
    for wrong in [json!("text"), json!([1]), json!(5)] {
        let response = lp.answer(lp.send("tools/call", json!({"name": "lsp_hover", "arguments": wrong})));
        assert!(response["error"]["code"] == -32602 || response["result"]["isError"] == true, "{response}");
    }
    let response = lp.request("no/such/method", json!({}));
    assert_eq!(response["error"]["code"], -32601);
    lp.hover(&at("a.py")).verdict_is("fresh");
}
