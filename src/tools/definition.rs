//! `lsp/definition`: where a symbol is defined, declared, typed or implemented.

use serde_json::{Map, Value};

use crate::runtime::query::{Answer, Query, Target};

use super::{
    address::{Address, Aim},
    args::Args,
    ask::Ask,
    cursor,
    kinds::count,
    outcome::{Body, Failure, Outcome, Page},
    places::{Reader, fingerprint, sorted},
};

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let address = Address::read(&mut args)?;
    let targets = [Target::Definition, Target::Declaration, Target::TypeDefinition, Target::Implementation];
    let words = ["definition", "declaration", "type_definition", "implementation"];
    let choices: Vec<(&'static str, Target)> = words.into_iter().zip(targets).collect();
    let target = args.choice("kind", &choices, Target::Definition)?;
    let token = args.text("cursor")?;
    args.finish()?;
    let spot = ask.locate(&address, Aim::Name).await?;
    let heard = ask.ask_primary(&spot.file, Query::Locations { at: spot.at, target }).await?;
    let reply = match &heard.result {
        Ok(reply) => reply,
        Err(shortfall) => return ask.short(&heard, shortfall),
    };
    let Answer::Locations(locations) = &reply.answer else { return Err(super::wrong_kind()) };
    // Of very many those of the asked file come first, as with references.
    let first = (locations.total > locations.items.len()).then_some(&*spot.file.path);
    let items = sorted(locations, first);
    let print = fingerprint(ask, (&locations.files, &items));
    let offset = cursor::resume(ask.tool, token.as_deref(), print)?;
    let mut reader = Reader::new(ask, reply.encoding);
    let places = items
        .iter()
        .skip(offset)
        .take(ask.page_items())
        .map(|(file, range)| reader.place(&locations.files[*file as usize], *range))
        .collect();
    let mut notes = spot.notes.clone();
    notes.extend(reply.remarks.iter().cloned());
    let mut details = Vec::new();
    if items.is_empty() {
        notes.extend(spot.names());
        details.extend(spot.names_there());
    }
    let one = target.word();
    let mut summary =
        if items.is_empty() { format!("no {one} found") } else { count(items.len(), one, &format!("{one}s")) };
    if locations.total > locations.items.len() {
        summary.push_str(&format!(" (the server sent {}; the rest is cut off)", locations.total));
    }
    Ok(Outcome {
        verdict: reply.verdict,
        servers: vec![ask.part(&heard)],
        summary,
        notes,
        details,
        body: Body::Places(places),
        page: Page { offset, total: items.len(), fingerprint: print, ..Page::default() },
    })
}
