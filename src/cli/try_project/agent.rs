//! Makes tool calls as an agent does, and shows each with its answer and how long it took.

use std::{future::Future, io, path::Path, sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    cli::{
        assemble::{Flagged, Langport},
        out,
        progress::Progress,
    },
    render,
    tools::{
        Caller, ProgressSink, ToolCall, ToolId, Tools,
        outcome::{Code, Failure, Outcome, Verdict},
    },
};

/// Characters that a tour shows of one answer.
const SHOWN: usize = 1_000;
/// How long a step goes on asking a server that is not ready.
const PATIENCE: Duration = Duration::from_secs(60);
/// Tools keep their own deadline; this much later a call is given up.
const SLACK: Duration = Duration::from_secs(2);

/// An agent of one workspace, with what it has seen so far.
pub(super) struct Agent {
    langport: Langport,
    end: Instant,
    pub progress: Progress,
}

/// A call that was made.
pub(super) struct Made {
    pub tool: ToolId,
    /// The call as it can be typed: `lsp_hover {"symbol":"Cart"}`.
    pub call: String,
    pub answer: Result<Outcome, Failure>,
    took: Duration,
    asked: usize,
}

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Went {
    Well,
    /// The server has no such capability.
    Unsupported,
    Wrong,
}

impl Agent {
    /// An agent that works in one folder until `end`. Must be called inside a tokio runtime.
    pub(super) fn new(root: &Path, end: Instant) -> anyhow::Result<Self> {
        let flagged = Flagged { root: vec![root.to_owned()], ..Flagged::default() };
        Ok(Self { langport: flagged.assemble()?, end, progress: Progress::new() })
    }

    /// Calls a tool, again while its server is not ready.
    pub(super) async fn call(&self, tool: ToolId, arguments: Value) -> Made {
        let arguments = match arguments {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let call = format!("{} {}", self.langport.mcp.names.name(tool), Value::Object(arguments.clone()));
        let start = Instant::now();
        let until = self.end.min(start + PATIENCE);
        let mut asked = 0;
        loop {
            asked += 1;
            let answer = self.once(tool, arguments.clone()).await;
            let waiting = answer.as_ref().is_ok_and(|outcome| {
                matches!(outcome.verdict, Verdict::Indexing | Verdict::Unanswered | Verdict::Stale)
            });
            if !waiting || Instant::now() >= until {
                self.progress.clear();
                return Made { tool, call, answer, took: start.elapsed(), asked };
            }
        }
    }

    async fn once(&self, tool: ToolId, arguments: Map<String, Value>) -> Result<Outcome, Failure> {
        let mcp = &self.langport.mcp;
        let left = self.end.saturating_duration_since(Instant::now()).max(Duration::from_secs(1));
        let max_wait = mcp.max_wait.min(left);
        let caller = Caller { id: 0, client: "langport try".to_owned(), max_wait, max_chars: mcp.max_chars };
        let told = self.progress.clone();
        let progress = ProgressSink::new(move |text| told.say(text));
        let call = ToolCall::new(tool, arguments, Arc::new(caller), progress);
        let answered = timeout(max_wait + SLACK, self.langport.engine.clone().call(call)).await;
        answered.unwrap_or_else(|_| {
            Err(Failure {
                code: Code::Failed,
                what: format!("{} was unanswered after {} s", tool.canonical(), max_wait.as_secs()),
                next: "ask again, or see lsp/status".to_owned(),
                details: Vec::new(),
                servers: Vec::new(),
            })
        })
    }

    /// Goes on until the end of `work`, or until somebody wants it to stop.
    pub(super) async fn until<T>(&self, stop: &CancellationToken, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = work => Some(done),
            () = stop.cancelled() => {
                self.progress.clear();
                None
            }
        }
    }

    /// Stops the servers, in the way in which they can tidy up.
    pub(super) async fn leave(self) {
        self.langport.engine.shutdown().await;
    }
}

impl Made {
    /// Whether it went as it should.
    pub(super) fn went(&self) -> Went {
        match &self.answer {
            Ok(outcome) if outcome.verdict.answered() || outcome.verdict == Verdict::Partial => Went::Well,
            Ok(outcome) if outcome.verdict == Verdict::Unsupported => Went::Unsupported,
            Err(failure) if failure.code == Code::Unsupported => Went::Unsupported,
            Ok(_) | Err(_) => Went::Wrong,
        }
    }

    /// Whether no server could be had for it.
    pub(super) fn is_unavailable(&self) -> bool {
        match &self.answer {
            Ok(outcome) => outcome.verdict == Verdict::Unavailable,
            Err(failure) => failure.code == Code::Unavailable,
        }
    }

    /// The answer's first line: who says so, how far it can be trusted, and how much it is. Of a failure also the
    /// first of a server's last words.
    pub(super) fn in_short(&self) -> Vec<String> {
        let lines = if self.answer.is_ok() { 1 } else { 2 };
        self.rendered().text.lines().take(lines).map(|line| line.trim().to_owned()).collect()
    }

    fn rendered(&self) -> render::Rendered {
        let options = render::Options { tool: self.tool, output: render::Output::Text, max_chars: SHOWN };
        match &self.answer {
            Ok(outcome) => render::outcome(outcome, options),
            Err(failure) => render::failure(failure, SHOWN),
        }
    }

    /// Prints the call and its answer.
    pub(super) fn show(&self) -> io::Result<()> {
        let rendered = self.rendered();
        let again = if self.asked > 1 { format!(", asked {} times", self.asked) } else { String::new() };
        let mut text = format!("\n> {}   ({}{again})\n", self.call, spent(self.took));
        for line in rendered.text.lines() {
            text += &format!("    {line}\n");
        }
        out::print(&text)
    }
}

/// A duration for people.
pub(super) fn spent(took: Duration) -> String {
    if took < Duration::from_secs(1) {
        format!("{} ms", took.as_millis())
    } else {
        format!("{:.1} s", took.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_for_people() {
        assert_eq!([spent(Duration::from_micros(400)), spent(Duration::from_millis(999))], ["0 ms", "999 ms"]);
        assert_eq!(spent(Duration::from_millis(1_250)), "1.2 s");
    }
}
