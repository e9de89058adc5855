//! Whether something waits to be read from a pipe or socket that somebody else reads.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// A further hold on what is read. While it is kept, who writes does not see that nobody reads any more.
#[derive(Debug)]
pub struct Unread(OwnedFd);

impl Unread {
    /// Takes hold of it.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn of(read: &impl AsFd) -> io::Result<Self> {
        read.as_fd().try_clone_to_owned().map(Self)
    }

    /// Whether something waits there now.
    #[must_use]
    pub fn is_any(&self) -> bool {
        let mut fds = [PollFd::new(&self.0, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).is_ok() && fds[0].revents().contains(PollFlags::IN)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn what_is_written_waits_until_it_is_read() {
        let (mut read, mut write) = io::pipe().unwrap();
        let unread = Unread::of(&read).unwrap();
        assert!(!unread.is_any());
        write.write_all(b"x").unwrap();
        assert!(unread.is_any());
        read.read_exact(&mut [0]).unwrap();
        assert!(!unread.is_any());
        drop(write);
        assert!(!unread.is_any(), "an end is nothing to read");
    }
}
