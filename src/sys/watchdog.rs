//! The process between langport and a language server: this same program in a hidden mode. It owns no data path; it
//! waits, and when the server ends or langport does (however it does), it ends every descendant of the server, those
//! too that left the process group and the session.

#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(target_os = "linux")]
/// The hidden mode's name: `langport __watchdog FD NICE MEMORY_MB SCRATCH CWD PROGRAM ARG…`; `-` for none.
pub(super) const FLAG: &str = "__watchdog";

#[cfg(target_os = "linux")]
/// Asks for SIGTERM to the server's group.
pub(super) const TERMINATE: u8 = b'T';
#[cfg(target_os = "linux")]
/// Asks for the end of everything, at once.
pub(super) const KILL: u8 = b'K';

#[cfg(target_os = "linux")]
static OFFERED: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
/// Is this program, started with [`FLAG`], a watchdog? Only a `main` that calls [`entry`] makes it one.
pub(super) fn offered() -> bool {
    OFFERED.load(Ordering::Relaxed)
}

/// To be called first thing in `main`, before any thread starts. Does not return in a process that was started to be
/// a watchdog.
pub fn entry() {
    #[cfg(target_os = "linux")]
    {
        let mut args = std::env::args_os().skip(1);
        if args.next().is_some_and(|arg| arg == FLAG) {
            std::process::exit(linux::run(&args.collect::<Vec<_>>()));
        }
        OFFERED.store(std::path::Path::new("/proc/self/exe").exists(), Ordering::Relaxed);
        super::process::orphans::adopt();
    }
}

#[cfg(target_os = "linux")]
/// What a watchdog tells langport, a line each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    /// The server runs under this pid.
    Started(u32),
    /// It could not be executed: the errno.
    Failed(i32),
    /// It has ended. Its descendants are being ended; the watchdog's own end says that they are gone.
    Exited(super::process::Exit),
}

#[cfg(target_os = "linux")]
impl Report {
    pub(super) fn parse(line: &str) -> Option<Report> {
        let (kind, number) = line.trim_end().split_once(' ')?;
        Some(match kind {
            "started" => Report::Started(number.parse().ok()?),
            "failed" => Report::Failed(number.parse().ok()?),
            "code" => Report::Exited(super::process::Exit { code: Some(number.parse().ok()?), ..Default::default() }),
            "signal" => {
                Report::Exited(super::process::Exit { signal: Some(number.parse().ok()?), ..Default::default() })
            }
            "memory" => Report::Exited(super::process::Exit {
                signal: Some(libc::SIGKILL),
                memory_mb: Some(number.parse().ok()?),
                ..Default::default()
            }),
            _ => return None,
        })
    }
}

#[cfg(target_os = "linux")]
impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Report::Started(pid) => writeln!(f, "started {pid}"),
            Report::Failed(errno) => writeln!(f, "failed {errno}"),
            Report::Exited(exit) => match (exit.memory_mb, exit.signal) {
                (Some(used), _) => writeln!(f, "memory {used}"),
                (None, Some(signal)) => writeln!(f, "signal {signal}"),
                (None, None) => writeln!(f, "code {}", exit.code.unwrap_or(0)),
            },
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::io::{self, Read, Write};
    use std::os::fd::{AsFd, FromRawFd, OwnedFd};
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, Signal, WaitOptions};

    use super::Report;
    use crate::sys::process::{Exit, server};
    use crate::sys::{files, tree};

    /// What a server gets to end by itself after langport is gone.
    const GRACE: Duration = Duration::from_millis(300);
    /// When to give up on processes that even SIGKILL does not end: stuck in the kernel.
    const STUCK: Duration = Duration::from_secs(10);
    /// How often the memory is looked at, where it is bounded.
    const SAMPLE: Duration = Duration::from_millis(500);

    struct Watch {
        socket: UnixStream,
        signals: OwnedFd,
        server: Pid,
        memory_mb: Option<u64>,
        told: bool,
    }

    pub(super) fn run(args: &[OsString]) -> i32 {
        let Some(mut socket) = args.first().and_then(socket) else { return 64 };
        let [_, nice, memory_mb, scratch, cwd, program, rest @ ..] = args else { return 64 };
        let nice = nice.to_str().and_then(|text| text.parse().ok());
        let memory_mb = memory_mb.to_str().and_then(|text| text.parse().ok());
        // Out of the reach of the terminal's signals, and the parent of every orphan below.
        rustix::process::setsid().ok();
        rustix::process::set_child_subreaper(Pid::from_raw(1)).ok();
        let started = signals().and_then(|signals| {
            #[expect(clippy::disallowed_methods, reason = "this process was given the server's environment")]
            let env: Vec<_> = std::env::vars_os().collect();
            let child = server(Path::new(program), rest, &env, Path::new(cwd), nice, true)?.spawn()?;
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            Ok((signals, pid.ok_or(io::ErrorKind::InvalidData)?))
        });
        match started {
            Err(error) => {
                write!(socket, "{}", Report::Failed(error.raw_os_error().unwrap_or(libc::EINVAL))).ok();
                0
            }
            Ok((signals, server)) => {
                let pid = server.as_raw_nonzero().get().unsigned_abs();
                write!(socket, "{}", Report::Started(pid)).ok();
                release_stdio();
                let mut watch = Watch { socket, signals, server, memory_mb, told: false };
                watch.until_the_end();
                watch.end_everything();
                if scratch != "-" {
                    files::remove_tree(Path::new(scratch)).ok();
                }
                0
            }
        }
    }

    impl Watch {
        /// Returns when the server has ended or must.
        fn until_the_end(&mut self) {
            let mut deadline: Option<Instant> = None;
            loop {
                self.reap();
                if self.told || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    return;
                }
                if self.uses_too_much() {
                    return;
                }
                let left = deadline.map(|at| at - Instant::now());
                let timeout = left.into_iter().chain(self.memory_mb.map(|_| SAMPLE)).min();
                let (signalled, asked) = self.wait(timeout, deadline.is_none());
                if signalled && self.told_to_end() && deadline.is_none() {
                    deadline = Some(self.terminate());
                }
                if asked {
                    let mut bytes = [0; 64];
                    match self.socket.read(&mut bytes) {
                        Ok(1..) if bytes.contains(&super::KILL) => return,
                        Ok(1..) => {
                            self.terminate();
                        }
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        // Langport is gone.
                        Ok(0) | Err(_) => deadline = Some(self.terminate()),
                    }
                }
            }
        }

        /// Whether all together have more memory than they may, which is told.
        fn uses_too_much(&mut self) -> bool {
            let Some(limit) = self.memory_mb else { return false };
            let used = tree::memory_kib(rustix::process::getpid().as_raw_nonzero().get()) / 1024;
            if used > limit {
                let exit = Exit { memory_mb: Some(used), ..Exit::default() };
                write!(self.socket, "{}", Report::Exited(exit)).ok();
            }
            used > limit
        }

        /// Kills until nothing is left. What dies hands its children to us, so that nobody gets away.
        fn end_everything(&mut self) {
            let own = rustix::process::getpid().as_raw_nonzero().get();
            let give_up = Instant::now() + STUCK;
            loop {
                self.reap();
                let left = tree::descendants(own);
                if left.is_empty() || Instant::now() >= give_up {
                    return;
                }
                left.iter().for_each(tree::kill);
                self.wait(Some(Duration::from_millis(10)), false);
                self.told_to_end();
            }
        }

        /// Takes leave of all children that have ended, the server and orphans alike.
        fn reap(&mut self) {
            while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
                if pid == self.server {
                    self.told = true;
                    let exit =
                        Exit { code: status.exit_status(), signal: status.terminating_signal(), ..Exit::default() };
                    write!(self.socket, "{}", Report::Exited(exit)).ok();
                }
            }
        }

        fn terminate(&self) -> Instant {
            rustix::process::kill_process_group(self.server, Signal::TERM).ok();
            Instant::now() + GRACE
        }

        /// Waits for a signal or, if `listen`, for langport.
        fn wait(&self, timeout: Option<Duration>, listen: bool) -> (bool, bool) {
            let mut fds = [PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&self.socket, PollFlags::IN)];
            let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
            let watched = if listen { &mut fds[..] } else { &mut fds[..1] };
            poll(watched, timeout.as_ref()).ok();
            (!fds[0].revents().is_empty(), !fds[1].revents().is_empty())
        }

        /// Empties the queue of signals. Was there one that asks us to end?
        fn told_to_end(&self) -> bool {
            let mut end = false;
            let mut info = [0_u8; size_of::<libc::signalfd_siginfo>()];
            while let Ok(1..) = rustix::io::read(&self.signals, &mut info) {
                // The number is the first field.
                end |= !info.starts_with(&libc::SIGCHLD.to_ne_bytes());
            }
            end
        }
    }

    /// The socket to langport, from its number.
    fn socket(number: &OsString) -> Option<UnixStream> {
        let number = number.to_str()?.parse().ok().filter(|&fd: &i32| fd > 2)?;
        // SAFETY: only asks whether there is such a descriptor.
        if unsafe { libc::fcntl(number, libc::F_GETFD) } == -1 {
            return None;
        }
        // SAFETY: it is open, and nothing else in this process, which has only begun, uses it.
        let fd = unsafe { OwnedFd::from_raw_fd(number) };
        let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&fd).ok()?.st_mode);
        if kind != rustix::fs::FileType::Socket {
            return None;
        }
        // The server must not have it: it would keep the socket open after us.
        rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::CLOEXEC).ok()?;
        Some(UnixStream::from(fd))
    }

    /// Has the signals that matter queued instead of delivered.
    fn signals() -> io::Result<OwnedFd> {
        // SAFETY: plain system calls on a local set; the descriptor is new and ours.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
                libc::sigaddset(&raw mut set, signal);
            }
            if libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) == -1 {
                return Err(io::Error::last_os_error());
            }
            match libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
                -1 => Err(io::Error::last_os_error()),
                fd => Ok(OwnedFd::from_raw_fd(fd)),
            }
        }
    }

    /// Lets go of the server's pipes: they must close when the server closes them.
    fn release_stdio() {
        let Ok(null) = std::fs::File::options().read(true).write(true).open("/dev/null") else { return };
        for target in 0..=2 {
            // SAFETY: replaces one of our standard descriptors; nothing in this process owns those.
            unsafe { libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&null.as_fd()), target) };
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::sys::process::Exit;

    #[test]
    fn reports_survive_the_wire() {
        for report in [
            Report::Started(7),
            Report::Failed(2),
            Report::Exited(Exit { code: Some(3), ..Exit::default() }),
            Report::Exited(Exit { signal: Some(15), ..Exit::default() }),
            Report::Exited(Exit { signal: Some(9), memory_mb: Some(700), ..Exit::default() }),
        ] {
            assert_eq!(Report::parse(&report.to_string()), Some(report));
        }
        assert_eq!(Report::parse("nonsense"), None);
    }
}
