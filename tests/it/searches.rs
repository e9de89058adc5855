//! Searches of the project by servers that know the files that they were told of and no others: symbols of the rest are
//! found all the same, or the answer says that it is a part. The fake reads nothing from the disk here.

use serde_json::json;

use crate::{
    fake::script::{Act, Script},
    support::{Answer, Definition, Langport, Workspace, langport::Builder},
};

trials![
    lif_09_symbols_of_closed_files_are_found,
    lif_09_a_search_of_more_files_than_may_be_open_is_a_part,
    lif_09_a_name_alone_leads_into_a_closed_file,
    lif_09_a_name_alone_that_was_not_looked_for_everywhere,
    lif_09_a_search_opens_one_file_of_each_list,
    lif_09_a_search_by_a_server_of_one_file,
    lif_09_a_search_for_no_word,
    lif_09_a_search_of_what_cannot_be_told,
    lif_09_a_search_by_a_command,
    lif_09_a_search_of_files_that_only_the_definition_names,
];

/// Three files declare something with `twice`, one mentions none of it.
const SHOP: &str = "//- a.py\ndef other(n)\n//- b.py\ndef notTwice(n)\ndef twice(n)\n//- deep/c.py\n\ndef twiceMore(n)\n//- d.py\ndef once(n)\n";

fn builder<'w>(ws: &'w Workspace, reach: &str) -> Builder<'w> {
    let script = Script { unread: true, ..Script::new() };
    Langport::builder(ws).server(Definition::new("fake", script).table(&format!("[reach]\n{reach}")))
}

fn start(ws: &Workspace) -> Langport {
    builder(ws, "knows = \"open\"").start()
}

fn search(lp: &Langport, query: &str) -> Answer {
    lp.tool("workspace_symbols", &json!({"query": query}))
}

fn opened(lp: &Langport) -> Vec<String> {
    let name = |open: &serde_json::Value| {
        let uri = open["textDocument"]["uri"].as_str().unwrap().to_owned();
        uri.rsplit('/').next().unwrap().to_owned()
    };
    let mut opened: Vec<String> = lp.log().of("textDocument/didOpen").iter().map(name).collect();
    opened.sort_unstable();
    opened
}

fn lif_09_symbols_of_closed_files_are_found() {
    let ws = Workspace::new(SHOP);
    let lp = start(&ws);
    search(&lp, "twice").says("fresh · fake · 2 symbols").contains("b.py:2:5").contains("deep/c.py:2:5");
    assert_eq!(opened(&lp), ["a.py", "b.py", "c.py"], "the one that stands for the project, and those with the word");
    search(&lp, "ceMo").says("fresh · fake · 1 symbol");
    search(&lp, "Twice").says("fresh · fake · 1 symbol").contains("b.py:1:5");
    search(&lp, "shop::once").verdict_is("fresh");
    assert_eq!(opened(&lp), ["a.py", "b.py", "c.py", "d.py"]);
    // What the shell changes between two searches.
    ws.write("late.py", "def twiceLate(n)\n");
    ws.write("d.py", "def once(n)\ndef twiceAgain(n)\n");
    search(&lp, "twice").says("fresh · fake · 4 symbols").contains("late.py:1:5").contains("d.py:2:5");
    ws.remove("late.py");
    ws.write("b.py", "def thrice(n)\n");
    search(&lp, "twice").says("fresh · fake · 2 symbols").lacks("late.py").lacks("b.py");
    search(&lp, "nowhere").says("fresh · fake · no symbols found");
}

fn lif_09_a_search_of_more_files_than_may_be_open_is_a_part() {
    let ws = Workspace::new(SHOP);
    (0..4).for_each(|n| ws.write(&format!("m{n}.py"), &format!("def twice{n}(n)\n")));
    let lp = builder(&ws, "knows = \"open\"").config("documents = 3").start();
    search(&lp, "twice")
        .says("partial · fake (it knows a part of the files, and 4 other files have `twice` in them) · 2 symbols")
        .contains("not among it: m0.py, m1.py, m2.py, …");
    search(&lp, "Twice3").says("fresh · fake · no symbols found");
    search(&lp, "twice3").says("fresh · fake · 1 symbol").contains("m3.py:1:5");
    (0..4).for_each(|n| ws.remove(&format!("m{n}.py")));
    search(&lp, "twice").says("fresh · fake · 2 symbols");
    // Larger than what is read.
    std::fs::File::create(ws.path("large.py")).unwrap().set_len(33 << 20).unwrap();
    search(&lp, "twice").verdict_is("partial").contains("could not all be searched").contains("2 symbols");
}

fn lif_09_a_name_alone_leads_into_a_closed_file() {
    let ws = Workspace::new(SHOP);
    let lp = start(&ws);
    lp.hover(&json!({"symbol": "twiceMore"})).verdict_is("fresh").contains("WORD twiceMore");
    lp.tool("references", &json!({"symbol": "twice"}))
        .says("fresh · fake · 1 reference in 1 file")
        .contains("2:5 definition");
    ws.write("e.py", "def twice(n)\n");
    lp.hover(&json!({"symbol": "twice"})).fails("ambiguous").contains("b.py").contains("e.py");
    lp.hover(&json!({"symbol": "nowhere"})).fails("not_found");
}

fn lif_09_a_name_alone_that_was_not_looked_for_everywhere() {
    let ws = Workspace::new(SHOP);
    (0..4).for_each(|n| ws.write(&format!("m{n}.py"), "twice(1)\n"));
    let lp = builder(&ws, "knows = \"open\"").config("documents = 2").start();
    lp.hover(&json!({"symbol": "twice"}))
        .contains("WORD twice")
        .contains("may be others of that name")
        .contains("m0.py");
    ws.write("b.py", "def notTwice(n)\ntwice(1)\n");
    lp.hover(&json!({"symbol": "twice"})).fails("failed").contains("did not reach everything").contains("m0.py");
}

fn lif_09_a_search_opens_one_file_of_each_list() {
    let ws = Workspace::new(SHOP);
    ws.write("list.json", "{\"include\": [\"*.py\"]}");
    ws.write("deep/list.json", "{\"include\": [\".\"]}");
    ws.write("deep/e.py", "def twice(n)\n");
    ws.write("away/f.py", "def twice(n)\n");
    let lp = builder(&ws, "knows = \"open\"\nlists = [\"list.json\"]").start();
    search(&lp, "twice").verdict_is("fresh");
    let first = ["a.py", "c.py", "f.py"];
    assert_eq!(opened(&lp), first, "of each list one, and those of none");
    drop(lp);
    // What stands for the project cannot be told: nothing is known with it.
    ws.write("0.py", "\0");
    let lp = builder(&ws, "knows = \"open\"\nlists = [\"list.json\"]").start();
    search(&lp, "twice").verdict_is("fresh").contains("b.py:2:5");
    assert_eq!(opened(&lp), ["a.py", "b.py", "c.py", "c.py", "f.py", "f.py"], "by both");
}

fn lif_09_a_search_by_a_server_of_one_file() {
    let ws = Workspace::new(SHOP);
    ws.write("page.html", "<p class=\"twice\">\n");
    let lp = builder(&ws, "knows = \"file\"\nalso = [\"html\"]").start();
    search(&lp, "twice")
        .says("partial · fake (it knows one file only, and 2 other files have `twice` in them) · no symbols found")
        .contains("not among it: b.py, deep/c.py");
    search(&lp, "other").says("fresh · fake · 1 symbol");
}

/// Any file may hold a symbol that no word leads to.
fn lif_09_a_search_for_no_word() {
    let ws = Workspace::new(SHOP);
    let lp = builder(&ws, "knows = \"open\"").config("documents = 2").start();
    search(&lp, "+").verdict_is("partial").contains("2 other files may hold some");
    drop(lp);
    let ws = Workspace::new(SHOP);
    let lp = start(&ws);
    search(&lp, "+").says("fresh · fake · no symbols found");
    assert_eq!(opened(&lp), ["a.py", "b.py", "c.py", "d.py"]);
}

fn lif_09_a_search_of_what_cannot_be_told() {
    let ws = Workspace::new(SHOP);
    ws.write("binary.py", "def twiceMore(n)\n\0");
    let lp = start(&ws);
    search(&lp, "twice").verdict_is("partial").contains("2 symbols").contains("not among it: binary.py");
}

fn lif_09_a_search_by_a_command() {
    let ws = Workspace::new(SHOP);
    let place = |line: u32, offset: u32| json!({"line": line, "offset": offset});
    let (start, end) = (place(2, 5), place(2, 10));
    let hit = json!({"name": "twice", "kind": "function", "file": ws.path("b.py"), "start": start, "end": end});
    let table = "[reach]\nknows = \"open\"\nsearch = { command = \"look\", arguments = [{ value = \"${query}\" }] }";
    let run = |answer: serde_json::Value| {
        let script = Script { unread: true, ..Script::new() }.on("workspace/executeCommand", [Act::Reply(answer)]);
        Langport::builder(&ws).server(Definition::new("fake", script).table(table)).start()
    };
    let lp = run(json!({"body": [hit]}));
    search(&lp, "twice").says("fresh · fake · 1 symbol").contains("b.py:2:5  function twice");
    let asked = lp.log().of("workspace/executeCommand");
    assert_eq!(asked[0], json!({"command": "look", "arguments": [{"value": "twice"}]}));
    assert_eq!(lp.log().count("workspace/symbol"), 0);
    drop(lp);
    // One that does not know the command.
    let lp = run(json!({"success": false}));
    search(&lp, "twice").says("partial · fake (it may have searched one of several projects) · 2 symbols");
}

fn lif_09_a_search_of_files_that_only_the_definition_names() {
    let ws = Workspace::new(SHOP);
    ws.write("x.own", "def twiceOwn(n)\n");
    let script = Script { unread: true, ..Script::new() };
    let server =
        Definition::new("fake", script).table("[extensions]\n\".own\" = \"python\"\n[reach]\nknows = \"open\"");
    let lp = Langport::builder(&ws).server(server).start();
    search(&lp, "twice").says("fresh · fake · 3 symbols").contains("x.own:1:5");
}
