//! Files are compared, nothing is told by anybody; nothing here waits for a time to pass.

use expect_test::{Expect, expect};

use super::*;

struct Fixture {
    _tmp: tempfile::TempDir,
    root: PathBuf,
    sweep: Sweep,
    tops: BTreeMap<Arc<Path>, Top>,
    position: u64,
}

impl Fixture {
    fn new(tree: &[(&str, &str)], max: usize) -> Fixture {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap().join("ws");
        files::create_dirs(&root).unwrap();
        let log = Arc::new(Mutex::new(Log::new(1_000)));
        let mut sweep = Sweep::new(log, std::slice::from_ref(&root), max);
        sweep.rules = Rules::new(std::slice::from_ref(&root), &[]);
        let top = Top { begin: Begin::Since(i128::MAX), keep: true, records: false };
        let tops = BTreeMap::from([(Arc::from(&*root), top)]);
        let mut fixture = Fixture { _tmp: tmp, root, sweep, tops, position: 0 };
        tree.iter().for_each(|(path, content)| fixture.put(path, content));
        fixture.check(&expect![""]);
        fixture
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    fn put(&self, relative: &str, content: &str) {
        let path = self.path(relative);
        files::create_dirs(path.parent().unwrap()).unwrap();
        files::write(&path, content.as_bytes()).unwrap();
    }

    fn check(&mut self, expected: &Expect) {
        self.sweep.run(&self.tops, || false);
        let changes = self.sweep.log().since(self.position);
        self.position = changes.seq;
        let shown = |change: &crate::workspace::watch::Change| {
            let sign = match change.kind {
                Kind::Created => '+',
                Kind::Changed => '~',
                Kind::Deleted => '-',
            };
            let path = change.path.strip_prefix(&self.root).unwrap_or(&change.path).display();
            format!("{sign}{path}{}", if change.folder { "/" } else { "" })
        };
        let mut lines: Vec<String> = changes.events.iter().map(shown).collect();
        lines.sort();
        expected.assert_eq(&lines.join(" "));
    }
}

#[test]
fn what_came_changed_and_went() {
    let mut f = Fixture::new(&[("a", "1"), ("b", "1"), ("d/c", "1"), ("gone/deep/x", "1")], ENTRIES);
    f.check(&expect![""]);
    f.put("a", "22");
    f.put("new/deep/y", "1");
    files::remove(&f.path("b")).unwrap();
    files::remove_tree(&f.path("gone")).unwrap();
    files::rename(&f.path("d/c"), &f.path("d/moved")).unwrap();
    f.check(&expect!["+d/moved +new/ +new/deep/ +new/deep/y -b -d/c -gone/ -gone/deep/ -gone/deep/x ~a"]);
    f.check(&expect![""]);
}

/// Of the same length, in the same tick of the clock, with the time set back: the content tells.
#[test]
fn writes_that_stamps_do_not_tell() {
    let mut f = Fixture::new(&[("a", "1")], ENTRIES);
    for round in 0..200 {
        f.put("a", &((round + 2) % 10).to_string());
        f.check(&expect!["~a"]);
    }
    let path = f.path("a");
    let modified = path.metadata().unwrap().modified().unwrap();
    f.put("a", "x");
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    f.check(&expect!["~a"]);
    files::atomic_write(&path, b"y").unwrap();
    f.check(&expect!["~a"]);
}

#[test]
fn what_is_left_out_and_what_is_recorded_of_it() {
    let tree = [
        (".gitignore", "out\n"),
        ("out/a", ""),
        ("node_modules/.package-lock.json", "{}"),
        ("node_modules/m/a", ""),
        (".venv/pyvenv.cfg", ""),
        (".venv/lib/python3.12/site-packages/six.py", ""),
        (".venv/lib/python3.12/site-packages/six-1.dist-info/RECORD", ""),
        ("src/a", ""),
    ];
    let mut f = Fixture::new(&tree, ENTRIES);
    for path in ["out/b", "node_modules/m/b", ".venv/lib/python3.12/site-packages/six2.py", ".git/index"] {
        f.put(path, "1");
    }
    f.check(&expect![""]);
    f.put("node_modules/.package-lock.json", "{ }");
    f.put(".venv/lib/python3.12/site-packages/more-1.dist-info/RECORD", "");
    files::remove_tree(&f.path(".venv/lib/python3.12/site-packages/six-1.dist-info")).unwrap();
    f.check(&expect!["+.venv/lib/python3.12/site-packages/more-1.dist-info/ -.venv/lib/python3.12/site-packages/six-1.dist-info ~node_modules/.package-lock.json"]);
    f.put(".gitignore", "src\n");
    f.check(&expect!["+out/ +out/a +out/b ~.gitignore"]);
    f.put("src/a", "22");
    f.check(&expect![""]);
}

#[test]
fn a_root_that_is_replaced_or_gone() {
    let mut f = Fixture::new(&[("a", "1"), ("b", "1"), ("d/c", "1")], ENTRIES);
    files::remove_tree(&f.root).unwrap();
    f.put("a", "1");
    f.put("new", "1");
    f.check(&expect!["+new -b -d/ -d/c ~a"]);
    files::remove_tree(&f.root).unwrap();
    f.check(&expect!["-/ -a -new"]);
    f.put("a", "1");
    f.check(&expect!["+a"]);
}

#[test]
fn links_to_folders() {
    let mut f = Fixture::new(&[("real/deep/a", "1"), (".gitignore", "hidden\n"), ("hidden/b", "1")], ENTRIES);
    std::os::unix::fs::symlink(f.path("real"), f.path("link")).unwrap();
    f.check(&expect!["+link +link/deep/a"]);
    f.put("link/deep/a", "22");
    f.check(&expect!["~link/deep/a ~real/deep/a"]);
    files::remove(&f.path("link")).unwrap();
    f.check(&expect!["-link -link/deep/a"]);
    std::os::unix::fs::symlink(f.path("hidden"), f.path("seen")).unwrap();
    f.check(&expect!["+hidden/ +hidden/b +seen/ +seen/b"]);
    f.put("hidden/b", "22");
    f.check(&expect!["~hidden/b ~seen/b"]);
}

#[test]
fn too_many_files_are_said_to_be() {
    let mut f = Fixture::new(&[("a/1", ""), ("a/2", ""), ("b/1", ""), ("b/2", "")], 4);
    assert!(!f.sweep.run(&f.tops, || false));
    f.sweep.max = 7;
    assert!(f.sweep.run(&f.tops, || false));
    assert!(!f.sweep.run(&f.tops, || true));
}
