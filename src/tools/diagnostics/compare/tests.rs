use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::tools::diagnostics::memory::{Memory, Noted};

/// The problems of a text: each line with `ERR` is one; `s:` in front says who tells it.
fn problems(text: &str, servers: &[ScopedName]) -> Vec<(Known, usize)> {
    let found = lines(text).into_iter().enumerate().filter(|(_, line)| line.contains("ERR"));
    let known = found.map(|(at, line)| {
        let server = servers.iter().position(|server| line.starts_with(&format!("{}:", server.name()))).unwrap_or(0);
        let key = key(servers.get(server), Severity::Error, None, Some("E1"), &line[line.find("ERR").unwrap()..]);
        (Known { line: u32::try_from(at).unwrap(), severity: Severity::Error, key, again: false }, server)
    });
    known.collect()
}

fn record(text: &str, servers: &[&str]) -> Baseline {
    record_of(text, servers, [false; 4])
}

fn record_of(text: &str, servers: &[&str], cut: [bool; 4]) -> Baseline {
    let servers: Vec<ScopedName> = servers.iter().map(|name| name.parse().unwrap()).collect();
    let memory = Memory::default();
    let point = memory.mark(0, 0);
    let known = problems(text, &servers).into_iter().map(|(known, _)| known).collect();
    let path = std::path::Path::new("/a");
    memory.record(path, Noted { text: text.into(), known, servers, cut, whole: true }, point, 1);
    Baseline::Known(memory.at(path, point).unwrap())
}

fn shown(baseline: &Baseline, text: &str, servers: &[&str]) -> String {
    let servers: Vec<ScopedName> = servers.iter().map(|name| name.parse().unwrap()).collect();
    let now = problems(text, &servers);
    let servers: Vec<_> = servers.into_iter().map(Some).collect();
    let compared = compare(baseline, text, &now, &servers, [false; 4]);
    let new = now.iter().zip(&compared.new).filter(|(_, new)| **new);
    let new: Vec<_> = new.map(|((known, _), _)| lines(text)[known.line as usize]).collect();
    let unknown = if compared.unknown { " unknown" } else { "" };
    format!("new [{}] gone {}{unknown}", new.join(", "), compared.gone.len())
}

fn check(old: &str, new: &str, expected: &Expect) {
    expected.assert_eq(&shown(&record(old, &["s"]), new, &["s"]));
}

#[test]
fn what_moved_is_not_new() {
    check("a\nERR x\nb\n", "1\n2\n3\na\nERR x\nb\n", &expect!["new [] gone 0"]);
    check("a\nERR x\nb\nc\nd\n", "a\nb\nc\nd\nERR x\n", &expect!["new [] gone 0"]);
    check("ERR x\r\nb\r\n", "new\nERR x\nb\n", &expect!["new [] gone 0"]);
    check("f(1) ERR x\nb\n", "b\n", &expect!["new [] gone 1"]);
}

#[test]
fn what_is_new_is_new() {
    check("a\nERR x\n", "a\nERR x\nERR y\n", &expect!["new [ERR y] gone 0"]);
    check("a\nERR x\n", "a\nERR x\nERR x\n", &expect!["new [ERR x] gone 0"]);
    check("a\nERR x\nb\n", "a\nERR y\nb\n", &expect!["new [ERR y] gone 1"]);
    check("a\nb\n", "ERR a\nb\n", &expect!["new [ERR a] gone 0"]);
}

#[test]
fn a_line_that_was_touched_and_not_mended() {
    check("a\nold ERR x\nb\n", "a\nnew ERR x\nb\n", &expect!["new [] gone 0"]);
    // Numbers in a message are the places of other things.
    check("a\nERR at line 7\nb\n", "0\na\nERR at line 8\nb\n", &expect!["new [] gone 0"]);
}

#[test]
fn a_server_that_had_not_answered_leaves_no_baseline() {
    expect!["new [t: ERR y] gone 0 unknown"].assert_eq(&shown(
        &record("ERR x\n", &["s"]),
        "ERR x\nt: ERR y\n",
        &["s", "t"],
    ));
    // One that answers no more has not mended anything.
    expect!["new [] gone 0"].assert_eq(&shown(&record("ERR x\nt: ERR y\n", &["s", "t"]), "ERR x\nt:\n", &["s"]));
}

#[test]
fn without_a_record_the_changed_lines_decide() {
    let old = Baseline::Text("a\nERR x\nb\n".into());
    expect!["new [ERR y] gone 0"].assert_eq(&shown(&old, "0\na\nERR x\nb\nERR y\n", &["s"]));
    expect!["new [ERR x] gone 0"].assert_eq(&shown(&Baseline::Nothing, "ERR x\n", &["s"]));
    expect!["new [ERR x] gone 0 unknown"].assert_eq(&shown(&Baseline::Unknown, "ERR x\n", &["s"]));
}

#[test]
fn of_what_was_cut_off_nothing_is_new_for_sure_nor_gone() {
    let servers: [ScopedName; 1] = ["s".parse().unwrap()];
    let (all, cut) = ([false; 4], [true, false, false, false]);
    let compared = |then, text, now| {
        let found = problems(text, &servers);
        let compared =
            compare(&record_of("ERR x\nERR y\n", &["s"], then), text, &found, &servers.clone().map(Some), now);
        (compared.gone.len(), compared.unknown)
    };
    assert_eq!(compared(all, "ERR y\n", all), (1, false));
    assert_eq!(compared(all, "ERR y\n", cut), (0, false));
    assert_eq!(compared(all, "ERR x\nERR y\nERR w\n", all), (0, false));
    assert_eq!(compared(cut, "ERR x\nERR y\nERR w\n", all), (0, true));
}

proptest! {
    /// Lines put in anywhere make nothing new, and take nothing away.
    #[test]
    fn inserted_lines_make_nothing_new(
        old in proptest::collection::vec("(a|b|ERR x|ERR y|ERR z)", 0..30),
        inserted in proptest::collection::vec((0..31_usize, "new[0-9]{1,3}"), 0..8),
    ) {
        let text = |lines: &[String]| lines.join("\n");
        let mut new = old.clone();
        for (at, line) in inserted {
            new.insert(at.min(new.len()), line);
        }
        let baseline = record(&text(&old), &["s"]);
        prop_assert_eq!(shown(&baseline, &text(&new), &["s"]), "new [] gone 0");
    }

    /// However the texts differ, each known problem is taken at most once.
    #[test]
    fn numbers_add_up(
        old in proptest::collection::vec("(a|b|c|ERR x|ERR y)", 0..20),
        new in proptest::collection::vec("(a|b|c|ERR x|ERR y)", 0..20),
    ) {
        let servers: [ScopedName; 1] = ["s".parse().unwrap()];
        let (old, new) = (old.join("\n"), new.join("\n"));
        let (before, now) = (problems(&old, &servers).len(), problems(&new, &servers));
        let compared = compare(&record(&old, &["s"]), &new, &now, &servers.map(Some), [false; 4]);
        let kept = compared.new.iter().filter(|new| !**new).count();
        prop_assert_eq!(compared.gone.len() + kept, before);
        prop_assert_eq!(compared.new.len(), now.len());
    }
}
