//! What planners answer: what they refuse, formatting, and how their diffs are shown.

use serde_json::{Value, json};

use crate::{
    changes::{SHOP, apply, rename},
    fake::script::{Act, Script, register},
    support::{Definition, Langport, Workspace},
};

trials![
    e13_formatting_and_nothing_to_format,
    pro_07_formatting_that_is_registered_late,
    a5_3_arguments_of_planners,
    e16_read_only_refuses_before_any_server,
    the_first_line_ends_in_the_id_however_short_it_must_be,
    a_long_diff_has_pages,
];

fn e13_formatting_and_nothing_to_format() {
    let ws = Workspace::new("//- a.py\nx = 1  \ny = 2\nz = 3 \n");
    let lp = Langport::with(&ws, Script::new());
    let part = lp.tool("format", &json!({"file_path": "a.py", "start_line": 2, "end_line": 3}));
    part.contains("1 place in 1 file");
    let plan = lp.tool("format", &json!({"file_path": "a.py"}));
    plan.verdict_is("fresh").contains("2 places").contains("-x = 1  ");
    apply(&lp, &plan.plan()).fine();
    assert_eq!(ws.read("a.py"), "x = 1\ny = 2\nz = 3\n");
    let done = lp.tool("format", &json!({"file_path": "a.py"}));
    done.fine().contains("would change nothing").lacks("plan ");
    apply(&lp, &part.plan()).fails("conflict");
}

fn pro_07_formatting_that_is_registered_late() {
    let ws = Workspace::new("//- a.py\nx = 1  \n//- b.py\ny = 1 \n");
    let options = json!({"documentSelector": [{"pattern": "**/a.py"}]});
    let script = Script::new()
        .capability("documentFormattingProvider", Value::Null)
        .on("initialized", [register("f", "textDocument/formatting", options).block().into()])
        .on("textDocument/formatting", [Act::Reply(json!([{"range": {"start": {"line": 0, "character": 5}, "end": {"line": 0, "character": 7}}, "newText": ""}]))]);
    let lp = Langport::with(&ws, script);
    apply(&lp, &lp.tool("format", &json!({"file_path": "a.py"})).plan()).fine();
    assert_eq!(ws.read("a.py"), "x = 1\n");
    lp.tool("format", &json!({"file_path": "b.py"})).fails("unsupported").contains("fake");
}

fn a5_3_arguments_of_planners() {
    let ws = Workspace::new(SHOP);
    let lp = Langport::with(&ws, Script::new());
    let properties = |name: &str| {
        let tools = lp.tools();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let mut names: Vec<String> = tool["inputSchema"]["properties"].as_object().unwrap().keys().cloned().collect();
        names.sort_unstable();
        names.join(" ")
    };
    assert_eq!(properties("lsp_rename"), "allow_partial column cursor file_path line new_name occurrence symbol");
    assert_eq!(
        properties("lsp_code_actions"),
        "action cursor end_column end_line file_path only start_column start_line"
    );
    assert_eq!(properties("lsp_format"), "cursor end_column end_line file_path start_column start_line");
    assert_eq!(properties("lsp_move_file"), "cursor from to");
    assert_eq!(properties("lsp_apply"), "cursor plan undo");
    for tool in lp.tools() {
        let writes = tool["name"] == "lsp_apply";
        assert_eq!(tool["annotations"]["readOnlyHint"], !writes, "{tool}");
        assert_eq!(tool["annotations"]["destructiveHint"], writes, "{tool}");
    }
    let list = serde_json::to_string(&lp.tools()).unwrap();
    assert!(list.len() <= 12_000, "{} bytes", list.len());
    lp.tool("apply", &json!({})).fails("invalid").contains("plan");
    lp.tool("apply", &json!({"plan": "a", "undo": "b"})).fails("invalid");
    lp.tool("rename", &json!({"file_path": "lib.py", "line": 1, "column": 5})).fails("invalid").contains("new_name");
    lp.tool("move_file", &json!({"from": "lib.py"})).fails("invalid").contains("to");
    // The spellings of other bridges.
    let spelled = json!({"uri": ws.uri("lib.py"), "line": 1, "character": 5, "newName": "total"});
    lp.tool("rename", &spelled).plan();
    lp.tool("format", &json!({"path": "lib.py", "start_line": 9})).fails("invalid").contains("3 lines");
}

fn e16_read_only_refuses_before_any_server() {
    let ws = Workspace::new(SHOP);
    let builder = Langport::builder(&ws).server(Definition::new("fake", Script::new()));
    let lp = builder.arg("--permission").arg("read-only").start();
    assert!(lp.tools().iter().all(|tool| tool["name"] != "lsp_apply"));
    assert!(lp.tools().iter().any(|tool| tool["name"] == "lsp_rename"), "planning writes nothing");
    apply(&lp, "0123456789abcdef").fails("read_only");
    assert_eq!(lp.log().starts(), 0, "refused before any server is asked");
    let planned = rename(&lp, "lib.py", 1, "tally", "total");
    let before = lp.log().received().len();
    apply(&lp, &planned.plan()).fails("read_only");
    assert_eq!(lp.log().received().len(), before);
    assert!(ws.read("lib.py").contains("tally"));
    drop(lp);
    let ws = Workspace::new(SHOP);
    let builder = Langport::builder(&ws).server(Definition::new("fake", Script::new()));
    let lp = builder.arg("--permission").arg("workspace-write").config("withheld = [\"lib.py\"]").start();
    rename(&lp, "use.py", 2, "tally", "total").fails("refused").contains("lib.py");
    drop(lp);
    let ws = Workspace::new(SHOP);
    let builder = Langport::builder(&ws).server(Definition::new("fake", Script::new()));
    let lp = builder.arg("--capabilities").arg("hover").start();
    assert!(lp.tools().iter().all(|tool| tool["name"] != "lsp_apply" && tool["name"] != "lsp_rename"));
    rename(&lp, "lib.py", 1, "tally", "total").fails("refused");
}

fn the_first_line_ends_in_the_id_however_short_it_must_be() {
    let ws = Workspace::new(SHOP);
    let builder = Langport::builder(&ws).server(Definition::new("fake", Script::new().pull()));
    let lp = builder.config("max_chars = 500").start();
    let name = "n".repeat(190);
    let planned = rename(&lp, "lib.py", 1, "tally", &name);
    assert_eq!(planned.plan().len(), 16, "{planned}");
    assert!(planned.text.chars().count() <= 500);
    let made = apply(&lp, &planned.plan());
    assert!(made.fine().first().ends_with(&format!("undo {}", planned.plan())), "{made}");
    assert!(ws.read("lib.py").contains(&name));
}

fn a_long_diff_has_pages() {
    let ws = Workspace::new(&format!("//- a.py\n{}", "print(tally)  # a line that takes some room\n".repeat(150)));
    let lp = Langport::with(&ws, Script::new());
    let arguments = json!({"file_path": "a.py", "line": 1, "symbol": "tally", "new_name": "total"});
    let first = lp.tool("rename", &arguments);
    first.contains("150 places in 1 file").contains("more: cursor");
    let mut seen = first.body().matches("\n  +print(total)").count();
    let mut cursor = first.cursor();
    while let Some(token) = cursor {
        let mut next = arguments.clone();
        next["cursor"] = json!(token);
        let page = lp.tool("rename", &next);
        seen += page.body().lines().filter(|line| line.starts_with("  +print(total)")).count();
        cursor = page.cursor();
    }
    assert_eq!(seen, 150);
    apply(&lp, &first.plan()).fine();
}
