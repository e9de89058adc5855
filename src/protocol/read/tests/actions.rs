//! Code actions and `prepareRename`, in the forms that servers use.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{check, lines, show_flag, show_range, show_some};
use crate::protocol::read::{Caps, ReadError, Wanted, code_action, is_below, prepare_rename};
use crate::protocol::types::{Capped, CodeAction, Prepared};

fn code_actions(raw: &[u8], caps: &Caps) -> Result<Capped<CodeAction>, ReadError> {
    crate::protocol::read::code_actions(raw, caps, Wanted::default())
}

fn show(list: &Capped<CodeAction>) -> String {
    let one = |action: &CodeAction| {
        format!(
            "{:?}{}{}{}{}{}",
            action.title,
            show_some("kind", &action.kind),
            show_some("command", &action.command),
            show_some("disabled", &action.disabled),
            show_flag("edit", action.has_edit),
            show_flag("preferred", action.preferred),
        )
    };
    let dropped = (list.dropped > 0).then(|| format!("dropped {}", list.dropped));
    lines(list.items.iter().map(one).chain(dropped))
}

fn actions(raw: &Value, expected: &Expect) {
    check(code_actions, show, &raw.to_string(), expected);
}

#[test]
fn commands_and_actions() {
    actions(&Value::Null, &expect![""]);
    actions(
        &json!([
            {"title": "old", "command": "do.it", "arguments": [1]},
            {"title": "fix", "kind": "quickfix", "isPreferred": true, "edit": {"changes": {}}, "data": {"id": 1}},
            {"title": "both", "edit": {}, "command": {"title": "x", "command": "after"}},
            {"title": "lazy", "kind": "source.organizeImports", "data": 3, "edit": null},
            {"title": "never", "disabled": {"reason": "nothing selected"}},
            {"kind": "quickfix"},
            7,
        ]),
        &expect![[r#"
            "old" command="do.it"
            "fix" kind="quickfix" edit preferred
            "both" command="after" edit
            "lazy" kind="source.organizeImports"
            "never" disabled="nothing selected"
            dropped 2"#]],
    );
    actions(&json!({}), &expect!["error: expected code actions or null, the server sent an object"]);
}

#[test]
fn an_action_goes_back_as_it_came_or_not_at_all() {
    let raw = r#"[{"title":"a", "data" : {"b":[1e2]}}]"#;
    let list = code_actions(raw.as_bytes(), &Caps::default()).unwrap();
    assert_eq!(list.items[0].raw.get(), r#"{"title":"a", "data" : {"b":[1e2]}}"#);
    let large = json!([{"title": "a", "data": "x".repeat(2 << 20)}]).to_string();
    let list = code_actions(large.as_bytes(), &Caps::default()).unwrap();
    assert_eq!((list.items.len(), list.dropped), (0, 1));
    let many = json!((0..5_000).map(|n| json!({"title": n.to_string()})).collect::<Vec<_>>()).to_string();
    let list = code_actions(many.as_bytes(), &Caps::default()).unwrap();
    assert_eq!((list.items.len(), list.total), (1_000, 5_000));
}

#[test]
fn a_resolved_action() {
    let read = code_action(br#"{"title":"a","edit":{}}"#, &Caps::default()).unwrap();
    assert!(read.has_edit);
    assert!(code_action(b"null", &Caps::default()).is_err());
}

#[test]
fn what_can_be_renamed() {
    let show = |prepared: &Prepared| match prepared {
        Prepared::No => "no".to_owned(),
        Prepared::Default => "yes".to_owned(),
        Prepared::At { range, placeholder } => format!("{}{}", show_range(range), show_some("name", placeholder)),
    };
    let prepared = |raw: &Value, expected: &Expect| check(prepare_rename, show, &raw.to_string(), expected);
    let range = json!({"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 5}});
    prepared(&Value::Null, &expect!["no"]);
    prepared(&range, &expect!["1:2-1:5"]);
    prepared(&json!({"range": range, "placeholder": "été"}), &expect![[r#"1:2-1:5 name="été""#]]);
    prepared(&json!({"defaultBehavior": true}), &expect!["yes"]);
    prepared(&json!({"defaultBehavior": false}), &expect!["no"]);
    prepared(
        &json!({}),
        &expect!["error: expected a range, or null, the server sent an object without a valid `range`"],
    );
    prepared(&json!(1), &expect!["error: expected a range, or null, the server sent a number"]);
}

#[test]
fn kinds_are_a_tree() {
    assert!(is_below("source.fixAll.ruff", &["source.fixAll"]));
    assert!(is_below("quickfix", &["refactor", "quickfix"]));
    assert!(!is_below("source.fixAllOfIt", &["source.fixAll"]));
    assert!(is_below("anything", &[""]));
}

#[test]
fn past_the_cap_what_is_wanted_is_kept() {
    let plain = (0..3_000).map(|n| json!({"title": format!("t{n}"), "kind": "refactor"}));
    let best = json!({"title": "best", "kind": "quickfix", "isPreferred": true});
    let asked = json!({"title": "a  b", "kind": "quickfix"});
    let raw = Value::Array(plain.chain([best, asked.clone(), asked]).collect()).to_string();
    let read = |wanted| {
        let list = crate::protocol::read::code_actions(raw.as_bytes(), &Caps::default(), wanted).unwrap();
        let last = list.items.last().map(|last| (last.title.clone(), last.nth)).unwrap();
        (list.items.len(), list.total, last)
    };
    assert_eq!(read(Wanted::default()), (1_001, 3_003, ("best".into(), 0)));
    assert_eq!(read(Wanted { title: Some("a b"), only: &[] }), (1_002, 3_003, ("a  b".into(), 1)));
    // What is not asked for takes no room, and is not counted.
    assert_eq!(read(Wanted { title: None, only: &["quickfix".into()] }), (3, 3, ("a  b".into(), 1)));
}
