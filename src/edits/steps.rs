//! One step of an edit after the other, made on the overlay.

use std::path::Path;
use std::sync::Arc;

use super::attributes;
use super::effect::Content;
use super::overlay::{File, Folder, Node};
use super::planner::{Planner, bounded};
use super::refusal::{Refusal, RefusalCode};
use super::text::{self, TextError};
use crate::protocol::positions::LineMap;
use crate::protocol::types::{EditStep, FileRef, TextEdit};
use crate::sys::files;

/// Texts that are gone through in all, however many steps an edit has: so many times what a plan may hold.
const WORK: u64 = 16;

impl<'p> Planner<'p> {
    pub(super) fn step(&mut self, step: &'p EditStep) -> Result<(), Refusal> {
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

    fn texts(&mut self, file: &FileRef, version: Option<i64>, edits: &'p [TextEdit]) -> Result<(), Refusal> {
        let mut path = self.place(file)?;
        if let Some(Node::File(File { link: true, origin, .. })) = self.overlay.find(&path)? {
            let here = origin.as_ref() == Some(&path);
            path = self.behind(&path, here)?;
        }
        self.load(&path, version)?;
        if self.is_repeated(&path, edits)? {
            return Ok(());
        }
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
        if self.work > WORK.saturating_mul(self.policy.plan_bytes) {
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
                TextError::Reversed(_) | TextError::Inside(_) => Refusal::invalid(error.to_string()).at(&path),
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
        let earlier = self.earlier.entry(path).or_default();
        earlier.steps.push(edits);
        let replaces = edits.iter().filter(|edit| edit.range.start < edit.range.end);
        earlier.replaced.extend(replaces.map(|edit| (edit.range.start, edit)));
        Ok(())
    }

    /// Whether an earlier step makes all of these edits already: TypeScript's servers mend a file once for each moved one
    /// that it imports. Clients take a second step for a text either as it was or as the first step leaves it: where it
    /// replaces other words that the first one has replaced, nobody can tell what is meant.
    fn is_repeated(&self, path: &Path, edits: &[TextEdit]) -> Result<bool, Refusal> {
        let Some(earlier) = self.earlier.get(path) else { return Ok(false) };
        let touched = |edit: &TextEdit| {
            let before = earlier.replaced.range(..edit.range.end).next_back().map(|(_, other)| *other);
            before.filter(|other| edit.range.start < other.range.end)
        };
        let Some(edit) = edits.iter().find(|edit| touched(edit).is_some()) else { return Ok(false) };
        let made = |edit: &TextEdit| touched(edit).is_some_and(|other| other == edit);
        if earlier.steps.contains(&edits) || edits.iter().all(made) {
            return Ok(true);
        }
        let error = TextError::Overlap(edit.range.start.line).to_string();
        Err(Refusal::new(RefusalCode::Conflict, error, "make the change by other means").at(path))
    }

    /// What is at this path from now on is another text than the one that earlier steps edited.
    fn another(&mut self, path: &Path) {
        let below = self.earlier.range(path.to_owned()..).take_while(|(other, _)| other.starts_with(path));
        let below: Vec<_> = below.map(|(other, _)| other.clone()).collect();
        below.iter().for_each(|other| drop(self.earlier.remove(other)));
    }

    fn create(&mut self, file: &FileRef, overwrite: bool, ignore_if_exists: bool) -> Result<(), Refusal> {
        let path = self.place(file)?;
        self.nameable(&path)?;
        if overwrite {
            self.another(&path);
        }
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
        self.nameable(&to)?;
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
                self.policy.movable(self.roots, origin, &to)?;
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
        self.another(&from);
        self.another(&to);
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
        self.another(&path);
        self.discard(node, &path)
    }

    /// Notes that what was at `path` is no more.
    fn discard(&mut self, node: Option<Node>, path: &Path) -> Result<(), Refusal> {
        if self.gone.len() + self.gone_folders.len() > self.policy.files {
            return Err(Refusal::too_large(format!("it touches more than {} files", self.policy.files)));
        }
        bounded(path)?;
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
                    if self.knows_otherwise(&origin, content.print().hash) {
                        return Err(Refusal::conflict(&origin, "it changed while the server was computing"));
                    }
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
}
