//! Project-wide searches.

use expect_test::{Expect, expect};

use super::{lines, show_file, show_flag, show_range, show_some};
use crate::protocol::read::{Caps, ReadError};
use crate::protocol::types::SymbolHits;

fn symbol_hits(raw: &[u8], caps: &Caps) -> Result<SymbolHits, ReadError> {
    crate::protocol::read::symbol_hits(raw, caps, "cart")
}

fn show(hits: &SymbolHits) -> String {
    let head = format!("{} of {}, {} dropped", hits.items.len(), hits.total, hits.dropped);
    let items = hits.items.iter().map(|hit| {
        let range = hit.range.as_ref().map_or("nowhere".to_owned(), show_range);
        let (container, deprecated) = (show_some("in", &hit.container), show_flag("deprecated", hit.deprecated));
        format!("{} {} {} {range}{container}{deprecated}", hit.kind, hit.name, show_file(&hit.file))
    });
    lines([head].into_iter().chain(items))
}

fn check(raw: &str, expected: &Expect) {
    super::check(symbol_hits, show, raw, expected);
}

#[test]
fn every_form() {
    check("null", &expect!["0 of 0, 0 dropped"]);
    check("[]", &expect!["0 of 0, 0 dropped"]);
    check("{}", &expect!["error: expected symbols or null, the server sent an object"]);
    check(
        r#"[{"name":"f","kind":12,"location":{"uri":"file:///a%20b.py","range":{"start":{"line":1,"character":2},"end":{"line":3,"character":4}}},"containerName":"m"},
            {"location":{"uri":"file:///c.rs"},"name":"g","kind":6,"data":{"name":"x"},"tags":[1],"containerName":""},
            {"location":{"uri":"jdt://contents/x","range":null},"name":"h","kind":null,"deprecated":true}]"#,
        &expect![[r#"
            3 of 3, 0 dropped
            12 f /a b.py 1:2-3:4 in="m"
            6 g /c.rs nowhere deprecated
            0 h <jdt://contents/x> nowhere deprecated"#]],
    );
}

#[test]
fn malformed_hits_are_dropped() {
    check(
        r#"[1,null,{},{"name":"x"},{"name":"x","location":null},{"name":"x","location":{"uri":""}},{"name":7,"location":{"uri":"file:///a"}},
            {"name":"ok","location":{"uri":"file:///a"}}]"#,
        &expect![[r#"
            1 of 1, 7 dropped
            0 ok /a nowhere"#]],
    );
}

#[test]
fn past_the_cap_the_names_that_are_searched_for_are_kept() {
    let hit = |name: &str| format!(r#"{{"name":"{name}","kind":5,"location":{{"uri":"file:///a"}}}}"#);
    let raw = format!("[{}]", ["recart", "carton", "descartes", "Cart.add", "cart", "cartel"].map(hit).join(","));
    let caps = Caps { items: 3, ..Caps::default() };
    expect![[r#"
        3 of 6, 0 dropped
        5 carton /a nowhere
        5 Cart.add /a nowhere
        5 cart /a nowhere"#]]
    .assert_eq(&show(&symbol_hits(raw.as_bytes(), &caps).unwrap()));
}
