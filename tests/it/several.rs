//! Several servers for one file or one change: who is asked, in which order, and what becomes of their answers.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Answer, Definition, Langport, Workspace},
};

trials![
    rou_04_planners_ask_the_first_able_server,
    rou_04_actions_of_all_servers_stand_in_their_order,
    e11_an_action_is_taken_by_its_title,
    a_move_asks_everybody_who_wants_to_hear_of_it,
    a_move_of_a_folder_asks_the_servers_of_all_its_files,
    a_move_that_two_servers_contradict_is_refused,
    a_move_without_one_of_the_others_says_so,
    a_server_that_does_not_know_the_project_yet_stops_a_move,
];

fn apply(lp: &Langport, planned: &Answer) {
    lp.tool("apply", &json!({"plan": planned.plan()})).fine();
}

/// What one server writes into the asked document in the place of its first five characters.
fn writes(text: &str) -> Value {
    json!([{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}}, "newText": text}])
}

fn rou_04_planners_ask_the_first_able_server() {
    let named = |name: &str| {
        let edits = writes(name);
        let renamed = json!({"changes": {"$uri": edits}});
        let script = Script::new().on("textDocument/formatting", [Act::Reply(edits)]);
        Definition::new(name, script.on("textDocument/rename", [Act::Reply(renamed)]))
    };
    let unable = || {
        let none = Script::new().capability("renameProvider", Value::Null);
        Definition::new("unable", none.capability("documentFormattingProvider", Value::Null))
    };
    for order in [["alpha", "betas"], ["betas", "alpha"]] {
        let ws = Workspace::new("//- a.py\ntally = 1\n");
        let lp = Langport::builder(&ws).server(unable()).server(named(order[0])).server(named(order[1])).start();
        for _ in 0..3 {
            let formatted = lp.tool("format", &json!({"file_path": "a.py"}));
            formatted.contains(&format!("+{} = 1", order[0]));
            let at = json!({"file_path": "a.py", "line": 1, "column": 1, "new_name": "total"});
            let renamed = lp.tool("rename", &at);
            renamed.contains(&format!("+{} = 1", order[0]));
            for answer in [formatted, renamed] {
                assert!(answer.first().starts_with(&format!("fresh · {} · ", order[0])), "{answer}");
            }
        }
        let second = lp.log_of(order[1]);
        assert_eq!((second.count("textDocument/formatting"), second.count("textDocument/rename")), (0, 0));
    }
    // Of a file that has only linters the first of those that format does it.
    let ws = Workspace::new("//- a.py\ntally = 1\n");
    let linter = |name| named(name).key("role = \"linter\"");
    let lp = Langport::builder(&ws).server(linter("lint")).server(linter("later")).start();
    lp.tool("format", &json!({"file_path": "a.py"})).contains("fresh · lint · ").contains("+lint = 1");
}

fn offered(titles: &[(&str, &str)]) -> Script {
    let one = |(title, kind): &(&str, &str)| {
        let edit = json!({"changes": {"$uri": writes(&title.replace(' ', "_"))}});
        json!({"title": title, "kind": kind, "isPreferred": title.contains("best"), "edit": edit})
    };
    let all: Vec<Value> = titles.iter().map(one).collect();
    Script::new().on("textDocument/codeAction", [Act::Reply(json!(all))])
}

/// The titles of the listed actions, in order.
fn titles(answer: &Answer) -> Vec<String> {
    let title = |line: &str| Some(line.strip_prefix("  ")?.split("  ").nth(1)?.to_owned());
    answer.body().lines().filter_map(title).collect()
}

fn rou_04_actions_of_all_servers_stand_in_their_order() {
    let ws = Workspace::new("//- a.py\ntally = 1\n");
    let types = Definition::new("types", offered(&[("one", "quickfix"), ("two best", "quickfix")]));
    let lint = Definition::new("lint", offered(&[("three best", "quickfix"), ("four", "refactor")]));
    let lp = Langport::builder(&ws).server(types).server(lint.key("role = \"linter\"")).start();
    for _ in 0..3 {
        let listed = lp.tool("code_actions", &json!({"file_path": "a.py"}));
        listed.verdict_is("fresh").contains("types, lint").contains("4 actions");
        assert_eq!(titles(&listed), ["two best", "three best", "one", "four"], "{listed}");
        listed.contains("two best  [quickfix]  preferred  types").contains("four  [refactor]  lint");
    }
}

fn e11_an_action_is_taken_by_its_title() {
    let ws = Workspace::new("//- a.py\ntally = 1\n");
    let all = [("mend it", "quickfix"), ("twice", "quickfix"), ("twice", "refactor"), ("in\n two", "quickfix")];
    let types = Definition::new("types", offered(&all));
    let lint = Definition::new("lint", offered(&[("tidy up", "source.fixAll")]));
    let lp = Langport::builder(&ws).server(types).server(lint.key("role = \"linter\"")).start();
    let take = |title: &str, only: &str| {
        let mut arguments = json!({"file_path": "a.py", "action": title});
        if !only.is_empty() {
            arguments["only"] = json!(only);
        }
        lp.tool("code_actions", &arguments)
    };
    take("mend it", "").contains("+mend_it = 1").plan();
    take("in two", "").plan();
    let linted = take("tidy up", "");
    assert!(linted.contains("+tidy_up = 1").first().starts_with("fresh · lint · "), "{linted}");
    take("twice", "refactor").plan();
    let twice = take("twice", "");
    twice.fails("ambiguous").contains("2 actions of a.py are called so");
    // What is listed can be passed back.
    let id =
        twice.body().lines().find_map(|line| line.trim().strip_suffix("  twice  [refactor]  types").map(str::to_owned));
    lp.tool("code_actions", &json!({"action": id.unwrap()})).plan();
    let none = take("mend", "");
    none.fails("not_found").contains("it has 5 others").contains("mend it  [quickfix]");
    // Titles are only looked for where a file is named.
    lp.tool("code_actions", &json!({"action": "mend it"})).fails("expired");
    apply(&lp, &take("mend it", ""));
    assert_eq!(ws.read("a.py"), "mend_it = 1\n");
}

const MOVES: &str = "//- lib/tally.py\ndef tally(): pass\n//- use.py\nimport lib.tally; \"😀\"; x = lib.tally\n//- page.html\nlib.tally\n";

/// Hears of moved files that match; answers with this edit.
fn moving(glob: &str, edit: Value) -> Script {
    let filters = json!({"filters": [{"scheme": "file", "pattern": {"glob": glob}}]});
    let operations = json!({"fileOperations": {"willRename": filters}});
    Script::new().capability("workspace", operations).on("workspace/willRenameFiles", [Act::Reply(edit)])
}

fn replaces(file: &str, from: u32, to: u32, text: &str) -> Value {
    let at = |character: u32| json!({"line": 0, "character": character});
    json!({"changes": {format!("$root/{file}"): [{"range": {"start": at(from), "end": at(to)}, "newText": text}]}})
}

fn a_move_asks_everybody_who_wants_to_hear_of_it() {
    let ws = Workspace::new(MOVES);
    // In UTF-8 and UTF-16 the second place of the line is at another column.
    let first = Definition::new("first", moving("**/*.py", replaces("use.py", 7, 16, "core.sums")).encoding("utf-8"));
    let second = Definition::new("second", moving("**/*.py", replaces("use.py", 28, 37, "core.sums")));
    let pages = Definition::new("pages", moving("**/*.{py,html}", replaces("page.html", 0, 9, "core.sums")));
    let pages = pages.languages(&["html"]).key("refers_to = [\"python\"]");
    let deaf = Definition::new("deaf", moving("**/*.html", Value::Null)).languages(&["css"]);
    ws.write("a.css", "p {}\n");
    let lp = Langport::builder(&ws).server(first).server(second).server(pages).server(deaf).start();
    let planned = lp.tool("move_file", &json!({"from": "lib/tally.py", "to": "core/sums.py"}));
    planned.verdict_is("fresh").contains("first, second, pages").contains("3 places in 2 files");
    apply(&lp, &planned);
    assert_eq!(ws.read("use.py"), "import core.sums; \"😀\"; x = core.sums\n");
    assert_eq!(ws.read("page.html"), "core.sums\n");
    assert_eq!(ws.read("core/sums.py"), "def tally(): pass\n");
    assert_eq!(lp.log_of("deaf").starts(), 0, "nothing of its files refers to others");
    // It runs now, and does not want to hear of such files.
    lp.hover(&json!({"file_path": "a.css", "line": 1, "column": 1})).fine();
    let again = lp.tool("move_file", &json!({"from": "core/sums.py", "to": "sums.py"}));
    again.lacks("deaf");
    assert_eq!(lp.log_of("deaf").count("workspace/willRenameFiles"), 0);
}

fn a_move_of_a_folder_asks_the_servers_of_all_its_files() {
    let ws =
        Workspace::new("//- lib/a.py\nx\n//- lib/b.go\nx\n//- lib/c.txt\nx\n//- use.py\nlib.a\n//- use.go\nlib/b\n");
    let snake = Definition::new("snake", moving("**/*.py", replaces("use.py", 0, 3, "core")));
    let gopher = Definition::new("gopher", moving("**/*.go", replaces("use.go", 0, 3, "core"))).languages(&["go"]);
    let lp = Langport::builder(&ws).server(snake).server(gopher).start();
    let planned = lp.tool("move_file", &json!({"from": "lib", "to": "core"}));
    planned.verdict_is("fresh").contains("snake, gopher").contains("2 places in 2 files");
    for (name, file) in [("snake", "a.py"), ("gopher", "b.go")] {
        let told = &lp.log_of(name).of("workspace/willRenameFiles")[0];
        let (old, new) = (ws.uri(&format!("lib/{file}")), ws.uri(&format!("core/{file}")));
        assert_eq!(*told, json!({"files": [{"oldUri": old, "newUri": new}]}));
    }
    apply(&lp, &planned);
    assert_eq!((ws.read("use.py"), ws.read("use.go")), ("core.a\n".into(), "core/b\n".into()));
    assert!(ws.path("core/c.txt").exists() && !ws.path("lib").exists());
}

fn a_move_that_two_servers_contradict_is_refused() {
    let edits = [
        (replaces("use.py", 7, 16, "sums.core"), "conflict"),
        (replaces("use.py", 0, 9, "core.sums"), "conflict"),
        (json!({"documentChanges": [{"kind": "create", "uri": "$root/new.py"}]}), "refused"),
    ];
    for (other, code) in edits {
        let ws = Workspace::new(MOVES);
        let first = Definition::new("first", moving("**/*.py", replaces("use.py", 7, 16, "core.sums")));
        let second = Definition::new("second", moving("**/*.py", other));
        let lp = Langport::builder(&ws).server(first).server(second).start();
        let refused = lp.tool("move_file", &json!({"from": "lib/tally.py", "to": "core/sums.py"}));
        refused.fails(code).contains("second");
        if code == "conflict" {
            refused.contains("first and second want different things at use.py:1");
        }
        assert!(ws.path("lib/tally.py").exists());
    }
    // What both want alike is no contradiction.
    let ws = Workspace::new(MOVES);
    let both = |name| Definition::new(name, moving("**/*.py", replaces("use.py", 7, 16, "core.sums")));
    let lp = Langport::builder(&ws).server(both("first")).server(both("second")).start();
    let planned = lp.tool("move_file", &json!({"from": "lib/tally.py", "to": "core/sums.py"}));
    planned.verdict_is("fresh").contains("1 place in 1 file");
}

fn a_move_without_one_of_the_others_says_so() {
    let ws = Workspace::new(MOVES);
    let first = Definition::new("first", moving("**/*.py", replaces("use.py", 7, 16, "core.sums")));
    let failing = moving("**/*", Value::Null).on("workspace/willRenameFiles", [Act::Fail(-32603, "out of ink".into())]);
    let pages = Definition::new("pages", failing).languages(&["html"]).key("refers_to = [\"python\"]");
    let lp = Langport::builder(&ws).server(first).server(pages).start();
    let arguments = json!({"from": "lib/tally.py", "to": "core/sums.py"});
    let planned = lp.tool("move_file", &arguments);
    planned.verdict_is("partial").contains("what its files hold is left as it is: pages").plan();
    // Of the servers of the file itself none may be missing.
    let ws = Workspace::new(MOVES);
    let first = Definition::new("first", moving("**/*.py", replaces("use.py", 7, 16, "core.sums")));
    let failing = moving("**/*", Value::Null).on("workspace/willRenameFiles", [Act::Fail(-32603, "out of ink".into())]);
    let lp = Langport::builder(&ws).server(first).server(Definition::new("second", failing)).start();
    lp.tool("move_file", &arguments).fails("failed").contains("second");
}

fn a_server_that_does_not_know_the_project_yet_stops_a_move() {
    let ws = Workspace::new(MOVES);
    let begin = json!({"token": "t", "value": {"kind": "begin", "title": "Indexing"}});
    let loading = moving("**/*.py", Value::Null).on("initialized", [Act::Tell("$/progress".into(), begin)]);
    let pages = Definition::new("pages", loading).languages(&["html"]).key("refers_to = [\"python\"]");
    let pages = pages.table("[ready]\nprogress = \"Indexing\"\ntimeout_ms = 60000");
    let first = Definition::new("first", moving("**/*.py", replaces("use.py", 7, 16, "core.sums")));
    let lp = Langport::builder(&ws).server(first).server(pages).max_wait(6_000).start();
    let refused = lp.tool("move_file", &json!({"from": "lib/tally.py", "to": "core/sums.py"}));
    refused.fails("refused").contains("pages").contains("still loading");
}
