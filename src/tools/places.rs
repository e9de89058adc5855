//! Server locations made into places with their lines: sorted, paged, converted from the server's units. Files inside
//! the workspace are read, others are only named.

use std::{
    collections::HashMap,
    hash::{Hash, Hasher},
    path::{Path, PathBuf},
    sync::Arc,
};

use xxhash_rust::xxh3::Xxh3;

use crate::protocol::{
    positions::{Encoding, LineMap, Point, Range},
    types::{FileRef, Locations},
};

use super::{ask::Ask, outcome::Place};

/// Reads texts for places, each file once.
pub(super) struct Reader<'a> {
    ask: &'a Ask<'a>,
    encoding: Encoding,
    texts: HashMap<PathBuf, Option<Arc<LineMap>>>,
}

/// A range as agents count it: 1-based lines and columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

impl<'a> Reader<'a> {
    /// Ranges come in `encoding`.
    pub(super) fn new(ask: &'a Ask<'a>, encoding: Encoding) -> Self {
        Self { ask, encoding, texts: HashMap::new() }
    }

    /// The text of a file of the workspace.
    pub(super) fn lines(&mut self, path: &Path) -> Option<Arc<LineMap>> {
        if let Some(known) = self.texts.get(path) {
            return known.clone();
        }
        let ground = &self.ask.engine.ground;
        let lines = if ground.roots.contains(path) {
            ground.read(path).ok().map(|snapshot| ground.lines(&snapshot))
        } else {
            None
        };
        self.texts.insert(path.to_owned(), lines.clone());
        lines
    }

    /// What a server says, with the paths in it as answers show them.
    pub(super) fn relative(&self, text: &str) -> String {
        self.ask.engine.ground.roots.relative(text)
    }

    /// How answers name a server's file.
    pub(super) fn shown(&self, file: &FileRef) -> String {
        match file {
            FileRef::Path(path) => self.ask.engine.ground.roots.display(path),
            FileRef::Foreign(uri) => uri.clone(),
        }
    }

    /// A range of a file. Where the text cannot be read the server's own count is all there is: it is right for lines
    /// of ASCII.
    pub(super) fn span(&mut self, file: &FileRef, range: Range) -> Span {
        let lines = match file {
            FileRef::Path(path) => self.lines(path),
            FileRef::Foreign(_) => None,
        };
        let (start, end) = match lines {
            Some(lines) => lines.points(range, self.encoding),
            None => (
                Point { line: range.start.line, column: range.start.character },
                Point { line: range.end.line, column: range.end.character },
            ),
        };
        Span {
            line: start.line.saturating_add(1),
            column: start.column.saturating_add(1),
            end_line: end.line.saturating_add(1),
            end_column: end.column.saturating_add(1),
        }
    }

    /// The text of a 1-based line.
    pub(super) fn line(&mut self, file: &FileRef, line: u32) -> Option<String> {
        let FileRef::Path(path) = file else { return None };
        let lines = self.lines(path)?;
        lines.line(line.checked_sub(1)?).map(|text| text.chars().take(400).collect())
    }

    /// A place with its line.
    pub(super) fn place(&mut self, file: &FileRef, range: Range) -> Place {
        let span = self.span(file, range);
        Place {
            file: self.shown(file),
            line: span.line,
            column: span.column,
            end_line: span.end_line,
            end_column: span.end_column,
            text: self.line(file, span.line),
            role: None,
        }
    }
}

/// The order in which locations are shown: the asked file first, then by path and place; duplicates told once.
pub(super) fn sorted(locations: &Locations, first: Option<&Path>) -> Vec<(u32, Range)> {
    let mut rank: Vec<u32> = (0..u32::try_from(locations.files.len()).unwrap_or(u32::MAX)).collect();
    let key = |file: u32| match &locations.files[file as usize] {
        FileRef::Path(path) => (Some(path.as_path()) != first, path.to_string_lossy().into_owned()),
        FileRef::Foreign(uri) => (true, uri.clone()),
    };
    rank.sort_by_cached_key(|file| key(*file));
    let mut place_of = vec![0_u32; rank.len()];
    for (place, file) in rank.iter().enumerate() {
        place_of[*file as usize] = u32::try_from(place).unwrap_or(u32::MAX);
    }
    let mut items: Vec<(u32, Range)> = locations.items.iter().map(|item| (item.file, item.range)).collect();
    items.sort_unstable_by_key(|(file, range)| (place_of[*file as usize], *range));
    items.dedup();
    items
}

/// What binds a cursor to a result.
pub(super) fn fingerprint(ask: &Ask<'_>, parts: impl Hash) -> u64 {
    let mut hasher = Xxh3::new();
    ask.engine.registry.generation().hash(&mut hasher);
    ask.tool.hash(&mut hasher);
    parts.hash(&mut hasher);
    hasher.finish()
}
