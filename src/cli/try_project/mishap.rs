//! An error made and mended in a copy of the project: whether answers are about the text that is on disk now.

use std::{collections::BTreeMap, path::Path};

use anyhow::Context;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    agent::{Agent, Made, Went},
    copy::{Copy, LIMITS},
    tally::Tally,
    tour::shown,
};
use crate::{
    cli::{out, progress::Progress, project::survey::Language},
    config::count,
    sys::files,
    tools::{
        ToolId,
        outcome::{Body, Verdict},
    },
};

/// The lines that servers must refuse, by language id.
fn errors() -> anyhow::Result<BTreeMap<String, String>> {
    toml::from_str(include_str!("errors.toml")).context("the table of error lines")
}

/// Makes an error in a copy of a file, asks for problems, mends it, asks again.
pub(super) async fn make_and_mend(
    root: &Path,
    file: &Path,
    language: &Language,
    end: Instant,
    tally: &mut Tally,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let errors = errors()?;
    let Some(line) = errors.get(&language.id) else {
        out::print(&format!(
            "\nNo error is made in a copy: langport knows no line that is wrong in every {} file.\n",
            language.id
        ))?;
        return Ok(());
    };
    let progress = Progress::new();
    progress.say("copying the project");
    let copied = Copy::of(root, file, LIMITS);
    progress.clear();
    let copy = copied?;
    let left_out = if copy.left_out > 0 { format!(", {} left out", copy.left_out) } else { String::new() };
    out::print(&format!(
        "\nIn a copy ({}{left_out}), which is removed at the end:\n",
        count(copy.files, "file", "files")
    ))?;
    let agent = Agent::new(copy.root(), end)?;
    let done = agent.until(stop, in_copy(&agent, &copy, &shown(root, file), line, tally)).await;
    agent.leave().await;
    done.unwrap_or(Ok(()))
}

async fn in_copy(agent: &Agent, copy: &Copy, name: &str, line: &str, tally: &mut Tally) -> anyhow::Result<()> {
    let path = copy.root().join(name);
    let text = std::fs::read(&path).with_context(|| path.display().to_string())?;
    let ask = || agent.call(ToolId::Diagnostics, json!({"file_path": name}));
    let before = ask().await;
    if tally.step(&before)? != Went::Well {
        return Ok(());
    }
    let (broken, number) = with_line(&text, line);
    files::write(&path, &broken)?;
    out::print(&format!("\n* line {number} is added to {name}: {line}\n"))?;
    let during = ask().await;
    if tally.step(&during)? == Went::Well && !has_error(&during, number) {
        tally.wrong(format!("the error on line {number} of {name} was not found"));
    }
    files::write(&path, &text)?;
    out::print(&format!("\n* line {number} is taken away again\n"))?;
    let after = ask().await;
    if tally.step(&after)? == Went::Well && (total(&after) > total(&before) || verdict(&after) > verdict(&before)) {
        tally.wrong(format!("{name} is as it was before, and its problems are not"));
    }
    Ok(())
}

/// A text with a line more at its end, and that line's number.
fn with_line(text: &[u8], line: &str) -> (Vec<u8>, u32) {
    let mut text = text.to_vec();
    let crlf = text.windows(2).any(|pair| pair == b"\r\n");
    let ending: &[u8] = if crlf { b"\r\n" } else { b"\n" };
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.extend_from_slice(ending);
    }
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    text.extend_from_slice(line.as_bytes());
    text.extend_from_slice(ending);
    (text, u32::try_from(lines + 1).unwrap_or(u32::MAX))
}

fn has_error(made: &Made, line: u32) -> bool {
    match made.answer.as_ref().map(|outcome| &outcome.body) {
        Ok(Body::Problems(problems)) => {
            problems.iter().any(|problem| problem.line == line && problem.severity == "error")
        }
        _ => false,
    }
}

fn total(made: &Made) -> usize {
    made.answer.as_ref().map_or(0, |outcome| outcome.page.total)
}

fn verdict(made: &Made) -> Verdict {
    made.answer.as_ref().map_or(Verdict::Failed, |outcome| outcome.verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_one_line_of_a_known_language() {
        for (language, line) in errors().unwrap() {
            assert!(crate::language::is_known(&language), "{language}");
            assert!(!line.is_empty() && !line.contains(['\n', '\r']), "{language}");
        }
    }

    #[test]
    fn the_line_is_a_line_of_its_own() {
        let check = |text: &str| {
            let (text, number) = with_line(text.as_bytes(), "!");
            (String::from_utf8(text).unwrap(), number)
        };
        assert_eq!(check("a\nb\n"), ("a\nb\n!\n".to_owned(), 3));
        assert_eq!(check("a\r\nb"), ("a\r\nb\r\n!\r\n".to_owned(), 3));
        assert_eq!(check(""), ("!\n".to_owned(), 1));
    }
}
