//! `lsp/format`: a plan that formats a file or a part of it; whoever is first among the file's servers to do so does it,
//! linters that format last.

use serde_json::{Map, Value};

use crate::{
    protocol::types::Severity,
    runtime::query::{Answer, Query},
};

use super::{
    args::{Args, invalid},
    ask::{Ask, Heard},
    file::{File, Serving},
    kinds::count,
    outcome::{Body, Failure, Outcome, Page, Verdict},
    plan::{Change, Planned},
    short,
    span::Given,
};

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let given = args.text("file_path")?;
    let range = Given::read(&mut args)?;
    let token = args.text("cursor")?;
    args.finish()?;
    let given = given.ok_or_else(|| invalid("no file is named", "give file_path"))?;
    let file = ask.file(&given)?;
    let span = range.in_text(&file.lines, &file.shown)?;
    let serving = ask.serving(&file)?;
    let question = ask.question(&file, Query::Format { span });
    let heard = ask.first_able(serving.answering.iter().chain(&serving.linters), &question).await;
    let heard = heard.ok_or_else(|| short::no_server(ask, &file))?;
    let reply = match &heard.result {
        Ok(reply) => reply,
        Err(shortfall) => return Err(ask.no_change(&heard, shortfall)),
    };
    let Answer::Edit(proposal) = &reply.answer else { return Err(super::wrong_kind()) };
    let title = match span {
        None => format!("format {}", file.shown),
        Some(_) => format!("format a part of {}", file.shown),
    };
    let edit = proposal.edit.clone().unwrap_or_default();
    match ask.plan(title, Change::of(proposal, edit, reply.encoding)).await? {
        Planned::Plan(plan) => ask.keep(&[heard], *plan, Vec::new(), token.as_deref()),
        Planned::Nothing => {
            let name = ask.engine.display(&heard.entry);
            let errors = errors(ask, &file, &serving, &heard).await;
            let mut notes = Vec::new();
            if errors > 0 {
                let what = count(errors, "error", "errors");
                notes.push(format!("{name} sees {what} there: what it cannot parse it does not format"));
            }
            let doubt = if errors > 0 { Verdict::Unconfirmed } else { Verdict::Fresh };
            Ok(Outcome {
                verdict: reply.verdict.max(doubt),
                servers: vec![ask.part(&heard)],
                summary: format!("{name} would change nothing in {}", file.shown),
                notes,
                details: Vec::new(),
                body: Body::None,
                page: Page::default(),
            })
        }
    }
}

/// The errors that the one who formats sees itself: most answer for a file that they cannot parse as for one that is well
/// formatted.
async fn errors(ask: &Ask<'_>, file: &File, serving: &Serving, heard: &Heard) -> usize {
    let all = serving.answering.iter().chain(&serving.linters);
    let Some((entry, root)) = all.into_iter().find(|(entry, _)| entry.name == heard.entry.name) else { return 0 };
    let asked = ask.ask(entry, root, &ask.question(file, Query::Diagnostics)).await;
    match asked.result.map(|reply| reply.answer) {
        Ok(Answer::Problems(problems)) => {
            problems.items.iter().filter(|problem| problem.severity == Severity::Error).count()
        }
        _ => 0,
    }
}
