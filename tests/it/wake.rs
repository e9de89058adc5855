//! What a change does to files that are no part of it and that nobody has asked about: it is looked at, and what is not
//! looked at is told. A rename whose uses have become more is no rename any more.

use serde_json::{Value, json};

use crate::{
    changes::{apply, rename, undo},
    fake::script::{Act, Script},
    operations::range,
    support::{Definition, Langport, Workspace},
};

trials![
    dia_02_what_a_change_breaks_elsewhere_is_seen,
    dia_02_what_taking_back_breaks_elsewhere_is_seen,
    dia_02_what_was_not_looked_at_is_told,
    edt_01_a_new_use_makes_a_rename_outdated,
    edt_01_other_projects_that_cannot_be_asked_are_a_part,
];

/// It renames in one file only.
fn script() -> Script {
    let edit = json!({"changes": {"$root/lib.py": [{"range": range(0, 9, 14), "newText": "total"}]}});
    Script::watching("**/*.py").pull().on("textDocument/rename", [Act::Reply(edit)])
}

fn dia_02_what_a_change_breaks_elsewhere_is_seen() {
    let ws = Workspace::new("//- lib.py\nPROVIDES tally\n//- use.py\nNEEDS tally\n//- far/other.py\nfine\n");
    let lp = Langport::with(&ws, script());
    let made = apply(&lp, &rename(&lp, "lib.py", 1, "tally", "total").plan());
    made.fine().verdict_is("fresh").contains("1 new problem").contains("use.py:1:1  new error: tally is not provided");
}

fn dia_02_what_taking_back_breaks_elsewhere_is_seen() {
    let ws = Workspace::new("//- lib.py\nPROVIDES tally\n");
    let lp = Langport::with(&ws, script());
    let plan = rename(&lp, "lib.py", 1, "tally", "total").plan();
    apply(&lp, &plan).fine().verdict_is("fresh").contains("no new problems in the 1 file looked at");
    ws.write("late.py", "NEEDS total\n");
    undo(&lp, &plan).fine().contains("1 new problem").contains("late.py:1:1  new error: total is not provided");
}

fn dia_02_what_was_not_looked_at_is_told() {
    let ws = Workspace::new("//- lib.py\nPROVIDES tally\n");
    (0..60).for_each(|n| ws.write(&format!("m{n:02}.py"), "# tally\n"));
    let lp = Langport::with(&ws, script());
    let plan = rename(&lp, "lib.py", 1, "tally", "total").plan();
    let said = |answer: &crate::support::Answer| {
        answer.fine().verdict_is("partial").contains("no new problems in the 48 files looked at");
        answer.contains("not looked at: 13 more files with a name that has changed: m47.py, m48.py, m49.py, …");
    };
    said(&apply(&lp, &plan));
    said(&undo(&lp, &plan));
}

fn edt_01_a_new_use_makes_a_rename_outdated() {
    let ws = Workspace::new("//- lib.py\ndef tally(n)\n//- use.py\ntally(1)\n");
    let lp = Langport::with(&ws, Script::watching("**/*.py").pull());
    let planned = rename(&lp, "lib.py", 1, "tally", "total");
    planned.verdict_is("fresh").contains("in 2 files");
    ws.write("new.py", "tally(3)\n");
    apply(&lp, &planned.plan()).fails("conflict").contains("new.py came or changed since the plan was made");
    assert_eq!(ws.read("lib.py"), "def tally(n)\n");
    let again = rename(&lp, "lib.py", 1, "tally", "total");
    again.verdict_is("fresh").contains("in 3 files");
    // What has nothing to do with it keeps nobody from making it.
    ws.write("aside.py", "tallying\n");
    ws.write("notes.txt", "tally\n");
    apply(&lp, &again.plan()).fine().contains("3 files changed");
    assert_eq!(ws.read("new.py"), "total(3)\n");
}

/// A server that takes one folder only, in a workspace of several projects.
fn edt_01_other_projects_that_cannot_be_asked_are_a_part() {
    let ws = Workspace::new(
        "//- core/mark.toml\nname = \"core\"\n//- core/a.py\ndef twice(n)\n//- app/mark.toml\nname = \"app\"\nneeds core\n//- app/b.py\ntwice(1)
//- alone/mark.toml\nname = \"alone\"\n//- alone/c.py\ntwice(2)\n",
    );
    let reach =
        "[root]\nmarkers = [[\"mark.toml\"]]\n[reach]\ndeclared = true\npackages = { \"mark.toml\" = '\"(.+)\"' }";
    let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new()).table(reach)).start();
    let place = |file: &str| json!({"file_path": file, "line": 1, "symbol": "twice"});
    let renamed = |file: &str| {
        let mut arguments: Value = place(file);
        arguments["new_name"] = json!("double");
        lp.tool("rename", &arguments)
    };
    let found = lp.tool("references", &place("core/a.py"));
    found.verdict_is("partial").contains("1 file of another project has the word `twice`");
    found.contains("not among it: app/b.py").lacks("alone");
    renamed("core/a.py").fails("refused").contains("app/b.py");
    // Nobody uses that one.
    lp.tool("references", &place("alone/c.py")).says("fresh · fake · 1 reference in 1 file");
    // A manifest that changes counts at once.
    ws.write("app/mark.toml", "name = \"app\"\n");
    lp.tool("references", &place("core/a.py")).says("fresh · fake · 1 reference in 1 file");
    renamed("core/a.py").verdict_is("fresh");
}
