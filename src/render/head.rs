//! The lines of an answer that are langport's own: the first one, the notes, the words for verdicts and codes.

use std::{cmp::Reverse, collections::BTreeMap};

use super::clean::{SHORT, imitates, line, shorten};
use crate::{
    config::count,
    tools::outcome::{Code, Failure, Outcome, ServerVerdict, Verdict},
};

/// Between the parts of a first line.
const DOT: &str = " · ";

/// The code, as the first line says it.
pub(super) fn code(code: Code) -> &'static str {
    match code {
        Code::Invalid => "invalid",
        Code::NotFound => "not_found",
        Code::Ambiguous => "ambiguous",
        Code::OutsideWorkspace => "outside_workspace",
        Code::ReadOnly => "read_only",
        Code::Conflict => "conflict",
        Code::Refused => "refused",
        Code::TooLarge => "too_large",
        Code::Failed => "failed",
        Code::Unavailable => "unavailable",
        Code::Unsupported => "unsupported",
        Code::Expired => "expired",
    }
}

/// Verdicts that mean that there is no answer: the result is marked as an error.
pub(super) fn is_error(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Failed | Verdict::Unavailable | Verdict::Unsupported)
}

/// `VERDICT · SERVERS · SUMMARY` and the notes, a line each, in about a third of the budget.
pub(super) fn outcome(outcome: &Outcome, max_chars: usize) -> Vec<String> {
    let room = max_chars / 3;
    let first = [outcome.verdict.word(), &servers(outcome), &line(&outcome.summary, 300)].join(DOT);
    let mut lines = vec![shorten(&first, room)];
    let mut used = 0;
    for (at, note) in outcome.notes.iter().enumerate() {
        let note = line(note, 400);
        used += note.chars().count() + 1;
        if used > room {
            lines.push(format!("… {}", count(outcome.notes.len() - at, "more note", "more notes")));
            break;
        }
        // It may begin with the name of a file.
        lines.push(if imitates(&note) { format!("  {note}") } else { note });
    }
    for detail in &outcome.details {
        let detail = format!("  {}", line(detail, 400));
        used += detail.chars().count() + 1;
        if used > room {
            break;
        }
        lines.push(detail);
    }
    lines
}

/// The servers: their names alone where all have the answer's verdict and nothing is to be explained.
fn servers(outcome: &Outcome) -> String {
    let alike = outcome.servers.iter().all(|server| server.verdict == outcome.verdict);
    if outcome.servers.is_empty() {
        return "langport".to_owned();
    }
    if alike || outcome.servers.len() <= EACH {
        let each: Vec<String> = outcome.servers.iter().map(|server| part(server, !alike)).collect();
        return shorten(&bounded(&each), 600);
    }
    // The worst first, and those of which the same is to be said together.
    let mut by_verdict: BTreeMap<Reverse<Verdict>, Vec<String>> = BTreeMap::new();
    for server in &outcome.servers {
        by_verdict.entry(Reverse(server.verdict)).or_default().push(part(server, false));
    }
    let groups =
        by_verdict.into_iter().map(|(Reverse(verdict), names)| format!("{} {}", bounded(&names), verdict.word()));
    shorten(&groups.collect::<Vec<_>>().join("; "), 600)
}

/// Servers that have their verdicts behind them one by one.
const EACH: usize = 3;
/// Servers that are named together.
const TOGETHER: usize = 12;

/// Names with what is beyond the first of them counted.
fn bounded(names: &[String]) -> String {
    let first = names.iter().take(TOGETHER).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > TOGETHER { format!("{first} and {} more", names.len() - TOGETHER) } else { first }
}

fn part(server: &ServerVerdict, with_verdict: bool) -> String {
    let mut text = line(&server.server, SHORT);
    if with_verdict {
        text = format!("{text} {}", server.verdict.word());
    }
    match server.reason.as_deref().map(|reason| line(reason, 120)).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{text} ({reason})"),
        None => text,
    }
}

/// `CODE · WHAT · NEXT STEP` and the servers' states.
pub(super) fn failure(failure: &Failure) -> Vec<String> {
    let mut parts = vec![code(failure.code).to_owned(), line(&failure.what, 600), line(&failure.next, 400)];
    parts.retain(|part| !part.is_empty());
    let mut lines = vec![parts.join(DOT)];
    lines.extend(failure.servers.iter().take(16).map(|server| format!("  {}", part(server, true))));
    lines
}

/// A number with its thousands apart.
pub(super) fn number(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
