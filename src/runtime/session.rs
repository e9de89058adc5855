//! One life of one server process: its connection, the documents it was told of, what it has said, and who uses it. How
//! it is told of the disk is in `sync`.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::Serialize;
use tokio::time::Instant;

use crate::{
    protocol::{self, CloseReason, Connection, Pending, RequestError, positions::Encoding},
    registry::{Entry, Launch, Surroundings},
    sys::{
        blocking::blocking,
        files::{self, Inode},
        process::Running,
    },
    workspace::watch::dependent,
};

use super::{
    commands::{Commands, Running as RunningCommand},
    documents::Documents,
    folders::Folders,
    ground::{Ground, Seen},
    heard::Heard,
    query::{Query, Question},
    reach::Sight,
    shortfall::Shortfall,
    signs::Signs,
    stderr::StderrRing,
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
    pub(super) commands: Commands,
    /// Questions at once: fewer than requests may be pending, since one question takes several.
    pub(super) turns: Turns,
    pub(super) signs: Signs,
    pub(super) sight: Sight,
    /// The folders that it serves: its root, and others where it can.
    pub(super) folders: Folders,
    pub(super) around: Surroundings,
}

/// The waits of one session.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    /// One request.
    pub request_timeout: Duration,
    /// Quiet that a pushed list needs before it counts; an empty one.
    pub settle: Duration,
    pub empty: Duration,
    /// Documents that are open at once.
    pub documents: usize,
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

/// Lines of stderr that a message shows.
pub(super) const STDERR_LINES: usize = 5;

impl Session {
    /// Waits until everything that the file system had reported when the question was asked is seen, in ignored folders
    /// too where the server or its definition wants to hear of them.
    pub(super) async fn caught_up_with_disk(&self, ground: &Ground, question: &Question) -> Seen {
        self.follow_wishes(ground).await;
        // A server that was started for this question has read the files after it, and an outline is about one text alone,
        // which is compared with the disk anyway: neither has to wait for what may have happened elsewhere.
        let alone = self.started >= question.asked || matches!(question.query, Query::Outline { .. });
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
    pub(super) fn asks_for_restart(&self, path: &Path) -> bool {
        let above = || dependent(path).filter(|project| self.root.starts_with(project));
        let installed = || above().and_then(|project| path.strip_prefix(project).ok());
        self.is_among(&self.restarts, path)
            || !self.restarts.is_empty() && installed().is_some_and(|path| self.restarts.is_match(path))
    }

    /// Whether a change tells that the dependencies of this project, or of one around or inside it, have changed.
    pub(super) fn depends_on(&self, path: &Path) -> bool {
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
        match self.desk.try_lock() {
            Ok(desk) => desk,
            Err(TryLockError::Poisoned(desk)) => desk.into_inner(),
            // Who has it may be reading files.
            Err(TryLockError::WouldBlock) => blocking(|| self.desk.lock().unwrap_or_else(PoisonError::into_inner)),
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
            // Many end by themselves once they are not listened to any more: that alone says nothing.
            (Some(exit), Some(reason @ (CloseReason::Frame(_) | CloseReason::Deaf(_)))) => {
                format!("{reason}, and ended with {exit}")
            }
            (Some(exit), _) => exit.to_string(),
            (None, Some(reason)) => reason.to_string(),
            (None, None) => "its connection closed".into(),
        };
        Shortfall::Died { command: self.launch.command(), reason, stderr: self.last_words() }
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

    /// The command of its own that it runs.
    pub fn command(&self) -> Option<RunningCommand> {
        self.commands.running()
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
        *self.0.last_used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.in_use.fetch_sub(1, Ordering::Relaxed);
        self.0.heard.let_go();
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
