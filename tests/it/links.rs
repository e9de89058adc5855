//! Links: one that is to be moved, those in a folder that is, and files that are changed by way of one.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Langport, Workspace},
};

trials![a_link_is_not_moved_for_what_it_leads_to, links_that_lead_elsewhere_from_the_new_place_are_told];

fn edit(from: u32, to: u32, text: &str) -> Value {
    let at = |character: u32| json!({"line": 0, "character": character});
    json!({"range": {"start": at(from), "end": at(to)}, "newText": text})
}

/// A server that mends the import of a moved module.
fn moving() -> Script {
    let filters = json!({"filters": [{"pattern": {"glob": "**"}}]});
    let operations = json!({"fileOperations": {"willRename": filters}});
    let edits = json!({"changes": {"$root/use.py": [edit(7, 16, "lib.sums")]}});
    let renamed = json!({"changes": {"$root/file.py": [edit(4, 9, "total")]}});
    let script = Script::new().on("textDocument/rename", [Act::Reply(renamed)]);
    script.capability("workspace", operations).on("workspace/willRenameFiles", [Act::Reply(edits)])
}

fn a_link_is_not_moved_for_what_it_leads_to() {
    let ws = Workspace::new("//- lib/tally.py\ndef tally(): pass\n//- use.py\nimport lib.tally\n");
    for (leads, link) in [("lib", "folder"), ("lib/tally.py", "file.py"), ("nowhere", "gone.py")] {
        std::os::unix::fs::symlink(leads, ws.path(link)).unwrap();
    }
    let lp = Langport::with(&ws, moving());
    for (from, leads) in [("folder", "lib"), ("folder/", "lib"), ("file.py", "lib/tally.py"), ("gone.py", "nowhere")] {
        for to in ["moved.py", "new/"] {
            let refused = lp.tool("move_file", &json!({"from": from, "to": to}));
            refused.fails("refused").contains(&format!("is a link to {leads}: ")).contains("by other means");
        }
    }
    assert_eq!(lp.log().count("workspace/willRenameFiles"), 0);
    // By way of a link it is the file that is moved, wherever it is.
    let moved = lp.tool("move_file", &json!({"from": "folder/tally.py", "to": "folder/sums.py"}));
    moved.contains("lib/tally.py -> lib/sums.py").contains("+import lib.sums");
    lp.tool("apply", &json!({"plan": moved.plan()})).fine();
    assert_eq!(ws.read("folder/sums.py"), "def tally(): pass\n");
    // A text is changed where it is, and the link to it stays one.
    std::fs::remove_file(ws.path("file.py")).unwrap();
    std::os::unix::fs::symlink("lib/sums.py", ws.path("file.py")).unwrap();
    let named = json!({"file_path": "file.py", "line": 1, "column": 5, "new_name": "total"});
    let renamed = lp.tool("rename", &named);
    lp.tool("apply", &json!({"plan": renamed.plan()})).fine();
    assert_eq!(ws.read("lib/sums.py"), "def total(): pass\n");
    lp.tool("apply", &json!({"undo": renamed.plan()})).fine();
    assert_eq!(ws.read("lib/sums.py"), "def tally(): pass\n");
    assert!(["folder", "file.py", "gone.py"].iter().all(|link| ws.path(link).is_symlink()));
}

fn links_that_lead_elsewhere_from_the_new_place_are_told() {
    let ws = Workspace::new("//- lib/tally.py\ndef tally(): pass\n//- use.py\nimport lib.tally\n");
    std::os::unix::fs::symlink("../use.py", ws.path("lib/out.py")).unwrap();
    std::os::unix::fs::symlink("tally.py", ws.path("lib/in.py")).unwrap();
    let lp = Langport::with(&ws, moving());
    let moved = |to: &str| lp.tool("move_file", &json!({"from": "lib", "to": to}));
    moved("core").fine().lacks("lead elsewhere");
    let deep = moved("deep/core");
    deep.fine().contains("links in it that lead elsewhere from the new place: lib/out.py").lacks("lib/in.py");
    // What comes in between is no matter of plans.
    let plan = deep.plan();
    lp.tool("apply", &json!({"plan": plan})).fine();
    assert_eq!(ws.read("deep/core/in.py"), "def tally(): pass\n");
    ws.write("use.py", "import other\n");
    lp.tool("apply", &json!({"undo": plan})).fails("conflict").contains("by other means").lacks("plan it again");
}
