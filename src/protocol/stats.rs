//! Counts what passes a connection and keeps the first few lines that were no message, made harmless.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::sys::secrets;

const KEPT: usize = 5;
const KEPT_CHARS: usize = 200;

/// A connection's counts at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WireStats {
    /// Messages from the server that were understood.
    pub received: u64,
    /// Messages written to the server.
    pub sent: u64,
    /// Requests made of it.
    pub requests: u64,
    /// Messages from the server that were dropped because they had no usable shape or were too large.
    pub dropped: u64,
    /// Log and progress messages dropped because there were too many.
    pub throttled: u64,
    /// Answers that came after their request was given up.
    pub late: u64,
    /// Lines (or stretches) on the server's output that were no message.
    pub junk_lines: u64,
    /// The first few of those lines: one line each, at most 200 characters, without control characters.
    pub junk: Vec<String>,
    /// Why messages were dropped: the first few reasons.
    pub drop_reasons: Vec<String>,
    /// Requests that have no answer yet.
    pub pending: usize,
    /// Bytes that the server has not read yet.
    pub queued_bytes: usize,
}

#[derive(Debug, Default)]
pub(super) struct Stats {
    pub received: AtomicU64,
    pub sent: AtomicU64,
    pub throttled: AtomicU64,
    pub late: AtomicU64,
    dropped: AtomicU64,
    junk_lines: AtomicU64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    junk: Vec<String>,
    reasons: Vec<String>,
}

impl Stats {
    pub(super) fn junk(&self, line: &[u8]) {
        self.junk_lines.fetch_add(1, Relaxed);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.junk.len() < KEPT {
            let line = plain(&String::from_utf8_lossy(&line[..line.len().min(4 * KEPT_CHARS)]), KEPT_CHARS);
            if !line.is_empty() {
                kept.junk.push(line);
            }
        }
    }

    pub(super) fn drop_message(&self, reason: &str) {
        self.dropped.fetch_add(1, Relaxed);
        tracing::debug!(reason, "dropped a message of a language server");
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.reasons.len() < KEPT && !kept.reasons.iter().any(|known| known == reason) {
            kept.reasons.push(plain(reason, KEPT_CHARS));
        }
    }

    pub(super) fn read(&self, requests: u64, pending: usize, queued_bytes: usize) -> WireStats {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        WireStats {
            received: self.received.load(Relaxed),
            sent: self.sent.load(Relaxed),
            requests,
            dropped: self.dropped.load(Relaxed),
            throttled: self.throttled.load(Relaxed),
            late: self.late.load(Relaxed),
            junk_lines: self.junk_lines.load(Relaxed),
            junk: kept.junk.clone(),
            drop_reasons: kept.reasons.clone(),
            pending,
            queued_bytes,
        }
    }
}

/// One line of text without what is secret, without control, zero-width and direction characters, at most `chars` long.
fn plain(text: &str, chars: usize) -> String {
    let harmless = |c: &char| {
        !c.is_control()
            && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    secrets::hide(text.trim()).chars().filter(harmless).take(chars).collect()
}
