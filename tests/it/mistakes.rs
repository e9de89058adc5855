//! What people get wrong: settings, names of files. Each mistake is told with its place and with what was meant.

use serde_json::{Value, json};

use crate::{
    fake::script::Script,
    support::{Definition, Langport, Workspace, cli, eventually},
};

trials![
    a_faulty_configuration_is_named_by_the_refusal_to_write,
    a_binding_to_nothing_is_told_with_its_line_and_does_not_stop_the_start,
    a_flag_that_names_nothing_is_told_with_what_was_meant,
    a_language_that_nothing_knows_is_told,
    every_mistake_of_a_file_has_its_line,
    a_path_that_leads_nowhere_is_told_with_what_was_meant,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn fake() -> Definition {
    Definition::new("fake", Script::new())
}

fn a_faulty_configuration_is_named_by_the_refusal_to_write() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = Langport::builder(&ws).server(fake()).config("instances = 4\nmax_char = 900").start();
    let refused = lp.tool("apply", &json!({"plan": "p"}));
    refused.fails("read_only").contains("config.toml:2: `max_char` is not a setting: did you mean `max_chars`?");
    lp.tool("status", &json!({})).contains("config.toml:2: `max_char`");
    // Mended, it counts at once; faulty again, that is told again.
    let config = |text: &str| ws.write("../config/config.toml", text);
    let said = |what: &str| eventually(what, || lp.tool("apply", &json!({"plan": "p"})).has(what).then_some(()));
    config("instances = 4\nmax_chars = 900\n");
    let mended = || (!lp.tool("apply", &json!({"plan": "p"})).has("faulty")).then_some(());
    eventually("it may be written again", mended);
    config("\n\nmax_wait = 1\n");
    said("config.toml:3: `max_wait` is not a setting: did you mean `max_wait_ms`?");
}

fn a_binding_to_nothing_is_told_with_its_line_and_does_not_stop_the_start() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\npackage b\n");
    let gofer = || Definition::new("gofer", Script::new()).languages(&["go"]);
    let config = "max_chars = 4000\nbind = [\n  \"fake\",\n  \"gofr\",\n]";
    let lp = Langport::builder(&ws).server(fake()).server(gofer()).auto().config(config).start();
    lp.hover(&at("a.py")).verdict_is("fresh");
    // What was not named right does not serve, and nothing else does in its place.
    lp.hover(&at("b.go")).fails("unavailable").contains("`--bind gofer`");
    let told = lp.tool("status", &json!({}));
    told.contains("config.toml:4: `bind` no definition is called `gofr`: did you mean `gofer`?");
    assert!(lp.stderr().contains("config.toml:4: `bind`"), "{}", lp.stderr());
    drop(lp);
    let lp = Langport::builder(&ws).server(fake()).auto().config("bind = [\"nope\"]").start();
    let told = lp.tool("status", &json!({}));
    told.contains("config.toml:1: `bind` no definition is called `nope`; `langport list` shows all of them");
    drop(lp);
    // A flag goes before what is set.
    let lp = Langport::builder(&ws).server(fake()).auto().config("bind = [\"nope\"]").arg("--auto").start();
    lp.hover(&at("a.py")).verdict_is("fresh");
    lp.tool("status", &json!({})).lacks("nope");
    drop(lp);
    let lp = Langport::builder(&ws).server(fake()).auto().env("LANGPORT_LANGUAGES", "pyton,go").start();
    let told = lp.tool("status", &json!({}));
    told.contains("LANGPORT_LANGUAGES: no definition serves the language `pyton`: did you mean `python`?");
}

fn a_flag_that_names_nothing_is_told_with_what_was_meant() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    fake().write(&ws);
    for (args, said) in [
        (
            ["serve", "--bind", "pyrigth"],
            "langport: --bind: no definition is called `pyrigth`: did you mean `pyright`?\n",
        ),
        (
            ["serve", "--languages", "pyton"],
            "langport: --languages: no definition serves the language `pyton`: did you mean `python`?\n",
        ),
        (
            ["serve", "--capabilities", "hovr"],
            "langport: --capabilities: `hovr` is not a capability: did you mean `hover`?\n",
        ),
        (
            ["list", "--language", "pyton"],
            "langport: no definition serves the language `pyton`: did you mean `python`?\n",
        ),
        (["call", "status", "[]"], "it must be a JSON object"),
        (["call", "--root=/nowhere", "status"], "langport: cannot use /nowhere as a workspace root"),
    ] {
        let seen = cli::run(&ws, &args, "/usr/bin:/bin");
        assert_eq!(seen.code, Some(1), "{args:?}: {seen:?}");
        assert!(seen.err.contains(said), "{args:?}: {}", seen.err);
        assert!(seen.err.lines().count() == 1 && seen.err.chars().count() < 250, "{args:?}: {}", seen.err);
    }
    let usage = cli::run(&ws, &["serve", "--rot", "."], "/usr/bin:/bin");
    assert_eq!(usage.code, Some(2), "{usage:?}");
}

fn a_language_that_nothing_knows_is_told() {
    let ws = Workspace::new("//- a.py\nalpha\n//- x.inc\nalpha\n");
    let config = "[filetypes]\n\".inc\" = \"phyton\"\n\".one\" = \"python\"\n\".two\" = \"rowlang\"";
    // A language that only a definition knows is one.
    let own = Definition::new("own", Script::new()).languages(&[]).key("extensions = { \".row\" = \"rowlang\" }");
    let lp = Langport::builder(&ws).server(fake()).server(own).config(config).start();
    let told = lp.tool("status", &json!({}));
    told.contains(
        "config.toml:2: `filetypes` gives \".inc\" the language `phyton`, which nothing knows: did you mean `python`?",
    );
    told.lacks(".one").lacks(".two");
    drop(lp);
    let seen = cli::run(&ws, &["install", "--for", "."], "/nowhere");
    assert!(seen.err.contains("config.toml:2: `filetypes` gives"), "{}", seen.err);
}

fn every_mistake_of_a_file_has_its_line() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let doctor = || {
        let seen = cli::run(&ws, &["doctor", "."], "/nowhere");
        assert_eq!(seen.code, Some(1), "{seen:?}");
        seen.out
    };
    for (config, said) in [
        ("\nnice = 40", ":2: `nice` is 40, and has to be within 0 and 19"),
        ("\nnice = 400", ":2: `nice` "),
        ("\ninstances = -1", ":2: `instances` "),
        ("\nwatch_events = \"yes\"", ":2: `watch_events` "),
        ("\ncapabilities = [\n\"hover\",\n\"hovr\"]", ":4: `capabilities` cannot be `hovr`: did you mean `hover`?"),
        ("\nsandbox = \"bwrp\"", ":2: `sandbox` cannot be `bwrp`: did you mean `bwrap`?"),
        ("\nwithheld = [\n\"a\",\n\"[\"]", ":4: `withheld` has `[`, which is no glob: "),
        ("\n[filetypes]\n\".x\" = 3", ":3: `filetypes` at `.x` is "),
        ("\nbind = \"pyright\"", ":2: `bind` "),
        ("\nbind = [\"a\"", ":2: "),
        ("a = 1\na = 2", ":2: "),
        ("\n[permision]\nx = 1", ":2: `permision` is not a setting: did you mean `permission`?"),
    ] {
        ws.write("../config/config.toml", config);
        let out = doctor();
        let line = out.lines().find(|line| line.contains("config.toml"));
        let line = line.unwrap_or_else(|| panic!("{config:?}: {out}"));
        assert!(line.contains(&format!("config.toml{said}")), "{config:?}: {line}");
    }
    ws.write("../config/config.toml", "");
    let head = "name = \"x\"\ncommand = \"x\"\n";
    for (definition, said) in [
        (
            "languages = [\"pyton\"]",
            ":3: `languages` `pyton` is no language that files are known to be in: did you mean `python`?",
        ),
        ("languages = [\"python\"]\nlanguage = 1", ":4: unknown field `language`: did you mean `languages`?"),
        ("languages = [\"python\"]\nrole = \"lintr\"", ":4: unknown variant `lintr`: did you mean `linter`?"),
        (
            "languages = [\"python\"]\n[root]\nmode = \"neerest\"",
            ":5: unknown variant `neerest`: did you mean `nearest`?",
        ),
        ("languages = [\"python\"]\nlacks = [\"hovr\"]", ":4: "),
        ("languages = [\"python\"]\n[install]\nnpm = \"x\"", ":5: `install.npm` `x` is not pinned"),
        (
            "languages = [\"python\"]\ncapabilities = [\"hover\"]\nlacks = [\"hover\"]",
            ":5: `lacks` `hover` is among its `capabilities`",
        ),
    ] {
        ws.write("../config/servers.d/x.toml", &format!("{head}{definition}\n"));
        let out = doctor();
        let line = out.lines().find(|line| line.contains("x.toml"));
        let line = line.unwrap_or_else(|| panic!("{definition:?}: {out}"));
        assert!(line.contains(&format!("x.toml{said}")), "{definition:?}: {line}");
    }
}

fn a_path_that_leads_nowhere_is_told_with_what_was_meant() {
    let ws = Workspace::new(
        "//- src/cart.ts\nalpha\n//- src/checkout.ts\nalpha\n//- made/cart.ts\nalpha\n//- .gitignore\nmade/\n",
    );
    let lp = Langport::builder(&ws).server(fake().languages(&["typescript"])).start();
    let absolute = ws.path("src/cart.tsx").display().to_string();
    for given in ["src/cart.tsx", "src/crat.ts", "scr/cart.ts", "cart.ts", absolute.as_str()] {
        for tool in ["hover", "diagnostics", "symbols", "status"] {
            let mut arguments = json!({"file_path": given});
            if tool == "hover" {
                arguments = at(given);
            }
            let told = lp.tool(tool, &arguments);
            told.fails("not_found").contains(" does not exist · did you mean ").contains("\n  src/cart.ts");
            told.lacks(&ws.root().display().to_string()).lacks("made/");
        }
    }
    lp.tool("move_file", &json!({"from": "src/chekout.ts", "to": "src/x.ts"}))
        .fails("not_found")
        .contains("\n  src/checkout.ts");
    lp.hover(&at("nothing/like/it.rs")).says(
        "not_found · nothing/like/it.rs does not exist · give the path of an existing file, relative to the workspace",
    );
    lp.diagnostics("src").fails("invalid").contains("src is a folder").lacks(&ws.root().display().to_string());
}
