//! The only place that spawns, kills, writes files and reads the environment. Knows nothing of servers, protocols or
//! workspaces.

pub mod awake;
pub mod below;
pub mod blocking;
pub mod capture;
pub mod dirs;
pub mod env;
pub mod files;
pub mod listing;
pub mod log;
pub mod lookup;
pub mod memory;
pub mod process;
pub mod resident;
pub mod secrets;
pub mod shims;
pub mod signals;
pub mod tool;
#[cfg(target_os = "linux")]
mod tree;
pub mod unread;
pub mod watchdog;
