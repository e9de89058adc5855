//! Roots that go and come again, links, installed packages, folders that are watched although they are ignored.

use super::*;

#[tokio::test]
async fn a_root_that_goes() {
    for source in BOTH {
        let mut f = Fixture::from(source, &[("a/b", "")]).await;
        let mut states = f.watcher.states();
        files::remove_tree(&f.root).unwrap();
        states.wait_for(|state| matches!(state, State::NoEvents { .. })).await.unwrap();
        f.check(&expect!["-/ -a/ -a/b"]).await;
        // Its parent is not watched: that it has come again is found out by looking.
        f.put("a/b", "1");
        f.put("c", "1");
        f.check(&expect!["+/ +a/ +a/b +c"]).await;
        f.put("c", "2");
        f.check(&expect!["~c"]).await;
        assert_eq!(f.watcher.state(), State::Watching { folders: 2 });
    }
}

#[tokio::test]
async fn a_root_that_is_replaced() {
    for source in BOTH {
        let mut f = Fixture::from(source, &[("a/b", "1"), ("c", "1")]).await;
        let old = f.root.with_file_name("old");
        files::rename(&f.root, &old).unwrap();
        f.put("a/b", "1");
        f.put("new", "1");
        f.check(&expect!["+new -c ~/ ~a/ ~a/b"]).await;
        // What becomes of the old one is nobody's business any more.
        put(&old.join("a/b"), "2");
        f.check(&expect![""]).await;
        f.put("a/b", "2");
        f.check(&expect!["~a/b"]).await;
        // The folder above it: of that nobody is told at all.
        let home = f.root.parent().unwrap().to_owned();
        let away = home.with_extension("away");
        files::rename(&home, &away).unwrap();
        f.put("a/b", "3");
        f.check(&expect!["-new ~/ ~a/ ~a/b"]).await;
        files::remove_tree(&away).unwrap();
    }
}

#[tokio::test]
async fn links_to_folders_change_with_them() {
    let mut f = Fixture::new(&[("real/deep/a", "1"), (".gitignore", "hidden\n"), ("hidden/x/b", "1")]).await;
    std::os::unix::fs::symlink(f.path("real"), f.path("link")).unwrap();
    f.check(&expect!["+link +link/deep/a"]).await;
    f.put("link/deep/a", "2");
    f.check(&expect!["~link/deep/a ~real/deep/a"]).await;
    f.put("real/new", "1");
    f.check(&expect!["+link/new +real/new"]).await;
    files::remove(&f.path("link")).unwrap();
    f.check(&expect!["-link -link/deep/a -link/new"]).await;
    std::os::unix::fs::symlink(f.path("hidden/x"), f.path("seen")).unwrap();
    f.watcher.barrier(LONG).await;
    f.position = f.watcher.head();
    f.put("hidden/x/b", "2");
    f.check(&expect!["~hidden/x/b ~seen/b"]).await;

    // Links that were there before.
    let mut f = Fixture::new(&[("real/a", "1")]).await;
    std::os::unix::fs::symlink(f.path("real"), f.path("link")).unwrap();
    std::os::unix::fs::symlink(f.path("link"), f.path("again")).unwrap();
    let watcher = Watcher::start(&Roots::new([&f.root]).unwrap(), &Options::default());
    set_up(&watcher).await;
    (f.position, f.watcher) = (watcher.head(), watcher);
    f.put("real/a", "2");
    f.check(&expect!["~again/a ~link/a ~real/a"]).await;
}

#[tokio::test]
async fn installed_packages_tell_by_their_records() {
    let tree = [
        ("node_modules/.package-lock.json", "{}"),
        ("node_modules/m/a", ""),
        (".venv/pyvenv.cfg", ""),
        (".venv/lib/python3.12/site-packages/six.py", ""),
    ];
    let mut f = Fixture::new(&tree).await;
    assert_eq!(f.watcher.state(), State::Watching { folders: 1 });
    let packages = ".venv/lib/python3.12/site-packages";
    f.put("node_modules/m/b", "1");
    f.put(&format!("{packages}/six.py"), "1");
    f.check(&expect![""]).await;
    f.put("node_modules/.package-lock.json", "{ }");
    f.put(&format!("{packages}/six-1.dist-info/RECORD"), "");
    f.check(&expect!["+.venv/lib/python3.12/site-packages/six-1.dist-info/ ~node_modules/.package-lock.json"]).await;
    f.put(&format!("{packages}/six-1.dist-info/INSTALLER"), "pip");
    f.check(&expect!["~.venv/lib/python3.12/site-packages/six-1.dist-info/"]).await;
    files::remove_tree(&f.path(&format!("{packages}/six-1.dist-info"))).unwrap();
    f.check(&expect!["-.venv/lib/python3.12/site-packages/six-1.dist-info/"]).await;
    // Made anew, in any order.
    files::remove_tree(&f.path("node_modules")).unwrap();
    files::remove_tree(&f.path(".venv")).unwrap();
    f.check(&expect!["-node_modules/.package-lock.json"]).await;
    f.put("node_modules/.package-lock.json", "{}");
    f.put("env/lib/python3.12/site-packages/a.py", "");
    f.put("env/pyvenv.cfg", "");
    f.watcher.barrier(LONG).await;
    f.position = f.watcher.head();
    f.put("env/lib/python3.12/site-packages/b.py", "");
    f.put("env/lib/python3.12/site-packages/b-1.dist-info/RECORD", "");
    f.put("node_modules/.package-lock.json", "{ }");
    f.check(&expect!["+env/lib/python3.12/site-packages/b-1.dist-info/ ~node_modules/.package-lock.json"]).await;
}

#[tokio::test]
async fn a_folder_that_is_watched_although_ignored_may_come_later() {
    let mut f = Fixture::new(&[(".gitignore", "gen\n"), ("gen/other/x", "")]).await;
    assert!(!f.watcher.also(&f.path("gen/out"), files::now_ns()));
    f.put("gen/out/a", "1");
    f.put("gen/other/x", "1");
    f.check(&expect!["+gen/out/ +gen/out/a"]).await;
    files::remove_tree(&f.path("gen")).unwrap();
    f.check(&expect!["-gen/ -gen/out/ -gen/out/a"]).await;
    f.put("gen/out/a", "1");
    f.check(&expect!["+gen/ +gen/out/ +gen/out/a"]).await;
}

/// Its records were watched before, and told of something that nobody has heard yet.
#[tokio::test]
async fn a_folder_of_packages_that_is_watched_as_a_whole_later() {
    let mut f = Fixture::new(&[("node_modules/.package-lock.json", "{}"), ("node_modules/old/a", "1")]).await;
    let begun = files::now_ns();
    f.put("node_modules/new/a", "1");
    f.put("node_modules/.package-lock.json", "{ }");
    assert!(f.watcher.also(&f.path("node_modules"), begun));
    f.watcher.barrier(LONG).await;
    let seen = f.watcher.since(f.position);
    f.position = seen.seq;
    for path in ["node_modules/new/a", "node_modules/.package-lock.json"] {
        assert!(seen.events.iter().any(|change| *change.path == *f.path(path)), "{path} in {seen:?}");
    }
    f.put("node_modules/old/a", "2");
    f.put("node_modules/.package-lock.json", "{  }");
    f.check(&expect!["~node_modules/.package-lock.json ~node_modules/old/a"]).await;
}

#[tokio::test]
async fn what_search_tools_ignore() {
    for source in BOTH {
        let tree = [(".ignore", "big\n!kept\n"), (".gitignore", "kept\n"), ("big/a", ""), ("kept/a", "")];
        let mut f = Fixture::from(source, &tree).await;
        f.put("big/a", "1");
        f.put("kept/a", "1");
        f.check(&expect!["~kept/a"]).await;
        f.put(".ignore", "");
        f.check(&expect!["+big/ +big/a ~.ignore"]).await;
        f.put("kept/a", "2");
        f.put("big/a", "2");
        f.check(&expect!["~big/a"]).await;
    }
}
