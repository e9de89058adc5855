//! `lsp/diagnostics`: the problems of a file, of what has changed, or of the whole workspace, from every server that has
//! something to say, with what they are worth.

mod answer;
pub(super) mod budget;
mod changed;
mod choose;
pub(super) mod compare;
mod lanes;
mod memory;
mod mentions;
mod pages;
mod remarks;
pub(super) mod sweep;
mod touched;
mod words;

use std::{
    collections::{BTreeSet, HashSet},
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use self::{
    answer::{Answering, Rank},
    changed::{Basis, Changed, Since},
    choose::Chooser,
    sweep::{Sweep, Target},
};
use super::{
    args::{Args, invalid},
    ask::Ask,
    outcome::{Failure, Outcome},
};
use crate::{
    config::count, protocol::types::Severity, registry::ScopedName, runtime::ground::Seen, sys::files::now_ns,
};

pub(super) use {memory::Memory, touched::Touched};

/// Files that may depend on a changed one and are asked about again.
const DEPENDENTS: usize = 100;

/// Which files a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Scope {
    File,
    Changed,
    Workspace,
}

/// What was asked.
#[derive(Debug, Clone, Hash)]
struct Request {
    scope: Scope,
    file_path: Option<String>,
    least: Severity,
    new_only: bool,
    since: Option<String>,
}

/// Where the world stood before anything was asked.
#[derive(Debug, Clone, Copy)]
struct Moment {
    seen: Seen,
    seq: u64,
    at: i128,
}

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let (request, token) = read(arguments)?;
    let asked = ask.fingerprint_of(&request);
    if let Some(token) = token {
        return ask.resumed(&token, asked).await;
    }
    let at = now_ns();
    let ground = &ask.engine.ground;
    let seen = match request.scope {
        // Its servers are asked after a barrier of their own, and a server that is started for it needs none. The mark only
        // stands early then: what is found of the time before counts as after it.
        Scope::File if !ground.watcher.state().is_settled() => Seen::SoFar,
        _ => ground.barrier().await,
    };
    let moment = Moment { seen, seq: ask.engine.ground.watcher.head(), at };
    let since = ask.since(request.since.as_deref())?;
    match request.scope {
        Scope::File => ask.one(request, asked, moment, &since).await,
        Scope::Changed => ask.what_changed(request, asked, moment, since).await,
        Scope::Workspace => ask.everything(request, asked, moment, &since).await,
    }
}

fn read(arguments: &Map<String, Value>) -> Result<(Request, Option<String>), Failure> {
    let mut args = Args::new(arguments);
    let file_path = args.text("file_path")?;
    let scopes =
        [("file", Some(Scope::File)), ("changed", Some(Scope::Changed)), ("workspace", Some(Scope::Workspace))];
    let scope = args.choice("scope", &scopes, None)?;
    let severities = [
        ("error", Severity::Error),
        ("warning", Severity::Warning),
        ("info", Severity::Info),
        ("hint", Severity::Hint),
    ];
    let least = args.choice("severity", &severities, Severity::Warning)?;
    let new_only = args.switch("new_only", false)?;
    let since = args.text("since")?;
    let token = args.text("cursor")?;
    args.finish()?;
    // Since when something has changed is no question about a file that is not named.
    let fitting = if file_path.is_none() && since.is_some() { Scope::Changed } else { Scope::File };
    let scope = scope.unwrap_or(fitting);
    if scope == Scope::File && file_path.is_none() {
        return Err(invalid("no file is named", "give file_path, or scope: changed or workspace"));
    }
    Ok((Request { scope, file_path, least, new_only, since }, token.filter(|token| !token.is_empty())))
}

impl Ask<'_> {
    /// The problems of one file.
    async fn one(&self, request: Request, asked: u64, moment: Moment, since: &Since) -> Result<Outcome, Failure> {
        let file = self.file(request.file_path.as_deref().unwrap_or_default())?;
        let serving = self.serving(&file)?;
        let (basis, phrase, notes) = match request.new_only {
            true => self.basis(since).await?,
            false if request.since.is_some() => {
                let note = "`since` takes no part here: it goes with new_only, or with scope changed";
                (Basis::None, String::new(), vec![note.to_owned()])
            }
            false => (Basis::None, String::new(), Vec::new()),
        };
        let checked = self.check(Target { file, serving }).await;
        let sweep = Sweep { checked: vec![checked], unreached: 0 };
        let mut answering = Answering::new(self, request, asked, moment, basis, phrase);
        answering.notes = notes;
        answering.still = self.still(moment).await;
        answering.outcome(sweep, |_| Rank::Asked)
    }

    /// The problems of what has changed, and of what may depend on it.
    async fn what_changed(
        &self,
        request: Request,
        asked: u64,
        moment: Moment,
        since: Since,
    ) -> Result<Outcome, Failure> {
        let within = self.within(&request)?;
        let missing = if within.is_none() { self.gone_roots()? } else { Vec::new() };
        let changed = self.changed(since, moment.seen).await?;
        let mut chooser = Chooser::new(self, within.as_deref());
        let mut targets: Vec<Target> = changed.edited.iter().filter_map(|path| chooser.target(path)).collect();
        let beyond = targets.len().saturating_sub(choose::FILES);
        targets.truncate(choose::FILES);
        let edited: HashSet<PathBuf> = targets.iter().map(|target| target.file.path.clone()).collect();
        let (dependents, untouched) = self.dependents(&mut chooser, &targets, &changed).await;
        targets.extend(dependents);
        let mut sweep = self.sweep(targets, None).await;
        sweep.unreached += beyond;
        if let Some(nobody) = chooser.nobody().filter(|_| sweep.is_empty()) {
            return Err(nobody);
        }
        let Changed { gone, basis, phrase, mut notes, cut, .. } = changed;
        let gone: Vec<String> = gone.into_iter().filter(|name| self.is_within(within.as_deref(), name)).collect();
        if !gone.is_empty() {
            let named: Vec<&str> = gone.iter().take(10).map(String::as_str).collect();
            let more = if gone.len() > 10 { format!(" and {} more", gone.len() - 10) } else { String::new() };
            notes.push(format!("gone: {}{more}", named.join(", ")));
        }
        if untouched > 0 {
            let files = count(untouched, "more file", "more files");
            notes.push(format!("not asked again: {files} that may depend on what has changed"));
        }
        notes.extend(chooser.notes());
        let mut answering = Answering::new(self, request, asked, moment, basis, phrase);
        answering.notes = notes;
        answering.still = self.still(moment).await;
        answering.unserved = chooser.has_unserved();
        answering.cut = cut || chooser.left_out() || !missing.is_empty();
        answering.notes.extend(missing);
        answering.outcome(sweep, |path| if edited.contains(path) { Rank::Edited } else { Rank::Dependent })
    }

    /// The problems of everything.
    async fn everything(
        &self,
        request: Request,
        asked: u64,
        moment: Moment,
        since: &Since,
    ) -> Result<Outcome, Failure> {
        let within = self.within(&request)?;
        let missing = if within.is_none() { self.gone_roots()? } else { Vec::new() };
        let (basis, phrase, mut notes) = match request.new_only || request.since.is_some() {
            true => self.basis(since).await?,
            false => (Basis::None, String::new(), Vec::new()),
        };
        let mut walked = choose::walk(self, within.as_deref(), None).await;
        // Should the time not do for all, those first of which something is known already.
        let known: HashSet<PathBuf> = self.known().into_iter().flat_map(|(_, files)| files).collect();
        walked.files.sort_by_key(|path| !known.contains(path));
        let mut chooser = Chooser::new(self, within.as_deref());
        let targets: Vec<Target> = walked.files.iter().filter_map(|path| chooser.target(path)).collect();
        let mut sweep = self.sweep(targets, Some(moment)).await;
        sweep.unreached += walked.more;
        if let Some(nobody) = chooser.nobody().filter(|_| sweep.is_empty()) {
            return Err(nobody);
        }
        notes.extend(chooser.notes());
        if walked.cut {
            notes.push("the workspace is too large to be looked through: there may be more files".into());
        }
        let mut answering = Answering::new(self, request, asked, moment, basis, phrase);
        answering.notes = notes;
        answering.still = self.still(moment).await;
        answering.unserved = chooser.has_unserved();
        answering.cut = walked.cut || chooser.left_out() || !missing.is_empty();
        answering.notes.extend(missing);
        answering.outcome(sweep, |_| Rank::Found)
    }

    /// The folder or file that a call keeps to.
    fn within(&self, request: &Request) -> Result<Option<PathBuf>, Failure> {
        let Some(given) = &request.file_path else { return Ok(None) };
        match self.engine.ground.roots.resolve_any(given) {
            Ok(located) if located.path.is_dir() => Ok(Some(located.path)),
            _ => self.file(given).map(|file| Some(file.path)),
        }
    }

    fn is_within(&self, within: Option<&Path>, shown: &str) -> bool {
        within.is_none_or(|within| {
            let folder = self.engine.ground.roots.display(within);
            folder == "." || Path::new(shown).starts_with(folder)
        })
    }

    /// For each running server its project, and the files of which something is known.
    fn known(&self) -> Vec<((ScopedName, PathBuf), BTreeSet<PathBuf>)> {
        let servers = self.engine.pool.known_files().into_iter();
        servers.map(|(entry, root, files)| ((entry.name.clone(), root), files)).collect()
    }

    /// Files of projects that have changed: those of which something is known, and those that name a changed file or what
    /// it declared on a changed line; with the number of those that are too many.
    async fn dependents(
        &self,
        chooser: &mut Chooser<'_>,
        edited: &[Target],
        changed: &Changed,
    ) -> (Vec<Target>, usize) {
        let mut projects: HashSet<(ScopedName, PathBuf)> = HashSet::new();
        for target in edited {
            let serving = target.serving.answering.iter().chain(&target.serving.linters);
            projects.extend(serving.map(|(entry, root)| (entry.name.clone(), root.clone())));
        }
        for gone in &changed.gone {
            projects.extend(chooser.projects(&self.engine.ground.roots.displayed(gone)));
        }
        let mut candidates: BTreeSet<PathBuf> = BTreeSet::new();
        for (project, files) in self.known() {
            if projects.contains(&project) {
                candidates.extend(files);
            }
        }
        let remembered = self.engine.memory.files().into_iter();
        candidates.extend(remembered.filter(|path| chooser.projects(path).iter().any(|one| projects.contains(one))));
        let mut targets: Vec<Target> = candidates.iter().filter_map(|path| chooser.target(path)).collect();
        let names = mentions::names(edited);
        if !names.is_empty() || !changed.touched.is_empty() {
            let mut others = choose::walk(self, None, None).await.files;
            others.retain(|path| {
                !candidates.contains(path) && chooser.projects(path).iter().any(|one| projects.contains(one))
            });
            let touched = changed.touched.clone();
            let naming = tokio::task::spawn_blocking(move || mentions::naming(others, &names, &touched));
            let naming = naming.await.unwrap_or_default();
            targets.extend(naming.iter().filter_map(|path| chooser.target(path)));
        }
        let beyond = targets.len().saturating_sub(DEPENDENTS);
        targets.truncate(DEPENDENTS);
        (targets, beyond)
    }
}
