//! What a session has heard from its server: capabilities, readiness, diagnostics, log. Written by the inbound side,
//! read by whoever waits; each change moves a tick on.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::Value;
use tokio::{sync::watch, time::Instant};

use crate::{
    protocol::{
        Effective, Host, ProgressValue, RefreshKind, Registration, Told,
        types::{FileRef, Listed, LostList, Published},
    },
    registry::{Capability, Entry},
};

use super::{
    event::{Event, Events},
    probe::methods,
    readiness::{Readiness, Rule, Standing},
    shelf::Board,
    store::{Sent, Store},
    work::WorkRule,
};

/// Log lines kept.
const LOG: usize = 16;

/// The shared record of one session.
#[derive(Debug)]
pub struct Heard {
    record: Mutex<Record>,
    tick: watch::Sender<u64>,
    settings: Settings,
    work: Option<WorkRule>,
    /// The folders that the server serves: address and name. Never empty.
    folders: Mutex<Vec<(String, String)>>,
    events: Events,
    edits: super::held::Desk,
    entry: Arc<Entry>,
    /// Its time is over: nothing that it still says counts.
    mute: AtomicBool,
}

/// How `workspace/configuration` and custom requests are answered.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The whole tree.
    pub tree: crate::registry::ServerSettings,
    /// Fixed answers to custom requests, by method.
    pub replies: HashMap<String, Value>,
}

/// What stands in the record.
#[derive(Debug)]
pub struct Record {
    pub effective: Effective,
    pub readiness: Readiness,
    pub store: Store,
    /// What the server was last told of each open file.
    pub sent: HashMap<PathBuf, Sent>,
    /// Files that were opened, and have had no list with a version since.
    pub opened: HashSet<PathBuf>,
    /// Counts what was told to the server about files: an answer older than the count may be about older files.
    pub epoch: u64,
    /// When the epoch last rose.
    pub epoch_at: Instant,
    /// The file whose own change, told already as a new text, made it rise, and when something else last changed for it:
    /// where file events are late, they tell of texts that the server has.
    pub late: Option<(PathBuf, Instant)>,
    /// Counts the server's requests to pull diagnostics anew.
    pub refreshes: u64,
    /// When the last of them came.
    pub refreshed_at: Option<Instant>,
    /// When the server was last told of a change in a file that need not be open.
    pub elsewhere_at: Option<Instant>,
    /// Last log and show messages: untrusted.
    pub log: VecDeque<String>,
    /// What the server has registered beyond what its definition lists.
    pub learned: BTreeSet<Capability>,
    /// Pushed lists that were found current, and for which version and epoch.
    pub verified: HashMap<PathBuf, (i32, u64)>,
}

impl Heard {
    /// An empty record.
    pub fn new(
        entry: Arc<Entry>,
        rule: Rule,
        work: Option<WorkRule>,
        settings: Settings,
        folders: Vec<(String, String)>,
        events: Events,
        board: Board,
    ) -> Self {
        let record = Record {
            effective: Effective::default(),
            readiness: Readiness::new(rule, Instant::now()),
            store: Store::new(board),
            sent: HashMap::new(),
            opened: HashSet::new(),
            epoch: 0,
            epoch_at: Instant::now(),
            late: None,
            refreshes: 0,
            refreshed_at: None,
            elsewhere_at: None,
            log: VecDeque::new(),
            learned: BTreeSet::new(),
            verified: HashMap::new(),
        };
        let (record, folders) = (Mutex::new(record), Mutex::new(folders));
        let edits = super::held::Desk::default();
        let mute = AtomicBool::new(false);
        Self { record, tick: watch::Sender::new(0), settings, work, folders, events, edits, entry, mute }
    }

    /// The record; never held across an await.
    pub fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on nothing that the server says counts: another one may have taken its place.
    pub(super) fn mute(&self) {
        self.mute.store(true, Ordering::Release);
    }

    /// The folders that the server serves have changed.
    pub(super) fn set_folders(&self, folders: Vec<(String, String)>) {
        *self.folders.lock().unwrap_or_else(PoisonError::into_inner) = folders;
    }

    /// A call uses it no more.
    pub(super) fn let_go(&self) {
        self.events.let_go();
    }

    /// Wakes whoever waits for news.
    pub fn tick(&self) {
        self.tick.send_modify(|tick| *tick += 1);
    }

    /// From now on one edit that the server wants to make is held.
    pub(super) fn hold_edits(&self) -> super::held::Holding {
        self.edits.hold()
    }

    /// Follows the ticks.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.tick.subscribe()
    }

    /// Where the server stands now.
    pub fn standing(&self) -> Standing {
        self.record().readiness.standing(Instant::now())
    }
}

impl Record {
    /// When something beside `path` was last told to have changed, if the server has not asked to be pulled since then.
    pub fn unrefreshed(&self, path: &Path) -> Option<Instant> {
        let open = self.sent.iter().filter(|(other, _)| *other != path).map(|(_, sent)| sent.at);
        let changed = open.chain(self.elsewhere_at).max()?;
        self.refreshed_at.is_none_or(|at| at < changed).then_some(changed)
    }

    /// When something last changed that a file may depend on, as far as the server was told.
    pub fn changed_at(&self, path: &Path) -> Instant {
        self.late.as_ref().filter(|(late, _)| late == path).map_or(self.epoch_at, |(_, at)| *at)
    }

    /// What makes an earlier report old, counted: wishes to be pulled anew, and projects that are loaded anew.
    pub fn moved_on(&self) -> (u64, u64) {
        (self.refreshes, self.readiness.loads())
    }

    /// Whether the server says that it is at work, at the project or at this file.
    pub fn at_work(&self, path: &Path, now: Instant) -> bool {
        self.readiness.at_work(now) || self.store.is_worked_at(path)
    }

    /// Whether the server has pushed a list for the newest text of every open file.
    pub fn all_published(&self) -> bool {
        self.sent.iter().all(|(path, sent)| {
            self.store.pushed(path).is_some_and(|list| match list.version {
                Some(version) => version == sent.version,
                None => list.at > sent.at,
            })
        })
    }

    /// Forgets what was told of files that are not open any more.
    pub fn keep_open(&mut self, is_open: impl Fn(&Path) -> bool) {
        self.sent.retain(|path, _| is_open(path));
        self.verified.retain(|path, _| is_open(path));
    }

    fn note(&mut self, text: &str) {
        if self.log.len() >= LOG {
            self.log.pop_front();
        }
        self.log.push_back(text.chars().take(300).collect());
    }

    /// A list was pushed.
    fn published(&mut self, path: &Path, version: Option<i32>, list: Listed) {
        let sent = self.sent.get(path).copied();
        if sent.is_none() && list.is_empty() {
            // The echo of our own didClose: it says nothing about the file.
            return;
        }
        if let Some(version) = version {
            // One of an older text may still come before the goodbye to it.
            if sent.is_none_or(|sent| version >= sent.version) {
                self.opened.remove(path);
            }
        } else if list.is_empty() && self.store.knows_versions() && self.opened.contains(path) {
            // clangd's goodbye to a file that has been opened again meanwhile, gopls' before it has looked.
            return;
        }
        // What comes after a list has been found complete tells nothing of how long a check takes.
        let usual = self.verified.remove(path).is_none();
        self.store.push(path, list, version, Instant::now(), sent.filter(|_| usual));
    }
}

/// What is registered here that a definition does not list. One that lists nothing can do anything.
fn beyond(entry: &Entry, registrations: &[Registration]) -> Vec<Capability> {
    let Some(declared) = &entry.def.capabilities else { return Vec::new() };
    let registered = |capability: &Capability| {
        methods(*capability).iter().any(|method| registrations.iter().any(|new| new.method == method.name()))
    };
    Capability::ALL.iter().copied().filter(|it| !declared.contains(it) && registered(it)).collect()
}

impl Host for Heard {
    fn told(&self, what: Told) {
        if self.mute.load(Ordering::Acquire) {
            return;
        }
        let now = Instant::now();
        let event = match &what {
            Told::Published(Published { file: FileRef::Path(path), .. })
            | Told::Lost(LostList { file: FileRef::Path(path), .. }) => {
                Some(Event::Problems { file: Some(path.clone()) })
            }
            Told::Refresh(RefreshKind::Diagnostics) => Some(Event::Problems { file: None }),
            _ => None,
        };
        let mut learned = Vec::new();
        {
            let mut record = self.record();
            match what {
                Told::Published(Published { file, version, list }) => {
                    if let FileRef::Path(path) = &file {
                        record.published(path, version, list);
                    }
                }
                Told::Lost(LostList { file, version, why }) => {
                    if let FileRef::Path(path) = &file {
                        let told = record.sent.get(path).copied();
                        record.verified.remove(path);
                        record.store.lose(path, version, why, now, told);
                    }
                }
                Told::ProgressCreated { .. } => {}
                Told::Progress { token, value } => match value {
                    ProgressValue::Begin { title, message, percentage } => {
                        record.readiness.began(&token, &title, message.as_deref(), percentage, now);
                    }
                    ProgressValue::Report { message, percentage } => {
                        record.readiness.reported(&token, message.as_deref(), percentage, now);
                    }
                    ProgressValue::End { .. } => record.readiness.ended(&token),
                },
                Told::Log { text, .. } | Told::Show { text, .. } => {
                    record.readiness.logged(&text);
                    record.note(&text);
                }
                Told::Refresh(kind) => {
                    record.refreshes += 1;
                    record.refreshed_at = Some(now);
                    if kind == RefreshKind::Diagnostics {
                        record.readiness.refreshed();
                    }
                }
                Told::Registered(registrations) => {
                    let new = beyond(&self.entry, &registrations);
                    learned.extend(new.into_iter().filter(|capability| record.learned.insert(*capability)));
                    record.effective.register(registrations);
                }
                Told::Unregistered(gone) => {
                    record.effective.unregister(gone.iter().map(|(id, method)| (id.as_str(), method.as_str())));
                }
                Told::Other { method, params } => {
                    record.readiness.notified(&method, &params, now);
                    if let Some((path, busy)) = self.work.as_ref().and_then(|rule| rule.read(&method, &params)) {
                        record.store.worked(&path, busy, now);
                    }
                }
            }
        }
        self.tick();
        if let Some(event) = event {
            self.events.tell(event);
        }
        for capability in learned {
            self.events.tell(Event::Learned { name: self.entry.name.clone(), capability });
        }
    }

    fn configuration(&self, section: Option<&str>, _scope: Option<&str>) -> Value {
        self.settings.tree.lookup(section)
    }

    fn folders(&self) -> Vec<(String, String)> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn reply(&self, method: &str, _params: &Value) -> Option<Value> {
        self.settings.replies.get(method).cloned()
    }

    fn apply_edit(&self, params: &[u8]) -> Result<(), String> {
        let answer = self.edits.offered(params);
        self.tick();
        answer
    }
}
