//! What is heard of files: each server's part by itself, brought together for each file; and what servers say of their
//! whole projects.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use futures::future::join_all;
use tokio::time::Instant;

use super::Moment;
use crate::{
    protocol::types::{Cut, Listed, Severity, Tally},
    registry::{DisplayName, Entry, ScopedName},
    runtime::{
        query::{Answer, Query, Reply},
        shortfall::Shortfall,
    },
    tools::{
        ask::{Ask, Heard},
        file::{File, Serving},
        outcome::{Problem, ServerVerdict, Verdict},
        places::Reader,
        problems::problem,
    },
};

/// A file that is to be asked about.
pub(in crate::tools) struct Target {
    pub file: File,
    pub serving: Serving,
}

/// What was heard of a file.
pub(in crate::tools) struct Checked {
    pub path: PathBuf,
    pub shown: String,
    /// The text that the answer is about.
    pub text: Arc<str>,
    pub parts: Vec<ServerVerdict>,
    pub verdict: Verdict,
    pub found: Vec<Found>,
    /// Problems that servers told of, and that were too many to keep.
    pub cut: Tally,
    /// Entries of servers' lists that could not be read.
    pub malformed: usize,
    /// Why servers have not answered.
    pub missing: Vec<Missing>,
}

/// A server that has not answered.
pub(in crate::tools) struct Missing {
    pub id: ScopedName,
    pub server: DisplayName,
    pub shortfall: Shortfall,
}

/// What one server has said of a file.
pub(super) struct Piece {
    pub server: ServerVerdict,
    /// The text that this is about.
    pub text: Arc<str>,
    /// The worst first.
    pub found: Vec<Found>,
    pub cut: Cut,
    pub malformed: usize,
    pub missing: Option<Missing>,
}

/// A problem with what decides about its place in the answer.
pub(in crate::tools) struct Found {
    pub severity: Severity,
    /// Only says that code is unused or deprecated.
    pub faint: bool,
    /// The index of the server among the parts, once those are brought together.
    pub server: usize,
    /// Another server has said the very same: it is known of this one, too, and listed once.
    pub again: bool,
    pub problem: Problem,
}

/// A server for a root.
pub(super) type Key = (ScopedName, PathBuf);

/// What was heard of many files.
#[derive(Default)]
pub(super) struct Sweep {
    pub checked: Vec<Checked>,
    /// Files that the time did not reach.
    pub unreached: usize,
}

impl Sweep {
    /// Whether there was nothing to look at.
    pub(super) fn is_empty(&self) -> bool {
        self.checked.is_empty() && self.unreached == 0
    }
}

/// What servers have told of their whole project: for each file whole lists.
#[derive(Default)]
pub(super) struct Surveys {
    told: HashMap<Key, (Reply, HashMap<PathBuf, Listed>)>,
    /// The texts that this is about.
    texts: HashMap<PathBuf, Arc<str>>,
}

pub(super) fn key(entry: &Entry, root: &Path) -> Key {
    (entry.name.clone(), root.to_owned())
}

impl Ask<'_> {
    /// Asks everybody who serves a file.
    pub(in crate::tools) async fn check(&self, target: Target) -> Checked {
        let question = self.question(&target.file, Query::Diagnostics);
        let serving = &target.serving;
        let asked =
            serving.answering.iter().chain(&serving.linters).map(|(entry, root)| self.ask(entry, root, &question));
        let heard = join_all(asked).await;
        let pieces = heard.iter().map(|one| self.piece(&target.file, one, None)).collect();
        Checked::of(target.file, pieces)
    }

    /// Takes apart what a server has said of a file; `text` is what it was about, where that is known.
    pub(super) fn piece(&self, file: &File, one: &Heard, text: Option<Arc<str>>) -> Piece {
        let server = self.part(one);
        let (mut found, mut missing) = (Vec::new(), None);
        let (mut cut, mut malformed) = (Cut::default(), 0);
        match &one.result {
            Ok(Reply { answer: Answer::Problems(problems), encoding, .. }) => {
                let mut reader = Reader::new(self, *encoding);
                cut = problems.cut_off();
                malformed = problems.malformed;
                found.extend(problems.items.iter().map(|item| Found {
                    severity: item.severity,
                    faint: item.is_faint(),
                    server: 0,
                    again: false,
                    problem: problem(&mut reader, file, item, &server.server),
                }));
            }
            Ok(_) => {}
            Err(shortfall) => {
                let (id, server) = (one.entry.name.clone(), server.server.clone());
                missing = Some(Missing { id, server, shortfall: shortfall.clone() });
            }
        }
        found.sort_by(|a, b| order(a).cmp(&order(b)));
        // Each asks until its answer is about the text on disk.
        let now = || self.engine.ground.read(&file.path).map_or_else(|_| file.lines.shared(), |now| now.text.clone());
        let text = text.unwrap_or_else(now);
        Piece { server, text, found, cut, malformed, missing }
    }
    /// Asks those of these for their whole project who can be asked so, within a part of the time. What files were changed
    /// meanwhile are not those that the reports are about, and others may depend on them: then none counts.
    pub(super) async fn surveys(&self, servers: &[&(Arc<Entry>, PathBuf)], moment: Moment) -> Surveys {
        let longest = self.deadline.saturating_duration_since(Instant::now()) / 3;
        // Who cannot be relied on for this need not be started for it.
        let servers: Vec<_> = servers.iter().filter(|(entry, _)| entry.def.diagnostics.project).collect();
        let asked = servers.iter().map(|(entry, root)| self.engine.pool.survey(self.caller.id, entry, root, longest));
        let heard = join_all(asked).await;
        let mut surveys = Surveys::default();
        for ((entry, root), told) in servers.iter().zip(heard) {
            if let Ok(mut reply) = told
                && let Answer::Project(files) = std::mem::replace(&mut reply.answer, Answer::Project(Vec::new()))
            {
                surveys.told.insert(key(entry, root), (reply, files.into_iter().collect()));
            }
        }
        let ground = &self.engine.ground;
        for path in surveys.told.values().flat_map(|(_, files)| files.keys()) {
            if let Ok(now) = ground.read(path) {
                surveys.texts.insert(path.clone(), now.text.clone());
            }
        }
        if !surveys.texts.is_empty() {
            ground.barrier().await;
        }
        let changes = ground.watcher.since(moment.seq);
        let moved = changes.overflow || changes.events.iter().any(|change| self.engine.concerns(&change.path));
        if moved { Surveys::default() } else { surveys }
    }
}

impl Surveys {
    /// What a server's view of its project says of a file, and of which text.
    pub(super) fn of(&self, key: &Key, path: &Path) -> Option<(Reply, Arc<str>)> {
        let (reply, files) = self.told.get(key)?;
        let (problems, text) = (files.get(path)?, self.texts.get(path)?);
        Some((Reply { answer: Answer::Problems(problems.clone()), ..reply.clone() }, text.clone()))
    }
}

impl Checked {
    /// Brings together what servers have said of a file.
    pub(super) fn of(file: File, mut pieces: Vec<Piece>) -> Self {
        // A server that has nothing of the kind at all takes no part, unless nobody else does.
        let unsupported = |piece: &Piece| piece.server.verdict == Verdict::Unsupported;
        if !pieces.iter().all(unsupported) {
            pieces.retain(|piece| !unsupported(piece));
        }
        // Where the file changed from one to the next, the whole is about the older text.
        let text = pieces.first().map_or_else(|| file.lines.shared(), |piece| piece.text.clone());
        let (path, shown) = (file.path, file.shown);
        let mut all = Self {
            path,
            shown,
            text,
            parts: Vec::new(),
            verdict: Verdict::Unanswered,
            found: Vec::new(),
            cut: Tally::default(),
            malformed: 0,
            missing: Vec::new(),
        };
        // Who has told what without a source is its source.
        all.cut = Cut::together(pieces.iter().map(|piece| &piece.cut));
        for (server, piece) in pieces.into_iter().enumerate() {
            all.parts.push(piece.server);
            all.found.extend(piece.found.into_iter().map(|found| Found { server, ..found }));
            all.malformed += piece.malformed;
            all.missing.extend(piece.missing);
        }
        all.verdict = Verdict::combine(all.parts.iter().map(|part| part.verdict));
        let found = &mut all.found;
        found.sort_by(|a, b| order(a).cmp(&order(b)));
        for at in 1..found.len() {
            let (before, rest) = found.split_at_mut(at);
            let Some(one) = rest.first_mut() else { break };
            let near = before.iter().rev().take_while(|other| order(other) == order(one));
            let same = |other: &Found| other.server != one.server && is_same(&other.problem, &one.problem);
            one.again = near.into_iter().any(same);
        }
        all
    }
}

/// Whether two servers say the very same.
fn is_same(a: &Problem, b: &Problem) -> bool {
    let said = |one: &Problem| (one.line, one.column, one.end_line, one.end_column);
    said(a) == said(b) && (&a.severity, &a.code, &a.source, &a.message) == (&b.severity, &b.code, &b.source, &b.message)
}

/// Worst first, then by place.
fn order(found: &Found) -> (Severity, u32, u32, &str) {
    (found.severity, found.problem.line, found.problem.column, &found.problem.message)
}
