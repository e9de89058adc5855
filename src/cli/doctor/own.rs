//! What can be said of langport itself: its program, its folders, its configuration, and how it watches files.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Serialize;
use tokio::time::timeout;

use super::Surroundings;
use crate::{runtime::ground::Ground, sys::files, workspace::watch::State};

/// How long the set-up of the watcher is waited for: it goes on in the background when langport serves.
const SETTING_UP: Duration = Duration::from_secs(5);

/// langport itself.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Own {
    pub version: &'static str,
    pub program: String,
    pub folders: Vec<Folder>,
    /// Managed configuration is there, and takes the place of the user's.
    pub managed: bool,
    /// Definitions that are known.
    pub definitions: usize,
    /// What is wrong with settings and definitions; each is left out, the rest works.
    pub problems: Vec<String>,
    pub watcher: Watching,
}

/// One of langport's own folders.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Folder {
    pub purpose: &'static str,
    pub path: String,
    pub state: FolderState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FolderState {
    Writable,
    /// It is made when something is written.
    Absent,
    ReadOnly,
    /// Something else has its name.
    NotAFolder,
}

/// How the workspace is watched.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Watching {
    pub folder: String,
    pub state: &'static str,
    pub says: String,
}

impl Own {
    /// What is known at once.
    pub(super) fn of(
        around: &Surroundings,
        workspace: &[PathBuf],
        ground: &Ground,
        definitions: usize,
        problems: Vec<String>,
    ) -> Self {
        let dirs = &around.dirs;
        let program = std::env::current_exe().map_or_else(|error| error.to_string(), |path| path.display().to_string());
        let folders = [("configuration", &dirs.config), ("state", &dirs.state), ("data", &dirs.data)];
        let folder = workspace.first().map(|folder| folder.display().to_string()).unwrap_or_default();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            program,
            folders: folders.map(|(purpose, path)| Folder::of(purpose, path)).into(),
            managed: dirs.managed.is_dir(),
            definitions,
            problems,
            watcher: Watching::of(folder, &ground.watcher.state()),
        }
    }

    /// The same once the watcher has found all folders, or enough time has passed.
    pub(super) async fn settled(mut self, ground: &Ground) -> Self {
        let mut states = ground.watcher.states();
        // Where it is still at work then, just that is told.
        let _ = timeout(SETTING_UP, states.wait_for(|state| !matches!(state, State::SettingUp { .. }))).await;
        self.watcher = Watching::of(self.watcher.folder, &ground.watcher.state());
        self
    }

    /// Whether nothing stands in langport's way.
    pub(super) fn ok(&self) -> bool {
        let usable = |folder: &Folder| matches!(folder.state, FolderState::Writable | FolderState::Absent);
        self.problems.is_empty() && self.folders.iter().all(usable)
    }
}

impl Folder {
    fn of(purpose: &'static str, path: &Path) -> Self {
        let state = match path.metadata() {
            Err(_) => FolderState::Absent,
            Ok(metadata) if !metadata.is_dir() => FolderState::NotAFolder,
            Ok(_) if files::is_writable(path) => FolderState::Writable,
            Ok(_) => FolderState::ReadOnly,
        };
        Self { purpose, path: path.display().to_string(), state }
    }

    /// What a person should know of it.
    pub(super) fn remark(&self) -> &'static str {
        match self.state {
            FolderState::Writable => "",
            FolderState::Absent => "  (not there yet)",
            FolderState::ReadOnly => "  cannot be written to",
            FolderState::NotAFolder => "  is not a folder",
        }
    }
}

impl Watching {
    fn of(folder: String, state: &State) -> Self {
        let word = match state {
            State::SettingUp { .. } => "setting_up",
            State::Watching { .. } => "watching",
            State::Exhausted { .. } => "exhausted",
            State::NoEvents { .. } => "no_events",
        };
        Self { folder, state: word, says: state.to_string() }
    }
}
