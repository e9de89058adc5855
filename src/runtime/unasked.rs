//! What is done for servers that hear of no file but the open ones: neither do they watch, nor do they ask langport to.

use std::{collections::BTreeMap, path::Path, time::Duration};

use tokio::time::Instant;

use crate::{
    registry::Retrigger,
    workspace::watch::{Change, Kind},
};

use super::{
    ground::Ground,
    query::Question,
    session::Session,
    shortfall::Shortfall,
    sync::{Focus, SyncError},
};

impl Session {
    /// The closed files that have to be opened because they have changed, with their languages.
    ///
    /// # Errors
    /// They are too many, or one is gone, which no document can tell: a new start is right.
    pub(super) fn unasked<'a>(&self, events: &'a [Change]) -> Result<Vec<(&'a Path, &'static str)>, SyncError> {
        let Some(limit) = self.entry.def.watch.open_changed else { return Ok(Vec::new()) };
        let mut kinds: BTreeMap<&Path, (Kind, Kind)> = BTreeMap::new();
        for change in events.iter().filter(|change| !change.folder && self.is_part(&change.path)) {
            kinds.entry(&change.path).and_modify(|(_, last)| *last = change.kind).or_insert((change.kind, change.kind));
        }
        let mut changed = Vec::new();
        for (path, (first, last)) in kinds {
            let Some(language) = self.speaks(path) else { continue };
            match (first, last) {
                // It came and went: nobody has read it.
                (Kind::Created, Kind::Deleted) => {}
                (_, Kind::Deleted) => return Err(SyncError::Overflow),
                _ => changed.push((path, language)),
            }
        }
        if changed.len() > usize::try_from(limit).unwrap_or(usize::MAX) {
            Err(SyncError::Overflow)
        } else {
            Ok(changed)
        }
    }

    /// Whether texts may depend on what has changed, as far as anybody can tell who does not know the language.
    pub(super) fn concerned(&self, events: &[Change]) -> bool {
        self.entry.def.diagnostics.retrigger != Retrigger::None
            && events.iter().any(|change| self.is_part(&change.path))
    }

    /// Whether a file belongs to the project: caches and indexes lie in hidden folders.
    fn is_part(&self, path: &Path) -> bool {
        let Some(folder) = self.folders.relative(path) else { return false };
        let Some(folder) = folder.parent() else { return false };
        !folder.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
    }

    /// Reopens a file before it is asked about, where the server only then sees that what it depends on has changed.
    pub(super) fn up_to_date(&self, ground: &Ground, focus: Focus) -> Result<Focus, Shortfall> {
        let older = focus.sent.at < self.heard.record().epoch_at;
        if older && self.entry.def.diagnostics.retrigger == Retrigger::Reopen {
            return self.retrigger(ground, focus);
        }
        Ok(focus)
    }

    /// Waits, after a change elsewhere, for the server's wish to be pulled anew: only then has it looked at what depends
    /// on the change. Where nothing does, the wish may not come.
    pub(super) async fn wait_refresh(&self, focus: &Focus, question: &Question) {
        let Some(longest) = self.entry.def.diagnostics.refresh_ms.map(Duration::from_millis) else { return };
        let mut news = self.heard.news();
        loop {
            news.mark_unchanged();
            let Some(changed) = self.heard.record().unrefreshed(&focus.path) else { return };
            let end = question.deadline.min(changed + longest);
            if self.wire.is_closed() || Instant::now() >= end {
                return;
            }
            self.wait_news(&mut news, end).await;
        }
    }

    /// Waits until the server has pushed a list for every text that it was told, where the definition says that only
    /// then it knows them; false when the time was over first.
    pub(super) async fn wait_published(&self, question: &Question) -> bool {
        if !self.entry.def.ready.published {
            return true;
        }
        let end = Instant::now() + question.left() / 2;
        let mut news = self.heard.news();
        loop {
            news.mark_unchanged();
            if self.heard.record().all_published() {
                return true;
            }
            if self.wire.is_closed() || Instant::now() >= end {
                return false;
            }
            self.wait_news(&mut news, end).await;
        }
    }
}
