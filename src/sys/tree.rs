//! The tree of processes as `/proc` shows it, and how to end a part of it without hitting a stranger.

use std::collections::{HashMap, HashSet};

use rustix::process::{Pid, PidfdFlags, Signal};

/// A process, as one reading of `/proc/PID/stat` described it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) session: i32,
    /// Clock ticks after boot: with the pid it tells a process from a later one that got its number.
    pub(super) started: u64,
}

/// All processes below `root`, whatever group or session they moved to. `root` itself is not among them.
pub(super) fn descendants(root: i32) -> Vec<Process> {
    strangers(root, |_| false)
}

/// The same without the children of `root` that are `known`, and without what is below those.
pub(super) fn strangers(root: i32, known: impl Fn(i32) -> bool) -> Vec<Process> {
    let all = processes();
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in all {
        if process.parent != root || !known(process.pid) {
            children.entry(process.parent).or_default().push(process);
        }
    }
    let mut found = Vec::new();
    let mut seen = HashSet::from([root]);
    let mut next = vec![root];
    while let Some(pid) = next.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            // The table is no snapshot: a reused number could make it look like a circle.
            if seen.insert(child.pid) {
                next.push(child.pid);
                found.push(child);
            }
        }
    }
    found
}

/// The memory in KiB that a tree of processes has to itself: what they share with files on disk does not count.
pub(super) fn memory_kib(root: i32) -> u64 {
    let page = rustix::param::page_size() as u64 / 1024;
    let of = |process: &Process| {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", process.pid)).unwrap_or_default();
        let mut pages = text.split(' ').skip(1).map(|number| number.parse::<u64>().unwrap_or(0));
        let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
        resident.saturating_sub(shared) * page
    };
    descendants(root).iter().map(of).sum()
}

/// All processes of a session.
pub(super) fn session(id: i32) -> Vec<Process> {
    processes().into_iter().filter(|process| process.session == id).collect()
}

/// Sends SIGKILL, but only to the process that was meant: the number may have gone to another one since.
pub(super) fn kill(process: &Process) {
    let Some(pid) = Pid::from_raw(process.pid) else { return };
    // The handle is taken before the second look: what it names cannot change after that.
    match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Ok(handle) => {
            if read(process.pid).is_some_and(|now| now.started == process.started) {
                rustix::process::pidfd_send_signal(handle, Signal::KILL).ok();
            }
        }
        // Kernels before 5.3 have no such handle.
        Err(rustix::io::Errno::NOSYS) => {
            if read(process.pid).is_some_and(|now| now.started == process.started) {
                rustix::process::kill_process(pid, Signal::KILL).ok();
            }
        }
        Err(_) => {}
    }
}

/// Whether a process has ended, or is being ended by the kernel.
pub(super) fn is_leaving(pid: u32) -> bool {
    std::fs::read(format!("/proc/{pid}/stat")).map_or(true, |stat| leaves(&String::from_utf8_lossy(&stat)))
}

fn leaves(stat: &str) -> bool {
    /// The flag of a process that is being ended.
    const PF_EXITING: u64 = 0x4;
    let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace();
    let (state, flags) = (fields.next().unwrap_or_default(), fields.nth(5).and_then(|flags| flags.parse::<u64>().ok()));
    matches!(state, "Z" | "X") || flags.is_some_and(|flags| flags & PF_EXITING != 0)
}

fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(read).collect()
}

fn read(pid: i32) -> Option<Process> {
    parse(&String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/stat")).ok()?))
}

/// `pid (name) state ppid pgrp session …`: the name may hold anything, parentheses and spaces too.
fn parse(stat: &str) -> Option<Process> {
    let (pid, _) = stat.split_once(' ')?;
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Process {
        pid: pid.parse().ok()?,
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_parentheses_and_spaces() {
        let stat = "42 (a) R 1 (b) S 7 8 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0 18446744073709551615";
        assert_eq!(parse(stat), Some(Process { pid: 42, parent: 7, session: 9, started: 12345 }));
        assert_eq!(parse("42 (a"), None);
    }

    #[test]
    fn who_leaves_is_told_from_who_stays() {
        let stat = |state: &str, flags: u64| format!("42 (a) R 1) {state} 7 8 9 0 -1 {flags} 1 0 0 0");
        assert!(!leaves(&stat("R", 4_194_560)) && !leaves(&stat("S", 0)));
        assert!(leaves(&stat("R", 4_194_564)) && leaves(&stat("Z", 0)) && leaves(&stat("X", 0)));
        assert!(!is_leaving(std::process::id()) && is_leaving(u32::MAX));
    }

    #[test]
    fn this_process_is_there() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(read(own).unwrap().pid, own);
        assert!(descendants(1).iter().any(|process| process.pid == own) || own == 1);
        let parent = read(own).unwrap().parent;
        assert!(!strangers(parent, |pid| pid == own).iter().any(|process| process.pid == own));
        assert!(memory_kib(parent) > 100);
    }
}
