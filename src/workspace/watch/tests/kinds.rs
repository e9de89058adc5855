//! Files, folders and what is neither in each other's place: who knew the one must hear of its end.

use std::os::unix::fs::symlink;

use expect_test::expect;

use super::*;

#[tokio::test]
async fn a_folder_in_the_place_of_a_file_and_back() {
    for source in BOTH {
        let mut f = Fixture::from(source, &[("b", "1"), ("p/m", "1")]).await;
        files::remove(&f.path("b")).unwrap();
        files::create_dirs(&f.path("b")).unwrap();
        f.check(&expect!["+b/ -b"]).await;
        f.put("b/in", "1");
        f.check(&expect!["+b/in"]).await;
        files::remove_tree(&f.path("b")).unwrap();
        f.put("b", "2");
        f.check(&expect!["+b -b/ -b/in"]).await;
        files::remove_tree(&f.path("p")).unwrap();
        f.put("p", "1");
        f.check(&expect!["+p -p/ -p/m"]).await;
        f.put("p", "2");
        f.check(&expect!["~p"]).await;
        // There and back between two looks.
        files::remove(&f.path("p")).unwrap();
        files::create_dirs(&f.path("p")).unwrap();
        files::remove_tree(&f.path("p")).unwrap();
        f.put("p", "3");
        f.check(&expect!["~p"]).await;
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_the_end_of_a_file() {
    for source in BOTH {
        let mut f = Fixture::from(source, &[("s", "1"), ("t", "1")]).await;
        files::remove(&f.path("s")).unwrap();
        symlink("nowhere", f.path("s")).unwrap();
        f.check(&expect!["-s"]).await;
        files::remove(&f.path("s")).unwrap();
        f.put("s", "1");
        f.check(&expect!["+s"]).await;
        files::remove(&f.path("s")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, f.path("s"), rustix::fs::Mode::RWXU).unwrap();
        f.check(&expect!["-s"]).await;
        files::remove(&f.path("s")).unwrap();
        symlink("t", f.path("s")).unwrap();
        f.check(&expect!["+s"]).await;
        // New, and nothing to read.
        symlink("nowhere", f.path("u")).unwrap();
        f.check(&expect![""]).await;
    }
}

/// Servers ask for folders by globs, and repositories make links.
#[tokio::test]
async fn nothing_outside_is_watched_for_a_server() {
    let mut f = Fixture::new(&[(".gitignore", "gen\nout\n"), ("gen/a", "1")]).await;
    let outside = f.root.with_file_name("outside");
    put(&outside.join("deep/a"), "1");
    symlink(&outside, f.path("out")).unwrap();
    f.check(&expect!["+out"]).await;
    // What leads nowhere now may lead out later.
    symlink(f.root.with_file_name("later"), f.path("later")).unwrap();
    for folder in ["../outside", "gen/../../outside", "out", "out/deep", "out/later", "later", "later/deep"] {
        assert!(!f.watcher.also(&f.path(folder), files::now_ns()), "{folder}");
    }
    assert!(!f.watcher.also(&outside, files::now_ns()));
    put(&outside.join("deep/a"), "2");
    f.check(&expect![""]).await;
    assert!(f.watcher.also(&f.path("gen"), files::now_ns()));
    f.put("gen/new", "1");
    // That was written in the same moment.
    f.check_but("+gen/a", &expect!["+gen/new"]).await;
}
