//! The projects of the workspace, as a definition tells them apart by their marks, and which of them may use what another
//! one declares: whatever names it in its manifests, and what names that in turn. Reads manifests only.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
    path::{Path, PathBuf},
    time::Instant,
};

use memchr::memmem::Finder;
use regex::Regex;

use crate::{
    registry::{Entry, marked_by, root_of},
    sys::files,
    workspace::words::{Found, Sought, files_with, has_word},
};

/// A manifest that is larger is a generated one: a lock file, a large compilation database.
const LARGEST: u64 = 256 << 10;
/// Projects whose manifests are compared; where there are more, each may use each.
const PROJECTS: usize = 400;

/// One project.
#[derive(Debug)]
struct Project {
    root: PathBuf,
    /// What others call it.
    names: BTreeSet<String>,
    /// It has no mark: the rest of a workspace's folder.
    bare: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Projects {
    all: Vec<Project>,
    /// For each those that its manifests name.
    uses: Vec<BTreeSet<usize>>,
    /// Not everything was looked through.
    pub cut: bool,
}

impl Projects {
    /// Looks for them below these folders. Blocks.
    pub(super) fn of(entry: &Entry, ceilings: &[PathBuf], end: Instant) -> Self {
        let (root, reach) = (&entry.def.root, &entry.def.reach);
        let is_named = |path: &Path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| reach.packages.contains_key(name))
        };
        let (mut manifests, mut cut) = (BTreeMap::<PathBuf, Vec<PathBuf>>::new(), false);
        for ceiling in ceilings {
            let wanted = |path: &Path| is_named(path) || marked_by(path, root).is_some();
            let Found { files, cut: short } = files_with(ceiling, Sought::Anything, &|_| true, &wanted, end);
            cut |= short;
            for file in files {
                let folder = marked_by(&file, root).or_else(|| file.parent().map(Path::to_owned)).unwrap_or_default();
                if let Some(own) = root_of(&folder.join("any"), root, ceiling) {
                    manifests.entry(own).or_default().push(file);
                }
            }
        }
        let bare: Vec<PathBuf> = ceilings.iter().filter(|ceiling| !manifests.contains_key(*ceiling)).cloned().collect();
        if manifests.len() + bare.len() < 2 {
            let all =
                manifests.into_keys().chain(bare).map(|root| Project { root, names: BTreeSet::new(), bare: false });
            return Self { all: all.collect(), uses: vec![BTreeSet::new(); 2], cut };
        }
        let patterns: BTreeMap<&str, Regex> = reach
            .packages
            .iter()
            .filter_map(|(file, pattern)| Some((file.as_str(), Regex::new(pattern).ok()?)))
            .collect();
        let (mut all, mut texts) = (Vec::new(), Vec::new());
        for (root, files) in manifests {
            let (mut names, mut said) = (BTreeSet::new(), Vec::new());
            // Nobody inside the workspace calls that by its folder's name.
            if !ceilings.contains(&root) {
                names.extend(spelt(root.file_name().and_then(|name| name.to_str()).unwrap_or_default()));
            }
            for file in files {
                let Some(mut text) = text(&file) else { continue };
                let pattern = file.file_name().and_then(|name| name.to_str()).and_then(|name| patterns.get(name));
                let own = pattern.and_then(|pattern| pattern.captures(&text)).and_then(|found| found.get(1));
                if let Some((name, range)) = own.map(|own| (own.as_str().to_owned(), own.range())) {
                    names.extend(spelt(&name));
                    // That it says its own name is no use of another one whose name is a part of that.
                    text.replace_range(range, "");
                }
                said.push(text);
            }
            all.push(Project { root, names, bare: false });
            texts.push(said.join("\n"));
        }
        all.extend(bare.into_iter().map(|root| Project { root, names: BTreeSet::new(), bare: true }));
        texts.resize(all.len(), String::new());
        let uses = uses(&all, &texts);
        Self { all, uses, cut }
    }

    /// Whether there is but one.
    pub(super) fn is_one(&self) -> bool {
        self.all.len() < 2
    }

    /// The project that a file is of: the nearest one.
    pub(super) fn at(&self, path: &Path) -> Option<usize> {
        let around = self.all.iter().enumerate().filter(|(_, project)| path.starts_with(&project.root));
        around.max_by_key(|(_, project)| project.root.as_os_str().len()).map(|(number, _)| number)
    }

    pub(super) fn root(&self, number: usize) -> &Path {
        &self.all[number].root
    }

    pub(super) fn is_bare(&self, number: usize) -> bool {
        self.all[number].bare
    }

    pub(super) fn others(&self, own: usize) -> impl Iterator<Item = usize> {
        (0..self.all.len()).filter(move |number| *number != own)
    }

    /// A project and those that it uses, straight or through others.
    fn used_by(&self, own: usize) -> BTreeSet<usize> {
        self.closed(own, |one, other| self.uses[one].contains(&other))
    }

    /// The projects that may use what one of these declares that a project uses, or it itself.
    pub(super) fn joined(&self, own: usize) -> BTreeSet<usize> {
        let used = self.used_by(own).into_iter();
        used.flat_map(|used| self.closed(used, |one, other| self.uses[other].contains(&one))).collect()
    }

    /// By what names files may refer to a project, or to those that it uses.
    pub(super) fn names(&self, own: usize) -> Vec<String> {
        let names = self.used_by(own).into_iter().flat_map(|used| self.all[used].names.iter().cloned());
        names.collect::<BTreeSet<String>>().into_iter().collect()
    }

    fn closed(&self, from: usize, leads: impl Fn(usize, usize) -> bool) -> BTreeSet<usize> {
        let (mut all, mut next) = (BTreeSet::from([from]), vec![from]);
        while let Some(one) = next.pop() {
            next.extend((0..self.all.len()).filter(|other| leads(one, *other) && all.insert(*other)));
        }
        all
    }
}

/// For each project those that its text names.
fn uses(all: &[Project], texts: &[String]) -> Vec<BTreeSet<usize>> {
    if all.len() > PROJECTS {
        return vec![(0..all.len()).collect(); all.len()];
    }
    let finders: Vec<Vec<(&String, Finder<'_>)>> =
        all.iter().map(|project| project.names.iter().map(|name| (name, Finder::new(name))).collect()).collect();
    let named = |text: &String| {
        let has = |names: &Vec<(&String, Finder<'_>)>| {
            names.iter().any(|(name, finder)| has_word(text.as_bytes(), name, finder))
        };
        finders.iter().enumerate().filter(|(_, names)| has(names)).map(|(number, _)| number).collect()
    };
    texts.iter().map(named).collect()
}

/// A name as it is spelt: Python's packages and Rust's crates are imported with underscores.
fn spelt(name: &str) -> impl Iterator<Item = String> {
    let other = name.replace('-', "_");
    [name.to_owned(), other].into_iter().filter(|name| !name.is_empty())
}

fn text(path: &Path) -> Option<String> {
    let file = files::open(path).ok()?;
    if file.metadata().ok()?.len() > LARGEST {
        return None;
    }
    let mut text = Vec::new();
    file.take(LARGEST).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}
