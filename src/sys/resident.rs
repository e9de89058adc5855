//! How much memory a process takes, with everything that it has started.

/// Bytes in memory of a process and its descendants; nothing where it is gone or cannot be told.
#[must_use]
pub fn resident(pid: u32) -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let pid = i32::try_from(pid).ok()?;
        let pages = |pid: i32| -> Option<u64> {
            let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
            text.split_ascii_whitespace().nth(1)?.parse().ok()
        };
        let own = pages(pid)?;
        let below: u64 = super::tree::descendants(pid).iter().filter_map(|process| pages(process.pid)).sum();
        Some((own + below) * rustix::param::page_size() as u64)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_takes_some() {
        assert!(resident(std::process::id()).is_some_and(|bytes| bytes > 1 << 20));
        assert_eq!(resident(u32::MAX), None);
    }
}
