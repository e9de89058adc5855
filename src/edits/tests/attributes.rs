//! What a file is besides its content stays, or the change is refused.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use expect_test::expect;

use super::world::{CALLER, World, refusal, said};

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn modes_stay_and_come_back() {
    let world = World::on_disk(&[("run.sh", "#!/bin/sh\n"), ("old.sh", "x"), ("d/private", "p"), ("move.sh", "m\n")]);
    chmod(&world.path("run.sh"), 0o755);
    chmod(&world.path("old.sh"), 0o4711);
    chmod(&world.path("d"), 0o2770);
    chmod(&world.path("d/private"), 0o600);
    chmod(&world.path("move.sh"), 0o750);
    let before = world.tree();
    let changes = world.changes();
    let steps = vec![
        world.texts("run.sh", &[(1, 0, 1, 0, "true\n")]),
        world.delete("old.sh"),
        world.delete("d"),
        world.rename("move.sh", "moved.sh"),
        world.texts("moved.sh", &[(0, 0, 0, 1, "M")]),
    ];
    let (id, _) = world.make(&changes, steps).unwrap();
    assert_eq!(world.tree()["run.sh"], "755 #!/bin/sh\\ntrue\\n");
    assert_eq!(world.tree()["moved.sh"], "750 M\\n");
    changes.undo(CALLER, &id).unwrap();
    assert_eq!(world.tree(), before);
}

#[test]
fn owner_and_extended_attributes_stay() {
    let world = World::on_disk(&[("a", "one\n"), ("b", "two\n")]);
    let (a, b) = (world.path("a"), world.path("b"));
    let root = rustix::process::geteuid().is_root();
    if root {
        std::os::unix::fs::chown(&a, Some(1234), Some(2345)).unwrap();
    }
    let set = |path: &Path| rustix::fs::setxattr(path, "user.langport", b"kept", rustix::fs::XattrFlags::empty());
    // Not every file system has them; where it has none, there are none to lose.
    let has = set(&a).is_ok() && set(&b).is_ok();
    let get = |path: &Path| {
        let mut value = [0u8; 16];
        rustix::fs::getxattr(path, "user.langport", &mut value[..]).map(|len| value[..len].to_vec())
    };
    let owner = |path: &Path| path.metadata().map(|metadata| (metadata.uid(), metadata.gid())).unwrap();
    let before = (owner(&a), owner(&b));
    let changes = world.changes();
    let (id, _) = world.make(&changes, vec![world.texts("a", &[(0, 0, 0, 1, "O")]), world.delete("b")]).unwrap();
    assert_eq!(world.read("a"), "One\n");
    assert_eq!(owner(&a), before.0);
    assert_eq!(get(&a).ok(), has.then(|| b"kept".to_vec()));
    changes.undo(CALLER, &id).unwrap();
    assert_eq!((owner(&a), owner(&b)), before);
    assert_eq!((get(&a).ok(), get(&b).ok()), (has.then(|| b"kept".to_vec()), has.then(|| b"kept".to_vec())));
}

/// A folder that gives what is made in it an access list gives it to no file that had none.
#[test]
fn no_access_list_comes_in() {
    let world = World::on_disk(&[("d/a", "one\n"), ("d/gone", "x"), ("d/in/b", "two\n")]);
    // Version 2: owner rwx, user 1 rwx, group r-x, mask rwx, others r-x.
    let entry =
        |tag: u16, may: u16, who: u32| [&tag.to_le_bytes()[..], &may.to_le_bytes(), &who.to_le_bytes()].concat();
    let nobody = u32::MAX;
    let entries = [(1, 7, nobody), (2, 7, 1), (4, 5, nobody), (16, 7, nobody), (32, 5, nobody)];
    let list: Vec<u8> = 2u32
        .to_le_bytes()
        .into_iter()
        .chain(entries.into_iter().flat_map(|(tag, may, who)| entry(tag, may, who)))
        .collect();
    let set = |path: &str| {
        rustix::fs::setxattr(world.path(path), "system.posix_acl_default", &list, rustix::fs::XattrFlags::empty())
    };
    // Not every file system has them; where it has none, there are none to get.
    let has = set("d").is_ok();
    let listed =
        |path: &str| rustix::fs::getxattr(world.path(path), "system.posix_acl_access", &mut [0u8; 256][..]).is_ok();
    let before = world.tree();
    let changes = world.changes();
    let steps = vec![
        world.texts("d/a", &[(0, 0, 0, 1, "O")]),
        world.delete("d/gone"),
        world.delete("d/in"),
        world.create("d/new"),
    ];
    let (id, _) = world.make(&changes, steps).unwrap();
    assert_eq!((listed("d/a"), listed("d/new")), (false, has), "a new file is like any other there");
    changes.undo(CALLER, &id).unwrap();
    assert_eq!(world.tree(), before);
    assert!(["d/a", "d/gone", "d/in", "d/in/b"].iter().all(|path| !listed(path)));
}

#[test]
fn files_with_several_names_are_not_replaced() {
    let world = World::on_disk(&[("a", "one\n")]);
    std::fs::hard_link(world.path("a"), world.path("b")).unwrap();
    let edit = || vec![world.texts("a", &[(0, 0, 0, 1, "O")])];
    expect!["refused: it has several names (hard links), which would come apart (ws/a)"]
        .assert_eq(&refusal(world.plan(edit()), &world));
    expect!["refused: it has several names (hard links), which would come apart (ws/a)"]
        .assert_eq(&refusal(world.plan(vec![world.delete("a")]), &world));
    // Moving leaves them together.
    let changes = world.changes();
    let (id, _) = world.make(&changes, vec![world.rename("a", "c")]).unwrap();
    assert_eq!(world.path("c").metadata().unwrap().ino(), world.path("b").metadata().unwrap().ino());
    changes.undo(CALLER, &id).unwrap();
    // A name that came after the plan.
    crate::sys::files::remove(&world.path("b")).unwrap();
    let id = changes.keep(CALLER, world.plan(edit()).unwrap()).unwrap();
    std::fs::hard_link(world.path("a"), world.path("b")).unwrap();
    expect!["refused: it has several names (hard links), which would come apart (ws/a)"]
        .assert_eq(&said(&changes.apply(CALLER, &id).unwrap_err(), &world));
}

#[test]
fn read_only_files_are_refused_before_anything_is_written() {
    let world = World::on_disk(&[("a", "one\n"), ("b", "two\n")]);
    let changes = world.changes();
    let steps = || vec![world.texts("a", &[(0, 0, 0, 1, "O")]), world.texts("b", &[(0, 0, 0, 1, "T")])];
    let id = changes.keep(CALLER, world.plan(steps()).unwrap()).unwrap();
    chmod(&world.path("b"), 0o444);
    let before = world.tree();
    let refused = expect!["read_only: it is read-only (ws/b)"];
    refused.assert_eq(&refusal(world.plan(steps()), &world));
    refused.assert_eq(&refusal(world.plan(vec![world.rename("b", "c")]), &world));
    refused.assert_eq(&refusal(world.plan(vec![world.delete("b")]), &world));
    refused.assert_eq(&said(&changes.apply(CALLER, &id).unwrap_err(), &world));
    assert_eq!(world.tree(), before);
}

#[test]
fn edt_04_bytes_that_no_edit_touches_stay() {
    let world = World::on_disk(&[]);
    world.write("f.ts", b"\xEF\xBB\xBFfunction f( ){\r\nreturn  1\r\n}");
    world.write("mixed", b"a\r\nb\nc\rd");
    let changes = world.changes();
    let steps = vec![
        world.texts("f.ts", &[(0, 0, 0, 8, "\u{feff}async\nfunction"), (1, 6, 1, 8, " ")]),
        world.texts("mixed", &[(1, 0, 1, 1, "B")]),
    ];
    let before = world.tree();
    let (id, _) = world.make(&changes, steps).unwrap();
    assert_eq!(std::fs::read(world.path("f.ts")).unwrap(), b"\xEF\xBB\xBFasync\r\nfunction f( ){\r\nreturn 1\r\n}");
    assert_eq!(std::fs::read(world.path("mixed")).unwrap(), b"a\r\nB\nc\rd");
    changes.undo(CALLER, &id).unwrap();
    assert_eq!(world.tree(), before);
}
