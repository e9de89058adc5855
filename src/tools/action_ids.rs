//! The code actions that were listed, under ids that can be passed back. What is kept tells an action again, it is not
//! the action: that is asked for anew, so that its edit is about the files as they are then.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, Hasher, RandomState},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use xxhash_rust::xxh3::xxh3_64;

use crate::{
    protocol::positions::{LineMap, Point},
    registry::Entry,
    runtime::query::Pick,
};

/// Actions that are kept; the oldest make room.
const ACTIONS: usize = 2_000;
/// How long one is kept.
const LIFETIME: Duration = Duration::from_secs(30 * 60);

/// An action that was listed.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub caller: u64,
    pub entry: Arc<Entry>,
    pub root: PathBuf,
    pub file: PathBuf,
    /// Of the text that it was listed for.
    pub content: u64,
    pub span: Option<(Point, Point)>,
    pub only: Vec<String>,
    pub pick: Pick,
}

/// The actions of all callers.
#[derive(Debug, Default)]
pub(super) struct ActionIds(Mutex<VecDeque<(String, Instant, Kept)>>);

impl ActionIds {
    /// Keeps a list; gives the id of each.
    pub(super) fn keep(&self, list: Vec<Kept>) -> Vec<String> {
        // Nobody can guess it, and no later start of langport gives the same one another meaning.
        let list_id = RandomState::new().build_hasher().finish() & 0xff_ffff_ffff;
        let now = Instant::now();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ids = Vec::with_capacity(list.len());
        for (index, kept) in list.into_iter().enumerate() {
            let id = format!("{list_id:010x}-{}", index + 1);
            if all.len() >= ACTIONS {
                all.pop_front();
            }
            all.push_back((id.clone(), now, kept));
            ids.push(id);
        }
        ids
    }

    /// The action of that id, if it is one of this caller's and not too old.
    pub(super) fn get(&self, caller: u64, id: &str) -> Option<Kept> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found =
            all.iter().find(|(own, made, kept)| own == id && kept.caller == caller && made.elapsed() < LIFETIME);
        found.map(|(_, _, kept)| kept.clone())
    }
}

/// Whether it looks like the id of an action: as no title does.
pub(super) fn is_id(text: &str) -> bool {
    let (list, number) = text.split_once('-').unwrap_or_default();
    let all = |part: &str, of: fn(&u8) -> bool| !part.is_empty() && part.bytes().all(|byte| of(&byte));
    all(list, u8::is_ascii_hexdigit) && all(number, u8::is_ascii_digit)
}

/// Tells a text from others.
pub(super) fn content(lines: &LineMap) -> u64 {
    xxh3_64(lines.text().as_bytes())
}
