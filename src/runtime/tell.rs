//! What is told about files, as the wire has it: watched files, then documents, each in the order that was decided.

use serde::Serialize;
use serde_json::json;

use crate::protocol::uri::path_to_uri;

use super::{
    documents::Notice,
    session::{Session, SyncError},
};

/// Files that one `didChangeWatchedFiles` names at the most.
const WATCHED_BATCH: usize = 2_000;

impl Session {
    /// Sends all of it, watched files first.
    ///
    /// # Errors
    /// When the server is gone.
    pub(super) fn tell(&self, watched: &[(String, u8)], notices: &[Notice]) -> Result<(), SyncError> {
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
