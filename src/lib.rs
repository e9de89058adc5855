//! langport: one MCP server that gives any agent real language servers.
//!
//! # The map
//!
//! | module | owns |
//! |---|---|
//! | [`cli`] | one file per subcommand |
//! | [`mcp`] | the MCP handler: names, lists, calls, resources, consent, stdio |
//! | [`render`] | typed outcomes made into bounded text or structured content |
//! | [`tools`] | one file per tool: arguments to a query to a typed outcome; the address |
//! | [`binding`] | which definitions serve which file |
//! | [`edits`] | changes to files: a server's edit becomes a plan with its diff; apply, journal, undo |
//! | [`runtime`] | the life of servers: supervisor, readiness, documents, diagnostics, verdicts |
//! | [`protocol`] | the wire: bounded frames, guard, outbox, inbound, capabilities, positions |
//! | [`workspace`] | roots, confinement, disk snapshots, watcher and barrier |
//! | [`registry`] | definitions, their names, order, `${VAR:default}`, how they are installed and started |
//! | [`language`] | language ids; detection by name, ending, first lines |
//! | [`config`] | settings in layers: file, variables, flags |
//! | [`sys`] | the only place that spawns, kills, writes files and reads the environment |
//!
//! Arrows go down this list only. A call's way: `mcp` takes it, with its caller; `tools` parses it and resolves the
//! address; `binding` says which definitions serve the file; `runtime` brings the server in step with the disk, asks,
//! and judges the answer; `tools` makes an outcome of it, `render` a text, `mcp` sends it. What changes files goes
//! through `edits` in between, and where a person has to agree, `mcp` asks before.
//!
//! # Invariants
//!
//! - No LSP type above [`tools`], no MCP type below [`render`]. [`runtime`]'s edge is one closed
//!   [`Query`](runtime::query::Query) that becomes an [`Answer`](runtime::query::Answer) with a verdict.
//! - A server is told of the disk before it is asked, in one order: watched files, documents, the request. Whoever tells
//!   holds the session's desk, so an older text is never told after a newer one; versions never go back.
//! - Nothing is called fresh that the server has not said of the text now on disk. Silence, death, loading and missing
//!   servers have verdicts of their own.
//! - What a server sends is read through caps, straight from the bytes; nothing of it, nor of a file, stands at the
//!   beginning of an answer's line.
//! - A rename that was planned whole is made only while nothing else with the old name has come or changed, and what a
//!   change may break elsewhere is looked at, or counted as not looked at.
//! - One owner for each state: an instance is an actor, its state is seen through a `watch`; no lock is held across an
//!   await. Starting is lazy and done once, however many ask.
//! - A call works with the definitions and settings of one generation, from its beginning to its end; nothing that a
//!   server of an older one still says counts. What fails is tried again, ever less often, and never given up for good.
//! - Code never branches on a server's name: what is special about one stands in its definition.
//! - A change to files is computed by a planner, kept as a plan, and made by `lsp/apply` alone: whole or not at all, on
//!   the very bytes that it was computed for, and never outside the roots: files are reached through handles of the
//!   roots, following no link. An edit is read whole or refused, and what a server wants to change unasked is refused.
//! - Only [`sys`] spawns, kills, writes files and reads the environment. Every server runs under a watchdog that ends all
//!   of its descendants, also when langport is killed.
//! - There is no global state but counters, the pids of our own children, and the list of secrets that no answer and no
//!   log may have; no configuration or program out of a workspace is used, and a failing server never keeps langport
//!   from starting or another server from answering.

pub mod binding;
pub mod cli;
pub mod config;
pub mod edits;
pub mod language;
pub mod mcp;
pub mod protocol;
pub mod registry;
pub mod render;
pub mod runtime;
pub mod sys;
pub mod tools;
pub mod workspace;
