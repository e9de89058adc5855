//! The steps of a change and what has to lie ready for them: of a plan, and of taking one back.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use super::effect::{Content, Effect, Print};
use super::journal::{self, Beside, Journal, Record, Saved, Spot, Step};
use crate::sys::below::Attributes;

/// What a new file is besides its content.
#[derive(Debug, Clone)]
pub(super) enum Like {
    /// As this file is before the first step.
    File(PathBuf),
    Given(Attributes),
    /// As any new file.
    Fresh,
}

/// A file that has to lie beside before the first step.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    pub(super) content: Content,
    pub(super) like: Like,
}

/// Steps, and for each what it needs.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) steps: Vec<Step>,
    pub(super) ready: Vec<Option<Ready>>,
}

fn spot(path: &Path) -> Spot {
    Spot(path.to_owned())
}

fn nowhere() -> Beside {
    Beside { start: spot(Path::new("")), turn: spot(Path::new("")), end: spot(Path::new("")) }
}

impl Work {
    /// Of a plan. `id` goes into the names of files that lie beside.
    pub(super) fn of(effects: &[Effect], id: &str) -> io::Result<Work> {
        let pairs = effects.iter().map(|effect| match effect {
            Effect::MakeFolder { path } => (Step::MakeFolder { path: spot(path), attributes: None }, None),
            Effect::MoveFolder { from, to, dev, ino } => {
                (Step::MoveFolder { from: spot(from), to: spot(to), dev: *dev, ino: *ino }, None)
            }
            Effect::Move { from, to, print } => (Step::Move { from: spot(from), to: spot(to), print: *print }, None),
            Effect::Replace { path, old, new, like } => (
                Step::Replace { path: spot(path), beside: nowhere(), old: old.print(), new: new.print(), saved: None },
                Some(Ready { content: new.clone(), like: Like::File(like.clone()) }),
            ),
            Effect::Create { path, new, like } => (
                Step::Create { path: spot(path), beside: nowhere(), new: new.print() },
                Some(Ready { content: new.clone(), like: like.clone().map_or(Like::Fresh, Like::File) }),
            ),
            Effect::Delete { path, old } => (
                Step::Delete { path: spot(path), beside: nowhere(), old: old.print(), attributes: None, saved: None },
                None,
            ),
            Effect::RemoveFolder { path } => (Step::RemoveFolder { path: spot(path), attributes: None }, None),
        });
        Work::placed(pairs.collect(), id)
    }

    /// Of taking back what `record` says, with the old contents out of `journal`.
    pub(super) fn back(record: Record, journal: &Journal<'_>, id: &str) -> io::Result<Work> {
        let mut pairs = Vec::with_capacity(record.steps.len());
        let content = |saved: Option<Saved>, print: Print| -> io::Result<Content> {
            let saved =
                saved.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the old content is not kept"))?;
            let bytes = journal.saved(saved, print)?;
            Ok(if print.link { Content::Link(journal::path(bytes)) } else { Content::Bytes(bytes.into()) })
        };
        for step in record.steps.into_iter().rev() {
            pairs.push(match step {
                Step::MakeFolder { path, .. } => (Step::RemoveFolder { path, attributes: None }, None),
                Step::RemoveFolder { path, attributes } => (Step::MakeFolder { path, attributes }, None),
                Step::MoveFolder { from, to, dev, ino } => (Step::MoveFolder { from: to, to: from, dev, ino }, None),
                Step::Move { from, to, print } => (Step::Move { from: to, to: from, print }, None),
                Step::Replace { path, old, new, saved, .. } => {
                    let content = content(saved, old)?;
                    // Files stand where they are when their folders have not moved back yet: that is the start.
                    let like = Like::File(path.0.clone());
                    let step = Step::Replace { path, beside: nowhere(), old: new, new: old, saved: None };
                    (step, Some(Ready { content, like }))
                }
                Step::Create { path, new, .. } => {
                    (Step::Delete { path, beside: nowhere(), old: new, attributes: None, saved: None }, None)
                }
                Step::Delete { path, old, attributes, saved, .. } => {
                    let like = attributes.map_or(Like::Fresh, Like::Given);
                    let ready = Ready { content: content(saved, old)?, like };
                    (Step::Create { path, beside: nowhere(), new: old }, Some(ready))
                }
            });
        }
        Work::placed(pairs, id)
    }

    /// Finds the places beside: in the same folder, or, where that is made or removed on the way, in the nearest one above
    /// that stays.
    fn placed(pairs: Vec<(Step, Option<Ready>)>, id: &str) -> io::Result<Work> {
        let (mut steps, ready): (Vec<Step>, Vec<_>) = pairs.into_iter().unzip();
        let unsteady: HashSet<PathBuf> = steps
            .iter()
            .filter(|step| matches!(step, Step::MakeFolder { .. } | Step::RemoveFolder { .. }))
            .map(|step| step.path().to_owned())
            .collect();
        for turn in 0..steps.len() {
            if steps[turn].beside().is_none() {
                continue;
            }
            let folder = steps[turn].path().ancestors().skip(1).find(|folder| !unsteady.contains(*folder));
            let place = folder.unwrap_or(Path::new("/")).join(format!(".langport-{id}-{turn}"));
            let start = journal::at_start(&steps, turn, &place)
                .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "there is no place beside a file"))?;
            let found =
                Beside { start: Spot(start), end: Spot(journal::at_end(&steps, turn, &place)), turn: Spot(place) };
            if let Step::Replace { beside, .. } | Step::Create { beside, .. } | Step::Delete { beside, .. } =
                &mut steps[turn]
            {
                *beside = found;
            }
        }
        Ok(Work { steps, ready })
    }
}
