//! What a person does with `langport call`: plans, and made plans, in one command.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{
        Definition, Workspace,
        cli::{Seen, run},
    },
};

trials![a_plan_is_made_by_the_same_command, an_action_is_taken_by_its_title, without_a_plan_nothing_is_made];

const SHOP: &str = "//- lib.py\ndef tally(a):\n    return a\n//- use.py\nfrom lib import tally\n";

fn call(ws: &Workspace, tool: &str, arguments: &Value, more: &[&str]) -> Seen {
    let path = std::env::var("PATH").unwrap_or_default();
    let arguments = arguments.to_string();
    let mut args = vec!["call", tool, &arguments, "--bind", "local/fake"];
    args.extend(more);
    run(ws, &args, &path)
}

fn workspace(script: Script) -> Workspace {
    let ws = Workspace::new(SHOP);
    Definition::new("fake", script).write(&ws);
    ws
}

fn rename(new_name: &str) -> Value {
    json!({"file_path": "lib.py", "line": 1, "symbol": "tally", "new_name": new_name})
}

fn a_plan_is_made_by_the_same_command() {
    let ws = workspace(Script::new());
    let planned = call(&ws, "rename", &rename("total"), &[]);
    assert!(planned.code == Some(0) && planned.out.contains("not made yet: plan "), "{planned:?}");
    assert!(planned.err.contains("the plan ends with this command: the same with --apply makes it"), "{planned:?}");
    assert!(ws.read("lib.py").contains("tally"));
    let id = planned.out.lines().next().unwrap().rsplit(' ').next().unwrap();
    let late = call(&ws, "apply", &json!({"plan": id}), &[]);
    assert!(late.code == Some(1) && late.out.starts_with("expired"), "{late:?}");
    assert!(late.err.contains("call the planner with --apply"), "{late:?}");
    let made = call(&ws, "lsp/rename", &rename("total"), &["--apply"]);
    assert!(made.code == Some(0) && made.out.contains("made: 2 files changed"), "{made:?}");
    assert!(made.err.contains("what takes it back ends with this command"), "{made:?}");
    assert_eq!(
        (ws.read("lib.py"), ws.read("use.py")),
        ("def total(a):\n    return a\n".into(), "from lib import total\n".into())
    );
    let left = std::fs::read_dir(ws.home().join("state/edits")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "nothing is left of it");
}

fn an_action_is_taken_by_its_title() {
    let ws = workspace(Script::new());
    ws.write("lib.py", "ERR here\n");
    let listed = call(&ws, "code_actions", &json!({"file_path": "lib.py"}), &[]);
    assert!(listed.out.contains("mend line 1") && listed.err.contains("give an action's title"), "{listed:?}");
    let taken = call(&ws, "code_actions", &json!({"file_path": "lib.py", "action": "mend line 1"}), &["--apply"]);
    assert!(taken.code == Some(0) && taken.out.contains("gone: error: ERR here"), "{taken:?}");
    assert_eq!(ws.read("lib.py"), "fine here\n");
}

fn without_a_plan_nothing_is_made() {
    let ws = workspace(Script::new().on("textDocument/rename", [Act::Reply(Value::Null)]));
    let nothing = call(&ws, "rename", &rename("total"), &["--apply"]);
    assert!(nothing.code == Some(1) && nothing.out.starts_with("not_found"), "{nothing:?}");
    let formatted = call(&ws, "format", &json!({"file_path": "lib.py"}), &["--apply"]);
    assert!(formatted.code == Some(0) && formatted.out.contains("would change nothing"), "{formatted:?}");
    assert!(formatted.err.contains("there is no plan to make"), "{formatted:?}");
    let refused = call(&ws, "format", &json!({"file_path": "use.py"}), &["--apply", "--permission", "read-only"]);
    assert!(!refused.out.contains("made:"), "{refused:?}");
}
