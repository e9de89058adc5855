//! What the problems of many files may take while they are gathered for one answer: past that, milder ones are only
//! counted, and of equal ones first those of files with more than will be listed.

use super::sweep::{Checked, Found, Piece};
use crate::{protocol::types::Severity, tools::outcome::Problem};

/// Bytes of memory.
const ROOM: usize = 16 << 20;

/// Follows what is held.
pub(in crate::tools) struct Budget {
    room: usize,
    held: usize,
    /// Problems of one file that are listed.
    most: usize,
    /// By the severity of the mildest problem of each: files with more than are listed, and the others.
    long: [Vec<usize>; 4],
    short: [Vec<usize>; 4],
}

impl Budget {
    /// With so many problems listed of each file.
    pub(in crate::tools) fn new(most: usize) -> Self {
        Self { room: ROOM, held: 0, most, long: Default::default(), short: Default::default() }
    }

    /// Takes in the last of these; each has its problems in order, the worst first.
    pub(in crate::tools) fn take<T: Holds>(&mut self, all: &mut [T]) {
        let Some(at) = all.len().checked_sub(1) else { return };
        self.held += all[at].found().iter().map(weight).sum::<usize>();
        self.note(all, at);
        while self.held > self.room {
            let stacks = self.long.iter_mut().zip(&mut self.short).rev();
            let next = stacks
                .map(|(long, short)| long.pop().map(|at| (at, self.most)).or_else(|| short.pop().map(|at| (at, 0))));
            let Some((at, least)) = next.flatten().next() else { break };
            let one = &mut all[at];
            let mildest = one.found().last().map(|found| found.severity);
            while self.held > self.room && one.found().len() > least {
                let Some(found) = one.found().pop_if(|found| Some(found.severity) == mildest) else { break };
                self.held -= weight(&found);
                // What another server has said as well is counted once, kept or not.
                if !found.again {
                    one.count(found.severity, found.faint);
                }
            }
            one.found().shrink_to_fit();
            self.note(all, at);
        }
    }

    fn note<T: Holds>(&mut self, all: &mut [T], at: usize) {
        let found = all[at].found();
        let Some(mildest) = found.last() else { return };
        let stacks = if found.len() > self.most { &mut self.long } else { &mut self.short };
        stacks[mildest.severity as usize].push(at);
    }
}

/// What holds problems, and counts those that it does not hold any more.
pub(in crate::tools) trait Holds {
    fn found(&mut self) -> &mut Vec<Found>;
    fn count(&mut self, severity: Severity, faint: bool);
}

impl Holds for Piece {
    fn found(&mut self) -> &mut Vec<Found> {
        &mut self.found
    }

    fn count(&mut self, severity: Severity, faint: bool) {
        self.cut.add(severity, faint);
    }
}

impl Holds for Checked {
    fn found(&mut self) -> &mut Vec<Found> {
        &mut self.found
    }

    fn count(&mut self, severity: Severity, faint: bool) {
        self.cut.add(severity, faint);
    }
}

/// About the memory that a problem takes, in bytes.
fn weight(found: &Found) -> usize {
    size_of::<Found>() - size_of::<Problem>() + weight_of(&found.problem)
}

/// About the memory that a problem as it is shown takes, in bytes.
pub(super) fn weight_of(problem: &Problem) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let related: usize = problem.related.iter().map(|one| size_of_val(one) + one.file.len() + one.message.len()).sum();
    size_of_val(problem)
        + problem.file.len()
        + problem.severity.len()
        + problem.message.len()
        + text(&problem.code)
        + text(&problem.source)
        + text(&problem.text)
        + related
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::types::{Cut, Severity, Tally},
        registry::DisplayName,
        tools::outcome::{ServerVerdict, Verdict},
    };

    fn file(problems: impl IntoIterator<Item = Severity>) -> Piece {
        let found = problems.into_iter().map(|severity| Found {
            severity,
            faint: false,
            again: false,
            server: 0,
            problem: Problem {
                file: "a".into(),
                line: 1,
                column: 1,
                end_line: 1,
                end_column: 1,
                severity: String::new(),
                message: "x".repeat(1_000),
                code: None,
                source: None,
                text: None,
                related: Vec::new(),
            },
        });
        let (id, server) = ("a/b".parse().unwrap(), DisplayName::new("b"));
        Piece {
            server: ServerVerdict { id, server, verdict: Verdict::Fresh, reason: None },
            text: "".into(),
            found: found.collect(),
            cut: Cut::default(),
            malformed: 0,
            missing: None,
        }
    }

    fn told(cut: &Cut) -> Tally {
        Cut::together([cut])
    }

    #[test]
    fn milder_ones_and_long_lists_go_first_and_stay_counted() {
        let mut budget = Budget { room: 30_000, ..Budget::new(5) };
        let mut checked = Vec::new();
        let mixed = || [Severity::Error].repeat(4).into_iter().chain([Severity::Hint].repeat(20));
        for _ in 0..3 {
            checked.push(file(mixed()));
            budget.take(&mut checked);
        }
        checked.push(file([Severity::Error].repeat(12)));
        budget.take(&mut checked);
        let kept = |one: &Piece| one.found.len();
        assert!(budget.held <= 30_000);
        for one in &checked[..3] {
            assert_eq!(one.found.iter().filter(|found| found.severity == Severity::Error).count(), 4, "errors stay");
            assert_eq!(one.found.len() + told(&one.cut).sum(), 24);
            assert_eq!(told(&one.cut).all, [0, 0, 0, told(&one.cut).sum()]);
        }
        assert_eq!(kept(&checked[3]), 12, "errors stay where hints can go");
        checked.push(file([Severity::Error].repeat(20)));
        budget.take(&mut checked);
        assert_eq!(checked[0].found.len(), 4, "what will be listed goes last");
        assert_eq!(checked.iter().map(|one| one.found.len() + told(&one.cut).sum()).sum::<usize>(), 3 * 24 + 12 + 20);
    }
}
