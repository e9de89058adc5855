//! The problems of several files before and after a change: which are new, which are gone.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
};

use futures::future::join_all;
use indexmap::IndexMap;
use tokio::time::Instant;

use crate::{
    protocol::types::Severity,
    registry::ScopedName,
    runtime::{
        query::{Answer, Query, Question},
        shortfall::Shortfall,
    },
};

use super::{
    ask::{Ask, Heard},
    kinds::count,
    outcome::{Problem, ServerVerdict, Verdict},
    places::Reader,
    problems::{note, problem},
};

/// Open files beside the changed ones that are looked at: they may depend on them.
const DEPENDANTS: usize = 8;
/// Problems that are shown.
const SHOWN: usize = 20;

/// What tells a problem from others, wherever in its file it stands: file, server, severity, code, source, message.
type Key = (PathBuf, ScopedName, String, Option<String>, Option<String>, String);

/// The problems of several files at one moment.
#[derive(Debug, Default)]
pub(super) struct Look {
    found: Vec<(Key, Problem)>,
    verdicts: IndexMap<ScopedName, Vec<ServerVerdict>>,
    /// Files and servers whose answer is about the text that was there.
    known: HashSet<(PathBuf, ScopedName)>,
    /// Files that are not there.
    pub absent: HashSet<PathBuf>,
    pub notes: Vec<String>,
    /// How many files were looked at.
    pub files: usize,
    /// What the answers about each file are worth, where that is less than all, with the reason.
    judged: Vec<Judged>,
    /// Errors and warnings that were too many to keep.
    cut: usize,
}

/// A file as it is shown, what the answers about it are worth, and why.
#[derive(Debug)]
struct Judged {
    file: String,
    verdict: Verdict,
    why: String,
}

impl Look {
    /// Whether any server has answered.
    pub(super) fn is_known(&self) -> bool {
        !self.known.is_empty()
    }

    /// Each server with its worst verdict over all files.
    pub(super) fn servers(&self) -> Vec<ServerVerdict> {
        let worst = |all: &Vec<ServerVerdict>| all.iter().max_by_key(|one| one.verdict).cloned();
        self.verdicts.values().filter_map(worst).collect()
    }

    /// The verdict of all of it; with nobody to ask there is nothing that could be wrong.
    pub(super) fn verdict(&self) -> Verdict {
        let servers = self.servers();
        if servers.is_empty() { Verdict::Fresh } else { Verdict::combine(servers.iter().map(|server| server.verdict)) }
    }

    /// Whether anybody was asked.
    pub(super) fn asked_anybody(&self) -> bool {
        !self.verdicts.is_empty()
    }

    /// The files of which not all is known, grouped by what is known of them, the worst first.
    pub(super) fn doubts(&self) -> Vec<String> {
        let mut groups: BTreeMap<(Reverse<Verdict>, &str), Vec<&str>> = BTreeMap::new();
        for one in &self.judged {
            groups.entry((Reverse(one.verdict), &one.why)).or_default().push(&one.file);
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
        let asked = files.iter().map(|(now, counted)| self.look_at(now, counted, deadline));
        let mut look = Look { files: files.len(), ..Look::default() };
        for one in join_all(asked).await {
            look.found.extend(one.found);
            look.known.extend(one.known);
            for (server, verdicts) in one.verdicts {
                look.verdicts.entry(server).or_default().extend(verdicts);
            }
            look.notes.extend(one.notes);
            look.judged.extend(one.judged);
            look.cut += one.cut;
        }
        look.notes.sort_unstable();
        look.notes.dedup();
        look.found.sort_by(|(_, a), (_, b)| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        look
    }

    async fn look_at(&self, now: &Path, counted: &Path, deadline: Instant) -> Look {
        let mut look = Look::default();
        let Ok(file) = self.file(&now.to_string_lossy()) else { return look };
        let Ok(serving) = self.serving(&file) else { return look };
        let question = Question { deadline, ..self.question(&file, Query::Diagnostics) };
        let asked =
            serving.answering.iter().chain(&serving.linters).map(|(entry, root)| self.ask(entry, root, &question));
        let heard: Vec<Heard> = join_all(asked).await;
        let mut parts = Vec::new();
        for one in &heard {
            if matches!(one.result, Err(Shortfall::Unsupported(_))) {
                continue;
            }
            let (id, name) = (&one.entry.name, self.engine.display(&one.entry));
            let part = self.part(one);
            let answered = part.verdict.answered();
            parts.push((part.clone(), one.result.is_err()));
            look.verdicts.entry(id.clone()).or_default().push(part);
            look.notes.extend(one.result.as_ref().err().map(|shortfall| note(&name, shortfall)));
            let Ok(reply) = &one.result else { continue };
            let Answer::Problems(problems) = &reply.answer else { continue };
            let [errors, warnings, ..] = problems.cut().all;
            look.cut += errors + warnings;
            // Of what was too much to keep nobody can tell what is new and what is gone.
            if answered && errors + warnings == 0 {
                look.known.insert((counted.to_owned(), id.clone()));
            }
            let mut reader = Reader::new(self, reply.encoding);
            for item in problems.items.iter().filter(|item| item.severity <= Severity::Warning) {
                let problem = problem(&mut reader, &file, item, &name);
                let key = (
                    counted.to_owned(),
                    id.clone(),
                    problem.severity.clone(),
                    problem.code.clone(),
                    problem.source.clone(),
                    problem.message.clone(),
                );
                look.found.push((key, problem));
            }
        }
        let verdict = Verdict::combine(parts.iter().map(|(part, _)| part.verdict));
        if verdict != Verdict::Fresh && !parts.is_empty() {
            let worst = parts.iter().max_by_key(|(part, _)| part.verdict);
            // Why there is no answer at all stands in a note already.
            let why = worst.map(|(part, noted)| match part.reason.as_ref().filter(|_| !noted) {
                Some(reason) => format!(" ({}: {reason})", part.server),
                None => format!(" ({})", part.server),
            });
            look.judged.push(Judged { file: file.shown.clone(), verdict, why: why.unwrap_or_default() });
        }
        look
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
    /// Of these nobody knows whether they are new.
    present: usize,
    /// These were too many to be compared.
    cut: usize,
}

impl Compared {
    /// What is new and what is gone.
    pub(super) fn of(before: &Look, after: &Look) -> Self {
        let known = |look: &Look, key: &Key| look.known.contains(&(key.0.clone(), key.1.clone()));
        let mut old: HashMap<&Key, usize> = HashMap::new();
        for (key, _) in &before.found {
            *old.entry(key).or_default() += 1;
        }
        let worded = |problem: &Problem, word: &str| {
            let severity = format!("{word}{}", problem.severity);
            Problem { severity, ..problem.clone() }
        };
        // What two servers say alike is one; those of one place stand together.
        let add = |list: &mut Vec<Problem>, item: Problem| {
            let place = |it: &&Problem| (&it.file, it.line, it.column) == (&item.file, item.line, item.column);
            if !list.iter().rev().take_while(place).any(|it| *it == item) {
                list.push(item);
            }
        };
        let (mut new, mut present, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for (key, problem) in &after.found {
            match old.get_mut(key).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                // What was not there before has new problems only.
                None if known(before, key) || before.absent.contains(&key.0) => add(&mut new, worded(problem, "new ")),
                None => add(&mut present, problem.clone()),
            }
        }
        for (key, problem) in &before.found {
            if let Some(left) = old.get_mut(key).filter(|left| **left > 0)
                && (known(after, key) || after.absent.contains(&key.0))
            {
                *left -= 1;
                add(&mut gone, worded(problem, "gone: "));
            }
        }
        let counts = (new.len(), present.len(), gone.len());
        // What matters most is shown if anything is.
        let mut items: Vec<Problem> = new.into_iter().chain(present).chain(gone).collect();
        let left_out = items.len().saturating_sub(SHOWN);
        items.truncate(SHOWN);
        Self { items, left_out, new: counts.0, present: counts.1, gone: counts.2, cut: after.cut }
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
            parts.push(format!("{} gone", self.gone));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn look(problems: &[(&str, &str)], known: &[&str]) -> Look {
        let one = |(file, message): &(&str, &str)| {
            let problem = Problem {
                file: (*file).into(),
                line: 1,
                column: 1,
                end_line: 1,
                end_column: 2,
                severity: "error".into(),
                message: (*message).into(),
                code: None,
                source: None,
                text: None,
                related: Vec::new(),
            };
            let key =
                (PathBuf::from(file), "s".parse().unwrap(), "error".to_owned(), None, None, (*message).to_owned());
            (key, problem)
        };
        let known = known.iter().map(|file| (PathBuf::from(file), "s".parse().unwrap())).collect();
        Look { found: problems.iter().map(one).collect(), known, ..Look::default() }
    }

    fn check(before: &Look, after: &Look, expected: &expect_test::Expect) {
        let compared = Compared::of(before, after);
        let mut said = compared.summary(Verdict::Fresh, before.is_known());
        for item in &compared.items {
            said.push_str(&format!("\n{} {} {}", item.file, item.severity, item.message));
        }
        expected.assert_eq(&said);
    }

    #[test]
    fn new_and_gone_are_told_by_what_they_say_not_where() {
        use expect_test::expect;
        let before = look(&[("/a", "x"), ("/a", "x"), ("/a", "y")], &["/a", "/b"]);
        check(
            &before,
            &look(&[("/a", "x"), ("/b", "z")], &["/a", "/b"]),
            &expect![[r#"
                1 new problem, 2 gone
                /b new error z
                /a gone: error x
                /a gone: error y"#]],
        );
        check(&before, &look(&[("/a", "y"), ("/a", "x"), ("/a", "x")], &["/a"]), &expect!["no new problems"]);
    }

    #[test]
    fn what_was_not_known_before_is_not_called_new() {
        use expect_test::expect;
        check(
            &look(&[], &[]),
            &look(&[("/", "x")], &["/"]),
            &expect![[r#"
                1 problem
                / error x"#]],
        );
    }
}
