//! Brings a server in step with the disk before a request, in one order: watched files, documents, then the request.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    protocol::{
        self, FileEvent,
        positions::{Encoding, LineMap},
        uri::path_to_uri,
    },
    registry::Retrigger,
    workspace::{
        disk::{ReadError, Snapshot},
        watch::Change,
    },
};

use super::{
    documents::{Documents, Notice, Nudge, SyncRules, Text},
    ground::Ground,
    session::Session,
    store::Sent,
};

/// A file as the server now knows it.
#[derive(Debug, Clone)]
pub struct Focus {
    pub path: PathBuf,
    pub sent: Sent,
    pub lines: Arc<LineMap>,
    /// The record's epoch after the sync.
    pub epoch: u64,
}

/// Why a file could not be told.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("it is gone")]
    Closed,
    /// More changed on disk than was kept: the server must be started anew to be right.
    #[error("too many files changed at once")]
    Overflow,
    /// The folder that its root goes by is not there any more, or another one is.
    #[error("its folder is gone")]
    Homeless,
    /// It is being stopped.
    #[error("it is being stopped")]
    Ending,
}

impl Session {
    /// Tells the server everything that has changed on disk, and opens `focus`, before a request. Reads the disk under
    /// the desk's lock, so that two callers can never tell an older text after a newer one.
    ///
    /// # Errors
    /// When the focused file cannot be read, or the server is gone.
    pub fn sync(&self, ground: &Ground, focus: Option<(&Path, &str)>) -> Result<Option<Focus>, SyncError> {
        Ok(self.sync_all(ground, focus.as_slice())?.pop())
    }

    /// As [`Session::sync`], but opens several files at once: none of them counts as a change that makes what the server
    /// says of another one old.
    ///
    /// # Errors
    /// As [`Session::sync`], of any of the files: nothing has been told then.
    pub fn sync_all(&self, ground: &Ground, focuses: &[(&Path, &str)]) -> Result<Vec<Focus>, SyncError> {
        self.sync_with(ground, focuses, &[])
    }

    /// As [`Session::sync`], with these files open as well, each with its language.
    ///
    /// # Errors
    /// As [`Session::sync`]; one of the others that cannot be read is left out.
    pub(super) fn sync_beside(
        &self,
        ground: &Ground,
        focus: Option<(&Path, &str)>,
        beside: &[(PathBuf, String)],
    ) -> Result<Option<Focus>, SyncError> {
        Ok(self.sync_with(ground, focus.as_slice(), beside)?.pop())
    }

    fn sync_with(
        &self,
        ground: &Ground,
        focuses: &[(&Path, &str)],
        beside: &[(PathBuf, String)],
    ) -> Result<Vec<Focus>, SyncError> {
        let mut desk = self.desk();
        if desk.ending {
            return Err(SyncError::Ending);
        }
        // A process stays in the folder that it was started in, wherever that goes: it resolves relative paths there, and
        // node fails to start anything once that is gone.
        if !self.is_at_home() {
            return Err(SyncError::Homeless);
        }
        let changes = ground.watcher.since(desk.seen);
        if changes.overflow {
            return Err(SyncError::Overflow);
        }
        if changes.events.iter().any(|change| self.asks_for_restart(&change.path)) {
            return Err(SyncError::Overflow);
        }
        let unasked = self.unasked(&changes.events)?;
        // Before anything counts as told: after an error nothing has been.
        let read = |&(path, language): &(_, _)| ground.read(path).map(|snapshot| (path, language, snapshot));
        let focuses = focuses.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        desk.seen = changes.seq;
        let mut notices = Vec::new();
        let now = Instant::now();
        let rules = |language: &str, path: &Path| self.rules(language, path);
        let mut open = desk.documents.paths();
        // What is asked about comes last: what is said of it is then said of the others' new texts too.
        open.sort_by_key(|path| focuses.iter().any(|(focus, ..)| *focus == path));
        for path in open {
            // Read a moment ago, under the same lock.
            let asked = focuses.iter().find(|(focus, ..)| *focus == path).map(|(.., snapshot)| snapshot.clone());
            match asked.map_or_else(|| ground.read(&path), Ok) {
                Ok(snapshot) => {
                    desk.documents.refresh(&path, &text_of(&snapshot), &rules, now, &mut notices);
                }
                Err(_) => {
                    desk.documents.close(&path, &rules, &mut notices);
                }
            }
        }
        for (path, language) in unasked {
            if let Ok(snapshot) = ground.read(path) {
                desk.documents.update(path, language, &text_of(&snapshot), &rules, now, &mut notices);
            }
        }
        desk.documents.make_room_for(beside.len());
        for (path, language) in beside {
            if let Ok(snapshot) = ground.read(path) {
                desk.documents.update(path, language, &text_of(&snapshot), &rules, now, &mut notices);
            }
        }
        let mut found = Vec::new();
        for (path, language, snapshot) in focuses {
            let told = notices.len();
            desk.documents.update(path, language, &text_of(&snapshot), &rules, now, &mut notices);
            let opened = notices[told..].iter().any(|notice| matches!(notice, Notice::Open { .. }));
            if opened && self.entry.def.diagnostics.on_save {
                desk.documents.again(path, &text_of(&snapshot), Nudge::Save, &rules, now, &mut notices);
            }
            found.push((path.to_owned(), ground.lines(&snapshot)));
        }
        if self.entry.def.watch.by_mtime {
            self.show_backdated(ground, &changes.events, &mut desk.documents, &mut notices);
        }
        let watched = self.watched(&changes.events);
        // Other dependencies: what was said before does not stand, told or not.
        let installed = changes.events.iter().any(|change| self.depends_on(&change.path));
        let elsewhere = !watched.is_empty() || installed || self.concerned(&changes.events);
        let texts = notices.iter().any(|notice| matches!(notice, Notice::Change { .. } | Notice::Close { .. }));
        let in_steps = !watched.is_empty() && texts;
        before_the_last(&mut desk.documents, &notices, now);
        let late =
            if installed || !notices.is_empty() { None } else { self.late(&changes.events, &watched, &desk.documents) };
        let epoch = self.note_sent(&notices, elsewhere, in_steps, late, &desk.documents, now);
        self.tell(&watched, &notices)?;
        let mut record = self.heard.record();
        // To a server that wants no documents nobody says that one is closed.
        record.keep_open(|path| desk.documents.told(path).is_some());
        let focus = |(path, lines): (PathBuf, _)| {
            let sent = desk.documents.told(&path)?;
            // A server that wants no documents is told nothing: what it reads from the disk is this text.
            record.sent.insert(path.clone(), sent);
            Some(Focus { path, sent, lines, epoch })
        };
        Ok(found.into_iter().filter_map(focus).collect())
    }

    /// The one open file that all events are about which the server hears of: its text stands as it was told, before they
    /// came. A server that can be made to look again does so instead: the file may be its own configuration.
    fn late<'a>(
        &self,
        events: &'a [Change],
        watched: &[(String, FileEvent)],
        documents: &Documents,
    ) -> Option<&'a Path> {
        let (uri, _) = watched.first()?;
        let same = watched.iter().all(|(other, kind)| other == uri && *kind != FileEvent::Deleted);
        if !same || self.entry.def.diagnostics.retrigger != Retrigger::None {
            return None;
        }
        let path = &events.iter().find(|event| path_to_uri(&event.path) == *uri)?.path;
        documents.told(path).map(|_| &**path)
    }

    /// Whether a file is on disk as the server was told of it.
    pub(super) fn as_told(&self, ground: &Ground, path: &Path) -> bool {
        let told = self.desk().documents.hash(path);
        ground.read(path).is_ok_and(|snapshot| told.is_none_or(|told| told == snapshot.hash))
    }

    /// Tells a text again that the server knows already, so that it looks again.
    ///
    /// # Errors
    /// When the server is gone.
    pub(super) fn tell_again(&self, ground: &Ground, path: &Path, nudge: Nudge) -> Result<(), SyncError> {
        let mut desk = self.desk();
        // Read under the lock: an older text must not be told after a newer one.
        let snapshot = ground.read(path)?;
        let now = Instant::now();
        let rules = |language: &str, path: &Path| self.rules(language, path);
        let mut notices = Vec::new();
        desk.documents.again(path, &text_of(&snapshot), nudge, &rules, now, &mut notices);
        let mut record = self.heard.record();
        if let Some(sent) = desk.documents.told(path) {
            record.sent.insert(path.to_owned(), sent);
            record.store.tell(path, now);
        }
        if nudge == Nudge::Reopen {
            record.opened.insert(path.to_owned());
        }
        drop(record);
        self.tell(&[], &notices)
    }

    pub(super) fn rules(&self, language: &str, path: &Path) -> SyncRules {
        let sync = self.heard.record().effective.sync(language, path);
        SyncRules {
            open_close: sync.open_close,
            change: sync.change != protocol::ChangeKind::None,
            separated: self.encoding == Encoding::EcmaScript && sync.change == protocol::ChangeKind::Incremental,
            save: sync.save.is_some(),
            save_text: sync.save.is_some_and(|save| save.include_text),
        }
    }
}

/// Several texts have changed, and are told one after the other: what is said of one may be said before the next is
/// known. Only the last one counts as told when everything was.
fn before_the_last(documents: &mut Documents, notices: &[Notice], now: Instant) {
    let changes = notices.iter().rev().filter_map(|notice| match notice {
        Notice::Change { path, .. } => Some(path),
        _ => None,
    });
    let earlier = now.checked_sub(Duration::from_nanos(1)).unwrap_or(now);
    for path in changes.skip(1) {
        documents.told_at(path, earlier);
    }
}

fn text_of(snapshot: &Snapshot) -> Text {
    Text { text: snapshot.text.clone(), hash: snapshot.hash, serial: snapshot.serial }
}
