//! A list of problems as far as it is kept, with the counts of all that the server told: what was cut off for want of
//! room is counted by severity, each problem once, also where several lists are merged.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::ops::AddAssign;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::types::{Diagnostic, Severity};

/// Problems counted by severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Errors, warnings, infos, hints.
    pub all: [usize; 4],
    /// Those of them that only say that code is unused or deprecated.
    pub faint: [usize; 4],
}

impl Tally {
    /// Counts one problem.
    pub fn add(&mut self, severity: Severity, faint: bool) {
        self.all[severity as usize] += 1;
        self.faint[severity as usize] += usize::from(faint);
    }

    /// All of them together.
    pub fn sum(&self) -> usize {
        self.all.iter().sum()
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        for at in 0..4 {
            self.all[at] += other.all[at];
            self.faint[at] += other.faint[at];
        }
    }
}

/// A problem told by a number: 60 bits of a hash, whether its source is named, whether it is faint, and its severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Print(u64);

impl Print {
    pub(super) fn of(problem: &Diagnostic) -> Self {
        let mut hasher = Xxh3::new();
        (problem.range, &problem.code, &problem.source, &problem.message).hash(&mut hasher);
        let (sourced, faint) = (u64::from(problem.source.is_some()), u64::from(problem.is_faint()));
        Self((hasher.finish() << 4) | (sourced << 3) | (faint << 2) | problem.severity as u64)
    }

    /// What tells it from others: the tags of a problem do not.
    pub(super) fn key(self) -> u64 {
        self.0 & !4
    }

    fn is_sourced(self) -> bool {
        self.0 & 8 != 0
    }

    pub(super) fn count(self, tally: &mut Tally) {
        let severity = [Severity::Error, Severity::Warning, Severity::Info, Severity::Hint][(self.0 & 3) as usize];
        tally.add(severity, self.0 & 4 != 0);
    }
}

/// What a server told of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// Those that are kept, in the server's order.
    pub items: Vec<Diagnostic>,
    /// Those that are not; every problem that is told by its number is told once, and is not among the items.
    prints: Arc<[Print]>,
    /// Further ones of which nothing is known but what is counted here: some may be told twice.
    beyond: Tally,
    /// A sum over everything that was told: equal for lists that tell the same.
    sum: u64,
    /// Entries that had no valid shape.
    pub malformed: usize,
}

/// What of a list is counted and not kept.
#[derive(Debug, Clone, Default)]
pub struct Cut {
    prints: Arc<[Print]>,
    beyond: Tally,
    /// Numbers of those that are kept, as far as their source is named.
    kept: Vec<u64>,
}

impl Cut {
    /// One more is not kept.
    pub fn add(&mut self, severity: Severity, faint: bool) {
        self.beyond.add(severity, faint);
    }

    /// About the memory that it takes, in bytes.
    pub fn weight(&self) -> usize {
        size_of_val(&*self.prints) + size_of_val(&*self.kept)
    }

    /// Keeps the counts alone: others may count a part of it again.
    pub fn forget(&mut self) {
        *self = Self { beyond: Self::together([&*self]), ..Self::default() };
    }

    /// The counts of several servers' of one file: what two of them say of one place under one source counts once. Of what
    /// not even a number is kept, a part may count twice.
    pub fn together<'a>(cuts: impl IntoIterator<Item = &'a Self>) -> Tally {
        let cuts: Vec<&Self> = cuts.into_iter().collect();
        let mut tally = Tally::default();
        cuts.iter().for_each(|cut| tally += cut.beyond);
        if cuts.iter().all(|cut| cut.prints.is_empty()) {
            return tally;
        }
        let mut seen: HashSet<u64> = cuts.iter().flat_map(|cut| &cut.kept).copied().collect();
        for print in cuts.iter().flat_map(|cut| &*cut.prints) {
            if !print.is_sourced() || seen.insert(print.key()) {
                print.count(&mut tally);
            }
        }
        tally
    }
}

impl Listed {
    pub(super) fn new(items: Vec<Diagnostic>, prints: Vec<Print>, beyond: Tally, sum: u64, malformed: usize) -> Self {
        Self { items, prints: prints.into(), beyond, sum, malformed }
    }

    /// Whether the server told of nothing at all.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.prints.is_empty() && self.beyond == Tally::default() && self.malformed == 0
    }

    /// Those that are counted and not kept.
    pub fn cut(&self) -> Tally {
        let mut tally = self.beyond;
        self.prints.iter().for_each(|print| print.count(&mut tally));
        tally
    }

    /// What is counted of it and not kept, to be brought together with other servers' of the same file.
    pub fn cut_off(&self) -> Cut {
        let sourced = self.items.iter().filter(|item| item.source.is_some());
        let kept = sourced.map(|item| Print::of(item).key()).collect();
        Cut { prints: self.prints.clone(), beyond: self.beyond, kept }
    }

    /// All that were told, kept or not.
    pub fn told(&self) -> Tally {
        let mut tally = self.cut();
        self.items.iter().for_each(|item| tally.add(item.severity, item.is_faint()));
        tally
    }

    /// About the memory that it takes, in bytes.
    pub fn weight(&self) -> usize {
        self.items.iter().map(Diagnostic::weight).sum::<usize>() + self.prints.len() * size_of::<Print>()
    }

    /// The same without its contents: only the counts are left.
    #[must_use]
    pub fn counted(&self) -> Self {
        Self { beyond: self.told(), sum: self.sum, malformed: self.malformed, ..Self::default() }
    }

    /// Whether its contents are gone.
    pub fn is_only_counted(&self) -> bool {
        self.items.is_empty() && self.prints.is_empty() && self.beyond != Tally::default()
    }

    /// One list of those of several channels: what is told twice is one, also where it was cut off. Only of what not even
    /// a number is kept, more than tens of thousands in one message, a part of it may count twice.
    #[must_use]
    pub fn merge<L: AsRef<Self>>(lists: impl IntoIterator<Item = L>) -> Self {
        let lists: Vec<L> = lists.into_iter().collect();
        let lists: Vec<&Self> = lists.iter().map(AsRef::as_ref).collect();
        if let [only] = lists.as_slice() {
            // The reader has left out what is told twice.
            return (*only).clone();
        }
        let mut merged = Self::default();
        let mut sums = HashSet::new();
        // The fullest ones first: one that tells the same and has lost its contents adds nothing.
        let mut order: Vec<&&Self> = lists.iter().collect();
        order.sort_by_key(|list| list.is_only_counted());
        let told: Vec<&Self> = order
            .into_iter()
            .filter(|list| list.is_empty() || sums.insert((list.sum, list.told().all)))
            .copied()
            .collect();
        let mut seen = HashSet::new();
        for item in told.iter().flat_map(|list| &list.items) {
            if seen.insert(Print::of(item).key()) {
                merged.items.push(item.clone());
            }
        }
        let cut = told.iter().flat_map(|list| list.prints.iter().copied());
        merged.prints = cut.filter(|print| seen.insert(print.key())).collect();
        for list in told {
            merged.beyond += list.beyond;
            merged.malformed += list.malformed;
            merged.sum = merged.sum.wrapping_add(list.sum);
        }
        merged
    }
}

impl FromIterator<Diagnostic> for Listed {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(items: I) -> Self {
        let (items, mut sum): (Vec<Diagnostic>, _) = (items.into_iter().collect(), Sum::default());
        items.iter().for_each(|item| sum.add(Print::of(item)));
        Self { items, sum: sum.0, ..Self::default() }
    }
}

impl AsRef<Self> for Listed {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// The sum that tells whole lists apart.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum(pub(super) u64);

impl Sum {
    pub(super) fn add(&mut self, print: Print) {
        self.0 = self.0.wrapping_add(print.key());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::protocol::read::{Caps, published};

    /// A list read with room for so many; a problem is told by its number, and every fourth one is a hint.
    fn read(numbers: &[u32], cap: usize) -> Listed {
        let one = |n: &u32| {
            let place = format!(r#"{{"line":{n},"character":0}}"#);
            let severity = n % 4 + 1;
            let tags = if n % 8 == 3 { r#","tags":[1]"# } else { "" };
            format!(r#"{{"range":{{"start":{place},"end":{place}}},"message":"m","severity":{severity}{tags}}}"#)
        };
        let all: Vec<String> = numbers.iter().map(one).collect();
        let raw = format!(r#"{{"uri":"file:///a","diagnostics":[{}]}}"#, all.join(","));
        published(raw.as_bytes(), &Caps { items: cap, ..Caps::default() }).unwrap().list
    }

    /// The true counts.
    fn count<'a>(numbers: impl IntoIterator<Item = &'a u32>) -> Tally {
        let mut tally = Tally::default();
        for n in numbers.into_iter().collect::<BTreeSet<_>>() {
            let severity = [Severity::Error, Severity::Warning, Severity::Info, Severity::Hint][(n % 4) as usize];
            tally.add(severity, n % 8 == 3);
        }
        tally
    }

    fn numbers() -> impl Strategy<Value = Vec<u32>> {
        proptest::collection::vec(0..60_u32, 0..80)
    }

    proptest! {
        /// However little is kept, each problem counts once, and no milder one is kept in the place of a worse one.
        #[test]
        fn counts_are_right_and_the_worst_are_kept(told in numbers(), cap in 0..70_usize) {
            let list = read(&told, cap);
            let all = count(&told);
            prop_assert_eq!(list.told(), all);
            prop_assert_eq!(list.items.len(), all.sum().min(cap));
            prop_assert_eq!(list.cut().sum(), all.sum() - list.items.len());
            let mut left = cap;
            for severity in 0..4 {
                let kept = list.items.iter().filter(|item| item.severity as usize == severity).count();
                prop_assert_eq!(kept, all.all[severity].min(left));
                left -= kept;
            }
        }

        /// What several channels tell counts once, whichever of it each of them has kept.
        #[test]
        fn merged_lists_count_right(a in numbers(), b in numbers(), caps in (0..70_usize, 0..70_usize)) {
            let merged = Listed::merge([read(&a, caps.0), read(&b, caps.1)]);
            prop_assert_eq!(merged.told(), count(a.iter().chain(&b)));
            let again = Listed::merge([&merged, &read(&b, caps.0)]);
            prop_assert_eq!(again.told(), merged.told());
        }
    }

    #[test]
    fn a_list_that_has_lost_its_contents_adds_nothing_to_the_same_one() {
        let all: Vec<u32> = (0..200).collect();
        let list = read(&all, 150);
        let lost = list.counted();
        assert_eq!((lost.told(), lost.weight(), lost.is_empty()), (count(&all), 0, false));
        assert_eq!(Listed::merge([&lost, &list]).told(), count(&all));
        assert_eq!(Listed::merge([&lost, &list]).items.len(), 150);
        assert_eq!(Listed::merge([&lost, &lost]).told(), count(&all));
    }

    #[test]
    fn more_than_can_be_told_apart_is_counted_as_told() {
        let all: Vec<u32> = (0..70_000).collect();
        let list = read(&all, 10);
        assert_eq!(list.told(), count(&all));
        assert!(list.weight() < 1 << 20, "{}", list.weight());
        assert_eq!(Listed::merge([&list, &read(&all, 10)]).told(), count(&all));
    }
}
