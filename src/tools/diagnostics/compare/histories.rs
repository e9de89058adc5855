//! Random histories of what two servers tell of several files, against a slow reference that knows every line by name and
//! looks at nothing else. Where the same words go from a line that is gone to one that has come, it has no opinion: that
//! may be one line that was changed.

use std::{collections::BTreeSet, path::PathBuf};

use proptest::prelude::*;

use super::*;
use crate::tools::diagnostics::memory::{Memory, Noted, Point};

const FILES: usize = 3;
const SERVERS: [&str; 2] = ["one", "two"];
const WORDS: [&str; 5] = ["v", "w", "x", "y", "z"];

/// What becomes of a file's lines.
#[derive(Debug, Clone)]
enum Change {
    Nothing,
    Insert(usize, usize),
    Remove(usize, usize),
    Move(usize, usize),
}

/// A server says something of a line, by its place in the text.
type Says = (usize, u32, u8);

#[derive(Debug, Clone)]
struct Step {
    file: usize,
    change: Change,
    /// What each server says; nothing where it does not answer.
    told: [Option<Vec<Says>>; 2],
    /// Whether too many errors came to keep all.
    cut: bool,
    /// Compared with the point so many steps ago.
    back: usize,
}

/// The name of a line, the column, what is said of it.
type Fact = (u32, u32, u8);

/// What the reference knows of a file at a point.
#[derive(Debug, Clone)]
struct Snapshot {
    facts: [Option<BTreeSet<Fact>>; 2],
    cut: bool,
}

impl Snapshot {
    fn all(&self) -> BTreeSet<Fact> {
        self.facts.iter().flatten().flatten().copied().collect()
    }

    /// Whether all who say it at one moment have answered at another one.
    fn is_heard_by(&self, fact: &Fact, other: &Self) -> bool {
        let pairs = self.facts.iter().zip(&other.facts);
        pairs.filter(|(own, _)| own.as_ref().is_some_and(|own| own.contains(fact))).all(|(_, other)| other.is_some())
    }
}

fn change() -> impl Strategy<Value = Change> {
    let at = || 0..12_usize;
    prop_oneof![
        2 => Just(Change::Nothing),
        3 => (at(), 1..4_usize).prop_map(|(at, number)| Change::Insert(at, number)),
        2 => (at(), 1..4_usize).prop_map(|(at, number)| Change::Remove(at, number)),
        2 => (at(), at()).prop_map(|(from, to)| Change::Move(from, to)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    // Few places and few words: they meet.
    let says = || proptest::collection::vec((0..12_usize, 1..3_u32, 0..5_u8), 0..8);
    let told = || proptest::option::weighted(0.85, says());
    (0..FILES, change(), [told(), told()], proptest::bool::weighted(0.1), 1..6_usize)
        .prop_map(|(file, change, told, cut, back)| Step { file, change, told, cut, back })
}

/// The lines of a file, each with a name of its own.
fn apply(lines: &mut Vec<u32>, change: &Change, next: &mut u32) {
    let last = |at: usize, lines: &[u32]| at.min(lines.len());
    match *change {
        Change::Nothing => {}
        Change::Insert(at, number) => {
            for _ in 0..number {
                *next += 1;
                lines.insert(last(at, lines), *next);
            }
        }
        Change::Remove(at, number) => {
            let from = last(at, lines);
            lines.drain(from..last(from + number, lines));
        }
        Change::Move(from, to) if from < lines.len() => {
            let line = lines.remove(from);
            lines.insert(last(to, lines), line);
        }
        Change::Move(..) => {}
    }
}

fn told_by(lines: &[u32], step: &Step) -> (Told, Snapshot) {
    let text: String = lines.iter().map(|line| format!("{}line {line}\n", " ".repeat(*line as usize % 3))).collect();
    let mut known: Vec<Known> = Vec::new();
    let mut facts = [None, None];
    for (server, said) in step.told.iter().enumerate() {
        let Some(said) = said else { continue };
        let of_line = |(at, column, word): &Says| Some((*at, *lines.get(*at)?, *column, *word));
        for (at, line, column, word) in said.iter().filter_map(of_line) {
            let fresh = facts[server].get_or_insert_with(BTreeSet::new).insert((line, column, word));
            if fresh {
                known.push(Known {
                    line: u32::try_from(at).unwrap(),
                    column,
                    severity: Severity::Error,
                    says: says(Severity::Error, WORDS[usize::from(word)]),
                    server: u16::try_from(server).unwrap(),
                    again: false,
                });
            }
        }
        facts[server].get_or_insert_with(BTreeSet::new);
    }
    let servers = SERVERS.iter().zip(&step.told).map(|(name, told)| (name.parse().unwrap(), told.is_some()));
    let told = Told { text: text.into(), known, servers: servers.collect(), cut: [step.cut, false, false, false] };
    (told, Snapshot { facts, cut: step.cut })
}

fn fact(lines: &[u32], known: &Known) -> Fact {
    let word = WORDS.iter().position(|word| known.says == says(Severity::Error, word)).unwrap();
    (lines[known.line as usize], known.column, u8::try_from(word).unwrap())
}

/// Whether a line has come, gone or been moved.
fn is_loose(line: u32, old: &[u32], new: &[u32]) -> bool {
    let place = |lines: &[u32], line| lines.iter().position(|it| *it == line);
    let (Some(from), Some(to)) = (place(old, line), place(new, line)) else { return true };
    old.iter().zip(0..).any(|(other, at)| place(new, *other).is_some_and(|then| (at < from) != (then < to)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// New is what nobody said before of that place, gone what nobody says any more; and only where it is known.
    #[test]
    fn new_and_gone_are_those_of_the_reference(steps in proptest::collection::vec(step(), 1..14)) {
        let memory = Memory::default();
        let mut next = 0;
        let mut files: Vec<Vec<u32>> = vec![Vec::new(); FILES];
        files.iter_mut().for_each(|lines| apply(lines, &Change::Insert(0, 6), &mut next));
        let mut points: Vec<Point> = vec![memory.mark(0, 0, None)];
        // For each file what was known when, newest last.
        let mut known: Vec<Vec<(usize, Vec<u32>, Snapshot)>> = vec![Vec::new(); FILES];
        for step in &steps {
            apply(&mut files[step.file], &step.change, &mut next);
            let lines = &files[step.file];
            let (told, now) = told_by(lines, step);
            let path = PathBuf::from(format!("/{}", step.file));
            let since = points.len().saturating_sub(step.back);
            let expected = known[step.file].iter().rev().find(|(at, ..)| *at <= since);
            let baseline = memory.at(&path, points[since]);
            if let Some(then) = baseline {
                let (_, old_lines, then_known) = expected.expect("the memory knows nothing that was not told");
                let compared = compare(&Baseline::Known(Arc::clone(&then)), &told);
                let (said_then, said_now) = (then_known.all(), now.all());
                let loose = |one: &&Fact| is_loose(one.0, old_lines, lines);
                let come: BTreeSet<u8> = said_now.difference(&said_then).filter(loose).map(|one| one.2).collect();
                let went: BTreeSet<u8> = said_then.difference(&said_now).filter(loose).map(|one| one.2).collect();
                let judged = |one: &Fact| !(come.contains(&one.2) && went.contains(&one.2));
                for (at, one) in told.known.iter().enumerate() {
                    let one = fact(lines, one);
                    if !judged(&one) {
                        continue;
                    }
                    let new = !said_then.contains(&one);
                    prop_assert_eq!(compared.new[at], new, "{:?} in {:?}", one, step);
                    let sure = now.is_heard_by(&one, then_known) && !then_known.cut;
                    prop_assert_eq!(compared.unsure[at], new && !sure, "{:?} in {:?}", one, step);
                }
                let gone = compared.gone.iter().map(|at| fact(old_lines, &then.known[*at]));
                let gone: BTreeSet<Fact> = gone.filter(judged).collect();
                let expected = said_then.difference(&said_now).copied().filter(judged);
                let expected = expected.filter(|one| !now.cut && then_known.is_heard_by(one, &now));
                prop_assert_eq!(gone, expected.collect::<BTreeSet<_>>(), "{:?}", step);
                prop_assert_eq!(compared.more_gone[0], now.cut || then_known.cut);
            } else {
                // Only what is older than the oldest of what is kept is forgotten.
                let older = known[step.file].iter().filter(|(at, ..)| *at > since).count();
                prop_assert!(expected.is_none() || older >= 4, "forgotten: {:?}", step);
            }
            let point = memory.mark(0, 0, None);
            points.push(point);
            if told.is_answered() {
                memory.record(&path, Noted { told: told.answered(), still: None, whole: true }, point, 1);
                known[step.file].push((points.len() - 1, lines.clone(), now));
            }
        }
    }
}
