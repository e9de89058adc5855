//! What is new and what is gone, of one server and of two.

use expect_test::{Expect, expect};

use super::*;
use crate::{protocol::types::Tally, registry::DisplayName, tools::diagnostics::sweep::Found};

/// Files with their texts; each line says who tells of it (`a`, `b`, or both) and what.
fn look(files: &[(&str, &str)], servers: &[(&str, Verdict)]) -> Look {
    let parts = servers.iter().map(|(name, verdict)| ServerVerdict {
        id: name.parse().unwrap(),
        server: DisplayName::new(*name),
        verdict: *verdict,
        reason: None,
    });
    let parts: Vec<ServerVerdict> = parts.collect();
    let file = |(file, text): &(&str, &str)| {
        let mut found = Vec::new();
        for (words, line) in text.lines().zip(1_u32..) {
            let Some((who, message)) = words.split_once(": ") else { continue };
            let tell = |(server, part): (usize, &ServerVerdict)| Found {
                severity: Severity::Error,
                faint: false,
                server,
                again: false,
                problem: Problem {
                    file: (*file).into(),
                    line,
                    column: 1,
                    end_line: line,
                    end_column: 2,
                    severity: "error".into(),
                    message: message.into(),
                    code: None,
                    source: Some(part.server.to_string()),
                    text: None,
                    related: Vec::new(),
                },
            };
            let telling = parts.iter().enumerate().filter(|(_, part)| who.contains(part.id.name()));
            found.extend(telling.map(tell));
        }
        let checked = Checked {
            path: (*file).into(),
            shown: (*file).into(),
            text: text.replace("ab: ", "").replace("a: ", "").replace("b: ", "").into(),
            verdict: Verdict::combine(parts.iter().map(|part| part.verdict)),
            parts: parts.clone(),
            found,
            cut: Tally::default(),
            malformed: 0,
            missing: Vec::new(),
        };
        (PathBuf::from(file), checked)
    };
    Look { files: files.iter().map(file).collect(), absent: HashSet::new() }
}

const BOTH: [(&str, Verdict); 2] = [("a", Verdict::Fresh), ("b", Verdict::Fresh)];

fn check(before: &Look, after: &Look, expected: &Expect) {
    let compared = Compared::of(before, after);
    let mut said = compared.summary(Verdict::Fresh, before.is_known());
    for item in &compared.items {
        let source = item.source.as_deref().unwrap_or_default();
        said.push_str(&format!("\n{}:{} {} {} [{source}]", item.file, item.line, item.severity, item.message));
    }
    expected.assert_eq(&said);
}

#[test]
fn new_and_gone_are_told_by_what_they_say_and_places_are_followed() {
    check(
        &look(&[("/a", "a: x\na: x\n1\na: y"), ("/b", "1")], &BOTH),
        &look(&[("/a", "0\na: x\n1"), ("/b", "1\na: z")], &BOTH),
        &expect![[r#"
            1 new problem, 2 gone
            /b:2 new error z [a]
            /a:1 gone: error x [a]
            /a:4 gone: error y [a]"#]],
    );
    check(
        &look(&[("/a", "a: x\n1\na: y")], &BOTH),
        &look(&[("/a", "a: y\na: x\n1")], &BOTH),
        &expect!["no new problems"],
    );
}

#[test]
fn what_another_one_still_says_is_not_gone_nor_new() {
    check(&look(&[("/", "ab: x\n1")], &BOTH), &look(&[("/", "b: x\n1")], &BOTH), &expect!["no new problems"]);
    check(&look(&[("/", "a: x\n1")], &BOTH), &look(&[("/", "ab: x\n1")], &BOTH), &expect!["no new problems"]);
    check(&look(&[("/", "a: x\n1")], &BOTH), &look(&[("/", "0\nb: x\n1")], &BOTH), &expect!["no new problems"]);
    // At another place it is another one.
    check(
        &look(&[("/", "ab: x\n1\n2\nx")], &BOTH),
        &look(&[("/", "x\n1\n2\nb: x")], &BOTH),
        &expect![[r#"
            1 new problem, 2 gone
            /:4 new error x [b]
            /:1 gone: error x [a]
            /:1 gone: error x [b]"#]],
    );
}

#[test]
fn what_was_not_known_before_is_not_called_new() {
    check(
        &look(&[], &[]),
        &look(&[("/", "a: x")], &BOTH),
        &expect![[r#"
            1 problem
            /:1 error x [a]"#]],
    );
    // Nor is it gone where one has not answered who said it.
    let half = [("a", Verdict::Fresh), ("b", Verdict::Unanswered)];
    check(
        &look(&[("/", "ab: x\na: y")], &BOTH),
        &look(&[("/", "x\ny")], &half),
        &expect![[r#"
        no new problems, 1 gone
        /:2 gone: error y [a]"#]],
    );
    check(
        &look(&[("/", "a: x\ny")], &half),
        &look(&[("/", "ab: x\nb: y")], &BOTH),
        &expect![[r#"
        1 problem
        /:2 error y [b]"#]],
    );
}

#[test]
fn of_what_was_cut_off_more_may_be_gone() {
    let mut before = look(&[("/", "a: x\na: y")], &BOTH);
    before.files.values_mut().for_each(|one| one.cut.add(Severity::Error, false));
    check(
        &before,
        &look(&[("/", "x\ny")], &BOTH),
        &expect![[r#"
        no new problems, at least 2 gone
        /:1 gone: error x [a]
        /:2 gone: error y [a]"#]],
    );
    check(&look(&[("/", "a: x\na: y")], &BOTH), &before, &expect!["1 problem too many to be compared"]);
}

#[test]
fn with_a_file_that_comes_or_goes_its_problems_do() {
    let there = look(&[("/", "ab: x")], &BOTH);
    let gone = Look { absent: ["/".into()].into(), ..Look::default() };
    check(
        &gone,
        &there,
        &expect![[r#"
        2 new problems
        /:1 new error x [a]
        /:1 new error x [b]"#]],
    );
    check(
        &there,
        &gone,
        &expect![[r#"
        no new problems, 2 gone
        /:1 gone: error x [a]
        /:1 gone: error x [b]"#]],
    );
}
