//! Which folders are not worth a watch: what git ignores, version control's own, and what tools mark as theirs.
//! Decides about folders only: a file that git ignores may still matter to a server.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Never watched, whatever anybody says: tools write there at their own pace.
pub(super) const NEVER: &[&str] = &[".git", ".hg", ".svn", ".jj"];
/// Not watched unless a pattern takes them back.
const SELDOM: &[&str] = &["node_modules", "__pycache__"];
/// A folder that holds one of these is a cache or a virtual environment.
const MARKERS: &[&str] = &["CACHEDIR.TAG", "pyvenv.cfg"];
/// Files with patterns, the stronger first: what search tools ignore, and what git does.
const SOURCES: [&str; 2] = [".ignore", ".gitignore"];
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
    /// Folders that hold a file with patterns, those above a root and inside the same repository too.
    sources: HashSet<PathBuf>,
    compiled: HashMap<PathBuf, [Gitignore; SOURCES.len()]>,
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
            sources.extend(above.filter(|folder| has_source(folder)).map(Path::to_owned));
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
        SOURCES.iter().any(|source| name == *source)
    }

    pub(super) fn is_marker(name: &OsStr) -> bool {
        MARKERS.iter().any(|marker| name == *marker)
    }

    /// Notes that a file with patterns came, went or was written in `folder`.
    pub(super) fn rewritten(&mut self, folder: &Path) {
        self.source(folder, has_source(folder));
    }

    /// Notes that `folder` does or does not hold a file with patterns, or another one than before.
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
        if self.is_exempt(folder) || self.leads_to_exempt(folder) {
            return false;
        }
        let parent = folder.parent().unwrap_or(folder);
        // On the way to an exempt folder only the way itself is watched.
        if self.leads_to_exempt(parent) && self.lies_in_ignored(parent) {
            return true;
        }
        self.is_ignored(folder)
    }

    fn leads_to_exempt(&self, folder: &Path) -> bool {
        self.exempt.iter().any(|exempt| exempt.starts_with(folder))
    }

    /// Is this folder or one above it ignored?
    pub(super) fn lies_in_ignored(&mut self, folder: &Path) -> bool {
        let roots = self.roots.clone();
        let inside = |folder: &&Path| !roots.iter().any(|root| root == *folder);
        folder.ancestors().take_while(inside).any(|folder| self.is_ignored(folder))
    }

    fn is_ignored(&mut self, folder: &Path) -> bool {
        let Some(name) = folder.file_name() else { return false };
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
        for kind in 0..SOURCES.len() {
            for holder in folder.ancestors().skip(1) {
                if self.sources.contains(holder)
                    && let Some(said) = decided(&self.compile(holder)[kind], folder)
                {
                    return Some(said);
                }
            }
        }
        self.fallback.iter().find_map(|patterns| decided(patterns, folder))
    }

    fn compile(&mut self, holder: &Path) -> &[Gitignore; SOURCES.len()] {
        if self.compiled.len() >= COMPILED && !self.compiled.contains_key(holder) {
            self.compiled.clear();
        }
        self.compiled.entry(holder.to_owned()).or_insert_with(|| {
            SOURCES.map(|source| {
                let mut builder = GitignoreBuilder::new(holder);
                let path = holder.join(source);
                // A pipe of that name would be read for ever. Lines that are no patterns are skipped, as git does.
                if path.is_file() {
                    builder.add(path);
                }
                builder.build().unwrap_or_else(|_| Gitignore::empty())
            })
        })
    }
}

fn has_source(folder: &Path) -> bool {
    SOURCES.iter().any(|source| folder.join(source).is_file())
}

fn decided(patterns: &Gitignore, folder: &Path) -> Option<bool> {
    match patterns.matched(folder, true) {
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
        Match::None => None,
    }
}
