//! Who asks. Passed explicitly with every call, never a global: several agents will share one langport.

use std::time::Duration;

/// Who asks, and within which limits.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The connection's own number; not a name that the client chose.
    pub id: u64,
    /// What the client calls itself: for logs only.
    pub client: String,
    /// The longest that a call may take.
    pub max_wait: Duration,
    /// Characters that one answer may hold.
    pub max_chars: usize,
}
