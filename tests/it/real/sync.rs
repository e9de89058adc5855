//! The newest text, whoever wrote it and however, as real type checkers see it.

use std::process::Command;

use serde_json::json;

use crate::support::{Langport, Workspace};

use super::{needs, servers::Need, start};

needs! {
    [Pyright] => syn_01_pyright, syn_02_pyright, syn_02_git_pyright, a_dependency_that_is_open_pyright, a_dependency_behind_a_link_pyright;
    [Ty] => syn_01_ty, syn_02_ty, syn_02_git_ty, a_dependency_that_is_open_ty, a_dependency_behind_a_link_ty;
}

const LIB: &str = "def calc(a: int) -> int:\n    print(a)\n    return 1\n";
const USE: &str = "from lib import calc\n\ncalc(\"x\")\n";

fn project() -> Workspace {
    Workspace::new(&format!(
        "//- pyproject.toml\n[project]\nname = \"p\"\nversion = \"1\"\n//- lib.py\n{LIB}//- use.py\n{USE}"
    ))
}

/// Runs a script of the shell in the workspace, with what an agent's shell would have.
#[track_caller]
fn shell(ws: &Workspace, script: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", script]).current_dir(ws.root()).env("HOME", ws.home());
    for role in ["AUTHOR", "COMMITTER"] {
        shell.env(format!("GIT_{role}_NAME"), "it").env(format!("GIT_{role}_EMAIL"), "it@example.org");
    }
    let output = shell.output().expect("a shell");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// `use.py` is wrong while `calc` takes an `int`.
#[track_caller]
fn wrong(lp: &Langport, server: &str, why: &str) {
    let answer = lp.diagnostics("use.py");
    assert_eq!(answer.first(), format!("fresh · {server} · 1 error"), "{why}\n{answer}");
    assert_eq!(answer.places()[0], ("use.py".to_owned(), 3, 6), "{why}\n{answer}");
}

#[track_caller]
fn right(lp: &Langport, server: &str, why: &str) {
    let answer = lp.diagnostics("use.py");
    assert_eq!(answer.first(), format!("fresh · {server} · no problems"), "{why}\n{answer}");
}

/// `lib.py` is a link to a file that changes, is made anew, and gives way to another one.
fn a_dependency_behind_a_link(need: Need) {
    let (ws, server) = (project(), need.name());
    shell(&ws, "mkdir real; mv lib.py real/lib_text.py; ln -s real/lib_text.py lib.py");
    let lp = start(&ws, &[need]);
    wrong(&lp, server, "as it was written");
    ws.write("real/lib_text.py", &LIB.replace("a: int", "a: str"));
    right(&lp, server, "after the file behind the link was written");
    ws.replace("real/lib_text.py", LIB);
    wrong(&lp, server, "after the file behind the link was replaced");
    ws.write("real/other_text.py", &LIB.replace("a: int", "a: str"));
    shell(&ws, "ln -sfn real/other_text.py lib.py");
    right(&lp, server, "after the link leads elsewhere");
    ws.write("real/other_text.py", LIB);
    wrong(&lp, server, "after the other file was written");
}

fn a_dependency_behind_a_link_pyright() {
    a_dependency_behind_a_link(Need::Pyright);
}

fn a_dependency_behind_a_link_ty() {
    a_dependency_behind_a_link(Need::Ty);
}

fn syn_01(need: Need) {
    let (ws, server) = (project(), need.name());
    let lp = start(&ws, &[need]);
    for round in 0..3 {
        wrong(&lp, server, "as it was written");
        ws.write("use.py", &format!("from lib import calc\n\nx{round} = calc(5)\n"));
        right(&lp, server, "after the mending");
        let place = json!({"file_path": "use.py", "line": 3, "column": 1});
        lp.hover(&place).verdict_is("fresh").contains(&format!("x{round}"));
        let at = json!({"file_path": "use.py", "line": 3, "symbol": "calc"});
        lp.hover(&at).contains("calc(a: int) -> int");
        ws.write("use.py", USE);
    }
}

fn syn_01_pyright() {
    syn_01(Need::Pyright);
}

/// As `syn_01`, with the hover that ty words its own way.
fn syn_01_ty() {
    let ws = project();
    let lp = start(&ws, &[Need::Ty]);
    for round in 0..3 {
        wrong(&lp, "ty", "as it was written");
        ws.write("use.py", &format!("from lib import calc\n\nx{round} = calc(5)\n"));
        right(&lp, "ty", "after the mending");
        let place = json!({"file_path": "use.py", "line": 3, "column": 1});
        let hover = lp.hover(&place);
        hover.says("fresh · ty · hover").contains("  int");
        ws.write("use.py", USE);
    }
}

/// Ways to turn `int` into `str` (or back) in `lib.py`: the size in bytes never changes.
const WAYS: [(&str, &str); 7] = [
    ("an editor in place", "sed -i 's/a: FROM/a: TO/' lib.py"),
    (
        "the modification time kept",
        "cp -p lib.py ../before; sed -i 's/a: FROM/a: TO/' lib.py; touch -r ../before lib.py",
    ),
    (
        "over the same file, the time kept",
        "cp -p lib.py ../before; sed 's/a: FROM/a: TO/' lib.py > ../after; cat ../after > lib.py; touch -r ../before lib.py",
    ),
    ("beside it, then renamed", "sed 's/a: FROM/a: TO/' lib.py > lib.py.tmp; mv lib.py.tmp lib.py"),
    (
        "renamed in with an old time",
        "sed 's/a: FROM/a: TO/' lib.py > ../new; touch -d 2001-01-01 ../new; mv ../new lib.py",
    ),
    ("removed and made anew", "sed 's/a: FROM/a: TO/' lib.py > ../new; rm lib.py; cat ../new > lib.py"),
    ("through a link", "ln -sf ws/lib.py ../link; sed 's/a: FROM/a: TO/' lib.py > ../new; cat ../new > ../link"),
];

fn syn_02(need: Need) {
    let (ws, server) = (project(), need.name());
    let lp = start(&ws, &[need]);
    wrong(&lp, server, "as it was written");
    for (way, script) in WAYS {
        shell(&ws, &script.replace("FROM", "int").replace("TO", "str"));
        right(&lp, server, way);
        shell(&ws, &script.replace("FROM", "str").replace("TO", "int"));
        wrong(&lp, server, way);
    }
    // Two writes within 10 ms: the first may be told, the second must be.
    for _ in 0..5 {
        ws.write("lib.py", &LIB.replace("a: int", "a: bytes"));
        ws.write("lib.py", &LIB.replace("a: int", "a: str"));
        right(&lp, server, "the second of two writes");
        ws.write("lib.py", &LIB.replace("a: int", "a: str"));
        ws.write("lib.py", LIB);
        wrong(&lp, server, "the second of two writes");
    }
    assert!(!lp.tool("status", &json!({})).has("starts: 2"), "one server has seen it all");
}

fn syn_02_pyright() {
    syn_02(Need::Pyright);
}

fn syn_02_ty() {
    syn_02(Need::Ty);
}

fn syn_02_git(need: Need) {
    let (ws, server) = (project(), need.name());
    shell(&ws, "git init -q .; git add .; git commit -q -m one");
    let lp = start(&ws, &[need]);
    wrong(&lp, server, "as it was committed");
    for _ in 0..2 {
        shell(&ws, "sed -i 's/a: int/a: str/' lib.py");
        right(&lp, server, "before the stash");
        shell(&ws, "git stash -q");
        wrong(&lp, server, "after git stash");
        shell(&ws, "git stash pop -q");
        right(&lp, server, "after git stash pop");
        shell(&ws, "git checkout -q lib.py");
        wrong(&lp, server, "after git checkout");
    }
    shell(&ws, "git checkout -q -b other; sed -i 's/a: int/a: str/' lib.py; git commit -q -a -m two");
    right(&lp, server, "on a branch");
    shell(&ws, "git checkout -q -");
    wrong(&lp, server, "back from the branch");
}

fn syn_02_git_pyright() {
    syn_02_git(Need::Pyright);
}

fn syn_02_git_ty() {
    syn_02_git(Need::Ty);
}

/// A is edited, B is asked, both of them open.
fn a_dependency_that_is_open(need: Need) {
    let (ws, server) = (project(), need.name());
    let lp = start(&ws, &[need]);
    lp.diagnostics("lib.py").says(&format!("fresh · {server} · no problems"));
    for round in 0..5 {
        wrong(&lp, server, "while it takes an int");
        ws.write("lib.py", &format!("{}# {round}\n", LIB.replace("a: int", "a: str")));
        right(&lp, server, "while it takes a str");
        ws.write("lib.py", LIB);
    }
    ws.remove("lib.py");
    let answer = lp.diagnostics("use.py");
    answer.verdict_is("fresh").contains("1 error").contains("use.py:1:6").contains("lib");
    ws.write("lib.py", &LIB.replace("a: int", "a: str"));
    right(&lp, server, "when it is back");
}

fn a_dependency_that_is_open_pyright() {
    a_dependency_that_is_open(Need::Pyright);
}

fn a_dependency_that_is_open_ty() {
    a_dependency_that_is_open(Need::Ty);
}
