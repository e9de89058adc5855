//! One change right after another with real servers, ends of files that stay, and names that a language does not take.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::support::{Answer, Langport, Workspace};

use super::{
    definitions::{Row, put_in_place, row_of, row_trial, start},
    servers,
};

pub(super) fn trials() -> Vec<Trial> {
    let trial = |name: &str, server: &str, test: fn(&Row)| {
        let row = row_of(server);
        row_trial(format!("real::edits::{name}"), row, test)
    };
    vec![
        trial("syn_06_twice_renamed_pyright", "pyright", twice_renamed),
        trial("syn_06_formatted_then_renamed_gopls", "gopls", formatted_then_renamed),
        trial("syn_06_fixed_then_diagnosed_typescript", "typescript-language-server", fixed_then_diagnosed),
        trial("syn_07_a_file_that_grew_before_the_rename_pyright", "pyright", grown_before_the_rename),
        trial("edt_04_mark_and_line_ends_typescript", "typescript-language-server", mark_and_line_ends),
        trial("edt_04_the_last_line_end_json", "json", last_line_end_json),
        trial("edt_04_the_last_line_end_css", "css", last_line_end_css),
        trial("edt_07_fixes_for_places_and_kinds_typescript", "typescript-language-server", fixes_for_places_and_kinds),
        trial("a_keyword_for_a_name_breaks_and_is_told_pyright", "pyright", keyword_for_a_name),
        trial("what_refers_to_a_moved_file_is_said_to_stay_svelte", "svelte", moved_under_components),
        trial("no_edit_of_the_workspace_asks_for_consent_rust_analyzer", "rust-analyzer", nothing_to_consent_to),
        trial("edt_01_a_module_and_its_file_renamed_rust_analyzer", "rust-analyzer", module_renamed),
        trial("edt_01_a_file_that_was_a_folder_for_a_while_pyright", "pyright", a_folder_for_a_while),
        trial("edt_01_a_file_that_was_a_folder_for_a_while_basedpyright", "basedpyright", a_folder_for_a_while),
        trial("a_rename_stays_in_its_own_checkout_pyright", "pyright", in_its_own_checkout),
    ]
}

fn rename(lp: &Langport, file: &str, line: usize, symbol: &str, new_name: &str) -> Answer {
    lp.tool("rename", &json!({"file_path": file, "line": line, "symbol": symbol, "new_name": new_name}))
}

#[track_caller]
fn apply(lp: &Langport, planned: &Answer) -> Answer {
    let made = lp.tool("apply", &json!({"plan": planned.plan()}));
    made.fine();
    made
}

fn twice_renamed(row: &Row) {
    let ws = Workspace::new(
        "//- pyproject.toml\n//- lib.py\ndef tally(a):\n    return a\n//- use.py\nfrom lib import tally\nprint(tally(1), tally(2))\n",
    );
    let lp = start(row, &ws);
    apply(&lp, &rename(&lp, "lib.py", 1, "tally", "total")).contains("no new problems");
    apply(&lp, &rename(&lp, "lib.py", 1, "total", "grand_total")).contains("no new problems");
    assert_eq!(ws.read("lib.py"), "def grand_total(a):\n    return a\n");
    assert_eq!(ws.read("use.py"), "from lib import grand_total\nprint(grand_total(1), grand_total(2))\n");
    lp.tool("symbols", &json!({"file_path": "lib.py"})).contains("grand_total");
    lp.diagnostics("use.py").verdict_is("fresh").contains("no problems");
}

fn formatted_then_renamed(row: &Row) {
    let ws = Workspace::new(
        "//- go.mod\nmodule example.com/a\n\ngo 1.21\n//- lib.go\npackage a\n\n\n\n\nfunc tally( a int)int{ return a }\n//- use.go\npackage a\n\nvar sum = tally(1) + tally(2)\n",
    );
    let lp = start(row, &ws);
    apply(&lp, &lp.tool("format", &json!({"file_path": "lib.go"})));
    apply(&lp, &rename(&lp, "lib.go", 3, "tally", "total")).contains("no new problems");
    assert_eq!(ws.read("lib.go"), "package a\n\nfunc total(a int) int { return a }\n");
    assert_eq!(ws.read("use.go"), "package a\n\nvar sum = total(1) + total(2)\n");
}

const WEB: &str = "//- package.json\n{}\n//- tsconfig.json\n{ \"compilerOptions\": { \"strict\": true }, \"include\": [\"**/*.ts\"] }\n";

/// The first listed action whose line holds these words, taken and made.
#[track_caller]
fn take(lp: &Langport, arguments: &Value, words: &str) -> Answer {
    let listed = lp.tool("code_actions", arguments);
    let body = listed.fine().body();
    let line = body.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words:?} in {listed}"));
    let id = line.trim_start().split("  ").next().unwrap_or_default();
    apply(lp, &lp.tool("code_actions", &json!({"action": id})))
}

fn fixed_then_diagnosed(row: &Row) {
    let fixture = format!("{WEB}//- lib.ts\nexport function helperOne() {{}}\n//- use.ts\nhelperOne();\n");
    let ws = Workspace::new(&fixture);
    let lp = start(row, &ws);
    lp.diagnostics("use.ts").verdict_is("fresh").contains("helperOne");
    take(&lp, &json!({"file_path": "use.ts", "start_line": 1}), "import from \"./lib\"").contains("gone: error");
    lp.diagnostics("use.ts").verdict_is("fresh").contains("no problems");
    lp.tool("references", &json!({"file_path": "lib.ts", "symbol": "helperOne"})).contains("use.ts").contains("3:1");
}

fn grown_before_the_rename(row: &Row) {
    let ws = Workspace::new(
        "//- pyproject.toml\n//- lib.py\ndef tally(a):\n    return a\n//- use.py\nfrom lib import tally\nprint(tally(1))\n",
    );
    let lp = start(row, &ws);
    for file in ["lib.py", "use.py"] {
        lp.diagnostics(file).verdict_is("fresh");
    }
    let grown = format!("# one\n# two\n{}", ws.read("use.py"));
    ws.write("use.py", &grown);
    apply(&lp, &rename(&lp, "lib.py", 1, "tally", "total"));
    assert_eq!(ws.read("use.py"), grown.replace("tally", "total"));
}

fn mark_and_line_ends(row: &Row) {
    let ws = Workspace::new(WEB);
    ws.write("f.ts", "\u{feff}function f( ){\r\nreturn  1\r\n}\r\n");
    ws.write("mixed.ts", "const one = 1;\r\nconst two = one;\n\nconsole.log(one, two);\r\n");
    let lp = start(row, &ws);
    apply(&lp, &lp.tool("format", &json!({"file_path": "f.ts"})));
    assert_eq!(ws.read("f.ts"), "\u{feff}function f() {\r\n    return 1\r\n}\r\n");
    apply(&lp, &rename(&lp, "f.ts", 1, "f", "first"));
    assert_eq!(ws.read("f.ts"), "\u{feff}function first() {\r\n    return 1\r\n}\r\n");
    apply(&lp, &rename(&lp, "mixed.ts", 1, "one", "eins"));
    assert_eq!(ws.read("mixed.ts"), "const eins = 1;\r\nconst two = eins;\n\nconsole.log(eins, two);\r\n");
}

/// Formats both texts, and the same without the last line end.
fn keeps_the_end(row: &Row, file: &str, text: &str, formatted: &str) {
    for end in ["\n", "\r\n", ""] {
        let with = |text: &str| if end == "\r\n" { text.replace('\n', "\r\n") } else { text.to_owned() } + end;
        let ws = Workspace::new("");
        ws.write(file, &with(text));
        let lp = start(row, &ws);
        apply(&lp, &lp.tool("format", &json!({"file_path": file})));
        assert_eq!(ws.read(file), with(formatted));
    }
}

fn last_line_end_json(row: &Row) {
    keeps_the_end(row, "a.json", "{\"a\":\n  1}", "{\n  \"a\": 1\n}");
}

fn last_line_end_css(row: &Row) {
    keeps_the_end(row, "a.css", "p{\n  color:red}", "p {\n  color: red\n}");
}

fn fixes_for_places_and_kinds(row: &Row) {
    let fixture = format!(
        "{WEB}//- lib.ts\nexport function helperOne() {{}}\n//- use.ts\nconst a = 1;\nconsole.log(helperOne());\n"
    );
    let ws = Workspace::new(&fixture);
    let lp = start(row, &ws);
    let at = |range: Value| {
        let mut arguments = json!({"file_path": "use.ts"});
        arguments.as_object_mut().unwrap().extend(range.as_object().unwrap().clone());
        lp.tool("code_actions", &arguments)
    };
    let position = json!({"start_line": 2, "start_column": 13, "end_line": 2, "end_column": 13});
    for range in [position, json!({"start_line": 2}), json!({}), json!({"only": "quickfix"})] {
        let listed = at(range);
        listed.contains("import from \"./lib\"").contains("Add missing function declaration 'helperOne'");
    }
    at(json!({"start_line": 1})).lacks("import from");
}

/// Whether a name is a word of the language only its server can know, and pyright does not mind: what it breaks is told
/// once it is made, and taken back.
fn keyword_for_a_name(row: &Row) {
    let ws = Workspace::new("//- pyproject.toml\n//- lib.py\ndef tally(a):\n    return a\n\n\nprint(tally(1))\n");
    let before = ws.read("lib.py");
    let lp = start(row, &ws);
    let planned = rename(&lp, "lib.py", 1, "tally", "class");
    apply(&lp, &planned).contains("new problem").contains("new error");
    lp.tool("apply", &json!({"undo": planned.plan()})).fine();
    assert_eq!(ws.read("lib.py"), before);
}

/// It declares "Edit outside of the workspace" in each of its edits.
fn nothing_to_consent_to(row: &Row) {
    let ws = Workspace::new(
        "//- Cargo.toml\n[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n//- src/lib.rs\npub fn tally() -> i32 {\n    1\n}\n\npub fn twice() -> i32 {\n    tally() * 2\n}\n",
    );
    let lp = start(row, &ws);
    let planned = rename(&lp, "src/lib.rs", 1, "tally", "total");
    planned.fine().contains("2 places in 1 file").lacks("consent").lacks("outside of the workspace");
}

/// TypeScript's server mends its own files; that Svelte's cannot mend those that refer to it is said.
fn moved_under_components(row: &Row) {
    put_in_place("typescript-language-server");
    let shop = "//- shop.ts\nexport function add(a: number, b: number): number {\n  return a + b;\n}\n";
    let uses = "//- use.ts\nimport { add } from \"./shop\";\nconsole.log(add(1, 2));\n//- a.svelte\n<script lang=\"ts\">\n  import { add } from \"./shop\";\n  const sum: number = add(1, 2);\n</script>\n\n<p>{sum}</p>\n";
    let ws = Workspace::new(&format!("{WEB}{shop}{uses}"));
    let lp = Langport::builder(&ws)
        .config("max_wait_ms = 55000\nrequest_timeout_ms = 50000")
        .arg("--bind")
        .arg("builtin/typescript-language-server")
        .arg("--bind")
        .arg(&format!("builtin/{}", row.name))
        .env("LANGPORT_DATA_DIR", &servers::folder().to_string_lossy())
        .start();
    let planned = lp.tool("move_file", &json!({"from": "shop.ts", "to": "core/sums.ts"}));
    planned.verdict_is("partial").contains("1 place in 1 file").contains("svelte has no edits for a moved file");
    planned.contains("a.svelte");
    apply(&lp, &planned);
    assert!(ws.read("use.ts").contains("from \"./core/sums\""), "{}", ws.read("use.ts"));
    lp.diagnostics("use.ts").verdict_is("fresh").contains("no problems");
    lp.diagnostics("a.svelte").contains("./shop");
}

/// rust-analyzer leaves the uses out of the answer: they are those of a moved file.
fn module_renamed(row: &Row) {
    let ws = Workspace::new(
        "//- Cargo.toml\n[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n//- src/lib.rs\nmod deep;\nmod util;\npub fn sum() -> i32 {\n    deep::inner::one() + util::two()\n}\n//- src/deep/mod.rs\npub mod inner;\n//- src/deep/inner.rs\nuse crate::util;\npub fn one() -> i32 {\n    util::two()\n}\n//- src/util.rs\npub fn two() -> i32 {\n    2\n}\n",
    );
    let before = ws.read("src/lib.rs");
    let lp = start(row, &ws);
    let folder = rename(&lp, "src/lib.rs", 1, "deep", "low");
    folder.verdict_is("fresh").contains("src/deep -> src/low").contains("+mod low;");
    apply(&lp, &folder).contains("no new problems");
    apply(&lp, &rename(&lp, "src/low/inner.rs", 3, "util", "tools")).contains("no new problems");
    assert_eq!(ws.read("src/lib.rs"), before.replace("deep", "low").replace("util", "tools"));
    assert_eq!(ws.read("src/low/inner.rs"), "use crate::tools;\npub fn one() -> i32 {\n    tools::two()\n}\n");
    assert!(ws.path("src/tools.rs").exists() && !ws.path("src/util.rs").exists());
    lp.diagnostics("src/lib.rs").verdict_is("fresh").contains("no problems");
    lp.tool("apply", &json!({"undo": folder.plan()})).fails("conflict");
}

/// As two branches have it.
fn a_folder_for_a_while(row: &Row) {
    let ws = Workspace::new(
        "//- pyproject.toml\n//- a.py\ndef tally(x: int) -> int:\n    return x\n//- b.py\nfrom a import tally\nprint(tally(1))\n//- c.py\nfrom a import tally\nprint(tally(2))\n",
    );
    let lp = start(row, &ws);
    let all = || lp.tool("references", &json!({"file_path": "a.py", "line": 1, "symbol": "tally"}));
    let text = ws.read("b.py");
    all().says(&format!("fresh · {} · 5 references in 3 files", row.name));
    std::fs::remove_file(ws.path("b.py")).unwrap();
    std::fs::create_dir(ws.path("b.py")).unwrap();
    all().says(&format!("fresh · {} · 3 references in 2 files", row.name));
    std::fs::remove_dir(ws.path("b.py")).unwrap();
    ws.write("b.py", &text);
    all().says(&format!("fresh · {} · 5 references in 3 files", row.name));
}

fn in_its_own_checkout(row: &Row) {
    let ws = Workspace::new(
        "//- pyproject.toml\n//- a.py\ndef tally(x: int) -> int:\n    return x\n//- b.py\nfrom a import tally\nprint(tally(1))\n//- trees/wt/a.py\ndef tally(x: int) -> int:\n    return x\n//- trees/wt/b.py\nfrom a import tally\nprint(tally(1))\n",
    );
    ws.write("trees/wt/.git", "gitdir: /somewhere/.git/worktrees/wt\n");
    let before = ["a.py", "b.py"].map(|file| ws.read(&format!("trees/wt/{file}")));
    let lp = start(row, &ws);
    apply(&lp, &rename(&lp, "a.py", 1, "tally", "total"));
    assert_eq!(ws.read("b.py"), "from a import total\nprint(total(1))\n");
    assert_eq!(["a.py", "b.py"].map(|file| ws.read(&format!("trees/wt/{file}"))), before);
}
