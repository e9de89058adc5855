//! Files and folders that are moved: what refers to them is mended in the same plan, and servers hear of it.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Answer, Definition, Langport, Workspace},
};

trials![
    a_file_is_moved_with_its_imports,
    a_move_that_nobody_mends_is_refused,
    a_bystander_with_nothing_to_do_is_no_answer,
];

fn apply(lp: &Langport, plan: &str) -> Answer {
    lp.tool("apply", &json!({"plan": plan}))
}

const MOVES: &str = "//- lib/tally.py\ndef tally(): pass\n//- use.py\nimport lib.tally\n";

fn moving(edit: Value) -> Script {
    let filters = json!({"filters": [{"scheme": "file", "pattern": {"glob": "**/*.py", "matches": "file"}}]});
    let operations = json!({"fileOperations": {"willRename": filters, "didRename": filters}});
    Script::new().capability("workspace", operations).on("workspace/willRenameFiles", [Act::Reply(edit)])
}

fn a_file_is_moved_with_its_imports() {
    let range = json!({"start": {"line": 0, "character": 7}, "end": {"line": 0, "character": 16}});
    let edit = json!({"changes": {"$root/use.py": [{"range": range, "newText": "core.sums"}]}});
    let ws = Workspace::new(MOVES);
    let lp = Langport::with(&ws, moving(edit));
    let planned = lp.tool("move_file", &json!({"from": "lib/tally.py", "to": "core/sums.py"}));
    planned.verdict_is("fresh").contains("lib/tally.py -> core/sums.py").contains("+import core.sums");
    assert!(ws.path("lib/tally.py").exists());
    apply(&lp, &planned.plan()).fine().contains("1 file moved");
    assert_eq!(
        (ws.read("core/sums.py"), ws.read("use.py")),
        ("def tally(): pass\n".into(), "import core.sums\n".into())
    );
    let (old, new) = (ws.uri("lib/tally.py"), ws.uri("core/sums.py"));
    let told = lp.log().wait("workspace/didRenameFiles", 1);
    assert_eq!(told[0], json!({"files": [{"oldUri": old, "newUri": new}]}));
    assert_eq!(lp.log().of("workspace/willRenameFiles")[0], json!({"files": [{"oldUri": old, "newUri": new}]}));
    lp.tool("apply", &json!({"undo": planned.plan()})).fine();
    assert_eq!(ws.read("use.py"), "import lib.tally\n");
    assert_eq!(lp.log().wait("workspace/didRenameFiles", 2)[1], json!({"files": [{"oldUri": new, "newUri": old}]}));
    // Into a folder that is there; a folder whose files the server wants to hear of one by one.
    std::fs::create_dir(ws.path("core")).unwrap();
    let into = lp.tool("move_file", &json!({"from": "use.py", "to": "core"}));
    into.contains("use.py -> core/use.py");
    let whole = lp.tool("move_file", &json!({"from": "lib", "to": "library"}));
    apply(&lp, &whole.plan()).fine();
    assert_eq!(ws.read("library/tally.py"), "def tally(): pass\n");
    for (from, to, code) in [
        ("missing.py", "x.py", "not_found"),
        ("use.py", "use.py", "invalid"),
        ("use.py", "library/tally.py", "conflict"),
        ("use.py", "../out.py", "outside_workspace"),
        ("library", "library/deeper", "invalid"),
    ] {
        lp.tool("move_file", &json!({"from": from, "to": to})).fails(code);
    }
}

fn a_move_that_nobody_mends_is_refused() {
    let ws = Workspace::new(MOVES);
    let lp = Langport::with(&ws, Script::new());
    let refused = lp.tool("move_file", &json!({"from": "lib/tally.py", "to": "sums.py"}));
    refused.fails("unsupported").contains("fake");
    assert!(ws.path("lib/tally.py").exists());
}

/// rust-analyzer wants to hear of every folder, and has nothing to say of one without a crate.
fn a_bystander_with_nothing_to_do_is_no_answer() {
    let ws = Workspace::new("//- lib/tally.py\ndef tally(): pass\n//- use.py\nimport lib.tally\n//- main.zig\nmain\n");
    let filters = json!({"filters": [{"pattern": {"glob": "**", "matches": "folder"}}]});
    let folders = json!({"fileOperations": {"willRename": filters}});
    let bystander = |edit: Value| {
        Script::new().capability("workspace", folders.clone()).on("workspace/willRenameFiles", [Act::Reply(edit)])
    };
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 4}});
    let edits = json!({"changes": {"$root/main.zig": [{"range": range, "newText": "lib2"}]}});
    for (edit, mends) in [(Value::Null, false), (json!({"documentChanges": []}), false), (edits, true)] {
        let lp = Langport::builder(&ws)
            .server(Definition::new("fake", Script::new()))
            .server(Definition::new("other", bystander(edit)).languages(&["zig"]))
            .start();
        lp.tool("hover", &json!({"file_path": "main.zig", "line": 1, "column": 1})).fine();
        let answer = lp.tool("move_file", &json!({"from": "lib", "to": "library"}));
        if mends {
            answer.fine().contains("+lib2").contains("fake has no edits for a moved file");
        } else {
            answer.fails("unsupported").contains("fake: what refers to a moved file is not mended");
        }
    }
}
