//! What changed since a mark or a git revision, and which problems are new.

use std::process::Command;

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Answer, Definition, Langport, Workspace, eventually},
};

trials![
    every_answer_ends_with_a_mark,
    a_mark_of_another_run_is_expired,
    a_mark_is_expired_when_too_much_has_changed,
    x2_an_old_error_below_new_lines_is_not_new,
    x2_what_is_mended_is_counted,
    x2_what_was_known_at_a_mark,
    c22_without_an_earlier_answer_all_are_listed_and_it_is_said,
    x5_unused_and_deprecated_code_is_counted,
];

/// Runs a script of the shell in the workspace, with what an agent's shell would have.
#[track_caller]
pub(crate) fn shell(ws: &Workspace, script: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", script]).current_dir(ws.root()).env("HOME", ws.home());
    for role in ["AUTHOR", "COMMITTER"] {
        shell.env(format!("GIT_{role}_NAME"), "it").env(format!("GIT_{role}_EMAIL"), "it@example.org");
    }
    let output = shell.output().expect("a shell");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Everything as it is becomes a commit.
pub(crate) fn commit(ws: &Workspace) {
    shell(ws, "git init -q -b main . 2>/dev/null; git add .; git commit -q --no-verify -m it");
}

/// The mark on the last line.
#[track_caller]
pub(crate) fn mark(answer: &Answer) -> String {
    let last = answer.text.lines().last().unwrap_or_default();
    last.strip_prefix("mark ").unwrap_or_else(|| panic!("a mark at the end of\n{answer}")).to_owned()
}

/// A server that looks at a file again when it is told of it again, as those that push do.
pub(crate) fn serve(ws: &Workspace, script: Script) -> Langport {
    let definition = Definition::new("fake", script).table("[diagnostics]\nretrigger = \"change\"");
    Langport::builder(ws).server(definition).start()
}

/// A server for each way in which problems are told.
pub(crate) fn both(work: impl Fn(Script)) {
    work(Script::watching("**/*"));
    work(Script::watching("**/*").pull());
}

pub(crate) fn changed(lp: &Langport) -> Answer {
    lp.tool("diagnostics", &json!({"scope": "changed"}))
}

pub(crate) fn new_in(lp: &Langport, file: &str) -> Answer {
    lp.tool("diagnostics", &json!({"file_path": file, "new_only": true}))
}

fn every_answer_ends_with_a_mark() {
    let ws = Workspace::new("//- a.py\nx = ERR\n");
    let lp = Langport::with(&ws, Script::new());
    let (one, two) = (mark(&lp.diagnostics("a.py")), mark(&lp.diagnostics("a.py")));
    assert!(one != two && one.len() <= 8, "{one} {two}");
    let all = lp.tool("diagnostics", &json!({"scope": "workspace"}));
    mark(&all);
    drop(lp);
    let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new())).config("output = \"both\"");
    let lp = lp.start();
    let answer = lp.diagnostics("a.py");
    let mark = answer.raw["structuredContent"]["mark"].as_str().expect("a mark").to_owned();
    ws.write("a.py", "y = ERR\n");
    let since = lp.tool("diagnostics", &json!({"scope": "changed", "since": mark}));
    assert_eq!(since.raw["structuredContent"]["total"], 1, "{since}");
}

fn a_mark_of_another_run_is_expired() {
    let ws = Workspace::new("//- a.py\nx = ERR\n");
    let lp = Langport::with(&ws, Script::new());
    let old = mark(&lp.diagnostics("a.py"));
    drop(lp);
    let lp = Langport::with(&ws, Script::new());
    let answer = lp.tool("diagnostics", &json!({"scope": "changed", "since": old}));
    answer.fails("expired").contains(&old).contains("HEAD");
    lp.tool("diagnostics", &json!({"file_path": "a.py", "new_only": true, "since": old})).fails("expired");
}

fn a_mark_is_expired_when_too_much_has_changed() {
    let ws = Workspace::new("//- a.py\nx = ERR\n//- many/0.txt\n\n");
    let lp = Langport::with(&ws, Script::new());
    let old = mark(&lp.diagnostics("a.py"));
    for n in 0..17_000 {
        std::fs::write(ws.path(&format!("many/{n}.txt")), "x").unwrap();
    }
    ws.write("a.py", "y = ERR\n");
    // So many events take longer than a call waits for them: until then it is not sure what has changed. A hover waits for
    // them as well, and makes no mark: one made meanwhile would be behind most of them.
    let at = json!({"file_path": "a.py", "line": 1, "column": 1});
    eventually("all events", || Some(lp.hover(&at)).filter(|answer| answer.verdict() == "fresh"));
    let answer = lp.tool("diagnostics", &json!({"scope": "changed", "since": old}));
    answer.fails("expired").contains(&old);
    // Its own last mark is worth no more, and there is no commit.
    changed(&lp).fails("expired").contains("workspace");
    // Looking through all folders has a time of its own, which not every machine keeps at the first attempt.
    let look = || Some(lp.tool("diagnostics", &json!({"scope": "workspace"}))).filter(|all| all.verdict() == "fresh");
    let all = eventually("a look at all folders", look);
    all.says("fresh · fake · 1 error in 1 of 1 file");
    let since = lp.tool("diagnostics", &json!({"scope": "changed", "since": mark(&all)}));
    since.contains("nothing to look at has changed");
}

fn x2_an_old_error_below_new_lines_is_not_new() {
    both(|script| {
        let ws = Workspace::new("//- a.py\na\nold = ERR\nb\n");
        let lp = serve(&ws, script);
        let first = mark(&lp.diagnostics("a.py"));
        ws.write("a.py", "1\n2\n3\na\nold = ERR\nb\nyoung = ERR\n");
        let answer = new_in(&lp, "a.py");
        answer.says(&format!("fresh · fake · 1 new error, since {first}")).contains("a.py:7:1").lacks("old = ERR");
        // What was told is known.
        new_in(&lp, "a.py").fine().contains("no new problems");
        let again = lp.tool("diagnostics", &json!({"file_path": "a.py", "new_only": true, "since": first}));
        again.says(&format!("fresh · fake · 1 new error, since {first}"));
    });
}

fn x2_what_is_mended_is_counted() {
    both(|script| {
        let ws = Workspace::new("//- a.py\none = ERR\ntwo = ERR\nthree = ERR\n");
        let lp = serve(&ws, script);
        let first = mark(&lp.diagnostics("a.py"));
        ws.write("a.py", "three = ERR\n");
        new_in(&lp, "a.py").says(&format!("fresh · fake · no new problems, 2 gone, since {first}"));
    });
}

fn x2_what_was_known_at_a_mark() {
    let ws = Workspace::new("//- a.py\nzero = ERR\n");
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    let marks: Vec<String> = (1..4)
        .map(|n| {
            let mark = mark(&lp.diagnostics("a.py"));
            ws.write("a.py", &format!("{}more{n} = ERR\n", ws.read("a.py")));
            mark
        })
        .collect();
    for (n, mark) in marks.iter().enumerate() {
        let answer = lp.tool("diagnostics", &json!({"file_path": "a.py", "new_only": true, "since": mark}));
        assert_eq!(answer.places().len(), 3 - n, "{answer}");
    }
}

fn c22_without_an_earlier_answer_all_are_listed_and_it_is_said() {
    let ws = Workspace::new("//- a.py\nold = ERR\n//- b.py\nb = ERR\n");
    let lp = Langport::with(&ws, Script::new());
    let first = new_in(&lp, "a.py");
    first.says("fresh · fake · 1 error").contains("no earlier answer to compare with").contains("old = ERR");
    // It has changed, and what it was like is not known.
    ws.write("b.py", "b = ERR\n\n");
    let other = new_in(&lp, "b.py");
    other.contains("1 error").lacks("new error").contains("no earlier answer to compare with");
}

/// Problems with these severities and tags, pulled.
fn tagged(problems: &[(u8, &[u8])]) -> Script {
    let items = problems.iter().enumerate().map(|(line, (severity, tags))| {
        let range = json!({"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}});
        json!({"range": range, "severity": severity, "tags": tags, "message": format!("problem {line}")})
    });
    let report = json!({"kind": "full", "items": items.collect::<Vec<Value>>()});
    Script::new().pull().on("textDocument/diagnostic", [Act::Reply(report)])
}

fn x5_unused_and_deprecated_code_is_counted() {
    let ws = Workspace::new("//- a.py\na\nb\nc\nd\ne\n");
    let lp = Langport::with(&ws, tagged(&[(1, &[]), (2, &[1]), (3, &[2]), (3, &[]), (4, &[1])]));
    let ask = |severity: &str| lp.tool("diagnostics", &json!({"file_path": "a.py", "severity": severity}));
    // A warning is one, whatever it is about.
    ask("warning")
        .says("fresh · fake · 1 error, 1 warning (2 infos, 1 hint not listed, 2 of them unused or deprecated code)");
    let infos = ask("info");
    infos.contains("1 info (").contains("2 of them unused").contains("problem 3").lacks("problem 2");
    ask("hint").says("fresh · fake · 1 error, 1 warning, 2 infos, 1 hint").contains("problem 4");
}
