//! Which problems of a text are new against what was told of an older one, and which of those are gone. What counts is
//! what is said and where, not by whom: a problem that two servers tell of is there as long as one of them does. Places
//! are followed through a line diff, so that what only moved is not new. Pure.

use std::{
    collections::{BTreeMap, HashMap},
    hash::{Hash, Hasher},
    ops::Range,
    sync::Arc,
};

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};
use xxhash_rust::xxh3::Xxh3;

use super::{memory::hash, sweep::Checked};
use crate::{protocol::types::Severity, registry::ScopedName};

/// A problem as it is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tools) struct Known {
    /// From 0.
    pub line: u32,
    pub column: u32,
    pub severity: Severity,
    /// What is said, and how bad it is, whoever says it.
    pub says: u64,
    /// The index of the server.
    pub server: u16,
    /// Another one has said the very same: it is listed and counts once.
    pub again: bool,
}

/// What was told of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tools) struct Told {
    pub text: Arc<str>,
    pub known: Vec<Known>,
    /// Those who were asked, and whether they have answered about this very text.
    pub servers: Vec<(ScopedName, bool)>,
    /// The severities of which there were too many to know all.
    pub cut: [bool; 4],
}

impl Told {
    /// What was heard of a file; its problems in the same order.
    pub(in crate::tools) fn of(one: &Checked) -> Self {
        let known = one.found.iter().map(|found| Known {
            line: found.problem.line.saturating_sub(1),
            column: found.problem.column,
            severity: found.severity,
            says: says(found.severity, &found.problem.message),
            server: u16::try_from(found.server).unwrap_or(u16::MAX),
            again: found.again,
        });
        let servers = one.parts.iter().map(|part| (part.id.clone(), part.verdict.answered()));
        let cut = one.cut.all.map(|number| number > 0);
        Self { text: one.text.clone(), known: known.collect(), servers: servers.collect(), cut }
    }

    /// Whether anybody has answered.
    pub(in crate::tools) fn is_answered(&self) -> bool {
        self.servers.iter().any(|(_, answered)| *answered)
    }

    /// Without what those told who had only an older text.
    pub(super) fn answered(mut self) -> Self {
        let servers = &self.servers;
        self.known.retain(|known| has_answered(servers, known.server));
        self
    }

    /// Whether a server has answered; none that is not known has.
    fn heard(&self, server: &ScopedName) -> bool {
        self.servers.iter().any(|(name, answered)| *answered && name == server)
    }

    fn name(&self, server: u16) -> Option<&ScopedName> {
        self.servers.get(usize::from(server)).map(|(name, _)| name)
    }
}

fn has_answered(servers: &[(ScopedName, bool)], server: u16) -> bool {
    servers.get(usize::from(server)).is_some_and(|(_, answered)| *answered)
}

/// What is said: messages that name line numbers or counts stay the same when only these have moved.
pub(super) fn says(severity: Severity, message: &str) -> u64 {
    let mut hasher = Xxh3::new();
    (severity as u8).hash(&mut hasher);
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
pub(in crate::tools) enum Baseline {
    /// What was told of an older text.
    Known(Arc<Told>),
    /// Nothing was told then, and nothing at all has changed since: what is there now was there.
    Same,
    /// Only the older text: what stands on lines that it does not have counts as new; of the rest nobody knows.
    Text(Arc<str>),
    /// There was no such file: all is new.
    Nothing,
    /// Nobody knows.
    Unknown,
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::tools) struct Compared {
    /// For each problem whether it counts as new.
    pub new: Vec<bool>,
    /// For each problem whether it counts as new only because not enough was known then.
    pub unsure: Vec<bool>,
    /// The known problems that are not there any more, by their index.
    pub gone: Vec<usize>,
    /// Of these severities there may be more that are gone: not all were known, then or now.
    pub more_gone: [bool; 4],
    /// There was nothing to compare with.
    pub unknown: bool,
}

impl Compared {
    /// All of so many count as new.
    fn all(number: usize, unsure: bool) -> Self {
        Self { new: vec![true; number], unsure: vec![unsure; number], ..Self::default() }
    }

    pub(super) fn differs(&self) -> bool {
        !self.gone.is_empty() || self.new.contains(&true)
    }
}

/// Compares what is told of a text now.
pub(in crate::tools) fn compare(baseline: &Baseline, now: &Told) -> Compared {
    let number = now.known.len();
    match baseline {
        Baseline::Nothing => Compared::all(number, false),
        Baseline::Unknown => {
            let unknown = number > 0 || !now.is_answered();
            Compared { unknown, ..Compared::all(number, true) }
        }
        Baseline::Same => Compared { new: vec![false; number], unsure: vec![false; number], ..Compared::default() },
        Baseline::Text(old) => {
            let (old, new) = (lines(old), lines(&now.text));
            let same = unchanged(&diff(&old, &new), new.len());
            let new = now.known.iter().map(|problem| !same.contains_key(&problem.line)).collect();
            Compared { new, unsure: vec![false; number], ..Compared::default() }
        }
        Baseline::Known(then) => with(then, now),
    }
}

fn with(then: &Told, now: &Told) -> Compared {
    let old = sites(then, |known| has_answered(&then.servers, known.server));
    let new = sites(now, |_| true);
    let (kept, left) = paired(then, &old, now, &new);
    let mut compared = Compared {
        new: vec![false; now.known.len()],
        unsure: vec![false; now.known.len()],
        more_gone: std::array::from_fn(|at| then.cut[at] || now.cut[at]),
        ..Compared::default()
    };
    for (site, _) in new.iter().zip(kept).filter(|(_, kept)| !kept) {
        // Whoever had not answered then may have known it; and it may have been told, and been too much to keep.
        let unsure = site.problems.iter().any(|at| {
            let problem = &now.known[*at];
            then.cut[problem.severity as usize] || !now.name(problem.server).is_some_and(|server| then.heard(server))
        });
        for at in &site.problems {
            (compared.new[*at], compared.unsure[*at]) = (true, unsure);
        }
    }
    for (site, _) in old.iter().zip(left).filter(|(_, left)| *left) {
        // Of those who have not answered now nothing is gone, nor of those that are too many to keep.
        let certain = site.problems.iter().all(|at| {
            let problem = &then.known[*at];
            !now.cut[problem.severity as usize] && then.name(problem.server).is_some_and(|server| now.heard(server))
        });
        if certain {
            compared.gone.extend(site.problems.iter().copied().filter(|at| !then.known[*at].again));
        }
    }
    compared.gone.sort_unstable();
    compared
}

/// A place where something is said, by one server or several.
#[derive(Debug)]
struct Site {
    line: u32,
    column: u32,
    says: u64,
    /// Whoever says it there, by the index of the problem.
    problems: Vec<usize>,
}

/// The places where something is said, in their order.
fn sites(told: &Told, counts: impl Fn(&Known) -> bool) -> Vec<Site> {
    let mut sites: BTreeMap<(u32, u32, u64), Vec<usize>> = BTreeMap::new();
    for (at, known) in told.known.iter().enumerate().filter(|(_, known)| counts(known)) {
        sites.entry((known.line, known.column, known.says)).or_default().push(at);
    }
    let site = |((line, column, says), problems)| Site { line, column, says, problems };
    sites.into_iter().map(site).collect()
}

/// Finds places again, each at most once. Answers for each new one whether it was there before, and for each old one
/// whether it is left over.
fn paired(then: &Told, old: &[Site], now: &Told, new: &[Site]) -> (Vec<bool>, Vec<bool>) {
    let (old_lines, new_lines) = (lines(&then.text), lines(&now.text));
    let hunks = diff(&old_lines, &new_lines);
    let to_old = unchanged(&hunks, new_lines.len());
    let hunk_of = |line: u32, of: fn(&Hunk) -> &Range<u32>| {
        let at = hunks.partition_point(|hunk| of(hunk).end <= line);
        hunks.get(at).filter(|hunk| of(hunk).contains(&line)).map(|_| at)
    };
    let mut pairs = Pairs { kept: vec![false; new.len()], left: vec![true; old.len()] };

    // On lines that have not changed.
    pairs.take(
        old,
        new,
        |site| Some((site.says, site.line, site.column)),
        |site| to_old.get(&site.line).map(|line| (site.says, *line, site.column)),
    );
    let in_old: HashMap<u32, usize> =
        old.iter().filter_map(|site| Some((site.line, hunk_of(site.line, |hunk| &hunk.before)?))).collect();
    let in_new: HashMap<u32, usize> =
        new.iter().filter_map(|site| Some((site.line, hunk_of(site.line, |hunk| &hunk.after)?))).collect();
    // On a line that was taken from its place and put elsewhere.
    let moved = |site: &Site, within: &HashMap<u32, usize>, lines: &[&str]| {
        let line = lines.get(site.line as usize).filter(|_| within.contains_key(&site.line))?;
        let words = line.trim_start();
        let indentation = u32::try_from(line[..line.len() - words.len()].chars().count()).unwrap_or(u32::MAX);
        Some((site.says, hash(words.trim_end()), i64::from(site.column) - i64::from(indentation)))
    };
    pairs.take(old, new, |site| moved(site, &in_old, &old_lines), |site| moved(site, &in_new, &new_lines));
    // On a line that was changed into another one, and not mended.
    let instead = |site: &Site| {
        let hunk = &hunks[*in_new.get(&site.line)?];
        let alike = hunk.before.len() == hunk.after.len();
        alike.then(|| (site.says, hunk.before.start + (site.line - hunk.after.start)))
    };
    pairs.take(old, new, |site| Some((site.says, site.line)), instead);
    // Somewhere on changed lines, by one who said it there before.
    for server in now.servers.iter().map(|(name, _)| name) {
        let by =
            |told: &Told, site: &Site| site.problems.iter().any(|at| told.name(told.known[*at].server) == Some(server));
        let place = |told: &Told, site: &Site, within: &HashMap<u32, usize>| {
            Some((site.says, *within.get(&site.line)?)).filter(|_| by(told, site))
        };
        pairs.take(old, new, |site| place(then, site, &in_old), |site| place(now, site, &in_new));
    }
    (pairs.kept, pairs.left)
}

/// Which places have been found again so far.
struct Pairs {
    kept: Vec<bool>,
    left: Vec<bool>,
}

impl Pairs {
    /// Pairs what has one key and is left, in order.
    fn take<K: Hash + Eq>(
        &mut self,
        old: &[Site],
        new: &[Site],
        of_old: impl Fn(&Site) -> Option<K>,
        of_new: impl Fn(&Site) -> Option<K>,
    ) {
        let mut by_key: HashMap<K, Vec<usize>> = HashMap::new();
        for (at, site) in old.iter().enumerate().rev().filter(|(at, _)| self.left[*at]) {
            if let Some(key) = of_old(site) {
                by_key.entry(key).or_default().push(at);
            }
        }
        for (at, site) in new.iter().enumerate() {
            if self.kept[at] {
                continue;
            }
            let found = of_new(site).and_then(|key| by_key.get_mut(&key)).and_then(Vec::pop);
            if let Some(found) = found {
                (self.kept[at], self.left[found]) = (true, false);
            }
        }
    }
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

/// For each unchanged new line the old one.
fn unchanged(hunks: &[Hunk], new_lines: usize) -> HashMap<u32, u32> {
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

#[cfg(test)]
mod histories;
#[cfg(test)]
mod tests;
