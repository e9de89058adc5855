//! Programs that only stand for others: the shims of version managers. They are there whether or not anything is behind
//! them, and what has nothing behind it is no program. What cannot be told counts as whole.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use super::{env::Env, files};

/// The beginning of a shim's script that is read.
const SCRIPT: u64 = 8 * 1024;
/// Entries below a manager's folder that are looked at, and how deep.
const ENTRIES: usize = 5_000;
const DEPTH: usize = 5;

/// What a program lacks that is nothing but a shim.
pub fn lacking(program: &Path, vars: &Env) -> Option<&'static str> {
    let name = program.file_name()?.to_str()?;
    let folder = program.parent()?;
    let real = program.canonicalize().ok()?;
    let is = |manager: &str| name != manager && real.file_name().is_some_and(|own| own == manager);
    if is("rustup") || name != "rustup" && is_twin(program, &folder.join("rustup")) {
        let home = home(vars, "RUSTUP_HOME", ".rustup")?;
        return unless(any_has(&home.join("toolchains"), name)?, "no toolchain of rustup has it");
    }
    if is("volta-shim") {
        // Node and its own programs are fetched when they are run.
        let fetched = ["node", "npm", "npx", "yarn", "pnpm"].contains(&name);
        let packages = folder.parent()?.join("tools/user/bins");
        let there = fetched || !packages.is_dir() || packages.join(format!("{name}.json")).exists();
        return unless(there, "no package of volta has it");
    }
    if folder.file_name()? != "shims" {
        return None;
    }
    let data = folder.parent()?;
    if is("mise") {
        return unless(holds(&data.join("installs"), name)?, "nothing that mise installed has it");
    }
    let script = beginning(program)?;
    if script.contains("asdf exec") {
        let told = script.lines().filter_map(|line| line.strip_prefix("# asdf-plugin: ")?.trim().split_once(' '));
        let versions: Vec<PathBuf> =
            told.map(|(plugin, version)| data.join("installs").join(plugin).join(version.trim())).collect();
        return unless(versions.is_empty() || versions.iter().any(|version| version.is_dir()), "asdf has it no more");
    }
    let known = [
        ("pyenv", "no version of pyenv has it"),
        ("nodenv", "no version of nodenv has it"),
        ("rbenv", "no version of rbenv has it"),
    ];
    let (_, why) = known.into_iter().find(|(manager, _)| {
        script.contains(&format!("/{manager}\" exec ")) || script.contains(&format!("{manager} exec "))
    })?;
    unless(any_has(&data.join("versions"), name)?, why)
}

fn unless(there: bool, why: &'static str) -> Option<&'static str> {
    (!there).then_some(why)
}

/// A manager's folder: where its variable says, else below the home folder.
fn home(vars: &Env, variable: &str, folder: &str) -> Option<PathBuf> {
    let told = vars.get(variable).filter(|told| !told.is_empty()).map(PathBuf::from);
    told.or_else(|| Some(Path::new(vars.get("HOME")?).join(folder)))
}

/// Whether one of the installations in a folder has a program; none where there is no such folder.
fn any_has(installations: &Path, name: &str) -> Option<bool> {
    let entries = fs::read_dir(installations).ok()?;
    Some(entries.filter_map(Result::ok).any(|entry| entry.path().join("bin").join(name).exists()))
}

/// Whether a file of this name is somewhere below a folder; none where that cannot be looked through.
fn holds(folder: &Path, name: &str) -> Option<bool> {
    let mut open = vec![(folder.to_owned(), 0)];
    let mut looked = 0;
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(&folder).ok()?.filter_map(Result::ok) {
            looked += 1;
            if looked > ENTRIES {
                return None;
            }
            let kind = entry.file_type().ok()?;
            if entry.file_name() == name && !kind.is_dir() {
                return Some(true);
            }
            if kind.is_dir() && depth < DEPTH && entry.file_name() != "node_modules" {
                open.push((entry.path(), depth + 1));
            }
        }
    }
    Some(false)
}

/// Whether two names are one file: some managers link hard.
fn is_twin(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let of = |path: &Path| path.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()));
        of(one).is_some_and(|one| of(other) == Some(one))
    }
    #[cfg(not(unix))]
    {
        let _ = (one, other);
        false
    }
}

/// The beginning of a script; none where it is no text.
fn beginning(path: &Path) -> Option<String> {
    let mut text = String::new();
    files::open(path).ok()?.take(SCRIPT).read_to_string(&mut text).ok()?;
    text.starts_with("#!").then_some(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A home folder of files, and of links that are written `name -> target`.
    fn check(tree: &[(&str, &str)], program: &str, expected: Option<&str>) {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path();
        for (path, text) in tree {
            let (path, target) = path.split_once(" -> ").map_or((*path, None), |(path, target)| (path, Some(target)));
            files::create_dirs(home.join(path).parent().unwrap()).unwrap();
            match target {
                Some(target) => symlink(target, home.join(path)).unwrap(),
                None => files::write(&home.join(path), text.as_bytes()).unwrap(),
            }
        }
        let vars = [("HOME", home.to_str().unwrap())].into_iter().collect();
        assert_eq!(lacking(&home.join(program), &vars), expected, "{program} of {tree:?}");
    }

    #[test]
    fn a_proxy_of_rustup_needs_a_toolchain_with_the_program() {
        let proxy = [("bin/rustup", ""), ("bin/rust-analyzer -> rustup", "")];
        let with = |more: &[(&'static str, &'static str)]| [&proxy, more].concat();
        let bare = ".rustup/toolchains/stable/bin/cargo";
        check(&with(&[(bare, "")]), "bin/rust-analyzer", Some("no toolchain of rustup has it"));
        check(&with(&[(bare, ""), (".rustup/toolchains/beta/bin/rust-analyzer", "")]), "bin/rust-analyzer", None);
        // Its toolchains are elsewhere: that cannot be told.
        check(&proxy, "bin/rust-analyzer", None);
        check(&with(&[(bare, "")]), "bin/rustup", None);
        check(&[("bin/rust-analyzer", ""), (bare, "")], "bin/rust-analyzer", None);
    }

    #[test]
    fn a_hard_link_is_a_proxy_too() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path();
        files::create_dirs(&home.join(".rustup/toolchains/stable/bin")).unwrap();
        files::write(&home.join("rustup"), b"").unwrap();
        fs::hard_link(home.join("rustup"), home.join("rust-analyzer")).unwrap();
        let vars: Env = [("HOME", home.to_str().unwrap())].into_iter().collect();
        assert_eq!(lacking(&home.join("rust-analyzer"), &vars), Some("no toolchain of rustup has it"));
        assert_eq!(lacking(&home.join("rustup"), &vars), None);
    }

    #[test]
    fn shims_of_versions_need_a_version_with_the_program() {
        for (manager, why) in [
            ("pyenv", "no version of pyenv has it"),
            ("nodenv", "no version of nodenv has it"),
            ("rbenv", "no version of rbenv has it"),
        ] {
            let script = format!(
                "#!/usr/bin/env bash\nexec \"/home/x/.{manager}/libexec/{manager}\" exec \"$program\" \"$@\"\n"
            );
            let shim = ("m/shims/srv", script.as_str());
            check(&[shim, ("m/versions/1.0/bin/other", "")], "m/shims/srv", Some(why));
            check(&[shim, ("m/versions/1.0/bin/srv", ""), ("m/versions/2.0/bin/other", "")], "m/shims/srv", None);
        }
        // Neither a script of somebody's own in a folder of that name, nor a program.
        check(&[("m/shims/srv", "#!/bin/sh\nexec other\n"), ("m/versions/1/bin/x", "")], "m/shims/srv", None);
        check(&[("m/shims/srv", "\u{7f}ELF pyenv exec "), ("m/versions/1/bin/x", "")], "m/shims/srv", None);
    }

    #[test]
    fn what_asdf_mise_and_volta_no_longer_have() {
        let asdf =
            ("a/shims/srv", "#!/usr/bin/env bash\n# asdf-plugin: nodejs 20.1.0\nexec asdf exec \"srv\" \"$@\"\n");
        check(&[asdf], "a/shims/srv", Some("asdf has it no more"));
        check(&[asdf, ("a/installs/nodejs/20.1.0/bin/node", "")], "a/shims/srv", None);

        let mise = [("bin/mise", ""), ("m/shims/srv -> ../../bin/mise", ""), ("m/installs/node/20/bin/node", "")];
        check(&mise, "m/shims/srv", Some("nothing that mise installed has it"));
        check(&[&mise[..], &[("m/installs/npm-srv/1/bin/srv", "")]].concat(), "m/shims/srv", None);
        check(&mise[..2], "m/shims/srv", None);

        let volta = [("v/bin/volta-shim", ""), ("v/bin/srv -> volta-shim", ""), ("v/tools/user/bins/x.json", "")];
        check(&volta, "v/bin/srv", Some("no package of volta has it"));
        check(&[&volta[..], &[("v/tools/user/bins/srv.json", "")]].concat(), "v/bin/srv", None);
        check(&[&volta[..], &[("v/bin/npm -> volta-shim", "")]].concat(), "v/bin/npm", None);
    }
}
