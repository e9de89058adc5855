//! LSP's glob patterns, matched leniently: to tell a server too much is harmless, to tell it too little is not. Each text
//! is compiled once, and all of them together stay small.

use std::{borrow::Cow, collections::HashMap, path::Path, sync::Arc};

use globset::GlobBuilder;
use regex::bytes::{Regex, RegexBuilder};

const PATTERN_BYTES: usize = 4_096;
/// What one compiled glob may take, and what it may add while it is used.
const COMPILED: usize = 512 * 1024;
const WORKING: usize = 32 * 1024;
/// What all of a server's globs may take: about a thousand different short ones.
const ALL: usize = 16 * 1024 * 1024;

/// A glob; one that cannot be read matches nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Glob {
    matcher: Option<Arc<Regex>>,
    /// `*.json` means a name in any folder.
    name_only: bool,
    /// There is no room for it: it matches everything.
    any: bool,
}

impl Glob {
    pub(super) fn new(pattern: &str) -> Self {
        let pattern = plain(pattern);
        let compiled = || {
            let glob = GlobBuilder::new(pattern).literal_separator(true).empty_alternates(true).build().ok()?;
            let mut regex = RegexBuilder::new(glob.regex());
            regex.dot_matches_new_line(true).size_limit(COMPILED).dfa_size_limit(WORKING).build().ok()
        };
        let matcher = (pattern.len() <= PATTERN_BYTES).then(compiled).flatten().map(Arc::new);
        Self { matcher, name_only: !pattern.contains('/'), any: false }
    }

    pub(super) fn is_readable(&self) -> bool {
        self.any || self.matcher.is_some()
    }

    pub(super) fn matches(&self, path: &Path) -> bool {
        self.any
            || self.matcher.as_ref().is_some_and(|matcher| {
                matcher.is_match(&slashed(path))
                    || self.name_only && path.file_name().is_some_and(|name| matcher.is_match(name.as_encoded_bytes()))
            })
    }
}

fn plain(pattern: &str) -> &str {
    pattern.strip_prefix("./").unwrap_or(pattern)
}

/// A path as globs write it.
fn slashed(path: &Path) -> Cow<'_, [u8]> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if std::path::MAIN_SEPARATOR == '/' {
        return Cow::Borrowed(bytes);
    }
    bytes.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect::<Vec<_>>().into()
}

/// The globs of a server by their texts: rust-analyzer says the same few for each of a thousand folders.
#[derive(Debug, Clone, Default)]
pub(super) struct Globs {
    known: HashMap<String, Glob>,
    taken: usize,
}

impl Globs {
    pub(super) fn get(&mut self, pattern: &str) -> Glob {
        if let Some(glob) = self.known.get(plain(pattern)) {
            return glob.clone();
        }
        let cost = cost(pattern);
        if self.taken + cost > ALL {
            self.forget_unused();
        }
        if self.taken + cost > ALL {
            return Glob { any: true, ..Glob::default() };
        }
        let glob = Glob::new(pattern);
        if glob.matcher.is_some() {
            self.taken += cost;
            self.known.insert(plain(pattern).to_owned(), glob.clone());
        }
        glob
    }

    fn forget_unused(&mut self) {
        self.known.retain(|_, glob| glob.matcher.as_ref().is_some_and(|matcher| Arc::strong_count(matcher) > 1));
        self.taken = self.known.keys().map(|pattern| cost(pattern)).sum();
    }
}

/// About what a compiled glob takes.
fn cost(pattern: &str) -> usize {
    16 * 1024 + 256 * pattern.len()
}

/// A pattern's leading folders that contain no glob characters.
pub(super) fn literal_folders(pattern: &str) -> &str {
    let end = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    pattern[..end].rfind('/').map_or("", |slash| &pattern[..=slash])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_globs_than_there_is_room_for_match_everything_and_room_comes_back() {
        let mut globs = Globs::default();
        let kept: Vec<Glob> = (0..5_000).map(|i| globs.get(&format!("**/*.x{i}"))).collect();
        assert!(globs.taken <= ALL && globs.known.len() > 500, "{}", globs.known.len());
        assert!(kept[0].matches(Path::new("a/b.x0")) && !kept[0].matches(Path::new("a/b.y")));
        assert!(kept[4_999].matches(Path::new("a/b.y")) && kept[4_999].is_readable());
        drop(kept);
        assert!(!globs.get("**/*.new").matches(Path::new("a/b.y")));
        assert!(globs.get("**/*.new").matches(Path::new("a/b.new")));
    }

    #[test]
    fn one_text_is_compiled_once() {
        let mut globs = Globs::default();
        let (one, two) = (globs.get("./src/**"), globs.get("src/**"));
        assert!(Arc::ptr_eq(one.matcher.as_ref().unwrap(), two.matcher.as_ref().unwrap()));
        assert!(!globs.get("a[").is_readable() && !globs.get(&"?".repeat(5_000)).is_readable());
    }
}
