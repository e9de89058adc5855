//! Edits that mean harm, and trees that are changed under langport's hands.

use std::os::unix::fs::symlink;

use expect_test::{Expect, expect};

use super::world::{CALLER, World, refusal, said, tree};
use crate::edits::{Changes, Policy, RefusalCode};
use crate::protocol::types::{EditStep, FileRef};
use crate::sys::below::Hook;
use crate::sys::files;

/// A workspace with something beside it, and links that lead there.
fn world() -> World {
    let world =
        World::new(&[("a", "one\n"), ("d/b", "two\n"), (".git/config", "[core]\n"), ("node_modules/m/i.js", "m\n")]);
    world.write("../outside/secret", b"secret\n");
    symlink("../outside", world.path("out")).unwrap();
    symlink("../outside/secret", world.path("file")).unwrap();
    symlink("../outside/none", world.path("dangling")).unwrap();
    symlink(".git", world.path("history")).unwrap();
    world
}

fn check(steps: impl Fn(&World) -> Vec<EditStep>, expected: &Expect) {
    let world = world();
    let all = tree(world.top.path());
    expected.assert_eq(&refusal(world.plan(steps(&world)), &world));
    assert_eq!(tree(world.top.path()), all);
}

#[test]
fn sec_01_outside_the_workspace() {
    let at_start = |path: &'static str| {
        move |world: &World| vec![world.texts("a", &[(0, 0, 0, 0, "x")]), world.texts(path, &[(0, 0, 0, 0, "x")])]
    };
    check(
        at_start("../outside/secret"),
        &expect![
            "outside_workspace: the edit concerns a file outside the workspace (ws/../outside/secret -> outside/secret)"
        ],
    );
    check(
        at_start("d/../../outside/secret"),
        &expect![
            "outside_workspace: the edit concerns a file outside the workspace (ws/d/../../outside/secret -> outside/secret)"
        ],
    );
    check(
        at_start("out/secret"),
        &expect!["outside_workspace: the edit concerns a file outside the workspace (ws/out/secret -> outside/secret)"],
    );
    check(
        at_start("file"),
        &expect!["outside_workspace: a link leads outside the workspace (ws/file -> outside/secret)"],
    );
    check(
        at_start("dangling"),
        &expect!["failed: cannot follow a link: No such file or directory (os error 2) (ws/dangling)"],
    );
    check(
        at_start("none/../../outside/secret"),
        &expect![
            "outside_workspace: the edit concerns a file outside the workspace (ws/none/../../outside/secret -> outside/secret)"
        ],
    );
    check(
        |world| vec![world.create("out/new")],
        &expect!["outside_workspace: the edit concerns a file outside the workspace (ws/out/new -> outside/new)"],
    );
    check(
        |world| vec![world.create("dangling")],
        &expect!["conflict: the edit creates it, but it exists (ws/dangling)"],
    );
    check(
        |world| vec![world.rename("a", "../outside/a")],
        &expect!["outside_workspace: the edit concerns a file outside the workspace (ws/../outside/a -> outside/a)"],
    );
    check(
        |world| vec![world.rename("../outside/secret", "s")],
        &expect![
            "outside_workspace: the edit concerns a file outside the workspace (ws/../outside/secret -> outside/secret)"
        ],
    );
    let up = world();
    assert_eq!(up.plan(vec![up.delete("..")]).unwrap_err().code, RefusalCode::Invalid);
    check(
        |_| {
            vec![EditStep::Delete {
                file: FileRef::Path("/etc/hosts".into()),
                recursive: true,
                ignore_if_not_exists: true,
            }]
        },
        &expect!["outside_workspace: the edit concerns a file outside the workspace (somewhere)"],
    );
    check(
        |_| vec![EditStep::Create { file: FileRef::Path("relative".into()), overwrite: true, ignore_if_exists: true }],
        &expect!["invalid: `relative` is no path of a file: it names no file (somewhere)"],
    );
}

#[test]
fn what_is_withheld() {
    let withheld = |path: &'static str| move |world: &World| vec![world.texts(path, &[(0, 0, 0, 0, "x")])];
    check(
        withheld(".git/config"),
        &expect!["refused: it is not to be changed: it belongs to version control (ws/.git/config)"],
    );
    check(
        withheld("history/config"),
        &expect!["refused: it is not to be changed: it belongs to version control (ws/.git/config)"],
    );
    check(
        withheld("node_modules/m/i.js"),
        &expect![
            "refused: it is not to be changed: it belongs to a dependency or is a tool's own (ws/node_modules/m/i.js)"
        ],
    );
    check(
        |world| vec![world.create(".GIT/hooks/post-checkout")],
        &expect!["refused: it is not to be changed: it belongs to version control (ws/.GIT/hooks/post-checkout)"],
    );
    check(
        |world| vec![world.rename("a", ".git/hooks/x")],
        &expect!["refused: it is not to be changed: it belongs to version control (ws/.git/hooks/x)"],
    );
    check(
        |world| vec![world.delete(".git")],
        &expect!["refused: it is not to be changed: it belongs to version control (ws/.git)"],
    );
    let world = world();
    world.write("sub/.git/HEAD", b"");
    world.write("pkg/node_modules/x", b"");
    expect!["refused: it belongs to version control, and would be moved along (ws/sub/.git)"]
        .assert_eq(&refusal(world.plan(vec![world.rename("sub", "bus")]), &world));
    expect!["refused: it is not to be changed: it belongs to a dependency or is a tool's own (ws/pkg/node_modules/x)"]
        .assert_eq(&refusal(world.plan(vec![world.delete("pkg")]), &world));
    // Dependencies move along with what needs them.
    assert!(world.plan(vec![world.rename("pkg", "package")]).is_ok());
    let from = FileRef::Path(world.root.clone());
    let step = EditStep::Rename { from, to: world.file("x"), overwrite: false, ignore_if_exists: false };
    assert_eq!(world.plan(vec![step]).unwrap_err().code, RefusalCode::Refused);
}

/// Where langport keeps what it runs and what it undoes: whoever serves a home folder has it inside.
#[test]
fn what_is_langports_own() {
    let mut world = World::new(&[
        ("a", "one\n"),
        (".config/langport/config.toml", ""),
        (".config/other", ""),
        (".config/langporter", "x\n"),
        ("state/edits/0/1/steps.json", "{}"),
    ]);
    symlink(".config", world.path("conf")).unwrap();
    world.policy.own = [".config/langport", "state", "data"].map(|own| world.path(own)).into();
    let before = world.tree();
    let refused = |steps| refusal(world.plan(steps), &world);
    let own = "refused: it is not to be changed: it is langport's own";
    for path in [".config/langport/config.toml", "conf/langport/config.toml"] {
        assert_eq!(
            refused(vec![world.texts(path, &[(0, 0, 0, 0, "x")])]),
            format!("{own} (ws/.config/langport/config.toml)")
        );
    }
    for path in ["state/edits/0/1/decided", ".config/langport/servers.d/evil.toml", "data/servers/x"] {
        assert_eq!(refused(vec![world.create(path)]), format!("{own} (ws/{path})"));
        assert_eq!(refused(vec![world.rename("a", path)]), format!("{own} (ws/{path})"));
    }
    assert_eq!(refused(vec![world.delete("state")]), format!("{own} (ws/state)"));
    assert_eq!(refused(vec![world.delete(".config")]), format!("{own} (ws/.config/langport/config.toml)"));
    assert_eq!(refused(vec![world.rename(".config", "c")]), "refused: it holds what is langport's own (ws/.config)");
    assert!(
        world
            .plan(vec![world.texts(".config/langporter", &[(0, 0, 0, 0, "x")]), world.delete(".config/other")])
            .is_ok()
    );
    assert_eq!(world.tree(), before);
}

/// Every name is refused with its reason or is made, and taken back.
#[test]
fn names_of_all_kinds() {
    let long = "n".repeat(256);
    let below = format!("new/{long}/x");
    let deep = "d/".repeat(300) + "x";
    let wide = format!("{}/", "w".repeat(200)).repeat(30) + "x";
    for (name, why) in [
        ("a\nb", "invalid: a new name holds the character \\u{a}"),
        ("new\r/x", "invalid: a new name holds the character \\u{d}"),
        ("\u{1b}[31mx", "invalid: a new name holds the character \\u{1b}"),
        ("gpj.\u{202e}x", "invalid: a new name holds the character \\u{202e}"),
        ("a\u{200b}", "invalid: a new name holds the character \\u{200b}"),
        ("a\u{2028}b", "invalid: a new name holds the character \\u{2028}"),
        (&long, "invalid: a new name has 256 bytes, more than 255"),
        (&below, "invalid: a new name has 256 bytes, more than 255"),
        (&deep, "too_large: its path has more than 4096 bytes, or 256 folders"),
        (&wide, "too_large: its path has more than 4096 bytes, or 256 folders"),
        ("a/b", "conflict: a file is in the place of a folder above it"),
        ("a/", "conflict: the edit creates it, but it exists"),
        (".git ", "refused: it is not to be changed: it belongs to version control"),
        ("d/.GiT./x", "refused: it is not to be changed: it belongs to version control"),
    ] {
        let world = world();
        let all = tree(world.top.path());
        for steps in [vec![world.create(name)], vec![world.rename("d/b", name)]] {
            let said = refusal(world.plan(steps), &world);
            let said_of_rename = said.replace("renames another file to it", "creates it");
            assert!(said_of_rename.starts_with(why), "{name:?}: {said}");
        }
        assert_eq!(tree(world.top.path()), all);
    }
    let widest = "w".repeat(255);
    for name in [
        "CON",
        "nul.txt",
        "a.",
        "b ",
        "-rf",
        "~",
        "*?",
        "a\\b",
        "C:x",
        "...",
        "👩\u{200d}🚀.py",
        &widest,
        ".langport-x-0",
    ] {
        let world = world();
        let changes = world.changes();
        let steps = vec![
            world.create(name),
            world.texts(name, &[(0, 0, 0, 0, "new")]),
            world.rename("d/b", &format!("e/{name}")),
        ];
        let before = world.tree();
        let (id, _) = world.make(&changes, steps).unwrap_or_else(|refusal| panic!("{name:?}: {refusal}"));
        assert_eq!((world.read(name), world.read(&format!("e/{name}"))), ("new".into(), "two\n".into()), "{name:?}");
        changes.undo(CALLER, &id).unwrap();
        assert_eq!(world.tree(), before, "{name:?}");
    }
    // What has such a name already is changed, moved and deleted as anything else.
    let world = World::new(&[("odd\nname", "one\n"), ("gone\u{202e}", "x")]);
    let changes = world.changes();
    let before = world.tree();
    let steps = vec![
        world.texts("odd\nname", &[(0, 0, 0, 1, "O")]),
        world.rename("odd\nname", "even"),
        world.delete("gone\u{202e}"),
    ];
    let (id, _) = world.make(&changes, steps).unwrap();
    assert_eq!(world.read("even"), "One\n");
    changes.undo(CALLER, &id).unwrap();
    assert_eq!(world.tree(), before);
}

/// A tree that is deeper than anybody's: gone through level by level, each of them one on the stack.
#[test]
fn a_folder_too_deep_to_delete() {
    let world = World::new(&[("a", "one\n")]);
    files::create_dirs(&world.path(&"d/".repeat(1_000))).unwrap();
    let refused = world.plan(vec![world.delete("d")]).unwrap_err();
    assert_eq!(
        (refused.code, &*refused.what),
        (RefusalCode::TooLarge, "its path has more than 4096 bytes, or 256 folders")
    );
    // As it is it can be moved.
    let changes = world.changes();
    let (id, _) = world.make(&changes, vec![world.rename("d", "e")]).unwrap();
    assert!(world.path(&("e/".to_owned() + &"d/".repeat(999))).is_dir());
    changes.undo(CALLER, &id).unwrap();
}

#[test]
fn nothing_is_moved_to_where_it_is_withheld() {
    let mut world = World::new(&[("d/key.pem", "k"), ("a", "one\n")]);
    world.policy.withheld = globset::GlobSetBuilder::new().add(globset::Glob::new("e/*.pem").unwrap()).build().unwrap();
    let refused = refusal(world.plan(vec![world.rename("d", "e")]), &world);
    assert_eq!(refused, "refused: the configuration withholds it, and something would be moved there (ws/e/key.pem)");
    assert!(world.plan(vec![world.rename("d", "f")]).is_ok());
}

#[test]
fn files_that_would_be_too_large() {
    let huge = "x".repeat(100 << 20);
    let world = World::new(&[("a", "one\n")]);
    let refused = world.plan(vec![world.texts("a", &[(0, 0, 0, 0, &huge)])]).unwrap_err();
    assert_eq!(refused.code, RefusalCode::TooLarge);
    let part = "x".repeat(4 << 20);
    let steps = (0..20).flat_map(|at| {
        let name = format!("f{at}");
        [world.create(&name), world.texts(&name, &[(0, 0, 0, 0, &part)])]
    });
    let refused = world.plan(steps.collect()).unwrap_err();
    expect!["too_large: it would hold more than 67108864 bytes ()"].assert_eq(&said(&refused, &world));
    world.write("big", &vec![b'x'; 6 << 20]);
    let refused = world.plan(vec![world.texts("big", &[(0, 0, 0, 0, "x")])]).unwrap_err();
    expect!["too_large: it has 6291456 bytes, more than 5242880 (ws/big)"].assert_eq(&said(&refused, &world));
    let mut world = world;
    world.policy = Policy { files: 10, ..Policy::default() };
    let refused = world.plan((0..20).map(|at| world.create(&format!("n{at}"))).collect()).unwrap_err();
    expect!["too_large: it touches 20 files and folders, more than 10 ()"].assert_eq(&said(&refused, &world));
    // The same text gone through again and again.
    world.policy = Policy { plan_bytes: 1 << 20, ..Policy::default() };
    world.write("a", "x".repeat(1 << 18).as_bytes());
    let refused = world.plan((0..80).map(|_| world.texts("a", &[(0, 0, 0, 0, "")])).collect()).unwrap_err();
    expect!["too_large: the edit goes through the same texts too often (ws/a)"].assert_eq(&said(&refused, &world));
}

/// A folder, or the file, is swapped for a link that leads outside: after the plan was made, and after everything was
/// looked at.
#[test]
fn links_swapped_in_lead_nowhere() {
    for late in [false, true] {
        for whole in [false, true] {
            let world = world();
            world.write("../outside/b", b"two\n");
            let outside = tree(&world.top.path().join("outside"));
            let (root, top) = (world.root.clone(), world.top.path().to_owned());
            let swap = move || {
                let (victim, target) =
                    if whole { (root.join("d"), "outside") } else { (root.join("d/b"), "outside/b") };
                files::rename(&victim, &top.join("aside")).unwrap();
                symlink(top.join(target), &victim).unwrap();
            };
            let once = std::sync::Once::new();
            let (when, swapped) = if late { ("exchange", Some(swap.clone())) } else { ("", None) };
            let changes = world.hooked(Hook::new(move |step| {
                if let Some(swap) = swapped.as_ref().filter(|_| step == when) {
                    once.call_once(swap);
                }
                Ok(())
            }));
            let steps = vec![
                world.texts("d/b", &[(0, 0, 0, 0, "x")]),
                world.create("d/new"),
                world.texts("a", &[(0, 0, 0, 0, "x")]),
            ];
            let id = changes.keep(CALLER, world.plan(steps).unwrap()).unwrap();
            if !late {
                swap();
            }
            let refused = changes.apply(CALLER, &id).unwrap_err();
            assert!(matches!(refused.code, RefusalCode::Conflict), "{refused}");
            assert_eq!(tree(&world.top.path().join("outside")), outside);
            assert_eq!(world.read("a"), "one\n");
        }
    }
}

#[test]
fn a_root_that_has_become_a_link() {
    let world = world();
    let changes = world.changes();
    let id = changes.keep(CALLER, world.plan(vec![world.create("new")]).unwrap()).unwrap();
    files::rename(&world.root, &world.top.path().join("away")).unwrap();
    symlink("outside", &world.root).unwrap();
    let refused = changes.apply(CALLER, &id).unwrap_err();
    assert_eq!(refused.code, RefusalCode::Failed);
    assert!(!world.top.path().join("outside/new").exists());
}

#[test]
fn journals_that_were_tampered_with() {
    let world = World::new(&[("a", "one\n")]);
    let changes = world.changes();
    let (id, _) = world.make(&changes, vec![world.texts("a", &[(0, 0, 0, 0, "x")])]).unwrap();
    let home = std::fs::read_dir(world.state().join("edits"))
        .unwrap()
        .flatten()
        .find(|entry| entry.path().is_dir())
        .unwrap()
        .path();
    let journal = std::fs::read_dir(&home).unwrap().flatten().next().unwrap().path();
    files::write(&journal.join("old"), b"evil").unwrap();
    assert_eq!(changes.undo(CALLER, &id).unwrap_err().code, RefusalCode::Expired);
    assert_eq!(world.read("a"), "xone\n");
    // One that was decided but makes no sense is dropped, one that leads outside does nothing there.
    files::create_dirs(&home.join("junk")).unwrap();
    files::write(&home.join("junk/decided"), b"").unwrap();
    files::write(&home.join("junk/steps.json"), b"{").unwrap();
    files::create_dirs(&home.join("evil")).unwrap();
    files::write(&home.join("evil/decided"), b"").unwrap();
    let outside = world.top.path().canonicalize().unwrap().join("outside");
    let steps = format!(r#"{{"steps":[{{"MakeFolder":{{"path":"{}","attributes":null}}}}]}}"#, outside.display());
    files::write(&home.join("evil/steps.json"), steps.as_bytes()).unwrap();
    let other = Changes::new(&world.state(), &world.roots, Policy::default(), crate::edits::Limits::default());
    assert!(other.recover().is_err());
    assert!(!outside.exists());
}
