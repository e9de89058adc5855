//! What a server pushes of a file that it is pulled for. Several changes are told one after the other, and between two of
//! them a server may look at the first with the second as it was, and push that: what it answers comes after all of them,
//! what it pushes need not.

use std::{path::Path, sync::Arc, time::Duration};

use tokio::time::Instant;

use crate::{protocol::types::Listed, registry::DiagnosticMode};

use super::{
    ground::Ground,
    heard::Record,
    session::Session,
    shortfall::Shortfall,
    store::{Push, Pushed},
    sync::Focus,
};

/// Quiet after work that should have ended in another list, before the one that is there counts all the same.
const OWED: Duration = Duration::from_secs(3);

/// A server with a learnt delay that stays silent for this many delays (and the settle time) has nothing to say.
const PATIENCE: u32 = 3;
/// The least wait before silence counts as an answer of its own kind.
const LEAST_PATIENCE: Duration = Duration::from_millis(1_500);

/// What is to be made of a pushed list beside what was pulled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// It says nothing that was not pulled, or does not count.
    Nothing,
    /// It says more, and has been quiet for long enough.
    Settled,
    /// It says more, and may be replaced; until then at the least. Without a time it is still at work.
    Unsettled(Option<Instant>),
    /// It would say more, and could not be kept.
    Lost,
}

impl Session {
    /// Where the pushed list of the focused file stands, which was pulled.
    pub(super) fn beside(&self, record: &Record, focus: &Focus, now: Instant) -> Beside {
        let state = record.store.push_state(&focus.path, focus.sent, record.changed_at(&focus.path), now);
        let reports = record.store.reports(&focus.path, focus.sent.version);
        let (quiet, empty, versioned, more) = match state {
            Push::Current { quiet, empty, versioned, more } => (quiet, empty, versioned, more),
            Push::Lost if self.counts_beside(!reports.is_empty()) => return Beside::Lost,
            _ => return Beside::Nothing,
        };
        if !self.counts_beside(!reports.is_empty()) || !says_more(record, focus, reports) {
            return Beside::Nothing;
        }
        let settle = self.settle(record, &focus.path, empty, versioned, more);
        // The last word about its own text (`final`) is none about those that were told after it.
        if quiet < settle {
            Beside::Unsettled(Some(now + (settle - quiet)))
        } else if record.at_work(&focus.path, now) {
            Beside::Unsettled(None)
        } else {
            Beside::Settled
        }
    }

    /// Some servers publish nothing when nothing changed: past several times the usual delay, silence says so.
    pub(super) fn silence_counts(
        &self,
        record: &Record,
        focus: &Focus,
        now: Instant,
        at_work: bool,
        ready: bool,
    ) -> bool {
        ready && !at_work && self.silence_ends(record, focus).is_some_and(|at| now >= at)
    }

    pub(super) fn silence_ends(&self, record: &Record, focus: &Focus) -> Option<Instant> {
        // One list has come where two were to: pyrefly makes one of several changes told at once, now and then. It is made
        // to speak again as soon as it is quiet.
        if let Some(came) = record.store.crossed_at(&focus.path).filter(|_| self.can_confirm()) {
            return Some(came + self.limits.empty);
        }
        let patience = record.store.usual_delay()? * PATIENCE + self.limits.empty;
        Some(focus.sent.at.max(record.changed_at(&focus.path)) + patience.max(LEAST_PATIENCE))
    }

    /// What it says of the text is not known: its list could not be kept.
    pub(super) fn lost(&self, ground: &Ground, focus: &Focus) -> Shortfall {
        let record = self.heard.record();
        let why = record.store.lost(&focus.path, focus.sent).unwrap_or("could not be kept").to_owned();
        Shortfall::Lost { file: ground.roots.display(&focus.path), why }
    }

    /// Whether what is pushed of a file counts at all, where it was pulled.
    pub(super) fn counts_beside(&self, pulled: bool) -> bool {
        let definition = &self.entry.def.diagnostics;
        !(pulled && (definition.pull_complete || definition.mode == DiagnosticMode::Pull))
    }

    /// How long it has to be quiet after a pushed list; `more`: the server has begun to make another one.
    pub(super) fn settle(&self, record: &Record, path: &Path, empty: bool, versioned: bool, more: bool) -> Duration {
        let settle = match (empty, self.entry.def.diagnostics.empty_ms) {
            (false, _) => self.limits.settle,
            (true, Some(_)) => self.limits.empty,
            (true, None) => record.store.empty_settle(path, self.limits.empty),
        };
        let settle = if more { settle.max(OWED) } else { settle };
        // Without version, a list that was on its way before the change looks like one that came after it.
        if versioned { settle } else { settle.max(record.store.usual_delay().unwrap_or_default()) }
    }
}

/// Whether the pushed list has a finding that none of these has.
fn says_more(record: &Record, focus: &Focus, reports: Vec<Arc<Listed>>) -> bool {
    let Some(pushed) = record.store.pushed(&focus.path).map(Pushed::list).filter(|list| !list.is_empty()) else {
        return false;
    };
    let known = Listed::merge(&reports).told().sum();
    Listed::merge(reports.into_iter().chain([pushed])).told().sum() > known
}
