//! Whatever is called fresh is right. Every real server is put through rounds of changes that other processes make, and
//! each answer is held against the text on disk: what is wrong with it is known from the language's own checker, where
//! one is at hand, on the same bytes.
//!
//! A round moves the problem by some lines, so that an older answer is a wrong one. An answer that is not `fresh` claims
//! less than it could; of those there may be one `unconfirmed` in a hundred, and nothing else.

use std::{path::Path, process::Command};

use libtest_mimic::Trial;

use crate::support::{Answer, Langport, Workspace};

use super::{
    definitions::{Row, bin, replaced, row_trial, rows, start},
    servers,
};

/// Break, ask, mend, ask.
const ROUNDS: usize = 50;
/// Break another file, ask, mend it, ask.
const ACROSS: usize = 20;
/// Checkouts of each branch.
const SWITCHES: usize = 5;
/// The problem stands at as many places in turn.
const PLACES: usize = 7;

pub(super) fn trials() -> Vec<Trial> {
    rows().map(|row| row_trial(format!("real::truth::{}", row.name), row, run)).collect()
}

/// What is special about a row here.
struct Special {
    name: &'static str,
    /// Lines that stay first, and the line that moves what is below.
    pad: (usize, &'static str),
    /// The language's own checker and its arguments: it fails where there is a problem.
    checker: &'static [&'static str],
    /// A text for a file in a new folder, where that of the row would not do: its path, what to do first, the text.
    made: Option<(&'static str, &'static str)>,
}

const NOTHING: Special = Special { name: "", pad: (0, "\n"), checker: &[], made: None };

const SPECIAL: &[Special] = &[
    Special { name: "pyright", checker: &["pyright"], ..NOTHING },
    Special { name: "basedpyright", checker: &["basedpyright"], ..NOTHING },
    Special { name: "ty", checker: &["ty", "check"], ..NOTHING },
    Special { name: "ruff", checker: &["ruff", "check", "--no-cache"], ..NOTHING },
    Special { name: "pyrefly", checker: &["pyrefly", "check", "--preset", "default"], ..NOTHING },
    Special { name: "zuban", checker: &["zuban", "check"], ..NOTHING },
    Special { name: "typescript7", checker: &["tsc", "--noEmit", "-p", "."], ..NOTHING },
    Special { name: "typescript-language-server", checker: &["tsc", "--noEmit", "-p", "."], ..NOTHING },
    Special { name: "deno", checker: &["deno", "check", "main.ts"], ..NOTHING },
    Special { name: "biome", checker: &["biome", "lint"], ..NOTHING },
    Special { name: "oxlint", checker: &["oxlint", "--deny-warnings"], ..NOTHING },
    Special { name: "eslint", checker: &["node", "node_modules/eslint/bin/eslint.js", "a.js"], ..NOTHING },
    Special { name: "gopls", checker: &["go", "build", "-o", "/dev/null", "."], ..NOTHING },
    Special {
        name: "rust-analyzer",
        checker: &["cargo", "check", "--offline", "--quiet"],
        made: Some(("src/bin/made.rs", "fn main() {\n    let _n: i32 = \"a\";\n}\n")),
        ..NOTHING
    },
    Special { name: "clangd", checker: &["c++", "-std=c++17", "-fsyntax-only", "main.cpp"], ..NOTHING },
    Special { name: "json", checker: &["python3", "-m", "json.tool", "a.json"], ..NOTHING },
    Special { name: "bash", checker: &["shellcheck", "-x", "main.sh"], pad: (1, "\n"), ..NOTHING },
    Special { name: "rumdl", checker: &["rumdl", "check", "--no-cache"], pad: (2, "More.\n\n"), ..NOTHING },
];

/// What is on disk.
#[derive(Debug, Clone, Copy)]
enum Truth<'a> {
    Problem { text: &'a str, line: usize },
    Clean,
}

/// The answers of one server.
struct Tally<'a> {
    row: &'a Row,
    special: &'a Special,
    asked: usize,
    wrong: Vec<String>,
    modest: Vec<String>,
}

fn run(row: &Row) {
    let ws = Workspace::new(row.fixture);
    if let Some(prepare) = row.prepare {
        prepare(&ws);
    }
    let special = SPECIAL.iter().find(|special| special.name == row.name).unwrap_or(&NOTHING);
    let lp = start(row, &ws);
    let mut tally = Tally { row, special, asked: 0, wrong: Vec::new(), modest: Vec::new() };
    checked(row, special, &ws);
    // What follows is not about the start.
    lp.diagnostics(row.file).verdict_is("fresh");
    rounds(&mut tally, &lp, &ws);
    across(&mut tally, &lp, &ws);
    made(&mut tally, &lp, &ws);
    branches(&mut tally, &lp, &ws);
    tally.close();
}

/// The language's own checker says the same of the row's texts as the row does.
fn checked(row: &Row, special: &Special, ws: &Workspace) {
    let Some((program, arguments)) = special.checker.split_first() else { return };
    let fails = |what: &str, expected: bool| {
        let copy = Workspace::new("");
        servers::copy(ws.root(), copy.root());
        let own = if row.installed { bin(row.name).join(program) } else { program.into() };
        let program = if own.is_file() { own.as_path() } else { Path::new(program) };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(copy.root());
        for (name, value) in row.env {
            command.env(name, value.replace("${target}", &servers::folder().to_string_lossy()));
        }
        let output = command.output().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(!output.status.success(), expected, "{} of the {what} text:\n{said}", program.display());
    };
    let wrong = ws.read(row.file);
    fails("wrong", true);
    ws.write(row.file, &replaced(&wrong, row.mend));
    fails("mended", false);
    if let Some(across) = &row.across {
        let before = ws.read(across.file);
        ws.write(across.file, &replaced(&before, (across.find, across.replace)));
        if !["biome", "oxlint", "eslint", "rumdl", "json"].contains(&row.name) {
            fails("mended text with a change elsewhere", true);
        }
        ws.write(across.file, &before);
    }
    ws.write(row.file, &wrong);
}

fn rounds(tally: &mut Tally<'_>, lp: &Langport, ws: &Workspace) {
    let row = tally.row;
    let wrong = ws.read(row.file);
    let mended = replaced(&wrong, row.mend);
    for round in 0..ROUNDS {
        let moved = round % PLACES;
        ws.write(row.file, &tally.moved(&wrong, moved));
        let truth = tally.problem(moved);
        tally.hold(&lp.diagnostics(row.file), truth, &format!("round {round}, wrong"));
        // Every other time as editors and formatters write.
        let text = tally.moved(&mended, moved);
        if round % 2 == 0 {
            ws.replace(row.file, &text);
        } else {
            ws.write(row.file, &text);
        }
        tally.hold(&lp.diagnostics(row.file), Truth::Clean, &format!("round {round}, mended"));
    }
    ws.write(row.file, &mended);
}

fn across(tally: &mut Tally<'_>, lp: &Langport, ws: &Workspace) {
    let row = tally.row;
    let Some(across) = &row.across else { return };
    let before = ws.read(across.file);
    let changed = replaced(&before, (across.find, across.replace));
    for round in 0..ACROSS {
        ws.write(across.file, &changed);
        let truth = Truth::Problem { text: across.problem, line: 0 };
        tally.hold(&lp.diagnostics(row.file), truth, &format!("round {round}, changed elsewhere"));
        ws.write(across.file, &before);
        tally.hold(&lp.diagnostics(row.file), Truth::Clean, &format!("round {round}, changed back elsewhere"));
    }
}

/// A shell makes a file in a new folder, renames it, and deletes both.
fn made(tally: &mut Tally<'_>, lp: &Langport, ws: &Workspace) {
    let row = tally.row;
    let wrong = row_text(row);
    let name = Path::new(row.file).file_name().and_then(|name| name.to_str()).expect("a name");
    let (path, text) =
        tally.special.made.map_or((format!("made/{name}"), wrong), |(path, text)| (path.into(), text.into()));
    let folder = Path::new(&path).parent().and_then(Path::to_str).expect("a folder");
    ws.write("made.text", &text);
    let shell = |script: &str| {
        let done = Command::new("sh").args(["-ec", script]).current_dir(ws.root()).status().expect("a shell");
        assert!(done.success(), "{script}");
    };
    shell(&format!("mkdir -p {folder} && cp made.text {path} && rm made.text"));
    let there = Truth::Problem { text: "", line: 0 };
    tally.hold(&lp.diagnostics(&path), there, "made in a new folder");
    shell(&format!("mv {folder} {folder}2"));
    lp.diagnostics(&path).fails("not_found");
    let second = path.replacen(folder, &format!("{folder}2"), 1);
    if tally.special.made.is_none() {
        tally.hold(&lp.diagnostics(&second), there, "after its folder was renamed");
    }
    shell(&format!("rm -r {folder}2"));
    lp.diagnostics(&second).fails("not_found");
    tally.hold(&lp.diagnostics(row.file), Truth::Clean, "after it was deleted");
}

/// The text of the row's file as the fixture has it.
fn row_text(row: &Row) -> String {
    let beginning = format!("//- {}\n", row.file);
    let text = row.fixture.split(&beginning).nth(1).expect("the file is in the fixture");
    text.split("//- ").next().unwrap_or_default().to_owned()
}

fn branches(tally: &mut Tally<'_>, lp: &Langport, ws: &Workspace) {
    let row = tally.row;
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        let output = command.args(arguments).current_dir(ws.root()).output().expect("git");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["init", "-q", "-b", "clean"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "clean"]);
    git(&["checkout", "-q", "-b", "wrong"]);
    ws.write(row.file, &tally.moved(&row_text(row), 3));
    git(&["commit", "-qam", "wrong"]);
    if let Some(across) = &row.across {
        git(&["checkout", "-q", "-b", "elsewhere", "clean"]);
        ws.write(across.file, &replaced(&ws.read(across.file), (across.find, across.replace)));
        git(&["commit", "-qam", "elsewhere"]);
    }
    for round in 0..SWITCHES {
        git(&["checkout", "-q", "wrong"]);
        let truth = tally.problem(3);
        tally.hold(&lp.diagnostics(row.file), truth, &format!("checkout {round} of the branch with the problem"));
        git(&["checkout", "-q", "clean"]);
        tally.hold(&lp.diagnostics(row.file), Truth::Clean, &format!("checkout {round} of the clean branch"));
        if let Some(across) = &row.across {
            git(&["checkout", "-q", "elsewhere"]);
            let truth = Truth::Problem { text: across.problem, line: 0 };
            tally.hold(&lp.diagnostics(row.file), truth, &format!("checkout {round} of the branch changed elsewhere"));
        }
    }
}

impl Tally<'_> {
    fn moved(&self, text: &str, lines: usize) -> String {
        let (first, pad) = self.special.pad;
        let at = text.split_inclusive('\n').take(first).map(str::len).sum();
        format!("{}{}{}", &text[..at], pad.repeat(lines), &text[at..])
    }

    fn problem(&self, moved: usize) -> Truth<'static> {
        let (text, line, _) = self.row.problem;
        Truth::Problem { text, line: line + moved * self.special.pad.1.lines().count() }
    }

    /// Takes note of an answer. A line of 0 is any line.
    fn hold(&mut self, answer: &Answer, truth: Truth<'_>, when: &str) {
        self.asked += 1;
        let right = match truth {
            Truth::Problem { text, line } => {
                answer.has(text) && answer.places().iter().any(|(_, own, _)| line == 0 || *own == line)
            }
            Truth::Clean => answer.first().ends_with(" · no problems"),
        };
        match answer.verdict() {
            "fresh" if right => {}
            "fresh" => self.wrong.push(format!("{when}, {truth:?} expected:\n{answer}")),
            _ => self.modest.push(format!("{when}: {}", answer.first())),
        }
    }

    fn close(self) {
        let Self { row, asked, wrong, modest, .. } = self;
        let told = wrong.join("\n");
        assert!(
            wrong.is_empty(),
            "{}: {} of {asked} answers are called fresh and wrong:\n{told}",
            row.name,
            wrong.len()
        );
        let unconfirmed = modest.iter().all(|line| line.contains(": unconfirmed "));
        assert!(
            unconfirmed && modest.len() * 100 <= asked,
            "{}: {} of {asked} answers are not fresh:\n{}",
            row.name,
            modest.len(),
            modest.join("\n")
        );
    }
}
