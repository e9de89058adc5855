//! What is kept of the problems of one message, in however many lists. Past the cap a worse one takes the place of a
//! milder one, of whichever list, so that a flood of hints never hides an error; what is not kept is counted.

use std::cell::RefCell;
use std::collections::HashSet;

use crate::protocol::listed::{Listed, Print, Sum, Tally};
use crate::protocol::types::Diagnostic;

/// Bytes of memory that the problems of one message may take.
const ROOM: usize = 2 << 20;
/// Problems that are not kept, and of which so much is known that each counts once.
const PRINTS: usize = 64 << 10;

/// The problems of a message while it is read.
#[derive(Debug)]
pub(super) struct Keep(RefCell<State>);

#[derive(Debug)]
struct State {
    cap: usize,
    /// Bytes that may still be taken.
    room: usize,
    /// Prints that may still be kept of those that are cut off.
    prints: usize,
    held: usize,
    by_severity: [Vec<Held>; 4],
    lists: Vec<List>,
}

#[derive(Debug)]
struct Held {
    list: usize,
    /// Its place in the server's order.
    place: usize,
    print: Print,
    problem: Diagnostic,
}

#[derive(Debug, Default)]
struct List {
    told: usize,
    cut: Vec<Print>,
    beyond: Tally,
    sum: Sum,
    malformed: usize,
}

/// A list that is being read.
#[derive(Debug)]
pub(super) struct Reading<'k> {
    keep: &'k Keep,
    list: usize,
    seen: HashSet<u64>,
}

impl Keep {
    /// At most `cap` problems.
    pub(super) fn new(cap: usize) -> Self {
        let (by_severity, lists) = Default::default();
        Self(RefCell::new(State { cap, room: ROOM, prints: PRINTS, held: 0, by_severity, lists }))
    }

    /// Begins a list.
    pub(super) fn list(&self) -> Reading<'_> {
        let mut state = self.0.borrow_mut();
        state.lists.push(List::default());
        Reading { keep: self, list: state.lists.len() - 1, seen: HashSet::new() }
    }

    /// All lists, by their numbers.
    pub(super) fn into_lists(self) -> Vec<Listed> {
        let State { by_severity, lists, .. } = self.0.into_inner();
        let mut kept: Vec<Vec<Held>> = Vec::new();
        kept.resize_with(lists.len(), Vec::new);
        for held in by_severity.into_iter().flatten() {
            kept[held.list].push(held);
        }
        let listed = lists.into_iter().zip(kept).map(|(list, mut kept)| {
            kept.sort_by_key(|held| held.place);
            let items = kept.into_iter().map(|held| held.problem).collect();
            Listed::new(items, list.cut, list.beyond, list.sum.0, list.malformed)
        });
        listed.collect()
    }
}

impl State {
    fn cut(&mut self, list: usize, print: Print) -> bool {
        let named = self.prints > 0;
        if named {
            self.prints -= 1;
            self.lists[list].cut.push(print);
        } else {
            print.count(&mut self.lists[list].beyond);
        }
        named
    }

    /// Makes room for a problem among milder ones, if they do.
    fn make_room(&mut self, severity: usize, weight: usize) -> bool {
        let (mut held, mut room) = (self.held, self.room);
        let milder = self.by_severity[severity + 1..].iter().rev().flat_map(|same| same.iter().rev());
        let mut number = 0;
        for milder in milder {
            if held < self.cap && weight <= room {
                break;
            }
            held -= 1;
            room += milder.problem.weight();
            number += 1;
        }
        if held >= self.cap || weight > room {
            return false;
        }
        for _ in 0..number {
            let milder = self.by_severity[severity + 1..].iter_mut().rev().find_map(Vec::pop);
            if let Some(milder) = milder {
                self.cut(milder.list, milder.print);
            }
        }
        (self.held, self.room) = (held, room);
        true
    }
}

impl Reading<'_> {
    /// Its number.
    pub(super) fn number(self) -> usize {
        self.list
    }

    pub(super) fn malformed(&mut self) {
        self.keep.0.borrow_mut().lists[self.list].malformed += 1;
    }

    pub(super) fn add(&mut self, problem: Diagnostic) {
        let print = Print::of(&problem);
        let mut state = self.keep.0.borrow_mut();
        state.lists[self.list].sum.add(print);
        if self.seen.contains(&print.key()) {
            return;
        }
        let (severity, weight) = (problem.severity as usize, problem.weight());
        if !state.make_room(severity, weight) {
            if state.cut(self.list, print) {
                self.seen.insert(print.key());
            }
            return;
        }
        self.seen.insert(print.key());
        state.held += 1;
        state.room -= weight;
        let list = &mut state.lists[self.list];
        let place = list.told;
        list.told += 1;
        state.by_severity[severity].push(Held { list: self.list, place, print, problem });
    }
}
