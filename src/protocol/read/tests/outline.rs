//! Outlines, nested and flat.

use expect_test::{Expect, expect};

use super::{lines, show_flag, show_range, show_some};
use crate::protocol::read::{Caps, ReadError, Sought};
use crate::protocol::types::Outline;

fn outline(raw: &[u8], caps: &Caps) -> Result<Outline, ReadError> {
    crate::protocol::read::outline(raw, caps, &Sought::Any)
}

fn show(outline: &Outline) -> String {
    let flat = show_flag("flat", outline.flat);
    let head = format!("{} of {}, {} dropped{flat}", outline.symbols.len(), outline.total, outline.dropped);
    let symbols = outline.symbols.iter().map(|symbol| {
        [
            ". ".repeat(symbol.depth.into()),
            format!("{} {} {} @{}", symbol.kind, symbol.name, show_range(&symbol.range), show_range(&symbol.selection)),
            show_some("detail", &symbol.detail),
            show_some("in", &symbol.container),
            show_flag("deprecated", symbol.deprecated),
        ]
        .concat()
    });
    lines([head].into_iter().chain(symbols))
}

fn check(raw: &str, expected: &Expect) {
    super::check(outline, show, raw, expected);
}

/// A range over whole lines.
fn range(from: u32, to: u32) -> String {
    format!(r#"{{"start":{{"line":{from},"character":0}},"end":{{"line":{to},"character":0}}}}"#)
}

fn symbol(name: &str, from: u32, to: u32, children: &str) -> String {
    let (range, selection) = (range(from, to), range(from, from));
    format!(r#"{{"children":[{children}],"kind":5,"name":"{name}","range":{range},"selectionRange":{selection}}}"#)
}

#[test]
fn a_tree_becomes_a_list_with_depths() {
    check("null", &expect!["0 of 0, 0 dropped"]);
    check("[]", &expect!["0 of 0, 0 dropped"]);
    // Keys in the order of the alphabet: children come before the name.
    let inner = symbol("Inner", 2, 4, &symbol("f", 3, 4, ""));
    let raw = format!(
        "[{},{}]",
        symbol("Outer", 0, 9, &format!("{inner},{}", symbol("g", 5, 6, ""))),
        symbol("h", 10, 12, "")
    );
    check(
        &raw,
        &expect![[r#"
        5 of 5, 0 dropped
        5 Outer 0:0-9:0 @0:0-0:0
        . 5 Inner 2:0-4:0 @2:0-2:0
        . . 5 f 3:0-4:0 @3:0-3:0
        . 5 g 5:0-6:0 @5:0-5:0
        5 h 10:0-12:0 @10:0-10:0"#]],
    );
}

#[test]
fn the_parts_of_a_symbol() {
    let (whole, name) = (range(1, 5), range(2, 2));
    check(
        &format!(
            r#"[{{"name":"f","detail":"(a)","kind":12,"tags":[1],"range":{whole},"selectionRange":{name},"children":null}},
                {{"name":"g","detail":"","kind":12,"deprecated":true,"range":{whole}}},
                {{"name":"","kind":"x","range":{whole},"selectionRange":null}}]"#
        ),
        &expect![[r#"
            3 of 3, 0 dropped
            12 f 1:0-5:0 @2:0-2:0 detail="(a)" deprecated
            12 g 1:0-5:0 @1:0-5:0 deprecated
            0  1:0-5:0 @1:0-5:0"#]],
    );
}

#[test]
fn a_flat_list_is_nested_by_its_ranges() {
    let info = |name: &str, from, to, container: &str| {
        format!(
            r#"{{"name":"{name}","kind":6,"containerName":"{container}","location":{{"uri":"file:///a","range":{}}}}}"#,
            range(from, to)
        )
    };
    let list = [
        info("method", 2, 3, "Class"),
        info("after", 9, 10, ""),
        info("Class", 1, 5, ""),
        info("local", 2, 3, "method"),
    ];
    check(
        &format!("[{}]", list.join(",")),
        &expect![[r#"
        4 of 4, 0 dropped flat
        6 Class 1:0-5:0 @1:0-5:0
        . 6 method 2:0-3:0 @2:0-3:0 in="Class"
        . 6 local 2:0-3:0 @2:0-3:0 in="method"
        6 after 9:0-10:0 @9:0-10:0"#]],
    );
}

#[test]
fn siblings_come_in_document_order() {
    let class = symbol("A", 5, 9, &[symbol("y", 8, 9, ""), symbol("x", 6, 7, "")].join(","));
    check(
        &format!("[{class},{},{}]", symbol("Z", 0, 1, ""), symbol("same", 0, 1, "")),
        &expect![[r#"
        5 of 5, 0 dropped
        5 Z 0:0-1:0 @0:0-0:0
        5 same 0:0-1:0 @0:0-0:0
        5 A 5:0-9:0 @5:0-5:0
        . 5 x 6:0-7:0 @6:0-6:0
        . 5 y 8:0-9:0 @8:0-8:0"#]],
    );
}

#[test]
fn malformed_symbols_are_dropped_with_what_is_in_them() {
    let children = [symbol("a", 1, 2, &symbol("b", 1, 2, "")), "7".to_owned()].join(",");
    let nameless = format!(r#"{{"name":null,"kind":5,"range":{},"children":[{children}]}}"#, range(0, 9));
    let raw = format!(r#"[null,"x",{{}},{{"name":"no range"}},{nameless},{}]"#, symbol("good", 10, 11, ""));
    check(
        &raw,
        &expect![[r#"
        1 of 1, 8 dropped
        5 good 10:0-11:0 @10:0-10:0"#]],
    );
    check("{}", &expect!["error: expected an outline or null, the server sent an object"]);
}

#[test]
fn depth_is_bounded() {
    let deep =
        |levels: u32| (0..levels).rev().fold(String::new(), |inner, level| symbol(&format!("s{level}"), 0, 1, &inner));
    let read = |levels| outline(format!("[{}]", deep(levels)).as_bytes(), &Caps::default()).unwrap();
    let (within, beyond) = (read(60), read(300));
    assert_eq!((within.total, within.dropped), (60, 0));
    assert_eq!((beyond.total, beyond.dropped, beyond.symbols.last().unwrap().depth), (61, 1, 60));
}

#[test]
fn past_the_cap_symbols_are_only_counted() {
    let inner = [symbol("b", 1, 2, ""), symbol("c", 3, 4, "")].join(",");
    let raw = format!("[{},{},{{}}]", symbol("a", 0, 5, &inner), symbol("d", 6, 7, &symbol("e", 6, 7, "")));
    let caps = Caps { items: 2, ..Caps::default() };
    expect![[r#"
        2 of 5, 1 dropped
        5 a 0:0-5:0 @0:0-0:0
        . 5 b 1:0-2:0 @1:0-1:0"#]]
    .assert_eq(&show(&outline(raw.as_bytes(), &caps).unwrap()));
}

fn past_the_cap(raw: &str, sought: &Sought, expected: &Expect) {
    let caps = Caps { items: 4, ..Caps::default() };
    let outline = crate::protocol::read::outline(raw.as_bytes(), &caps, sought).unwrap();
    expected.assert_eq(&format!("missed {}, {}", outline.missed, show(&outline)));
}

#[test]
fn past_the_cap_what_is_sought_is_kept_with_what_it_is_in() {
    let cart = symbol("Cart", 6, 9, &[symbol("sum", 6, 7, ""), symbol("add(int)", 7, 8, "")].join(","));
    let basket = symbol("Basket", 10, 12, &symbol("address", 10, 11, ""));
    let first: Vec<String> = (1..=4).map(|n| symbol(&format!("s{n}"), n, n + 1, "")).collect();
    let raw = format!("[{},{cart},{basket}]", first.join(","));
    let path = |segments: &[&str]| Sought::Path(segments.iter().map(|&segment| segment.to_owned()).collect());
    past_the_cap(
        &raw,
        &path(&["add"]),
        &expect![[r#"
            missed 0, 6 of 9, 0 dropped
            5 s1 1:0-2:0 @1:0-1:0
            5 s2 2:0-3:0 @2:0-2:0
            5 s3 3:0-4:0 @3:0-3:0
            5 s4 4:0-5:0 @4:0-4:0
            5 Cart 6:0-9:0 @6:0-6:0
            . 5 add(int) 7:0-8:0 @7:0-7:0"#]],
    );
    past_the_cap(
        &raw,
        &path(&["nobody"]),
        &expect![[r#"
            missed 0, 4 of 9, 0 dropped
            5 s1 1:0-2:0 @1:0-1:0
            5 s2 2:0-3:0 @2:0-2:0
            5 s3 3:0-4:0 @3:0-3:0
            5 s4 4:0-5:0 @4:0-4:0"#]],
    );
    // There is room for one more.
    past_the_cap(
        &raw,
        &Sought::Above(1),
        &expect![[r#"
            missed 3, 6 of 9, 0 dropped
            5 s1 1:0-2:0 @1:0-1:0
            5 s2 2:0-3:0 @2:0-2:0
            5 s3 3:0-4:0 @3:0-3:0
            5 s4 4:0-5:0 @4:0-4:0
            5 Cart 6:0-9:0 @6:0-6:0
            5 Basket 10:0-12:0 @10:0-10:0"#]],
    );
}

#[test]
fn what_is_sought_and_not_kept_is_counted() {
    let part = |part: &str| Sought::Part(part.into());
    let many: Vec<String> = (0..8).map(|n| symbol(&format!("Same{n}"), n, n + 1, "")).collect();
    let raw = format!("[{}]", many.join(","));
    past_the_cap(
        &raw,
        &part("same"),
        &expect![[r#"
            missed 2, 6 of 8, 0 dropped
            5 Same0 0:0-1:0 @0:0-0:0
            5 Same1 1:0-2:0 @1:0-1:0
            5 Same2 2:0-3:0 @2:0-2:0
            5 Same3 3:0-4:0 @3:0-3:0
            5 Same4 4:0-5:0 @4:0-4:0
            5 Same5 5:0-6:0 @5:0-5:0"#]],
    );
    // It has no place, or what it is in has none.
    let lost = format!(r#"[{{"name":"same"}},{{"kind":5,"children":[{}]}}]"#, symbol("same", 0, 1, ""));
    past_the_cap(&lost, &part("same"), &expect!["missed 2, 0 of 0, 3 dropped"]);
    past_the_cap(&lost, &part("other"), &expect!["missed 0, 0 of 0, 3 dropped"]);
}
