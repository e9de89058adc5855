//! Call and type hierarchies.

use expect_test::{Expect, expect};

use super::{lines, show_file, show_range, show_some};
use crate::protocol::read::{Caps, calls, hierarchy_items};
use crate::protocol::types::{Call, Capped, HierarchyItem};

fn show_item(item: &HierarchyItem) -> String {
    let (range, selection) = (show_range(&item.range), show_range(&item.selection));
    let detail = show_some("detail", &item.detail);
    format!("{} {} {} {range} @{selection}{detail}\n  {}", item.kind, item.name, show_file(&item.file), item.raw)
}

fn show_items(list: &Capped<HierarchyItem>) -> String {
    let head = format!("{} of {}, {} dropped", list.items.len(), list.total, list.dropped);
    lines([head].into_iter().chain(list.items.iter().map(show_item)))
}

fn show_calls(list: &Capped<Call>) -> String {
    let head = format!("{} of {}, {} dropped", list.items.len(), list.total, list.dropped);
    let calls = list.items.iter().map(|call| {
        let sites: Vec<_> = call.sites.iter().map(show_range).collect();
        format!("{}\n  sites {}", show_item(&call.item), sites.join(" "))
    });
    lines([head].into_iter().chain(calls))
}

const RANGE: &str = r#"{"start":{"line":1,"character":2},"end":{"line":1,"character":5}}"#;

fn item(name: &str) -> String {
    format!(
        r#"{{"data":{{"n":1e2,"s":"\ud83d\ude00"}}, "name":"{name}","kind":12,"uri":"file:///a.py","range":{RANGE}}}"#
    )
}

fn check_items(raw: &str, expected: &Expect) {
    super::check(hierarchy_items, show_items, raw, expected);
}

fn check_calls(raw: &str, expected: &Expect) {
    super::check(calls, show_calls, raw, expected);
}

#[test]
fn items_are_kept_as_they_came() {
    check_items("null", &expect!["0 of 0, 0 dropped"]);
    check_items("[]", &expect!["0 of 0, 0 dropped"]);
    check_items("{}", &expect!["error: expected hierarchy items or null, the server sent an object"]);
    check_items(
        &format!("[{},null,7,{{}}]", item("f")),
        &expect![[r#"
        1 of 1, 3 dropped
        12 f /a.py 1:2-1:5 @1:2-1:5
          {"data":{"n":1e2,"s":"\ud83d\ude00"}, "name":"f","kind":12,"uri":"file:///a.py","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":5}}}"#]],
    );
}

#[test]
fn a_huge_item_is_dropped() {
    let big = item(&"x".repeat(70_000));
    let list = hierarchy_items(format!("[{big},{}]", item("f")).as_bytes(), &Caps::default()).unwrap();
    assert_eq!((list.items.len(), list.total, list.dropped), (1, 1, 1));
}

#[test]
fn both_directions() {
    check_calls("null", &expect!["0 of 0, 0 dropped"]);
    check_calls(
        &format!(
            r#"[{{"from":{},"fromRanges":[{RANGE},null,{RANGE}]}},{{"fromRanges":[{RANGE}],"to":{}}}]"#,
            item("f"),
            item("g")
        ),
        &expect![[r#"
            2 of 2, 0 dropped
            12 f /a.py 1:2-1:5 @1:2-1:5
              {"data":{"n":1e2,"s":"\ud83d\ude00"}, "name":"f","kind":12,"uri":"file:///a.py","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":5}}}
              sites 1:2-1:5 1:2-1:5
            12 g /a.py 1:2-1:5 @1:2-1:5
              {"data":{"n":1e2,"s":"\ud83d\ude00"}, "name":"g","kind":12,"uri":"file:///a.py","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":5}}}
              sites 1:2-1:5"#]],
    );
    check_calls(
        &format!(r#"[{{"from":{},"fromRanges":null}},{{"fromRanges":[]}},{{"to":3}},null]"#, item("f")),
        &expect![[r#"
            1 of 1, 3 dropped
            12 f /a.py 1:2-1:5 @1:2-1:5
              {"data":{"n":1e2,"s":"\ud83d\ude00"}, "name":"f","kind":12,"uri":"file:///a.py","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":5}}}
              sites "#]],
    );
    check_calls("3", &expect!["error: expected calls or null, the server sent a number"]);
}
