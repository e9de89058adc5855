//! Definitions that let one process serve several roots, with their real servers: two projects, both answered right, and
//! one process.

use std::{fs, path::Path};

use libtest_mimic::Trial;
use serde_json::json;

use crate::support::{Langport, Workspace};

use super::definitions::{Is, Row, row_trial, rows, start_in};

pub(super) fn trials() -> Vec<Trial> {
    rows().filter(|row| shares(row)).map(|row| row_trial(format!("real::folders::{}", row.name), row, run)).collect()
}

fn shares(row: &Row) -> bool {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("servers.d/{}.toml", row.name));
    fs::read_to_string(path).expect("the definition").contains("\nshare = true\n")
}

fn run(row: &Row) {
    let [one, two] = ["one", "two"].map(|root| row.fixture.replace("//- ", &format!("//- {root}/")));
    let ws = Workspace::new(&format!("{one}{two}"));
    let lp = start_in(row, &ws, &[ws.path("one"), ws.path("two")]);
    let [first, second] = ["one", "two"].map(|root| format!("{root}/{}", row.file));
    let wrong = |lp: &Langport, file: &str| {
        let answer = lp.diagnostics(file);
        answer.verdict_is("fresh").contains(row.problem.0);
    };
    wrong(&lp, &first);
    wrong(&lp, &second);
    let (find, replace) = row.mend;
    let text = ws.read(&second);
    ws.write(&second, &text.replacen(find, replace, 1));
    lp.diagnostics(&second).verdict_is("fresh").lacks(row.problem.0);
    wrong(&lp, &first);
    if let Is(((file, line, symbol), said)) = row.hover {
        let at = json!({"file_path": format!("two/{file}"), "line": line, "symbol": symbol});
        lp.hover(&at).verdict_is("fresh").contains(said);
    }
    ws.write(&second, &text);
    wrong(&lp, &second);
    let told = lp.tool("status", &json!({"server": format!("builtin/{}", row.name)}));
    told.contains("1 running").contains("folders: ");
}
