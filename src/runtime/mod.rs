//! The life of language servers: started when first asked, kept in step with the disk, asked, judged, stopped. Its edge
//! is [`query::Query`] → [`query::Answer`] with a verdict; what happens inside is told as [`event::Event`].

mod ask;
mod backdated;
mod diagnose;
pub mod documents;
pub mod event;
pub mod ground;
pub mod heard;
mod hierarchy;
pub mod instance;
mod nudge;
pub mod pool;
pub mod probe;
pub mod query;
pub mod readiness;
pub mod session;
pub mod start;
pub mod stderr;
mod stop;
pub mod store;
mod survey;
mod told;
mod unasked;
pub mod verdict;
