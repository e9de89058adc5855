//! The life of language servers: started when first asked, kept in step with the disk, asked, judged, stopped. Its edge
//! is [`query::Query`] → [`query::Answer`] with a verdict; what happens inside is told as [`event::Event`].

mod across;
mod actions;
mod actor;
mod ask;
mod asked;
mod backdated;
mod background;
mod beside;
mod beyond;
mod breaker;
mod called;
pub mod commands;
mod diagnose;
pub mod documents;
mod doubt;
pub mod event;
mod folders;
pub mod ground;
pub mod heard;
mod held;
mod hierarchy;
mod indentation;
pub mod instance;
mod look;
mod moves;
mod names;
mod nudge;
mod part;
pub mod places;
pub mod pool;
pub mod probe;
mod projects;
mod propose;
pub mod query;
mod reach;
pub mod readiness;
pub mod session;
mod shelf;
pub mod shortfall;
mod signs;
pub mod start;
pub mod state;
pub mod stderr;
mod stop;
pub mod store;
mod survey;
pub mod sync;
mod tell;
#[cfg(test)]
mod tests;
mod turns;
mod unasked;
pub mod verdict;
mod work;

pub use shelf::Shelf;
