//! `list_changed`, for both protocol eras: those who change what is offered say so here, and every connection tells
//! its client once things have been quiet for a moment.

use std::{sync::Mutex, time::Duration};

use rmcp::{Peer, RoleServer, service::SubscriptionSink};
use tokio::sync::watch;

/// Changes within this time are told as one.
const QUIET: Duration = Duration::from_millis(100);
/// A client that does not read is not waited for any longer than this.
const PATIENCE: Duration = Duration::from_secs(1);

/// The handle of those who change what is offered: definitions, binding, trust. A call never does.
#[derive(Debug, Clone)]
pub struct ListChanges(watch::Sender<u64>);

impl Default for ListChanges {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl ListChanges {
    /// Says that the list of tools is another one now.
    pub fn changed(&self) {
        self.0.send_modify(|n| *n = n.wrapping_add(1));
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

/// Who is told on one connection: the peer itself in the era with a handshake, subscriptions in the one without.
#[derive(Debug, Default)]
pub(super) struct Listeners(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    peer: Option<Peer<RoleServer>>,
    next: u64,
    /// By a number of our own: clients may use the same request id twice.
    sinks: Vec<(u64, SubscriptionSink)>,
}

impl Listeners {
    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(super) fn set_peer(&self, peer: Peer<RoleServer>) {
        self.inner().peer = Some(peer);
    }

    pub(super) fn add(&self, sink: SubscriptionSink) -> u64 {
        let mut inner = self.inner();
        inner.next += 1;
        let key = inner.next;
        inner.sinks.push((key, sink));
        key
    }

    pub(super) fn remove(&self, key: u64) {
        self.inner().sinks.retain(|(other, _)| *other != key);
    }

    async fn tell(&self) {
        let (peer, sinks) = {
            let inner = self.inner();
            (inner.peer.clone(), inner.sinks.iter().map(|(_, sink)| sink.clone()).collect::<Vec<_>>())
        };
        if let Some(peer) = peer.filter(|peer| !peer.is_transport_closed()) {
            let sent = tokio::time::timeout(PATIENCE, peer.notify_tool_list_changed()).await;
            tracing::debug!(?sent, "told the client that the list of tools changed");
        }
        for sink in sinks.iter().filter(|sink| sink.accepted().tools_list_changed == Some(true)) {
            let sent = tokio::time::timeout(PATIENCE, sink.notify_tool_list_changed()).await;
            tracing::debug!(?sent, "told a subscription that the list of tools changed");
        }
    }

    /// Tells of changes until nobody can make any.
    pub(super) async fn run(&self, mut changes: watch::Receiver<u64>) {
        while changes.changed().await.is_ok() {
            tokio::time::sleep(QUIET).await;
            changes.mark_unchanged();
            self.tell().await;
        }
    }
}
