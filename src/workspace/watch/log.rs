//! What changed, in order, in bounded space: each reader has a position of its own and gets, for each path, what
//! became of it since then.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::links::Links;
use super::{Change, Changes, Kind};

/// The most records that are kept: about 3 MiB of them.
pub(super) const RECORDS: usize = 16_384;

/// The log.
#[derive(Debug)]
pub(super) struct Log {
    capacity: usize,
    /// The newest position.
    head: u64,
    /// The newest position that a reader holds: a record behind it has been seen by nobody, and can still be changed.
    handed: u64,
    /// Positions before this one have lost records.
    floor: u64,
    records: BTreeMap<u64, Record>,
    /// The newest record of each path.
    newest: HashMap<Arc<Path>, u64>,
    links: Links,
}

#[derive(Debug, Clone)]
struct Record {
    path: Arc<Path>,
    kind: Kind,
    folder: bool,
}

impl Log {
    pub(super) fn new(capacity: usize) -> Log {
        Log {
            capacity,
            head: 0,
            handed: 0,
            floor: 0,
            records: BTreeMap::new(),
            newest: HashMap::new(),
            links: Links::default(),
        }
    }

    /// The newest position, which a reader now holds.
    pub(super) fn hand_out(&mut self) -> u64 {
        self.handed = self.head;
        self.head
    }

    pub(super) fn head(&self) -> u64 {
        self.head
    }

    /// Notes what happened to a path, under each of its names.
    pub(super) fn record(&mut self, path: &Path, kind: Kind, folder: bool) {
        self.note(path, kind, folder);
        for spelt in self.links.spellings(path) {
            self.note(&spelt, kind, folder);
        }
    }

    /// Notes that `link` leads to this folder; true if that is new. What became of the folder before counts, too.
    pub(super) fn link(&mut self, link: &Path, folder: &Path) -> bool {
        let new = self.links.add(link, folder);
        if new {
            let below =
                self.records.values().filter(|record| record.path.starts_with(folder) && *record.path != *folder);
            for record in below.cloned().collect::<Vec<_>>() {
                if let Ok(rest) = record.path.strip_prefix(folder) {
                    self.note(&link.join(rest), record.kind, record.folder);
                }
            }
        }
        new
    }

    /// The link is gone: where it led to.
    pub(super) fn unlink(&mut self, link: &Path) -> Option<PathBuf> {
        self.links.remove(link)
    }

    /// Notes what happened to a path under this name alone.
    pub(super) fn note(&mut self, path: &Path, kind: Kind, folder: bool) {
        let (path, kind) = match self.newest.get_key_value(path).map(|(path, &seq)| (Arc::clone(path), seq)) {
            None => (Arc::from(path), kind),
            Some((path, seq)) => {
                let last = self.records.get(&seq).filter(|last| last.folder == folder).map(|last| last.kind);
                let unseen = seq > self.handed;
                let kind = match (last, kind) {
                    // Seen by a listing and told by an event.
                    (Some(Kind::Deleted), Kind::Deleted) => return,
                    (Some(Kind::Created), Kind::Created) if unseen => return,
                    // Nobody knows yet that it was created: they will read it as it is then.
                    (Some(Kind::Created), Kind::Changed) if unseen => return,
                    // It came and went unseen.
                    (Some(Kind::Created), Kind::Deleted) if unseen => {
                        self.take_back(&path, seq);
                        return;
                    }
                    (Some(Kind::Deleted), Kind::Created) if unseen => {
                        self.records.remove(&seq);
                        Kind::Changed
                    }
                    // A change is as good as two: who has seen the first will see the second.
                    (Some(Kind::Changed), Kind::Changed) => {
                        self.records.remove(&seq);
                        kind
                    }
                    (Some(Kind::Changed), Kind::Deleted) if unseen => {
                        self.records.remove(&seq);
                        kind
                    }
                    _ => kind,
                };
                (path, kind)
            }
        };
        self.head += 1;
        self.newest.insert(Arc::clone(&path), self.head);
        self.records.insert(self.head, Record { path, kind, folder });
        while self.records.len() > self.capacity {
            let Some((seq, record)) = self.records.pop_first() else { break };
            self.floor = seq;
            if self.newest.get(&record.path) == Some(&seq) {
                self.newest.remove(&record.path);
            }
        }
    }

    /// What became of each path after position `seq`.
    pub(super) fn since(&mut self, seq: u64) -> Changes {
        let mut merged: HashMap<&Path, (Kind, Change)> = HashMap::new();
        for (&at, record) in self.records.range(seq.saturating_add(1)..) {
            let change = Change { seq: at, path: Arc::clone(&record.path), kind: record.kind, folder: record.folder };
            merged
                .entry(&*record.path)
                .and_modify(|(_, last)| *last = change.clone())
                .or_insert_with(|| (record.kind, change));
        }
        let net = |(first, mut last): (Kind, Change)| {
            last.kind = match (first, last.kind) {
                (Kind::Created, Kind::Deleted) => return None,
                (_, Kind::Deleted) => Kind::Deleted,
                (Kind::Created, _) => Kind::Created,
                _ => Kind::Changed,
            };
            Some(last)
        };
        let mut events: Vec<Change> = merged.into_values().filter_map(net).collect();
        events.sort_unstable_by_key(|change| change.seq);
        Changes { events, overflow: seq < self.floor, seq: self.hand_out() }
    }

    fn take_back(&mut self, path: &Arc<Path>, seq: u64) {
        self.records.remove(&seq);
        // An older record of the path is found by looking for it: this is rare, and nobody waits for it.
        let older = self.records.iter().rev().find(|(_, record)| record.path == *path).map(|(&seq, _)| seq);
        match older {
            Some(older) => self.newest.insert(Arc::clone(path), older),
            None => self.newest.remove(path),
        };
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    /// `+a ~a -a` create, change and delete; `|` is a reader that looks.
    fn play(script: &str, log: &mut Log) {
        for word in script.split_whitespace() {
            let (sign, name) = word.split_at(1);
            let kind = match sign {
                "+" => Kind::Created,
                "~" => Kind::Changed,
                "-" => Kind::Deleted,
                _ => {
                    log.hand_out();
                    continue;
                }
            };
            log.record(Path::new(name), kind, false);
        }
    }

    fn shown(changes: &Changes) -> String {
        let sign = |kind| match kind {
            Kind::Created => '+',
            Kind::Changed => '~',
            Kind::Deleted => '-',
        };
        let events = changes.events.iter().map(|change| format!("{}{}", sign(change.kind), change.path.display()));
        let overflow = changes.overflow.then(|| "!".to_owned());
        events.chain(overflow).collect::<Vec<_>>().join(" ")
    }

    fn check(script: &str, since: u64, expected: &Expect) {
        let mut log = Log::new(4);
        play(script, &mut log);
        expected.assert_eq(&shown(&log.since(since)));
    }

    #[test]
    fn merged_for_each_path() {
        check("+a ~a", 0, &expect!["+a"]);
        check("~a ~b ~a", 0, &expect!["~b ~a"]);
        check("-a +a ~a", 0, &expect!["~a"]);
        check("+a -a", 0, &expect![""]);
        check("~a -a", 0, &expect!["-a"]);
        check("+a -a +a", 0, &expect!["+a"]);
        check("-a +a -a", 0, &expect!["-a"]);
    }

    #[test]
    fn merged_from_the_position_of_each_reader() {
        check("+a | ~a", 1, &expect!["~a"]);
        check("+a | ~a", 0, &expect!["+a"]);
        check("+a | -a", 1, &expect!["-a"]);
        check("+a | -a", 0, &expect![""]);
        check("-a | +a", 1, &expect!["+a"]);
        check("-a | +a", 0, &expect!["~a"]);
        check("~a | ~a", 1, &expect!["~a"]);
        check("~a | ~a", 2, &expect![""]);
    }

    #[test]
    fn bounded_and_says_so() {
        check("+a +b +c +d +e", 0, &expect!["+b +c +d +e !"]);
        check("+a +b +c +d +e", 1, &expect!["+b +c +d +e"]);
        check("+a ~a ~a ~a ~a ~a ~b", 0, &expect!["+a ~b"]);
    }

    proptest! {
        /// A reader that looks at any moments always knows what exists, as if it had seen every single event.
        #[test]
        fn a_reader_that_follows_knows_what_exists(steps in proptest::collection::vec((0..4_usize, 0..4_u8), 0..60)) {
            let names = ["a", "b", "c", "d"];
            let mut log = Log::new(1000);
            let mut exists = [false; 4];
            let mut believed = [false; 4];
            let mut position = 0;
            let mut look = |log: &mut Log, exists: &[bool; 4]| {
                let changes = log.since(position);
                position = changes.seq;
                for change in changes.events {
                    let index = names.iter().position(|name| Path::new(name) == &*change.path).unwrap();
                    match change.kind {
                        Kind::Created => assert!(!std::mem::replace(&mut believed[index], true)),
                        Kind::Changed => assert!(believed[index]),
                        Kind::Deleted => assert!(std::mem::replace(&mut believed[index], false)),
                    }
                }
                assert_eq!(believed, *exists);
            };
            for (index, step) in steps {
                let path = Path::new(names[index]);
                match (step, exists[index]) {
                    (0, _) => look(&mut log, &exists),
                    (_, false) => {
                        log.record(path, Kind::Created, false);
                        exists[index] = true;
                    }
                    (1, true) => {
                        log.record(path, Kind::Deleted, false);
                        exists[index] = false;
                    }
                    (_, true) => log.record(path, Kind::Changed, false),
                }
            }
            look(&mut log, &exists);
        }
    }
}
