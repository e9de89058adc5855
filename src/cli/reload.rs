//! Reads definitions, settings and what is installed anew when their files have changed, by what they contain. What is
//! faulty keeps what was there before it, and is told. Calls look before they begin, at little more than the time of a
//! few stats; besides, it is looked every two seconds.

use std::{
    collections::BTreeMap,
    future::Future,
    hash::{Hash, Hasher},
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::broadcast::error::RecvError,
    time::{Instant, interval, sleep},
};
use xxhash_rust::xxh3::Xxh3;

use crate::{
    binding::{BindError, Binding, Bound},
    config::{self, Flags, Loaded, Origins, Permission, Settings},
    edits::Policy,
    mcp::ListChanges,
    registry::{Registry, ScopedName, install},
    runtime::event::Event,
    sys::{dirs::Dirs, env::Env, files, listing::Listing},
    tools::{
        ToolId,
        service::{Refresh, Service},
    },
};

use super::{limits, settled};

/// How often it is looked without a call.
const EVERY: Duration = Duration::from_secs(2);
/// A file that was written less than this ago may not be whole yet; how long that is waited for in all.
const WHOLE: Duration = Duration::from_millis(60);
const PATIENCE: Duration = Duration::from_millis(600);

/// What is said of settings that cannot be used any more.
const STAYS: &str = " (until this is mended what was set before stays, and nothing is written)";

/// What has been read, and how to read it again.
pub(super) struct Reloader {
    dirs: Dirs,
    env: Env,
    flags: Flags,
    service: Weak<Service>,
    changes: ListChanges,
    /// The folder of the definitions.
    listing: Listing,
    /// One reload after the other.
    turn: tokio::sync::Mutex<()>,
    seen: Mutex<Seen>,
}

/// A state of the files: one number of their identities, one of what they contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    stat: u64,
    content: u64,
}

impl Mark {
    /// The state now, to be taken before the files are read: what is written meanwhile is seen the next time.
    pub(super) fn of(dirs: &Dirs) -> Self {
        Self { stat: stat(dirs, &Listing::default()), content: content(dirs) }
    }
}

struct Seen {
    read: Mark,
    /// As langport began: some of it cannot change while it runs.
    began: Settings,
    settings: Settings,
    installed: BTreeMap<ScopedName, install::Installed>,
    offered: Vec<ToolId>,
    /// What the binding names and was not there at the start.
    unknown: Vec<BindError>,
}

impl Reloader {
    /// Follows from now on what `settings` were read from. Must be called inside a tokio runtime; ends with the service.
    pub(super) fn start(
        (dirs, env, flags): (Dirs, Env, Flags),
        read: Mark,
        settings: &Settings,
        service: &Arc<Service>,
        changes: ListChanges,
    ) {
        let seen = Seen {
            read,
            began: settings.clone(),
            settings: settings.clone(),
            installed: install::all_installed(&dirs).into_iter().collect(),
            offered: service.offered(),
            unknown: Bound::resolve_known(service.current().registry(), &Binding::of(settings)).1,
        };
        let (turn, seen) = (tokio::sync::Mutex::default(), Mutex::new(seen));
        let reloader = Arc::new(Self {
            dirs,
            env,
            flags,
            service: Arc::downgrade(service),
            changes,
            listing: Listing::default(),
            turn,
            seen,
        });
        service.refreshed_by(reloader.clone());
        tokio::spawn(follow(Arc::downgrade(&reloader), service.current().events()));
    }

    /// Reads anew where something has changed.
    async fn look(&self) {
        if stat(&self.dirs, &self.listing) == self.seen().read.stat {
            return;
        }
        let _turn = self.turn.lock().await;
        let end = Instant::now() + PATIENCE;
        while written_just_now(&self.dirs) && Instant::now() < end {
            sleep(WHOLE).await;
        }
        let now = Mark::of(&self.dirs);
        let before = std::mem::replace(&mut self.seen().read, now);
        if let Some(service) = self.service.upgrade().filter(|_| before.content != now.content) {
            self.reload(&service);
        }
    }

    fn reload(&self, service: &Service) {
        let now = service.current();
        let (registry, errors) = now.registry().reload(&self.dirs);
        let mut problems: Vec<String> = Vec::new();
        let Loaded { settings, origins, forbidden, .. } = self.settings(&mut problems);
        problems.extend(errors.iter().map(ToString::to_string));
        problems.extend(settled::strange_languages(&settings, &registry, &origins));
        let bound = self.bound(&registry, &settings, &origins, &mut problems);
        let mut later = Vec::new();
        let languages = bound.as_ref().ok().map(|bound| bound.languages(&settings));
        match (bound, languages) {
            (Ok(bound), Some(Ok(languages))) => {
                later = fixed(&self.seen().began, &settings);
                let registry = Arc::new(registry);
                let change = |starter: &mut _| limits::of_servers(starter, &settings);
                now.pool().reload(&registry, change, limits::of_pool(&settings));
                let generation = registry.generation();
                let limits = limits::of_tools(&settings, forbidden);
                match self.policy(&settings) {
                    Ok(policy) => now.govern(policy),
                    Err(error) => problems.push(format!("{error:#} (what was set before stays)")),
                }
                service.swap(now.with(registry, bound, languages, limits, problems.clone(), later.clone()));
                self.seen().settings = settings;
                tracing::info!(generation, "definitions and settings were read anew");
            }
            (Err(error), _) => problems.push(format!("{error} (what was bound before stays)")),
            (_, Some(Err(error))) => problems.push(format!("filetypes: {error} (what was set before stays)")),
            (Ok(_), None) => {}
        }
        for told in problems.iter().chain(&later) {
            tracing::warn!("{told}");
        }
        if service.current().problems() != problems {
            service.swap(service.current().with_problems(problems));
        }
        self.tell_tools(service);
    }

    /// What may be changed now; the largest file is what it was at the start.
    fn policy(&self, settings: &Settings) -> anyhow::Result<Policy> {
        let document_bytes = self.seen().began.document_bytes;
        super::assemble::policy(&self.dirs, &Settings { document_bytes, ..settings.clone() })
    }

    /// Which definitions serve now. What was not there at the start either is left out again.
    fn bound(
        &self,
        registry: &Registry,
        settings: &Settings,
        origins: &Origins,
        problems: &mut Vec<String>,
    ) -> Result<Bound, String> {
        let (bound, unknown) = Bound::resolve_known(registry, &Binding::of(settings));
        let seen = self.seen();
        for error in &unknown {
            let told = settled::unbound(origins, error);
            if !seen.unknown.contains(error) {
                return Err(told);
            }
            problems.push(format!("{told} (it is left out)"));
        }
        Ok(bound)
    }

    /// The settings as they are written now; those from before where that is faulty.
    fn settings(&self, told: &mut Vec<String>) -> Loaded {
        let kept = |permission: Option<Permission>| {
            let settings = self.seen().settings.clone();
            let permission = permission.unwrap_or(settings.permission);
            Loaded { settings: Settings { permission, ..settings }, ..Loaded::default() }
        };
        match config::load(&self.dirs, &self.env, &self.flags) {
            Ok(loaded) => {
                let faulty = loaded.problems.iter().any(|problem| Path::new(&problem.layer).is_absolute());
                let said = |problem: &config::ConfigError| problem.to_string().replace(config::LEFT_OUT, STAYS);
                told.extend(loaded.problems.iter().map(said));
                // Perhaps it was to forbid just that.
                let before = |loaded: Loaded| Loaded { settings: kept(Some(Permission::ReadOnly)).settings, ..loaded };
                if faulty { before(loaded) } else { loaded }
            }
            Err(error) => {
                told.push(format!("{error} (what was set before stays)"));
                kept(None)
            }
        }
    }

    /// Ends the servers of what was installed anew.
    fn look_at_installed(&self, service: &Service) {
        let now: BTreeMap<_, _> = install::all_installed(&self.dirs).into_iter().collect();
        let before = std::mem::replace(&mut self.seen().installed, now.clone());
        for (name, _) in now.iter().filter(|(name, installed)| before.get(*name) != Some(*installed)) {
            tracing::info!(%name, "another version was installed");
            service.current().pool().renew(name);
        }
    }

    /// Tells clients where other tools can be served than before.
    fn tell_tools(&self, service: &Service) {
        let offered = service.offered();
        if std::mem::replace(&mut self.seen().offered, offered.clone()) != offered {
            self.changes.changed();
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Refresh for Reloader {
    fn look(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.look())
    }
}

async fn follow(reloader: Weak<Reloader>, mut events: tokio::sync::broadcast::Receiver<Event>) {
    let mut every = interval(EVERY);
    loop {
        let learned = tokio::select! {
            _ = every.tick() => false,
            event = events.recv() => match event {
                Ok(Event::Learned { .. }) | Err(RecvError::Lagged(_)) => true,
                Ok(_) => continue,
                Err(RecvError::Closed) => return,
            },
        };
        let Some(reloader) = reloader.upgrade() else { return };
        let Some(service) = reloader.service.upgrade() else { return };
        if learned {
            reloader.tell_tools(&service);
        } else {
            reloader.look().await;
            reloader.look_at_installed(&service);
        }
    }
}

/// The files that count: managed ones exclude the user's.
fn files(dirs: &Dirs, listing: &Listing) -> Vec<PathBuf> {
    let folder = if dirs.managed.is_dir() { &dirs.managed } else { &dirs.config };
    let is_definition = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let mut files: Vec<_> = listing.of(&folder.join("servers.d")).iter().filter(is_definition).cloned().collect();
    files.push(folder.join("config.toml"));
    files.sort_unstable();
    files
}

fn stat(dirs: &Dirs, listing: &Listing) -> u64 {
    let mut hasher = Xxh3::new();
    for path in files(dirs, listing) {
        path.hash(&mut hasher);
        path.metadata().ok().map(|metadata| files::identity(&metadata)).hash(&mut hasher);
    }
    hasher.finish()
}

fn content(dirs: &Dirs) -> u64 {
    let mut hasher = Xxh3::new();
    for path in files(dirs, &Listing::default()) {
        path.hash(&mut hasher);
        std::fs::read(&path).ok().hash(&mut hasher);
    }
    hasher.finish()
}

fn written_just_now(dirs: &Dirs) -> bool {
    let recent = |path: &PathBuf| {
        let written = path.metadata().ok().and_then(|metadata| metadata.modified().ok());
        written.and_then(|at| at.elapsed().ok()).is_some_and(|age| age < WHOLE)
    };
    files(dirs, &Listing::default()).iter().any(recent)
}

/// What has been set anew and cannot change while langport runs.
fn fixed(began: &Settings, now: &Settings) -> Vec<String> {
    let value = |settings: &Settings| serde_json::to_value(settings).unwrap_or_default();
    let (began, now) = (value(began), value(now));
    let changed = |key: &&&str| began.get(**key) != now.get(**key);
    let shown = |value: Option<&serde_json::Value>| value.map(ToString::to_string).unwrap_or_default();
    let said = |key: &&str| {
        let (new, old) = (shown(now.get(*key)), shown(began.get(*key)));
        format!("`{key}` is set to {new} now, which counts from the next start of langport; until then it is {old}")
    };
    FIXED.iter().filter(changed).map(said).collect()
}

/// Settings that are looked at once.
const FIXED: [&str; 8] = [
    "max_wait_ms",
    "max_chars",
    "output",
    "tool_names",
    "document_bytes",
    "barrier_ms",
    "watched_folders",
    "watch_events",
];
