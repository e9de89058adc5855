//! `lsp/format`: a plan that formats a file or a part of it; whoever is first among the file's servers to do so does it,
//! linters that format last.

use serde_json::{Map, Value};

use crate::runtime::query::{Answer, Query};

use super::{
    args::{Args, invalid},
    ask::Ask,
    outcome::{Body, Failure, Outcome, Page},
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
        Planned::Nothing => Ok(Outcome {
            verdict: reply.verdict,
            servers: vec![ask.part(&heard)],
            summary: format!("{} would change nothing in {}", ask.engine.display(&heard.entry), file.shown),
            notes: Vec::new(),
            details: Vec::new(),
            body: Body::None,
            page: Page::default(),
        }),
    }
}
