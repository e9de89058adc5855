//! What stands between langport and the programs that it runs: faulty definitions start nothing, a repository starts
//! nothing, and what runs has no more rights than langport has.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{BUSY, Definition, Langport, Workspace, cli, eventually, procs},
};

trials![
    a7_8_a_server_has_the_rights_that_langport_has,
    b1_b6_a_faulty_definition_never_starts_anything,
    b2_source_and_scope_of_a_definition_are_shown,
    x8_the_ladder_of_an_end_has_all_its_steps,
    sec_02_b20_x29_a_repository_decides_nothing,
    sec_02_where_a_program_comes_from_is_shown,
    sec_04_without_a_network_it_is_said_at_once,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

/// What the kernel says of the rights of a process.
fn rights(pid: u32) -> Vec<String> {
    const LINES: [&str; 9] =
        ["Uid:", "Gid:", "Groups:", "NoNewPrivs:", "Seccomp:", "CapInh:", "CapPrm:", "CapEff:", "CapBnd:"];
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    text.lines().filter(|line| LINES.iter().any(|name| line.starts_with(name))).map(str::to_owned).collect()
}

fn a7_8_a_server_has_the_rights_that_langport_has() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = Langport::with(&ws, Script::new());
    lp.hover(&at("a.py")).verdict_is("fresh");
    let (own, server) = (rights(lp.pid()), rights(lp.log().pids()[0]));
    assert!(own.len() >= 7, "{own:?}");
    assert_eq!(own, server);
    let limits = |pid: u32| fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    assert_eq!(limits(lp.pid()), limits(lp.log().pids()[0]));
}

/// A program that leaves a mark where it is run.
fn spy(ws: &Workspace, file: &std::path::Path, mark: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, format!("#!/bin/sh\n: > '{}'\n", ws.home().join(mark).display())).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

fn b1_b6_a_faulty_definition_never_starts_anything() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let program = ws.home().join("spy");
    spy(&ws, &program, "ran");
    let program = program.to_string_lossy().into_owned();
    let name = ws.home().file_name().unwrap().to_string_lossy().into_owned();
    let climbing = format!("{}/../{name}/spy", ws.home().display());
    let command = |command: &str| format!("command = {}\nlanguages = [\"python\"]\n", json!(command));
    let good = command(&program);
    let faulty = [
        (format!("{good}languags = [\"go\"]\n"), "languags"),
        (format!("{good}args = \"--stdio\"\n"), "expected a sequence"),
        (format!("{good}capabilities = [\"hovr\"]\n"), "hover"),
        (format!("{good}[env]\nLD_PRELOAD = \"x\"\n"), "LD_PRELOAD"),
        (format!("{good}[env]\nNODE_OPTIONS = \"x\"\n"), "NODE_OPTIONS"),
        (format!("{good}[env]\nDYLD_INSERT_LIBRARIES = \"x\"\n"), "DYLD_INSERT_LIBRARIES"),
        (format!("{good}transport = \"tcp\"\n"), "address"),
        (format!("{good}transport = \"tcp\"\naddress = \"10.0.0.1:80\"\n"), "10.0.0.1:80"),
        (format!("{good}transport = \"pigeon\"\n"), "pigeon"),
        (format!("command = {}\nlanguages = []\n", json!(program)), "languages"),
        (format!("command = {}\nlanguages = [\"klingon\"]\n", json!(program)), "klingon"),
        (command(""), "command"),
        (command(&climbing), "climbs out"),
        (command("../spy"), "climbs out"),
        (command("bin/spy"), "relative"),
        (command(&format!("{program} --stdio")), "spy --stdio"),
        (command("${NO_SUCH_VARIABLE_ANYWHERE}/spy"), "NO_SUCH_VARIABLE_ANYWHERE"),
        (format!("{good}\"unfinished"), "toml"),
    ];
    for (text, named) in faulty {
        let folder = ws.home().join("config/servers.d");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("odd.toml"), format!("name = \"local/odd\"\n{text}")).unwrap();
        let lp = Langport::builder(&ws).auto().env("PATH", "/nowhere").start();
        lp.hover(&at("a.py")).fails("unavailable");
        let status = lp.tool("status", &json!({"server": "all"}));
        let (mut told, mut cursor) = (status.text.clone(), status.cursor());
        while let Some(more) = cursor {
            let next = lp.tool("status", &json!({"server": "all", "cursor": more}));
            told += &next.text;
            cursor = next.cursor();
        }
        assert!(told.contains("odd") && told.contains(named), "{named}: {told}");
        assert!(!ws.home().join("ran").exists(), "{named}: it was run");
    }
}

fn b2_source_and_scope_of_a_definition_are_shown() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    Definition::new("fake", Script::new()).write(&ws);
    let file = ws.home().join("config/servers.d/fake.toml").display().to_string();
    let own = cli::run(&ws, &["show", "fake"], "/nowhere");
    cli::in_order(&own.out, &["local/fake", "source", &file, "scope", "user"]);
    let builtin = cli::run(&ws, &["show", "pyright"], "/nowhere");
    cli::in_order(&builtin.out, &["builtin/pyright", "source", "servers.d/pyright.toml", "scope", "builtin"]);
    let lp = Langport::with(&ws, Script::new());
    lp.tool("status", &json!({"server": "fake"})).contains("(user)").contains(&file);
    lp.tool("status", &json!({"server": "pyright"})).contains("builtin");
}

/// `shutdown`, `exit`, then signals, for a server, a child of its own, and one in a session of its own.
fn x8_the_ladder_of_an_end_has_all_its_steps() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let deaf = Script { ignore_term: true, ignore_exit: true, ..Script::new() };
    let mut lp = Langport::with(&ws, deaf.on("initialized", [Act::Grandchild, Act::Daemon]));
    lp.tolerate();
    lp.hover(&at("a.py")).verdict_is("fresh");
    lp.log().wait_event("daemon", 1);
    for sleeper in ["sleep 600", "sleep 700"] {
        eventually(sleeper, || procs::marked(&ws.mark_text()).values().any(|c| c.contains(sleeper)).then_some(()));
    }
    assert_eq!(lp.hang_up().and_then(|status| status.code()), Some(0));
    assert_eq!(lp.left(), []);
    let methods = lp.log().methods();
    assert_eq!(methods[methods.len() - 2..], ["shutdown", "exit"], "{methods:?}");
}

fn sec_02_b20_x29_a_repository_decides_nothing() {
    let ws = Workspace::new("//- a.ts\nalpha\n//- a.py\nalpha\n//- a.go\nalpha\n//- a.rs\nalpha\n//- a.css\nalpha\n");
    // Programs of the names that definitions have, wherever a careless search would find them.
    let names = [
        "typescript-language-server",
        "tsc",
        "tsserver",
        "pyright-langserver",
        "pyright",
        "ruff",
        "ty",
        "gopls",
        "rust-analyzer",
        "vscode-css-language-server",
        "node",
        "python3",
        "python",
        "npx",
        "git",
        "evil",
    ];
    for folder in ["node_modules/.bin", ".venv/bin", "venv/bin", "bin", ".", "tools"] {
        names.iter().for_each(|name| spy(&ws, &ws.path(folder).join(name), "ran"));
    }
    spy(&ws, &ws.path("evil.sh"), "ran");
    let evil = ws.path("evil.sh").to_string_lossy().into_owned();
    let definition = |command: &str| {
        format!("name = \"local/evil\"\ncommand = {}\nlanguages = [\"typescript\", \"python\"]\n", json!(command))
    };
    for file in [".langport/servers.d/evil.toml", "servers.d/evil.toml", ".langport/evil.toml"] {
        ws.write(file, &definition(&evil));
    }
    let settings =
        format!("bind = [\"local/evil\"]\npermission = \"read-only\"\n[servers.evil]\ncommand = {}\n", json!(evil));
    for file in [".langport.toml", "langport.toml", "config.toml", ".langport/config.toml"] {
        ws.write(file, &settings);
    }
    ws.write(
        ".lsp.json",
        &json!({"typescript": {"command": "./evil.sh", "extensionToLanguage": {".ts": "typescript"}}}).to_string(),
    );
    ws.write("opencode.json", &json!({"lsp": {"ts": {"command": ["./evil.sh"], "extensions": [".ts"]}}}).to_string());
    ws.write(".vscode/settings.json", &json!({"python.defaultInterpreterPath": evil}).to_string());
    ws.write(".envrc", &format!("PATH_add {evil}\n"));
    let inside = ["node_modules/.bin", ".venv/bin", "bin"].map(|folder| ws.path(folder).display().to_string());
    let path = format!(".:bin::node_modules/.bin:{}", inside.join(":"));
    let lp = Langport::builder(&ws)
        .auto()
        .env("PATH", &path)
        .env("VIRTUAL_ENV", &ws.path(".venv").to_string_lossy())
        .start();
    for file in ["a.ts", "a.py", "a.go", "a.rs", "a.css"] {
        for answer in [lp.hover(&at(file)), lp.diagnostics(file), lp.tool("symbols", &json!({"file_path": file}))] {
            answer.fails("unavailable").contains("install").lacks("no problems").lacks("evil");
        }
    }
    lp.tool("diagnostics", &json!({"scope": "workspace"})).lacks("no problems");
    lp.tool("diagnostics", &json!({"scope": "changed"}));
    lp.tool("status", &json!({})).lacks("evil");
    let names: Vec<Value> = lp.tools().iter().map(|tool| tool["name"].clone()).collect();
    assert!(names.contains(&json!("lsp_apply")), "a repository takes no permission away: {names:?}");
    drop(lp);
    for args in [&["list"][..], &["show", "pyright"], &["doctor", "."], &["install", "--for", "."]] {
        cli::run(&ws, args, &path);
    }
    assert!(!ws.home().join("ran").exists(), "a program of the repository was run");
}

fn sec_02_where_a_program_comes_from_is_shown() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = Langport::with(&ws, Script::new());
    lp.hover(&at("a.py")).verdict_is("fresh");
    let status = lp.tool("status", &json!({"server": "fake"}));
    status.contains(&format!("program: {}", std::env::current_exe().unwrap().display()));
    status.contains(&format!("defined in: {}", ws.home().join("config/servers.d/fake.toml").display()));
}

fn sec_04_without_a_network_it_is_said_at_once() {
    let ws = Workspace::new("//- a.py\nalpha\n//- a.ts\nalpha\n");
    // Whatever would reach for the network finds nobody there.
    let nowhere = "http://127.0.0.1:9";
    let mut builder = Langport::builder(&ws).auto().env("PATH", "/usr/bin:/bin");
    for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        builder = builder.env(name, nowhere);
    }
    let lp = builder.start();
    let begun = std::time::Instant::now();
    for file in ["a.py", "a.ts"] {
        let answer = lp.diagnostics(file);
        answer.fails("unavailable").contains("langport install").lacks("no problems");
    }
    assert!(begun.elapsed() < BUSY, "{:?}", begun.elapsed());
    assert!(!ws.home().join("data/servers").exists(), "nothing is installed");
}
