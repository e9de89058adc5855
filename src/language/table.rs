//! The built-in tables, read once from the text files beside this module.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock},
};

use globset::{Glob, GlobSet, GlobSetBuilder};

const NAMES: &str = include_str!("tables/names.txt");
const INTERPRETERS: &str = include_str!("tables/interpreters.txt");
const MODES: &str = include_str!("tables/modes.txt");

/// Patterns of file names with the language of each.
#[derive(Debug, Default)]
pub(super) struct Table<L> {
    whole: HashMap<String, L>,
    endings: HashMap<String, L>,
    globs: GlobSet,
    of_glob: Vec<L>,
    /// The first glob of paths that were asked for: what a table says of a path is always the same.
    asked: Mutex<HashMap<PathBuf, Option<usize>>>,
}

/// Paths whose glob is kept.
const ASKED: usize = 512;

impl<L: Copy> Table<L> {
    /// Builds a table; of two equal patterns the first one stands.
    pub(super) fn new(patterns: impl IntoIterator<Item = (String, L)>) -> Result<Self, globset::Error> {
        let mut table = Self {
            whole: HashMap::new(),
            endings: HashMap::new(),
            globs: GlobSet::empty(),
            of_glob: Vec::new(),
            asked: Mutex::default(),
        };
        let mut globs = GlobSetBuilder::new();
        for (pattern, language) in patterns {
            if pattern.contains(['*', '?', '{', '[']) {
                globs.add(Glob::new(&pattern)?);
                table.of_glob.push(language);
            } else if pattern.starts_with('.') {
                table.endings.entry(pattern).or_insert(language);
            } else {
                table.whole.entry(pattern).or_insert(language);
            }
        }
        table.globs = globs.build()?;
        Ok(table)
    }

    /// The language that the name alone tells.
    pub(super) fn by_name(&self, name: &str, path: &Path) -> Option<L> {
        self.whole
            .get(name)
            .or_else(|| self.endings.get(name))
            .copied()
            .or_else(|| self.by_glob(name, path))
            .or_else(|| self.by_ending(name))
    }

    fn by_glob(&self, name: &str, path: &Path) -> Option<L> {
        if self.of_glob.is_empty() {
            return None;
        }
        // Who looks through a whole project on several threads does not wait here.
        let known = self.asked.try_lock().ok().and_then(|asked| asked.get(path).copied());
        let first = known.unwrap_or_else(|| {
            // A glob with a slash speaks of the path, one without of the name.
            let first = self.globs.matches(name).into_iter().chain(self.globs.matches(path)).min();
            if let Ok(mut asked) = self.asked.try_lock() {
                if asked.len() >= ASKED {
                    asked.clear();
                }
                asked.insert(path.to_owned(), first);
            }
            first
        });
        self.of_glob.get(first?).copied()
    }

    /// The longest ending first (`.blade.php` before `.php`); as written, then in lower case (`.TS`, but `.C` is C++).
    fn by_ending(&self, name: &str) -> Option<L> {
        let endings = || name.match_indices('.').map(|(at, _)| &name[at..]);
        endings()
            .find_map(|ending| self.endings.get(ending))
            .or_else(|| endings().find_map(|ending| self.endings.get(&ending.to_ascii_lowercase())))
            .copied()
    }
}

impl Table<&'static str> {
    pub(super) fn languages(&self) -> impl Iterator<Item = &'static str> {
        self.whole.values().chain(self.endings.values()).chain(&self.of_glob).copied()
    }
}

/// `id: pattern…` lines.
fn lines(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(": "))
        .flat_map(|(language, patterns)| patterns.split(' ').map(move |pattern| (pattern, language)))
}

pub(super) fn builtin() -> &'static Table<&'static str> {
    static TABLE: OnceLock<Table<&'static str>> = OnceLock::new();
    TABLE.get_or_init(|| {
        // A test proves that every built-in glob compiles.
        Table::new(lines(NAMES).map(|(pattern, language)| (pattern.to_owned(), language))).unwrap_or_default()
    })
}

fn programs() -> &'static HashMap<&'static str, &'static str> {
    static TABLE: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    TABLE.get_or_init(|| lines(INTERPRETERS).collect())
}

/// The language of the scripts that a program runs: as written, then without its version.
pub(super) fn interpreter(program: &str) -> Option<&'static str> {
    let programs = programs();
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    programs.get(program).or_else(|| programs.get(bare)).copied()
}

fn modes() -> &'static HashMap<&'static str, &'static str> {
    static TABLE: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    TABLE.get_or_init(|| lines(MODES).collect())
}

/// The language that editors call by a name: one of their own for it, or its id.
pub(super) fn mode(name: &str) -> Option<&'static str> {
    let ids = || builtin().languages().chain(interpreters()).find(|id| *id == name);
    modes().get(name).copied().or_else(ids)
}

/// The languages that only a mode line or the text itself can tell.
pub(super) fn told() -> impl Iterator<Item = &'static str> {
    modes().values().copied()
}

pub(super) fn interpreters() -> impl Iterator<Item = &'static str> {
    programs().values().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_the_table_compiles_and_stands_once() {
        let patterns: Vec<_> = lines(NAMES).collect();
        assert!(patterns.len() > 550, "{}", patterns.len());
        let table = Table::new(patterns.iter().map(|&(pattern, language)| (pattern.to_owned(), language))).unwrap();
        assert_eq!(table.whole.len() + table.endings.len() + table.of_glob.len(), patterns.len());
    }

    #[test]
    fn a_path_is_answered_alike_however_often_it_is_asked_for() {
        let new = || Table::new([("*.x", 1), ("**/in/*.y", 2), (".y", 3)].map(|(it, id)| (it.to_owned(), id))).unwrap();
        let table = new();
        let paths = (0..2 * ASKED).map(|n| (format!("/{}/{n}.{}", ["in", "out"][n % 2], ["x", "y", "z"][n % 3]), n));
        let paths: Vec<_> = paths.map(|(path, n)| (PathBuf::from(path), n)).collect();
        for _ in 0..2 {
            for (path, n) in &paths {
                let name = path.file_name().unwrap().to_str().unwrap();
                let expected = [[Some(1), Some(2), None], [Some(1), Some(3), None]][n % 2][n % 3];
                assert_eq!((table.by_name(name, path), table.by_name(name, path)), (expected, expected), "{path:?}");
            }
        }
        assert!(table.asked.lock().unwrap().len() <= ASKED);
    }

    #[test]
    fn every_interpreter_stands_once() {
        assert_eq!(lines(INTERPRETERS).count(), programs().len());
        assert_eq!(lines(MODES).count(), modes().len());
    }
}
