//! Progress notifications of one call: what the tool says, and a sign of life where it says nothing. The numbers only
//! rise, and none is sent once the answer is on its way.

use std::time::Duration;

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{render, tools::ProgressSink};

/// The longest silence.
const BEAT: Duration = Duration::from_secs(4);
/// What is said faster than this is told late, or not at all when more is said meanwhile.
const GAP: Duration = Duration::from_millis(100);
/// A client that does not read is not waited for any longer than this.
const PATIENCE: Duration = Duration::from_secs(1);

/// Sends progress until it is dropped or finished.
pub(super) struct Progress {
    task: JoinHandle<()>,
    stop: DropGuard,
}

impl Progress {
    /// Starts telling the peer; the sink is for the tool.
    pub(super) fn start(peer: Peer<RoleServer>, token: ProgressToken) -> (Self, ProgressSink) {
        let said = watch::Sender::new(String::new());
        let heard = said.subscribe();
        let stop = CancellationToken::new();
        let task = tokio::spawn(run(peer, token, heard, stop.clone()));
        let sink = ProgressSink::new(move |text| {
            said.send_replace(render::line(text, 200));
        });
        (Self { task, stop: stop.drop_guard() }, sink)
    }

    /// Stops, and waits until what is being sent is out: nothing may follow the answer.
    pub(super) async fn finish(self) {
        drop(self.stop);
        drop(self.task.await);
    }
}

async fn run(
    peer: Peer<RoleServer>,
    token: ProgressToken,
    mut heard: watch::Receiver<String>,
    stop: CancellationToken,
) {
    let start = Instant::now();
    let mut due = start + BEAT;
    let mut count = 0_u32;
    let mut talking = true;
    loop {
        let new = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            changed = heard.changed(), if talking => {
                talking = changed.is_ok();
                if !talking {
                    continue;
                }
                true
            }
            () = sleep_until(due) => false,
        };
        let mut text = heard.borrow_and_update().clone();
        if !new {
            let what = if text.is_empty() { "working" } else { &text };
            text = format!("{what} ({} s)", start.elapsed().as_secs());
        }
        count += 1;
        let told = ProgressNotificationParam::new(token.clone(), f64::from(count)).with_message(text);
        if timeout(PATIENCE, peer.notify_progress(told)).await.is_err() {
            tracing::debug!("the client does not read its progress");
        }
        due = Instant::now() + BEAT;
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(GAP) => {}
        }
    }
}
