//! The second line of defence: langport is the parent of whatever a killed watchdog leaves behind, finds it among its
//! own children, and ends it.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitOptions};

use crate::sys::tree;

/// Children that were started on purpose. Held while one is started: a child is known before anybody can look for
/// strangers.
static KNOWN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// When to give up on what even SIGKILL does not end.
const STUCK: Duration = Duration::from_secs(2);

/// A child that was started on purpose, until this is dropped: to be kept until the child has been waited for.
#[derive(Debug)]
pub(in crate::sys) struct Known(u32);

impl Drop for Known {
    fn drop(&mut self) {
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// Orphans below this process become its children from now on, and not those of the machine's first process.
pub(in crate::sys) fn adopt() {
    // The kernel takes any number but 0 for yes. Where it knows no such thing, the first line of defence stands alone.
    rustix::process::set_child_subreaper(Pid::from_raw(1)).ok();
}

/// Starts a child and makes it known.
pub(in crate::sys) fn start<T>(
    start: impl FnOnce() -> io::Result<T>,
    pid: impl FnOnce(&T) -> Option<u32>,
) -> io::Result<(T, Known)> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let child = start()?;
    let pid = pid(&child).unwrap_or_default();
    known.insert(pid);
    Ok((child, Known(pid)))
}

/// Ends every child that nobody here has started, with all below it. Blocks for some milliseconds.
pub(super) fn end_strangers() {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let give_up = Instant::now() + STUCK;
    loop {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let strangers = tree::strangers(own, |pid| u32::try_from(pid).is_ok_and(|pid| known.contains(&pid)));
        for stranger in &strangers {
            tree::kill(stranger);
            if let Some(pid) = Pid::from_raw(stranger.pid).filter(|_| stranger.parent == own) {
                rustix::process::waitpid(Some(pid), WaitOptions::NOHANG).ok();
            }
        }
        drop(known);
        if strangers.is_empty() || Instant::now() >= give_up {
            return;
        }
        // Those that die hand their children to us: there may be new ones.
        std::thread::sleep(Duration::from_millis(5));
    }
}
