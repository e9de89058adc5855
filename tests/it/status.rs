//! What langport says of definitions and servers: short where nothing was asked, about one file or one definition on
//! request, and with what helps where one cannot serve.

use serde_json::{Value, json};

use crate::{
    fake::script::Script,
    support::{Definition, Langport, Workspace, cli},
};

trials![
    status_counts_what_was_never_asked,
    status_of_many_definitions_is_bounded,
    status_of_a_file_is_about_that_file,
    a_copy_of_a_definition_allows_what_is_untrusted,
    advice_is_not_called_a_command,
    an_unknown_ending_is_answered_with_the_setting_for_it,
    what_one_server_lacks_another_is_named_for,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn status_counts_what_was_never_asked() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new())).auto().start();
    let before = lp.tool("status", &json!({}));
    before.contains("not started: ").contains("fake").contains("untrusted: 3 (pyrefly, oxlint, eslint)");
    before.lacks("local/fake  ").lacks("defined in");
    assert!(before.text.chars().count() < 1_500, "{before}");
    lp.hover(&at("a.py")).verdict_is("fresh");
    let after = lp.tool("status", &json!({}));
    after.contains("local/fake  running").contains("1 running").lacks("builtin/pyright  ");
    let all = lp.tool("status", &json!({"server": "all"}));
    all.contains("local/fake  running").contains("builtin/pyrefly  untrusted");
    lp.tool("status", &json!({"server": "pyrefly"})).contains("langport show pyrefly --toml");
    lp.tool("status", &json!({"server": "fak"})).fails("not_found").contains("fake");
    lp.tool("status", &json!({"server": "all", "restart": true})).fails("invalid");
}

fn status_of_many_definitions_is_bounded() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let mut builder = Langport::builder(&ws).auto();
    for number in 0..120 {
        builder = builder.server(Definition::command(&format!("srv{number:03}"), "no-such-server-anywhere"));
    }
    let lp = builder.start();
    let told = lp.tool("status", &json!({}));
    told.contains("srv000").contains(" more)").lacks("srv119");
    assert!(told.text.chars().count() < 2_000, "{told}");
    let told = lp.tool("status", &json!({"file_path": "a.py"}));
    told.contains("a.py: language python").contains("more definitions speak it");
    assert!(told.text.chars().count() < 4_000, "{told}");
    let told = lp.tool("status", &json!({"server": "all"}));
    assert!(told.text.chars().count() <= 8_000 && told.cursor().is_some(), "{told}");
}

fn status_of_a_file_is_about_that_file() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\npackage b\n");
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", Script::new()))
        .server(Definition::new("gofer", Script::new()).languages(&["go"]))
        .server(
            Definition::command("missing", "no-such-server-anywhere").table("[install]\nnpm = \"missing-srv@1.0.0\""),
        )
        .auto()
        .env("PATH", "/usr/bin:/bin")
        .start();
    lp.hover(&at("b.go")).verdict_is("fresh");
    let told = lp.tool("status", &json!({"file_path": "a.py"}));
    told.contains("fake answers; root .").contains("local/fake  not started");
    told.contains("missing, pyright, ").contains("not installed; run `langport install missing pyright ");
    told.contains("pyrefly not asked: untrusted").contains("langport show pyrefly --toml");
    // Neither other languages nor those that were passed over have lines of their own.
    told.lacks("gofer").lacks("local/missing  ").lacks("builtin/");
    lp.hover(&at("a.py")).verdict_is("fresh");
    lp.tool("status", &json!({"file_path": "a.py"})).contains("local/fake  running").contains("pid: ").lacks("gofer");
}

fn a_copy_of_a_definition_allows_what_is_untrusted() {
    let ws = Workspace::new("//- a.vue\n<p/>\n");
    let path = cli::program(&ws, "oxlint", "exit 0");
    let list = |name: &str| {
        let seen = cli::run(&ws, &["list", "--language", "vue"], &path);
        assert_eq!(seen.code, Some(0), "{}", seen.err);
        let line = seen.out.lines().find(|line| line.starts_with(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("{name} is not in\n{}", seen.out)).to_owned()
    };
    assert!(list("builtin/oxlint").contains("untrusted: "), "{}", list("builtin/oxlint"));
    let copy = cli::run(&ws, &["show", "oxlint", "--toml"], &path).out;
    assert!(copy.contains("name = \"local/oxlint\"") && copy.contains("run = \"none\""), "{copy}");
    ws.write("../config/servers.d/oxlint.toml", &copy.replace("run = \"none\"\n", ""));
    assert!(list("local/oxlint").contains("bin/oxlint"), "{}", list("local/oxlint"));
}

fn advice_is_not_called_a_command() {
    let ws = Workspace::new("//- a.lua\nalpha\n");
    let advised = || {
        Definition::command("advised", "no-such-server-anywhere")
            .languages(&["lua"])
            .table("[install]\nhint = \"ask your vendor\"")
    };
    let lp = Langport::builder(&ws).server(advised()).start();
    lp.hover(&at("a.lua")).fails("unavailable").contains("its definition says: ask your vendor").lacks("run `");
    lp.tool("status", &json!({"file_path": "a.lua"})).contains("says: ask your vendor").lacks("run `");
    drop(lp);
    let path = "/nowhere";
    for (args, code) in [
        (vec!["list"], 0),
        (vec!["show", "advised"], 0),
        (vec!["install", "advised"], 1),
        (vec!["install", "--for", ".", "--yes"], 0),
        (vec!["try", "."], 1),
    ] {
        let seen = cli::run(&ws, &args, path);
        assert_eq!(seen.code, Some(code), "{args:?}: {seen:?}");
        let said = seen.out + &seen.err;
        let told = |line: &&str| line.contains("ask your vendor") && !line.starts_with("hint = ");
        let lines: Vec<&str> = said.lines().filter(told).collect();
        assert!(!lines.is_empty(), "{args:?}: {said}");
        assert!(lines.iter().all(|line| line.contains("its definition says: ask your vendor")), "{args:?}: {lines:?}");
    }
}

fn an_unknown_ending_is_answered_with_the_setting_for_it() {
    let ws = Workspace::new("//- a.zzz\nalpha\n//- Oddfile\nalpha\n");
    let definition = || Definition::new("fake", Script::new());
    let lp = Langport::builder(&ws).server(definition()).start();
    let told = lp.hover(&at("a.zzz"));
    told.fails("unavailable").contains("`filetypes` in config.toml").contains("{ \".zzz\" = \"python\" }");
    assert!(told.text.chars().count() < 400, "{told}");
    lp.hover(&at("Oddfile")).fails("unavailable").contains("{ \"Oddfile\" = \"python\" }");
    lp.tool("status", &json!({"file_path": "a.zzz"})).contains("`filetypes` in config.toml");
    drop(lp);
    // What it names is what helps.
    let set = "filetypes = { \".zzz\" = \"python\", \"Oddfile\" = \"python\" }";
    let lp = Langport::builder(&ws).server(definition()).config(set).start();
    lp.hover(&at("a.zzz")).verdict_is("fresh");
    lp.hover(&at("Oddfile")).verdict_is("fresh");
}

fn what_one_server_lacks_another_is_named_for() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\nbeta\n");
    let lp = Langport::builder(&ws)
        .server(Definition::new("fake", Script::new()).key("capabilities = [\"hover\"]"))
        .server(Definition::new("poor", Script::new()).key("lacks = [\"type_hierarchy\"]"))
        .server(Definition::new("rich", Script::new()))
        .server(Definition::new("alone", Script::new()).languages(&["go"]).key("capabilities = [\"hover\"]"))
        .auto()
        .start();
    let told = lp.tool("types", &at("a.py"));
    told.fails("unsupported").contains("fake: it has no type_hierarchy").contains("rich or ty has it");
    told.contains("`--bind rich`").lacks("poor").lacks("pyright");
    lp.tool("calls", &at("a.py")).fails("unsupported").contains("poor");
}
