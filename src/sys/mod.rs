//! The only place that spawns, kills, writes files and reads the environment.

pub mod dirs;
pub mod env;
pub mod files;
pub mod lookup;
pub mod process;
pub mod tool;
