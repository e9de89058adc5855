//! The steps of an edit, played through in their order on an overlay of the tree. Nothing is written.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::attributes;
use super::effect::Content;
use super::overlay::{Node, Overlay};
use super::policy::Policy;
use super::refusal::{Refusal, RefusalCode};
use crate::protocol::positions::{Encoding, Position, is_unseen};
use crate::protocol::types::{FileRef, TextEdit};
use crate::sys::files;
use crate::workspace::disk::{Disk, ReadError, Snapshot};
use crate::workspace::roots::{PathError, Roots};

/// What a server had been told of a file when it computed an edit.
#[derive(Debug, Clone)]
pub struct Told {
    pub snapshot: Arc<Snapshot>,
    /// The document's version, where it was open.
    pub version: Option<i32>,
}

/// Emoji are joined and coloured by these, and scripts of Persia and India need the first two.
const JOINS: [char; 3] = ['\u{200c}', '\u{200d}', '\u{fe0f}'];
/// Bytes of a name, and of a path: no file system takes more, no call by path.
const NAME: usize = 255;
const PATH: usize = 4096;
/// Folders within folders: each level is one of ours on the stack.
const DEEPEST: usize = 256;

/// Whether a path is one that can be worked on.
pub(super) fn bounded(path: &Path) -> Result<(), Refusal> {
    if path.as_os_str().len() > PATH || path.components().count() > DEEPEST {
        let what = format!("its path has more than {PATH} bytes, or {DEEPEST} folders");
        return Err(Refusal::too_large(what).at(path));
    }
    Ok(())
}

fn hidden(c: char) -> bool {
    c.is_control() || (is_unseen(c) && !JOINS.contains(&c)) || matches!(c, '\u{2028}' | '\u{2029}')
}

pub(super) struct Planner<'p> {
    pub(super) roots: &'p Roots,
    pub(super) disk: &'p Disk,
    pub(super) policy: &'p Policy,
    pub(super) encoding: Encoding,
    pub(super) told: &'p dyn Fn(&Path) -> Option<Told>,
    pub(super) overlay: Overlay,
    /// By file what earlier steps edit in it.
    pub(super) earlier: BTreeMap<PathBuf, Earlier<'p>>,
    /// Files on the disk whose content is no longer where it was: deleted, overwritten or moved; with the content where it
    /// was read already.
    pub(super) gone: BTreeMap<PathBuf, Option<Content>>,
    /// Folders on the disk that are to be removed.
    pub(super) gone_folders: BTreeSet<PathBuf>,
    pub(super) places: usize,
    pub(super) work: u64,
    /// Bytes held so far.
    pub(super) held: u64,
}

/// What earlier steps edit in one file.
#[derive(Default)]
pub(super) struct Earlier<'p> {
    pub(super) steps: Vec<&'p [TextEdit]>,
    /// What they replace, by where that begins.
    pub(super) replaced: BTreeMap<Position, &'p TextEdit>,
}

impl<'p> Planner<'p> {
    pub(super) fn new(
        roots: &'p Roots,
        disk: &'p Disk,
        policy: &'p Policy,
        encoding: Encoding,
        told: &'p dyn Fn(&Path) -> Option<Told>,
    ) -> Planner<'p> {
        let all = roots.all().iter().map(|root| root.path.clone());
        let inner = |path: &Path| roots.all().iter().any(|other| other.path != path && path.starts_with(&other.path));
        Planner {
            overlay: Overlay::new(all.filter(|path| !inner(path))),
            roots,
            disk,
            policy,
            encoding,
            told,
            earlier: BTreeMap::new(),
            gone: BTreeMap::new(),
            gone_folders: BTreeSet::new(),
            places: 0,
            work: 0,
            held: 0,
        }
    }

    /// The path that a step names: inside the workspace, and not withheld.
    pub(super) fn place(&self, file: &FileRef) -> Result<PathBuf, Refusal> {
        let path = match file {
            FileRef::Path(path) => path,
            FileRef::Foreign(uri) => {
                return Err(Refusal::new(
                    RefusalCode::OutsideWorkspace,
                    format!("the edit concerns `{uri}`, which is no file here"),
                    "make the change by other means",
                ));
            }
        };
        let place = self.roots.place(path).map_err(|error| match error {
            PathError::OutsideWorkspace(resolved) => Refusal::new(
                RefusalCode::OutsideWorkspace,
                "the edit concerns a file outside the workspace",
                "nothing outside the workspace is changed",
            )
            .through(path, &resolved),
            error => Refusal::invalid(error.to_string()).at(path),
        })?;
        bounded(&place)?;
        self.allowed(&place)?;
        Ok(place)
    }

    pub(super) fn allowed(&self, path: &Path) -> Result<(), Refusal> {
        match self.policy.withholds(self.roots, path) {
            Some(why) => Err(Refusal::refused(path, format!("it is not to be changed: {why}"))),
            None => Ok(()),
        }
    }

    /// May something that is not there get this name? One with characters that nobody sees, or that end lines, would be
    /// taken for another.
    pub(super) fn nameable(&self, path: &Path) -> Result<(), Refusal> {
        let new = path.ancestors().take_while(|part| part.symlink_metadata().is_err()).filter_map(Path::file_name);
        for name in new {
            if name.len() > NAME {
                return Err(Refusal::invalid(format!("a new name has {} bytes, more than {NAME}", name.len())).at(path));
            }
            if let Some(c) = name.to_string_lossy().chars().find(|c| hidden(*c)) {
                return Err(Refusal::invalid(format!("a new name holds the character {}", c.escape_unicode())).at(path));
            }
        }
        Ok(())
    }

    /// The file that a link to be edited leads to.
    pub(super) fn behind(&self, link: &Path, here: bool) -> Result<PathBuf, Refusal> {
        if !here {
            return Err(Refusal::refused(link, "it is a link that the same edit moves"));
        }
        let target = link.canonicalize().map_err(|error| Refusal::failed(link, "follow a link", &error))?;
        if !self.roots.contains(&target) {
            let code = RefusalCode::OutsideWorkspace;
            return Err(Refusal::new(
                code,
                "a link leads outside the workspace",
                "nothing outside the workspace is changed",
            )
            .through(link, &target));
        }
        self.allowed(&target)?;
        Ok(target)
    }

    /// Reads the text of the file at `path`, if that is still to be done, and checks it against what the server knew.
    pub(super) fn load(&mut self, path: &Path, version: Option<i64>) -> Result<(), Refusal> {
        let (disk, told) = (self.disk, self.told);
        match self.overlay.find(path)? {
            Some(Node::File(file)) => {
                let Some(origin) = file.origin.clone() else { return Ok(()) };
                if let Some((told, version)) = told(&origin).and_then(|told| told.version).zip(version)
                    && i64::from(told) != version
                {
                    return Err(Refusal::conflict(path, "the edit was computed for another version of it"));
                }
                if file.base.is_none() {
                    attributes::replaceable(&origin)?;
                    let snapshot = disk.read(&origin).map_err(|error| unreadable(&origin, &error))?;
                    check(&snapshot, told(&origin).as_ref(), path)?;
                    file.base = Some(Content::Text { bom: snapshot.bom, text: Arc::clone(&snapshot.text) });
                    self.held += snapshot.text.len() as u64;
                }
                Ok(())
            }
            Some(Node::Folder(_)) => Err(Refusal::invalid("the edit takes a folder for a text").at(path)),
            Some(Node::Special) => Err(Refusal::refused(path, "it is not a regular file")),
            None => Ok(()),
        }
    }

    /// The server was told of another content.
    pub(super) fn knows_otherwise(&self, path: &Path, hash: u64) -> bool {
        (self.told)(path).is_some_and(|told| told.snapshot.hash != hash)
    }

    /// The content of a file that need be no text.
    pub(super) fn raw(&mut self, path: &Path) -> Result<Content, Refusal> {
        let failed = |error: std::io::Error| Refusal::failed(path, "read it", &error);
        let metadata = path.symlink_metadata().map_err(failed)?;
        if metadata.is_symlink() {
            return Ok(Content::Link(path.read_link().map_err(failed)?));
        }
        let room = self.policy.plan_bytes.saturating_sub(self.held);
        let mut bytes = Vec::new();
        files::open(path).map_err(failed)?.take(room + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > room {
            return Err(
                Refusal::too_large(format!("it would hold more than {} bytes", self.policy.plan_bytes)).at(path)
            );
        }
        self.held += bytes.len() as u64;
        Ok(Content::Bytes(bytes.into()))
    }
}

fn check(snapshot: &Snapshot, told: Option<&Told>, path: &Path) -> Result<(), Refusal> {
    if told.is_some_and(|told| told.snapshot.hash != snapshot.hash) {
        return Err(Refusal::conflict(path, "it changed while the server was computing"));
    }
    if snapshot.lossy {
        return Err(Refusal::refused(path, "it is not UTF-8"));
    }
    if memchr::memchr(0, snapshot.text.as_bytes()).is_some() {
        return Err(Refusal::refused(path, "it holds a NUL character"));
    }
    Ok(())
}

fn unreadable(path: &Path, error: &ReadError) -> Refusal {
    match error {
        ReadError::NotFound(_) => Refusal::conflict(path, "it does not exist any more"),
        ReadError::TooLarge { size, limit, .. } => {
            Refusal::too_large(format!("it has {size} bytes, more than {limit}")).at(path)
        }
        ReadError::Directory(_) => Refusal::invalid("the edit takes a folder for a text").at(path),
        ReadError::Binary(_) => Refusal::refused(path, "it is binary"),
        ReadError::Special(_) => Refusal::refused(path, "it is not a regular file"),
        ReadError::Io { source, .. } => Refusal::failed(path, "read it", source),
    }
}
