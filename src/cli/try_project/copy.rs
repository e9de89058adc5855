//! A copy of a project to break things in: bounded, without what git ignores, gone when it is dropped.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::cli::project::survey;
use crate::sys::files::{self, TempDir};

/// The most that is copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub files: usize,
    pub bytes: u64,
    /// Larger files are left out.
    pub file: u64,
    /// Files that are looked at.
    pub walked: usize,
}

pub(super) const LIMITS: Limits = Limits { files: 3_000, bytes: 32 << 20, file: 1 << 20, walked: 50_000 };

/// The copy.
#[derive(Debug)]
pub(super) struct Copy {
    folder: TempDir,
    pub files: usize,
    /// Files of the project that were left out because there is too much of it.
    pub left_out: usize,
}

impl Copy {
    /// Copies `root`: `file` first, then what is nearest to it, as far as the limits allow.
    pub(super) fn of(root: &Path, file: &Path, limits: Limits) -> anyhow::Result<Self> {
        let folder = TempDir::create(&std::env::temp_dir(), "langport-try-").context("a folder for the copy")?;
        let mut found: Vec<(usize, PathBuf)> = survey::walk(root, false)
            .take(limits.walked)
            .map(|entry| (distance(root, file, entry.path()), entry.into_path()))
            .collect();
        found.sort();
        let (mut copied, mut left_out, mut bytes) = (0, 0, 0);
        for (_, path) in found {
            let size = path.metadata().map_or(u64::MAX, |metadata| metadata.len());
            if copied >= limits.files || size > limits.file || bytes + size > limits.bytes {
                left_out += 1;
                continue;
            }
            // A file that went away meanwhile, or that may not be read, is none of the project's that a server would see.
            let (Ok(text), Ok(inside)) = (std::fs::read(&path), path.strip_prefix(root)) else { continue };
            let to = folder.path().join(inside);
            let parent = to.parent().unwrap_or(folder.path());
            files::create_dirs(parent)
                .and_then(|()| files::write(&to, &text))
                .with_context(|| to.display().to_string())?;
            copied += 1;
            bytes += size;
        }
        Ok(Self { folder, files: copied, left_out })
    }

    pub(super) fn root(&self) -> &Path {
        self.folder.path()
    }
}

/// How far two files are from each other. What lies in a folder above is near: project files of tools do.
fn distance(root: &Path, file: &Path, other: &Path) -> usize {
    let folder = |path: &Path| {
        path.parent().and_then(|parent| parent.strip_prefix(root).ok()).map(Path::to_owned).unwrap_or_default()
    };
    let (own, its) = (folder(file), folder(other));
    if own.starts_with(&its) {
        return usize::from(file != other);
    }
    let common = own.iter().zip(its.iter()).take_while(|(a, b)| a == b).count();
    2 + (own.iter().count() - common) + (its.iter().count() - common)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearest_is_copied_and_the_copy_goes_away() {
        let project = tempfile::tempdir().unwrap();
        let root = project.path();
        let big = "x".repeat(200);
        let tree = [
            (".gitignore", "made\n"),
            (".tool.toml", ""),
            ("pyproject.toml", ""),
            ("made/x.py", ""),
            ("src/a/one.py", "1"),
            ("src/a/two.py", "2"),
            ("src/b/far.py", "3"),
            ("src/a/big.py", big.as_str()),
            (".git/config", ""),
        ];
        for (path, text) in tree {
            files::create_dirs(root.join(path).parent().unwrap()).unwrap();
            files::write(&root.join(path), text.as_bytes()).unwrap();
        }
        let there = |copy: &Copy| {
            let mut all: Vec<_> = survey::walk(copy.root(), false)
                .map(|e| e.path().strip_prefix(copy.root()).unwrap().display().to_string())
                .collect();
            all.sort();
            all.join(" ")
        };
        let limits = Limits { file: 100, ..LIMITS };
        let copy = Copy::of(root, &root.join("src/a/two.py"), limits).unwrap();
        assert_eq!(there(&copy), ".gitignore .tool.toml pyproject.toml src/a/one.py src/a/two.py src/b/far.py");
        assert_eq!((copy.files, copy.left_out), (6, 1));
        let few = Copy::of(root, &root.join("src/a/two.py"), Limits { files: 5, ..limits }).unwrap();
        assert_eq!(there(&few), ".gitignore .tool.toml pyproject.toml src/a/one.py src/a/two.py");
        let path = copy.root().to_owned();
        drop(copy);
        assert!(!path.exists());
    }
}
