//! What brings no event in the folders that are watched: a file that is written by another of its names, and a file system
//! that is mounted in the workspace while langport runs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use libtest_mimic::Trial;
use serde_json::json;

use crate::{
    eventless,
    fake::script::Script,
    support::{Langport, Workspace},
};

pub(crate) fn trials() -> Vec<Trial> {
    let mounts = Trial::test("unseen::syn_02_a_file_system_is_mounted", || {
        a_file_system_is_mounted();
        Ok(())
    });
    vec![
        crate::trial("it::unseen::syn_02_a_file_that_is_not_open_is_written_by_another_name", not_open_by_another_name),
        crate::trial("it::unseen::syn_01_an_open_file_is_written_by_another_name", open_by_another_name),
        mounts.with_ignored_flag(eventless::missing().is_some()),
    ]
}

const TEXTS: [&str; 2] = ["# LACKING! tally\n", "# PROVIDES tally\n"];

/// As `use.py` says, `lib.py` has this text now.
#[track_caller]
fn lib_has(lp: &Langport, text: &str) {
    let says = if text == TEXTS[1] { "fresh · fake · no problems" } else { "fresh · fake · 1 error" };
    lp.diagnostics("use.py").says(says);
}

fn start(ws: &Workspace) -> Langport {
    Langport::builder(ws)
        .server(crate::support::Definition::new("fake", Script::watching("**/*.py").pull()))
        .config("barrier_ms = 5000")
        .start()
}

fn not_open_by_another_name() {
    let ws = Workspace::new("//- use.py\nNEEDS tally\n//- lib.py\n# LACKING! tally\n");
    let other = ws.home().join("other");
    fs::hard_link(ws.path("lib.py"), &other).expect("a second name");
    let lp = start(&ws);
    lib_has(&lp, TEXTS[0]);
    for round in 1..20 {
        let text = TEXTS[round % 2];
        fs::write(&other, text).expect("it can be written");
        lib_has(&lp, text);
    }
    // Its own name is replaced: the other one is nothing to it any more.
    ws.replace("lib.py", TEXTS[0]);
    lib_has(&lp, TEXTS[0]);
    fs::write(&other, TEXTS[1]).expect("it can be written");
    lib_has(&lp, TEXTS[0]);
}

fn open_by_another_name() {
    let ws = Workspace::new("//- a.py\nw = 1\n");
    let other = ws.home().join("other");
    let lp = start(&ws);
    lp.diagnostics("a.py").says("fresh · fake · no problems");
    fs::hard_link(ws.path("a.py"), &other).expect("a second name");
    for round in 0..20 {
        fs::write(&other, format!("w{round} = ERR\n")).expect("it can be written");
        lp.diagnostics("a.py").says("fresh · fake · 1 error").contains(&format!("w{round} = ERR"));
        let at = json!({"file_path": "a.py", "line": 1, "column": 1});
        fs::write(&other, format!("v{round}\n")).expect("it can be written");
        lp.hover(&at).verdict_is("fresh").contains(&format!("WORD v{round}"));
    }
}

/// Unmounts when dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(real: &Path, seen: &Path) -> Self {
        let mut command = Command::new("bindfs");
        command.args(["-o", "attr_timeout=0,entry_timeout=0,negative_timeout=0"]).arg(real).arg(seen);
        let made = command.output().expect("bindfs starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self(seen.to_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("fusermount3").arg("-u").arg("-z").arg(&self.0).status();
    }
}

fn a_file_system_is_mounted() {
    let ws = Workspace::new("//- use.py\nNEEDS tally\n");
    let (beside, sub) = (ws.home().join("beside"), ws.path("sub"));
    fs::create_dir(&beside).and_then(|()| fs::create_dir(&sub)).expect("folders");
    let write = |text: &str| fs::write(beside.join("lib.py"), text).expect("it can be written");
    let lp = start(&ws);
    lib_has(&lp, TEXTS[0]);
    for _ in 0..3 {
        write(TEXTS[1]);
        let mounted = Mounted::new(&beside, &sub);
        lib_has(&lp, TEXTS[1]);
        for round in 0..6 {
            // Where nobody watches.
            write(TEXTS[round % 2]);
            lib_has(&lp, TEXTS[round % 2]);
        }
        lp.tool("status", &json!({})).contains("files are compared on each call");
        drop(mounted);
        lib_has(&lp, TEXTS[0]);
        ws.write("sub/lib.py", TEXTS[1]);
        lib_has(&lp, TEXTS[1]);
        ws.remove("sub/lib.py");
        lib_has(&lp, TEXTS[0]);
    }
}
