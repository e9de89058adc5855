//! Code actions where nothing in the workspace tells a server which files are a project: what mends an unknown name lies
//! in a file that nobody has opened, and is offered to the very first question.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::support::{Answer, Langport, Workspace};

use super::definitions::{Row, row_of, row_trial, start};

pub(super) fn trials() -> Vec<Trial> {
    let trial = |case: &str, name: &str, test: fn(&Row)| {
        let row = row_of(name);
        row_trial(format!("real::undeclared::{case}_{}", name.replace('-', "_")), row, test)
    };
    let mut trials = vec![
        trial("edt_07_a_missing_semicolon", "clangd", semicolon),
        trial("edt_07_includes_of_closed_headers", "clangd", includes),
        trial("edt_07_names_that_components_do_not_know", "svelte", component),
    ];
    for name in ["typescript7", "typescript-language-server"] {
        trials.push(trial("edt_07_imports_from_closed_files", name, imports));
        trials.push(trial("edt_07_places_ranges_and_kinds", name, places_and_kinds));
        trials.push(trial("edt_07_with_a_tsconfig", name, with_a_tsconfig));
        trials.push(trial("edt_07_outside_of_the_tsconfig", name, outside));
        trials.push(trial("edt_07_exports_without_a_name", name, default_export));
        trials.push(trial("edt_07_checked_scripts", name, scripts));
    }
    trials
}

const LOOSE: &str = "//- use.ts\nconsole.log(helperOne());\n//- lib.ts\nexport function helperOne(): number {\n  return 1;\n}\n//- other.ts\nexport const helperTwo = 2;\n";
const FIX: &str = "import from \"./lib\"";

/// A server that has too little of the machine to load in time is asked again, as the answer says.
fn actions(lp: &Langport, file: &str, arguments: &Value) -> Answer {
    let mut arguments = arguments.clone();
    arguments["file_path"] = json!(file);
    let mut answer = lp.tool("code_actions", &arguments);
    for _ in 0..3 {
        if !["settling", "indexing"].contains(&answer.verdict()) {
            break;
        }
        answer = lp.tool("code_actions", &arguments);
    }
    answer
}

#[track_caller]
fn id(listed: &Answer, words: &str) -> String {
    let body = listed.fine().body();
    let line = body.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words:?} in {listed}"));
    line.trim_start().split("  ").next().unwrap_or_default().to_owned()
}

/// Takes the action, looks at what the file becomes, and takes that back.
#[track_caller]
fn mends(lp: &Langport, ws: &Workspace, file: &str, words: &str, becomes: &str) {
    let before = ws.read(file);
    let listed = actions(lp, file, &json!({}));
    let planned = lp.tool("code_actions", &json!({"action": id(listed.verdict_is("fresh"), words)}));
    lp.tool("apply", &json!({"plan": planned.verdict_is("fresh").plan()})).fine().contains("gone: error");
    assert_eq!(ws.read(file), becomes);
    lp.diagnostics(file).verdict_is("fresh").contains("no problems");
    lp.tool("apply", &json!({"undo": planned.plan()})).fine();
    assert_eq!(ws.read(file), before);
}

fn imports(row: &Row) {
    let ws = Workspace::new(LOOSE);
    mends(&start(row, &ws), &ws, "use.ts", FIX, "import { helperOne } from \"./lib\";\n\nconsole.log(helperOne());\n");
    // What the shell writes between two questions.
    let lp = start(row, &ws);
    let listed = actions(&lp, "use.ts", &json!({}));
    let first = id(listed.verdict_is("fresh").lacks("./late"), FIX);
    ws.write("late.ts", "export function helperOne() {}\n");
    actions(&lp, "use.ts", &json!({})).verdict_is("fresh").contains(FIX).contains("from \"./late\"");
    ws.write("lib.ts", "export {};\n");
    actions(&lp, "use.ts", &json!({})).verdict_is("fresh").lacks(FIX).contains("from \"./late\"");
    lp.tool("code_actions", &json!({"action": first})).fails("expired").contains("no longer offers");
}

/// Each by a session of its own: nothing is open yet.
fn places_and_kinds(row: &Row) {
    let ws = Workspace::new(LOOSE);
    ws.write("use.ts", "const a = 1;\nconsole.log(helperOne(), a);\n");
    let at = json!({"start_line": 2, "start_column": 13, "end_line": 2, "end_column": 13});
    let part = json!({"start_line": 2, "start_column": 1, "end_line": 2, "end_column": 22});
    for given in [at, part, json!({"start_line": 2}), json!({"only": "quickfix"})] {
        actions(&start(row, &ws), "use.ts", &given).verdict_is("fresh").contains(FIX).contains("[quickfix]");
    }
    let lp = start(row, &ws);
    actions(&lp, "use.ts", &json!({"start_line": 1})).verdict_is("fresh").lacks(FIX);
    actions(&lp, "use.ts", &json!({"only": "refactor"})).verdict_is("fresh").lacks(FIX);
}

fn with_a_tsconfig(row: &Row) {
    let ws = Workspace::new(LOOSE);
    ws.write("tsconfig.json", "{ \"compilerOptions\": { \"strict\": true } }\n");
    mends(&start(row, &ws), &ws, "use.ts", FIX, "import { helperOne } from \"./lib\";\n\nconsole.log(helperOne());\n");
}

/// The asked file belongs to no project, another does: the two lend each other no names.
fn outside(row: &Row) {
    let ws = Workspace::new("//- tsconfig.json\n{ \"include\": [\"src\"] }\n");
    ws.write("src/lib.ts", "export function helperOne() {}\n");
    ws.write("scripts/use.ts", "helperOne();\n");
    let lp = start(row, &ws);
    let listed = actions(&lp, "scripts/use.ts", &json!({}));
    listed.verdict_is("partial").contains("not looked at: src/lib.ts");
    drop(lp);
    ws.write("scripts/near.ts", "export function helperOne() {}\n");
    actions(&start(row, &ws), "scripts/use.ts", &json!({})).contains("import from \"./near\"");
}

/// It goes by the name of its file.
fn default_export(row: &Row) {
    let ws =
        Workspace::new("//- use.ts\nmyHelper();\n//- my-helper.ts\nexport default function () {\n  return 1;\n}\n");
    actions(&start(row, &ws), "use.ts", &json!({})).verdict_is("fresh").contains("import from \"./my-helper\"");
}

fn scripts(row: &Row) {
    let ws = Workspace::new(
        "//- use.js\n// @ts-check\nexport const a = $helper();\n//- sub/lib.js\nexport function $helper() {\n  return 1;\n}\n",
    );
    actions(&start(row, &ws), "use.js", &json!({})).verdict_is("fresh").contains("import from \"./sub/lib");
}

fn component(row: &Row) {
    let ws = Workspace::new(
        "//- package.json\n{}\n//- lib.ts\nexport function helperOne(): number {\n  return 1;\n}\n//- use.svelte\n<script lang=\"ts\">\n  const a = helperOne();\n</script>\n<p>{a}</p>\n",
    );
    let listed = actions(&start(row, &ws), "use.svelte", &json!({"start_line": 2}));
    listed.verdict_is("partial").contains("not looked at: lib.ts");
}

fn semicolon(row: &Row) {
    let ws = Workspace::new("//- m.c\nint main(void){ return 0 }\n//- zero.c\nint zero(void) { return 0; }\n");
    mends(&start(row, &ws), &ws, "m.c", "insert ';'", "int main(void){ return 0; }\n");
    let at = json!({"start_line": 1, "start_column": 26, "end_line": 1, "end_column": 26});
    for given in [at, json!({"start_line": 1}), json!({"only": "quickfix"})] {
        actions(&start(row, &ws), "m.c", &given).verdict_is("fresh").contains("insert ';'  [quickfix]");
    }
}

fn includes(row: &Row) {
    let header = "//- lib.h\n#pragma once\nint helperOne(int n);\nnamespace shop { int four(); }\n//- lib.cpp\n#include \"lib.h\"\nint helperOne(int n) { return n; }\n";
    let ws = Workspace::new(&format!("{header}//- main.cpp\nint main() {{ return helperOne(1); }}\n"));
    let fix = "Include \"lib.h\" for symbol helperOne";
    let becomes = "#include \"lib.h\"\nint main() { return helperOne(1); }\n";
    mends(&start(row, &ws), &ws, "main.cpp", fix, becomes);
    ws.write("main.c", "int main(void) { return helperOne(1); }\n");
    actions(&start(row, &ws), "main.c", &json!({"only": "quickfix"})).contains(fix);
    ws.write("shop.cpp", "int g() { return shop::four(); }\n");
    actions(&start(row, &ws), "shop.cpp", &json!({})).contains("Include \"lib.h\" for symbol shop::four");
}
