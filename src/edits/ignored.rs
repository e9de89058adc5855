//! Which files git ignores. They may be changed, but it is worth saying: nobody sees it in a diff of git's.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::workspace::roots::Roots;

/// Those of `paths` that git ignores.
pub(super) fn among<'p>(roots: &Roots, paths: impl Iterator<Item = &'p Path>) -> Vec<PathBuf> {
    let mut rules = Rules { compiled: HashMap::new(), user: Gitignore::global().0 };
    let mut ignored: Vec<PathBuf> = paths.filter(|path| rules.ignores(roots, path)).map(Path::to_owned).collect();
    ignored.dedup();
    ignored
}

struct Rules {
    /// By the folder that holds them; of a repository's top also `info/exclude`, which is weaker.
    compiled: HashMap<PathBuf, [Option<Gitignore>; 2]>,
    user: Gitignore,
}

impl Rules {
    fn ignores(&mut self, roots: &Roots, path: &Path) -> bool {
        // Outside a repository there is no git that ignores.
        let Some(top) = path.ancestors().skip(1).find(|folder| folder.join(".git").exists()).map(Path::to_owned) else {
            return false;
        };
        let inside = roots.all().iter().any(|root| root.path.starts_with(&top) || top.starts_with(&root.path));
        // From the top down: what is in an ignored folder cannot be taken back.
        let mut parts: Vec<&Path> = path.ancestors().take_while(|part| *part != top).collect();
        parts.reverse();
        inside && parts.iter().any(|part| self.excluded(part, &top, *part != path))
    }

    /// What the patterns say of one folder or file itself.
    fn excluded(&mut self, path: &Path, top: &Path, folder: bool) -> bool {
        let holders = path.ancestors().skip(1).take_while(|holder| holder.starts_with(top));
        for holder in holders {
            let [own, _] = self.compile(holder, holder == top);
            if let Some(said) = own.as_ref().and_then(|own| decided(own, path, folder)) {
                return said;
            }
        }
        let [_, exclude] = self.compile(top, true);
        let said = exclude.as_ref().and_then(|exclude| decided(exclude, path, folder));
        said.or_else(|| decided(&self.user, path, folder)).unwrap_or(false)
    }

    fn compile(&mut self, holder: &Path, top: bool) -> &[Option<Gitignore>; 2] {
        self.compiled.entry(holder.to_owned()).or_insert_with(|| {
            let read = |file: &str| {
                let file = holder.join(file);
                let mut builder = GitignoreBuilder::new(holder);
                // Lines that are no patterns are skipped, as git does.
                file.is_file().then(|| builder.add(file)).and_then(|_| builder.build().ok())
            };
            [read(".gitignore"), if top { read(".git/info/exclude") } else { None }]
        })
    }
}

fn decided(patterns: &Gitignore, path: &Path, folder: bool) -> Option<bool> {
    match patterns.matched(path, folder) {
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
        Match::None => None,
    }
}
