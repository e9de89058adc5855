//! What applying and taking back do to a tree.

use expect_test::expect;

use super::world::{CALLER, World, said, shown};
use crate::edits::{Changes, Limits, PlanId, Policy, Refusal, RefusalCode};
use crate::protocol::types::EditStep;
use crate::sys::files;

/// Applied, the tree is as expected; taken back, as before; and nothing is left beside or in the state folder.
fn check(world: &World, steps: Vec<EditStep>, expected: &expect_test::Expect) {
    let before = world.tree();
    let changes = world.changes();
    let (id, applied) = world.make(&changes, steps).unwrap();
    expected.assert_eq(&shown(&world.tree()));
    assert!(applied.undo);
    let back = changes.undo(CALLER, &id).unwrap();
    assert_eq!(world.tree(), before);
    assert_eq!(
        (applied.created.len(), applied.deleted.len(), applied.changed, applied.renamed.len()),
        (back.deleted.len(), back.created.len(), back.changed.clone(), back.renamed.len())
    );
    assert!(!back.undo);
    assert_eq!(changes.undo(CALLER, &id).unwrap_err().code, RefusalCode::Expired);
    assert_eq!(journals(world), 0);
}

pub(super) fn journals(world: &World) -> usize {
    let folders = std::fs::read_dir(world.state().join("edits")).unwrap().flatten();
    folders.filter_map(|entry| Some(std::fs::read_dir(entry.path()).ok()?.count())).sum()
}

#[test]
fn edt_05_steps_in_their_order() {
    let world = World::new(&[("A.java", "class A {}\n"), ("D.java", "class D {}\n"), ("use.java", "new A();\n")]);
    let steps = vec![
        world.texts("A.java", &[(0, 6, 0, 7, "B")]),
        world.rename("A.java", "B.java"),
        world.texts("B.java", &[(0, 9, 0, 9, " int n; ")]),
        world.create("sub/C.java"),
        world.texts("sub/C.java", &[(0, 0, 0, 0, "class C {}\n")]),
        world.delete("D.java"),
        world.texts("use.java", &[(0, 4, 0, 5, "B")]),
    ];
    check(
        &world,
        steps,
        &expect![[r#"
            B.java class B { int n; }\n
            sub/ 
            sub/C.java class C {}\n
            use.java new B();\n
        "#]],
    );
}

#[test]
fn folders_move_with_all_in_them() {
    let world = World::new(&[("foo/a.rs", "mod b;\n"), ("foo/deep/b.bin", "\u{0}\u{1}"), ("main.rs", "mod foo;\n")]);
    std::os::unix::fs::symlink("a.rs", world.path("foo/link")).unwrap();
    let steps = vec![
        world.rename("foo", "new/bar"),
        world.texts("new/bar/a.rs", &[(0, 4, 0, 5, "c")]),
        world.rename("new/bar/deep/b.bin", "new/bar/deep/c.bin"),
        world.create("new/bar/made/x"),
        world.create("foo/again"),
        world.texts("main.rs", &[(0, 4, 0, 7, "bar")]),
    ];
    check(
        &world,
        steps,
        &expect![[r#"
            foo/ 
            foo/again 
            main.rs mod bar;\n
            new/ 
            new/bar/ 
            new/bar/a.rs mod c;\n
            new/bar/deep/ 
            new/bar/deep/c.bin \x00\x01
            new/bar/link a.rs
            new/bar/made/ 
            new/bar/made/x 
        "#]],
    );
}

#[test]
fn folders_deleted_with_all_in_them() {
    let world = World::new(&[("old/a", "1"), ("old/in/b", "2\n"), ("old/keep", "3"), ("other", "4")]);
    std::os::unix::fs::symlink("nowhere", world.path("old/in/link")).unwrap();
    files::create_dirs(&world.path("old/empty")).unwrap();
    let steps = vec![world.rename("old/keep", "kept"), world.delete("old"), world.create("fresh")];
    check(
        &world,
        steps,
        &expect![[r#"
            fresh 
            kept 3
            other 4
        "#]],
    );
    // Deleted and made again is changed.
    let steps = vec![world.delete("old"), world.create("old/a"), world.texts("old/a", &[(0, 0, 0, 0, "new")])];
    check(
        &world,
        steps,
        &expect![[r#"
            old/ 
            old/a new
            other 4
        "#]],
    );
}

#[test]
fn files_change_places() {
    let world = World::new(&[("a", "A\n"), ("b", "B\n"), ("c", "C\n")]);
    let steps = vec![world.rename("a", "x"), world.rename("b", "a"), world.rename("x", "b")];
    check(
        &world,
        steps,
        &expect![[r#"
            a B\n
            b A\n
            c C\n
        "#]],
    );
    let over = |from: &str, to: &str| EditStep::Rename {
        from: world.file(from),
        to: world.file(to),
        overwrite: true,
        ignore_if_exists: true,
    };
    check(
        &world,
        vec![world.rename("a", "z"), over("b", "a"), over("c", "b"), world.texts("b", &[(0, 0, 0, 1, "c")])],
        &expect![[r#"
            a B\n
            b c\n
            z A\n
        "#]],
    );
}

#[test]
fn links_are_edited_where_they_lead_and_moved_as_they_are() {
    let world = World::new(&[("real/a.txt", "one\n"), ("real/b.txt", "two\n")]);
    std::os::unix::fs::symlink("real/a.txt", world.path("link")).unwrap();
    std::os::unix::fs::symlink("real", world.path("dir")).unwrap();
    check(
        &world,
        vec![
            world.texts("link", &[(0, 0, 0, 3, "ONE")]),
            world.texts("dir/b.txt", &[(0, 0, 0, 3, "TWO")]),
            world.rename("link", "moved"),
        ],
        &expect![[r#"
            dir real
            moved real/a.txt
            real/ 
            real/a.txt ONE\n
            real/b.txt TWO\n
        "#]],
    );
    check(
        &world,
        vec![world.delete("link"), world.delete("dir")],
        &expect![[r#"
            real/ 
            real/a.txt one\n
            real/b.txt two\n
        "#]],
    );
}

#[test]
fn what_changed_since_is_a_conflict_and_nothing_is_written() {
    let world = World::new(&[("a", "one\n"), ("b", "two\n"), ("d/e", "x")]);
    let changes = world.changes();
    let plan = |steps| changes.keep(CALLER, world.plan(steps).unwrap()).unwrap();
    let refused = |id| said(&changes.apply(CALLER, &id).unwrap_err(), &world);

    let id = plan(vec![world.texts("a", &[(0, 0, 0, 1, "O")]), world.texts("b", &[(0, 0, 0, 1, "T")])]);
    world.write("b", b"two and more\n");
    let before = world.tree();
    expect!["conflict: it is not as it was (ws/b)"].assert_eq(&refused(id.clone()));
    assert_eq!(world.tree(), before);
    // As it was, it can be made.
    world.write("b", b"two\n");
    changes.apply(CALLER, &id).unwrap();
    assert_eq!((world.read("a"), world.read("b")), ("One\n".into(), "Two\n".into()));

    let id = plan(vec![world.create("new")]);
    world.write("new", b"mine");
    expect!["conflict: there is something by now (ws/new)"].assert_eq(&refused(id));
    let id = plan(vec![world.rename("a", "c")]);
    world.write("c", b"mine");
    expect!["conflict: there is something by now (ws/c)"].assert_eq(&refused(id));
    let id = plan(vec![world.delete("d")]);
    world.write("d/mine", b"mine");
    expect!["conflict: it is in a folder that is to be deleted, but was not there (ws/d/mine)"].assert_eq(&refused(id));
    let id = plan(vec![world.rename("d", "f")]);
    files::rename(&world.path("d"), &world.path("g")).unwrap();
    files::create_dirs(&world.path("d")).unwrap();
    expect!["conflict: it is not as it was (ws/d)"].assert_eq(&refused(id));
    let id = plan(vec![world.delete("a")]);
    files::remove(&world.path("a")).unwrap();
    expect!["conflict: it is not as it was (ws/a)"].assert_eq(&refused(id));
}

#[test]
fn taking_back_only_what_is_as_it_was_left() {
    let world = World::new(&[("a", "one\n"), ("b", "two\n")]);
    let changes = world.changes();
    let steps =
        vec![world.texts("a", &[(0, 0, 0, 1, "O")]), world.texts("b", &[(0, 0, 0, 1, "T")]), world.create("in/c")];
    let (id, _) = world.make(&changes, steps).unwrap();
    world.write("b", b"Two, changed\n");
    let before = world.tree();
    let since = "it is not as the change left it, and taking that back would overwrite what came since";
    assert_eq!(said(&changes.undo(CALLER, &id).unwrap_err(), &world), format!("conflict: {since} (ws/b)"));
    assert_eq!(world.tree(), before);
    world.write("b", b"Two\n");
    // A folder that the plan made stays where somebody has put something in.
    world.write("in/mine", b"mine");
    changes.undo(CALLER, &id).unwrap();
    assert_eq!(
        (world.read("a"), world.read("b"), world.read("in/mine")),
        ("one\n".into(), "two\n".into(), "mine".into())
    );
    assert!(!world.path("in/c").exists());
}

#[test]
fn plans_belong_to_their_caller_and_do_not_last() {
    let world = World::new(&[("a", "one\n")]);
    let limits = Limits { plans: 2, undo: 1, ..Limits::default() };
    files::create_dirs(&world.state()).unwrap();
    let changes = Changes::new(&world.state(), &world.roots, Policy::default(), limits);
    let keep =
        |text: &str| changes.keep(CALLER, world.plan(vec![world.texts("a", &[(0, 0, 0, 0, text)])]).unwrap()).unwrap();
    let ids = [keep("1"), keep("2"), keep("3")];
    let why = |refusal: Refusal| (refusal.code, refusal.what);
    let expired = |what: &str| (RefusalCode::Expired, what.to_owned());
    assert_eq!(why(changes.get(CALLER, &ids[0]).unwrap_err()), expired("that plan has made room for later ones"));
    // Another's is as one that never was.
    for (caller, id) in [(2, &ids[1]), (2, &ids[0]), (CALLER, &PlanId::given("guessed"))] {
        let unknown = match *id == PlanId::given("guessed") {
            true => (RefusalCode::NotFound, "`guessed` is the id of no plan, and never was".to_owned()),
            false => {
                expired(&format!("this session has no plan `{id}`: plans end with the session that they were made in"))
            }
        };
        assert_eq!(why(changes.get(caller, id).unwrap_err()), unknown);
        assert_eq!(why(changes.apply(caller, id).unwrap_err()), unknown);
        assert_eq!(why(changes.undo(caller, id).unwrap_err()), unknown);
    }
    assert_eq!(changes.undo(CALLER, &ids[1]).unwrap_err().what, "that plan has not been made");
    assert!(!changes.drop_plan(2, &ids[1]));
    assert!(changes.drop_plan(CALLER, &ids[1]));
    changes.apply(CALLER, &ids[2]).unwrap();
    assert_eq!(why(changes.apply(CALLER, &ids[2]).unwrap_err()), expired("that plan has been made already"));
    assert_eq!(why(changes.get(CALLER, &ids[1]).unwrap_err()), expired("that plan was dropped"));
    assert!(changes.undo(2, &ids[2]).unwrap_err().what.starts_with("this session has no plan"));
    // One deep only.
    let next = keep("4");
    changes.apply(CALLER, &next).unwrap();
    let kept = "what would take that plan back is kept no longer";
    assert_eq!(why(changes.undo(CALLER, &ids[2]).unwrap_err()), expired(kept));
    assert_eq!(journals(&world), 1);
    changes.undo(CALLER, &next).unwrap();
    assert_eq!(world.read("a"), "3one\n");
    let last = keep("5");
    changes.apply(CALLER, &last).unwrap();
    changes.forget(CALLER);
    assert!(changes.undo(CALLER, &last).unwrap_err().what.starts_with("this session has no plan"));
    assert_eq!(journals(&world), 0);

    let brief = Limits { lifetime: std::time::Duration::ZERO, ..Limits::default() };
    let changes = Changes::new(&world.state(), &world.roots, Policy::default(), brief);
    let id = changes.keep(CALLER, world.plan(vec![world.create("b")]).unwrap()).unwrap();
    assert_eq!(why(changes.get(CALLER, &id).unwrap_err()), expired("the time of that plan is over"));
}

#[test]
fn nothing_is_written_where_that_is_not_allowed() {
    let mut world = World::new(&[("a", "one\n")]);
    world.policy.read_only = true;
    let changes = world.changes();
    let id = changes.keep(CALLER, world.plan(vec![world.create("b")]).unwrap()).unwrap();
    let before = world.tree();
    expect!["read_only: this workspace is not to be changed ()"]
        .assert_eq(&said(&changes.apply(CALLER, &id).unwrap_err(), &world));
    assert_eq!(world.tree(), before);
}
