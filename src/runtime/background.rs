//! What is done without a question: a server hears of changes before it is asked again, so that it is at work early.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout};

use super::{ground::Ground, session::Session};

/// Changes that follow one another this closely are told as one.
const QUIET: Duration = Duration::from_millis(100);
/// However long they go on, so long nothing is held back.
const LONGEST: Duration = Duration::from_secs(2);

/// Tells a session of changes until it ends, and watches what it asks for.
pub(super) fn follow(session: &Arc<Session>, ground: &Arc<Ground>) {
    let (session, ground) = (session.clone(), ground.clone());
    tokio::spawn(async move {
        let (mut news, mut wishes) = (ground.watcher.subscribe(), session.heard.news());
        loop {
            tokio::select! {
                changed = news.changed() => if changed.is_err() { return },
                _ = wishes.changed() => {
                    session.follow_wishes(&ground).await;
                    continue;
                }
                _ = session.wire.closed() => return,
            }
            let end = Instant::now() + LONGEST;
            while Instant::now() < end && timeout(QUIET, news.changed()).await.is_ok_and(|changed| changed.is_ok()) {}
            if session.wire.is_closed() {
                return;
            }
            // A text that is on disk by now is not told before its event.
            if ground.watcher.is_watching() {
                ground.barrier().await;
            }
            // What it cannot be told, the next question deals with.
            let _ = session.sync(&ground, None);
        }
    });
}
