//! What becomes of a change that was not finished: dropped where it was not decided, finished where it was, taken back where
//! it could not be. Only files that are the change's own are touched.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::apply::Turn;
use super::commit::{self, State, Stuck, foreign};
use super::journal::{self, Journal, Stage, Step};
use super::store::Recovered;
use crate::sys::files;

/// Journals of others who could have taken their changes back, but are gone.
const FORGOTTEN_NS: i128 = 24 * 3600 * 1_000_000_000;

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
        left.extend(self.tidy(steps, |step| step.beside().map(|beside| &*beside.start.0))?);
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
                State::Before | State::Bare => {}
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
        for step in steps {
            if let Step::Replace { beside, .. } | Step::Create { beside, .. } = step {
                match self.tree.remove(&beside.start.0) {
                    Err(error) if foreign(&error) => {}
                    removed => removed?,
                }
            }
        }
        journal.remove()
    }

    pub(super) fn recover(&self, home: &Path) -> io::Result<Vec<Recovered>> {
        let mut recovered = Vec::new();
        let mut names = self.tree.names(home)?;
        names.sort();
        for name in names {
            let journal = Journal { tree: &self.tree, folder: home.join(name) };
            let stage = journal.stage()?;
            if stage == Stage::Done {
                // Its owner may be forgetting it just now.
                if let Some(found) = self.tree.look(&journal.folder)?
                    && files::now_ns() - found.mtime > FORGOTTEN_NS
                {
                    journal.remove()?;
                }
                continue;
            }
            let record = match journal.read() {
                Ok(record) => record,
                // Nothing lies beside before the steps are written down, and they go when all is done.
                Err(error) => {
                    if stage != Stage::Open && error.kind() != io::ErrorKind::NotFound {
                        tracing::error!(journal = %journal.folder.display(), %error, "a journal is damaged, and dropped");
                    }
                    journal.remove()?;
                    continue;
                }
            };
            let steps = &record.steps;
            match stage {
                Stage::Done => {}
                Stage::Open => {
                    self.discard(&journal, steps)?;
                    recovered.push(Recovered { finished: false, left: Vec::new() });
                }
                Stage::Back => {
                    let left = self.taken_back(&journal, steps, steps.len())?;
                    recovered.push(Recovered { finished: false, left });
                }
                Stage::Decided => {
                    let mut left = self.finished(steps)?;
                    self.sync_folders(steps)?;
                    left.extend(self.tidy(steps, |step| step.beside().map(|beside| &*beside.end.0))?);
                    journal.remove()?;
                    recovered.push(Recovered { finished: true, left });
                }
            }
        }
        for one in &recovered {
            tracing::warn!(finished = one.finished, left = ?one.left, "a change that was left half made is settled");
        }
        Ok(recovered)
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
                State::After => {}
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

    /// Removes what lies beside and is langport's; says what is not.
    fn tidy<'s>(&self, steps: &'s [Step], place: impl Fn(&'s Step) -> Option<&'s Path>) -> io::Result<Vec<PathBuf>> {
        let mut left = Vec::new();
        for step in steps {
            let Some(beside) = place(step) else { continue };
            for path in [beside.to_owned(), journal::second(beside)] {
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
