//! Which tools exist for whom, and how symbols and paths are addressed.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script, register},
    support::{Answer, Definition, Langport, Workspace, eventually},
};

trials![
    a5_1_tools_follow_the_declared_capabilities,
    a5_1_unknown_capabilities_count_as_can,
    a5_6_a_late_registration_works,
    a5_7_each_missing_capability_is_unsupported,
    a5_3_every_advertised_choice_is_taken,
    b3_every_answer_is_bounded,
    x13_a_symbol_on_a_line_with_occurrence,
    x13_a_symbol_in_a_file_or_anywhere,
    x13_ambiguity_gives_addresses_that_work,
    x13_a_symbol_that_nobody_could_be_asked_for_is_not_missing,
    x16_a_call_cannot_choose_the_command,
    x17_the_boundary_is_segment_safe_and_follows_links,
    x22_a_server_can_be_restarted,
    several_roots_have_names,
    a4_auto_finds_the_users_server,
    a4_flags_narrow_what_is_bound,
];

const SHOP: &str = "//- shop.py\nclass Cart:\n    def add(self, item): pass\nclass Order:\n    def add(self, item): pass\ndef total(a, b):\n    return a + a + b\n//- use.py\ntotal(1, 2)\n";

fn place(file: &str, line: usize, column: usize) -> Value {
    json!({"file_path": file, "line": line, "column": column})
}

fn x13_a_symbol_that_nobody_could_be_asked_for_is_not_missing() {
    let ws = Workspace::new(SHOP);
    let script = Script::new().on("workspace/symbol", [Act::Sleep(1)]);
    let lp = Langport::builder(&ws).server(Definition::new("fake", script)).max_wait(6_000).start();
    lp.hover(&json!({"symbol": "Cart"})).fails("failed").lacks("no server knows").contains("fake unanswered");
}

fn tool_names(lp: &Langport) -> Vec<String> {
    lp.tools().iter().map(|t| t["name"].as_str().unwrap().to_owned()).collect()
}

fn a5_1_tools_follow_the_declared_capabilities() {
    let matrix = [
        ("diagnostics", "lsp_diagnostics"),
        ("hover", "lsp_hover"),
        ("definitions", "lsp_definition"),
        ("references", "lsp_references"),
        ("completions", "lsp_completions"),
        ("signature_help", "lsp_signature"),
        ("document_symbols", "lsp_symbols"),
        ("workspace_symbols", "lsp_workspace_symbols"),
        ("call_hierarchy", "lsp_calls"),
        ("type_hierarchy", "lsp_types"),
        ("rename", "lsp_rename"),
        ("code_actions", "lsp_code_actions"),
        ("formatting", "lsp_format"),
        ("file_operations", "lsp_move_file"),
    ];
    for (capability, tool) in matrix {
        let ws = Workspace::new(SHOP);
        let definition = Definition::new("fake", Script::new()).key(&format!("capabilities = [\"{capability}\"]"));
        let lp = Langport::builder(&ws).server(definition).start();
        let names = tool_names(&lp);
        assert!(
            names.contains(&tool.to_owned()) && names.contains(&"lsp_status".to_owned()),
            "{capability}: {names:?}"
        );
        let others = matrix.iter().filter(|(_, t)| *t != tool && names.contains(&(*t).to_owned())).count();
        assert_eq!(others, 0, "{capability} alone gives {names:?}");
        let plans = matches!(capability, "rename" | "code_actions" | "formatting" | "file_operations");
        assert_eq!(names.contains(&"lsp_apply".to_owned()), plans, "{capability}: {names:?}");
        assert_eq!(lp.log().starts(), 0, "no server is started for the list");
    }
}

fn a5_1_unknown_capabilities_count_as_can() {
    let ws = Workspace::new(SHOP);
    let lp = Langport::with(&ws, Script::new().capabilities(json!({"textDocumentSync": 1})));
    let before = tool_names(&lp);
    assert!(before.len() >= 11, "{before:?}");
    lp.hover(&place("shop.py", 1, 7)).fails("unsupported");
    assert_eq!(tool_names(&lp), before, "learning takes no tool away");
}

fn a5_6_a_late_registration_works() {
    let ws = Workspace::new(SHOP);
    let script = Script { name: "late".into(), ..Script::new() };
    let script = script.on(
        "textDocument/didOpen",
        [register("h", "textDocument/hover", json!({"documentSelector": null})).block().into()],
    );
    let lp = Langport::with(&ws, script);
    lp.tool("symbols", &json!({"file_path": "shop.py"})).fine();
    lp.log().wait_event("answer", 1);
    lp.hover(&place("shop.py", 1, 7)).verdict_is("fresh").contains("WORD Cart");
}

fn a5_7_each_missing_capability_is_unsupported() {
    let calls = [
        ("hover", place("shop.py", 1, 7), "hoverProvider"),
        ("definition", place("shop.py", 1, 7), "definitionProvider"),
        ("references", place("shop.py", 1, 7), "referencesProvider"),
        ("completions", place("shop.py", 1, 9), "completionProvider"),
        ("signature", place("shop.py", 5, 11), "signatureHelpProvider"),
        ("symbols", json!({"file_path": "shop.py"}), "documentSymbolProvider"),
        ("workspace_symbols", json!({"query": "Cart"}), "workspaceSymbolProvider"),
        ("calls", place("shop.py", 5, 5), "callHierarchyProvider"),
        ("types", place("shop.py", 1, 7), "typeHierarchyProvider"),
        ("rename", json!({"file_path": "shop.py", "line": 1, "column": 7, "new_name": "Wagon"}), "renameProvider"),
        ("code_actions", json!({"file_path": "shop.py"}), "codeActionProvider"),
        ("format", json!({"file_path": "shop.py"}), "documentFormattingProvider"),
    ];
    for (tool, arguments, capability) in &calls {
        let ws = Workspace::new(SHOP);
        let lp = Langport::with(&ws, Script::new().capability(capability, Value::Null));
        lp.tool(tool, arguments).fails("unsupported").contains("fake");
        for (other, arguments, _) in calls.iter().filter(|(t, _, _)| t != tool) {
            lp.tool(other, arguments).fine().verdict_is("fresh");
        }
    }
}

fn a5_3_every_advertised_choice_is_taken() {
    let ws = Workspace::new(SHOP);
    let lp = Langport::with(&ws, Script::new());
    for tool in lp.tools() {
        let name = tool["name"].as_str().unwrap();
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let values = match (&schema["enum"], schema["type"].as_str()) {
                (Value::Array(choices), _) => choices.clone(),
                (_, Some("boolean")) => vec![json!(true), json!(false)],
                (_, Some("integer")) => vec![json!(1)],
                _ => vec![],
            };
            for value in values {
                let mut arguments = match name {
                    "lsp_workspace_symbols" => json!({"query": "total"}),
                    "lsp_status" => json!({"server": "fake"}),
                    "lsp_diagnostics" | "lsp_symbols" | "lsp_format" | "lsp_code_actions" => {
                        json!({"file_path": "shop.py"})
                    }
                    "lsp_rename" => json!({"file_path": "shop.py", "line": 5, "column": 5, "new_name": "sum"}),
                    _ => json!({"file_path": "shop.py", "line": 5, "column": 5}),
                };
                arguments[argument] = value.clone();
                if argument == "occurrence" {
                    arguments = json!({"file_path": "shop.py", "line": 5, "symbol": "total", "occurrence": 1});
                    if name == "lsp_rename" {
                        arguments["new_name"] = json!("sum");
                    }
                }
                // A column or an end needs the line that it stands in.
                if matches!(argument.as_str(), "start_column" | "end_line" | "end_column") {
                    arguments["start_line"] = json!(1);
                }
                let answer = Answer::of(&lp.answer(lp.call(name, &arguments)));
                assert!(!answer.is_error, "{name} advertises {argument} = {value}, and answers {answer}");
            }
        }
    }
}

fn b3_every_answer_is_bounded() {
    let ws = Workspace::new(&format!("//- a.py\n{}", "def name_with_some_length(): pass  # ERR\n".repeat(300)));
    let builder = Langport::builder(&ws).server(Definition::new("fake", Script::new()));
    let lp = builder.config("max_chars = 2000").start();
    let calls = [
        ("diagnostics", json!({"file_path": "a.py"})),
        ("references", place("a.py", 1, 5)),
        ("definition", place("a.py", 1, 5)),
        ("symbols", json!({"file_path": "a.py"})),
        ("workspace_symbols", json!({"query": "name"})),
        ("hover", json!({"file_path": "a.py", "symbol": "z".repeat(20_000)})),
        ("status", json!({})),
    ];
    for (tool, arguments) in calls {
        let answer = lp.tool(tool, &arguments);
        assert!(answer.text.chars().count() <= 2_000, "{tool}: {} characters", answer.text.chars().count());
    }
}

fn x13_a_symbol_on_a_line_with_occurrence() {
    let ws = Workspace::new(SHOP);
    let lp = Langport::with(&ws, Script::new());
    let hover = |line: usize, occurrence: usize| {
        lp.hover(&json!({"file_path": "shop.py", "line": line, "symbol": "a", "occurrence": occurrence}))
    };
    hover(6, 1).contains("received 5:11");
    hover(6, 2).contains("received 5:15");
    let third = hover(6, 3);
    assert!(third.is_error, "there are two: {third}");
    let moved = lp.hover(&json!({"file_path": "shop.py", "line": 3, "symbol": "total"}));
    moved.fine().contains("received 4:4").contains("5");
    let far = lp.hover(&json!({"file_path": "shop.py", "line": 1, "symbol": "total"}));
    assert!(far.is_error, "more than three lines away: {far}");
}

fn x13_a_symbol_in_a_file_or_anywhere() {
    let ws = Workspace::new(SHOP);
    let lp = Langport::with(&ws, Script::new());
    lp.hover(&json!({"file_path": "shop.py", "symbol": "Order"})).contains("received 2:6");
    lp.hover(&json!({"file_path": "use.py", "symbol": "total"})).fine().contains("WORD total");
    lp.hover(&json!({"symbol": "Cart"})).contains("received 0:6").contains("shop.py:1:7");
    let missing = lp.hover(&json!({"file_path": "shop.py", "symbol": "Wagon"}));
    missing.fails("not_found").contains("shop.py");
    lp.hover(&json!({"symbol": "Wagon"})).fails("not_found");
}

fn x13_ambiguity_gives_addresses_that_work() {
    let ws = Workspace::new(SHOP);
    let lp = Langport::with(&ws, Script::new());
    let both = lp.hover(&json!({"file_path": "shop.py", "symbol": "add"}));
    both.fails("ambiguous");
    for offers in [both.offers(), lp.hover(&json!({"symbol": "add"})).fails("ambiguous").offers()] {
        let lines: Vec<&Value> = offers.iter().map(|o| &o["line"]).collect();
        assert_eq!(lines, [&json!(2), &json!(4)], "{both}");
        for (offer, received) in offers.iter().zip(["received 1:8", "received 3:8"]) {
            lp.hover(offer).fine().contains("WORD add").contains(received);
        }
    }
}

fn x16_a_call_cannot_choose_the_command() {
    let ws = Workspace::new(SHOP);
    let lp = Langport::with(&ws, Script::new());
    let marker = ws.home().join("evil");
    let evil = json!({"file_path": "shop.py", "line": 1, "column": 7, "command": ["touch", marker], "env": {"LD_PRELOAD": "x"}, "args": ["--evil"]});
    lp.hover(&evil).fails("invalid").contains("argument");
    lp.hover(&place("shop.py", 1, 7)).fine();
    assert_eq!(lp.log().events("start")[0]["about"]["args"], json!([]));
    assert!(!marker.exists());
}

fn x17_the_boundary_is_segment_safe_and_follows_links() {
    let ws = Workspace::new("//- a.py\nalpha\n//- real/b.py\nbeta\n");
    let beside = ws.home().join("ws2");
    std::fs::create_dir_all(&beside).unwrap();
    std::fs::write(beside.join("c.py"), "secret\n").unwrap();
    std::os::unix::fs::symlink(&beside, ws.path("out")).unwrap();
    std::os::unix::fs::symlink(beside.join("c.py"), ws.path("c.py")).unwrap();
    std::os::unix::fs::symlink(ws.path("real"), ws.path("in")).unwrap();
    let lp = Langport::with(&ws, Script::new());
    let absolute = beside.join("c.py").to_string_lossy().into_owned();
    for path in [absolute.as_str(), "../ws2/c.py", "out/c.py", "c.py", "in/../../ws2/c.py"] {
        lp.hover(&place(path, 1, 1)).fails("outside_workspace").lacks("secret");
    }
    lp.hover(&place("in/b.py", 1, 1)).verdict_is("fresh").contains("WORD beta");
    assert!(lp.log().of("textDocument/didOpen").iter().all(|p| p["textDocument"]["text"] != "secret\n"));
}

fn x22_a_server_can_be_restarted() {
    let ws = Workspace::new(SHOP);
    let lp = Langport::with(&ws, Script::new());
    lp.hover(&place("shop.py", 1, 7)).fine();
    lp.tool("status", &json!({"server": "fake", "restart": true})).fine().contains("fake");
    lp.hover(&place("shop.py", 1, 7)).verdict_is("fresh");
    eventually("a second start", || (lp.log().starts() == 2).then_some(()));
    lp.tool("status", &json!({"file_path": "shop.py"})).fine().contains("fake").contains("python");
}

fn several_roots_have_names() {
    let ws = Workspace::new("//- one/a.py\nalpha\n//- two/a.py\nbeta\n//- two/b.py\ngamma\n");
    let builder = Langport::builder(&ws).server(Definition::new("fake", Script::new()));
    let lp = builder.roots(&[ws.path("one"), ws.path("two")]).start();
    lp.hover(&place("one/a.py", 1, 1)).contains("WORD alpha").contains("one/a.py:1:1");
    lp.hover(&place("two/a.py", 1, 1)).contains("WORD beta").contains("two/a.py:1:1");
    lp.hover(&place(&ws.path("two/b.py").to_string_lossy(), 1, 1)).contains("WORD gamma").contains("two/b.py:1:1");
}

fn a4_auto_finds_the_users_server() {
    let ws = Workspace::new(SHOP);
    let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new())).auto().start();
    assert!(tool_names(&lp).len() >= 11);
    let answer = lp.hover(&place("shop.py", 1, 7));
    assert!(answer.first().starts_with("fresh · fake · "), "the user's come before the built-in ones: {answer}");
}

fn a4_flags_narrow_what_is_bound() {
    let (ws, other) = (Workspace::new(SHOP), Workspace::new(SHOP));
    let server = |ws| Langport::builder(ws).server(Definition::new("fake", Script::new()));
    let lp = server(&ws).arg("--capabilities").arg("hover,references").start();
    let names = tool_names(&lp);
    assert_eq!(names.len(), 3, "hover, references, status: {names:?}");
    lp.hover(&place("shop.py", 1, 7)).verdict_is("fresh");
    drop(lp);
    let gopher = Definition::new("gopher", Script::new()).languages(&["go"]);
    let lp = server(&other).server(gopher).auto().arg("--languages").arg("go").start();
    lp.hover(&place("shop.py", 1, 7)).fails("unavailable");
    assert_eq!(lp.log().starts(), 0);
}
