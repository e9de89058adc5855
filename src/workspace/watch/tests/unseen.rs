//! What brings no event where we watch: a file that is written by another of its names.

use expect_test::expect;

use super::*;

/// Waits until nothing that was only just written may still be told of once more.
async fn quiet(f: &mut Fixture) {
    loop {
        assert_eq!(f.watcher.barrier(LONG).await, Barrier::Seen);
        let changes = f.watcher.since(f.position);
        f.position = changes.seq;
        if changes.events.is_empty() {
            return;
        }
    }
}

#[tokio::test]
async fn files_are_written_by_names_outside() {
    let mut f = Fixture::new(&[("a/x", "1"), ("a/other", "1"), ("b/gone", "1")]).await;
    let outside = f.path("../outside");
    files::create_dirs(&outside).unwrap();
    let name = |name: &str| outside.join(name);
    put(&name("y"), "1");
    // One that comes while we watch, and one that has its second name from the beginning.
    fs::hard_link(name("y"), f.path("a/y")).unwrap();
    fs::hard_link(f.path("b/gone"), name("gone")).unwrap();
    files::rename(&f.path("b"), &f.path("c")).unwrap();
    quiet(&mut f).await;
    put(&name("y"), "2");
    put(&name("gone"), "2");
    f.check(&expect!["~a/y ~c/gone"]).await;
    quiet(&mut f).await;
    // The same size, and a time that was kept.
    let before = name("y").metadata().unwrap().modified().unwrap();
    put(&name("y"), "3");
    fs::File::options().write(true).open(name("y")).unwrap().set_modified(before).unwrap();
    f.check(&expect!["~a/y"]).await;
    // Without its second name nobody has to look at it.
    quiet(&mut f).await;
    files::remove(&name("y")).unwrap();
    files::remove(&f.path("c/gone")).unwrap();
    quiet(&mut f).await;
    put(&name("gone"), "3");
    f.put("a/y", "4");
    f.check(&expect!["~a/y"]).await;
}

#[tokio::test]
async fn names_outside_from_before_the_start() {
    let tmp = tempfile::tempdir().unwrap();
    let root = tmp.path().canonicalize().unwrap().join("ws");
    put(&root.join("a/x"), "1");
    fs::hard_link(root.join("a/x"), tmp.path().join("x")).unwrap();
    let watcher = Watcher::start(&Roots::new([&root]).unwrap(), &Options::default());
    set_up(&watcher).await;
    let position = watcher.head();
    let mut f = Fixture { _tmp: tmp, root, watcher, position };
    quiet(&mut f).await;
    put(&f.path("../x"), "2");
    f.check(&expect!["~a/x"]).await;
}

/// Too many of them are compared as where no events come from.
#[tokio::test]
async fn many_files_are_written_by_names_outside() {
    let mut f = Fixture::new(&[("a", "1")]).await;
    let outside = f.path("../outside");
    let most = linked::MOST;
    for n in 0..most + 100 {
        let folder = n / 100;
        put(&outside.join(format!("{folder}/{n}")), "1");
        files::create_dirs(&f.path(&format!("d{folder}"))).unwrap();
        fs::hard_link(outside.join(format!("{folder}/{n}")), f.path(&format!("d{folder}/{n}"))).unwrap();
    }
    quiet(&mut f).await;
    let state = f.watcher.state().to_string();
    assert!(state.contains("more than 2000 files with several names; files are compared on each call"), "{state}");
    for n in 0..most + 100 {
        put(&outside.join(format!("{}/{n}", n / 100)), "2");
    }
    assert_eq!(f.watcher.barrier(LONG).await, Barrier::Seen);
    let changes = f.watcher.since(f.position);
    let told = changes.events.iter().filter(|change| change.kind == Kind::Changed && !change.folder).count();
    assert_eq!(told, most + 100);
}
