//! `langport install` and `langport outdated`, with package managers that do as the test says.

use std::fs;

use serde_json::Value;

use crate::support::{
    Definition, Workspace,
    cli::{self, Seen, in_order},
};

trials![
    a_project_gets_what_it_lacks,
    without_a_terminal_nothing_runs,
    the_first_that_can_be_installed_here_stands_in,
    what_only_a_person_can_install_is_told,
    what_cannot_be_installed_here_is_a_failure,
    a_registry_out_of_reach_is_told_and_the_old_one_stays,
    one_that_fails_keeps_nobody_else,
    again_installs_what_is_there,
    outdated_asks_nobody,
];

/// Does what npm would for the package `NAME-srv`: `$3` is the folder, the last argument the package.
const NPM: &str = r#"
for package; do :; done
name="${package%@*}"
/bin/mkdir -p "$3/node_modules/.bin"
printf '#!/bin/sh\n' > "$3/node_modules/.bin/$name"
/bin/chmod 755 "$3/node_modules/.bin/$name"
echo "added $name"
"#;
/// What npm says, and how it ends, where nobody answers.
const OFFLINE: &str =
    "echo 'npm error code ECONNREFUSED' >&2\necho 'npm error FetchError: request to http://x failed' >&2\nexit 1";

/// `local/NAME` for a language, whose program is `NAME-srv`.
fn define(ws: &Workspace, name: &str, language: &str, install: &str) {
    let definition = Definition::command(name, &format!("{name}-srv")).languages(&[language]);
    definition.table(&format!("[install]\n{install}")).write(ws);
}

#[track_caller]
fn ends(seen: &Seen, code: i32) {
    assert_eq!(seen.code, Some(code), "{}\n{}", seen.out, seen.err);
}

fn project() -> (Workspace, String) {
    let ws = Workspace::new("//- a.lua\nclass Cart\n//- b.lua\nclass Till\n//- OLD.cob\nclass Old\n");
    let root = ws.root().display().to_string();
    (ws, root)
}

fn installed(ws: &Workspace) -> Vec<String> {
    let seen = cli::run(ws, &["outdated", "--json"], "");
    let report: Value = serde_json::from_str(&seen.out).unwrap();
    let rows = report["servers"].as_array().unwrap().iter();
    rows.map(|row| format!("{} {}", row["installed"].as_str().unwrap(), row["state"].as_str().unwrap())).collect()
}

fn a_project_gets_what_it_lacks() {
    let (ws, root) = project();
    define(&ws, "lua", "lua", "npm = \"lua-srv@1.0.0\"");
    define(&ws, "other", "abap", "npm = \"other-srv@1.0.0\"");
    Definition::command("lint", "lint-srv")
        .languages(&["lua"])
        .key("role = \"linter\"")
        .table("[install]\nnpm = \"lint-srv@2.0.0\"")
        .write(&ws);
    let path = cli::program(&ws, "npm", NPM);
    let seen = cli::run(&ws, &["install", "--for", &root, "--yes"], &path);
    ends(&seen, 0);
    in_order(
        &seen.out,
        &[
            &root,
            "languages   lua (2 files)\n",
            "not served  cobol (1 file)\n",
            "lua         lua: not installed; run `langport install local/lua`\n",
            "lint        lua, linter: not installed",
            "To be installed:\nlocal/lua (npm lua-srv@1.0.0) into ",
            "npm install --prefix ",
            "local/lint (npm lint-srv@2.0.0) into ",
            "installed local/lua: ",
            "installed local/lint: ",
        ],
    );
    // What is told while it runs goes elsewhere, in plain lines where that is no terminal.
    in_order(
        &seen.err,
        &["… installing local/lua (1 of 2)\n", "$ ", "… added lua-srv\n", "installing local/lint (2 of 2)"],
    );
    assert!(!seen.err.contains(['\r', '\x1b']), "{:?}", seen.err);
    assert_eq!(installed(&ws), ["npm lint-srv@2.0.0 current", "npm lua-srv@1.0.0 current"]);
    let seen = cli::run(&ws, &["install", "--for", &root], &path);
    ends(&seen, 0);
    in_order(&seen.out, &["installed by langport", "Nothing is to be installed.\n"]);
}

fn without_a_terminal_nothing_runs() {
    let (ws, root) = project();
    define(&ws, "lua", "lua", "npm = \"lua-srv@1.0.0\"");
    let path = cli::program(&ws, "npm", NPM);
    let seen = cli::run(&ws, &["install", "--for", &root], &path);
    ends(&seen, 1);
    in_order(&seen.out, &["To be installed:\n", "npm install --prefix "]);
    assert_eq!(
        seen.err,
        "langport: nothing was installed: there is no terminal to ask on; say --yes to run these commands\n"
    );
    assert!(!ws.home().join("data").exists());
}

fn the_first_that_can_be_installed_here_stands_in() {
    let (ws, root) = project();
    define(&ws, "first", "lua", "pip = \"first-srv==1.0.0\"");
    define(&ws, "second", "lua", "npm = \"second-srv@1.0.0\"");
    let path = cli::program(&ws, "npm", NPM);
    let seen = cli::run(&ws, &["install", "--for", &root, "--yes"], &path);
    ends(&seen, 0);
    in_order(
        &seen.out,
        &[
            "second      lua: not installed",
            "in the place of first: installing local/first takes pip",
            "installed local/second",
        ],
    );
    assert_eq!(installed(&ws), ["npm second-srv@1.0.0 current"]);
}

fn what_only_a_person_can_install_is_told() {
    let (ws, root) = project();
    define(&ws, "lua", "lua", "hint = \"see lua.example\"");
    let seen = cli::run(&ws, &["install", "--for", &root, "--yes"], "");
    ends(&seen, 0);
    in_order(
        &seen.out,
        &[
            "Left to you:\n  local/lua is not one that langport installs; its definition says: see lua.example\n",
            "nothing that langport could install",
        ],
    );
}

fn what_cannot_be_installed_here_is_a_failure() {
    let (ws, root) = project();
    define(&ws, "lua", "lua", "npm = \"lua-srv@1.0.0\"");
    let seen = cli::run(&ws, &["install", "--for", &root, "--yes"], "");
    ends(&seen, 1);
    in_order(&seen.out, &["Not possible here:\n  installing local/lua takes npm: no program `npm`"]);
    in_order(&seen.err, &["langport: not everything that this project needs"]);
}

fn a_registry_out_of_reach_is_told_and_the_old_one_stays() {
    let ws = Workspace::new("//- a.lua\nclass Cart\n");
    define(&ws, "lua", "lua", "npm = \"lua-srv@1.0.0\"");
    ends(&cli::run(&ws, &["install", "lua", "--yes"], &cli::program(&ws, "npm", NPM)), 0);
    define(&ws, "lua", "lua", "npm = \"lua-srv@2.0.0\"");
    let seen = cli::run(&ws, &["install", "lua", "--yes"], &cli::program(&ws, "npm", OFFLINE));
    ends(&seen, 1);
    in_order(&seen.out, &["in the place of npm lua-srv@1.0.0\n"]);
    in_order(
        &seen.err,
        &[
            "… npm error code ECONNREFUSED\n",
            "local/lua was not installed: the package registry could not be reached (is there a network",
            "what was installed before is untouched\n",
            "langport: nothing was installed; the same command tries again\n",
        ],
    );
    assert_eq!(installed(&ws), ["npm lua-srv@1.0.0 outdated"]);
    let folders = fs::read_dir(ws.home().join("data/servers/local/lua")).unwrap().flatten();
    let mut names: Vec<_> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["1", "current.json", "lock"], "nothing of the failed one stays");
}

fn one_that_fails_keeps_nobody_else() {
    let ws = Workspace::new("//- a.lua\nclass Cart\n");
    define(&ws, "bad", "lua", "npm = \"bad-srv@1.0.0\"");
    define(&ws, "good", "lua", "npm = \"good-srv@1.0.0\"");
    let path = cli::program(
        &ws,
        "npm",
        &format!("case \"$*\" in *bad-srv*) echo 'npm error code E404' >&2; exit 1;; esac\n{NPM}"),
    );
    let seen = cli::run(&ws, &["install", "bad", "good", "--yes"], &path);
    ends(&seen, 1);
    in_order(
        &seen.err,
        &["local/bad was not installed: `", "ended with exit status: 1", "langport: 1 of 2 servers were not installed"],
    );
    assert!(!seen.err.contains("could not be reached"), "{}", seen.err);
    assert_eq!(installed(&ws), ["npm good-srv@1.0.0 current"]);
}

fn again_installs_what_is_there() {
    let ws = Workspace::new("//- a.lua\nclass Cart\n");
    define(&ws, "lua", "lua", "npm = \"lua-srv@1.0.0\"");
    let path = cli::program(&ws, "npm", NPM);
    ends(&cli::run(&ws, &["install", "lua", "--yes"], &path), 0);
    let seen = cli::run(&ws, &["install", "lua", "--yes"], &path);
    assert_eq!(seen.out, "local/lua is installed already\n");
    let seen = cli::run(&ws, &["install", "lua", "--yes", "--again"], &path);
    ends(&seen, 0);
    in_order(&seen.out, &["in the place of npm lua-srv@1.0.0\n", "installed local/lua: ", "/lua/2/"]);
    let seen = cli::run(&ws, &["install"], &path);
    ends(&seen, 2);
    in_order(&seen.err, &["<NAME"]);
}

fn outdated_asks_nobody() {
    let ws = Workspace::new("//- a.lua\nclass Cart\n");
    define(&ws, "lua", "lua", "npm = \"lua-srv@1.0.0\"");
    let path = cli::program(&ws, "npm", NPM);
    ends(&cli::run(&ws, &["install", "lua", "--yes"], &path), 0);
    define(&ws, "lua", "lua", "npm = \"lua-srv@1.1.0\"");
    define(&ws, "found", "lua", "hint = \"x\"");
    let path = cli::program(&ws, "found-srv", "exit 9");
    cli::program(&ws, "npm", ": > \"$HOME/asked\"");
    let seen = cli::run(&ws, &["outdated"], &path);
    ends(&seen, 0);
    in_order(
        &seen.out,
        &[
            "local/lua  npm lua-srv@1.0.0  the definition asks for npm lua-srv@1.1.0\n",
            "run `langport install local/lua`\n",
            "Not looked up:\n",
            "no registry was asked",
            "finds on this machine: local/found\n",
        ],
    );
    assert!(!ws.home().join("asked").exists());
}
