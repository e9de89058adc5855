//! What no server should send: it costs an item or an error, never a panic.

use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::protocol::read::repair::repair;
use crate::protocol::read::{
    Caps, Sought, Wanted, calls, code_actions, completions, edit_inside, hierarchy_items, hover, locations, outline,
    prepare_rename, published, report, signatures, symbol_hits, text_edits, workspace_edit, workspace_report,
};
use crate::protocol::types::HoverSection;

/// Every reader on the same bytes: none may panic.
fn read_all(raw: &[u8], caps: &Caps) {
    let _ = locations(raw, caps, None);
    let _ = hover(raw, caps);
    let _ = completions(raw, caps, "a");
    let _ = signatures(raw, caps);
    for sought in [Sought::Any, Sought::Path(vec!["a".into()]), Sought::Part("a".into()), Sought::Above(1)] {
        let _ = outline(raw, caps, &sought);
    }
    let _ = symbol_hits(raw, caps, "a");
    let _ = hierarchy_items(raw, caps);
    let _ = calls(raw, caps);
    let _ = report(raw, caps);
    let _ = workspace_report(raw, caps);
    let _ = published(raw, caps);
    let _ = workspace_edit(raw);
    let _ = text_edits(raw);
    let _ = edit_inside(raw);
    let _ = code_actions(raw, caps, Wanted::default());
    let _ = prepare_rename(raw, caps);
}

/// JSON of LSP's words in any arrangement.
fn any_answer() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0u32..20).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
        prop::sample::select(vec![
            "file:///a",
            "file:///b%20c",
            "jdt:x",
            "full",
            "unchanged",
            "```c\nx\n```",
            "markdown"
        ])
        .prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "uri",
        "range",
        "start",
        "end",
        "line",
        "character",
        "targetUri",
        "targetRange",
        "targetSelectionRange",
        "name",
        "kind",
        "detail",
        "children",
        "location",
        "selectionRange",
        "tags",
        "containerName",
        "contents",
        "value",
        "language",
        "items",
        "isIncomplete",
        "itemDefaults",
        "label",
        "labelDetails",
        "textEdit",
        "newText",
        "signatures",
        "parameters",
        "activeParameter",
        "from",
        "to",
        "fromRanges",
        "diagnostics",
        "message",
        "severity",
        "code",
        "relatedInformation",
        "relatedDocuments",
        "resultId",
        "version",
        "documentation",
        "changes",
        "documentChanges",
        "changeAnnotations",
        "textDocument",
        "edits",
        "edit",
        "snippet",
        "oldUri",
        "newUri",
        "options",
        "command",
        "disabled",
        "title",
        "placeholder",
        "defaultBehavior",
    ]);
    leaf.prop_recursive(6, 80, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..8)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn no_answer_is_too_odd(answer in any_answer()) {
        let raw = serde_json::to_vec(&answer).unwrap();
        read_all(&raw, &Caps::default());
        read_all(&raw, &Caps { list: 1, items: 1, text: 3, message: 2, line: 2, name: 1 });
        // Lists of anything never fail as a whole.
        if answer.is_array() {
            prop_assert!(locations(&raw, &Caps::default(), None).is_ok());
            prop_assert!(outline(&raw, &Caps::default(), &Sought::Any).is_ok());
            prop_assert!(completions(&raw, &Caps::default(), "a").is_ok());
            prop_assert!(symbol_hits(&raw, &Caps::default(), "a").is_ok());
            prop_assert!(hierarchy_items(&raw, &Caps::default()).is_ok());
            prop_assert!(calls(&raw, &Caps::default()).is_ok());
        }
    }

    #[test]
    fn no_bytes_are_too_odd(raw in prop::collection::vec(any::<u8>(), 0..200)) {
        read_all(&raw, &Caps::default());
    }

    #[test]
    fn broken_answers_end_in_an_error(answer in any_answer(), cut in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut raw = serde_json::to_vec(&answer).unwrap();
        let at = cut.index(raw.len());
        read_all(&raw[..at], &Caps::default());
        raw[at] = byte;
        read_all(&raw, &Caps::default());
    }

    #[test]
    fn mending_changes_nothing_that_is_sound(text in any::<String>()) {
        let raw = serde_json::to_vec(&json!([text])).unwrap();
        prop_assert_eq!(repair(&raw), None);
    }
}

#[test]
fn half_a_pair_costs_one_character() {
    let raw = br#"{"contents":"a\ud83db \\ud800 \ude00\ud83d\ude00\uD83D\uD83D\uDE00 \u00e9"}"#;
    let hover = hover(raw, &Caps::default()).unwrap();
    let HoverSection::Prose(text) = &hover.sections[0] else { panic!("{hover:?}") };
    expect![[r#"a�b \ud800 �😀�😀 é"#]].assert_eq(text);
}

#[test]
fn bytes_that_are_not_utf8_cost_one_character() {
    let mut raw = br#"[{"name":"x?","kind":1,"location":{"uri":"file:///a"}}]"#.to_vec();
    let at = raw.iter().position(|byte| *byte == b'?').unwrap();
    raw[at] = 0xe9;
    let hits = symbol_hits(&raw, &Caps::default(), "a").unwrap();
    assert_eq!(hits.items[0].name, "x\u{fffd}");
}

#[test]
fn half_a_pair_in_an_item_that_goes_back_is_mended() {
    let range = r#"{"start":{"line":1,"character":2},"end":{"line":1,"character":5}}"#;
    let raw = format!(r#"[{{"name":"\ud800","kind":1,"uri":"file:///a","range":{range}}}]"#);
    let list = hierarchy_items(raw.as_bytes(), &Caps::default()).unwrap();
    assert_eq!((list.items.len(), list.items[0].name.as_str()), (1, "\u{fffd}"));
}

#[test]
fn deep_nesting_is_refused_or_skipped() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    // What is not read may be as deep as it likes.
    let raw = format!(r#"{{"contents":"x","data":{}}}"#, deep(100_000));
    assert!(hover(raw.as_bytes(), &Caps::default()).is_ok());
    read_all(deep(100_000).as_bytes(), &Caps::default());
    let nested = format!("{}null{}", r#"{"children":["#.repeat(10_000), "]}".repeat(10_000));
    read_all(format!("[{nested}]").as_bytes(), &Caps::default());
}
