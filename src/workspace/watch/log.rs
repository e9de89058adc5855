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
        let mut merged: HashMap<&Path, (&Record, Change)> = HashMap::new();
        for (&at, record) in self.records.range(seq.saturating_add(1)..) {
            let change = Change { seq: at, path: Arc::clone(&record.path), kind: record.kind, folder: record.folder };
            merged
                .entry(&*record.path)
                .and_modify(|(_, last)| *last = change.clone())
                .or_insert_with(|| (record, change));
        }
        let net = |(first, last): (&Record, Change)| {
            let before = (first.kind != Kind::Created).then_some(first.folder);
            let now = (last.kind != Kind::Deleted).then_some(last.folder);
            let told = |kind, folder| Change { kind, folder, ..last.clone() };
            match (before, now) {
                (None, None) => [None, None],
                (None, Some(folder)) => [Some(told(Kind::Created, folder)), None],
                (Some(folder), None) => [Some(told(Kind::Deleted, folder)), None],
                (Some(was), Some(folder)) if was == folder => [Some(told(Kind::Changed, folder)), None],
                // A file in the place of a folder, or the other way round: who forgets the one must hear of the other.
                (Some(was), Some(folder)) => [Some(told(Kind::Deleted, was)), Some(told(Kind::Created, folder))],
            }
        };
        let mut events: Vec<Change> = merged.into_values().flat_map(net).flatten().collect();
        // Stable: an end stays before the beginning of what took its place.
        events.sort_by_key(|change| change.seq);
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

    /// `+a ~a -a` create, change and delete; `+a/` a folder; `|` is a reader that looks.
    fn play(script: &str, log: &mut Log) {
        for word in script.split_whitespace() {
            let (sign, named) = word.split_at(1);
            let name = named.trim_end_matches('/');
            let kind = match sign {
                "+" => Kind::Created,
                "~" => Kind::Changed,
                "-" => Kind::Deleted,
                _ => {
                    log.hand_out();
                    continue;
                }
            };
            log.record(Path::new(name), kind, named != name);
        }
    }

    fn shown(changes: &Changes) -> String {
        let sign = |kind| match kind {
            Kind::Created => '+',
            Kind::Changed => '~',
            Kind::Deleted => '-',
        };
        let end = |folder| if folder { "/" } else { "" };
        let event = |change: &Change| format!("{}{}{}", sign(change.kind), change.path.display(), end(change.folder));
        let events = changes.events.iter().map(event);
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
    fn a_file_in_the_place_of_a_folder_and_the_other_way_round() {
        check("~a | -a +a/", 1, &expect!["-a +a/"]);
        check("~a -a +a/", 0, &expect!["-a +a/"]);
        check("-a +a/ | -a/ +a", 2, &expect!["-a/ +a"]);
        check("-a +a/ -a/ +a", 0, &expect!["~a"]);
        check("-a +a/ -a/", 0, &expect!["-a"]);
    }

    #[test]
    fn bounded_and_says_so() {
        check("+a +b +c +d +e", 0, &expect!["+b +c +d +e !"]);
        check("+a +b +c +d +e", 1, &expect!["+b +c +d +e"]);
        check("+a ~a ~a ~a ~a ~a ~b", 0, &expect!["+a ~b"]);
    }

    proptest! {
        /// A reader that looks at any moments always knows what exists, and whether it is a file or a folder, as if it
        /// had seen every single event.
        #[test]
        fn a_reader_that_follows_knows_what_exists(steps in proptest::collection::vec((0..4_usize, 0..5_u8), 0..60)) {
            let names = ["a", "b", "c", "d"];
            let mut log = Log::new(1000);
            let mut exists = [None; 4];
            let mut believed = [None; 4];
            let mut position = 0;
            let mut look = |log: &mut Log, exists: &[Option<bool>; 4]| {
                let changes = log.since(position);
                position = changes.seq;
                for change in changes.events {
                    let index = names.iter().position(|name| Path::new(name) == &*change.path).unwrap();
                    match change.kind {
                        Kind::Created => assert_eq!(believed[index].replace(change.folder), None),
                        Kind::Changed => assert_eq!(believed[index], Some(change.folder)),
                        Kind::Deleted => assert_eq!(believed[index].take(), Some(change.folder)),
                    }
                }
                assert_eq!(believed, *exists);
            };
            for (index, step) in steps {
                let path = Path::new(names[index]);
                match (step, exists[index]) {
                    (0, _) => look(&mut log, &exists),
                    (_, None) => {
                        let folder = step == 4;
                        log.record(path, Kind::Created, folder);
                        exists[index] = Some(folder);
                    }
                    (1, Some(folder)) => {
                        log.record(path, Kind::Deleted, folder);
                        exists[index] = None;
                    }
                    (_, Some(folder)) => log.record(path, Kind::Changed, folder),
                }
            }
            look(&mut log, &exists);
        }
    }
}
