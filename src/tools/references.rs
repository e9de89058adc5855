//! `lsp/references`: every use of a symbol, grouped by file, with its line; the definition among them is marked.

use serde_json::{Map, Value};

use crate::{
    protocol::types::{FileRef, Locations},
    runtime::query::{Answer, Query, Target},
};

use super::{
    address::{Address, Aim},
    args::Args,
    ask::{Ask, Heard},
    cursor,
    kinds::count,
    outcome::{Body, Failure, Outcome, Page, Verdict},
    places::{Reader, fingerprint, sorted},
};

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let address = Address::read(&mut args)?;
    let declaration = args.switch("include_declaration", true)?;
    let token = args.text("cursor")?;
    args.finish()?;
    let spot = ask.locate(&address, Aim::Name).await?;
    let heard = ask.ask_primary(&spot.file, Query::References { at: spot.at, declaration }).await?;
    // It only marks lines, so whatever goes wrong here is left out. Not asked meanwhile: a server may be counting files.
    let defined = match &heard.result {
        Ok(_) if declaration => {
            ask.ask_primary(&spot.file, Query::Locations { at: spot.at, target: Target::Definition }).await.ok()
        }
        _ => None,
    };
    let reply = match &heard.result {
        Ok(reply) => reply,
        Err(shortfall) => return ask.short(&heard, shortfall),
    };
    let Answer::Locations(locations) = &reply.answer else { return Err(super::wrong_kind()) };
    let items = sorted(locations, Some(&spot.file.path));
    let defined = defined.map(|heard| starts(&heard)).unwrap_or_default();
    let print = fingerprint(ask, (&locations.files, &items));
    let offset = cursor::resume(ask.tool, token.as_deref(), print)?;
    let mut reader = Reader::new(ask, reply.encoding);
    let places = items.iter().skip(offset).take(ask.page_items()).map(|(file, range)| {
        let file = &locations.files[*file as usize];
        let mut place = reader.place(file, *range);
        if defined.iter().any(|(own, line)| own == file && *line == range.start.line) {
            place.role = Some("definition".into());
        }
        place
    });
    let places = places.collect();
    let files = locations.files.len();
    let mut notes = spot.notes.clone();
    notes.extend(reply.remarks.iter().cloned());
    notes.extend(ask.of_other_checkouts(&spot.file.path, &locations.files));
    let mut summary = match items.len() {
        0 => "no references found".to_owned(),
        n => format!("{} in {}", count(n, "reference", "references"), count(files, "file", "files")),
    };
    if locations.total > locations.items.len() {
        summary.push_str(&format!(" (the server sent {}; the rest is cut off)", locations.total));
    }
    let mut details = Vec::new();
    if items.is_empty() {
        notes.extend(spot.names());
        details.extend(spot.names_there());
    }
    if reply.verdict == Verdict::Indexing {
        notes.push("the project is not fully loaded: there may be more".into());
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

/// Files and lines of an answer's places.
fn starts(heard: &Heard) -> Vec<(FileRef, u32)> {
    let Ok(reply) = &heard.result else { return Vec::new() };
    let Answer::Locations(Locations { files, items, .. }) = &reply.answer else { return Vec::new() };
    items.iter().take(16).map(|item| (files[item.file as usize].clone(), item.range.start.line)).collect()
}
