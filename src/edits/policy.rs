//! What may not be changed, wherever a server wants it: version control's own files, dependencies, and what the user
//! withholds. What git merely ignores is not among it.

use std::path::{Component, Path, PathBuf};

use globset::GlobSet;

use super::refusal::Refusal;
use crate::workspace::roots::Roots;

/// Folders of version control.
const HISTORY: &[&str] = &[".git", ".hg", ".svn", ".jj"];
/// Folders that package managers fill.
const DEPENDENCIES: &[&str] =
    &["node_modules", "site-packages", "dist-packages", ".venv", "venv", ".tox", ".nox", "bower_components", ".yarn"];
/// A folder that holds one of these is filled by a tool.
const MARKERS: &[&str] = &["pyvenv.cfg", "CACHEDIR.TAG", ".cargo-checksum.json"];
/// `vendor` is a name that people give to folders of their own, too: these tell a tool's one.
const VENDORED: &[&str] = &["modules.txt", "autoload.php", "bundle"];

/// What changes are allowed, and how large they may be.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Nothing is changed at all; plans are still made.
    pub read_only: bool,
    /// Paths relative to their root that are not changed, nor what lies in them.
    pub withheld: GlobSet,
    /// Where langport keeps its own: whoever writes there decides what it runs, and what it undoes. Canonical.
    pub own: Vec<PathBuf>,
    /// The largest file that is changed, before and after.
    pub file_bytes: u64,
    /// The most that a plan holds: old and new contents together.
    pub plan_bytes: u64,
    /// The most files and folders that one plan touches.
    pub files: usize,
}

impl Default for Policy {
    fn default() -> Self {
        let (file_bytes, plan_bytes) = (5 << 20, 64 << 20);
        Self { read_only: false, withheld: GlobSet::empty(), own: Vec::new(), file_bytes, plan_bytes, files: 10_000 }
    }
}

impl Policy {
    /// Why this path (canonical, inside a root) is withheld; `None` if it is not.
    pub(super) fn withholds(&self, roots: &Roots, path: &Path) -> Option<&'static str> {
        if self.own.iter().any(|own| path.starts_with(own)) {
            return Some("it is langport's own");
        }
        let root = roots.all().iter().filter(|root| path.starts_with(&root.path));
        // All of the roots that hold it: what an outer one withholds, an inner one does not give.
        for root in root {
            let Ok(below) = path.strip_prefix(&root.path) else { continue };
            if below.as_os_str().is_empty() {
                return Some("it is a root of the workspace");
            }
            let mut at = root.path.clone();
            for part in below.components() {
                let Component::Normal(name) = part else { return Some("it is no plain path") };
                let name = plain(&name.to_string_lossy());
                if HISTORY.contains(&&*name) || name == "git~1" {
                    return Some("it belongs to version control");
                }
                at.push(part);
                if DEPENDENCIES.contains(&&*name)
                    || (name == "vendor" && VENDORED.iter().any(|marker| at.join(marker).exists()))
                    || MARKERS.iter().any(|marker| at != path && at.join(marker).is_file())
                {
                    return Some("it belongs to a dependency or is a tool's own");
                }
                if self.configured(roots, &at) {
                    return Some("the configuration withholds it");
                }
            }
        }
        None
    }

    fn configured(&self, roots: &Roots, path: &Path) -> bool {
        let mut below = roots.all().iter().filter_map(|root| path.strip_prefix(&root.path).ok());
        below.any(|below| self.withheld.is_match(below))
    }

    /// May this folder be moved there with all in it? A repository in it may not: what points to it would break.
    ///
    /// # Errors
    /// When not, or when it is too large to tell.
    pub(super) fn movable(&self, roots: &Roots, top: &Path, to: &Path) -> Result<(), Refusal> {
        let failed = |error: std::io::Error| Refusal::failed(top, "list a folder", &error);
        if self.own.iter().any(|own| own.starts_with(top)) {
            return Err(Refusal::refused(top, "it holds what is langport's own"));
        }
        let mut left = vec![top.to_owned()];
        let mut seen = 0;
        while let Some(folder) = left.pop() {
            for entry in folder.read_dir().map_err(failed)? {
                let entry = entry.map_err(failed)?;
                seen += 1;
                if seen > WALKED {
                    return Err(Refusal::too_large(format!("it holds more than {WALKED} files")).at(&folder));
                }
                if HISTORY.contains(&&*plain(&entry.file_name().to_string_lossy())) {
                    return Err(Refusal::refused(
                        &entry.path(),
                        "it belongs to version control, and would be moved along",
                    ));
                }
                if self.configured(roots, &entry.path()) {
                    return Err(Refusal::refused(
                        &entry.path(),
                        "the configuration withholds it, and it would be moved along",
                    ));
                }
                let there = entry.path().strip_prefix(top).map(|below| to.join(below)).unwrap_or_default();
                if self.configured(roots, &there) {
                    return Err(Refusal::refused(
                        &there,
                        "the configuration withholds it, and something would be moved there",
                    ));
                }
                if entry.file_type().map_err(failed)?.is_dir() {
                    left.push(entry.path());
                }
            }
        }
        Ok(())
    }
}

/// The files in a folder and those below it; as far as it is walked.
pub(super) fn files_below(top: &Path) -> usize {
    let mut left = vec![top.to_owned()];
    let (mut seen, mut files) = (0, 0);
    while let Some(folder) = left.pop() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            seen += 1;
            match entry.file_type() {
                _ if seen > WALKED => return files,
                Ok(kind) if kind.is_dir() => left.push(entry.path()),
                _ => files += 1,
            }
        }
    }
    files
}

/// A folder's tree is walked no further than this.
const WALKED: usize = 200_000;

/// A name as file systems that fold names might see it: NTFS drops dots and blanks at the end, HFS+ what has no width.
fn plain(name: &str) -> String {
    let unseen =
        |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let seen: String = name.chars().filter(|c| !unseen(*c)).flat_map(char::to_lowercase).collect();
    let stream = seen.split(':').next().unwrap_or_default();
    stream.trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::sys::files;

    fn check(policy: &Policy, paths: &[&str], expected: &Expect) {
        let tmp = tempfile::tempdir().unwrap();
        let roots = Roots::new([tmp.path()]).unwrap();
        let top = &roots.all()[0].path;
        for file in ["env/pyvenv.cfg", "go/vendor/modules.txt", "src/vendor/acme.ts", "vendor/a/.cargo-checksum.json"] {
            files::create_dirs(top.join(file).parent().unwrap()).unwrap();
            files::write(&top.join(file), b"").unwrap();
        }
        let said = paths.iter().map(|path| match policy.withholds(&roots, &top.join(path)) {
            Some(why) => format!("{path}: {why}\n"),
            None => format!("{path}: may be changed\n"),
        });
        expected.assert_eq(&said.collect::<String>());
    }

    #[test]
    fn names_in_every_dress() {
        check(
            &Policy::default(),
            &[
                "",
                "a.rs",
                ".git",
                "a/.git/hooks/pre-commit",
                ".GIT/config",
                ".Git. /config",
                ".g\u{200c}it/config",
                ".git::$INDEX_ALLOCATION/config",
                "GIT~1/config",
                ".gitignore",
                ".github/workflows/ci.yml",
                "node_modules/a/index.js",
                "node_modules",
                "lib/python3/site-packages/a.py",
                "env/lib/a.py",
                "go/vendor/a/a.go",
                "src/vendor/acme.ts",
                "vendor/a/src/lib.rs",
            ],
            &expect![[r#"
                : it is a root of the workspace
                a.rs: may be changed
                .git: it belongs to version control
                a/.git/hooks/pre-commit: it belongs to version control
                .GIT/config: it belongs to version control
                .Git. /config: it belongs to version control
                .g‌it/config: it belongs to version control
                .git::$INDEX_ALLOCATION/config: it belongs to version control
                GIT~1/config: it belongs to version control
                .gitignore: may be changed
                .github/workflows/ci.yml: may be changed
                node_modules/a/index.js: it belongs to a dependency or is a tool's own
                node_modules: it belongs to a dependency or is a tool's own
                lib/python3/site-packages/a.py: it belongs to a dependency or is a tool's own
                env/lib/a.py: it belongs to a dependency or is a tool's own
                go/vendor/a/a.go: it belongs to a dependency or is a tool's own
                src/vendor/acme.ts: may be changed
                vendor/a/src/lib.rs: it belongs to a dependency or is a tool's own
            "#]],
        );
    }

    #[test]
    fn what_is_configured() {
        let glob = |glob| globset::Glob::new(glob).unwrap();
        let withheld = globset::GlobSetBuilder::new().add(glob("secrets")).add(glob("**/*.pem")).build().unwrap();
        check(
            &Policy { withheld, ..Policy::default() },
            &["secrets/a/b", "a/b.pem", "a/secrets"],
            &expect![[r#"
                secrets/a/b: the configuration withholds it
                a/b.pem: the configuration withholds it
                a/secrets: may be changed
            "#]],
        );
    }
}
