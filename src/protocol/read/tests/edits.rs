//! Edits in every form that servers send, and what is refused whole.

use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{lines, show_file, show_range};
use crate::protocol::read::{ReadError, edit_inside, text_edits, workspace_edit};
use crate::protocol::types::{EditStep, TextEdit, WorkspaceEdit};

fn show_edit(edit: &TextEdit) -> String {
    format!("{} {:?}{}", show_range(&edit.range), edit.text, if edit.snippet { " snippet" } else { "" })
}

fn show(edit: &WorkspaceEdit) -> String {
    let step = |step: &EditStep| match step {
        EditStep::Texts { file, version, edits } => {
            let edits = edits.iter().map(|edit| format!("\n  {}", show_edit(edit))).collect::<String>();
            format!("{} {version:?}{edits}", show_file(file))
        }
        EditStep::Create { file, overwrite, ignore_if_exists } => {
            format!("create {} {overwrite} {ignore_if_exists}", show_file(file))
        }
        EditStep::Rename { from, to, overwrite, ignore_if_exists } => {
            format!("rename {} {} {overwrite} {ignore_if_exists}", show_file(from), show_file(to))
        }
        EditStep::Delete { file, recursive, ignore_if_not_exists } => {
            format!("delete {} {recursive} {ignore_if_not_exists}", show_file(file))
        }
    };
    let confirm = edit.to_confirm.iter().map(|label| format!("confirm {label:?}"));
    lines(edit.steps.iter().map(step).chain(confirm))
}

fn check(raw: &Value, expected: &expect_test::Expect) {
    let shown = match workspace_edit(raw.to_string().as_bytes()) {
        Ok(Some(edit)) => show(&edit),
        Ok(None) => "nothing".to_owned(),
        Err(error) => format!("error: {error}"),
    };
    expected.assert_eq(&shown);
}

fn range(line: u32, from: u32, to: u32) -> Value {
    json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}})
}

#[test]
fn both_forms_and_none() {
    let edit = json!({"range": range(1, 2, 5), "newText": "x"});
    check(&Value::Null, &expect!["nothing"]);
    check(&json!({}), &expect![""]);
    check(
        &json!({"changes": {"file:///a.py": [edit], "file:///%61.py": [edit], "jdt:x": []}}),
        &expect![[r#"
            /a.py None
              1:2-1:5 "x"
              1:2-1:5 "x"
            <jdt:x> None"#]],
    );
    check(
        &json!({
            "changes": {"file:///b.py": [edit]},
            "documentChanges": [{"textDocument": {"uri": "file:///a.py", "version": 7}, "edits": [edit]}],
        }),
        &expect![[r#"
            /a.py Some(7)
              1:2-1:5 "x""#]],
    );
    check(
        &json!({"changes": {"file:///b.py": [edit]}, "documentChanges": []}),
        &expect![[r#"
            /b.py None
              1:2-1:5 "x""#]],
    );
}

#[test]
fn operations_annotations_and_snippets() {
    check(
        &json!({
            "documentChanges": [
                {"kind": "create", "uri": "file:///n.py", "options": {"overwrite": true}, "annotationId": "a"},
                {"kind": "rename", "oldUri": "file:///o.py", "newUri": "file:///p.py", "options": {"ignoreIfExists": true}},
                {"kind": "delete", "uri": "file:///d", "options": {"recursive": true, "ignoreIfNotExists": true}},
                {"textDocument": {"uri": "file:///p.py", "version": null}, "edits": [
                    {"range": range(0, 0, 0), "newText": "y", "annotationId": "b"},
                    {"range": range(0, 1, 1), "snippet": {"kind": "snippet", "value": "f($0)"}},
                    {"range": range(0, 2, 2), "newText": "$1", "insertTextFormat": 2},
                ]},
            ],
            "changeAnnotations": {
                "a": {"label": "new file", "needsConfirmation": true},
                "b": {"label": "harmless"},
                "c": {"label": "borne by nothing", "needsConfirmation": true},
            },
        }),
        &expect![[r#"
            create /n.py true false
            rename /o.py /p.py false true
            delete /d true true
            /p.py None
              0:0-0:0 "y"
              0:1-0:1 "f($0)" snippet
              0:2-0:2 "$1" snippet
            confirm "new file""#]],
    );
}

#[test]
fn one_odd_part_is_the_end_of_all() {
    let good = json!({"range": range(1, 2, 5), "newText": "x"});
    let with = |bad: Value| json!({"changes": {"file:///a.py": [good, bad]}});
    check(
        &with(json!({"newText": "y"})),
        &expect!["error: expected a workspace edit or null, the server sent an object without a valid `range`"],
    );
    check(
        &with(json!({"range": range(1, 6, 5), "newText": "y"})),
        &expect!["error: expected a workspace edit or null, the server sent an object without a valid `range`"],
    );
    check(
        &with(
            json!({"range": {"start": {"line": -1, "character": 0}, "end": {"line": 0, "character": 0}}, "newText": ""}),
        ),
        &expect!["error: expected a workspace edit or null, the server sent an object without a valid `range`"],
    );
    check(
        &with(json!({"range": range(0, 0, 0), "newText": null})),
        &expect!["error: expected a workspace edit or null, the server sent an object without a valid `newText`"],
    );
    check(&with(json!(3)), &expect!["error: expected a workspace edit or null, the server sent a number"]);
    check(
        &json!({"documentChanges": [{"kind": "copy", "uri": "file:///a"}]}),
        &expect!["error: expected a workspace edit or null, the server sent an object without a valid `kind`"],
    );
    check(
        &json!({"documentChanges": [{"edits": []}]}),
        &expect!["error: expected a workspace edit or null, the server sent an object without a valid `textDocument`"],
    );
    check(&json!([]), &expect!["error: expected a workspace edit or null, the server sent an array"]);
    check(&json!({"changes": [good]}), &expect!["error: expected a workspace edit or null, the server sent an array"]);
}

#[test]
fn nothing_is_mended() {
    let raw = br#"{"changes":{"file:///a":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"\ud800"}]}}"#;
    assert!(matches!(workspace_edit(raw), Err(ReadError::Json { .. })));
}

#[test]
fn a_hundred_thousand_edits_and_no_more() {
    let one = json!({"range": range(0, 0, 0), "newText": "x"}).to_string();
    let list = |n: usize| format!("[{}]", vec![one.as_str(); n].join(","));
    assert_eq!(text_edits(list(100_000).as_bytes()).unwrap().unwrap().len(), 100_000);
    let error = text_edits(list(100_001).as_bytes()).unwrap_err();
    assert_eq!(error, ReadError::TooLarge("100,000 edits"));
    let files: serde_json::Map<_, _> = (0..100_001).map(|n| (format!("file:///{n}"), json!([]))).collect();
    let many = json!({ "changes": files }).to_string();
    assert_eq!(workspace_edit(many.as_bytes()).unwrap_err(), ReadError::TooLarge("100,000 edits"));
}

#[test]
fn more_text_than_fits_is_refused() {
    let half = "x".repeat((32 << 20) + 1);
    let edit = json!({"range": range(0, 0, 0), "newText": half});
    let raw = json!({"changes": {"file:///a": [edit, edit]}}).to_string();
    assert_eq!(workspace_edit(raw.as_bytes()).unwrap_err(), ReadError::TooLarge("64 MiB of new text"));
}

#[test]
fn the_edit_of_an_action_or_a_request() {
    let raw = json!({"label": "x", "edit": {"changes": {"file:///a": []}}}).to_string();
    assert_eq!(edit_inside(raw.as_bytes()).unwrap().unwrap().steps.len(), 1);
    assert_eq!(edit_inside(b"{\"title\": \"x\"}").unwrap(), None);
    assert!(edit_inside(b"[]").is_err());
}

proptest! {
    /// However an edit is damaged, it is read as it was meant, or not at all.
    #[test]
    fn a_damaged_edit_never_loses_a_part(cut in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let edit = json!({"range": range(1, 2, 5), "newText": "x"});
        let raw = json!({"documentChanges": [
            {"textDocument": {"uri": "file:///a", "version": 1}, "edits": [edit, edit]},
            {"kind": "create", "uri": "file:///b"},
        ]});
        let mut raw = serde_json::to_vec(&raw).unwrap();
        let at = cut.index(raw.len());
        prop_assert!(workspace_edit(&raw[..at]).is_err());
        raw[at] = byte;
        if let Ok(Some(read)) = workspace_edit(&raw) {
            let edits = |step: &EditStep| match step {
                EditStep::Texts { edits, .. } => edits.len(),
                _ => 1,
            };
            // A damaged name of a member hides that member; what is left of the list is whole.
            let total: usize = read.steps.iter().map(edits).sum();
            prop_assert!(matches!(total, 0 | 3), "{read:?}");
        }
    }
}
