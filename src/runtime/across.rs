//! Questions about every use to a server that reads whole projects: it is given those beside the asked one that may use
//! it, and asked there as well, at what leads to the same declaration. What is found is brought together; what cannot be
//! asked about makes the answer a part.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crate::{
    language,
    protocol::{
        Method, Support,
        positions::Point,
        read::{self, Caps},
        types::{EditStep, FileRef, Locations, WorkspaceEdit},
    },
    registry::Knows,
    workspace::words::{Sought, columns, word_at},
};

use super::{
    ground::Ground,
    part::{others, shown},
    query::{Answer, Proposal, Query, Question, Reply},
    reach::{LONGEST, named},
    session::Session,
    verdict::Verdict,
};

/// Projects that one question is taken to.
const PROJECTS: usize = 16;
/// Places that are looked at for what they lead to.
const PLACES: usize = 200;

/// What other projects hold.
pub(super) struct Elsewhere {
    word: String,
    /// Files that have the word, by the root of a project that the server serves, too.
    files: BTreeMap<PathBuf, Vec<PathBuf>>,
    /// Those of projects that it does not.
    unasked: BTreeSet<PathBuf>,
    cut: bool,
}

/// Where a name leads to: files and lines.
type Lead = BTreeSet<(PathBuf, u32)>;

impl Session {
    /// Finds the files of other projects that have the asked word, and has the server take these projects in.
    pub(super) async fn elsewhere(&self, ground: &Ground, question: &Question) -> Option<Elsewhere> {
        let reach = &self.entry.def.reach;
        let (file, at) = (question.file.clone()?, question.query.at()?);
        let beyond = if reach.knows == Knows::Project { self.beyond(ground, question).await? } else { return None };
        let word = self.word_at(ground, &file, at)?;
        let (entry, sought) = (self.entry.clone(), [word.clone()]);
        let end = std::time::Instant::now() + (question.left() / 4).min(LONGEST);
        let searching = move || {
            let wanted = |path: &Path| {
                path.extension().is_some() && path.extension() == file.extension()
                    || entry.language_of(path).is_some()
                    || language::detect(path, || None).is_some_and(|id| entry.speaks(id))
            };
            beyond.search(Sought::Words(&sought), &wanted, end)
        };
        let (found, cut) = tokio::task::spawn_blocking(searching).await.unwrap_or((BTreeMap::new(), true));
        let mut elsewhere = Elsewhere { word, files: BTreeMap::new(), unasked: BTreeSet::new(), cut };
        for (root, files) in found {
            if elsewhere.files.len() < PROJECTS && self.join(&root).await.is_ok() {
                elsewhere.files.insert(root, files);
            } else {
                elsewhere.unasked.extend(files);
            }
        }
        (cut || !elsewhere.files.is_empty() || !elsewhere.unasked.is_empty()).then_some(elsewhere)
    }

    /// Brings what the other projects hold into an answer.
    pub(super) async fn unite(&self, ground: &Ground, question: &Question, elsewhere: Elsewhere, reply: &mut Reply) {
        if !reply.verdict.answered() {
            return;
        }
        let Elsewhere { word, files, mut unasked, cut } = elsewhere;
        let mut known = named(&reply.answer);
        let mut silent = BTreeSet::new();
        let mut left = PLACES;
        let lead = match files.values().flatten().any(|file| !known.contains(file)) {
            true => self.lead(ground, question).await,
            false => None,
        };
        for file in files.into_values().flatten() {
            if known.contains(&file) {
                continue;
            }
            let place = match &lead {
                Some(lead) => self.place_of(ground, question, &file, &word, lead, &mut left).await,
                None => Err(()),
            };
            match place {
                Ok(None) => _ = silent.insert(file),
                Ok(Some(question)) => {
                    self.take_in(ground, &question, reply).await;
                    known = named(&reply.answer);
                    if !known.contains(&file) {
                        unasked.insert(file);
                    }
                }
                Err(()) => _ = unasked.insert(file),
            }
        }
        unasked.retain(|file| !known.contains(file));
        judge(ground, &word, &unasked, cut, reply);
        let told = matches!(question.query, Query::References { declaration: true, .. } | Query::Rename { .. });
        if told && !silent.is_empty() {
            let files = others(&silent).replacen(" other", "", 1);
            let where_ = shown(ground, &silent);
            reply.remarks.push(format!(
                "`{word}` also stands in {files} of other projects where it sees no use of this: {where_}"
            ));
        }
    }

    fn word_at(&self, ground: &Ground, file: &Path, at: Point) -> Option<String> {
        let lines = ground.lines(&*ground.read(file).ok()?);
        let column = usize::try_from(at.column).ok()?;
        let word = word_at(lines.line(at.line)?, column, &self.entry.def.reach.letters);
        word.map(str::to_owned)
    }

    /// The first place of a file that leads to where the asked one does, as a question there; an error where that cannot
    /// be told.
    async fn place_of(
        &self,
        ground: &Ground,
        question: &Question,
        file: &Path,
        word: &str,
        lead: &Lead,
        left: &mut usize,
    ) -> Result<Option<Question>, ()> {
        let lines = ground.lines(&*ground.read(file).map_err(|_| ())?);
        let _pin = self.pin(file);
        let each = (0..).map_while(|number| Some((number, lines.line(number)?)));
        let places =
            each.flat_map(|(line, text)| columns(text, word).into_iter().map(move |column| Point { line, column }));
        for at in places {
            if *left == 0 || question.left().is_zero() {
                return Err(());
            }
            *left -= 1;
            let Some(query) = question.query.asked_at(at) else { return Err(()) };
            let language = self.language_of(file);
            let there = Question { file: Some(file.to_owned()), language, query, ..question.clone() };
            let leads = self.lead(ground, &there).await.ok_or(())?;
            if !leads.is_disjoint(lead) {
                return Ok(Some(there));
            }
        }
        Ok(None)
    }

    /// Where the name at a question's place leads to; nothing, where the server cannot say.
    async fn lead(&self, ground: &Ground, question: &Question) -> Option<Lead> {
        let (file, at) = (question.file.as_deref()?, question.query.at()?);
        if self.heard.record().effective.can(Method::Definition, &question.language, file) != Support::Yes {
            return None;
        }
        let focus = self.sync_or_why(ground, question).ok()??;
        let params = self.params(&Query::Hover { at }, Some(&focus)).ok()?;
        let response = self.request_retrying(ground, question, Method::Definition.name(), &params).await.ok()?;
        let found = read::locations(response.result(), &Caps::default(), None).ok()?;
        let place = |item: &crate::protocol::types::Location| match &found.files[item.file as usize] {
            FileRef::Path(path) => Some((path.clone(), item.range.start.line)),
            FileRef::Foreign(_) => None,
        };
        Some(found.items.iter().filter_map(place).collect())
    }

    /// Asks there as well. What cannot be asked stays out.
    async fn take_in(&self, ground: &Ground, question: &Question, reply: &mut Reply) {
        let whole = matches!(question.query, Query::References { .. } | Query::Rename { .. });
        if !whole {
            return;
        }
        let Ok(there) = self.ask_agreed(ground, question).await else { return };
        if !there.verdict.answered() {
            return;
        }
        match (&mut reply.answer, there.answer) {
            (Answer::Locations(all), Answer::Locations(more)) => add_locations(all, more),
            (Answer::Edit(all), Answer::Edit(more)) => add_edit(all, more),
            _ => return,
        }
        if there.verdict > reply.verdict {
            (reply.verdict, reply.reason) = (there.verdict, there.reason);
        }
    }
}

impl Query {
    /// The same, asked somewhere else.
    fn asked_at(&self, there: Point) -> Option<Self> {
        let mut query = self.clone();
        match &mut query {
            Self::References { at, .. }
            | Self::Rename { at, .. }
            | Self::Tree { at, .. }
            | Self::Locations { at, .. } => {
                *at = there;
            }
            _ => return None,
        }
        Some(query)
    }
}

/// What the answer lacks already comes first.
fn judge(ground: &Ground, word: &str, unasked: &BTreeSet<PathBuf>, cut: bool, reply: &mut Reply) {
    if reply.verdict != Verdict::Fresh {
        return;
    }
    let reason = match unasked.len() {
        0 if cut => "other projects of the workspace may use it, and not all could be searched".to_owned(),
        0 => return,
        1 => format!("1 file of another project has the word `{word}`, and it cannot be asked about that"),
        number => {
            format!("{number} files of other projects have the word `{word}`, and it cannot be asked about those")
        }
    };
    reply.verdict = Verdict::Partial;
    reply.reason = Some(reason);
    if !unasked.is_empty() {
        reply.remarks.push(format!("not among it: {}", shown(ground, unasked)));
    }
}

fn add_locations(all: &mut Locations, more: Locations) {
    let Locations { files, items, total, dropped } = more;
    let beyond = total - items.len();
    for mut item in items {
        let file = &files[item.file as usize];
        let number = all.files.iter().position(|own| own == file).unwrap_or_else(|| {
            all.files.push(file.clone());
            all.files.len() - 1
        });
        item.file = u32::try_from(number).unwrap_or(u32::MAX);
        if !all.items.contains(&item) {
            all.items.push(item);
            all.total += 1;
        }
    }
    all.total += beyond;
    all.dropped += dropped;
}

/// Nothing, where the two want different things in one place: then what it lacks is told.
fn add_edit(all: &mut Proposal, more: Proposal) {
    let Some(more_edit) = more.edit else { return };
    let mut edit = all.edit.clone().unwrap_or_default();
    if !more_edit.steps.into_iter().all(|step| add_step(&mut edit, step)) {
        return;
    }
    edit.to_confirm.extend(more_edit.to_confirm);
    edit.to_confirm.dedup();
    all.edit = Some(edit);
    all.told.extend(more.told);
}

fn add_step(edit: &mut WorkspaceEdit, step: EditStep) -> bool {
    let EditStep::Texts { file, edits, .. } = &step else {
        // A file that both move, say.
        return edit.steps.contains(&step);
    };
    let own = edit.steps.iter_mut().find_map(|own| match own {
        EditStep::Texts { file: other, edits, .. } if other == file => Some(edits),
        _ => None,
    });
    let Some(own) = own else {
        edit.steps.push(step);
        return true;
    };
    for one in edits {
        let apart = |other: &crate::protocol::types::TextEdit| {
            other.range.end <= one.range.start || one.range.end <= other.range.start
        };
        if !own.contains(one) {
            if !own.iter().all(apart) {
                return false;
            }
            own.push(one.clone());
        }
    }
    true
}
