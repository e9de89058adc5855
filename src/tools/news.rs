//! That something has happened which may change an answer: for whoever keeps answers and wants to know when to ask
//! anew. It says no more than that, so a slow listener loses nothing.

use tokio::sync::{broadcast::error::RecvError, watch};

use crate::runtime::{event::Event, ground::Ground, pool::Pool};

/// Counters that rise when something happens.
#[derive(Debug, Clone)]
pub struct News {
    /// Files changed on disk.
    pub files: watch::Receiver<u64>,
    /// Servers said something of files' problems.
    pub problems: watch::Receiver<u64>,
    /// An instance entered another state.
    pub states: watch::Receiver<u64>,
}

/// The other end of [`News`].
#[derive(Debug)]
pub(super) struct Teller {
    problems: watch::Sender<u64>,
    states: watch::Sender<u64>,
}

impl News {
    /// Where nothing ever happens.
    pub fn none() -> Self {
        let never = || watch::channel(0).1;
        Self { files: never(), problems: never(), states: never() }
    }

    /// Of a pool and its ground, from now on. Must be called inside a tokio runtime; ends with the pool.
    pub(super) fn of(pool: &Pool, ground: &Ground) -> Self {
        let (problems, states) = (watch::Sender::new(0), watch::Sender::new(0));
        let news =
            Self { files: ground.watcher.subscribe(), problems: problems.subscribe(), states: states.subscribe() };
        let teller = Teller { problems, states };
        let mut events = pool.events();
        tokio::spawn(async move {
            loop {
                match events.recv().await {
                    Ok(event) => teller.tell(&event),
                    Err(RecvError::Lagged(_)) => teller.all(),
                    Err(RecvError::Closed) => return,
                }
            }
        });
        news
    }
}

impl Teller {
    fn tell(&self, event: &Event) {
        match event {
            Event::Problems { .. } => self.problems.send_modify(|n| *n += 1),
            Event::Learned { .. } => {}
            // A server that starts or dies has other answers than before.
            Event::State { .. } => self.all(),
        }
    }

    fn all(&self) {
        self.states.send_modify(|n| *n += 1);
        self.problems.send_modify(|n| *n += 1);
    }
}
