//! Places, from one to many.

use expect_test::{Expect, expect};

use super::{lines, show_file, show_range};
use crate::protocol::read::{Caps, ReadError};
use crate::protocol::types::Locations;

fn locations(raw: &[u8], caps: &Caps) -> Result<Locations, ReadError> {
    crate::protocol::read::locations(raw, caps, Some("/5".as_ref()))
}

fn show(list: &Locations) -> String {
    let head = format!("{} of {}, {} dropped, {} files", list.items.len(), list.total, list.dropped, list.files.len());
    let places = list
        .items
        .iter()
        .map(|item| format!("{} {}", show_file(&list.files[item.file as usize]), show_range(&item.range)));
    lines([head].into_iter().chain(places))
}

fn check(raw: &str, expected: &Expect) {
    super::check(locations, show, raw, expected);
}

const RANGE: &str = r#"{"start":{"line":1,"character":2},"end":{"line":1,"character":5}}"#;

#[test]
fn the_four_forms() {
    check("null", &expect!["0 of 0, 0 dropped, 0 files"]);
    check("[]", &expect!["0 of 0, 0 dropped, 0 files"]);
    check(
        &format!(r#"{{"uri":"file:///a.py","range":{RANGE}}}"#),
        &expect![[r#"
        1 of 1, 0 dropped, 1 files
        /a.py 1:2-1:5"#]],
    );
    check(
        &format!(
            r#"[{{"uri":"file:///a.py","range":{RANGE}}},{{"range":{RANGE},"uri":"jdt://contents/String.class"}}]"#
        ),
        &expect![[r#"
            2 of 2, 0 dropped, 2 files
            /a.py 1:2-1:5
            <jdt://contents/String.class> 1:2-1:5"#]],
    );
    // The name is where the selection is; the other ranges are not for showing.
    check(
        r#"[{"originSelectionRange":{"start":{"line":9,"character":9},"end":{"line":9,"character":9}},
             "targetRange":{"start":{"line":0,"character":0},"end":{"line":8,"character":0}},
             "targetSelectionRange":{"start":{"line":3,"character":4},"end":{"line":3,"character":7}},
             "targetUri":"file:///b%20c.ts"}]"#,
        &expect![[r#"
            1 of 1, 0 dropped, 1 files
            /b c.ts 3:4-3:7"#]],
    );
    check(
        &format!(r#"{{"targetUri":"file:///b.ts","targetRange":{RANGE}}}"#),
        &expect![[r#"
        1 of 1, 0 dropped, 1 files
        /b.ts 1:2-1:5"#]],
    );
}

#[test]
fn each_file_is_named_once() {
    let place = |uri: &str| format!(r#"{{"uri":"{uri}","range":{RANGE}}}"#);
    // The second and the fourth spell the first in other ways, as PHP and VS Code do.
    let uris = ["file:///w/a:b.py", r"file:\/\/\/w\/a:b.py", "file:///c", "file:///w/a%3Ab.py", "file:///w/a:b.py"];
    check(
        &format!("[{}]", uris.map(place).join(",")),
        &expect![[r#"
        5 of 5, 0 dropped, 2 files
        /w/a:b.py 1:2-1:5
        /w/a:b.py 1:2-1:5
        /c 1:2-1:5
        /w/a:b.py 1:2-1:5
        /w/a:b.py 1:2-1:5"#]],
    );
}

#[test]
fn malformed_items_are_dropped() {
    let bad = [
        "null",
        "7",
        "\"file:///a\"",
        "[]",
        "{}",
        r#"{"uri":"file:///a"}"#,
        r#"{"uri":"","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":5}}}"#,
        r#"{"uri":7,"range":{"start":{"line":1,"character":2},"end":{"line":1,"character":5}}}"#,
        r#"{"uri":"file:///a","range":null}"#,
        r#"{"uri":"file:///a","range":[]}"#,
        r#"{"uri":"file:///a","range":{"start":{"line":1,"character":2}}}"#,
        r#"{"uri":"file:///a","range":{"start":{"line":"1","character":2},"end":{"line":1,"character":5}}}"#,
        r#"{"uri":"file:///a","range":{"start":{"line":1},"end":{"line":1,"character":5}}}"#,
    ];
    check(
        &format!(r#"[{},{{"uri":"file:///good","range":{RANGE}}}]"#, bad.join(",")),
        &expect![[r#"
        1 of 1, 13 dropped, 1 files
        /good 1:2-1:5"#]],
    );
}

#[test]
fn odd_numbers() {
    let range = |line: &str| {
        format!(
            r#"{{"uri":"file:///a","range":{{"start":{{"line":{line},"character":0}},"end":{{"line":{line},"character":1}}}}}}"#
        )
    };
    let numbers = ["3.0", "-1", "4294967296", "1e3", "99999999999999999999999", "-0.5"];
    check(
        &format!("[{}]", numbers.map(range).join(",")),
        &expect![[r#"
        6 of 6, 0 dropped, 1 files
        /a 3:0-3:1
        /a 0:0-0:1
        /a 4294967295:0-4294967295:1
        /a 1000:0-1000:1
        /a 4294967295:0-4294967295:1
        /a 0:0-0:1"#]],
    );
}

#[test]
fn a_reversed_range_collapses_to_its_end() {
    check(
        r#"{"uri":"file:///a","range":{"start":{"line":5,"character":1},"end":{"line":3,"character":2}}}"#,
        &expect![[r#"
            1 of 1, 0 dropped, 1 files
            /a 3:2-3:2"#]],
    );
}

#[test]
fn order_repetition_and_unknown_keys() {
    check(
        &format!(
            r#"[{{"x":{{"uri":"file:///no","deep":[[[{{}}]]]}},"range":null,"range":{RANGE},"uri":"file:///no","uri":"file:///yes","":1}}]"#
        ),
        &expect![[r#"
            1 of 1, 0 dropped, 1 files
            /yes 1:2-1:5"#]],
    );
}

#[test]
fn what_is_no_answer() {
    for (raw, expected) in [
        ("true", expect!["error: expected a location, a list of them, or null, the server sent a boolean"]),
        ("3", expect!["error: expected a location, a list of them, or null, the server sent a number"]),
        (r#""file:///a""#, expect!["error: expected a location, a list of them, or null, the server sent a string"]),
        (
            "{}",
            expect![
                "error: expected a location, a list of them, or null, the server sent an object without a valid `uri`"
            ],
        ),
        (
            r#"{"uri":"file:///a"}"#,
            expect![
                "error: expected a location, a list of them, or null, the server sent an object without a valid `range`"
            ],
        ),
        (
            "",
            expect![
                "error: expected a location, a list of them, or null, the server sent invalid JSON: EOF while parsing a value at line 1 column 0"
            ],
        ),
        (
            "[",
            expect![
                "error: expected a location, a list of them, or null, the server sent invalid JSON: EOF while parsing a list at line 1 column 1"
            ],
        ),
        (
            "null null",
            expect![
                "error: expected a location, a list of them, or null, the server sent invalid JSON: trailing characters at line 1 column 6"
            ],
        ),
    ] {
        check(raw, &expected);
    }
}

#[test]
fn past_the_cap_items_are_only_counted_but_for_those_of_the_asked_file() {
    let raw = format!(
        "[{}]",
        (0..7).map(|n| format!(r#"{{"uri":"file:///{n}","range":{RANGE}}}"#)).collect::<Vec<_>>().join(",")
    );
    let caps = Caps { list: 2, ..Caps::default() };
    let list = locations(raw.as_bytes(), &caps).unwrap();
    assert_eq!(size_of::<crate::protocol::types::Location>(), 20);
    expect![[r#"
        3 of 7, 0 dropped, 3 files
        /0 1:2-1:5
        /1 1:2-1:5
        /5 1:2-1:5"#]]
    .assert_eq(&show(&list));
}
