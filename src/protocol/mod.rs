//! The wire to one language server: bounded frames, a guard in front of async-lsp, an outbox for what we ask, an
//! inbound side for what the server asks and tells. Knows nothing of documents, verdicts or tools.

mod batch;
mod capabilities;
mod closed;
mod connection;
mod effective;
mod envelope;
mod fields;
mod frames;
mod guard;
mod host;
mod inbound;
mod listed;
mod noting;
mod outbox;
mod parcels;
mod pending;
pub mod positions;
pub mod read;
mod requests;
mod room;
mod shared;
pub(crate) mod skim;
mod stats;
#[cfg(test)]
mod tests;
mod throttle;
mod told;
pub mod types;
pub mod uri;
pub mod weight;
mod writer;

pub use capabilities::client_capabilities;
pub use closed::{CloseReason, Closed};
pub use connection::{Connection, Streams};
pub use effective::{
    ChangeKind, DiagnosticProvider, DocumentSync, Effective, FileEvent, Method, Moved, Save, ServerInfo, Support, Watch,
};
pub use host::{Host, ProgressValue, RefreshKind, Registration, Told};
pub use outbox::{RequestError, Response};
pub use pending::Pending;
pub use room::Room;
pub use shared::WireLimits;
pub use stats::WireStats;
