//! Which files may depend on changed ones although nothing is known of them yet: those whose texts name a changed file,
//! as imports do, or what was declared on a line that has changed.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use memchr::memmem::Finder;

use super::{sweep::Target, touched::Touched};
use crate::{sys::files, workspace::words::has_word};

/// Bytes of a file that are looked through: imports stand at its beginning.
const READ: u64 = 256 << 10;
/// Names that stand for the folder that the file is in.
const FOLDERS: [&str; 4] = ["index", "mod", "__init__", "lib"];

/// What imports call these files: the name without its ending, or that of the folder.
pub(super) fn names(edited: &[Target]) -> Vec<String> {
    let mut names: Vec<String> = edited.iter().flat_map(|target| own_names(&target.file.path)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn own_names(path: &Path) -> Vec<String> {
    let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { return Vec::new() };
    let stem = stem.split('.').next().unwrap_or(stem).to_owned();
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    match folder.filter(|_| FOLDERS.contains(&stem.as_str())) {
        Some(folder) => vec![folder.to_owned(), stem],
        None => vec![stem],
    }
}

/// Those of `among` whose text holds one of the file names as a word, and behind them those that hold one of the names
/// that were touched. Reads them: for a thread that may block.
pub(super) fn naming(among: Vec<PathBuf>, names: &[String], touched: &Touched) -> Vec<PathBuf> {
    let finders: Vec<_> = names.iter().filter(|name| !name.is_empty()).map(|name| (name, Finder::new(name))).collect();
    let (mut importing, mut using) = (Vec::new(), Vec::new());
    for path in among {
        let mut text = Vec::new();
        if files::open(&path).and_then(|file| file.take(READ).read_to_end(&mut text)).is_err() {
            continue;
        }
        if finders.iter().any(|(name, finder)| has_word(&text, name, finder)) {
            importing.push(path);
        } else if touched.is_named(&String::from_utf8_lossy(&text)) {
            using.push(path);
        }
    }
    importing.extend(using);
    importing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_imports_use() {
        assert_eq!(own_names(Path::new("/ws/shop/cart.test.ts")), ["cart"]);
        assert_eq!(own_names(Path::new("/ws/shop/__init__.py")), ["shop", "__init__"]);
        assert_eq!(own_names(Path::new("/ws/src/lib.rs")), ["src", "lib"]);
    }
}
