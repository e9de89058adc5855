//! `lsp/calls`: who calls a function, or what it calls.

use serde_json::{Map, Value};

use crate::runtime::query::Hierarchy;

use super::{
    ask::Ask,
    outcome::{Failure, Outcome},
    tree::{Words, run as tree},
};

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let directions = [("incoming", Hierarchy::IncomingCalls), ("outgoing", Hierarchy::OutgoingCalls)];
    tree(ask, arguments, &directions, |hierarchy| match hierarchy {
        Hierarchy::OutgoingCalls => Words { one: "callee", many: "callees" },
        _ => Words { one: "caller", many: "callers" },
    })
    .await
}
