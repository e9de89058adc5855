//! Lives of instances over servers in memory, with a clock that the test moves.

mod crowded;
mod lives;
mod memory;
mod sharing;

pub(super) use memory::Memory;
