use expect_test::{Expect, expect};

use super::*;

struct Fixture {
    tmp: tempfile::TempDir,
    disk: Disk,
}

impl Fixture {
    fn new(limit: u64, budget: usize) -> Fixture {
        Fixture { tmp: tempfile::tempdir().unwrap(), disk: Disk::new(limit, budget) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.tmp.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        files::write(&self.path(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> Arc<Snapshot> {
        self.disk.read(&self.path(name)).unwrap()
    }

    fn check(&self, name: &str, expected: &Expect) {
        let said = match self.disk.read(&self.path(name)) {
            Ok(s) => format!("{:?} bom={} lossy={}", s.text, s.bom, s.lossy),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&said.replace(self.tmp.path().to_str().unwrap(), "TMP"));
    }

    /// Waits until the file is old enough for its identity to prove something.
    fn age(&self, name: &str) {
        while files::now_ns() - files::identity(&self.path(name).metadata().unwrap()).ctime_ns <= files::RACY_NS {
            std::thread::yield_now();
        }
    }
}

#[test]
fn what_files_hold() {
    let f = Fixture::new(10, 100);
    f.put("plain", b"a\r\nb");
    f.put("empty", b"");
    f.put("bom", b"\xEF\xBB\xBFx");
    f.put("latin", b"caf\xE9");
    f.put("binary", b"a\0b");
    f.put("large", b"01234567890");
    f.check("plain", &expect![[r#""a\r\nb" bom=false lossy=false"#]]);
    f.check("empty", &expect![[r#""" bom=false lossy=false"#]]);
    f.check("bom", &expect![[r#""x" bom=true lossy=false"#]]);
    f.check("latin", &expect![[r#""caf�" bom=false lossy=true"#]]);
    f.check("binary", &expect!["TMP/binary is binary"]);
    f.check("large", &expect!["TMP/large has 11 bytes, more than the 10 that are read"]);
    f.check("none", &expect!["TMP/none does not exist"]);
    f.check("plain/x", &expect!["TMP/plain/x does not exist"]);
    f.check("", &expect!["TMP/ is a folder"]);
}

#[test]
fn a_pipe_that_nobody_writes_to_is_not_waited_for() {
    let f = Fixture::new(10, 100);
    rustix::fs::mknodat(rustix::fs::CWD, f.path("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    f.check("pipe", &expect!["TMP/pipe is not a regular file"]);
}

#[test]
fn read_again_only_when_it_may_have_changed() {
    let f = Fixture::new(100, 1000);
    f.put("a", b"one");
    f.age("a");
    let first = f.read("a");
    assert!(Arc::ptr_eq(&first, &f.read("a")));
    assert!(f.disk.is_current(&first));

    // Same size, and its old time stamp put back.
    let modified = f.path("a").metadata().unwrap().modified().unwrap();
    f.put("a", b"two");
    std::fs::File::options().write(true).open(f.path("a")).unwrap().set_modified(modified).unwrap();
    assert!(!f.disk.is_current(&first));
    let second = f.read("a");
    assert_eq!(&*second.text, "two");
    assert!(second.serial > first.serial);

    // Written, but not changed: another identity, the same serial.
    f.age("a");
    let before = f.read("a");
    f.put("a", b"two");
    let third = f.read("a");
    assert_eq!((third.serial, third.hash), (second.serial, second.hash));
    assert_ne!(third.identity, before.identity);
    assert!(Arc::ptr_eq(&third.text, &second.text));

    files::remove(&f.path("a")).unwrap();
    assert!(!f.disk.is_current(&third));
    assert_eq!(f.disk.cache().entries.len(), 0);
}

/// Two writes within one tick of the clock may leave the same identity.
#[test]
fn writes_in_quick_succession_are_all_seen() {
    let f = Fixture::new(100, 1000);
    for n in 0..500 {
        let text = format!("{n:03}");
        f.put("a", text.as_bytes());
        assert_eq!(&*f.read("a").text, text);
    }
}

#[test]
fn memory_is_bounded() {
    let f = Fixture::new(100, 30);
    for name in ["a", "b", "c", "d"] {
        f.put(name, b"0123456789");
        f.age(name);
        f.read(name);
        // `a` is used again and again, and stays.
        f.read("a");
    }
    let cache = f.disk.cache();
    let mut names: Vec<_> = cache.entries.keys().filter_map(|path| path.file_name()?.to_str()).collect();
    names.sort_unstable();
    assert_eq!((names, cache.bytes), (vec!["a", "c", "d"], 30));
}
