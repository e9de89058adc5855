//! Uses beyond the project of the asked file: which files of the workspace's other projects may hold some. One that cannot
//! depend on the asked project is none of them: what is called alike there is something else.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
};

use memchr::memmem::Finder;

use crate::{
    registry::Knows,
    sys::files,
    workspace::words::{Found, Sought, files_with, has_word},
};

use super::{
    ground::Ground,
    projects::Projects,
    query::{Query, Question},
    reach::LONGEST,
    session::Session,
};

/// Bytes of a file that are looked through for the name of another project.
const READ: u64 = 256 << 10;

/// The projects as they were when the watcher's changes had come so far.
pub(super) type Kept = (u64, Arc<Projects>);

/// The other projects that may use what is asked about.
#[derive(Debug, Clone)]
pub(super) struct Beyond {
    projects: Arc<Projects>,
    /// Those that may use the asked one as their manifests have it, lie around it or in it.
    joined: BTreeSet<usize>,
    /// Others, of which a file may all the same.
    perhaps: BTreeSet<usize>,
    /// What such a file would hold.
    names: Vec<String>,
    /// What the server knows without this.
    known: Vec<PathBuf>,
}

impl Beyond {
    /// The folders that these projects lie in, none of them in another one.
    fn folders(&self) -> Vec<PathBuf> {
        let numbers = self.joined.iter().chain(&self.perhaps);
        let mut roots: Vec<&Path> = numbers.map(|number| self.projects.root(*number)).collect();
        roots.sort_unstable();
        let mut folders: Vec<PathBuf> = Vec::new();
        for root in roots {
            if !folders.iter().any(|folder| root.starts_with(folder)) {
                folders.push(root.to_owned());
            }
        }
        folders
    }

    fn takes(&self, path: &Path) -> bool {
        let number = self.projects.at(path);
        number.is_some_and(|number| self.joined.contains(&number) || self.perhaps.contains(&number))
            && !self.known.iter().any(|folder| path.starts_with(folder))
    }

    /// The files that have what is sought, by their projects' roots. Blocks.
    pub(super) fn search(
        &self,
        sought: Sought<'_>,
        wanted: &(dyn Fn(&Path) -> bool + Sync),
        end: std::time::Instant,
    ) -> (BTreeMap<PathBuf, Vec<PathBuf>>, bool) {
        let (mut found, mut cut) = (BTreeMap::<usize, Vec<PathBuf>>::new(), self.projects.cut);
        for folder in self.folders() {
            let wanted = |path: &Path| wanted(path) && self.takes(path);
            let Found { files, cut: short } = files_with(&folder, sought, &|_| false, &wanted, end);
            cut |= short;
            for file in files {
                if let Some(number) = self.projects.at(&file) {
                    found.entry(number).or_default().push(file);
                }
            }
        }
        let finders: Vec<_> = self.names.iter().map(|name| (name, Finder::new(name))).collect();
        let refers = |path: &PathBuf| {
            let mut text = Vec::new();
            let read = files::open(path).and_then(|file| file.take(READ).read_to_end(&mut text));
            read.is_ok() && finders.iter().any(|(name, finder)| has_word(&text, name, finder))
        };
        found.retain(|number, files| self.joined.contains(number) || files.iter().any(refers));
        let by_root = found.into_iter().map(|(number, files)| (self.projects.root(number).to_owned(), files));
        (by_root.collect(), cut)
    }
}

impl Session {
    /// The projects beyond the asked file's that may use what is asked about; none where there is but one.
    pub(super) async fn beyond(&self, ground: &Ground, question: &Question) -> Option<Beyond> {
        let wide = question.query.wants_every_use() && !matches!(question.query, Query::Move { .. });
        let reach = &self.entry.def.reach;
        let file = question.file.as_deref().filter(|_| wide && !reach.local.contains(&question.query.capability()))?;
        let projects = self.projects(ground, question).await;
        let own = projects.at(file).filter(|_| !projects.is_one())?;
        // What is in the folder of such a server it is told of anyway.
        let within = |folder: &&PathBuf| reach.knows != Knows::Project && file.starts_with(folder);
        let known: Vec<PathBuf> = self.folders.all().iter().filter(within).max().cloned().into_iter().collect();
        let mut joined = projects.joined(own);
        joined.remove(&own);
        let mut perhaps = BTreeSet::new();
        if !reach.declared {
            let root = projects.root(own).to_owned();
            for other in projects.others(own) {
                let folder = projects.root(other);
                let near = folder.starts_with(&root) || root.starts_with(folder);
                if near {
                    joined.insert(other)
                } else {
                    perhaps.insert(other)
                };
            }
            perhaps.retain(|other| !joined.contains(other));
        }
        // A folder that nothing marks is no project to a server that reads projects.
        let is_one = |number: &usize| {
            (reach.knows != Knows::Project || !projects.is_bare(*number))
                && !known.iter().any(|folder| projects.root(*number).starts_with(folder))
        };
        joined.retain(is_one);
        perhaps.retain(is_one);
        let names = if perhaps.is_empty() { Vec::new() } else { projects.names(own) };
        if names.is_empty() {
            perhaps.clear();
        }
        let any = !joined.is_empty() || !perhaps.is_empty();
        any.then_some(Beyond { projects, joined, perhaps, names, known })
    }

    /// The projects as they are now: looked for again once a file has come, gone or changed that may mark one.
    async fn projects(&self, ground: &Ground, question: &Question) -> Arc<Projects> {
        self.caught_up_with_disk(ground, question).await;
        let (watcher, root) = (&ground.watcher, &self.entry.def.root);
        let packages = &self.entry.def.reach.packages;
        let tells = |path: &Path| {
            crate::registry::marked_by(path, root).is_some()
                || path.file_name().and_then(|name| name.to_str()).is_some_and(|name| packages.contains_key(name))
        };
        let follows = watcher.is_watching() && watcher.state().is_settled();
        let kept = self.sight.projects.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let head = watcher.head();
        if let Some((seq, projects)) = kept.filter(|_| follows) {
            let changes = watcher.since(seq);
            if !changes.overflow && !changes.events.iter().any(|change| change.folder || tells(&change.path)) {
                self.keep((changes.seq, projects.clone()));
                return projects;
            }
        }
        let end = std::time::Instant::now() + (question.left() / 4).min(LONGEST);
        let entry = self.entry.clone();
        let ceilings: Vec<PathBuf> = ground.roots.all().iter().map(|root| root.path.clone()).collect();
        let looking = tokio::task::spawn_blocking(move || Projects::of(&entry, &ceilings, end));
        let projects = Arc::new(looking.await.unwrap_or_default());
        if follows && !projects.cut {
            self.keep((head, projects.clone()));
        }
        projects
    }

    fn keep(&self, kept: Kept) {
        *self.sight.projects.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    }
}
