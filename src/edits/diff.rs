//! What a plan does to a file, line by line: unified hunks of bounded size.

use std::path::PathBuf;

use imara_diff::{Algorithm, Diff, InternedInput};

use super::cut;
use super::effect::Content;

/// Unchanged lines around a hunk.
const CONTEXT: u32 = 2;
/// Lines of a file that are shown.
const FILE_LINES: usize = 400;
/// Lines of a plan that are shown.
const PLAN_LINES: usize = 4000;

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Changed,
    Created,
    Renamed,
    Deleted,
}

/// What happens to one file, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) kind: Kind,
    pub(super) path: PathBuf,
    pub(super) from: Option<PathBuf>,
    /// It is a folder, with so many files below it.
    pub(super) folder: Option<usize>,
    /// It takes the place of a file that is lost.
    pub(super) overwrites: bool,
    pub(super) old: Option<Content>,
    pub(super) new: Option<Content>,
}

/// One file's part of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    pub kind: Kind,
    /// Where it is in the end; of a deleted one where it was.
    pub path: PathBuf,
    /// Where a renamed one was.
    pub from: Option<PathBuf>,
    /// It takes the place of a file that is lost.
    pub overwrites: bool,
    /// Lines added and removed, those that are not shown too.
    pub added: usize,
    pub removed: usize,
    pub hunks: Vec<Hunk>,
    /// Hunks that are not shown or were cut.
    pub left_out: usize,
    /// It is no text: there are no lines to show.
    pub opaque: bool,
}

/// Neighbouring lines; line numbers are one-based, as `@@ -old_start,old_lines +new_start,new_lines @@` has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    pub lines: Vec<Line>,
}

/// A line without its terminator; of a long one what changes, with how many characters are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    Same(String),
    Removed(String),
    Added(String),
    /// The line before it is the last one, and has no terminator.
    Unended,
}

/// All files, as long as there is room.
pub(super) fn files(all: &[Shown]) -> Vec<FileDiff> {
    let mut room = PLAN_LINES;
    all.iter().map(|one| file(one, &mut room)).collect()
}

fn file(one: &Shown, room: &mut usize) -> FileDiff {
    let mut shown = FileDiff {
        kind: one.kind,
        path: one.path.clone(),
        from: one.from.clone(),
        overwrites: one.overwrites,
        added: 0,
        removed: 0,
        hunks: Vec::new(),
        left_out: 0,
        opaque: false,
    };
    match (text(one.old.as_ref()), text(one.new.as_ref())) {
        (Some(old), Some(new)) => lines(old, new, room, &mut shown),
        _ => shown.opaque = true,
    }
    shown
}

/// What is not there is empty.
fn text(content: Option<&Content>) -> Option<&str> {
    content.map_or(Some(""), Content::text)
}

fn lines(old: &str, new: &str, room: &mut usize, shown: &mut FileDiff) {
    let input = InternedInput::new(old, new);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    shown.added = diff.count_additions() as usize;
    shown.removed = diff.count_removals() as usize;
    let last = u32::try_from(input.before.len()).unwrap_or(u32::MAX);
    let mut left = FILE_LINES.min(*room);
    let mut groups: Vec<Vec<imara_diff::Hunk>> = Vec::new();
    for hunk in diff.hunks() {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|one| hunk.before.start - one.before.end <= 2 * CONTEXT) => {
                group.push(hunk);
            }
            _ => groups.push(vec![hunk]),
        }
    }
    for group in groups {
        let (Some(first), Some(end)) = (group.first(), group.last()) else { continue };
        if left == 0 {
            shown.left_out += 1;
            continue;
        }
        let before = first.before.start.saturating_sub(CONTEXT);
        let lead = first.before.start - before;
        let after = end.before.end.saturating_add(CONTEXT).min(last);
        let mut hunk = Hunk {
            old_start: before + 1,
            old_lines: after - before,
            new_start: first.after.start - lead + 1,
            new_lines: end.after.end - first.after.start + lead + (after - end.before.end),
            lines: Vec::new(),
        };
        // An empty side is named by the line before it.
        hunk.old_start -= u32::from(hunk.old_lines == 0);
        hunk.new_start -= u32::from(hunk.new_lines == 0);
        let old = |range: std::ops::Range<u32>| {
            let tokens = &input.before[range.start as usize..range.end as usize];
            tokens.iter().map(|token| input.interner[*token])
        };
        let mut at = before;
        let mut total = 0;
        for change in &group {
            // They stand against each other in their order.
            let was: Vec<&str> = old(change.before.clone()).collect();
            let is: Vec<&str> = input.after[change.after.start as usize..change.after.end as usize]
                .iter()
                .map(|token| input.interner[*token])
                .collect();
            total += (change.before.end - at) as usize + is.len();
            let more = old(at..change.before.start).flat_map(|text| made(text, None, Line::Same));
            let more = more.chain(texts(&was).flat_map(|(at, text)| made(text, is.get(at), Line::Removed)));
            let more = more.chain(texts(&is).flat_map(|(at, text)| made(text, was.get(at), Line::Added)));
            hunk.lines.extend(more.take(left - hunk.lines.len()));
            at = change.before.end;
        }
        total += (after - at) as usize;
        let rest = old(at..after).flat_map(|text| made(text, None, Line::Same));
        hunk.lines.extend(rest.take(left - hunk.lines.len()));
        shown.left_out += usize::from(total > left);
        left -= hunk.lines.len();
        *room -= hunk.lines.len();
        shown.hunks.push(hunk);
    }
}

fn texts<'t>(lines: &'t [&'t str]) -> impl Iterator<Item = (usize, &'t str)> {
    lines.iter().copied().enumerate()
}

/// A line as it is shown, against the one in whose place it stands.
fn made(text: &str, other: Option<&&str>, kind: fn(String) -> Line) -> impl Iterator<Item = Line> + use<> {
    let unended = (!text.ends_with('\n')).then_some(Line::Unended);
    [Some(kind(cut::shown(text, other.copied()))), unended].into_iter().flatten()
}
