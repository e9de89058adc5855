//! The tree as it will be: what the steps of an edit did so far, laid over the disk, which is read only where a step
//! looks. Moved things know where they come from.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::effect::Content;
use super::refusal::{Refusal, RefusalCode};

/// A thing in the tree.
#[derive(Debug)]
pub(super) enum Node {
    Folder(Folder),
    File(File),
    /// A pipe, a device: never touched.
    Special,
}

#[derive(Debug, Default)]
pub(super) struct Folder {
    /// The folder on the disk that it is; `None` where the edit made it.
    pub(super) origin: Option<PathBuf>,
    /// What was looked at: `None` is nothing there (any more). All else is as at the origin.
    pub(super) entries: BTreeMap<OsString, Option<Node>>,
}

#[derive(Debug)]
pub(super) struct File {
    /// The file on the disk that it is; `None` where the edit made it.
    pub(super) origin: Option<PathBuf>,
    pub(super) link: bool,
    /// The origin's content, once it was read.
    pub(super) base: Option<Content>,
    /// Its content now, where that is not the origin's.
    pub(super) edited: Option<Content>,
}

impl Folder {
    /// What goes by that name.
    pub(super) fn child(&mut self, name: &OsStr) -> Result<Option<&mut Node>, Refusal> {
        if !self.entries.contains_key(name) {
            let found = self.origin.as_ref().map_or(Ok(None), |origin| on_disk(&origin.join(name)))?;
            self.entries.insert(name.to_owned(), found);
        }
        Ok(self.entries.get_mut(name).and_then(Option::as_mut))
    }

    /// Everything in it is looked at.
    pub(super) fn unfold(&mut self, limit: usize) -> Result<(), Refusal> {
        let Some(origin) = self.origin.clone() else { return Ok(()) };
        let failed = |error: io::Error| Refusal::failed(&origin, "list a folder", &error);
        for (count, entry) in origin.read_dir().map_err(failed)?.enumerate() {
            if count > limit {
                return Err(Refusal::too_large("a folder has too many entries").at(&origin));
            }
            self.child(&entry.map_err(failed)?.file_name())?;
        }
        Ok(())
    }
}

fn on_disk(path: &Path) -> Result<Option<Node>, Refusal> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
        Err(error) => return Err(Refusal::failed(path, "look at it", &error)),
    };
    let file = |link| Node::File(File { origin: Some(path.to_owned()), link, base: None, edited: None });
    Ok(Some(if metadata.is_dir() {
        Node::Folder(Folder { origin: Some(path.to_owned()), entries: BTreeMap::new() })
    } else if metadata.is_symlink() {
        file(true)
    } else if metadata.is_file() {
        file(false)
    } else {
        Node::Special
    }))
}

/// The trees of all roots that lie in no other root.
#[derive(Debug)]
pub(super) struct Overlay {
    pub(super) tops: Vec<(PathBuf, Folder)>,
}

impl Overlay {
    pub(super) fn new(roots: impl IntoIterator<Item = PathBuf>) -> Overlay {
        let top = |path: PathBuf| (path.clone(), Folder { origin: Some(path), entries: BTreeMap::new() });
        Overlay { tops: roots.into_iter().map(top).collect() }
    }

    /// The folder that holds `path`, which lies in a root; the folders above it are made where asked.
    pub(super) fn holder(&mut self, path: &Path, make: bool) -> Result<Option<&mut Folder>, Refusal> {
        let outside = || Refusal::new(RefusalCode::OutsideWorkspace, "it is outside the workspace", NEXT).at(path);
        let (top, folder) = self.tops.iter_mut().find(|(top, _)| path.starts_with(top)).ok_or_else(outside)?;
        let below = path.strip_prefix(top).ok().and_then(Path::parent).ok_or_else(outside)?;
        let mut at = folder;
        for part in below.components() {
            let name = part.as_os_str();
            if at.child(name)?.is_none() {
                if !make {
                    return Ok(None);
                }
                at.entries.insert(name.to_owned(), Some(Node::Folder(Folder::default())));
            }
            match at.child(name)? {
                Some(Node::Folder(folder)) => at = folder,
                Some(Node::File(File { link: true, .. })) => {
                    return Err(Refusal::refused(path, "a link that the same edit moves is on the way to it"));
                }
                _ if make => return Err(Refusal::conflict(path, "a file is in the place of a folder above it")),
                _ => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// What is at `path`.
    pub(super) fn find(&mut self, path: &Path) -> Result<Option<&mut Node>, Refusal> {
        let Some(name) = path.file_name() else { return Ok(None) };
        match self.holder(path, false)? {
            Some(folder) => folder.child(name),
            None => Ok(None),
        }
    }

    /// Takes away what is at `path`.
    pub(super) fn take(&mut self, path: &Path) -> Result<Option<Node>, Refusal> {
        let Some(name) = path.file_name() else { return Ok(None) };
        let Some(folder) = self.holder(path, false)? else { return Ok(None) };
        folder.child(name)?;
        Ok(folder.entries.insert(name.to_owned(), None).flatten())
    }

    /// Puts something at `path`, making the folders above it.
    pub(super) fn put(&mut self, path: &Path, node: Node) -> Result<(), Refusal> {
        let Some(name) = path.file_name() else { return Err(Refusal::invalid("a path that names nothing").at(path)) };
        if let Some(folder) = self.holder(path, true)? {
            folder.entries.insert(name.to_owned(), Some(node));
        }
        Ok(())
    }
}

const NEXT: &str = "nothing outside the workspace is changed";
