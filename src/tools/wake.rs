//! What a change may break beside its own files: those that hold a name which it takes away, gives or declares anew, or
//! that of a file which it moves. They are searched for in the whole workspace, within bounds that are told.

use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use memchr::memmem::Finder;

use crate::{
    binding::Fit,
    edits::{Kind, Plan, Wake},
    sys::blocking::blocking,
    workspace::{
        watch,
        words::{Found, Sought, files_with, has_word},
    },
};

use super::{
    ask::Ask,
    diagnostics::Touched,
    file::failure,
    outcome::{Code, Failure},
};

/// Names of one change, and the longest that one search takes.
const NAMES: usize = 100;
const LONGEST: Duration = Duration::from_secs(2);
/// Files that are named.
const SHOWN: usize = 3;
/// Names that stand for the folder that the file is in.
const FOLDERS: [&str; 4] = ["index", "mod", "__init__", "lib"];

/// Files that a change may affect.
#[derive(Debug, Default)]
pub(super) struct Affected {
    pub files: Vec<PathBuf>,
    /// So many more were too many.
    pub left: Vec<PathBuf>,
    /// Not everything was searched.
    pub cut: bool,
}

/// By what other files may depend on what a plan changes.
pub(super) fn of(plan: &Plan) -> Wake {
    let mut differing: BTreeSet<String> = BTreeSet::new();
    let mut touched = Touched::default();
    for (_, old, new) in plan.texts() {
        let mut balance: HashMap<&str, i64> = HashMap::new();
        words(old).for_each(|word| *balance.entry(word).or_default() += 1);
        words(new).for_each(|word| *balance.entry(word).or_default() -= 1);
        differing.extend(balance.into_iter().filter(|(_, left)| *left != 0).map(|(word, _)| word.to_owned()));
        touched.between(old, new);
    }
    // One name for another, and nothing else.
    let renames = !differing.is_empty() && differing.len() <= 2;
    let mut names: BTreeSet<String> = match differing.len() {
        0 => BTreeSet::new(),
        _ if renames => differing,
        _ => touched.names().map(str::to_owned).collect(),
    };
    let moved = plan.files().filter(|(kind, ..)| *kind != Kind::Changed);
    names.extend(moved.filter_map(|(_, path, from)| called(from.unwrap_or(path))));
    Wake { names: names.into_iter().take(NAMES).collect(), renames }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !unicode_ident::is_xid_continue(c)).filter(|word| !word.is_empty())
}

/// What imports call a file.
fn called(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let stem = stem.split('.').next().unwrap_or(stem);
    let name = if FOLDERS.contains(&stem) { path.parent()?.file_name()?.to_str()? } else { stem };
    Some(name.to_owned())
}

impl Ask<'_> {
    /// The files beside a change's own that it may affect, no more than there is `room` for.
    pub(super) async fn affected(&self, wake: &Wake, own: BTreeSet<PathBuf>, room: usize) -> Affected {
        if wake.names.is_empty() {
            return Affected::default();
        }
        let end = Instant::now() + (self.left() / 8).min(LONGEST);
        let (engine, names) = (self.engine.clone(), wake.names.clone());
        let searching = move || {
            let wanted = |path: &Path| !own.contains(path) && engine.is_code(path);
            let mut affected = Affected::default();
            for root in engine.ground.roots.all() {
                let Found { files, cut } = files_with(&root.path, Sought::Words(&names), &|_| false, &wanted, end);
                affected.files.extend(files);
                affected.cut |= cut;
            }
            affected.left = affected.files.split_off(room.min(affected.files.len()));
            affected
        };
        // Reading the disk blocks.
        let searched = tokio::task::spawn_blocking(searching).await;
        searched.unwrap_or_else(|_| Affected { cut: true, ..Affected::default() })
    }

    /// Whether a rename is still whole: nothing that holds the old name has come or changed since it was planned. What may
    /// lack uses anyway says what else it lacks.
    ///
    /// # Errors
    /// When something has, and the plan was to be whole.
    pub(super) async fn still_whole(&self, plan: &Plan) -> Result<Vec<String>, Failure> {
        let Some(promise) = &plan.promise else { return Ok(Vec::new()) };
        let ground = &self.engine.ground;
        ground.barrier().await;
        let changes = ground.watcher.since(promise.since);
        let own: BTreeSet<&Path> = plan.paths().collect();
        let finder = Finder::new(&promise.word);
        let has = |change: &watch::Change| {
            change.kind != watch::Kind::Deleted
                && !change.folder
                && !own.contains(&*change.path)
                && self.engine.is_code(&change.path)
                && ground.read(&change.path).is_ok_and(|now| has_word(now.text.as_bytes(), &promise.word, &finder))
        };
        let found: Vec<String> = blocking(|| {
            let with_word = changes.events.iter().filter(|change| has(change));
            with_word.map(|change| ground.roots.display(&change.path)).collect()
        });
        let what = if changes.overflow {
            "more has changed since the plan was made than is remembered".to_owned()
        } else if found.is_empty() {
            return Ok(Vec::new());
        } else {
            let word = &promise.word;
            format!("{} came or changed since the plan was made, with the word `{word}` in it", shown(&found))
        };
        if promise.whole {
            return Err(failure(Code::Conflict, format!("the plan is outdated: {what}"), "plan it again"));
        }
        Ok(vec![format!("left as it is: {what}")])
    }

    /// Files as answers name them, the first few.
    pub(super) fn some_of(&self, files: &[PathBuf]) -> String {
        let names: Vec<String> =
            files.iter().take(SHOWN + 1).map(|path| self.engine.ground.roots.display(path)).collect();
        shown(&names)
    }
}

fn shown(names: &[String]) -> String {
    let mut some: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    if names.len() > SHOWN {
        some.push("…");
    }
    some.join(", ")
}

impl super::engine::Engine {
    /// Whether it is a file of a language that is served.
    fn is_code(&self, path: &Path) -> bool {
        let language = self.languages.detect(path, || None);
        language.is_some() && !self.bound.for_file(path, language, |_| Fit::Ready).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_imports_call_a_file() {
        for (path, name) in [("/w/shop/cart.test.ts", "cart"), ("/w/shop/__init__.py", "shop"), ("/w/a.py", "a")] {
            assert_eq!(called(Path::new(path)).as_deref(), Some(name));
        }
    }
}
