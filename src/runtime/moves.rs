//! Files that are moved: what a server wants to hear of it before and after, file by file where it asks for files only.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use serde_json::{Value, json};

use crate::protocol::uri::path_to_uri;

pub(super) use crate::protocol::Moved;

use super::{ground::Ground, session::Session};

/// Files of one folder that a server is told of, and entries that are looked at for them.
const FILES: usize = 2_000;
const LOOKED_AT: usize = 20_000;

impl Session {
    /// The moves that the server wants to hear of: the one itself, or those of the files in a folder.
    pub(super) fn heard_moves(&self, moved: Moved, from: &Path, to: &Path, folder: bool) -> Vec<(PathBuf, PathBuf)> {
        let wants = |path: &Path, folder: bool| self.heard.record().effective.hears_of(moved, path, folder);
        if wants(from, folder) {
            return vec![(from.to_owned(), to.to_owned())];
        }
        if !folder {
            return Vec::new();
        }
        // After the move the files lie in the new place.
        let there = if from.is_dir() { from } else { to };
        let files = WalkBuilder::new(there).follow_links(false).build().take(LOOKED_AT).filter_map(Result::ok);
        let files = files.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        let inside = files.filter_map(|entry| entry.path().strip_prefix(there).ok().map(Path::to_owned));
        let pairs = inside.map(|rest| (from.join(&rest), to.join(&rest)));
        let files: Vec<_> = pairs.filter(|(old, _)| wants(old, false)).take(FILES).collect();
        let whole = moved == Moved::Will && self.entry.def.reach.folders_whole && !files.is_empty();
        if whole { vec![(from.to_owned(), to.to_owned())] } else { files }
    }

    /// Tells the server what has changed on the disk, without asking it anything. Where that fails, the next question finds
    /// out.
    pub async fn catch_up(&self, ground: &Ground) {
        self.follow_wishes(ground).await;
        ground.barrier().await;
        let _ = self.sync(ground, None);
    }

    /// Tells the server that files have been moved, where it wants to hear of it.
    pub fn tell_moved(&self, from: &Path, to: &Path, folder: bool) {
        let files = self.heard_moves(Moved::Did, from, to, folder);
        if !files.is_empty() {
            // A server that is gone reads the disk when it comes back.
            let _ = self.wire.notify(Moved::Did.name(), &json!({ "files": renamed(&files) }));
        }
    }
}

/// LSP `FileRename`s.
pub(super) fn renamed(files: &[(PathBuf, PathBuf)]) -> Vec<Value> {
    let one = |(from, to): &(PathBuf, PathBuf)| json!({"oldUri": path_to_uri(from), "newUri": path_to_uri(to)});
    files.iter().map(one).collect()
}
