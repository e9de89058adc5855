use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

/// What servers tell of a text: each line with `ERR` is a problem; `s:` in front says who tells it.
fn told_of(text: &str, servers: &[&str], cut: [bool; 4]) -> Told {
    let found = lines(text).into_iter().enumerate().filter(|(_, line)| line.contains("ERR"));
    let known = found.map(|(at, line)| {
        let at_server = servers.iter().position(|server| line.starts_with(&format!("{server}:"))).unwrap_or(0);
        let message = &line[line.find("ERR").unwrap()..];
        Known {
            line: u32::try_from(at).unwrap(),
            column: 1,
            severity: Severity::Error,
            says: says(Severity::Error, message),
            server: u16::try_from(at_server).unwrap(),
            again: false,
        }
    });
    let servers = servers.iter().map(|name| (name.parse().unwrap(), true)).collect();
    Told { text: text.into(), known: known.collect(), servers, cut }
}

fn record(text: &str, servers: &[&str]) -> Baseline {
    Baseline::Known(Arc::new(told_of(text, servers, [false; 4])))
}

fn shown(baseline: &Baseline, text: &str, servers: &[&str]) -> String {
    let now = told_of(text, servers, [false; 4]);
    let compared = compare(baseline, &now);
    let new = now.known.iter().zip(&compared.new).filter(|(_, new)| **new);
    let new: Vec<_> = new.map(|(known, _)| lines(text)[known.line as usize]).collect();
    let unknown = if compared.unknown || compared.unsure.contains(&true) { " unknown" } else { "" };
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
    let (all, cut) = ([false; 4], [true, false, false, false]);
    let compared = |then, text, now| {
        let then = Baseline::Known(Arc::new(told_of("ERR x\nERR y\n", &["s"], then)));
        let compared = compare(&then, &told_of(text, &["s"], now));
        (compared.gone.len(), compared.more_gone[0], compared.unsure.contains(&true))
    };
    assert_eq!(compared(all, "ERR y\n", all), (1, false, false));
    assert_eq!(compared(all, "ERR y\n", cut), (0, true, false));
    assert_eq!(compared(all, "ERR x\nERR y\nERR w\n", all), (0, false, false));
    assert_eq!(compared(cut, "ERR x\nERR y\nERR w\n", all), (0, true, true));
    assert_eq!(compared(cut, "ERR y\n", all), (1, true, false));
}

#[test]
fn a_line_that_stays_keeps_its_problem_to_itself() {
    // The same words stand on two lines, and the problem goes from the one to the other.
    let said = |text: &str, line| {
        let mut told = told_of("", &["s"], [false; 4]);
        told.text = text.into();
        told.known = vec![Known { line, ..told_of("ERR x\n", &["s"], [false; 4]).known[0] }];
        told
    };
    let text = "call()\n1\n2\ncall()\n";
    let compared = compare(&Baseline::Known(Arc::new(said(text, 0))), &said(text, 3));
    assert_eq!((compared.new, compared.gone), (vec![true], vec![0]));
    // Told of it at another column of the same line, it is another place.
    let mut other = said(text, 0);
    other.known[0].column = 3;
    let compared = compare(&Baseline::Known(Arc::new(said(text, 0))), &other);
    assert_eq!((compared.new, compared.gone), (vec![true], vec![0]));
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
        let (old, new) = (old.join("\n"), new.join("\n"));
        let (before, now) = (told_of(&old, &["s"], [false; 4]), told_of(&new, &["s"], [false; 4]));
        let number = before.known.len();
        let compared = compare(&Baseline::Known(Arc::new(before)), &now);
        let kept = compared.new.iter().filter(|new| !**new).count();
        prop_assert_eq!(compared.gone.len() + kept, number);
        prop_assert_eq!(compared.new.len(), now.known.len());
    }
}
