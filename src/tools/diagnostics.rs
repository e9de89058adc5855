//! `lsp/diagnostics`: a file's problems from every server that has something to say of it, with what they are worth.

use futures::future::join_all;
use serde_json::{Map, Value};

use crate::{
    protocol::types::{Diagnostic, FileRef, Severity},
    runtime::query::{Answer, Query, Reply},
};

use super::{
    args::{Args, invalid},
    ask::{Ask, Heard},
    cursor,
    file::{File, failure},
    kinds::count,
    outcome::{Body, Failure, Outcome, Page, Problem, RelatedPlace, ServerVerdict, Verdict},
    places::{Reader, fingerprint},
    short,
};

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let given = args.text("file_path")?;
    args.choice("scope", &[("file", ())], ())?;
    let severities = [
        ("error", Severity::Error),
        ("warning", Severity::Warning),
        ("info", Severity::Info),
        ("hint", Severity::Hint),
    ];
    let least = args.choice("severity", &severities, Severity::Warning)?;
    let token = args.text("cursor")?;
    args.finish()?;
    let given = given.ok_or_else(|| invalid("no file is named", "give file_path"))?;
    let file = ask.file(&given)?;
    let serving = ask.serving(&file)?;
    let question = ask.question(&file, Query::Diagnostics);
    let asked = serving.answering.iter().chain(&serving.linters).map(|(entry, root)| ask.ask(entry, root, &question));
    let heard: Vec<Heard> = join_all(asked).await;
    let heard = without_the_unsupporting(heard);
    let servers: Vec<ServerVerdict> = heard.iter().map(|one| ask.part(one)).collect();
    let verdict = Verdict::combine(servers.iter().map(|server| server.verdict));
    if verdict.is_failure() {
        return Err(all_failed(ask, &heard, servers));
    }
    let mut found = Vec::new();
    let mut beyond = 0;
    for one in &heard {
        if let Ok(Reply { answer: Answer::Problems(problems), encoding, .. }) = &one.result {
            let mut reader = Reader::new(ask, *encoding);
            beyond += problems.total - problems.items.len();
            found.extend(
                problems
                    .items
                    .iter()
                    .map(|item| (item.severity, problem(&mut reader, &file, item, &ask.engine.display(&one.entry)))),
            );
        }
    }
    found.sort_by(|(a, p), (b, q)| (a, p.line, p.column, &p.message).cmp(&(b, q.line, q.column, &q.message)));
    let counts = severities.map(|(_, severity)| found.iter().filter(|(own, _)| *own == severity).count());
    let summary = summary(counts, least, verdict, beyond);
    let listed: Vec<Problem> =
        found.into_iter().filter(|(severity, _)| *severity <= least).map(|(_, problem)| problem).collect();
    let print = fingerprint(ask, (&file.path, file.lines.text(), format!("{listed:?}")));
    let offset = cursor::resume(ask.tool, token.as_deref(), print)?;
    let total = listed.len();
    let items =
        listed.into_iter().skip(offset).take(ask.page_items().min(ask.engine.limits.diagnostics_file)).collect();
    let notes = heard.iter().filter_map(|one| note(ask, one)).collect();
    Ok(Outcome {
        verdict,
        servers,
        summary,
        notes,
        body: Body::Problems(items),
        page: Page { offset, total, fingerprint: print },
    })
}

/// A server that has no diagnostics at all takes no part, unless nobody else does.
fn without_the_unsupporting(mut heard: Vec<Heard>) -> Vec<Heard> {
    let unsupported =
        |one: &Heard| one.result.as_ref().is_err_and(|shortfall| shortfall.verdict() == Verdict::Unsupported);
    if !heard.iter().all(unsupported) {
        heard.retain(|one| !unsupported(one));
    }
    heard
}

fn all_failed(ask: &Ask<'_>, heard: &[Heard], servers: Vec<ServerVerdict>) -> Failure {
    let worst = heard
        .iter()
        .filter_map(|one| one.result.as_ref().err().map(|shortfall| (one, shortfall)))
        .max_by_key(|(_, s)| s.verdict());
    let Some((one, shortfall)) = worst else {
        return failure(super::outcome::Code::Unavailable, "no server took part", "call lsp/status");
    };
    let name = ask.engine.display(&one.entry);
    let base = failure(short::code(shortfall), format!("{name}: {shortfall}"), short::next_step(&name, shortfall));
    let servers = if heard.len() > 1 { servers } else { Vec::new() };
    Failure { details: ask.lines(shortfall), servers, ..base }
}

/// How to mend what one server lacks, when others have answered.
fn note(ask: &Ask<'_>, one: &Heard) -> Option<String> {
    let shortfall = one.result.as_ref().err()?;
    let name = ask.engine.display(&one.entry);
    Some(format!("{name}: {shortfall}; {}", short::next_step(&name, shortfall)))
}

fn problem(reader: &mut Reader<'_>, file: &File, item: &Diagnostic, server: &str) -> Problem {
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

/// The counts; "no problems" is said only of a text that has been analysed.
fn summary([errors, warnings, infos, hints]: [usize; 4], least: Severity, verdict: Verdict, beyond: usize) -> String {
    let all = [
        (Severity::Error, errors, count(errors, "error", "errors")),
        (Severity::Warning, warnings, count(warnings, "warning", "warnings")),
        (Severity::Info, infos, count(infos, "info", "infos")),
        (Severity::Hint, hints, count(hints, "hint", "hints")),
    ];
    let listed: Vec<&str> =
        all.iter().filter(|(s, n, _)| *s <= least && *n > 0).map(|(_, _, text)| text.as_str()).collect();
    let hidden: Vec<&str> =
        all.iter().filter(|(s, n, _)| *s > least && *n > 0).map(|(_, _, text)| text.as_str()).collect();
    let mut text = if !listed.is_empty() {
        listed.join(", ")
    } else {
        match verdict {
            Verdict::Fresh => "no problems".into(),
            Verdict::Settling => "no problems so far".into(),
            Verdict::Partial => "no problems from those that have answered".into(),
            Verdict::Unconfirmed => "no problems when last heard of, not confirmed since".into(),
            Verdict::Stale => "nothing known of the present text".into(),
            Verdict::Indexing => "not analysed yet; ask again".into(),
            _ => "no answer yet: this says nothing about the file; ask again".into(),
        }
    };
    if !hidden.is_empty() {
        text.push_str(&format!(" ({} not listed)", hidden.join(", ")));
    }
    if beyond > 0 {
        text.push_str(&format!(", {beyond} more were cut off"));
    }
    if verdict == Verdict::Stale && !listed.is_empty() {
        text.push_str(" in an older text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_problems_is_said_of_an_analysed_text_only() {
        assert_eq!(
            summary([1, 2, 0, 3], Severity::Warning, Verdict::Fresh, 0),
            "1 error, 2 warnings (3 hints not listed)"
        );
        assert_eq!(summary([0; 4], Severity::Warning, Verdict::Fresh, 0), "no problems");
        assert_eq!(summary([0, 1, 0, 0], Severity::Error, Verdict::Fresh, 0), "no problems (1 warning not listed)");
        for verdict in [Verdict::Unanswered, Verdict::Indexing, Verdict::Stale] {
            assert!(!summary([0; 4], Severity::Hint, verdict, 0).contains("no problems"), "{verdict:?}");
        }
    }
}
