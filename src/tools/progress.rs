//! Where a running call says how far it is. The protocol side decides what becomes of it.

use std::sync::Arc;

type Take = dyn Fn(&str) + Send + Sync;

/// Takes short texts in langport's own words, such as `pyright is loading the project (43 %)`.
#[derive(Clone, Default)]
pub struct ProgressSink(Option<Arc<Take>>);

impl ProgressSink {
    /// A sink that hands every text to `take`, which must return at once.
    pub fn new(take: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(take)))
    }

    /// Whether anybody listens.
    pub fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    /// Says how far the call is.
    pub fn say(&self, text: &str) {
        if let Some(take) = &self.0 {
            take(text);
        }
    }
}

impl std::fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProgressSink")
    }
}
