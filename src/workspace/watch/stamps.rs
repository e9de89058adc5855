//! What tells that dependencies have changed, without looking through them: lock files, and the records that package
//! managers keep of what they installed. Their folders are left out otherwise, so these alone are watched there.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Written with every change to what is installed or asked for.
const LOCKS: &[&str] = &[
    "Cargo.lock",
    "Gemfile.lock",
    "Package.resolved",
    "Pipfile.lock",
    "bun.lock",
    "bun.lockb",
    "composer.lock",
    "deno.lock",
    "go.sum",
    "go.work.sum",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "uv.lock",
    "yarn.lock",
];
/// What npm, yarn (old and new) and pnpm write into `node_modules` when they have installed something.
const INSTALLED: &[&str] = &[".package-lock.json", ".yarn-integrity", ".yarn-state.yml", ".modules.yaml"];
/// Where packages of Node's are.
const NODE: &str = "node_modules";
/// Where packages of Python's are, in a virtual environment.
const PYTHON: &str = "site-packages";
/// Endings of what is there for each package, and of what adds folders to the search path.
const PACKAGES: &[&str] = &["dist-info", "egg-info", "egg-link", "pth"];
/// The most folders of one virtual environment that are looked at.
const FOLDERS: usize = 8;

/// The project whose dependencies have changed where this file or folder has; none if it tells nothing of the kind.
#[must_use]
pub fn dependent(path: &Path) -> Option<&Path> {
    let (holder, name) = (path.parent()?, path.file_name()?);
    if LOCKS.iter().any(|lock| name == *lock) {
        return Some(holder);
    }
    if !is_record(holder, name) {
        return None;
    }
    if is_called(holder, NODE) {
        return holder.parent();
    }
    // A virtual environment lies in the project.
    let library = holder.ancestors().find(|folder| is_called(folder, "lib") || is_called(folder, "Lib"))?;
    library.parent()?.parent()
}

/// Is this the name of a record in a folder of installed packages?
pub(super) fn is_record(holder: &Path, name: &OsStr) -> bool {
    if is_called(holder, NODE) {
        return INSTALLED.iter().any(|installed| name == *installed);
    }
    let ending = || Path::new(name).extension().is_some_and(|ending| PACKAGES.iter().any(|known| ending == *known));
    is_called(holder, PYTHON) && ending()
}

/// Is this folder the record of one package?
pub(super) fn is_installed(folder: &Path) -> bool {
    let named = |holder: &Path| Some(is_called(holder, PYTHON) && is_record(holder, folder.file_name()?));
    folder.parent().and_then(named).unwrap_or_default()
}

/// Does a folder that is left out lead to such records: is it one of installed packages, a virtual environment, or
/// inside of one on the way there?
pub(super) fn leads_on(folder: &Path) -> bool {
    let environment = |folder: &Path| folder.join("pyvenv.cfg").is_file();
    if is_called(folder, NODE) || environment(folder) {
        return true;
    }
    let Some(parent) = folder.parent() else { return false };
    let library = |folder: &Path| is_called(folder, "lib") || is_called(folder, "Lib");
    let version = |folder: &Path| folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"python"));
    if library(folder) {
        return environment(parent);
    }
    if version(folder) {
        return library(parent);
    }
    is_called(folder, PYTHON) && (version(parent) || library(parent))
}

/// The folders to look at, of a folder that is left out: itself and those that lead on below it.
pub(super) fn ways(folder: &Path) -> Vec<PathBuf> {
    if !leads_on(folder) {
        return Vec::new();
    }
    let mut ways = vec![folder.to_owned()];
    let mut next = 0;
    while next < ways.len() && ways.len() < FOLDERS {
        // Below `node_modules` nothing leads on that is worth a look.
        if !is_called(&ways[next], NODE) && !is_called(&ways[next], PYTHON) {
            let entries = ways[next].read_dir().into_iter().flatten().flatten();
            let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            let found: Vec<PathBuf> = folders.map(|entry| entry.path()).filter(|path| leads_on(path)).collect();
            ways.extend(found);
        }
        next += 1;
    }
    ways.truncate(FOLDERS);
    ways
}

fn is_called(folder: &Path, name: &str) -> bool {
    folder.file_name().is_some_and(|given| given == name)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::sys::files;

    #[test]
    fn what_tells_of_dependencies() {
        let check = |path: &str, project: Option<&str>| {
            assert_eq!(dependent(Path::new(path)), project.map(Path::new), "{path}");
        };
        check("/w/Cargo.lock", Some("/w"));
        check("/w/deep/go.sum", Some("/w/deep"));
        check("/w/node_modules/.package-lock.json", Some("/w"));
        check("/w/.package-lock.json", None);
        check("/w/node_modules/left-pad/package.json", None);
        check("/w/.venv/lib/python3.12/site-packages/six-1.17.0.dist-info", Some("/w"));
        check("/w/.venv/lib/python3.12/site-packages/six.py", None);
        check("/w/a.dist-info", None);
        check("/w/src/main.rs", None);
    }

    fn check(tree: &[&str], folder: &str, expected: &Expect) {
        let tmp = tempfile::tempdir().unwrap();
        for path in tree {
            files::create_dirs(tmp.path().join(path).parent().unwrap()).unwrap();
            files::write(&tmp.path().join(path), b"").unwrap();
        }
        let ways = ways(&tmp.path().join(folder));
        let shown = ways.iter().map(|way| way.strip_prefix(tmp.path()).unwrap().display().to_string());
        expected.assert_eq(&shown.collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn ways_to_the_records() {
        let tree = [
            ".venv/pyvenv.cfg",
            ".venv/bin/python",
            ".venv/lib/python3.12/site-packages/six.py",
            ".venv/lib/python3.12/site-packages/pip/lib/x",
            "node_modules/a/node_modules/b",
            "target/lib/x",
        ];
        check(&tree, ".venv", &expect![".venv .venv/lib .venv/lib/python3.12 .venv/lib/python3.12/site-packages"]);
        check(&tree, "node_modules", &expect!["node_modules"]);
        check(&tree, "target", &expect![""]);
    }
}
