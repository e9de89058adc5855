//! Parses the command line, sets up tracing to stderr, and dispatches.

use std::process::ExitCode;

use clap::Parser;
use langport::{
    cli::{Cli, out},
    sys,
};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    // Must come first: the same binary is the watchdog of each language server.
    sys::watchdog::entry();
    sys::memory::tune();
    let filter = sys::env::var("LANGPORT_LOG").and_then(|filter| EnvFilter::try_new(filter).ok());
    // Standard output belongs to the protocol.
    tracing_subscriber::fmt()
        .with_env_filter(filter.unwrap_or_else(|| EnvFilter::new("warn,rmcp=error,async_lsp=error")))
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    match Cli::parse().run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            out::note(&format!("langport: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
