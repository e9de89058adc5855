//! The commands that people run, with folders of their own and nothing of this machine's.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Command, Stdio},
};

use super::{
    BUSY, Workspace,
    procs::{self, MARK},
    within,
};

/// What a command printed and left.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A command of langport's in the workspace; it has no terminal. `path` is the whole PATH.
pub(crate) fn command(ws: &Workspace, args: &[&str], path: &str) -> Command {
    let home = ws.home();
    let mut command = Command::new(env!("CARGO_BIN_EXE_langport"));
    command.args(args).current_dir(ws.root()).env_clear();
    command
        .env("TMPDIR", home.join("tmp"))
        .env("HOME", &home)
        .env("PATH", path)
        .env(MARK, ws.mark_text())
        .stdin(Stdio::null());
    for (name, folder) in [("CONFIG", "config"), ("STATE", "state"), ("DATA", "data")] {
        command.env(format!("LANGPORT_{name}_DIR"), home.join(folder));
    }
    command
}

/// Runs one; it may leave nothing running, and nothing in its folder for temporary files.
#[track_caller]
pub(crate) fn run(ws: &Workspace, args: &[&str], path: &str) -> Seen {
    let temp = ws.home().join("tmp");
    fs::create_dir_all(&temp).expect("a folder");
    let done = command(ws, args, path).output().expect("langport starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let seen = Seen { code: done.status.code(), out: text(done.stdout), err: text(done.stderr) };
    let gone = within(BUSY, || procs::marked(&ws.mark_text()).is_empty().then_some(()));
    assert!(gone.is_some(), "left behind: {:?}", procs::marked(&ws.mark_text()));
    assert_eq!(fs::read_dir(&temp).expect("a folder").count(), 0, "temporary files stay");
    seen
}

/// A program of the test's own, in a folder for a PATH.
pub(crate) fn program(ws: &Workspace, name: &str, script: &str) -> String {
    let folder: PathBuf = ws.home().join("bin");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(name), format!("#!/bin/sh\n{script}\n")).expect("a program");
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).expect("a program");
    folder.to_string_lossy().into_owned()
}

/// Requires these texts, one after the other.
#[track_caller]
pub(crate) fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing, or comes too early, in\n{text}"));
        rest = &rest[at + part.len()..];
    }
}
