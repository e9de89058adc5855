//! The wire to one language server: bounded frames, a guard in front of async-lsp, an outbox for what we ask, an
//! inbound side for what the server asks and tells. Knows nothing of documents, verdicts or tools.

pub mod positions;
pub mod read;
pub mod types;
pub mod uri;
