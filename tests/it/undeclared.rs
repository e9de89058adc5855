//! Code actions of servers that know the files that they were told of and no others: what mends a name that is not known
//! lies in files that nobody has opened. The fake reads nothing from the disk here.

use serde_json::{Value, json};

use crate::{
    fake::script::Script,
    support::{Answer, Definition, Langport, Workspace, langport::Builder},
};

trials![
    edt_07_what_declares_a_name_is_opened,
    edt_07_an_action_on_a_closed_file_is_taken_by_its_title,
    edt_07_x21_a_stale_action_on_a_closed_file_is_refused,
    edt_07_more_files_than_may_be_open_are_a_part,
    edt_07_what_does_not_concern_opens_nothing,
    edt_07_what_is_listed_is_known,
    edt_07_other_projects_lend_no_names,
    edt_07_names_for_a_server_of_one_file,
    edt_07_a_file_that_goes_by_the_name,
    edt_07_a_search_for_names_that_is_cut_short,
];

const OPEN: &str = "knows = \"open\"\nundeclared = [\"U1\"]";

/// One that declares what is wanted, one that uses it, and one that is of no interest.
const SHOP: &str = "//- a.py\nfirst\nlog(WANTS helper)\nlast\n//- deep/lib.py\ndef helper(n)\n//- use.py\nhelper(1)\n//- d.py\ndef helpers(n)\n";

fn builder<'w>(ws: &'w Workspace, script: Script, reach: &str) -> Builder<'w> {
    let script = Script { unread: true, ..script };
    Langport::builder(ws).server(Definition::new("fake", script).table(&format!("[reach]\n{reach}")))
}

fn start(ws: &Workspace, reach: &str) -> Langport {
    builder(ws, Script::new().pull(), reach).start()
}

fn actions(lp: &Langport, mut arguments: Value) -> Answer {
    arguments["file_path"] = json!("a.py");
    lp.tool("code_actions", &arguments)
}

/// Says how many actions there are, all known.
#[track_caller]
fn offers(answer: &Answer, number: usize) -> &Answer {
    let counted = if number == 1 { "· 1 action;".to_owned() } else { format!("· {number} actions;") };
    answer.verdict_is("fresh").contains(if number == 0 { "· no actions there" } else { &counted })
}

fn ids(answer: &Answer) -> Vec<String> {
    answer.body().lines().filter_map(|line| Some(line.strip_prefix("  ")?.split("  ").next()?.to_owned())).collect()
}

fn opened(lp: &Langport) -> Vec<String> {
    let name = |open: &Value| {
        let uri = open["textDocument"]["uri"].as_str().unwrap().to_owned();
        uri.rsplit('/').next().unwrap().to_owned()
    };
    let mut opened: Vec<String> = lp.log().of("textDocument/didOpen").iter().map(name).collect();
    opened.sort_unstable();
    opened
}

fn edt_07_what_declares_a_name_is_opened() {
    for pull in [true, false] {
        let ws = Workspace::new(SHOP);
        let before = ws.read("a.py");
        let lp = builder(&ws, if pull { Script::new().pull() } else { Script::new() }, OPEN).start();
        let at = json!({"start_line": 2, "start_column": 13, "end_line": 2, "end_column": 13});
        for range in [at, json!({"start_line": 2}), json!({}), json!({"only": "quickfix"})] {
            offers(&actions(&lp, range), 1).contains("import helper from lib.py  [quickfix]");
        }
        assert_eq!(opened(&lp), ["a.py", "lib.py", "use.py"], "the asked one, and those that have the word");
        // The problem goes back as it came, and is about the text that is asked about.
        let problem = &lp.log().of("textDocument/codeAction")[0]["context"]["diagnostics"][0];
        assert_eq!(problem["data"]["wanted"], "helper");
        assert_eq!(problem["code"], "U1");
        let listed = actions(&lp, json!({}));
        let planned = actions(&lp, json!({"action": ids(&listed)[0]}));
        planned.verdict_is("fresh").contains("+from lib.py import helper");
        lp.tool("apply", &json!({"plan": planned.plan()})).fine().contains("gone: error: helper is not known");
        assert_eq!(ws.read("a.py"), format!("from lib.py import helper\n{before}"));
        offers(&actions(&lp, json!({})), 0);
        lp.tool("apply", &json!({"undo": planned.plan()})).fine();
        assert_eq!(ws.read("a.py"), before);
        // What the shell writes between two questions.
        ws.write("late.py", "def helper(n)\n");
        offers(&actions(&lp, json!({})), 2).contains("import helper from late.py");
    }
}

fn edt_07_an_action_on_a_closed_file_is_taken_by_its_title() {
    let ws = Workspace::new(SHOP);
    let lp = start(&ws, OPEN);
    let planned = actions(&lp, json!({"action": "import helper from lib.py"}));
    planned.verdict_is("fresh").contains("+from lib.py import helper");
    drop(lp);
    // With room for three, another question closes what the action needs: it is opened again when it is taken.
    let lp = builder(&ws, Script::new().pull(), OPEN).config("documents = 3").start();
    let listed = ids(&actions(&lp, json!({})));
    for file in ["d.py", "deep/lib.py", "use.py", "d.py"] {
        lp.tool("symbols", &json!({"file_path": file})).fine();
    }
    actions(&lp, json!({"action": listed[0]})).verdict_is("fresh").contains("+from lib.py import helper");
}

fn edt_07_x21_a_stale_action_on_a_closed_file_is_refused() {
    let ws = Workspace::new(SHOP);
    let lp = start(&ws, OPEN);
    let listed = ids(&actions(&lp, json!({})));
    ws.write("deep/lib.py", "def other(n)\n");
    actions(&lp, json!({"action": listed[0]})).fails("expired").contains("no longer offers");
    offers(&actions(&lp, json!({})), 0);
    ws.write("deep/lib.py", "# moved\ndef helper(n)\n");
    actions(&lp, json!({"action": listed[0]})).verdict_is("fresh");
    ws.write("a.py", "log(WANTS helper)\n");
    actions(&lp, json!({"action": listed[0]})).fails("expired").contains("a.py has changed");
}

fn edt_07_more_files_than_may_be_open_are_a_part() {
    let ws = Workspace::new(SHOP);
    (0..40).for_each(|n| ws.write(&format!("m{n:02}.py"), "helper(3)\n"));
    let lp = builder(&ws, Script::new().pull(), OPEN).config("documents = 3").start();
    let listed = actions(&lp, json!({}));
    listed
        .verdict_is("partial")
        .contains("fake (it knows a part of the files, and 40 other files have the word `helper`) · 1 action;")
        .contains("not looked at: m01.py, m02.py, m03.py, …");
    let taken = actions(&lp, json!({"action": ids(&listed)[0]}));
    taken.verdict_is("partial").contains("+from lib.py import helper").contains("not looked at: m01.py");
    let (mut open, mut most) = (0_i32, 0);
    for method in lp.log().methods() {
        open += i32::from(method == "textDocument/didOpen") - i32::from(method == "textDocument/didClose");
        most = most.max(open);
    }
    assert_eq!(most, 3, "open at once");
    lp.tool("apply", &json!({"plan": taken.plan()})).fine();
    // Two names, of which the files have one or the other.
    ws.write("a.py", "WANTS helper, WANTS more\n");
    actions(&lp, json!({})).verdict_is("partial").contains("40 other files have names that it does not know");
}

fn edt_07_what_does_not_concern_opens_nothing() {
    let only_asked = |lp: &Langport| assert_eq!(opened(lp), ["a.py"]);
    let ws = Workspace::new(SHOP);
    let lp = start(&ws, OPEN);
    offers(&actions(&lp, json!({"start_line": 1})), 0);
    actions(&lp, json!({"only": ["refactor.extract", "source.organizeImports"]})).verdict_is("fresh");
    only_asked(&lp);
    // What mends the whole file does so wherever it is asked for.
    actions(&lp, json!({"start_line": 1, "only": "source.fixAll"})).verdict_is("fresh");
    assert_eq!(opened(&lp), ["a.py", "lib.py", "use.py"]);
    drop(lp);
    // One that knows its project.
    let ws = Workspace::new(SHOP);
    let lp = start(&ws, "");
    offers(&actions(&lp, json!({})), 0);
    only_asked(&lp);
    drop(lp);
    // Problems of another kind.
    let ws = Workspace::new(SHOP);
    ws.write("a.py", "helper ERR\n");
    let lp = start(&ws, OPEN);
    offers(&actions(&lp, json!({})), 1);
    only_asked(&lp);
    drop(lp);
    // A definition that does not say which problems are about names.
    let ws = Workspace::new(SHOP);
    let lp = start(&ws, "knows = \"open\"");
    actions(&lp, json!({})).verdict_is("fresh");
    assert_eq!(opened(&lp), ["a.py", "lib.py", "use.py"]);
}

fn edt_07_what_is_listed_is_known() {
    let ws = Workspace::new(SHOP);
    ws.write("list.json", "{\"include\": [\".\"]}");
    let lp = start(&ws, &format!("{OPEN}\nlists = [\"list.json\"]"));
    offers(&actions(&lp, json!({})), 0);
    assert_eq!(opened(&lp), ["a.py"]);
    ws.write("list.json", "{\"include\": [\"other\"]}");
    offers(&actions(&lp, json!({})), 1);
}

fn edt_07_other_projects_lend_no_names() {
    let ws = Workspace::new(SHOP);
    ws.write("deep/list.json", "{\"include\": [\".\"]}");
    let lp = start(&ws, &format!("{OPEN}\nlists = [\"list.json\"]"));
    actions(&lp, json!({}))
        .says(
            "partial · fake (it knows a part of the files, and 1 other file has the word `helper`) · no actions so far",
        )
        .contains("not looked at: deep/lib.py");
    assert_eq!(opened(&lp), ["a.py", "use.py"]);
}

fn edt_07_names_for_a_server_of_one_file() {
    let ws = Workspace::new(SHOP);
    ws.write("page.html", "helper\n");
    let lp = start(&ws, "knows = \"file\"\nalso = [\"html\"]");
    actions(&lp, json!({}))
        .says("partial · fake (it knows one file only, and 3 other files have the word `helper`) · no actions so far")
        .contains("not looked at: deep/lib.py, page.html, use.py");
    assert_eq!(opened(&lp), ["a.py"]);
    drop(lp);
    let ws = Workspace::new(SHOP);
    let lp = start(&ws, "knows = \"file\"\nlocal = [\"code_actions\"]");
    offers(&actions(&lp, json!({})), 0);
    assert_eq!(opened(&lp), ["a.py"]);
}

/// What is exported without a name is called after its file.
fn edt_07_a_file_that_goes_by_the_name() {
    let ws = Workspace::new("//- a.py\nWANTS myHelper\n//- my-helper.py\ndefault\n//- d.py\nother\n");
    let lp = start(&ws, OPEN);
    actions(&lp, json!({})).verdict_is("fresh");
    assert_eq!(opened(&lp), ["a.py", "my-helper.py"]);
}

fn edt_07_a_search_for_names_that_is_cut_short() {
    let ws = Workspace::new(SHOP);
    // Larger than what is read.
    std::fs::File::create(ws.path("large.py")).unwrap().set_len(33 << 20).unwrap();
    let lp = start(&ws, OPEN);
    actions(&lp, json!({})).verdict_is("partial").contains("could not all be searched").contains("1 action;");
    ws.remove("large.py");
    offers(&actions(&lp, json!({})), 1);
}
