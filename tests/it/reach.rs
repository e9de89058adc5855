//! Servers that know the files that they were told of and no others: uses in the rest are found all the same, and where
//! they cannot be, no answer is taken for whole. The fake reads nothing from the disk here.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Definition, Langport, Workspace, langport::Builder},
};

trials![
    lif_09_uses_in_closed_files_are_found,
    edt_01_a_rename_reaches_closed_files,
    edt_01_more_files_than_may_be_open_are_a_part,
    lif_09_what_the_shell_changes_is_found,
    lif_09_what_is_on_the_same_list_is_not_opened,
    lif_09_a_server_of_one_file,
    lif_09_what_need_not_be_named,
    lif_09_callers_of_callers,
    edt_01_a_rename_that_leaves_out_references_is_refused,
    edt_01_what_a_server_overlooks,
    edt_01_a_search_that_is_cut_short,
    edt_01_a_move_says_what_it_may_miss,
];

const OPEN: &str = "knows = \"open\"";

/// `twice` in three files, and a fourth that is of no interest.
const SHOP: &str =
    "//- a.py\ndef twice(n)\n//- b.py\ndef f()\n  twice(1)\n//- deep/c.py\ndef g()\n  twice(2)\n//- d.py\nnotwice\n";

fn builder<'w>(ws: &'w Workspace, script: Script, reach: &str) -> Builder<'w> {
    let script = Script { unread: true, ..script };
    Langport::builder(ws).server(Definition::new("fake", script).table(&format!("[reach]\n{reach}")))
}

fn start(ws: &Workspace, reach: &str) -> Langport {
    builder(ws, Script::new(), reach).start()
}

fn at(file: &str, line: usize, symbol: &str) -> Value {
    json!({"file_path": file, "line": line, "symbol": symbol})
}

fn twice() -> Value {
    at("a.py", 1, "twice")
}

fn renamed(place: &Value) -> Value {
    let mut arguments = place.clone();
    arguments["new_name"] = json!("double");
    arguments
}

fn lif_09_uses_in_closed_files_are_found() {
    let ws = Workspace::new(SHOP);
    let lp = start(&ws, OPEN);
    lp.tool("references", &twice()).says("fresh · fake · 3 references in 3 files");
    let opened = lp.log().of("textDocument/didOpen");
    assert!(opened.iter().all(|open| !open["textDocument"]["uri"].as_str().unwrap().ends_with("d.py")), "{opened:?}");
    lp.tool("calls", &twice()).says("fresh · fake · 2 callers");
    lp.tool("references", &at("deep/c.py", 2, "twice")).says("fresh · fake · 3 references in 3 files");
    assert_eq!(lp.log().count("textDocument/didOpen"), 3, "what is open stays so");
    // What asks about one file looks for nothing.
    lp.hover(&at("d.py", 1, "notwice")).verdict_is("fresh");
    lp.tool("references", &at("d.py", 1, "notwice")).says("fresh · fake · 1 reference in 1 file");
}

fn edt_01_a_rename_reaches_closed_files() {
    let ws = Workspace::new(SHOP);
    let lp = start(&ws, OPEN);
    let planned = lp.tool("rename", &renamed(&twice()));
    planned.verdict_is("fresh").contains("3 places in 3 files");
    lp.tool("apply", &json!({"plan": planned.plan()})).fine();
    for (file, text) in [("a.py", "def double(n)\n"), ("b.py", "def f()\n  double(1)\n"), ("d.py", "notwice\n")] {
        assert_eq!(ws.read(file), text);
    }
    assert_eq!(ws.read("deep/c.py"), "def g()\n  double(2)\n");
}

fn edt_01_more_files_than_may_be_open_are_a_part() {
    let ws = Workspace::new(SHOP);
    (0..4).for_each(|n| ws.write(&format!("m{n}.py"), "twice(3)\n"));
    let lp = builder(&ws, Script::new(), OPEN).config("documents = 3").start();
    let found = lp.tool("references", &twice());
    found
        .says("partial · fake (it knows a part of the files, and 4 other files have the word `twice`) · 3 references in 3 files")
        .contains("not among it: m0.py, m1.py, m2.py, …");
    let refused = lp.tool("rename", &renamed(&twice()));
    refused.fails("refused").contains("allow_partial").contains("not among it: m0.py");
    let mut part = renamed(&twice());
    part["allow_partial"] = json!(true);
    lp.tool("rename", &part).verdict_is("partial").contains("3 places in 3 files").contains("not among it: m0.py");
    lp.tool("calls", &twice()).verdict_is("partial").contains("· 2 callers");
    let (mut open, mut most) = (0_i32, 0);
    for method in lp.log().methods() {
        open += i32::from(method == "textDocument/didOpen") - i32::from(method == "textDocument/didClose");
        most = most.max(open);
    }
    assert_eq!(most, 3, "open at once");
    // As many as may be open are not too many.
    (0..4).for_each(|n| ws.remove(&format!("m{n}.py")));
    lp.tool("references", &twice()).says("fresh · fake · 3 references in 3 files");
}

fn lif_09_what_the_shell_changes_is_found() {
    let ws = Workspace::new(SHOP);
    let lp = start(&ws, OPEN);
    let uses = |number: &str| {
        lp.tool("references", &twice()).verdict_is("fresh").contains(number);
    };
    uses("3 references in 3 files");
    ws.write("late.py", "twice(4)\n");
    uses("4 references in 4 files");
    ws.write("d.py", "notwice\ntwice(5)\n");
    uses("5 references in 5 files");
    ws.write("b.py", "def f()\n");
    uses("4 references in 4 files");
    ws.remove("late.py");
    uses("3 references in 3 files");
    ws.write(".gitignore", "built\n");
    ws.write("built/x.py", "twice(6)\n");
    uses("3 references in 3 files");
}

fn lif_09_what_is_on_the_same_list_is_not_opened() {
    let ws = Workspace::new(SHOP);
    ws.write("list.json", "{\"include\": [\"*.py\"]}");
    ws.write("deep/list.json", "{\"include\": [\".\"]}");
    ws.write("deep/e.py", "twice(3)\n");
    ws.write("away/f.py", "twice(4)\n");
    let lp = start(&ws, &format!("{OPEN}\nlists = [\"list.json\"]"));
    lp.tool("references", &twice()).verdict_is("fresh");
    let opened = || {
        let file = |open: &Value| {
            let uri = open["textDocument"]["uri"].as_str().unwrap().to_owned();
            uri.rsplit('/').next().unwrap().to_owned()
        };
        let mut opened: Vec<String> = lp.log().of("textDocument/didOpen").iter().map(file).collect();
        opened.sort_unstable();
        opened
    };
    assert_eq!(opened(), ["a.py", "c.py", "f.py"], "the asked one, one of each other list, and those of none");
    ws.write("list.json", "{\"files\": [\"a.py\"]}");
    lp.tool("references", &twice()).verdict_is("fresh");
    assert_eq!(opened(), ["a.py", "b.py", "c.py", "f.py"]);
}

fn lif_09_a_server_of_one_file() {
    let ws = Workspace::new(SHOP);
    ws.write("page.html", "<p class=\"only\">\n");
    ws.write("a.py", "def twice(n)\ndef only(n)\ndef none(n)\n");
    let lp = start(&ws, "knows = \"file\"\nalso = [\"html\"]\nlocal = [\"call_hierarchy\"]");
    lp.tool("references", &twice())
        .says(
            "partial · fake (it knows one file only, and 2 other files have the word `twice`) · 1 reference in 1 file",
        )
        .contains("not among it: b.py, deep/c.py");
    lp.tool("rename", &renamed(&twice())).fails("refused");
    lp.tool("calls", &twice()).verdict_is("fresh");
    lp.tool("references", &at("a.py", 2, "only")).verdict_is("partial").contains("not among it: page.html");
    lp.tool("references", &at("a.py", 3, "none")).says("fresh · fake · 1 reference in 1 file");
    lp.tool("rename", &renamed(&at("a.py", 3, "none"))).verdict_is("fresh").contains("1 place in 1 file");
    assert_eq!(lp.log().count("textDocument/didOpen"), 1);
}

fn lif_09_what_need_not_be_named() {
    let ws = Workspace::new("//- a.py\ndef twice(n) # unnamed\ndef plain(n)\n//- b.py\nother\n//- c.py\nmore\n");
    let lp = builder(&ws, Script::new(), &format!("{OPEN}\nnameless = 'unnamed'")).config("documents = 2").start();
    lp.tool("references", &at("a.py", 2, "plain")).verdict_is("fresh");
    assert_eq!(lp.log().count("textDocument/didOpen"), 1);
    lp.tool("references", &twice())
        .says("partial · fake (it knows a part of the files, and 1 other file may hold a use) · 1 reference in 1 file");
    assert_eq!(lp.log().count("textDocument/didOpen"), 2);
}

fn lif_09_callers_of_callers() {
    let ws = Workspace::new(SHOP);
    ws.write("h.py", "def h()\n  f(1)\n");
    ws.write("i.py", "def i()\n  h(1)\n");
    let lp = start(&ws, OPEN);
    let callers = |depth: u32| {
        let mut arguments = twice();
        arguments["depth"] = json!(depth);
        lp.tool("calls", &arguments)
    };
    callers(1).says("fresh · fake · 2 callers").lacks("h.py");
    callers(2).says("fresh · fake · 3 callers").contains("h.py");
    callers(4).says("fresh · fake · 4 callers").contains("i.py");
}

fn edt_01_a_rename_that_leaves_out_references_is_refused() {
    let ws = Workspace::new(SHOP);
    let range = json!({"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}});
    let edit = json!({"changes": {ws.uri("a.py"): [{"range": range, "newText": "double"}]}});
    let lp = builder(&ws, Script::new().on("textDocument/rename", [Act::Reply(edit)]), OPEN).start();
    let refused = lp.tool("rename", &renamed(&twice()));
    refused.fails("refused").contains("it does not rename all that it refers to").contains("b.py, deep/c.py");
    ws.remove("b.py");
    ws.remove("deep/c.py");
    lp.tool("rename", &renamed(&twice())).verdict_is("fresh").contains("1 place in 1 file");
}

fn edt_01_what_a_server_overlooks() {
    let ws = Workspace::new(SHOP);
    let only = json!([{"uri": ws.uri("a.py"), "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}}}]);
    let script = Script::new().on("textDocument/references", [Act::Reply(only)]);
    // The server says that the others have no use of this: its word counts, and what is odd is told.
    let lp = builder(&ws, script.clone(), OPEN).start();
    lp.tool("references", &twice())
        .says("fresh · fake · 1 reference in 1 file")
        .contains("`twice` also stands in 2 files where it sees no use of this: b.py, deep/c.py");
    drop(lp);
    let lp = builder(&ws, script, &format!("{OPEN}\noverlooks = '^def '")).start();
    lp.tool("references", &twice()).verdict_is("partial").contains("it overlooks some uses");
}

fn edt_01_a_search_that_is_cut_short() {
    let ws = Workspace::new(SHOP);
    // Larger than what is read.
    std::fs::File::create(ws.path("large.py")).unwrap().set_len(33 << 20).unwrap();
    let lp = start(&ws, OPEN);
    lp.tool("references", &twice()).verdict_is("partial").contains("could not all be searched");
    lp.tool("rename", &renamed(&twice())).fails("refused");
    ws.remove("large.py");
    lp.tool("rename", &renamed(&twice())).verdict_is("fresh");
}

fn edt_01_a_move_says_what_it_may_miss() {
    let ws = Workspace::new("//- lib.py\ntwice\n//- b.py\nimport lib\n//- c.py\nimport lib\n");
    let filter = json!({"filters": [{"pattern": {"glob": "**/*.py"}}]});
    let script = Script::new()
        .capability("workspace", json!({"fileOperations": {"willRename": filter}}))
        .on("workspace/willRenameFiles", [Act::Reply(Value::Null)]);
    let lp = builder(&ws, script, OPEN).config("documents = 2").start();
    let planned = lp.tool("move_file", &json!({"from": "lib.py", "to": "new.py"}));
    planned.verdict_is("partial").contains("not among it: c.py");
    assert_eq!(lp.log().count("textDocument/didOpen"), 2);
}
