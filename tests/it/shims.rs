//! Programs on PATH that are only shims of a version manager, with nothing behind them: they count as not there, before
//! anything is started.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::support::{Definition, Langport, Workspace, cli};

trials![a_proxy_without_its_component_is_not_installed, a_shim_without_a_version_is_passed_over];

/// A folder with rustup and its proxy of rust-analyzer, and a toolchain without that.
fn rustup(ws: &Workspace) -> String {
    let path = cli::program(ws, "rustup", "echo \"error: Unknown binary in official toolchain\" >&2\nexit 1");
    symlink("rustup", ws.home().join("bin/rust-analyzer")).unwrap();
    ws.write("../.rustup/toolchains/stable/bin/rustc", "");
    path
}

fn a_proxy_without_its_component_is_not_installed() {
    let ws = Workspace::new("//- Cargo.toml\n[package]\nname = \"x\"\n//- src/lib.rs\nfn a() {}\n");
    let path = rustup(&ws);
    let passed = "passed over, because no toolchain of rustup has it: ";
    let list = cli::run(&ws, &["list", "--language", "rust"], &path).out;
    cli::in_order(&list, &["not installed; its definition says: rustup component add rust-analyzer", passed]);
    let seen = cli::run(&ws, &["install", "--for", "."], &path);
    cli::in_order(&seen.out, &["rust-analyzer", "not installed; its definition says: ", passed, "Left to you:"]);
    let doctor = cli::run(&ws, &["doctor", "."], &path);
    cli::in_order(
        &doctor.out,
        &["not installed:", "builtin/rust-analyzer", "its definition says: rustup component add", passed],
    );
    let lp = Langport::builder(&ws).env("PATH", &path).auto().start();
    let at = json!({"file_path": "src/lib.rs", "line": 1, "column": 4});
    lp.hover(&at).fails("unavailable").contains("not installed").contains("rustup component add rust-analyzer");
    lp.tool("status", &json!({})).contains("0 running");
    drop(lp);
    // With the component it is there.
    ws.write("../.rustup/toolchains/stable/bin/rust-analyzer", "");
    let list = cli::run(&ws, &["list", "--language", "rust"], &path).out;
    assert!(list.contains(&format!("found: {path}/rust-analyzer")), "{list}");
}

fn a_shim_without_a_version_is_passed_over() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    Definition::command("srv", "srv").write(&ws);
    ws.write("../pyenv/shims/srv", "#!/bin/sh\nexec \"/x/.pyenv/libexec/pyenv\" exec \"srv\" \"$@\"\n");
    std::fs::set_permissions(ws.path("../pyenv/shims/srv"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    ws.write("../pyenv/versions/3.1/bin/other", "");
    let shims = ws.home().join("pyenv/shims").display().to_string();
    let seen = cli::run(&ws, &["show", "srv"], &shims);
    cli::in_order(&seen.out, &["server      not installed: no program `srv`", "because no version of pyenv has it: "]);
    // What comes behind it on PATH serves.
    let path = format!("{shims}:{}", cli::program(&ws, "srv", "exit 0"));
    let seen = cli::run(&ws, &["show", "srv"], &path);
    cli::in_order(&seen.out, &["server      found: ", "/bin/srv"]);
    ws.write("../pyenv/versions/3.2/bin/srv", "");
    let seen = cli::run(&ws, &["show", "srv"], &path);
    cli::in_order(&seen.out, &["server      found: ", "/pyenv/shims/srv"]);
}
