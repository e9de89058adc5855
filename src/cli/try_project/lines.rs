//! A line for each language that gets no tour: who looked at its files, how far that can be trusted, and the worst that
//! was found.

use std::{io, path::Path, time::Duration};

use serde_json::json;
use tokio::time::Instant;

use super::{
    agent::{Agent, Made, Went, spent},
    tally::Tally,
    tour::{errors, shown},
};
use crate::{
    cli::{out, project::survey::Language},
    config::count,
    render,
    tools::{
        ToolId,
        outcome::{Body, Verdict},
    },
};

/// Files of one language that are asked about, and how long one language may take.
const FILES: usize = 12;
const SCAN: Duration = Duration::from_secs(15);
/// Characters of a problem's message.
const MESSAGE: usize = 110;
/// The column in which a line's own words begin.
const INDENT: usize = 14;

/// The languages beside those that are toured.
pub(super) struct Lines<'a> {
    pub root: &'a Path,
    pub agent: &'a Agent,
    pub tally: &'a mut Tally,
    /// What needs no line of its own.
    pub clean: Vec<String>,
}

impl Lines<'_> {
    /// Asks about the files of one language and prints its line, unless nothing is wrong with them.
    pub(super) async fn of(&mut self, language: &Language) -> io::Result<()> {
        let start = Instant::now();
        self.agent.progress.say(&format!("looking for problems: {}", language.id));
        let mut all: Vec<Made> = Vec::new();
        for file in language.files.iter().take(FILES) {
            if !all.is_empty() && start.elapsed() > SCAN {
                break;
            }
            let made = self.agent.call(ToolId::Diagnostics, json!({"file_path": shown(self.root, file)})).await;
            let went = made.went();
            all.push(made);
            if went != Went::Well {
                break;
            }
        }
        let there = count(language.count, "file", "files");
        let files = if all.len() == language.count { there } else { format!("{} of {there}", all.len()) };
        let clean = |made: &Made| {
            made.answer.as_ref().is_ok_and(|outcome| outcome.verdict == Verdict::Fresh && outcome.page.total == 0)
        };
        let Some(worst) = all.iter().max_by_key(|made| (made.went() == Went::Wrong, verdict(made), errors(made)))
        else {
            return Ok(());
        };
        // The first of equals is the better example.
        let worst =
            all.iter().find(|made| errors(made) == errors(worst) && verdict(made) == verdict(worst)).unwrap_or(worst);
        self.tally.count(worst, all.len());
        if all.iter().all(clean) {
            self.clean.push(format!("{} ({}, {files})", language.id, servers(worst)));
            return Ok(());
        }
        let mut words = worst.in_short();
        if let Some(first) = words.first_mut() {
            *first += &format!("   ({files}, {})", spent(start.elapsed()));
        }
        words.extend(worst_problem(worst));
        let mut text = format!("  {:<width$}", language.id, width = INDENT - 2);
        text += &words.join(&format!("\n{:INDENT$}", ""));
        text.push('\n');
        out::print(&text)
    }

    /// Names the languages without problems.
    pub(super) fn close(&self) -> io::Result<()> {
        if self.clean.is_empty() {
            return Ok(());
        }
        out::print(&format!("  {:<width$}fresh · {}\n", "no problems", self.clean.join(", "), width = INDENT - 2))
    }
}

/// How little an answer is to be trusted.
fn verdict(made: &Made) -> Verdict {
    made.answer.as_ref().map_or(Verdict::Failed, |outcome| outcome.verdict)
}

fn servers(made: &Made) -> String {
    let servers = made.answer.as_ref().map(|outcome| outcome.servers.as_slice()).unwrap_or_default();
    servers.iter().map(|server| &*server.server).collect::<Vec<_>>().join(" and ")
}

/// The first error of an answer, else its first problem: the place and what it says.
fn worst_problem(made: &Made) -> Option<String> {
    let Ok(Body::Problems(problems)) = made.answer.as_ref().map(|outcome| &outcome.body) else { return None };
    let worst = problems.iter().find(|problem| problem.severity == "error").or_else(|| problems.first())?;
    let place = format!("{}:{}:{}", worst.file, worst.line, worst.column);
    let message = render::line(&worst.message, MESSAGE);
    Some(render::line(&format!("{place}  {}: {message}", worst.severity), 2 * MESSAGE))
}
