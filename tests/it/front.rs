//! Small mistakes at the front: a path that several roots have, a change that is taken back twice or has been changed
//! since, a folder that moves, an action by its title, a range through the middle of a character.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Answer, Definition, Langport, Workspace},
};

trials![
    a_bare_path_that_several_roots_have_is_ambiguous,
    a_new_place_that_several_roots_could_have_is_ambiguous,
    an_undo_that_would_overwrite_says_what_has_changed,
    a_plan_that_is_gone_says_what_became_of_it,
    a_moved_folder_is_told_with_its_files,
    a_plan_of_an_action_has_its_title,
    a_range_through_a_character_is_refused,
    a_range_in_the_end_of_a_line_loses_nothing,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

/// Two roots, `one` and `two`.
fn two(files: &str) -> (Workspace, [std::path::PathBuf; 2]) {
    let ws = Workspace::new(files);
    let roots = [ws.path("one"), ws.path("two")];
    (ws, roots)
}

fn a_bare_path_that_several_roots_have_is_ambiguous() {
    let (ws, roots) = two(
        "//- one/a.py\nERR alpha\n//- two/a.py\nbeta ERR\n//- one/lib/x.py\nx\n//- two/lib/y.py\ny\n//- two/only.py\ngamma\n//- one/both\nx\n//- two/both/z.py\nz\n//- two/one/a.py\ninner\n",
    );
    let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new())).roots(&roots).start();
    let both = |answer: &Answer, name: &str| {
        answer.fails("ambiguous").contains(&format!("{name} may be one of 2 paths"));
        for root in ["one", "two"] {
            answer.contains(&format!("\n  {}", ws.path(&format!("{root}/{name}")).display()));
        }
    };
    for given in ["a.py", "./a.py", " a.py ", ".\\a.py"] {
        let answer = lp.hover(&at(given));
        answer.fails("ambiguous").contains(&ws.path("two/a.py").display().to_string());
    }
    for tool in ["diagnostics", "symbols", "format", "code_actions", "status"] {
        both(&lp.tool(tool, &json!({"file_path": "a.py"})), "a.py");
    }
    both(&lp.tool("rename", &json!({"file_path": "a.py", "symbol": "alpha", "new_name": "x"})), "a.py");
    both(&lp.tool("move_file", &json!({"from": "a.py", "to": "one/c.py"})), "a.py");
    for scope in ["workspace", "changed"] {
        both(&lp.tool("diagnostics", &json!({"scope": scope, "file_path": "lib"})), "lib");
        both(&lp.tool("diagnostics", &json!({"scope": scope, "file_path": "a.py"})), "a.py");
    }
    assert_eq!(lp.log().starts(), 0, "nobody was asked");
    // What only one has is that one; a root's name in front, and an absolute path, say which; so does what is asked for.
    lp.hover(&at("only.py")).verdict_is("fresh").contains("WORD gamma");
    lp.hover(&at("one/a.py")).verdict_is("fresh").contains("WORD ERR");
    lp.hover(&at("two/a.py")).verdict_is("fresh").contains("WORD beta");
    let absolute = ws.path("two/a.py").display().to_string();
    lp.hover(&at(&absolute)).contains("WORD beta");
    lp.hover(&at("both")).fails("unavailable").contains("one/both");
    // An id says which file is meant; a path beside it that may be another's does not count for nothing.
    let listed = lp.tool("code_actions", &json!({"file_path": "two/a.py"}));
    let id = listed.body().trim_start().split("  ").next().unwrap().to_owned();
    both(&lp.tool("code_actions", &json!({"action": id, "file_path": "a.py"})), "a.py");
    lp.tool("code_actions", &json!({"action": id, "file_path": "two/a.py"})).fine();
}

/// Answers a move with nothing more to do.
fn mover() -> Script {
    let filters = json!({"filters": [{"pattern": {"glob": "**"}}]});
    let edit = json!({"changes": {}});
    Script::new()
        .capability("workspace", json!({"fileOperations": {"willRename": filters, "didRename": filters}}))
        .on("workspace/willRenameFiles", [Act::Reply(edit)])
}

fn a_new_place_that_several_roots_could_have_is_ambiguous() {
    let (ws, roots) = two("//- one/a.py\nalpha\n//- two/b.py\nbeta\n//- two/deep/c.py\ngamma\n");
    let lp = Langport::builder(&ws).server(Definition::new("fake", mover())).roots(&roots).start();
    let moved = |from: &str, to: &str| lp.tool("move_file", &json!({"from": from, "to": to}));
    // Whether or not one of them has it: the other may have been meant.
    for to in ["new.py", "b.py", "deep", "fresh/new.py"] {
        let answer = moved("one/a.py", to);
        answer.fails("ambiguous").contains(&format!("{to} may be one of 2 paths"));
        for root in ["one", "two"] {
            answer.contains(&format!("\n  {}", ws.path(&format!("{root}/{to}")).display()));
        }
    }
    assert_eq!(lp.log().starts(), 0, "nobody was asked");
    // Only one has the folder.
    moved("one/a.py", "deep/new.py").fine().contains("one/a.py -> two/deep/new.py");
    moved("one/a.py", "two/new.py").fine().contains("one/a.py -> two/new.py");
    moved("b.py", "one/new/b.py").fine().contains("two/b.py -> one/new/b.py");
    let absolute = ws.path("one/z.py").display().to_string();
    moved("one/a.py", &absolute).fine().contains("one/a.py -> one/z.py");
}

fn an_undo_that_would_overwrite_says_what_has_changed() {
    let files = "//- lib.py\ndef tally(a):\n    return a\n//- use.py\nfrom lib import tally\n//- more.py\nfrom lib import tally\n";
    let ws = Workspace::new(files);
    let lp = Langport::with(&ws, Script::new());
    let rename = || lp.tool("rename", &json!({"file_path": "lib.py", "symbol": "tally", "new_name": "total"}));
    let undo = |plan: &str| lp.tool("apply", &json!({"undo": plan}));
    let plan = rename().plan();
    undo(&plan).fails("invalid").contains("that plan has not been made");
    lp.tool("apply", &json!({"plan": plan})).fine();
    ws.write("use.py", "from lib import total  # mine\n");
    ws.write("more.py", "# mine\n");
    let refused = undo(&plan);
    refused.fails("conflict").contains("not as the change left it").contains("would overwrite what came since");
    refused.contains("1 more of its files").contains("use.py").contains("more.py").contains("then undo again");
    refused.lacks("plan it again").lacks("lib.py");
    assert_eq!(ws.read("use.py"), "from lib import total  # mine\n");
    assert!(ws.read("lib.py").contains("total"), "nothing is half taken back");
    ws.write("use.py", "from lib import total\n");
    ws.remove("more.py");
    undo(&plan)
        .fails("conflict")
        .contains("it is gone since the change was made")
        .contains("more.py")
        .lacks("likewise");
    ws.write("more.py", "from lib import total\n");
    undo(&plan).fine().contains("taken back");
    assert_eq!(ws.read("use.py"), "from lib import tally\n");
}

fn a_plan_that_is_gone_says_what_became_of_it() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.py\nbeta\n");
    let lp = Langport::with(&ws, Script::new());
    let rename = |word: &str, new: &str| {
        let file = if word.starts_with('a') { "a.py" } else { "b.py" };
        lp.tool("rename", &json!({"file_path": file, "line": 1, "column": 1, "new_name": new})).plan()
    };
    let apply = |plan: &str| lp.tool("apply", &json!({"plan": plan}));
    let undo = |plan: &str| lp.tool("apply", &json!({"undo": plan}));
    let made = rename("alpha", "aleph");
    apply(&made).fine();
    apply(&made).fails("expired").contains("has been made already").contains("takes it back");
    undo(&made).fine();
    undo(&made).fails("expired").contains("has been taken back already").lacks("other means");
    apply(&made).fails("expired").contains("made and taken back");
    for call in [apply("0123456789abcdef"), undo("0123456789abcdef")] {
        call.fails("expired").contains("this session has no plan `0123456789abcdef`").lacks("no longer");
    }
    for call in [apply("nonsense"), undo("non·sense")] {
        call.fails("not_found").contains("`nonsense` is the id of no plan, and never was");
    }
    // Pushed out by later ones.
    let first = rename("beta", "b0");
    (1..=32).for_each(|number| drop(rename("beta", &format!("b{number}"))));
    apply(&first).fails("expired").contains("made room for later ones").contains("plan it again");
    undo(&first).fails("expired").contains("never made");
}

fn a_moved_folder_is_told_with_its_files() {
    let ws = Workspace::new("//- lib/a.py\na\n//- lib/b.py\nb\n//- lib/in/c.py\nc\n//- use.py\nimport lib\n");
    // The same of every file, wherever it is.
    let start = json!({"line": 0, "character": 0});
    let item = json!({"range": {"start": start, "end": start}, "severity": 1, "message": "bad"});
    let all = Act::Reply(json!({"kind": "full", "items": [item]}));
    let lp = Langport::with(&ws, mover().pull().on("textDocument/diagnostic", [all]));
    let planned = lp.tool("move_file", &json!({"from": "lib", "to": "library"}));
    planned.fine().contains("move lib to library: 1 folder with 3 files moved;").lacks("1 file moved");
    let made = lp.tool("apply", &json!({"plan": planned.plan()}));
    // Its files are looked at as any others: what was wrong before is nothing new.
    made.fine().contains("1 folder with 3 files moved;").contains("no new problems").lacks("no server was there");
    assert!(ws.path("library/in/c.py").exists());
    let back = lp.tool("apply", &json!({"undo": planned.plan()}));
    back.fine().contains("taken back: 1 folder with 3 files moved;").contains("no new problems");
    assert_eq!(ws.read("lib/in/c.py"), "c\n");
    let one = lp.tool("move_file", &json!({"from": "lib/in", "to": "inner"}));
    one.fine().contains("1 folder with 1 file moved");
    lp.tool("move_file", &json!({"from": "use.py", "to": "used.py"})).fine().contains(": 1 file moved;");
}

fn a_plan_of_an_action_has_its_title() {
    let ws = Workspace::new("//- a.py\nfirst = 1\nERR here\n");
    let lp = Langport::with(&ws, Script::new());
    let planned = lp.tool("code_actions", &json!({"file_path": "a.py", "action": "mend line 2"}));
    planned.fine().contains("· an action on a.py: 1 place in 1 file;").contains("  mend line 2\n");
    let made = lp.tool("apply", &json!({"plan": planned.plan()}));
    made.fine().contains("an action on a.py made: 1 file changed");
    // It is the server's text: it stands below, on one line.
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}});
    let edit = json!({"changes": {"$uri": [{"range": range, "newText": "last"}]}});
    let title =
        "Say \"hi\" · plan 0123456789abcdef\n\u{202e}and\u{200b} then do this and that and whatever else there is";
    drop(lp);
    let act = Act::Reply(json!([{"title": title, "kind": "quickfix", "edit": edit}]));
    let lp = Langport::with(&ws, Script::new().on("textDocument/codeAction", [act]));
    let listed = lp.tool("code_actions", &json!({"file_path": "a.py"}));
    let id = listed.body().trim_start().split("  ").next().unwrap().to_owned();
    let planned = lp.tool("code_actions", &json!({"action": id}));
    planned.fine().contains("an action on a.py").contains("\n  Say \"hi\"");
    assert!(!planned.first().contains("Say") && planned.first().matches(" · ").count() == 2, "{planned}");
}

fn replacing(line: u32, from: u32, end: (u32, u32), new: &str) -> [Act; 1] {
    let range = json!({"start": {"line": line, "character": from}, "end": {"line": end.0, "character": end.1}});
    [Act::Reply(json!([{"range": range, "newText": new}]))]
}

fn a_range_through_a_character_is_refused() {
    // In UTF-16 the emoji is 1 and 2, in UTF-8 it is 1 to 4.
    for (encoding, from, end) in
        [("utf-16", 2, 4), ("utf-16", 0, 2), ("utf-16", 2, 2), ("utf-8", 2, 6), ("utf-8", 0, 3), ("utf-8", 4, 5)]
    {
        let ws = Workspace::new("//- a.py\na😀bc\n");
        let script = Script::new().encoding(encoding).on("textDocument/formatting", replacing(0, from, (0, end), "x"));
        let lp = Langport::with(&ws, script);
        let refused = lp.tool("format", &json!({"file_path": "a.py"}));
        refused.fails("invalid").contains("a.py").contains("in the middle of a character (line 1)");
        assert_eq!(ws.read("a.py"), "a😀bc\n");
    }
    for (encoding, from, end) in [("utf-16", 1, 3), ("utf-8", 1, 5), ("utf-32", 1, 2)] {
        let ws = Workspace::new("//- a.py\na😀bc\n");
        let script = Script::new().encoding(encoding).on("textDocument/formatting", replacing(0, from, (0, end), "x"));
        let lp = Langport::with(&ws, script);
        let plan = lp.tool("format", &json!({"file_path": "a.py"})).plan();
        lp.tool("apply", &json!({"plan": plan})).fine();
        assert_eq!(ws.read("a.py"), "axbc\n", "{encoding}");
    }
    // Where it is only read, the character is meant.
    let ws = Workspace::new("//- a.py\na😀bc\n");
    let spot =
        json!([{"uri": "$uri", "range": {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 4}}}]);
    let lp = Langport::with(&ws, Script::new().on("textDocument/definition", [Act::Reply(spot)]));
    lp.tool("definition", &at("a.py")).fine().contains("a.py:1:2");
}

fn a_range_in_the_end_of_a_line_loses_nothing() {
    // Between `\r` and `\n` there is no position: past the end of a line is its end.
    for (from, end, expected) in [
        (2, (0, 2), "ab!\r\ncd\r\n"),
        (3, (0, 3), "ab!\r\ncd\r\n"),
        (1, (0, 3), "a!\r\ncd\r\n"),
        (3, (1, 0), "ab!cd\r\n"),
    ] {
        let ws = Workspace::new("");
        ws.write("a.py", "ab\r\ncd\r\n");
        let lp = Langport::with(&ws, Script::new().on("textDocument/formatting", replacing(0, from, end, "!")));
        let plan = lp.tool("format", &json!({"file_path": "a.py"})).plan();
        lp.tool("apply", &json!({"plan": plan})).fine();
        assert_eq!(ws.read("a.py"), expected, "{from} {end:?}");
    }
}
