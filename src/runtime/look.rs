//! Looks for the files that may have what a question is about, and says how a server comes to know each: by a list that it
//! knows, by another one, or not at all before it is opened.

use std::path::{Path, PathBuf};

use crate::{
    language,
    sys::blocking::blocking,
    workspace::words::{self, Found, Sought},
};

use super::{
    called::is_called,
    ground::Ground,
    query::{Query, Question},
    reach::{Aim, LONGEST, Reached},
    session::Session,
};

/// The files that have a word, as a session's project and others have them.
#[derive(Default)]
pub(super) struct Sorted {
    /// The list that has the asked file.
    pub own: Option<PathBuf>,
    pub loose: Vec<PathBuf>,
    pub others: Vec<(PathBuf, PathBuf)>,
    /// Files that the server is not for.
    pub foreign: Vec<PathBuf>,
    pub cut: bool,
}

impl Session {
    /// The files that have one of the words, other than the asked one and those that are known with it.
    pub(super) async fn search(
        &self,
        ground: &Ground,
        question: &Question,
        reached: &Reached<'_>,
        words: &[String],
    ) -> Sorted {
        let Some(file) = question.file.clone() else { return Sorted::default() };
        let folder = self.folders.all().iter().filter(|own| file.starts_with(own)).max().cloned();
        let folder = folder.unwrap_or_else(|| self.root.clone());
        let beyond = reached.beyond.clone();
        let ceilings: Vec<PathBuf> = ground.roots.all().iter().map(|root| root.path.clone()).collect();
        let end = std::time::Instant::now() + (question.left() / 4).min(LONGEST);
        let (entry, lists, any, words) = (self.entry.clone(), self.sight.lists.clone(), reached.any, words.to_vec());
        let (aim, for_symbols) = (reached.aim, reached.aim == Aim::Symbols);
        // A search of the project has a file that stands for it; where that cannot be told, nothing is known with it.
        let told = !for_symbols || ground.read(&file).is_ok();
        // What is in a moved folder refers to what is outside of it.
        let moved = match &question.query {
            Query::Move { from, folder: true, .. } => Some(from.clone()),
            _ => None,
        };
        let searching = move || {
            let reach = &entry.def.reach;
            // The user may have said what such files are.
            let is_alike = |path: &Path| path.extension().is_some() && path.extension() == file.extension();
            let speaks = |path: &Path| {
                is_alike(path)
                    || entry.language_of(path).is_some()
                    || language::detect(path, || None).is_some_and(|id| entry.speaks(id))
            };
            let also =
                |path: &Path| language::detect(path, || None).is_some_and(|id| reach.also.iter().any(|it| it == id));
            let ends = |path: &Path| {
                let ending = path.extension().and_then(|ending| ending.to_str());
                ending.is_some_and(|ending| reach.endings.iter().any(|it| it == ending))
            };
            // The symbols of such files are not its own.
            let beside = |path: &Path| !for_symbols && (ends(path) || !reach.also.is_empty() && also(path));
            let wanted = |path: &Path| speaks(path) || beside(path);
            let sought = match &words[..] {
                _ if any => Sought::Anything,
                [part] if for_symbols => Sought::Part(part),
                words => Sought::Words(words),
            };
            let sure = |path: &Path| match aim {
                Aim::Names => words.iter().any(|name| is_called(path, name)),
                _ => moved.as_deref().is_some_and(|moved| path.starts_with(moved)),
            };
            let Found { mut files, mut cut } = words::files_with(&folder, sought, &sure, &wanted, end);
            if let Some(beyond) = beyond {
                let (more, short) = beyond.search(sought, &wanted, end);
                files.extend(more.into_values().flatten());
                cut |= short;
            }
            let list_of = |path: &Path| {
                let ceiling = ceilings.iter().filter(|ceiling| path.starts_with(ceiling)).max();
                lists.that_has(&reach.lists, path, ceiling.unwrap_or(&folder))
            };
            let own = list_of(&file).filter(|_| told);
            let mut sorted = Sorted { cut, ..Sorted::default() };
            for path in files.into_iter().filter(|path| !told || *path != file) {
                if !speaks(&path) {
                    sorted.foreign.push(path);
                    continue;
                }
                match list_of(&path) {
                    Some(list) if Some(&list) == own.as_ref() => {}
                    Some(list) => sorted.others.push((list, path)),
                    None => sorted.loose.push(path),
                }
            }
            sorted.own = own;
            sorted
        };
        // Reading the disk blocks.
        let searched = tokio::task::spawn_blocking(searching).await;
        searched.unwrap_or(Sorted { cut: true, ..Sorted::default() })
    }

    /// Whether one of its lists has a file: then it knows with it what it has to know.
    pub(super) async fn is_listed(&self, ground: &Ground, path: &Path) -> bool {
        let lists = self.entry.def.reach.lists.clone();
        let Some(root) = ground.roots.root_of(path).filter(|_| !lists.is_empty()) else { return false };
        let (path, ceiling) = (path.to_owned(), ground.roots.all()[root].path.clone());
        let read = self.sight.lists.clone();
        // A compilation database may be large.
        let found = tokio::task::spawn_blocking(move || read.that_has(&lists, &path, &ceiling).is_some()).await;
        found.unwrap_or(false)
    }

    fn list_of(&self, ground: &Ground, path: &Path) -> Option<PathBuf> {
        let lists = &self.entry.def.reach.lists;
        let root = ground.roots.root_of(path).filter(|_| !lists.is_empty())?;
        // Some compilation databases have hundreds of MiB.
        blocking(|| self.sight.lists.that_has(lists, path, &ground.roots.all()[root].path))
    }

    /// Whether two files are of different projects.
    pub(super) fn are_apart(&self, ground: &Ground, one: &Path, other: &Path) -> bool {
        self.list_of(ground, one) != self.list_of(ground, other)
    }
}
