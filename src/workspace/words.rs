//! Looks for a word in the texts below a folder, as they are on the disk now and as far as git does not ignore them.
//! Bounded in files, bytes and time; what was not looked at is said.

use std::{
    ffi::OsStr,
    fs,
    io::Read,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

use ignore::{DirEntry, WalkBuilder, WalkState};
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};
use unicode_ident::is_xid_continue;

use crate::sys::files;

/// Entries that are looked at, bytes that are read in all, and of one file.
const ENTRIES: u64 = 200_000;
const BYTES: u64 = 512 << 20;
const LARGEST: u64 = 32 << 20;
/// Threads that read.
const THREADS: usize = 4;
/// Folders of version control and of tools; most projects have git ignore the latter.
const ASIDE: &[&str] = &[".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__"];
/// A folder that holds one of these is a cache or a virtual environment.
const MARKERS: &[&str] = &["CACHEDIR.TAG", "pyvenv.cfg"];

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// In the order of their paths.
    pub files: Vec<PathBuf>,
    /// Not everything was looked at.
    pub cut: bool,
}

/// What a text has to hold.
#[derive(Debug, Clone, Copy)]
pub enum Sought<'a> {
    Anything,
    /// One of these, as whole words.
    Words(&'a [String]),
    /// This, in upper or lower case and be it in the middle of a word.
    Part(&'a str),
}

/// The same, made ready.
enum Sieve<'a> {
    All,
    Words(Vec<(&'a String, Finder<'a>)>),
    Part(Regex),
}

impl Sieve<'_> {
    fn takes(&self, text: &[u8]) -> bool {
        match self {
            Self::All => true,
            Self::Words(finders) => finders.iter().any(|(word, finder)| has_word(text, word, finder)),
            Self::Part(part) => part.is_match(text),
        }
    }
}

impl<'a> From<Sought<'a>> for Sieve<'a> {
    fn from(sought: Sought<'a>) -> Self {
        match sought {
            Sought::Anything => Self::All,
            Sought::Words(words) => Self::Words(words.iter().map(|word| (word, Finder::new(word))).collect()),
            Sought::Part(part) => {
                let part = RegexBuilder::new(&regex::escape(part)).case_insensitive(true).build();
                // One that is too long for a pattern tells no file from another.
                part.map_or(Self::All, Self::Part)
            }
        }
    }
}

/// The wanted files below `folder` that have what is sought, or are `sure` without being read. Blocks.
pub fn files_with(
    folder: &Path,
    sought: Sought<'_>,
    sure: &(dyn Fn(&Path) -> bool + Sync),
    wanted: &(dyn Fn(&Path) -> bool + Sync),
    end: Instant,
) -> Found {
    let (found, cut) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let (entries, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    let sieve = Sieve::from(sought);
    let mut walk = WalkBuilder::new(folder);
    walk.hidden(false).require_git(false).follow_links(false).threads(THREADS).filter_entry(is_own);
    walk.build_parallel().run(|| {
        Box::new(|entry| {
            let stop = || {
                cut.store(true, Ordering::Relaxed);
                WalkState::Quit
            };
            if entries.fetch_add(1, Ordering::Relaxed) >= ENTRIES || Instant::now() > end {
                return stop();
            }
            let Ok(entry) = entry else { return WalkState::Continue };
            // A link inside the folder leads to a file that is met by its own name.
            if !entry.file_type().is_some_and(|kind| kind.is_file()) || !wanted(entry.path()) {
                return WalkState::Continue;
            }
            let has = match &sieve {
                _ if sure(entry.path()) => true,
                Sieve::All => true,
                sieve => match text(entry.path()) {
                    Some(text) if bytes.fetch_add(text.len() as u64, Ordering::Relaxed) > BYTES => return stop(),
                    Some(text) => sieve.takes(&text),
                    None => {
                        // Gone meanwhile, or not to be read; what is too large may have the word.
                        let large = entry.metadata().is_ok_and(|metadata| metadata.len() > LARGEST);
                        cut.fetch_or(large, Ordering::Relaxed);
                        false
                    }
                },
            };
            if has {
                found.lock().unwrap_or_else(PoisonError::into_inner).push(entry.into_path());
            }
            WalkState::Continue
        })
    });
    let mut files = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    files.sort_unstable();
    Found { files, cut: cut.into_inner() }
}

fn is_own(entry: &DirEntry) -> bool {
    let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    let aside = |name: &OsStr| ASIDE.iter().any(|aside| name == *aside);
    !is_folder
        || entry.depth() == 0
        || !aside(entry.file_name()) && !MARKERS.iter().any(|marker| entry.path().join(marker).is_file())
}

fn text(path: &Path) -> Option<Vec<u8>> {
    let file = files::open(path).ok()?;
    let size = file.metadata().ok().filter(fs::Metadata::is_file)?.len();
    if size > LARGEST {
        return None;
    }
    let mut text = Vec::with_capacity(usize::try_from(size).ok()? + 1);
    file.take(LARGEST).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Whether a text has the word, with no letter or digit right before or behind it.
pub fn has_word(text: &[u8], word: &str, finder: &Finder<'_>) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(is_xid_continue);
    let (begins, ends) = (is_letter(word.chars().next()), is_letter(word.chars().next_back()));
    finder.find_iter(text).any(|at| {
        let before = &text[at.saturating_sub(4)..at];
        let behind = &text[at + word.len()..text.len().min(at + word.len() + 4)];
        let joined = begins && is_letter(String::from_utf8_lossy(before).chars().next_back())
            || ends && is_letter(String::from_utf8_lossy(behind).chars().next());
        !joined
    })
}

/// The columns of a word in a line, counted in characters.
pub fn columns(line: &str, word: &str) -> Vec<u32> {
    let finder = Finder::new(word);
    let is_whole = |at: usize| {
        let from = line[..at].chars().next_back().map_or(at, |before| at - before.len_utf8());
        let behind = line[at + word.len()..].chars().next().map_or(0, char::len_utf8);
        has_word(&line.as_bytes()[from..at + word.len() + behind], word, &finder)
    };
    let column = |at: usize| u32::try_from(line[..at].chars().count()).unwrap_or(u32::MAX);
    finder.find_iter(line.as_bytes()).filter(|at| is_whole(*at)).map(column).collect()
}

/// The word at a column of a line, counted in characters: letters, digits, `_` and these others; a column right behind its
/// end counts. Others at its ends do not belong to it, and nothing but others is none.
pub fn word_at<'a>(line: &'a str, column: usize, others: &str) -> Option<&'a str> {
    let of_word = |c: char| is_xid_continue(c) || others.contains(c);
    let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let start = line[..at].char_indices().rev().take_while(|(_, c)| of_word(*c)).last().map_or(at, |(at, _)| at);
    let end = line[at..].find(|c| !of_word(c)).map_or(line.len(), |length| at + length);
    let word = line[start..end].trim_matches(|c| others.contains(c));
    Some(word).filter(|word| word.chars().any(is_xid_continue))
}

/// The name at a column, or the first one behind it and before `end`; what begins with a digit is none.
pub fn name_from<'a>(line: &'a str, column: usize, end: usize, others: &str) -> Option<&'a str> {
    let of_word = |c: char| is_xid_continue(c) || others.contains(c);
    let at = line.chars().take(end).skip(column).position(of_word)?;
    word_at(line, column + at, others).filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_word_is_whole() {
        let has = |text: &str, word: &str| has_word(text.as_bytes(), word, &Finder::new(word));
        assert!(has("a twice(1)", "twice") && has("twice", "twice") && has("lib.$twice;", "twice"));
        assert!(has("notwice twice", "twice") && has("größe", "größe"));
        assert!(
            !has("notwice", "twice") && !has("twice2", "twice") && !has("twiceé", "twice") && !has("étwice", "twice")
        );
    }

    #[test]
    fn a_part_of_a_word_in_any_case() {
        let has = |text: &str, part: &str| Sieve::from(Sought::Part(part)).takes(text.as_bytes());
        assert!(has("notTwice2", "twice") && has("twice", "WIC") && has("GRÖSSE größe", "grö") && has("a.b", "a.b"));
        assert!(!has("thrice", "twice") && !has("axb", "a.b"));
    }

    #[test]
    fn the_columns_of_a_word() {
        assert_eq!(columns("é.twice(twice2, notwice, twice)", "twice"), [2, 25]);
        assert_eq!(columns("twice", "twice"), [0]);
        assert!(columns("thrice", "twice").is_empty() && columns("", "twice").is_empty());
    }

    #[test]
    fn the_word_at_a_column() {
        let check = |line: &str, column, others: &str, word: Option<&str>| {
            assert_eq!(word_at(line, column, others), word, "{line} {column}");
        };
        check("a = twice(1)", 4, "", Some("twice"));
        check("a = twice(1)", 9, "", Some("twice"));
        check("a = twice(1)", 2, "", None);
        check("é größe", 3, "", Some("größe"));
        check("  --main-color: red", 3, "-", Some("main-color"));
        check("  --main-color: red", 9, "-", Some("main-color"));
        check("a - b", 2, "-", None);
        check("x", 9, "", Some("x"));
        check("", 0, "", None);
    }

    #[test]
    fn the_name_that_a_problem_begins_with() {
        let check = |line: &str, column, end, name: Option<&str>| {
            assert_eq!(name_from(line, column, end, ""), name, "{line} {column}");
        };
        check("log(helperOne())", 4, 13, Some("helperOne"));
        check("a = $store", 4, 10, Some("store"));
        check("<größe />", 0, 9, Some("größe"));
        // Right behind a word is not in it.
        check("return 0 }", 9, 10, None);
        check("return 0}", 8, 9, None);
        check("return 0", 7, 8, None);
        check("a b", 1, 2, None);
        check("x", 9, 12, None);
    }

    #[expect(clippy::disallowed_methods, reason = "files for the test")]
    #[test]
    fn what_is_ignored_is_not_looked_at() {
        let home = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".gitignore", "built\n");
        for path in ["a.c", "b.c", "built/c.c", "node_modules/d.c", ".hidden/e.c", "venv/f.c", "g.txt", "deep/er/h.c"] {
            write(path, "one\n");
        }
        write("b.c", "two\n");
        write("venv/pyvenv.cfg", "");
        let wanted = |path: &Path| path.extension().is_some_and(|extension| extension == "c");
        let search = |word: Option<&str>, time| {
            let words = word.map(|word| [word.to_owned()]);
            let sought = words.as_ref().map_or(Sought::Anything, |words| Sought::Words(words));
            let found =
                files_with(home.path(), sought, &|_| false, &wanted, Instant::now() + Duration::from_secs(time));
            let name = |path: &PathBuf| path.strip_prefix(home.path()).unwrap().display().to_string();
            (found.files.iter().map(name).collect::<Vec<_>>(), found.cut)
        };
        assert_eq!(search(Some("one"), 60), ([".hidden/e.c", "a.c", "deep/er/h.c"].map(str::to_owned).to_vec(), false));
        assert_eq!(search(None, 60).0.len(), 4);
        assert!(search(Some("one"), 0).1);
    }
}
