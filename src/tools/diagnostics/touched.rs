//! Which names a change may have given another meaning: those declared on lines that went or came, and by the lines
//! around them that these are indented below. Read from words and indentation alone, for any language. Pure.

use std::{collections::BTreeSet, ops::Range, path::Path};

use super::compare::{diff, lines};

/// Names that are followed at the most.
const NAMES: usize = 500;
/// Names that are too short to tell anything.
const SHORT: usize = 2;
/// Words that stand before what a line declares, or begin one that declares nothing.
const WORDS: &str = "abstract and as async auto await bool boolean break case catch char class const constexpr continue \
    crate declare def default defer del do double elif else enum except explicit export extends extern \
    false final finally float fn for friend from func function global if impl implements import in \
    inline int interface internal is lambda let long match mod mut namespace nil none not null or \
    override pass private protected pub public raise readonly return self short signed sizeof static \
    struct subroutine super switch template then this throw trait true try type typedef typename union \
    unsafe unsigned use using var virtual void where while with yield";

/// Names, each of which may mean something else than before.
#[derive(Debug, Clone, Default)]
pub(in crate::tools) struct Touched(BTreeSet<String>);

impl Touched {
    /// A file had one text and has another one.
    pub(in crate::tools) fn between(&mut self, old: &str, new: &str) {
        if self.is_full() {
            return;
        }
        let (old, new) = (lines(old), lines(new));
        let hunks = diff(&old, &new);
        self.changed(&old, hunks.iter().map(|hunk| hunk.before.clone()));
        self.changed(&new, hunks.iter().map(|hunk| hunk.after.clone()));
    }

    /// A file came or went.
    pub(super) fn whole(&mut self, path: &Path, text: &str) {
        self.0.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
        lines(text).iter().filter(|line| indentation(line) == 0).for_each(|line| self.declared(line));
    }

    /// What the lines of these ranges declare, which are in order, and the lines that they are indented below.
    fn changed(&mut self, text: &[&str], ranges: impl Iterator<Item = Range<u32>>) {
        let mut ranges = ranges.peekable();
        // The lines that the current one is indented below, each with its depth, and whether it was looked at.
        let mut above: Vec<(usize, &str, bool)> = Vec::new();
        for (line, at) in text.iter().zip(0_u32..) {
            while ranges.next_if(|range| range.end <= at).is_some() {}
            let Some(range) = ranges.peek() else { return };
            if self.is_full() {
                return;
            }
            if line.trim().is_empty() {
                continue;
            }
            let depth = indentation(line);
            while above.last().is_some_and(|(outer, ..)| *outer >= depth) {
                above.pop();
            }
            let has_changed = range.contains(&at);
            if has_changed {
                self.declared(line);
                // Below one that was looked at all were.
                for (_, outer, seen) in above.iter_mut().rev().take_while(|(.., seen)| !seen) {
                    self.declared(outer);
                    *seen = true;
                }
            }
            above.push((depth, line, has_changed));
        }
    }

    fn is_full(&self) -> bool {
        self.0.len() >= NAMES
    }

    fn declared(&mut self, line: &str) {
        let line = line.trim();
        let closing = line.starts_with(['}', ')', ']', '#', '/', '*', '@', '"', '\'']);
        let words: Vec<(usize, &str)> = words(line).collect();
        let Some(&(at, first)) = words.iter().find(|(_, word)| !is_word(word)) else { return };
        let after = line[at + first.len()..].trim_start();
        // A call, or a member of something, and no declaration.
        let called = at == 0 && after.starts_with(['(', '.', '!', '?']) && !line.ends_with('{');
        if closing || called || words[0].1 == "return" || words[0].1 == "import" || words[0].1 == "from" {
            return;
        }
        let function = words.iter().find(|(at, word)| {
            let after = &line[at + word.len()..];
            !is_word(word) && (after.starts_with('(') || after.starts_with('<') && after.contains('('))
        });
        for name in [Some(first), function.map(|(_, word)| *word)].into_iter().flatten() {
            if name.chars().count() >= SHORT && !self.is_full() {
                self.0.insert(name.to_owned());
            }
        }
    }

    pub(in crate::tools) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a text holds one of the names as a word.
    pub(super) fn is_named(&self, text: &str) -> bool {
        !self.0.is_empty() && words(text).any(|(_, word)| self.0.contains(word))
    }
}

fn is_word(word: &str) -> bool {
    WORDS.split_ascii_whitespace().any(|other| other == word)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The words of a text with where they begin; none begins with a digit.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = 0;
    std::iter::from_fn(move || {
        loop {
            let begin = rest + text[rest..].find(part)?;
            let end = text[begin..].find(|c| !part(c)).map_or(text.len(), |length| begin + length);
            rest = end;
            if !text[begin..].starts_with(|c: char| c.is_ascii_digit()) {
                return Some((begin, &text[begin..end]));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(old: &str, new: &str, expected: &Expect) {
        let mut touched = Touched::default();
        touched.between(old, new);
        expected.assert_eq(&touched.0.into_iter().collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn what_is_declared_on_changed_lines() {
        check("def calc(a: int):\n    pass\n", "def calc(a: str):\n    pass\n", &expect!["calc"]);
        check("pub fn go<T>(a: T) {}\n", "", &expect!["go"]);
        check("export const total = 1;\n", "export const total = \"\";\n", &expect!["total"]);
        check("func (cart *Cart) Add(x int) {\n}\n", "func (cart *Cart) Add() {\n}\n", &expect!["Add cart"]);
        check("static Money *price(Cart c);\n", "\n", &expect!["Money price"]);
        check("# about calc\nimport calc\nprint(calc)\n", "", &expect![""]);
    }

    #[test]
    fn what_encloses_changed_lines() {
        let class =
            |body: &str| format!("class Cart:\n    x = 1\n\n    def total(self):\n        {body}\n\nother = 1\n");
        check(&class("return 1"), &class("return ''"), &expect!["Cart total"]);
        check("interface Shape {\n  a: 1;\n}\n", "interface Shape {\n  a: 1;\n  area(): 1;\n}\n", &expect!["Shape"]);
        check("x = 1\n", "x = 1\nyoung = 1\n", &expect!["young"]);
    }

    #[test]
    fn a_hundred_thousand_indented_lines_are_looked_at_once() {
        // Each looked for what it is indented below from line to line: minutes.
        let text = |value: usize| format!("table = [\n{}]\n", format!("    {value},\n").repeat(100_000));
        check(&text(1), &text(2), &expect!["table"]);
    }

    #[test]
    fn names_are_words() {
        let mut touched = Touched::default();
        touched.whole(Path::new("/w/lib.py"), "def calc():\n    def inner(): ...\n");
        assert!(
            touched.is_named("calc(1)") && touched.is_named("from lib import x") && touched.is_named("(größe.calc)")
        );
        assert!(!touched.is_named("recalc, calc2, inner, 9calc") && !touched.is_named(""));
        let none = Touched::default();
        assert!(none.is_empty() && !none.is_named("calc"));
    }
}
