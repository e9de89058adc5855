//! Reads the server's notifications into what the host is told. Pure.

use serde_json::Value;

use super::fields::Fields;
use super::host::{ProgressValue, Told};
use super::weight::tree;

const OTHER_BYTES: usize = 64 * 1024;
const LOG_CHARS: usize = 4_000;
const TITLE_CHARS: usize = 300;

/// What a notification says; nothing where it is of no interest.
///
/// # Errors
///
/// Why it is of no use.
pub(super) fn tell(method: &str, params: &[u8]) -> Result<Option<Told>, &'static str> {
    let told = match method {
        "window/logMessage" => {
            let (level, text) = message(params).ok_or("a log message without text")?;
            Told::Log { level, text }
        }
        "window/showMessage" => {
            let (level, text) = message(params).ok_or("a message without text")?;
            Told::Show { level, text }
        }
        "$/progress" => match progress(params).ok_or("progress without token or value")? {
            Some(told) => told,
            // Partial results and values of other kinds: we never ask for them.
            None => return Ok(None),
        },
        "$/cancelRequest" | "$/logTrace" | "telemetry/event" => return Ok(None),
        _ => {
            let small = params.len() <= OTHER_BYTES;
            let params = small.then(|| tree(params)).flatten().unwrap_or(Value::Null);
            Told::Other { method: method.to_owned(), params }
        }
    };
    Ok(Some(told))
}

/// Level and text of a log message or of one to be shown.
pub(super) fn message(params: &[u8]) -> Option<(u8, String)> {
    let fields = Fields::read(params)?;
    let text = fields.text("message", LOG_CHARS)?;
    let level = fields.number("type").filter(|level| (1.0..=5.0).contains(level)).unwrap_or(4.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 5")]
    let level = level as u8;
    Some((level, text))
}

fn progress(params: &[u8]) -> Option<Option<Told>> {
    let fields = Fields::read(params)?;
    let token = fields.token("token")?;
    let Some(value) = fields.object("value") else {
        return fields.raw("value").map(|_| None);
    };
    let message = value.text("message", TITLE_CHARS);
    let percentage = value.number("percentage").map(|percent| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 100")]
        let percent = percent.clamp(0.0, 100.0) as u32;
        percent
    });
    let value = match value.text("kind", TITLE_CHARS).as_deref() {
        Some("begin") => {
            let title = value.text("title", TITLE_CHARS).unwrap_or_default();
            ProgressValue::Begin { title, message, percentage }
        }
        Some("report") => ProgressValue::Report { message, percentage },
        Some("end") => ProgressValue::End { message },
        _ => return Some(None),
    };
    Some(Some(Told::Progress { token, value }))
}
