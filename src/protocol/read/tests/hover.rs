//! Hovers, and the Markdown in them.

use expect_test::{Expect, expect};

use super::{lines, show_flag, show_range};
use crate::protocol::read::{Caps, hover};
use crate::protocol::types::{Hover, HoverSection};

fn show(hover: &Hover) -> String {
    let range = hover.range.as_ref().map(show_range).unwrap_or_default();
    let head = format!("{range}{}", show_flag("truncated", hover.truncated));
    let sections = hover.sections.iter().map(|section| match section {
        HoverSection::Code { language, text } => format!("code {language}: {text:?}"),
        HoverSection::Prose(text) => format!("prose: {text:?}"),
    });
    lines([head].into_iter().chain(sections))
}

fn check(raw: &str, expected: &Expect) {
    super::check(hover, show, raw, expected);
}

fn check_markdown(markdown: &str, expected: &Expect) {
    let value = serde_json::to_string(markdown).unwrap();
    check(&format!(r#"{{"contents":{{"kind":"markdown","value":{value}}}}}"#), expected);
}

#[test]
fn every_form_of_contents() {
    check("null", &expect![]);
    check(
        r#"{"contents":{"kind":"plaintext","value":"a ```b\n```"},"range":{"start":{"line":1,"character":2},"end":{"line":1,"character":5}}}"#,
        &expect![[r#"
            1:2-1:5
            prose: "a ```b\n```""#]],
    );
    check(
        r#"{"contents":{"value":"```rust\nfn f()\n```\ndocs","kind":"markdown"}}"#,
        &expect![[r#"

        code rust: "fn f()"
        prose: "docs""#]],
    );
    check(
        r#"{"contents":"plain *string*"}"#,
        &expect![[r#"

        prose: "plain *string*""#]],
    );
    check(
        r#"{"contents":{"language":"java","value":"int f()"}}"#,
        &expect![[r#"

        code java: "int f()""#]],
    );
    check(
        r#"{"contents":[{"language":"java","value":"int f()"},"Docs.",{"kind":"plaintext","value":"more"},"",null,3,[["x"]],{}]}"#,
        &expect![[r#"

            code java: "int f()"
            prose: "Docs."
            prose: "more""#]],
    );
    check(r#"{"contents":[]}"#, &expect![]);
    check(r#"{"contents":""}"#, &expect![]);
    check(r#"{"contents":null}"#, &expect![]);
    check(
        r#"{"contents":"old","contents":"new"}"#,
        &expect![[r#"

        prose: "new""#]],
    );
}

#[test]
fn what_is_no_hover() {
    for (raw, expected) in [
        ("{}", expect!["error: expected a hover or null, the server sent an object without a valid `contents`"]),
        ("[]", expect!["error: expected a hover or null, the server sent an array"]),
        (r#""x""#, expect!["error: expected a hover or null, the server sent a string"]),
    ] {
        check(raw, &expected);
    }
}

#[test]
fn markdown_is_split_at_its_fences() {
    check_markdown(
        "```python\n(function) def f(a: int) -> str\n```\n---\nDocs of f.\r\n\r\nMore.",
        &expect![[r#"

        code python: "(function) def f(a: int) -> str"
        prose: "Docs of f.\n\nMore.""#]],
    );
    check_markdown(
        "\n```rust\nmycrate::module\n```\n\n```rust\npub fn f()\n```\n\n---\n\nAdds.\n\n```\nassert!(true)\n\nx\n```\n",
        &expect![[r#"

            code rust: "mycrate::module"
            code rust: "pub fn f()"
            prose: "Adds."
            code : "assert!(true)\n\nx""#]],
    );
    check_markdown(
        "~~~~ts {.line}\na\n~~~\nb\n~~~~\nend",
        &expect![[r#"

        code ts: "a\n~~~\nb"
        prose: "end""#]],
    );
    check_markdown(
        "- list\n  ```c\n  int x;\n    y\n  ```\n",
        &expect![[r#"

        prose: "- list"
        code c: "int x;\n  y""#]],
    );
    check_markdown(
        "open\n```go\nnever closed",
        &expect![[r#"

        prose: "open"
        code go: "never closed""#]],
    );
    check_markdown(
        "inline ```x``` and\n```not a fence``` here",
        &expect![[r#"

        prose: "inline ```x``` and\n```not a fence``` here""#]],
    );
    check_markdown("```\n```\n```go\n\n\n```", &expect![]);
    check_markdown("---\n***\n\n", &expect![]);
    check_markdown(
        "Args:  \n&nbsp;&nbsp;n: &lt;T&gt; &amp;lt;  \n\n  \n\n---\n\nend  ",
        &expect![[r#"

        prose: "Args:\n  n: <T> &lt;\n\n---\n\nend""#]],
    );
    check_markdown(
        "````md\n```\nx\n```\n````",
        &expect![[r#"

        code md: "```\nx\n```""#]],
    );
}

#[test]
fn a_huge_hover_is_cut_between_characters() {
    let caps = Caps::default();
    for value in ["é".repeat(1_500_000), format!("```c\n{}", "é\n".repeat(1_000_000))] {
        for raw in [
            format!(r#"{{"contents":{}}}"#, serde_json::to_string(&value).unwrap()),
            format!(r#"{{"contents":{{"value":{},"kind":"plaintext"}}}}"#, serde_json::to_string(&value).unwrap()),
            format!(
                r#"{{"contents":["a",{{"value":{},"language":"c"}},"lost"]}}"#,
                serde_json::to_string(&value).unwrap()
            ),
        ] {
            let hover = hover(raw.as_bytes(), &caps).unwrap();
            let kept: usize = hover
                .sections
                .iter()
                .map(|section| match section {
                    HoverSection::Code { text, .. } | HoverSection::Prose(text) => text.len(),
                })
                .sum();
            assert!(hover.truncated);
            assert!((caps.text - 16..=caps.text).contains(&kept), "{kept}");
        }
    }
}

#[test]
fn many_sections_are_cut() {
    let raw = format!(r#"{{"contents":[{}"last"]}}"#, r#""x","#.repeat(1000));
    let hover = hover(raw.as_bytes(), &Caps::default()).unwrap();
    assert_eq!((hover.sections.len(), hover.truncated), (256, true));
}

#[test]
fn an_image_that_carries_its_data_says_nothing() {
    check_markdown(
        "Sets the colour\n\n![Baseline icon](data:image/svg+xml;base64,PHN2Zy8+) _Widely available_ ![a](x.png) ![b](data:,",
        &expect![[r#"

            prose: "Sets the colour\n\n_Widely available_ ![a](x.png) ![b](data:,""#]],
    );
}
