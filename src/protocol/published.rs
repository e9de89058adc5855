//! Where the guard reads `textDocument/publishDiagnostics`, and what URIs stand for.

use serde::Deserialize;
use serde_json::Value;

use super::positions::Range;
use super::types::{Diagnostic, FileRef, Published, Severity};

/// The list, or why it is none.
pub(super) fn published(raw: &[u8]) -> Result<Published, String> {
    #[derive(Deserialize)]
    struct Params {
        uri: String,
        #[serde(default)]
        version: Option<i32>,
        #[serde(default)]
        diagnostics: Vec<Value>,
    }
    let params: Params = serde_json::from_slice(raw).map_err(|error| error.to_string())?;
    let total = params.diagnostics.len();
    let items: Vec<_> = params.diagnostics.iter().filter_map(diagnostic).collect();
    Ok(Published { file: file_ref(&params.uri), version: params.version, dropped: total - items.len(), total, items })
}

fn diagnostic(value: &Value) -> Option<Diagnostic> {
    let range = Range::deserialize(value.get("range")?).ok()?;
    let severity = match value.get("severity").and_then(Value::as_u64) {
        Some(2) => Severity::Warning,
        Some(3) => Severity::Info,
        Some(4) => Severity::Hint,
        _ => Severity::Error,
    };
    let code = value.get("code").map(|code| code.as_str().map_or_else(|| code.to_string(), str::to_owned));
    Some(Diagnostic {
        range,
        severity,
        code,
        source: value.get("source").and_then(Value::as_str).map(str::to_owned),
        message: value.get("message")?.as_str()?.to_owned(),
        unnecessary: false,
        deprecated: false,
        related: Vec::new(),
    })
}

/// Where a URI points.
pub(super) fn file_ref(uri: &str) -> FileRef {
    let path = url::Url::parse(uri).ok().filter(|url| url.scheme() == "file").and_then(|url| url.to_file_path().ok());
    path.map_or_else(|| FileRef::Foreign(uri.chars().take(300).collect()), FileRef::Path)
}
