//! Processes.

use std::path::PathBuf;

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spawn {
    pub program: PathBuf,
    pub args: Vec<String>,
    pub cwd: PathBuf,
    /// The complete environment.
    pub env: Vec<(String, String)>,
}
