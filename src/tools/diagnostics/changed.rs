//! What has changed since a point in time or a git revision, and what the problems of a file are to be compared with.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use super::{
    choose::{self, Walked},
    compare::{Baseline, same_lines},
    memory::{Memory, Point, Still, expired},
    touched::Touched,
};
use crate::{
    runtime::ground::Seen,
    tools::{
        args::invalid,
        ask::Ask,
        file::failure,
        outcome::{Code, Failure},
    },
    workspace::{
        git::{Differences, Git, GitError},
        watch::Kind,
    },
};

/// Of the call's time, what git may take.
const SHARE: u32 = 2;
/// Repositories that are compared, and left out ones that are named.
const REPOSITORIES: usize = 100;
const SHOWN: usize = 5;
/// Time stamps are as coarse as this.
const TICK: i128 = Duration::from_millis(20).as_nanos() as i128;

/// What problems are compared with.
#[derive(Debug)]
pub(super) enum Basis {
    /// Nothing is known of before.
    None,
    Mark {
        point: Point,
        /// Files that were not there then.
        created: HashSet<PathBuf>,
    },
    Revision {
        /// The texts then of the files that differ, as far as they were there and can be read.
        before: HashMap<PathBuf, Option<Before>>,
        /// What may mean something else than then.
        touched: Touched,
    },
}

/// The text that a file had.
#[derive(Debug)]
pub(super) enum Before {
    Text(Arc<str>),
    Unreadable,
}

impl Basis {
    /// What the problems of a file are compared with, as the world is now.
    pub(super) fn baseline(&self, memory: &Memory, path: &Path, text: &Arc<str>, still: Option<Still>) -> Baseline {
        let of_text = |old: &Arc<str>| memory.of_text(path, old).map(Baseline::Known);
        match self {
            Self::None => Baseline::Unknown,
            Self::Mark { point, created } => match memory.at(path, *point) {
                Some(told) => Baseline::Known(told),
                None if created.contains(path) => Baseline::Nothing,
                None if still.is_some() && still == point.still() => Baseline::Same,
                None => Baseline::Unknown,
            },
            Self::Revision { before, .. } => match before.get(path) {
                Some(None) => Baseline::Nothing,
                Some(Some(Before::Text(old))) => of_text(old).unwrap_or_else(|| Baseline::Text(Arc::clone(old))),
                Some(Some(Before::Unreadable)) => Baseline::Unknown,
                None => of_text(text).unwrap_or_else(|| Baseline::Text(Arc::clone(text))),
            },
        }
    }
}

/// Since when.
#[derive(Debug, Clone)]
pub(super) enum Since {
    Mark(Point),
    /// The caller's own last mark; what it has not asked about before that counts as well.
    Last(Point, Point),
    Revision(String),
    /// Nothing is known of before.
    Unknown,
}

/// What a call is about.
#[derive(Debug)]
pub(super) struct Changed {
    /// In the order of their paths.
    pub edited: BTreeSet<PathBuf>,
    pub gone: BTreeSet<String>,
    /// Names that may mean something else than before, as far as the older texts are known.
    pub touched: Touched,
    pub basis: Basis,
    /// `since @k3x9.c`, in langport's own words.
    pub phrase: String,
    pub notes: Vec<String>,
    /// Not everything could be looked at.
    pub cut: bool,
}

impl Ask<'_> {
    /// What `since` means.
    pub(super) fn since(&self, given: Option<&str>) -> Result<Since, Failure> {
        let memory = &self.engine.memory;
        Ok(match given {
            Some(text) => match memory.read(text)? {
                Some(point) => Since::Mark(point),
                None => Since::Revision(text.to_owned()),
            },
            None => match memory.told(self.caller.id) {
                Some(told) => Since::Last(told.last, told.covered),
                None => Since::Unknown,
            },
        })
    }

    /// What problems are compared with where the files are given.
    pub(super) async fn basis(&self, since: &Since) -> Result<(Basis, String, Vec<String>), Failure> {
        let memory = &self.engine.memory;
        let point = match since {
            Since::Unknown => return Ok((Basis::None, String::new(), Vec::new())),
            Since::Revision(revision) => {
                let found = self.revision(revision).await?;
                return Ok((found.basis, found.phrase, found.notes));
            }
            Since::Mark(point) | Since::Last(point, _) => *point,
        };
        let changes = self.engine.ground.watcher.since(point.seq);
        let created = changes.events.iter().filter(|change| change.kind == Kind::Created);
        let created = created.map(|change| change.path.to_path_buf()).filter(|_| !changes.overflow).collect();
        Ok((Basis::Mark { point, created }, format!("since {}", memory.print(point)), Vec::new()))
    }

    /// The files that have changed.
    pub(super) async fn changed(&self, since: Since, seen: Seen) -> Result<Changed, Failure> {
        let memory = &self.engine.memory;
        match since {
            Since::Revision(revision) => self.revision(&revision).await,
            Since::Mark(point) => {
                let phrase = format!("since {}", memory.print(point));
                self.by_log(point, point, seen, phrase.clone()).await?.ok_or_else(|| {
                    expired(&memory.print(point), "is too long ago: more has changed since then than is remembered")
                })
            }
            Since::Last(last, covered) => {
                let phrase = format!("since {}", memory.print(last));
                let Some(mut changed) = self.by_log(covered, last, seen, phrase).await? else {
                    return self.first("more has changed since your last mark than is remembered", seen).await;
                };
                let asked = |path: &PathBuf| {
                    let now = self.engine.ground.read(path);
                    now.is_ok_and(|now| memory.was_told(self.caller.id, path, &now.text, covered))
                };
                changed.edited.retain(|path| !asked(path));
                Ok(changed)
            }
            Since::Unknown => self.first("you have no mark yet", seen).await,
        }
    }

    /// Without a mark: the last commit, where there is one, else the start.
    async fn first(&self, why: &str, seen: Seen) -> Result<Changed, Failure> {
        if let Ok(mut changed) = self.revision("HEAD").await {
            changed.notes.push(format!("{why}: compared with HEAD"));
            return Ok(changed);
        }
        let mut changed = self.since_start(self.engine.memory.started(), seen).await?;
        changed.notes.push(format!("{why}, and there is no git commit to compare with: since langport started"));
        Ok(changed)
    }

    async fn since_start(&self, point: Point, seen: Seen) -> Result<Changed, Failure> {
        let found = self.by_log(point, point, seen, "since langport started".into()).await?;
        found.ok_or_else(|| {
            let next = "ask with scope workspace: its answer has a mark to go on from";
            failure(Code::Expired, "more has changed since langport started than is remembered", next)
        })
    }

    /// By what the watcher has seen since `from`, or by time stamps where it sees nothing; nothing where too much was
    /// lost.
    async fn by_log(&self, from: Point, known: Point, seen: Seen, phrase: String) -> Result<Option<Changed>, Failure> {
        let (ground, memory) = (&self.engine.ground, &self.engine.memory);
        let (mut edited, mut gone, mut created) = (BTreeSet::new(), BTreeSet::new(), HashSet::new());
        let mut notes = Vec::new();
        let changes = ground.watcher.since(from.seq);
        if changes.overflow {
            return Ok(None);
        }
        for change in changes.events.iter().filter(|change| self.engine.is_served(&change.path) || change.folder) {
            match change.kind {
                Kind::Deleted if !change.path.exists() => {
                    let shown = ground.roots.display(&change.path);
                    gone.insert(if change.folder { format!("{shown}/") } else { shown });
                }
                _ if change.folder => {}
                kind => {
                    if kind == Kind::Created {
                        created.insert(change.path.to_path_buf());
                    }
                    edited.insert(change.path.to_path_buf());
                }
            }
        }
        // A folder whose files are named need not be.
        let files: Vec<String> = gone.iter().filter(|name| !name.ends_with('/')).cloned().collect();
        gone.retain(|name: &String| !name.ends_with('/') || !files.iter().any(|file| file.starts_with(name.as_str())));
        let mut touched = Touched::default();
        let ends = changes.events.iter().filter(|change| change.kind == Kind::Deleted);
        for (path, told) in ends.filter_map(|change| Some((&change.path, memory.at(&change.path, known)?))) {
            touched.whole(path, &told.text);
        }
        for path in edited.iter().take(choose::FILES) {
            let Ok(now) = ground.read(path) else { continue };
            match memory.at(path, known) {
                Some(told) => touched.between(&told.text, &now.text),
                None if created.contains(path) => touched.whole(path, &now.text),
                None => {}
            }
        }
        let mut cut = false;
        if seen == Seen::OpenFiles {
            let Walked { files, more, cut: short } = choose::walk(self, None, Some(from.at - TICK)).await;
            edited.extend(files);
            cut = short || more > 0;
            notes.push("not every file is watched: found by time stamps; a file that is gone may be missing".into());
        }
        let basis = Basis::Mark { point: known, created };
        Ok(Some(Changed { edited, gone, touched, basis, phrase, notes, cut }))
    }

    /// The files that differ from a revision.
    async fn revision(&self, revision: &str) -> Result<Changed, Failure> {
        let engine = self.engine;
        let program = engine.around.find("git").map_err(|error| {
            failure(Code::Unavailable, format!("git is needed for `{revision}`: {error}"), "give a mark for `since`")
        })?;
        let git = Git::new(program, &engine.around.vars);
        let left = self.deadline.saturating_duration_since(Instant::now());
        let deadline = Instant::now() + left / SHARE;
        let (mut edited, mut gone, mut before) = (BTreeSet::new(), BTreeSet::new(), HashMap::new());
        let (mut errors, mut touched) = (Vec::new(), Touched::default());
        let roots = engine.ground.roots.all();
        let mut folders: VecDeque<_> =
            roots.iter().map(|root| (root.name.clone(), root.path.clone(), revision.to_owned())).collect();
        let (mut failed, mut left_out) = (0, Vec::new());
        for number in 0.. {
            let Some((name, folder, revision)) = folders.pop_front() else { break };
            let compared = async {
                let commit = git.commit(&folder, &revision, deadline).await?;
                git.differences(&folder, &commit, deadline).await
            };
            let Differences { files: differences, nested } = match compared.await {
                Ok(differences) => differences,
                Err(error) => {
                    failed += usize::from(number < roots.len());
                    errors.push((name, error));
                    continue;
                }
            };
            // A submodule is a repository of its own, at a commit of its own.
            for (path, commit) in nested {
                let shown = engine.ground.roots.display(&path);
                match commit.filter(|_| number < REPOSITORIES && engine.ground.roots.contains(&path)) {
                    Some(commit) => folders.push_back((shown, path, commit)),
                    None => left_out.push(shown),
                }
            }
            let served = |path: &Path| engine.is_served(path) && engine.ground.roots.contains(path);
            let differences: Vec<_> = differences.into_iter().filter(|one| served(&one.path)).collect();
            let objects: Vec<String> = differences.iter().filter_map(|one| one.before.clone()).collect();
            let texts = git.texts(&folder, &objects, deadline).await;
            for one in differences {
                let old = one.before.map(|object| texts.get(&object).cloned().map_or(Before::Unreadable, Before::Text));
                match engine.ground.read(&one.path) {
                    Err(_) if !one.path.exists() => {
                        if let Some(Before::Text(old)) = &old {
                            touched.whole(&one.path, old);
                        }
                        gone.insert(engine.ground.roots.display(&one.path));
                    }
                    // Only touched, or stored with other ends of lines.
                    Ok(now) if matches!(&old, Some(Before::Text(old)) if same_lines(old, &now.text)) => {}
                    now => {
                        match (&old, now) {
                            (Some(Before::Text(old)), Ok(now)) => touched.between(old, &now.text),
                            (None, Ok(now)) => touched.whole(&one.path, &now.text),
                            _ => {}
                        }
                        before.insert(one.path.clone(), old);
                        edited.insert(one.path);
                    }
                }
            }
        }
        if failed == roots.len()
            && let Some((_, error)) = errors.pop()
        {
            return Err(told(error));
        }
        let cut = !errors.is_empty() || !left_out.is_empty();
        let mut notes: Vec<String> =
            errors.iter().map(|(root, error)| format!("{root} is left out: {error}")).collect();
        let why = "a git repository of its own, of which the revision says nothing";
        notes.extend(left_out.iter().take(SHOWN).map(|folder| format!("{folder} is left out: {why}")));
        let phrase = format!("since {revision}");
        let basis = Basis::Revision { before, touched: touched.clone() };
        Ok(Changed { edited, gone, touched, basis, phrase, notes, cut })
    }
}

/// What git could not do, with what helps.
fn told(error: GitError) -> Failure {
    let what = error.to_string();
    match error {
        GitError::Refused { .. } => invalid(what, "give a mark, or one revision such as HEAD or main~2"),
        GitError::NoWorkTree(_) => failure(Code::Unavailable, what, "give a mark for `since`, or leave it out"),
        GitError::Unknown(_) => failure(Code::NotFound, what, "give a revision such as HEAD, or a mark as printed"),
        GitError::Failed(words) => {
            let details = words.lines().take(5).map(str::to_owned).collect();
            Failure { details, ..failure(Code::Failed, what, "see its words below; a mark needs no git") }
        }
        GitError::Capture(_) => failure(Code::Failed, what, "ask again, or give a mark for `since`"),
    }
}
