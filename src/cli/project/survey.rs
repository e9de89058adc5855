//! What a project holds: its languages, counted, with the files that a tour may look at. Knows nothing of servers.

use std::{
    collections::BTreeMap,
    io::Read,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ignore::{DirEntry, WalkBuilder};

use crate::{
    language::{self, Overrides},
    sys::files,
};

/// Entries that one walk looks at, and how long it may take.
const ENTRIES: usize = 50_000;
const TIME: Duration = Duration::from_secs(5);
/// Files of one language that are remembered.
const FILES: usize = 2_000;
/// Folders that tools fill; most projects have git ignore them.
const TOOLS: &[&str] = &["node_modules", "__pycache__", ".git", ".hg", ".svn", ".jj"];
/// A folder that holds one of these is a cache or a virtual environment.
const MARKERS: &[&str] = &["CACHEDIR.TAG", "pyvenv.cfg"];
/// Parts of paths of files that are not what a project is about, or that were made of others.
const ASIDE: &[&str] = &[
    "test",
    "tests",
    "testing",
    "docs",
    "doc",
    "examples",
    "example",
    "vendor",
    "third_party",
    "dist",
    "build",
    "out",
];
/// Languages of words, data and settings: a program beside them is what a project is about.
const PROSE: &[&str] = &[
    "plaintext",
    "markdown",
    "asciidoc",
    "restructuredtext",
    "json",
    "jsonc",
    "json5",
    "yaml",
    "toml",
    "xml",
    "csv",
    "ini",
    "properties",
    "dotenv",
    "diff",
    "go.sum",
    "ignore",
];
/// Sizes of files that make a good example.
const FITTING: std::ops::RangeInclusive<u64> = 400..=24 * 1024;

/// What a project holds.
#[derive(Debug, Default)]
pub(in crate::cli) struct Survey {
    /// The most frequent first, those that programs are written in before the others.
    pub languages: Vec<Language>,
    /// Whether the project is larger than what was looked at.
    pub cut: bool,
}

/// A language and its files.
#[derive(Debug)]
pub(in crate::cli) struct Language {
    pub id: String,
    pub count: usize,
    /// The best examples first.
    pub files: Vec<PathBuf>,
    /// Files that do not stand aside.
    own: usize,
}

struct Seen {
    path: PathBuf,
    size: u64,
}

impl Survey {
    /// Looks through a folder.
    pub(in crate::cli) fn of(root: &Path, names: &Overrides) -> Self {
        let mut found: BTreeMap<String, (usize, usize, Vec<Seen>)> = BTreeMap::new();
        let end = Instant::now() + TIME;
        let mut walk = walk(root, true);
        let mut cut = false;
        for (number, entry) in walk.by_ref().enumerate() {
            if number >= ENTRIES || Instant::now() > end {
                cut = true;
                break;
            }
            let path = entry.path();
            let Some(language) = names.detect(path, || head(path)) else { continue };
            let (count, own, files) = found.entry(language.to_owned()).or_default();
            *count += 1;
            *own += usize::from(!stands_aside(root, path));
            if files.len() < FILES {
                files.push(Seen { path: path.to_owned(), size: entry.metadata().map_or(0, |metadata| metadata.len()) });
            }
        }
        let ranked = |mut files: Vec<Seen>| {
            files.sort_by_cached_key(|file| rank(root, file));
            files.into_iter().map(|file| file.path).collect()
        };
        let language = |(id, (count, own, files))| Language { id, count, own, files: ranked(files) };
        let mut languages: Vec<_> = found.into_iter().map(language).collect();
        languages.sort_by_key(|language| {
            let prose = PROSE.contains(&language.id.as_str());
            (prose, std::cmp::Reverse((language.own, language.count)))
        });
        Self { languages, cut }
    }
}

/// Every file that git does not ignore, without what tools fill; `visible` leaves out names that begin with a dot.
pub(in crate::cli) fn walk(root: &Path, visible: bool) -> impl Iterator<Item = DirEntry> {
    let walk = WalkBuilder::new(root)
        .hidden(visible)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| {
            let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let marked = || MARKERS.iter().any(|marker| entry.path().join(marker).is_file());
            // The root itself was asked for.
            !folder || entry.depth() == 0 || !(TOOLS.iter().any(|name| entry.file_name() == *name) || marked())
        })
        .build();
    walk.filter_map(Result::ok).filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
}

/// What the project is about before what stands aside, what fits before the rest, the larger before the smaller.
fn rank(root: &Path, file: &Seen) -> (bool, bool, std::cmp::Reverse<u64>, PathBuf) {
    let aside = stands_aside(root, &file.path);
    (aside, !FITTING.contains(&file.size), std::cmp::Reverse(file.size), file.path.clone())
}

/// Tests, documents, what is somebody else's, and what was made of other files.
fn stands_aside(root: &Path, file: &Path) -> bool {
    let inside = file.strip_prefix(root).unwrap_or(file);
    let aside = |part: &str| {
        let part = part.to_lowercase();
        ASIDE.contains(&part.as_str())
            || part.starts_with("test_")
            || part.contains("_test.")
            || part.contains(".test.")
    };
    inside.iter().any(|part| part.to_str().is_some_and(aside))
}

/// The beginning of a file whose name does not tell its language.
fn head(path: &Path) -> Option<String> {
    let mut start = Vec::new();
    files::open(path).ok()?.take(language::HEAD as u64).read_to_end(&mut start).ok()?;
    Some(String::from_utf8_lossy(&start).into_owned())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(tree: &[(&str, &str)], expected: &Expect) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in tree {
            let path = folder.path().join(path);
            files::create_dirs(path.parent().unwrap()).unwrap();
            files::write(&path, text.as_bytes()).unwrap();
        }
        let names = Overrides::new(Vec::<(String, String)>::new()).unwrap();
        let survey = Survey::of(folder.path(), &names);
        let mut shown = String::new();
        for language in survey.languages {
            let files: Vec<_> = language
                .files
                .iter()
                .map(|file| file.strip_prefix(folder.path()).unwrap().display().to_string())
                .collect();
            shown += &format!("{} {}: {}\n", language.id, language.count, files.join(" "));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn languages_are_counted_and_the_best_examples_come_first() {
        let long = "x = 1\n".repeat(100);
        let longer = "x = 1\n".repeat(200);
        let huge = "x = 1\n".repeat(20_000);
        let tree = [
            (".gitignore", "made/\n"),
            ("a.py", "x = 1\n"),
            ("b.py", &long),
            ("c.py", &longer),
            ("huge.py", &huge),
            ("tests/d.py", &longer),
            ("made/e.py", &long),
            ("env/pyvenv.cfg", ""),
            ("env/f.py", &long),
            ("node_modules/m/g.js", &long),
            ("run", "#!/usr/bin/env python3\nx = 1\n"),
            ("main.go", "package main\n"),
            ("dist/1.js", &long),
            ("dist/2.js", &long),
            ("dist/3.js", &long),
            ("blob", "\0\0"),
        ];
        check(
            &tree,
            &expect![[r"
                python 6: c.py b.py huge.py run a.py tests/d.py
                go 1: main.go
                javascript 3: dist/1.js dist/2.js dist/3.js
            "]],
        );
        check(&[], &expect![""]);
    }
}
