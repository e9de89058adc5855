//! What a server does in the background, beside what the agent itself does in the same folder.

use std::{fs, process::Command};

use crate::support::{Langport, Workspace, eventually};

use super::{definitions::needing, rust};

pub(super) fn trials() -> Vec<libtest_mimic::Trial> {
    let title = "real::builds::per_04_a_build_of_ones_own_does_not_wait_for_the_servers".to_owned();
    vec![needing(title, &["cargo"], Some(rust::machine), per_04_a_build_of_ones_own_does_not_wait_for_the_servers)]
}

/// A build script that waits for a file where the server runs it, and nowhere else.
const SCRIPT: &str = r#"
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("OUT_DIR").unwrap().contains("rust-analyzer") {
        std::fs::write("../at-work", "").unwrap();
        while !std::path::Path::new("../go-on").exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}
"#;

fn per_04_a_build_of_ones_own_does_not_wait_for_the_servers() {
    let ws = Workspace::new(
        "//- Cargo.toml\n[package]\nname = \"slow\"\nversion = \"0.1.0\"\nedition = \"2021\"\n//- src/main.rs\nfn main() {}\n",
    );
    ws.write("build.rs", SCRIPT);
    // The shipped definition, as somebody who trusts the folder has it: build scripts and `cargo check` run.
    let shipped = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/servers.d/rust-analyzer.toml")).unwrap();
    let allowed = shipped
        .replace("builtin/rust-analyzer", "local/rust-analyzer")
        .replace("buildScripts = { enable = false }", "buildScripts = { enable = true }")
        .replace("checkOnSave = false", "checkOnSave = true")
        .replace("buildScripts.enable\" = false", "buildScripts.enable\" = true")
        .replace("checkOnSave\" = false", "checkOnSave\" = true");
    assert!(allowed.contains("targetDir = true") && !allowed.contains("checkOnSave = false"), "{allowed}");
    ws.write("../config/servers.d/rust-analyzer.toml", &allowed);
    let machine = rust::machine().expect("rust-analyzer");
    let mut builder = Langport::builder(&ws).auto().max_wait(60_000).arg("--bind").arg("local/rust-analyzer");
    for (name, value) in &machine {
        builder = builder.env(name, value);
    }
    let lp = builder.start();
    let call = lp.call("lsp_diagnostics", &serde_json::json!({"file_path": "src/main.rs"}));
    eventually("the server's own build", || ws.path("../at-work").exists().then_some(()));
    // It holds the lock of the folder that it builds into for as long as the test likes.
    let mut build = Command::new("cargo");
    build.args(["build", "--offline"]).current_dir(ws.root());
    for (name, value) in machine.iter().filter(|(name, _)| *name != "PATH") {
        build.env(name, value);
    }
    let built = build.output().expect("cargo");
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(built.status.success(), "{said}");
    assert!(!said.contains("Blocking waiting for file lock on build directory"), "{said}");
    assert!(!ws.path("../go-on").exists() && ws.path("target/debug/slow").exists());
    ws.write("../go-on", "");
    lp.answer(call);
    let answer = eventually("an answer once it has built", || {
        Some(lp.diagnostics("src/main.rs")).filter(|answer| answer.verdict() == "fresh")
    });
    answer.contains("no problems");
}
