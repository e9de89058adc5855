//! How a server is told: what has changed of the files that it wants to hear of, then of its documents. What is about to
//! be told is put into the record first, so that whatever arrives meanwhile is measured by it.

use std::{path::Path, time::Duration};

use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    protocol::{
        FileEvent,
        positions::{Position, Range},
        uri::path_to_uri,
    },
    registry::Retrigger,
    workspace::watch::{Change, Kind},
};

use super::{
    documents::{Documents, Notice},
    session::Session,
    sync::SyncError,
};

/// Files that one `didChangeWatchedFiles` names at the most: a checkout of a large branch is one, and none is above some
/// 2 MiB.
const WATCHED_BATCH: usize = 8_192;

impl Session {
    /// Puts what is about to be told into the record, before it is told: whatever arrives meanwhile is measured by it.
    pub(super) fn note_sent(
        &self,
        notices: &[Notice],
        elsewhere: bool,
        in_steps: bool,
        late: Option<&Path>,
        documents: &Documents,
        now: Instant,
    ) -> u64 {
        let mut record = self.heard.record();
        for notice in notices {
            match notice {
                Notice::Open { path, .. } | Notice::Change { path, .. } => {
                    if let Some(sent) = documents.told(path) {
                        record.sent.insert(path.clone(), sent);
                        record.store.tell(path, sent.at);
                    }
                    if matches!(notice, Notice::Open { .. }) {
                        record.opened.insert(path.clone());
                    }
                }
                Notice::Close { path } => {
                    record.opened.remove(path);
                    record.verified.remove(path);
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
            // Of several texts that change at once each may depend on another one, and clangd looks at a file with the
            // header as it was.
            let changed = notices.iter().filter(|notice| matches!(notice, Notice::Change { .. })).count();
            let several = changed > 1 && self.entry.def.diagnostics.retrigger != Retrigger::None;
            let at = if several { now + Duration::from_nanos(1) } else { now };
            record.epoch += 1;
            record.late = late.map(|path| (path.to_owned(), record.changed_at(path)));
            record.epoch_at = at;
            record.store.changed_elsewhere(at, in_steps, late);
        }
        record.epoch
    }

    /// The changes that this server has asked to hear of.
    pub(super) fn watched(&self, events: &[Change]) -> Vec<(String, FileEvent)> {
        if events.is_empty() {
            return Vec::new();
        }
        let mut record = self.heard.record();
        let roots = self.folders.all();
        let wanted: Vec<_> = events
            .iter()
            .filter_map(|change| {
                let event = match change.kind {
                    Kind::Created => FileEvent::Created,
                    Kind::Changed => FileEvent::Changed,
                    Kind::Deleted => FileEvent::Deleted,
                };
                let wanted =
                    record.effective.wants(&change.path, event, &roots) || self.is_among(&self.listens, &change.path);
                wanted.then(|| (change, path_to_uri(&change.path), event))
            })
            .collect();
        let now = Instant::now();
        for (change, _, event) in &wanted {
            if *event != FileEvent::Changed {
                record.readiness.came_or_went(&change.path, now);
            }
        }
        wanted.into_iter().map(|(_, uri, event)| (uri, event)).collect()
    }

    /// Whether a path below the root is one of these.
    pub(super) fn is_among(&self, globs: &globset::GlobSet, path: &Path) -> bool {
        !globs.is_empty() && self.folders.relative(path).is_some_and(|path| globs.is_match(path))
    }

    pub(super) fn tell(&self, watched: &[(String, FileEvent)], notices: &[Notice]) -> Result<(), SyncError> {
        for batch in watched.chunks(WATCHED_BATCH) {
            let changes = batch.iter().map(|(uri, event)| FileChange { uri, kind: *event as u8 }).collect();
            self.notify("workspace/didChangeWatchedFiles", &FileChanges { changes })?;
        }
        for notice in notices {
            match notice {
                Notice::Open { path, language, version, text } => {
                    let document =
                        OpenDocument { uri: path_to_uri(path), language_id: language, version: *version, text };
                    self.notify("textDocument/didOpen", &Opened { text_document: document })?;
                }
                Notice::Change { path, version, text, until } => {
                    // A change without range is the whole text, for both kinds of synchronisation.
                    let range = until.map(|end| Range { start: Position::default(), end });
                    let text_document = Versioned { uri: path_to_uri(path), version: *version };
                    self.notify(
                        "textDocument/didChange",
                        &Changed { text_document, content_changes: [Whole { range, text }] },
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
}

#[derive(Serialize)]
struct FileChanges<'a> {
    changes: Vec<FileChange<'a>>,
}

#[derive(Serialize)]
struct FileChange<'a> {
    uri: &'a str,
    #[serde(rename = "type")]
    kind: u8,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Range>,
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
