//! What a killed writer left half made in several roots is settled by whoever comes with one of them, as far as it lies in
//! there; and nothing is left behind in langport's own folder.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::world::{CALLER, World, shown};
use crate::edits::{Changes, Limits, Policy, Recovered, Wake};
use crate::protocol::types::EditStep;
use crate::sys::below::Hook;
use crate::sys::files;
use crate::workspace::roots::Roots;

fn changes(world: &World, roots: &[&str], hook: Hook) -> Changes {
    files::create_dirs(&world.state()).unwrap();
    let roots = Roots::new(roots.iter().map(|root| world.path(root))).unwrap();
    Changes::hooked(&world.state(), &roots, Policy::default(), Limits::default(), hook)
}

/// The tree below one root.
fn part(world: &World, root: &str) -> String {
    shown(&world.tree()).lines().filter(|line| line.trim_start().starts_with(root)).collect::<Vec<_>>().join("\n")
}

/// All that is in langport's folder for changes.
fn kept(world: &World) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut folders = vec![world.state().join("edits")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            all.push(entry.path());
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    all
}

/// Locks, and journals of changes that are written down and not made. One that was made can be taken back for a day, and
/// of one that was not written down yet nobody elsewhere knows that its writer is gone.
fn unsettled(world: &World) -> Vec<PathBuf> {
    let open = |path: &PathBuf| path.join("steps.json").exists() && !path.join("done").exists();
    kept(world).into_iter().filter(|path| path.extension().is_some_and(|end| end == "lock") || open(path)).collect()
}

fn files() -> World {
    World::new(&[
        ("a/one.rs", "one\n"),
        ("a/dir/in.rs", "in\n"),
        ("a/gone.rs", "gone\n"),
        ("b/two.rs", "two\n"),
        ("b/dir/in.rs", "in\n"),
        ("c/three.rs", "three\n"),
    ])
}

fn steps(world: &World) -> Vec<EditStep> {
    vec![
        world.texts("a/one.rs", &[(0, 0, 0, 3, "ONE")]),
        world.rename("b/dir", "b/moved"),
        world.texts("b/moved/in.rs", &[(0, 0, 0, 0, "B ")]),
        world.rename("a/dir", "a/moved"),
        world.texts("a/moved/in.rs", &[(0, 0, 0, 0, "A ")]),
        world.delete("a/gone.rs"),
        world.texts("b/two.rs", &[(0, 0, 0, 3, "TWO")]),
        world.create("b/made/new.rs"),
        world.texts("b/made/new.rs", &[(0, 0, 0, 0, "new\n")]),
    ]
}

/// A change of two roots whose writer is killed at its `at`th write; whether it was. What it would tidy up as it ends it
/// does not.
fn killed(world: &World, at: usize, steps: Vec<EditStep>) -> bool {
    let count = AtomicUsize::new(0);
    let counted = Arc::new(AtomicUsize::new(0));
    let failed = Arc::clone(&counted);
    let hook = Hook::new(move |_| {
        if count.fetch_add(1, Ordering::SeqCst) < at {
            return Ok(());
        }
        failed.fetch_add(1, Ordering::SeqCst);
        Err(io::Error::other("killed"))
    });
    let writer = changes(world, &["a", "b"], hook);
    let plan = world.plan(steps).unwrap();
    let id = writer.keep(CALLER, plan).unwrap();
    let _ = writer.apply(CALLER, &id);
    std::mem::forget(writer);
    counted.load(Ordering::SeqCst) > 0
}

fn untouched(recovered: &[Recovered]) -> bool {
    recovered.iter().all(|one| one.left.is_empty())
}

#[test]
fn each_root_alone_settles_its_part() {
    let before = files();
    let (old_a, old_b) = (part(&before, "a"), part(&before, "b"));
    let made = files();
    assert!(!killed(&made, usize::MAX, steps(&made)));
    let (new_a, new_b) = (part(&made, "a"), part(&made, "b"));
    assert!(old_a != new_a && old_b != new_b && !old_a.is_empty() && !new_b.is_empty());
    let mut seen = [0, 0];
    for at in 0.. {
        let world = files();
        if !killed(&world, at, steps(&world)) {
            break;
        }
        let half = world.tree();
        // Somebody elsewhere has no part in it.
        assert_eq!(changes(&world, &["c"], Hook::default()).recover().unwrap(), []);
        assert_eq!(world.tree(), half, "write {at}");
        let left_b = part(&world, "b");
        let settled = changes(&world, &["a"], Hook::default()).recover().unwrap();
        assert!(untouched(&settled), "write {at}: {settled:?}");
        let a = part(&world, "a");
        assert!(a == old_a || a == new_a, "write {at}: {a}");
        assert_eq!(part(&world, "b"), left_b, "write {at}: nothing outside is changed");
        let settled = changes(&world, &["b"], Hook::default()).recover().unwrap();
        assert!(untouched(&settled), "write {at}: {settled:?}");
        let b = part(&world, "b");
        assert_eq!((a == new_a, b == old_b), (b == new_b, a == old_a), "write {at}: all of it or nothing\n{a}\n{b}");
        seen[usize::from(a == new_a)] += 1;
        // Once settled, a part is not settled again.
        world.write("a/gone.rs", b"mine\n");
        assert_eq!(changes(&world, &["a", "b"], Hook::default()).recover().unwrap(), []);
        assert_eq!(world.read("a/gone.rs"), "mine\n");
        assert_eq!(unsettled(&world), Vec::<PathBuf>::new(), "write {at}");
    }
    assert!(seen[0] > 20 && seen[1] > 10, "{seen:?}");
}

#[test]
fn a_part_that_is_settled_is_not_made_again() {
    let mut seen = 0;
    for at in 0.. {
        let world = files();
        if !killed(&world, at, steps(&world)) {
            break;
        }
        let alone = changes(&world, &["a"], Hook::default());
        let finished = alone.recover().unwrap().iter().any(|one| one.finished);
        // What was deleted is made again as it was, by somebody else: another start does not delete it again.
        world.write("a/gone.rs", b"gone\n");
        changes(&world, &["a", "b"], Hook::default()).recover().unwrap();
        assert_eq!(world.read("a/gone.rs"), "gone\n", "write {at}");
        seen += usize::from(finished);
    }
    assert!(seen > 5, "{seen}");
}

#[test]
fn a_root_that_holds_them_all_settles_all() {
    for at in (0..200).step_by(3) {
        let world = files();
        if !killed(&world, at, steps(&world)) {
            return;
        }
        let settled = changes(&world, &["."], Hook::default()).recover().unwrap();
        assert!(untouched(&settled), "write {at}: {settled:?}");
        assert!(!shown(&world.tree()).contains(".langport"), "write {at}");
        assert_eq!(unsettled(&world), Vec::<PathBuf>::new(), "write {at}");
    }
}

#[test]
fn what_goes_from_root_to_root_waits_for_both() {
    let folder = |world: &World| {
        vec![world.rename("a/dir", "b/from-a"), world.texts("b/from-a/in.rs", &[(0, 0, 0, 0, "moved ")])]
    };
    let mut decided = 0;
    for at in 0.. {
        let world = files();
        let before = world.tree();
        if !killed(&world, at, folder(&world)) {
            break;
        }
        let half = world.tree();
        for root in ["a", "b"] {
            assert_eq!(changes(&world, &[root], Hook::default()).recover().unwrap(), []);
            assert_eq!(world.tree(), half, "write {at}: neither alone can");
        }
        let settled = changes(&world, &["a", "b"], Hook::default()).recover().unwrap();
        assert!(untouched(&settled), "write {at}: {settled:?}");
        decided += usize::from(settled.iter().any(|one| one.finished));
        let moved = world.path("b/from-a/in.rs").exists();
        assert!(moved || world.tree() == before, "write {at}");
        assert!(!moved || world.read("b/from-a/in.rs") == "moved in\n", "write {at}");
    }
    assert!(decided > 2, "{decided}");
}

#[test]
fn nothing_stays_in_langports_own_folder() {
    let world = files();
    let own = changes(&world, &["a", "b"], Hook::default());
    let id = own.keep(CALLER, world.plan(steps(&world)).unwrap()).unwrap();
    own.apply(CALLER, &id).unwrap();
    assert!(kept(&world).iter().all(|path| path.extension().is_none_or(|end| end != "lock")), "{:?}", kept(&world));
    let other = changes(&world, &["c"], Hook::default());
    other.recover().unwrap();
    drop(other);
    own.undo(CALLER, &id).unwrap();
    drop(own);
    assert_eq!(kept(&world), Vec::<PathBuf>::new());
}

#[test]
fn a_lock_whose_file_goes_with_its_holder() {
    let top = tempfile::tempdir().unwrap();
    let path: &Path = &top.path().join("lock");
    let take = |hold| files::lock_within(path, hold, std::time::Duration::ZERO).unwrap();
    let (one, two) = (take(files::Hold::Shared).unwrap(), take(files::Hold::Shared).unwrap());
    assert!(take(files::Hold::Alone).is_none());
    drop(one);
    assert!(path.exists() && take(files::Hold::Alone).is_none(), "the other still has it");
    drop(two);
    assert!(!path.exists());
    // Many at once: never two of them alone, whoever takes the file away.
    let inside = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let held = files::lock_within(path, files::Hold::Alone, std::time::Duration::from_secs(60));
                    let _held = held.unwrap().unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert!(!path.exists());
}

#[test]
fn a_plan_that_is_being_made_is_not_pushed_out() {
    let world = World::new(&[("a", "old"), ("b", "")]);
    let changes = world.changes();
    let id = changes.keep(1, world.plan(vec![world.texts("a", &[(0, 0, 0, 3, "new")])]).unwrap()).unwrap();
    let plan = changes.get(1, &id).unwrap();
    for number in 0..40 {
        changes.keep(1, world.plan(vec![world.texts("b", &[(0, 0, 0, 0, &number.to_string())])]).unwrap()).unwrap();
    }
    assert!(changes.get(1, &id).is_err());
    assert_eq!(changes.make(1, &plan, &Wake::default()).unwrap().changed, [world.path("a")]);
    assert_eq!(world.read("a"), "new");
    changes.undo(1, &id).unwrap();
    assert_eq!(world.read("a"), "old");
}
