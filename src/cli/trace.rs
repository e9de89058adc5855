//! Where langport's own events go: to stderr for whoever watches, and to a file of JSON lines for later. Never to stdout,
//! which belongs to the protocol, and never with a secret in them.

use std::{
    io::{self, Write},
    sync::Arc,
};

use tracing_subscriber::{EnvFilter, Layer, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use crate::sys::{
    dirs::Dirs,
    env::Env,
    log::{Lines, Log},
    secrets,
};

/// What stderr gets, unless `LANGPORT_LOG` says otherwise.
const TO_STDERR: &str = "warn,rmcp=error,async_lsp=error";
/// What the file gets, unless `LANGPORT_FILE_LOG` says otherwise.
const TO_FILE: &str = "info,rmcp=error,async_lsp=error";

/// Begins to listen to events, and learns what must not be shown.
pub fn init() {
    let env = Env::current();
    secrets::learn_all(&env);
    let filter = |name: &str, default: &str| {
        let asked = env.get(name).and_then(|filter| EnvFilter::try_new(filter).ok());
        asked.unwrap_or_else(|| EnvFilter::new(default))
    };
    let to_stderr = fmt::layer()
        .with_writer(|| Lines(&|text| drop(io::stderr().lock().write_all(secrets::hide(text).as_bytes()))))
        .with_ansi(false)
        .with_filter(filter("LANGPORT_LOG", TO_STDERR));
    // Without a place for it there is no file.
    let to_file = Dirs::from_env(&env).ok().map(|dirs| {
        let log = Arc::new(Log::new(dirs.state.join("log")));
        let writer: &'static (dyn Fn(&str) + Sync) = Box::leak(Box::new(move |text: &str| log.write(text)));
        fmt::layer().json().with_writer(move || Lines(writer)).with_filter(filter("LANGPORT_FILE_LOG", TO_FILE))
    });
    tracing_subscriber::registry().with(to_stderr).with(to_file).init();
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panicked: {}", reason(panic.payload()));
    }));
}

/// What a panic says.
fn reason(payload: &dyn std::any::Any) -> &str {
    let owned = || payload.downcast_ref::<String>().map(String::as_str);
    payload.downcast_ref::<&str>().copied().or_else(owned).unwrap_or("for no known reason")
}
