//! What a server is told of its documents, in which order and under which versions.

use super::*;

fn rules(_: &str, _: &Path) -> SyncRules {
    SyncRules { open_close: true, change: true, separated: false, save: true, save_text: false }
}

fn text(s: &str, serial: u64) -> Text {
    Text { text: s.into(), hash: s.bytes().fold(7, |h, b| h * 31 + u64::from(b)), serial }
}

fn brief(notices: &[Notice]) -> Vec<String> {
    notices
        .iter()
        .map(|n| match n {
            Notice::Open { path, version, .. } => format!("open {} {version}", path.display()),
            Notice::Change { path, version, text, until } => {
                let until = until.map(|end| format!(" until {}:{}", end.line, end.character)).unwrap_or_default();
                format!("change {} {version} {text}{until}", path.display())
            }
            Notice::Save { path, text } => format!("save {} {}", path.display(), text.is_some()),
            Notice::Close { path } => format!("close {}", path.display()),
        })
        .collect()
}

#[test]
fn opens_once_changes_on_new_text_and_never_goes_back() {
    let (mut docs, mut out, now) = (Documents::new(2), Vec::new(), Instant::now());
    let a = Path::new("/a");
    assert!(docs.update(a, "python", &text("1", 1), &rules, now, &mut out));
    assert!(!docs.update(a, "python", &text("1", 2), &rules, now, &mut out));
    assert!(docs.update(a, "python", &text("2", 3), &rules, now, &mut out));
    assert!(!docs.update(a, "python", &text("1", 2), &rules, now, &mut out), "an older reading is not told");
    docs.close(a, &rules, &mut out);
    assert!(docs.update(a, "python", &text("1", 4), &rules, now, &mut out));
    assert_eq!(brief(&out), ["open /a 1", "change /a 2 2", "save /a false", "close /a", "open /a 3"]);
}

#[test]
fn what_is_shown_is_closed_again_and_open_files_are_left_alone() {
    let (mut docs, mut out) = (Documents::new(2), Vec::new());
    docs.update(Path::new("/a"), "python", &text("1", 1), &rules, Instant::now(), &mut out);
    for name in ["/a", "/b"] {
        docs.show(Path::new(name), "python", "2".into(), &rules, &mut out);
    }
    assert_eq!(brief(&out), ["open /a 1", "open /b 2", "close /b"]);
    assert_eq!(docs.paths().len(), 1);
}

#[test]
fn the_end_of_the_old_text_is_told_where_its_lines_are_counted_otherwise() {
    let separated = &|language: &str, path: &Path| SyncRules { separated: true, save: false, ..rules(language, path) };
    let (mut docs, mut out, now) = (Documents::new(2), Vec::new(), Instant::now());
    let (path, odd) = (Path::new("/a"), text("a\u{2028}bc", 1));
    docs.update(path, "typescript", &odd, separated, now, &mut out);
    docs.again(path, &odd, Nudge::Change, separated, now, &mut out);
    docs.update(path, "typescript", &text("plain", 2), separated, now, &mut out);
    docs.update(path, "typescript", &text("again", 3), separated, now, &mut out);
    let told = brief(&out);
    assert_eq!(told[1..], ["change /a 2 a\u{2028}bc until 1:2", "change /a 3 plain until 1:2", "change /a 4 again"]);
}

#[test]
fn the_least_recently_used_is_closed() {
    let (mut docs, mut out, now) = (Documents::new(2), Vec::new(), Instant::now());
    for name in ["/a", "/b", "/a", "/c"] {
        docs.update(Path::new(name), "python", &text("1", 1), &rules, now, &mut out);
    }
    assert_eq!(brief(&out), ["open /a 1", "open /b 2", "close /b", "open /c 3"]);
    assert_eq!(docs.count(), 2);
}

#[test]
fn what_is_asked_about_stays_open() {
    let (mut docs, mut out, now) = (Documents::new(2), Vec::new(), Instant::now());
    docs.pin(Path::new("/a"));
    docs.pin(Path::new("/a"));
    for name in ["/a", "/b", "/c"] {
        docs.update(Path::new(name), "python", &text("1", 1), &rules, now, &mut out);
    }
    docs.unpin(Path::new("/a"));
    docs.update(Path::new("/d"), "python", &text("1", 1), &rules, now, &mut out);
    docs.unpin(Path::new("/a"));
    docs.update(Path::new("/e"), "python", &text("1", 1), &rules, now, &mut out);
    assert_eq!(
        brief(&out),
        ["open /a 1", "open /b 2", "close /b", "open /c 3", "close /c", "open /d 4", "close /a", "open /e 5"]
    );
}

#[test]
fn a_server_that_wants_no_documents_is_told_none() {
    let (mut docs, mut out) = (Documents::new(2), Vec::new());
    let none = &|language: &str, path: &Path| SyncRules {
        open_close: false,
        change: false,
        save: false,
        ..rules(language, path)
    };
    docs.update(Path::new("/a"), "python", &text("1", 1), none, Instant::now(), &mut out);
    docs.update(Path::new("/a"), "python", &text("2", 2), none, Instant::now(), &mut out);
    assert!(out.is_empty());
}
