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
    a_move_within_a_rename_mends_what_refers_to_it,
    a_move_without_an_edit_is_said_to_be_one,
    a_rename_stays_in_its_own_checkout,
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

fn range(line: u32, start: u32, end: u32) -> Value {
    json!({"start": {"line": line, "character": start}, "end": {"line": line, "character": end}})
}

/// rust-analyzer leaves edits out of a rename that moves a file: who asks for them as for any move has them.
fn a_move_within_a_rename_mends_what_refers_to_it() {
    let whole = "//- lib/tally.py\ndef tally(): pass\n//- use.py\nimport lib.tally\n//- main.py\ntally\n";
    let moved = json!({"kind": "rename", "oldUri": "$root/lib/tally.py", "newUri": "$root/lib/sums.py"});
    let text = |file: &str, range: Value, new: &str| json!({"textDocument": {"uri": format!("$root/{file}"), "version": null}, "edits": [{"range": range, "newText": new}]});
    let own = text("main.py", range(0, 0, 5), "sums");
    // The moved file is named by its new place, as the order of the steps has it.
    let inside = text("lib/sums.py", range(0, 4, 9), "sums");
    let uses = json!({"changes": {"$root/use.py": [{"range": range(0, 7, 16), "newText": "lib.sums"}]}});
    // One server tells of the same place twice: in its rename, and for the move.
    let again = json!({"changes": {
        "$root/use.py": [{"range": range(0, 7, 16), "newText": "lib.sums"}],
        "$root/main.py": [{"range": range(0, 0, 5), "newText": "sums"}]}});
    for (steps, will, refused) in [
        (json!([moved]), uses.clone(), false),
        (json!([own, moved, inside]), uses.clone(), false),
        (json!([own, moved]), again, false),
        (
            json!([own, moved]),
            json!({"changes": {"$root/main.py": [{"range": range(0, 0, 5), "newText": "other"}]}}),
            true,
        ),
    ] {
        let ws = Workspace::new(whole);
        let edits = json!({"documentChanges": steps});
        let lp = Langport::with(&ws, moving(will).on("textDocument/rename", [Act::Reply(edits.clone())]));
        let asked = json!({"file_path": "main.py", "line": 1, "column": 1, "new_name": "sums"});
        let planned = lp.tool("rename", &asked);
        if refused {
            planned.fails("conflict").contains("main.py:1");
            continue;
        }
        planned.verdict_is("fresh").contains("lib/tally.py -> lib/sums.py").contains("+import lib.sums");
        apply(&lp, &planned.plan()).fine();
        assert_eq!(ws.read("use.py"), "import lib.sums\n");
        let own = if edits.to_string().contains("main.py") { "sums\n" } else { "tally\n" };
        assert_eq!(ws.read("main.py"), own);
        let inner = if edits.to_string().contains("newText\":\"sums\"")
            && edits.to_string().contains("lib/sums.py\",\"version")
        {
            "def sums(): pass\n"
        } else {
            "def tally(): pass\n"
        };
        assert_eq!(ws.read("lib/sums.py"), inner);
        assert!(!ws.path("lib/tally.py").exists());
        lp.tool("apply", &json!({"undo": planned.plan()})).fine();
        assert_eq!((ws.read("use.py"), ws.read("main.py")), ("import lib.tally\n".into(), "tally\n".into()));
    }
    // A server that hears of moves and does not answer leaves the rename unmade.
    let ws = Workspace::new(whole);
    let script = moving(Value::Null)
        .on("textDocument/rename", [Act::Reply(json!({"documentChanges": [moved]}))])
        .on("workspace/willRenameFiles", [Act::Fail(-32603, "broken".into())]);
    let lp = Langport::with(&ws, script);
    let asked = json!({"file_path": "main.py", "line": 1, "column": 1, "new_name": "sums"});
    assert!(lp.tool("rename", &asked).is_error);
    assert!(ws.path("lib/tally.py").exists());
}

fn a_move_without_an_edit_is_said_to_be_one() {
    let ws = Workspace::new(MOVES);
    let lp = Langport::with(&ws, moving(Value::Null));
    let planned = lp.tool("move_file", &json!({"from": "lib/tally.py", "to": "core/sums.py"}));
    planned.contains("lib/tally.py -> core/sums.py").contains("what may refer to it is left as it is");
}

fn a_rename_stays_in_its_own_checkout() {
    let ws = Workspace::new("//- a.py\nalpha\n//- use.py\nalpha\n//- wt/use.py\nalpha\n//- wt/a.py\nalpha\n");
    ws.write("wt/.git", "gitdir: /somewhere/.git/worktrees/wt\n");
    let lp = Langport::with(&ws, Script::new());
    let rename =
        |file: &str| lp.tool("rename", &json!({"file_path": file, "line": 1, "column": 1, "new_name": "beta"}));
    let planned = rename("a.py");
    planned.contains("2 places in 2 files").contains("2 files lie in another checkout of git's (wt), left as they are");
    apply(&lp, &planned.plan()).fine();
    assert_eq!(
        ["a.py", "use.py", "wt/use.py", "wt/a.py"].map(|file| ws.read(file)),
        ["beta\n", "beta\n", "alpha\n", "alpha\n"]
    );
    lp.tool("references", &json!({"file_path": "wt/a.py", "line": 1, "column": 1})).fine();
    // From in there the other way round.
    let planned = rename("wt/a.py");
    planned.contains("2 places in 2 files").lacks("wt/.git");
}
