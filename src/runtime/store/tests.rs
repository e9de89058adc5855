//! Lists by version, by time, and by the room that they take.

use super::*;
use crate::protocol::{
    positions::Range,
    types::{Diagnostic, Severity},
};

fn finding(message: &str) -> Diagnostic {
    Diagnostic {
        range: Range::default(),
        severity: Severity::Error,
        code: None,
        source: None,
        message: message.into(),
        unnecessary: false,
        deprecated: false,
        related: Vec::new(),
        wire: crate::protocol::types::Wire::default(),
    }
}

fn list(messages: &[&str]) -> Listed {
    messages.iter().map(|m| finding(m)).collect()
}

#[test]
fn a_list_of_an_older_version_is_older_whenever_it_comes() {
    let t = Instant::now();
    let mut store = Store::default();
    let path = Path::new("/w/a.py");
    let told = Sent { version: 2, at: t };
    store.push(path, list(&["old"]), Some(1), t + Duration::from_millis(5), Some(told));
    assert_eq!(store.push_state(path, told, t, t + Duration::from_millis(9)), Push::Older);
    store.push(path, list(&[]), Some(2), t + Duration::from_millis(10), Some(told));
    assert_eq!(
        store.push_state(path, told, t, t + Duration::from_millis(30)),
        Push::Current { quiet: Duration::from_millis(20), empty: true, versioned: true, more: false }
    );
    store.push(path, list(&["old"]), Some(1), t + Duration::from_millis(40), Some(told));
    assert!(store.pushed(path).unwrap().list().is_empty(), "a late list of version 1 does not replace version 2's");
}

#[test]
fn a_change_elsewhere_makes_a_list_old() {
    let t = Instant::now();
    let mut store = Store::default();
    let (path, told) = (Path::new("/w/b.py"), Sent { version: 3, at: t });
    store.push(path, list(&[]), Some(3), t + Duration::from_millis(5), Some(told));
    let changed = t + Duration::from_millis(6);
    assert_eq!(store.push_state(path, told, changed, t + Duration::from_secs(1)), Push::Older);
}

#[test]
fn without_version_only_what_came_after_the_change_counts() {
    let t = Instant::now();
    let mut store = Store::default();
    let path = Path::new("/w/a.py");
    store.push(path, list(&["x"]), None, t, None);
    assert_eq!(
        store.push_state(path, Sent { version: 2, at: t + Duration::from_millis(1) }, t, t + Duration::from_millis(2)),
        Push::Older
    );
    assert_eq!(store.push_state(Path::new("/w/b.py"), Sent { version: 1, at: t }, t, t), Push::Never);
}

#[test]
fn a_list_without_version_that_was_on_its_way_never_counts_alone() {
    let t = Instant::now();
    let ms = |n| t + Duration::from_millis(n);
    let mut store = Store::default();
    let path = Path::new("/w/a.py");
    store.tell(path, t);
    store.tell(path, ms(10));
    let told = Sent { version: 2, at: ms(10) };
    store.push(path, list(&["of the first text, or of the second?"]), None, ms(20), Some(told));
    assert_eq!(store.push_state(path, told, ms(10), ms(900)), Push::Older);
    store.push(path, list(&["of the second"]), None, ms(30), Some(told));
    assert!(matches!(store.push_state(path, told, ms(10), ms(900)), Push::Current { .. }));
}

#[test]
fn the_report_taken_longest_ago_makes_room() {
    let mut store = Store::default();
    let mut pull = |path: &str, version| store.pull(Path::new(path), "", list(&["x"]), None, version);
    for n in 0..=FILES {
        pull(&format!("/w/{n}.py"), 1);
    }
    pull("/w/1.py", 2);
    pull("/w/new.py", 1);
    assert!(store.pulled(Path::new("/w/0.py"), "").is_none());
    assert!(store.pulled(Path::new("/w/2.py"), "").is_none());
    assert_eq!(store.reports(Path::new("/w/1.py"), 2).len(), 1);
}

#[test]
fn a_list_that_crosses_a_change_elsewhere_never_counts_alone() {
    let t = Instant::now();
    let ms = |n| t + Duration::from_millis(n);
    let mut store = Store::default();
    let path = Path::new("/w/b.py");
    let told = Sent { version: 2, at: t };
    store.tell(path, t);
    store.changed_elsewhere(ms(10), false, None);
    store.push(path, list(&[]), Some(2), ms(20), Some(told));
    assert_eq!(store.push_state(path, told, ms(10), ms(900)), Push::Older);
    store.push(path, list(&["of the files as they are"]), Some(2), ms(30), Some(told));
    assert!(matches!(store.push_state(path, told, ms(10), ms(900)), Push::Current { .. }));
}

#[test]
fn lists_of_files_that_nobody_has_open_make_room_first() {
    let (mut store, now) = (Store::default(), Instant::now());
    let open = Path::new("/w/open.py");
    store.tell(open, now);
    store.push(open, list(&["a"]), Some(1), now, None);
    for number in 0..2 * FILES {
        store.push(Path::new(&format!("/w/{number}.py")), list(&["b"]), None, now + Duration::from_millis(1), None);
    }
    assert!(store.pushed(open).is_some());
    assert_eq!(store.pushed.len(), FILES);
}

#[test]
fn large_lists_make_room_and_are_still_counted() {
    let shelf = super::super::shelf::Shelf::new(1 << 20);
    let (mut store, now) = (Store::new(shelf.board()), Instant::now());
    let large = "x".repeat(100_000);
    let path = |n: usize| PathBuf::from(format!("/w/{n}.py"));
    for n in 0..20 {
        store.push(&path(n), list(&[&large]), None, now + Duration::from_millis(n as u64), None);
        store.pull(&path(n), "", list(&[&large]), None, 1);
        assert!(shelf.bytes() <= 1 << 20, "{}", shelf.bytes());
    }
    assert!(!store.is_lost(&path(19)) && store.is_lost(&path(0)));
    assert_eq!(store.pushed(&path(0)).unwrap().list().told().all, [1, 0, 0, 0]);
    assert!(store.pulled(&path(0), "").unwrap().list().is_only_counted());
    assert_eq!(store.with_problems().count(), 40);
    for n in 0..20 {
        store.forget(&path(n));
    }
    assert_eq!(shelf.bytes(), 0);
}

#[test]
fn an_empty_list_stands_longer_where_second_thoughts_were_seen() {
    let t = Instant::now();
    let ms = |n| t + Duration::from_millis(n);
    let usual = Duration::from_millis(500);
    let mut store = Store::default();
    let (path, one) = (Path::new("/w/a.py"), Sent { version: 1, at: t });
    store.tell(path, t);
    assert_eq!(store.empty_settle(path, usual), Duration::from_millis(1200), "the first text of a file");
    store.push(path, list(&[]), Some(1), ms(50), Some(one));
    store.push(path, list(&["x"]), Some(1), ms(900), Some(one));
    let two = Sent { version: 2, at: ms(1000) };
    store.tell(path, two.at);
    assert_eq!(store.empty_settle(path, usual), Duration::from_millis(1275), "850 ms and half of that");

    let mut store = Store::default();
    store.tell(path, t);
    store.push(path, list(&[]), Some(1), ms(50), Some(one));
    store.changed_elsewhere(ms(60), false, None);
    store.push(path, list(&["x"]), Some(1), ms(2000), Some(one));
    store.tell(path, two.at);
    assert_eq!(store.empty_settle(path, usual), usual, "the change elsewhere brought the problem");
}

#[test]
fn a_list_that_was_lost_is_the_last_word_until_another_one_comes() {
    let t = Instant::now();
    let after = |ms| t + Duration::from_millis(ms);
    let (path, told) = (Path::new("/w/a.py"), Sent { version: 2, at: t });
    for version in [Some(2), None] {
        let mut store = Store::default();
        let state = |store: &Store, told, changed, now| store.push_state(path, told, changed, now);
        store.push(path, list(&["x"]), version, after(5), Some(told));
        store.lose(path, version, "is too large".into(), after(10), Some(told));
        assert_eq!(state(&store, told, t, after(500)), Push::Lost);
        assert_eq!(store.lost(path, told), Some("is too large"));
        assert!(store.pushed(path).is_none(), "what was told before is old");
        // Something else changes: another list may come, but until one does it is the last word.
        assert_eq!(state(&store, told, after(20), after(500)), Push::Lost);
        assert!(store.lost(path, told).is_some() && store.usual_delay().is_some());
        // Of another text it says nothing.
        let next = Sent { version: 3, at: after(30) };
        assert_eq!((state(&store, next, t, after(500)), store.lost(path, next)), (Push::Never, None));
        store.push(path, list(&["y"]), version, after(40), Some(told));
        assert!(matches!(state(&store, told, t, after(500)), Push::Current { .. }));
        assert_eq!(store.lost(path, told), None);
    }
    // One of an older text that comes late changes nothing.
    let mut store = Store::default();
    store.push(path, list(&["x"]), Some(2), after(5), Some(told));
    store.lose(path, Some(1), "is too large".into(), after(10), Some(told));
    assert!(matches!(store.push_state(path, told, t, after(500)), Push::Current { .. }));
}
