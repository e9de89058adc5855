//! `lsp/completions`: what fits what is typed at a place.

use serde_json::{Map, Value};

use crate::{
    protocol::{positions::Point, read::Fit, types::Completion},
    runtime::query::{Answer, Query},
};

use super::{
    address::{Address, Aim},
    args::Args,
    ask::Ask,
    cursor,
    file::File,
    kinds,
    outcome::{Body, CompletionLine, Failure, Outcome, Page},
    places::fingerprint,
};

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let address = Address::read(&mut args)?;
    let token = args.text("cursor")?;
    args.finish()?;
    let spot = ask.locate(&address, Aim::Cursor).await?;
    let typed = typed(&spot.file, spot.at);
    let heard = ask.ask_primary(&spot.file, Query::Completions { at: spot.at, typed: typed.clone() }).await?;
    let reply = match &heard.result {
        Ok(reply) => reply,
        Err(shortfall) => return ask.short(&heard, shortfall),
    };
    let Answer::Completions(list) = &reply.answer else { return Err(super::wrong_kind()) };
    let fitting = fitting(&list.items, &typed);
    let print =
        fingerprint(ask, (&spot.file.path, spot.at, fitting.iter().map(|item| &item.label).collect::<Vec<_>>()));
    let offset = cursor::resume(ask.tool, token.as_deref(), print)?;
    let total = fitting.len();
    let items = fitting.into_iter().skip(offset).take(ask.page_items()).map(line).collect();
    let mut summary = if total == 0 {
        "nothing fits what is typed".to_owned()
    } else {
        kinds::count(total, "completion", "completions")
    };
    if list.missed > 0 {
        summary.push_str(&format!(" of {} that fit", total + list.missed));
    }
    if list.incomplete && total > 0 {
        summary.push_str(", more when more is typed");
    }
    Ok(Outcome {
        verdict: reply.verdict,
        servers: vec![ask.part(&heard)],
        summary,
        notes: spot.notes,
        details: Vec::new(),
        body: Body::Completions(items),
        page: Page { offset, total, fingerprint: print, ..Page::default() },
    })
}

/// The beginning of a name that stands before the place.
fn typed(file: &File, at: Point) -> String {
    file.lines
        .identifiers_on(at.line)
        .iter()
        .find(|name| name.start < at.column && at.column <= name.end)
        .map(|name| name.text.chars().take((at.column - name.start) as usize).collect())
        .unwrap_or_default()
}

/// Items that begin with what is typed, in any case; else those that hold its letters in order. In the server's order.
fn fitting<'a>(items: &'a [Completion], typed: &str) -> Vec<&'a Completion> {
    let typed = typed.to_lowercase();
    let best = items.iter().map(|item| item.fit(&typed)).min().filter(|best| *best != Fit::Not);
    let mut fitting: Vec<&Completion> = items.iter().filter(|item| Some(item.fit(&typed)) == best).collect();
    fitting.sort_by(|a, b| a.order(b));
    fitting
}

fn line(item: &Completion) -> CompletionLine {
    CompletionLine {
        label: item.label.clone(),
        kind: kinds::completion(item.kind).into(),
        detail: item.detail.clone().or_else(|| item.description.clone()),
        insert: item.insert_text.clone().filter(|text| *text != item.label),
        deprecated: item.deprecated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(typed: &str) -> Vec<String> {
        let items: Vec<Completion> = [("zeta", Some("1")), ("add_item", None), ("Address", None), ("total", None)]
            .map(|(label, sort)| Completion {
                label: label.into(),
                sort_text: sort.map(str::to_owned),
                ..Completion::default()
            })
            .into();
        fitting(&items, typed).into_iter().map(|item| item.label.clone()).collect()
    }

    #[test]
    fn what_begins_alike_else_what_has_the_letters() {
        assert_eq!(labels("add"), ["Address", "add_item"]);
        assert_eq!(labels("ait"), ["add_item"]);
        assert_eq!(labels(""), ["zeta", "Address", "add_item", "total"]);
        assert!(labels("xyz").is_empty());
    }
}
