//! Puts a server's command into a sandbox of bubblewrap: no network, no other process, a home folder and a `/tmp` of its
//! own, and of the disk only what it needs to run and the workspace. Pure but for looking at which folders there are.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use super::{Entry, Launch, LaunchError, Surroundings, Transport};
use crate::config::Sandbox;

/// What holds for every server whose definition says nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Confinement {
    pub memory_mb: Option<u64>,
    pub nice: Option<u8>,
    pub sandbox: Sandbox,
}

/// Where programs and their libraries lie.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];
/// What programs look up there. Nothing of it is secret.
const ETC: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "group",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "nsswitch.conf",
    "passwd",
    "pki",
    "ssl",
    "timezone",
];
/// Variables that lead to toolchains, their libraries and the packages that they have fetched.
const TOOLCHAINS: &[&str] = &[
    "DENO_DIR",
    "DOTNET_ROOT",
    "GOMODCACHE",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];
/// The same below the home folder, where no variable leads elsewhere. The rest of it (keys, tokens, other projects)
/// stays out; so does the file with the tokens for a registry beside what was fetched from there.
const IN_HOME: &[&str] = &[
    ".asdf/installs",
    ".cache/deno",
    ".cargo/bin",
    ".cargo/git",
    ".cargo/registry",
    ".local/share/mise/installs",
    ".m2/repository",
    ".nvm/versions",
    ".pyenv/versions",
    ".rustup",
    ".sdkman/candidates",
    ".volta/tools",
    "go/pkg",
    "sdk",
];

/// Fills in what the definition leaves open, and shuts the server in where that is asked for.
///
/// # Errors
/// The sandbox cannot be made: the server must not run outside of it then.
pub fn confine(
    mut launch: Launch,
    entry: &Entry,
    all: Confinement,
    around: &Surroundings,
) -> Result<Launch, LaunchError> {
    launch.bounds.nice = launch.bounds.nice.or(all.nice);
    launch.bounds.memory_mb = launch.bounds.memory_mb.or(all.memory_mb).filter(|limit| *limit > 0);
    let writable = match entry.def.sandbox.unwrap_or(all.sandbox) {
        Sandbox::None => return Ok(launch),
        Sandbox::Bwrap => false,
        Sandbox::BwrapWrite => true,
    };
    let refused = |reason: String| LaunchError::Invalid { field: "sandbox".to_owned(), reason };
    if launch.transport == Transport::Tcp {
        return Err(refused(
            "a server without a network cannot be connected to: it works over `stdio` only".to_owned(),
        ));
    }
    let bwrap = around
        .find("bwrap")
        .map_err(|error| refused(format!("{error}: install bubblewrap; without it this server is not started")))?;
    let mut args = arguments(&launch, around, writable);
    args.push("--".to_owned());
    args.push(launch.program.display().to_string());
    launch.shown.splice(0..0, ["bwrap".to_owned(), "…".to_owned()]);
    args.append(&mut launch.args);
    launch.args = args;
    launch.program = bwrap;
    launch.sees_langport = false;
    launch.bounds.scratch = false;
    launch.env.retain(|(name, _)| !matches!(name.as_str(), "TMPDIR" | "TMP" | "TEMP" | "XDG_RUNTIME_DIR"));
    launch.env.push(("TMPDIR".to_owned(), "/tmp".to_owned()));
    launch.env.push(("XDG_RUNTIME_DIR".to_owned(), "/tmp".to_owned()));
    Ok(launch)
}

fn arguments(launch: &Launch, around: &Surroundings, writable: bool) -> Vec<String> {
    let home = around.vars.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute() && home.parent().is_some());
    let mut args: Vec<String> = [
        "--unshare-all",
        "--die-with-parent",
        "--cap-drop",
        "ALL",
        "--proc",
        "/proc",
        // Root may set the kernel there, whatever its capabilities.
        "--remount-ro",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/tmp",
    ]
    .map(str::to_owned)
    .into();
    let mut mount = |how: &str, path: &Path| {
        // A path that is no text cannot be an argument here: it stays outside.
        if let Some(text) = path.to_str() {
            args.extend([how, text, text].map(str::to_owned));
        }
    };
    for path in SYSTEM {
        mount("--ro-bind-try", Path::new(path));
    }
    for name in ETC {
        mount("--ro-bind-try", &Path::new("/etc").join(name));
    }
    if let Some(home) = home.as_deref().and_then(Path::to_str) {
        args.extend(["--tmpfs", home].map(str::to_owned));
    }
    let mut mount = |how: &str, path: &Path| {
        if let Some(text) = path.to_str() {
            args.extend([how, text, text].map(str::to_owned));
        }
    };
    for path in readable(launch, around, home.as_deref()) {
        mount("--ro-bind-try", &path);
    }
    for root in around.workspace.iter().chain([&launch.cwd]) {
        mount(if writable { "--bind" } else { "--ro-bind" }, root);
    }
    if let Some(cwd) = launch.cwd.to_str() {
        args.extend(["--chdir", cwd].map(str::to_owned));
    }
    args
}

/// Folders outside the system's own that a server may need to run.
fn readable(launch: &Launch, around: &Surroundings, home: Option<&Path>) -> Vec<PathBuf> {
    let of_system = |path: &Path| SYSTEM.iter().any(|system| path.starts_with(system));
    let mut found: Vec<PathBuf> = Vec::new();
    let mut add = |path: PathBuf| {
        // A folder that holds the home folder would bring all of it along.
        let too_much = path.parent().is_none() || home.is_some_and(|home| home.starts_with(&path));
        if !too_much && path.is_absolute() && !of_system(&path) && !found.contains(&path) {
            found.push(path);
        }
    };
    let programs = around.path_dirs().into_iter().filter(|dir| !around.is_inside(dir));
    for dir in programs.chain(launch.program.parent().map(Path::to_owned)) {
        add(installation(&dir, home));
        if let Ok(real) = dir.canonicalize() {
            add(installation(&real, home));
        }
    }
    if let Some(dir) = launch.program.canonicalize().ok().as_deref().and_then(Path::parent) {
        add(installation(dir, home));
    }
    add(around.dirs.data.clone());
    for name in TOOLCHAINS {
        if let Some(path) = around.vars.get(name) {
            add(PathBuf::from(path));
        }
    }
    for (name, parts) in [("CARGO_HOME", ["bin", "git", "registry"]), ("GOPATH", ["bin", "pkg", "src"])] {
        if let Some(path) = around.vars.get(name) {
            parts.iter().for_each(|part| add(Path::new(path).join(part)));
        }
    }
    for path in home.into_iter().flat_map(|home| IN_HOME.iter().map(|part| home.join(part))) {
        add(path);
    }
    found
}

/// The folder of an installation whose programs lie in `dir`: its parent, unless that is one that many things share.
fn installation(dir: &Path, home: Option<&Path>) -> PathBuf {
    let whole = dir.file_name() == Some(OsStr::new("bin")) && !home.is_some_and(|home| dir.starts_with(home));
    dir.parent().filter(|_| whole).unwrap_or(dir).to_owned()
}

#[cfg(test)]
mod tests;
