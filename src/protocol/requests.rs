//! Answers what servers ask of a client. Every known request succeeds: servers built on vscode-languageserver exit when
//! `client/registerCapability` fails, and others wait for ever for an answer that does not come.

use async_lsp::{ErrorCode, ResponseError};
use serde_json::{Value, json};

use super::fields::Fields;
use super::host::{Host, RefreshKind, Registration, Told};
use super::told::message;
use super::weight::tree;

const ITEMS: usize = 10_000;
/// The settings' owner decides how large one answer is; this bounds what many items make of it.
const ANSWER_BYTES: usize = 16 * 1024 * 1024;
const NAME_CHARS: usize = 500;

pub(super) fn answer(
    host: &dyn Host,
    method: &str,
    params: &[u8],
    shutting_down: bool,
) -> Result<Value, ResponseError> {
    let fields = || Fields::read(params).unwrap_or_default();
    match method {
        "workspace/configuration" => configuration(host, &fields()),
        "workspace/workspaceFolders" => {
            let folder = |(uri, name): (String, String)| json!({ "uri": uri, "name": name });
            Ok(host.folders().into_iter().map(folder).collect())
        }
        "client/registerCapability" => {
            let registrations: Vec<_> = fields().list("registrations").into_iter().filter_map(registration).collect();
            host.told(Told::Registered(registrations));
            Ok(Value::Null)
        }
        "client/unregisterCapability" => {
            let fields = fields();
            // LSP's own spelling is the first.
            let mut gone = fields.list("unregisterations");
            gone.extend(fields.list("unregistrations"));
            let gone = gone.into_iter().filter_map(registration).map(|gone| (gone.id, gone.method)).collect();
            host.told(Told::Unregistered(gone));
            Ok(Value::Null)
        }
        "window/workDoneProgress/create" => {
            if let Some(token) = fields().token("token") {
                host.told(Told::ProgressCreated { token });
            }
            Ok(Value::Null)
        }
        "window/showMessageRequest" => {
            if let Some((level, text)) = message(params) {
                host.told(Told::Show { level, text });
            }
            Ok(Value::Null)
        }
        "window/showDocument" => Ok(json!({ "success": false })),
        "workspace/applyEdit" => Ok(match host.apply_edit(params) {
            Ok(()) => json!({ "applied": true }),
            Err(why) => json!({ "applied": false, "failureReason": why }),
        }),
        _ => match refresh(method) {
            Some(kind) => {
                host.told(Told::Refresh(kind));
                Ok(Value::Null)
            }
            None => custom(host, method, params, shutting_down),
        },
    }
}

/// gopls does not exit while a request of its own is refused.
fn custom(host: &dyn Host, method: &str, params: &[u8], shutting_down: bool) -> Result<Value, ResponseError> {
    let params = tree(params).unwrap_or(Value::Null);
    match host.reply(method, &params) {
        Some(reply) => Ok(reply),
        None if shutting_down => Ok(Value::Null),
        None => Err(ResponseError::new(ErrorCode::METHOD_NOT_FOUND, format!("langport does not know {method}"))),
    }
}

/// Exactly one value for each item, in order.
fn configuration(host: &dyn Host, fields: &Fields<'_>) -> Result<Value, ResponseError> {
    let items = fields.list("items");
    let mut values = Vec::with_capacity(items.len().min(ITEMS));
    let mut room = ANSWER_BYTES;
    if items.len() > ITEMS {
        return Err(ResponseError::new(ErrorCode::INVALID_PARAMS, "too many items"));
    }
    for item in items {
        let item = Fields::read(item.get().as_bytes()).unwrap_or_default();
        let section = item.text("section", NAME_CHARS).filter(|section| !section.is_empty());
        let value = host.configuration(section.as_deref(), item.text("scopeUri", 4 * NAME_CHARS).as_deref());
        let size = value.to_string().len();
        if size > room {
            return Err(ResponseError::new(ErrorCode::REQUEST_FAILED, "the answer would be too large"));
        }
        room -= size;
        values.push(value);
    }
    Ok(values.into())
}

fn registration(raw: &serde_json::value::RawValue) -> Option<Registration> {
    let fields = Fields::read(raw.get().as_bytes())?;
    Some(Registration {
        id: fields.token("id")?,
        method: fields.text("method", NAME_CHARS)?,
        options: fields.value("registerOptions").unwrap_or(Value::Null),
    })
}

fn refresh(method: &str) -> Option<RefreshKind> {
    let what = method.strip_prefix("workspace/")?.strip_suffix("/refresh")?;
    Some(match what {
        "diagnostic" => RefreshKind::Diagnostics,
        "codeLens" => RefreshKind::CodeLens,
        "foldingRange" => RefreshKind::FoldingRange,
        "inlayHint" => RefreshKind::InlayHint,
        "inlineValue" => RefreshKind::InlineValue,
        "semanticTokens" => RefreshKind::SemanticTokens,
        _ => RefreshKind::Other,
    })
}
