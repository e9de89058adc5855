//! One life of one server process: its connection, the documents it was told of, and what it has said. Keeps the order
//! of section "order" in one place: watched files, documents, then the request.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    protocol::{
        self, Connection, FileEvent, Pending, RequestError,
        positions::{Encoding, LineMap},
        uri::path_to_uri,
    },
    registry::{Entry, Launch},
    sys::process::Running,
    workspace::{
        disk::{ReadError, Snapshot},
        watch::{Change, Kind},
    },
};

use super::{
    documents::{Documents, Notice, Nudge, SyncRules, Text},
    folders::Folders,
    ground::{Ground, Seen},
    heard::Heard,
    query::Shortfall,
    signs::Signs,
    stderr::StderrRing,
    store::Sent,
    turns::Turns,
};

/// One life of a server.
#[derive(Debug)]
pub struct Session {
    /// Rises with every session of the program: never confused with a name.
    pub number: u64,
    pub entry: Arc<Entry>,
    pub root: PathBuf,
    pub launch: Launch,
    pub wire: Connection,
    pub heard: Arc<Heard>,
    pub encoding: Encoding,
    pub started: Instant,
    /// How long spawn and handshake took.
    pub handshake: Duration,
    pub stderr: Arc<StderrRing>,
    pub(super) process: Option<Running>,
    pub(super) limits: SessionLimits,
    /// Files that the server hears of without having asked.
    pub(super) listens: globset::GlobSet,
    /// Files whose change asks for a new start.
    pub(super) restarts: globset::GlobSet,
    pub(super) desk: Mutex<Desk>,
    /// Two project-wide answers have agreed since the start.
    pub(super) agreed: std::sync::atomic::AtomicBool,
    pub(super) last_used: Mutex<Instant>,
    pub(super) in_use: AtomicU64,
    /// Questions at once: fewer than requests may be pending, since one question takes several.
    pub(super) turns: Turns,
    pub(super) signs: Signs,
    /// The folders that it serves: its root, and others where it can.
    pub(super) folders: Folders,
}

/// The waits of one session.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    /// One request.
    pub request_timeout: Duration,
    /// Quiet that a pushed list needs before it counts; an empty one.
    pub settle: Duration,
    pub empty: Duration,
}

/// What is told about files, in order: whoever tells holds the desk.
#[derive(Debug)]
pub(super) struct Desk {
    pub documents: Documents,
    /// The watcher's changes up to here have been told.
    pub seen: u64,
    /// The registrations of this revision are followed by the watcher.
    pub followed: Option<u64>,
}

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
}

/// Lines of stderr that a message shows.
pub(super) const STDERR_LINES: usize = 5;

/// LSP `FileChangeType` of a file that is still there.
const CHANGED: u8 = 2;

/// Files that one `didChangeWatchedFiles` names at the most.
const WATCHED_BATCH: usize = 2_000;

impl Session {
    /// Tells the server everything that has changed on disk, and opens `focus`, before a request. Reads the disk under
    /// the desk's lock, so that two callers can never tell an older text after a newer one.
    ///
    /// # Errors
    /// When the focused file cannot be read, or the server is gone.
    pub fn sync(&self, ground: &Ground, focus: Option<(&Path, &str)>) -> Result<Option<Focus>, SyncError> {
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        let changes = ground.watcher.since(desk.seen);
        if changes.overflow {
            return Err(SyncError::Overflow);
        }
        if changes.events.iter().any(|change| self.is_among(&self.restarts, &change.path)) {
            return Err(SyncError::Overflow);
        }
        let unasked = self.unasked(&changes.events)?;
        // Before anything counts as told: after an error nothing has been.
        let focus = focus.map(|(path, language)| ground.read(path).map(|read| (path, language, read))).transpose()?;
        desk.seen = changes.seq;
        let mut notices = Vec::new();
        let now = Instant::now();
        let rules = |language: &str, path: &Path| self.rules(language, path);
        for path in desk.documents.paths() {
            match ground.read(&path) {
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
        let mut found = None;
        if let Some((path, language, snapshot)) = focus {
            let told = notices.len();
            desk.documents.update(path, language, &text_of(&snapshot), &rules, now, &mut notices);
            let opened = notices[told..].iter().any(|notice| matches!(notice, Notice::Open { .. }));
            if opened && self.entry.def.diagnostics.on_save {
                desk.documents.again(path, &text_of(&snapshot), Nudge::Save, &rules, now, &mut notices);
            }
            found = Some((path.to_owned(), ground.lines(&snapshot)));
        }
        if self.entry.def.watch.by_mtime {
            self.show_backdated(ground, &changes.events, &mut desk.documents, &mut notices);
        }
        let watched = self.watched(&changes.events);
        let elsewhere = !watched.is_empty() || self.concerned(&changes.events);
        let epoch = self.note_sent(&notices, elsewhere, &desk.documents, now);
        self.tell(&watched, &notices)?;
        Ok(found.and_then(|(path, lines)| {
            let sent = desk.documents.told(&path)?;
            // A server that wants no documents is told nothing: what it reads from the disk is this text.
            self.heard.record().sent.insert(path.clone(), sent);
            Some(Focus { path, sent, lines, epoch })
        }))
    }

    /// Whether a file is on disk as the server was told of it.
    pub(super) fn as_told(&self, ground: &Ground, path: &Path) -> bool {
        let told = self.desk.lock().unwrap_or_else(PoisonError::into_inner).documents.hash(path);
        ground.read(path).is_ok_and(|snapshot| told.is_none_or(|told| told == snapshot.hash))
    }

    /// Waits until everything that the file system has reported is seen, in ignored folders too where the server or
    /// its definition wants to hear of them.
    pub(super) async fn caught_up_with_disk(&self, ground: &Ground) -> Seen {
        let folders = self.unfollowed(ground);
        if !folders.is_empty() {
            let watcher = ground.watcher.clone();
            // Looking through a folder blocks.
            let looking = move || folders.iter().for_each(|folder| _ = watcher.also(folder));
            _ = tokio::task::spawn_blocking(looking).await;
        }
        ground.barrier().await
    }

    /// Folders that are to be watched although git ignores them, and are not yet.
    fn unfollowed(&self, ground: &Ground) -> Vec<PathBuf> {
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        let record = self.heard.record();
        let revision = record.effective.revision();
        if desk.followed == Some(revision) {
            return Vec::new();
        }
        desk.followed = Some(revision);
        let registered = record.effective.watches().map(protocol::Watch::prefix);
        let defined = self.entry.def.watch.paths.iter().map(PathBuf::from);
        let own = self.folders.all();
        let wanted: Vec<PathBuf> = registered.chain(defined).collect();
        let mut folders: Vec<PathBuf> = own.iter().flat_map(|own| wanted.iter().map(|it| own.join(it))).collect();
        let inside = |folder: &PathBuf| own.iter().any(|own| folder != own && folder.starts_with(own));
        folders.retain(|folder| inside(folder) && !own.contains(folder) && !ground.watcher.covers(folder));
        folders.sort_unstable();
        folders.dedup();
        folders
    }

    /// Tells a text again that the server knows already, so that it looks again.
    ///
    /// # Errors
    /// When the server is gone.
    pub(super) fn tell_again(&self, ground: &Ground, path: &Path, nudge: Nudge) -> Result<(), SyncError> {
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
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
            save: sync.save.is_some(),
            save_text: sync.save.is_some_and(|save| save.include_text),
        }
    }

    /// Puts what is about to be told into the record, before it is told: whatever arrives meanwhile is measured by it.
    fn note_sent(&self, notices: &[Notice], elsewhere: bool, documents: &Documents, now: Instant) -> u64 {
        let mut record = self.heard.record();
        for notice in notices {
            match notice {
                Notice::Open { path, .. } | Notice::Change { path, .. } => {
                    if let Some(sent) = documents.told(path) {
                        record.sent.insert(path.clone(), sent);
                        record.store.tell(path, now);
                    }
                    if matches!(notice, Notice::Open { .. }) {
                        record.opened.insert(path.clone());
                    }
                }
                Notice::Close { path } => {
                    record.opened.remove(path);
                    record.sent.remove(path);
                    record.store.forget(path);
                }
                Notice::Save { .. } => {}
            }
        }
        if elsewhere {
            record.elsewhere_at = Some(now);
        }
        if elsewhere || !notices.is_empty() {
            record.epoch += 1;
            record.epoch_at = now;
            record.store.changed_elsewhere(now);
        }
        record.epoch
    }

    /// Whether a path below the root is one of these.
    fn is_among(&self, globs: &globset::GlobSet, path: &Path) -> bool {
        !globs.is_empty() && self.folders.relative(path).is_some_and(|path| globs.is_match(path))
    }

    /// The changes that this server has asked to hear of.
    fn watched(&self, events: &[Change]) -> Vec<(String, u8)> {
        if events.is_empty() {
            return Vec::new();
        }
        let mut record = self.heard.record();
        let roots = self.folders.all();
        let wanted: Vec<_> = events
            .iter()
            .filter_map(|change| {
                let (event, kind) = match change.kind {
                    Kind::Created => (FileEvent::Created, 1),
                    Kind::Changed => (FileEvent::Changed, CHANGED),
                    Kind::Deleted => (FileEvent::Deleted, 3),
                };
                let wanted =
                    record.effective.wants(&change.path, event, &roots) || self.is_among(&self.listens, &change.path);
                wanted.then(|| (change, path_to_uri(&change.path), kind))
            })
            .collect();
        let now = Instant::now();
        for (change, _, kind) in &wanted {
            if *kind != CHANGED {
                record.readiness.came_or_went(&change.path, now);
            }
        }
        wanted.into_iter().map(|(_, uri, kind)| (uri, kind)).collect()
    }

    fn tell(&self, watched: &[(String, u8)], notices: &[Notice]) -> Result<(), SyncError> {
        for batch in watched.chunks(WATCHED_BATCH) {
            let changes: Vec<_> = batch.iter().map(|(uri, kind)| json!({"uri": uri, "type": kind})).collect();
            self.notify("workspace/didChangeWatchedFiles", &json!({"changes": changes}))?;
        }
        for notice in notices {
            match notice {
                Notice::Open { path, language, version, text } => {
                    let document =
                        OpenDocument { uri: path_to_uri(path), language_id: language, version: *version, text };
                    self.notify("textDocument/didOpen", &Opened { text_document: document })?;
                }
                Notice::Change { path, version, text } => {
                    // A change without range is the whole text, for both kinds of synchronisation.
                    let text_document = Versioned { uri: path_to_uri(path), version: *version };
                    self.notify(
                        "textDocument/didChange",
                        &Changed { text_document, content_changes: [Whole { text }] },
                    )?;
                }
                Notice::Save { path, text } => {
                    let text_document = Identified { uri: path_to_uri(path) };
                    self.notify("textDocument/didSave", &Saved { text_document, text: text.as_deref() })?;
                }
                Notice::Close { path } => {
                    self.notify("textDocument/didClose", &json!({"textDocument": {"uri": path_to_uri(path)}}))?;
                }
            }
        }
        Ok(())
    }

    fn notify(&self, method: &str, params: &impl Serialize) -> Result<(), SyncError> {
        self.wire.notify(method, params).map_err(|_| SyncError::Closed)
    }

    /// Enqueues a request; it is on its way before the returned future is first polled.
    ///
    /// # Errors
    /// When the server is gone, or too much waits for it already.
    pub fn request(&self, method: &str, params: &impl Serialize, timeout: Duration) -> Result<Pending, RequestError> {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.wire.request(method, params, timeout)
    }

    /// Why nothing more can come from this session.
    pub fn died(&self) -> Shortfall {
        let exit = self.process.as_ref().and_then(Running::exit);
        let reason = match (exit, self.wire.close_reason()) {
            (Some(exit), _) => exit.to_string(),
            (None, Some(reason)) => reason.to_string(),
            (None, None) => "its connection closed".into(),
        };
        Shortfall::Died { reason, stderr: self.last_words() }
    }

    /// The last lines of its stderr.
    pub fn last_words(&self) -> Vec<String> {
        self.stderr.last(STDERR_LINES)
    }

    /// The server's own process id, where langport started it.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Running::pid)
    }

    /// Open documents.
    pub fn open_documents(&self) -> usize {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner).documents.count()
    }

    /// When it was last asked something.
    pub fn last_used(&self) -> Instant {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the session as in use until the guard is dropped: it is then not stopped to make room.
    pub fn hold(self: &Arc<Self>) -> Hold {
        self.in_use.fetch_add(1, Ordering::Relaxed);
        Hold(self.clone())
    }

    /// Whether any call holds it.
    pub fn is_held(&self) -> bool {
        self.in_use.load(Ordering::Relaxed) > 0
    }
}

/// A call's claim on a session.
#[derive(Debug)]
pub struct Hold(Arc<Session>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.in_use.fetch_sub(1, Ordering::Relaxed);
        *self.0.last_used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

fn text_of(snapshot: &Snapshot) -> Text {
    Text { text: snapshot.text.clone(), hash: snapshot.hash, serial: snapshot.serial }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Opened<'a> {
    text_document: OpenDocument<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OpenDocument<'a> {
    uri: String,
    language_id: &'a str,
    version: i32,
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Changed<'a> {
    text_document: Versioned,
    content_changes: [Whole<'a>; 1],
}

#[derive(Serialize)]
struct Versioned {
    uri: String,
    version: i32,
}

#[derive(Serialize)]
struct Whole<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Saved<'a> {
    text_document: Identified,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

#[derive(Serialize)]
struct Identified {
    uri: String,
}
