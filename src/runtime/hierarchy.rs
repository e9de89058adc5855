//! Walks call and type hierarchies: breadth is bounded, a symbol seen before is not opened again, and what the deadline
//! cuts off is said.

use std::collections::{HashSet, VecDeque};

use indexmap::{IndexMap, map::Entry};
use serde_json::json;

use crate::protocol::{
    positions::Point,
    read::{self, Caps},
    types::{Call, Capped, HierarchyItem},
    uri::path_to_uri,
};

use super::{
    propose::json_of,
    query::{Hierarchy, Node, Question, Tree},
    session::Session,
    shortfall::Shortfall,
    sync::Focus,
};

/// Nodes of one tree.
const NODES: usize = 500;
/// Requests for one tree.
const REQUESTS: usize = 100;

impl Hierarchy {
    fn prepare(self) -> &'static str {
        match self {
            Self::IncomingCalls | Self::OutgoingCalls => "textDocument/prepareCallHierarchy",
            Self::Supertypes | Self::Subtypes => "textDocument/prepareTypeHierarchy",
        }
    }

    fn step(self) -> &'static str {
        match self {
            Self::IncomingCalls => "callHierarchy/incomingCalls",
            Self::OutgoingCalls => "callHierarchy/outgoingCalls",
            Self::Supertypes => "typeHierarchy/supertypes",
            Self::Subtypes => "typeHierarchy/subtypes",
        }
    }
}

/// What tells one symbol from another.
type Key = (crate::protocol::types::FileRef, crate::protocol::positions::Range, String);

fn key(item: &HierarchyItem) -> Key {
    (item.file.clone(), item.selection, item.name.clone())
}

impl Session {
    /// The tree above or below the symbol at `at`, as deep as asked.
    pub(super) async fn tree(
        &self,
        question: &Question,
        focus: &Focus,
        at: Point,
        hierarchy: Hierarchy,
        depth: u32,
    ) -> Result<Tree, Shortfall> {
        let position = self.position(focus, at)?;
        let params = json!({"textDocument": {"uri": path_to_uri(&focus.path)}, "position": position});
        let response = self.request_once(question, hierarchy.prepare(), &params).await?;
        let shape = |error: read::ReadError| Shortfall::Shape(error.to_string());
        let tops = read::hierarchy_items(response.result(), &Caps::default()).map_err(shape)?;
        drop(response);
        // Children are kept beside their parents and laid out in walking order at the end.
        let mut nodes: Vec<(Node, Vec<usize>)> = Vec::new();
        let mut open = VecDeque::new();
        let mut seen = HashSet::new();
        let told = tops.total;
        for item in tops.items.into_iter().take(NODES) {
            seen.insert(key(&item));
            open.push_back(nodes.len());
            nodes.push((Node { depth: 0, item, sites: Vec::new(), repeated: false }, Vec::new()));
        }
        let roots = nodes.len();
        let (mut requests, mut cut, mut dropped) = (0, told > roots, tops.dropped);
        while let Some(parent) = open.pop_front() {
            let level = nodes[parent].0.depth + 1;
            if level > depth {
                continue;
            }
            if nodes.len() >= NODES || requests >= REQUESTS || question.left().is_zero() {
                cut = true;
                break;
            }
            requests += 1;
            let children = match self.step(question, hierarchy, &nodes[parent].0.item).await {
                Ok(children) => children,
                // What is known already is worth more than the error, unless nothing is.
                Err(_) if nodes.len() > roots => {
                    cut = true;
                    break;
                }
                Err(error) => return Err(error),
            };
            cut |= children.total > children.items.len();
            dropped += children.dropped;
            for call in merged(children.items) {
                if nodes.len() >= NODES {
                    cut = true;
                    break;
                }
                let repeated = !seen.insert(key(&call.item));
                let index = nodes.len();
                nodes.push((Node { depth: level, item: call.item, sites: call.sites, repeated }, Vec::new()));
                nodes[parent].1.push(index);
                if !repeated {
                    open.push_back(index);
                }
            }
        }
        Ok(Tree { nodes: in_walking_order(nodes, roots), cut, dropped })
    }

    async fn step(
        &self,
        question: &Question,
        hierarchy: Hierarchy,
        item: &HierarchyItem,
    ) -> Result<Capped<Call>, Shortfall> {
        let raw = json_of(&item.raw)?;
        let response = self.request_once(question, hierarchy.step(), &json!({"item": raw})).await?;
        let caps = Caps::default();
        let read = match hierarchy {
            Hierarchy::IncomingCalls | Hierarchy::OutgoingCalls => read::calls(response.result(), &caps),
            Hierarchy::Supertypes | Hierarchy::Subtypes => {
                read::hierarchy_items(response.result(), &caps).map(|items| Capped {
                    items: items.items.into_iter().map(|item| Call { item, sites: Vec::new() }).collect(),
                    total: items.total,
                    dropped: items.dropped,
                })
            }
        };
        read.map_err(|error| Shortfall::Shape(error.to_string()))
    }
}

/// One entry for each symbol: ty names a class once for every file that imports it.
fn merged(calls: Vec<Call>) -> Vec<Call> {
    let mut merged: IndexMap<Key, Call> = IndexMap::with_capacity(calls.len());
    for call in calls {
        match merged.entry(key(&call.item)) {
            Entry::Occupied(mut first) => first.get_mut().sites.extend(call.sites),
            Entry::Vacant(slot) => {
                slot.insert(call);
            }
        }
    }
    merged.into_values().collect()
}

fn in_walking_order(mut nodes: Vec<(Node, Vec<usize>)>, roots: usize) -> Vec<Node> {
    let mut order = Vec::with_capacity(nodes.len());
    let mut stack: Vec<usize> = (0..roots).rev().collect();
    while let Some(index) = stack.pop() {
        order.push(index);
        stack.extend(std::mem::take(&mut nodes[index].1).into_iter().rev());
    }
    let mut slots: Vec<Option<Node>> = nodes.into_iter().map(|(node, _)| Some(node)).collect();
    order.into_iter().filter_map(|index| slots[index].take()).collect()
}
