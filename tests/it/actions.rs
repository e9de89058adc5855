//! Code actions: offered for a server's own diagnostics, resolved when they are taken, refused when they are stale; its
//! commands run only then, and what it wants to change unasked is not changed.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Ask, Script},
    support::{Answer, Definition, Langport, Workspace},
};

trials![
    edt_07_x21_fixes_are_offered_for_own_diagnostics,
    x21_actions_are_resolved_when_they_are_taken,
    x21_a_stale_action_is_refused,
    e12_commands_run_only_for_an_action_that_is_taken,
    e12_an_empty_edit_stands_before_no_command,
    e12_a_file_that_a_command_makes_by_itself_is_planned,
    unasked_edits_are_refused,
    e16_read_only_runs_no_command,
    e11_actions_of_a_kind,
    e11_an_exact_title_goes_before_one_that_looks_alike,
];

const BROKEN: &str = "//- a.py\nfirst = 1\nERR here\nERR there\n";

fn apply(lp: &Langport, plan: &str) -> Answer {
    lp.tool("apply", &json!({"plan": plan}))
}

fn actions(lp: &Langport, arguments: Value) -> Answer {
    let mut arguments = arguments;
    arguments["file_path"] = json!("a.py");
    lp.tool("code_actions", &arguments)
}

/// The ids of the listed actions, in order.
fn ids(answer: &Answer) -> Vec<String> {
    answer.body().lines().filter_map(|line| Some(line.strip_prefix("  ")?.split("  ").next()?.to_owned())).collect()
}

fn edt_07_x21_fixes_are_offered_for_own_diagnostics() {
    for pull in [false, true] {
        let ws = Workspace::new(BROKEN);
        let script = if pull { Script::new().pull() } else { Script::new() };
        let lp = Langport::with(&ws, script);
        let all = actions(&lp, json!({}));
        all.verdict_is("fresh").contains("2 actions").contains("mend line 2  [quickfix]  preferred");
        actions(&lp, json!({"start_line": 3})).contains("1 action").contains("mend line 3");
        actions(&lp, json!({"start_line": 1})).contains("no actions there");
        let told = lp.log().of("textDocument/codeAction");
        assert_eq!(told[1]["context"]["diagnostics"][0]["data"]["fix"], "fine there", "with its data");
        assert_eq!(told[1]["context"]["diagnostics"][0]["code"], "F1");
        let planned = actions(&lp, json!({"action": ids(&all)[1]}));
        planned.contains("+fine there");
        let made = apply(&lp, &planned.plan());
        made.fine().contains("gone: error: ERR there");
        assert_eq!(ws.read("a.py"), "first = 1\nERR here\nfine there\n");
    }
}

fn x21_actions_are_resolved_when_they_are_taken() {
    let ws = Workspace::new(BROKEN);
    let script = Script::new().capability("codeActionProvider", json!({"resolveProvider": true}));
    let lp = Langport::with(&ws, script);
    let listed = actions(&lp, json!({"start_line": 2}));
    assert_eq!(lp.log().count("codeAction/resolve"), 0);
    let plan = lp.tool("code_actions", &json!({"action": ids(&listed)[0]})).plan();
    assert_eq!(lp.log().count("codeAction/resolve"), 1);
    apply(&lp, &plan).fine();
    assert_eq!(ws.read("a.py"), "first = 1\nfine here\nERR there\n");
}

fn x21_a_stale_action_is_refused() {
    let ws = Workspace::new(BROKEN);
    let lp = Langport::with(&ws, Script::new());
    let listed = ids(&actions(&lp, json!({})));
    ws.write("a.py", "# longer\nfirst = 1\nERR here\n");
    actions(&lp, json!({"action": listed[0]})).fails("expired").contains("a.py has changed");
    actions(&lp, json!({"action": "00-1"})).fails("expired").contains("list the actions again");
    // The file is as it was, and the server offers something else now.
    let ws = Workspace::new(BROKEN);
    let other = json!([{"title": "another", "kind": "quickfix"}]);
    let script = Script::new().each("textDocument/codeAction", vec![vec![Act::Default], vec![Act::Reply(other)]]);
    let lp = Langport::with(&ws, script);
    let listed = ids(&actions(&lp, json!({})));
    actions(&lp, json!({"action": listed[0]})).fails("expired").contains("no longer offers");
}

fn e12_commands_run_only_for_an_action_that_is_taken() {
    let ws = Workspace::new(BROKEN);
    let range = json!({"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}});
    let edit = json!({"label": "x", "edit": {"changes": {"$root/a.py": [{"range": range, "newText": "done"}]}}});
    let run = Ask::new("ask-edit", "workspace/applyEdit", edit).block();
    let offered = json!([
        {"title": "by command", "command": "fake.fix", "arguments": ["$uri", 7]},
        {"title": "of editors", "command": {"title": "x", "command": "editor.action.rename"}},
    ]);
    let script = Script::new()
        .capability("executeCommandProvider", json!({"commands": ["fake.fix"]}))
        .on("textDocument/codeAction", [Act::Reply(offered)])
        .on("workspace/executeCommand", [run.into(), Act::Reply(Value::Null)]);
    let lp = Langport::with(&ws, script);
    let listed = ids(&actions(&lp, json!({})));
    assert_eq!(lp.log().count("workspace/executeCommand"), 0, "listing runs nothing");
    let planned = actions(&lp, json!({"action": listed[0]}));
    planned.contains("+done here");
    let ran = lp.log().of("workspace/executeCommand");
    assert_eq!(ran, [json!({"command": "fake.fix", "arguments": [ws.uri("a.py"), 7]})]);
    assert_eq!(lp.log().answer_to(&json!("ask-edit"))["result"], json!({"applied": true}));
    assert_eq!(ws.read("a.py"), "first = 1\nERR here\nERR there\n", "held, not made");
    // The server took it for made: it is told the disk's text again.
    let last = lp.log().wait("textDocument/didChange", 1).pop().unwrap();
    assert_eq!(last["contentChanges"][0]["text"], "first = 1\nERR here\nERR there\n");
    apply(&lp, &planned.plan()).fine();
    assert_eq!(ws.read("a.py"), "first = 1\ndone here\nERR there\n");
    let listed = ids(&actions(&lp, json!({})));
    actions(&lp, json!({"action": listed[1]})).fails("refused").contains("of editors");
    assert_eq!(lp.log().count("workspace/executeCommand"), 1);
}

/// gopls mends go.mod so.
fn e12_an_empty_edit_stands_before_no_command() {
    for empty in [json!({}), json!({"changes": {}}), json!({"documentChanges": []})] {
        let ws = Workspace::new(BROKEN);
        let range = json!({"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}});
        let edit = json!({"label": "x", "edit": {"changes": {"$root/a.py": [{"range": range, "newText": "done"}]}}});
        let run = Ask::new("ask-edit", "workspace/applyEdit", edit).block();
        let offered = json!([{"title": "tidy", "edit": empty, "command": {"title": "x", "command": "fake.fix"}}]);
        let script = Script::new()
            .capability("executeCommandProvider", json!({"commands": ["fake.fix"]}))
            .on("textDocument/codeAction", [Act::Reply(offered)])
            .on("workspace/executeCommand", [run.into(), Act::Reply(Value::Null)]);
        let lp = Langport::with(&ws, script);
        let planned = actions(&lp, json!({"action": "tidy"}));
        apply(&lp, &planned.contains("+done here").plan()).fine();
    }
}

/// TypeScript's server writes an empty file before it asks for the edit that fills it.
fn e12_a_file_that_a_command_makes_by_itself_is_planned() {
    let ws = Workspace::new(BROKEN);
    let start = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    let edit = json!({"label": "x", "edit": {"changes": {
        "$root/new.py": [{"range": start, "newText": "moved = 1\n"}], "$root/a.py": [{"range": start, "newText": "# here\n"}]}}});
    let run = Ask::new("ask-edit", "workspace/applyEdit", edit).block();
    let offered = json!([{"title": "move", "command": "fake.move", "arguments": []}]);
    let script = Script::new()
        .capability("executeCommandProvider", json!({"commands": ["fake.move"]}))
        .on("textDocument/codeAction", [Act::Reply(offered)])
        .on("workspace/executeCommand", [Act::Open(ws.path("new.py")), run.into(), Act::Reply(Value::Null)]);
    let lp = Langport::with(&ws, script);
    let planned = actions(&lp, json!({"action": "move"}));
    planned.contains("new.py (new)").contains("+moved = 1").contains("+# here");
    assert!(!ws.path("new.py").exists(), "nothing is made before it is applied");
    apply(&lp, &planned.plan()).fine();
    assert_eq!(ws.read("new.py"), "moved = 1\n");
    lp.tool("apply", &json!({"undo": planned.plan()})).fine();
    assert!(!ws.path("new.py").exists());
}

fn unasked_edits_are_refused() {
    let ws = Workspace::new(BROKEN);
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}});
    let edit = |id: &str| {
        let edit = json!({"edit": {"changes": {"$root/a.py": [{"range": range, "newText": "evil"}]}}});
        Act::from(Ask::new(id, "workspace/applyEdit", edit).block())
    };
    let script = Script::new()
        .capability("executeCommandProvider", json!({"commands": ["fake.fix"]}))
        .on("textDocument/codeAction", [Act::Reply(json!([{"title": "twice", "command": "fake.fix"}]))])
        .on("textDocument/hover", [edit("ask-hover"), Act::Default])
        .on("workspace/executeCommand", [edit("ask-1"), edit("ask-2"), Act::Reply(Value::Null)]);
    let lp = Langport::with(&ws, script);
    lp.hover(&json!({"file_path": "a.py", "line": 1, "column": 1})).fine();
    assert_eq!(lp.log().answer_to(&json!("ask-hover"))["result"]["applied"], false);
    // Of two edits of one command neither is planned.
    let listed = ids(&actions(&lp, json!({})));
    actions(&lp, json!({"action": listed[0]})).fails("refused").contains("more than once");
    assert_eq!(lp.log().answer_to(&json!("ask-2"))["result"]["applied"], false);
    assert_eq!(ws.read("a.py"), "first = 1\nERR here\nERR there\n");
}

fn e11_actions_of_a_kind() {
    let ws = Workspace::new(BROKEN);
    let offered = json!([
        {"title": "sort", "kind": "source.organizeImports.fake", "edit": {"changes": {}}},
        {"title": "fix all", "kind": "source.fixAll.fake", "edit": {"changes": {}}},
        {"title": "extract", "kind": "refactor.extract", "disabled": {"reason": "nothing is selected"}},
    ]);
    let lp = Langport::with(&ws, Script::new().on("textDocument/codeAction", [Act::Reply(offered)]));
    let sorted = actions(&lp, json!({"only": "source.organizeImports"}));
    sorted.contains("1 action;").contains("sort").lacks("fix all");
    assert_eq!(lp.log().of("textDocument/codeAction")[0]["context"]["only"], json!(["source.organizeImports"]));
    actions(&lp, json!({"only": ["source.fixAll", "source.organizeImports"]})).contains("2 actions");
    let all = actions(&lp, json!({}));
    all.contains("2 actions").contains("1 are impossible there").lacks("extract");
    let extract = actions(&lp, json!({"only": "refactor"}));
    extract.contains("not now: nothing is selected");
    actions(&lp, json!({"action": ids(&extract)[0]})).fails("refused").contains("nothing is selected");
    actions(&lp, json!({"action": ids(&all)[0]})).fails("not_found").contains("changes nothing");
}

fn e11_an_exact_title_goes_before_one_that_looks_alike() {
    let ws = Workspace::new(BROKEN);
    let action = |title: &str, text: &str| {
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}});
        let edit = json!({"changes": {ws.uri("a.py"): [{"range": range, "newText": text}]}});
        json!({"title": title, "kind": "refactor.rewrite", "edit": edit})
    };
    let mut impossible = action("later", "never");
    impossible["disabled"] = json!({"reason": "nothing is selected"});
    let offered = json!([
        action("mend  it", "two"),
        action("mend it", "one"),
        impossible,
        action("later", "now"),
        action("twice", "a"),
        action("twice", "b"),
    ]);
    let lp = Langport::with(&ws, Script::new().on("textDocument/codeAction", [Act::Reply(offered)]));
    let named = |title: &str| actions(&lp, json!({"action": title, "only": "refactor"}));
    named("mend it").contains("+one = 1").lacks("+two");
    named("mend  it").contains("+two = 1");
    named("later").contains("+now = 1");
    named("twice").fails("ambiguous").contains("2 actions of a.py are called so");
    named("mend").fails("not_found");
}

fn e16_read_only_runs_no_command() {
    let ws = Workspace::new(BROKEN);
    let script = Script::new()
        .capability("executeCommandProvider", json!({"commands": ["fake.fix"]}))
        .on("textDocument/codeAction", [Act::Reply(json!([{"title": "by command", "command": "fake.fix"}]))]);
    let builder = Langport::builder(&ws).server(Definition::new("fake", script));
    let lp = builder.arg("--permission").arg("read-only").start();
    let listed = ids(&actions(&lp, json!({})));
    actions(&lp, json!({"action": listed[0]})).fails("refused").contains("read-only");
    assert_eq!(lp.log().count("workspace/executeCommand"), 0);
}
