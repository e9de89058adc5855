//! One life of one server process: its connection, the documents it was told of, and what it has said. Keeps the order
//! of section "order" in one place: watched files, documents, then the request.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::Serialize;
use tokio::time::Instant;

use crate::{
    protocol::{
        self, Connection, Pending, RequestError,
        positions::{Encoding, LineMap},
    },
    registry::{Entry, Launch},
    sys::{
        files::{self, Inode},
        process::Running,
    },
    workspace::{
        disk::{ReadError, Snapshot},
        watch::dependent,
    },
};

use super::{
    documents::{Documents, Notice, Nudge, SyncRules, Text},
    folders::Folders,
    ground::{Ground, Seen},
    heard::Heard,
    query::{Query, Question, Shortfall},
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
    /// Which folder went by the root's name when it was started.
    pub(super) home: Inode,
    pub launch: Launch,
    pub wire: Connection,
    pub heard: Arc<Heard>,
    pub encoding: Encoding,
    pub started: Instant,
    /// The same by the clock that files are stamped with.
    pub(super) started_ns: i128,
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
    /// Commands of the server's own run one at a time: which of them an edit belongs to is not said.
    pub(super) commands: tokio::sync::Mutex<()>,
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
    /// It is being stopped: nothing more is told.
    pub ending: bool,
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
    /// The folder that its root goes by is not there any more, or another one is.
    #[error("its folder is gone")]
    Homeless,
    /// It is being stopped.
    #[error("it is being stopped")]
    Ending,
}

/// Lines of stderr that a message shows.
pub(super) const STDERR_LINES: usize = 5;

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
        let epoch = self.note_sent(&notices, elsewhere, in_steps, &desk.documents, now);
        self.tell(&watched, &notices)?;
        let mut record = self.heard.record();
        let focus = |(path, lines): (PathBuf, _)| {
            let sent = desk.documents.told(&path)?;
            // A server that wants no documents is told nothing: what it reads from the disk is this text.
            record.sent.insert(path.clone(), sent);
            Some(Focus { path, sent, lines, epoch })
        };
        Ok(found.into_iter().filter_map(focus).collect())
    }

    /// Whether a file is on disk as the server was told of it.
    pub(super) fn as_told(&self, ground: &Ground, path: &Path) -> bool {
        let told = self.desk().documents.hash(path);
        ground.read(path).is_ok_and(|snapshot| told.is_none_or(|told| told == snapshot.hash))
    }

    /// Waits until everything that the file system had reported when the question was asked is seen, in ignored folders
    /// too where the server or its definition wants to hear of them.
    pub(super) async fn caught_up_with_disk(&self, ground: &Ground, question: &Question) -> Seen {
        self.follow_wishes(ground).await;
        // A server that was started for this question has read the files after it, and an outline is about one text alone,
        // which is compared with the disk anyway: neither has to wait for what may have happened elsewhere.
        let alone = self.started >= question.asked || question.query == Query::Outline;
        if alone && !ground.watcher.is_watching() {
            return Seen::All;
        }
        ground.barrier().await
    }

    /// Watches what the server and its definition want to hear of although git ignores it.
    pub(super) async fn follow_wishes(&self, ground: &Ground) {
        let folders = self.unfollowed(ground);
        if !folders.is_empty() {
            let (watcher, since) = (ground.watcher.clone(), self.started_ns);
            // Looking through a folder blocks.
            let looking = move || folders.iter().for_each(|folder| _ = watcher.also(folder, since));
            _ = tokio::task::spawn_blocking(looking).await;
        }
    }

    /// Folders that are to be watched although git ignores them, and are not yet.
    fn unfollowed(&self, ground: &Ground) -> Vec<PathBuf> {
        let mut desk = self.desk();
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
        folders.retain(|folder| inside(folder) && !own.contains(folder) && !ground.watcher.covers(&folder.join("any")));
        folders.sort_unstable();
        folders.dedup();
        folders
    }

    /// Whether the same folder as at its start goes by the name of its root.
    pub(super) fn is_at_home(&self) -> bool {
        files::inode(&self.root) == Some(self.home)
    }

    /// Whether the definition wants a new start after a change of this file; installed packages may lie above the root.
    fn asks_for_restart(&self, path: &Path) -> bool {
        let above = || dependent(path).filter(|project| self.root.starts_with(project));
        let installed = || above().and_then(|project| path.strip_prefix(project).ok());
        self.is_among(&self.restarts, path)
            || !self.restarts.is_empty() && installed().is_some_and(|path| self.restarts.is_match(path))
    }

    /// Whether a change tells that the dependencies of this project, or of one around or inside it, have changed.
    fn depends_on(&self, path: &Path) -> bool {
        dependent(path).is_some_and(|project| project.starts_with(&self.root) || self.root.starts_with(project))
    }

    /// Keeps a file open while a question about it is on its way, whatever else has to be opened meanwhile.
    pub(super) fn pin(&self, path: &Path) -> Pin<'_> {
        self.desk().documents.pin(path);
        Pin { session: self, path: path.to_owned() }
    }

    /// Nothing more is told from now on.
    pub(super) fn end(&self) {
        self.desk().ending = true;
    }

    pub(super) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
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
            save: sync.save.is_some(),
            save_text: sync.save.is_some_and(|save| save.include_text),
        }
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
        self.desk().documents.count()
    }

    /// Their paths.
    pub fn open_files(&self) -> Vec<PathBuf> {
        self.desk().documents.paths()
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

/// A question's claim on an open file.
#[derive(Debug)]
pub(super) struct Pin<'a> {
    session: &'a Session,
    path: PathBuf,
}

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        self.session.desk().documents.unpin(&self.path);
    }
}

fn text_of(snapshot: &Snapshot) -> Text {
    Text { text: snapshot.text.clone(), hash: snapshot.hash, serial: snapshot.serial }
}
