//! The problems of several files before and after a change: which are new, which are gone.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use futures::future::join_all;
use indexmap::IndexMap;
use tokio::time::Instant;

use crate::{protocol::types::Severity, registry::ScopedName};

use super::{
    ask::Ask,
    diagnostics::{
        budget::Budget,
        compare::{Baseline, Told, compare},
        sweep::{Checked, Target},
    },
    kinds::count,
    outcome::{Problem, ServerVerdict, Verdict},
    problems::note,
};

/// Open files beside the changed ones that are looked at: they may depend on them.
const DEPENDANTS: usize = 8;
/// Problems that are shown.
const SHOWN: usize = 20;

/// The problems of several files at one moment.
#[derive(Default)]
pub(super) struct Look {
    /// Each under the name that it is counted by.
    files: BTreeMap<PathBuf, Checked>,
    /// Files that are not there.
    pub absent: HashSet<PathBuf>,
}

impl Look {
    /// Whether any server has answered.
    pub(super) fn is_known(&self) -> bool {
        self.parts().any(|part| part.verdict.answered())
    }

    fn parts(&self) -> impl Iterator<Item = &ServerVerdict> {
        self.files.values().flat_map(|one| &one.parts)
    }

    /// Each server with its worst verdict over all files.
    pub(super) fn servers(&self) -> Vec<ServerVerdict> {
        let mut worst: IndexMap<&ScopedName, &ServerVerdict> = IndexMap::new();
        for part in self.parts() {
            let known = worst.entry(&part.id).or_insert(part);
            if part.verdict >= known.verdict {
                *known = part;
            }
        }
        worst.into_values().cloned().collect()
    }

    /// The verdict of all of it; with nobody to ask there is nothing that could be wrong.
    pub(super) fn verdict(&self) -> Verdict {
        let servers = self.servers();
        if servers.is_empty() { Verdict::Fresh } else { Verdict::combine(servers.iter().map(|server| server.verdict)) }
    }

    /// Whether anybody was asked.
    pub(super) fn asked_anybody(&self) -> bool {
        self.parts().next().is_some()
    }

    /// How many files anybody has looked at.
    pub(super) fn looked_at(&self) -> usize {
        self.files.len()
    }

    /// What servers lack.
    pub(super) fn notes(&self) -> Vec<String> {
        let missing = self.files.values().flat_map(|one| &one.missing);
        let mut notes: Vec<String> = missing.map(|one| note(&one.server, &one.shortfall)).collect();
        notes.sort_unstable();
        notes.dedup();
        notes
    }

    /// The files of which not all is known, grouped by what is known of them, the worst first.
    pub(super) fn doubts(&self) -> Vec<String> {
        let mut groups: BTreeMap<(Reverse<Verdict>, String), Vec<&str>> = BTreeMap::new();
        for one in self.files.values().filter(|one| one.verdict != Verdict::Fresh) {
            let Some(worst) = one.parts.iter().max_by_key(|part| part.verdict) else { continue };
            // Why there is no answer at all stands in a note already.
            let noted = one.missing.iter().any(|missing| missing.id == worst.id);
            let why = match worst.reason.as_ref().filter(|_| !noted) {
                Some(reason) => format!(" ({}: {reason})", worst.server),
                None => format!(" ({})", worst.server),
            };
            groups.entry((Reverse(one.verdict), why)).or_default().push(&one.shown);
        }
        groups
            .into_iter()
            .map(|((Reverse(verdict), why), files)| format!("{}{why}: {}", verdict.word(), files.join(", ")))
            .collect()
    }
}

impl Ask<'_> {
    /// The time that is left for the call.
    pub(super) fn left(&self) -> std::time::Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Looks at these files, and at open ones beside them: each where it is now, and under which name it is counted.
    pub(super) async fn look(&self, files: &[(PathBuf, PathBuf)], deadline: Instant) -> Look {
        let mut files = files.to_vec();
        let mut beside = self.engine.pool.open_files();
        beside.retain(|path| !files.iter().any(|(now, later)| now == path || later == path));
        files.extend(beside.into_iter().take(DEPENDANTS).map(|path| (path.clone(), path)));
        let asked = files.iter().map(|(now, _)| self.look_at(now, deadline));
        let (mut names, mut all) = (Vec::new(), Vec::new());
        let mut budget = Budget::new(0);
        for ((_, counted), one) in files.iter().zip(join_all(asked).await) {
            let Some(one) = one else { continue };
            names.push(counted.clone());
            all.push(one);
            budget.take(&mut all);
        }
        Look { files: names.into_iter().zip(all).collect(), absent: HashSet::new() }
    }

    /// The errors and warnings of a file; none where nobody has anything to do with it.
    async fn look_at(&self, now: &Path, deadline: Instant) -> Option<Checked> {
        let file = self.file(&now.to_string_lossy()).ok()?;
        let serving = self.serving(&file).ok()?;
        let mut one = Ask { deadline, ..*self }.check(Target { file, serving }).await;
        one.found.retain(|found| found.severity <= Severity::Warning);
        let able = one.parts.iter().any(|part| part.verdict != Verdict::Unsupported);
        able.then_some(one)
    }
}

/// How two looks differ.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub items: Vec<Problem>,
    /// So many more are there than these.
    pub left_out: usize,
    new: usize,
    gone: usize,
    /// Not all were known, before or after: more may be gone.
    more_gone: bool,
    /// Of these nobody knows whether they are new.
    present: usize,
    /// These were too many to be compared.
    cut: usize,
}

impl Compared {
    /// What is new and what is gone.
    pub(super) fn of(before: &Look, after: &Look) -> Self {
        let [mut new, mut present, mut gone] = [const { Vec::new() }; 3];
        let mut more_gone = false;
        for (path, now) in &after.files {
            let then = before.files.get(path);
            let baseline = match then.map(Told::of).filter(Told::is_answered) {
                Some(told) => Baseline::Known(Arc::new(told)),
                // What was not there before has new problems only.
                None if before.absent.contains(path) => Baseline::Nothing,
                None => Baseline::Unknown,
            };
            let compared = compare(&baseline, &Told::of(now));
            more_gone |= compared.more_gone[..=Severity::Warning as usize].contains(&true);
            let judged = now.found.iter().zip(compared.new.iter().zip(&compared.unsure));
            for (found, (_, unsure)) in judged.filter(|(found, (new, _))| **new && !found.again) {
                match unsure {
                    false => new.push(worded(&found.problem, "new ")),
                    true => present.push(found.problem.clone()),
                }
            }
            let found = compared.gone.iter().filter_map(|at| then?.found.get(*at));
            gone.extend(found.map(|found| worded(&found.problem, "gone: ")));
        }
        for (_, then) in before.files.iter().filter(|(path, _)| after.absent.contains(*path)) {
            let told = then.found.iter().filter(|found| !found.again && then.parts[found.server].verdict.answered());
            gone.extend(told.map(|found| worded(&found.problem, "gone: ")));
            more_gone |= then.cut.all[..=Severity::Warning as usize].iter().any(|number| *number > 0);
        }
        let counts = (new.len(), present.len(), gone.len());
        // What matters most is shown if anything is.
        let lists = [new, present, gone].into_iter().flat_map(|mut list| {
            list.sort_by(|a, b| place(a).cmp(&place(b)));
            list
        });
        let mut items: Vec<Problem> = lists.collect();
        let left_out = items.len().saturating_sub(SHOWN);
        items.truncate(SHOWN);
        let cut =
            after.files.values().map(|one| one.cut.all[..=Severity::Warning as usize].iter().sum::<usize>()).sum();
        Self { items, left_out, new: counts.0, present: counts.1, gone: counts.2, more_gone, cut }
    }

    /// In words; that there is nothing new is said only where that is known.
    pub(super) fn summary(&self, verdict: Verdict, compared: bool) -> String {
        let mut parts = Vec::new();
        if self.new > 0 {
            parts.push(count(self.new, "new problem", "new problems"));
        } else if self.present == 0 && self.cut == 0 && verdict.answered() {
            let nothing = if compared { "no new problems" } else { "no problems" };
            // As `lsp/diagnostics` has it: what is not proven is not said as if it were.
            parts.push(match verdict {
                Verdict::Settling => format!("{nothing} so far"),
                Verdict::Unconfirmed => format!("{nothing} heard of, not confirmed since the change"),
                _ => nothing.to_owned(),
            });
        }
        if self.present > 0 {
            parts.push(count(self.present, "problem", "problems"));
        }
        if self.gone > 0 {
            let least = if self.more_gone { "at least " } else { "" };
            parts.push(format!("{least}{} gone", self.gone));
        }
        if self.cut > 0 {
            parts.push(format!("{} too many to be compared", count(self.cut, "problem", "problems")));
        }
        if !verdict.answered() {
            parts.push("the servers have not analysed all of it yet: see lsp/diagnostics".to_owned());
        }
        parts.join(", ")
    }
}

/// A problem with what has become of it.
fn worded(problem: &Problem, word: &str) -> Problem {
    Problem { severity: format!("{word}{}", problem.severity), ..problem.clone() }
}

fn place(problem: &Problem) -> (&str, u32, u32, &str) {
    (&problem.file, problem.line, problem.column, &problem.message)
}

#[cfg(test)]
mod tests;
