//! Every body as text and as JSON, and what holds for all of them.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::tools::outcome::{
    Body, Code, CompletionLine, Fact, HoverText, Page, Place, Problem, RelatedPlace, ServerVerdict, SignatureLine,
    StatusLine, Verdict,
};

mod budget;
mod changes;
mod symbols;

fn server(name: &str, verdict: Verdict, reason: Option<&str>) -> ServerVerdict {
    let id = "builtin/x".parse().unwrap();
    ServerVerdict { id, server: crate::registry::DisplayName::new(name), verdict, reason: reason.map(str::to_owned) }
}

fn fresh(summary: &str, body: Body) -> Outcome {
    Outcome {
        verdict: Verdict::Fresh,
        servers: vec![server("pyright", Verdict::Fresh, None)],
        summary: summary.to_owned(),
        notes: Vec::new(),
        details: Vec::new(),
        body,
        page: Page::default(),
    }
}

fn options(tool: ToolId) -> Options {
    Options { tool, output: Output::Text, max_chars: 8_000 }
}

fn check(tool: ToolId, answer: &Outcome, expected: &Expect) {
    expected.assert_eq(&outcome(answer, options(tool)).text);
}

fn problem(line: u32, column: u32, message: &str) -> Problem {
    Problem {
        file: "src/cart.py".to_owned(),
        line,
        column,
        end_line: line,
        end_column: column + 3,
        severity: "error".to_owned(),
        message: message.to_owned(),
        code: Some("reportUndefinedVariable".to_owned()),
        source: Some("Pyright".to_owned()),
        text: Some("    total = foo + bar".to_owned()),
        related: Vec::new(),
    }
}

fn place(file: &str, line: u32, column: u32, text: Option<&str>) -> Place {
    Place {
        file: file.to_owned(),
        line,
        column,
        end_line: line,
        end_column: column + 3,
        text: text.map(str::to_owned),
        role: None,
    }
}

#[test]
fn problems() {
    let mut ruff = problem(14, 1, "Module imported but unused");
    ruff.severity = "warning".to_owned();
    (ruff.source, ruff.code, ruff.text) =
        (Some("Ruff".to_owned()), Some("F401".to_owned()), Some("import os".to_owned()));
    ruff.related =
        vec![RelatedPlace { file: "src/a.py".to_owned(), line: 3, column: 8, message: "first\nhere".to_owned() }];
    let body = Body::Problems(vec![
        problem(12, 13, "\"foo\" is not defined"),
        problem(12, 19, "\"bar\" is not\n\u{a0}\u{a0}\u{a0}\u{a0}defined"),
        ruff,
    ]);
    let mut answer = fresh("2 errors, 1 warning", body);
    answer.servers.push(server("ruff", Verdict::Fresh, None));
    check(
        ToolId::Diagnostics,
        &answer,
        &expect![[r#"
            fresh · pyright, ruff · 2 errors, 1 warning
            src/cart.py:12:13  error: "foo" is not defined  [Pyright reportUndefinedVariable]
              total = foo + bar
            src/cart.py:12:19  error: "bar" is not; defined  [Pyright reportUndefinedVariable]
            src/cart.py:14:1  warning: Module imported but unused  [Ruff F401]
              import os
                src/a.py:3:8  first; here"#]],
    );
    check(
        ToolId::Diagnostics,
        &fresh("no problems", Body::Problems(Vec::new())),
        &expect!["fresh · pyright · no problems"],
    );
}

#[test]
fn first_lines() {
    let mut answer = fresh("1 error", Body::None);
    answer.verdict = Verdict::Partial;
    answer.servers.push(server("ruff", Verdict::Unanswered, None));
    check(ToolId::Diagnostics, &answer, &expect!["partial · pyright fresh, ruff unanswered · 1 error"]);
    answer.servers[1].reason = Some("no answer in 15 s".to_owned());
    answer.notes = vec!["ruff may be checking a large project".to_owned(), "new\nline".to_owned()];
    check(
        ToolId::Diagnostics,
        &answer,
        &expect![[r#"
        partial · pyright fresh, ruff unanswered (no answer in 15 s) · 1 error
        ruff may be checking a large project
        new line"#]],
    );
    answer.verdict = Verdict::Indexing;
    answer.servers = vec![server("pyright", Verdict::Indexing, Some("loading the project, 43 %"))];
    answer.summary = "no problems so far".to_owned();
    answer.notes.clear();
    check(
        ToolId::Diagnostics,
        &answer,
        &expect!["indexing · pyright (loading the project, 43 %) · no problems so far"],
    );
    answer.servers.clear();
    check(ToolId::Status, &answer, &expect!["indexing · langport · no problems so far"]);
    answer.verdict = Verdict::Unsupported;
    assert!(outcome(&answer, options(ToolId::Hover)).is_error);
}

#[test]
fn hovers() {
    let hover = |code: &[&str], prose: &str, truncated| {
        Body::Hover(HoverText {
            file: "src/cart.py".to_owned(),
            line: 3,
            column: 7,
            code: code.iter().map(|&code| code.to_owned()).collect(),
            prose: prose.to_owned(),
            truncated,
        })
    };
    let both =
        hover(&["(method) def add(\n\tself: Self@Cart,\n) -> None"], "Adds an item.\r\n\n\n\n* twice\u{200b}\n", false);
    check(
        ToolId::Hover,
        &fresh("method add", both),
        &expect![[r#"
        fresh · pyright · method add
        src/cart.py:3:7
          (method) def add(
              self: Self@Cart,
          ) -> None

          Adds an item.

          * twice"#]],
    );
    check(
        ToolId::Hover,
        &fresh("variable", hover(&["x: int"], "", true)),
        &expect![[r#"
        fresh · pyright · variable
        src/cart.py:3:7
          x: int
          … (the server sent more)"#]],
    );
    check(
        ToolId::Hover,
        &fresh("keyword", hover(&[], "Prose only.", false)),
        &expect![[r#"
        fresh · pyright · keyword
        src/cart.py:3:7
          Prose only."#]],
    );
    check(ToolId::Hover, &fresh("nothing here", Body::None), &expect!["fresh · pyright · nothing here"]);
}

#[test]
fn places() {
    let mut here = place("src/cart.py", 3, 7, Some("class Cart:  # the cart"));
    let there = place("/usr/lib/python3/typing.py", 900, 1, None);
    check(
        ToolId::Definition,
        &fresh("2 definitions", Body::Places(vec![here.clone(), there.clone()])),
        &expect![[r#"
        fresh · pyright · 2 definitions
        src/cart.py:3:7
          class Cart:  # the cart
        /usr/lib/python3/typing.py:900:1"#]],
    );
    here.role = Some("definition".to_owned());
    let uses = vec![
        here,
        place("src/cart.py", 20, 12, Some("\treturn Cart()")),
        place("src/shop.py", 1, 22, Some("from cart import Cart")),
        there,
    ];
    check(
        ToolId::References,
        &fresh("4 references in 3 files", Body::Places(uses)),
        &expect![[r#"
        fresh · pyright · 4 references in 3 files
        src/cart.py
          3:7 definition  class Cart:  # the cart
          20:12  return Cart()
        src/shop.py
          1:22  from cart import Cart
        /usr/lib/python3/typing.py
          900:1"#]],
    );
}

#[test]
fn completions() {
    let item = |label: &str, detail: Option<&str>, insert: Option<&str>, deprecated| CompletionLine {
        label: label.to_owned(),
        kind: "method".to_owned(),
        detail: detail.map(str::to_owned),
        insert: insert.map(str::to_owned),
        deprecated,
    };
    let body = Body::Completions(vec![
        item("append", Some("(object, /) -> None"), Some("append"), false),
        item("iter", None, Some("iter()\n$0"), true),
    ]);
    check(
        ToolId::Completions,
        &fresh("2 completions", body),
        &expect![[r#"
        fresh · pyright · 2 completions
          append  method  (object, /) -> None
          iter  method  inserts iter() $0  deprecated"#]],
    );
}

#[test]
fn signatures() {
    let line = |label: &str, active, parameter: Option<&str>| SignatureLine {
        label: label.to_owned(),
        active,
        active_parameter: parameter.map(str::to_owned),
        documentation: active.then(|| "Adds.\n\nTwo paragraphs.".to_owned()),
    };
    let body = Body::Signatures(vec![
        line("add(a: int, b: int) -> int", true, Some("b: int")),
        line("add(a: str) -> str", false, Some("a")),
        line("aa(aa, aa)", false, Some("aa")),
        line("f()", false, Some("nowhere")),
    ]);
    check(
        ToolId::Signature,
        &fresh("4 signatures", body),
        &expect![[r#"
        fresh · pyright · 4 signatures
          > add(a: int, «b: int») -> int
            Adds.

            Two paragraphs.
          add(«a»: str) -> str
          aa(aa, aa)
            active parameter: aa
          f()
            active parameter: nowhere"#]],
    );
    let body = Body::Signatures(vec![line("f(x)", true, None)]);
    check(
        ToolId::Signature,
        &fresh("f", body),
        &expect![[r#"
        fresh · pyright · f
          f(x)
            Adds.

            Two paragraphs."#]],
    );
}

#[test]
fn statuses() {
    let fact = |label: &str, value: &str| Fact { label: label.to_owned(), value: value.to_owned() };
    let body = Body::Status(vec![
        StatusLine {
            name: "builtin/pyright".to_owned(),
            scope: "builtin".to_owned(),
            state: "running".to_owned(),
            facts: vec![fact("languages", "python"), fact("role", "primary"), fact("root", "."), fact("pid", "4123")],
            output: Vec::new(),
        },
        StatusLine {
            name: "builtin/ruff".to_owned(),
            scope: "builtin".to_owned(),
            state: "not installed".to_owned(),
            facts: vec![
                fact("languages", "python"),
                fact("install", &"langport install ruff ".repeat(5)),
                fact("role", "linter"),
            ],
            output: vec!["\u{1b}[31merror\u{1b}[0m: no such\nfile".to_owned()],
        },
    ]);
    check(
        ToolId::Status,
        &fresh("2 definitions", body),
        &expect![[r#"
        fresh · pyright · 2 definitions
        builtin/pyright  running  (builtin)
          languages: python; role: primary; root: .; pid: 4123
        builtin/ruff  not installed  (builtin)
          languages: python
          install: langport install ruff langport install ruff langport install ruff langport install ruff langport install ruff
          role: linter
          output:
            error: no such file"#]],
    );
}

#[test]
fn failures() {
    let mut answer = Failure {
        code: Code::Ambiguous,
        what: "`add`\nnames 2 symbols".to_owned(),
        next: "pass one of these".to_owned(),
        details: vec!["src/cart.py:14:9  method Cart/add".to_owned(), "two\nlines\u{7}".to_owned(), String::new()],
        servers: Vec::new(),
    };
    expect![[r#"
        ambiguous · `add` names 2 symbols · pass one of these
          src/cart.py:14:9  method Cart/add
          two
          lines"#]]
    .assert_eq(&failure(&answer, 8_000).text);
    answer.code = Code::Unavailable;
    answer.details.clear();
    answer.servers = vec![server("pyright", Verdict::Unavailable, Some("not installed"))];
    expect![[r#"
        unavailable · `add` names 2 symbols · pass one of these
          pyright unavailable (not installed)"#]]
    .assert_eq(&failure(&answer, 8_000).text);
    answer.details = (0..1_000).map(|n| format!("{n} {}", "x".repeat(5_000))).collect();
    let rendered = failure(&answer, 40_000);
    assert!(rendered.is_error && rendered.structured.is_none());
    assert!(clean::length(&rendered.text) <= 4_000);
    assert!(rendered.text.ends_with(" more"), "{}", rendered.text);
}

#[test]
fn structured() {
    let mut answer = fresh("1 error", Body::Problems(vec![problem(12, 13, "\"foo\" is\nnot defined\u{202e}")]));
    answer.page = Page { offset: 3, total: 9, fingerprint: 1, ..Page::default() };
    answer.notes.push("a note".to_owned());
    let rendered = outcome(&answer, Options { output: Output::Structured, ..options(ToolId::Diagnostics) });
    assert_eq!(serde_json::from_str::<Value>(&rendered.text).ok(), rendered.structured);
    expect![[r#"
        {
          "cursor": "AAQAAAAAAAAAAQAAAAAAAADXCRLb",
          "items": [
            {
              "code": "reportUndefinedVariable",
              "column": 13,
              "end_column": 16,
              "end_line": 12,
              "file": "src/cart.py",
              "line": 12,
              "message": "\"foo\" is; not defined",
              "severity": "error",
              "source": "Pyright",
              "text": "total = foo + bar"
            }
          ],
          "notes": [
            "a note"
          ],
          "offset": 3,
          "servers": [
            {
              "server": "pyright",
              "verdict": "fresh"
            }
          ],
          "summary": "1 error",
          "total": 9,
          "verdict": "fresh"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&rendered.structured).unwrap());
}
