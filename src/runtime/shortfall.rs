//! The reasons why a question has no answer, each with what to do.

use std::{path::PathBuf, time::Duration};

use tokio::time::Instant;

use crate::{registry::Getting, sys::lookup::Flaw};

use super::verdict::Verdict;

/// Why there is no answer. Each names what to do; texts that a server wrote are in fields of their own.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Shortfall {
    #[error("`{command}` is not installed")]
    NotInstalled {
        command: String,
        /// What was looked for, and where.
        searched: String,
        getting: Option<Getting>,
    },
    /// Its command is a path at which there is no program.
    #[error("`{}` {}", path.display(), flaw.words())]
    NoProgram { path: PathBuf, flaw: Flaw },
    /// It would execute the repository, with what there is against it.
    #[error("{0}")]
    Untrusted(String),
    #[error("its definition cannot be used: {0}")]
    Definition(String),
    #[error("it could not be started: `{command}`: {reason}")]
    NotStarted {
        /// What was run, as people may see it.
        command: String,
        reason: String,
        /// Its own words: why it refuses, and the last lines of its stderr.
        stderr: Vec<String>,
        /// What a person may have to do first: the program can be there without what it starts.
        hint: Option<String>,
        /// It ended as if all were well.
        left: bool,
    },
    /// It is left alone until then, or until something changes.
    #[error("it stopped {} within {} ({reason})", often(*.times), span(*.within))]
    Broken {
        times: usize,
        within: Duration,
        reason: String,
        stderr: Vec<String>,
        /// As with `NotStarted`.
        hint: Option<String>,
        until: Instant,
    },
    #[error("its definition has changed meanwhile")]
    Replaced,
    /// It cannot take another folder beside those that it has.
    #[error("it takes no further folder")]
    Alone,
    #[error("no instance came free in time: all {limit} are in use")]
    PoolFull { limit: usize },
    /// With what it lacks.
    #[error("it has no {0}")]
    Unsupported(&'static str),
    #[error("it is still starting, {} s so far", .after.as_secs())]
    Starting { after: Duration },
    #[error("it is still loading the project{}", .progress.as_deref().map(|p| format!(" ({p})")).unwrap_or_default())]
    Loading { progress: Option<String> },
    #[error("no answer within {:.1} s", .after.as_secs_f32())]
    Unanswered { after: Duration },
    #[error("it answered with error {code}")]
    Server { code: i64, message: String },
    #[error("its answer has the wrong shape: {0}")]
    Shape(String),
    /// A list of problems that came could not be kept.
    #[error("its list of problems of {file} {why}")]
    Lost { file: String, why: String },
    #[error("it died: `{command}`: {reason}")]
    Died {
        /// As with `NotStarted`.
        command: String,
        reason: String,
        stderr: Vec<String>,
    },
    #[error("not asked: no time was left for it")]
    Unasked,
    #[error("{0}")]
    Busy(Occupied),
    #[error("{0}")]
    File(String),
    #[error("the file changed while the question was on its way")]
    Moved,
    #[error("more files changed at once than could be told to it")]
    Outrun,
    /// The folder that it was to serve.
    #[error("its folder {} is gone", .0.display())]
    Homeless(PathBuf),
    /// It will not make the asked change; with its own words.
    #[error("{0}")]
    Declined(String, Vec<String>),
    #[error("{0}")]
    TooLarge(String),
    #[error("it no longer offers that action")]
    Gone,
}

/// What keeps a server from being asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Occupied {
    /// A command of its own that runs, by the name that the server gives it; whether nobody waits for it any more.
    #[error(
        "a command of its own has been running for {}{}, and they run one at a time",
        span(*.after),
        if *.left { ", although nobody waits for it any more" } else { "" }
    )]
    Command { name: String, after: Duration, left: bool },
    /// As many questions as it is asked at once, and how long the first has been with it.
    #[error("{number} other questions are with it already, the first for {}", span(*.after))]
    Questions { number: usize, after: Duration },
    /// Another question for which files are opened.
    #[error("another question that needs the whole project has been with it for {}", span(*.after))]
    Search { after: Duration },
    #[error("{number} requests wait for its answer already")]
    Requests { number: usize },
    #[error("it has not read what it was sent before")]
    Unread,
    #[error("too many calls wait for it to be started")]
    Calls,
    #[error("the time allowed was over before it could be asked")]
    Late,
    /// So little time was left then that silence says nothing about the server.
    #[error("other questions kept it for {} of the time allowed", span(*.waited))]
    Crowd { waited: Duration },
}

/// A number of times as people say it.
fn often(number: usize) -> String {
    if number == 1 { "once".into() } else { format!("{number} times") }
}

/// A time as people say it.
fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{} s", seconds.max(1)),
        seconds => format!("{} minutes", seconds / 60),
    }
}

impl Shortfall {
    /// The verdict that stands for it in an answer that others take part in.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::NotInstalled { .. }
            | Self::NoProgram { .. }
            | Self::Untrusted(_)
            | Self::Definition(_)
            | Self::NotStarted { .. }
            | Self::Broken { .. }
            | Self::Homeless(_)
            | Self::Alone => Verdict::Unavailable,
            Self::Unsupported(_) => Verdict::Unsupported,
            Self::Starting { .. } | Self::Loading { .. } => Verdict::Indexing,
            Self::Unanswered { .. } | Self::Busy(_) | Self::PoolFull { .. } | Self::Unasked => Verdict::Unanswered,
            Self::Server { .. }
            | Self::Shape(_)
            | Self::Lost { .. }
            | Self::Died { .. }
            | Self::File(_)
            | Self::Moved
            | Self::Outrun
            | Self::Declined(..)
            | Self::TooLarge(_)
            | Self::Gone => Verdict::Failed,
            Self::Replaced => Verdict::Failed,
        }
    }

    /// Untrusted lines that explain it: the last of stderr, the server's own message.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::NotStarted { stderr, .. } | Self::Broken { stderr, .. } | Self::Died { stderr, .. } => stderr.clone(),
            Self::Server { message, .. } => vec![message.clone()],
            Self::NotInstalled { searched, .. } => vec![searched.clone()],
            Self::Declined(_, lines) => lines.clone(),
            Self::Busy(Occupied::Command { name, .. }) if !name.is_empty() => vec![format!("the command: {name}")],
            _ => Vec::new(),
        }
    }
}
