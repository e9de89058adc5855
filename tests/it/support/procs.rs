//! Processes as the kernel lists them: who is left, and how much memory one has used.

use std::{collections::BTreeMap, fs, path::Path};

/// Every process the test started carries this variable, or has its value in its arguments or as its folder.
pub(crate) const MARK: &str = "IT_MARK";

/// Processes that carry the mark, with their command lines; zombies are not counted.
pub(crate) fn marked(mark: &str) -> BTreeMap<u32, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<u32>().ok()) else { continue };
        if pid == std::process::id() || state(pid).is_none_or(|s| s == 'Z' || s == 'X') {
            continue;
        }
        let read = |name| fs::read(entry.path().join(name)).unwrap_or_default();
        let (environ, command) = (read("environ"), read("cmdline"));
        let folder = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        if contains(&environ, mark) || command.contains(mark) || folder.to_string_lossy().contains(mark) {
            found.insert(pid, command);
        }
    }
    found
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|w| w == text.as_bytes())
}

/// The state letter of a process.
fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Whether the process runs.
pub(crate) fn alive(pid: u32) -> bool {
    state(pid).is_some_and(|s| s != 'Z' && s != 'X')
}

/// A line of `/proc/PID/status` in KiB.
fn status_kib(pid: u32, key: &str) -> u64 {
    let text = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status")).unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with(key)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or_default()
}

/// The most memory the process ever had, in KiB.
pub(crate) fn peak_kib(pid: u32) -> u64 {
    status_kib(pid, "VmHWM")
}

/// Processor time used so far, in clock ticks.
pub(crate) fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit_once(") ").map(|(_, r)| r.split(' ').collect()).unwrap_or_default();
    [11, 12].iter().filter_map(|i| fields.get(*i)?.parse::<u64>().ok()).sum()
}

/// Sends a signal.
pub(crate) fn signal(pid: u32, signal: i32) {
    let pid = i32::try_from(pid).expect("a pid fits");
    // SAFETY: a signal to a process that this test started.
    unsafe { libc::kill(pid, signal) };
}
