//! Starts language servers and ends them with everything they started. On Linux each runs under a watchdog process
//! (see [`crate::sys::watchdog`]); elsewhere in a process group of its own, which is unproven.

mod control;
mod environment;
mod exec;
#[cfg(target_os = "linux")]
pub(super) mod orphans;
mod scratch;
mod script;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::watch;

use control::Control;
pub use environment::allowed_env;
#[cfg(target_os = "linux")]
pub(super) use exec::server;

use crate::sys::awake::while_awake;

/// How long a killed tree may take to be gone before we stop waiting for it: something stuck in the kernel.
const GONE: Duration = Duration::from_secs(2);

/// How long a process that is on its way out may take to be gone, and its watchdog to say so.
const LEAVING: Duration = Duration::from_secs(3);

/// What to start.
#[derive(Debug, Clone)]
pub struct Spawn {
    /// An absolute path.
    pub program: PathBuf,
    pub args: Vec<String>,
    pub cwd: PathBuf,
    /// The complete environment: nothing of ours is added but the folder for temporary files.
    pub env: Vec<(String, String)>,
    pub bounds: Bounds,
}

/// What a server may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Above 0, everything else on the machine goes first.
    pub nice: Option<u8>,
    /// The memory of it and its descendants together, in MiB; beyond it all are ended. Watched on Linux only.
    pub memory_mb: Option<u64>,
    /// It gets a folder for temporary files of its own, which is removed after it.
    pub scratch: bool,
    /// That folder stands for the user's cache and runtime folders too.
    pub private_cache: bool,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// It was ended for using this many MiB, which is more than it may.
    pub memory_mb: Option<u64>,
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(used) = self.memory_mb {
            return write!(f, "langport ended it: it used {used} MiB of memory, more than `memory_mb` allows");
        }
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => write!(f, "signal {signal}"),
            (None, None) => f.write_str("ended"),
        }
    }
}

/// A running server. Dropping it kills it and all its descendants.
#[derive(Debug)]
pub struct Running {
    pid: u32,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    exited: watch::Receiver<Option<Exit>>,
    /// True once not only the server but all its descendants are gone.
    gone: watch::Receiver<bool>,
    control: Control,
}

/// Starts a server. Takes a fork and two execs (of the watchdog and the server), during which the runtime is free.
/// Dropping the future ends whatever had been started.
///
/// # Errors
/// When the program cannot be executed, with the reason.
pub async fn spawn(mut spawn: Spawn) -> io::Result<Running> {
    let scratch = if spawn.bounds.scratch { scratch::create(&mut spawn.env, spawn.bounds.private_cache) } else { None };
    let named = |error: io::Error| explain(&spawn, &error);
    if !spawn.cwd.is_dir() {
        let message = format!("no such folder: {}", spawn.cwd.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    let started = control::start(&spawn, scratch).await.map_err(named)?;
    Ok(Running {
        pid: started.pid,
        stdin: started.stdin,
        stdout: started.stdout,
        stderr: started.stderr,
        exited: started.exited,
        gone: started.gone,
        control: started.control,
    })
}

impl Running {
    /// The server's own pid, not the watchdog's.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The pipe to the server; `None` the second time.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// The pipe from the server; `None` the second time.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.stdout.take()
    }

    /// The pipe from the server's stderr; `None` the second time.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.stderr.take()
    }

    /// How the server ended, if it has.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        *self.exited.borrow()
    }

    /// How the server ended, if it does within `longest`.
    pub async fn ended(&self, longest: Duration) -> Option<Exit> {
        let mut exited = self.exited.clone();
        while_awake(longest, exited.wait_for(Option::is_some)).await?.ok()?;
        self.exit()
    }

    /// The same for one from which nothing comes any more. The kernel closes the pipes of a process that ends some time
    /// before anybody can be told how it ended: one that is on its way out is waited for longer.
    pub async fn fate(&self, longest: Duration) -> Option<Exit> {
        let exit = self.ended(longest).await;
        if exit.is_none() && is_leaving(self.pid) { self.ended(LEAVING).await } else { exit }
    }

    /// Asks the server's group to end (SIGTERM), gives it `grace`, then kills what is left. Returns when all are gone.
    pub async fn stop(&self, grace: Duration) {
        let mut exited = self.exited.clone();
        if exited.borrow().is_none() {
            self.control.terminate();
            // An error means that the watching task is gone, and with it the runtime: there is nothing to wait for.
            tokio::time::timeout(grace, exited.wait_for(Option::is_some)).await.ok();
        }
        self.control.kill();
        let mut gone = self.gone.clone();
        tokio::time::timeout(GONE, gone.wait_for(|&gone| gone)).await.ok();
    }

    /// Kills the server and all its descendants, without waiting for it.
    pub fn kill(&self) {
        self.control.kill();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.control.kill();
    }
}

/// Says what that errno means for a program.
fn explain(spawn: &Spawn, error: &io::Error) -> io::Error {
    let why = match error.raw_os_error() {
        // The kernel gives the same number for a program and for the interpreter in its first line.
        Some(libc::ENOENT) if spawn.program.exists() => script::fault(&spawn.program)
            .unwrap_or_else(|| "the interpreter that its first line names does not exist".into()),
        Some(libc::ENOENT) => "no such file".into(),
        Some(libc::EACCES) if spawn.program.is_dir() => "it is a folder".into(),
        Some(libc::EACCES) => "it, or the interpreter that its first line names, is not executable".into(),
        Some(libc::ENOEXEC) => "it is no program for this machine, and no script with a `#!` line".into(),
        _ => error.to_string(),
    };
    io::Error::new(error.kind(), why)
}

/// How a program ended that should have gone on; where `env` did not find what a script asks it for, why.
#[must_use]
pub fn explain_exit(program: &Path, exit: Exit) -> String {
    match exit.code {
        Some(126 | 127) => match script::fault(program) {
            Some(fault) => format!("{exit}: {fault}"),
            None => exit.to_string(),
        },
        _ => exit.to_string(),
    }
}

/// Whether a process has ended or is about to, though perhaps nobody has taken leave of it yet.
fn is_leaving(pid: u32) -> bool {
    #[cfg(target_os = "linux")]
    {
        crate::sys::tree::is_leaving(pid)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        false
    }
}

fn os(strings: &[(String, String)]) -> Vec<(OsString, OsString)> {
    strings.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

#[cfg(target_os = "linux")]
/// The program that [`control`] runs as a watchdog: this one, found again even after its file was replaced.
fn own_program() -> &'static Path {
    Path::new("/proc/self/exe")
}

#[cfg(test)]
mod tests;
