//! Which files a call is about, and who serves them: found by a bounded walk, or given; what nobody here can look at is
//! counted, by language.

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ignore::WalkBuilder;
use tokio::time::Instant;

use super::sweep::Target;
use crate::{
    binding::{Binding, Fit},
    registry::{DisplayName, Entry, ScopedName},
    sys::files::identity,
    tools::{
        ask::Ask,
        engine::Engine,
        file::failure,
        kinds::count,
        outcome::{Code, Failure},
    },
};

/// Entries that one walk looks at, files that one call is about, and the longest that the walk takes.
const ENTRIES: usize = 200_000;
pub(super) const FILES: usize = 2_000;
const LONGEST: Duration = Duration::from_secs(4);

/// Chooses files, and remembers what it had to leave out.
pub(super) struct Chooser<'a> {
    ask: &'a Ask<'a>,
    available: RefCell<HashMap<ScopedName, bool>>,
    /// Only what is below this.
    within: Option<&'a Path>,
    seen: HashSet<PathBuf>,
    /// Files of a language whose servers are not installed, by the first of them.
    unserved: BTreeMap<ScopedName, (DisplayName, usize)>,
    /// Files that cannot be given to a server, and why.
    unreadable: Vec<(String, String)>,
}

impl<'a> Chooser<'a> {
    pub(super) fn new(ask: &'a Ask<'a>, within: Option<&'a Path>) -> Self {
        let (available, seen) = (RefCell::default(), HashSet::new());
        Self { ask, available, within, seen, unserved: BTreeMap::new(), unreadable: Vec::new() }
    }

    fn is_available(&self, entry: &Entry) -> bool {
        let mut known = self.available.borrow_mut();
        *known.entry(entry.name.clone()).or_insert_with(|| self.ask.engine.available(entry))
    }

    /// A file with those who serve it; none where nobody does, or where it was chosen before.
    pub(super) fn target(&mut self, path: &Path) -> Option<Target> {
        let engine = self.ask.engine;
        if !engine.is_served(path) || !self.within.is_none_or(|within| path.starts_with(within)) {
            return None;
        }
        let file = match self.ask.file(path.to_str()?) {
            Ok(file) => file,
            // Too large, binary, not to be read: it belongs to the question, and has no answer.
            Err(failure) if matches!(failure.code, Code::Unavailable | Code::Invalid | Code::Failed) => {
                if path.is_file() {
                    self.unreadable.push((engine.ground.roots.display(path), failure.what));
                }
                return None;
            }
            Err(_) => return None,
        };
        // A link and what it leads to are one file.
        if !self.seen.insert(file.path.clone()) {
            return None;
        }
        let available = |entry: &Entry| self.is_available(entry);
        let mut serving = engine.route_among(&file.path, &file.language, &file.ceiling, available);
        if !matches!(engine.bound.binding(), Binding::Explicit(_)) {
            let missing = serving.answering.first().map(|(entry, _)| entry.clone());
            serving.answering.retain(|(entry, _)| self.is_available(entry));
            if let Some(missing) = missing.filter(|_| serving.answering.is_empty() && serving.linters.is_empty()) {
                let name = || (engine.display(&missing), 0);
                self.unserved.entry(missing.name.clone()).or_insert_with(name).1 += 1;
            }
        }
        let served = !serving.answering.is_empty() || !serving.linters.is_empty();
        served.then_some(Target { file, serving })
    }

    /// The definitions and roots that a file belongs to, whether it is there or not.
    pub(super) fn projects(&self, path: &Path) -> Vec<(ScopedName, PathBuf)> {
        let engine = self.ask.engine;
        let Some(root) = engine.ground.roots.root_of(path) else { return Vec::new() };
        let language = engine.languages.detect(path, || None).unwrap_or_default();
        let ceiling = &engine.ground.roots.all()[root].path;
        let serving = engine.route_among(path, language, ceiling, |entry| self.is_available(entry));
        let all = serving.answering.into_iter().chain(serving.linters);
        all.map(|(entry, root)| (entry.name.clone(), root)).collect()
    }

    /// What was left out, a line for each reason.
    pub(super) fn notes(&self) -> Vec<String> {
        let unserved = self.unserved.values().map(|(server, number)| {
            let files = count(*number, "file", "files");
            format!("not looked at: {files} that {server} would serve, which is not installed; see lsp/status")
        });
        let unreadable = self.unreadable.iter().take(5).map(|(file, why)| format!("not looked at: {file}: {why}"));
        let more = self.unreadable.len().saturating_sub(5);
        let more =
            (more > 0).then(|| format!("not looked at: {} of that kind", count(more, "more file", "more files")));
        unserved.chain(unreadable).chain(more).collect()
    }

    /// That no server is here for any of the files, where that is so for all of them.
    pub(super) fn nobody(&self) -> Option<Failure> {
        if self.unserved.is_empty() {
            return None;
        }
        let all = self.unserved.values().map(|(_, number)| number).sum();
        let what = format!("no server is installed for {}", count(all, "file", "files"));
        let next = "`langport install --for` the project's folder installs what it needs; see lsp/status";
        let mut failure = failure(Code::Unavailable, what, next);
        failure.details = self.notes();
        Some(failure)
    }

    /// Whether there are files that a server would serve, and none is here for.
    pub(super) fn has_unserved(&self) -> bool {
        !self.unserved.is_empty()
    }

    /// Whether files that a server is there for could not be given to it.
    pub(super) fn left_out(&self) -> bool {
        !self.unreadable.is_empty()
    }
}

impl Engine {
    /// Whether any bound definition serves files of this name.
    pub(in crate::tools) fn is_served(&self, path: &Path) -> bool {
        let language = self.languages.detect(path, || None);
        // Only a `#!` line tells the language of a file without an ending.
        language.is_none() && path.extension().is_none()
            || !self.bound.for_file(path, language, |_| Fit::Ready).is_empty()
    }
}

impl Engine {
    /// Whether a change to a file may change the problems of others: one of a served language that is no tool's own, such
    /// as a cache.
    pub(super) fn concerns(&self, path: &Path) -> bool {
        let roots = self.ground.roots.all();
        let inside = roots.iter().find_map(|root| path.strip_prefix(&root.path).ok()).unwrap_or(path);
        let hidden = inside.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
        !hidden && self.languages.detect(path, || None).is_some() && self.is_served(path)
    }
}

/// Files that a walk has found.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub files: Vec<PathBuf>,
    /// Files of known languages beyond those.
    pub more: usize,
    /// Not everything was looked through.
    pub cut: bool,
}

/// The files of served languages that git does not ignore, in the order of their paths; with `since` only those whose
/// time stamps are not older.
pub(super) async fn walk(ask: &Ask<'_>, within: Option<&Path>, since: Option<i128>) -> Walked {
    let roots = ask.engine.ground.roots.all().iter().map(|root| root.path.clone());
    let folders: Vec<PathBuf> = within.map_or_else(|| roots.collect(), |within| vec![within.to_owned()]);
    let (languages, bound) = (Arc::clone(&ask.engine.languages), ask.engine.bound.clone());
    let end = Instant::now() + (ask.deadline.saturating_duration_since(Instant::now()) / 4).min(LONGEST);
    let walk = tokio::task::spawn_blocking(move || {
        let mut walked = Walked::default();
        let mut entries = 0;
        for folder in folders {
            let walk =
                WalkBuilder::new(folder).require_git(false).follow_links(false).sort_by_file_name(Ord::cmp).build();
            for entry in walk.filter_map(Result::ok) {
                entries += 1;
                if entries > ENTRIES || Instant::now() > end {
                    walked.cut = true;
                    return walked;
                }
                if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                    continue;
                }
                let Some(language) = languages.detect(entry.path(), || None) else { continue };
                let recent = |since: i128| {
                    let metadata = entry.metadata().map(|metadata| identity(&metadata));
                    metadata.is_ok_and(|identity| identity.mtime_ns.max(identity.ctime_ns) >= since)
                };
                if bound.for_file(entry.path(), Some(language), |_| Fit::Ready).is_empty() || !since.is_none_or(recent)
                {
                    continue;
                }
                if walked.files.len() < FILES {
                    walked.files.push(entry.into_path());
                } else {
                    walked.more += 1;
                }
            }
        }
        walked
    });
    walk.await.unwrap_or_default()
}
