//! The life of one call: its place among the others, its deadline, its cancellation, its end when a tool panics.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::FutureExt;
use rmcp::model::RequestId;
use tokio_util::sync::CancellationToken;

use crate::tools::{
    ToolCall, ToolId, Tools,
    outcome::{Body, Code, Failure, Outcome, Page, Verdict},
};

/// Beyond the limit of calls, so many may ask how things stand: they wait for no server.
const STATUS: usize = 16;
/// Tools end their own waiting; this much later a call is ended for them.
const SLACK: Duration = Duration::from_secs(1);
/// How long calls may still run once the client has closed its end. With the end of the servers that are still starting
/// it makes less than two seconds.
const GRACE: Duration = Duration::from_secs(1);

/// The calls of one connection.
pub(super) struct Calls {
    limit: usize,
    running: Mutex<HashMap<RequestId, Running>>,
    closing: CancellationToken,
}

#[derive(Clone)]
struct Running {
    cancel: CancellationToken,
    done: CancellationToken,
}

/// What became of a call.
pub(super) enum Ended {
    Answered(Box<Result<Outcome, Failure>>),
    /// The client cancelled it, or used its id twice, or is gone: nothing will be sent.
    Dropped,
}

fn answered(answer: Result<Outcome, Failure>) -> Ended {
    Ended::Answered(Box::new(answer))
}

/// Takes a call off the list when it ends in whatever way.
struct Entry<'a> {
    calls: &'a Calls,
    id: RequestId,
    running: Running,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.calls.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        self.running.done.cancel();
    }
}

impl Calls {
    /// For so many calls at once.
    pub(super) fn new(limit: usize, closing: CancellationToken) -> Self {
        Self { limit: limit.max(1), running: Mutex::default(), closing }
    }

    /// The entry of a new call; the running one when the id is in use.
    fn enter(&self, id: &RequestId) -> Result<Entry<'_>, Running> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = running.get(id) {
            return Err(other.clone());
        }
        let entry = Running { cancel: CancellationToken::new(), done: CancellationToken::new() };
        running.insert(id.clone(), entry.clone());
        Ok(Entry { calls: self, id: id.clone(), running: entry })
    }

    fn crowded(&self, tool: ToolId) -> bool {
        let room = if tool == ToolId::Status { self.limit + STATUS } else { self.limit };
        self.running.lock().unwrap_or_else(PoisonError::into_inner).len() > room
    }

    /// Runs a call to its end; the future of the tool is dropped the moment the call is cancelled.
    pub(super) async fn run(
        &self,
        id: &RequestId,
        cancelled: &CancellationToken,
        tools: Arc<dyn Tools>,
        call: ToolCall,
    ) -> Ended {
        let entry = match self.enter(id) {
            Ok(entry) => entry,
            Err(other) => {
                other.outlive(cancelled).await;
                return Ended::Dropped;
            }
        };
        if self.crowded(call.tool) {
            return answered(Err(Failure {
                code: Code::Refused,
                what: format!("more than {} calls are waiting", self.limit),
                next: "ask again once some have been answered".to_owned(),
                details: Vec::new(),
                servers: Vec::new(),
            }));
        }
        let max_wait = call.caller.max_wait;
        let name = call.tool.canonical();
        let begun = call.arrived;
        let work = async { tools.call(call).await };
        let gone = async {
            self.closing.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        let ended = tokio::select! {
            biased;
            () = cancelled.cancelled() => Ended::Dropped,
            () = entry.running.cancel.cancelled() => Ended::Dropped,
            ended = AssertUnwindSafe(work).catch_unwind() => answered(ended.unwrap_or_else(|_| Err(panicked(name)))),
            () = tokio::time::sleep_until(begun + max_wait + SLACK) => answered(Ok(late(max_wait))),
            () = gone => Ended::Dropped,
        };
        let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (verdict, code) = match &ended {
            Ended::Answered(answer) => match &**answer {
                Ok(outcome) => (Some(outcome.verdict), None),
                Err(failure) => (None, Some(failure.code)),
            },
            Ended::Dropped => (None, None),
        };
        // Neither what was asked nor what was answered: both may hold a piece of the code.
        tracing::debug!(tool = name, ms, ?verdict, ?code, "call");
        ended
    }
}

impl Running {
    /// A second call with the id of this one: it gets no answer of its own, but cancels both. It ends after the first,
    /// since rmcp takes the first answer with an id for the only one.
    async fn outlive(self, cancelled: &CancellationToken) {
        tokio::select! {
            () = cancelled.cancelled() => self.cancel.cancel(),
            () = self.done.cancelled() => {
                drop(tokio::time::timeout(GRACE, cancelled.cancelled()).await);
            }
        }
    }
}

/// What is said of a tool, or of its rendering, that panicked.
pub(super) fn panicked(name: &str) -> Failure {
    Failure {
        code: Code::Failed,
        what: format!("{name} met a defect in langport"),
        next: "ask again; its stderr has the details".to_owned(),
        details: Vec::new(),
        servers: Vec::new(),
    }
}

/// What is said for a tool that has not ended its waiting.
fn late(max_wait: Duration) -> Outcome {
    Outcome {
        verdict: Verdict::Unanswered,
        servers: Vec::new(),
        summary: format!(
            "no answer within {} s, which says nothing about the code; ask again, or see lsp/status",
            max_wait.as_secs()
        ),
        notes: Vec::new(),
        details: Vec::new(),
        body: Body::None,
        page: Page::default(),
    }
}
