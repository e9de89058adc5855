//! `lsp/signature`: the signatures of the call that a place is in, with the active parameter.

use serde_json::{Map, Value};

use crate::runtime::query::{Answer, Query};

use super::{
    address::{Address, Aim},
    args::Args,
    ask::Ask,
    cursor,
    kinds::count,
    outcome::{Body, Failure, Outcome, Page, SignatureLine},
    places::fingerprint,
};

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let address = Address::read(&mut args)?;
    let token = args.text("cursor")?;
    args.finish()?;
    let spot = ask.locate(&address, Aim::Cursor).await?;
    let heard = ask.ask_primary(&spot.file, Query::Signature { at: spot.at }).await?;
    let reply = match &heard.result {
        Ok(reply) => reply,
        Err(shortfall) => return ask.short(&heard, shortfall),
    };
    let Answer::Signatures(help) = &reply.answer else { return Err(super::wrong_kind()) };
    let mut lines: Vec<SignatureLine> = help
        .signatures
        .iter()
        .enumerate()
        .map(|(index, signature)| {
            let active = index == help.active_signature as usize;
            // The signature's own active parameter wins over the call's (LSP 3.16).
            let parameter = signature.active_parameter.or(help.active_parameter);
            SignatureLine {
                label: signature.label.clone(),
                active,
                active_parameter: parameter.and_then(|index| signature.parameters.get(index as usize).cloned()),
                documentation: signature.documentation.clone(),
            }
        })
        .collect();
    // Of many the current one is worth the most: it is on the first page.
    if let Some(active) = lines.iter().position(|line| line.active) {
        lines[..=active].rotate_right(1);
    }
    let print = fingerprint(ask, (&spot.file.path, spot.at, format!("{lines:?}")));
    let offset = cursor::resume(ask.tool, token.as_deref(), print)?;
    let total = lines.len();
    let mut summary =
        if total == 0 { "no call around this place".to_owned() } else { count(total, "signature", "signatures") };
    if help.total > total {
        summary.push_str(&format!(" (the server sent {}; the rest is cut off)", help.total));
    }
    Ok(Outcome {
        verdict: reply.verdict,
        servers: vec![ask.part(&heard)],
        summary,
        notes: spot.notes,
        details: Vec::new(),
        body: Body::Signatures(lines.into_iter().skip(offset).take(ask.page_items()).collect()),
        page: Page { offset, total, fingerprint: print, ..Page::default() },
    })
}
