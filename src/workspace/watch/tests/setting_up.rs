//! Questions while all folders are looked through.

use super::*;

impl Fixture {
    /// As if a look through everything were under way that does not end, or had ended.
    fn pretend(&self, state: State) {
        let Events::Inotify(service) = &self.watcher.events else { panic!("inotify serves on Linux") };
        // The event thread says how it stands only while it holds this.
        let _held = service.hold();
        self.watcher.state.send_replace(state);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_wait_for_it_together_once() {
    let mut f = Fixture::new(&[("a/x", "1")]).await;
    let short = Duration::from_millis(1);
    for round in [7, 8] {
        f.pretend(State::SettingUp { folders: 1, round });
        assert_eq!(f.watcher.barrier(short).await, Barrier::SettingUp);
        let begun = Instant::now();
        for text in ["2", "3", "4"] {
            f.put("a/x", text);
            assert_eq!(f.watcher.barrier(LONG).await, Barrier::SettingUp);
            // What happens in folders that are watched already is seen all the same.
            let changes = f.watcher.since(f.position);
            f.position = changes.seq;
            assert_eq!(f.shown(&changes), "~a/x");
        }
        assert!(begun.elapsed() < LONG, "the time for this look is over");
    }
    f.pretend(State::Watching { folders: 2 });
    f.put("a/x", "5");
    f.check(&expect!["~a/x"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_goes_on_as_soon_as_it_ends() {
    let f = Fixture::new(&[("a/x", "1")]).await;
    f.pretend(State::SettingUp { folders: 1, round: 7 });
    let watcher = Arc::clone(&f.watcher);
    let waits = tokio::spawn(async move { watcher.barrier(2 * LONG).await });
    f.pretend(State::Watching { folders: 2 });
    let seen = tokio::time::timeout(LONG, waits).await.expect("it waits no longer than needed");
    assert_eq!(seen.unwrap(), Barrier::Seen);
}

#[tokio::test]
async fn a_pipe_in_place_of_patterns_is_not_read() {
    let tmp = tempfile::tempdir().unwrap();
    let root = tmp.path().canonicalize().unwrap().join("ws");
    put(&root.join("a/x"), "1");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, root.join(".gitignore"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let watcher = Watcher::start(&Roots::new([&root]).unwrap(), &Options::default());
    tokio::time::timeout(LONG, set_up(&watcher)).await.expect("nothing waits for who writes into it");
    assert_eq!(watcher.state(), State::Watching { folders: 2 });
}
