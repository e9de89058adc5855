//! All that is done before a change is decided: everything looked at once more, what will be gone kept, what is new laid
//! beside and synced.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::apply::{Turn, trouble};
use super::commit;
use super::effect::{Content, Print};
use super::journal::{self, Journal, Record, Saved, Step};
use super::refusal::{Refusal, RefusalCode};
use super::work::{Like, Ready, Work};
use crate::sys::below::{Attributes, Found, What};

/// Files that are named because they have been changed.
const CHANGED: usize = 20;
/// Files are synced side by side: most of it is waiting.
const SYNCERS: usize = 8;

impl Turn<'_> {
    /// All that can be done before anything is decided.
    pub(super) fn prepare(&self, journal: &Journal<'_>, work: &mut Work, keep: bool) -> Result<u64, Refusal> {
        let own = |error: io::Error| self.engine.internal(&error);
        journal.make().map_err(own)?;
        let mut old = if keep { Some(journal.old().map_err(own)?) } else { None };
        let mut at = 0;
        let leaving = leaving(&work.steps);
        for turn in 0..work.steps.len() {
            let bytes = self.verify(&work.steps, turn, &leaving, keep)?;
            let attributes = self.attributes(&work.steps, turn)?;
            let saved = old.as_mut().zip(bytes).map(|(file, bytes)| {
                let len = bytes.len() as u64;
                at += len;
                self.tree.write(file, &bytes).map(|()| Saved { at: at - len, len })
            });
            let saved = saved.transpose().map_err(own)?;
            match &mut work.steps[turn] {
                Step::Replace { saved: slot, .. } => *slot = saved,
                Step::Delete { saved: slot, attributes: kept, .. } => (*slot, *kept) = (saved, attributes),
                Step::RemoveFolder { attributes: kept, .. } => *kept = attributes,
                Step::MakeFolder { .. } | Step::MoveFolder { .. } | Step::Move { .. } | Step::Create { .. } => {}
            }
        }
        drop(old);
        // Before anything lies beside: a killed writer's leavings must be found.
        let record = Record { steps: std::mem::take(&mut work.steps) };
        let written = journal.write(&record, keep);
        work.steps = record.steps;
        written.map_err(own)?;
        let mut beside = Vec::new();
        for (step, ready) in work.steps.iter().zip(&work.ready) {
            if let (Some(place), Some(ready)) = (step.beside(), ready) {
                self.lay(&place.start.0, ready, step.path())?;
                if !matches!(ready.content, Content::Link(_)) {
                    beside.push((place.start.0.as_path(), step.path()));
                }
            }
        }
        self.sync(&beside)?;
        let laid = work.steps.iter().filter_map(Step::beside).filter_map(|beside| beside.start.0.parent());
        for folder in laid.collect::<BTreeSet<_>>() {
            self.tree.sync_folder(folder).map_err(|error| Refusal::failed(folder, "sync it", &error))?;
        }
        Ok(at)
    }

    /// Files that are not as the steps expect them.
    pub(super) fn changed_since(&self, steps: &[Step]) -> Vec<PathBuf> {
        let leaving = leaving(steps);
        let refused = (0..steps.len()).filter_map(|turn| self.verify(steps, turn, &leaving, false).err());
        let conflicts = refused.filter(|refusal| refusal.code == RefusalCode::Conflict);
        let mut changed: Vec<PathBuf> = conflicts.filter_map(|refusal| refusal.path).take(CHANGED).collect();
        changed.dedup();
        changed
    }

    /// Is everything as the step expects it? Gives the content that will be gone. With `whole`, a folder that is removed
    /// may hold nothing but what is removed with it; otherwise it stays where it does.
    fn verify(
        &self,
        steps: &[Step],
        turn: usize,
        leaving: &HashSet<PathBuf>,
        whole: bool,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let changed = |path: &Path| Refusal::conflict(path, "it is not as it was");
        let start = |path: &Path| journal::at_start(steps, turn, path);
        let look = |path: &Path| {
            let Some(place) = start(path) else { return Ok(None) };
            self.tree.look(&place).map_err(|error| trouble(path, &error))
        };
        // An earlier step makes room.
        let leaves = |path: &Path| start(path).is_some_and(|place| leaving.contains(&place));
        match &steps[turn] {
            Step::MakeFolder { path, .. } | Step::Create { path, .. } => {
                if look(&path.0)?.is_some() {
                    return Err(Refusal::conflict(&path.0, "there is something by now"));
                }
                Ok(None)
            }
            Step::MoveFolder { from, to, dev, ino } => {
                let same = look(&from.0)?
                    .is_some_and(|found| found.what == What::Folder && (found.dev, found.ino) == (*dev, *ino));
                if !same {
                    return Err(changed(&from.0));
                }
                free(look(&to.0)?.filter(|_| !leaves(&to.0)), (*dev, *ino), &to.0)
            }
            Step::Move { from, to, print } => {
                let place = start(&from.0).ok_or_else(|| changed(&from.0))?;
                let found = look(&from.0)?.ok_or_else(|| changed(&from.0))?;
                if found.readonly && found.what != What::Link {
                    return Err(
                        Refusal::new(RefusalCode::ReadOnly, "it is read-only", "make it writable first").at(&from.0)
                    );
                }
                if commit::print(&self.tree, &place).map_err(|error| trouble(&from.0, &error))? != Some(*print) {
                    return Err(changed(&from.0));
                }
                free(look(&to.0)?.filter(|_| !leaves(&to.0)), (found.dev, found.ino), &to.0)
            }
            Step::Replace { path, old, .. } | Step::Delete { path, old, .. } => {
                let found = look(&path.0)?.ok_or_else(|| changed(&path.0))?;
                if found.what != What::Link {
                    if found.readonly {
                        return Err(Refusal::new(RefusalCode::ReadOnly, "it is read-only", "make it writable first")
                            .at(&path.0));
                    }
                    if found.what == What::File && found.names > 1 {
                        return Err(Refusal::refused(
                            &path.0,
                            "it has several names (hard links), which would come apart",
                        ));
                    }
                }
                let place = start(&path.0).ok_or_else(|| changed(&path.0))?;
                let bytes = self.bytes(&place, *old).map_err(|error| trouble(&path.0, &error))?;
                bytes.map(Some).ok_or_else(|| changed(&path.0))
            }
            Step::RemoveFolder { path, .. } => {
                let place = start(&path.0).ok_or_else(|| changed(&path.0))?;
                if look(&path.0)?.is_none_or(|found| found.what != What::Folder) {
                    return Err(changed(&path.0));
                }
                if whole {
                    let names = self.tree.names(&place).map_err(|error| trouble(&path.0, &error))?;
                    if let Some(other) = names.iter().map(|name| place.join(name)).find(|path| !leaving.contains(path))
                    {
                        return Err(Refusal::conflict(
                            &other,
                            "it is in a folder that is to be deleted, but was not there",
                        ));
                    }
                }
                Ok(None)
            }
        }
    }

    /// The content, if it is the one with this print.
    fn bytes(&self, path: &Path, print: Print) -> io::Result<Option<Vec<u8>>> {
        let bytes = match self.tree.look(path)?.map(|found| found.what) {
            Some(What::Link) => {
                let target = Content::Link(self.tree.link(path)?);
                return Ok((target.print() == print).then(|| target.parts().concat()));
            }
            Some(What::File) => {
                let mut bytes = Vec::with_capacity(usize::try_from(print.len).unwrap_or(0) + 1);
                self.tree.read(path)?.0.take(print.len + 1).read_to_end(&mut bytes)?;
                bytes
            }
            _ => return Ok(None),
        };
        let same = !print.link && bytes.len() as u64 == print.len && xxh3_64(&bytes) == print.hash;
        Ok(same.then_some(bytes))
    }

    /// What has to be known of a thing that goes, to make it again.
    fn attributes(&self, steps: &[Step], turn: usize) -> Result<Option<Attributes>, Refusal> {
        let path = match &steps[turn] {
            Step::Delete { path, old, .. } if !old.link => path,
            Step::RemoveFolder { path, .. } => path,
            _ => return Ok(None),
        };
        let Some(place) = journal::at_start(steps, turn, &path.0) else { return Ok(None) };
        self.tree.attributes(&place).map(Some).map_err(|error| trouble(&path.0, &error))
    }

    /// Lays a new file beside.
    fn lay(&self, place: &Path, ready: &Ready, path: &Path) -> Result<(), Refusal> {
        let failed = |error: io::Error| trouble(path, &error);
        if let Content::Link(target) = &ready.content {
            return self.tree.create_link(place, target).map_err(failed);
        }
        let attributes = match &ready.like {
            Like::File(like) => Some(self.tree.attributes(like).map_err(failed)?),
            Like::Given(attributes) => Some(attributes.clone()),
            Like::Fresh => None,
        };
        let mut file = self.tree.create(place, attributes.is_some()).map_err(failed)?;
        for part in ready.content.parts() {
            self.tree.write(&mut file, part).map_err(failed)?;
        }
        match attributes {
            Some(attributes) => self.tree.set(&file, &attributes).map_err(|error| match error.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => {
                    Refusal::refused(path, error.to_string())
                }
                _ => failed(error),
            }),
            None => Ok(()),
        }
    }

    fn sync(&self, files: &[(&Path, &Path)]) -> Result<(), Refusal> {
        let share = files.len().div_ceil(SYNCERS).max(1);
        let some = |files: &[(&Path, &Path)]| {
            files.iter().try_for_each(|(place, path)| {
                self.tree.sync(place).map_err(|error| Refusal::failed(path, "sync its new content", &error))
            })
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = files.chunks(share).map(|files| scope.spawn(move || some(files))).collect();
            all.into_iter().try_for_each(|one| {
                one.join().unwrap_or_else(|_| Err(Refusal::new(RefusalCode::Failed, "syncing broke off", "try again")))
            })
        })
    }
}

/// A name must be free, or, where a file system folds case, the thing's own.
fn free(found: Option<Found>, (dev, ino): (u64, u64), path: &Path) -> Result<Option<Vec<u8>>, Refusal> {
    match found {
        Some(found) if (found.dev, found.ino) != (dev, ino) => {
            Err(Refusal::conflict(path, "there is something by now"))
        }
        _ => Ok(None),
    }
}

/// All that leaves its place, by where it is before the first step.
fn leaving(steps: &[Step]) -> HashSet<PathBuf> {
    let leaves = |step: &&Step| {
        matches!(step, Step::Delete { .. } | Step::Move { .. } | Step::MoveFolder { .. } | Step::RemoveFolder { .. })
    };
    let all = steps.iter().enumerate().filter(|(_, step)| leaves(step));
    all.filter_map(|(turn, step)| journal::at_start(steps, turn, step.path())).collect()
}
