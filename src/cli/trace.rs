//! Where langport's own events go: to stderr for whoever watches, and to a file of JSON lines for later. Never to stdout,
//! which belongs to the protocol, and never with a secret or what nobody sees in them.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, Write as _},
    sync::Arc,
};

use tracing_subscriber::{EnvFilter, Layer, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{
    config::nearest,
    protocol::positions::is_unseen,
    sys::{
        dirs::Dirs,
        env::Env,
        log::{Lines, Log},
        secrets,
    },
};

/// What stderr gets, unless `LANGPORT_LOG` says otherwise.
const TO_STDERR: &str = "warn,rmcp=error,async_lsp=error";
/// What the file gets, unless `LANGPORT_FILE_LOG` says otherwise.
const TO_FILE: &str = "info,rmcp=error,async_lsp=error";

/// Begins to listen to events, and learns what must not be shown.
pub fn init() {
    let env = Env::current();
    secrets::learn_all(&env);
    let mut wrong = Vec::new();
    let mut filter = |name: &'static str, default: &str| {
        let asked = env.get(name).filter(|asked| !asked.trim().is_empty());
        let read = asked.map(|asked| level(asked).and_then(|()| EnvFilter::try_new(asked).ok().ok_or(String::new())));
        match read {
            Some(Ok(filter)) => return filter,
            Some(Err(hint)) => wrong.push(format!("{name}: it is no filter{hint} (it is left out)")),
            None => {}
        }
        EnvFilter::new(default)
    };
    let (to_stderr, to_file) = (filter("LANGPORT_LOG", TO_STDERR), filter("LANGPORT_FILE_LOG", TO_FILE));
    let stderr_layer = fmt::layer()
        .with_writer(|| Lines(&|text| drop(io::stderr().lock().write_all(visible(&secrets::hide(text)).as_bytes()))))
        .with_ansi(false)
        .with_filter(to_stderr);
    // Without a place for it there is no file.
    let file_layer = Dirs::from_env(&env).ok().map(|dirs| {
        let log = Arc::new(Log::new(dirs.state.join("log")));
        let writer: &'static (dyn Fn(&str) + Sync) = Box::leak(Box::new(move |text: &str| log.write(&visible(text))));
        fmt::layer().json().with_writer(move || Lines(writer)).with_filter(to_file)
    });
    tracing_subscriber::registry().with(stderr_layer).with(file_layer).init();
    for mistake in wrong {
        tracing::warn!("{mistake}");
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panicked: {}", reason(panic.payload()));
    }));
}

/// A single word is a level; as the name of a part, which a filter takes it for, it would let nothing through.
fn level(asked: &str) -> Result<(), String> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let word = asked.trim();
    let single = word.chars().all(char::is_alphabetic);
    if !single || LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word)) {
        return Ok(());
    }
    match nearest::hint(word, LEVELS) {
        hint if hint.is_empty() => Err(format!(": a level is one of {}", LEVELS.join(", "))),
        hint => Err(hint),
    }
}

/// What a panic says.
fn reason(payload: &dyn std::any::Any) -> &str {
    let owned = || payload.downcast_ref::<String>().map(String::as_str);
    payload.downcast_ref::<&str>().copied().or_else(owned).unwrap_or("for no known reason")
}

/// With characters that nobody sees, or that some take for the end of a line, as JSON writes them: servers say what they
/// like, and their last words stand in the log.
fn visible(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| is_unseen(c) || matches!(c, '\u{2028}' | '\u{2029}');
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // A string takes everything.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_level() {
        for fine in ["debug", "WARN", "off", "info,rmcp=error", "langport::edits=trace"] {
            assert_eq!(level(fine), Ok(()), "{fine}");
        }
        assert_eq!(level("debg"), Err(": did you mean `debug`?".into()));
        assert_eq!(level("zzz"), Err(": a level is one of off, error, warn, info, debug, trace".into()));
    }

    #[test]
    fn what_nobody_sees_is_written_out_and_means_the_same() {
        let said = "a\u{1b}[2J\u{85}\u{2028}\u{202e}\u{e0041}é😀";
        let line = serde_json::to_string(said).unwrap();
        assert_eq!(visible(&line), r#""a\u001b[2J\u0085\u2028\u202e\udb40\udc41é😀""#);
        assert_eq!(serde_json::from_str::<String>(&visible(&line)).unwrap(), said);
        assert_eq!(visible("plain\n"), "plain\n");
    }
}
