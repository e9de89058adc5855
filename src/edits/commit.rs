//! One step made, or taken back; and what a step has come to when nobody remembers. Each of them is a renaming, so that
//! there is no half of it; what was displaced is looked at once more before anybody forgets it.

use std::io::{self, Read};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::effect::{Content, Print};
use super::journal::{Step, second};
use crate::sys::below::{Below, What};

/// Why a step was not made. The tree is as before it.
#[derive(Debug)]
pub(super) enum Stuck {
    /// Somebody has changed the file meanwhile.
    Changed,
    Io(io::Error),
}

impl From<io::Error> for Stuck {
    fn from(error: io::Error) -> Stuck {
        match error.kind() {
            // What took the name, or is no longer there, is somebody's doing.
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound => Stuck::Changed,
            _ => Stuck::Io(error),
        }
    }
}

/// What a step has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Before,
    After,
    /// As before, but what was to come is not there any more.
    Bare,
    /// None of these: somebody else's.
    Other,
}

/// The print of a file or link; `None` where there is nothing, or no such thing.
pub(super) fn print(tree: &Below, path: &Path) -> io::Result<Option<Print>> {
    match tree.look(path) {
        Ok(Some(found)) if found.what == What::Link => Ok(Some(Content::Link(tree.link(path)?).print())),
        Ok(Some(found)) if found.what == What::File => {
            let (mut file, _) = tree.read(path)?;
            let mut hash = Xxh3::new();
            let mut buffer = vec![0; usize::try_from(found.len).unwrap_or(usize::MAX).clamp(1, 1 << 16)];
            let mut len = 0;
            loop {
                let read = file.read(&mut buffer)?;
                if read == 0 {
                    return Ok(Some(Print { hash: hash.digest(), len, link: false }));
                }
                len += read as u64;
                hash.update(&buffer[..read]);
            }
        }
        Ok(_) => Ok(None),
        // A folder above it is none any more.
        Err(error) if foreign(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A file or a link is where a folder was.
pub(super) fn foreign(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::ELOOP) {
        return true;
    }
    error.kind() == io::ErrorKind::NotADirectory
}

fn exists(tree: &Below, path: &Path) -> io::Result<bool> {
    match tree.look(path) {
        Err(error) if foreign(&error) => Ok(false),
        found => Ok(found?.is_some()),
    }
}

/// What `step`, whose turn it is, has come to.
pub(super) fn judge(tree: &Below, step: &Step) -> io::Result<State> {
    let folder = |path: &Path| match tree.look(path) {
        Err(error) if foreign(&error) => Ok(None),
        found => found.map(|found| found.filter(|found| found.what == What::Folder)),
    };
    Ok(match step {
        Step::MakeFolder { path, .. } => match (exists(tree, &path.0)?, folder(&path.0)?) {
            (false, _) => State::Before,
            (_, Some(_)) => State::After,
            _ => State::Other,
        },
        Step::RemoveFolder { path, .. } => match (exists(tree, &path.0)?, folder(&path.0)?) {
            (false, _) => State::After,
            (_, Some(_)) => State::Before,
            _ => State::Other,
        },
        Step::MoveFolder { from, to, dev, ino } => {
            let is = |path: &Path| {
                Ok::<_, io::Error>(folder(path)?.is_some_and(|found| (found.dev, found.ino) == (*dev, *ino)))
            };
            if is(&to.0)? {
                State::After
            } else if is(&from.0)? && !exists(tree, &to.0)? {
                State::Before
            } else {
                State::Other
            }
        }
        Step::Move { from, to, print: expected } => match (exists(tree, &from.0)?, exists(tree, &to.0)?) {
            (true, false) if print(tree, &from.0)? == Some(*expected) => State::Before,
            (false, true) if print(tree, &to.0)? == Some(*expected) => State::After,
            _ => State::Other,
        },
        Step::Replace { path, beside, old, new, .. } => {
            // Where two files cannot change places at once it may have ended in the middle.
            let spare = second(&beside.turn.0);
            if print(tree, &spare)? == Some(*old) {
                if !exists(tree, &path.0)? {
                    tree.rename(&spare, &path.0)?;
                } else if !exists(tree, &beside.turn.0)? {
                    tree.rename(&spare, &beside.turn.0)?;
                }
            }
            let now = print(tree, &path.0)?;
            let waits = print(tree, &beside.turn.0)?;
            match now {
                // What was displaced was not what the change was computed for: it goes back.
                Some(now) if now == *new && waits.is_some_and(|waits| waits != *old && waits != *new) => {
                    tree.exchange(&beside.turn.0, &path.0)?;
                    State::Other
                }
                Some(now) if now == *new => State::After,
                Some(now) if now == *old && waits == Some(*new) => State::Before,
                Some(now) if now == *old && waits.is_none() => State::Bare,
                _ => State::Other,
            }
        }
        Step::Create { path, beside, new } => match (exists(tree, &path.0)?, print(tree, &beside.turn.0)?) {
            (false, Some(waits)) if waits == *new => State::Before,
            (true, _) if print(tree, &path.0)? == Some(*new) => State::After,
            (false, None) => State::Bare,
            _ => State::Other,
        },
        Step::Delete { path, beside, old, .. } => match (exists(tree, &path.0)?, print(tree, &beside.turn.0)?) {
            (false, Some(waits)) if waits != *old => {
                tree.rename(&beside.turn.0, &path.0)?;
                State::Other
            }
            (false, _) => State::After,
            (true, _) if print(tree, &path.0)? == Some(*old) => State::Before,
            _ => State::Other,
        },
    })
}

/// Makes a step.
pub(super) fn forward(tree: &Below, step: &Step) -> Result<(), Stuck> {
    match step {
        Step::MakeFolder { path, attributes } => Ok(tree.make_folder(&path.0, attributes.as_ref())?),
        Step::RemoveFolder { path, .. } => emptied(tree, &path.0),
        Step::MoveFolder { from, to, .. } | Step::Move { from, to, .. } => Ok(tree.rename(&from.0, &to.0)?),
        Step::Replace { path, beside, old, .. } => replace(tree, &path.0, &beside.turn.0, *old),
        Step::Create { path, beside, .. } => Ok(tree.rename(&beside.turn.0, &path.0)?),
        Step::Delete { path, beside, old, .. } => set_aside(tree, &path.0, &beside.turn.0, *old),
    }
}

/// Takes a step back that has been made.
pub(super) fn backward(tree: &Below, step: &Step) -> Result<(), Stuck> {
    match step {
        Step::MakeFolder { path, .. } => emptied(tree, &path.0),
        Step::RemoveFolder { path, attributes } => Ok(tree.make_folder(&path.0, attributes.as_ref())?),
        Step::MoveFolder { from, to, .. } | Step::Move { from, to, .. } => Ok(tree.rename(&to.0, &from.0)?),
        Step::Replace { path, beside, old, new, .. } => {
            if print(tree, &beside.turn.0)? != Some(*old) {
                return Err(Stuck::Changed);
            }
            replace(tree, &path.0, &beside.turn.0, *new)
        }
        Step::Create { path, beside, new } => set_aside(tree, &path.0, &beside.turn.0, *new),
        Step::Delete { path, beside, .. } => Ok(tree.rename(&beside.turn.0, &path.0)?),
    }
}

/// A folder goes only when it is empty.
fn emptied(tree: &Below, path: &Path) -> Result<(), Stuck> {
    match tree.remove_folder(path) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => Ok(removed?),
    }
}

/// What lies beside takes the place of `expected`, and the other way round.
fn replace(tree: &Below, path: &Path, beside: &Path, expected: Print) -> Result<(), Stuck> {
    if tree.exchange(beside, path)? {
        if print(tree, beside)? != Some(expected) {
            tree.exchange(beside, path)?;
            return Err(Stuck::Changed);
        }
        return Ok(());
    }
    if print(tree, path)? != Some(expected) {
        return Err(Stuck::Changed);
    }
    let spare = second(beside);
    tree.rename(path, &spare)?;
    let renamed = tree.rename(beside, path);
    if renamed.is_err() {
        tree.rename(&spare, path)?;
        renamed?;
    }
    Ok(tree.rename(&spare, beside)?)
}

fn set_aside(tree: &Below, path: &Path, beside: &Path, expected: Print) -> Result<(), Stuck> {
    tree.rename(path, beside)?;
    if print(tree, beside)? != Some(expected) {
        tree.rename(beside, path)?;
        return Err(Stuck::Changed);
    }
    Ok(())
}
