//! Which folders are not worth a watch: what git ignores, version control's own, and what tools mark as theirs.
//! Decides about folders only: a file that git ignores may still matter to a server.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Never watched, whatever anybody says: tools write there at their own pace.
const NEVER: &[&str] = &[".git", ".hg", ".svn", ".jj"];
/// Not watched unless a pattern takes them back.
const SELDOM: &[&str] = &["node_modules", "__pycache__"];
/// A folder that holds one of these is a cache or a virtual environment.
const MARKERS: &[&str] = &["CACHEDIR.TAG", "pyvenv.cfg"];
/// Compiled patterns take some 10 KiB a file: of more files than this they are compiled again when needed.
const COMPILED: usize = 64;

/// The rules of all roots.
#[derive(Debug, Default)]
pub(super) struct Rules {
    roots: Vec<PathBuf>,
    /// What the user adds, `!` taking back: stronger than what the repository says. One for each root.
    added: Vec<Gitignore>,
    /// The user's own file of git, and `info/exclude` of each repository: weaker than what the repository says.
    fallback: Vec<Gitignore>,
    /// Folders that hold a `.gitignore`, those above a root and inside the same repository too.
    sources: HashSet<PathBuf>,
    compiled: HashMap<PathBuf, Gitignore>,
    /// Watched all the same, with everything below.
    exempt: Vec<PathBuf>,
}

impl Rules {
    pub(super) fn new(roots: &[PathBuf], patterns: &[String]) -> Rules {
        let mut sources = HashSet::new();
        let mut fallback = vec![Gitignore::global().0];
        for root in roots {
            let Some(repository) = root.ancestors().find(|folder| folder.join(".git").exists()) else { continue };
            let above = root.ancestors().skip(1).take_while(|folder| folder.starts_with(repository));
            sources.extend(above.filter(|folder| folder.join(".gitignore").is_file()).map(Path::to_owned));
            let mut builder = GitignoreBuilder::new(repository);
            builder.add(repository.join(".git/info/exclude"));
            fallback.extend(builder.build());
        }
        let added = roots.iter().filter_map(|root| {
            let mut builder = GitignoreBuilder::new(root);
            for pattern in patterns {
                // A pattern that is none ignores nothing.
                builder.add_line(None, pattern).ok();
            }
            builder.build().ok()
        });
        let added = added.collect();
        Rules { roots: roots.to_vec(), added, fallback, sources, compiled: HashMap::new(), exempt: Vec::new() }
    }

    /// Is this the name of a file that decides about the folder that holds it or about folders below?
    pub(super) fn is_source(name: &OsStr) -> bool {
        name == ".gitignore"
    }

    pub(super) fn is_marker(name: &OsStr) -> bool {
        MARKERS.iter().any(|marker| name == *marker)
    }

    /// Notes that `folder` does or does not hold a `.gitignore`, or another one than before.
    pub(super) fn source(&mut self, folder: &Path, present: bool) {
        self.compiled.remove(folder);
        if present {
            self.sources.insert(folder.to_owned());
        } else {
            self.sources.remove(folder);
        }
    }

    pub(super) fn exempt(&mut self, folder: &Path) {
        if !self.exempt.iter().any(|exempt| folder.starts_with(exempt)) {
            self.exempt.push(folder.to_owned());
        }
    }

    pub(super) fn is_exempt(&self, folder: &Path) -> bool {
        self.exempt.iter().any(|exempt| folder.starts_with(exempt))
    }

    /// Is this folder, whose parent is watched, left out?
    pub(super) fn leaves_out(&mut self, folder: &Path) -> bool {
        let Some(name) = folder.file_name() else { return false };
        if self.roots.iter().any(|root| root == folder) {
            return false;
        }
        if NEVER.iter().any(|never| name == *never) {
            return true;
        }
        if self.is_exempt(folder) {
            return false;
        }
        self.verdict(folder).unwrap_or_else(|| {
            SELDOM.iter().any(|seldom| name == *seldom) || MARKERS.iter().any(|marker| folder.join(marker).is_file())
        })
    }

    /// What patterns say, the strongest first; `None` if none matches.
    fn verdict(&mut self, folder: &Path) -> Option<bool> {
        let below = |patterns: &&Gitignore| folder.starts_with(patterns.path());
        if let Some(said) = self.added.iter().filter(below).find_map(|patterns| decided(patterns, folder)) {
            return Some(said);
        }
        for holder in folder.ancestors().skip(1) {
            if self.sources.contains(holder)
                && let Some(said) = decided(self.compile(holder), folder)
            {
                return Some(said);
            }
        }
        self.fallback.iter().find_map(|patterns| decided(patterns, folder))
    }

    fn compile(&mut self, holder: &Path) -> &Gitignore {
        if self.compiled.len() >= COMPILED && !self.compiled.contains_key(holder) {
            self.compiled.clear();
        }
        self.compiled.entry(holder.to_owned()).or_insert_with(|| {
            let mut builder = GitignoreBuilder::new(holder);
            // Lines that are no patterns are skipped, as git does.
            builder.add(holder.join(".gitignore"));
            builder.build().unwrap_or_else(|_| Gitignore::empty())
        })
    }
}

fn decided(patterns: &Gitignore, folder: &Path) -> Option<bool> {
    match patterns.matched(folder, true) {
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
        Match::None => None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::sys::files;

    fn check(tree: &[(&str, &str)], patterns: &[&str], folders: &[&str], expected: &Expect) {
        let tmp = tempfile::tempdir().unwrap();
        let top = tmp.path().canonicalize().unwrap();
        let root = top.join("repo/ws");
        files::create_dirs(&root).unwrap();
        for (path, content) in tree {
            files::create_dirs(top.join("repo").join(path).parent().unwrap()).unwrap();
            files::write(&top.join("repo").join(path), content.as_bytes()).unwrap();
        }
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let mut rules = Rules::new(std::slice::from_ref(&root), &patterns);
        for (path, _) in tree {
            if let Some(holder) = path.strip_suffix(".gitignore") {
                rules.source(&top.join("repo").join(holder.trim_end_matches('/')), true);
            }
        }
        let kept = folders.iter().filter(|folder| !rules.leaves_out(&root.join(folder)));
        expected.assert_eq(&kept.copied().collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn what_git_ignores() {
        let tree = [
            (".git/HEAD", ""),
            (".git/info/exclude", "private/\n"),
            (".gitignore", "/ws/out\nbuild/\n"),
            ("ws/.gitignore", "gen\n!kept/build\n"),
            ("ws/kept/.gitignore", "!gen\n"),
        ];
        let folders = ["src", "out", "build", "kept", "kept/build", "kept/gen", "gen", "private", ".git", "a/gen"];
        check(&tree, &[], &folders, &expect!["src kept kept/build kept/gen"]);
    }

    #[test]
    fn what_tools_mark_and_what_the_user_takes_back() {
        let tree = [("ws/target/CACHEDIR.TAG", ""), ("ws/env/pyvenv.cfg", ""), ("ws/src/a", "")];
        let folders = ["src", "target", "env", "node_modules", "src/__pycache__", ".git", "docs"];
        check(&tree, &[], &folders, &expect!["src docs"]);
        check(&tree, &["!node_modules", "!target", "!.git", "/docs"], &folders, &expect!["src target node_modules"]);
    }
}
