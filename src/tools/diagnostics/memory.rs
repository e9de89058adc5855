//! What was answered before: the marks, what was known of each file at each of them, and whole answers whose rest may
//! still be asked for. All of it is bounded; what is forgotten is said to be, never made up.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use indexmap::IndexMap;
use xxhash_rust::xxh3::xxh3_64;

use super::{
    budget::weight_of,
    compare::{Known, Told as Heard},
    pages::Kept,
};
use crate::{
    sys::files::{now_ns, random},
    tools::{
        file::failure,
        outcome::{Code, Failure},
    },
};

/// Marks that are taken back.
const MARKS: usize = 1_024;
/// Callers whose last mark is kept.
const CALLERS: usize = 64;
/// Files of which something is known, bytes of their texts, and how many points in time of each.
const FILES: usize = 2_000;
const BYTES: usize = 24 << 20;
const DEPTH: usize = 4;
/// Answers whose rest can be asked for, and the bytes of all but the last one.
const ANSWERS: usize = 12;
const ANSWERS_BYTES: usize = 8 << 20;

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub number: u64,
    /// The position in the watcher's log before anything was asked.
    pub seq: u64,
    /// The clock then, for where there are no events.
    pub at: i128,
    /// With what definitions and settings was asked, where every change to a file was seen.
    pub sure: Option<u64>,
}

/// What was known of a file when an answer was given.
#[derive(Debug)]
pub(super) struct Record {
    pub told: Arc<Heard>,
    /// The point up to which nothing had changed before the first answer that said so was given, if that is known.
    still: Option<Still>,
    /// The marks of the first and the last answer that said just this, and who got the last one.
    first: u64,
    last: u64,
    caller: u64,
    /// Nobody's answer is still to come.
    whole: bool,
}

/// What a file's answer was about, and what came of it.
#[derive(Debug)]
pub(super) struct Noted {
    pub told: Heard,
    /// The world as it was when the answer was there, where every change was seen.
    pub still: Option<Still>,
    pub whole: bool,
}

/// A state of the world: the watcher's log, and the generation of definitions and settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Still {
    pub seq: u64,
    pub generation: u64,
}

impl Point {
    /// The world as it was before anything was asked, where every change was seen.
    pub(super) fn still(&self) -> Option<Still> {
        self.sure.map(|generation| Still { seq: self.seq, generation })
    }
}

/// What one caller was told last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub last: Point,
    /// Everything that changed before this point was asked about.
    pub covered: Point,
}

#[derive(Debug, Default)]
struct Inner {
    tag: String,
    next: u64,
    marks: VecDeque<Point>,
    callers: IndexMap<u64, Told>,
    /// In the order in which they were last heard of.
    files: IndexMap<PathBuf, VecDeque<Arc<Record>>>,
    bytes: usize,
    answers: VecDeque<Arc<Kept>>,
}

/// The memory of one langport.
#[derive(Debug)]
pub(in crate::tools) struct Memory {
    inner: Mutex<Inner>,
    started: Point,
}

impl Default for Memory {
    fn default() -> Self {
        let tag = base36(random()).chars().rev().take(4).collect::<String>();
        let tag = format!("{tag:0>4}");
        let inner = Mutex::new(Inner { tag, next: 1, ..Inner::default() });
        Self { inner, started: Point { number: 0, seq: 0, at: now_ns(), sure: None } }
    }
}

impl Memory {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before everything.
    pub(super) fn started(&self) -> Point {
        self.started
    }

    /// A new mark for an answer to what was asked when the watcher's log and the clock stood so.
    pub(super) fn mark(&self, seq: u64, at: i128, sure: Option<u64>) -> Point {
        let mut inner = self.inner();
        let point = Point { number: inner.next, seq, at, sure };
        inner.next += 1;
        if inner.marks.len() >= MARKS {
            inner.marks.pop_front();
        }
        inner.marks.push_back(point);
        point
    }

    /// How an answer prints a mark. No reference of git's is spelt so by anybody, and the letters in front tell one run
    /// of langport from another.
    pub(super) fn print(&self, point: Point) -> String {
        format!("@{}.{}", self.inner().tag, base36(point.number))
    }

    /// The mark that a text is; none where it has not the shape of one.
    ///
    /// # Errors
    /// `expired`, where it has, and is not known.
    pub(super) fn read(&self, text: &str) -> Result<Option<Point>, Failure> {
        let Some((tag, number)) = shape(text) else { return Ok(None) };
        let inner = self.inner();
        let point = inner.marks.iter().find(|point| point.number == number).filter(|_| inner.tag == tag);
        point.copied().map(Some).ok_or_else(|| expired(text, "is not known any more"))
    }

    pub(super) fn told(&self, caller: u64) -> Option<Told> {
        self.inner().callers.get(&caller).copied()
    }

    /// An answer is on its way to a caller; `covering` says that all that had changed was asked about.
    pub(super) fn tell(&self, caller: u64, last: Point, covering: bool) {
        let mut inner = self.inner();
        let before = inner.callers.shift_remove(&caller);
        let covered = match before {
            Some(before) if !covering => before.covered,
            _ => last,
        };
        if inner.callers.len() >= CALLERS {
            inner.callers.shift_remove_index(0);
        }
        inner.callers.insert(caller, Told { last, covered });
    }

    /// Keeps what is known of a file now.
    pub(super) fn record(&self, path: &Path, noted: Noted, point: Point, caller: u64) {
        let Noted { told, still, whole } = noted;
        let mut inner = self.inner();
        let mut history = inner.files.shift_remove(path).unwrap_or_default();
        let (told, still, first) = match history.back().filter(|old| *old.told == told).cloned() {
            Some(old) => {
                history.pop_back();
                inner.bytes -= weight(&old);
                (Arc::clone(&old.told), old.still, old.first)
            }
            None => (Arc::new(told), still, point.number),
        };
        let record = Arc::new(Record { told, still, first, last: point.number, caller, whole });
        inner.bytes += weight(&record);
        history.push_back(record);
        if history.len() > DEPTH
            && let Some(old) = history.pop_front()
        {
            inner.bytes -= weight(&old);
        }
        inner.files.insert(path.to_owned(), history);
        while inner.files.len() > FILES || (inner.bytes > BYTES && inner.files.len() > 1) {
            let Some((_, history)) = inner.files.shift_remove_index(0) else { break };
            inner.bytes -= history.iter().map(|record| weight(record)).sum::<usize>();
        }
    }

    /// What was known of a file at a point in time, or has been learnt of it since, before anything had changed.
    pub(super) fn at(&self, path: &Path, point: Point) -> Option<Arc<Heard>> {
        let inner = self.inner();
        let history = inner.files.get(path)?;
        let known = history.iter().rev().find(|record| record.first <= point.number);
        let learnt = || history.iter().find(|record| record.still.is_some() && record.still == point.still());
        known.or_else(learnt).map(|record| Arc::clone(&record.told))
    }

    /// The first of what was known of a file when it had this text.
    pub(super) fn of_text(&self, path: &Path, text: &str) -> Option<Arc<Heard>> {
        let inner = self.inner();
        inner.files.get(path)?.iter().find(|record| &*record.told.text == text).map(|record| Arc::clone(&record.told))
    }

    /// Whether a caller was told all about this very text of a file after a point in time.
    pub(super) fn was_told(&self, caller: u64, path: &Path, text: &str, after: Point) -> bool {
        let inner = self.inner();
        let newest = inner.files.get(path).and_then(VecDeque::back);
        let told = |record: &Arc<Record>| record.whole && record.caller == caller && record.last > after.number;
        newest.is_some_and(|record| told(record) && &*record.told.text == text)
    }

    /// The files of which something is known.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.inner().files.keys().cloned().collect()
    }

    /// Keeps an answer whose rest may be asked for.
    pub(super) fn keep(&self, kept: Kept) {
        let mut inner = self.inner();
        inner.answers.retain(|other| other.fingerprint != kept.fingerprint);
        if inner.answers.len() >= ANSWERS {
            inner.answers.pop_front();
        }
        inner.answers.push_back(Arc::new(kept));
        let weight = |kept: &Arc<Kept>| kept.listed.iter().map(weight_of).sum::<usize>();
        let mut bytes: usize = inner.answers.iter().map(weight).sum();
        while bytes > ANSWERS_BYTES && inner.answers.len() > 1 {
            bytes -= inner.answers.pop_front().as_ref().map_or(0, weight);
        }
    }

    /// The answer with this fingerprint.
    pub(super) fn kept(&self, fingerprint: u64) -> Option<Arc<Kept>> {
        self.inner().answers.iter().find(|kept| kept.fingerprint == fingerprint).cloned()
    }
}

/// `expired`, with what helps.
pub(super) fn expired(mark: &str, why: &str) -> Failure {
    let next = "give a git revision such as HEAD, or ask with scope workspace: its answer has a new mark";
    failure(Code::Expired, format!("the mark {mark} {why}"), next)
}

fn weight(record: &Record) -> usize {
    record.told.text.len() + record.told.known.len() * size_of::<Known>() + 200
}

/// The run and the number of what looks like a mark.
fn shape(text: &str) -> Option<(&str, u64)> {
    let (tag, number) = text.strip_prefix('@')?.split_once('.')?;
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let shaped = tag.len() == 4 && plain(tag) && plain(number) && (1..=10).contains(&number.len());
    shaped.then(|| u64::from_str_radix(number, 36).ok()).flatten().map(|number| (tag, number))
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((number % 36) as u32, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// A hash of a text.
pub(super) fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Heard {
        let servers = vec![("x".parse().unwrap(), true)];
        Heard { text: text.into(), known: Vec::new(), servers, cut: [false; 4] }
    }

    fn note(memory: &Memory, text: &str, caller: u64) -> Point {
        let point = memory.mark(0, 0, None);
        memory.record(Path::new("/a"), Noted { told: told(text), still: None, whole: true }, point, caller);
        point
    }

    #[test]
    fn what_was_learnt_before_anything_changed_is_known_of_an_earlier_point() {
        let memory = Memory::default();
        let mark = |seq, sure| memory.mark(seq, 0, sure);
        let (old, before, unsure, other) = (mark(6, Some(1)), mark(7, Some(1)), mark(7, None), mark(7, Some(2)));
        let path = Path::new("/a");
        let note = |text, seq| {
            let still = Some(Still { seq, generation: 1 });
            memory.record(path, Noted { told: told(text), still, whole: true }, mark(seq, Some(1)), 1);
        };
        note("1", 7);
        // Said once more, later: it was so then, too.
        note("1", 9);
        note("2", 9);
        let at = |point| memory.at(path, point).map(|told| told.text.to_string());
        assert_eq!([old, before, unsure, other].map(at), [None, Some("1".to_owned()), None, None]);
    }

    #[test]
    fn marks_are_taken_back_and_foreign_ones_are_expired() {
        let memory = Memory::default();
        let point = memory.mark(7, 0, None);
        let printed = memory.print(point);
        assert!(printed.len() <= 8, "{printed}");
        assert_eq!(memory.read(&printed).unwrap(), Some(point));
        for git in ["HEAD", "main~2", "@", "@{u}", "v1.2", "@abc.1", "0f3a9c"] {
            assert_eq!(memory.read(git).unwrap(), None, "{git}");
        }
        let other = if memory.inner().tag == "zzzz" { "@yyyy.1" } else { "@zzzz.1" };
        assert_eq!(memory.read(other).unwrap_err().code, Code::Expired);
        for _ in 0..MARKS {
            memory.mark(8, 0, None);
        }
        assert_eq!(memory.read(&printed).unwrap_err().code, Code::Expired);
    }

    #[test]
    fn what_was_known_at_a_point_in_time() {
        let memory = Memory::default();
        let path = Path::new("/a");
        let before = memory.mark(0, 0, None);
        let one = note(&memory, "1", 1);
        let again = note(&memory, "1", 1);
        let two = note(&memory, "2", 2);
        assert!(memory.at(path, before).is_none());
        assert_eq!(&*memory.at(path, one).unwrap().text, "1");
        assert_eq!(&*memory.at(path, again).unwrap().text, "1");
        assert_eq!(&*memory.at(path, two).unwrap().text, "2");
        assert!(memory.was_told(2, path, "2", again) && !memory.was_told(1, path, "2", again));
        for n in 3..3 + DEPTH {
            note(&memory, &n.to_string(), 1);
        }
        assert!(memory.at(path, two).is_none(), "forgotten is not known");
    }

    #[test]
    fn bounded() {
        let memory = Memory::default();
        let point = memory.mark(0, 0, None);
        let big: Arc<str> = "x".repeat(1 << 20).into();
        for n in 0..100 {
            let path = PathBuf::from(format!("/{n}"));
            let told = Heard { text: big.clone(), ..told("") };
            memory.record(&path, Noted { told, still: None, whole: true }, point, 1);
        }
        assert!(memory.inner().bytes <= BYTES && memory.files().len() < 30);
        for caller in 0..200 {
            memory.tell(caller, point, false);
        }
        assert_eq!(memory.inner().callers.len(), CALLERS);
    }
}
