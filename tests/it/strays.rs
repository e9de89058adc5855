//! Edits of a rename that stand where the old name does not.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Answer, Langport, Workspace},
};

trials![a_rename_writes_nothing_where_the_old_name_is_not, what_renames_write_beside_the_name_passes,];

const TEXT: &str = "tally = 1\nprint(tally)\n# nothing here\n";

fn edit(line: u32, from: u32, to: u32, text: &str) -> Value {
    let at = |character: u32| json!({"line": line, "character": character});
    json!({"range": {"start": at(from), "end": at(to)}, "newText": text})
}

/// What comes of a rename that a server answers with these edits.
fn planned(ws: &Workspace, edits: &[Value], allow_partial: bool) -> (Langport, Answer) {
    let answer = json!({"changes": {"$uri": edits}});
    let lp = Langport::with(ws, Script::new().on("textDocument/rename", [Act::Reply(answer)]));
    let arguments =
        json!({"file_path": "a.py", "line": 1, "column": 1, "new_name": "total", "allow_partial": allow_partial});
    let planned = lp.tool("rename", &arguments);
    (lp, planned)
}

fn a_rename_writes_nothing_where_the_old_name_is_not() {
    let ws = Workspace::new(&format!("//- a.py\n{TEXT}"));
    let first = edit(0, 0, 5, "total");
    for (second, told) in [
        (edit(99, 0, 5, "total"), "no such place: a.py:100:1"),
        (edit(1, 50, 55, "total"), "no such place: a.py:2:51"),
        (edit(2, 14, 19, "total"), "no such place: a.py:3:15"),
        (edit(1, 13, 14, "total: tally"), "no such place: a.py:2:14"),
    ] {
        for allow_partial in [false, true] {
            let refused = planned(&ws, &[first.clone(), second.clone()], allow_partial).1;
            refused.fails("refused").contains("another text in mind").contains(told);
        }
    }
    for (second, told) in [
        (edit(0, 5, 8, "total"), "no name at a.py:1:6"),
        (edit(1, 0, 0, "total"), "no name at a.py:2:1"),
        (edit(2, 14, 14, "total"), "no name at a.py:3:15"),
        (edit(2, 2, 9, "total"), "another name: `nothing` at a.py:3:3"),
    ] {
        let edits = [first.clone(), second];
        planned(&ws, &edits, false).1.fails("refused").contains("where the old one does not stand").contains(told);
        planned(&ws, &edits, true).1.fine().contains("2 places in 1 file").contains(told);
    }
    let mut all = edit(0, 0, 0, "total");
    all["range"]["end"]["line"] = json!(3);
    planned(&ws, &[all], false).1.fails("refused").contains("several lines at a.py:1:1");
    assert_eq!(ws.read("a.py"), TEXT);
}

fn what_renames_write_beside_the_name_passes() {
    let name = edit(0, 0, 5, "total");
    let mut whole = edit(0, 0, 0, "total = 1\nprint(total)\n");
    whole["range"]["end"] = json!({"line": 99, "character": 0});
    for (edits, made) in [
        (vec![name.clone(), edit(1, 6, 6, "total: ")], "total = 1\nprint(total: tally)\n# nothing here\n"),
        (vec![name.clone(), edit(1, 11, 11, "=total")], "total = 1\nprint(tally=total)\n# nothing here\n"),
        (vec![name.clone(), edit(1, 6, 11, "tally as total")], "total = 1\nprint(tally as total)\n# nothing here\n"),
        (vec![name.clone(), edit(1, 0, 999, "print(total)")], "total = 1\nprint(total)\n# nothing here\n"),
        (vec![name.clone(), edit(1, 6, 11, ""), edit(1, 6, 6, "total")], "total = 1\nprint(total)\n# nothing here\n"),
        (vec![edit(0, 1, 5, "otal"), edit(1, 7, 11, "otal")], "total = 1\nprint(total)\n# nothing here\n"),
        (vec![whole], "total = 1\nprint(total)\n"),
    ] {
        let ws = Workspace::new(&format!("//- a.py\n{TEXT}"));
        let (lp, planned) = planned(&ws, &edits, false);
        lp.tool("apply", &json!({"plan": planned.plan()})).fine();
        assert_eq!(ws.read("a.py"), made);
    }
}
