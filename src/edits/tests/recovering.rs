//! Whoever finishes or drops what another left is killed in its turn, again and again: the tree is the old or the new one all
//! the same, with every folder as it was.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::applying::journals;
use super::world::{CALLER, World, shown};
use crate::edits::Recovered;
use crate::protocol::types::EditStep;
use crate::sys::below::Hook;

type Tree = BTreeMap<String, String>;

/// Who writes until its `until`th write, then never again, as if killed; where `plain`, on a file system where no two files
/// change places at once.
struct Writer {
    hook: Hook,
    asked: Arc<AtomicUsize>,
    until: Arc<AtomicUsize>,
}

impl Writer {
    fn new(until: usize, plain: bool) -> Writer {
        let (asked, until) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(until)));
        let (counted, limit) = (Arc::clone(&asked), Arc::clone(&until));
        let hook = Hook::new(move |step| {
            if counted.fetch_add(1, Ordering::SeqCst) >= limit.load(Ordering::SeqCst) {
                return Err(io::Error::other("killed"));
            }
            if plain && step == "exchange" { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) }
        });
        Writer { hook, asked, until }
    }

    fn is_killed(&self) -> bool {
        self.asked.load(Ordering::SeqCst) > self.until.load(Ordering::SeqCst)
    }
}

fn world() -> World {
    let world = World::new(&[
        ("a.rs", "mod a;\n"),
        ("b.rs", "mod b;\n"),
        ("dir/c.rs", "fn c() {}\n"),
        ("old/deep/e.rs", "e\n"),
    ]);
    for (folder, mode) in [("old", 0o2770), ("old/deep", 0o705)] {
        std::fs::set_permissions(world.path(folder), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    world
}

fn steps(world: &World) -> Vec<EditStep> {
    vec![
        world.texts("a.rs", &[(0, 4, 0, 5, "A")]),
        world.rename("b.rs", "new/b2.rs"),
        world.rename("dir", "new/dir2"),
        world.texts("new/dir2/c.rs", &[(0, 3, 0, 4, "cc")]),
        world.create("new/made/n.rs"),
        world.delete("old"),
    ]
}

/// The tree before and after the change.
fn ends() -> [Tree; 2] {
    let world = world();
    let before = world.tree();
    world.make(&world.changes(), steps(&world)).unwrap();
    [before, world.tree()]
}

/// A change whose writer is killed after so many writes, or (`back`) while it takes it back; `None` where it was done before.
fn left_half(writes: usize, back: bool, plain: bool) -> Option<World> {
    let world = world();
    let writer = Writer::new(if back { usize::MAX } else { writes }, plain);
    let changes = world.hooked(writer.hook.clone());
    let made = world.make(&changes, steps(&world));
    if back {
        writer.until.store(writer.asked.load(Ordering::SeqCst) + writes, Ordering::SeqCst);
        let _ = changes.undo(CALLER, &made.unwrap().0);
    }
    // What a living one tidies up as it ends, a killed one does not.
    std::mem::forget(changes);
    writer.is_killed().then_some(world)
}

/// A recovery that is killed after so many writes; what it says where it was done before.
fn recovered(world: &World, writes: usize, plain: bool) -> Option<Vec<Recovered>> {
    let writer = Writer::new(writes, plain);
    let changes = world.hooked(writer.hook.clone());
    let recovered = changes.recover();
    std::mem::forget(changes);
    (!writer.is_killed()).then(|| recovered.unwrap())
}

fn untouched(recovered: &[Recovered]) {
    assert!(recovered.iter().all(|one| one.left.is_empty()), "{recovered:?}");
}

/// However often it is killed, after each further write.
#[test]
fn killed_again_and_again() {
    let ends = ends();
    for (back, plain) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut seen = [0, 0];
        let mut kills = 0;
        for writes in 0.. {
            let Some(world) = left_half(writes, back, plain) else { break };
            let last = (0..).find_map(|more| Some((more, recovered(&world, more, plain)?)));
            let (more, recovered) = last.unwrap();
            untouched(&recovered);
            kills += more;
            let now = world.tree();
            let at = ends.iter().position(|end| *end == now);
            let at = at.unwrap_or_else(|| panic!("{back}, {plain}, write {writes}: {now:#?}\n{}", shown(&now)));
            seen[at] += 1;
            // What was made is kept to be taken back, whatever it itself took back.
            assert!(journals(&world) <= 1 + usize::from(back), "write {writes}");
        }
        assert!(seen[0] > 10 && seen[1] > 10 && kills > 300, "{back}, {plain}: {seen:?}, {kills}");
    }
}

/// Killed at each write of each recovery, once; the next one is the last.
#[test]
fn killed_once_anywhere() {
    let ends = ends();
    for back in [false, true] {
        let mut kills = 0;
        for writes in (usize::from(back)..).step_by(3) {
            if left_half(writes, back, false).is_none() {
                break;
            }
            for more in 0.. {
                let world = left_half(writes, back, false).unwrap();
                if recovered(&world, more, false).is_some() {
                    break;
                }
                untouched(&world.changes().recover().unwrap());
                let now = world.tree();
                assert!(ends.contains(&now), "{back}, write {writes}, then {more}: {}", shown(&now));
                kills += 1;
            }
        }
        assert!(kills > 150, "{back}: {kills}");
    }
}

/// A folder that cannot be made again as it was is not made again otherwise.
#[test]
fn a_folder_without_its_attributes_is_no_folder() {
    let world = world();
    let refuses = Arc::new(AtomicUsize::new(0));
    let on = Arc::clone(&refuses);
    let changes = world.hooked(Hook::new(move |step| match step {
        "attributes" if on.load(Ordering::SeqCst) > 0 => Err(io::ErrorKind::PermissionDenied.into()),
        _ => Ok(()),
    }));
    let id = changes.keep(CALLER, world.plan(vec![world.delete("old")]).unwrap()).unwrap();
    changes.apply(CALLER, &id).unwrap();
    let after = world.tree();
    refuses.store(1, Ordering::SeqCst);
    changes.undo(CALLER, &id).unwrap_err();
    assert_eq!(world.tree(), after);
    refuses.store(0, Ordering::SeqCst);
    changes.undo(CALLER, &id).unwrap();
    assert_eq!(world.tree(), self::world().tree());
}
