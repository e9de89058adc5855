//! What a server has said of each file's problems, by channel, and how that relates to the texts it was told of. Pure:
//! channels never overwrite each other, and what belongs to an older text is never handed out as current.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use indexmap::IndexMap;
use tokio::time::Instant;

use crate::protocol::types::Listed;

use super::{
    shelf::{Board, Shelved},
    work::Work,
};

/// Files whose pushed lists are kept for one instance; the one heard of longest ago is dropped.
const FILES: usize = 512;

/// A list that a server pushed.
#[derive(Debug, Clone)]
pub struct Pushed {
    shelved: Arc<Shelved>,
    pub version: Option<i32>,
    pub at: Instant,
}

/// A report that a server gave when asked.
#[derive(Debug, Clone)]
pub struct Pulled {
    shelved: Arc<Shelved>,
    /// Hands `unchanged` its meaning on the next pull.
    pub result_id: Option<String>,
    /// The version that it described.
    pub version: i32,
}

impl Pushed {
    /// What it says; where the memory was short, only how much.
    pub fn list(&self) -> Arc<Listed> {
        self.shelved.list()
    }
}

impl Pulled {
    /// What it says; where the memory was short, only how much.
    pub fn list(&self) -> Arc<Listed> {
        self.shelved.list()
    }
}

/// The text that a server was last told of, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    pub version: i32,
    pub at: Instant,
}

/// Where a pushed list stands against the text that was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Push {
    /// Nothing has come for this file since the server started.
    Never,
    /// The list of this text could not be kept.
    Lost,
    /// Only lists of older texts, or from before something that the file may depend on changed.
    Older,
    /// A list of this text; how long it has been quiet since then, and whether the server has begun to make another one.
    Current { quiet: Duration, empty: bool, versioned: bool, more: bool },
}

/// Lists that may be on their way: without version nobody can tell which text one belongs to.
#[derive(Debug, Clone, Copy, Default)]
struct Flight {
    /// Texts that had brought no list yet when the newest one was told.
    owed: u32,
    /// Lists that have come since then.
    come: u32,
    /// When something else changed last, this text had brought no list yet: the first one since may be about the files
    /// as they were.
    crossed: bool,
    /// Lists that have come since something else changed.
    since: u32,
    told: Option<Instant>,
    /// No other text of it was told before.
    first: bool,
    /// What the server tells of its work at the file.
    work: Work,
}

/// A list that could not be kept.
#[derive(Debug, Clone)]
struct Lost {
    version: Option<i32>,
    why: String,
    at: Instant,
}

/// The longest wait that is learnt.
const LONGEST_LEARNT: Duration = Duration::from_secs(5);
/// Nothing is on its way for longer than this.
const FLIGHT: Duration = Duration::from_secs(10);

/// The lists of one instance.
#[derive(Debug, Default)]
pub struct Store {
    /// Where the lists themselves are.
    board: Board,
    pushed: HashMap<PathBuf, Pushed>,
    /// Lists that could not be kept, where nothing has been told since.
    lost: IndexMap<PathBuf, Lost>,
    /// In the order in which they were taken.
    pulled: IndexMap<(PathBuf, String), Pulled>,
    delay: Option<Duration>,
    /// The longest that an empty list was followed by problems of the same text.
    second_thoughts: Option<Duration>,
    ever: bool,
    /// This server says which text a list belongs to.
    versions: bool,
    /// For each file, what is known of lists that carry no version.
    flights: HashMap<PathBuf, Flight>,
}

impl Store {
    /// Keeps its lists there.
    pub fn new(board: Board) -> Self {
        Self { board, ..Self::default() }
    }

    /// Takes a list that was pushed at a time; one for an older version than the list that is there comes too late. `told`
    /// is what the server knows of the file at that moment, where its delay is to be learnt from.
    pub fn push(&mut self, path: &Path, list: Listed, version: Option<i32>, at: Instant, told: Option<Sent>) {
        self.came(path, version, told);
        if let Some(version) = version
            && self.pushed(path).is_some_and(|kept| kept.version.is_some_and(|v| v > version))
        {
            return;
        }
        self.lost.shift_remove(path);
        if let Some(told) = told
            && version.is_none_or(|v| v == told.version)
        {
            self.learn(at.saturating_duration_since(told.at));
        }
        if !list.is_empty() {
            self.think_twice(path, version, at, told);
        }
        self.pushed.remove(path);
        while self.pushed.len() >= FILES {
            // Lists of files that the server was never told of go first: it may publish for every file there is, once,
            // and would not do so again for the one that is open.
            let order = |(path, list): &(&PathBuf, &Pushed)| (self.flights.contains_key(*path), list.at);
            let Some(oldest) = self.pushed.iter().min_by_key(order).map(|(path, _)| path.clone()) else { break };
            self.pushed.remove(&oldest);
        }
        let shelved = self.board.put(list, self.flights.contains_key(path));
        self.pushed.insert(path.to_owned(), Pushed { shelved, version, at });
    }

    /// A list has come, whatever it says.
    fn came(&mut self, path: &Path, version: Option<i32>, told: Option<Sent>) {
        self.ever = true;
        self.versions |= version.is_some();
        if let Some(flight) = self.flights.get_mut(path) {
            flight.come = flight.come.saturating_add(1);
            flight.since = flight.since.saturating_add(1);
            if version.is_none_or(|version| told.is_some_and(|told| told.version == version)) {
                flight.work.listed();
            }
        }
    }

    /// A list has come that could not be kept.
    pub fn lose(&mut self, path: &Path, version: Option<i32>, why: String, at: Instant, told: Option<Sent>) {
        self.came(path, version, told);
        if self.pushed(path).and_then(|kept| kept.version).zip(version).is_some_and(|(kept, lost)| kept > lost) {
            return;
        }
        if let Some(told) = told.filter(|told| version.is_none_or(|v| v == told.version)) {
            self.learn(at.saturating_duration_since(told.at));
        }
        // What was told before is not what it says now.
        self.pushed.remove(path);
        self.lost.shift_remove(path);
        if self.lost.len() >= FILES {
            self.lost.shift_remove_index(0);
        }
        self.lost.insert(path.to_owned(), Lost { version, why, at });
    }

    /// Why the list of the text that was told could not be kept, if that was the last one of it.
    pub fn lost(&self, path: &Path, told: Sent) -> Option<&str> {
        self.last_lost(path, told).map(|lost| &*lost.why)
    }

    fn last_lost(&self, path: &Path, told: Sent) -> Option<&Lost> {
        let current = |lost: &&Lost| lost.version.map_or(lost.at >= told.at, |version| version == told.version);
        self.lost.get(path).filter(current)
    }

    /// A new text of a file is about to be told.
    pub fn tell(&mut self, path: &Path, now: Instant) {
        let first = !self.flights.contains_key(path);
        if let Some(list) = self.pushed.get(path).filter(|_| first) {
            list.shelved.open();
        }
        let flight = self.flights.entry(path.to_owned()).or_default();
        let recent = flight.told.is_some_and(|told| now.saturating_duration_since(told) < FLIGHT);
        let before = if recent { (flight.owed + 1).saturating_sub(flight.come) } else { 0 };
        let mut work = flight.work;
        work.told();
        *flight = Flight { owed: before, told: Some(now), first, work, ..Flight::default() };
    }

    /// The server has said whether it is at work at an open file.
    pub fn worked(&mut self, path: &Path, busy: bool, now: Instant) {
        if let Some(flight) = self.flights.get_mut(path) {
            flight.work.heard(busy, now);
        }
    }

    /// Whether the server says that it is at work at a file.
    pub fn is_worked_at(&self, path: &Path) -> bool {
        self.work(path).is_busy()
    }

    fn work(&self, path: &Path) -> Work {
        self.flights.get(path).map(|flight| flight.work).unwrap_or_default()
    }

    /// Files were told of, perhaps others than those whose lists are awaited. Where that took several messages, a list
    /// may come between them.
    /// It is not elsewhere for `own`.
    pub fn changed_elsewhere(&mut self, now: Instant, in_steps: bool, own: Option<&Path>) {
        let others = self.flights.iter_mut().filter(|(path, _)| own != Some(path.as_path()));
        for flight in others.map(|(_, flight)| flight).filter(|flight| flight.told != Some(now)) {
            flight.crossed = in_steps || flight.come <= flight.owed;
            flight.since = 0;
        }
    }

    /// Whether the newest list may have been made before something else changed, though it came after.
    fn has_crossed(&self, path: &Path) -> bool {
        self.flights.get(path).is_some_and(|flight| flight.crossed && flight.since < 2)
    }

    /// When the only list came that there is since something else changed, where a second one would have to follow before
    /// it counts.
    pub fn crossed_at(&self, path: &Path) -> Option<Instant> {
        let flight = self.flights.get(path).filter(|flight| flight.crossed && flight.since == 1)?;
        self.pushed(path).map(|list| list.at).filter(|at| flight.told.is_none_or(|told| told <= *at))
    }

    /// Whether a list without version may belong to an older text: one was still owed when the newest was told, and no
    /// further one has come since.
    fn in_flight(&self, path: &Path) -> bool {
        self.flights.get(path).is_some_and(|flight| flight.come <= flight.owed)
    }

    /// Takes a pulled report of a version; the one taken longest ago makes room.
    pub fn pull(&mut self, path: &Path, identifier: &str, list: Listed, result_id: Option<String>, version: i32) {
        let shelved = self.board.put(list, self.flights.contains_key(path));
        self.repeat(path, identifier, Pulled { shelved, result_id, version });
    }

    /// Takes a report that says the same as an earlier one.
    pub fn repeat(&mut self, path: &Path, identifier: &str, report: Pulled) {
        let key = (path.to_owned(), identifier.to_owned());
        self.pulled.shift_remove(&key);
        if self.pulled.len() >= FILES {
            self.pulled.shift_remove_index(0);
        }
        self.pulled.insert(key, report);
    }

    /// The last report for one identifier.
    pub fn pulled(&self, path: &Path, identifier: &str) -> Option<&Pulled> {
        self.pulled.get(&(path.to_owned(), identifier.to_owned()))
    }

    /// What each identifier reported of this version of a file.
    pub fn reports(&self, path: &Path, version: i32) -> Vec<Arc<Listed>> {
        let mut reports: Vec<_> =
            self.pulled.iter().filter(|((kept, _), report)| kept == path && report.version == version).collect();
        reports.sort_by(|((_, a), _), ((_, b), _)| a.cmp(b));
        reports.into_iter().map(|(_, report)| report.list()).collect()
    }

    /// The last pushed list, whatever text it describes.
    pub fn pushed(&self, path: &Path) -> Option<&Pushed> {
        self.pushed.get(path)
    }

    /// Whether of the last pushed list only the count is left.
    pub fn is_lost(&self, path: &Path) -> bool {
        self.pushed(path).is_some_and(|list| list.list().is_only_counted())
    }

    /// Where the pushed list of `path` stands against `told`, and against `changed`, the time of the last change that
    /// the server was told of anywhere: an older list may be about older dependencies. Lists without version count by
    /// order and time alone. A text that was told once more (saved, so that the server speaks) wants a new list.
    pub fn push_state(&self, path: &Path, told: Sent, changed: Instant, now: Instant) -> Push {
        // Older than a change elsewhere or not: nobody knows what it said of this text, or whether it will say it again.
        if self.last_lost(path, told).is_some() {
            return Push::Lost;
        }
        match self.pushed(path) {
            None => Push::Never,
            Some(list) => {
                let current = match list.version {
                    Some(version) => {
                        version == told.version && list.at >= changed.max(told.at) && !self.has_crossed(path)
                    }
                    None => list.at > told.at && list.at >= changed && !self.in_flight(path) && !self.has_crossed(path),
                };
                if current {
                    let work = self.work(path);
                    Push::Current {
                        quiet: now.saturating_duration_since(work.quiet_since(list.at)),
                        more: work.owes_more(),
                        empty: list.list().is_empty(),
                        versioned: list.version.is_some(),
                    }
                } else {
                    Push::Older
                }
            }
        }
    }

    /// The files of which problems are known, of whatever text.
    pub fn with_problems(&self) -> impl Iterator<Item = &Path> {
        let pushed = self.pushed.iter().filter(|(_, list)| !list.list().is_empty()).map(|(path, _)| path.as_path());
        let pulled = self.pulled.iter().filter(|(_, report)| !report.list().is_empty());
        pushed.chain(pulled.map(|((path, _), _)| path.as_path()))
    }

    /// How long this server usually takes from a change to its list, once learnt.
    pub fn usual_delay(&self) -> Option<Duration> {
        self.delay
    }

    /// Whether this server tells the versions of texts with its lists.
    pub fn knows_versions(&self) -> bool {
        self.versions
    }

    /// Whether this server has ever pushed a list.
    pub fn ever_pushed(&self) -> bool {
        self.ever
    }

    /// A file is gone: so are its problems.
    pub fn forget(&mut self, path: &Path) {
        self.pushed.remove(path);
        self.lost.shift_remove(path);
        self.flights.remove(path);
        self.pulled.retain(|(kept, _), _| kept != path);
    }

    /// Learns from problems that come after an empty list of the same text, where nothing else has changed in between.
    fn think_twice(&mut self, path: &Path, version: Option<i32>, at: Instant, told: Option<Sent>) {
        let undisturbed = self.flights.get(path).is_some_and(|flight| flight.since >= 2);
        if let Some(kept) = self.pushed(path)
            && kept.list().is_empty()
            && kept.version == version
            && undisturbed
            && told.is_some_and(|told| kept.at > told.at)
        {
            let took = at.saturating_duration_since(kept.at).min(LONGEST_LEARNT);
            self.second_thoughts = self.second_thoughts.max(Some(took));
        }
    }

    /// How long an empty list has to stand before it counts, where `usual` is the rule: longer where this server has had
    /// second thoughts, and for the first text of a file, when servers load what it needs.
    pub fn empty_settle(&self, path: &Path, usual: Duration) -> Duration {
        let first = self.flights.get(path).is_some_and(|flight| flight.first);
        let first = if first { usual * 12 / 5 } else { usual };
        first.max(self.second_thoughts.unwrap_or_default() * 3 / 2)
    }

    /// Moves the learnt delay a quarter of the way to what was just seen, within 5 s.
    fn learn(&mut self, seen: Duration) {
        let seen = seen.min(LONGEST_LEARNT);
        self.delay = Some(match self.delay {
            None => seen,
            // Slower news count at once: too long a wait costs time, too short a one costs truth.
            Some(known) if seen > known => seen,
            Some(known) => (known * 3 + seen) / 4,
        });
    }
}

#[cfg(test)]
mod tests;
