//! Parses the command line, sets up tracing, and dispatches.

use std::process::ExitCode;

use clap::Parser;
use langport::{
    cli::{Cli, out, trace},
    sys,
};

fn main() -> ExitCode {
    // Must come first: the same binary is the watchdog of each language server.
    sys::watchdog::entry();
    sys::memory::tune();
    trace::init();
    match Cli::parse().run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            out::note(&format!("langport: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
