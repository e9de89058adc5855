//! What is special about this source; what all have in common is tested for all.

use std::os::unix::fs::PermissionsExt;
use std::sync::Weak;

use expect_test::expect;
use futures::FutureExt;

use super::*;
use crate::workspace::watch::log::{Log, RECORDS};
use crate::workspace::watch::source::Source;
use crate::workspace::watch::sweeper::Sweeper;
use crate::workspace::watch::tests::{Fixture, LONG, put};
use crate::workspace::watch::{Changes, Kind, Top};

/// A service of its own, its private folder inside the root.
struct Inside {
    tmp: tempfile::TempDir,
    root: PathBuf,
    service: Service,
    log: Arc<Mutex<Log>>,
    state: watch::Sender<State>,
}

impl Inside {
    async fn new(each: bool) -> Inside {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap();
        put(&root.join("a/old"), "1");
        let log = Arc::new(Mutex::new(Log::new(RECORDS)));
        let state = watch::Sender::new(State::SettingUp { folders: 0, round: 1 });
        let (roots, head) = ([root.clone()], watch::Sender::new(0));
        let sweeper = Arc::new(Sweeper::new(Arc::clone(&log), head.clone(), &roots, &[]));
        let top = Top { path: root.clone(), folder: Mutex::new(files::inode(&root)) };
        let feed = Feed { log: Arc::clone(&log), head, state: state.clone(), tops: [top].into(), sweeper };
        let service = Service::start(&roots, &Options::default(), each, root.clone(), feed).unwrap();
        state.subscribe().wait_for(|state| !matches!(state, State::SettingUp { .. })).await.unwrap();
        log.lock().unwrap().hand_out();
        Inside { tmp, root, service, log, state }
    }

    fn private(&self) -> PathBuf {
        self.service.shared.private().as_ref().unwrap().path().to_owned()
    }

    fn since(&self, seq: u64) -> Changes {
        self.log.lock().unwrap().since(seq)
    }
}

fn seen(changes: &Changes, path: &Path) -> Option<Kind> {
    changes.events.iter().find(|change| *change.path == *path).map(|change| change.kind)
}

#[tokio::test]
async fn what_was_written_before_a_barrier_is_in_the_log_and_the_cookie_is_not() {
    for each in [true, false] {
        let f = Inside::new(each).await;
        assert_eq!(f.state.borrow().clone(), State::Watching { folders: 2 });
        assert_eq!(f.private().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let mut position = f.log.lock().unwrap().hand_out();
        for round in 0..50 {
            let path = f.root.join(format!("a/{round}"));
            put(&path, "1");
            assert_eq!(f.service.barrier(LONG, false).await, Barrier::Seen);
            let changes = f.since(position);
            assert_eq!(changes.events.len(), 1, "{changes:?}");
            assert_eq!(seen(&changes, &path), Some(Kind::Created));
            position = changes.seq;
        }
        assert!(f.private().read_dir().unwrap().next().is_none());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_barriers_share_cookies() {
    let f = Inside::new(true).await;
    let held = f.service.shared.tree();
    let mut all = Box::pin(futures::future::join_all((0..100).map(|_| f.service.barrier(LONG, false))));
    // All ask; the thread is kept from its work.
    assert!(all.as_mut().now_or_never().is_none());
    assert_eq!(f.service.shared.asked.load(Ordering::SeqCst), 100);
    drop(held);
    assert!(all.await.iter().all(|barrier| *barrier == Barrier::Seen));
    assert!(f.service.shared.cookies.load(Ordering::SeqCst) <= 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_barrier_ends_in_time_and_the_next_one_is_reached() {
    let f = Inside::new(true).await;
    let held = f.service.shared.tree();
    assert_eq!(
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(f.service.barrier(Duration::from_millis(10), false))
        }),
        Barrier::TimedOut
    );
    drop(held);
    assert_eq!(f.service.barrier(LONG, false).await, Barrier::Seen);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_events_are_made_good() {
    let f = Inside::new(true).await;
    put(&f.root.join("a/gone"), "1");
    put(&f.root.join("b/x"), "1");
    assert_eq!(f.service.barrier(LONG, false).await, Barrier::Seen);
    let position = f.log.lock().unwrap().hand_out();
    let held = f.service.shared.tree();
    // Events pile up until there is no room.
    let mut n = 0;
    while !f.service.shared.inbox.lost.load(Ordering::SeqCst) {
        put(&f.root.join(if n % 2 == 0 { "a/even" } else { "a/odd" }), "1");
        n += 1;
    }
    put(&f.root.join("a/old"), "2");
    put(&f.root.join("fresh/deep/file"), "1");
    files::remove(&f.root.join("a/gone")).unwrap();
    files::remove_tree(&f.root.join("b")).unwrap();
    drop(held);
    assert_eq!(f.service.barrier(LONG, false).await, Barrier::Seen);
    let changes = f.since(position);
    let kinds =
        ["a/even", "a/old", "fresh/deep/file", "a/gone", "b/x", "b"].map(|path| seen(&changes, &f.root.join(path)));
    expect![[r#"
        [
            Some(
                Created,
            ),
            Some(
                Changed,
            ),
            Some(
                Created,
            ),
            Some(
                Deleted,
            ),
            Some(
                Deleted,
            ),
            Some(
                Deleted,
            ),
        ]
    "#]]
    .assert_debug_eq(&kinds);
}

#[tokio::test]
async fn one_watch_for_each_root() {
    let tree = [("a", "1"), ("b", "1"), ("d/c", "1"), (".gitignore", "out\n"), ("out/a", "1")];
    let mut f = Fixture::from(Source::Trees, &tree).await;
    f.put("a", "2");
    f.put("d/new", "1");
    f.put("out/b", "1");
    files::remove(&f.path("b")).unwrap();
    f.check(&expect!["+d/new -b ~a"]).await;
    files::rename(&f.path("a"), &f.path("d/moved")).unwrap();
    f.check(&expect!["+d/moved -a"]).await;
    files::rename(&f.path("d"), &f.path("e")).unwrap();
    f.check(&expect!["+e/ +e/c +e/moved +e/new -d/ -d/c -d/moved -d/new"]).await;
    assert!(f.watcher.also(&f.path("out"), files::now_ns()));
    // What was written just before may be reported.
    f.position = f.watcher.head();
    f.put("out/b", "2");
    f.check(&expect!["~out/b"]).await;
    files::remove_tree(&f.path("e")).unwrap();
    f.check(&expect!["-e/ -e/c -e/moved -e/new"]).await;
}

/// The threads hold the inbox: `notify`'s to fill it, ours to empty it.
#[tokio::test]
async fn dropping_it_leaves_no_thread_and_no_folder() {
    let mut f = Inside::new(true).await;
    let (private, inbox): (PathBuf, Weak<Inbox>) = (f.private(), Arc::downgrade(&f.service.shared.inbox));
    assert!(private.is_dir());
    drop(std::mem::replace(&mut f, Inside::new(false).await));
    assert!(!private.exists());
    let limit = Instant::now() + LONG;
    while inbox.strong_count() > 0 && Instant::now() < limit {
        std::thread::yield_now();
    }
    assert_eq!(inbox.strong_count(), 0);
    drop(f.tmp);
}
