//! What a server knows of checkouts of other branches inside the workspace stays out of changes, and is told as theirs.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use crate::{
    protocol::types::{EditStep, FileRef, WorkspaceEdit},
    workspace::{checkouts::linked, roots::Roots},
};

use super::{ask::Ask, kinds::count};

/// Checkouts that are named.
const NAMED: usize = 3;

impl Ask<'_> {
    /// Takes out of an edit what it does in another checkout than that of `asked`: a rename is about one branch. Gives a
    /// remark where there was any.
    pub(super) fn in_one_checkout(&self, asked: &Path, edit: &mut WorkspaceEdit) -> Option<String> {
        let mut others = Others::of(&self.engine.ground.roots, asked);
        edit.steps.retain(|step| {
            let files = match step {
                EditStep::Texts { file, .. } | EditStep::Create { file, .. } | EditStep::Delete { file, .. } => {
                    [Some(file), None]
                }
                EditStep::Rename { from, to, .. } => [Some(from), Some(to)],
            };
            !files.into_iter().flatten().any(|file| others.has(file))
        });
        others.remark("left as they are")
    }

    /// A remark on those of these files that lie in another checkout than `asked`.
    pub(super) fn of_other_checkouts<'f>(
        &self,
        asked: &Path,
        files: impl IntoIterator<Item = &'f FileRef>,
    ) -> Option<String> {
        let mut others = Others::of(&self.engine.ground.roots, asked);
        files.into_iter().for_each(|file| _ = others.has(file));
        others.remark("not of the asked one")
    }
}

/// Files of other checkouts than one.
struct Others<'r> {
    roots: &'r Roots,
    own: Option<PathBuf>,
    /// By folder.
    known: HashMap<PathBuf, Option<PathBuf>>,
    /// How many files of each; the root's own are under no name.
    found: BTreeMap<Option<PathBuf>, usize>,
}

impl<'r> Others<'r> {
    fn of(roots: &'r Roots, asked: &Path) -> Self {
        Self { roots, own: linked(roots, asked), known: HashMap::new(), found: BTreeMap::new() }
    }

    /// Whether the file is one of them; counts it.
    fn has(&mut self, file: &FileRef) -> bool {
        let FileRef::Path(path) = file else { return false };
        let Some(folder) = path.parent().filter(|_| self.roots.contains(path)) else { return false };
        let checkout = match self.known.get(folder) {
            Some(known) => known.clone(),
            None => {
                let found = linked(self.roots, path);
                self.known.insert(folder.to_owned(), found.clone());
                found
            }
        };
        if checkout == self.own {
            return false;
        }
        *self.found.entry(checkout).or_default() += 1;
        true
    }

    fn remark(self, what: &str) -> Option<String> {
        let files = self.found.values().sum::<usize>();
        let name = |checkout: &Option<PathBuf>| match checkout {
            Some(folder) => self.roots.display(folder),
            None => "the repository around it".to_owned(),
        };
        let mut names: Vec<String> = self.found.keys().take(NAMED).map(name).collect();
        if self.found.len() > NAMED {
            names.push(format!("{} more", self.found.len() - NAMED));
        }
        let lies = if files == 1 { "lies" } else { "lie" };
        (files > 0).then(|| {
            format!(
                "{} {lies} in another checkout of git's ({}), {what}",
                count(files, "file", "files"),
                names.join(", ")
            )
        })
    }
}
