//! A server that is killed, and two servers for one file.

use serde_json::json;

use crate::support::{Langport, Workspace, eventually, procs};

use super::{needs, places_are, servers, servers::Need, start, without_mark};

needs! {
    [Pyright] => lif_01_pyright_is_killed;
    [Pyright, Ruff] => rou_04_pyright_and_ruff;
    [Pyright, Ty, Ruff] => rou_04_the_first_one_answers;
}

/// The process of the only running server, as `lsp_status` shows it.
fn pid(lp: &Langport) -> u32 {
    let status = lp.tool("status", &json!({}));
    let pid = status
        .text
        .split("pid: ")
        .nth(1)
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    pid.unwrap_or_else(|| panic!("a pid in\n{status}"))
}

fn kill(pid: u32) {
    procs::signal(pid, libc::SIGKILL);
    eventually("the server's death", || (!procs::alive(pid)).then_some(()));
}

fn lif_01_pyright_is_killed() {
    let ws = servers::shop();
    let lp = start(&ws, &[Need::Pyright]);
    let at = json!({"file_path": "shop/checkout.py", "line": 46, "symbol": "add"});
    let (hover, problems) = (lp.hover(&at), lp.diagnostics("shop/checkout.py"));
    let uses = lp.tool("references", &json!({"file_path": "shop/cart.py", "symbol": "Cart/total"}));
    uses.contains("3 references in 3 files");
    let first = pid(&lp);
    kill(first);
    // The same words as before, from a process that is another.
    assert_eq!(lp.hover(hover_is_there(&hover, &at)).text, hover.text);
    let second = pid(&lp);
    assert_ne!(first, second);
    assert_eq!(without_mark(&lp.diagnostics("shop/checkout.py").text), without_mark(&problems.text));
    assert_eq!(lp.tool("references", &json!({"file_path": "shop/cart.py", "symbol": "Cart/total"})).text, uses.text);
    // It hears of changes again, of open files and of others.
    let text = ws.read("shop/checkout.py");
    ws.write("shop/checkout.py", &text.replace("\"1\")", "1)"));
    lp.diagnostics("shop/checkout.py").says("fresh · pyright · no problems");
    ws.write("shop/late.py", "from shop.cart import Cart\n\nCart().total()\n");
    lp.tool("references", &json!({"file_path": "shop/cart.py", "symbol": "Cart/total"}))
        .contains("4 references in 4 files");
    // Killed while it has a question.
    let asked = lp.call("lsp_diagnostics", &json!({"file_path": "shop/greetings.py"}));
    kill(pid(&lp));
    let answer = crate::support::Answer::of(&lp.answer(asked));
    answer.verdict_in(&["fresh", "failed"]);
    lp.hover(&at).says("fresh · pyright · hover");
}

/// Nothing is proven by a failure that is repeated.
#[track_caller]
fn hover_is_there<'a>(hover: &crate::support::Answer, at: &'a serde_json::Value) -> &'a serde_json::Value {
    hover.says("fresh · pyright · hover").contains("def add(");
    at
}

const BOTH: &str = "//- pyproject.toml
[project]
name = \"p\"
version = \"1\"
//- u.py
import os

count: int = \"one\"
print(undefined)
";

fn rou_04_pyright_and_ruff() {
    let ws = Workspace::new(BOTH);
    let lp = start(&ws, &[Need::Pyright, Need::Ruff]);
    let both = lp.diagnostics("u.py");
    // The unused import is ruff's, the type is pyright's, the name both have seen.
    both.says("fresh · pyright, ruff · 3 errors, 1 warning (1 hint not listed, 1 of them unused or deprecated code)");
    places_are(&both, &["u.py:1:8", "u.py:3:14", "u.py:4:7", "u.py:4:7"]);
    for part in ["reportAssignmentType", "reportUndefinedVariable", "F401", "F821", "Pyright", "Ruff"] {
        both.contains(part);
    }
    let at = json!({"file_path": "u.py", "line": 3, "symbol": "count"});
    lp.hover(&at).says("fresh · pyright · hover").contains("count: int");
    places_are(lp.tool("references", &at).says("fresh · pyright · 1 reference in 1 file"), &["u.py:3:1"]);
    // Each of them hears of the change.
    ws.write("u.py", "import os\n\ncount: int = 1\nprint(count)\n");
    let ruffs = lp.diagnostics("u.py");
    places_are(
        ruffs
            .says("fresh · pyright, ruff · 1 warning (1 hint not listed, 1 of them unused or deprecated code)")
            .contains("F401"),
        &["u.py:1:8"],
    );
    ws.write("u.py", "count: int = \"one\"\nprint(count)\n");
    let pyrights = lp.diagnostics("u.py");
    places_are(pyrights.says("fresh · pyright, ruff · 1 error").contains("reportAssignmentType"), &["u.py:1:14"]);
    ws.write("u.py", "count: int = 1\nprint(count)\n");
    lp.diagnostics("u.py").says("fresh · pyright, ruff · no problems");
}

/// Without a binding the first of the alternatives serves, beside the linter; with one, the first capable.
fn rou_04_the_first_one_answers() {
    let ws = Workspace::new(BOTH);
    let auto = super::builder(&ws, &[]).start();
    auto.diagnostics("u.py").verdict_is("fresh").contains("· pyright, ruff ·");
    drop(auto);
    let lp = start(&ws, &[Need::Pyright, Need::Ty, Need::Ruff]);
    let at = json!({"file_path": "u.py", "line": 3, "symbol": "count"});
    lp.hover(&at).says("fresh · pyright · hover");
    // pyright has no implementations and no type hierarchy: the next one is asked.
    lp.tool("types", &json!({"file_path": "u.py", "line": 3, "symbol": "int"})).contains("· ty ·");
    lp.diagnostics("u.py").verdict_is("fresh").contains("· pyright, ty, ruff ·");
}
