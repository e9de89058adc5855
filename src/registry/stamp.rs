//! Whether anything has changed that decides how a server starts: its program, the places where it would be looked for,
//! what is installed, and the manifests of its root. One number, made from what the file system says of them.

use std::{
    fs::Metadata,
    hash::{Hash, Hasher},
    path::{Path, PathBuf},
};

use xxhash_rust::xxh3::Xxh3;

use super::{Entry, Surroundings, install, marker::Marker};
use crate::sys::files;

/// Entries of a root that are compared with the globs of its markers.
const ENTRIES: usize = 10_000;

/// The number for one definition and root: another one means that a server which did not start might now.
pub fn stamp(entry: &Entry, root: &Path, around: &Surroundings) -> u64 {
    let mut hasher = Xxh3::new();
    let mut look = |path: &Path| {
        path.hash(&mut hasher);
        // Something always happens in a folder such as `.git`.
        let told = |it: &Metadata| !it.is_dir();
        // The link itself, too: rustup and npm put another one in its place.
        std::fs::symlink_metadata(path).ok().filter(told).map(|it| files::identity(&it)).hash(&mut hasher);
        std::fs::metadata(path).ok().filter(Metadata::is_file).map(|it| files::identity(&it)).hash(&mut hasher);
    };
    candidates(entry, around).iter().for_each(|path| look(path));
    manifests(entry, root).iter().for_each(|path| look(path));
    install::installed(&around.dirs, &entry.name).map(|current| current.pin).hash(&mut hasher);
    hasher.finish()
}

/// Every place in which the program is looked for.
fn candidates(entry: &Entry, around: &Surroundings) -> Vec<PathBuf> {
    let command = &entry.def.command;
    if Path::new(command).is_absolute() || command.contains(['/', '$']) {
        return super::locate(entry, around).map(|found| found.program).into_iter().chain([command.into()]).collect();
    }
    let ours = install::bin_dirs(&around.dirs, &entry.name);
    ours.into_iter().chain(around.path_dirs()).map(|folder| folder.join(command)).collect()
}

/// The files that mark the root, and what its definition wants to hear of.
fn manifests(entry: &Entry, root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = entry.def.watch.paths.iter().map(|path| root.join(path)).collect();
    for text in entry.def.root.markers.iter().flatten() {
        match Marker::parse(text) {
            Ok(Marker::Name(name) | Marker::Key { file: name, .. }) => found.push(root.join(name)),
            Ok(Marker::Glob(glob)) => {
                let entries = std::fs::read_dir(root).into_iter().flatten().take(ENTRIES).filter_map(Result::ok);
                found.extend(entries.filter(|it| glob.is_match(it.file_name())).map(|it| it.path()));
            }
            Err(_) => {}
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use std::fs;

    use super::*;
    use crate::{
        registry::{Scope, Source},
        sys::{dirs::Dirs, env::Env},
    };

    #[test]
    fn what_is_installed_replaced_or_declared_makes_another_number() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path();
        let [root, bin] = ["root", "bin"].map(|name| base.join(name));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&bin).unwrap();
        let [config, state, data, managed] = ["c", "s", "d", "m"].map(|name| base.join(name));
        let vars: Env = [("PATH", bin.to_str().unwrap())].into_iter().collect();
        let around = Surroundings { dirs: Dirs { config, state, data, managed }, vars, workspace: vec![root.clone()] };
        let text = "name = \"a/srv\"\ncommand = \"srv\"\n[root]\nmarkers = [[\"srv.json\", \"*.sln\", \".git\"]]";
        let def = toml::from_str(text).unwrap();
        let entry = Entry { def, name: "a/srv".parse().unwrap(), source: Source::Builtin("x"), scope: Scope::Builtin };
        let mut last = stamp(&entry, &root, &around);
        let mut step = |same: bool| {
            let next = stamp(&entry, &root, &around);
            assert_eq!(next == last, same);
            last = next;
        };
        step(true);
        fs::write(bin.join("srv"), "1").unwrap();
        step(false);
        fs::write(bin.join("srv.new"), "2").unwrap();
        step(true);
        fs::rename(bin.join("srv.new"), bin.join("srv")).unwrap();
        step(false);
        for manifest in ["srv.json", "a.sln"] {
            fs::write(root.join(manifest), "{}").unwrap();
            step(false);
        }
        // What is no manifest, and a folder in which something always happens.
        fs::write(root.join("main.py"), "").unwrap();
        fs::create_dir(root.join(".git")).unwrap();
        fs::write(root.join(".git/index"), "").unwrap();
        step(true);
    }
}
