//! What is asked for in an answer that may have more than is kept: it is kept where the rest is only counted.

use std::cmp::Ordering;

use serde::de::SeqAccess;

use super::Found;
use super::shape::{Shape, item};
use crate::protocol::types::{Capped, Completion};

/// What is asked for among the symbols of an outline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Sought {
    /// One is as good as another.
    #[default]
    Any,
    /// A symbol of this path: its own name, and the names of what it is in.
    Path(Vec<String>),
    /// What has this in its name, in any case; given in lower case.
    Part(String),
    /// What is nested less deep than this.
    Above(u32),
}

impl Sought {
    /// Whether names are asked for: then nothing is missing where all that have them are kept.
    pub(super) fn by_name(&self) -> bool {
        matches!(self, Self::Path(_) | Self::Part(_))
    }

    /// Whether a symbol may be what is asked for, or what that is in where a list says nothing of nesting.
    pub(super) fn fits(&self, name: &str, depth: u16) -> bool {
        match self {
            Self::Any => false,
            Self::Path(segments) => segments.iter().any(|segment| has_word(name, segment)),
            Self::Part(part) => name.to_lowercase().contains(part),
            Self::Above(level) => u32::from(depth) < *level,
        }
    }
}

/// Whether a word stands in a text as a whole: gopls calls `Add` `(*Cart).Add`, jdtls `add` `add(int)`.
fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + word.len()..].chars().next());
        // What is no letter itself, as in `operator+`, ends where it ends.
        let apart = |neighbour: Option<char>, own: Option<char>| {
            !neighbour.is_some_and(is_letter) || !own.is_some_and(is_letter)
        };
        apart(before, word.chars().next()) && apart(after, word.chars().next_back())
    })
}

impl Completion {
    /// How well it fits what is typed, which is given in lower case: it begins with that, has its letters in order, or
    /// does not fit.
    pub fn fit(&self, typed: &str) -> Fit {
        let text = self.filter_text.as_deref().unwrap_or(&self.label).to_lowercase();
        let mut rest = text.chars();
        match () {
            () if text.starts_with(typed) => Fit::Begins,
            () if typed.chars().all(|letter| rest.any(|c| c == letter)) => Fit::Letters,
            () => Fit::Not,
        }
    }

    fn order_key(&self) -> (bool, &str, &str) {
        (!self.preselect, self.sort_text.as_deref().unwrap_or(&self.label), &self.label)
    }

    /// The server's own order.
    pub fn order(&self, other: &Self) -> Ordering {
        self.order_key().cmp(&other.order_key())
    }
}

/// See [`Completion::fit`]; the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    Begins,
    Letters,
    Not,
}

/// How well a name fits what a search of the project asks for: the same, what begins with it, the rest.
pub(super) fn rank(name: &str, query: &str) -> u8 {
    match () {
        () if has_word(name, query) => 0,
        () if name.to_lowercase().starts_with(&query.to_lowercase()) => 1,
        () => 2,
    }
}

/// The best of a list, so many of them and never many more while it is read; in the end they stand as they came.
pub(super) struct Best<T, C> {
    cap: usize,
    /// What is better comes first; of those that are alike the first one is better.
    order: C,
    kept: Vec<(usize, T)>,
    seen: usize,
}

impl<T, C: Fn(&T, &T) -> Ordering> Best<T, C> {
    pub(super) fn new(cap: usize, order: C) -> Self {
        Self { cap, order, kept: Vec::new(), seen: 0 }
    }

    pub(super) fn take(&mut self, item: T) {
        self.kept.push((self.seen, item));
        self.seen += 1;
        if self.kept.len() > self.cap + self.cap / 4 {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.kept.len() > self.cap {
            let order = &self.order;
            self.kept.select_nth_unstable_by(self.cap, |a, b| order(&a.1, &b.1).then(a.0.cmp(&b.0)));
            self.kept.truncate(self.cap);
        }
    }

    pub(super) fn finish(mut self) -> Vec<T> {
        self.cut();
        self.kept.sort_unstable_by_key(|(place, _)| *place);
        self.kept.into_iter().map(|(_, item)| item).collect()
    }
}

/// A list of items of one shape as [`Many`](super::shape::Many) reads it, of which the best are kept.
#[derive(Clone, Copy)]
pub(super) struct BestOf<S, C> {
    pub(super) cap: usize,
    pub(super) each: S,
    pub(super) order: C,
}

impl<'de, T, S, C> Shape<'de> for BestOf<S, C>
where
    S: Shape<'de, Value = Option<T>> + Copy,
    C: Fn(&T, &T) -> Ordering,
{
    type Value = Result<Capped<T>, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Capped::default())
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut best = Best::new(self.cap, self.order);
        let mut dropped = 0;
        while let Some(read) = item(&mut array, self.each)? {
            match read {
                Some(kept) => best.take(kept),
                None => dropped += 1,
            }
        }
        Ok(Ok(Capped { total: best.seen, dropped, items: best.finish() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_as_a_whole() {
        for (text, word) in [("(*Cart).Add", "Add"), ("add(int)", "add"), ("impl Cart", "Cart"), ("größe", "größe")]
        {
            assert!(has_word(text, word), "{text} {word}");
        }
        for (text, word) in [("address", "add"), ("re_add", "add"), ("größer", "größe"), ("", "a")] {
            assert!(!has_word(text, word), "{text} {word}");
        }
        assert!(has_word("operator+=", "operator"));
        assert!(has_word("x$a", "$a"));
    }

    #[test]
    fn the_best_are_kept_as_they_came() {
        for cap in [0, 1, 3, 10] {
            let mut best = Best::new(cap, |a: &u32, b: &u32| a.cmp(b));
            for number in [7, 3, 9, 3, 1, 8, 2, 6] {
                best.take(number);
                assert!(best.kept.len() <= cap + cap / 4 + 1);
            }
            let expected: &[u32] = match cap {
                0 => &[],
                1 => &[1],
                3 => &[3, 1, 2],
                _ => &[7, 3, 9, 3, 1, 8, 2, 6],
            };
            assert_eq!(best.finish(), expected);
        }
    }
}
