//! Changes to files: what a server computed becomes a checked [`Plan`] with its diff, and [`Changes`] makes it, whole or
//! not at all, and takes it back. Knows no running server and nothing of MCP.
//!
//! A plan is the difference between two states of the tree, not a script: the steps of an edit are played through on
//! an overlay, and what is left is one effect for each path. So each effect can be judged by itself: a file is as the
//! plan found it, or as the plan leaves it, or somebody else's.
//!
//! What is decided here where LSP leaves room:
//! - A file whose line ends are all `\r\n` gets `\r\n` for every `\n` of an edit, one that has only `\n` gets `\n` for
//!   every `\r\n`. Where they are mixed, are `\r` alone, or there are none, the edit's own stand.
//! - An edit that begins a text with a byte order mark adds none, and none takes one away.
//! - A range that begins or ends past a line's end does so at its end, before whatever ends the line; one that does so in
//!   the middle of a character, or between the halves of a surrogate pair, is refused: a half cannot be kept.
//! - Of several edits at one place the inserts come first, in the server's order. The very same replacement twice is made
//!   once; two that differ, in one step or in two, are refused.
//! - Of a link to a file its target is edited; the link itself is renamed and deleted.
//! - A file with several names (hard links) is neither replaced nor deleted: the others would keep the old text, and
//!   taking it back would not bring them together again. It is moved.
//! - What is new gets no name with characters that nobody sees or that end lines, and no path that nobody could open.
//! - A folder moves as it is, with all in it. Moves of folders that depend on each other, a folder in the place of
//!   another or of a file, and a repository that would be moved along are refused.

mod apply;
mod attributes;
mod commit;
mod compute;
mod cut;
mod diff;
mod effect;
mod fates;
mod ignored;
mod journal;
mod net;
mod overlay;
mod plan;
mod planner;
mod policy;
mod prepare;
mod recover;
mod refusal;
mod snippet;
mod steps;
mod store;
#[cfg(test)]
mod tests;
mod text;
mod unite;
mod work;

pub use compute::plan;
pub use diff::{FileDiff, Hunk, Kind, Line};
pub use plan::{Counts, Folders, Plan, PlanId, Promise, Wake};
pub use planner::Told;
pub use policy::Policy;
pub use refusal::{Refusal, RefusalCode};
pub use store::{Applied, Changes, Limits, Recovered};
pub use unite::{Clash, Part, unite};
