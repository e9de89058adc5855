//! Makes changes, whole or not at all. Under the workspace's lock everything is looked at once more, what is new is laid
//! beside and synced, the decision is written down, and only then is anything renamed in. What goes wrong before the
//! decision leaves the tree as it was; a killed writer's decided change is finished by the next one.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use super::commit::{self, State, Stuck, foreign};
use super::diff::Kind;
use super::journal::{self, Journal, Step};
use super::plan::{Folders, Plan, PlanId};
use super::policy::Policy;
use super::refusal::{Refusal, RefusalCode};
use super::store::{Applied, Recovered};
use super::work::Work;
use crate::sys::below::{Below, Hook};
use crate::sys::files::{self, Hold, Lock};
use crate::workspace::roots::Roots;

/// What makes changes in one workspace.
#[derive(Debug)]
pub(super) struct Engine {
    roots: Roots,
    /// The roots that lie in no other.
    pub(super) tops: Vec<PathBuf>,
    /// Locks of all workspaces, and for each of them a folder with its journals.
    edits: PathBuf,
    /// The journals of this one.
    home: PathBuf,
    wait: Duration,
    hook: Hook,
}

/// A change that was made, and can be taken back.
#[derive(Debug)]
pub(super) struct Made {
    journal: PathBuf,
    files: Vec<(Kind, PathBuf, Option<PathBuf>)>,
    folders: Folders,
    /// Bytes that are kept for it.
    pub(super) bytes: u64,
}

impl Made {
    /// What taking it back does to each file.
    pub(super) fn backwards(&self) -> impl Iterator<Item = (Kind, PathBuf, Option<PathBuf>)> {
        self.files.iter().map(|(kind, path, from)| match (kind, from) {
            (Kind::Created, _) => (Kind::Deleted, path.clone(), None),
            (Kind::Deleted, _) => (Kind::Created, path.clone(), None),
            (Kind::Renamed, Some(from)) => (Kind::Renamed, from.clone(), Some(path.clone())),
            (kind, _) => (*kind, path.clone(), None),
        })
    }
}

/// The workspace, held against other writers.
pub(super) struct Turn<'e> {
    pub(super) engine: &'e Engine,
    pub(super) tree: Below,
    _locks: Vec<Lock>,
}

impl Engine {
    pub(super) fn new(state: &Path, roots: &Roots, wait: Duration, hook: Hook) -> Engine {
        let all = roots.all().iter().map(|root| root.path.clone());
        let inner = |path: &Path| roots.all().iter().any(|other| other.path != path && path.starts_with(&other.path));
        let mut tops: Vec<PathBuf> = all.filter(|path| !inner(path)).collect();
        tops.sort();
        let names: Vec<&[u8]> = tops.iter().map(|top| top.as_os_str().as_encoded_bytes()).collect();
        let edits = state.join("edits");
        let home = edits.join(format!("{:016x}", xxh3_64(&names.join(&0))));
        Engine { roots: roots.clone(), tops, edits, home, wait, hook }
    }

    /// Makes a plan.
    pub(super) fn apply(&self, plan: &Plan, policy: &Policy) -> Result<(Applied, Option<Made>), Refusal> {
        for path in plan.paths() {
            if let Some(why) = policy.withholds(&self.roots, path) {
                return Err(Refusal::refused(path, format!("it is not to be changed: {why}")));
            }
        }
        let (turn, recovered) = self.begin()?;
        let id = PlanId::random()?;
        let work = Work::of(&plan.effects, id.as_str()).map_err(|error| self.internal(&error))?;
        let carried = turn.carry_out(&id, work, true)?;
        let files: Vec<_> =
            plan.files().map(|(kind, path, from)| (kind, path.to_owned(), from.map(Path::to_owned))).collect();
        let folders = plan.counts.folders;
        let applied = Applied { undo: carried.is_some(), recovered, folders, ..applied(&files, false) };
        Ok((applied, carried.map(|(journal, bytes)| Made { journal, files, folders, bytes })))
    }

    /// Takes back what was made.
    pub(super) fn undo(&self, made: &Made) -> Result<Applied, Refusal> {
        let (turn, recovered) = self.begin()?;
        let id = PlanId::random()?;
        let journal = Journal { tree: &turn.tree, folder: made.journal.clone() };
        let unkept = |error: &io::Error| {
            let what = format!("what would take it back is not kept any more: {error}");
            Refusal::new(RefusalCode::Expired, what, "take the change back by other means")
        };
        let record = journal.read().map_err(|error| unkept(&error))?;
        let work = Work::back(record, &journal, id.as_str()).map_err(|error| unkept(&error))?;
        let steps = work.steps.clone();
        let carried =
            turn.carry_out(&id, work, false).map_err(|refusal| refusal.of_undo(turn.changed_since(&steps)))?;
        if let Some((folder, _)) = carried {
            Journal { tree: &turn.tree, folder }.remove().ok();
        }
        Ok(Applied { undo: false, recovered, folders: made.folders, ..applied(&made.files, true) })
    }

    /// Finishes or drops what others left half made.
    pub(super) fn recover(&self) -> Result<Vec<Recovered>, Refusal> {
        Ok(self.begin()?.1)
    }

    /// Whether there is anything that may have to be settled, or forgotten.
    pub(super) fn has_journals(&self) -> bool {
        let journals = |home: &Path| std::fs::read_dir(home).into_iter().flatten().flatten();
        journals(&self.home).next().is_some()
            || self.homes().iter().flat_map(|home| journals(home)).any(|journal| !journal::is_done(&journal.path()))
    }

    /// The folders with journals of all workspaces.
    pub(super) fn homes(&self) -> Vec<PathBuf> {
        let all = self.edits.canonicalize().and_then(std::fs::read_dir).into_iter().flatten().flatten();
        let mut homes: Vec<PathBuf> =
            all.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect();
        homes.sort();
        homes
    }

    /// Holds another workspace's journals; `None` where somebody else does.
    pub(super) fn hold_journals(&self, home: &Path) -> io::Result<Option<Lock>> {
        files::lock_within(&home.with_extension("journals.lock"), Hold::Alone, self.wait)
    }

    /// Forgets how these changes are taken back. What cannot be removed is by a later writer.
    pub(super) fn forget(&self, all: Vec<Made>) {
        for made in all {
            let home = made.journal.parent().map(Path::to_owned);
            if let Ok(tree) = Below::open(home, Hook::default()) {
                Journal { tree: &tree, folder: made.journal }.remove().ok();
            }
        }
    }

    /// Leaves nothing empty behind, where nobody else is at work.
    pub(super) fn leave(&self) {
        let empty = std::fs::read_dir(&self.home).is_ok_and(|mut journals| journals.next().is_none());
        if empty && let Ok(Some(_locks)) = self.hold(Duration::ZERO) {
            files::remove_empty_dir(&self.home);
        }
    }

    /// The folder of this workspace's journals by its one name; it need not be there.
    fn home(&self) -> io::Result<PathBuf> {
        Ok(self.edits.canonicalize()?.join(self.home.file_name().unwrap_or_default()))
    }

    /// Holds the workspace against other writers; `None` where another has it all the while.
    fn hold(&self, wait: Duration) -> io::Result<Option<Vec<Lock>>> {
        // What lies above is shared: whoever changes a workspace that holds this one waits, a neighbour does not. Each
        // writer goes from the top down, so that no two wait for each other.
        let mut spots = BTreeMap::new();
        for top in &self.tops {
            spots.extend(top.ancestors().skip(1).map(|above| (above, Hold::Shared)));
        }
        spots.extend(self.tops.iter().map(|top| (&**top, Hold::Alone)));
        let mut locks = Vec::new();
        for (spot, hold) in spots {
            let name = format!("{:016x}.lock", xxh3_64(spot.as_os_str().as_encoded_bytes()));
            let Some(lock) = files::lock_within(&self.edits.join(name), hold, wait)? else { return Ok(None) };
            locks.push(lock);
        }
        Ok(Some(locks))
    }

    fn begin(&self) -> Result<(Turn<'_>, Vec<Recovered>), Refusal> {
        let failed = |error: io::Error| self.internal(&error);
        files::create_private_dir(&self.edits).map_err(failed)?;
        let locks = self.hold(self.wait).map_err(failed)?.ok_or_else(|| {
            Refusal::new(RefusalCode::Conflict, "another langport is changing this workspace", "try again")
        })?;
        files::create_private_dir(&self.home).map_err(failed)?;
        let edits = self.edits.canonicalize().map_err(failed)?;
        let home = self.home().map_err(failed)?;
        let tree = Below::open(self.tops.iter().cloned().chain([edits]), self.hook.clone());
        let tree = tree.map_err(|error| Refusal::failed(&self.tops[0], "open the workspace", &error))?;
        let turn = Turn { engine: self, tree, _locks: locks };
        let recovered = turn.recover(&home).map_err(|error| {
            let what = format!("an earlier change was left half made, and cannot be finished: {error}");
            Refusal::new(RefusalCode::Failed, what, "mend that and try again")
        })?;
        Ok((turn, recovered))
    }

    /// Trouble with langport's own files.
    pub(super) fn internal(&self, error: &io::Error) -> Refusal {
        Refusal::failed(&self.home, "keep a journal", error)
    }
}

fn applied(files: &[(Kind, PathBuf, Option<PathBuf>)], back: bool) -> Applied {
    let mut applied = Applied::default();
    for (kind, path, from) in files {
        match (kind, from) {
            (Kind::Changed, _) => applied.changed.push(path.clone()),
            (Kind::Created, _) if !back => applied.created.push(path.clone()),
            (Kind::Deleted, _) if back => applied.created.push(path.clone()),
            (Kind::Created | Kind::Deleted, _) => applied.deleted.push(path.clone()),
            (Kind::Renamed, Some(from)) if back => applied.renamed.push((path.clone(), from.clone())),
            (Kind::Renamed, Some(from)) => applied.renamed.push((from.clone(), path.clone())),
            (Kind::Renamed, None) => {}
        }
    }
    applied
}

impl Turn<'_> {
    /// All of it, or nothing. With `keep` so that it can be taken back. Says where the journal is, and how much it holds;
    /// `None` where it could not be tidied up after, which the next writer does.
    fn carry_out(&self, id: &PlanId, mut work: Work, keep: bool) -> Result<Option<(PathBuf, u64)>, Refusal> {
        let home = self.engine.home().map_err(|error| self.engine.internal(&error))?;
        let journal = Journal { tree: &self.tree, folder: home.join(id.as_str()) };
        let bytes = match self.prepare(&journal, &mut work, keep) {
            Ok(bytes) => bytes,
            Err(refusal) => {
                // What cannot be removed now, the next writer removes.
                self.discard(&journal, &work.steps).ok();
                return Err(refusal);
            }
        };
        if let Err(error) = journal.decide() {
            // It may be on the disk all the same. As long as it is, nothing that it needs may be removed.
            return Err(match journal.undecide() {
                Ok(()) => {
                    self.discard(&journal, &work.steps).ok();
                    self.engine.internal(&error)
                }
                Err(_) => Refusal::new(
                    RefusalCode::Failed,
                    format!("cannot keep a journal: {error}"),
                    "mend that: the next change in this workspace finishes this one or drops it first",
                ),
            });
        }
        for (turn, step) in work.steps.iter().enumerate() {
            let mut made = commit::forward(&self.tree, step);
            if matches!(made, Err(Stuck::Io(_))) {
                // It may have been a passing one, and may have done its work all the same.
                made = match commit::judge(&self.tree, step) {
                    Ok(State::After) => Ok(()),
                    Ok(State::Before) => commit::forward(&self.tree, step),
                    _ => made,
                };
            }
            if let Err(stuck) = made {
                return Err(self.back(&journal, &work.steps, turn, &stuck));
            }
        }
        // From here on it is made; what fails now only leaves more for the next writer to tidy up.
        let tidied = self.sync_folders(&work.steps).and_then(|()| {
            for step in &work.steps {
                if let Step::Replace { beside, .. } | Step::Delete { beside, .. } = step {
                    self.tree.remove(&beside.end.0)?;
                }
            }
            journal.done()
        });
        if let Err(error) = tidied {
            tracing::warn!(%error, "a change was made, but not tidied up after");
            return Ok(None);
        }
        Ok(Some((journal.folder, bytes)))
    }

    /// Takes back the first `made` steps of a decided change that cannot be finished.
    fn back(&self, journal: &Journal<'_>, steps: &[Step], made: usize, stuck: &Stuck) -> Refusal {
        let path = steps[made].path();
        let refusal = match stuck {
            Stuck::Changed => Refusal::conflict(path, "it changed while the plan was being made"),
            Stuck::Io(error) => trouble(path, error),
        };
        match journal.turn_back().and_then(|()| self.taken_back(journal, steps, made + 1)) {
            // The one that it failed for is named anyway.
            Ok(left) if left.iter().all(|other| other == path) => refusal,
            Ok(left) => {
                let what =
                    format!("{}; {} of its files have been changed since, and were left", refusal.what, left.len());
                Refusal { what, also: left.into(), ..refusal }
            }
            Err(error) => Refusal::new(
                RefusalCode::Failed,
                format!("{}, and the part that was made cannot be taken back now: {error}", refusal.what),
                "mend that: the next change in this workspace finishes or takes back this one first",
            )
            .at(path),
        }
    }
}

/// What the file system said of a file of the workspace.
pub(super) fn trouble(path: &Path, error: &io::Error) -> Refusal {
    if foreign(error) {
        return Refusal::conflict(path, "a link or a file is in the place of a folder above it");
    }
    match error.kind() {
        io::ErrorKind::NotFound => Refusal::conflict(path, "it is not as it was"),
        io::ErrorKind::PermissionDenied => {
            Refusal::new(RefusalCode::Failed, format!("it may not be changed: {error}"), "mend that and try again")
                .at(path)
        }
        _ => Refusal::failed(path, "change it", error),
    }
}
