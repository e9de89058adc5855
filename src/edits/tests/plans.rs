//! What becomes of an edit before anything is written.

use std::path::Path;

use expect_test::{Expect, expect};

use super::world::{World, refusal};
use crate::edits::{Counts, FileDiff, Folders, Kind, Line, Plan, RefusalCode, Told};
use crate::protocol::types::{EditStep, FileRef};

/// The plan as a reader would see it.
fn shown(plan: &Plan, world: &World) -> String {
    let name = |path: &Path| path.strip_prefix(&world.root).unwrap().display().to_string();
    let Counts { changed, created, renamed, deleted, folders } = plan.counts;
    let mut text = format!("{changed} changed, {created} created, {renamed} renamed, {deleted} deleted");
    if folders != Folders::default() {
        text += &format!(", {folders:?}");
    }
    text += &format!(", places {}\n", plan.places);
    for FileDiff { kind, path, from, overwrites, added, removed, hunks, left_out, opaque } in plan.diff() {
        let from = from.map(|from| format!(" from {}", name(&from))).unwrap_or_default();
        let from = if overwrites { format!("{from}, over another") } else { from };
        let opaque = if opaque { ", no text" } else { "" };
        text += &format!("{kind:?} {}{from} +{added} -{removed}{opaque}\n", name(&path));
        for hunk in hunks {
            text += &format!("@@ -{},{} +{},{} @@\n", hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines);
            for line in hunk.lines {
                text += &match line {
                    Line::Same(line) => format!(" {line}\n"),
                    Line::Removed(line) => format!("-{line}\n"),
                    Line::Added(line) => format!("+{line}\n"),
                    Line::Unended => "\\ No newline at end of file\n".to_owned(),
                };
            }
        }
        if left_out > 0 {
            text += &format!("{left_out} left out\n");
        }
    }
    text
}

fn check(world: &World, steps: Vec<EditStep>, expected: &Expect) {
    expected.assert_eq(&match world.plan(steps) {
        Ok(plan) => shown(&plan, world),
        refused => refusal(refused, world),
    });
}

#[test]
fn kinds_counts_and_hunks() {
    let lines: String = (1..=20).map(|line| format!("line {line}\n")).collect();
    let world = World::new(&[("a", &lines), ("b", "old\n"), ("c", "gone"), ("d/e", "\u{0}"), ("f/g", "x")]);
    check(
        &world,
        vec![
            world.texts("a", &[(1, 5, 1, 6, "two"), (3, 0, 4, 0, ""), (15, 0, 15, 0, "new\nlines\n")]),
            world.rename("b", "b2"),
            world.texts("b2", &[(0, 0, 0, 3, "new")]),
            world.delete("c"),
            world.create("n"),
            world.texts("n", &[(0, 0, 0, 0, "hello\n")]),
            world.delete("d"),
            world.rename("f", "f2"),
        ],
        &expect![[r#"
            1 changed, 1 created, 1 renamed, 2 deleted, Folders { renamed: 1, within: 1, deleted: 0 }, places 5
            Changed a +3 -2
            @@ -1,6 +1,5 @@
             line 1
            -line 2
            +line two
             line 3
            -line 4
             line 5
             line 6
            @@ -14,4 +13,6 @@
             line 14
             line 15
            +new
            +lines
             line 16
             line 17
            Renamed b2 from b +1 -1
            @@ -1,1 +1,1 @@
            -old
            +new
            Deleted c +0 -1
            @@ -1,1 +0,0 @@
            -gone
            \ No newline at end of file
            Deleted d/e +0 -0, no text
            Renamed f2 from f +0 -0
            Created n +1 -0
            @@ -0,0 +1,1 @@
            +hello
        "#]],
    );
}

#[test]
fn edits_that_change_nothing() {
    let world = World::new(&[("a", "one\n"), ("b", "two\n")]);
    check(&world, vec![], &expect!["nothing: the edit changes nothing ()"]);
    check(&world, vec![world.texts("a", &[(0, 0, 0, 3, "one")])], &expect!["nothing: the edit changes nothing ()"]);
    check(
        &world,
        vec![world.rename("a", "c"), world.rename("c", "a")],
        &expect!["nothing: the edit changes nothing ()"],
    );
    check(&world, vec![world.create("c"), world.delete("c")], &expect!["nothing: the edit changes nothing ()"]);
    check(
        &world,
        vec![world.texts("a", &[(0, 0, 0, 3, "one")]), world.texts("b", &[(0, 0, 0, 1, "T")])],
        &expect![[r#"
            1 changed, 0 created, 0 renamed, 0 deleted, places 1
            Changed b +1 -1
            @@ -1,1 +1,1 @@
            -two
            +Two
        "#]],
    );
    // Deleted and written anew, word for word.
    let anew = vec![world.delete("a"), world.create("a"), world.texts("a", &[(0, 0, 0, 0, "one\n")])];
    check(&world, anew, &expect!["nothing: the edit changes nothing ()"]);
    // There and back again.
    check(
        &world,
        vec![world.texts("a", &[(0, 0, 0, 0, "O")]), world.texts("a", &[(0, 0, 0, 1, "")])],
        &expect!["nothing: the edit changes nothing ()"],
    );
}

#[test]
fn one_place_that_is_replaced_more_than_once() {
    let world = World::new(&[("a", "one two\nthree\n"), ("b", "one\n"), ("d/c", "one\n")]);
    let becomes = |steps: Vec<EditStep>| match world.plan(steps) {
        Ok(plan) => {
            let file = plan.diff().into_iter().next().unwrap();
            let lines = file.hunks.into_iter().flat_map(|hunk| hunk.lines);
            lines
                .filter_map(|line| if let Line::Added(text) = line { Some(text) } else { None })
                .collect::<Vec<_>>()
                .join("|")
        }
        refused => refusal(refused, &world),
    };
    let (one, two) = ((0, 0, 0, 3, "1"), (0, 4, 0, 7, "2"));
    let (start, overlap) = ((0, 0, 0, 0, "<"), "conflict: two edits overlap (line 1) (ws/a)");
    let in_a = |edits: &[_]| world.texts("a", edits);
    // In one step, and in two.
    assert_eq!(becomes(vec![in_a(&[one, two, one])]), "1 2");
    assert_eq!(becomes(vec![in_a(&[one, (0, 0, 0, 3, "I")])]), overlap);
    assert_eq!(becomes(vec![in_a(&[one]), in_a(&[(0, 0, 0, 3, "I")])]), overlap);
    assert_eq!(becomes(vec![in_a(&[one]), in_a(&[one])]), "1 two");
    assert_eq!(becomes(vec![in_a(&[one, two]), in_a(&[two])]), "1 2");
    assert_eq!(becomes(vec![in_a(&[start, one]), in_a(&[start, one])]), "<1 two");
    assert_eq!(becomes(vec![in_a(&[start, one]), in_a(&[one, two])]), overlap);
    assert_eq!(becomes(vec![in_a(&[one]), in_a(&[(0, 1, 0, 1, "!")])]), overlap);
    assert_eq!(becomes(vec![in_a(&[one, two]), in_a(&[(0, 2, 0, 5, "I")])]), overlap);
    // Inserts are made as often as they come, the second where the first one leaves it.
    assert_eq!(becomes(vec![in_a(&[start]), in_a(&[start])]), "<<one two");
    assert_eq!(becomes(vec![in_a(&[one]), in_a(&[(1, 0, 1, 5, "3")])]), "1 two|3");
    // Of another file, or one that has taken the place of this.
    assert_eq!(becomes(vec![in_a(&[one]), world.texts("b", &[one])]), "1 two");
    let over =
        EditStep::Rename { from: world.file("b"), to: world.file("a"), overwrite: true, ignore_if_exists: false };
    assert_eq!(becomes(vec![in_a(&[one]), over, in_a(&[(0, 0, 0, 3, "I")])]), "I");
    let anew = EditStep::Create { file: world.file("a"), overwrite: true, ignore_if_exists: false };
    let written = in_a(&[(0, 0, 0, 0, "one\n")]);
    assert_eq!(becomes(vec![in_a(&[one]), anew, written, in_a(&[(0, 0, 0, 3, "I")])]), "I");
    let moved = [world.texts("d/c", &[one]), world.rename("d", "e"), world.rename("e", "d")];
    assert_eq!(becomes([&moved[..], &[world.texts("d/c", &[(0, 0, 0, 1, "I")])]].concat()), "I");
}

#[test]
fn options_of_creating_renaming_and_deleting() {
    let world = World::new(&[("a", "one\n"), ("b", "two\n"), ("d/e", "x")]);
    let create =
        |path, overwrite, ignore| EditStep::Create { file: world.file(path), overwrite, ignore_if_exists: ignore };
    let rename = |from, to, overwrite, ignore| EditStep::Rename {
        from: world.file(from),
        to: world.file(to),
        overwrite,
        ignore_if_exists: ignore,
    };
    let delete =
        |path, recursive, ignore| EditStep::Delete { file: world.file(path), recursive, ignore_if_not_exists: ignore };
    let nothing = expect!["nothing: the edit changes nothing ()"];
    check(&world, vec![create("a", false, false)], &expect!["conflict: the edit creates it, but it exists (ws/a)"]);
    check(&world, vec![create("a", false, true)], &nothing);
    let emptied = expect![[r#"
        1 changed, 0 created, 0 renamed, 0 deleted, places 0
        Changed a +0 -1
        @@ -1,1 +0,0 @@
        -one
    "#]];
    check(&world, vec![create("a", true, false)], &emptied);
    check(&world, vec![create("a", true, true)], &emptied);
    check(
        &world,
        vec![create("d", true, false)],
        &expect!["refused: what is there is no plain file to be overwritten (ws/d)"],
    );

    check(
        &world,
        vec![rename("a", "b", false, false)],
        &expect!["conflict: the edit renames another file to it, but it exists (ws/b)"],
    );
    check(&world, vec![rename("a", "b", false, true)], &nothing);
    check(
        &world,
        vec![rename("a", "b", true, true)],
        &expect![[r#"
            0 changed, 0 created, 1 renamed, 0 deleted, places 0
            Renamed b from a, over another +0 -0
        "#]],
    );
    check(
        &world,
        vec![rename("x", "y", false, false)],
        &expect!["not_found: the edit renames it, but it does not exist (ws/x)"],
    );
    check(
        &world,
        vec![rename("d", "d/f", false, false)],
        &expect!["invalid: the edit moves a folder into itself (ws/d)"],
    );
    check(&world, vec![rename("a", "d", true, false)], &expect!["refused: the edit would overwrite a folder (ws/d)"]);
    check(
        &world,
        vec![rename("a", "b/c", false, false)],
        &expect!["conflict: a file is in the place of a folder above it (ws/b/c)"],
    );

    check(
        &world,
        vec![delete("x", false, false)],
        &expect!["not_found: the edit deletes it, but it does not exist (ws/x)"],
    );
    check(&world, vec![delete("x", false, true)], &nothing);
    check(
        &world,
        vec![delete("d", false, false)],
        &expect!["conflict: the edit deletes a folder that is not empty (ws/d)"],
    );
    check(
        &world,
        vec![delete("d/e", false, false), delete("d", false, false)],
        &expect![[r#"
            0 changed, 0 created, 0 renamed, 1 deleted, places 0
            Deleted d/e +0 -1
            @@ -1,1 +0,0 @@
            -x
            \ No newline at end of file
        "#]],
    );
    check(
        &world,
        vec![world.texts("x", &[(0, 0, 0, 0, "x")])],
        &expect!["not_found: the edit concerns a file that does not exist (ws/x)"],
    );
    check(
        &world,
        vec![world.texts("d", &[(0, 0, 0, 0, "x")])],
        &expect!["invalid: the edit takes a folder for a text (ws/d)"],
    );
}

#[test]
fn syn_07_computed_on_another_text() {
    let world = World::new(&[("a", "one\n")]);
    let snapshot = world.disk.read(&world.path("a")).unwrap();
    let told = |version| {
        let told = Told { snapshot: snapshot.clone(), version };
        move |_: &Path| Some(told.clone())
    };
    let versioned = |version| {
        let EditStep::Texts { file, edits, .. } = world.texts("a", &[(0, 0, 0, 1, "O")]) else { unreachable!() };
        vec![EditStep::Texts { file, version, edits }]
    };
    assert!(world.told(versioned(Some(3)), &told(Some(3))).is_ok());
    assert!(world.told(versioned(None), &told(Some(3))).is_ok());
    expect!["conflict: the edit was computed for another version of it (ws/a)"]
        .assert_eq(&refusal(world.told(versioned(Some(2)), &told(Some(3))), &world));
    world.write("a", b"# new\none\n");
    let changed = expect!["conflict: it changed while the server was computing (ws/a)"];
    changed.assert_eq(&refusal(world.told(versioned(Some(3)), &told(Some(3))), &world));
    changed.assert_eq(&refusal(world.told(vec![world.rename("a", "b")], &told(None)), &world));
    changed.assert_eq(&refusal(world.told(vec![world.delete("a")], &told(None)), &world));
}

#[test]
fn edt_04_what_is_no_utf_8_is_not_edited() {
    let world = World::new(&[]);
    world.write("latin", b"caf\xe9\n");
    world.write("nul", format!("{}\u{0}", "x".repeat(9000)).as_bytes());
    world.write("bin", b"\x00\x01");
    let at_start = |path| vec![world.texts(path, &[(0, 0, 0, 0, "x")])];
    check(&world, at_start("latin"), &expect!["refused: it is not UTF-8 (ws/latin)"]);
    check(&world, at_start("nul"), &expect!["refused: it holds a NUL character (ws/nul)"]);
    check(&world, at_start("bin"), &expect!["refused: it is binary (ws/bin)"]);
    // Moved as they are, they are fine.
    assert_eq!(world.plan(vec![world.rename("latin", "l2"), world.rename("bin", "b2")]).unwrap().counts.renamed, 2);
}

#[test]
fn ignored_files_are_marked() {
    let world = World::new(&[
        (".git/HEAD", ""),
        (".git/info/exclude", "private\n"),
        (".gitignore", "gen/\n*.log\n!kept.log\n"),
        ("gen/a.rs", "a"),
        ("b.log", "b"),
        ("kept.log", "c"),
        ("private/d", "d"),
        ("src/.gitignore", "/e\n"),
        ("src/e", "e"),
        ("src/in/e", "e"),
    ]);
    let all = ["gen/a.rs", "b.log", "kept.log", "private/d", "src/e", "src/in/e"];
    let plan = world.plan(all.map(|path| world.texts(path, &[(0, 0, 0, 0, "x")])).into()).unwrap();
    let names: Vec<_> =
        plan.ignored.iter().map(|path| path.strip_prefix(&world.root).unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["b.log", "gen/a.rs", "private/d", "src/e"]);
}

#[test]
fn ids_are_unguessable_and_hashes_cover_everything() {
    let world = World::new(&[("a", "one\n"), ("b", "two\n")]);
    let plan = |text: &str| world.plan(vec![world.texts("a", &[(0, 0, 0, 0, text)])]).unwrap();
    let (one, same, other) = (plan("x"), plan("x"), plan("y"));
    assert_ne!(one.id, same.id);
    assert_eq!(one.id.as_str().len(), 16);
    assert_eq!(one.hash, same.hash);
    assert_ne!(one.hash, other.hash);
    let moved = world.plan(vec![world.texts("b", &[(0, 0, 0, 0, "x")])]).unwrap();
    assert_ne!(one.hash, moved.hash);
}

#[test]
fn large_diffs_are_cut() {
    let lines: String = (0..3000).map(|line| format!("{line}\n")).collect();
    let world = World::new(&[("a", &lines), ("wide", "")]);
    let every: Vec<_> = (0..300).map(|at| (at * 10, 0, at * 10, 0, "x")).collect();
    let plan =
        world.plan(vec![world.texts("a", &every), world.texts("wide", &[(0, 0, 0, 0, &"w".repeat(10_000))])]).unwrap();
    let diff = plan.diff();
    assert_eq!((diff[0].added, diff[0].removed), (300, 300));
    assert_eq!(diff[0].hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>(), 400);
    assert!(diff[0].left_out > 200);
    let Line::Added(wide) = &diff[1].hunks[0].lines[0] else { panic!("{:?}", diff[1]) };
    assert!(wide.starts_with("www") && wide.ends_with("www") && wide.contains("…(9600 characters)…"), "{wide}");
    assert_eq!(diff[1].kind, Kind::Changed);
}

#[test]
fn what_is_no_file() {
    let world = World::new(&[]);
    let file = FileRef::Foreign("jdt://contents/a.class".into());
    let step = EditStep::Create { file, overwrite: false, ignore_if_exists: false };
    let refused = world.plan(vec![step]).unwrap_err();
    assert_eq!(refused.code, RefusalCode::OutsideWorkspace);
}
