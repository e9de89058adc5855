//! The steps of an edit, played through in their order on an overlay of the tree. Nothing is written.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::effect::Content;
use super::net;
use super::overlay::{File, Folder, Node, Overlay};
use super::plan::Plan;
use super::policy::Policy;
use super::refusal::{Refusal, RefusalCode};
use super::text::{self, TextError};
use super::{attributes, ignored};
use crate::protocol::positions::{Encoding, LineMap};
use crate::protocol::types::{EditStep, FileRef, TextEdit, WorkspaceEdit};
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

/// Texts that are gone through in all, however many steps an edit has.
const WORK: u64 = 1 << 30;

/// Computes and checks what `edit` comes to. `told` is what the server knew of a file when it computed the edit: where the
/// disk has another text now, the edit is refused.
///
/// # Errors
/// When any part of the edit is invalid, not allowed, or was computed for another state of the files; or when all of it
/// changes nothing ([`RefusalCode::Nothing`]).
pub fn plan(
    roots: &Roots,
    disk: &Disk,
    policy: &Policy,
    edit: &WorkspaceEdit,
    encoding: Encoding,
    title: String,
    told: &dyn Fn(&Path) -> Option<Told>,
) -> Result<Plan, Refusal> {
    let mut planner = Planner::new(roots, disk, policy, encoding, told);
    for step in &edit.steps {
        planner.step(step)?;
    }
    let (effects, shown) = net::effects(&mut planner)?;
    if effects.is_empty() {
        return Err(Refusal::new(RefusalCode::Nothing, "the edit changes nothing", "nothing to apply"));
    }
    if effects.len() > policy.files {
        return Err(Refusal::too_large(format!(
            "it touches {} files and folders, more than {}",
            effects.len(),
            policy.files
        )));
    }
    let mut plan = Plan::new(title, effects, shown, planner.places)?;
    if plan.bytes() > policy.plan_bytes {
        return Err(Refusal::too_large(format!(
            "it would hold {} bytes, more than {}",
            plan.bytes(),
            policy.plan_bytes
        )));
    }
    plan.ignored = ignored::among(roots, plan.files().map(|(_, path, _)| path));
    plan.to_confirm = edit.to_confirm.clone();
    Ok(plan)
}

pub(super) struct Planner<'p> {
    pub(super) roots: &'p Roots,
    disk: &'p Disk,
    policy: &'p Policy,
    encoding: Encoding,
    told: &'p dyn Fn(&Path) -> Option<Told>,
    pub(super) overlay: Overlay,
    /// Files on the disk whose content is no longer where it was: deleted, overwritten or moved; with the content where it
    /// was read already.
    pub(super) gone: BTreeMap<PathBuf, Option<Content>>,
    /// Folders on the disk that are to be removed.
    pub(super) gone_folders: BTreeSet<PathBuf>,
    places: usize,
    work: u64,
    /// Bytes held so far.
    held: u64,
}

impl<'p> Planner<'p> {
    fn new(
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
            gone: BTreeMap::new(),
            gone_folders: BTreeSet::new(),
            places: 0,
            work: 0,
            held: 0,
        }
    }

    fn step(&mut self, step: &EditStep) -> Result<(), Refusal> {
        match step {
            EditStep::Texts { file, version, edits } => self.texts(file, *version, edits),
            EditStep::Create { file, overwrite, ignore_if_exists } => self.create(file, *overwrite, *ignore_if_exists),
            EditStep::Rename { from, to, overwrite, ignore_if_exists } => {
                self.rename(from, to, *overwrite, *ignore_if_exists)
            }
            EditStep::Delete { file, recursive, ignore_if_not_exists } => {
                self.delete(file, *recursive, *ignore_if_not_exists)
            }
        }
    }

    /// The path that a step names: inside the workspace, and not withheld.
    fn place(&self, file: &FileRef) -> Result<PathBuf, Refusal> {
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
            .at(&resolved),
            error => Refusal::invalid(error.to_string()).at(path),
        })?;
        self.allowed(&place)?;
        Ok(place)
    }

    fn allowed(&self, path: &Path) -> Result<(), Refusal> {
        match self.policy.withholds(self.roots, path) {
            Some(why) => Err(Refusal::refused(path, format!("it is not to be changed: {why}"))),
            None => Ok(()),
        }
    }

    fn texts(&mut self, file: &FileRef, version: Option<i64>, edits: &[TextEdit]) -> Result<(), Refusal> {
        let mut path = self.place(file)?;
        if let Some(Node::File(File { link: true, origin, .. })) = self.overlay.find(&path)? {
            let here = origin.as_ref() == Some(&path);
            path = self.behind(&path, here)?;
        }
        self.load(&path, version)?;
        let limit = self.policy.file_bytes;
        let (encoding, held) = (self.encoding, self.policy.plan_bytes.saturating_sub(self.held));
        let Some(Node::File(file)) = self.overlay.find(&path)? else {
            return Err(Refusal::new(
                RefusalCode::NotFound,
                "the edit concerns a file that does not exist",
                "plan it again",
            )
            .at(&path));
        };
        let Some(Content::Text { bom, text: old }) = file.edited.as_ref().or(file.base.as_ref()) else {
            return Err(Refusal::refused(&path, "it is no text"));
        };
        self.work += old.len() as u64;
        if self.work > WORK {
            return Err(Refusal::too_large("the edit goes through the same texts too often").at(&path));
        }
        let edited =
            text::edit(&LineMap::new(Arc::clone(old)), edits, encoding, limit).map_err(|error| match error {
                TextError::TooLarge(size) => {
                    Refusal::too_large(format!("its new text would have {size} bytes, more than {limit}")).at(&path)
                }
                TextError::Overlap(_) => {
                    Refusal::new(RefusalCode::Conflict, error.to_string(), "make the change by other means").at(&path)
                }
                TextError::Snippet(_) => Refusal::refused(&path, error.to_string()),
                TextError::Reversed(_) => Refusal::invalid(error.to_string()).at(&path),
            })?;
        if edited.places == 0 {
            return Ok(());
        }
        let grown = edited.text.len() as u64;
        if grown > held {
            return Err(Refusal::too_large(format!("it would hold more than {} bytes", self.policy.plan_bytes)));
        }
        let before = file.edited.as_ref().map_or(0, Content::len);
        self.held = self.held + grown - before.min(self.held);
        self.places += edited.places;
        file.edited = Some(Content::Text { bom: *bom, text: edited.text });
        Ok(())
    }

    /// The file that a link to be edited leads to.
    fn behind(&self, link: &Path, here: bool) -> Result<PathBuf, Refusal> {
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
            .at(&target));
        }
        self.allowed(&target)?;
        Ok(target)
    }

    /// Reads the text of the file at `path`, if that is still to be done, and checks it against what the server knew.
    fn load(&mut self, path: &Path, version: Option<i64>) -> Result<(), Refusal> {
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

    fn create(&mut self, file: &FileRef, overwrite: bool, ignore_if_exists: bool) -> Result<(), Refusal> {
        let path = self.place(file)?;
        let empty = || Content::Text { bom: false, text: "".into() };
        match self.overlay.find(&path)? {
            None => self
                .overlay
                .put(&path, Node::File(File { origin: None, link: false, base: None, edited: Some(empty()) })),
            Some(Node::File(File { link: false, .. })) if overwrite => {
                self.load(&path, None)?;
                if let Some(Node::File(file)) = self.overlay.find(&path)? {
                    file.edited = Some(empty());
                }
                Ok(())
            }
            Some(_) if overwrite => Err(Refusal::refused(&path, "what is there is no plain file to be overwritten")),
            Some(_) if ignore_if_exists => Ok(()),
            Some(_) => {
                Err(Refusal::new(RefusalCode::Conflict, "the edit creates it, but it exists", "plan it again")
                    .at(&path))
            }
        }
    }

    fn rename(&mut self, from: &FileRef, to: &FileRef, overwrite: bool, ignore_if_exists: bool) -> Result<(), Refusal> {
        let (from, to) = (self.place(from)?, self.place(to)?);
        if from == to {
            return Ok(());
        }
        if to.starts_with(&from) {
            return Err(Refusal::invalid("the edit moves a folder into itself").at(&from));
        }
        match self.overlay.find(&from)? {
            None => {
                return Err(Refusal::new(
                    RefusalCode::NotFound,
                    "the edit renames it, but it does not exist",
                    "plan it again",
                )
                .at(&from));
            }
            Some(Node::Special) => return Err(Refusal::refused(&from, "it is not a regular file")),
            Some(Node::File(File { origin: Some(origin), .. })) => attributes::writable(origin)?,
            Some(Node::Folder(Folder { origin: Some(origin), .. })) => {
                if self.roots.all().iter().any(|root| root.path.starts_with(&*origin)) {
                    return Err(Refusal::refused(&from, "it holds a root of the workspace"));
                }
                self.policy.movable(self.roots, origin)?;
            }
            Some(_) => {}
        }
        // On a file system that folds case, `a` and `A` are the same thing.
        let same = self.same_on_disk(&from, &to);
        match self.overlay.find(&to)? {
            Some(_) if same => {}
            Some(Node::File(_)) if overwrite => {
                let node = self.overlay.take(&to)?;
                self.discard(node, &to)?;
            }
            Some(_) if overwrite => return Err(Refusal::refused(&to, "the edit would overwrite a folder")),
            Some(_) if ignore_if_exists => return Ok(()),
            Some(_) => {
                return Err(Refusal::new(
                    RefusalCode::Conflict,
                    "the edit renames another file to it, but it exists",
                    "plan it again",
                )
                .at(&to));
            }
            None => {}
        }
        let Some(node) = self.overlay.take(&from)? else { return Ok(()) };
        if let Node::File(File { origin: Some(origin), base, .. }) = &node {
            self.gone.entry(origin.clone()).or_insert_with(|| base.clone());
        }
        self.overlay.put(&to, node)
    }

    fn same_on_disk(&self, from: &Path, to: &Path) -> bool {
        let identity = |path: &Path| path.symlink_metadata().ok().map(|metadata| files::identity(&metadata));
        from.parent() == to.parent()
            && from
                .file_name()
                .zip(to.file_name())
                .is_some_and(|(from, to)| from.to_string_lossy().to_lowercase() == to.to_string_lossy().to_lowercase())
            && identity(from).is_some_and(|from| identity(to) == Some(from))
    }

    fn delete(&mut self, file: &FileRef, recursive: bool, ignore_if_not_exists: bool) -> Result<(), Refusal> {
        let path = self.place(file)?;
        match self.overlay.find(&path)? {
            None if ignore_if_not_exists => return Ok(()),
            None => {
                return Err(Refusal::new(
                    RefusalCode::NotFound,
                    "the edit deletes it, but it does not exist",
                    "plan it again",
                )
                .at(&path));
            }
            Some(Node::Folder(folder)) => {
                folder.unfold(self.policy.files)?;
                if !recursive && folder.entries.values().any(Option::is_some) {
                    return Err(Refusal::new(
                        RefusalCode::Conflict,
                        "the edit deletes a folder that is not empty",
                        "plan it again",
                    )
                    .at(&path));
                }
            }
            Some(_) => {}
        }
        let node = self.overlay.take(&path)?;
        self.discard(node, &path)
    }

    /// Notes that what was at `path` is no more.
    fn discard(&mut self, node: Option<Node>, path: &Path) -> Result<(), Refusal> {
        if self.gone.len() + self.gone_folders.len() > self.policy.files {
            return Err(Refusal::too_large(format!("it touches more than {} files", self.policy.files)));
        }
        match node {
            None => Ok(()),
            Some(Node::Special) => Err(Refusal::refused(path, "it is not a regular file")),
            Some(Node::File(file)) => {
                let Some(origin) = file.origin else { return Ok(()) };
                self.allowed(&origin)?;
                attributes::replaceable(&origin)?;
                if !self.gone.get(&origin).is_some_and(Option::is_some) {
                    let content = match file.base {
                        Some(base) => base,
                        None => self.raw(&origin)?,
                    };
                    self.gone.insert(origin, Some(content));
                }
                Ok(())
            }
            Some(Node::Folder(mut folder)) => {
                folder.unfold(self.policy.files)?;
                for (name, node) in std::mem::take(&mut folder.entries) {
                    self.discard(node, &path.join(name))?;
                }
                if let Some(origin) = folder.origin {
                    self.allowed(&origin)?;
                    self.gone_folders.insert(origin);
                }
                Ok(())
            }
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
