//! Which problems of a text are new against what was known of an older one: lines are followed through a line diff, so
//! that what only moved is not new. Pure.

use std::{
    collections::HashMap,
    hash::{Hash, Hasher},
    ops::Range,
    sync::Arc,
};

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};
use xxhash_rust::xxh3::Xxh3;

use super::memory::{Record, hash};
use crate::{protocol::types::Severity, registry::ScopedName};

/// A problem as it is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    /// From 0.
    pub line: u32,
    pub severity: Severity,
    /// Who says what, without the place.
    pub key: u64,
    /// Another one has said the very same: it counts once.
    pub again: bool,
}

/// Who says what: messages that name line numbers or counts stay the same when only these have moved.
pub(super) fn key(
    server: Option<&ScopedName>,
    severity: Severity,
    source: Option<&str>,
    code: Option<&str>,
    message: &str,
) -> u64 {
    let mut hasher = Xxh3::new();
    (server, severity as u8, source, code).hash(&mut hasher);
    let mut digits = false;
    for c in message.chars() {
        let digit = c.is_ascii_digit();
        if !(digit && digits) {
            hasher.write_u32(if digit { '0' } else { c } as u32);
        }
        digits = digit;
    }
    hasher.finish()
}

/// What a text is compared with.
#[derive(Debug, Clone)]
pub(super) enum Baseline {
    /// What was known of an older text.
    Known(Arc<Record>),
    /// Only the older text: what stands on lines that it does not have counts as new; of the rest nobody knows.
    Text(Arc<str>),
    /// There was no such file: all is new.
    Nothing,
    /// Nobody knows.
    Unknown,
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Compared {
    /// For each problem whether it counts as new.
    pub new: Vec<bool>,
    /// Known problems that are not there any more.
    pub gone: Vec<Severity>,
    /// Problems that count as new because nothing is known to compare them with.
    pub unknown: bool,
}

impl Compared {
    pub(super) fn differs(&self) -> bool {
        !self.gone.is_empty() || self.new.contains(&true)
    }
}

/// Compares the problems of `text`; `servers` have answered, nobody in the place of one who has not, and each problem
/// comes with the index of its own one. Of the severities in `cut` not all are known.
pub(super) fn compare(
    baseline: &Baseline,
    text: &str,
    now: &[(Known, usize)],
    servers: &[Option<ScopedName>],
    cut: [bool; 4],
) -> Compared {
    match baseline {
        Baseline::Nothing => Compared { new: vec![true; now.len()], ..Compared::default() },
        Baseline::Unknown => {
            Compared { new: vec![true; now.len()], gone: Vec::new(), unknown: !now.is_empty() || servers.is_empty() }
        }
        Baseline::Text(old) => {
            let same = unchanged(&lines(old), &lines(text));
            let new = now.iter().map(|(problem, _)| !same.contains_key(&problem.line)).collect();
            Compared { new, ..Compared::default() }
        }
        Baseline::Known(record) => with_record(record, text, now, servers, cut),
    }
}

fn with_record(
    record: &Record,
    text: &str,
    now: &[(Known, usize)],
    servers: &[Option<ScopedName>],
    cut: [bool; 4],
) -> Compared {
    let (old_lines, new_lines) = (lines(&record.text), lines(text));
    let hunks = diff(&old_lines, &new_lines);
    let to_old = unchanged_of(&hunks, new_lines.len());
    let mut left: Vec<Option<Known>> = record.known.iter().copied().map(Some).collect();
    let mut take = |fits: &dyn Fn(&Known) -> bool| {
        let found = left.iter_mut().find(|known| known.as_ref().is_some_and(fits));
        found.is_some_and(|known| known.take().is_some())
    };
    let mut new = vec![true; now.len()];
    // On lines that have not changed.
    for (at, (problem, _)) in now.iter().enumerate() {
        let old = to_old.get(&problem.line);
        new[at] = !old.is_some_and(|line| take(&|known| known.key == problem.key && known.line == *line));
    }
    // On a line that was changed, but not mended.
    for (at, (problem, _)) in now.iter().enumerate().filter(|(at, _)| new.get(*at) == Some(&true)).collect::<Vec<_>>() {
        let hunk = hunk_of(&hunks, problem.line);
        new[at] =
            !hunk.is_some_and(|hunk| take(&|known| known.key == problem.key && hunk.contains(&(known.line as usize))));
    }
    // On a line that was moved elsewhere.
    for (at, (problem, _)) in now.iter().enumerate().filter(|(at, _)| new.get(*at) == Some(&true)).collect::<Vec<_>>() {
        let words = |lines: &[&str], line: u32| lines.get(line as usize).map(|line| hash(line.trim()));
        let own = words(&new_lines, problem.line);
        new[at] = !take(&|known| known.key == problem.key && words(&old_lines, known.line) == own);
    }
    // Whoever had not answered then may have known all of it; and it may have been told, and been too much to keep.
    let mut unknown = false;
    for (at, (problem, server)) in now.iter().enumerate() {
        let server = servers.get(*server).and_then(Option::as_ref);
        let then = server.is_some_and(|server| record.servers.contains(server));
        unknown |= new[at] && (!then || record.cut[problem.severity as usize]);
    }
    // Of those who have not answered now nothing is gone, nor of those that are too many to keep.
    let all_answered = record.servers.iter().all(|server| servers.iter().flatten().any(|it| it == server));
    let left = left.into_iter().flatten().filter(|known| all_answered && !known.again);
    let gone = left.map(|known| known.severity).filter(|severity| !cut[*severity as usize]).collect();
    Compared { new, gone, unknown }
}

/// The lines of a text without their ends.
pub(super) fn lines(text: &str) -> Vec<&str> {
    let unix = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    unix.flat_map(|line| line.split('\r')).collect()
}

/// Whether two texts have the same lines, however these end.
pub(super) fn same_lines(a: &str, b: &str) -> bool {
    a == b || lines(a) == lines(b)
}

/// What differs, in order. It is bounded in time: where texts have little in common it is coarser, and as right.
pub(super) fn diff(old: &[&str], new: &[&str]) -> Vec<Hunk> {
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    Diff::compute(Algorithm::Histogram, &input).hunks().collect()
}

fn unchanged(old: &[&str], new: &[&str]) -> HashMap<u32, u32> {
    unchanged_of(&diff(old, new), new.len())
}

/// For each unchanged new line the old one.
fn unchanged_of(hunks: &[Hunk], new_lines: usize) -> HashMap<u32, u32> {
    let mut map = HashMap::new();
    let (mut old, mut new) = (0, 0);
    let last = u32::try_from(new_lines).unwrap_or(u32::MAX);
    let ends = hunks.iter().map(|hunk| (hunk.after.start, hunk.before.end, hunk.after.end));
    for (until, old_after, new_after) in ends.chain([(last, 0, last)]) {
        map.extend((new..until).zip(old..));
        (old, new) = (old_after, new_after);
    }
    map
}

/// The old lines in whose place a new line stands: those between the unchanged lines around it.
fn hunk_of(hunks: &[Hunk], line: u32) -> Option<Range<usize>> {
    let hunk = hunks.iter().find(|hunk| hunk.after.contains(&line))?;
    Some(hunk.before.start as usize..hunk.before.end as usize)
}

#[cfg(test)]
mod tests;
