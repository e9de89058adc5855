//! One change asked of every server that may have a part in it, and what they answer brought together.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use futures::future::join_all;
use tokio::time::Instant;

use crate::{
    edits::{self, Clash, unite},
    protocol::{positions::Encoding, types::WorkspaceEdit},
    registry::Entry,
    runtime::{
        query::{Answer, Proposal, Query, Question, Reply},
        shortfall::Shortfall,
    },
};

use super::{
    ask::{Ask, Heard},
    file::failure,
    outcome::{Code, Failure, Verdict},
    plan::Change,
    problems::{note, without_the_unsupporting},
};

/// A server that is asked, with the file that stands for its part of the project.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub entry: Arc<Entry>,
    pub root: PathBuf,
    pub file: PathBuf,
    pub language: String,
    pub part: Part,
}

/// What a server has to do with a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Without its answer there is no change.
    Needed,
    /// The change is its own: without its answer there is none, and that it knows of no such event is no news.
    Author,
    /// It should have a part: that it has none is told, and why.
    Expected,
    /// It may have one: that it cannot is no news.
    Possible,
}

/// What all of them want to change.
pub(super) struct Joint {
    pub heard: Vec<Heard>,
    pub change: Change,
    /// What is missing.
    pub notes: Vec<String>,
}

impl Ask<'_> {
    /// Asks them all at once; `None` where none of them can. `fit` is what is done to each edit before.
    ///
    /// # Errors
    /// When one that is needed has not answered, one does not know the whole project yet, or two contradict each other.
    pub(super) async fn ask_together(
        &self,
        asked: &[Asked],
        query: &Query,
        fit: impl Fn(&mut WorkspaceEdit),
    ) -> Result<Option<Joint>, Failure> {
        let each = asked.iter().map(|one| {
            let question = Question {
                file: Some(one.file.clone()),
                language: one.language.clone(),
                query: query.clone(),
                asked: Instant::now(),
                deadline: self.deadline,
            };
            async move { self.ask(&one.entry, &one.root, &question).await }
        });
        let heard = join_all(each).await;
        let mut notes = Vec::new();
        for (one, heard) in asked.iter().zip(&heard) {
            match &heard.result {
                // A part is shown with what it lacks: there is no other way to have it.
                Ok(reply) if !reply.verdict.answered() && reply.verdict != Verdict::Partial => {
                    return Err(self.half_known(heard, reply, "ask again in a moment"));
                }
                Err(Shortfall::Unsupported(wanted)) if matches!(one.part, Part::Needed | Part::Expected) => {
                    notes.push(format!(
                        "{} has no {wanted}: what its files hold is left as it is",
                        self.engine.display(&heard.entry)
                    ));
                }
                Ok(reply) => notes.extend(reply.remarks.iter().cloned()),
                Err(Shortfall::Unsupported(_)) => {}
                Err(shortfall) if matches!(one.part, Part::Needed | Part::Author) => {
                    return Err(self.no_change(heard, shortfall));
                }
                Err(shortfall) => {
                    let name = self.engine.display(&heard.entry);
                    notes.push(format!("what its files hold is left as it is: {}", note(&name, shortfall)));
                }
            }
        }
        // Whose files these are can do nothing about it: that a bystander has nothing to do either is no answer.
        let able = asked.iter().zip(&heard).any(|(one, heard)| one.part != Part::Possible && heard.result.is_ok());
        let heard = without_the_unsupporting(heard);
        if heard.iter().all(|one| one.result.is_err() || !able && proposes_nothing(one, &fit)) {
            return Ok(None);
        }
        let mut answers: Vec<(&Heard, Proposal, Encoding)> = Vec::new();
        for one in &heard {
            let Ok(Reply { answer, encoding, .. }) = &one.result else { continue };
            let Answer::Edit(proposal) = answer else { return Err(super::wrong_kind()) };
            let mut proposal = proposal.clone();
            proposal.edit.as_mut().map(&fit);
            if proposal.edit.as_ref().is_some_and(|edit| !edit.steps.is_empty()) {
                answers.push((one, proposal, *encoding));
            }
        }
        let change = self.one_change(answers)?;
        Ok(Some(Joint { heard, change, notes }))
    }

    /// A server that answers before it has seen the whole project leaves uses out.
    pub(super) fn half_known(&self, heard: &Heard, reply: &Reply, next: &str) -> Failure {
        let name = self.engine.display(&heard.entry);
        let why = reply.reason.clone().unwrap_or_else(|| "it does not know the whole project yet".into());
        let mut refused = failure(Code::Refused, format!("{name}: {why}: its edit may lack uses"), next);
        refused.details.extend(reply.remarks.iter().cloned());
        refused.servers.push(self.part(heard));
        refused
    }

    /// The one edit as it came, several made one.
    fn one_change(&self, mut answers: Vec<(&Heard, Proposal, Encoding)>) -> Result<Change, Failure> {
        if answers.len() < 2 {
            let Some((_, proposal, encoding)) = answers.pop() else { return Ok(Change::default()) };
            let edit = proposal.edit.clone().unwrap_or_default();
            return Ok(Change::of(&proposal, edit, encoding));
        }
        let texts: Vec<_> = answers
            .iter()
            .map(|(_, proposal, _)| {
                |path: &Path| proposal.told.get(path).map(|(snapshot, _)| Arc::clone(&snapshot.text))
            })
            .collect();
        let parts = answers.iter().zip(&texts).filter_map(|((_, proposal, encoding), text)| {
            Some(edits::Part { edit: proposal.edit.as_ref()?, encoding: *encoding, text })
        });
        let name = |part: usize| self.engine.display(&answers[part].0.entry).to_string();
        let edit = unite(&parts.collect::<Vec<_>>()).map_err(|clash| self.clash(clash, &name))?;
        let told = answers.into_iter().flat_map(|(_, proposal, _)| proposal.told).collect();
        Ok(Change { edit, encoding: Encoding::Utf8, told })
    }

    /// Why edits cannot be brought together; `name` says whose each part is.
    pub(super) fn clash(&self, clash: Clash, name: &dyn Fn(usize) -> String) -> Failure {
        let shown = |path: &Path| self.engine.ground.roots.display(path);
        match clash {
            Clash::Steps(part) => {
                let what = format!("{} wants to do more than to replace texts, and others have edits, too", name(part));
                failure(Code::Refused, what, "make the change by other means")
            }
            Clash::Place { path, line, parts: [one, other] } => {
                let place = format!("{}:{}", shown(&path), line + 1);
                let what = format!("{} and {} want different things at {place}", name(one), name(other));
                failure(Code::Conflict, what, "make the change by other means")
            }
            Clash::Inside { path, line, part } => {
                let place = format!("{}:{}", self.engine.ground.roots.display(&path), line + 1);
                let what = format!("{}: a range begins or ends in the middle of a character at {place}", name(part));
                failure(Code::Invalid, what, "the server's edit is no valid one: make the change by other means")
            }
            Clash::Text(path) => {
                let what = format!("{} changed while it was asked about", shown(&path));
                failure(Code::Conflict, what, "ask again")
            }
        }
    }
}

fn proposes_nothing(heard: &Heard, fit: impl Fn(&mut WorkspaceEdit)) -> bool {
    let Ok(Reply { answer: Answer::Edit(proposal), .. }) = &heard.result else { return false };
    let mut edit = proposal.edit.clone().unwrap_or_default();
    fit(&mut edit);
    edit.steps.is_empty()
}
