//! Which languages a project has: one sample file for each language and folder that could be a root, found by a bounded
//! walk that keeps to what git does not ignore.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ignore::WalkBuilder;
use tokio::time::Instant;

use crate::{language::Overrides, workspace::roots::Roots};

/// Entries that one walk looks at.
const ENTRIES: usize = 50_000;
/// Samples kept.
const SAMPLES: usize = 256;
/// How long a walk's result is used.
const KEPT: Duration = Duration::from_secs(5);

/// A file that stands for its language in its part of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sample {
    pub path: PathBuf,
    pub language: String,
    /// The root of the workspace that it is in.
    pub ceiling: PathBuf,
}

/// The samples of a workspace, walked for when asked.
#[derive(Debug, Default)]
pub(super) struct Present {
    kept: Mutex<Option<(Instant, Arc<[Sample]>)>>,
}

impl Present {
    /// The samples, at most a few seconds old.
    pub(super) async fn samples(&self, roots: &Roots, languages: &Arc<Overrides>) -> Arc<[Sample]> {
        if let Some((at, samples)) = &*self.kept.lock().unwrap_or_else(PoisonError::into_inner)
            && at.elapsed() < KEPT
        {
            return samples.clone();
        }
        let folders: Vec<PathBuf> = roots.all().iter().map(|root| root.path.clone()).collect();
        let languages = languages.clone();
        let walk = tokio::task::spawn_blocking(move || {
            folders.iter().flat_map(|folder| walk(folder, &languages)).collect::<Vec<_>>()
        });
        let samples: Arc<[Sample]> = walk.await.unwrap_or_default().into();
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), samples.clone()));
        samples
    }
}

/// One sample for each language in each folder of the first two levels, files in order.
fn walk(folder: &Path, languages: &Overrides) -> Vec<Sample> {
    let mut seen: HashSet<(String, PathBuf)> = HashSet::new();
    let mut samples = Vec::new();
    let entries = WalkBuilder::new(folder)
        .hidden(true)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_name(Ord::cmp)
        .build();
    for entry in entries.filter_map(Result::ok).take(ENTRIES) {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let Some(language) = languages.detect(path, || None).map(str::to_owned) else { continue };
        let part: PathBuf = path
            .strip_prefix(folder)
            .ok()
            .and_then(Path::parent)
            .map(|p| p.components().take(2).collect())
            .unwrap_or_default();
        if seen.insert((language.clone(), part)) {
            samples.push(Sample { path: path.to_owned(), language, ceiling: folder.to_owned() });
            if samples.len() >= SAMPLES {
                break;
            }
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sample_for_each_language_and_part() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("a.py", ""),
            ("b.py", ""),
            ("web/x.ts", ""),
            ("web/y.ts", ""),
            ("api/c.py", ""),
            ("skip/d.py", ""),
            (".gitignore", "skip\n"),
        ] {
            let path = dir.path().join(name);
            crate::sys::files::create_dirs(path.parent().unwrap()).unwrap();
            crate::sys::files::atomic_write(&path, text.as_bytes()).unwrap();
        }
        let overrides = Overrides::new(Vec::<(String, String)>::new()).unwrap();
        let found: Vec<_> = walk(dir.path(), &overrides)
            .into_iter()
            .map(|s| s.path.strip_prefix(dir.path()).unwrap().display().to_string())
            .collect();
        assert_eq!(found, ["a.py", "api/c.py", "web/x.ts"]);
    }
}
