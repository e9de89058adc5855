//! One call on its way: what a tool works with, and how it asks servers, telling meanwhile how far it is.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::{
    registry::Entry,
    runtime::{
        instance::State,
        query::{Query, Question, Reply},
        readiness::Standing,
        shortfall::Shortfall,
    },
};

use super::{ToolId, caller::Caller, engine::Engine, file::File, outcome::Failure, progress::ProgressSink};

/// How often a running call says how far it is.
const TELL: Duration = Duration::from_secs(1);

/// One call on its way.
pub(super) struct Ask<'a> {
    pub engine: &'a Engine,
    pub tool: ToolId,
    pub caller: &'a Caller,
    pub progress: &'a ProgressSink,
    pub deadline: Instant,
}

/// A server's answer, or why there is none.
pub(super) struct Heard {
    pub entry: Arc<Entry>,
    pub result: Result<Reply, Shortfall>,
}

impl Ask<'_> {
    /// Items that one page can hold at the most: every item takes a few characters.
    pub(super) fn page_items(&self) -> usize {
        self.caller.max_chars / 8 + 1
    }

    /// A question about a file.
    pub(super) fn question(&self, file: &File, query: Query) -> Question {
        let (path, language) = (file.path.clone(), file.language.clone());
        Question { file: Some(path), language, query, asked: Instant::now(), deadline: self.deadline }
    }

    /// Asks one definition about a file, telling meanwhile how far it is.
    pub(super) async fn ask(&self, entry: &Arc<Entry>, root: &Path, question: &Question) -> Heard {
        let asked = self.engine.pool.ask(self.caller.id, entry, root, question);
        if !self.progress.is_heard() {
            // A timer that rings soon is another wake-up.
            return Heard { entry: entry.clone(), result: asked.await };
        }
        tokio::pin!(asked);
        // Not `interval`: its first tick goes through the timer, which costs every call a millisecond.
        let mut tell = interval_at(Instant::now() + TELL, TELL);
        tell.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let result = loop {
            tokio::select! {
                result = &mut asked => break result,
                _ = tell.tick() => self.progress.say(&self.doing(entry, root)),
            }
        };
        Heard { entry: entry.clone(), result }
    }

    /// What a definition's instance is doing, in langport's own words.
    fn doing(&self, entry: &Arc<Entry>, root: &Path) -> String {
        let name = self.engine.display(entry);
        match self.engine.pool.instance(entry, root).state() {
            State::Starting { since } => format!("{name} is starting, {} s so far", since.elapsed().as_secs()),
            State::Running(session) => match session.heard.standing() {
                Standing::Loading { .. } => format!("{name} is loading the project"),
                Standing::Ready => format!("{name} is at work"),
            },
            _ => format!("{name} is about to start"),
        }
    }

    /// Asks the file's primary servers in order until one has the capability.
    ///
    /// # Errors
    /// When no definition serves the file.
    pub(super) async fn ask_primary(&self, file: &File, query: Query) -> Result<Heard, Failure> {
        let serving = self.serving(file)?;
        let heard = self.first_able(serving.answering.iter(), &self.question(file, query)).await;
        heard.ok_or_else(|| super::short::only_linters(self, &serving))
    }

    /// Asks servers in their order until one has the capability; where none has, that of the first is the answer.
    pub(super) async fn first_able(
        &self,
        servers: impl Iterator<Item = &(Arc<Entry>, PathBuf)>,
        question: &Question,
    ) -> Option<Heard> {
        let mut unable = None;
        for (entry, root) in servers {
            let heard = self.ask(entry, root, question).await;
            if !matches!(heard.result, Err(Shortfall::Unsupported(_))) {
                return Some(heard);
            }
            unable.get_or_insert(heard);
        }
        unable
    }
}
