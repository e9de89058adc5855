//! What happens between fork and exec: the few steps that the standard library leaves out.

use std::ffi::{CString, OsStr, OsString};
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Arguments of `execve`, put together before the fork: nothing may be allocated after it.
struct Image {
    program: CString,
    /// These own what the pointers point to.
    _strings: Vec<CString>,
    argv: Vec<*const libc::c_char>,
    envp: Vec<*const libc::c_char>,
}

// SAFETY: the pointers lead into strings on the heap that the same value owns and that nobody changes.
unsafe impl Send for Image {}
// SAFETY: as above; nothing here can be changed through a shared reference.
unsafe impl Sync for Image {}

impl Image {
    fn new(program: &Path, args: &[OsString], env: &[(OsString, OsString)]) -> io::Result<Image> {
        let text = |bytes: &[u8]| {
            CString::new(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a NUL byte in an argument"))
        };
        let program = text(program.as_os_str().as_bytes())?;
        let args: Vec<CString> = args.iter().map(|arg| text(arg.as_bytes())).collect::<io::Result<_>>()?;
        let pair = |(name, value): &(OsString, OsString)| text(&[name.as_bytes(), b"=", value.as_bytes()].concat());
        let env: Vec<CString> = env.iter().map(pair).collect::<io::Result<_>>()?;
        let end = std::iter::once(std::ptr::null());
        let argv = std::iter::once(program.as_ptr()).chain(args.iter().map(|arg| arg.as_ptr()));
        let argv = argv.chain(end.clone()).collect();
        let envp = env.iter().map(|pair| pair.as_ptr()).chain(end).collect();
        Ok(Image { program, _strings: args.into_iter().chain(env).collect(), argv, envp })
    }

    /// Returns only if it fails.
    fn exec(&self) -> io::Error {
        // SAFETY: all three are NUL-terminated, or end with a null pointer, and live as long as `self`.
        unsafe { libc::execve(self.program.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr()) };
        io::Error::last_os_error()
    }
}

/// A command for a server: its own process group, no signal blocked, and executed directly. The standard library
/// would hand a file that no loader knows to a shell. With `tied`, it dies with its parent. One that crashes leaves no
/// image of its memory in the repository.
pub(in crate::sys) fn server(
    program: &Path,
    args: &[OsString],
    env: &[(OsString, OsString)],
    cwd: &Path,
    nice: Option<u8>,
    tied: bool,
) -> io::Result<Command> {
    let image = Image::new(program, args, env)?;
    let mut command = command(program);
    command.current_dir(cwd).process_group(0);
    let last_steps = move || {
        // SAFETY: plain system calls on a local set of signals.
        unsafe {
            let mut none = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            let mut core: libc::rlimit = std::mem::zeroed();
            if libc::getrlimit(libc::RLIMIT_CORE, &raw mut core) == 0 {
                core.rlim_cur = 0;
                libc::setrlimit(libc::RLIMIT_CORE, &raw const core);
            }
            if let Some(nice) = nice {
                libc::setpriority(libc::PRIO_PROCESS, 0, libc::c_int::from(nice));
            }
        }
        #[cfg(target_os = "linux")]
        if tied {
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        }
        #[cfg(not(target_os = "linux"))]
        let _ = tied;
        Err(image.exec())
    };
    // SAFETY: after the fork only system calls are made and memory from before it is read.
    unsafe { command.pre_exec(last_steps) };
    Ok(command)
}

#[cfg(target_os = "linux")]
/// A command whose process also gets the descriptor `fd`, under the same number. The descriptor stays closed to
/// every other process that is started meanwhile.
pub(super) fn with_descriptor(program: &Path, fd: RawFd) -> Command {
    let mut command = command(program);
    let last_steps = move || {
        // SAFETY: one system call, on a descriptor that the caller keeps open until the child runs.
        if unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: after the fork only that system call is made.
    unsafe { command.pre_exec(last_steps) };
    command
}

#[expect(clippy::disallowed_methods, reason = "this is where processes are spawned")]
fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}
