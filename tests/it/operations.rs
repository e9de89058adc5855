//! Edits that create, rename and delete, with every option; who is told of a change, and what its answer says of more files
//! than it looked at.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt};

use serde_json::{Value, json};

use crate::{
    changes::{SHOP, apply, rename, undo},
    fake::script::{Act, Ask, Script, register, watch},
    support::{Answer, Definition, Langport, Workspace, eventually},
};

trials![
    edt_05_options_and_what_is_there,
    edt_05_servers_are_told_of_every_operation,
    syn_06_every_server_is_told_and_of_closed_files_too,
    e17_modes_stay_and_what_cannot_be_kept_is_refused,
    commands_run_one_at_a_time,
    pro_07_formatting_comes_and_goes,
    a7_7_files_that_were_not_looked_at_are_no_clean_bill,
    a7_7_taking_back_says_what_is_new_and_gone,
    a6_5_problems_that_are_not_shown_are_counted,
    changed_files_that_git_ignores_are_marked,
];

pub(crate) fn range(line: u32, from: u32, to: u32) -> Value {
    json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}})
}

pub(crate) fn texts(file: &str, from: u32, to: u32, new: &str) -> Value {
    let edits = json!([{"range": range(0, from, to), "newText": new}]);
    json!({"textDocument": {"uri": format!("$root/{file}"), "version": null}, "edits": edits})
}

pub(crate) fn create(file: &str, options: Value) -> Value {
    json!({"kind": "create", "uri": format!("$root/{file}"), "options": options})
}

pub(crate) fn renames(from: &str, to: &str, options: Value) -> Value {
    json!({"kind": "rename", "oldUri": format!("$root/{from}"), "newUri": format!("$root/{to}"), "options": options})
}

pub(crate) fn delete(file: &str, options: Value) -> Value {
    json!({"kind": "delete", "uri": format!("$root/{file}"), "options": options})
}

pub(crate) fn steps(steps: &[Value]) -> Script {
    Script::new().on("textDocument/rename", [Act::Reply(json!({ "documentChanges": steps }))])
}

pub(crate) fn renamed(lp: &Langport) -> Answer {
    lp.tool("rename", &json!({"file_path": "A.py", "line": 1, "column": 7, "new_name": "B"}))
}

/// Every file with its text, every folder.
pub(crate) fn tree(ws: &Workspace) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut left = vec![ws.root().to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(ws.root()).unwrap().display().to_string();
            if path.is_dir() {
                all.insert(name + "/", String::new());
                left.push(path);
            } else {
                all.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    all
}

pub(crate) const TREE: &str = "//- A.py\nclass A: pass\n//- D.py\nprecious\n//- dir/x.py\nx\n//- dir/in/y.py\ny\n";

/// A case: the operation, and the code of its refusal, or what is there afterwards beside what stays.
type Case = (Value, Result<&'static [(&'static str, Option<&'static str>)], &'static str>);

fn edt_05_options_and_what_is_there() {
    let cases: [Case; 20] = [
        (create("D.py", json!({})), Err("conflict")),
        (create("D.py", json!({"ignoreIfExists": true})), Ok(&[])),
        (create("D.py", json!({"overwrite": true})), Ok(&[("D.py", Some(""))])),
        (create("D.py", json!({"overwrite": true, "ignoreIfExists": true})), Ok(&[("D.py", Some(""))])),
        (create("dir", json!({"overwrite": true})), Err("refused")),
        (create("D.py/x", json!({})), Err("conflict")),
        (
            create("new/deep/C.py", json!({})),
            Ok(&[("new/", Some("")), ("new/deep/", Some("")), ("new/deep/C.py", Some(""))]),
        ),
        (renames("D.py", "dir/x.py", json!({})), Err("conflict")),
        (renames("D.py", "dir/x.py", json!({"ignoreIfExists": true})), Ok(&[])),
        (
            renames("D.py", "dir/x.py", json!({"overwrite": true})),
            Ok(&[("D.py", None), ("dir/x.py", Some("precious\n"))]),
        ),
        (
            renames("D.py", "dir/x.py", json!({"overwrite": true, "ignoreIfExists": true})),
            Ok(&[("D.py", None), ("dir/x.py", Some("precious\n"))]),
        ),
        (renames("none.py", "B.py", json!({})), Err("not_found")),
        (renames("D.py", "dir", json!({"overwrite": true})), Err("refused")),
        (
            renames("dir", "new/moved", json!({})),
            Ok(&[
                ("dir/", None),
                ("dir/x.py", None),
                ("dir/in/", None),
                ("dir/in/y.py", None),
                ("new/", Some("")),
                ("new/moved/", Some("")),
                ("new/moved/x.py", Some("x\n")),
                ("new/moved/in/", Some("")),
                ("new/moved/in/y.py", Some("y\n")),
            ]),
        ),
        (renames("dir", "dir/in/dir", json!({})), Err("invalid")),
        (delete("none.py", json!({})), Err("not_found")),
        (delete("none.py", json!({"ignoreIfNotExists": true})), Ok(&[])),
        (delete("dir", json!({})), Err("conflict")),
        (delete("dir/in", json!({"recursive": true})), Ok(&[("dir/in/", None), ("dir/in/y.py", None)])),
        (delete("D.py", json!({})), Ok(&[("D.py", None)])),
    ];
    for (operation, expected) in cases {
        let ws = Workspace::new(TREE);
        let before = tree(&ws);
        let lp = Langport::with(&ws, steps(&[texts("A.py", 6, 7, "B"), operation.clone()]));
        let planned = renamed(&lp);
        assert_eq!(tree(&ws), before, "{operation}: planning writes nothing");
        match expected {
            Err(code) => drop(planned.fails(code)),
            Ok(differs) => {
                let mut after = before.clone();
                after.insert("A.py".into(), "class B: pass\n".into());
                for (name, text) in differs {
                    match text {
                        Some(text) => drop(after.insert((*name).into(), (*text).into())),
                        None => drop(after.remove(*name).expect("it was there")),
                    }
                }
                apply(&lp, &planned.plan()).fine();
                assert_eq!(tree(&ws), after, "{operation}");
                undo(&lp, &planned.plan()).fine();
                assert_eq!(tree(&ws), before, "{operation}, taken back");
            }
        }
    }
}

/// The kinds of events that a server was told of for a file, in order.
fn events(lp: &Langport, server: &str, uri: &str) -> Vec<u64> {
    let told = lp.log_of(server).of("workspace/didChangeWatchedFiles");
    let changes = told.iter().flat_map(|one| one["changes"].as_array().unwrap().clone());
    changes.filter(|change| change["uri"] == uri).filter_map(|change| change["type"].as_u64()).collect()
}

fn edt_05_servers_are_told_of_every_operation() {
    let ws = Workspace::new(TREE);
    let filters = json!({"filters": [{"pattern": {"glob": "**/*.py"}}]});
    let script = steps(&[
        texts("A.py", 6, 7, "B"),
        renames("A.py", "B.py", json!({})),
        create("C.py", json!({})),
        texts("C.py", 0, 0, "made\n"),
        delete("D.py", json!({})),
    ]);
    let script = script.pull().on("initialized", [watch("**/*.py").into()]);
    let lp = Langport::with(&ws, script.capability("workspace", json!({"fileOperations": {"didRename": filters}})));
    for file in ["A.py", "D.py"] {
        lp.diagnostics(file).fine();
    }
    apply(&lp, &renamed(&lp).plan()).fine();
    let (a, b, c, d) = (ws.uri("A.py"), ws.uri("B.py"), ws.uri("C.py"), ws.uri("D.py"));
    assert_eq!(lp.log().wait("workspace/didRenameFiles", 1)[0], json!({"files": [{"oldUri": a, "newUri": b}]}));
    let closed = || lp.log().of("textDocument/didClose").iter().map(|one| one["textDocument"]["uri"].clone()).collect();
    eventually("both gone files are closed", || {
        let closed: Vec<Value> = closed();
        (closed.contains(&json!(a)) && closed.contains(&json!(d))).then_some(())
    });
    for (uri, kind) in [(&a, 3), (&b, 1), (&c, 1), (&d, 3)] {
        eventually(&format!("{uri}: {kind}"), || events(&lp, "fake", uri).contains(&kind).then_some(()));
    }
    let opened = lp.log().of("textDocument/didOpen");
    let text =
        |uri: &str| opened.iter().find(|one| one["textDocument"]["uri"] == uri).map(|one| &one["textDocument"]["text"]);
    assert_eq!((text(&b), text(&c)), (Some(&json!("class B: pass\n")), Some(&json!("made\n"))), "{opened:?}");
}

fn syn_06_every_server_is_told_and_of_closed_files_too() {
    let ws = Workspace::new(&format!("{SHOP}//- far.txt\ntally\n"));
    // What nobody opens here, since nobody serves it.
    let far = json!({"changes": {
        "$root/lib.py": [{"range": range(0, 4, 9), "newText": "total"}],
        "$root/use.py": [{"range": range(0, 16, 21), "newText": "total"}],
        "$root/far.txt": [{"range": range(0, 0, 5), "newText": "total"}],
    }});
    let types = Script::watching("**/*").pull().on("textDocument/rename", [Act::Reply(far)]);
    let lint = Definition::new("lint", Script::watching("**/*").pull()).key("role = \"linter\"");
    let lp = Langport::builder(&ws).server(Definition::new("types", types)).server(lint).start();
    lp.diagnostics("lib.py").verdict_is("fresh");
    let planned = rename(&lp, "lib.py", 1, "tally", "total");
    planned.contains("3 places in 3 files");
    apply(&lp, &planned.plan()).fine().verdict_is("fresh");
    for server in ["types", "lint"] {
        let log = lp.log_of(server);
        let new = "def total(a):\n    return a\n";
        let changed =
            log.of("textDocument/didChange").into_iter().find(|one| one["textDocument"]["uri"] == ws.uri("lib.py"));
        let changed = changed.unwrap_or_else(|| panic!("{server}: {:?}", log.methods()));
        let whole = changed["contentChanges"][0]["text"] == new || changed["contentChanges"][0]["text"] == "total";
        assert!(whole, "{server}: {changed}");
        let saved = log.of("textDocument/didSave");
        assert!(saved.iter().any(|one| one["textDocument"]["uri"] == ws.uri("lib.py")), "{server}: {saved:?}");
        for file in ["lib.py", "use.py", "far.txt"] {
            let told = events(&lp, server, &ws.uri(file));
            assert!(told == [2], "{server} hears that {file} has changed: {told:?}");
        }
        // Told before it was asked about what the change did.
        let methods = log.methods();
        let told = methods.iter().rposition(|method| method == "workspace/didChangeWatchedFiles").unwrap();
        let asked = methods.iter().rposition(|method| method == "textDocument/diagnostic").unwrap();
        assert!(told < asked, "{server}: {methods:?}");
    }
}

fn e17_modes_stay_and_what_cannot_be_kept_is_refused() {
    let ws = Workspace::new(SHOP);
    let mode = |file: &str| fs::metadata(ws.path(file)).unwrap().permissions().mode() & 0o7777;
    let chmod = |file: &str, mode| fs::set_permissions(ws.path(file), fs::Permissions::from_mode(mode)).unwrap();
    chmod("lib.py", 0o755);
    chmod("use.py", 0o640);
    let lp = Langport::with(&ws, Script::new());
    let plan = rename(&lp, "lib.py", 1, "tally", "total").plan();
    apply(&lp, &plan).fine();
    assert_eq!((mode("lib.py"), mode("use.py")), (0o755, 0o640));
    undo(&lp, &plan).fine();
    assert_eq!((mode("lib.py"), mode("use.py")), (0o755, 0o640));
    let before = tree(&ws);
    let plan = rename(&lp, "lib.py", 1, "tally", "total").plan();
    chmod("use.py", 0o440);
    apply(&lp, &plan).fails("read_only").contains("use.py");
    rename(&lp, "lib.py", 1, "tally", "total").fails("read_only").contains("use.py");
    chmod("use.py", 0o640);
    let other = ws.home().join("another-name");
    fs::hard_link(ws.path("use.py"), &other).unwrap();
    apply(&lp, &plan).fails("refused").contains("several names");
    rename(&lp, "lib.py", 1, "tally", "total").fails("refused").contains("use.py").contains("several names");
    assert_eq!(tree(&ws), before);
    fs::remove_file(other).unwrap();
    apply(&lp, &plan).fine();
}

fn commands_run_one_at_a_time() {
    let ws = Workspace::new("//- a.py\nfirst\n//- b.py\nfirst\n");
    let wants = |id: &str, file: &str, text: &str| {
        let edit =
            json!({"edit": {"changes": {format!("$root/{file}"): [{"range": range(0, 0, 5), "newText": text}]}}});
        Act::from(Ask::new(id, "workspace/applyEdit", edit).block())
    };
    let one = vec![Act::Await(ws.gate("command")), wants("ask-1", "a.py", "one"), Act::Reply(Value::Null)];
    let two = vec![wants("ask-2", "b.py", "two"), Act::Reply(Value::Null)];
    let script = Script::new()
        .capability("executeCommandProvider", json!({"commands": ["fake.fix"]}))
        .on("textDocument/codeAction", [Act::Reply(json!([{"title": "by command", "command": "fake.fix"}]))])
        .each("workspace/executeCommand", [one, two]);
    let lp = Langport::with(&ws, script);
    let act = |file: &str| lp.call("lsp_code_actions", &json!({"file_path": file, "action": "by command"}));
    let first = act("a.py");
    lp.log().wait("workspace/executeCommand", 1);
    let asked = lp.log().count("textDocument/codeAction");
    let second = act("b.py");
    // It is offered, and then asked for once more when it is taken.
    lp.log().wait("textDocument/codeAction", asked + 2);
    assert_eq!(lp.log().count("workspace/executeCommand"), 1, "the second waits for its turn");
    ws.open("command");
    let (first, second) = (Answer::of(&lp.answer(first)), Answer::of(&lp.answer(second)));
    first.fine().contains("+one").lacks("two");
    second.fine().contains("+two").lacks("one");
    assert_eq!((ws.read("a.py"), ws.read("b.py")), ("first\n".into(), "first\n".into()));
    apply(&lp, &second.plan()).fine();
    apply(&lp, &first.plan()).fine();
    assert_eq!((ws.read("a.py"), ws.read("b.py")), ("one\n".into(), "two\n".into()));
}

fn pro_07_formatting_comes_and_goes() {
    let ws = Workspace::new("//- a.json\n{} \n//- b.jsonc\n{} \n");
    let selector = json!({"documentSelector": [{"pattern": "**/*.json"}]});
    let come = register("fmt", "textDocument/formatting", selector).block();
    let gone = json!({"unregisterations": [{"id": "fmt", "method": "textDocument/formatting"}]});
    let gone = Ask::new("gone", "client/unregisterCapability", gone).block();
    let script = Script::new()
        .capability("documentFormattingProvider", Value::Null)
        .on("textDocument/formatting", [Act::Reply(json!([{"range": range(0, 2, 3), "newText": ""}]))])
        .each(
            "textDocument/hover",
            [vec![Act::Default], vec![come.into(), Act::Default], vec![gone.into(), Act::Default]],
        );
    let definition = Definition::new("fake", script).languages(&["json", "jsonc"]);
    let lp = Langport::builder(&ws).server(definition).start();
    let format = |file: &str| lp.tool("format", &json!({"file_path": file}));
    let hover = || drop(lp.hover(&json!({"file_path": "a.json", "line": 1, "column": 1})));
    hover();
    format("a.json").fails("unsupported").contains("fake");
    hover();
    apply(&lp, &format("a.json").plan()).fine();
    assert_eq!(ws.read("a.json"), "{}\n");
    format("b.jsonc").fails("unsupported");
    hover();
    format("a.json").fails("unsupported").contains("fake");
}

fn a7_7_files_that_were_not_looked_at_are_no_clean_bill() {
    for (files, whole) in [(40, true), (60, false)] {
        let ws = Workspace::new(SHOP);
        for n in 0..files {
            ws.write(&format!("m{n:02}.py"), "from lib import tally\n");
        }
        let lp = Langport::with(&ws, Script::new().pull());
        let planned = rename(&lp, "lib.py", 1, "tally", "total");
        planned.contains(&format!("in {} files", files + 2));
        let made = apply(&lp, &planned.plan());
        made.fine().contains(&format!("{} files changed", files + 2));
        if whole {
            made.verdict_is("fresh").contains("no new problems").lacks("not looked at");
        } else {
            made.verdict_is("partial").contains("the problems of 14 files were not looked at").lacks("no new problems");
        }
        undo(&lp, &planned.plan()).fine().verdict_is(if whole { "fresh" } else { "partial" });
    }
}

fn a7_7_taking_back_says_what_is_new_and_gone() {
    let ws = Workspace::new("//- lib.py\nPROVIDES tally\n//- use.py\nNEEDS tally\n");
    let edit = json!({"changes": {"$root/lib.py": [{"range": range(0, 9, 14), "newText": "total"}]}});
    let lp = Langport::with(&ws, Script::watching("**/*.py").pull().on("textDocument/rename", [Act::Reply(edit)]));
    lp.diagnostics("use.py").verdict_is("fresh").contains("no problems");
    let plan = rename(&lp, "lib.py", 1, "tally", "total").plan();
    apply(&lp, &plan).contains("1 new problem");
    undo(&lp, &plan)
        .fine()
        .contains("no new problems in the 2 files looked at, 1 gone")
        .contains("gone: error: tally is not provided");
    // And the other way round: what was mended is broken again.
    ws.write("lib.py", "PROVIDES other\n");
    let plan = rename(&lp, "lib.py", 1, "other", "total").plan();
    apply(&lp, &plan).fine();
    ws.write("use.py", "NEEDS total\n");
    // The fake writes over five letters: `other` is `total` by now.
    lp.diagnostics("use.py").verdict_is("fresh").contains("no problems");
    undo(&lp, &plan).fine().contains("1 new problem").contains("use.py:1:1  new error: total is not provided");
}

fn a6_5_problems_that_are_not_shown_are_counted() {
    let ws = Workspace::new(&format!("//- lib.py\nPROVIDES tally\n//- use.py\n{}", "NEEDS tally\n".repeat(30)));
    let edit = json!({"changes": {"$root/lib.py": [{"range": range(0, 9, 14), "newText": "total"}]}});
    let lp = Langport::with(&ws, Script::watching("**/*.py").pull().on("textDocument/rename", [Act::Reply(edit)]));
    lp.diagnostics("use.py").verdict_is("fresh").contains("no problems");
    let plan = rename(&lp, "lib.py", 1, "tally", "total").plan();
    let made = apply(&lp, &plan);
    made.fine().contains("30 new problems").contains("10 more problems are not shown");
    assert_eq!(made.text.matches("  new error: tally is not provided").count(), 20, "{made}");
}

fn changed_files_that_git_ignores_are_marked() {
    let ws = Workspace::new(&format!("{SHOP}//- .git/HEAD\nref: refs/heads/main\n//- .gitignore\nuse.py\n"));
    let lp = Langport::with(&ws, Script::new());
    // Asked about, it is known to the server, although nobody else lists it.
    lp.hover(&json!({"file_path": "use.py", "line": 1, "column": 1})).fine();
    let planned = rename(&lp, "lib.py", 1, "tally", "total");
    planned.fine().contains("git ignores 1 of the files: use.py");
    apply(&lp, &planned.plan()).fine();
    assert!(ws.read("use.py").contains("total"));
}
