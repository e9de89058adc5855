//! The files that a server has been told of: versions that only rise, one open until one close, least recently used
//! out first. Pure: it decides what to tell, the session tells it.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::time::Instant;

use crate::protocol::positions::{LineMap, Position};

use super::store::Sent;

/// The text of a file as it is to be told.
#[derive(Debug, Clone)]
pub struct Text {
    pub text: Arc<str>,
    /// Content hash.
    pub hash: u64,
    /// Rises with each reading of the disk: an older reading never replaces a newer one.
    pub serial: u64,
}

/// What a server is to be told, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    Open {
        path: PathBuf,
        language: String,
        version: i32,
        text: Arc<str>,
    },
    Change {
        path: PathBuf,
        version: i32,
        text: Arc<str>,
        /// Where the text ended that this one replaces, for a server that has to be told.
        until: Option<Position>,
    },
    /// `text` where the server asked for it.
    Save {
        path: PathBuf,
        text: Option<Arc<str>>,
    },
    Close {
        path: PathBuf,
    },
}

/// What makes a server look again at a text that has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nudge {
    /// A change to the same text, under a new version.
    Change,
    Save,
    /// Closed and opened again, under a new version.
    Reopen,
}

/// How a server wants to hear of documents (LSP `TextDocumentSyncOptions`, all of its forms resolved).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncRules {
    pub open_close: bool,
    pub change: bool,
    /// Its lines are ECMAScript's: told a whole text, typescript-language-server counts the lines of the old one as LSP
    /// has it, and has tsserver keep what it then takes for the rest.
    pub separated: bool,
    pub save: bool,
    pub save_text: bool,
}

impl SyncRules {
    fn end_of(self, text: &Text) -> Option<Position> {
        if self.separated { LineMap::new(text.text.clone()).separated_end() } else { None }
    }
}

/// Tells the rules for a document, by language and path: they may be registered late, and for some files only.
pub trait Rules: Fn(&str, &Path) -> SyncRules {}
impl<F: Fn(&str, &Path) -> SyncRules> Rules for F {}

#[derive(Debug)]
struct Document {
    language: String,
    version: i32,
    hash: u64,
    serial: u64,
    used: u64,
    told: Instant,
    /// Where it ends, if the server counts its lines in another way.
    end: Option<Position>,
}

/// The open documents of one server process.
#[derive(Debug)]
pub struct Documents {
    open: HashMap<PathBuf, Document>,
    /// Files that questions are about right now, with how many: they stay open.
    pinned: HashMap<PathBuf, usize>,
    limit: usize,
    /// Documents beyond the limit that an edit touches: they are open together while it is computed.
    extra: usize,
    /// One counter for all files: a version can then never go back, not even across close and reopen.
    version: i32,
    uses: u64,
}

impl Documents {
    /// At most `limit` documents stay open.
    pub fn new(limit: usize) -> Self {
        Self { open: HashMap::new(), limit: limit.max(1), pinned: HashMap::new(), extra: 0, version: 0, uses: 0 }
    }

    /// The content hash of a text that the server was told of and has open.
    pub fn hash(&self, path: &Path) -> Option<u64> {
        self.open.get(path).map(|document| document.hash)
    }

    /// Open files, in no order.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.open.keys().cloned().collect()
    }

    /// The newest version that was told of any file.
    pub fn newest(&self) -> i32 {
        self.version
    }

    /// So many files are to be open at once beside the one that is asked about, until others are opened.
    pub fn make_room_for(&mut self, beside: usize) {
        self.extra = (beside + 1).saturating_sub(self.limit);
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        self.open.len()
    }

    /// What the server was last told of a file that is open.
    pub fn told(&self, path: &Path) -> Option<Sent> {
        self.open.get(path).map(|document| Sent { version: document.version, at: document.told })
    }

    /// Corrects when a file that is open was told.
    pub fn told_at(&mut self, path: &Path, at: Instant) {
        if let Some(document) = self.open.get_mut(path) {
            document.told = at;
        }
    }

    /// Brings the server to `text`: opens the file or changes it, and says so when neither was needed. The file counts
    /// as just used; another one is closed where the limit asks for it.
    pub fn update(
        &mut self,
        path: &Path,
        language: &str,
        text: &Text,
        rules: &impl Rules,
        now: Instant,
        out: &mut Vec<Notice>,
    ) -> bool {
        self.uses += 1;
        let uses = self.uses;
        if !self.open.contains_key(path) {
            self.make_room(rules, out);
            self.version += 1;
            let version = self.version;
            let wanted = rules(language, path);
            self.open.insert(
                path.to_owned(),
                Document {
                    language: language.to_owned(),
                    version,
                    hash: text.hash,
                    serial: text.serial,
                    used: uses,
                    told: now,
                    end: wanted.end_of(text),
                },
            );
            if wanted.open_close {
                out.push(Notice::Open {
                    path: path.to_owned(),
                    language: language.to_owned(),
                    version,
                    text: text.text.clone(),
                });
            }
            return true;
        }
        let Some(document) = self.open.get_mut(path) else { return false };
        document.used = uses;
        self.refresh(path, text, rules, now, out)
    }

    /// The same for a file that is open already and has not been asked about: it keeps its place in the order of use.
    pub fn refresh(
        &mut self,
        path: &Path,
        text: &Text,
        rules: &impl Rules,
        now: Instant,
        out: &mut Vec<Notice>,
    ) -> bool {
        let Some(document) = self.open.get_mut(path) else { return false };
        if text.serial < document.serial || text.hash == document.hash {
            return false;
        }
        self.version += 1;
        document.version = self.version;
        document.hash = text.hash;
        document.serial = text.serial;
        document.told = now;
        let rules = rules(&document.language, path);
        let until = std::mem::replace(&mut document.end, rules.end_of(text));
        if rules.change {
            out.push(Notice::Change { path: path.to_owned(), version: self.version, text: text.text.clone(), until });
        } else if rules.open_close {
            // It takes no changes: only opening it anew tells it the new text.
            let (language, version) = (document.language.clone(), self.version);
            out.push(Notice::Close { path: path.to_owned() });
            out.push(Notice::Open { path: path.to_owned(), language, version, text: text.text.clone() });
        }
        if rules.save {
            // What is on disk is by definition saved; servers that check on save look only then.
            out.push(Notice::Save { path: path.to_owned(), text: rules.save_text.then(|| text.text.clone()) });
        }
        true
    }

    /// Opens a file that is not open, and closes it again: the server has then seen its text.
    pub fn show(&mut self, path: &Path, language: &str, text: Arc<str>, rules: &impl Rules, out: &mut Vec<Notice>) {
        if self.open.contains_key(path) || !rules(language, path).open_close {
            return;
        }
        self.version += 1;
        out.push(Notice::Open { path: path.to_owned(), language: language.to_owned(), version: self.version, text });
        out.push(Notice::Close { path: path.to_owned() });
    }

    /// Tells a file again that is open and stands as it was told.
    pub fn again(
        &mut self,
        path: &Path,
        text: &Text,
        nudge: Nudge,
        rules: &impl Rules,
        now: Instant,
        out: &mut Vec<Notice>,
    ) {
        let Some(document) = self.open.get_mut(path) else { return };
        let wanted = rules(&document.language, path);
        if nudge != Nudge::Save {
            self.version += 1;
            document.version = self.version;
            document.hash = text.hash;
            document.serial = text.serial;
        }
        document.told = now;
        let (version, whole) = (document.version, text.text.clone());
        let until = if nudge == Nudge::Save { None } else { std::mem::replace(&mut document.end, wanted.end_of(text)) };
        match nudge {
            Nudge::Change if wanted.change => {
                out.push(Notice::Change { path: path.to_owned(), version, text: whole, until });
            }
            Nudge::Save if wanted.save => {
                out.push(Notice::Save { path: path.to_owned(), text: wanted.save_text.then_some(whole) });
            }
            Nudge::Reopen if wanted.open_close => {
                out.push(Notice::Close { path: path.to_owned() });
                let language = document.language.clone();
                out.push(Notice::Open { path: path.to_owned(), language, version, text: whole });
            }
            Nudge::Change | Nudge::Save | Nudge::Reopen => {}
        }
    }

    /// The file is gone or no longer to be served.
    pub fn close(&mut self, path: &Path, rules: &impl Rules, out: &mut Vec<Notice>) -> bool {
        let Some(document) = self.open.remove(path) else { return false };
        if rules(&document.language, path).open_close {
            out.push(Notice::Close { path: path.to_owned() });
        }
        true
    }

    /// A question is about this file: it is not closed to make room for others.
    pub fn pin(&mut self, path: &Path) {
        *self.pinned.entry(path.to_owned()).or_default() += 1;
    }

    /// The question is over.
    pub fn unpin(&mut self, path: &Path) {
        if let Some(count) = self.pinned.get_mut(path) {
            *count -= 1;
            if *count == 0 {
                self.pinned.remove(path);
            }
        }
    }

    fn make_room(&mut self, rules: &impl Rules, out: &mut Vec<Notice>) {
        while self.open.len() >= self.limit + self.extra {
            let free = self.open.iter().filter(|(path, _)| !self.pinned.contains_key(*path));
            // No more questions are on their way than files may be open.
            let Some(oldest) = free.min_by_key(|(_, d)| d.used).map(|(path, _)| path.clone()) else { return };
            self.close(&oldest, rules, out);
        }
    }
}

#[cfg(test)]
mod tests;
