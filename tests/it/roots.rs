//! One server for each root: which root, how many servers at once, how they say that they are ready, and what is done where
//! there is none.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Definition, Langport, Workspace, cli, eventually, procs},
};

trials![
    rou_02_each_file_has_the_root_of_its_own_project,
    rou_04_markers_let_only_one_claim_a_file,
    per_03_the_least_recently_used_server_makes_room,
    per_03_an_idle_server_is_stopped_and_comes_back,
    per_03_roots_have_folders_of_their_own_and_a_lock_is_told,
    sec_04_nothing_is_ever_installed_unasked,
    d1_24_no_language_is_said_and_never_plain_text,
    d2_13_versions_rise_documents_close_and_servers_are_told_to_end,
    d2_13_a_search_shows_every_kind_and_more_than_ten,
    x28_a_log_line_is_a_signal,
    x28_a_field_of_a_notification_is_a_signal,
    x28_the_end_of_a_progress_is_a_signal,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

/// Where the servers of a log were started, in order.
fn roots(lp: &Langport, server: &str) -> Vec<Value> {
    lp.log_of(server).of("initialize").iter().map(|params| params["rootUri"].clone()).collect()
}

fn rou_02_each_file_has_the_root_of_its_own_project() {
    let ws = Workspace::new(
        "//- web/package.json\n{}\n//- web/tsconfig.json\n{}\n//- web/src/a.ts\nalpha\n//- web/node_modules/lib/package.json\n{}\n//- web/node_modules/lib/b.ts\nbeta\n//- api/pyproject.toml\n\n//- api/x/a.py\nalpha\n//- pyproject.toml\n\n//- tool.py\nalpha\n//- go1/go.mod\nmodule a\n//- go1/a.go\nalpha\n//- go2/go.mod\nmodule b\n//- go2/b.go\nalpha\n",
    );
    let server = |name: &str, language: &str, root: &str| {
        Definition::new(name, Script::watching("**/*")).languages(&[language]).table(&format!("[root]\n{root}"))
    };
    let lp = Langport::builder(&ws)
        .server(server(
            "ts",
            "typescript",
            "markers = [[\"tsconfig.json\", \"package.json\"]]\ndependencies = [\"node_modules\"]",
        ))
        .server(server("py", "python", "markers = [[\"pyproject.toml\"], [\".git\"]]"))
        .server(server("go", "go", "markers = [[\"go.work\"], [\"go.mod\"]]"))
        .start();
    let top = url::Url::from_file_path(ws.root()).unwrap().to_string();
    for (server, files, expected) in [
        ("ts", ["web/src/a.ts", "web/node_modules/lib/b.ts"], vec![ws.uri("web")]),
        ("py", ["api/x/a.py", "tool.py"], vec![ws.uri("api"), top]),
        ("go", ["go1/a.go", "go2/b.go"], vec![ws.uri("go1"), ws.uri("go2")]),
    ] {
        for file in files {
            lp.hover(&at(file)).verdict_is("fresh");
        }
        assert_eq!(roots(&lp, server), expected, "{server}");
    }
    // The same root for what is told of a change, for the look-up, and for the status.
    ws.write("go2/b.go", "renamed\n");
    lp.hover(&at("go2/b.go")).contains("WORD renamed");
    assert_eq!(lp.log_of("go").starts(), 2);
    let shown = lp.tool("status", &json!({"file_path": "go2/b.go"}));
    shown.contains("go2");
    lp.tool("status", &json!({})).contains(&ws.path("go1").display().to_string());
}

fn rou_04_markers_let_only_one_claim_a_file() {
    let ws = Workspace::new(
        "//- web/package.json\n{}\n//- web/a.ts\nalpha\n//- edge/deno.json\n{}\n//- edge/package.json\n{}\n//- edge/b.ts\nalpha\n",
    );
    let node = "[root]\nmarkers = [[\"package.json\"]]\nexclude = [\"deno.json\"]";
    let deno = "[root]\nmarkers = [[\"deno.json\"]]\nmode = \"strict\"";
    let lp = Langport::builder(&ws)
        .server(Definition::new("node", Script::new()).languages(&["typescript"]).table(node))
        .server(Definition::new("edgy", Script::new()).languages(&["typescript"]).table(deno))
        .start();
    for (file, server) in [("web/a.ts", "node"), ("edge/b.ts", "edgy")] {
        let answer = lp.diagnostics(file);
        assert!(answer.first().starts_with(&format!("fresh · {server} · ")), "{answer}");
        lp.hover(&at(file)).says(&format!("fresh · {server} · hover"));
    }
    assert_eq!((lp.log_of("node").starts(), lp.log_of("edgy").starts()), (1, 1));
}

/// Twelve projects, a file in each.
fn twelve() -> Workspace {
    let ws = Workspace::new("");
    for number in 0..12 {
        ws.write(&format!("p{number}/mark"), "");
        ws.write(&format!("p{number}/a.py"), "alpha\n");
    }
    ws
}

const MARKED: &str = "[root]\nmarkers = [[\"mark\"]]";

fn per_03_the_least_recently_used_server_makes_room() {
    let ws = twelve();
    let fake = Definition::new("fake", Script::new()).table(MARKED);
    let lp = Langport::builder(&ws).server(fake).config("instances = 2").start();
    for number in 0..12 {
        lp.hover(&at(&format!("p{number}/a.py"))).fine().verdict_is("fresh");
        let alive = lp.log().pids().into_iter().filter(|pid| procs::alive(*pid)).count();
        assert!(alive <= 2, "{alive} at once");
    }
    assert_eq!(lp.log().starts(), 12);
    // The last two are there still; of these the one that was used longest ago goes.
    lp.hover(&at("p10/a.py")).verdict_is("fresh");
    lp.hover(&at("p0/a.py")).verdict_is("fresh");
    lp.hover(&at("p10/a.py")).verdict_is("fresh");
    assert_eq!(lp.log().starts(), 13);
    lp.hover(&at("p11/a.py")).verdict_is("fresh");
    assert_eq!(lp.log().starts(), 14);
}

fn per_03_an_idle_server_is_stopped_and_comes_back() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new())).config("idle_stop_ms = 400").start();
    lp.hover(&at("a.py")).verdict_is("fresh");
    let pid = lp.log().pids()[0];
    eventually("the end of the idle server", || (!procs::alive(pid)).then_some(()));
    assert_eq!((lp.log().count("shutdown"), lp.log().count("exit")), (1, 1), "it is asked to go");
    lp.hover(&at("a.py")).verdict_is("fresh");
    assert_eq!(lp.log().starts(), 2);
}

fn per_03_roots_have_folders_of_their_own_and_a_lock_is_told() {
    let ws = twelve();
    let fake = Definition::new("fake", Script::new()).key("args = [\"--data=${root_hash}\"]").table(MARKED);
    let busy =
        Script::new().on("start", [Act::Stderr("the data folder is locked by process 7".into(), 1), Act::Exit(1)]);
    let locked = Definition::new("locked", busy).languages(&["go"]);
    ws.write("a.go", "alpha\n");
    let lp = Langport::builder(&ws).server(fake).server(locked).start();
    for number in [0, 1] {
        lp.hover(&at(&format!("p{number}/a.py"))).verdict_is("fresh");
    }
    let args: Vec<Value> = lp.log_of("fake").events("start").iter().map(|e| e["about"]["args"].clone()).collect();
    assert!(args.len() == 2 && args[0] != args[1] && args[0].to_string().contains("--data="), "{args:?}");
    lp.hover(&at("a.go")).fails("unavailable").contains("the data folder is locked by process 7");
}

fn sec_04_nothing_is_ever_installed_unasked() {
    let ws = Workspace::new("//- a.py\nalpha\n//- a.ts\nalpha\n//- a.go\nalpha\n");
    let ran = ws.home().join("ran");
    let spy = format!(": > '{}'", ran.display());
    let path = ["npm", "npx", "pip", "python3", "uv", "go", "node"].map(|name| cli::program(&ws, name, &spy));
    let lp = Langport::builder(&ws).env("PATH", &path[0]).auto().start();
    for (file, command) in [("a.py", "langport install"), ("a.ts", "langport install"), ("a.go", "langport install")] {
        let answer = lp.diagnostics(file);
        answer.fails("unavailable").contains(command).lacks("no problems");
        lp.hover(&at(file)).fails("unavailable").contains(command);
    }
    lp.tool("status", &json!({})).fine();
    assert!(!ran.exists(), "a package manager was run");
    assert!(!ws.home().join("data/servers").exists(), "something was installed");
}

fn d1_24_no_language_is_said_and_never_plain_text() {
    let ws = Workspace::new("//- a.zzz\nalpha\n//- notes.txt\nalpha\n//- nameless\nalpha\n//- a.py\nalpha\n");
    let lp = Langport::with(&ws, Script::new());
    for file in ["a.zzz", "nameless"] {
        for answer in [lp.hover(&at(file)), lp.diagnostics(file)] {
            answer.fails("unavailable").contains(&format!("the language of {file} is not known")).contains("servers.d");
        }
    }
    lp.diagnostics("notes.txt").fails("unavailable").contains("no language server is bound for plaintext files");
    lp.tool("status", &json!({"file_path": "a.zzz"})).contains("not known");
    lp.hover(&at("a.py")).verdict_is("fresh");
    let opened = lp.log().of("textDocument/didOpen");
    let ids: Vec<&Value> = opened.iter().map(|params| &params["textDocument"]["languageId"]).collect();
    assert_eq!(ids, ["python"]);
}

fn d2_13_versions_rise_documents_close_and_servers_are_told_to_end() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.py\nalpha\n");
    let sync = json!({"openClose": true, "change": 1, "save": true});
    let lp = Langport::with(&ws, Script::watching("**/*").capability("textDocumentSync", sync));
    lp.hover(&at("a.py")).verdict_is("fresh");
    lp.hover(&at("b.py")).verdict_is("fresh");
    for round in 0..3 {
        ws.write("a.py", &format!("beta{round}\n"));
        lp.hover(&at("a.py")).contains(&format!("WORD beta{round}"));
    }
    let version = |params: &Value| params["textDocument"]["version"].as_i64().unwrap();
    let opened = lp.log().of("textDocument/didOpen");
    let versions: Vec<i64> = opened[..1].iter().chain(&lp.log().of("textDocument/didChange")).map(version).collect();
    assert!(versions.len() == 4 && versions[0] > 0 && versions.is_sorted_by(|a, b| a < b), "{versions:?}");
    assert_eq!(lp.log().count("textDocument/didSave"), 3);
    ws.remove("b.py");
    lp.hover(&at("a.py")).verdict_is("fresh");
    let closed = lp.log().wait("textDocument/didClose", 1);
    assert_eq!(closed[0]["textDocument"]["uri"], json!(ws.uri("b.py")));
    let log = lp.log().clone();
    drop(lp);
    let methods = log.methods();
    assert_eq!(methods[methods.len() - 2..], ["shutdown", "exit"], "{methods:?}");
}

fn d2_13_a_search_shows_every_kind_and_more_than_ten() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let symbol = |kind: u32| {
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}});
        json!({"name": format!("alpha{kind}"), "kind": kind, "location": {"uri": ws.uri("a.py"), "range": range}})
    };
    let all: Vec<Value> = (1..=26).map(symbol).collect();
    let lp = Langport::with(&ws, Script::new().on("workspace/symbol", [Act::Reply(json!(all))]));
    let answer = lp.tool("workspace_symbols", &json!({"query": "alpha"}));
    answer.contains("26 symbols");
    for kind in 1..=26 {
        assert!(answer.has(&format!("alpha{kind}")), "kind {kind} is missing\n{answer}");
    }
    assert_eq!(lp.log().of("workspace/symbol")[0]["query"], "alpha");
}

/// A question about the whole project is `indexing` before the signal and `fresh` after it.
fn signalled(ready: &str, loading: Vec<Act>, loaded: Vec<Act>) {
    let ws = Workspace::new("//- core.py\ndef hub(): pass\n//- a.py\nhub()\n");
    let gate = Act::Await(ws.gate("loaded"));
    let acts: Vec<Act> = loading.into_iter().chain([gate]).chain(loaded).collect();
    let fake = Definition::new("fake", Script::new().on("initialized", acts));
    let lp = Langport::builder(&ws).server(fake.table(&format!("[ready]\n{ready}"))).max_wait(6_000).start();
    let ask = || lp.tool("references", &json!({"file_path": "core.py", "line": 1, "column": 5}));
    ask().fine().verdict_is("indexing");
    eventually("it loads", || lp.tool("status", &json!({})).has("local/fake  indexing").then_some(()));
    ws.open("loaded");
    let answer = eventually("a fresh answer", || Some(ask()).filter(|answer| answer.verdict() == "fresh"));
    assert_eq!(answer.places().len(), 2, "{answer}");
}

/// Work that is none of the signal's begins and ends before it.
fn other_work() -> Vec<Act> {
    let progress = |value| Act::Tell("$/progress".into(), json!({"token": "other", "value": value}));
    vec![
        progress(json!({"kind": "begin", "title": "Fetching"})),
        progress(json!({"kind": "end"})),
        Act::Tell("window/logMessage".into(), json!({"type": 3, "message": "Loading"})),
        Act::Tell("fake/status".into(), json!({"state": {"quiescent": false}})),
    ]
}

fn x28_a_log_line_is_a_signal() {
    let line = Act::Tell("window/logMessage".into(), json!({"type": 3, "message": "Analysis: Completed 2"}));
    signalled("log = 'Analysis: (Completed|Skipped)'", other_work(), vec![line]);
}

fn x28_a_field_of_a_notification_is_a_signal() {
    let ready = "notification = { method = \"fake/status\", field = \"state.quiescent\" }";
    let told = Act::Tell("fake/status".into(), json!({"state": {"quiescent": true}}));
    signalled(ready, other_work(), vec![told]);
}

fn x28_the_end_of_a_progress_is_a_signal() {
    let progress = |value| Act::Tell("$/progress".into(), json!({"token": "setup", "value": value}));
    let mut loading = other_work();
    loading.push(progress(json!({"kind": "begin", "title": "Setting up"})));
    signalled("progress = '^Setting up$'", loading, vec![progress(json!({"kind": "end"}))]);
}
