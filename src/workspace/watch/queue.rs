//! The kernel's queue of file system events, and how to read it. One queue for all folders: its order is the order in
//! which things happened, and what it does not hold has not happened.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

/// The fixed part of an event, before its name.
const HEADER: usize = 16;

/// An inotify instance.
#[derive(Debug)]
pub(super) struct Queue(OwnedFd);

/// An event, as the kernel wrote it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Raw<'a> {
    pub(super) watch: i32,
    pub(super) flags: ReadFlags,
    pub(super) name: Option<&'a OsStr>,
}

impl Queue {
    /// # Errors
    /// When the user has as many of them as the system allows.
    pub(super) fn open() -> io::Result<Queue> {
        Ok(Queue(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?))
    }

    /// Watches a folder, not what is below it. Opening and reading files is of no interest: watching it would put an
    /// event into the queue for each file that a server reads. `top` folders have no watched parent that would tell
    /// when they vanish.
    pub(super) fn add(&self, folder: &Path, top: bool) -> io::Result<i32> {
        let mut flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MODIFY
            // Programs that write through a memory map are only seen when they close the file.
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW
            | WatchFlags::EXCL_UNLINK;
        if top {
            flags |= WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
        }
        Ok(inotify::add_watch(&self.0, folder, flags)?)
    }

    pub(super) fn remove(&self, watch: i32) {
        // It fails if the kernel was faster: the folder is gone.
        inotify::remove_watch(&self.0, watch).ok();
    }

    /// Bytes of events that wait to be read.
    pub(super) fn pending(&self) -> u64 {
        rustix::io::ioctl_fionread(&self.0).unwrap_or(u64::MAX)
    }

    /// Reads whole events, as many as fit; none if none wait.
    pub(super) fn read(&self, buffer: &mut [u8]) -> usize {
        loop {
            match rustix::io::read(&self.0, &mut *buffer) {
                Err(rustix::io::Errno::INTR) => {}
                other => return other.unwrap_or(0),
            }
        }
    }
}

impl AsFd for Queue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The events in what was read.
pub(super) fn events(mut bytes: &[u8]) -> impl Iterator<Item = Raw<'_>> {
    std::iter::from_fn(move || {
        let (header, rest) = bytes.split_at_checked(HEADER)?;
        let field = |index: usize| u32::from_ne_bytes(*header[index * 4..].first_chunk().unwrap_or(&[0; 4]));
        let (name, rest) = rest.split_at_checked(usize::try_from(field(3)).ok()?)?;
        bytes = rest;
        // The name is padded with NULs.
        let name = name.split(|&byte| byte == 0).next().filter(|name| !name.is_empty());
        Some(Raw {
            watch: field(0).cast_signed(),
            flags: ReadFlags::from_bits_retain(field(1)),
            name: name.map(OsStr::from_bytes),
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_padded() {
        let mut bytes = Vec::new();
        for (watch, flags, name) in [(7_u32, ReadFlags::CREATE, &b"a\0\0\0"[..]), (8, ReadFlags::IGNORED, b"")] {
            for field in [watch, flags.bits(), 0, u32::try_from(name.len()).unwrap()] {
                bytes.extend(field.to_ne_bytes());
            }
            bytes.extend(name);
        }
        let read: Vec<_> = events(&bytes).collect();
        assert_eq!(read[0], Raw { watch: 7, flags: ReadFlags::CREATE, name: Some(OsStr::new("a")) });
        assert_eq!(read[1], Raw { watch: 8, flags: ReadFlags::IGNORED, name: None });
        assert_eq!(read.len(), 2);
    }

    proptest! {
        #[test]
        fn any_bytes_are_fine(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            events(&bytes).count();
        }
    }
}
