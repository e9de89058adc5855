use std::os::unix::fs::symlink;

use super::*;
use crate::sys::files;

fn world() -> (tempfile::TempDir, PathBuf, Below) {
    let tmp = tempfile::tempdir().unwrap();
    let top = tmp.path().canonicalize().unwrap();
    for folder in ["ws/d", "outside"] {
        files::create_dirs(&top.join(folder)).unwrap();
    }
    files::write(&top.join("ws/d/a"), b"one").unwrap();
    files::write(&top.join("outside/a"), b"secret").unwrap();
    symlink("../outside", top.join("ws/out")).unwrap();
    symlink("d", top.join("ws/in")).unwrap();
    symlink("../outside/a", top.join("ws/link")).unwrap();
    let below = Below::open([top.join("ws")], Hook::default()).unwrap();
    (tmp, top, below)
}

#[test]
fn no_link_is_followed_and_nothing_outside_reached() {
    let (_tmp, top, below) = world();
    let ws = top.join("ws");
    assert!(below.read(&ws.join("d/a")).is_ok());
    for path in ["out/a", "in/a", "link", "../outside/a", "d/../../outside/a"] {
        assert!(below.read(&ws.join(path)).is_err(), "{path}");
        assert!(below.create(&ws.join(path), false).is_err(), "{path}");
        assert!(below.rename(&ws.join("d/a"), &ws.join(path)).is_err(), "{path}");
        assert!(below.sync(&ws.join(path)).is_err(), "{path}");
    }
    assert!(below.read(&top.join("outside/a")).is_err());
    assert!(below.look(&ws).is_err());
    assert_eq!(below.look(&ws.join("link")).unwrap().unwrap().what, What::Link);
    assert_eq!(below.link(&ws.join("link")).unwrap(), Path::new("../outside/a"));
    assert!(below.look(&ws.join("none/a")).unwrap().is_none());
    // Removing a link removes the link.
    below.remove(&ws.join("link")).unwrap();
    assert!(below.remove_folder(&ws.join("out")).is_err());
    assert_eq!(std::fs::read(top.join("outside/a")).unwrap(), b"secret");
    assert_eq!(std::fs::read_dir(top.join("outside")).unwrap().count(), 1);
    // A root that is swapped after it was opened is still the one that was opened.
    files::rename(&ws, &top.join("away")).unwrap();
    symlink("outside", &ws).unwrap();
    below.create(&ws.join("d/new"), false).unwrap();
    assert!(top.join("away/d/new").exists());
    assert!(Below::open([ws], Hook::default()).is_err());
}

#[test]
fn names_that_are_taken_stay() {
    let (_tmp, top, below) = world();
    let (a, b) = (top.join("ws/d/a"), top.join("ws/d/b"));
    files::write(&b, b"two").unwrap();
    assert_eq!(below.rename(&a, &b).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(below.create(&b, false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(below.exchange(&a, &b).unwrap(), cfg!(target_os = "linux"));
    assert_eq!(std::fs::read(&a).unwrap(), b"two");
    assert_eq!(std::fs::read(&b).unwrap(), b"one");
    assert!(below.remove_folder(&top.join("ws/d")).is_err());
    assert_eq!(below.names(&top.join("ws/d")).unwrap().len(), 2);
}

#[test]
fn a_step_can_be_made_to_fail() {
    let (_tmp, top, _) = world();
    let hook = Hook::new(|step| if step == "remove" { Err(io::Error::other("no")) } else { Ok(()) });
    let below = Below::open([top.join("ws")], hook).unwrap();
    assert!(below.remove(&top.join("ws/d/a")).is_err());
    assert!(top.join("ws/d/a").exists());
    below.make_folder(&top.join("ws/e"), None).unwrap();
}
