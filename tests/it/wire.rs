//! The protocol's corners: what servers ask for, how they frame it, and which forms their capabilities take.

use serde_json::{Value, json};

use crate::{
    fake::{
        script::{Act, Ask, Publish, Script, register, watch},
        wire::frame,
    },
    support::{Definition, Langport, Pace, Workspace, in_pace},
};

trials![
    pro_01_registrations_are_answered_with_null,
    pro_01_an_unregistered_watcher_is_forgotten,
    pro_01_every_form_of_a_watcher_is_honoured,
    pro_02_one_configuration_a_section,
    pro_02_configuration_is_answered_at_any_time,
    pro_06_junk_between_messages,
    pro_06_odd_headers_and_bodies,
    pro_06_split_and_joined_frames,
    pro_07_a_capability_comes_and_goes,
    pro_07_every_form_of_text_synchronisation,
    pro_07_capabilities_as_objects,
    x18_every_request_of_a_server_is_answered,
    x18_ids_of_every_kind,
];

const WS: &str = "//- a.py\nalpha\n";

fn at() -> Value {
    json!({"file_path": "a.py", "line": 1, "column": 1})
}

fn pro_01_registrations_are_answered_with_null() {
    let ws = Workspace::new(WS);
    let unknown = register("odd", "workspace/somethingNew", json!({"x": 1}));
    let twice = watch("**/*");
    let mut again = twice.clone();
    again.id = json!("again");
    let unregister = json!({"unregisterations": [{"id": "odd", "method": "workspace/somethingNew"}]});
    let asks = [twice, again, unknown, Ask::new("bye", "client/unregisterCapability", unregister)];
    let acts: Vec<Act> = asks.into_iter().map(|a| a.block().exit_on_error().into()).collect();
    let lp = Langport::with(&ws, Script::new().on("initialized", acts));
    lp.hover(&at()).verdict_is("fresh");
    let answers = lp.log().wait_event("answer", 4);
    assert!(answers.iter().all(|a| a["answer"].get("result") == Some(&Value::Null)), "{answers:?}");
    assert_eq!(lp.log().starts(), 1);
}

fn pro_01_an_unregistered_watcher_is_forgotten() {
    in_pace(an_unregistered_watcher_is_forgotten);
}

fn an_unregistered_watcher_is_forgotten(pace: &Pace) {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.py\nbeta\n");
    let gone = json!({"unregisterations": [{"id": "watch-1", "method": "workspace/didChangeWatchedFiles"}]});
    let gone = Ask::new("gone", "client/unregisterCapability", gone).block();
    let lp = Langport::with(&ws, Script::watching("**/*").on("textDocument/definition", [gone.into(), Act::Default]));
    lp.hover(&at()).fine();
    pace.keep(|| ws.write("b.py", "beta2\n"));
    lp.hover(&at()).fine();
    assert_eq!(lp.log().count("workspace/didChangeWatchedFiles"), 1);
    lp.tool("definition", &at()).fine();
    ws.write("b.py", "beta3\n");
    lp.hover(&at()).fine();
    assert_eq!(lp.log().count("workspace/didChangeWatchedFiles"), 1, "nothing is told after that");
}

fn pro_01_every_form_of_a_watcher_is_honoured() {
    let ws = Workspace::new(
        "//- a.py\nalpha\n//- sub/b.toml\nb\n//- sub/c.cfg\nc\n//- d.json\n{}\n//- e.lock\ne\n//- f.md\nf\n",
    );
    let root = url::Url::from_file_path(ws.root()).unwrap();
    let watchers = json!([
        {"globPattern": "**/*.toml"},
        {"globPattern": {"baseUri": ws.uri("sub"), "pattern": "*.cfg"}},
        {"globPattern": {"baseUri": {"uri": root.as_str(), "name": "ws"}, "pattern": "**/*.{json,yaml}"}},
        {"globPattern": format!("{}/e.lock", ws.root().display())},
        {"globPattern": "**/*.md", "kind": 4},
    ]);
    let ask = register("w", "workspace/didChangeWatchedFiles", json!({"watchers": watchers})).block();
    let lp = Langport::with(&ws, Script::new().on("initialized", [ask.into()]));
    lp.hover(&at()).fine();
    for file in ["sub/b.toml", "sub/c.cfg", "d.json", "e.lock", "f.md"] {
        ws.write(file, "changed\n");
    }
    lp.hover(&at()).fine();
    let told = || -> Vec<(String, i64)> {
        let params = lp.log().of("workspace/didChangeWatchedFiles");
        let changes = params.iter().flat_map(|p| p["changes"].as_array().unwrap());
        changes.map(|c| (c["uri"].as_str().unwrap().to_owned(), c["type"].as_i64().unwrap())).collect()
    };
    for file in ["sub/b.toml", "sub/c.cfg", "d.json", "e.lock"] {
        assert!(told().contains(&(ws.uri(file), 2)), "{file}: {:?}", told());
    }
    assert!(!told().iter().any(|(u, _)| *u == ws.uri("f.md")), "only deletions of this one: {:?}", told());
    ws.remove("f.md");
    lp.hover(&at()).fine();
    assert!(told().contains(&(ws.uri("f.md"), 3)), "{:?}", told());
}

const SETTINGS: &str = "[workspace_settings]\n\"fake.analysis.level\" = \"strict\"\n\"fake.paths\" = [\"x\"]";

fn sections(names: &[&str]) -> Value {
    json!({"items": names.iter().map(|n| json!({"section": n})).collect::<Vec<_>>()})
}

fn pro_02_one_configuration_a_section() {
    for (key, nothing) in [("", Value::Null), ("unset = \"null\"", Value::Null), ("unset = \"{}\"", json!({}))] {
        let ws = Workspace::new(WS);
        let three =
            Ask::new(1, "workspace/configuration", sections(&["fake.analysis", "other", "fake.absent"])).block();
        let names: Vec<String> = (0..22).map(|i| format!("s{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let many = Ask::new(2, "workspace/configuration", sections(&names)).block();
        let scoped = json!({"items": [{"scopeUri": ws.uri("a.py"), "section": "fake"}, {}, {"section": ""}]});
        let scoped = Ask::new(3, "workspace/configuration", scoped).block();
        let script = Script::new().on("initialized", [three.into(), many.into(), scoped.into()]);
        let definition = Definition::new("fake", script).key(key).table(SETTINGS);
        let lp = Langport::builder(&ws).server(definition).start();
        lp.hover(&at()).verdict_is("fresh");
        let answer = |id: i64| lp.log().answer_to(&json!(id))["result"].clone();
        assert_eq!(answer(1), json!([{"level": "strict"}, nothing, nothing]));
        assert_eq!(answer(2), Value::Array(vec![nothing.clone(); 22]));
        let whole = json!({"analysis": {"level": "strict"}, "paths": ["x"]});
        assert_eq!(answer(3), json!([whole, {"fake": whole}, {"fake": whole}]));
    }
}

fn pro_02_configuration_is_answered_at_any_time() {
    let ws = Workspace::new(WS);
    let ask = |id: &str| {
        Act::from(Ask::new(id, "workspace/configuration", sections(&["fake.paths"])).block().exit_on_error())
    };
    let script = Script::new()
        .on("initialize", [ask("early"), Act::Default])
        .on("textDocument/hover", [ask("during"), Act::Default])
        .on("textDocument/didOpen", [ask("open")]);
    let lp = Langport::builder(&ws).server(Definition::new("fake", script).table(SETTINGS)).start();
    lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    for id in ["early", "during", "open"] {
        assert_eq!(lp.log().answer_to(&json!(id))["result"], json!([["x"]]), "{id}");
    }
    let sent = lp.log().of("workspace/didChangeConfiguration");
    assert!(sent.iter().all(|p| p["settings"]["fake"]["paths"] == json!(["x"])), "{sent:?}");
}

fn pro_06_junk_between_messages() {
    for junk in [
        "Starting…\n",
        "\u{1b}[2J\u{1b}[H",
        "\u{feff}",
        "Downloading 10 %\rDownloading 100 %\r\n",
        "{\"not\": \"framed\"}\n",
    ] {
        let ws = Workspace::new(WS);
        let raw = || Act::Raw(junk.into());
        let script = Script::new()
            .on("start", [raw()])
            .on("initialized", [raw(), raw()])
            .on("textDocument/hover", [raw(), Act::Default, raw()]);
        let lp = Langport::with(&ws, script);
        for _ in 0..3 {
            lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
        }
        lp.diagnostics("a.py").says("fresh · fake · no problems");
        assert_eq!(lp.log().starts(), 1, "{junk:?} is no reason to restart");
    }
    let ws = Workspace::new(WS);
    let lp = Langport::with(&ws, Script::new().on("start", [Act::Raw("Welcome to the fake server\n".into())]));
    lp.hover(&at()).fine();
    lp.tool("status", &json!({})).contains("Welcome to the fake server");
}

fn pro_06_odd_headers_and_bodies() {
    let log = r#"{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3,"message":"hello"}}"#;
    let length = log.len();
    let odd = [
        format!("content-length:{length}\r\n\r\n{log}"),
        format!("CONTENT-LENGTH:   {length}  \r\n\r\n{log}"),
        format!("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {length}\r\n\r\n{log}"),
        format!("Content-Length: {length}\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n{log}"),
        format!("Content-Length: {length}\n\n{log}"),
        "Content-Length: 0\r\n\r\n".to_owned(),
        frame("{\"jsonrpc\": \"2.0\", oh no}"),
        frame("not JSON at all"),
        frame("null"),
        frame("42"),
        frame("[]"),
        frame("{}"),
        frame(&format!("[{log},{log}]")),
        frame(r#"{"jsonrpc":"2.0","id":424242,"result":null}"#),
        frame(r#"{"jsonrpc":"2.0","id":"unknown","error":{"code":-1,"message":"x"}}"#),
        frame(r#"{"jsonrpc":"2.0","method":"telemetry/event","params":{"deep":[[[[1]]]]}}"#),
        frame(r#"{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":5}}"#),
    ];
    for bytes in odd {
        let ws = Workspace::new(WS);
        let raw = || Act::Raw(bytes.clone());
        let script = Script::new().on("initialized", [raw()]).on("textDocument/hover", [raw(), raw(), Act::Default]);
        let lp = Langport::with(&ws, script);
        for _ in 0..2 {
            let answer = lp.hover(&at());
            assert!(answer.has("WORD alpha"), "after {bytes:?}: {answer}");
        }
        assert_eq!(lp.log().starts(), 1, "{bytes:?} is no reason to restart");
    }
}

fn pro_06_split_and_joined_frames() {
    let ws = Workspace::new(WS);
    let log = frame(r#"{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3,"message":"é😀"}}"#);
    let mut acts: Vec<Act> = Vec::new();
    for part in [&log[..9], &log[9..20], &log[20..40], &log[40..]] {
        acts.extend([Act::Raw(part.into()), Act::Sleep(15)]);
    }
    acts.extend([Act::Raw(log.repeat(50)), Act::Default]);
    let lp = Langport::with(&ws, Script::new().on("textDocument/hover", acts));
    for _ in 0..3 {
        lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    }
}

fn pro_07_a_capability_comes_and_goes() {
    let ws = Workspace::new("//- a.py\ndef alpha(): pass\n//- b.pyi\ndef alpha(): pass\n");
    let selector = json!({"documentSelector": [{"language": "python", "pattern": "**/*.py"}]});
    let come = register("def", "textDocument/definition", selector).block();
    let go = json!({"unregisterations": [{"id": "def", "method": "textDocument/definition"}]});
    let go = Ask::new("go", "client/unregisterCapability", go).block();
    let reply =
        json!([{"uri": "$uri", "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}}]);
    let script = Script::new()
        .capability("definitionProvider", Value::Null)
        .on("textDocument/definition", [Act::Reply(reply)])
        .each(
            "textDocument/hover",
            [vec![Act::Default], vec![come.into(), Act::Default], vec![go.into(), Act::Default]],
        );
    let lp = Langport::with(&ws, script);
    let place = |file: &str| json!({"file_path": file, "line": 1, "column": 5});
    lp.hover(&place("a.py")).fine();
    lp.tool("definition", &place("a.py")).fails("unsupported");
    lp.hover(&place("a.py")).fine();
    lp.tool("definition", &place("a.py")).fine().contains("a.py:1:5");
    lp.tool("definition", &place("b.pyi")).fails("unsupported");
    lp.hover(&place("a.py")).fine();
    lp.tool("definition", &place("a.py")).fails("unsupported");
}

fn pro_07_every_form_of_text_synchronisation() {
    let forms = [
        json!(1),
        json!(2),
        json!({"openClose": true, "change": 0}),
        json!({"openClose": true, "change": 1, "save": true}),
        json!({"openClose": true, "change": 2, "save": {"includeText": true}}),
        json!({"openClose": true, "change": 2, "save": false}),
        Value::Null,
    ];
    for form in forms {
        let ws = Workspace::new(WS);
        let lp = Langport::with(
            &ws,
            Script::watching("**/*").capability("textDocumentSync", form.clone()).publish(Publish::never()),
        );
        lp.hover(&at()).fine().contains("WORD alpha");
        ws.write("a.py", "beta\n");
        lp.hover(&at()).fine().contains("WORD beta");
        let (changes, saves) = (lp.log().of("textDocument/didChange"), lp.log().of("textDocument/didSave"));
        match (form.as_i64(), form["change"].as_i64()) {
            (Some(1), _) | (None, Some(1)) => {
                assert!(changes[0]["contentChanges"][0].get("range").is_none(), "{form}: {changes:?}");
            }
            (Some(2), _) | (None, Some(2)) => assert_eq!(changes.len(), 1, "{form}"),
            _ => assert!(changes.is_empty(), "{form}: {changes:?}"),
        }
        match &form["save"] {
            Value::Bool(true) => {
                assert!(!saves.is_empty() && saves[0].get("text").is_none_or(Value::is_null), "{form}: {saves:?}");
            }
            Value::Object(_) => assert_eq!(saves[0]["text"], "beta\n", "{form}"),
            // Editors read the plain number as one that wants saves, without their text.
            _ if form.is_i64() => {
                assert!(saves.iter().all(|s| s.get("text").is_none_or(Value::is_null)), "{form}: {saves:?}");
            }
            _ => assert!(saves.is_empty(), "{form}: {saves:?}"),
        }
        assert_eq!(lp.log().count("textDocument/didOpen") == 0, form.is_null(), "{form}");
    }
}

fn pro_07_capabilities_as_objects() {
    let ws = Workspace::new("//- a.py\ndef alpha(): pass\n");
    let script = Script::new()
        .capability("hoverProvider", json!({}))
        .capability("definitionProvider", json!({"workDoneProgress": true}))
        .capability("referencesProvider", json!(false));
    let lp = Langport::with(&ws, script);
    let place = json!({"file_path": "a.py", "line": 1, "column": 5});
    lp.hover(&place).verdict_is("fresh");
    lp.tool("definition", &place).verdict_is("fresh");
    lp.tool("references", &place).fails("unsupported");
}

fn x18_every_request_of_a_server_is_answered() {
    let ws = Workspace::new(WS);
    let refresh = ["semanticTokens", "inlayHint", "codeLens", "diagnostics", "inlineValue", "foldingRange"];
    let mut asks: Vec<Ask> =
        refresh.iter().map(|r| Ask::new(*r, &format!("workspace/{r}/refresh"), Value::Null)).collect();
    asks.push(Ask::new("folders", "workspace/workspaceFolders", Value::Null));
    asks.push(Ask::new("progress", "window/workDoneProgress/create", json!({"token": 99})));
    asks.push(Ask::new(
        "message",
        "window/showMessageRequest",
        json!({"type": 1, "message": "?", "actions": [{"title": "Yes"}]}),
    ));
    asks.push(Ask::new("show", "window/showDocument", json!({"uri": "https://example.org", "external": true})));
    let edit = json!({"changes": {ws.uri("a.py"): [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}}, "newText": "evil"}]}});
    asks.push(Ask::new("edit", "workspace/applyEdit", json!({"edit": edit})));
    asks.push(Ask::new("custom", "vendor/whatever", json!([1, 2])));
    asks.push(Ask::new("known", "vendor/known", json!({})));
    let acts: Vec<Act> = asks.into_iter().map(|a| a.block().into()).collect();
    let definition = Definition::new("fake", Script::new().on("initialized", acts))
        .table("[replies]\n\"vendor/known\" = { ok = true }");
    let lp = Langport::builder(&ws).server(definition).start();
    lp.hover(&at()).verdict_is("fresh");
    let answer = |id: &str| lp.log().answer_to(&json!(id));
    for id in refresh.iter().chain(&["progress", "message"]) {
        assert_eq!(answer(id).get("result"), Some(&Value::Null), "{id}: {}", answer(id));
    }
    let root = url::Url::from_file_path(ws.root()).unwrap();
    assert_eq!(answer("folders")["result"], json!([{"uri": root.as_str(), "name": "ws"}]));
    assert_eq!(answer("show")["result"], json!({"success": false}));
    assert_eq!(answer("edit")["result"]["applied"], false);
    assert_eq!(answer("custom")["error"]["code"], -32601);
    assert_eq!(answer("known")["result"], json!({"ok": true}));
    assert_eq!(ws.read("a.py"), "alpha\n");
}

fn x18_ids_of_every_kind() {
    let ws = Workspace::new(WS);
    let ids = [
        json!(0),
        json!(1),
        json!(2),
        json!("1"),
        json!("text id"),
        json!(-7),
        json!(4_294_967_296_i64),
        json!(9_007_199_254_740_993_i64),
        json!(u64::MAX),
        json!(""),
    ];
    let asks = |ids: &[Value]| -> Vec<Act> {
        ids.iter().map(|id| Ask::new(id.clone(), "workspace/configuration", sections(&["x"])).block().into()).collect()
    };
    let mut during = asks(&ids[..3]);
    during.push(Act::Default);
    let script = Script::new().on("initialized", asks(&ids)).on("textDocument/hover", during);
    let lp = Langport::with(&ws, script);
    lp.hover(&at()).verdict_is("fresh").contains("WORD alpha");
    for id in &ids {
        assert_eq!(lp.log().answer_to(id)["result"], json!([null]), "{id}");
    }
    lp.log().wait_event("answer", ids.len() + 3);
}
