//! What a server says at its start, and when it then counts as ready.

use super::*;

fn at(start: Instant, ms: u64) -> Instant {
    start + Duration::from_millis(ms)
}

#[test]
fn without_a_signal_grace_then_drained_progress() {
    let t = Instant::now();
    let mut r = Readiness::new(Rule::default(), t);
    assert!(matches!(r.standing(at(t, 100)), Standing::Loading { .. }));
    r.began("a", "Indexing", None, Some(5), at(t, 150));
    let Standing::Loading { progress, .. } = r.standing(at(t, 5000)) else { panic!("ready while at work") };
    assert_eq!(progress.as_deref(), Some("Indexing 5%"));
    r.ended("a");
    assert_eq!(r.standing(at(t, 5001)), Standing::Ready);
    r.began("b", "Check", None, None, at(t, 6000));
    assert_eq!(r.standing(at(t, 6001)), Standing::Ready, "later work does not undo loading");
    assert!(r.at_work(at(t, 6001)));
}

#[test]
fn another_folder_is_loaded_without_the_signal() {
    let t = Instant::now();
    let mut r = Readiness::new(Rule { log: Some(Regex::new("^done").unwrap()), ..Rule::default() }, t);
    r.logged("done");
    assert_eq!(r.standing(t), Standing::Ready);
    r.joined(at(t, 1000));
    assert!(matches!(r.standing(at(t, 1100)), Standing::Loading { .. }));
    assert!(r.wants_agreement());
    r.began("a", "Loading b", None, None, at(t, 1200));
    assert!(matches!(r.standing(at(t, 3000)), Standing::Loading { .. }));
    r.ended("a");
    assert_eq!(r.standing(at(t, 3001)), Standing::Ready);

    let notification = Some(("status".into(), Some("quiet".into())));
    let mut r = Readiness::new(Rule { notification, ..Rule::default() }, t);
    r.notified("status", &serde_json::json!({"quiet": true}), t);
    assert_eq!(r.standing(t), Standing::Ready);
    r.joined(at(t, 1000));
    assert!(matches!(r.standing(at(t, 9000)), Standing::Loading { .. }));
    r.notified("status", &serde_json::json!({"quiet": true}), at(t, 9000));
    assert_eq!(r.standing(at(t, 9001)), Standing::Ready);
}

#[test]
fn progress_that_stands_for_a_state_is_no_work() {
    let t = Instant::now();
    let mut r = Readiness::new(Rule { standing: Some(Regex::new("^Error").unwrap()), ..Rule::default() }, t);
    r.began("a", "Error loading workspace", None, None, t);
    assert!(!r.at_work(t));
    assert_eq!(r.standing(at(t, 300)), Standing::Ready);
}

#[test]
fn a_silent_server_is_ready_after_the_grace() {
    let t = Instant::now();
    let mut r = Readiness::new(Rule::default(), t);
    let Standing::Loading { until, .. } = r.standing(t) else { panic!() };
    assert_eq!(r.standing(until), Standing::Ready);
}

#[test]
fn a_signal_is_waited_for_and_given_up_at_its_timeout() {
    let t = Instant::now();
    let rule = Rule {
        log: Some(Regex::new("Found \\d+ source").unwrap()),
        timeout: Duration::from_secs(10),
        ..Rule::default()
    };
    let mut r = Readiness::new(rule.clone(), t);
    assert!(matches!(r.standing(at(t, 9_000)), Standing::Loading { .. }));
    r.logged("Found 41 source files");
    assert_eq!(r.standing(at(t, 9_001)), Standing::Ready);
    let mut r = Readiness::new(rule, t);
    assert_eq!(r.standing(at(t, 10_000)), Standing::Ready);
}

#[test]
fn files_that_come_make_the_signal_count_anew() {
    let t = Instant::now();
    let again = globset::GlobSetBuilder::new().add(globset::Glob::new("*.py").unwrap()).build().unwrap();
    let rule = Rule { log: Some(Regex::new("Found").unwrap()), again, ..Rule::default() };
    let mut r = Readiness::new(rule, t);
    r.logged("Found 1");
    r.came_or_went(Path::new("/w/notes.txt"), t);
    assert_eq!(r.counting(t), None);
    r.came_or_went(Path::new("/w/late.py"), t);
    assert_eq!(r.counting(at(t, 999)), Some(at(t, 1000)));
    assert_eq!(r.standing(at(t, 10)), Standing::Ready, "other questions need not wait");
    assert_eq!(r.counting(at(t, 1000)), None, "a file that the server leaves out brings no signal");
    r.came_or_went(Path::new("/w/later.py"), at(t, 2000));
    r.logged("Found 2");
    assert_eq!(r.counting(at(t, 2001)), None);
}

#[test]
fn a_refresh_is_a_signal_where_it_is_named() {
    let t = Instant::now();
    for refresh in [true, false] {
        let rule = Rule { refresh, grace: Duration::from_secs(2), ..Rule::default() };
        let mut r = Readiness::new(rule, t);
        r.refreshed();
        assert_eq!(r.standing(at(t, 400)) == Standing::Ready, refresh);
    }
}

#[test]
fn a_boolean_field_must_hold() {
    let t = Instant::now();
    let rule =
        Rule { notification: Some(("experimental/serverStatus".into(), Some("quiescent".into()))), ..Rule::default() };
    let mut r = Readiness::new(rule, t);
    r.notified("experimental/serverStatus", &serde_json::json!({"quiescent": false}), t);
    assert!(matches!(r.standing(at(t, 400)), Standing::Loading { .. }));
    r.notified("experimental/serverStatus", &serde_json::json!({"quiescent": true}), t);
    assert_eq!(r.standing(at(t, 401)), Standing::Ready);
    r.notified("experimental/serverStatus", &serde_json::json!({"quiescent": false}), at(t, 90_000));
    assert!(matches!(r.standing(at(t, 90_001)), Standing::Loading { .. }), "it loads the project anew");
    r.notified("experimental/serverStatus", &serde_json::json!({"quiescent": true}), at(t, 91_000));
    assert_eq!(r.standing(at(t, 91_000)), Standing::Ready);
}

#[test]
fn a_token_that_never_ends_is_forgotten() {
    let t = Instant::now();
    let mut r = Readiness::new(Rule::default(), t);
    r.began("x", "Loading", None, None, t);
    assert!(matches!(r.standing(at(t, 59_000)), Standing::Loading { .. }));
    assert_eq!(r.standing(at(t, 60_000)), Standing::Ready);
}
