//! Plans of changes: renamed, formatted, acted upon, moved; made and taken back; told to the servers.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Answer, Definition, Langport, Workspace},
};

trials![
    d2_7_a_rename_is_planned_made_and_taken_back,
    edt_01_every_form_of_an_edit,
    edt_01_nothing_to_rename_is_no_success,
    edt_01_a_refusal_before_the_rename_is_told,
    lif_09_no_rename_while_the_project_is_loading,
    lif_09_a_rename_waits_for_answers_that_agree,
    syn_06_own_edits_are_told_to_the_servers,
    syn_07_x20_a_rename_on_an_old_text_is_asked_again,
    syn_07_e17_a_plan_is_not_made_on_a_changed_file,
    syn_07_a_text_that_changes_meanwhile_is_asked_about_again,
    a_text_that_never_rests_is_a_conflict,
    pos_01_pos_02_names_behind_wide_characters,
    edt_04_line_ends_and_marks_stay,
    edt_05_operations_in_their_order,
    edt_05_what_a_move_overwrites_is_told,
    edt_05_two_files_that_change_places_lose_nothing,
    more_files_than_stay_open,
    a7_7_what_a_change_breaks_and_mends_is_told,
];

pub(crate) const SHOP: &str = "//- lib.py\ndef tally(a):\n    return a\n//- use.py\nfrom lib import tally\nprint(tally(1), tally(2))\n//- other.py\nnothing here\n";

pub(crate) fn rename(lp: &Langport, file: &str, line: usize, symbol: &str, new_name: &str) -> Answer {
    lp.tool("rename", &json!({"file_path": file, "line": line, "symbol": symbol, "new_name": new_name}))
}

pub(crate) fn apply(lp: &Langport, plan: &str) -> Answer {
    lp.tool("apply", &json!({"plan": plan}))
}

pub(crate) fn undo(lp: &Langport, plan: &str) -> Answer {
    lp.tool("apply", &json!({"undo": plan}))
}

fn d2_7_a_rename_is_planned_made_and_taken_back() {
    let ws = Workspace::new(SHOP);
    let (lib, used) = (ws.read("lib.py"), ws.read("use.py"));
    let lp = Langport::with(&ws, Script::new().pull());
    let planned = rename(&lp, "lib.py", 1, "tally", "total");
    planned.verdict_is("fresh").contains("4 places in 2 files").contains("use.py  +2 -2").contains("-def tally(a):");
    assert_eq!((ws.read("lib.py"), ws.read("use.py")), (lib.clone(), used.clone()), "planning writes nothing");
    let made = apply(&lp, &planned.plan());
    made.fine().verdict_is("fresh").contains("2 files changed").contains("no new problems");
    assert_eq!(ws.read("lib.py"), lib.replace("tally", "total"));
    assert_eq!(ws.read("use.py"), used.replace("tally", "total"));
    apply(&lp, &planned.plan()).fails("expired");
    undo(&lp, &planned.plan()).fine().contains("taken back");
    assert_eq!((ws.read("lib.py"), ws.read("use.py")), (lib, used), "the very bytes");
    undo(&lp, &planned.plan()).fails("expired");
    apply(&lp, "0123456789abcdef").fails("expired");
}

fn edt_01_every_form_of_an_edit() {
    for acts in [vec![Act::Default], vec![Act::RenameAsChanges]] {
        let ws = Workspace::new(SHOP);
        let lp = Langport::with(&ws, Script::new().on("textDocument/rename", acts));
        apply(&lp, &rename(&lp, "use.py", 2, "tally", "total").plan()).fine();
        assert!(!ws.read("lib.py").contains("tally") && ws.read("use.py").matches("total").count() == 3);
    }
    // Both: the one with versions counts.
    let ws = Workspace::new(SHOP);
    let range = json!({"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}});
    let edit = |text: &str| json!([{"range": range, "newText": text}]);
    let both = json!({
        "changes": {"$uri": edit("wrong")},
        "documentChanges": [{"textDocument": {"uri": "$uri", "version": null}, "edits": edit("right")}],
    });
    let lp = Langport::with(&ws, Script::new().on("textDocument/rename", [Act::Reply(both)]));
    apply(&lp, &rename(&lp, "lib.py", 1, "tally", "right").plan()).fine();
    assert_eq!(ws.read("lib.py"), "def right(a):\n    return a\n");
}

fn edt_01_nothing_to_rename_is_no_success() {
    for answer in [Value::Null, json!({}), json!({"changes": {}}), json!({"documentChanges": []})] {
        let ws = Workspace::new(SHOP);
        let lp = Langport::with(&ws, Script::new().on("textDocument/rename", [Act::Reply(answer)]));
        let nothing = rename(&lp, "lib.py", 1, "tally", "total");
        nothing.fails("not_found").contains("no file would change").contains("lib.py:1:5");
    }
}

fn edt_01_a_refusal_before_the_rename_is_told() {
    let refuse = Act::Fail(-32602, "you cannot rename a built-in".into());
    for acts in [vec![Act::Reply(Value::Null)], vec![Act::Reply(json!({"defaultBehavior": false}))], vec![refuse]] {
        let ws = Workspace::new(SHOP);
        let lp = Langport::with(&ws, Script::new().on("textDocument/prepareRename", acts));
        rename(&lp, "lib.py", 1, "tally", "total").fails("refused").contains("fake");
        assert_eq!(lp.log().count("textDocument/rename"), 0);
    }
    let ws = Workspace::new(SHOP);
    let refuse = Act::Fail(-32602, "total is taken".into());
    let lp = Langport::with(&ws, Script::new().on("textDocument/rename", [refuse]));
    let refused = rename(&lp, "lib.py", 1, "tally", "total");
    refused.fails("refused").contains("\n  total is taken");
    for bad in ["", "a b", "1st", "f()"] {
        rename(&lp, "lib.py", 1, "tally", bad).fails("invalid").contains("new_name");
    }
}

fn lif_09_no_rename_while_the_project_is_loading() {
    let ws = Workspace::new(SHOP);
    let begin = json!({"token": "t", "value": {"kind": "begin", "title": "Indexing"}});
    let script = Script::new().on("initialized", [Act::Tell("$/progress".into(), begin)]);
    let definition = Definition::new("fake", script).table("[ready]\nprogress = \"Indexing\"\ntimeout_ms = 60000");
    let lp = Langport::builder(&ws).server(definition).max_wait(3_000).start();
    let refused = rename(&lp, "lib.py", 1, "tally", "total");
    refused.fails("refused").contains("allow_partial").contains("indexing");
    let arguments = json!({"file_path": "lib.py", "line": 1, "column": 5, "new_name": "total", "allow_partial": true});
    lp.tool("rename", &arguments).verdict_is("indexing").plan();
}

fn lif_09_a_rename_waits_for_answers_that_agree() {
    let ws = Workspace::new(SHOP);
    let range = json!({"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}});
    let first = json!({"changes": {"$uri": [{"range": range, "newText": "total"}]}});
    // Like a server that has read only the asked file so far.
    let script = Script::new().each("textDocument/rename", vec![vec![Act::Reply(first)], vec![Act::Default]]);
    let lp = Langport::with(&ws, script);
    rename(&lp, "lib.py", 1, "tally", "total").verdict_is("fresh").contains("4 places in 2 files");
}

fn syn_06_own_edits_are_told_to_the_servers() {
    let ws = Workspace::new(SHOP);
    let lp = Langport::with(&ws, Script::watching("**/*.py"));
    lp.hover(&json!({"file_path": "lib.py", "line": 1, "column": 5})).fine();
    let plan = rename(&lp, "lib.py", 1, "tally", "total").plan();
    let before = lp.log().received().len();
    apply(&lp, &plan).fine();
    let told = lp.log().received()[before..].to_vec();
    let of = |method: &str| told.iter().filter(|m| m["method"] == method).count();
    assert!(of("textDocument/didChange") >= 2 && of("textDocument/didSave") >= 2, "both open files: {told:?}");
    assert!(of("workspace/didChangeWatchedFiles") >= 1, "{told:?}");
    // At once once more, on the text as it is now.
    let again = rename(&lp, "lib.py", 1, "total", "grand_total");
    again.contains("4 places in 2 files");
    apply(&lp, &again.plan()).fine();
    assert_eq!(ws.read("use.py"), "from lib import grand_total\nprint(grand_total(1), grand_total(2))\n");
    lp.tool("symbols", &json!({"file_path": "lib.py"})).contains("grand_total");
}

fn syn_07_x20_a_rename_on_an_old_text_is_asked_again() {
    // The server knows nothing of the change to a file that it was never told of; opened, it does.
    let ws = Workspace::new(SHOP);
    let lp = Langport::with(&ws, Script::new());
    lp.hover(&json!({"file_path": "lib.py", "line": 1, "column": 5})).fine();
    ws.write("use.py", "# one\n# two\nfrom lib import tally\nprint(tally(1), tally(2))\n");
    let planned = rename(&lp, "lib.py", 1, "tally", "total");
    planned.verdict_is("fresh").contains("4 places in 2 files");
    assert!(lp.log().count("textDocument/rename") >= 2, "asked again with that file open");
    apply(&lp, &planned.plan()).fine();
    assert_eq!(ws.read("use.py"), "# one\n# two\nfrom lib import total\nprint(total(1), total(2))\n");
}

fn syn_07_e17_a_plan_is_not_made_on_a_changed_file() {
    let ws = Workspace::new(SHOP);
    let lp = Langport::with(&ws, Script::new());
    let plan = rename(&lp, "lib.py", 1, "tally", "total").plan();
    let newer = "# mine\nfrom lib import tally\n";
    ws.write("use.py", newer);
    apply(&lp, &plan).fails("conflict").contains("use.py");
    assert_eq!(ws.read("use.py"), newer, "nobody's work is lost");
    assert!(ws.read("lib.py").contains("tally"), "and nothing is half done");
    let plan = rename(&lp, "lib.py", 1, "tally", "total").plan();
    apply(&lp, &plan).fine();
    ws.write("lib.py", "def total(a, b): pass\n");
    undo(&lp, &plan).fails("conflict").contains("lib.py");
    assert_eq!(ws.read("lib.py"), "def total(a, b): pass\n");
}

fn syn_07_a_text_that_changes_meanwhile_is_asked_about_again() {
    let ws = Workspace::new(SHOP);
    let stuck = vec![Act::Await(ws.gate("rename")), Act::Default];
    let script = Script::new().each(
        "textDocument/rename",
        vec![vec![Act::Default]; 3].into_iter().chain([stuck, vec![Act::Default]]).collect::<Vec<_>>(),
    );
    let lp = Langport::with(&ws, script);
    rename(&lp, "lib.py", 1, "tally", "total").plan();
    let before = lp.log().count("textDocument/rename");
    let arguments = json!({"file_path": "lib.py", "line": 1, "symbol": "tally", "new_name": "total"});
    let call = lp.call("lsp_rename", &arguments);
    lp.log().wait("textDocument/rename", before + 1);
    // Its answer will be about the text before this.
    ws.write("use.py", "# one\nfrom lib import tally\n");
    ws.open("rename");
    let planned = Answer::of(&lp.answer(call));
    planned.verdict_is("fresh").contains("2 places in 2 files");
    apply(&lp, &planned.plan()).fine();
    assert_eq!(ws.read("use.py"), "# one\nfrom lib import total\n");
}

fn a_text_that_never_rests_is_a_conflict() {
    let ws = Workspace::new(SHOP);
    let range = json!({"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}});
    let edits = json!([{"range": range, "newText": "total"}]);
    // Every answer is about a version that is none.
    let old = json!({"documentChanges": [{"textDocument": {"uri": "$uri", "version": 0}, "edits": edits}]});
    let lp = Langport::with(&ws, Script::new().on("textDocument/rename", [Act::Reply(old)]));
    rename(&lp, "lib.py", 1, "tally", "total").fails("conflict");
    assert!(ws.read("lib.py").contains("tally"));
}

fn pos_01_pos_02_names_behind_wide_characters() {
    let text = "s = \"😀é\"; tally = 1; print(tally)\nt = \"漢字\"; print(tally, \"e\u{301}\", tally)\n";
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let ws = Workspace::new(&format!("//- face.py\n{text}"));
        let lp = Langport::with(&ws, Script::new().encoding(encoding));
        let column = "s = \"😀é\"; ".chars().count() + 1;
        let at = json!({"file_path": "face.py", "line": 1, "column": column, "new_name": "été"});
        let planned = lp.tool("rename", &at);
        apply(&lp, &planned.plan()).fine();
        assert_eq!(ws.read("face.py"), text.replace("tally", "été"), "{encoding}");
        let plan = rename(&lp, "face.py", 2, "été", "sum").plan();
        apply(&lp, &plan).fine();
        assert_eq!(ws.read("face.py"), text.replace("tally", "sum"), "{encoding}");
        undo(&lp, &plan).fine();
        assert_eq!(ws.read("face.py"), text.replace("tally", "été"), "{encoding}");
    }
}

fn edt_04_line_ends_and_marks_stay() {
    let texts = [
        ("crlf.py", "tally = 1\r\nprint(tally)\r\n"),
        ("mixed.py", "tally = 1\r\nprint(tally)\nprint(tally)\r\n\n"),
        ("bom.py", "\u{feff}tally = 1\r\nprint(tally)"),
    ];
    let ws = Workspace::new(SHOP);
    texts.iter().for_each(|(file, text)| ws.write(file, text));
    std::fs::write(ws.path("latin.py"), b"# caf\xe9\ntally = 1\n").unwrap();
    let lp = Langport::with(&ws, Script::new());
    // The file that is no UTF-8 is none that this server knows; it stays as it is.
    let plan = rename(&lp, "lib.py", 1, "tally", "total").plan();
    apply(&lp, &plan).fine();
    for (file, text) in texts {
        assert_eq!(ws.read(file), text.replace("tally", "total"), "{file}");
    }
    assert_eq!(std::fs::read(ws.path("latin.py")).unwrap(), b"# caf\xe9\ntally = 1\n");
    let refused = rename(&lp, "latin.py", 2, "tally", "total");
    assert!(refused.is_error && refused.has("latin.py"), "{refused}");
    undo(&lp, &plan).fine();
    for (file, text) in texts {
        assert_eq!(ws.read(file), text, "{file}");
    }
}

fn edt_05_operations_in_their_order() {
    let ws = Workspace::new("//- A.py\nclass A: pass\n//- D.py\ngone\n");
    let range = json!({"start": {"line": 0, "character": 6}, "end": {"line": 0, "character": 7}});
    let start = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    let texts = |file: &str, edits: Value| json!({"textDocument": {"uri": format!("$root/{file}"), "version": null}, "edits": edits});
    let steps = json!({"documentChanges": [
        texts("A.py", json!([{"range": range, "newText": "B"}])),
        {"kind": "rename", "oldUri": "$root/A.py", "newUri": "$root/B.py"},
        texts("B.py", json!([{"range": start, "newText": "# moved\n"}])),
        {"kind": "create", "uri": "$root/new/C.py"},
        texts("new/C.py", json!([{"range": start, "newText": "made\n"}])),
        {"kind": "delete", "uri": "$root/D.py"},
    ]});
    let lp = Langport::with(&ws, Script::new().on("textDocument/rename", [Act::Reply(steps)]));
    let planned = rename(&lp, "A.py", 1, "A", "B");
    planned.contains("A.py -> B.py").contains("new/C.py (new)").contains("D.py (deleted)");
    apply(&lp, &planned.plan()).fine().contains("1 file created").contains("1 file moved").contains("1 file deleted");
    assert_eq!((ws.read("B.py"), ws.read("new/C.py")), ("# moved\nclass B: pass\n".into(), "made\n".into()));
    assert!(!ws.path("A.py").exists() && !ws.path("D.py").exists());
    undo(&lp, &planned.plan()).fine();
    assert_eq!((ws.read("A.py"), ws.read("D.py")), ("class A: pass\n".into(), "gone\n".into()));
    assert!(!ws.path("B.py").exists() && !ws.path("new").exists());
}

fn edt_05_what_a_move_overwrites_is_told() {
    let ws = Workspace::new("//- A.py\nclass A: pass\n//- D.py\nprecious\n");
    let over = json!({"documentChanges": [
        {"kind": "rename", "oldUri": "$root/A.py", "newUri": "$root/D.py", "options": {"overwrite": true}},
    ]});
    let lp = Langport::with(&ws, Script::new().on("textDocument/rename", [Act::Reply(over)]));
    let planned = rename(&lp, "A.py", 1, "A", "D");
    planned.fine().contains("A.py -> D.py (what is there now is lost)");
    apply(&lp, &planned.plan()).fine();
    assert_eq!(ws.read("D.py"), "class A: pass\n");
    undo(&lp, &planned.plan()).fine();
    assert_eq!((ws.read("A.py"), ws.read("D.py")), ("class A: pass\n".into(), "precious\n".into()));
}

fn edt_05_two_files_that_change_places_lose_nothing() {
    let ws = Workspace::new("//- A.py\nclass A: pass\n//- D.py\nprecious\n");
    let step = |from: &str, to: &str| json!({"kind": "rename", "oldUri": format!("$root/{from}"), "newUri": format!("$root/{to}")});
    let swapped = json!({"documentChanges": [step("A.py", "X.py"), step("D.py", "A.py"), step("X.py", "D.py")]});
    let lp = Langport::with(&ws, Script::new().on("textDocument/rename", [Act::Reply(swapped)]));
    let planned = rename(&lp, "A.py", 1, "A", "D");
    planned.fine().contains("A.py -> D.py").contains("D.py -> A.py").lacks("is lost");
    apply(&lp, &planned.plan()).fine();
    assert_eq!((ws.read("A.py"), ws.read("D.py")), ("precious\n".into(), "class A: pass\n".into()));
}

fn more_files_than_stay_open() {
    let ws = Workspace::new(SHOP);
    for n in 0..20 {
        ws.write(&format!("m{n}.py"), "from lib import tally\n");
    }
    let builder = Langport::builder(&ws).server(Definition::new("fake", Script::new()));
    let lp = builder.config("documents = 4").start();
    let planned = rename(&lp, "lib.py", 1, "tally", "total");
    planned.verdict_is("fresh").contains("24 places in 22 files");
    apply(&lp, &planned.plan()).fine();
    assert!((0..20).all(|n| ws.read(&format!("m{n}.py")) == "from lib import total\n"));
    lp.hover(&json!({"file_path": "other.py", "line": 1, "column": 1})).fine();
    let opened = lp.log().count("textDocument/didOpen") - lp.log().count("textDocument/didClose");
    assert!(opened <= 4, "{opened} stay open");
}

fn a7_7_what_a_change_breaks_and_mends_is_told() {
    let ws = Workspace::new("//- lib.py\nPROVIDES tally\n//- use.py\nNEEDS tally\n");
    let range = json!({"start": {"line": 0, "character": 9}, "end": {"line": 0, "character": 14}});
    let edit = json!({"changes": {"$root/lib.py": [{"range": range, "newText": "total"}]}});
    let script = Script::watching("**/*.py").pull().on("textDocument/rename", [Act::Reply(edit)]);
    let lp = Langport::with(&ws, script);
    // It depends on what is changed, and is open.
    lp.diagnostics("use.py").verdict_is("fresh").contains("no problems");
    let plan = rename(&lp, "lib.py", 1, "tally", "total").plan();
    let made = apply(&lp, &plan);
    made.fine().contains("1 new problem").contains("use.py:1:1  new error: tally is not provided");
    let back = undo(&lp, &plan);
    back.fine().lacks("new error");
    lp.diagnostics("use.py").verdict_is("fresh").contains("no problems");
}
