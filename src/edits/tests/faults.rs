//! Every step that writes made to fail, once or from then on: the tree is the old or the new one, at the latest after the
//! next start.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::applying::journals;
use super::world::{CALLER, World, said, shown};
use crate::edits::{Changes, Limits, RefusalCode};
use crate::protocol::types::EditStep;
use crate::sys::below::Hook;
use crate::workspace::roots::Roots;

/// Fails at step `at`, and at all later ones where `ever`. Counts the steps.
fn failing(at: usize, ever: bool) -> (Hook, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let hook = Hook::new(move |step| {
        let now = counted.fetch_add(1, Ordering::SeqCst);
        if now == at || (ever && now > at) {
            return Err(io::Error::other(format!("made to fail at {step}")));
        }
        Ok(())
    });
    (hook, count)
}

/// Fails from a step on, and, where `plain`, never lets files change places in one step.
fn without_exchange(plain: bool, from: Option<(usize, Arc<AtomicUsize>)>) -> Hook {
    Hook::new(move |step| {
        let past = from.as_ref().is_some_and(|(at, count)| count.fetch_add(1, Ordering::SeqCst) >= *at);
        match (past, plain && step == "exchange") {
            (true, _) => Err(io::Error::other("killed")),
            (_, true) => Err(io::ErrorKind::Unsupported.into()),
            _ => Ok(()),
        }
    })
}

pub(super) fn scenario() -> (World, fn(&World) -> Vec<EditStep>) {
    let world = World::new(&[
        ("a.rs", "mod a;\n"),
        ("b.rs", "mod b;\n"),
        ("dir/c.rs", "fn c() {}\n"),
        ("dir/in/d.bin", "\u{0}d"),
        ("old/e.rs", "e\n"),
        ("old/f/g.rs", "g\n"),
        ("swap1", "1"),
        ("swap2", "2"),
    ]);
    std::os::unix::fs::symlink("a.rs", world.path("old/link")).unwrap();
    let steps = |world: &World| {
        vec![
            world.texts("a.rs", &[(0, 4, 0, 5, "A")]),
            world.rename("b.rs", "moved/b2.rs"),
            world.texts("moved/b2.rs", &[(0, 0, 0, 0, "pub ")]),
            world.rename("dir", "moved/dir2"),
            world.texts("moved/dir2/c.rs", &[(0, 3, 0, 4, "cc")]),
            world.rename("moved/dir2/in/d.bin", "d.bin"),
            world.create("moved/dir2/made/new.rs"),
            world.texts("moved/dir2/made/new.rs", &[(0, 0, 0, 0, "new\n")]),
            world.delete("old"),
            world.rename("swap1", "swap3"),
            world.rename("swap2", "swap1"),
            world.rename("swap3", "swap2"),
        ]
    };
    (world, steps)
}

#[test]
fn one_step_fails() {
    let (world, steps) = scenario();
    let before = world.tree();
    let mut seen = [0, 0];
    for at in 0.. {
        let (world, _) = scenario();
        let (hook, count) = failing(at, false);
        let changes = world.hooked(hook);
        let made = world.make(&changes, steps(&world));
        if count.load(Ordering::SeqCst) <= at {
            assert!(made.is_ok());
            break;
        }
        let now = world.tree();
        let healthy = world.changes();
        healthy.recover().unwrap();
        if let Ok((id, _)) = made {
            seen[0] += 1;
            assert_ne!(now, before, "step {at}");
            // It may have left something beside, but nothing that lasts.
            let new = world.tree();
            assert!(!shown(&new).contains(".langport"), "step {at}: {}", shown(&new));
            // What could not be tidied up after may not be taken back, but says so.
            match changes.undo(CALLER, &id) {
                Ok(_) => assert_eq!(world.tree(), before, "step {at}"),
                Err(refusal) => {
                    assert_eq!(refusal.code, RefusalCode::Expired);
                    assert_eq!(world.tree(), new, "step {at}");
                }
            }
        } else {
            seen[1] += 1;
            assert_eq!(now, before, "step {at}: {}", said(&made.unwrap_err(), &world));
            assert_eq!(world.tree(), before);
            assert_eq!(journals(&world), 0);
        }
    }
    assert!(seen[0] > 20 && seen[1] > 40, "{seen:?}");
}

#[test]
fn all_steps_fail_from_one_on() {
    killed(false);
}

/// Where two files cannot change places in one step it takes three.
#[test]
fn all_steps_fail_from_one_on_without_exchange() {
    killed(true);
}

/// As if the process had been killed there: nothing more can be written by it.
fn killed(plain: bool) {
    let (world, steps) = scenario();
    let before = world.tree();
    world.make(&world.hooked(without_exchange(plain, None)), steps(&world)).unwrap();
    let after = world.tree();
    let mut seen = [0, 0];
    for at in 0.. {
        let (world, _) = scenario();
        let count = Arc::new(AtomicUsize::new(0));
        let changes = world.hooked(without_exchange(plain, Some((at, Arc::clone(&count)))));
        let made = world.make(&changes, steps(&world));
        if count.load(Ordering::SeqCst) <= at {
            break;
        }
        let healthy = world.hooked(without_exchange(plain, None));
        let recovered = healthy.recover().unwrap();
        assert!(recovered.iter().all(|one| one.left.is_empty()), "step {at}: {recovered:?}");
        let now = world.tree();
        let new = now == after;
        assert!(new || now == before, "step {at}: {}", shown(&now));
        assert!(new || made.is_err());
        seen[usize::from(new)] += 1;
        // The next change is made as if nothing had been.
        let id = healthy.keep(CALLER, world.plan(vec![world.create("after")]).unwrap()).unwrap();
        healthy.apply(CALLER, &id).unwrap();
    }
    assert!(seen[0] > 40 && seen[1] > 20, "{seen:?}");
}

#[test]
fn all_steps_of_taking_back_fail_from_one_on() {
    let (world, steps) = scenario();
    let before = world.tree();
    world.make(&world.changes(), steps(&world)).unwrap();
    let after = world.tree();
    let mut seen = [0, 0];
    for at in 0.. {
        let (world, _) = scenario();
        let on = Arc::new(AtomicUsize::new(usize::MAX));
        let count = Arc::new(AtomicUsize::new(0));
        let (from, counted) = (Arc::clone(&on), Arc::clone(&count));
        let changes = world.hooked(Hook::new(move |_| {
            let past = counted.fetch_add(1, Ordering::SeqCst) >= from.load(Ordering::SeqCst);
            if past { Err(io::Error::other("made to fail")) } else { Ok(()) }
        }));
        let (id, _) = world.make(&changes, steps(&world)).unwrap();
        assert_eq!(world.tree(), after);
        let start = count.load(Ordering::SeqCst);
        on.store(start + at, Ordering::SeqCst);
        let undone = changes.undo(CALLER, &id);
        if count.load(Ordering::SeqCst) <= start + at {
            undone.unwrap();
            break;
        }
        let recovered = world.changes().recover().unwrap();
        assert!(recovered.iter().all(|one| one.left.is_empty()), "step {at}: {recovered:?}");
        let now = world.tree();
        assert!(now == after || now == before, "step {at}: {}", shown(&now));
        seen[usize::from(now == before)] += 1;
    }
    assert!(seen[0] > 30 && seen[1] > 15, "{seen:?}");
}

/// Whoever writes a file after the crash keeps what was written.
#[test]
fn a_later_edit_is_never_overwritten() {
    let (world, steps) = scenario();
    let before = world.tree();
    world.make(&world.changes(), steps(&world)).unwrap();
    let after = world.tree();
    let mut edited = 0;
    for at in 0.. {
        let mut reached = false;
        for path in ["a.rs", "b.rs", "moved/b2.rs", "dir/c.rs", "moved/dir2/c.rs", "old/e.rs", "swap1", "d.bin"] {
            let (world, _) = scenario();
            let (hook, count) = failing(at, true);
            world.make(&world.hooked(hook), steps(&world)).ok();
            if count.load(Ordering::SeqCst) <= at {
                continue;
            }
            reached = true;
            if !world.path(path).parent().unwrap().exists() {
                continue;
            }
            world.write(path, b"mine");
            edited += 1;
            world.changes().recover().unwrap();
            let now = world.tree();
            // Its folder may have moved on with it.
            let kept =
                now.iter().filter(|(name, what)| what.ends_with(" mine") && name.ends_with(&path[path.len() - 4..]));
            assert_eq!(kept.count(), 1, "step {at}, {path}: {}", shown(&now));
            for (name, what) in &now {
                // One whose name was taken stays where its folder has moved to.
                let known = before.values().chain(after.values()).any(|known| known == what) || what.ends_with(" mine");
                assert!(known && !name.contains(".langport"), "step {at}, {path}: {name} {what}");
            }
        }
        if !reached {
            break;
        }
    }
    assert!(edited > 300, "{edited}");
}

#[test]
fn one_writer_at_a_time() {
    let world = World::new(&[("a", "one\n")]);
    let limits = Limits { wait: Duration::from_millis(50), ..Limits::default() };
    let (entered, enters) = std::sync::mpsc::channel();
    let (leave, leaves) = std::sync::mpsc::channel::<()>();
    let leaves = std::sync::Mutex::new(Some(leaves));
    let slow = world.hooked(Hook::new(move |step| {
        if step == "exchange"
            && let Some(leaves) = leaves.lock().unwrap().take()
        {
            entered.send(()).unwrap();
            leaves.recv().unwrap();
        }
        Ok(())
    }));
    let other = Changes::new(&world.state(), &world.roots, world.policy.clone(), limits);
    let id = other.keep(CALLER, world.plan(vec![world.texts("a", &[(0, 0, 0, 0, "other ")])]).unwrap()).unwrap();
    // A workspace inside is part of it, one beside is not.
    let recovers = |folder: &str| {
        crate::sys::files::create_dirs(&world.path(folder)).unwrap();
        let roots = Roots::new([world.path(folder)]).unwrap();
        let limits = Limits { wait: Duration::from_millis(50), ..Limits::default() };
        Changes::new(&world.state(), &roots, world.policy.clone(), limits).recover().is_ok()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| world.make(&slow, vec![world.texts("a", &[(0, 0, 0, 0, "slow ")])]).unwrap());
        enters.recv().unwrap();
        let refused = other.apply(CALLER, &id).unwrap_err();
        assert_eq!(said(&refused, &world), "conflict: another langport is changing this workspace ()");
        assert!(!recovers("inside"));
        assert!(recovers("../beside"));
        leave.send(()).unwrap();
    });
    assert!(recovers("inside"));
    assert_eq!(world.read("a"), "slow one\n");
    assert_eq!(said(&other.apply(CALLER, &id).unwrap_err(), &world), "conflict: it is not as it was (ws/a)");
}

#[test]
fn a_file_changed_in_the_last_moment_is_not_lost() {
    let world = World::new(&[("a", "one\n"), ("b", "two\n"), ("c", "three\n"), ("d", "four\n")]);
    let steps = |world: &World| {
        vec![
            world.texts("a", &[(0, 0, 0, 1, "O")]),
            world.rename("b", "e"),
            world.texts("c", &[(0, 0, 0, 1, "T")]),
            world.delete("d"),
            world.create("f"),
        ]
    };
    let before = world.tree();
    for path in ["a", "c", "d", "f"] {
        let place = world.path(path);
        let once = std::sync::Once::new();
        let changes = world.hooked(Hook::new(move |step| {
            // The first step that renames comes after everything was looked at and decided.
            if step == "exchange" {
                once.call_once(|| crate::sys::files::write(&place, b"mine").unwrap());
            }
            Ok(())
        }));
        let refused = world.make(&changes, steps(&world)).unwrap_err();
        assert_eq!(said(&refused, &world), format!("conflict: it changed while the plan was being made (ws/{path})"));
        assert_eq!(world.read(path), "mine");
        match before.get(path) {
            Some(_) => {
                let old = ["one\n", "", "three\n", "four\n"][(path.as_bytes()[0] - b'a') as usize];
                world.write(path, old.as_bytes());
            }
            None => crate::sys::files::remove(&world.path(path)).unwrap(),
        }
        assert_eq!(world.tree(), before, "{path}");
        assert_eq!(journals(&world), 0);
    }
}
