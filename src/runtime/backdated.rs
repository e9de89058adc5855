//! Changes that a modification time does not tell. Some servers compare nothing else: they are shown such files.

use std::{path::Path, time::Duration};

use crate::{
    language,
    sys::files,
    workspace::watch::{Change, Kind},
};

use super::{
    documents::{Documents, Notice},
    ground::Ground,
    session::Session,
};

/// Within this time two writes can leave the same modification time.
const RACY: Duration = Duration::from_millis(20);
/// Files that are shown at once at the most.
const SHOWN: usize = 256;

impl Session {
    /// The language of a file by its name, where the server speaks it.
    pub(super) fn speaks(&self, path: &Path) -> Option<&'static str> {
        language::detect(path, || None).filter(|language| self.entry.speaks(language))
    }

    /// Shows the texts of closed files whose modification time does not tell that they have changed: it was set back, or
    /// may be that of the write before.
    pub(super) fn show_backdated(
        &self,
        ground: &Ground,
        events: &[Change],
        documents: &mut Documents,
        out: &mut Vec<Notice>,
    ) {
        let rules = |language: &str, path: &Path| self.rules(language, path);
        let unclear = |path: &Path| {
            let Ok(metadata) = std::fs::metadata(path) else { return false };
            let identity = files::identity(&metadata);
            identity.ctime_ns != identity.mtime_ns
                || metadata.modified().is_ok_and(|time| time.elapsed().is_ok_and(|age| age < RACY))
        };
        let changed = events.iter().filter(|change| change.kind == Kind::Changed && unclear(&change.path));
        for change in changed.take(SHOWN) {
            if let (Some(language), Ok(snapshot)) = (self.speaks(&change.path), ground.read(&change.path)) {
                documents.show(&change.path, language, snapshot.text.clone(), &rules, out);
            }
        }
    }
}
