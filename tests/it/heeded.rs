//! What is set while langport runs and what is set wrongly: a setting that waits for the next start is no mistake, what may
//! be changed counts at once, a mistake is named where it is felt, and so is a path that leads to no program.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::{Value, json};

use crate::{
    fake::script::Script,
    support::{Answer, Definition, Langport, Workspace, cli, eventually},
};

trials![
    settings_that_wait_for_the_next_start_are_no_mistakes,
    what_may_be_changed_counts_at_once,
    a_mended_configuration_lets_changes_be_made,
    a_mistake_is_named_where_a_server_is_missed,
    a_path_without_a_program_says_what_is_there,
    commands_say_what_is_wrong_with_their_words,
    settings_that_cannot_be_read_forbid_to_write,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn fake() -> Definition {
    Definition::new("fake", Script::new())
}

/// Asks until the answer has this: what was written is read before the next call, once it has been whole for a moment.
fn until(what: &str, ask: impl Fn() -> Answer) -> Answer {
    eventually(what, || Some(ask()).filter(|answer| answer.has(what)))
}

fn settings_that_wait_for_the_next_start_are_no_mistakes() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = Langport::builder(&ws).server(fake()).start();
    let status = || lp.tool("status", &json!({}));
    let config = |text: &str| ws.write("../config/config.toml", text);
    config("tool_names = \"slash\"\n");
    let line = "settings: `tool_names` is set to \"slash\" now, which counts from the next start of langport; until then \
                it is \"underscore\"";
    until(line, status).lacks("mistake");
    config(
        "max_wait_ms = 9000\nmax_chars = 9000\noutput = \"both\"\ntool_names = \"dot\"\ndocument_bytes = 9000\nbarrier_ms = 90\nwatched_folders = 90\nwatch_events = false\n",
    );
    let all = until("`watch_events` is set to false now", status);
    all.lacks("mistake");
    assert_eq!(all.text.matches("which counts from the next start of langport; until then it is").count(), 8, "{all}");
    assert!(lp.stderr().contains("`barrier_ms` is set to 90 now"), "{}", lp.stderr());
    // What counts at once is not among them; what is as it was is told no more.
    config("instances = 3\npermission = \"read-only\"\nwithheld = [\"x\"]\nconfirm = \"elicit\"\n");
    eventually("nothing waits", || (!status().has("next start")).then_some(()));
    status().lacks("mistake");
}

fn what_may_be_changed_counts_at_once() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    for (first, then) in [("", "permission = \"read-only\"\n"), ("permission = \"read-only\"", "")] {
        ws.write("a.py", "alpha\n");
        let lp = Langport::builder(&ws).server(fake()).config(first).start();
        let rename = || lp.tool("rename", &json!({"file_path": "a.py", "symbol": "alpha", "new_name": "beta"}));
        let apply = || lp.tool("apply", &json!({"plan": rename().plan()}));
        let refused = |answer: &Answer| {
            answer.fails("read_only").contains("`permission` is read-only").lacks("started");
            assert_eq!(ws.read("a.py"), "alpha\n");
        };
        if !first.is_empty() {
            refused(&apply());
        }
        ws.write("../config/config.toml", then);
        if then.is_empty() {
            until("made: 1 file changed", apply).fine();
            assert_eq!(ws.read("a.py"), "beta\n");
        } else {
            refused(&until("read_only", apply));
        }
    }
    ws.write("a.py", "alpha\n");
    let lp = Langport::builder(&ws).server(fake()).start();
    let rename = || lp.tool("rename", &json!({"file_path": "a.py", "symbol": "alpha", "new_name": "beta"}));
    let before = rename().plan();
    ws.write("../config/config.toml", "withheld = [\"a.*\"]\n");
    until("the configuration withholds it", rename).fails("refused");
    // One that was planned before is held to it, too.
    lp.tool("apply", &json!({"plan": before})).fails("refused").contains("a.py");
    assert_eq!(ws.read("a.py"), "alpha\n");
}

fn a_mended_configuration_lets_changes_be_made() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = Langport::builder(&ws).server(fake()).config("max_char = 900").start();
    let rename = || lp.tool("rename", &json!({"file_path": "a.py", "symbol": "alpha", "new_name": "beta"}));
    let plan = rename().plan();
    let apply = || lp.tool("apply", &json!({"plan": plan}));
    apply().fails("read_only").contains("did you mean `max_chars`?");
    ws.write("../config/config.toml", "instances = 4\n");
    until("made: 1 file changed", apply).fine();
    assert_eq!(ws.read("a.py"), "beta\n");
}

fn a_mistake_is_named_where_a_server_is_missed() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.zzz\nbeta\n//- c.py\ngamma\n");
    let mine = || Definition::new("mine", Script::new()).languages(&["Python"]);
    // One that is bound by its name is missed outright; else what is built in is, of which nothing is installed.
    for bound in [true, false] {
        let mut lp = Langport::builder(&ws).server(mine()).auto().env("PATH", "/nowhere");
        if bound {
            lp = lp.config("bind = [\"mine\"]");
        }
        let lp = lp.start();
        for answer in [lp.hover(&at("a.py")), lp.diagnostics("a.py"), lp.tool("format", &json!({"file_path": "a.py"}))]
        {
            answer.fails("unavailable").contains("servers.d/mine.toml:").contains("`languages` `Python`");
            answer.contains("did you mean `python`?");
            assert_eq!(answer.first().contains("mine.toml"), bound, "{answer}");
        }
    }
    let lp = Langport::builder(&ws).server(fake()).auto().config("instances = 3\nlanguages = [\"Python\"]").start();
    let answer = lp.hover(&at("a.py"));
    answer.fails("unavailable").contains("no language server is bound for python files");
    answer.contains("config.toml:2: `languages` no definition serves the language `Python`: did you mean `python`?");
    // Of another kind of file it is not known to be the reason: its own advice stays.
    lp.hover(&at("b.zzz")).fails("unavailable").contains("`filetypes` in config.toml").contains("\n  mistake: ");
    ws.write("../config/config.toml", "languages = [\"python\"]\n");
    until("WORD alpha", || lp.hover(&at("a.py"))).lacks("mistake");
}

fn a_path_without_a_program_says_what_is_there() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let folder = ws.home().join("bin");
    fs::create_dir_all(folder.join("folder")).unwrap();
    fs::write(folder.join("unmarked"), "#!/bin/sh\nexit 3\n").unwrap();
    std::os::unix::fs::symlink("gone", folder.join("dangling")).unwrap();
    for (name, said, mends) in [
        ("unmarked", "may not be executed", "chmod +x"),
        ("folder", "is a folder, not a program", "name the program in it"),
        ("dangling", "is a link that leads nowhere", "let the link lead to the program"),
    ] {
        let path = folder.join(name).display().to_string();
        let lp = Langport::builder(&ws).server(Definition::command("fake", &path)).start();
        for answer in [lp.hover(&at("a.py")), lp.diagnostics("a.py")] {
            answer.fails("unavailable").contains(&format!("`{path}` {said}")).contains(mends).lacks("is not installed");
        }
        let why = lp.tool("status", &json!({"file_path": "a.py"}));
        why.contains(said).lacks("not installed");
        drop(lp);
        let doctor = cli::run(&ws, &["doctor", "."], "/nowhere");
        cli::in_order(&doctor.out, &["local/fake", &path, said]);
        assert!(doctor.out.contains(mends), "{}", doctor.out);
        let listed = cli::run(&ws, &["list"], "/nowhere");
        let line = listed.out.lines().find(|line| line.contains("local/fake")).unwrap();
        assert!(line.contains(said) && !line.contains("not installed"), "{line}");
    }
    let path = folder.join("unmarked");
    let lp = Langport::builder(&ws).server(Definition::command("fake", &path.display().to_string())).start();
    lp.hover(&at("a.py")).contains("may not be executed");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    lp.hover(&at("a.py")).fails("unavailable").contains("exit code 3").lacks("may not be executed");
    fs::remove_file(&path).unwrap();
    drop(lp);
    let lp = Langport::builder(&ws).server(Definition::command("fake", &path.display().to_string())).start();
    lp.hover(&at("a.py")).fails("unavailable").contains("is not installed").contains("does not exist");
}

fn commands_say_what_is_wrong_with_their_words() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    fake().write(&ws);
    for (args, said) in [
        (["serve", "--languages", ""].as_slice(), "langport: --languages has an empty name"),
        (&["call", "status", "--languages", "python,"], "langport: --languages has an empty name"),
        (&["call", "status", "--bind", ""], "langport: --bind has an empty name"),
        (&["call", "status", "--capabilities", ""], "langport: --capabilities has an empty name"),
        (&["call", "hover", "a.py"], "must be a JSON object, such as '{\"file_path\": "),
        (&["try", ".", "--language", "pyton"], "no file here is in the language `pyton`: did you mean `python`?"),
        (&["try", ".", "--language", "go"], "no file here is in the language `go`: there are python"),
    ] {
        let seen = cli::run(&ws, args, "/usr/bin:/bin");
        assert_eq!(seen.code, Some(1), "{args:?}: {seen:?}");
        assert!(seen.err.contains(said) && seen.err.lines().count() == 1, "{args:?}: {}", seen.err);
    }
    let usage = cli::run(&ws, &["install"], "/usr/bin:/bin");
    assert!(usage.code == Some(2) && usage.err.contains("install [OPTIONS] --for <PATH>"), "{usage:?}");
    for (filter, said) in
        [("debg", "LANGPORT_LOG: it is no filter: did you mean `debug`?"), ("a=b=c", "it is no filter")]
    {
        let mut command = cli::command(&ws, &["call", "status"], "/usr/bin:/bin");
        let done = command.env("LANGPORT_LOG", filter).output().unwrap();
        let said_so = String::from_utf8_lossy(&done.stderr).contains(said);
        assert!(done.status.success() && said_so, "{filter}: {done:?}");
    }
}

fn settings_that_cannot_be_read_forbid_to_write() {
    for (kind, said) in [
        ("link", "config.toml: is a link that leads nowhere"),
        ("folder", "config.toml: is a folder, not a file"),
        ("latin", "config.toml: is no text in UTF-8"),
    ] {
        let ws = Workspace::new("//- a.py\nalpha\n");
        fake().write(&ws);
        let file = ws.home().join("config/config.toml");
        match kind {
            "link" => std::os::unix::fs::symlink("gone", &file).unwrap(),
            "folder" => fs::create_dir(&file).unwrap(),
            _ => fs::write(&file, b"# caf\xe9\n").unwrap(),
        }
        let seen = cli::run(&ws, &["call", "apply", "{\"plan\": \"x\"}"], "/usr/bin:/bin");
        assert!(seen.code == Some(1) && seen.out.starts_with("read_only"), "{seen:?}");
        assert!(seen.out.contains(said), "{}", seen.out);
        let status = cli::run(&ws, &["call", "status"], "/usr/bin:/bin");
        assert!(status.out.contains(&format!("/{said} (until this is mended")), "{}", status.out);
    }
}
