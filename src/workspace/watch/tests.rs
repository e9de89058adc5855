//! Real folders, real events; nothing here waits for a time to pass.

mod aside;
mod kinds;
mod setting_up;
mod unseen;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};

use super::*;
use crate::sys::files;

/// The sources that see all on Linux. [`Source::Trees`] has tests of its own: below a new folder `notify` is late here.
const BOTH: [Source; 2] = [Source::System, Source::Folders];
pub(super) const LONG: Duration = Duration::from_secs(20);

pub(super) struct Fixture {
    _tmp: tempfile::TempDir,
    root: PathBuf,
    pub(super) watcher: Arc<Watcher>,
    pub(super) position: u64,
}

impl Fixture {
    async fn new(files: &[(&str, &str)]) -> Fixture {
        Fixture::with(files, Options::default()).await
    }

    pub(super) async fn from(source: Source, files: &[(&str, &str)]) -> Fixture {
        Fixture::with(files, Options { source, ..Options::default() }).await
    }

    async fn with(files: &[(&str, &str)], options: Options) -> Fixture {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap().join("ws");
        files::create_dirs(&root).unwrap();
        for (path, content) in files {
            put(&root.join(path), content);
        }
        let watcher = Watcher::start(&Roots::new([&root]).unwrap(), &options);
        set_up(&watcher).await;
        let position = watcher.head();
        Fixture { _tmp: tmp, root, watcher, position }
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(super) fn put(&self, relative: &str, content: &str) {
        put(&self.path(relative), content);
    }

    fn shown(&self, changes: &Changes) -> String {
        let shown = |change: &Change| {
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
        lines.join(" ")
    }

    pub(super) async fn check(&mut self, expected: &Expect) {
        self.check_but("", expected).await;
    }

    /// As `check`; it does not matter whether `either` is told.
    async fn check_but(&mut self, either: &str, expected: &Expect) {
        assert_eq!(self.watcher.barrier(LONG).await, Barrier::Seen);
        let changes = self.watcher.since(self.position);
        assert!(!changes.overflow);
        self.position = changes.seq;
        let shown = self.shown(&changes);
        let told: Vec<&str> = shown.split(' ').filter(|told| *told != either || either.is_empty()).collect();
        expected.assert_eq(&told.join(" "));
    }
}

pub(super) fn put(path: &Path, content: &str) {
    files::create_dirs(path.parent().unwrap()).unwrap();
    files::write(path, content.as_bytes()).unwrap();
}

async fn set_up(watcher: &Watcher) {
    let mut states = watcher.states();
    states.wait_for(|state| !matches!(state, State::SettingUp { .. })).await.unwrap();
}

#[tokio::test]
async fn kinds_of_changes_to_files() {
    for source in BOTH {
        let mut f = Fixture::from(source, &[("a", "1"), ("b", "1"), ("d/c", "1")]).await;
        f.check(&expect![""]).await;
        f.put("new", "1");
        f.put("a", "2");
        files::remove(&f.path("b")).unwrap();
        f.check(&expect!["+new -b ~a"]).await;
        f.check(&expect![""]).await;

        files::rename(&f.path("a"), &f.path("d/moved")).unwrap();
        f.check(&expect!["+d/moved -a"]).await;
        files::atomic_write(&f.path("new"), b"2").unwrap();
        f.check(&expect!["~new"]).await;
        files::remove(&f.path("new")).unwrap();
        f.put("new", "3");
        f.check(&expect!["~new"]).await;
        f.put("short", "");
        files::remove(&f.path("short")).unwrap();
        f.check(&expect![""]).await;
        // Reading is no change.
        fs::read(f.path("d/c")).unwrap();
        fs::read_dir(f.path("d")).unwrap().count();
        f.check(&expect![""]).await;
        // Neither the size nor the time need tell.
        let modified = f.path("d/c").metadata().unwrap().modified().unwrap();
        f.put("d/c", "2");
        fs::File::options().write(true).open(f.path("d/c")).unwrap().set_modified(modified).unwrap();
        f.check(&expect!["~d/c"]).await;
    }
}

#[tokio::test]
async fn folders_that_come_go_and_move() {
    for source in BOTH {
        let mut f = Fixture::from(source, &[("a/b/c", "1")]).await;
        f.put("x/y/z", "1");
        f.check(&expect!["+x/ +x/y/ +x/y/z"]).await;
        f.put("x/y/w", "1");
        f.check(&expect!["+x/y/w"]).await;
        files::rename(&f.path("x"), &f.path("a/x")).unwrap();
        f.check(&expect!["+a/x/ +a/x/y/ +a/x/y/w +a/x/y/z -x/ -x/y/ -x/y/w -x/y/z"]).await;
        f.put("a/x/y/z", "2");
        f.check(&expect!["~a/x/y/z"]).await;
        files::remove_tree(&f.path("a/x")).unwrap();
        f.check(&expect!["-a/x/ -a/x/y/ -a/x/y/w -a/x/y/z"]).await;

        // Out of the workspace and back: what is written there in the meantime is not ours, what is written after is.
        let outside = f.root.with_file_name("outside");
        files::rename(&f.path("a"), &outside).unwrap();
        put(&outside.join("b/c"), "2");
        f.check(&expect!["-a/ -a/b/ -a/b/c"]).await;
        files::rename(&outside, &f.path("a")).unwrap();
        f.check(&expect!["+a/ +a/b/ +a/b/c"]).await;
        // Over an empty folder, of whose end nobody is told.
        files::create_dirs(&f.path("empty")).unwrap();
        f.check(&expect!["+empty/"]).await;
        files::rename(&f.path("a"), &f.path("empty")).unwrap();
        f.check(&expect!["+empty/ +empty/b/ +empty/b/c -a/ -a/b/ -a/b/c"]).await;
        f.put("empty/b/c", "3");
        f.check(&expect!["~empty/b/c"]).await;
    }
}

#[tokio::test]
async fn the_end_of_a_large_folder_is_told_in_short() {
    for source in BOTH {
        let mut f = Fixture::from(source, &[("a/b", "")]).await;
        for n in 0..2_000 {
            f.put(&format!("a/{n}"), "");
        }
        f.watcher.barrier(LONG).await;
        f.position = f.watcher.head();
        files::rename(&f.path("a"), &f.root.with_file_name("outside")).unwrap();
        f.check(&expect!["-a/"]).await;
    }
}

#[tokio::test]
async fn what_is_ignored_and_what_is_not_any_more() {
    for source in BOTH {
        let tree = [(".gitignore", "out\n"), ("out/a", ""), ("node_modules/m/a", ""), (".git/HEAD", ""), ("src/a", "")];
        let mut f = Fixture::from(source, &tree).await;
        assert_eq!(f.watcher.state(), State::Watching { folders: 2 });
        for path in ["out/b", "node_modules/m/b", ".git/index", "src/b", "src/out/c"] {
            f.put(path, "1");
        }
        f.check(&expect!["+src/b"]).await;
        assert!(f.watcher.covers(&f.path("src/none")));
        assert!(!f.watcher.covers(&f.path("out/b")));

        assert!(f.watcher.also(&f.path("node_modules/m"), files::now_ns()));
        assert!(!f.watcher.also(&f.path("node_modules/none"), files::now_ns()));
        assert!(!f.watcher.also(Path::new("/"), files::now_ns()));
        // What was written just before may be reported.
        f.position = f.watcher.head();
        f.put("node_modules/m/b", "2");
        f.check(&expect!["~node_modules/m/b"]).await;

        f.put(".gitignore", "");
        f.check(&expect!["+out/ +out/a +out/b +src/out/ +src/out/c ~.gitignore"]).await;
        f.put("out/c", "1");
        f.check(&expect!["+out/c"]).await;

        // A build folder gets its mark after it was made.
        f.put("target/CACHEDIR.TAG", "");
        f.watcher.barrier(LONG).await;
        f.position = f.watcher.head();
        f.put("target/debug", "");
        f.check(&expect![""]).await;
    }
}

#[tokio::test]
async fn the_user_takes_back_and_adds() {
    for source in BOTH {
        let tree = [(".gitignore", "out\n"), ("out/a", ""), ("docs/a", ""), ("src/a", "")];
        let ignore = vec!["!out".to_owned(), "/docs".to_owned()];
        let mut f = Fixture::with(&tree, Options { ignore, source, ..Options::default() }).await;
        f.put("out/a", "1");
        f.put("docs/a", "1");
        f.check(&expect!["~out/a"]).await;
    }
}

#[tokio::test]
async fn too_many_folders_are_said_to_be() {
    for source in BOTH {
        let mut f = Fixture::with(
            &[("a/x", ""), ("b/x", ""), ("c/x", "")],
            Options { max_folders: 2, source, ..Options::default() },
        )
        .await;
        expect!["watching only 2 folders: there are more than 2 folders; files are compared on each call"]
            .assert_eq(&f.watcher.state().to_string());
        // What is watched tells, the rest is compared.
        f.watcher.barrier(LONG).await;
        f.position = f.watcher.head();
        f.put("x", "");
        f.put("c/y", "");
        files::remove(&f.path("b/x")).unwrap();
        f.check(&expect!["+c/y +x -b/x"]).await;
        // With `notify` all folders are compared where some are not watched: a file that is both watched and compared may
        // be told of by either.
        let again = if source == Source::Folders { "+x" } else { "" };
        f.put("d/e/new", "");
        f.check_but(again, &expect!["+d/ +d/e/ +d/e/new"]).await;
        files::remove_tree(&f.path("d")).unwrap();
        f.check_but(again, &expect!["-d/ -d/e/ -d/e/new"]).await;
    }
}

#[tokio::test]
async fn switched_off() {
    let mut f = Fixture::with(&[("a", ""), ("d/b", "")], Options { events: false, ..Options::default() }).await;
    // What was written just before may be reported.
    f.watcher.barrier(LONG).await;
    f.position = f.watcher.head();
    f.put("a", "1");
    f.put("new/c", "1");
    files::remove(&f.path("d/b")).unwrap();
    f.check(&expect!["+new/ +new/c -d/b ~a"]).await;
    expect!["not watching: it is switched off; files are compared on each call"]
        .assert_eq(&f.watcher.state().to_string());
}

#[tokio::test]
async fn changes_during_the_start_are_found() {
    for source in BOTH {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap();
        for folder in 0..200 {
            put(&root.join(format!("d{folder}/old")), "1");
        }
        // Older than the start, as far as the file system can tell.
        let old = |path: &Path| files::identity(&path.metadata().unwrap()).ctime_ns;
        while files::now_ns() - old(&root.join("d199/old")) < 100_000_000 {
            std::thread::yield_now();
        }
        let watcher = Watcher::start(&Roots::new([&root]).unwrap(), &Options { source, ..Options::default() });
        let mut written = Vec::new();
        for folder in (0..200).step_by(10) {
            for name in ["old", "new"] {
                let path = root.join(format!("d{folder}/{name}"));
                put(&path, "2");
                written.push((path, if name == "old" { Kind::Changed } else { Kind::Created }));
            }
        }
        set_up(&watcher).await;
        assert_eq!(watcher.barrier(LONG).await, Barrier::Seen);
        let changes = watcher.since(0);
        let mut seen: Vec<_> = changes.events.iter().map(|change| (change.path.to_path_buf(), change.kind)).collect();
        seen.sort();
        written.sort();
        assert_eq!(seen, written);
    }
}

/// New folders with files at once, by several threads: after the barrier not one is missing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_made_before_a_barrier_is_missing_after_it() {
    for source in BOTH {
        let mut f = Fixture::from(source, &[("a", "")]).await;
        for trial in 0..200 {
            let made: Vec<PathBuf> = (0..3).map(|n| f.path(&format!("t{trial}/n{n}/deep/er/file"))).collect();
            std::thread::scope(|scope| {
                for path in &made {
                    scope.spawn(move || put(path, "x"));
                }
            });
            assert_eq!(f.watcher.barrier(LONG).await, Barrier::Seen);
            let changes = f.watcher.since(f.position);
            f.position = changes.seq;
            for path in &made {
                let seen = changes.events.iter().find(|change| *change.path == **path);
                assert_eq!(seen.map(|change| change.kind), Some(Kind::Created), "trial {trial}: {}", path.display());
            }
            // What is written into them now is seen, too.
            put(&made[0], "y");
            assert_eq!(f.watcher.barrier(LONG).await, Barrier::Seen);
            let changes = f.watcher.since(f.position);
            f.position = changes.seq;
            assert_eq!(f.shown(&changes), format!("~t{trial}/n0/deep/er/file"));
        }
    }
}

/// The kernel's queue is full: everything is looked through again before a barrier counts, and nothing is missing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_events_are_made_good() {
    let f = Fixture::new(&[("a/old", "1"), ("a/gone", "1"), ("gone/x", "1")]).await;
    let limit: usize = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap().trim().parse().unwrap();
    {
        let Events::Inotify(service) = &f.watcher.events else { panic!("inotify serves on Linux") };
        let _held = service.hold();
        for n in 0..=limit / 2 {
            // Two events each that the kernel cannot merge.
            put(&f.path(if n % 2 == 0 { "a/even" } else { "a/odd" }), "1");
        }
        put(&f.path("a/old"), "2");
        put(&f.path("fresh/deep/file"), "1");
        files::remove_tree(&f.path("gone")).unwrap();
        files::remove(&f.path("a/gone")).unwrap();
    }
    assert_eq!(f.watcher.barrier(LONG).await, Barrier::Seen);
    let changes = f.watcher.since(f.position);
    assert!(!changes.overflow);
    assert_eq!(f.shown(&changes), "+a/even +a/odd +fresh/ +fresh/deep/ +fresh/deep/file -a/gone -gone/ -gone/x ~a/old");
    put(&f.path("fresh/deep/file"), "2");
    assert_eq!(f.watcher.barrier(LONG).await, Barrier::Seen);
}

/// Two that change places in one step are both told of as coming, then both as going: they are there all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changes_places_is_not_gone() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    for source in BOTH {
        let mut f = Fixture::from(source, &[("a", "1"), ("b", "2"), ("d/x", "3"), ("e/y", "4")]).await;
        let swap = |f: &Fixture, one: &str, other: &str| {
            renameat_with(CWD, f.path(one), CWD, f.path(other), RenameFlags::EXCHANGE).unwrap();
        };
        swap(&f, "a", "b");
        f.check(&expect!["~a ~b"]).await;
        f.put("beside", "5");
        swap(&f, "beside", "a");
        files::remove(&f.path("beside")).unwrap();
        f.check(&expect!["~a"]).await;
        swap(&f, "d", "e");
        assert_eq!(f.watcher.barrier(LONG).await, Barrier::Seen);
        f.position = f.watcher.since(f.position).seq;
        f.put("d/y", "6");
        f.check(&expect!["~d/y"]).await;
    }
}

/// Barriers under a constant stream of events come to an end, and many at once do, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn barriers_end_under_a_stream_of_events() {
    for source in BOTH {
        let f = Fixture::from(source, &[("a", "")]).await;
        let stop = std::sync::atomic::AtomicBool::new(false);
        let noise = f.path("noise");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    put(&noise, "x");
                }
            });
            let handle = tokio::runtime::Handle::current();
            tokio::task::block_in_place(|| {
                handle.block_on(async {
                    for _ in 0..50 {
                        let all = futures::future::join_all((0..50).map(|_| f.watcher.barrier(LONG))).await;
                        assert!(all.iter().all(|barrier| *barrier == Barrier::Seen));
                    }
                });
            });
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }
}
