//! Asks about many files within one call: opened in groups, so that no file makes what is said of another one old; a
//! server that fails is asked no further; what the time does not reach is counted.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures::future::join_all;
use tokio::time::Instant;

use super::{Moment, budget::Budget};
use crate::{
    config::count,
    protocol::types::{Listed, Severity, Tally},
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
        problems::{problem, without_the_unsupporting},
    },
};

/// Files that are opened together.
const TOGETHER: usize = 24;
/// With less time than this no further files are begun.
const LEAST: Duration = Duration::from_millis(150);

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

/// A problem with what decides about its place in the answer.
pub(in crate::tools) struct Found {
    pub severity: Severity,
    /// Only says that code is unused or deprecated.
    pub faint: bool,
    /// The index of the server among the parts.
    pub server: usize,
    /// Another server has said the very same: it is known of this one, too, and listed once.
    pub again: bool,
    pub problem: Problem,
}

/// A server for a root.
type Key = (ScopedName, PathBuf);

/// A server, its root, and the files that it is to open, with their languages.
type Opening<'a> = (&'a Arc<Entry>, &'a PathBuf, Vec<(&'a Path, &'a str)>);

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

fn key(entry: &Entry, root: &Path) -> Key {
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
        self.checked(target.file, heard, None)
    }

    /// Asks about files in this order.
    pub(super) async fn sweep(&self, targets: Vec<Target>, surveys: &Surveys) -> Sweep {
        let mut sweep = Sweep::default();
        let mut down: HashMap<Key, Shortfall> = HashMap::new();
        let size = self.engine.limits.documents.clamp(1, TOGETHER);
        let total = targets.len();
        let mut budget = Budget::new(self.engine.limits.diagnostics_file);
        let mut targets = targets.into_iter().peekable();
        while targets.peek().is_some() {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left < LEAST && !sweep.checked.is_empty() {
                break;
            }
            let group: Vec<Target> = targets.by_ref().take(size).collect();
            // The last group may take all that is left; whoever is silent about the files of one must not keep the rest.
            let deadline = if targets.peek().is_some() { Instant::now() + left / 2 } else { self.deadline };
            let ask = Ask { deadline, ..*self };
            ask.open_together(&group, surveys, &mut down).await;
            let asked = group.into_iter().map(|target| ask.check_in_group(target, surveys, &down));
            let heard: Vec<(File, Vec<(Key, Heard)>)> = join_all(asked).await;
            for (file, heard) in heard {
                let failed = heard.iter().filter_map(|(key, one)| Some((key, one.result.as_ref().err()?)));
                for (key, shortfall) in failed.filter(|(_, shortfall)| ends_all(shortfall)) {
                    down.entry(key.clone()).or_insert_with(|| shortfall.clone());
                }
                let text = surveys.text_of(&heard, &file.path);
                sweep.checked.push(self.checked(file, heard.into_iter().map(|(_, one)| one).collect(), text));
                budget.take(&mut sweep.checked);
            }
            self.progress.say(&format!("{} of {}", sweep.checked.len(), count(total, "file", "files")));
        }
        sweep.unreached = targets.count();
        // What has changed meanwhile is looked at next.
        self.engine.ground.barrier().await;
        sweep
    }

    /// Opens what a group's files need, each server's at once.
    async fn open_together(&self, group: &[Target], surveys: &Surveys, down: &mut HashMap<Key, Shortfall>) {
        let mut servers: Vec<Opening<'_>> = Vec::new();
        for target in group {
            let serving = target.serving.answering.iter().chain(&target.serving.linters);
            for (entry, root) in serving {
                if down.contains_key(&key(entry, root)) || told_of(surveys, entry, root, &target.file.path).is_some() {
                    continue;
                }
                let file = (target.file.path.as_path(), target.file.language.as_str());
                match servers.iter_mut().find(|(known, other, _)| known.name == entry.name && *other == root) {
                    Some((_, _, files)) => files.push(file),
                    None => servers.push((entry, root, vec![file])),
                }
            }
        }
        let opening = servers
            .iter()
            .map(|(entry, root, files)| self.engine.pool.open(self.caller.id, entry, root, files, self.deadline));
        for ((entry, root, _), opened) in servers.iter().zip(join_all(opening).await) {
            if let Err(shortfall) = opened
                && ends_all(&shortfall)
            {
                down.insert(key(entry, root), shortfall);
            }
        }
    }

    async fn check_in_group(
        &self,
        target: Target,
        surveys: &Surveys,
        down: &HashMap<Key, Shortfall>,
    ) -> (File, Vec<(Key, Heard)>) {
        let question = self.question(&target.file, Query::Diagnostics);
        let serving = target.serving.answering.iter().chain(&target.serving.linters);
        let asked = serving.map(async |(entry, root)| {
            let key = key(entry, root);
            let heard = if let Some(shortfall) = down.get(&key) {
                Heard { entry: entry.clone(), result: Err(shortfall.clone()) }
            } else if let Some(reply) = told_of(surveys, entry, root, &target.file.path) {
                Heard { entry: entry.clone(), result: Ok(reply) }
            } else {
                self.ask(entry, root, &question).await
            };
            (key, heard)
        });
        let heard = join_all(asked).await;
        (target.file, heard)
    }

    /// Takes apart what was heard of a file; `text` is what it was about, where that is known.
    fn checked(&self, file: File, heard: Vec<Heard>, text: Option<Arc<str>>) -> Checked {
        let heard = without_the_unsupporting(heard);
        let parts: Vec<ServerVerdict> = heard.iter().map(|one| self.part(one)).collect();
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        let mut malformed = 0;
        for (server, one) in heard.iter().enumerate() {
            match &one.result {
                Ok(Reply { answer: Answer::Problems(problems), encoding, .. }) => {
                    let mut reader = Reader::new(self, *encoding);
                    malformed += problems.malformed;
                    let name = &parts[server].server;
                    found.extend(problems.items.iter().map(|item| Found {
                        severity: item.severity,
                        faint: item.is_faint(),
                        server,
                        again: false,
                        problem: problem(&mut reader, &file, item, name),
                    }));
                }
                Ok(_) => {}
                Err(shortfall) => missing.push(Missing {
                    id: one.entry.name.clone(),
                    server: parts[server].server.clone(),
                    shortfall: shortfall.clone(),
                }),
            }
        }
        found.sort_by(|a, b| order(a).cmp(&order(b)));
        for at in 1..found.len() {
            let (before, rest) = found.split_at_mut(at);
            let Some(one) = rest.first_mut() else { break };
            let near = before.iter().rev().take_while(|other| order(other) == order(one));
            let same = |other: &Found| other.server != one.server && is_same(&other.problem, &one.problem);
            one.again = near.into_iter().any(same);
        }
        // Who has told what without a source is its source.
        let lists = heard.iter().filter_map(|one| match &one.result {
            Ok(Reply { answer: Answer::Problems(problems), .. }) => Some(problems),
            _ => None,
        });
        let cut = Listed::cut_of_servers(lists);
        let verdict = Verdict::combine(parts.iter().map(|part| part.verdict));
        // Each asks until its answer is about the text on disk.
        let now = || self.engine.ground.read(&file.path).map_or_else(|_| file.lines.shared(), |now| now.text.clone());
        let text = text.unwrap_or_else(now);
        Checked { path: file.path, shown: file.shown, text, parts, verdict, found, cut, malformed, missing }
    }

    /// Asks those for their whole project who can be asked so, once each, within a part of the time. What files were
    /// changed meanwhile are not those that the reports are about, and others may depend on them: then none counts.
    pub(super) async fn surveys(&self, targets: &[Target], moment: Moment) -> Surveys {
        let mut seen = HashSet::new();
        let serving = targets.iter().flat_map(|target| target.serving.answering.iter().chain(&target.serving.linters));
        let servers: Vec<_> = serving.filter(|(entry, root)| seen.insert(key(entry, root))).collect();
        let longest = self.deadline.saturating_duration_since(Instant::now()) / 3;
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
    /// The text that a file's answers are about, where one of them comes from here.
    fn text_of(&self, heard: &[(Key, Heard)], path: &Path) -> Option<Arc<str>> {
        let from_here =
            heard.iter().any(|(key, _)| self.told.get(key).is_some_and(|(_, files)| files.contains_key(path)));
        self.texts.get(path).filter(|_| from_here).cloned()
    }
}

/// What a server's view of its project says of a file.
fn told_of(surveys: &Surveys, entry: &Entry, root: &Path, path: &Path) -> Option<Reply> {
    let (reply, files) = surveys.told.get(&key(entry, root))?;
    let problems = files.get(path).filter(|_| surveys.texts.contains_key(path))?;
    Some(Reply { answer: Answer::Problems(problems.clone()), ..reply.clone() })
}

/// After this a server is asked no further in this call: another file would only meet the same.
fn ends_all(shortfall: &Shortfall) -> bool {
    matches!(shortfall.verdict(), Verdict::Unavailable) || matches!(shortfall, Shortfall::Died { .. })
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
