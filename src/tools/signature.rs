//! `lsp/signature`: the signatures of the call that a place is in, with the active parameter.

use serde_json::{Map, Value};

use crate::runtime::query::{Answer, Query};

use super::{
    address::{Address, Aim},
    args::Args,
    ask::Ask,
    kinds::count,
    outcome::{Body, Failure, Outcome, Page, SignatureLine},
};

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let address = Address::read(&mut args)?;
    args.text("cursor")?;
    args.finish()?;
    let spot = ask.locate(&address, Aim::Cursor).await?;
    let heard = ask.ask_primary(&spot.file, Query::Signature { at: spot.at }).await?;
    let reply = match &heard.result {
        Ok(reply) => reply,
        Err(shortfall) => return ask.short(&heard, shortfall),
    };
    let Answer::Signatures(help) = &reply.answer else { return Err(super::wrong_kind()) };
    let lines: Vec<SignatureLine> = help
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
    let total = lines.len();
    Ok(Outcome {
        verdict: reply.verdict,
        servers: vec![ask.part(&heard)],
        summary: if total == 0 { "no call around this place".into() } else { count(total, "signature", "signatures") },
        notes: spot.notes,
        details: Vec::new(),
        body: Body::Signatures(lines),
        page: Page { offset: 0, total, fingerprint: 0, ..Page::default() },
    })
}
