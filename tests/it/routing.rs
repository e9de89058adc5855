//! Which server gets which file, in which language, and how paths and URIs go there and back.

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Script},
    support::{Answer, Definition, Langport, Workspace},
};

trials![
    rou_01_d1_6_every_suffix_and_name_has_its_language,
    rou_01_a_definition_adds_suffixes,
    rou_01_an_unknown_suffix_is_told,
    rou_04_a_linter_joins_and_the_primary_answers,
    a5_5_the_language_chooses_the_server,
    uri_01_x19_reserved_characters_go_there_and_back,
    uri_01_foreign_authorities_are_not_paths,
    uri_05_every_form_of_a_path_is_one_document,
    uri_05_what_is_no_text_file_is_a_plain_error,
];

fn at(file: &str) -> Value {
    json!({"file_path": file, "line": 1, "column": 1})
}

fn rou_01_d1_6_every_suffix_and_name_has_its_language() {
    let expected = [
        ("v.ts", "typescript"),
        ("v.tsx", "typescriptreact"),
        ("v.mts", "typescript"),
        ("v.js", "javascript"),
        ("v.jsx", "javascriptreact"),
        ("v.cjs", "javascript"),
        ("v.mjs", "javascript"),
        ("UPPER.TS", "typescript"),
        ("v.hpp", "cpp"),
        ("v.cc", "cpp"),
        ("v.pyi", "python"),
        ("Dockerfile", "dockerfile"),
        ("v.rs", "rust"),
        ("v.go", "go"),
    ];
    let ws =
        Workspace::new("//- run\n#!/usr/bin/env python3\nalpha\n//- build\n#!/bin/bash -e\nalpha\n//- v.h\nint a;\n");
    for (file, _) in expected {
        ws.write(file, "alpha\n");
    }
    let languages = [
        "typescript",
        "typescriptreact",
        "javascript",
        "javascriptreact",
        "c",
        "cpp",
        "python",
        "dockerfile",
        "rust",
        "go",
        "shellscript",
    ];
    let lp = Langport::builder(&ws).server(Definition::new("fake", Script::new()).languages(&languages)).start();
    let language = |file: &str| {
        lp.hover(&at(file)).fine();
        let opened = lp.log().of("textDocument/didOpen");
        let document = opened
            .iter()
            .find(|p| p["textDocument"]["uri"] == ws.uri(file))
            .unwrap_or_else(|| panic!("{file} was not opened"));
        document["textDocument"]["languageId"].as_str().unwrap().to_owned()
    };
    for (file, id) in expected {
        assert_eq!(language(file), id, "{file}");
    }
    assert_eq!(language("run"), "python");
    assert_eq!(language("build"), "shellscript");
    assert!(["c", "cpp"].contains(&language("v.h").as_str()));
}

fn rou_01_a_definition_adds_suffixes() {
    let ws = Workspace::new("//- page.inc\nalpha\n//- Brewfile\nalpha\n");
    let definition = Definition::new("fake", Script::new())
        .languages(&["php"])
        .key("extensions = { \".inc\" = \"php\" }\nfilenames = [\"Brewfile\"]");
    let lp = Langport::builder(&ws).server(definition).start();
    lp.hover(&at("page.inc")).verdict_is("fresh");
    lp.hover(&at("Brewfile")).verdict_is("fresh");
    let opened = lp.log().of("textDocument/didOpen");
    assert!(opened.iter().all(|p| p["textDocument"]["languageId"] == "php"), "{opened:?}");
}

fn rou_01_an_unknown_suffix_is_told() {
    let ws = Workspace::new("//- a.zzz\nalpha\n//- b.rb\nalpha\n");
    let lp = Langport::with(&ws, Script::new());
    lp.hover(&at("a.zzz")).fails("unavailable").contains("zzz");
    lp.hover(&at("b.rb")).fails("unavailable").contains("ruby");
    assert_eq!(lp.log().starts(), 0);
}

fn rou_04_a_linter_joins_and_the_primary_answers() {
    let ws = Workspace::new("//- a.py\nalpha = ERR\n");
    let lint = Script::new().capability("hoverProvider", Value::Null);
    let lp = Langport::builder(&ws)
        .server(Definition::new("types", Script::new()))
        .server(Definition::new("lint", lint).key("role = \"linter\""))
        .start();
    let answer = lp.diagnostics("a.py");
    answer.verdict_is("fresh").contains("types").contains("lint");
    lp.log_of("lint").wait("textDocument/didOpen", 1);
    let hover = lp.hover(&at("a.py"));
    assert!(hover.contains("WORD alpha").first().starts_with("fresh · types · "), "{hover}");
    assert_eq!(lp.log_of("lint").count("textDocument/hover"), 0);
}

fn a5_5_the_language_chooses_the_server() {
    let ws = Workspace::new("//- a.py\nalpha\n//- b.go\nbeta\n");
    let lp = Langport::builder(&ws)
        .server(Definition::new("snake", Script::new()))
        .server(Definition::new("gopher", Script::new()).languages(&["go"]))
        .start();
    let answer = lp.hover(&at("b.go"));
    assert!(answer.first().starts_with("fresh · gopher · "), "{answer}");
    assert_eq!((lp.log_of("snake").starts(), lp.log_of("gopher").starts()), (0, 1));
    let answer = lp.hover(&at("a.py"));
    assert!(answer.first().starts_with("fresh · snake · "), "{answer}");
}

fn uri_01_x19_reserved_characters_go_there_and_back() {
    for name in ["a b", "#work", "[slug]", "50%", "a%20b", "naïve", "日本", "q?x", "(auth)"] {
        let ws = Workspace::named(name, "");
        let file = format!("{name}.py");
        ws.write(&file, "def alpha(): pass\ndef beta():\n    alpha()  # ERR\n");
        let lp = Langport::with(&ws, Script::watching("**/*"));
        let place = json!({"file_path": file, "line": 3, "column": 5});
        lp.hover(&place).contains("WORD alpha");
        lp.tool("definition", &place).contains(&format!("{file}:1:5"));
        assert_eq!(lp.tool("references", &place).places(), [(file.clone(), 1, 5), (file.clone(), 3, 5)]);
        lp.tool("symbols", &json!({"file_path": file})).fine().contains("alpha");
        lp.tool("workspace_symbols", &json!({"query": "alpha"})).contains(&format!("{file}:1:5"));
        lp.diagnostics(&file).verdict_is("fresh").contains(&format!("{file}:3:1"));
        lp.tool("completions", &json!({"file_path": file, "line": 3, "column": 7})).fine();
        lp.tool("signature", &json!({"file_path": file, "line": 3, "column": 11})).fine();
        let calls = lp.tool("calls", &json!({"file_path": file, "line": 1, "column": 5}));
        calls.fine().contains("beta").contains(&file);
        lp.tool("status", &json!({"file_path": file})).fine();
        ws.write(&format!("{name}/{name} new.py"), "alpha\n");
        assert_eq!(lp.tool("references", &place).places().len(), 3, "{name}");
        let opened = lp.log().of("textDocument/didOpen");
        let uri = opened[0]["textDocument"]["uri"].as_str().unwrap();
        assert!(uri.is_ascii() && !uri.contains(['#', '?', ' ', '[']), "{uri}");
        assert_eq!(url::Url::parse(uri).unwrap().to_file_path().unwrap(), ws.path(&file));
        assert_eq!(opened.len(), 1, "one document for {name}");
    }
}

fn uri_01_foreign_authorities_are_not_paths() {
    let ws = Workspace::new("//- a.py\nalpha\n");
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}});
    let local = ws.uri("a.py").replace("file://", "file://localhost");
    for (uri, shown) in [("file://elsewhere/a.py", false), ("jdt://contents/a.py", false), (&local, true)] {
        let reply = json!([{"uri": uri, "range": range}]);
        let lp = Langport::with(&ws, Script::new().on("textDocument/definition", [Act::Reply(reply)]));
        let answer = lp.tool("definition", &at("a.py"));
        answer.fine();
        let own = answer.places().contains(&("a.py".to_owned(), 1, 1));
        assert_eq!(own, shown, "{uri}: {answer}");
    }
}

fn uri_05_every_form_of_a_path_is_one_document() {
    let ws = Workspace::new("//- src/a.py\nalpha\n");
    let absolute = ws.path("src/a.py").to_string_lossy().into_owned();
    let lp = Langport::with(&ws, Script::new());
    let forms = [
        "src/a.py".to_owned(),
        "./src/../src/a.py".into(),
        ws.uri("src/a.py"),
        absolute.clone(),
        absolute.replacen("/src", "//src", 1),
        "~/ws/src/a.py".into(),
        " src/a.py ".into(),
        "src/a.py\n".into(),
        "src\\a.py".into(),
        ".\\src\\a.py".into(),
        ws.uri("src/a.py").replace("file://", "file://localhost"),
        ws.uri("src/a.py").replace("a.py", "%61.py"),
    ];
    for form in forms {
        lp.hover(&at(&form)).verdict_is("fresh").contains("WORD alpha").contains("src/a.py:1:1");
    }
    for key in ["path", "file", "uri"] {
        lp.hover(&json!({key: "src/a.py", "line": 1, "column": 1})).verdict_is("fresh");
    }
    std::os::unix::fs::symlink(ws.path("src/a.py"), ws.path("link.py")).unwrap();
    lp.hover(&at("link.py")).verdict_is("fresh");
    assert_eq!(lp.log().count("textDocument/didOpen"), 1);
}

fn uri_05_what_is_no_text_file_is_a_plain_error() {
    let ws = Workspace::new("//- src/a.py\nalpha\n//- empty.py\n");
    std::fs::write(ws.path("binary.py"), [0_u8, 159, 146, 150, 0, 1, 2, 0]).unwrap();
    let lp = Langport::with(&ws, Script::new());
    let fails = |file: &str| -> Answer {
        let answer = lp.tool("symbols", &json!({"file_path": file}));
        assert!(answer.is_error, "{file}: {answer}");
        answer
    };
    for (file, named) in
        [("src", "src is a folder"), ("missing.py", "missing.py"), ("binary.py", "binary.py is binary")]
    {
        for tool in ["hover", "definition", "diagnostics"] {
            let answer = if tool == "diagnostics" { lp.diagnostics(file) } else { lp.tool(tool, &at(file)) };
            // A folder is what `diagnostics` can look into.
            assert!(answer.has(named) && (answer.is_error || file == "src"), "{tool}: {answer}");
        }
    }
    lp.hover(&at("empty.py")).fails("invalid").contains("empty.py");
    lp.diagnostics("empty.py").verdict_is("fresh").contains("no problems");
    fails("src").contains("src");
    fails("missing.py").verdict_is("not_found").contains("missing.py");
    fails("binary.py").contains("binary.py");
    lp.tool("symbols", &json!({"file_path": "empty.py"})).fine().verdict_is("fresh");
}
