//! Completions and signature help.

use expect_test::{Expect, expect};

use super::{lines, show_flag, show_some};
use crate::protocol::read::{Caps, ReadError, signatures};
use crate::protocol::types::{Completions, Signatures};

fn completions(raw: &[u8], caps: &Caps) -> Result<Completions, ReadError> {
    crate::protocol::read::completions(raw, caps, "")
}

fn show(list: &Completions) -> String {
    let incomplete = show_flag("incomplete", list.incomplete);
    let head = format!("{} of {}, {} dropped{incomplete}", list.items.len(), list.total, list.dropped);
    let items = list.items.iter().map(|item| {
        [
            format!("{:?}", item.label),
            show_some("kind", &item.kind),
            show_some("detail", &item.detail),
            show_some("description", &item.description),
            show_some("sort", &item.sort_text),
            show_some("filter", &item.filter_text),
            show_some("insert", &item.insert_text),
            show_flag("snippet", item.snippet),
            show_flag("deprecated", item.deprecated),
            show_flag("preselect", item.preselect),
        ]
        .concat()
    });
    lines([head].into_iter().chain(items))
}

fn check(raw: &str, expected: &Expect) {
    super::check(completions, show, raw, expected);
}

#[test]
fn the_forms_of_a_list() {
    check("null", &expect!["0 of 0, 0 dropped"]);
    check("[]", &expect!["0 of 0, 0 dropped"]);
    check(
        r#"[{"label":"a"},{"label":"b","documentation":{"kind":"markdown","value":"long"}}]"#,
        &expect![[r#"
        2 of 2, 0 dropped
        "a"
        "b""#]],
    );
    check(
        r#"{"isIncomplete":true,"items":[{"label":"a"}]}"#,
        &expect![[r#"
        1 of 1, 0 dropped incomplete
        "a""#]],
    );
    check(r#"{"items":null,"isIncomplete":false}"#, &expect!["0 of 0, 0 dropped"]);
    check(
        r#"{"isIncomplete":false}"#,
        &expect!["error: expected completions or null, the server sent an object without a valid `items`"],
    );
    check(
        r#"{"items":3}"#,
        &expect!["error: expected completions or null, the server sent an object without a valid `items`"],
    );
    check("7", &expect!["error: expected completions or null, the server sent a number"]);
}

#[test]
fn the_parts_of_an_item() {
    check(
        r#"[{"kind":3,"detail":"fn(i32)","sortText":"0a","filterText":"push","insertText":"push(${1})$0","insertTextFormat":2,
            "labelDetails":{"description":"alloc::vec","detail":"(…)"},"tags":[1],"preselect":true,"label":"push",
            "commitCharacters":["("],"data":{"label":"no"},"command":{"title":"t"}}]"#,
        &expect![[r#"
            1 of 1, 0 dropped
            "push" kind=3 detail="fn(i32)" description="alloc::vec" sort="0a" filter="push" insert="push(${1})$0" snippet deprecated preselect"#]],
    );
    // What is inserted is the edit, else the text for the default edit, else `insertText`.
    check(
        r#"[{"label":"a","insertText":"1","textEditText":"2","textEdit":{"newText":"3","range":{}}},
            {"label":"b","insertText":"1","textEditText":"2"},
            {"label":"c","textEdit":{"insert":{},"replace":{},"newText":"4"},"insertText":"1"},
            {"label":"d","labelDetails":{"detail":"(x)"},"deprecated":true}]"#,
        &expect![[r#"
            4 of 4, 0 dropped
            "a" insert="3"
            "b" insert="2"
            "c" insert="4"
            "d" detail="(x)" deprecated"#]],
    );
}

#[test]
fn defaults_may_come_last() {
    check(
        r#"{"items":[{"label":"a"},{"label":"b","insertTextFormat":1},{"label":"c","insertTextFormat":2}],
            "itemDefaults":{"editRange":{"start":{}},"insertTextFormat":2,"data":[1]}}"#,
        &expect![[r#"
            3 of 3, 0 dropped
            "a" snippet
            "b"
            "c" snippet"#]],
    );
}

#[test]
fn malformed_items_are_dropped() {
    check(
        r#"[null,1,"x",[],{},{"label":null},{"label":3},{"label":"ok","kind":"3","detail":[1],"tags":"x","tags":[null,"1",300,-1,1.0],
            "labelDetails":null,"textEdit":null,"insertText":null,"sortText":{}}]"#,
        &expect![[r#"
            1 of 1, 7 dropped
            "ok" deprecated"#]],
    );
}

#[test]
fn many_completions_are_counted_on() {
    let raw = format!("[{}]", vec![r#"{"label":"tick"}"#; 60_000].join(","));
    let list = completions(raw.as_bytes(), &Caps::default()).unwrap();
    assert_eq!((list.items.len(), list.total, list.missed), (50_000, 60_000, 10_000));
}

#[test]
fn past_the_cap_the_best_completions_are_kept() {
    let item = |label: &str, more: &str| format!(r#"{{"label":"{label}"{more}}}"#);
    let items = [
        item("other", r#","sortText":"0""#),
        item("append", r#","sortText":"9""#),
        item("a_p", ""),
        item("apply", r#","sortText":"1""#),
        item("ape", r#","sortText":"5","preselect":true"#),
        item("x", r#","filterText":"APt","sortText":"2""#),
    ];
    let raw = format!("[{}]", items.join(","));
    let kept = |items: usize, typed: &str| {
        let caps = Caps { items, ..Caps::default() };
        let list = crate::protocol::read::completions(raw.as_bytes(), &caps, typed).unwrap();
        let labels: Vec<&str> = list.items.iter().map(|item| item.label.as_str()).collect();
        (labels.join(" "), list.total, list.missed)
    };
    assert_eq!(kept(3, "aP"), ("apply ape x".into(), 6, 1));
    // All that begin so are there: what only has the letters is not missed.
    assert_eq!(kept(4, "ap"), ("append apply ape x".into(), 6, 0));
    assert_eq!(kept(2, "zz").2, 0);
    assert_eq!(kept(2, "ply"), ("apply ape".into(), 6, 0));
}

#[test]
fn past_the_cap_the_active_signature_is_kept() {
    let many = |count: usize| (0..count).map(|n| format!(r#"{{"label":"f{n}()"}}"#)).collect::<Vec<_>>().join(",");
    for raw in [
        format!(r#"{{"signatures":[null,{}],"activeSignature":2345}}"#, many(3_000)),
        format!(r#"{{"activeSignature":2345,"signatures":[null,{}]}}"#, many(3_000)),
    ] {
        let help = signatures(raw.as_bytes(), &Caps::default()).unwrap();
        assert_eq!((help.signatures.len(), help.total, help.active_signature), (1_000, 3_000, 999));
        assert_eq!(help.signatures[999].label, "f2344()");
    }
    let raw = format!(r#"{{"signatures":[{}],"activeSignature":70}}"#, many(3_000));
    let help = signatures(raw.as_bytes(), &Caps::default()).unwrap();
    assert_eq!((help.signatures.len(), help.total, help.active_signature), (1_000, 3_000, 70));
}

fn show_signatures(help: &Signatures) -> String {
    let head = format!("active {}{}", help.active_signature, show_some("parameter", &help.active_parameter));
    let signatures = help.signatures.iter().map(|signature| {
        let (documentation, active) = (&signature.documentation, &signature.active_parameter);
        let (documentation, active) = (show_some("doc", documentation), show_some("active", active));
        format!("{:?} {:?}{documentation}{active}", signature.label, signature.parameters)
    });
    lines([head].into_iter().chain(signatures))
}

fn check_signatures(raw: &str, expected: &Expect) {
    super::check(signatures, show_signatures, raw, expected);
}

#[test]
fn signature_help() {
    check_signatures("null", &expect!["active 0"]);
    check_signatures(r#"{"signatures":[]}"#, &expect!["active 0"]);
    check_signatures(r#"{"signatures":null}"#, &expect!["active 0"]);
    check_signatures(
        r#"{"activeSignature":1}"#,
        &expect!["error: expected signature help or null, the server sent an object without a valid `signatures`"],
    );
    check_signatures("[]", &expect!["error: expected signature help or null, the server sent an array"]);
    check_signatures(
        r#"{"activeParameter":1,"activeSignature":1,"signatures":[
            {"label":"f(a: int)","documentation":"plain","parameters":[{"label":"a: int","documentation":"x"}]},
            {"parameters":[{"label":[2,4]},{"label":[6,7]}],"documentation":{"kind":"markdown","value":"*m*"},
             "label":"g(é1, b)","activeParameter":0}]}"#,
        &expect![[r#"
            active 1 parameter=1
            "f(a: int)" ["a: int"] doc="plain"
            "g(é1, b)" ["é1", "b"] doc="*m*" active=0"#]],
    );
}

#[test]
fn offsets_that_fit_no_utf16_are_taken_in_the_unit_they_fit() {
    // ty counts bytes.
    check_signatures(
        r#"{"signatures":[{"label":"(länge: int, é: str) -> int","parameters":[{"label":[1,12]},{"label":[14,21]}]}]}"#,
        &expect![[r#"
            active 0
            "(länge: int, é: str) -> int" ["länge: int", "é: str"]"#]],
    );
    check_signatures(
        r#"{"signatures":[{"label":"(x: Lit['😀'], b)","parameters":[{"label":[1,12]},{"label":[14,15]}]}]}"#,
        &expect![[r#"
            active 0
            "(x: Lit['😀'], b)" ["x: Lit['😀']", "b"]"#]],
    );
}

#[test]
fn parameter_offsets_are_utf16_whatever_was_agreed() {
    check_signatures(
        r#"{"signatures":[{"label":"f(😀a, b)","parameters":[{"label":[2,5]},{"label":[7,8]},{"label":[8,99]},{"label":[9,2]},{"label":[]}]}]}"#,
        &expect![[r#"
            active 0
            "f(😀a, b)" ["😀a", "b", ")", "", ""]"#]],
    );
}

#[test]
fn what_is_told_by_number_keeps_its_number() {
    check_signatures(
        r#"{"signatures":[null,{"label":3},{"label":"f(a, b)","parameters":[null,{"label":7},"bare",{"label":"b"}]}],
            "activeSignature":2,"activeParameter":null}"#,
        &expect![[r#"
            active 0
            "f(a, b)" ["", "", "bare", "b"]"#]],
    );
    check_signatures(
        r#"{"signatures":[{"label":"f"}],"activeSignature":9,"activeParameter":-1}"#,
        &expect![[r#"
        active 0
        "f" []"#]],
    );
    check_signatures(
        r#"{"signatures":[{"label":"f","parameters":null}],"activeSignature":null}"#,
        &expect![[r#"
        active 0
        "f" []"#]],
    );
}
