//! Definitions that let one process serve several roots, with their real servers: two projects, both answered right, and
//! one process.

use std::{fs, path::Path};

use libtest_mimic::Trial;
use serde_json::json;

use crate::support::{Langport, Workspace};

use super::definitions::{Is, Row, row_trial, rows, start_in};

pub(super) fn trials() -> Vec<Trial> {
    let sharing = || rows().filter(|row| shares(row));
    let apart = sharing().map(|row| row_trial(format!("real::folders::{}", row.name), row, run));
    let named = |row: &Row| format!("real::folders::d2_5_nested_{}", row.name);
    let nested = sharing().filter(|row| settings(row).is_some()).map(|row| row_trial(named(row), row, nested));
    apart.chain(nested).collect()
}

/// The configuration file of a package, what it says by default, and what makes the row's problem none.
fn settings(row: &Row) -> Option<(&'static str, &'static str, &'static str)> {
    Some(match row.name {
        "ruff" => ("ruff.toml", "", "lint.ignore = [\"F401\"]\n"),
        "oxlint" => (".oxlintrc.json", "{}", "{ \"rules\": { \"no-debugger\": \"off\" } }"),
        "ty" => ("ty.toml", "", "[rules]\ninvalid-assignment = \"ignore\"\n"),
        "pyright" | "basedpyright" => ("pyrightconfig.json", "{}", "{ \"reportAssignmentType\": false }"),
        "pyrefly" => ("pyrefly.toml", "", "[errors]\nbad-assignment = false\n"),
        _ => return None,
    })
}

/// Packages beside and inside each other, each with a configuration of its own: each is judged by its own, also those
/// that come and go while the server runs.
fn nested(row: &Row) {
    let (name, plain, silent) = settings(row).expect("settings");
    let package = |folder: &str, config: &str| -> String {
        let own = row.fixture.split("//- ").filter(|file| !file.is_empty() && !file.starts_with(name));
        let files: String = own.map(|file| format!("//- {folder}/{file}")).collect();
        format!("{files}//- {folder}/{name}\n{config}\n")
    };
    let fixture = format!("{}{}{}", package("one", plain), package("one/in", silent), package("two", silent));
    let ws = Workspace::new(&fixture);
    let lp = start_in(row, &ws, &[]);
    let file = |folder: &str| format!("{folder}/{}", row.file);
    let wrong = |folder: &str| _ = lp.diagnostics(&file(folder)).verdict_is("fresh").contains(row.problem.0);
    let right = |folder: &str| _ = lp.diagnostics(&file(folder)).verdict_is("fresh").contains("no problems");
    wrong("one");
    right("one/in");
    right("two");
    wrong("one");
    // One that comes later.
    let late = Workspace::new(&package("three", plain));
    for path in fs::read_dir(late.path("three")).expect("a package").flatten() {
        let name = path.file_name().into_string().expect("a name");
        ws.write(&format!("three/{name}"), &late.read(&format!("three/{name}")));
    }
    // Some are started anew when a configuration comes.
    wrong("three");
    right("one/in");
    wrong("one");
    right("two");
    let told = lp.tool("status", &json!({"server": row.shown()}));
    told.contains("1 running");
    for folder in ["one", "one/in", "two", "three"] {
        told.contains(folder);
    }
    // One goes; the others stay what they are.
    fs::remove_dir_all(ws.path("one/in")).expect("it goes");
    wrong("one");
    right("two");
    ws.write(&file("three"), &ws.read(&file("three")).replacen(row.mend.0, row.mend.1, 1));
    right("three");
    wrong("one");
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
    let told = lp.tool("status", &json!({"server": row.shown()}));
    told.contains("1 running").contains("folders: ");
}
