//! Where real servers write: in texts whose lines they count otherwise than the protocol does, and in all the forms that a
//! rename has.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::support::{Answer, Langport, Workspace};

use super::{
    definitions::{Row, row_of, row_trial, start},
    places_are,
};

pub(super) fn trials() -> Vec<Trial> {
    let trial = |name: &str, server: &str, test: fn(&Row)| {
        let name = format!("real::written::{name}_{}", server.replace('-', "_"));
        row_trial(name, row_of(server), test)
    };
    vec![
        trial("pos_01_separators_end_no_line", "typescript-language-server", separators),
        trial("pos_01_separators_end_no_line", "typescript7", separators),
        trial("edt_01_shorthands", "typescript-language-server", typescript),
        trial("edt_01_shorthands", "typescript7", typescript),
        trial("edt_01_aliases_and_named_arguments", "pyright", python),
        trial("edt_01_aliases_and_named_arguments", "ty", python),
        trial("edt_01_field_shorthands", "rust-analyzer", rust),
        trial("edt_01_in_the_arguments_of_macros", "clangd", c),
        trial("edt_01_names_of_imports", "gopls", go),
    ]
}

fn at(file: &str, line: usize, symbol: &str) -> Value {
    json!({"file_path": file, "line": line, "symbol": symbol})
}

/// Renames, and makes it.
#[track_caller]
fn renamed(lp: &Langport, mut at: Value, new_name: &str) -> Answer {
    at["new_name"] = json!(new_name);
    let planned = lp.tool("rename", &at);
    let made = lp.tool("apply", &json!({"plan": planned.plan()}));
    made.fine().contains("no new problems");
    made
}

/// tsserver ends a line at U+2028 and U+2029: whatever it says of what is below is off by that many lines.
fn separators(row: &Row) {
    let lib = "const s = `q\u{2028}r`;\nconst t = `q\u{2029}r`;\nexport function tally(x: number) { return x; }\nexport const v = tally(1);\n// end\n// end\n// end\n";
    let uses = "/* \u{2028} */ import { tally } from \"./a\";\nexport const w = tally(`\u{2028}`.length) + tally(2);\nexport function both() { return tally(3); }\n// end\n";
    let ws = Workspace::new("//- package.json\n{}\n//- tsconfig.json\n{ \"compilerOptions\": { \"strict\": true } }\n");
    ws.write("a.ts", lib);
    ws.write("use.ts", uses);
    let lp = start(row, &ws);
    let used = ["use.ts:1:18", "use.ts:2:18", "use.ts:2:38", "use.ts:3:33"];
    let references = |lines: usize| {
        let (first, second) = (format!("a.ts:{lines}:17"), format!("a.ts:{}:18", lines + 1));
        let found = lp.tool("references", &at("a.ts", lines, "tally"));
        places_are(&found, &[&[first.as_str(), second.as_str()][..], &used].concat());
    };
    references(3);
    places_are(&lp.tool("definition", &json!({"file_path": "use.ts", "line": 2, "column": 38})), &["a.ts:3:17"]);
    let hover = lp.hover(&json!({"file_path": "use.ts", "line": 3, "column": 33}));
    assert_eq!(hover.fine().places()[0], ("use.ts".to_owned(), 3, 33), "{hover}");
    lp.tool("symbols", &json!({"file_path": "a.ts"})).contains("3 function tally");
    lp.tool("calls", &at("a.ts", 3, "tally")).contains("use.ts:3:17").contains("at 3");
    let mut calls = at("use.ts", 3, "both");
    calls["direction"] = json!("outgoing");
    lp.tool("calls", &calls).contains("a.ts:3:17").contains("at 3");
    // Told of another text, it has the whole of it and nothing of the old one.
    ws.write("a.ts", &format!("// \u{2028}\n{lib}"));
    references(4);
    ws.write("a.ts", lib);
    lp.diagnostics("a.ts").verdict_is("fresh").contains("no problems");
    references(3);
    renamed(&lp, at("a.ts", 3, "tally"), "total");
    assert_eq!((ws.read("a.ts"), ws.read("use.ts")), (lib.replace("tally", "total"), uses.replace("tally", "total")));
    ws.write("a.ts", "const s = `q\u{2028}r`;\nlet   x  :  number =  \"a\";\n// end\n// end\nexport {};\n");
    let problem = lp.diagnostics("a.ts");
    problem.verdict_is("fresh").contains("1 error").contains("not assignable");
    assert_eq!(problem.places()[0], ("a.ts".to_owned(), 2, 7), "{problem}");
    let formatted = lp.tool("format", &json!({"file_path": "a.ts"}));
    lp.tool("apply", &json!({"plan": formatted.plan()})).fine();
    let formatted = ws.read("a.ts");
    assert!(
        formatted.starts_with("const s = `q\u{2028}r`;\nlet x: number = \"a\";\n// end\n// end\nexport"),
        "{formatted}"
    );
}

fn typescript(row: &Row) {
    let ws = Workspace::new(
        "//- package.json\n{}\n//- tsconfig.json\n{ \"compilerOptions\": { \"strict\": true } }\n//- a.ts\nexport const tally = 1;\nexport const whole = { tally };\nconst { tally: own } = { tally: 2 };\nexport { own, tally as counted };\n//- b.ts\nimport { tally as one } from \"./a\";\nexport { tally } from \"./a\";\nexport const two = one;\n",
    );
    let lp = start(row, &ws);
    renamed(&lp, at("a.ts", 1, "tally"), "total");
    assert!(ws.read("a.ts").starts_with("export const total = 1;\n"), "{}", ws.read("a.ts"));
    assert!(ws.read("b.ts").starts_with("import { total as one } from"), "{}", ws.read("b.ts"));
}

fn python(row: &Row) {
    let ws = Workspace::new(
        "//- pyproject.toml\n//- lib.py\ndef tally(item):\n    return item\n//- use.py\nimport lib as whole\nfrom lib import tally as counted\nprint(counted(item=1), whole.tally(item=2))\n",
    );
    let lp = start(row, &ws);
    renamed(&lp, at("lib.py", 1, "tally"), "total");
    assert!(ws.read("use.py").contains("from lib import total as counted\n"), "{}", ws.read("use.py"));
    renamed(&lp, at("lib.py", 1, "item"), "thing");
    assert!(ws.read("use.py").ends_with("print(counted(thing=1), whole.total(thing=2))\n"), "{}", ws.read("use.py"));
}

fn rust(row: &Row) {
    let ws = Workspace::new(
        "//- Cargo.toml\n[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n//- src/lib.rs\npub struct Shop {\n    pub tally: u32,\n}\npub fn open(tally: u32) -> Shop {\n    Shop { tally }\n}\npub fn see(shop: Shop) -> u32 {\n    let Shop { tally } = shop;\n    tally\n}\n",
    );
    let lp = start(row, &ws);
    renamed(&lp, at("src/lib.rs", 2, "tally"), "total");
    let text = ws.read("src/lib.rs");
    assert!(
        text.contains("    Shop { total: tally }\n") && text.contains("let Shop { total: tally } = shop;"),
        "{text}"
    );
    renamed(&lp, at("src/lib.rs", 9, "tally"), "sum");
    assert!(
        ws.read("src/lib.rs").contains("    let Shop { total: sum } = shop;\n    sum\n"),
        "{}",
        ws.read("src/lib.rs")
    );
}

fn c(row: &Row) {
    let ws = Workspace::new(
        "//- compile_commands.json\n[{\"directory\": \"$root\", \"file\": \"a.c\", \"command\": \"cc -c a.c\"}]\n//- a.c\n#define TWICE(n) ((n) * 2)\nint tally(int n) { return TWICE(n); }\nint all(void) { return TWICE(tally(1)) + tally(TWICE(2)); }\n",
    );
    let lp = start(row, &ws);
    renamed(&lp, at("a.c", 2, "tally"), "total");
    assert!(ws.read("a.c").ends_with("{ return TWICE(total(1)) + total(TWICE(2)); }\n"), "{}", ws.read("a.c"));
}

fn go(row: &Row) {
    let ws = Workspace::new(
        "//- go.mod\nmodule example.com/shop\n\ngo 1.21\n//- main.go\npackage main\n\nimport \"strings\"\n\n// tally counts.\nfunc tally(s string) string { return strings.ToUpper(s) }\n\nfunc main() { println(tally(\"a\")) }\n",
    );
    let lp = start(row, &ws);
    renamed(&lp, at("main.go", 6, "strings"), "text");
    let text = ws.read("main.go");
    assert!(text.contains("import text \"strings\"\n") && text.contains("return text.ToUpper(s)"), "{text}");
    renamed(&lp, at("main.go", 6, "tally"), "total");
    assert!(!ws.read("main.go").contains("tally("), "{}", ws.read("main.go"));
}
