//! Our end of a running server: through the watchdog where this program offers one, else through its process group.

use std::io;
#[cfg(target_os = "linux")]
use std::io::Write;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::process::Stdio;
#[cfg(target_os = "linux")]
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::watch;

#[cfg(target_os = "linux")]
use super::orphans;
use super::{Exit, Spawn, exec, os};
use crate::sys::files::TempDir;
#[cfg(target_os = "linux")]
use crate::sys::watchdog;

/// How long a watchdog may take to say what became of the server's start.
#[cfg(target_os = "linux")]
const REPORT: Duration = Duration::from_secs(10);

/// How to end it.
#[derive(Debug)]
pub(super) enum Control {
    /// The socket whose other end the watchdog holds: it ends everything when this one is closed.
    #[cfg(target_os = "linux")]
    Watchdog(std::os::unix::net::UnixStream),
    /// The pid, which is the process group's too, while it has not been waited for.
    Group(Option<Pid>, watch::Receiver<Option<Exit>>),
}

/// Everything about a process that has just been started.
pub(super) struct Started {
    pub(super) pid: u32,
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
    pub(super) exited: watch::Receiver<Option<Exit>>,
    pub(super) gone: watch::Receiver<bool>,
    pub(super) control: Control,
}

/// Starts the server in the way that is there. `scratch` is removed once everything is gone.
pub(super) async fn start(spawn: &Spawn, scratch: Option<TempDir>) -> io::Result<Started> {
    #[cfg(target_os = "linux")]
    if watchdog::offered() {
        return under_watchdog(spawn, scratch).await;
    }
    in_group(spawn, scratch)
}

impl Control {
    pub(super) fn terminate(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Control::Watchdog(socket) => send(socket, watchdog::TERMINATE),
            Control::Group(Some(pid), exited) if exited.borrow().is_none() => {
                rustix::process::kill_process_group(*pid, Signal::TERM).ok();
            }
            Control::Group(..) => {}
        }
    }

    pub(super) fn kill(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Control::Watchdog(socket) => send(socket, watchdog::KILL),
            Control::Group(Some(pid), exited) => {
                // Those that left the group are looked up while they still hang together.
                #[cfg(target_os = "linux")]
                let below = match *exited.borrow() {
                    None => crate::sys::tree::descendants(pid.as_raw_nonzero().get()),
                    Some(_) => Vec::new(),
                };
                #[cfg(not(target_os = "linux"))]
                let _ = exited;
                // The group may outlive its leader; its number is not given away as long as it has members.
                rustix::process::kill_process_group(*pid, Signal::KILL).ok();
                #[cfg(target_os = "linux")]
                below.iter().for_each(crate::sys::tree::kill);
            }
            Control::Group(None, _) => {}
        }
    }
}

/// One byte to the watchdog. It fails only when the watchdog is gone, and everything with it.
#[cfg(target_os = "linux")]
fn send(mut socket: &std::os::unix::net::UnixStream, byte: u8) {
    socket.write_all(&[byte]).ok();
}

fn piped(command: std::process::Command) -> tokio::process::Command {
    let mut command = tokio::process::Command::from(command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn in_group(spawn: &Spawn, scratch: Option<TempDir>) -> io::Result<Started> {
    let args: Vec<_> = spawn.args.iter().map(Into::into).collect();
    let command = exec::server(&spawn.program, &args, &os(&spawn.env), &spawn.cwd, spawn.bounds.nice, false)?;
    let mut child = piped(command).spawn()?;
    let pid = child.id().unwrap_or_default();
    let (tell_exit, exited) = watch::channel(None);
    let (tell_gone, gone) = watch::channel(false);
    let control = Control::Group(i32::try_from(pid).ok().and_then(Pid::from_raw), exited.clone());
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    tokio::spawn(async move {
        tell_exit.send(Some(wait(&mut child).await)).ok();
        drop(scratch);
        tell_gone.send(true).ok();
    });
    Ok(Started { pid, stdin, stdout, stderr, exited, gone, control })
}

async fn wait(child: &mut Child) -> Exit {
    match child.wait().await {
        Ok(status) => {
            use std::os::unix::process::ExitStatusExt;
            Exit { code: status.code(), signal: status.signal(), ..Exit::default() }
        }
        Err(_) => Exit::default(),
    }
}

#[cfg(target_os = "linux")]
async fn under_watchdog(spawn: &Spawn, scratch: Option<TempDir>) -> io::Result<Started> {
    use std::os::fd::AsRawFd;

    use tokio::io::{AsyncBufReadExt, BufReader};

    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let mut command = exec::with_descriptor(super::own_program(), theirs.as_raw_fd());
    let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let bounds = [number(spawn.bounds.nice.map(u64::from)), number(spawn.bounds.memory_mb)];
    command.args([watchdog::FLAG, &theirs.as_raw_fd().to_string()]).args(bounds);
    command.arg(scratch.as_ref().map_or(Path::new("-"), TempDir::path)).arg(&spawn.cwd).arg(&spawn.program);
    command.args(&spawn.args).env_clear().envs(os(&spawn.env));
    let (mut child, known) = orphans::start(|| piped(command).spawn(), Child::id)?;
    drop(theirs);
    // From here on, dropping `ours` makes the watchdog end everything.
    let mut reports = BufReader::new(tokio::net::UnixStream::from_std(ours.try_clone()?)?);
    let mut line = String::new();
    match tokio::time::timeout(REPORT, reports.read_line(&mut line)).await {
        Ok(read) => read?,
        Err(_) => return Err(io::Error::new(io::ErrorKind::TimedOut, "the watchdog does not say whether it runs")),
    };
    let pid: u32 = match watchdog::Report::parse(&line) {
        Some(watchdog::Report::Started(pid)) => pid,
        Some(watchdog::Report::Failed(errno)) => {
            child.wait().await.ok();
            return Err(io::Error::from_raw_os_error(errno));
        }
        _ => return Err(io::Error::other("its watchdog has ended before it ran")),
    };
    let (tell_exit, exited) = watch::channel(None);
    let (tell_gone, gone) = watch::channel(false);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let session = child.id().and_then(|pid| i32::try_from(pid).ok());
    tokio::spawn(async move {
        let mut told = false;
        loop {
            line.clear();
            if !matches!(reports.read_line(&mut line).await, Ok(1..)) {
                break;
            }
            if let Some(watchdog::Report::Exited(exit)) = watchdog::Report::parse(&line)
                && !std::mem::replace(&mut told, true)
            {
                tell_exit.send(Some(exit)).ok();
            }
        }
        if !told && let Some(session) = session {
            // Somebody has killed the watchdog. The server, tied to it, is dead; the rest of the session is not.
            crate::sys::tree::session(session).iter().for_each(crate::sys::tree::kill);
        }
        child.wait().await.ok();
        drop(known);
        if !told {
            // What had left the session has become ours with the watchdog's end.
            tokio::task::spawn_blocking(orphans::end_strangers).await.ok();
            tell_exit.send(Some(Exit { signal: Some(libc::SIGKILL), ..Exit::default() })).ok();
        }
        drop(scratch);
        tell_gone.send(true).ok();
    });
    Ok(Started { pid, stdin, stdout, stderr, exited, gone, control: Control::Watchdog(ours) })
}
