//! LSP's glob patterns, matched leniently: to tell a server too much is harmless, to tell it too little is not.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

const PATTERN_BYTES: usize = 4_096;

/// A glob; one that cannot be read matches nothing.
#[derive(Debug, Clone)]
pub(super) struct Glob {
    matcher: Option<GlobMatcher>,
    /// `*.json` means a name in any folder.
    name_only: bool,
}

impl Glob {
    pub(super) fn new(pattern: &str) -> Self {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let glob = (pattern.len() <= PATTERN_BYTES)
            .then(|| GlobBuilder::new(pattern).literal_separator(true).empty_alternates(true).build().ok())
            .flatten();
        Self { matcher: glob.map(|glob| glob.compile_matcher()), name_only: !pattern.contains('/') }
    }

    pub(super) fn is_readable(&self) -> bool {
        self.matcher.is_some()
    }

    pub(super) fn matches(&self, path: &Path) -> bool {
        self.matcher.as_ref().is_some_and(|matcher| {
            matcher.is_match(path)
                || self.name_only && path.file_name().is_some_and(|name| matcher.is_match(Path::new(name)))
        })
    }
}

/// A pattern's leading folders that contain no glob characters.
pub(super) fn literal_folders(pattern: &str) -> &str {
    let end = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    pattern[..end].rfind('/').map_or("", |slash| &pattern[..=slash])
}
