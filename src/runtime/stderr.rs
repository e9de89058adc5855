//! The last of what a server wrote to stderr, and to its stdout where that is no wire: bounded, for messages and status.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::watch,
};

use crate::sys::{awake::while_awake, secrets};

/// Bytes kept.
const RING: usize = 64 * 1024;

/// A ring of the last bytes.
#[derive(Debug)]
pub struct StderrRing {
    bytes: Mutex<VecDeque<u8>>,
    /// How many pipes may still write to it.
    open: watch::Sender<usize>,
}

impl Default for StderrRing {
    fn default() -> Self {
        Self { bytes: Mutex::default(), open: watch::Sender::new(0) }
    }
}

impl StderrRing {
    /// Reads `from` to its end in the background; a server that floods it is slowed by nothing and costs 64 KiB.
    pub fn follow(self: &Arc<Self>, mut from: impl AsyncRead + Send + Unpin + 'static) -> tokio::task::JoinHandle<()> {
        let ring = self.clone();
        ring.open.send_modify(|open| *open += 1);
        tokio::spawn(async move {
            let mut buffer = vec![0; 8 * 1024];
            while let Ok(read) = from.read(&mut buffer).await {
                if read == 0 {
                    break;
                }
                ring.take(&buffer[..read]);
            }
            ring.open.send_modify(|open| *open -= 1);
        })
    }

    /// Waits until all that an ended process has written is here, for at most `longest`: a descendant may hold the pipe.
    pub async fn settled(&self, longest: Duration) {
        let mut open = self.open.subscribe();
        while_awake(longest, open.wait_for(|open| *open == 0)).await;
    }

    fn take(&self, new: &[u8]) {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let new = &new[new.len().saturating_sub(RING)..];
        let excess = (bytes.len() + new.len()).saturating_sub(RING);
        bytes.drain(..excess);
        bytes.extend(new);
    }

    /// The last `count` lines that are not blank, without what is secret.
    pub fn last(&self, count: usize) -> Vec<String> {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(bytes.make_contiguous()).into_owned();
        let mut lines: Vec<String> = text
            .lines()
            .rev()
            .filter(|line| !line.trim().is_empty())
            .take(count)
            .map(|line| secrets::hide(line).chars().take(300).collect())
            .collect();
        lines.reverse();
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_flood_leaves_the_last_lines() {
        let ring = Arc::new(StderrRing::default());
        let flood: Vec<u8> = (0..20_000).flat_map(|i| format!("line {i}\n\n").into_bytes()).collect();
        ring.follow(std::io::Cursor::new(flood)).await.unwrap();
        assert_eq!(ring.last(2), ["line 19998", "line 19999"]);
        assert!(ring.bytes.lock().unwrap().len() <= RING);
    }
}
