//! What is written down of a change while it is made: its steps, and what taking it back needs. A journal is a folder of
//! langport's state; which files are in it says how far the change has come.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::effect::Print;
use crate::sys::below::{Attributes, Below, What};
use crate::workspace::paths;

/// One of the roots, or a path below one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Spot(pub(super) PathBuf);

/// As text where it is text: JSON has no other paths.
impl Serialize for Spot {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.serialize_bytes(self.0.as_os_str().as_encoded_bytes()),
        }
    }
}

impl<'de> Deserialize<'de> for Spot {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Spot, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Text(String),
            Bytes(Vec<u8>),
        }
        Ok(Spot(match Either::deserialize(deserializer)? {
            Either::Text(text) => text.into(),
            Either::Bytes(bytes) => path(bytes),
        }))
    }
}

/// The path of these bytes, which were one's.
pub(super) fn path(bytes: Vec<u8>) -> PathBuf {
    #[cfg(unix)]
    return <std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes).into();
    #[cfg(not(unix))]
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// Where a file lies that waits beside the tree's own: what will be in a place, or what was. It moves along when a folder
/// above it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Beside {
    /// Before the first step.
    pub(super) start: Spot,
    /// When its own step's turn has come.
    pub(super) turn: Spot,
    /// After the last step.
    pub(super) end: Spot,
}

/// An old content in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Saved {
    pub(super) at: u64,
    pub(super) len: u64,
}

/// A step; its paths are those of its turn, when all steps before it have been made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Step {
    MakeFolder {
        path: Spot,
        attributes: Option<Attributes>,
    },
    MoveFolder {
        from: Spot,
        to: Spot,
        dev: u64,
        ino: u64,
    },
    Move {
        from: Spot,
        to: Spot,
        print: Print,
    },
    /// The new file lies beside before, the old one after.
    Replace {
        path: Spot,
        beside: Beside,
        old: Print,
        new: Print,
        saved: Option<Saved>,
    },
    /// The new file lies beside before.
    Create {
        path: Spot,
        beside: Beside,
        new: Print,
    },
    /// The old file lies beside after.
    Delete {
        path: Spot,
        beside: Beside,
        old: Print,
        attributes: Option<Attributes>,
        saved: Option<Saved>,
    },
    /// Stays where somebody has put something in meanwhile.
    RemoveFolder {
        path: Spot,
        attributes: Option<Attributes>,
    },
}

impl Step {
    /// Every path that it needs.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let second = match self {
            Step::MoveFolder { to, .. } | Step::Move { to, .. } => Some(to),
            _ => None,
        };
        let beside = self.beside().map(|Beside { start, turn, end }| [start, turn, end]);
        let more = second.into_iter().chain(beside.into_iter().flatten());
        std::iter::once(self.path()).chain(more.map(|spot| &*spot.0))
    }

    /// What to call it by.
    pub(super) fn path(&self) -> &Path {
        match self {
            Step::MakeFolder { path, .. }
            | Step::Replace { path, .. }
            | Step::Create { path, .. }
            | Step::Delete { path, .. }
            | Step::RemoveFolder { path, .. } => &path.0,
            Step::MoveFolder { from, .. } | Step::Move { from, .. } => &from.0,
        }
    }

    pub(super) fn beside(&self) -> Option<&Beside> {
        match self {
            Step::Replace { beside, .. } | Step::Create { beside, .. } | Step::Delete { beside, .. } => Some(beside),
            Step::MakeFolder { .. } | Step::MoveFolder { .. } | Step::Move { .. } | Step::RemoveFolder { .. } => None,
        }
    }

    /// The contents that are langport's to remove when they lie beside.
    pub(super) fn prints(&self) -> [Option<Print>; 2] {
        match self {
            Step::Replace { old, new, .. } => [Some(*old), Some(*new)],
            Step::Create { new: one, .. } | Step::Delete { old: one, .. } => [Some(*one), None],
            Step::MakeFolder { .. } | Step::MoveFolder { .. } | Step::Move { .. } | Step::RemoveFolder { .. } => {
                [None, None]
            }
        }
    }
}

/// The second place beside, for file systems where two files cannot change places at once. No step's own: those end in
/// a number.
pub(super) fn second(beside: &Path) -> PathBuf {
    let mut name = beside.as_os_str().to_owned();
    name.push("s");
    name.into()
}

/// Where a path of turn `turn` was when no step had been made; `None` where there was nothing that could have been it.
pub(super) fn at_start(steps: &[Step], turn: usize, path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for step in steps[..turn].iter().rev() {
        if let Step::MoveFolder { from, to, .. } = step {
            if let Ok(below) = path.strip_prefix(&to.0) {
                path = paths::join(&from.0, below);
            } else if path.starts_with(&from.0) {
                return None;
            }
        }
    }
    Some(path)
}

/// Where a path of turn `turn` is when all steps have been made.
pub(super) fn at_end(steps: &[Step], turn: usize, path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for step in &steps[turn..] {
        if let Step::MoveFolder { from, to, .. } = step
            && let Some(moved) = paths::moved(&path, &from.0, &to.0)
        {
            path = moved;
        }
    }
    path
}

/// A change as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) steps: Vec<Step>,
}

/// How far a change has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing has been changed, and nothing is to be.
    Open,
    /// All of it is to be.
    Decided,
    /// What has been is to be taken back: it could not be finished.
    Back,
    /// It is, and can be taken back.
    Done,
}

const STEPS: &str = "steps.json";
/// The steps that are left, while they are written.
const REST: &str = "rest.json";
const OLD: &str = "old";
const DECIDED: &str = "decided";
const BACK: &str = "back";
const DONE: &str = "done";
/// How often somebody else's tidying may come in between.
const TIDIED: usize = 8;
/// The largest record that is read.
const LONGEST: u64 = 256 << 20;

/// Whether the change of this folder is made, and only kept so that it can be taken back.
pub(super) fn is_done(folder: &Path) -> bool {
    folder.join(DONE).symlink_metadata().is_ok()
}

/// The folder of one change.
#[derive(Debug)]
pub(super) struct Journal<'t> {
    pub(super) tree: &'t Below,
    pub(super) folder: PathBuf,
}

impl Journal<'_> {
    pub(super) fn make(&self) -> io::Result<()> {
        let home = self.folder.parent().unwrap_or(&self.folder);
        for _ in 0..TIDIED {
            match self.tree.make_folder(&self.folder, None) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.tree.make_folder(home, None)?,
                made => return made,
            }
        }
        self.tree.make_folder(&self.folder, None)
    }

    /// The file that takes old contents.
    pub(super) fn old(&self) -> io::Result<File> {
        self.tree.create(&self.folder.join(OLD), true)
    }

    /// Writes the steps down, and has the disk hold all of the journal.
    pub(super) fn write(&self, record: &Record, old: bool) -> io::Result<()> {
        let path = self.folder.join(STEPS);
        let mut file = self.tree.create(&path, true)?;
        self.tree.write(&mut file, &serde_json::to_vec(record)?)?;
        drop(file);
        self.tree.sync(&path)?;
        if old {
            self.tree.sync(&self.folder.join(OLD))?;
        }
        self.tree.sync_folder(&self.folder)?;
        self.tree.sync_folder(self.folder.parent().unwrap_or(&self.folder))
    }

    /// Writes down what is left to be done, in the place of all.
    pub(super) fn keep(&self, rest: &Record) -> io::Result<()> {
        let path = self.folder.join(REST);
        self.tree.remove(&path)?;
        let mut file = self.tree.create(&path, true)?;
        self.tree.write(&mut file, &serde_json::to_vec(rest)?)?;
        drop(file);
        self.tree.sync(&path)?;
        self.tree.supplant(&path, &self.folder.join(STEPS))?;
        self.tree.sync_folder(&self.folder)
    }

    pub(super) fn read(&self) -> io::Result<Record> {
        let (file, _) = self.tree.read(&self.folder.join(STEPS))?;
        let mut text = Vec::new();
        file.take(LONGEST).read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }

    pub(super) fn stage(&self) -> io::Result<Stage> {
        let there = |name: &str| Ok::<_, io::Error>(self.tree.look(&self.folder.join(name))?.is_some());
        Ok(if there(DONE)? {
            Stage::Done
        } else if there(BACK)? {
            Stage::Back
        } else if there(DECIDED)? {
            Stage::Decided
        } else {
            Stage::Open
        })
    }

    /// From here on the change is to be finished, whatever happens.
    pub(super) fn decide(&self) -> io::Result<()> {
        self.mark(DECIDED)
    }

    /// From here on it is to be taken back.
    pub(super) fn turn_back(&self) -> io::Result<()> {
        self.mark(BACK)
    }

    /// The decision could not be made sure of: it is none.
    pub(super) fn undecide(&self) -> io::Result<()> {
        self.tree.remove(&self.folder.join(DECIDED))?;
        self.tree.sync_folder(&self.folder)
    }

    pub(super) fn done(&self) -> io::Result<()> {
        self.tree.rename(&self.folder.join(DECIDED), &self.folder.join(DONE))?;
        self.tree.sync_folder(&self.folder)
    }

    fn mark(&self, name: &str) -> io::Result<()> {
        drop(self.tree.create(&self.folder.join(name), true)?);
        self.tree.sync_folder(&self.folder)
    }

    /// An old content.
    pub(super) fn saved(&self, saved: Saved, print: Print) -> io::Result<Vec<u8>> {
        let (mut file, found) = self.tree.read(&self.folder.join(OLD))?;
        if found.what != What::File || saved.at.saturating_add(saved.len) > found.len {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the journal is damaged"));
        }
        file.seek(SeekFrom::Start(saved.at))?;
        let mut bytes = Vec::new();
        file.take(saved.len).read_to_end(&mut bytes)?;
        if xxhash_rust::xxh3::xxh3_64(&bytes) != print.hash {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the journal is damaged"));
        }
        Ok(bytes)
    }

    /// Removes the journal. What decides goes last: a change half forgotten must not be taken for an undecided one.
    pub(super) fn remove(&self) -> io::Result<()> {
        for name in [OLD, REST, STEPS, BACK, DECIDED, DONE] {
            self.tree.remove(&self.folder.join(name))?;
        }
        match self.tree.remove_folder(&self.folder) {
            // Somebody else was at it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}
