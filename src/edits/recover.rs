//! What becomes of a change that was not finished: dropped where it was not decided, finished where it was, taken back where
//! it could not be. Only files that are the change's own are touched.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::apply::Turn;
use super::commit::{self, State, Stuck, foreign};
use super::journal::{self, Journal, Record, Spot, Stage, Step};
use super::store::Recovered;
use crate::sys::below::What;
use crate::sys::files;

/// Journals of others who could have taken their changes back, but are gone.
const FORGOTTEN_NS: i128 = 24 * 3600 * 1_000_000_000;
/// The same of other workspaces, which may never be changed again.
const ABANDONED_NS: i128 = 30 * FORGOTTEN_NS;

impl Turn<'_> {
    /// Has the disk hold all names as they are, whether every step has been made or none.
    pub(super) fn sync_folders(&self, steps: &[Step]) -> io::Result<()> {
        let mut folders = BTreeSet::new();
        for (turn, step) in steps.iter().enumerate() {
            let second = match step {
                Step::Move { to, .. } | Step::MoveFolder { to, .. } => Some(&*to.0),
                _ => step.beside().map(|beside| &*beside.turn.0),
            };
            for path in [Some(step.path()), second].into_iter().flatten() {
                let places = [journal::at_start(steps, turn, path), Some(journal::at_end(steps, turn, path))];
                folders.extend(places.iter().flatten().filter_map(|place| place.parent()).map(Path::to_owned));
            }
        }
        for folder in folders {
            match self.tree.sync_folder(&folder) {
                // It was removed, too.
                Err(error) if error.kind() == io::ErrorKind::NotFound || foreign(&error) => {}
                synced => synced?,
            }
        }
        Ok(())
    }

    /// Takes back the first `made` steps, tidies up and forgets; says which files are somebody else's by now.
    pub(super) fn taken_back(&self, journal: &Journal<'_>, steps: &[Step], made: usize) -> io::Result<Vec<PathBuf>> {
        let mut left = self.undone(steps, made)?;
        self.sync_folders(steps)?;
        left.extend(self.tidy(steps, |step| step.beside().map(|beside| &beside.start))?);
        journal.remove()?;
        Ok(left)
    }

    /// Takes back the first `made` steps; says which files are somebody else's by now.
    fn undone(&self, steps: &[Step], made: usize) -> io::Result<Vec<PathBuf>> {
        // A folder that is back, or never moved: what came after that has been taken back, and goes by other paths now.
        let mut made = made;
        for (turn, step) in steps[..made].iter().enumerate() {
            if matches!(step, Step::MoveFolder { .. }) && commit::judge(&self.tree, step)? == State::Before {
                made = turn;
                break;
            }
        }
        let mut left = Vec::new();
        for step in steps[..made].iter().rev() {
            match commit::judge(&self.tree, step)? {
                State::Before | State::Bare => left.extend(self.incomplete(step)?),
                State::Other => left.push(step.path().to_owned()),
                State::After => match commit::backward(&self.tree, step) {
                    Ok(()) => {}
                    Err(Stuck::Changed) => left.push(step.path().to_owned()),
                    Err(Stuck::Io(error)) => return Err(error),
                },
            }
        }
        Ok(left)
    }

    /// Removes what lies beside before the first step, and the journal.
    pub(super) fn discard(&self, journal: &Journal<'_>, steps: &[Step]) -> io::Result<()> {
        self.discarded(steps)?;
        journal.remove()
    }

    fn discarded(&self, steps: &[Step]) -> io::Result<()> {
        for step in steps {
            if let Step::Replace { beside, .. } | Step::Create { beside, .. } = step {
                match self.tree.remove(&beside.start.0) {
                    Err(error) if foreign(&error) => {}
                    removed => removed?,
                }
            }
        }
        Ok(())
    }

    /// Settles what was left in the journals of this workspace, and, as far as it concerns files of this one, in those of
    /// workspaces with other roots: nobody who changes these files is at it now, since all of them are held.
    pub(super) fn recover(&self, home: &Path) -> io::Result<Vec<Recovered>> {
        let mut recovered = Vec::new();
        for name in self.sorted(home)? {
            recovered.extend(self.settle(&Journal { tree: &self.tree, folder: home.join(name) }, true)?);
        }
        for other in self.engine.homes() {
            if other == home || !self.tree.look(&other)?.is_some_and(|found| found.what == What::Folder) {
                continue;
            }
            // Two workspaces that both have a part in a third one's change would write down at once what is left of it.
            let Some(_lock) = self.engine.hold_journals(&other)? else { continue };
            for name in self.sorted(&other)? {
                recovered.extend(self.settle(&Journal { tree: &self.tree, folder: other.join(name) }, false)?);
            }
            // It stays as long as anything is in it.
            self.tree.remove_folder(&other).ok();
        }
        for one in &recovered {
            tracing::warn!(finished = one.finished, left = ?one.left, "a change that was left half made is settled");
        }
        Ok(recovered)
    }

    fn sorted(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let mut names = match self.tree.names(folder) {
            // Somebody else has tidied up.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            names => names?,
        };
        names.sort();
        Ok(names)
    }

    /// Settles one change; of one of other roots (not `own`) the part that lies in these.
    fn settle(&self, journal: &Journal<'_>, own: bool) -> io::Result<Option<Recovered>> {
        let stage = journal.stage()?;
        let Some(found) = self.tree.look(&journal.folder)? else { return Ok(None) };
        let age = files::now_ns() - found.mtime;
        if stage == Stage::Done {
            // Its owner may be forgetting it just now.
            if age > if own { FORGOTTEN_NS } else { ABANDONED_NS } {
                journal.remove()?;
            }
            return Ok(None);
        }
        let record = match journal.read() {
            Ok(record) => record,
            // Somebody elsewhere may be about to write it down.
            Err(_) if !own && stage == Stage::Open && age <= FORGOTTEN_NS => return Ok(None),
            // Nothing lies beside before the steps are written down, and they go when all is done.
            Err(error) if own || stage == Stage::Open || error.kind() == io::ErrorKind::NotFound => {
                if stage != Stage::Open && error.kind() != io::ErrorKind::NotFound {
                    tracing::error!(journal = %journal.folder.display(), %error, "a journal is damaged, and dropped");
                }
                journal.remove()?;
                return Ok(None);
            }
            // Those to whom all of it belongs find it.
            Err(_) => return Ok(None),
        };
        let (steps, rest) = if own { (record.steps, Vec::new()) } else { self.part_of(record.steps) };
        if steps.is_empty() && !own {
            return Ok(None);
        }
        let finished = stage == Stage::Decided;
        let mut left = match stage {
            Stage::Open => self.discarded(&steps).map(|()| Vec::new())?,
            Stage::Back => self.undone(&steps, steps.len())?,
            Stage::Decided | Stage::Done => self.finished(&steps)?,
        };
        if stage != Stage::Open {
            self.sync_folders(&steps)?;
            left.extend(self.tidy(&steps, |step| {
                let beside = step.beside()?;
                Some(if finished { &beside.end } else { &beside.start })
            })?);
        }
        if rest.is_empty() {
            journal.remove()?;
        } else {
            journal.keep(&Record { steps: rest })?;
        }
        Ok(Some(Recovered { finished, left }))
    }

    /// The steps that lie in the folders of this workspace, and the rest. A folder that moves from here to elsewhere, or
    /// that holds one of these, changes the paths of all that comes after it: then no part can be made by itself.
    fn part_of(&self, steps: Vec<Step>) -> (Vec<Step>, Vec<Step>) {
        let tops = &self.engine.tops;
        let inside = |path: &Path| tops.iter().any(|top| path.starts_with(top));
        let entwined = |step: &Step| {
            let holds = |path: &Path| tops.iter().any(|top| top.starts_with(path));
            let moves = matches!(step, Step::MoveFolder { .. });
            moves && !step.paths().all(inside) && step.paths().any(|path| inside(path) || holds(path))
        };
        if steps.iter().any(entwined) {
            return (Vec::new(), steps);
        }
        steps.into_iter().partition(|step| step.paths().all(inside))
    }

    /// Makes all steps that are still to be made; says which files are somebody else's by now.
    fn finished(&self, steps: &[Step]) -> io::Result<Vec<PathBuf>> {
        // A folder that has moved: what came before that has been made, and goes by other paths now.
        let mut from = 0;
        for (turn, step) in steps.iter().enumerate() {
            if matches!(step, Step::MoveFolder { .. }) && commit::judge(&self.tree, step)? == State::After {
                from = turn + 1;
            }
        }
        let mut left = Vec::new();
        for step in &steps[from..] {
            match commit::judge(&self.tree, step)? {
                State::After => left.extend(self.incomplete(step)?),
                State::Other | State::Bare => left.push(step.path().to_owned()),
                State::Before => match commit::forward(&self.tree, step) {
                    Ok(()) => {}
                    Err(Stuck::Changed) => left.push(step.path().to_owned()),
                    // It never will: waiting for it would keep every other change from being made.
                    Err(Stuck::Io(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
                        left.push(step.path().to_owned());
                    }
                    Err(Stuck::Io(error)) => return Err(error),
                },
            }
        }
        Ok(left)
    }

    /// Whoever made a folder again may have been killed before it was as it had been: now it is, or it is named.
    fn incomplete(&self, step: &Step) -> io::Result<Option<PathBuf>> {
        let (Step::MakeFolder { path, attributes: Some(attributes) }
        | Step::RemoveFolder { path, attributes: Some(attributes) }) = step
        else {
            return Ok(None);
        };
        let there = match self.tree.look(&path.0) {
            Err(error) if foreign(&error) => None,
            found => found?.filter(|found| found.what == What::Folder),
        };
        match there.map_or(Ok(()), |_| self.tree.complete_folder(&path.0, attributes)) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Some(path.0.clone())),
            done => done.map(|()| None),
        }
    }

    /// Removes what lies beside and is langport's; says what is not.
    fn tidy<'s>(&self, steps: &'s [Step], place: impl Fn(&'s Step) -> Option<&'s Spot>) -> io::Result<Vec<PathBuf>> {
        let mut left = Vec::new();
        for step in steps {
            let Some(Spot(beside)) = place(step) else { continue };
            for path in [beside.clone(), journal::second(beside)] {
                match commit::print(&self.tree, &path)? {
                    None => {}
                    print if step.prints().contains(&print) => self.tree.remove(&path)?,
                    Some(_) => left.push(path),
                }
            }
        }
        Ok(left)
    }
}
