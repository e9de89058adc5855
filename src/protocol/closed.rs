//! How a connection ends.

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    #[error("the server closed its output")]
    Eof,
    /// The server broke the base protocol beyond repair.
    #[error("the server sent {0}")]
    Frame(String),
    #[error("{0}")]
    Io(String),
    /// It leaves unread what it is told; with the bytes that wait.
    #[error("the server does not read its input: {0} bytes wait")]
    Deaf(usize),
    /// We closed it.
    #[error("closed by langport")]
    Local,
}

/// The connection has ended: nothing can be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed: {0}")]
pub struct Closed(pub CloseReason);
