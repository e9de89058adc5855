//! What several tools say of problems and of servers that have none to tell: items as they are shown, who takes part,
//! and what is said when nobody could.

use crate::{
    protocol::types::{Diagnostic, FileRef, Severity},
    registry::DisplayName,
    runtime::shortfall::Shortfall,
};

use super::{
    ask::{Ask, Heard},
    file::{File, failure},
    outcome::{Code, Failure, Problem, RelatedPlace, ServerVerdict, Verdict},
    places::Reader,
    short,
};

/// A server that has nothing of the kind at all takes no part, unless nobody else does.
pub(super) fn without_the_unsupporting(mut heard: Vec<Heard>) -> Vec<Heard> {
    let unsupported =
        |one: &Heard| one.result.as_ref().is_err_and(|shortfall| shortfall.verdict() == Verdict::Unsupported);
    if !heard.iter().all(unsupported) {
        heard.retain(|one| !unsupported(one));
    }
    heard
}

/// Who has not answered, and why.
pub(super) fn missing<'a>(ask: &Ask<'_>, heard: &'a [Heard]) -> impl Iterator<Item = (DisplayName, &'a Shortfall)> {
    heard.iter().filter_map(|one| Some((ask.engine.display(&one.entry), one.result.as_ref().err()?)))
}

/// Nobody has answered: the worst reason, with the name of the server.
pub(super) fn all_failed<'a>(
    ask: &Ask<'_>,
    missing: impl Iterator<Item = (DisplayName, &'a Shortfall)>,
    servers: Vec<ServerVerdict>,
) -> Failure {
    let Some((name, shortfall)) = missing.max_by_key(|(_, shortfall)| shortfall.verdict()) else {
        return failure(Code::Unavailable, "no server took part", "call lsp/status");
    };
    let base = failure(short::code(shortfall), format!("{name}: {shortfall}"), short::next_step(&name, shortfall));
    let servers = if servers.len() > 1 { servers } else { Vec::new() };
    let details = match ask.engine.registry.get(&name) {
        Some(entry) => ask.reasons(entry, shortfall),
        None => ask.lines(shortfall),
    };
    Failure { details, servers, ..base }
}

/// The last words of a server that has died or did not start, when others have answered; they stand below the notes.
pub(super) fn last_words(ask: &Ask<'_>, name: &str, shortfall: &Shortfall) -> Vec<String> {
    match shortfall {
        Shortfall::Died { .. } | Shortfall::NotStarted { .. } | Shortfall::Broken { .. } => {
            ask.lines(shortfall).into_iter().map(|line| format!("{name}: {line}")).collect()
        }
        _ => Vec::new(),
    }
}

/// How to mend what a server lacks, when others have answered.
pub(super) fn note(name: &str, shortfall: &Shortfall) -> String {
    format!("{name}: {shortfall}; {}", short::next_step_apart(name, shortfall))
}

/// A problem as it is shown.
pub(super) fn problem(reader: &mut Reader<'_>, file: &File, item: &Diagnostic, server: &str) -> Problem {
    let own = FileRef::Path(file.path.clone());
    let span = reader.span(&own, item.range);
    let related = item.related.iter().map(|related| {
        let span = reader.span(&related.file, related.range);
        RelatedPlace {
            file: reader.shown(&related.file),
            line: span.line,
            column: span.column,
            message: reader.relative(&related.message),
        }
    });
    Problem {
        related: related.collect(),
        file: file.shown.clone(),
        line: span.line,
        column: span.column,
        end_line: span.end_line,
        end_column: span.end_column,
        severity: word(item.severity).into(),
        message: reader.relative(&item.message),
        code: item.code.clone(),
        source: item.source.clone().or_else(|| Some(server.to_owned())),
        text: reader.line(&own, span.line),
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
        Severity::Hint => "hint",
    }
}
