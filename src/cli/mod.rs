//! One file per subcommand.

pub mod install;
pub mod list;
pub mod out;
pub mod show;
