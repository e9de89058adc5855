//! Whole answers whose rest may still be asked for: a cursor goes on in what was said then, as long as the files are as
//! they were.

use std::path::PathBuf;

use super::memory::hash;
use crate::tools::{
    ask::Ask,
    cursor::{self, CursorError},
    outcome::{Body, Failure, Outcome, Page, Problem, ServerVerdict, Verdict},
};

/// An answer, with what it rests on.
#[derive(Debug)]
pub(super) struct Kept {
    pub fingerprint: u64,
    /// What was asked.
    pub asked: u64,
    pub generation: u64,
    /// Where the watcher's log stood.
    pub seq: u64,
    /// The files that were looked at, with the hashes of their texts.
    pub texts: Vec<(PathBuf, u64)>,
    pub listed: Vec<Problem>,
    pub verdict: Verdict,
    pub servers: Vec<ServerVerdict>,
    pub summary: String,
    pub notes: Vec<String>,
    pub details: Vec<String>,
    pub mark: String,
    /// Errors, warnings, infos, hints: all that were told, listed or not.
    pub counts: [usize; 4],
    /// Problems on one page.
    pub page: usize,
}

impl Kept {
    /// The answer from this problem on.
    pub(super) fn outcome(&self, offset: usize) -> Outcome {
        let items = self.listed.iter().skip(offset).take(self.page).cloned().collect();
        Outcome {
            verdict: self.verdict,
            servers: self.servers.clone(),
            summary: self.summary.clone(),
            notes: if offset == 0 { self.notes.clone() } else { Vec::new() },
            details: if offset == 0 { self.details.clone() } else { Vec::new() },
            body: Body::Problems(items),
            page: Page {
                offset,
                total: self.listed.len(),
                fingerprint: self.fingerprint,
                mark: Some(self.mark.clone()),
                counts: Some(self.counts),
            },
        }
    }
}

impl Ask<'_> {
    /// Goes on where an answer stopped.
    ///
    /// # Errors
    /// `invalid` for what is no cursor of this tool, `expired` where the answer is forgotten, belongs to another question
    /// or is out of date.
    pub(super) async fn resumed(&self, token: &str, asked: u64) -> Result<Outcome, Failure> {
        let cursor = cursor::decode(self.tool, token)?;
        let kept = self.engine.memory.kept(cursor.fingerprint).ok_or(CursorError::Stale)?;
        let ground = &self.engine.ground;
        ground.barrier().await;
        let changes = ground.watcher.since(kept.seq);
        let touched = changes.overflow || changes.events.iter().any(|change| self.engine.concerns(&change.path));
        let same = |(path, then): &(PathBuf, u64)| ground.read(path).is_ok_and(|now| hash(&now.text) == *then);
        let current = kept.asked == asked && kept.generation == self.engine.registry.generation();
        if !current || touched || !kept.texts.iter().all(same) {
            return Err(CursorError::Stale.into());
        }
        Ok(kept.outcome(cursor.offset))
    }
}
