//! Conversions against a slow reading of the specification.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];
/// With the one whose lines are others.
const ALL: [Encoding; 4] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32, Encoding::EcmaScript];

fn map(text: &str) -> LineMap {
    LineMap::new(text.into())
}

/// The lines of a text with the byte offset of each, found one character at a time.
fn slow_lines(text: &str) -> Vec<(usize, String)> {
    slow_lines_of(text, Encoding::Utf8)
}

fn slow_lines_of(text: &str, encoding: Encoding) -> Vec<(usize, String)> {
    let mut lines = vec![(0, String::new())];
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        match c {
            '\r' if rest.next_if(|(_, c)| *c == '\n').is_some() => lines.push((at + 2, String::new())),
            '\r' | '\n' => lines.push((at + 1, String::new())),
            '\u{2028}' | '\u{2029}' if encoding == Encoding::EcmaScript => lines.push((at + 3, String::new())),
            c => lines.last_mut().unwrap().1.push(c),
        }
    }
    lines
}

fn slow_offset(text: &str, at: Position, encoding: Encoding) -> usize {
    let lines = slow_lines_of(text, encoding);
    let Some((start, line)) = lines.get(at.line as usize) else { return text.len() };
    let (mut units, mut bytes) = (0, 0);
    for c in line.chars() {
        units += match encoding {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 | Encoding::EcmaScript => c.len_utf16(),
            Encoding::Utf32 => 1,
        };
        if units > at.character as usize {
            break;
        }
        bytes += c.len_utf8();
    }
    start + bytes
}

fn slow_position(text: &str, offset: usize, encoding: Encoding) -> Position {
    let lines = slow_lines_of(text, encoding);
    let (line, (start, content)) = lines.iter().enumerate().rfind(|(_, (start, _))| *start <= offset).unwrap();
    let mut end = (offset - start).min(content.len());
    while !content.is_char_boundary(end) {
        end -= 1;
    }
    let before = &content[..end];
    let character = match encoding {
        Encoding::Utf8 => before.len(),
        Encoding::Utf16 | Encoding::EcmaScript => before.encode_utf16().count(),
        Encoding::Utf32 => before.chars().count(),
    };
    Position { line: line as u32, character: character as u32 }
}

/// Short texts with everything that is hard, and long lines that get waymarks.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-z ]{0,4}",
        2 => Just("\n".to_owned()),
        2 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        2 => Just("é".to_owned()),
        2 => Just("日本".to_owned()),
        3 => Just("😀".to_owned()),
        1 => Just("e\u{301}".to_owned()),
        1 => Just("\u{2028}\u{85}\u{c}".to_owned()),
        1 => Just("\u{2029}".to_owned()),
        1 => (1usize..300).prop_map(|n| "x😀é".repeat(n)),
        1 => (1usize..900).prop_map(|n| "y".repeat(n)),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn small_or_any(limit: u32) -> impl Strategy<Value = u32> {
    prop_oneof![9 => 0..limit, 1 => any::<u32>()]
}

proptest! {
    #[test]
    fn offsets_are_as_the_specification_says(
        text in texts(), line in small_or_any(12), character in small_or_any(2000)
    ) {
        let map = map(&text);
        for encoding in ALL {
            let at = Position { line, character };
            let offset = map.offset(at, encoding);
            prop_assert_eq!(offset, slow_offset(&text, at, encoding), "{:?} {:?}", at, encoding);
            prop_assert!(text.is_char_boundary(offset));
            // A place that is there is no other one's.
            let lines = slow_lines_of(&text, encoding);
            let units = |line: &str| line.chars().map(|c| encoding.width(c)).sum::<usize>();
            let there = lines.get(line as usize).is_some_and(|(_, line)| character as usize <= units(line));
            prop_assert_eq!(map.has(at, encoding), there);
        }
    }

    #[test]
    fn positions_are_as_the_specification_says(text in texts(), offset in 0usize..4000) {
        let map = map(&text);
        let offset = offset.min(text.len());
        for encoding in ALL {
            prop_assert_eq!(map.position(offset, encoding), slow_position(&text, offset, encoding));
        }
        let end = slow_position(&text, text.len(), Encoding::EcmaScript);
        let counts_alike = !text.contains(['\u{2028}', '\u{2029}']);
        prop_assert_eq!(map.separated_end(), (!counts_alike).then_some(end));
    }

    #[test]
    fn what_is_printed_can_be_passed_back(text in texts(), offset in 0usize..4000) {
        let map = map(&text);
        for encoding in ALL {
            let at = map.position(offset, encoding);
            let point = map.point(at, encoding);
            prop_assert_eq!(map.from_point(point, encoding), Some(at));
            prop_assert_eq!(map.position(map.offset(at, encoding), encoding), at);
            prop_assert_eq!(map.point_offset(point), Some(map.offset(at, encoding)));
        }
    }

    #[test]
    fn lines_are_as_the_specification_says(text in texts()) {
        let map = map(&text);
        let slow = slow_lines(&text);
        prop_assert_eq!(map.line_count() as usize, slow.len());
        for (n, (_, line)) in (0..).zip(&slow) {
            prop_assert_eq!(map.line(n), Some(line.as_str()));
            prop_assert_eq!(map.line_columns(n), Some(line.chars().count() as u32));
        }
        prop_assert_eq!(map.line(map.line_count()), None);
        prop_assert_eq!(map.line_columns(map.line_count()), None);
    }

    #[test]
    fn a_point_past_the_end_is_none(text in texts(), line in small_or_any(12), column in small_or_any(2000)) {
        let map = map(&text);
        let inside = slow_lines(&text).get(line as usize).is_some_and(|(_, l)| column as usize <= l.chars().count());
        let point = Point { line, column };
        for encoding in ENCODINGS {
            prop_assert_eq!(map.from_point(point, encoding).is_some(), inside);
        }
        prop_assert_eq!(map.point_offset(point).is_some(), inside);
    }

    #[test]
    fn ranges_never_panic(text in texts(), a in any::<[u8; 2]>(), b in any::<[u8; 2]>()) {
        let map = map(&text);
        let [start, end] = [a, b].map(|[line, character]| Position { line: (line % 8).into(), character: character.into() });
        for encoding in ENCODINGS {
            let got = map.range_text(Range { start, end }, encoding);
            let to = slow_offset(&text, end, encoding);
            let from = slow_offset(&text, start, encoding).min(to);
            prop_assert_eq!(got, &text[from..to]);
            let (first, last) = map.points(Range { start, end }, encoding);
            prop_assert!(first <= last);
        }
    }

    #[test]
    fn identifiers_stand_where_they_say(text in texts()) {
        let map = map(&text);
        for n in 0..map.line_count() {
            for id in map.identifiers_on(n) {
                let [from, to] = [id.start, id.end].map(|column| map.point_offset(Point { line: n, column }).unwrap());
                prop_assert_eq!(&text[from..to], id.text);
                prop_assert_eq!(map.identifier_at(Point { line: n, column: id.start }), Some(id));
            }
        }
    }
}

#[test]
fn columns_behind_an_emoji() {
    let text = "s = \"😀é\"; total = 1\n";
    let map = map(text);
    let offset = text.find("total").unwrap();
    let columns = ENCODINGS.map(|encoding| map.position(offset, encoding).character);
    assert_eq!(columns, [14, 11, 10]);
    for (encoding, character) in ENCODINGS.into_iter().zip(columns) {
        assert_eq!(map.point(Position { line: 0, character }, encoding), Point { line: 0, column: 10 });
    }
}

#[test]
fn a_separator_ends_a_line_of_ecmascript_alone() {
    let map = map("a\u{2028}😀b\u{2029}\nc");
    assert_eq!(map.line_count(), 2);
    let place = |line, character| map.offset(Position { line, character }, Encoding::EcmaScript);
    assert_eq!([place(0, 1), place(0, 9), place(1, 0), place(1, 2), place(1, 3), place(2, 0)], [1, 1, 4, 8, 9, 12]);
    assert_eq!((place(3, 0), place(3, 1), place(4, 0)), (13, 14, 14));
    let point = |line, character| map.point(Position { line, character }, Encoding::EcmaScript);
    assert_eq!(point(1, 2), Point { line: 0, column: 3 });
    assert_eq!(point(3, 0), Point { line: 1, column: 0 });
    let back = |line, column| map.from_point(Point { line, column }, Encoding::EcmaScript);
    assert_eq!(back(0, 3), Some(Position { line: 1, character: 2 }));
    assert_eq!(back(1, 1), Some(Position { line: 3, character: 1 }));
    assert_eq!(map.separated_end(), Some(Position { line: 3, character: 1 }));
    assert_eq!(LineMap::new("a\nb".into()).separated_end(), None);
}

#[test]
fn the_middle_of_a_pair_is_its_start() {
    let map = map("a😀b");
    let at = |character, encoding| map.offset(Position { line: 0, character }, encoding);
    assert_eq!([0, 1, 2, 3, 4, 5].map(|n| at(n, Encoding::Utf16)), [0, 1, 1, 5, 6, 6]);
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(|n| at(n, Encoding::Utf8)), [0, 1, 1, 1, 1, 5, 6, 6]);
    assert_eq!([0, 1, 2, 3, 4].map(|n| at(n, Encoding::Utf32)), [0, 1, 5, 6, 6]);
    // For changes it is nowhere; past the end is the end for these, too.
    let exact = |character, encoding| map.exact_offset(Position { line: 0, character }, encoding);
    assert_eq!(
        [0, 1, 2, 3, 4, 9].map(|n| exact(n, Encoding::Utf16)),
        [Some(0), Some(1), None, Some(5), Some(6), Some(6)]
    );
    assert_eq!([1, 2, 3, 4, 5].map(|n| exact(n, Encoding::Utf8)), [Some(1), None, None, None, Some(5)]);
    assert_eq!([1, 2, 9].map(|n| exact(n, Encoding::Utf32)), [Some(1), Some(5), Some(6)]);
    assert_eq!(map.exact_offset(Position { line: 7, character: 0 }, Encoding::Utf16), Some(6));
}

#[test]
fn inside_a_terminator_is_the_end_of_the_line() {
    let map = map("ab\r\ncd");
    assert_eq!(map.position(3, Encoding::Utf16), Position { line: 0, character: 2 });
    assert_eq!(map.offset(Position { line: 0, character: 9 }, Encoding::Utf16), 2);
    assert_eq!(map.offset(Position { line: 9, character: 0 }, Encoding::Utf16), 6);
    assert_eq!(map.offset(Position { line: u32::MAX, character: u32::MAX }, Encoding::Utf16), 6);
}

#[test]
fn an_empty_text_has_one_line() {
    let map = map("");
    assert_eq!((map.line_count(), map.line(0), map.line(1)), (1, Some(""), None));
    assert_eq!(map.from_point(Point::default(), Encoding::Utf16), Some(Position::default()));
    assert_eq!(map.from_point(Point { line: 0, column: 1 }, Encoding::Utf16), None);
}

#[test]
fn names_of_encodings() {
    for encoding in ENCODINGS {
        assert_eq!(Encoding::from_name(encoding.name()), Some(encoding));
    }
    assert_eq!(Encoding::from_name("UTF-16"), None);
}

fn check_identifiers(line: &str, expected: &Expect) {
    let map = map(line);
    let found: Vec<_> = map.identifiers_on(0).iter().map(|id| format!("{}-{} {}", id.start, id.end, id.text)).collect();
    expected.assert_eq(&found.join(", "));
}

#[test]
fn identifiers_of_a_line() {
    check_identifiers("    return add_up(1, 2)", &expect!["4-10 return, 11-17 add_up"]);
    check_identifiers("été = 1; 変数 = \"😀\"; x2", &expect!["0-3 été, 9-11 変数, 19-21 x2"]);
    check_identifiers(
        "@decorator #include $var jQuery$ _x",
        &expect!["1-10 decorator, 12-19 include, 20-24 $var, 25-32 jQuery$, 33-35 _x"],
    );
    check_identifiers("0xff 12ab 1.5e3 a.b::c->d", &expect!["16-17 a, 18-19 b, 21-22 c, 24-25 d"]);
    check_identifiers("", &expect![""]);
    check_identifiers("+-*/", &expect![""]);
}

#[test]
fn the_identifier_at_a_point() {
    let map = map("ab+cd  e");
    let at = |column| map.identifier_at(Point { line: 0, column }).map(|id| id.text);
    let found = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(at);
    let ab = Some("ab");
    assert_eq!(found, [ab, ab, ab, Some("cd"), Some("cd"), Some("cd"), None, Some("e"), Some("e"), None]);
}
