//! What a rename says of names that will not do, what its diff shows, and one change right after another.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Answer, Langport, Workspace},
};

trials![
    the_same_name_is_nothing_to_rename,
    edt_01_what_is_no_name_reaches_no_server,
    a_name_unlike_the_old_one_is_remarked,
    syn_06_a_rename_right_after_formatting,
    syn_06_problems_right_after_an_action,
    the_diff_shows_a_missing_last_line_end,
    edt_04_formatting_keeps_the_end_as_it_is_asked_for,
    sec_01_a_link_that_blocks_is_named_with_its_target,
    only_what_is_marked_asks_for_consent,
];

const SHOP: &str =
    "//- lib.py\ndef tally(a):\n    return a\n//- use.py\nfrom lib import tally\nprint(tally(1), tally(2))\n";

fn rename(lp: &Langport, new_name: &str) -> Answer {
    lp.tool("rename", &json!({"file_path": "lib.py", "line": 1, "symbol": "tally", "new_name": new_name}))
}

fn apply(lp: &Langport, planned: &Answer) -> Answer {
    lp.tool("apply", &json!({"plan": planned.plan()}))
}

fn the_same_name_is_nothing_to_rename() {
    let no_op = vec![Act::Default];
    let null = vec![Act::Reply(Value::Null)];
    let refusal = vec![Act::Fail(-32602, "the new name is the old one".into())];
    for acts in [no_op, null, refusal] {
        let ws = Workspace::new(SHOP);
        let lp = Langport::with(&ws, Script::new().on("textDocument/rename", acts));
        rename(&lp, "tally").fails("invalid").contains("its name already").contains("give another new_name");
    }
    // Where the name stands with a sigil that is part of it, what the server writes tells.
    let ws = Workspace::new("//- lib.py\n@tally\n");
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 6}});
    let same = json!({"changes": {"$uri": [{"range": range, "newText": "@tally"}]}});
    let lp = Langport::with(&ws, Script::new().on("textDocument/rename", [Act::Reply(same)]));
    rename(&lp, "@tally").fails("invalid").contains("its name already");
}

fn edt_01_what_is_no_name_reaches_no_server() {
    let ws = Workspace::new(SHOP);
    let lp = Langport::with(&ws, Script::new());
    for bad in ["", " ", "a b", "a\nb", "a\u{200b}b", "\u{202e}total", "a;b", "1st"] {
        rename(&lp, bad).fails("invalid").contains("new_name");
    }
    assert_eq!((lp.log().starts(), lp.log().count("textDocument/rename")), (0, 0));
}

fn a_name_unlike_the_old_one_is_remarked() {
    let ws = Workspace::new(SHOP);
    let lp = Langport::with(&ws, Script::new());
    rename(&lp, "grand-total").fine().contains("the new name holds '-'");
    rename(&lp, "total").fine().lacks("the new name holds");
}

fn syn_06_a_rename_right_after_formatting() {
    let ws = Workspace::new("//- lib.py\n\n\ndef tally(a):   \n    return a  \n//- use.py\nfrom lib import tally\n");
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 2, "character": 0}});
    // Takes the blank lines at the beginning away: every place below moves.
    let moved = json!([{"range": range, "newText": ""}]);
    let lp = Langport::with(&ws, Script::new().on("textDocument/formatting", [Act::Reply(moved)]));
    let formatted = lp.tool("format", &json!({"file_path": "lib.py"}));
    apply(&lp, &formatted).fine();
    let renamed = rename(&lp, "total");
    renamed.verdict_is("fresh").contains("2 places in 2 files");
    apply(&lp, &renamed).fine();
    assert_eq!(ws.read("lib.py"), "def total(a):   \n    return a  \n");
    assert_eq!(ws.read("use.py"), "from lib import total\n");
}

fn syn_06_problems_right_after_an_action() {
    for script in [Script::new(), Script::new().pull()] {
        let ws = Workspace::new("//- lib.py\nfirst = 1\nERR here\nlast = ERR\n");
        let lp = Langport::with(&ws, script);
        lp.diagnostics("lib.py").verdict_is("fresh").contains("2 errors");
        let listed = lp.tool("code_actions", &json!({"file_path": "lib.py", "start_line": 2}));
        let id = listed.body().trim_start().split("  ").next().unwrap().to_owned();
        apply(&lp, &lp.tool("code_actions", &json!({"action": id}))).fine().contains("gone: error: ERR here");
        let after = lp.diagnostics("lib.py");
        after.verdict_is("fresh").contains("1 error").lacks("ERR here");
    }
}

fn the_diff_shows_a_missing_last_line_end() {
    let ws = Workspace::new(SHOP);
    ws.write("lib.py", "def tally(): pass\nx = 1\ntally()");
    let end = json!({"start": {"line": 2, "character": 7}, "end": {"line": 2, "character": 7}});
    let edit = json!([{"range": end, "newText": "\n"}]);
    let lp = Langport::with(&ws, Script::new().on("textDocument/formatting", [Act::Reply(edit)]));
    let renamed = rename(&lp, "total");
    renamed.contains("\n  -tally()\n  \\ No newline at end of file\n  +total()\n  \\ No newline at end of file");
    let formatted = lp.tool("format", &json!({"file_path": "lib.py"}));
    formatted.contains("\n  -tally()\n  \\ No newline at end of file\n  +tally()").contains("+1 -1");
    assert_eq!(formatted.text.matches("No newline").count(), 1, "{formatted}");
}

fn edt_04_formatting_keeps_the_end_as_it_is_asked_for() {
    for (text, ends) in [("x = 1  \n", true), ("x = 1  ", false)] {
        let ws = Workspace::new("");
        ws.write("a.py", text);
        let lp = Langport::with(&ws, Script::new());
        let formatted = lp.tool("format", &json!({"file_path": "a.py"}));
        let options = &lp.log().of("textDocument/formatting")[0]["options"];
        assert_eq!(options["insertFinalNewline"] == true, ends, "{options}");
        apply(&lp, &formatted).fine();
        assert_eq!(ws.read("a.py"), text.replace("  ", ""), "the last line's end stays as it was");
    }
}

fn sec_01_a_link_that_blocks_is_named_with_its_target() {
    let ws = Workspace::new(SHOP);
    let outside = ws.home().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("far.py"), "tally = 1\n").unwrap();
    std::os::unix::fs::symlink(outside.join("far.py"), ws.path("near.py")).unwrap();
    std::os::unix::fs::symlink(&outside, ws.path("folder")).unwrap();
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}});
    for (named, target) in [("near.py", "far.py"), ("folder/far.py", "far.py"), ("folder/new.py", "new.py")] {
        let edit = json!({"changes": {format!("$root/{named}"): [{"range": range, "newText": "total"}]}});
        let lp = Langport::with(&ws, Script::new().on("textDocument/rename", [Act::Reply(edit)]));
        let refused = rename(&lp, "total");
        let target = outside.join(target);
        refused.fails("outside_workspace").contains(&format!("\n  {named} -> {}", target.display()));
    }
    assert_eq!(std::fs::read_to_string(outside.join("far.py")).unwrap(), "tally = 1\n");
}

fn only_what_is_marked_asks_for_consent() {
    let range = json!({"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}});
    let edit = |annotation: &str| {
        let mut edit = json!({"range": range, "newText": "total"});
        if !annotation.is_empty() {
            edit["annotationId"] = json!(annotation);
        }
        json!({
            "documentChanges": [{"textDocument": {"uri": "$uri", "version": null}, "edits": [edit]}],
            "changeAnnotations": {"far": {"label": "beyond the garden", "needsConfirmation": true}, "near": {"label": "at home"}},
        })
    };
    for (annotation, asks) in [("", false), ("near", false), ("far", true)] {
        let ws = Workspace::new(SHOP);
        let lp = Langport::with(&ws, Script::new().on("textDocument/rename", [Act::Reply(edit(annotation))]));
        let planned = rename(&lp, "total");
        assert_eq!(planned.fine().has("beyond the garden"), asks, "{planned}");
        planned.lacks("at home");
    }
}
