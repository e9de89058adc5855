//! rust-analyzer for the tests: the one on PATH where it runs, else Debian's package, unpacked below the folder of the
//! test servers. A rustup proxy without the component has its own test.

use std::{fs, path::PathBuf, process::Command};

use crate::support::{Langport, Workspace};

use super::{definitions::Env, servers};

const PACKAGES: [&str; 3] = ["rust-web-analyzer", "libstd-rust-web-1.96", "libllvm22"];

/// The environment with a rust-analyzer that runs, and the toolchain of whoever runs the tests.
pub(super) fn machine() -> Result<Env, String> {
    let home = std::env::var("HOME").unwrap_or_default();
    let toolchain = |name: &str, folder: &str| std::env::var(name).unwrap_or_else(|_| format!("{home}/{folder}"));
    let mut env =
        vec![("CARGO_HOME", toolchain("CARGO_HOME", ".cargo")), ("RUSTUP_HOME", toolchain("RUSTUP_HOME", ".rustup"))];
    if !works(Command::new("rust-analyzer").arg("--version")) {
        let bin = unpacked().ok_or("rust-analyzer does not run, and Debian's package is not to be had")?;
        env.push(("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default())));
    }
    Ok(env)
}

fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// The folder with a `rust-analyzer` that finds its libraries.
fn unpacked() -> Option<PathBuf> {
    let folder = servers::folder().join("rust-web-analyzer");
    let bin = folder.join("bin");
    let program = bin.join("rust-analyzer");
    if !program.exists() {
        fs::create_dir_all(&bin).ok()?;
        if !works(Command::new("apt-get").arg("download").args(PACKAGES).current_dir(&folder)) {
            return None;
        }
        for package in
            fs::read_dir(&folder).ok()?.flatten().filter(|entry| entry.path().extension().is_some_and(|e| e == "deb"))
        {
            works(Command::new("dpkg").arg("-x").arg(package.path()).arg(&folder)).then_some(())?;
        }
        let usr = folder.join("usr");
        let text = format!(
            "#!/bin/sh\nLD_LIBRARY_PATH={0}/lib/x86_64-linux-gnu exec {0}/bin/rust-analyzer \"$@\"\n",
            usr.display()
        );
        fs::write(&program, text).ok()?;
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).ok()?;
    }
    works(Command::new(&program).arg("--version")).then_some(bin)
}

/// rustup's proxy is there although the component is not: what it says and what helps are told.
pub(super) fn proxy_without_the_component() {
    let ws =
        Workspace::new("//- Cargo.toml\n[package]\nname = \"a\"\nversion = \"0.1.0\"\n//- src/main.rs\nfn main() {}\n");
    let said = "error: Unknown binary 'rust-analyzer' in official toolchain 'stable'.";
    ws.write("../bin/rust-analyzer", &format!("#!/bin/sh\necho \"{said}\" >&2\nexit 1\n"));
    let program = ws.path("../bin/rust-analyzer");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("an executable file");
    let path = format!("{}:/usr/bin:/bin", program.parent().expect("its folder").display());
    let lp = Langport::builder(&ws).arg("--bind").arg("builtin/rust-analyzer").env("PATH", &path).start();
    let answer = lp.diagnostics("src/main.rs");
    answer.fails("unavailable").contains("rustup component add rust-analyzer").contains(said);
}
