//! Real servers that are killed as the kernel does when memory is short: what comes after is said by another process, and
//! is what a fresh start says.

use libtest_mimic::Trial;
use serde_json::json;

use crate::support::{Answer, Langport, Workspace, eventually, procs};

use super::{
    definitions::{Column, Row, replaced, row_of, row_trial, start},
    without_mark,
};

/// One server of each way to tell problems and to know a project.
const KILLED: [&str; 3] = ["clangd", "gopls", "typescript7"];

pub(super) fn trials() -> Vec<Trial> {
    let row = |name: &&str| row_of(name);
    let trial = |row: &'static Row| row_trial(format!("real::killed::lif_01_{}", row.name), row, run);
    KILLED.iter().map(|name| trial(row(name))).collect()
}

fn pid(lp: &Langport, row: &Row) -> u32 {
    let told = lp.tool("status", &json!({"server": row.shown()}));
    let digits = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    let pid = told.text.split("pid: ").nth(1).and_then(digits);
    pid.unwrap_or_else(|| panic!("a pid in\n{told}"))
}

/// Kills the server, and waits until langport knows.
fn kill(lp: &Langport, row: &Row) -> u32 {
    let pid = pid(lp, row);
    procs::signal(pid, libc::SIGKILL);
    let status = || lp.tool("status", &json!({"server": row.shown()}));
    eventually("the news of the server's death", || status().has("signal 9").then_some(()));
    pid
}

fn run(row: &Row) {
    let ws = Workspace::new(row.fixture);
    if let Some(prepare) = row.prepare {
        prepare(&ws);
    }
    let lp = start(row, &ws);
    let problem = || lp.diagnostics(row.file);
    let before = problem();
    before.verdict_is("fresh").contains(row.problem.0);
    let Column::Is(((file, line, symbol), words)) = row.hover else { panic!("{} has a hover", row.name) };
    let at = json!({"file_path": file, "line": line, "symbol": symbol});
    let broken = ws.read(row.file);
    let first = kill(&lp, row);
    // Its list comes from another process, and is the same.
    assert_eq!(without_mark(&problem().text), without_mark(&before.text));
    assert_ne!(kill(&lp, row), first);
    // What changed while nobody was there is known to the next one: an open file, and closed ones.
    ws.write(row.file, &replaced(&broken, row.mend));
    lp.hover(&at).verdict_is("fresh").contains(words);
    problem().verdict_is("fresh").contains("no problems");
    if let Column::Is(((file, line, symbol), to, places)) = row.rename {
        let asked = json!({"file_path": file, "line": line, "symbol": symbol, "new_name": to});
        // One that does not know the whole project yet has no plan.
        let planned = eventually("a plan", || Some(lp.tool("rename", &asked)).filter(|answer| !answer.is_error));
        planned.contains(places);
    }
    // It hears of changes again.
    ws.write(row.file, &broken);
    problem().verdict_is("fresh").contains(row.problem.0);
    // Killed with a question in flight: that is asked once more, or fails with the reason.
    let asked = lp.call("lsp_hover", &at);
    procs::signal(pid(&lp, row), libc::SIGKILL);
    let answer = Answer::of(&lp.answer(asked));
    if answer.is_error {
        answer.fails("failed").contains("signal 9");
    }
    lp.hover(&at).verdict_is("fresh").contains(words);
}
