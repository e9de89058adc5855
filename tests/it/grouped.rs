//! Answers about many files and servers: each reason is told once, and the first line stays short.

use serde_json::json;

use crate::{
    fake::script::{Act, Script},
    support::{Definition, Langport, Workspace},
};

trials![a_reason_is_told_once_and_where_the_last_words_are];

fn a_reason_is_told_once_and_where_the_last_words_are() {
    let languages = ["python", "rust", "c", "javascript", "css"];
    let ws = Workspace::new(
        "//- a.go\nx\n//- b.go\nx\n//- c.go\nx\n//- a.py\nx\n//- a.rs\nx\n//- a.c\nx\n//- a.js\nx\n//- a.css\nx\n",
    );
    let dead = Script::new().on("initialize", [Act::Stderr("fatal: no licence".into(), 1), Act::Exit(9)]);
    let mut builder = Langport::builder(&ws).server(Definition::new("dead", dead).languages(&["go"]));
    for language in languages {
        builder =
            builder.server(Definition::new(&format!("for-{language}"), Script::new().pull()).languages(&[language]));
    }
    let mut lp = builder.start();
    lp.tolerate();
    let answer = lp.tool("diagnostics", &json!({"scope": "workspace"}));
    answer
        .verdict_is("partial")
        .contains(" · dead unavailable; ")
        .contains("no problems where an answer came in 8 files");
    assert!(languages.iter().all(|language| answer.first().contains(&format!("for-{language}"))), "{answer}");
    assert!(answer.first().chars().count() < 200, "{answer}");
    assert_eq!(answer.text.matches("could not be started").count(), 1, "{answer}");
    answer.contains("lsp_status with server \"dead\" has its last words").lacks("below");
    answer.contains("unavailable (dead): a.go, b.go, c.go");
    // And there they are.
    lp.tool("status", &json!({"server": "dead"})).contains("fatal: no licence");
}
