//! The allowed roots and what lies in them: confinement, snapshots of files, and what changed. Knows nothing of
//! servers or documents.

pub mod checkouts;
pub mod disk;
pub mod git;
pub mod lists;
pub mod paths;
pub mod roots;
pub mod uri;
pub mod watch;
pub mod words;
