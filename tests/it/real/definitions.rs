//! Every built-in definition with its real server: one row of a table each, all put through the same questions.
//!
//! A row is a `const` of [`Row`] in a `rows_*.rs` file, `..Row::NEW` giving what it leaves out, and stands in that file's
//! `ROWS`, which [`rows`] chains. Its trial is `real::definitions::NAME`. The steps, with the server that
//! `langport install NAME` has put below `target/test-servers`, all through MCP:
//!
//! 1. the project as in `fixture`, with an error in `file`, first thing after the start: `problem` is found, `fresh`;
//! 2. `mend` (find, replace): `fresh`, `no problems`; taken back: `problem` again; mended again for the rest;
//! 3. `across` (find, replace in another file): its problem in `file`, and taken back: none, both `fresh`;
//! 4. `hover`, `definition`, `references`, `symbols`, `workspace_symbols`: [`Is`] what is to be seen, [`Unsupported`], or
//!    [`Untried`] where there is nothing to ask; likewise what `rename` and `format` plan;
//! 5. `more`: what is special about this server;
//! 6. nothing of the project was executed: a trap in `fixture` writes the file `EXECUTED` into the root;
//! 7. langport ends with code 0 and leaves no process behind.
//!
//! A server that nothing keeps from executing the project (`untrusted.run = "none"`) is first seen to be unavailable;
//! then, with `trusted`, a definition of the user's, the same without that key, takes the steps.
//!
//! Lines and columns are those of the mended text. A program of `needs` that is missing makes the trial show as ignored.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::support::{Answer, Langport, Workspace};

use super::{places_are, rows_native, rows_python, rows_typescript, rows_web, rust, servers};

pub(super) use Column::{Is, Unsupported, Untried};

/// One definition and what its server says of a tiny project.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// The bare name of the definition.
    pub(super) name: &'static str,
    /// Programs that have to be on PATH: of the package manager, and what the server runs.
    pub(super) needs: &'static [&'static str],
    /// For langport's environment; `${target}` is the folder of the test servers.
    pub(super) env: &'static [(&'static str, &'static str)],
    /// Whether `langport install` can install it; else its program is one of `needs`.
    pub(super) installed: bool,
    /// Puts in place what langport does not install; answers with its environment, or with what is missing.
    pub(super) machine: Option<Machine>,
    /// What its diagnostics say of themselves behind the name.
    pub(super) note: &'static str,
    /// It runs only where the user trusts every repository: a definition of the user's own says so.
    pub(super) trusted: bool,
    /// The project, as [`Workspace`] reads it.
    pub(super) fixture: &'static str,
    /// Completes the project.
    pub(super) prepare: Option<fn(&Workspace)>,
    /// The file with the error.
    pub(super) file: &'static str,
    /// Words of the first problem, and its line and column.
    pub(super) problem: (&'static str, usize, usize),
    /// What to replace in `file`, and by what.
    pub(super) mend: (&'static str, &'static str),
    /// A change in another file that makes for a problem in `file`.
    pub(super) across: Option<Across>,
    pub(super) hover: Column<(At, &'static str)>,
    pub(super) definition: Column<(At, &'static [&'static str])>,
    pub(super) references: Column<(At, &'static [&'static str])>,
    /// A file, and lines of its outline without their indentation and what follows the name.
    pub(super) symbols: Column<(&'static str, &'static [&'static str])>,
    /// A query, and all that it finds.
    pub(super) workspace_symbols: Column<(&'static str, &'static [&'static str])>,
    /// What is renamed, to what, and how much that changes: the words of the plan.
    pub(super) rename: Column<(At, &'static str, &'static str)>,
    /// A file, and what formatting it changes: a line of the diff, or that there is nothing to change.
    pub(super) format: Column<(&'static str, &'static str)>,
    pub(super) more: Option<fn(&Langport, &Workspace)>,
}

/// What is expected of a capability.
#[derive(Debug, Clone, Copy)]
pub(super) enum Column<T> {
    Is(T),
    Unsupported,
    Untried,
}

/// Makes the environment of a server, or says what this machine lacks for it.
pub(super) type Machine = fn() -> Result<Vec<(&'static str, String)>, String>;

/// A name on a line of a file.
pub(super) type At = (&'static str, usize, &'static str);

/// A change in one file, and what another one's problem then says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Across {
    pub(super) file: &'static str,
    pub(super) find: &'static str,
    pub(super) replace: &'static str,
    pub(super) problem: &'static str,
}

impl Row {
    pub(super) const NEW: Self = Self {
        name: "",
        needs: &[],
        env: &[],
        installed: true,
        machine: None,
        note: "",
        trusted: false,
        fixture: "",
        prepare: None,
        file: "",
        problem: ("", 0, 0),
        mend: ("", ""),
        across: None,
        hover: Untried,
        definition: Untried,
        references: Untried,
        symbols: Untried,
        workspace_symbols: Untried,
        rename: Untried,
        format: Untried,
        more: None,
    };

    /// What answers call it: where two definitions end alike, the whole name.
    pub(super) fn shown(&self) -> String {
        if self.trusted { format!("local/{}", self.name) } else { self.name.to_owned() }
    }
}

/// The whole table.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    let rows = rows_typescript::ROWS.iter().chain(rows_web::ROWS);
    rows.chain(rows_native::ROWS).chain(rows_python::ROWS)
}

pub(super) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = rows().map(trial).collect();
    trials.push(crate::trial(concat!(module_path!(), "::every_definition_has_a_row"), every_definition_has_a_row));
    let proxy = rust::proxy_without_the_component;
    trials.push(crate::trial("it::real::rust::proxy_without_the_component", proxy));
    trials
}

fn every_definition_has_a_row() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("servers.d");
    for entry in fs::read_dir(folder).expect("the definitions").flatten() {
        let path = entry.path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        assert!(rows().any(|row| row.name == name), "{name} is in no table of tests/it/real");
    }
}

fn trial(row: &'static Row) -> Trial {
    row_trial(format!("real::definitions::{}", row.name), row, run)
}

/// The row of this definition.
pub(super) fn row_of(name: &str) -> &'static Row {
    rows().find(|row| row.name == name).expect("a row of that name")
}

/// A trial with the server of a row, put in place before.
pub(super) fn row_trial(name: String, row: &'static Row, test: impl Fn(&Row) + Send + Sync + 'static) -> Trial {
    needing(name, row.needs, row.machine, move || {
        if row.installed {
            put_in_place(row.name);
        }
        test(row);
    })
}

/// A test that needs programs. One that this machine cannot run shows as ignored, under a name that says why; where
/// everything must run it fails instead.
pub(super) fn needing(
    name: String,
    programs: &[&str],
    machine: Option<Machine>,
    test: impl FnOnce() + Send + 'static,
) -> Trial {
    let lacking = programs.iter().find(|program| !is_there(program)).map(|program| format!("{program} is missing"));
    let Some(missing) = lacking.or_else(|| machine?().err()) else {
        return Trial::test(name, move || {
            test();
            Ok(())
        });
    };
    let reason = format!("not run: {missing}");
    if servers::all_must_run() {
        return Trial::test(name, move || Err(reason.into()));
    }
    Trial::test(format!("{name} [{reason}]"), || Ok(())).with_ignored_flag(true)
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Installs the server, unless it is there. Another run may be at it.
pub(super) fn put_in_place(name: &str) {
    fs::create_dir_all(servers::folder()).expect("a folder for the servers");
    let lock = File::create(servers::folder().join(format!("{name}.lock"))).expect("a lock");
    lock.lock().expect("the lock");
    let none = servers::folder().join("none");
    let mut langport = Command::new(env!("CARGO_BIN_EXE_langport"));
    langport.args(["install", name, "--yes"]).current_dir(servers::folder());
    langport.env("LANGPORT_DATA_DIR", servers::folder());
    let output = langport.env("LANGPORT_CONFIG_DIR", &none).env("LANGPORT_STATE_DIR", &none).output();
    let output = output.expect("langport runs");
    assert!(output.status.success(), "{name} could not be installed\n{}", String::from_utf8_lossy(&output.stderr));
}

/// langport with one definition, and waits that a loaded machine can keep.
pub(super) fn start(row: &Row, workspace: &Workspace) -> Langport {
    start_in(row, workspace, &[])
}

/// The same with other roots than the workspace's own.
pub(super) fn start_in(row: &Row, workspace: &Workspace, roots: &[PathBuf]) -> Langport {
    let data = servers::folder().to_string_lossy().into_owned();
    let mut name = format!("builtin/{}", row.name);
    if row.trusted {
        name = format!("local/{}", row.name);
        trust(row, workspace);
    }
    let mut builder = Langport::builder(workspace)
        .config("max_wait_ms = 55000\nrequest_timeout_ms = 50000\nmax_chars = 40000")
        .arg("--bind")
        .arg(&name);
    for (name, value) in row.env {
        builder = builder.env(name, &value.replace("${target}", &data));
    }
    for (name, value) in row.machine.map(|machine| machine().expect("a machine")).unwrap_or_default() {
        builder = builder.env(name, &value);
    }
    builder.roots(roots).env("LANGPORT_DATA_DIR", &data).start()
}

/// Writes the user's own definition: the built-in one with the program that was installed for it, and no word of trust.
fn trust(row: &Row, workspace: &Workspace) {
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("servers.d/{}.toml", row.name));
    let text = fs::read_to_string(built_in).expect("the definition");
    let text = replaced(&text, ("run = \"none\"\n", "")).replace("name = \"builtin/", "name = \"local/");
    let text = text.replacen("command = \"", &format!("command = \"{}/", bin(row.name).display()), 1);
    let folder = workspace.home().join("config/servers.d");
    fs::create_dir_all(&folder).expect("the user's folder");
    fs::write(folder.join(format!("{}.toml", row.name)), text).expect("the user's definition");
}

/// Where langport has put the programs of a definition.
pub(super) fn bin(name: &str) -> PathBuf {
    let home = servers::folder().join("servers/builtin").join(name);
    let text = fs::read_to_string(home.join("current.json")).expect("an installation");
    let current: Value = serde_json::from_str(&text).expect("JSON");
    let folder = home.join(current["folder"].to_string());
    let bins = ["venv/bin", "node_modules/.bin", "bin"].map(|bin| folder.join(bin));
    bins.into_iter().find(|bin| bin.is_dir()).expect("programs")
}

fn run(row: &Row) {
    let ws = Workspace::new(row.fixture);
    if let Some(prepare) = row.prepare {
        prepare(&ws);
    }
    if row.trusted {
        let lp = start(&Row { trusted: false, ..*row }, &ws);
        lp.diagnostics(row.file).fails("unavailable").contains("untrusted");
    }
    let lp = start(row, &ws);
    problems(row, &lp, &ws);
    if let Some(across) = &row.across {
        dependencies(row, across, &lp, &ws);
    }
    questions(row, &lp);
    if let Some(more) = row.more {
        more(&lp, &ws);
    }
    assert!(row.trusted || !ws.path("EXECUTED").exists(), "{} executed a part of the project", row.name);
}

fn problems(row: &Row, lp: &Langport, ws: &Workspace) {
    let wrong = ws.read(row.file);
    let mended = replaced(&wrong, row.mend);
    found(row, &lp.diagnostics(row.file), "first");
    ws.write(row.file, &mended);
    clean(row, &lp.diagnostics(row.file), "mended");
    ws.write(row.file, &wrong);
    found(row, &lp.diagnostics(row.file), "wrong again");
    ws.write(row.file, &mended);
    clean(row, &lp.diagnostics(row.file), "mended again");
}

fn dependencies(row: &Row, across: &Across, lp: &Langport, ws: &Workspace) {
    let before = ws.read(across.file);
    ws.write(across.file, &replaced(&before, (across.find, across.replace)));
    let answer = fresh(row, lp.diagnostics(row.file), "after a change elsewhere");
    answer.contains(across.problem);
    ws.write(across.file, &before);
    clean(row, &lp.diagnostics(row.file), "after the change elsewhere was taken back");
}

fn questions(row: &Row, lp: &Langport) {
    let at = |(file, line, symbol): At| json!({"file_path": file, "line": line, "symbol": symbol});
    ask(
        row,
        lp,
        "hover",
        row.hover,
        |(place, text)| (at(place), text),
        |answer, text| {
            answer.contains(text);
        },
    );
    let places = |answer: &Answer, places: &'static [&'static str]| places_are(answer, places);
    ask(row, lp, "definition", row.definition, |(place, to)| (at(place), to), places);
    ask(row, lp, "references", row.references, |(place, all)| (at(place), all), places);
    let lines = |answer: &Answer, lines: &'static [&'static str]| {
        for line in lines {
            let is =
                |own: &str| own.trim().strip_prefix(line).is_some_and(|rest| rest.is_empty() || rest.starts_with("  "));
            assert!(answer.body().lines().any(is), "{line:?} expected in the answer\n{answer}");
        }
    };
    ask(row, lp, "symbols", row.symbols, |(file, all)| (json!({"file_path": file}), all), lines);
    let query = |(query, all)| (json!({"query": query}), all);
    ask(row, lp, "workspace_symbols", row.workspace_symbols, query, places);
    let contains = |answer: &Answer, text: &'static str| {
        answer.contains(text);
    };
    let renamed = |((file, line, symbol), new_name, words): (At, &str, &'static str)| {
        (json!({"file_path": file, "line": line, "symbol": symbol, "new_name": new_name}), words)
    };
    ask(row, lp, "rename", row.rename, renamed, contains);
    ask(row, lp, "format", row.format, |(file, words)| (json!({"file_path": file}), words), contains);
}

/// Asks a tool what a column names, and compares.
fn ask<T: Copy, E>(
    row: &Row,
    lp: &Langport,
    tool: &str,
    column: Column<T>,
    arguments: impl FnOnce(T) -> (Value, E),
    compare: impl FnOnce(&Answer, E),
) {
    match column {
        Untried => {}
        Is(expected) => {
            let (arguments, expected) = arguments(expected);
            compare(&fresh(row, lp.tool(tool, &arguments), tool), expected);
        }
        Unsupported => {
            let arguments = match tool {
                "symbols" => json!({"file_path": row.file}),
                "format" => json!({"file_path": row.file}),
                "workspace_symbols" => json!({"query": "x"}),
                "rename" => json!({"file_path": row.file, "line": 1, "column": 1, "new_name": "renamed"}),
                _ => json!({"file_path": row.file, "line": 1, "column": 1}),
            };
            let answer = lp.tool(tool, &arguments);
            answer.fails("unsupported").contains(row.name);
        }
    }
}

#[track_caller]
fn fresh(row: &Row, answer: Answer, when: &str) -> Answer {
    let heads = [row.shown(), format!("{}{}", row.shown(), row.note)].map(|name| format!("fresh · {name} · "));
    assert!(heads.iter().any(|head| answer.first().starts_with(head)), "{}, {when}\n{answer}", row.name);
    answer
}

#[track_caller]
fn clean(row: &Row, answer: &Answer, when: &str) {
    assert_eq!(answer.first(), format!("fresh · {}{} · no problems", row.shown(), row.note), "{when}\n{answer}");
}

#[track_caller]
fn found(row: &Row, answer: &Answer, when: &str) {
    let answer = fresh(row, answer.clone(), when);
    let (text, line, column) = row.problem;
    assert_eq!(answer.places().first(), Some(&(row.file.to_owned(), line, column)), "{}, {when}\n{answer}", row.name);
    answer.contains(text);
}

#[track_caller]
pub(super) fn replaced(text: &str, (find, replace): (&str, &str)) -> String {
    assert!(text.contains(find), "{find:?} is not in\n{text}");
    text.replace(find, replace)
}
