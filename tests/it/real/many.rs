//! Many files change at once, by other processes: a name goes from one to another in the file that declares it and in all
//! that use it, by a loop of writes, by `sed`, as editors write, by a checkout. Every file is asked about right after,
//! all at once or one after the other: whatever is called fresh knows all of the change, not a part of it.

use std::{collections::BTreeMap, process::Command};

use libtest_mimic::Trial;
use serde_json::json;

use crate::support::{Answer, Langport, Workspace};

use super::definitions::{Row, row_of, row_trial, start};

/// Files that use the name.
const USERS: usize = 11;
/// Names that are on two branches.
const BRANCHES: [&str; 2] = ["first_name", "second_name"];

/// Declares and uses a name: the files in which it stands, that which declares it first.
type Texts = fn(&str) -> Vec<(String, String)>;

/// One server and one shape of project.
struct Many {
    row: &'static str,
    shape: &'static str,
    texts: Texts,
    /// What else belongs to the project.
    around: fn() -> Vec<(String, String)>,
    rounds: usize,
    /// Of so many answers one may claim less than `fresh`: of a server that pushes alone silence may be the answer.
    modest: usize,
}

const MANY: &[Many] = &[
    Many { row: "gopls", shape: "a_package", texts: go_package, around: go_mod, rounds: 48, modest: 50 },
    Many { row: "gopls", shape: "packages", texts: go_packages, around: go_mod, rounds: 48, modest: 50 },
    Many { row: "rust-analyzer", shape: "modules", texts: rust, around: cargo, rounds: 8, modest: 2 },
    Many { row: "ty", shape: "modules", texts: python, around: pyproject, rounds: 24, modest: 2 },
    Many { row: "pyright", shape: "modules", texts: python, around: pyproject, rounds: 12, modest: 2 },
    Many { row: "basedpyright", shape: "modules", texts: python, around: pyproject, rounds: 12, modest: 2 },
    Many { row: "pyrefly", shape: "modules", texts: python, around: pyproject, rounds: 12, modest: 2 },
    Many { row: "zuban", shape: "modules", texts: python, around: pyproject, rounds: 12, modest: 2 },
    Many { row: "typescript7", shape: "modules", texts: typescript, around: tsconfig, rounds: 24, modest: 2 },
    Many {
        row: "typescript-language-server",
        shape: "modules",
        texts: typescript,
        around: tsconfig,
        rounds: 12,
        modest: 2,
    },
    Many { row: "clangd", shape: "includes", texts: cpp, around: compile_flags, rounds: 12, modest: 2 },
];

pub(super) fn trials() -> Vec<Trial> {
    let trial = |many: &'static Many| {
        let row = row_of(many.row);
        let name = format!("real::many::{}_{}", many.row.replace('-', "_"), many.shape);
        row_trial(name, row, move |row| run(many, row))
    };
    MANY.iter().map(trial).collect()
}

fn users(one: impl Fn(usize) -> (String, String)) -> impl Iterator<Item = (String, String)> {
    (0..USERS).map(one)
}

fn go_package(name: &str) -> Vec<(String, String)> {
    let used = |n| (format!("m{n}.go"), format!("package shop\n\nvar R{n} = {name}({n}) + {name}(1)\n"));
    let declared = format!("package shop\n\nfunc {name}(a int) int {{ return a }}\n");
    [("lib.go".into(), declared)].into_iter().chain(users(used)).collect()
}

fn go_packages(name: &str) -> Vec<(String, String)> {
    let used = |n| {
        let import = "import \"example.com/shop/lib\"";
        (format!("m{n}/m.go"), format!("package m{n}\n\n{import}\n\nvar R{n} = lib.X{name}({n}) + lib.X{name}(1)\n"))
    };
    let declared = format!("package lib\n\nfunc X{name}(a int) int {{ return a }}\n");
    [("lib/lib.go".into(), declared)].into_iter().chain(users(used)).collect()
}

fn go_mod() -> Vec<(String, String)> {
    vec![("go.mod".into(), "module example.com/shop\n\ngo 1.21\n".into())]
}

/// A field: of functions that are not there rust-analyzer knows nothing by itself.
fn rust(name: &str) -> Vec<(String, String)> {
    let modules: String = (0..USERS).map(|n| format!("pub mod m{n};\n")).collect();
    let declared = format!("{modules}pub struct Shop {{\n    pub {name}: i32,\n}}\n");
    let used = |n| {
        let uses = format!("    crate::Shop {{ {name}: {n} }}.{name} + crate::Shop {{ {name}: 1 }}.{name}\n");
        (format!("src/m{n}.rs"), format!("pub fn f() -> i32 {{\n{uses}}}\n"))
    };
    [("src/lib.rs".into(), declared)].into_iter().chain(users(used)).collect()
}

fn cargo() -> Vec<(String, String)> {
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    vec![("Cargo.toml".into(), manifest.into())]
}

fn python(name: &str) -> Vec<(String, String)> {
    let used = |n| (format!("m{n}.py"), format!("import lib\n\nr = [lib.{name}({n}), lib.{name}(1)]\n"));
    let declared = format!("def {name}(a: int) -> int:\n    return a\n");
    [("lib.py".into(), declared)].into_iter().chain(users(used)).collect()
}

fn pyproject() -> Vec<(String, String)> {
    vec![("pyproject.toml".into(), String::new())]
}

fn typescript(name: &str) -> Vec<(String, String)> {
    let used = |n| {
        let uses = format!("export const r{n} = [{name}({n}), {name}(1)];\n");
        (format!("m{n}.ts"), format!("import {{ {name} }} from \"./lib\";\n{uses}"))
    };
    let declared = format!("export function {name}(a: number): number {{\n  return a;\n}}\n");
    [("lib.ts".into(), declared)].into_iter().chain(users(used)).collect()
}

fn tsconfig() -> Vec<(String, String)> {
    let config = "{ \"compilerOptions\": { \"strict\": true }, \"include\": [\"*.ts\"] }\n";
    vec![("package.json".into(), "{}\n".into()), ("tsconfig.json".into(), config.into())]
}

fn cpp(name: &str) -> Vec<(String, String)> {
    let used = |n| {
        let uses = format!("int f{n}() {{ return {name}({n}) + {name}(1); }}\n");
        (format!("m{n}.cpp"), format!("#include \"lib.h\"\n{uses}"))
    };
    let declared = format!("#pragma once\nint {name}(int a);\n");
    [("lib.h".into(), declared)].into_iter().chain(users(used)).collect()
}

fn compile_flags() -> Vec<(String, String)> {
    vec![("compile_flags.txt".into(), "-std=c++17\n-xc++\n".into())]
}

/// What the answers were.
#[derive(Default)]
struct Tally {
    asked: usize,
    wrong: Vec<String>,
    modest: Vec<String>,
}

impl Tally {
    fn hold(&mut self, answer: &Answer, clean: bool, when: &str) {
        self.asked += 1;
        let first = answer.first();
        match answer.verdict() {
            "fresh" if first.contains(" · no problems") == clean => {}
            "fresh" => self.wrong.push(format!("{when}:\n{answer}")),
            _ => self.modest.push(format!("{when}: {first}")),
        }
    }
}

fn run(many: &Many, row: &Row) {
    let ws = Workspace::new("");
    let mut texts = (many.texts)(BRANCHES[1]);
    let files: Vec<String> = texts.iter().map(|(file, _)| file.clone()).collect();
    write(&ws, &(many.around)());
    write(&ws, &texts);
    branches(&ws, many);
    let lp = start(row, &ws);
    let mut tally = Tally::default();
    for file in &files {
        lp.diagnostics(file).verdict_is("fresh");
    }
    let mut before = BRANCHES[1].to_owned();
    for round in 0..many.rounds {
        let name = if round % 4 == 3 { BRANCHES[round / 4 % 2].to_owned() } else { format!("name_{round}") };
        texts = (many.texts)(&name);
        match round % 4 {
            0 => write(&ws, &texts),
            1 => shell(&ws, &format!("sed -i 's/{before}/{name}/g' {}", files.join(" "))),
            2 => texts.iter().for_each(|(file, text)| ws.replace(file, text)),
            _ => shell(&ws, &format!("git checkout -q -f {name}")),
        }
        ask_all(&lp, &files, round, &mut tally, |_| true, &format!("round {round}, renamed"));
        if round % 3 == 0 {
            let declaring = (many.texts)("other_name").swap_remove(0);
            write(&ws, &[declaring]);
            ask_all(&lp, &files, round + 1, &mut tally, |file| file == files[0], &format!("round {round}, half"));
            write(&ws, &texts[..1]);
            ask_all(&lp, &files, round, &mut tally, |_| true, &format!("round {round}, whole again"));
        }
        before = name;
    }
    let Tally { asked, wrong, modest } = tally;
    assert!(wrong.is_empty(), "{} of {asked} answers are called fresh and wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(
        modest.len() <= asked / many.modest,
        "{} of {asked} answers are not fresh:\n{}",
        modest.len(),
        modest.join("\n")
    );
}

/// Asks about every file: all at once in even rounds, else one after the other, each time from another one on.
fn ask_all(lp: &Langport, files: &[String], round: usize, tally: &mut Tally, clean: impl Fn(&str) -> bool, when: &str) {
    let mut files: Vec<&str> = files.iter().map(String::as_str).collect();
    let from = round % files.len();
    files.rotate_left(from);
    let ask = |file: &str| lp.call("lsp_diagnostics", &json!({"file_path": file}));
    let answer = |call| Answer::of(&lp.answer(call));
    let answers: BTreeMap<&str, Answer> = if round.is_multiple_of(2) {
        let calls: Vec<(&str, i64)> = files.iter().map(|&file| (file, ask(file))).collect();
        calls.into_iter().map(|(file, call)| (file, answer(call))).collect()
    } else {
        files.iter().map(|&file| (file, answer(ask(file)))).collect()
    };
    for (file, answer) in &answers {
        tally.hold(answer, clean(file), &format!("{when}, {file}"));
    }
}

fn write(ws: &Workspace, texts: &[(String, String)]) {
    texts.iter().for_each(|(file, text)| ws.write(file, text));
}

fn shell(ws: &Workspace, script: &str) {
    let mut command = Command::new("sh");
    command.args(["-ec", script]).current_dir(ws.root());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.output().expect("a shell");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Two branches, each with a name of its own; the second is checked out.
fn branches(ws: &Workspace, many: &Many) {
    let git = "git -c user.name=t -c user.email=t@example.com -c commit.gpgsign=false";
    shell(ws, &format!("git init -q -b {}", BRANCHES[1]));
    shell(ws, &format!("git add -A && {git} commit -qm second && git checkout -q -b {}", BRANCHES[0]));
    write(ws, &(many.texts)(BRANCHES[0]));
    shell(ws, &format!("{git} commit -qam first && git checkout -q {}", BRANCHES[1]));
}
