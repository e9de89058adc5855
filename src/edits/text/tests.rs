use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::protocol::positions::{Position, Range};

fn at(line: u32, character: u32) -> Position {
    Position { line, character }
}

fn one(start: Position, end: Position, text: &str) -> TextEdit {
    TextEdit { range: Range { start, end }, text: text.to_owned(), snippet: false }
}

fn made(text: &str, edits: &[TextEdit], encoding: Encoding) -> Result<Edited, TextError> {
    edit(&LineMap::new(text.into()), edits, encoding, 1 << 20)
}

fn check(text: &str, edits: &[(u32, u32, u32, u32, &str)], expected: &Expect) {
    let edits: Vec<TextEdit> = edits.iter().map(|e| one(at(e.0, e.1), at(e.2, e.3), e.4)).collect();
    expected.assert_eq(&match made(text, &edits, Encoding::Utf16) {
        Ok(edited) => format!("{:?} {}", edited.text, edited.places),
        Err(error) => error.to_string(),
    });
}

#[test]
fn places_and_their_order() {
    check("a 😀 total\n", &[(0, 5, 0, 10, "grand")], &expect![[r#""a 😀 grand\n" 1"#]]);
    check("ab", &[(0, 1, 0, 1, "1"), (0, 1, 0, 1, "2"), (0, 0, 0, 1, "x")], &expect![[r#""x12b" 3"#]]);
    check("ab", &[(0, 0, 0, 1, "x"), (0, 0, 0, 0, "<"), (0, 1, 0, 1, ">")], &expect![[r#""<x>b" 3"#]]);
    check("abc", &[(0, 0, 0, 2, "x"), (0, 1, 0, 3, "y")], &expect!["two edits overlap (line 1)"]);
    check("abc", &[(0, 0, 0, 2, "x"), (0, 0, 0, 2, "y")], &expect!["two edits overlap (line 1)"]);
    check("abc", &[(0, 0, 0, 2, "x"), (0, 0, 0, 0, "<"), (0, 0, 0, 2, "x")], &expect![[r#""<xc" 2"#]]);
    check("abc", &[(0, 0, 0, 2, ""), (0, 0, 0, 2, ""), (0, 0, 0, 2, "")], &expect![[r#""c" 1"#]]);
    check("abc", &[(0, 0, 0, 2, "x"), (0, 0, 0, 2, "x"), (0, 1, 0, 3, "x")], &expect!["two edits overlap (line 1)"]);
    check("abc", &[(0, 1, 0, 1, "x"), (0, 1, 0, 1, "x")], &expect![[r#""axxbc" 2"#]]);
    check("abc", &[(0, 0, 0, 2, "x"), (0, 1, 0, 1, "y")], &expect!["two edits overlap (line 1)"]);
    check("a\nb", &[(1, 1, 1, 0, "x")], &expect!["a range of the edit ends before it starts (line 2)"]);
    check("a\nb", &[(0, 9, 0, 99, "x"), (7, 0, 9, 0, "\n")], &expect![[r#""ax\nb\n" 2"#]]);
    check("a\nb\n", &[(0, 0, 2, 0, "a\nb\n")], &expect![[r#""a\nb\n" 0"#]]);
    check("", &[(0, 0, 0, 0, "x")], &expect![[r#""x" 1"#]]);
}

#[test]
fn the_middle_of_a_character_is_no_place() {
    let inside = expect!["a range of the edit begins or ends in the middle of a character (line 2)"];
    check("x\na😀b", &[(1, 2, 1, 3, "")], &inside);
    check("x\na😀b", &[(1, 1, 1, 2, "")], &inside);
    check("x\na😀b", &[(1, 2, 1, 2, "y")], &inside);
    check("x\na😀b", &[(1, 0, 1, 1, "y"), (1, 2, 1, 2, "z")], &inside);
    check("x\na😀b", &[(1, 1, 1, 3, "")], &expect![[r#""x\nab" 1"#]]);
    let edit = one(at(0, 1), at(0, 2), "");
    assert_eq!(made("é", std::slice::from_ref(&edit), Encoding::Utf8), Err(TextError::Inside(0)));
    assert_eq!(&*made("éa", &[edit], Encoding::Utf32).unwrap().text, "é");
}

#[test]
fn edt_04_line_ends_and_byte_order_marks() {
    check("a\r\nb\r\n", &[(0, 0, 0, 1, "x\ny"), (1, 1, 1, 1, "\r\nz")], &expect![[r#""x\r\ny\r\nb\r\nz\r\n" 2"#]]);
    check("a\nb\n", &[(0, 0, 0, 1, "x\r\ny")], &expect![[r#""x\ny\nb\n" 1"#]]);
    check("a\r\nb\n", &[(0, 0, 0, 1, "x\ny\r\n")], &expect![[r#""x\ny\r\n\r\nb\n" 1"#]]);
    check("a\rb\r", &[(0, 0, 0, 1, "x\ny")], &expect![[r#""x\ny\rb\r" 1"#]]);
    check("a", &[(0, 0, 0, 1, "x\r\ny\n")], &expect![[r#""x\r\ny\n" 1"#]]);
    // Behind the end of a line is before its terminator, however that looks.
    check("a\r\nb", &[(0, 2, 0, 2, "!")], &expect![[r#""a!\r\nb" 1"#]]);
    check("a\n", &[(0, 0, 1, 0, "\u{feff}b\n")], &expect![[r#""b\n" 1"#]]);
}

#[test]
fn snippets() {
    let mut edit = one(at(0, 0), at(0, 0), "fn ${1:name}() {\n    $0\n}\n");
    edit.snippet = true;
    assert_eq!(
        &*made("x\r\n", std::slice::from_ref(&edit), Encoding::Utf8).unwrap().text,
        "fn name() {\r\n    \r\n}\r\nx\r\n"
    );
    edit.text = "${1|a,b|}".to_owned();
    assert_eq!(made("", &[edit], Encoding::Utf8), Err(TextError::Snippet("a choice")));
}

#[test]
fn a_hundred_thousand_edits_and_a_hundred_megabytes() {
    let text = "let name = 1;\r\n".repeat(100_000);
    let edits: Vec<TextEdit> = (0..100_000).rev().map(|line| one(at(line, 4), at(line, 8), "other")).collect();
    let begun = std::time::Instant::now();
    let edited = edit(&LineMap::new(text.as_str().into()), &edits, Encoding::Utf16, 5 << 20).unwrap();
    let took = begun.elapsed();
    assert_eq!(*edited.text, text.replace("name", "other"));
    assert_eq!(edited.places, 100_000);
    // Quadratic, it would take minutes.
    assert!(took.as_secs() < 5, "{took:?}");

    let huge = one(at(0, 0), at(0, 0), &"x".repeat(100 << 20));
    assert_eq!(made("", &[huge], Encoding::Utf16), Err(TextError::TooLarge(100 << 20)));
    // Adapted line ends count.
    let lines = one(at(0, 0), at(0, 0), &"\n".repeat(700_000));
    assert_eq!(made("\r\n", &[lines], Encoding::Utf16), Err(TextError::TooLarge(1_400_002)));
}

/// The slow reference: one character after the other, every pair of edits compared.
fn reference(text: &str, edits: &[TextEdit], encoding: Encoding) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let width = |c: char| match encoding {
        Encoding::Utf8 => c.len_utf8() as u32,
        Encoding::Utf16 | Encoding::EcmaScript => c.len_utf16() as u32,
        Encoding::Utf32 => 1,
    };
    // Index of the character that a position stands before; none in the middle of one.
    let index = |wanted: Position| {
        let (mut line, mut units) = (0, 0);
        for (index, &c) in chars.iter().enumerate() {
            let ends = c == '\n' || c == '\r';
            // The `\n` of a `\r\n` is no place of its own.
            let inside = c == '\n' && index > 0 && chars[index - 1] == '\r';
            if line == wanted.line && !inside && (ends || units + width(c) > wanted.character) {
                return (ends || units == wanted.character).then_some(index);
            }
            if ends && !(c == '\r' && chars.get(index + 1) == Some(&'\n')) {
                line += 1;
                units = 0;
            } else {
                units += width(c);
            }
        }
        Some(chars.len())
    };
    let mut ends = Vec::new();
    for (index, &c) in chars.iter().enumerate() {
        match c {
            '\r' if chars.get(index + 1) == Some(&'\n') => ends.push("\r\n"),
            '\r' => ends.push("\r"),
            '\n' if index == 0 || chars[index - 1] != '\r' => ends.push("\n"),
            _ => {}
        }
    }
    let all = |end: &str| !ends.is_empty() && ends.iter().all(|one| *one == end);
    let adapted = |text: &str| {
        let mut out = String::new();
        let mut before = ' ';
        for c in text.chars() {
            if c == '\n' && all("\r\n") && before != '\r' {
                out.push('\r');
            }
            if c == '\n' && all("\n") && before == '\r' {
                out.pop();
            }
            out.push(c);
            before = c;
        }
        out
    };
    let mut changes = Vec::new();
    for edit in edits {
        if edit.range.end < edit.range.start {
            return None;
        }
        let change = (index(edit.range.start)?, index(edit.range.end)?, adapted(&edit.text));
        // The very same replacement again is none; the very same insert is another one.
        if change.0 == change.1 || !changes.contains(&change) {
            changes.push(change);
        }
    }
    for (at, one) in changes.iter().enumerate() {
        for other in &changes[at + 1..] {
            let inside = |a: &(usize, usize, String), b: &(usize, usize, String)| b.0 < a.0 && a.0 < b.1;
            let both = one.0 < one.1 && other.0 < other.1;
            if inside(one, other) || inside(other, one) || (both && one.0 == other.0) {
                return None;
            }
        }
    }
    let mut out = String::new();
    let mut index = 0;
    loop {
        changes
            .iter()
            .filter(|change| change.0 == index && change.1 == index)
            .for_each(|change| out.push_str(&change.2));
        if let Some(change) = changes.iter().find(|change| change.0 == index && change.1 > index) {
            out.push_str(&change.2);
            index = change.1;
        } else if index < chars.len() {
            out.push(chars[index]);
            index += 1;
        } else {
            break;
        }
    }
    Some(out)
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof!["[a-c]{0,3}", Just("\n".into()), Just("\r\n".into()), Just("é".into()), Just("😀".into())];
    let mixed = prop_oneof![6 => piece.clone(), 1 => Just("\r".to_owned())];
    prop_oneof![
        prop::collection::vec(mixed, 0..12).prop_map(|pieces: Vec<String>| pieces.concat()),
        prop::collection::vec("[a-cé😀]{0,4}", 0..6).prop_map(|lines| lines.join("\r\n")),
        prop::collection::vec("[a-cé😀]{0,4}", 0..6).prop_map(|lines| lines.join("\n")),
    ]
}

fn edits() -> impl Strategy<Value = Vec<TextEdit>> {
    let place = || (0..7u32, 0..8u32).prop_map(|(line, character)| at(line, character));
    let range = prop_oneof![
        3 => (place(), 0..4u32).prop_map(|(start, more)| (start, at(start.line, start.character + more))),
        1 => (place(), place()).prop_map(|(a, b)| (a.min(b), a.max(b))),
        1 => (place(), place()),
    ];
    let new =
        prop_oneof!["[xy]{0,2}", Just("\n".into()), Just("x\r\ny".into()), Just("x\ny\n".into()), Just("😀".into())];
    let edits = prop::collection::vec((range, new).prop_map(|((start, end), new)| one(start, end, &new)), 0..5);
    // Some are sent once more, as they are or with another text.
    let again = (any::<prop::sample::Index>(), prop_oneof![Just(None), Just(Some("z"))]);
    (edits, prop::option::of(again)).prop_map(|(mut edits, again)| {
        if let Some((index, other)) = again.filter(|_| !edits.is_empty()) {
            let mut edit = edits[index.index(edits.len())].clone();
            edit.text = other.map_or(edit.text, str::to_owned);
            edits.push(edit);
        }
        edits
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn as_the_slow_reference(text in text(), edits in edits(), which in 0..3usize) {
        let encoding = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32][which];
        let made = made(&text, &edits, encoding).ok().map(|edited| edited.text.to_string());
        prop_assert_eq!(made, reference(&text, &edits, encoding));
    }
}
