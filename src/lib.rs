//! langport: one MCP server that gives any agent real language servers.
//!
//! # The map
//!
//! | module | owns |
//! |---|---|
//! | [`cli`] | one file per subcommand |
//! | [`mcp`] | the MCP handler: names, lists, progress, cancellation, stdio |
//! | [`render`] | typed outcomes made into bounded text or structured content |
//! | [`tools`] | one file per tool: arguments to a query to a typed outcome; the address |
//! | [`binding`] | which definitions serve which file |
//! | [`runtime`] | the life of servers: supervisor, readiness, documents, diagnostics, verdicts |
//! | [`protocol`] | the wire: bounded frames, guard, outbox, inbound, capabilities, positions |
//! | [`workspace`] | roots, confinement, disk snapshots, watcher and barrier |
//! | [`registry`] | definitions, their names, order, generation and install recipes |
//! | [`language`] | language ids; detection by name, extension, shebang |
//! | [`config`] | layers of settings, `${VAR:default}` |
//! | [`sys`] | the only place that spawns, kills, writes files and reads the environment |
//!
//! Arrows go down this list only.
pub mod binding;
pub mod cli;
pub mod config;
pub mod language;
pub mod mcp;
pub mod protocol;
pub mod registry;
pub mod render;
pub mod runtime;
pub mod sys;
pub mod tools;
pub mod workspace;
