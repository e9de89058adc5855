//! Definitions, settings and installations that change while langport runs.

use std::fs;

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script, register},
    support::{Answer, Definition, Era, Langport, Workspace, eventually, procs},
};

trials![
    x27_only_what_has_changed_is_started_anew,
    x27_a_faulty_file_keeps_what_was_there,
    x27_settings_are_read_anew,
    x27_an_installation_takes_over,
    b13_a_call_in_flight_ends_well,
    rou_06_what_is_added_is_found_by_the_next_call,
    rou_06_a_language_that_comes_later_is_served,
    a5_6_another_list_of_tools_is_told_in_both_eras,
    a5_6_what_is_registered_late_is_told,
    a_call_changes_no_list,
];

const CHANGED: &str = "notifications/tools/list_changed";

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn status(lp: &Langport) -> Answer {
    lp.tool("status", &json!({"server": "local/fake"}))
}

fn fake() -> Definition {
    Definition::new("fake", Script::new())
}

fn x27_only_what_has_changed_is_started_anew() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\nbeta\n");
    let other = Definition::new("other", Script::new()).languages(&["go"]);
    let lp = Langport::builder(&ws).server(fake()).server(other).start();
    lp.hover(&at("a.py")).fine();
    lp.hover(&at("b.go")).fine();
    // Written again with the same content, and with what no process needs to know of.
    fake().write(&ws);
    lp.hover(&at("a.py")).fine();
    status(&lp).lacks("read anew");
    fake().key("description = \"another text\"").write(&ws);
    lp.hover(&at("a.py")).fine();
    status(&lp).contains("read anew once");
    assert_eq!((lp.log_of("fake").starts(), lp.log_of("other").starts()), (1, 1));
    // What the server is told at its start.
    fake().table("[initialization]\nmode = \"new\"").write(&ws);
    lp.hover(&at("a.py")).fine().contains("WORD alpha");
    lp.hover(&at("b.go")).fine();
    assert_eq!((lp.log_of("fake").starts(), lp.log_of("other").starts()), (2, 1));
    assert_eq!(lp.log_of("fake").of("initialize")[1]["initializationOptions"], json!({"mode": "new"}));
    let old = lp.log_of("fake").pids()[0];
    eventually("the end of the old one", || (!procs::alive(old)).then_some(()));
    assert_eq!(lp.log_of("fake").count("shutdown"), 1, "it was asked to go");
}

fn x27_a_faulty_file_keeps_what_was_there() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = Langport::builder(&ws).server(fake()).start();
    lp.hover(&at("a.py")).fine();
    let [definition, settings] = ["servers.d/fake.toml", "config.toml"].map(|name| ws.home().join("config").join(name));
    fs::write(&definition, "name = \"local/fake\"\ncommand = [\n").unwrap();
    fs::write(&settings, "instances = \"many\"\n").unwrap();
    lp.hover(&at("a.py")).fine().contains("WORD alpha");
    let told = status(&lp);
    told.contains("fake.toml:2").contains("`local/fake` stays as it was").contains("config.toml").contains("instances");
    assert_eq!(lp.log().starts(), 1);
    let stderr = lp.stderr();
    assert!(stderr.contains("fake.toml:2") && stderr.contains("config.toml"), "{stderr}");
    // A binding that the file is needed for.
    fs::remove_file(&definition).unwrap();
    lp.hover(&at("a.py")).fine().contains("WORD alpha");
    status(&lp).contains("no definition is called `local/fake`");
    fake().write(&ws);
    fs::write(&settings, "instances = 3\n").unwrap();
    lp.hover(&at("a.py")).fine();
    status(&lp).lacks("stays").lacks("config.toml");
}

fn x27_settings_are_read_anew() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.strange\nbeta\n");
    let lp = Langport::builder(&ws).server(fake()).start();
    lp.hover(&at("b.strange")).fails("unavailable");
    let settings = ws.home().join("config/config.toml");
    fs::write(&settings, "max_chars = 500\n[filetypes]\n\".strange\" = \"python\"\n").unwrap();
    lp.hover(&at("b.strange")).fine().contains("WORD beta");
    status(&lp)
        .contains("`max_chars` is set to 500 now, which counts from the next start of langport; until then it is 8000");
    fs::write(&settings, "capabilities = [\"definitions\"]\n").unwrap();
    lp.hover(&at("a.py")).fails("refused");
    lp.tool("definition", &at("a.py")).fine();
}

fn x27_an_installation_takes_over() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    fake().write(&ws);
    let script = ws.home().join("fake.script.json");
    let this = std::env::current_exe().unwrap();
    let home = ws.home().join("data/servers/local/fake");
    let install = |number: u32| {
        let bin = home.join(format!("{number}/node_modules/.bin"));
        fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink(&this, bin.join("fake-server")).unwrap();
        let current = json!({"folder": number, "manager": "npm", "pin": format!("npm fake@{number}")});
        fs::write(home.join("current.new"), current.to_string()).unwrap();
        fs::rename(home.join("current.new"), home.join("current.json")).unwrap();
    };
    let definition = Definition::command("fake", "fake-server").env(crate::fake::SCRIPT, &script.to_string_lossy());
    let lp = Langport::builder(&ws).server(definition).start();
    lp.hover(&at("a.py")).fails("unavailable");
    install(1);
    lp.hover(&at("a.py")).fine();
    status(&lp).contains("fake/1/node_modules");
    install(2);
    let told = eventually("the new one", || {
        lp.hover(&at("a.py")).fine();
        Some(status(&lp)).filter(|told| told.has("fake/2/node_modules"))
    });
    told.lacks("fake/1/node_modules");
}

fn b13_a_call_in_flight_ends_well() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let waiting =
        || Script::new().on("textDocument/hover", [Act::FirstStarts(1), Act::Await(ws.gate("go")), Act::Default]);
    let lp = Langport::with(&ws, waiting());
    let call = lp.call("lsp_hover", &at("a.py"));
    lp.log().wait("textDocument/hover", 1);
    Definition::new("fake", waiting()).table("[initialization]\nmode = \"new\"").write(&ws);
    lp.tool("symbols", &json!({"file_path": "a.py"})).fine();
    eventually("the new one", || (lp.log().starts() == 2).then_some(()));
    ws.open("go");
    Answer::of(&lp.answer(call)).fine().contains("WORD alpha");
    let old = lp.log().pids()[0];
    eventually("the end of the old one", || (!procs::alive(old)).then_some(()));
}

fn rou_06_what_is_added_is_found_by_the_next_call() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp =
        Langport::builder(&ws).auto().config("languages = [\"python\", \"fortran\"]").env("PATH", "/nowhere").start();
    lp.hover(&at("a.py")).fails("unavailable");
    let log = fake().write(&ws);
    lp.hover(&at("a.py")).fine().contains("WORD alpha");
    fs::remove_file(ws.home().join("config/servers.d/fake.toml")).unwrap();
    lp.hover(&at("a.py")).fails("unavailable");
    eventually("its end", || (!procs::alive(log.pids()[0])).then_some(()));
}

fn rou_06_a_language_that_comes_later_is_served() {
    let ws = Workspace::new("");
    let lp = Langport::builder(&ws).server(fake()).start();
    lp.tool("symbols", &json!({"file_path": "main.py"})).fails("not_found");
    ws.write("main.py", "def late(): pass\n");
    lp.tool("symbols", &json!({"file_path": "main.py"})).fine().contains("late");
}

fn names(lp: &Langport) -> Vec<String> {
    lp.tools().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn a5_6_another_list_of_tools_is_told_in_both_eras() {
    for era in [Era::Legacy("2025-06-18"), Era::Modern] {
        let ws = Workspace::new("//- a.py\nalpha\n");
        let only = |list: &str| fake().key(&format!("capabilities = [{list}]"));
        let lp = Langport::builder(&ws).server(only("\"hover\"")).era(era).start();
        if matches!(era, Era::Modern) {
            lp.send("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
            eventually("the acknowledgement", || lp.notes("notifications/subscriptions/acknowledged").pop());
        }
        assert!(!names(&lp).contains(&"lsp_references".to_owned()));
        // Several changes at once, and nobody calls anything.
        only("\"hover\", \"definitions\"").write(&ws);
        only("\"hover\", \"references\"").write(&ws);
        eventually("the news", || lp.notes(CHANGED).pop());
        assert!(names(&lp).contains(&"lsp_references".to_owned()));
        assert_eq!(lp.notes(CHANGED).len(), 1, "told as one");
        // Another text, the same tools.
        only("\"hover\", \"references\"").key("description = \"x\"").write(&ws);
        eventually("the new text", || Some(status(&lp)).filter(|told| told.has("read anew 2 times")));
        assert_eq!(lp.notes(CHANGED).len(), 1);
    }
}

fn a5_6_what_is_registered_late_is_told() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let late = register("refs", "textDocument/references", json!({"documentSelector": null}));
    let script = Script::new()
        .capability("referencesProvider", Value::Null)
        .on("textDocument/hover", [Act::Default, late.into()]);
    let definition = Definition::new("fake", script).key("capabilities = [\"hover\"]");
    let lp = Langport::builder(&ws).server(definition).start();
    assert!(!names(&lp).contains(&"lsp_references".to_owned()));
    lp.tool("definition", &at("a.py")).fails("unsupported");
    lp.hover(&at("a.py")).fine();
    eventually("the news", || lp.notes(CHANGED).pop());
    assert!(names(&lp).contains(&"lsp_references".to_owned()));
    // It is kept to its list in everything else.
    lp.tool("definition", &at("a.py")).fails("unsupported");
    assert!(!names(&lp).contains(&"lsp_definition".to_owned()));
}

fn a_call_changes_no_list() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = Langport::with(&ws, Script::new().capability("referencesProvider", Value::Null));
    let before = names(&lp);
    lp.tool("references", &at("a.py")).fails("unsupported");
    lp.tool("status", &json!({"server": "fake", "restart": true})).fine();
    lp.hover(&at("a.py")).fine();
    assert_eq!(names(&lp), before);
    assert!(lp.notes(CHANGED).is_empty());
}
