//! The command line: one file per subcommand.

mod assemble;
mod call;
mod consent;
mod doctor;
pub mod install;
mod limits;
pub mod list;
pub mod out;
pub mod outdated;
mod progress;
mod project;
mod reload;
mod serve;
mod settled;
pub mod show;
pub mod trace;
mod try_project;

use std::{future::Future, time::Duration};

use anyhow::Context;
use clap::{Parser, Subcommand};

/// Language servers for any agent: an MCP server over real language servers.
#[derive(Debug, Parser)]
#[command(name = "langport", version, about, propagate_version = true, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0: done; 1: not done (call: the answer is a failure; doctor, try: something does not \
                          work);\n2: the command line is not understood; 130: ended by a signal (doctor, try)";

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve one agent over standard input and output
    Serve(serve::Args),
    /// Make one tool call and print its answer
    Call(call::Args),
    /// Show what language servers make of a project
    Try(try_project::Args),
    /// Start what is installed, and tell what works and how to mend the rest
    Doctor(doctor::Args),
    /// Install language servers below langport's own data folder
    Install(install::Args),
    /// Compare what is installed with what the definitions ask for
    Outdated(outdated::Args),
    /// List the known definitions
    List(list::Args),
    /// Show one definition
    Show(show::Args),
}

/// Runs a command's future to its end; whatever still blocks a thread then does not keep the program.
fn on_runtime<T>(command: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .context("the runtime")?;
    let result = runtime.block_on(command);
    runtime.shutdown_timeout(LINGER);
    result
}

/// Calls wait for servers nearly all of their time.
const WORKERS: usize = 2;
const LINGER: Duration = Duration::from_millis(100);

impl Cli {
    /// Runs the command; the result is the program's exit code.
    ///
    /// # Errors
    /// With what to tell a person.
    pub fn run(self) -> anyhow::Result<u8> {
        match self.command {
            Command::Serve(args) => serve::run(&args),
            Command::Call(args) => call::run(&args),
            Command::Try(args) => try_project::run(&args),
            Command::Doctor(args) => doctor::run(&args),
            Command::Install(args) => install::run(&args).map(|()| 0),
            Command::Outdated(args) => outdated::run(&args).map(|()| 0),
            Command::List(args) => list::run(&args).map(|()| 0),
            Command::Show(args) => show::run(&args).map(|()| 0),
        }
    }
}
