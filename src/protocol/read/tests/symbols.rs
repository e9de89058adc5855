//! Project-wide searches.

use expect_test::{Expect, expect};

use super::{lines, show_file, show_flag, show_range, show_some};
use crate::protocol::read::symbol_hits;
use crate::protocol::types::SymbolHits;

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
