//! Questions about the whole project to servers that know a part of its files: the others that may hold a use are opened
//! for them, by the asked word. What cannot be looked at makes the answer a part.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, timeout};

use crate::{
    language,
    protocol::{
        positions::Point,
        types::{EditStep, FileRef},
    },
    registry::Knows,
    workspace::{lists::Lists, words},
};

use super::{
    beyond::{Beyond, Kept},
    called::{is_said, last_word, modules},
    ground::Ground,
    look::Sorted,
    query::{Answer, Hierarchy, Query, Question, Reply, Target},
    session::{Pin, Session},
    shortfall::{Occupied, Shortfall},
};

/// The longest that one search of the texts takes.
pub(super) const LONGEST: Duration = Duration::from_secs(5);
/// How often what was found makes for another search: callers of callers, what implements what implements.
pub(super) const ROUNDS: usize = 5;
/// Words of one question.
const WORDS: usize = 40;
/// Files that are looked at for how a thing is declared.
const DECLARING: usize = 64;

/// What a session keeps for this.
#[derive(Debug, Default)]
pub(super) struct Sight {
    pub lists: Arc<Lists>,
    pub projects: Mutex<Option<Kept>>,
    /// One such question at a time: each may have as many files open as there may be.
    turn: tokio::sync::Mutex<()>,
    /// Since when it is taken, if it is.
    since: Mutex<Option<Instant>>,
}

impl Sight {
    /// Why there is no turn.
    fn taken(&self) -> Occupied {
        Occupied::Search { after: self.since().map(|since| since.elapsed()).unwrap_or_default() }
    }

    fn since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was done to let the server see every file that may hold a use.
pub(super) struct Reached<'a> {
    /// Words that were looked for; the first is the asked one. None where any file may hold a use.
    pub words: Vec<String>,
    pub any: bool,
    pub aim: Aim,
    /// Other projects that may use what is asked about.
    pub beyond: Option<Beyond>,
    /// The list of the asked file's project.
    own: Option<PathBuf>,
    /// Files of no list that were opened.
    pub opened: BTreeSet<PathBuf>,
    /// Lists of other projects, each with the file of it that was opened.
    others: BTreeMap<PathBuf, PathBuf>,
    /// Files that may hold a use and that the server was not told of.
    pub unseen: BTreeSet<PathBuf>,
    /// Not every file was searched.
    pub cut: bool,
    /// What is open stays open while this lives.
    pins: Vec<Pin<'a>>,
    _turn: tokio::sync::MutexGuard<'a, ()>,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    Uses,
    /// A search of the project for symbols: the word is a part of their names.
    Symbols,
    /// What declares names that are not known where they are used.
    Names,
}

/// What is asked about.
#[derive(Debug, Default)]
struct Asked {
    /// The asked word, and others that do as well.
    words: Vec<String>,
    /// Uses may do without it.
    nameless: bool,
}

impl Query {
    /// Whether the answer is wrong where a use is not known.
    pub(super) fn wants_every_use(&self) -> bool {
        match self {
            Self::References { .. } | Self::Rename { .. } | Self::Move { .. } => true,
            Self::Locations { target, .. } => *target == Target::Implementation,
            Self::Tree { hierarchy, .. } => matches!(hierarchy, Hierarchy::IncomingCalls | Hierarchy::Subtypes),
            _ => false,
        }
    }
}

impl Session {
    /// Opens the files that may hold uses of what is asked about, where the server does not know them by itself.
    ///
    /// # Errors
    /// With the reason why the server cannot be asked.
    pub(super) async fn reach(&self, ground: &Ground, question: &Question) -> Result<Option<Reached<'_>>, Shortfall> {
        let for_symbols = matches!(question.query, Query::Symbols { .. });
        let is_wide = for_symbols || question.query.wants_every_use();
        let Some(file) = question.file.as_deref().filter(|_| is_wide) else { return Ok(None) };
        let reach = &self.entry.def.reach;
        let is_trusted = reach.knows == Knows::Project && (for_symbols || reach.overlooks.is_none());
        if is_trusted || reach.local.contains(&question.query.capability()) {
            return Ok(None);
        }
        let aim = if for_symbols { Aim::Symbols } else { Aim::Uses };
        let mut reached = self.reached(ground, question, aim).await?;
        let Asked { words, nameless } = match &question.query {
            Query::Move { from, folder, .. } => Asked { words: modules(from, *folder), ..Asked::default() },
            Query::Symbols { query } => Asked { words: last_word(query).into_iter().collect(), ..Asked::default() },
            query => self.asked_word(ground, file, query.at().unwrap_or_default())?,
        };
        reached.any = nameless || words.is_empty();
        if reach.knows != Knows::Project {
            reached.beyond = self.beyond(ground, question).await;
        }
        if reach.knows == Knows::Project {
            reached.words = words;
        } else {
            self.look_for(ground, question, &mut reached, words).await?;
        }
        Ok(Some(reached))
    }

    /// The same for names that are not known: what has them is opened, but nothing of other projects, which lend no name to
    /// a file of none.
    pub(super) async fn reach_names(
        &self,
        ground: &Ground,
        question: &Question,
        mut names: Vec<String>,
    ) -> Result<Reached<'_>, Shortfall> {
        let mut reached = self.reached(ground, question, Aim::Names).await?;
        reached.cut = names.len() > WORDS;
        names.truncate(WORDS);
        self.look_for(ground, question, &mut reached, names).await?;
        Ok(reached)
    }

    async fn reached(&self, ground: &Ground, question: &Question, aim: Aim) -> Result<Reached<'_>, Shortfall> {
        let Ok(turn) = timeout(question.left(), self.sight.turn.lock()).await else {
            return Err(Shortfall::Busy(self.sight.taken()));
        };
        *self.sight.since() = Some(Instant::now());
        self.caught_up_with_disk(ground, question).await;
        Ok(Reached {
            words: Vec::new(),
            any: false,
            aim,
            beyond: None,
            own: None,
            opened: BTreeSet::new(),
            others: BTreeMap::new(),
            unseen: BTreeSet::new(),
            cut: false,
            pins: Vec::new(),
            _turn: turn,
        })
    }

    /// The same for what an answer has found, where that again has uses that belong to the answer. False when nothing new
    /// was opened.
    pub(super) async fn reach_on<'a>(
        &'a self,
        ground: &Ground,
        question: &Question,
        reached: &mut Reached<'a>,
        reply: &Reply,
    ) -> Result<bool, Shortfall> {
        let mut words = self.found_words(ground, question, reply);
        words.retain(|word| !reached.words.contains(word));
        if reached.any || words.is_empty() || self.entry.def.reach.knows != Knows::Open {
            return Ok(false);
        }
        let room = WORDS.saturating_sub(reached.words.len());
        reached.cut |= words.len() > room;
        words.truncate(room);
        let before = reached.pins.len();
        self.look_for(ground, question, reached, words).await?;
        Ok(reached.pins.len() > before)
    }

    async fn look_for<'a>(
        &'a self,
        ground: &Ground,
        question: &Question,
        reached: &mut Reached<'a>,
        words: Vec<String>,
    ) -> Result<(), Shortfall> {
        if words.is_empty() && !reached.any {
            return Ok(());
        }
        let Sorted { own, loose, others, foreign, cut } = self.search(ground, question, reached, &words).await;
        reached.own = own;
        reached.words.extend(words);
        reached.cut |= cut;
        reached.unseen.extend(foreign);
        if self.entry.def.reach.knows == Knows::File {
            reached.unseen.extend(loose);
            return Ok(());
        }
        let mut new = Vec::new();
        // As many as may be open, beside the asked one.
        let mut room = self.limits.documents.saturating_sub(1 + reached.pins.len());
        let mut take = |path: &Path| {
            let fits = room > 0;
            room -= usize::from(fits);
            if fits {
                new.push(path.to_owned());
            }
            fits
        };
        for (list, path) in others {
            if reached.aim == Aim::Names {
                reached.unseen.insert(path);
                continue;
            }
            // One file is enough: with it comes all that is on the list.
            if let Entry::Vacant(slot) = reached.others.entry(list) {
                if take(&path) {
                    slot.insert(path);
                } else {
                    reached.unseen.insert(path);
                }
            }
        }
        for path in loose {
            if !reached.opened.contains(&path) {
                if take(&path) {
                    reached.opened.insert(path);
                } else {
                    reached.unseen.insert(path);
                }
            }
        }
        // What is no text that can be told stays closed.
        for path in new.extract_if(.., |path| ground.read(path).is_err()).filter(|path| path.exists()) {
            reached.opened.remove(&path);
            reached.unseen.insert(path);
        }
        if !new.is_empty() {
            reached.pins.extend(new.iter().map(|path| self.pin(path)));
            let told = |path: PathBuf| {
                let language = self.language_by_text(ground, question, &path);
                (path, language)
            };
            let beside: Vec<(PathBuf, String)> = new.into_iter().map(told).collect();
            self.sync_beside_or_why(ground, question, &beside)?;
        }
        Ok(())
    }

    /// The word at a place, and whether uses may do without it.
    fn asked_word(&self, ground: &Ground, file: &Path, at: Point) -> Result<Asked, Shortfall> {
        let reach = &self.entry.def.reach;
        let snapshot = ground.read(file).map_err(|error| Shortfall::File(error.to_string()))?;
        let lines = ground.lines(&snapshot);
        let column = usize::try_from(at.column).unwrap_or(usize::MAX);
        let line = lines.line(at.line).unwrap_or_default();
        let Some(word) = words::word_at(line, column, &reach.letters) else { return Ok(Asked::default()) };
        let nameless = reach.nameless.as_deref().is_some_and(|pattern| is_said(lines.text(), word, pattern));
        Ok(Asked { words: vec![word.to_owned()], nameless })
    }

    /// Whether the definition says that the server misses uses of what these files declare so.
    pub(super) fn is_overlooked(&self, ground: &Ground, reached: &Reached<'_>, files: &BTreeSet<PathBuf>) -> bool {
        let Some((pattern, word)) = self.entry.def.reach.overlooks.as_deref().zip(reached.words.first()) else {
            return false;
        };
        let texts = files.iter().take(DECLARING).filter_map(|file| ground.read(file).ok());
        texts.into_iter().any(|snapshot| is_said(&snapshot.text, word, pattern))
    }

    /// What was found, by the names by which it is used in turn.
    fn found_words(&self, ground: &Ground, question: &Question, reply: &Reply) -> Vec<String> {
        let mut words: Vec<String> = match (&question.query, &reply.answer) {
            (Query::Tree { depth, .. }, Answer::Tree(tree)) => {
                let inner = tree.nodes.iter().filter(|node| node.depth < *depth && !node.repeated);
                inner.filter_map(|node| last_word(&node.item.name)).collect()
            }
            (Query::Locations { .. }, Answer::Locations(locations)) => {
                let name = |item: &crate::protocol::types::Location| {
                    let FileRef::Path(path) = &locations.files[item.file as usize] else { return None };
                    let lines = ground.lines(&*ground.read(path).ok()?);
                    let at = lines.point(item.range.start, reply.encoding);
                    let column = usize::try_from(at.column).ok()?;
                    words::word_at(lines.line(at.line)?, column, &self.entry.def.reach.letters).map(str::to_owned)
                };
                locations.items.iter().take(WORDS).filter_map(name).collect()
            }
            _ => Vec::new(),
        };
        words.sort_unstable();
        words.dedup();
        words
    }

    fn language_by_text(&self, ground: &Ground, question: &Question, path: &Path) -> String {
        if path.extension() == question.file.as_deref().and_then(Path::extension) {
            return question.language.clone();
        }
        let head = || ground.read(path).ok().map(|snapshot| language::head(&snapshot.text).to_owned());
        let own = self.entry.language_of(path);
        let known = own.or_else(|| language::detect(path, head).filter(|language| self.entry.speaks(language)));
        known.map_or_else(|| self.language_of(path), str::to_owned)
    }
}

impl Reached<'_> {
    /// The server was told of files for this, now or before.
    pub(super) fn has_opened(&self) -> bool {
        !self.pins.is_empty()
    }

    /// Files of other projects were opened, or some of no list beside those of one.
    pub(super) fn is_across(&self) -> bool {
        !self.others.is_empty() || self.own.is_some() && !self.opened.is_empty()
    }
}

/// The files that an answer names.
pub(super) fn named(answer: &Answer) -> BTreeSet<PathBuf> {
    let files: Vec<&FileRef> = match answer {
        Answer::Locations(locations) => locations.files.iter().collect(),
        Answer::Symbols(hits) => hits.items.iter().map(|hit| &hit.file).collect(),
        Answer::Tree(tree) => tree.nodes.iter().map(|node| &node.item.file).collect(),
        Answer::Edit(proposal) => {
            let steps = proposal.edit.iter().flat_map(|edit| &edit.steps);
            let texts = steps.filter_map(|step| match step {
                EditStep::Texts { file, .. } => Some(file),
                _ => None,
            });
            texts.collect()
        }
        _ => Vec::new(),
    };
    let path = |file: &FileRef| match file {
        FileRef::Path(path) => Some(path.clone()),
        FileRef::Foreign(_) => None,
    };
    files.into_iter().filter_map(path).collect()
}
