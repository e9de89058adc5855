//! The memory that the problems told by all servers may take together. Where it is short, whoever takes most gives up
//! lists first: those of files that nobody has open, then the oldest. What is given up stays counted, so that it is never
//! taken for nothing.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use crate::protocol::types::Listed;

/// Bytes for the lists of all servers: eight of the largest that are kept of one message.
const BYTES: usize = 16 << 20;

/// Shared by the sessions of all servers.
#[derive(Debug, Clone)]
pub struct Shelf(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    most: usize,
    bytes: usize,
    last: u64,
    boards: HashMap<u64, Held>,
}

/// What one session has on the shelf, the oldest first.
#[derive(Debug, Default)]
struct Held {
    bytes: usize,
    lists: BTreeMap<u64, (Arc<Place>, usize)>,
}

#[derive(Debug)]
struct Place {
    list: Mutex<Arc<Listed>>,
    open: AtomicBool,
}

/// A session's part of the shelf.
#[derive(Debug)]
pub struct Board {
    shelf: Shelf,
    number: u64,
}

/// A list on the shelf, until this is dropped.
#[derive(Debug)]
pub struct Shelved {
    place: Arc<Place>,
    shelf: Shelf,
    board: u64,
    number: u64,
}

impl Default for Shelf {
    fn default() -> Self {
        Self::new(BYTES)
    }
}

impl Default for Board {
    /// On a shelf of its own.
    fn default() -> Self {
        Shelf::default().board()
    }
}

impl Shelf {
    /// For so many bytes.
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Mutex::new(Inner { most, bytes: 0, last: 0, boards: HashMap::new() })))
    }

    /// A part for one session.
    pub fn board(&self) -> Board {
        let mut inner = self.inner();
        inner.last += 1;
        Board { shelf: self.clone(), number: inner.last }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory that is taken.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.inner().bytes
    }
}

impl Board {
    /// Puts a list there; others make room for it.
    pub fn put(&self, list: Listed, open: bool) -> Arc<Shelved> {
        let weight = list.weight();
        let place = Arc::new(Place { list: Mutex::new(Arc::new(list)), open: AtomicBool::new(open) });
        let mut inner = self.shelf.inner();
        inner.last += 1;
        let number = inner.last;
        if weight > 0 {
            inner.bytes += weight;
            let held = inner.boards.entry(self.number).or_default();
            held.bytes += weight;
            held.lists.insert(number, (place.clone(), weight));
            while inner.bytes > inner.most && inner.give_up(number) {}
        }
        Arc::new(Shelved { place, shelf: self.shelf.clone(), board: self.number, number })
    }
}

impl Inner {
    /// Gives up one list, but not this one; false where there is no other.
    fn give_up(&mut self, newest: u64) -> bool {
        let others = |held: &Held| held.lists.keys().any(|number| *number != newest);
        let most = self.boards.iter().filter(|(_, held)| others(held)).max_by_key(|(_, held)| held.bytes);
        let Some(board) = most.map(|(board, _)| *board) else { return false };
        let lists = self.boards.get(&board).into_iter().flat_map(|held| &held.lists);
        let other = lists.filter(|(number, _)| **number != newest);
        let Some(number) = other.min_by_key(|(number, (place, _))| (place.open.load(Relaxed), **number)) else {
            return false;
        };
        let number = *number.0;
        if let Some(place) = self.take(board, number) {
            let mut list = place.list.lock().unwrap_or_else(PoisonError::into_inner);
            *list = Arc::new(list.counted());
        }
        true
    }

    fn take(&mut self, board: u64, number: u64) -> Option<Arc<Place>> {
        let held = self.boards.get_mut(&board)?;
        let (place, weight) = held.lists.remove(&number)?;
        held.bytes -= weight;
        self.bytes -= weight;
        if held.lists.is_empty() {
            self.boards.remove(&board);
        }
        Some(place)
    }
}

impl Shelved {
    /// The list; its contents may be gone.
    pub fn list(&self) -> Arc<Listed> {
        self.place.list.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The file is open from now on.
    pub fn open(&self) {
        self.place.open.store(true, Relaxed);
    }
}

impl Drop for Shelved {
    fn drop(&mut self) {
        self.shelf.inner().take(self.board, self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::read::{Caps, published};

    fn list(bytes: usize) -> Listed {
        let range = r#"{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}"#;
        let one = |n: usize| format!(r#"{{"range":{range},"severity":1,"message":"{n} {}"}}"#, "x".repeat(1_000));
        let all: Vec<String> = (0..bytes / 2_000).map(one).collect();
        let raw = format!(r#"{{"uri":"file:///a","diagnostics":[{}]}}"#, all.join(","));
        published(raw.as_bytes(), &Caps::default()).unwrap().list
    }

    #[test]
    fn who_takes_most_makes_room_and_what_is_given_up_stays_counted() {
        let shelf = Shelf::new(200_000);
        let (small, large) = (shelf.board(), shelf.board());
        let other = small.put(list(20_000), false);
        let told = other.list().told();
        let open = large.put(list(40_000), true);
        let lists: Vec<_> = (0..20).map(|_| large.put(list(40_000), false)).collect();
        assert!(shelf.bytes() <= 200_000, "{}", shelf.bytes());
        assert!(!other.list().is_only_counted(), "a smaller one keeps its own");
        assert!(!open.list().is_only_counted(), "what nobody has open goes first");
        let gone = lists.iter().filter(|one| one.list().is_only_counted()).count();
        assert!(gone > 10 && gone < 20, "{gone}");
        assert!(lists[0].list().is_only_counted() && !lists[19].list().is_only_counted(), "the oldest goes first");
        assert_eq!(lists[0].list().told(), open.list().told());
        assert!(!lists[0].list().is_empty());
        drop((open, lists));
        assert_eq!((other.list().told(), shelf.bytes()), (told, other.list().weight()));
        drop(other);
        assert_eq!(shelf.bytes(), 0);
    }

    #[test]
    fn a_single_list_is_kept_however_large() {
        let shelf = Shelf::new(10_000);
        let board = shelf.board();
        let only = board.put(list(40_000), false);
        assert!(!only.list().is_only_counted());
        let next = board.put(list(40_000), false);
        assert!(only.list().is_only_counted() && !next.list().is_only_counted());
    }
}
