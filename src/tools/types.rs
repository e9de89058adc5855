//! `lsp/types`: the types above or below a type.

use serde_json::{Map, Value};

use crate::runtime::query::Hierarchy;

use super::{
    ask::Ask,
    outcome::{Failure, Outcome},
    tree::{Words, run as tree},
};

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let directions = [("supertypes", Hierarchy::Supertypes), ("subtypes", Hierarchy::Subtypes)];
    tree(ask, arguments, &directions, |hierarchy| match hierarchy {
        Hierarchy::Subtypes => Words { one: "subtype", many: "subtypes" },
        _ => Words { one: "supertype", many: "supertypes" },
    })
    .await
}
