//! Updates of resources for both protocol eras. When something has happened, what a client subscribed to is asked anew
//! once things are quiet, and the client is told where the answer is another one than it was told of last.

use std::{
    hash::{Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use indexmap::IndexMap;
use rmcp::{Peer, RoleServer, model::ResourceUpdatedNotificationParam, service::SubscriptionSink};
use tokio::time::{sleep, timeout};
use xxhash_rust::xxh3::Xxh3;

use super::resources::Subject;
use crate::tools::{
    Caller, News, ProgressSink, ToolCall, Tools,
    outcome::{Failure, Outcome},
};

/// Resources that one connection may subscribe to.
pub(super) const LIMIT: usize = 64;
/// Changes within this time are told as one.
const QUIET: Duration = Duration::from_millis(200);
/// Where answers stay the same although servers keep talking, they are asked less and less often, down to this.
const SLOWEST: Duration = Duration::from_secs(5);
/// A client that does not read is not waited for any longer than this.
const PATIENCE: Duration = Duration::from_secs(1);

/// The subscriptions of one connection, by address.
#[derive(Default)]
pub(super) struct Subscriptions(Mutex<IndexMap<String, Subscribed>>);

#[derive(Default)]
struct Subscribed {
    /// `resources/subscribe`, in the era with a handshake.
    peer: Option<Peer<RoleServer>>,
    /// `subscriptions/listen`, in the one without; by a number of our own.
    sinks: Vec<(u64, SubscriptionSink)>,
    /// What the client was last told of, or has read.
    known: Option<u64>,
}

impl Subscriptions {
    fn lock(&self) -> MutexGuard<'_, IndexMap<String, Subscribed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a subscription of the era with a handshake. False where there are too many.
    pub(super) fn add_peer(&self, uri: String, peer: Peer<RoleServer>) -> bool {
        let mut all = self.lock();
        if all.len() >= LIMIT && !all.contains_key(&uri) {
            return false;
        }
        all.entry(uri).or_default().peer = Some(peer);
        true
    }

    pub(super) fn remove_peer(&self, uri: &str) {
        let mut all = self.lock();
        if let Some(subscribed) = all.get_mut(uri) {
            subscribed.peer = None;
        }
        all.retain(|_, subscribed| subscribed.is_used());
    }

    /// Those of `uris` that a subscription of the era without a handshake can have.
    pub(super) fn acceptable(&self, uris: &[String]) -> Vec<String> {
        let mut room = LIMIT.saturating_sub(self.lock().len());
        let known = |uri: &&String| Subject::parse(uri).is_some();
        uris.iter()
            .filter(known)
            .filter(|_| {
                let fits = room > 0;
                room = room.saturating_sub(1);
                fits
            })
            .cloned()
            .collect()
    }

    pub(super) fn add_sink(&self, key: u64, sink: &SubscriptionSink) {
        let mut all = self.lock();
        for uri in sink.accepted().resource_subscriptions.iter().flatten() {
            all.entry(uri.clone()).or_default().sinks.push((key, sink.clone()));
        }
    }

    pub(super) fn remove_sink(&self, key: u64) {
        let mut all = self.lock();
        for subscribed in all.values_mut() {
            subscribed.sinks.retain(|(other, _)| *other != key);
        }
        all.retain(|_, subscribed| subscribed.is_used());
    }

    /// The client has read a resource: it need not be told of that answer.
    pub(super) fn read(&self, uri: &str, answer: &Result<Outcome, Failure>) {
        if let Some(subscribed) = self.lock().get_mut(uri) {
            subscribed.known = Some(print(answer));
        }
    }

    /// Tells of updates for as long as anything can happen.
    pub(super) async fn run(&self, tools: Arc<dyn Tools>, caller: Arc<Caller>) {
        let mut news = tools.news();
        let mut quiet = QUIET;
        while let Some(happened) = next(&mut news).await {
            sleep(if happened.files { QUIET } else { quiet }).await;
            let happened = happened.with(seen(&mut news));
            let mut told = false;
            for uri in self.uris() {
                told |= self.update(&uri, &tools, &caller, happened).await;
            }
            quiet = if told || happened.files { QUIET } else { (quiet * 2).min(SLOWEST) };
        }
    }

    fn uris(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Asks anew and tells, where there is something to tell.
    async fn update(&self, uri: &str, tools: &Arc<dyn Tools>, caller: &Arc<Caller>, happened: Happened) -> bool {
        let Some(subject) = Subject::parse(uri) else { return false };
        match subject {
            // It holds times and counts: only another state is worth telling.
            Subject::Status if !happened.states => return false,
            Subject::Status => {}
            Subject::Diagnostics(_) => {
                let (tool, arguments) = subject.call();
                let call = ToolCall::new(tool, arguments, caller.clone(), ProgressSink::default());
                let print = print(&Arc::clone(tools).call(call).await);
                let mut all = self.lock();
                let Some(subscribed) = all.get_mut(uri) else { return false };
                if subscribed.known.replace(print) == Some(print) {
                    return false;
                }
            }
        }
        let (peer, sinks) = match self.lock().get(uri) {
            Some(subscribed) => (subscribed.peer.clone(), subscribed.sinks.clone()),
            None => return false,
        };
        if let Some(peer) = peer.filter(|peer| !peer.is_transport_closed()) {
            let told = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri));
            let told = timeout(PATIENCE, told).await;
            tracing::debug!(?told, uri, "told the client of an update");
        }
        for (_, sink) in sinks {
            let told = timeout(PATIENCE, sink.notify_resource_updated(uri)).await;
            tracing::debug!(?told, uri, "told a subscription of an update");
        }
        true
    }
}

impl Subscribed {
    fn is_used(&self) -> bool {
        self.peer.is_some() || !self.sinks.is_empty()
    }
}

/// What has happened since the last look.
#[derive(Debug, Clone, Copy)]
struct Happened {
    files: bool,
    states: bool,
}

impl Happened {
    fn with(self, other: Self) -> Self {
        Self { files: self.files || other.files, states: self.states || other.states }
    }
}

/// Waits until something happens; None when nothing can any more.
async fn next(news: &mut News) -> Option<Happened> {
    let nothing = Happened { files: false, states: false };
    tokio::select! {
        changed = news.files.changed() => changed.ok().map(|()| Happened { files: true, ..nothing }),
        changed = news.states.changed() => changed.ok().map(|()| Happened { states: true, ..nothing }),
        changed = news.problems.changed() => changed.ok().map(|()| nothing),
    }
}

/// What else has happened, now taken note of.
fn seen(news: &mut News) -> Happened {
    let happened = Happened {
        files: news.files.has_changed().unwrap_or(false),
        states: news.states.has_changed().unwrap_or(false),
    };
    news.files.mark_unchanged();
    news.states.mark_unchanged();
    news.problems.mark_unchanged();
    happened
}

/// What two answers have in common if they say the same.
fn print(answer: &Result<Outcome, Failure>) -> u64 {
    let mut hasher = Xxh3::new();
    match answer {
        Ok(outcome) => format!("{:?} {} {:?}", outcome.verdict, outcome.summary, outcome.body).hash(&mut hasher),
        Err(failure) => format!("{:?} {}", failure.code, failure.what).hash(&mut hasher),
    }
    hasher.finish()
}
