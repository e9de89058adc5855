//! What happens below and is told to those above: a closed list, broadcast to whoever subscribes.

/// Something that happened to an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// An instance entered a state; `name` is the definition's scoped name.
    State { name: String, root: std::path::PathBuf, state: String, cause: String },
}
