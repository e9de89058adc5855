//! Servers that can be asked for their whole project at once, set to do so: whatever they do with it, each file's problems
//! are those of its text on disk, open or not, written, mended and deleted by a shell.

use std::{collections::BTreeSet, fs, path::Path};

use libtest_mimic::Trial;
use serde_json::json;

use crate::support::{Answer, Langport, Workspace};

use super::{
    definitions::{Row, bin, row_trial, rows},
    places, servers,
};

type Run = fn(&Row);

/// Each with what makes it offer a report of its whole project, and the test.
const ALL: [(&str, Run); 4] = [
    ("ty", |row| python(row, "[initialization]\ndiagnosticMode = \"workspace\"\n")),
    ("basedpyright", |row| {
        let tables = "[workspace_settings]\n\"basedpyright.analysis.diagnosticMode\" = \"workspace\"\n\
            \"basedpyright.analysis.typeCheckingMode\" = \"standard\"\n";
        python(row, tables);
    }),
    ("pyright", |row| python(row, "[workspace_settings]\n\"python.analysis.diagnosticMode\" = \"workspace\"\n")),
    ("tombi", tombi),
];

pub(super) fn trials() -> Vec<Trial> {
    let trial = |row: &'static Row| {
        let (_, run) = ALL.iter().find(|(name, _)| *name == row.name)?;
        Some(row_trial(format!("real::surveys::{}", row.name), row, *run))
    };
    let trials: Vec<_> = rows().filter_map(trial).collect();
    assert_eq!(trials.len(), ALL.len(), "each is a row");
    trials
}

/// A file with an error, the same without, and the line that the error is on.
struct Text {
    wrong: &'static str,
    right: &'static str,
    line: usize,
}

/// Starts the user's own definition: the built-in one, with these tables more.
fn start(row: &Row, ws: &Workspace, tables: &str) -> Langport {
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("servers.d/{}.toml", row.name));
    let text = fs::read_to_string(built_in).expect("the definition");
    let text = text.replacen("name = \"builtin/", "name = \"local/", 1);
    let text = text.replacen("command = \"", &format!("command = \"{}/", bin(row.name).display()), 1);
    let folder = ws.home().join("config/servers.d");
    fs::create_dir_all(&folder).expect("the user's folder");
    let text = match tables.split_once('\n') {
        // A table that is there already gets more keys.
        Some((head, keys)) if text.contains(head) => text.replacen(head, &format!("{head}\n{keys}"), 1),
        _ => format!("{text}\n{tables}"),
    };
    fs::write(folder.join(format!("{}.toml", row.name)), text).expect("the user's definition");
    Langport::builder(ws)
        .env("LANGPORT_DATA_DIR", &servers::folder().to_string_lossy())
        .config("max_wait_ms = 55000\nrequest_timeout_ms = 50000\nmax_chars = 40000")
        .arg("--bind")
        .arg(&format!("local/{}", row.name))
        .start()
}

fn all(lp: &Langport) -> Answer {
    let answer = lp.tool("diagnostics", &json!({"scope": "workspace", "severity": "error"}));
    answer.verdict_is("fresh");
    answer
}

/// Every error and nothing else: files by number, those whose text is wrong.
#[track_caller]
fn wrong_are(lp: &Langport, ending: &str, text: &Text, wrong: &[usize], when: &str) {
    let answer = all(lp);
    // `lib` is only named beside an error.
    let found = places(&answer).into_iter().filter(|(file, ..)| file.starts_with('f'));
    let found: BTreeSet<_> = found.map(|(file, line, _)| (file, line)).collect();
    let expected: BTreeSet<_> = wrong.iter().map(|n| (format!("f{n}.{ending}"), text.line)).collect();
    assert_eq!(found, expected, "{when}: {answer}");
}

/// Files that are never opened by anybody, some of them wrong; then they change, together and in turns.
fn whole_project(lp: &Langport, ws: &Workspace, ending: &str, text: &Text) {
    let put = |n: usize, text: &str| ws.write(&format!("f{n}.{ending}"), text);
    wrong_are(lp, ending, text, &[0, 2], "at first");
    for round in 0..4 {
        put(0, text.right);
        put(1, text.wrong);
        wrong_are(lp, ending, text, &[1, 2], &format!("round {round}, one mended, one broken"));
        // One of them alone is asked about, and so open.
        let one = lp.tool("diagnostics", &json!({"file_path": format!("f1.{ending}"), "severity": "error"}));
        one.verdict_is("fresh").contains("1 error");
        put(1, text.right);
        wrong_are(lp, ending, text, &[2], &format!("round {round}, the open one mended"));
        fs::remove_file(ws.path(&format!("f2.{ending}"))).expect("it is there");
        put(3, text.wrong);
        wrong_are(lp, ending, text, &[3], &format!("round {round}, one deleted, one new"));
        fs::remove_file(ws.path(&format!("f3.{ending}"))).expect("it is there");
        put(0, text.wrong);
        put(2, text.wrong);
        wrong_are(lp, ending, text, &[0, 2], &format!("round {round}, as at first"));
    }
}

const PYTHON: Text = Text { wrong: "x = 1\ny: int = \"s\"\n", right: "x = 1\ny: int = 1\n", line: 2 };

fn python(row: &Row, tables: &str) {
    let ws = Workspace::new("//- pyproject.toml\n[project]\nname = \"p\"\nversion = \"1\"\n");
    for n in 0..3 {
        ws.write(&format!("f{n}.py"), if n == 1 { PYTHON.right } else { PYTHON.wrong });
    }
    let lp = start(row, &ws, tables);
    whole_project(&lp, &ws, "py", &PYTHON);
    // What another file says decides.
    ws.write("lib.py", "def f(a: int) -> None: ...\n");
    ws.write("f0.py", "from lib import f\nf(1)\n");
    wrong_are(&lp, "py", &PYTHON, &[2], "a call that is right");
    ws.write("lib.py", "def f(a: bytes) -> None: ...\n");
    wrong_are(&lp, "py", &PYTHON, &[0, 2], "what it calls has changed");
    ws.write("lib.py", "def f(a: int) -> None: ...\n");
    wrong_are(&lp, "py", &PYTHON, &[2], "and is as it was");
}

/// It reads a file again some time after it was told that it has changed.
fn tombi(row: &Row) {
    let text = Text { wrong: "x = 1\ny = \n", right: "x = 1\ny = 2\n", line: 2 };
    let ws = Workspace::new("//- tombi.toml\n");
    for n in 0..3 {
        ws.write(&format!("f{n}.toml"), if n == 1 { text.right } else { text.wrong });
    }
    let lp = start(row, &ws, "");
    whole_project(&lp, &ws, "toml", &text);
}
