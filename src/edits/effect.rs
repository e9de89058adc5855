//! What a plan comes to: contents, and one effect for each path. Paths are absolute, and canonical when the plan was
//! made; those of files are as they will be when all folders of the plan have moved.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Text {
        bom: bool,
        text: Arc<str>,
    },
    /// No text, or one that nobody looked into.
    Bytes(Arc<[u8]>),
    /// A symbolic link: where it points.
    Link(PathBuf),
}

impl Content {
    /// The bytes, in two parts.
    pub(super) fn parts(&self) -> [&[u8]; 2] {
        match self {
            Content::Text { bom, text } => [if *bom { BOM } else { b"" }, text.as_bytes()],
            Content::Bytes(bytes) => [bytes, b""],
            Content::Link(target) => [target.as_os_str().as_encoded_bytes(), b""],
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.parts().iter().map(|part| part.len() as u64).sum()
    }

    pub(super) fn print(&self) -> Print {
        let mut hash = Xxh3::new();
        for part in self.parts() {
            hash.update(part);
        }
        Print { hash: hash.digest(), len: self.len(), link: matches!(self, Content::Link(_)) }
    }

    /// The same bytes, however they are held.
    pub(super) fn same(&self, other: &Content) -> bool {
        let bytes = |content: &Content| content.parts().concat();
        self.print() == other.print() && bytes(self) == bytes(other)
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Content::Text { text, .. } => Some(text),
            Content::Bytes(bytes) => std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')),
            Content::Link(_) => None,
        }
    }
}

/// What tells one content from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Print {
    /// xxh3 of the bytes, as snapshots have it.
    pub(super) hash: u64,
    pub(super) len: u64,
    pub(super) link: bool,
}

/// What happens to one path, or to two where something moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    MakeFolder {
        path: PathBuf,
    },
    MoveFolder {
        from: PathBuf,
        to: PathBuf,
        dev: u64,
        ino: u64,
    },
    /// Moved as it is.
    Move {
        from: PathBuf,
        to: PathBuf,
        print: Print,
    },
    Replace {
        path: PathBuf,
        old: Content,
        new: Content,
        like: PathBuf,
    },
    /// `like` (a path before the plan is made) is the file that it is in truth, moved and edited.
    Create {
        path: PathBuf,
        new: Content,
        like: Option<PathBuf>,
    },
    Delete {
        path: PathBuf,
        old: Content,
    },
    RemoveFolder {
        path: PathBuf,
    },
}

impl Effect {
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let (one, two) = match self {
            Effect::MakeFolder { path }
            | Effect::Replace { path, .. }
            | Effect::Create { path, .. }
            | Effect::Delete { path, .. }
            | Effect::RemoveFolder { path } => (path, None),
            Effect::MoveFolder { from, to, .. } | Effect::Move { from, to, .. } => (from, Some(to)),
        };
        [Some(one), two].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Bytes that are held for it.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Effect::Replace { old, new, .. } => old.len() + new.len(),
            Effect::Create { new: one, .. } | Effect::Delete { old: one, .. } => one.len(),
            Effect::MakeFolder { .. }
            | Effect::MoveFolder { .. }
            | Effect::Move { .. }
            | Effect::RemoveFolder { .. } => 0,
        }
    }
}
