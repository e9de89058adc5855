//! `lsp/hover`: type and documentation of a symbol, code before prose.

use serde_json::{Map, Value};

use crate::{
    protocol::types::HoverSection,
    runtime::query::{Answer, Query},
};

use super::{
    address::{Address, Aim},
    args::Args,
    ask::Ask,
    outcome::{Body, Failure, HoverText, Outcome, Page},
};

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let address = Address::read(&mut args)?;
    args.text("cursor")?;
    args.finish()?;
    let spot = ask.locate(&address, Aim::Name).await?;
    let heard = ask.ask_primary(&spot.file, Query::Hover { at: spot.at }).await?;
    let reply = match &heard.result {
        Ok(reply) => reply,
        Err(shortfall) => return ask.short(&heard, shortfall),
    };
    let Answer::Hover(hover) = &reply.answer else { return Err(super::wrong_kind()) };
    let (mut code, mut prose) = (Vec::new(), Vec::new());
    for section in &hover.sections {
        match section {
            HoverSection::Code { text, .. } => code.push(text.clone()),
            HoverSection::Prose(text) => prose.push(text.as_str()),
        }
    }
    let found = !hover.sections.is_empty();
    let body = HoverText {
        file: spot.file.shown.clone(),
        line: spot.at.line + 1,
        column: spot.at.column + 1,
        code,
        prose: prose.join("\n\n"),
        truncated: hover.truncated,
    };
    let mut notes = spot.notes.clone();
    let mut details = Vec::new();
    if !found {
        notes.extend(spot.names());
        details.extend(spot.names_there());
    }
    Ok(Outcome {
        verdict: reply.verdict,
        servers: vec![ask.part(&heard)],
        summary: if found { "hover".into() } else { "nothing is known about this place".into() },
        notes,
        details,
        body: if found { Body::Hover(body) } else { Body::None },
        page: Page::default(),
    })
}
