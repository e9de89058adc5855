use std::os::unix::fs::symlink;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::sys::files;

struct Fixture {
    _tmp: tempfile::TempDir,
    base: PathBuf,
    roots: Roots,
}

impl Fixture {
    fn new(tree: &[&str], roots: &[&str]) -> Fixture {
        let tmp = tempfile::tempdir().unwrap();
        let base = tmp.path().canonicalize().unwrap();
        for path in tree {
            let path = base.join(path);
            files::create_dirs(path.parent().unwrap()).unwrap();
            files::write(&path, b"").unwrap();
        }
        let roots = Roots::new(roots.iter().map(|root| base.join(root))).unwrap();
        Fixture { _tmp: tmp, base, roots }
    }

    /// `BASE` stands for the folder that holds all.
    fn check(&self, given: &str, expected: &Expect) {
        let base = self.base.to_str().unwrap();
        let said = match self.roots.resolve(&given.replace("BASE", base)) {
            Ok(located) => format!("{} in {}", self.roots.display(&located.path), located.root),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&said.replace(base, "BASE"));
    }
}

#[test]
fn every_spelling_of_one_file() {
    let f = Fixture::new(&["ws/src/a.py"], &["ws"]);
    let home = std::path::absolute(env::home().unwrap()).unwrap();
    let up: String = home.components().skip(1).map(|_| "../").collect();
    for given in [
        "src/a.py",
        "./src/a.py",
        "./src/../src/a.py",
        "../ws/src/a.py",
        "BASE/ws/src/a.py",
        "BASE//ws///src/a.py",
        "file://BASE/ws/src/a.py",
        "FILE://localhostBASE/ws/src/a.py",
        &format!("~/{up}BASE/ws/src/a.py").replace("/BASE", "BASE"),
        "src\\a.py",
        ".\\src\\a.py",
        " src/a.py \n",
        "ws/src/a.py",
    ] {
        let given = given.replace("BASE", f.base.to_str().unwrap());
        let located = f.roots.resolve(&given.replace(".././", "../")).map(|located| located.path);
        assert_eq!(located, Ok(f.base.join("ws/src/a.py")), "{given}");
    }
}

#[test]
fn names_that_look_like_something_else() {
    let names = ["a b", "#work", "[slug]", "50%", "a%20b", "naïve", "日本", "q?x", "(auth)", "back\\slash", "blank "];
    let paths: Vec<String> = names.iter().map(|name| format!("ws/{name}")).collect();
    let f = Fixture::new(&paths.iter().map(String::as_str).collect::<Vec<_>>(), &["ws"]);
    for name in names {
        let path = f.base.join("ws").join(name);
        assert_eq!(f.roots.resolve(name).map(|located| located.path), Ok(path.clone()), "{name}");
        let uri = uri::from_path(&path).unwrap();
        assert_eq!(f.roots.resolve(&uri).map(|located| located.path), Ok(path), "{uri}");
    }
}

#[test]
fn errors_name_where_it_led() {
    let f = Fixture::new(&["ws/src/a.py", "outside/secret"], &["ws"]);
    f.check("src", &expect!["BASE/ws/src is a folder"]);
    f.check("src/none.py", &expect!["BASE/ws/src/none.py does not exist"]);
    f.check("src/none/../b.py", &expect!["BASE/ws/src/b.py does not exist"]);
    f.check("src/a.py/b", &expect!["BASE/ws/src/a.py/b does not exist"]);
    f.check("../outside/secret", &expect!["BASE/outside/secret is outside the workspace"]);
    f.check("../outside/none", &expect!["BASE/outside/none is outside the workspace"]);
    f.check("/etc/hosts", &expect!["/etc/hosts is outside the workspace"]);
    f.check("BASE/ws-not/a", &expect!["BASE/ws-not/a is outside the workspace"]);
    f.check("", &expect!["`` is no path of a file: it is empty"]);
    f.check("a\0b", &expect!["`a\0b` is no path of a file: it holds a NUL character"]);
    f.check(
        "file://elsewhere/a",
        &expect!["`file://elsewhere/a` is no path of a file: that URI names no file of this machine"],
    );
    f.check("https://x/a", &expect!["`https://x/a` is no path of a file: only file: URIs are files"]);
    let said = |given: String| f.roots.resolve(&given).unwrap_err().to_string();
    assert!(said("x/".repeat(2000)).ends_with("x does not exist"));
    assert!(said("x/".repeat(3000)).ends_with("it is too long"));
}

#[test]
fn links_count_as_what_they_lead_to() {
    let f = Fixture::new(&["ws/src/a.py", "outside/secret"], &["ws"]);
    symlink(f.base.join("outside"), f.base.join("ws/link")).unwrap();
    symlink("src/a.py", f.base.join("ws/inside")).unwrap();
    symlink("../outside/none", f.base.join("ws/dangling")).unwrap();
    symlink("loop", f.base.join("ws/loop")).unwrap();
    f.check("inside", &expect!["src/a.py in 0"]);
    f.check("link/secret", &expect!["BASE/outside/secret is outside the workspace"]);
    f.check("dangling", &expect!["BASE/outside/none is outside the workspace"]);
    f.check("loop", &expect!["BASE/ws/loop does not exist"]);
    let contains = |path: &str| f.roots.contains(&f.base.join(path));
    assert!(contains("ws") && contains("ws/new/file") && contains("ws/src/a.py"));
    assert!(!contains("ws/link/new") && !contains("ws/dangling") && !contains("ws/new/../../outside"));
    assert!(!contains("ws-not/a") && !contains("outside") && !contains("ws/.."));
}

#[test]
fn a_root_given_by_a_link() {
    let f = Fixture::new(&["ws/a"], &["ws"]);
    symlink(f.base.join("ws"), f.base.join("linked")).unwrap();
    let roots = Roots::new([f.base.join("linked"), f.base.join("ws")]).unwrap();
    assert_eq!(roots.all(), [Root { name: "ws".into(), path: f.base.join("ws") }]);
    assert_eq!(roots.resolve(f.base.join("linked/a").to_str().unwrap()).unwrap().path, f.base.join("ws/a"));
}

#[test]
fn several_roots() {
    let f = Fixture::new(
        &["one/api/a", "two/api/b", "two/api/sub/c", "web/a"],
        &["one/api", "two/api", "web", "two/api/sub"],
    );
    f.check("api/a", &expect!["api/a in 0"]);
    f.check("api-2/b", &expect!["api-2/b in 1"]);
    f.check("web/a", &expect!["web/a in 2"]);
    f.check("b", &expect!["api-2/b in 1"]);
    f.check("api-2/sub/c", &expect!["sub/c in 3"]);
    f.check("sub/c", &expect!["sub/c in 3"]);
    f.check("web/none", &expect!["BASE/web/none does not exist"]);
    f.check("a", &expect!["2 paths are called so: BASE/one/api/a, BASE/web/a"]);
    f.check(".\\a", &expect!["2 paths are called so: BASE/one/api/a, BASE/web/a"]);
    let any = |given: &str| f.roots.resolve_any(given).map(|located| located.root);
    assert!(matches!(any("."), Err(PathError::Ambiguous(all)) if all.len() == 4));
    assert_eq!((any("web"), any("sub")), (Ok(2), Ok(3)));
    for shown in ["web/a", "api-2/none/b", "sub", "sub/c"] {
        assert_eq!(f.roots.display(&f.roots.displayed(shown)), shown);
    }
    assert_eq!(f.roots.display(&f.base.join("web")), "web");
    assert_eq!(f.roots.display(Path::new("/etc/hosts")), "/etc/hosts");
}

#[test]
fn places_for_what_is_new() {
    let f = Fixture::new(&["one/a", "two/b", "two/deep/c"], &["one", "two"]);
    symlink(f.base.join("one"), f.base.join("two/link")).unwrap();
    let base = f.base.to_str().unwrap();
    let check = |given: &str, expected: &Expect| {
        let place = f.roots.resolve_new(&given.replace("BASE", base));
        let said = place.map_or_else(|error| error.to_string(), |path| path.display().to_string());
        expected.assert_eq(&said.replace(base, "BASE"));
    };
    check("one/a", &expect!["BASE/one/a"]);
    check("one/new", &expect!["BASE/one/new"]);
    check("BASE/two/new", &expect!["BASE/two/new"]);
    check("new", &expect!["2 paths are called so: BASE/one/new, BASE/two/new"]);
    check("a", &expect!["2 paths are called so: BASE/one/a, BASE/two/a"]);
    check("no/new", &expect!["2 paths are called so: BASE/one/no/new, BASE/two/no/new"]);
    check("deep/new", &expect!["BASE/two/deep/new"]);
    check("link/new", &expect!["BASE/one/new"]);
    check("../one/new", &expect!["BASE/one/new"]);
    check("../out", &expect!["BASE/out is outside the workspace"]);
    check(" ", &expect!["` ` is no path of a file: it is empty"]);
}

#[test]
fn paths_in_a_text_are_shown_as_answers_show_them() {
    let one = Fixture::new(&["ws/a b/c"], &["ws"]);
    let base = one.base.to_str().unwrap();
    let text = format!("see {base}/ws/a b/c:3, `file://{base}/ws/a%20b/c`, /x{base}/ws/a, {base}/ws2/a and {base}/ws");
    let expected = format!("see a b/c:3, `a%20b/c`, /x{base}/ws/a, {base}/ws2/a and {base}/ws");
    assert_eq!(one.roots.relative(&text), expected);
    let two = Fixture::new(&["one/a", "two/in/b"], &["one", "two", "two/in"]);
    let base = two.base.to_str().unwrap();
    assert_eq!(two.roots.relative(&format!("{base}/one/a {base}/two/in/b")), "one/a in/b");
}

#[test]
fn roots_that_are_none() {
    let f = Fixture::new(&["ws/a"], &["ws"]);
    let said =
        |path: &str| Roots::new([f.base.join(path)]).unwrap_err().to_string().replace(f.base.to_str().unwrap(), "BASE");
    expect!["cannot use BASE/none as a workspace root: No such file or directory (os error 2)"]
        .assert_eq(&said("none"));
    expect!["cannot use BASE/ws/a as a workspace root: it is not a folder"].assert_eq(&said("ws/a"));
    expect!["a workspace needs at least one root"].assert_eq(&Roots::new([""; 0]).unwrap_err().to_string());
    assert_eq!(f.roots.display(&f.base.join("ws")), ".");
}

proptest! {
    /// Whatever is asked for, what is found lies inside, links resolved.
    #[test]
    fn nothing_outside_is_ever_found(parts in proptest::collection::vec(prop_oneof![
        Just(".."), Just("."), Just("link"), Just("src"), Just("a.py"), Just("secret"), Just("outside"), Just("ws"), Just("")
    ], 0..8)) {
        let f = Fixture::new(&["ws/src/a.py", "outside/secret"], &["ws"]);
        symlink(f.base.join("outside"), f.base.join("ws/link")).unwrap();
        if let Ok(located) = f.roots.resolve(&parts.join("/")) {
            prop_assert!(located.path.canonicalize().unwrap().starts_with(f.base.join("ws")));
        }
    }
}
