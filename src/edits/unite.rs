//! Several servers' edits for one and the same event made one. They were all computed for the texts as they stand now,
//! so their places are brought together, not made one after the other. Pure.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;

use crate::protocol::positions::{Encoding, LineMap, Position, Range};
use crate::protocol::types::{EditStep, FileRef, TextEdit, WorkspaceEdit};

/// One server's edit, and what it is about.
pub struct Part<'p> {
    pub edit: &'p WorkspaceEdit,
    pub encoding: Encoding,
    /// The text of a file that the server computed its edit for.
    pub text: &'p dyn Fn(&Path) -> Option<Arc<str>>,
}

/// Why edits cannot be brought together; parts are named by their number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clash {
    /// This part does more than to replace texts, once in each file.
    Steps(usize),
    /// These two want different things in one place; the line counts from 0.
    Place { path: PathBuf, line: u32, parts: [usize; 2] },
    /// A range of this part begins or ends in the middle of a character; the line counts from 0.
    Inside { path: PathBuf, line: u32, part: usize },
    /// The file was another one for one part than for another, or is not known.
    Text(PathBuf),
}

/// A replacement in bytes of the text.
struct Place {
    start: usize,
    end: usize,
    text: String,
    snippet: bool,
    part: usize,
}

/// The union of all parts, its positions in UTF-8.
///
/// # Errors
/// When there is none.
pub fn unite(parts: &[Part<'_>]) -> Result<WorkspaceEdit, Clash> {
    let mut files: IndexMap<PathBuf, (LineMap, Vec<Place>)> = IndexMap::new();
    let mut to_confirm = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        to_confirm.extend(part.edit.to_confirm.iter().cloned());
        let mut seen: Vec<&Path> = Vec::new();
        for step in &part.edit.steps {
            let EditStep::Texts { file: FileRef::Path(path), edits, .. } = step else {
                return Err(Clash::Steps(number));
            };
            // A second step for a file is about the text as the first one leaves it.
            if seen.contains(&path.as_path()) {
                return Err(Clash::Steps(number));
            }
            seen.push(path);
            let text = (part.text)(path).ok_or_else(|| Clash::Text(path.clone()))?;
            let (lines, places) =
                files.entry(path.clone()).or_insert_with(|| (LineMap::new(Arc::clone(&text)), Vec::new()));
            if *lines.text() != *text {
                return Err(Clash::Text(path.clone()));
            }
            for edit in edits {
                let exact = |at: Position| {
                    let inside = || Clash::Inside { path: path.clone(), line: at.line, part: number };
                    lines.exact_offset(at, part.encoding).ok_or_else(inside)
                };
                let (start, end) = (exact(edit.range.start)?, exact(edit.range.end)?);
                places.push(Place { start, end, text: edit.text.clone(), snippet: edit.snippet, part: number });
            }
        }
    }
    let mut steps = Vec::with_capacity(files.len());
    for (path, (lines, places)) in files {
        let edits = of_one_file(&path, &lines, places)?;
        steps.push(EditStep::Texts { file: FileRef::Path(path), version: None, edits });
    }
    Ok(WorkspaceEdit { steps, to_confirm })
}

fn of_one_file(path: &Path, lines: &LineMap, mut places: Vec<Place>) -> Result<Vec<TextEdit>, Clash> {
    // Stable: inserts of one part at one place stay in its order.
    places.sort_by_key(|place| (place.start, place.end, place.part));
    let mut kept: Vec<Place> = Vec::with_capacity(places.len());
    // The place that reaches furthest so far.
    let mut reach: Option<usize> = None;
    for place in places {
        let alike = |other: &&Place| {
            (other.start, other.end, &other.text) == (place.start, place.end, &place.text) && other.part != place.part
        };
        if kept.iter().rev().take_while(|other| other.start == place.start).any(|other| alike(&other)) {
            continue;
        }
        let near = [kept.last(), reach.map(|at| &kept[at])].into_iter().flatten();
        for other in near.filter(|other| other.part != place.part) {
            if other.end > place.start || other.start == place.start {
                let line = lines.point(lines.position(place.start, Encoding::Utf8), Encoding::Utf8).line;
                return Err(Clash::Place {
                    path: path.to_owned(),
                    line,
                    parts: [other.part.min(place.part), other.part.max(place.part)],
                });
            }
        }
        if reach.is_none_or(|at| kept[at].end <= place.end) {
            reach = Some(kept.len());
        }
        kept.push(place);
    }
    let at = |offset| lines.position(offset, Encoding::Utf8);
    let edit = |Place { start, end, text, snippet, .. }| TextEdit {
        // A reversed range stays one: it is refused later, with the rest of its reasons.
        range: Range { start: at(start), end: at(end) },
        text,
        snippet,
    };
    Ok(kept.into_iter().map(edit).collect())
}
