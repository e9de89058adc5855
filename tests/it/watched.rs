//! What servers are told of the files that they want to hear of, open or not.

use std::time::Instant;

use serde_json::{Value, json};

use crate::{
    fake::script::{Script, register},
    support::{Definition, Langport, Pace, Workspace, eventually, in_pace},
};

trials![
    x3_globs_kinds_and_relative_patterns,
    x3_links_are_told_of_under_both_names,
    x3_an_ignored_folder_that_a_glob_names,
    x3_what_is_ignored_is_decided_anew,
    x3_changes_are_told_without_a_question,
    x3_installed_packages_are_told_of,
    x3_installed_packages_ask_for_a_new_start,
    x3_other_dependencies_make_answers_old,
    per_01_too_many_folders,
    per_01_ignored_folders_take_no_watches,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

/// Everything that was told of watched files: paths below the root with LSP's numbers, sorted.
fn told(ws: &Workspace, lp: &Langport) -> Vec<(String, i64)> {
    let mut told = Vec::new();
    for note in lp.log().of("workspace/didChangeWatchedFiles") {
        for change in note["changes"].as_array().unwrap() {
            let uri = change["uri"].as_str().unwrap();
            let path = uri.strip_prefix(&ws.uri("")).unwrap_or(uri).trim_start_matches('/').to_owned();
            told.push((path, change["type"].as_i64().unwrap()));
        }
    }
    told.sort();
    told
}

fn pairs(expected: &[(&str, i64)]) -> Vec<(String, i64)> {
    expected.iter().map(|(path, kind)| ((*path).to_owned(), *kind)).collect()
}

fn x3_globs_kinds_and_relative_patterns() {
    in_pace(globs_kinds_and_relative_patterns);
}

fn globs_kinds_and_relative_patterns(pace: &Pace) {
    let files = ["plain", "absolute", "base", "slash", "folder", "created", "deleted", "changed", "none"];
    let ws = Workspace::new("//- a.py\nx\n");
    files.iter().for_each(|name| ws.write(&format!("{name}/old.t"), "1"));
    ws.write("plain/other.t", "1");
    let root = ws.uri("");
    let root = root.trim_end_matches('/');
    let watchers = json!({"watchers": [
        {"globPattern": "plain/*.t"},
        {"globPattern": format!("{}/absolute/**", ws.root().display())},
        {"globPattern": {"baseUri": format!("{root}/base"), "pattern": "*.t"}},
        {"globPattern": {"baseUri": format!("{root}/slash/"), "pattern": "**/*.t"}},
        {"globPattern": {"baseUri": {"uri": format!("{root}/folder"), "name": "folder"}, "pattern": "*.{s,t}"}},
        {"globPattern": "created/*", "kind": 1},
        {"globPattern": "changed/*", "kind": 2},
        {"globPattern": "deleted/*", "kind": 4},
        {"globPattern": "none/*", "kind": 0},
    ]});
    let second = json!({"watchers": [{"globPattern": "**/none/*", "kind": 4}]});
    let ask = |id: &str, options: Value| register(id, "workspace/didChangeWatchedFiles", options).block();
    let lp =
        Langport::with(&ws, Script::new().on("initialized", [ask("one", watchers).into(), ask("two", second).into()]));
    lp.hover(&at("a.py")).verdict_is("fresh");
    pace.keep(|| {
        for name in files {
            ws.write(&format!("{name}/new.t"), "1");
            ws.write(&format!("{name}/old.t"), "2");
        }
    });
    lp.hover(&at("a.py")).verdict_is("fresh");
    let mut expected = Vec::new();
    for name in ["absolute", "base", "folder", "plain", "slash"] {
        expected.extend([(format!("{name}/new.t"), 1), (format!("{name}/old.t"), 2)]);
    }
    expected.extend(pairs(&[("changed/old.t", 2), ("created/new.t", 1)]));
    expected.sort();
    assert_eq!(told(&ws, &lp), expected);
    files.iter().for_each(|name| ws.remove(&format!("{name}/old.t")));
    lp.hover(&at("a.py")).verdict_is("fresh");
    let deleted = ["absolute", "base", "deleted", "folder", "none", "plain", "slash"];
    expected.extend(deleted.map(|name| (format!("{name}/old.t"), 3)));
    expected.sort();
    assert_eq!(told(&ws, &lp), expected);
}

fn x3_links_are_told_of_under_both_names() {
    in_pace(links_are_told_of_under_both_names);
}

fn links_are_told_of_under_both_names(pace: &Pace) {
    let ws = Workspace::new("//- a.py\nx\n//- real/deep/b.py\nb\n");
    std::os::unix::fs::symlink(ws.path("real"), ws.path("link")).unwrap();
    let lp = Langport::with(&ws, Script::watching("**/*.py"));
    lp.hover(&at("a.py")).verdict_is("fresh");
    pace.keep(|| {
        ws.write("link/deep/b.py", "c\n");
        ws.write("real/new.py", "c\n");
    });
    lp.hover(&at("a.py")).verdict_is("fresh");
    let expected = [("link/deep/b.py", 2), ("link/new.py", 1), ("real/deep/b.py", 2), ("real/new.py", 1)];
    assert_eq!(told(&ws, &lp), pairs(&expected));
    // A file that is asked about by either name is one document.
    lp.hover(&at("link/deep/b.py")).verdict_is("fresh").contains("WORD c");
    ws.write("link/deep/b.py", "d\n");
    lp.hover(&at("real/deep/b.py")).verdict_is("fresh").contains("WORD d");
    ws.write("real/deep/b.py", "e\n");
    lp.hover(&at("link/deep/b.py")).verdict_is("fresh").contains("WORD e");
    assert_eq!(lp.log().count("textDocument/didOpen"), 2);
}

fn x3_an_ignored_folder_that_a_glob_names() {
    let ws = Workspace::new("//- .gitignore\ngen/\nlate/\n//- a.py\nx\n//- gen/b.py\nb\n//- gen/deep/c.py\nc\n");
    std::fs::create_dir(ws.path(".git")).unwrap();
    let watchers = json!({"watchers": [{"globPattern": "gen/**"}, {"globPattern": "late/out/*.py"}]});
    let ask = register("w", "workspace/didChangeWatchedFiles", watchers).block();
    let lp = Langport::with(&ws, Script::new().on("initialized", [ask.into()]));
    lp.hover(&at("a.py")).fine();
    lp.hover(&at("a.py")).fine();
    ws.write("gen/b.py", "changed\n");
    ws.write("gen/deep/c.py", "changed\n");
    ws.write("late/out/d.py", "d\n");
    ws.write("late/other/e.py", "e\n");
    lp.hover(&at("a.py")).fine();
    let told = told(&ws, &lp);
    for expected in pairs(&[("gen/b.py", 2), ("gen/deep/c.py", 2), ("late/out/d.py", 1)]) {
        assert!(told.contains(&expected), "{told:?}");
    }
    assert!(told.iter().all(|(path, _)| !path.contains("other")), "{told:?}");
}

fn x3_what_is_ignored_is_decided_anew() {
    in_pace(what_is_ignored_is_decided_anew);
}

fn what_is_ignored_is_decided_anew(pace: &Pace) {
    let ws = Workspace::new("//- a.py\nx\n//- p/.gitignore\nout\n//- p/out/b.py\nb\n//- q/c.py\nc\n");
    let lp = Langport::with(&ws, Script::watching("**/*.py"));
    lp.hover(&at("a.py")).verdict_is("fresh");
    pace.keep(|| ws.write("p/out/b.py", "1\n"));
    lp.hover(&at("a.py")).verdict_is("fresh");
    assert_eq!(told(&ws, &lp), []);
    pace.keep(|| ws.write("p/.gitignore", "# nothing\n"));
    lp.hover(&at("a.py")).verdict_is("fresh");
    pace.keep(|| ws.write(".ignore", "q\n"));
    lp.hover(&at("a.py")).verdict_is("fresh");
    pace.keep(|| {
        ws.write("p/out/b.py", "2\n");
        ws.write("q/c.py", "2\n");
    });
    lp.hover(&at("a.py")).verdict_is("fresh");
    assert_eq!(told(&ws, &lp), pairs(&[("p/out/b.py", 1), ("p/out/b.py", 2)]));
}

fn x3_changes_are_told_without_a_question() {
    in_pace(changes_are_told_without_a_question);
}

fn changes_are_told_without_a_question(pace: &Pace) {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.py\nb\n");
    let lp = Langport::with(&ws, Script::watching("**/*.py"));
    lp.hover(&at("a.py")).verdict_is("fresh");
    let begun = Instant::now();
    for n in 0..50 {
        ws.write(&format!("new{n}.py"), "x\n");
    }
    pace.keep(|| ws.write("a.py", "beta\n"));
    let pauses = usize::try_from(begun.elapsed().as_millis() / 100).unwrap();
    lp.log().wait("textDocument/didChange", 1);
    let told = eventually("all are told", || {
        let notes = lp.log().of("workspace/didChangeWatchedFiles");
        let told: Vec<usize> = notes.iter().map(|note| note["changes"].as_array().unwrap().len()).collect();
        (told.iter().sum::<usize>() >= 51).then_some(told)
    });
    // One more for each pause of 100 ms that a loaded machine makes.
    assert!(told.len() <= 1 + pauses, "told together, not {told:?} with {pauses} pauses");
    lp.hover(&at("a.py")).verdict_is("fresh").contains("WORD beta");
    assert_eq!(lp.log().count("textDocument/didChange"), 1, "once is enough");
}

const PACKAGES: &str = ".venv/lib/python3.12/site-packages";

fn project() -> Workspace {
    let ws = Workspace::new("//- a.py\nalpha = ERR\n//- .venv/pyvenv.cfg\n\n//- node_modules/.package-lock.json\n{}\n");
    ws.write(&format!("{PACKAGES}/six.py"), "");
    ws.write(&format!("{PACKAGES}/six-1.0.dist-info/RECORD"), "");
    ws
}

fn install(ws: &Workspace) {
    ws.write(&format!("{PACKAGES}/flask/__init__.py"), "");
    ws.write(&format!("{PACKAGES}/flask-3.0.dist-info/RECORD"), "");
}

fn x3_installed_packages_are_told_of() {
    in_pace(installed_packages_are_told_of);
}

fn installed_packages_are_told_of(pace: &Pace) {
    for config in ["", "watch_events = false\nbarrier_ms = 5000"] {
        let ws = project();
        let server = Definition::new("fake", Script::watching("**/*"));
        let lp = Langport::builder(&ws).server(server).config(config).start();
        lp.hover(&at("a.py")).verdict_is("fresh");
        pace.keep(|| {
            install(&ws);
            std::fs::remove_dir_all(ws.path(&format!("{PACKAGES}/six-1.0.dist-info"))).unwrap();
            ws.write("node_modules/.package-lock.json", "{ }\n");
            ws.write("node_modules/left/index.js", "\n");
            ws.write("go.sum", "x\n");
        });
        lp.hover(&at("a.py")).verdict_is("fresh");
        let (new, old) = (format!("{PACKAGES}/flask-3.0.dist-info"), format!("{PACKAGES}/six-1.0.dist-info"));
        let expected = [(&*new, 1), (&*old, 3), ("go.sum", 1), ("node_modules/.package-lock.json", 2)];
        assert_eq!(told(&ws, &lp), pairs(&expected));
    }
}

fn x3_installed_packages_ask_for_a_new_start() {
    in_pace(installed_packages_ask_for_a_new_start);
}

fn installed_packages_ask_for_a_new_start(pace: &Pace) {
    let ws = project();
    let server =
        Definition::new("fake", Script::new()).table("[watch]\nrestart = [\"**/*.dist-info\", \"**/Cargo.lock\"]");
    let lp = Langport::builder(&ws).server(server).start();
    lp.hover(&at("a.py")).verdict_is("fresh");
    ws.write(&format!("{PACKAGES}/six.py"), "changed\n");
    lp.hover(&at("a.py")).verdict_is("fresh");
    assert_eq!(lp.log().starts(), 1);
    pace.keep(|| install(&ws));
    lp.hover(&at("a.py")).verdict_is("fresh");
    assert_eq!(lp.log().starts(), 2);
    ws.write("Cargo.lock", "\n");
    lp.hover(&at("a.py")).verdict_is("fresh");
    assert_eq!(lp.log().starts(), 3);
}

/// A server that is told nothing of it: its last list was about other packages.
fn x3_other_dependencies_make_answers_old() {
    let ws = project();
    let lp = Langport::with(&ws, Script::new());
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    install(&ws);
    lp.diagnostics("a.py").verdict_in(&["unconfirmed", "stale"]);
    drop(lp);
    // One that can be asked is asked again.
    let lp = Langport::with(&ws, Script::new().pull());
    let asked = lp.log().count("textDocument/diagnostic") + 1;
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    ws.write(&format!("{PACKAGES}/more-3.0.dist-info/RECORD"), "");
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    assert_eq!(lp.log().count("textDocument/diagnostic"), asked + 1);
}

fn per_01_too_many_folders() {
    let ws = Workspace::new("//- a.py\nNEEDS tally\n");
    (0..40).for_each(|n| ws.write(&format!("d{}/e{n}/m.py", n % 4), "x\n"));
    let server = Definition::new("fake", Script::watching("**").pull());
    let lp = Langport::builder(&ws).server(server).config("watched_folders = 10\nbarrier_ms = 5000").start();
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    lp.tool("status", &json!({})).contains("watching only 10 folders: there are more than 10 folders");
    for n in 0..40 {
        ws.write(&format!("d{}/e{n}/m.py", n % 4), "# PROVIDES tally\n");
        lp.diagnostics("a.py").says("fresh · fake · no problems");
        ws.write(&format!("d{}/e{n}/m.py", n % 4), "# NOTHING! tally\n");
        lp.diagnostics("a.py").says("fresh · fake · 1 error");
    }
}

fn per_01_ignored_folders_take_no_watches() {
    let ws = Workspace::new("//- .gitignore\nbuild/\n//- a.py\nalpha\n//- target/CACHEDIR.TAG\n\n");
    for folder in ["node_modules", "target", "build", ".git"] {
        for n in 0..1_500 {
            std::fs::create_dir_all(ws.path(&format!("{folder}/p{}/q{n}", n % 30))).unwrap();
        }
    }
    let lp = Langport::with(&ws, Script { unread: true, ..Script::watching("**") });
    lp.hover(&at("a.py")).verdict_is("fresh");
    eventually("the watch stands", || lp.tool("status", &json!({})).has("watching 1 folder").then_some(()));
    // The root, and what tells of installed packages.
    let watches: usize = std::fs::read_dir(format!("/proc/{}/fdinfo", lp.pid()))
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path()).ok())
        .map(|info| info.lines().filter(|line| line.starts_with("inotify ")).count())
        .sum();
    assert_eq!(watches, 2);
}
