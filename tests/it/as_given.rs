//! Reports of others word by word: what their steps need and no other trial does.

use std::{fs, os::unix::fs::symlink};

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Ask, Script, register, watch},
    support::{Answer, Definition, Langport, Workspace, eventually, procs},
};

trials![
    pro_01_one_id_registered_twice_is_one_registration,
    pro_02_exactly_one_entry_an_item_at_once_and_at_any_time,
    pro_06_answers_behind_odd_headers_are_answers,
    pro_07_a_format_for_some_files_comes_and_goes,
    pro_07_saves_alone,
    per_03_a_second_session_finds_the_data_folder_locked,
    sec_01_no_tool_takes_a_path_that_leads_out,
    sec_01_a_root_that_is_a_link,
    uri_01_x19_every_planner_with_reserved_characters,
    mcp_06_a_version_that_is_missing_or_none,
    mcp_08_a_cancelled_change_is_made_or_not,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn pro_01_one_id_registered_twice_is_one_registration() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.py\nbeta\n");
    let mut again = watch("**/*.py");
    again.id = json!("again");
    let gone = json!({"unregisterations": [{"id": "watch-1", "method": "workspace/didChangeWatchedFiles"}]});
    let gone = Ask::new("gone", "client/unregisterCapability", gone).block();
    let script = Script::new()
        .on("initialized", [watch("**/*").block().into(), again.block().into()])
        .on("textDocument/definition", [gone.into(), Act::Default]);
    let lp = Langport::with(&ws, script);
    lp.hover(&at("a.py")).verdict_is("fresh");
    lp.log().wait_event("answer", 2);
    ws.write("b.py", "beta2\n");
    lp.hover(&at("a.py")).verdict_is("fresh");
    let told = lp.log().of("workspace/didChangeWatchedFiles");
    assert_eq!(told, [json!({"changes": [{"uri": ws.uri("b.py"), "type": 2}]})], "told once");
    lp.tool("definition", &at("a.py")).verdict_is("fresh");
    ws.write("b.py", "beta3\n");
    lp.hover(&at("a.py")).verdict_is("fresh");
    assert_eq!(lp.log().count("workspace/didChangeWatchedFiles"), 1, "and no more");
}

fn pro_02_exactly_one_entry_an_item_at_once_and_at_any_time() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let ask = |id: &str, sections: &[&str]| {
        let items: Vec<Value> = sections.iter().map(|section| json!({"section": section})).collect();
        Act::from(Ask::new(id, "workspace/configuration", json!({"items": items})).block().exit_on_error())
    };
    let three = ["other", "fake.analysis", "fake.absent"];
    let many: Vec<String> = (0..22).map(|i| if i == 11 { "fake.paths".into() } else { format!("s{i}") }).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let moments = ["initialize", "initialized", "textDocument/didOpen", "textDocument/hover"];
    let script = moments.iter().fold(Script::new(), |script, moment| {
        let both = [ask(&format!("3 {moment}"), &three), ask(&format!("22 {moment}"), &many), Act::Default];
        script.on(moment, both)
    });
    let settings = "[workspace_settings]\n\"fake.analysis.level\" = \"strict\"\n\"fake.paths\" = [\"x\"]";
    let lp = Langport::builder(&ws).server(Definition::new("fake", script).table(settings)).start();
    lp.hover(&at("a.py")).verdict_is("fresh").contains("WORD alpha");
    let mut all = vec![Value::Null; 22];
    all[11] = json!(["x"]);
    for moment in moments {
        let answer = |kind: &str| lp.log().answer_to(&json!(format!("{kind} {moment}")))["result"].clone();
        assert_eq!(answer("3"), json!([null, {"level": "strict"}, null]), "{moment}");
        assert_eq!(answer("22"), json!(all), "{moment}");
    }
    for answer in lp.log().events("answer") {
        let took = answer["took"].as_f64().unwrap();
        assert!(took < 2.0, "{took} s for {}", answer["id"]);
    }
}

fn pro_06_answers_behind_odd_headers_are_answers() {
    for head in [
        "content-length:$length\r\n\r\n",
        "CONTENT-LENGTH:   $length  \r\n\r\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: $length\r\n\r\n",
        "Content-Length: $length\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
        "Content-Length: $length\n\n",
        "\u{feff}Content-Length: $length\r\n\r\n",
        "Starting…\nContent-Length: $length\r\n\r\n",
        "no line end before Content-Length: $length\r\n\r\n",
        "\u{1b}[2JContent-Length: $length\r\n\r\n",
        "Downloading 10 %\rDownloading 100 %\rContent-Length: $length\r\n\r\n",
        "Content-Length: 0\r\n\r\nContent-Length: $length\r\n\r\n",
        "Content-Length: 7\r\n\r\n{oh no}Content-Length: $length\r\n\r\n",
        "Content-Length: 7\r\n\r\n{oh no}\n\nContent-Length: $length\r\n\r\n",
    ] {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let script = ["initialize", "textDocument/hover", "textDocument/documentSymbol", "shutdown"]
            .iter()
            .fold(Script::new(), |script, method| script.on(method, [Act::Headed(head.into())]));
        let lp = Langport::with(&ws, script);
        for _ in 0..2 {
            let answer = lp.hover(&at("a.py"));
            assert!(answer.verdict() == "fresh" && answer.has("WORD alpha"), "{head:?}: {answer}");
        }
        lp.tool("symbols", &json!({"file_path": "a.py"})).verdict_is("fresh");
        assert_eq!(lp.log().starts(), 1, "{head:?}");
    }
}

fn pro_07_a_format_for_some_files_comes_and_goes() {
    let ws = Workspace::new("//- a.json\n{ }  \n//- deep/b.json\n{ }  \n//- c.py\nx = 1  \n");
    let selector = json!({"documentSelector": [{"pattern": "**/*.json"}]});
    let come = register("f", "textDocument/formatting", selector).block();
    let gone = json!({"unregisterations": [{"id": "f", "method": "textDocument/formatting"}]});
    let gone = Ask::new("gone", "client/unregisterCapability", gone).block();
    let blanks = json!({"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 5}});
    let script = Script::new()
        .capability("documentFormattingProvider", Value::Null)
        .capability("documentRangeFormattingProvider", Value::Null)
        .on("textDocument/formatting", [Act::Reply(json!([{"range": blanks, "newText": ""}]))])
        .each(
            "textDocument/hover",
            [vec![Act::Default], vec![come.into(), Act::Default], vec![gone.into(), Act::Default]],
        );
    let fake = Definition::new("fake", script).languages(&["json", "python"]);
    let lp = Langport::builder(&ws).server(fake).start();
    let format = |file: &str| lp.tool("format", &json!({"file_path": file}));
    let turn = || _ = lp.hover(&at("c.py")).verdict_is("fresh");
    turn();
    format("a.json").fails("unsupported").contains("fake");
    turn();
    for file in ["a.json", "deep/b.json"] {
        format(file).fine().contains("plan ");
    }
    format("c.py").fails("unsupported");
    turn();
    for file in ["a.json", "deep/b.json", "c.py"] {
        format(file).fails("unsupported");
    }
}

fn pro_07_saves_alone() {
    for (form, text) in [(json!({"save": true}), false), (json!({"save": {"includeText": true}}), true)] {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let script = Script::watching("**/*").capability("textDocumentSync", form.clone());
        let mut lp = Langport::with(&ws, script);
        // Editors tell of a save also where they tell of nothing else, which the fake calls a mistake.
        lp.tolerate();
        lp.hover(&at("a.py")).fine().contains("WORD alpha");
        ws.write("a.py", "beta\n");
        lp.hover(&at("a.py")).fine().contains("WORD beta");
        assert_eq!(lp.log().count("textDocument/didChange"), 0, "{form}");
        let saves = lp.log().of("textDocument/didSave");
        assert_eq!(saves.len(), 1, "{form}");
        for save in saves {
            assert_eq!(save.get("text") == Some(&json!("beta\n")), text, "{form}: {save}");
        }
    }
}

fn per_03_a_second_session_finds_the_data_folder_locked() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let beside = Workspace::inside(ws.root(), "");
    let script = || Script::new().on("start", [Act::Lock(ws.home().join("data-of-the-server"))]);
    let mut first = Langport::with(&ws, script());
    first.tolerate();
    first.hover(&at("a.py")).verdict_is("fresh");
    {
        let second = Langport::with(&beside, script());
        let told = second.hover(&at("a.py"));
        told.fails("unavailable").contains("data-of-the-server is locked by another process");
        second.diagnostics("a.py").fails("unavailable").contains("locked").lacks("no problems");
        first.hover(&at("a.py")).verdict_is("fresh").contains("WORD alpha");
        assert_eq!(first.log().starts(), 1, "the first one is not disturbed");
        // Once the lock is free the second one takes its turn.
        procs::signal(first.log().pids()[0], libc::SIGKILL);
        eventually("the second one's turn", || {
            Some(second.hover(&at("a.py"))).filter(|answer| answer.verdict() == "fresh")
        });
    }
}

fn sec_01_no_tool_takes_a_path_that_leads_out() {
    let ws = Workspace::new("//- a.py\nalpha\n//- sub/b.py\nbeta\n");
    let outside = ws.home().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join(".profile"), "secret\n").unwrap();
    fs::write(outside.join("c.py"), "secret\n").unwrap();
    symlink(&outside, ws.path("link")).unwrap();
    symlink("../../outside/c.py", ws.path("sub/near.py")).unwrap();
    symlink(outside.join("not-there.py"), ws.path("dangling.py")).unwrap();
    let lp = Langport::with(&ws, Script::new());
    let absolute = |name: &str| outside.join(name).to_string_lossy().into_owned();
    let uri = url::Url::from_file_path(outside.join("c.py")).unwrap().to_string();
    let paths = [
        "/etc/hosts".to_owned(),
        "../outside/c.py".into(),
        "sub/../../outside/.profile".into(),
        absolute("c.py"),
        uri.replace("outside", "%6Futside"),
        uri,
        "link/c.py".into(),
        "link/../a.py".into(),
        "sub/near.py".into(),
        "~/outside/c.py".into(),
        "link/new/deep/file.py".into(),
    ];
    let tools = |path: &str| {
        let place = at(path);
        let mut rename = place.clone();
        rename["new_name"] = json!("x");
        let file = json!({"file_path": path});
        let mut calls = ["hover", "definition", "references", "completions", "signature", "calls", "types"]
            .map(|tool| (tool, place.clone()))
            .to_vec();
        calls.push(("rename", rename));
        calls.extend(["diagnostics", "symbols", "code_actions", "format"].map(|tool| (tool, file.clone())));
        calls.push(("hover", json!({"file_path": path, "symbol": "secret"})));
        calls.push(("move_file", json!({"from": path, "to": "sub/taken.py"})));
        calls.push(("move_file", json!({"from": "a.py", "to": path})));
        calls
    };
    for path in &paths {
        for (tool, arguments) in tools(path) {
            let answer = lp.tool(tool, &arguments);
            let refused = matches!(answer.verdict(), "outside_workspace" | "not_found" | "invalid" | "refused");
            // `link/..` is the folder above what the link leads to, for the system; no name inside comes of it.
            assert!(answer.is_error && refused && !answer.has("secret"), "{tool} {arguments}: {answer}");
            let name = path.rsplit('/').next().unwrap();
            assert!(answer.has(name), "the path is named: {tool} {arguments}: {answer}");
        }
    }
    for (tool, arguments) in tools("dangling.py") {
        let answer = lp.tool(tool, &arguments);
        assert!(answer.is_error && answer.has("dangling.py"), "{tool} {arguments}: {answer}");
    }
    let told = lp.log().of("textDocument/didOpen");
    assert!(told.iter().all(|open| open["textDocument"]["text"] != "secret\n"), "{told:?}");
    assert_eq!(fs::read_to_string(outside.join(".profile")).unwrap(), "secret\n");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 2);
    assert!(ws.path("a.py").exists() && !ws.path("sub/taken.py").exists());
}

fn sec_01_a_root_that_is_a_link() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.py\nalpha\n");
    let link = ws.home().join("way");
    symlink(ws.root(), &link).unwrap();
    fs::write(ws.home().join("outside.py"), "secret\n").unwrap();
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", Script::watching("**/*")))
        .roots(std::slice::from_ref(&link))
        .start();
    let (by_link, real) = (link.join("a.py"), ws.path("a.py"));
    for path in ["a.py", &by_link.to_string_lossy(), &real.to_string_lossy(), &ws.uri("a.py")] {
        lp.hover(&at(path)).verdict_is("fresh").contains("WORD alpha").contains("a.py:1:1");
    }
    assert_eq!(lp.log().count("textDocument/didOpen"), 1, "one document");
    for path in ["../outside.py", &link.join("../outside.py").to_string_lossy()] {
        lp.hover(&at(path)).fails("outside_workspace").lacks("secret");
    }
    let plan = lp.tool("rename", &json!({"file_path": "a.py", "line": 1, "column": 1, "new_name": "beta"}));
    lp.tool("apply", &json!({"plan": plan.plan()})).fine();
    assert_eq!((ws.read("a.py"), ws.read("b.py")), ("beta\n".into(), "beta\n".into()));
}

fn uri_01_x19_every_planner_with_reserved_characters() {
    for name in ["a b", "#work", "[slug]", "50%", "a%20b", "naïve", "日本", "q?x", "(auth)"] {
        let ws = Workspace::named(name, "");
        let (file, other) = (format!("{name}/{name}.py"), format!("{name}/{name} 2.py"));
        ws.write(&file, "class Alpha:\n    pass\nclass Beta(Alpha):\n    pass\nERR  \n");
        ws.write(&other, "Alpha\n");
        let filters = json!({"filters": [{"scheme": "file", "pattern": {"glob": "**/*.py"}}]});
        let script = Script::watching("**/*")
            .capability("workspace", json!({"fileOperations": {"willRename": filters, "didRename": filters}}))
            .on("workspace/willRenameFiles", [Act::Reply(Value::Null)]);
        let lp = Langport::with(&ws, script);
        let place = json!({"file_path": other, "line": 1, "column": 1});
        lp.tool("definition", &place).verdict_is("fresh").contains(&format!("{file}:1:7"));
        let below = json!({"file_path": file, "line": 1, "column": 7, "direction": "subtypes"});
        lp.tool("types", &below).verdict_is("fresh").contains("Beta").contains(&file);
        lp.tool("hover", &json!({"symbol": "Beta"})).verdict_is("fresh").contains(&format!("{file}:3:7"));
        let apply = |planned: &Answer| _ = lp.tool("apply", &json!({"plan": planned.plan()})).fine();
        let mut rename = place.clone();
        rename["new_name"] = json!("Gamma");
        let planned = lp.tool("rename", &rename);
        planned.contains(&file).contains(&other);
        apply(&planned);
        assert_eq!(ws.read(&other), "Gamma\n", "{name}");
        assert!(ws.read(&file).starts_with("class Gamma:"), "{name}");
        apply(&lp.tool("code_actions", &json!({"file_path": file, "action": "mend line 5"})));
        apply(&lp.tool("format", &json!({"file_path": file})));
        assert!(ws.read(&file).ends_with("fine\n"), "{name}: {}", ws.read(&file));
        let moved = format!("{name} moved/{name}.py");
        let planned = lp.tool("move_file", &json!({"from": file, "to": moved}));
        planned.contains(&moved);
        apply(&planned);
        assert!(ws.path(&moved).exists() && !ws.path(&file).exists(), "{name}");
        lp.hover(&json!({"file_path": moved, "line": 1, "column": 7})).verdict_is("fresh").contains("WORD Gamma");
        lp.diagnostics(&moved).verdict_is("fresh").contains("no problems");
    }
}

fn mcp_06_a_version_that_is_missing_or_none() {
    let client = json!({"name": "it", "version": "1"});
    for params in [
        json!({"capabilities": {}, "clientInfo": client}),
        json!({"protocolVersion": "", "capabilities": {}, "clientInfo": client}),
        json!({"protocolVersion": 20_250_618, "capabilities": {}, "clientInfo": client}),
        json!({"protocolVersion": null, "capabilities": {}, "clientInfo": client}),
        json!({"protocolVersion": "2025-06-18"}),
        json!({}),
    ] {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new())).silent().start();
        let hello = lp.request("initialize", params.clone());
        let version = hello["result"]["protocolVersion"].as_str().unwrap_or_default();
        let asked = params["protocolVersion"].as_str().filter(|asked| !asked.is_empty());
        assert_eq!(version, asked.unwrap_or("2025-11-25"), "{params}: {hello}");
        // Before the client has said that it is ready.
        assert!(lp.tools().len() > 10);
        assert!(lp.request("ping", json!({}))["result"].is_object());
        lp.notify("notifications/initialized", &json!({}));
        lp.hover(&at("a.py")).verdict_is("fresh");
    }
}

/// However far it has come when the client takes the call back: at the end every file is changed, or none is.
fn mcp_08_a_cancelled_change_is_made_or_not() {
    const FILES: usize = 150;
    let ws = Workspace::new("");
    (0..FILES).for_each(|n| ws.write(&format!("f{n}.py"), "alpha\n"));
    let changed = |word: &str| (0..FILES).filter(|n| ws.read(&format!("f{n}.py")) == format!("{word}\n")).count();
    let mut word = "alpha".to_owned();
    for (round, enough) in [0, 0, 1, FILES / 2].into_iter().enumerate() {
        let new = format!("beta{round}");
        let mut lp = Langport::with(&ws, Script::watching("**/*"));
        let planned = lp.tool("rename", &json!({"file_path": "f0.py", "line": 1, "column": 1, "new_name": new}));
        let call = lp.call("lsp_apply", &json!({"plan": planned.plan()}));
        eventually("as many files, or an answer", || {
            (changed(&new) >= enough || lp.answers_for(call) > 0).then_some(())
        });
        lp.cancel(call);
        lp.tool("symbols", &json!({"file_path": "f0.py"})).verdict_in(&["fresh", "unanswered"]);
        assert!(lp.hang_up().is_some());
        assert!(lp.answers_for(call) <= 1);
        drop(lp);
        let (old, made) = (changed(&word), changed(&new));
        assert!(old == FILES || made == FILES, "{old} are as they were, {made} are changed");
        if made == FILES {
            word = new;
        }
        let left = fs::read_dir(ws.home().join("state/edits")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "nothing is left of it");
    }
}
