//! A search of the whole project for a name: every bound server that can search, in each root that the project's files
//! give it.

use std::{path::PathBuf, sync::Arc};

use futures::future::join_all;
use indexmap::IndexMap;
use tokio::time::Instant;

use crate::{
    config::count,
    protocol::{positions::Encoding, types::SymbolHit},
    registry::{Capability, Entry, Role, ScopedName},
    runtime::query::{Answer, Query, Question, Reply},
    workspace::roots::PathError,
};

use super::{
    ask::{Ask, Heard},
    file::{failure, root_gone},
    outcome::{Code, Failure, ServerVerdict, Verdict},
    short::only_report,
};

/// Servers that one search asks, one after the other where there are more than places for processes; the others are named.
const SERVERS: usize = 64;

/// A server with a root, and a file below it with its language.
type Target = (Arc<Entry>, PathBuf, PathBuf, String);

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub hits: Vec<(SymbolHit, Encoding)>,
    pub servers: Vec<ServerVerdict>,
    pub verdict: Option<Verdict>,
    /// Hits that readers cut off.
    pub beyond: usize,
    /// What langport has to remark.
    pub remarks: Vec<String>,
}

impl Ask<'_> {
    /// Searches for `query`; servers that cannot search take no part.
    ///
    /// # Errors
    /// When no server could be asked.
    pub(super) async fn search(&self, query: &str) -> Result<Search, Failure> {
        let (targets, left_out) = self.searchable().await;
        if targets.is_empty() {
            let entries = self.engine.bound.entries();
            if !entries.is_empty() && entries.iter().all(|entry| entry.def.role == Role::Linter) {
                return Err(only_report(self, &entries.iter().collect::<Vec<_>>()));
            }
            let roots = &self.engine.ground.roots;
            if let Some(gone) = roots.all().iter().find(|root| !root.path.is_dir()) {
                return Err(root_gone(PathError::RootGone(gone.path.clone()).to_string()));
            }
            let next = "give file_path, or put a project below the root that langport was started with";
            return Err(failure(Code::Unavailable, "no bound language server speaks a language of this project", next));
        }
        let asked = targets.iter().map(|(entry, root, file, language)| {
            let question = Question {
                // Some servers know no project before a file of it is open.
                file: Some(file.clone()),
                language: language.clone(),
                query: Query::Symbols { query: query.to_owned() },
                asked: Instant::now(),
                deadline: self.deadline,
            };
            async move { self.ask(entry, root, &question).await }
        });
        let heard: Vec<Heard> = join_all(asked).await;
        let mut search = Search::default();
        let able: Vec<&Heard> = heard
            .iter()
            .filter(|one| !one.result.as_ref().is_err_and(|shortfall| shortfall.verdict() == Verdict::Unsupported))
            .collect();
        let taking_part = if able.is_empty() { heard.iter().collect() } else { able };
        search.servers = each_once(taking_part.iter().map(|one| self.part(one)));
        search.servers.extend(left_out.iter().map(|entry| {
            let reason = format!("not asked: one search asks {SERVERS} servers; give file_path");
            self.verdict_of(entry, Verdict::Unanswered, Some(reason))
        }));
        let verdict = Verdict::combine(search.servers.iter().map(|server| server.verdict));
        search.verdict = Some(verdict);
        if verdict.is_failure() {
            let one = taking_part[0];
            if let Err(shortfall) = &one.result {
                let mut why = self
                    .short(one, shortfall)
                    .err()
                    .unwrap_or_else(|| failure(Code::Failed, "no server answered", "ask again"));
                why.servers = search.servers;
                return Err(why);
            }
        }
        for one in taking_part {
            if let Ok(Reply { answer: Answer::Symbols(hits), encoding, remarks, .. }) = &one.result {
                search.remarks.extend(remarks.iter().cloned());
                search.beyond += hits.total - hits.items.len();
                search.hits.extend(hits.items.iter().map(|hit| (hit.clone(), *encoding)));
            }
        }
        Ok(search)
    }

    /// Each bound primary server that may search, with a root and a file of the project that it serves; and those
    /// that are too many.
    async fn searchable(&self) -> (Vec<Target>, Vec<Arc<Entry>>) {
        let engine = self.engine;
        let samples = engine.present.samples(&engine.ground.roots, &engine.languages).await;
        let mut targets: Vec<Target> = Vec::new();
        let mut left_out: Vec<Arc<Entry>> = Vec::new();
        for sample in samples.iter() {
            for (entry, root) in engine.route(&sample.path, &sample.language, &sample.ceiling).answering {
                let known = targets.iter().any(|(own, at, ..)| own.name == entry.name && *at == root);
                if known || !entry.may(Capability::WorkspaceSymbols) {
                    continue;
                }
                if targets.len() < SERVERS {
                    targets.push((entry, root, sample.path.clone(), sample.language.clone()));
                } else {
                    left_out.push(entry);
                }
            }
        }
        left_out.sort_by(|one, other| one.name.cmp(&other.name));
        left_out.dedup_by(|one, other| one.name == other.name);
        (targets, left_out)
    }
}

/// The parts of several projects' servers, those of one definition as one.
fn each_once(parts: impl Iterator<Item = ServerVerdict>) -> Vec<ServerVerdict> {
    let mut by_server: IndexMap<ScopedName, Vec<ServerVerdict>> = IndexMap::new();
    for part in parts {
        by_server.entry(part.id.clone()).or_default().push(part);
    }
    let one = |parts: Vec<ServerVerdict>| {
        let verdict = Verdict::combine(parts.iter().map(|part| part.verdict));
        let (number, fresh) = (parts.len(), parts.iter().filter(|part| part.verdict == Verdict::Fresh).count());
        let first = parts.first().map(|part| part.reason.clone());
        let alike = parts.iter().all(|part| Some(&part.reason) == first.as_ref());
        let reason = if alike || fresh == number {
            first.flatten()
        } else {
            Some(format!("{fresh} of {}", count(number, "project", "projects")))
        };
        parts.into_iter().next().map(|part| ServerVerdict { verdict, reason, ..part })
    };
    by_server.into_values().filter_map(one).collect()
}
