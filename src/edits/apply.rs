//! Makes changes, whole or not at all. Under the workspace's lock everything is looked at once more, what is new is laid
//! beside and synced, the decision is written down, and only then is anything renamed in. What goes wrong before the
//! decision leaves the tree as it was; a killed writer's decided change is finished by the next one.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use super::commit::{self, State, Stuck, foreign};
use super::diff::Kind;
use super::effect::{Content, Print};
use super::journal::{self, Journal, Record, Saved, Stage, Step};
use super::plan::{Plan, PlanId};
use super::policy::Policy;
use super::refusal::{Refusal, RefusalCode};
use super::store::{Applied, Recovered};
use super::work::{Like, Ready, Work};
use crate::sys::below::{Below, Found, Hook, What};
use crate::sys::files::{self, Lock};
use crate::workspace::roots::Roots;

/// Journals of others who could have taken their changes back, but are gone.
const FORGOTTEN: Duration = Duration::from_secs(24 * 3600);
/// Files are synced side by side: most of it is waiting.
const SYNCERS: usize = 8;

/// What makes changes in one workspace.
#[derive(Debug)]
pub(super) struct Engine {
    roots: Roots,
    /// The roots that lie in no other.
    tops: Vec<PathBuf>,
    /// Locks of all workspaces.
    locks: PathBuf,
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
    /// Bytes that are kept for it.
    pub(super) bytes: u64,
}

/// The workspace, held against other writers.
struct Turn<'e> {
    engine: &'e Engine,
    tree: Below,
    _locks: Vec<Lock>,
}

impl Engine {
    pub(super) fn new(state: &Path, roots: &Roots, wait: Duration, hook: Hook) -> Engine {
        let all = roots.all().iter().map(|root| root.path.clone());
        let inner = |path: &Path| roots.all().iter().any(|other| other.path != path && path.starts_with(&other.path));
        let mut tops: Vec<PathBuf> = all.filter(|path| !inner(path)).collect();
        tops.sort();
        let names: Vec<&[u8]> = tops.iter().map(|top| top.as_os_str().as_encoded_bytes()).collect();
        let locks = state.join("edits");
        let home = locks.join(format!("{:016x}", xxh3_64(&names.join(&0))));
        Engine { roots: roots.clone(), tops, locks, home, wait, hook }
    }

    /// Makes a plan.
    pub(super) fn apply(&self, plan: &Plan, policy: &Policy) -> Result<(Applied, Made), Refusal> {
        for path in plan.paths() {
            if let Some(why) = policy.withholds(&self.roots, path) {
                return Err(Refusal::refused(path, format!("it is not to be changed: {why}")));
            }
        }
        let (turn, recovered) = self.begin()?;
        let id = PlanId::random()?;
        let work = Work::of(&plan.effects, id.as_str()).map_err(|error| self.internal(&error))?;
        let (journal, bytes) = turn.carry_out(&id, work, true)?;
        let files: Vec<_> =
            plan.files().map(|(kind, path, from)| (kind, path.to_owned(), from.map(Path::to_owned))).collect();
        let applied = Applied { undo: true, recovered, ..applied(&files, false) };
        Ok((applied, Made { journal, files, bytes }))
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
        let (journal, _) = turn.carry_out(&id, work, false)?;
        Journal { tree: &turn.tree, folder: journal }.remove().ok();
        Ok(Applied { undo: false, recovered, ..applied(&made.files, true) })
    }

    /// Finishes or drops what others left half made.
    pub(super) fn recover(&self) -> Result<Vec<Recovered>, Refusal> {
        Ok(self.begin()?.1)
    }

    /// Forgets how a change is taken back. What cannot be removed is by a later writer.
    pub(super) fn drop_journal(&self, made: Made) {
        if let Ok(tree) = Below::open([self.home.clone()], Hook::default()) {
            Journal { tree: &tree, folder: made.journal }.remove().ok();
        }
    }

    fn begin(&self) -> Result<(Turn<'_>, Vec<Recovered>), Refusal> {
        let failed = |error: io::Error| self.internal(&error);
        files::create_private_dir(&self.locks).map_err(failed)?;
        files::create_private_dir(&self.home).map_err(failed)?;
        let mut locks = Vec::new();
        for top in &self.tops {
            let name = format!("{:016x}.lock", xxh3_64(top.as_os_str().as_encoded_bytes()));
            let lock = files::lock_within(&self.locks.join(name), self.wait).map_err(failed)?;
            locks.push(lock.ok_or_else(|| {
                Refusal::new(RefusalCode::Conflict, "another langport is changing this workspace", "try again")
            })?);
        }
        let home = self.home.canonicalize().map_err(failed)?;
        let tree = Below::open(self.tops.iter().cloned().chain([home.clone()]), self.hook.clone()).map_err(failed)?;
        let turn = Turn { engine: self, tree, _locks: locks };
        let recovered = turn.recover(&home).map_err(|error| {
            let what = format!("an earlier change was left half made, and cannot be finished: {error}");
            Refusal::new(RefusalCode::Failed, what, "mend that and try again")
        })?;
        Ok((turn, recovered))
    }

    /// Trouble with langport's own files.
    fn internal(&self, error: &io::Error) -> Refusal {
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
    /// All of it, or nothing. With `keep` so that it can be taken back. Says where the journal is, and how much it holds.
    fn carry_out(&self, id: &PlanId, mut work: Work, keep: bool) -> Result<(PathBuf, u64), Refusal> {
        let home = self.engine.home.canonicalize().map_err(|error| self.engine.internal(&error))?;
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
        }
        Ok((journal.folder, bytes))
    }

    /// All that can be done before anything is decided.
    fn prepare(&self, journal: &Journal<'_>, work: &mut Work, keep: bool) -> Result<u64, Refusal> {
        let own = |error: io::Error| self.engine.internal(&error);
        journal.make().map_err(own)?;
        let mut old = if keep { Some(journal.old().map_err(own)?) } else { None };
        let mut at = 0;
        let leaving = leaving(&work.steps);
        for turn in 0..work.steps.len() {
            let bytes = self.verify(&work.steps, turn, keep.then_some(&leaving))?;
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

    /// Is everything as the step expects it? Gives the content that will be gone.
    fn verify(
        &self,
        steps: &[Step],
        turn: usize,
        leaving: Option<&HashSet<PathBuf>>,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let changed = |path: &Path| Refusal::conflict(path, "it is not as it was");
        let start = |path: &Path| journal::at_start(steps, turn, path);
        let look = |path: &Path| {
            let Some(place) = start(path) else { return Ok(None) };
            self.tree.look(&place).map_err(|error| trouble(path, &error))
        };
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
                self.free(look(&to.0)?, (*dev, *ino), &to.0)
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
                self.free(look(&to.0)?, (found.dev, found.ino), &to.0)
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
                if let Some(leaving) = leaving {
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

    /// A name must be free, or, where a file system folds case, the thing's own.
    fn free(&self, found: Option<Found>, (dev, ino): (u64, u64), path: &Path) -> Result<Option<Vec<u8>>, Refusal> {
        match found {
            Some(found) if (found.dev, found.ino) != (dev, ino) => {
                Err(Refusal::conflict(path, "there is something by now"))
            }
            _ => Ok(None),
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
    fn attributes(&self, steps: &[Step], turn: usize) -> Result<Option<crate::sys::below::Attributes>, Refusal> {
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

    /// Has the disk hold all names as they are, whether every step has been made or none.
    fn sync_folders(&self, steps: &[Step]) -> io::Result<()> {
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

    /// Takes back the first `made` steps of a decided change that cannot be finished.
    fn back(&self, journal: &Journal<'_>, steps: &[Step], made: usize, stuck: &Stuck) -> Refusal {
        let path = steps[made].path();
        let refusal = match stuck {
            Stuck::Changed => Refusal::conflict(path, "it changed while the plan was being made"),
            Stuck::Io(error) => trouble(path, error),
        };
        match journal.turn_back().and_then(|()| self.taken_back(journal, steps, made + 1)) {
            Ok(left) if left.is_empty() => refusal,
            Ok(left) => {
                let what =
                    format!("{}; {} of its files have been changed since, and were left", refusal.what, left.len());
                Refusal { what, ..refusal }
            }
            Err(error) => Refusal::new(
                RefusalCode::Failed,
                format!("{}, and the part that was made cannot be taken back now: {error}", refusal.what),
                "mend that: the next change in this workspace finishes or takes back this one first",
            )
            .at(path),
        }
    }

    /// Takes back the first `made` steps, tidies up and forgets; says which files are somebody else's by now.
    fn taken_back(&self, journal: &Journal<'_>, steps: &[Step], made: usize) -> io::Result<Vec<PathBuf>> {
        let mut left = self.undone(steps, made)?;
        self.sync_folders(steps)?;
        left.extend(self.tidy(steps, |step| step.beside().map(|beside| &*beside.start.0))?);
        journal.remove()?;
        Ok(left)
    }

    /// Takes back the first `made` steps; says which files are somebody else's by now.
    fn undone(&self, steps: &[Step], made: usize) -> io::Result<Vec<PathBuf>> {
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
    fn discard(&self, journal: &Journal<'_>, steps: &[Step]) -> io::Result<()> {
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

    fn recover(&self, home: &Path) -> io::Result<Vec<Recovered>> {
        let mut recovered = Vec::new();
        let mut names = self.tree.names(home)?;
        names.sort();
        for name in names {
            let journal = Journal { tree: &self.tree, folder: home.join(name) };
            let stage = journal.stage()?;
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
                Stage::Done => {
                    let age = std::fs::metadata(&journal.folder)?.modified()?.elapsed().unwrap_or_default();
                    if age > FORGOTTEN {
                        journal.remove()?;
                    }
                    continue;
                }
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
        let mut left = Vec::new();
        for step in steps {
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

/// All that leaves its place, by where it is before the first step.
fn leaving(steps: &[Step]) -> HashSet<PathBuf> {
    let leaves = |step: &&Step| {
        matches!(step, Step::Delete { .. } | Step::Move { .. } | Step::MoveFolder { .. } | Step::RemoveFolder { .. })
    };
    let all = steps.iter().enumerate().filter(|(_, step)| leaves(step));
    all.filter_map(|(turn, step)| journal::at_start(steps, turn, step.path())).collect()
}

/// What the file system said of a file of the workspace.
fn trouble(path: &Path, error: &io::Error) -> Refusal {
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
