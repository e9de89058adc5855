//! Random edits of a small tree: what is planned and applied is what a slow model of LSP's words makes of it, taking it
//! back gives the old tree, and a kill in the middle gives one of the two.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::world::{CALLER, World};
use crate::edits::RefusalCode;
use crate::protocol::types::EditStep;
use crate::sys::below::Hook;

const NAMES: &[&str] = &["a", "b", "c", "d/a", "d/b", "d/e/a", "d/e", "d", "f/a", "f/g/b", "f", "f/g", "h"];

#[derive(Debug, Clone)]
enum Op {
    Insert(usize, &'static str),
    Create(usize, bool, bool),
    Rename(usize, usize, bool, bool),
    Delete(usize, bool, bool),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let name = || 0..NAMES.len();
    let op = prop_oneof![
        4 => (name(), prop_oneof![Just("x"), Just("y\n"), Just("")]).prop_map(|(name, text)| Op::Insert(name, text)),
        2 => (name(), any::<bool>(), any::<bool>()).prop_map(|(name, over, skip)| Op::Create(name, over, skip)),
        4 => (name(), name(), any::<bool>(), any::<bool>()).prop_map(|(from, to, over, skip)| Op::Rename(from, to, over, skip)),
        2 => (name(), any::<bool>(), any::<bool>()).prop_map(|(name, deep, skip)| Op::Delete(name, deep, skip)),
    ];
    prop::collection::vec(op, 1..7)
}

/// Files with their text; folders have none.
type Model = BTreeMap<String, Option<String>>;

fn start() -> World {
    World::new(&[("a", "A\n"), ("b", "B\n"), ("d/a", "DA\n"), ("d/b", "DB"), ("d/e/a", "DEA\n"), ("f/a", "FA\n")])
}

fn model(world: &World) -> Model {
    let tree = world.tree();
    let entry = |(name, what): (&String, &String)| match name.strip_suffix('/') {
        Some(folder) => (folder.to_owned(), None),
        None => (name.clone(), Some(what.split_once(' ').unwrap().1.replace("\\n", "\n"))),
    };
    tree.iter().map(entry).collect()
}

fn make_above(model: &mut Model, name: &str) -> Option<()> {
    let parts: Vec<&str> = name.split('/').collect();
    for upto in 1..parts.len() {
        match model.entry(parts[..upto].join("/")).or_insert(None) {
            None => {}
            Some(_) => return None,
        }
    }
    Some(())
}

fn below(model: &Model, name: &str) -> Vec<String> {
    let prefix = format!("{name}/");
    model.keys().filter(|key| **key == name || key.starts_with(&prefix)).cloned().collect()
}

/// `None` where LSP has it fail.
fn step(model: &mut Model, op: &Op) -> Option<()> {
    match *op {
        Op::Insert(name, text) => match model.get_mut(NAMES[name])? {
            Some(content) => content.insert_str(0, text),
            None => return None,
        },
        Op::Create(name, over, skip) => match model.get(NAMES[name]) {
            Some(None) if over => return None,
            Some(_) if !over => return skip.then_some(()),
            _ => {
                make_above(model, NAMES[name])?;
                model.insert(NAMES[name].to_owned(), Some(String::new()));
            }
        },
        Op::Rename(from, to, over, skip) => {
            let (from, to) = (NAMES[from], NAMES[to]);
            if from == to {
                return Some(());
            }
            if to.starts_with(&format!("{from}/")) || !model.contains_key(from) {
                return None;
            }
            match model.get(to) {
                Some(None) if over => return None,
                Some(_) if !over => return skip.then_some(()),
                _ => {}
            }
            model.remove(to);
            let moved: Vec<(String, Option<String>)> =
                below(model, from).into_iter().map(|key| (key.clone(), model.remove(&key).unwrap())).collect();
            make_above(model, to)?;
            model.extend(moved.into_iter().map(|(key, content)| (format!("{to}{}", &key[from.len()..]), content)));
        }
        Op::Delete(name, deep, skip) => {
            let all = below(model, NAMES[name]);
            if all.is_empty() {
                return skip.then_some(());
            }
            if all.len() > 1 && !deep {
                return None;
            }
            for key in all {
                model.remove(&key);
            }
        }
    }
    Some(())
}

fn steps(world: &World, ops: &[Op]) -> Vec<EditStep> {
    let file = |name: usize| world.file(NAMES[name]);
    let step = |op: &Op| match *op {
        Op::Insert(name, text) => world.texts(NAMES[name], &[(0, 0, 0, 0, text)]),
        Op::Create(name, overwrite, ignore_if_exists) => {
            EditStep::Create { file: file(name), overwrite, ignore_if_exists }
        }
        Op::Rename(from, to, overwrite, ignore_if_exists) => {
            EditStep::Rename { from: file(from), to: file(to), overwrite, ignore_if_exists }
        }
        Op::Delete(name, recursive, ignore_if_not_exists) => {
            EditStep::Delete { file: file(name), recursive, ignore_if_not_exists }
        }
    };
    ops.iter().map(step).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]
    #[test]
    fn as_the_slow_model(ops in ops()) {
        let world = start();
        let before = world.tree();
        let mut expected = model(&world);
        let fine = ops.iter().try_for_each(|op| step(&mut expected, op)).is_some();
        match world.plan(steps(&world, &ops)) {
            Ok(plan) => {
                prop_assert!(fine, "the model has it fail");
                let changes = world.changes();
                let id = changes.keep(CALLER, plan).unwrap();
                changes.apply(CALLER, &id).unwrap();
                prop_assert_eq!(model(&world), expected);
                changes.undo(CALLER, &id).unwrap();
                prop_assert_eq!(world.tree(), before);
            }
            Err(refusal) if refusal.code == RefusalCode::Nothing => {
                prop_assert!(fine);
                prop_assert_eq!(model(&world), expected);
            }
            // Folders whose moves depend on each other, and files that take a folder's place.
            Err(refusal) => prop_assert!(!fine || refusal.code == RefusalCode::Refused, "{}", refusal),
        }
    }

    /// From step `at` on nothing can be written: as if killed there.
    #[test]
    fn killed_at_any_step(ops in ops(), at in 0..120usize) {
        let world = start();
        let (before, mut expected) = (model(&world), model(&world));
        let fine = ops.iter().try_for_each(|op| step(&mut expected, op)).is_some();
        let Ok(plan) = world.plan(steps(&world, &ops)) else { return Ok(()) };
        prop_assert!(fine);
        let count = Arc::new(AtomicUsize::new(0));
        let changes = world.hooked(Hook::new(move |_| {
            if count.fetch_add(1, Ordering::SeqCst) >= at { Err(io::Error::other("killed")) } else { Ok(()) }
        }));
        let id = changes.keep(CALLER, plan).unwrap();
        let made = changes.apply(CALLER, &id);
        let recovered = world.changes().recover().unwrap();
        prop_assert!(recovered.iter().all(|one| one.left.is_empty()), "{:?}", recovered);
        let now = model(&world);
        prop_assert!(now == expected || (made.is_err() && now == before), "{:?}", now);
    }
}
