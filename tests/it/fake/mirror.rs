//! The texts as the server was told of them, and every breach of the protocol's rules about them.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use serde_json::Value;

use super::text::{self, Unit};

/// An open document.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) version: i64,
    pub(crate) text: String,
}

/// Open documents over the files on disk, which are read again only when a message says that they changed.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    pub(crate) open: BTreeMap<String, Document>,
    disk: BTreeMap<String, String>,
    last_version: HashMap<String, i64>,
}

impl Mirror {
    /// Reads the folder once, as a server does when it starts.
    pub(crate) fn scan(&mut self, folder: &Path) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() && !path.is_symlink() {
                if entry.file_name() != ".git" {
                    self.scan(&path);
                }
            } else {
                self.reread(&path);
            }
        }
    }

    fn reread(&mut self, path: &Path) {
        let Ok(uri) = url::Url::from_file_path(path) else { return };
        match std::fs::read_to_string(path) {
            Ok(text) if text.len() < 200_000 => self.disk.insert(uri.into(), text),
            _ => self.disk.remove(uri.as_str()),
        };
    }

    /// Every known text by URI: open documents hide the disk.
    pub(crate) fn all(&self) -> BTreeMap<&str, &str> {
        let mut all: BTreeMap<&str, &str> = self.disk.iter().map(|(u, t)| (u.as_str(), t.as_str())).collect();
        all.extend(self.open.iter().map(|(u, d)| (u.as_str(), d.text.as_str())));
        all
    }

    pub(crate) fn text(&self, uri: &str) -> Option<&str> {
        self.open.get(uri).map(|d| d.text.as_str()).or_else(|| self.disk.get(uri).map(String::as_str))
    }

    /// Takes a notification; answers with the rules it breaks.
    pub(crate) fn take(&mut self, method: &str, params: &Value, unit: Unit) -> Vec<String> {
        let document = &params["textDocument"];
        let uri = document["uri"].as_str().unwrap_or_default().to_owned();
        let mut broken = Vec::new();
        match method {
            "textDocument/didOpen" => self.opened(uri, document, &mut broken),
            "textDocument/didChange" => self.changed(&uri, params, unit, &mut broken),
            "textDocument/didClose" if self.open.remove(&uri).is_none() => {
                broken.push(format!("didClose of {uri}, which is not open"));
            }
            "textDocument/didSave" if !self.open.contains_key(&uri) => {
                broken.push(format!("didSave of {uri}, which is not open"));
            }
            "workspace/didChangeWatchedFiles" => {
                for change in params["changes"].as_array().into_iter().flatten() {
                    let uri = change["uri"].as_str().unwrap_or_default();
                    match url::Url::parse(uri).ok().and_then(|u| u.to_file_path().ok()) {
                        Some(path) => self.reread_tree(&path),
                        None => broken.push(format!("didChangeWatchedFiles with {uri}, which is no file")),
                    }
                }
            }
            _ => {}
        }
        broken
    }

    /// A folder that is gone is told as one change, as editors do.
    fn reread_tree(&mut self, path: &Path) {
        if path.is_dir() {
            return self.scan(path);
        }
        if let Ok(folder) = url::Url::from_directory_path(path) {
            self.disk.retain(|uri, _| !uri.starts_with(folder.as_str()));
        }
        self.reread(path);
    }

    fn opened(&mut self, uri: String, document: &Value, broken: &mut Vec<String>) {
        if self.open.contains_key(&uri) {
            broken.push(format!("second didOpen of {uri}"));
        }
        let version = self.rise(&uri, &document["version"], broken);
        let text = document["text"].as_str().unwrap_or_default().to_owned();
        self.open.insert(uri, Document { version, text });
    }

    fn changed(&mut self, uri: &str, params: &Value, unit: Unit, broken: &mut Vec<String>) {
        let version = self.rise(uri, &params["textDocument"]["version"], broken);
        let Some(document) = self.open.get_mut(uri) else {
            broken.push(format!("didChange of {uri}, which is not open"));
            return;
        };
        document.version = version;
        for change in params["contentChanges"].as_array().into_iter().flatten() {
            let new = change["text"].as_str().unwrap_or_default();
            let Some(range) = change.get("range").filter(|r| !r.is_null()) else {
                document.text = new.to_owned();
                continue;
            };
            match (place(&document.text, &range["start"], unit), place(&document.text, &range["end"], unit)) {
                (Some(a), Some(b)) if a <= b => document.text.replace_range(a..b, new),
                _ => broken.push(format!("didChange of {uri} with a range outside the text: {range}")),
            }
        }
    }

    fn rise(&mut self, uri: &str, version: &Value, broken: &mut Vec<String>) -> i64 {
        let Some(version) = version.as_i64() else {
            broken.push(format!("{uri} without a version"));
            return 0;
        };
        if self.last_version.insert(uri.to_owned(), version).is_some_and(|last| last >= version) {
            broken.push(format!("version {version} of {uri} does not rise"));
        }
        version
    }
}

/// The byte offset of an LSP position. A line just past the last one is its end: whole-text ranges end there.
fn place(text: &str, position: &Value, unit: Unit) -> Option<usize> {
    let line = usize::try_from(position["line"].as_u64()?).ok()?;
    let column = usize::try_from(position["character"].as_u64()?).ok()?;
    if line == text::lines(text).len() && column == 0 {
        return Some(text.len());
    }
    text::offset(text, line, column, unit)
}
