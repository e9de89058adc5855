//! Asks about many files within one call. Each server has a lane of its own, so that none waits for another one: on it,
//! files are opened in groups, so that no file makes what is said of another one old; a server that fails is asked no
//! further; what the time does not reach is counted. Lanes take turns where there are more than places for processes.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use indexmap::IndexMap;
use tokio::{sync::Semaphore, time::Instant};

use super::{
    Moment,
    budget::Budget,
    sweep::{Checked, Key, Piece, Surveys, Sweep, Target, key},
};
use crate::{
    config::count,
    registry::{Entry, ScopedName},
    runtime::{query::Query, shortfall::Shortfall},
    tools::{
        ask::{Ask, Heard},
        outcome::Verdict,
    },
};

/// Files that are opened together.
const TOGETHER: usize = 24;
/// With less time than this no further files are begun.
const LEAST: Duration = Duration::from_millis(150);

/// Bytes of the numbers of problems that are cut off, by which those of several servers are counted once.
const NUMBERS: usize = 4 << 20;

/// A server that is to be asked about a file.
struct Stop<'a> {
    target: &'a Target,
    /// The index of the target, and of the server among those that serve it.
    of: (usize, usize),
    server: &'a (Arc<Entry>, PathBuf),
}

impl Stop<'_> {
    fn key(&self) -> Key {
        key(&self.server.0, &self.server.1)
    }
}

/// A server with its root, and the files that it is to open, with their languages.
type Opening<'a> = (&'a (Arc<Entry>, PathBuf), Vec<(&'a Path, &'a str)>);

/// The files of one process, in their order.
type Lane<'a> = Vec<Stop<'a>>;

/// What has been heard so far.
struct Gathered {
    /// Of each target, how many have not been heard of.
    open: Vec<usize>,
    /// Where each piece belongs.
    of: Vec<(usize, usize)>,
    pieces: Vec<Piece>,
    budget: Budget,
    /// Bytes of numbers that tell what is cut off.
    numbers: usize,
    done: usize,
}

impl Target {
    fn servers(&self) -> impl Iterator<Item = &(Arc<Entry>, PathBuf)> {
        self.serving.answering.iter().chain(&self.serving.linters)
    }
}

impl Ask<'_> {
    /// Asks about files in this order, where a moment is given first about whole projects as they were then.
    pub(super) async fn sweep(&self, targets: Vec<Target>, survey: Option<Moment>) -> Sweep {
        let lanes = self.lanes(&targets);
        let places = self.engine.pool.places();
        let (slots, begun) = (Semaphore::new(places), AtomicUsize::new(0));
        let most = self.engine.limits.diagnostics_file;
        let gathered = Mutex::new(Gathered {
            open: targets.iter().map(|target| target.servers().count()).collect(),
            of: Vec::new(),
            pieces: Vec::new(),
            budget: Budget::new(most),
            numbers: 0,
            done: 0,
        });
        let each = lanes.iter().map(|lane| async {
            let Ok(_slot) = slots.acquire().await else { return };
            let (now, before) = (Instant::now(), begun.fetch_add(1, Ordering::Relaxed));
            let left = self.deadline.saturating_duration_since(now);
            if before >= places && left < LEAST {
                return;
            }
            // Whoever is silent must not keep those from their turn that wait for one.
            let waiting = lanes.len() > places.max(before + 1);
            let deadline = if waiting { now + left / 2 } else { self.deadline };
            Ask { deadline, ..*self }.go_along(lane, survey, &gathered).await;
        });
        join_all(each).await;
        drop(lanes);
        let sweep = self.brought_together(targets, gathered.into_inner().unwrap_or_else(PoisonError::into_inner));
        // What has changed meanwhile is looked at next.
        self.engine.ground.barrier().await;
        sweep
    }

    /// The files by the process that is to be asked about them; those that run come first. Roots that can share a process
    /// are on one lane.
    fn lanes<'t>(&self, targets: &'t [Target]) -> Vec<Lane<'t>> {
        let mut lanes: IndexMap<(ScopedName, Option<&Path>), Lane<'t>> = IndexMap::new();
        for (index, target) in targets.iter().enumerate() {
            for (at, server) in target.servers().enumerate() {
                let (entry, root) = server;
                let own = (!entry.def.root.share).then_some(root.as_path());
                lanes.entry((entry.name.clone(), own)).or_default().push(Stop { target, of: (index, at), server });
            }
        }
        let mut lanes: Vec<Lane<'t>> = lanes.into_values().collect();
        let all = self.engine.pool.all();
        let running: HashSet<Key> =
            all.iter().filter(|one| one.is_running()).map(|one| key(&one.entry, &one.root)).collect();
        lanes.sort_by_key(|lane| !lane.iter().any(|stop| running.contains(&stop.key())));
        lanes
    }

    /// Asks one process about its files.
    async fn go_along(&self, lane: &Lane<'_>, survey: Option<Moment>, gathered: &Mutex<Gathered>) {
        let Some(Stop { server: (entry, root), .. }) = lane.first() else { return };
        let mut seen = HashSet::new();
        let servers: Vec<_> = lane.iter().filter(|stop| seen.insert(stop.key())).map(|stop| stop.server).collect();
        // Between two questions it is not ended to make room for another one. Several roots may need several places after
        // all: who keeps one and waits for another would be in its own way.
        let _seat = if servers.len() > 1 {
            None
        } else {
            match self.engine.pool.seat(self.caller.id, entry, root, self.deadline).await {
                Err(full @ Shortfall::PoolFull { .. }) => {
                    lane.iter().for_each(|stop| self.note(stop, Err(full.clone()), gathered));
                    return;
                }
                // What else there is shows where it is asked.
                seat => seat.ok(),
            }
        };
        let surveys = match survey {
            Some(moment) => self.surveys(&servers, moment).await,
            None => Surveys::default(),
        };
        let mut down: HashMap<Key, Shortfall> = HashMap::new();
        let size = self.engine.limits.documents.clamp(1, TOGETHER);
        let mut groups = lane.chunks(size).enumerate().peekable();
        while let Some((number, group)) = groups.next() {
            // For a start it may take all the time: no file can be asked about before.
            self.open_together(group, &surveys, &mut down).await;
            let (now, rest) = (Instant::now(), groups.peek().is_some());
            let left = self.deadline.saturating_duration_since(now);
            if left < LEAST && number > 0 {
                break;
            }
            // The last group may take all that is left; whoever is silent about the files of one must not keep the rest.
            let ask = Ask { deadline: if rest { now + left / 2 } else { self.deadline }, ..*self };
            let heard = join_all(group.iter().map(|stop| ask.hear(stop, &surveys, &down))).await;
            for (stop, heard) in group.iter().zip(heard) {
                if let Err(shortfall) = &heard
                    && ends_all(shortfall)
                {
                    down.entry(stop.key()).or_insert_with(|| shortfall.clone());
                }
                self.note(stop, heard, gathered);
            }
            let (done, total) = {
                let gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
                (gathered.done, gathered.open.len())
            };
            self.progress.say(&format!("{done} of {}", count(total, "file", "files")));
        }
    }

    /// Opens what a group's files need.
    async fn open_together(&self, group: &[Stop<'_>], surveys: &Surveys, down: &mut HashMap<Key, Shortfall>) {
        let mut servers: IndexMap<Key, Opening<'_>> = IndexMap::new();
        for stop in group {
            let (key, file) = (stop.key(), &stop.target.file);
            if down.contains_key(&key) || surveys.of(&key, &file.path).is_some() {
                continue;
            }
            let (_, files) = servers.entry(key).or_insert_with(|| (stop.server, Vec::new()));
            files.push((file.path.as_path(), file.language.as_str()));
        }
        let (pool, caller) = (&self.engine.pool, self.caller.id);
        let opening =
            servers.values().map(|((entry, root), files)| pool.open(caller, entry, root, files, self.deadline));
        let opened = join_all(opening).await;
        for (key, opened) in servers.keys().zip(opened) {
            if let Err(shortfall) = opened
                && ends_all(&shortfall)
            {
                down.insert(key.clone(), shortfall);
            }
        }
    }

    async fn hear(
        &self,
        stop: &Stop<'_>,
        surveys: &Surveys,
        down: &HashMap<Key, Shortfall>,
    ) -> Result<(Heard, Option<Arc<str>>), Shortfall> {
        let (key, (entry, root)) = (stop.key(), stop.server);
        if let Some(shortfall) = down.get(&key) {
            return Err(shortfall.clone());
        }
        if let Some((reply, text)) = surveys.of(&key, &stop.target.file.path) {
            return Ok((Heard { entry: entry.clone(), result: Ok(reply) }, Some(text)));
        }
        let heard = self.ask(entry, root, &self.question(&stop.target.file, Query::Diagnostics)).await;
        match heard.result {
            Ok(reply) => Ok((Heard { entry: heard.entry, result: Ok(reply) }, None)),
            Err(shortfall) => Err(shortfall),
        }
    }

    /// Takes in what a server has said of a file, or why it has not.
    fn note(&self, stop: &Stop<'_>, heard: Result<(Heard, Option<Arc<str>>), Shortfall>, gathered: &Mutex<Gathered>) {
        let (heard, text) =
            heard.unwrap_or_else(|shortfall| (Heard { entry: stop.server.0.clone(), result: Err(shortfall) }, None));
        let piece = self.piece(&stop.target.file, &heard, text);
        gathered.lock().unwrap_or_else(PoisonError::into_inner).take(stop.of, piece);
    }

    /// What was heard of each file. One that nobody was asked about is counted, unless that is so for all of them.
    fn brought_together(&self, targets: Vec<Target>, gathered: Gathered) -> Sweep {
        let mut heard: Vec<Vec<(usize, Piece)>> = targets.iter().map(|_| Vec::new()).collect();
        for ((target, at), piece) in gathered.of.into_iter().zip(gathered.pieces) {
            heard[target].push((at, piece));
        }
        let (mut sweep, mut unasked) = (Sweep::default(), Vec::new());
        for (target, mut pieces) in targets.into_iter().zip(heard) {
            let asked = pieces.iter().any(|(_, piece)| !piece.is_unasked());
            for (at, (entry, _)) in target.servers().enumerate() {
                if !pieces.iter().any(|(known, _)| *known == at) {
                    let heard = Heard { entry: entry.clone(), result: Err(Shortfall::Unasked) };
                    pieces.push((at, self.piece(&target.file, &heard, None)));
                }
            }
            let oldest = pieces.first().map(|(_, piece)| piece.text.clone());
            pieces.sort_by_key(|(at, _)| *at);
            let mut checked = Checked::of(target.file, pieces.into_iter().map(|(_, piece)| piece).collect());
            checked.text = oldest.unwrap_or(checked.text);
            if asked { &mut sweep.checked } else { &mut unasked }.push(checked);
        }
        if sweep.checked.is_empty() {
            sweep.checked = unasked;
        } else {
            sweep.unreached = unasked.len();
        }
        sweep
    }
}

impl Gathered {
    fn take(&mut self, of: (usize, usize), piece: Piece) {
        if let Some(open) = self.open.get_mut(of.0) {
            *open = open.saturating_sub(1);
            self.done += usize::from(*open == 0);
        }
        let mut piece = piece;
        self.numbers += piece.cut.weight();
        if self.numbers > NUMBERS {
            self.numbers -= piece.cut.weight();
            piece.cut.forget();
        }
        self.of.push(of);
        self.pieces.push(piece);
        self.budget.take(&mut self.pieces);
    }
}

impl Piece {
    fn is_unasked(&self) -> bool {
        self.missing.as_ref().is_some_and(|missing| matches!(missing.shortfall, Shortfall::Unasked))
    }
}

/// After this a server is asked no further in this call: another file would only meet the same.
fn ends_all(shortfall: &Shortfall) -> bool {
    matches!(shortfall.verdict(), Verdict::Unavailable) || matches!(shortfall, Shortfall::Died { .. })
}
