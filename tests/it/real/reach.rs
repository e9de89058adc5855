//! References, callers and renames where nothing in the workspace tells a server which files are a project: what stands in
//! files that nobody has opened is found by the very first question, or the answer says that it is a part.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::support::{Langport, Workspace};

use super::{
    definitions::{Row, row_of, row_trial, start},
    places_are,
};

pub(super) fn trials() -> Vec<Trial> {
    let trial = |case: &str, name: &str, test: fn(&Row)| {
        let row = row_of(name);
        row_trial(format!("real::reach::{case}_{}", name.replace('-', "_")), row, test)
    };
    let mut trials = vec![
        trial("edt_01_lif_09_without_a_database", "clangd", c),
        trial("edt_01_lif_09_with_flags_only", "clangd", c_flags),
        trial("lif_09_beside_a_database", "clangd", c_beside),
        trial("lif_09_operators", "clangd", c_operators),
        trial("edt_01_lif_09_what_is_included", "clangd", c_included),
        trial("lif_09_callers_in_one_project", "typescript-language-server", callers_stay),
        trial("edt_01_one_file", "css", css),
        trial("edt_01_one_file", "just", just),
        trial("lif_09_one_file", "html", html),
        trial("lif_09_symbols_of_closed_files", "clangd", c_symbols),
        trial("edt_01_components", "svelte", svelte),
        trial("edt_01_lif_09_without_a_project", "fortls", fortran),
        trial("edt_01_lif_09_without_a_project", "bash", shell),
    ];
    for name in ["typescript7", "typescript-language-server"] {
        trials.push(trial("edt_01_lif_09_without_a_tsconfig", name, typescript));
        trials.push(trial("lif_09_scripts_without_a_jsconfig", name, javascript));
        trials.push(trial("edt_01_lif_09_outside_include", name, outside));
        trials.push(trial("edt_01_lif_09_another_tsconfig", name, another));
        trials.push(trial("lif_09_default_export", name, default_export));
        trials.push(trial("edt_01_common_js", name, common_js));
        trials.push(trial("lif_09_symbols_of_closed_files", name, typescript_symbols));
        trials.push(trial("lif_09_symbols_of_another_tsconfig", name, symbols_elsewhere));
        trials.push(trial("edt_01_folders_are_moved", name, folders));
        trials.push(trial("edt_01_exported_by_another_name", name, exported_as));
    }
    trials
}

fn at(file: &str, line: usize, symbol: &str) -> Value {
    json!({"file_path": file, "line": line, "symbol": symbol})
}

fn uses(lp: &Langport, (file, line): (&str, usize), places: &[&str]) {
    places_are(lp.tool("references", &at(file, line, "twice")).verdict_is("fresh"), places);
}

fn renamed(lp: &Langport, file: &str, line: usize, name: &str) -> crate::support::Answer {
    let mut arguments = at(file, line, name);
    arguments["new_name"] = json!("doubled");
    lp.tool("rename", &arguments)
}

/// Renames `twice`, and makes it: every file has the new name, and none the old one.
#[track_caller]
fn renames(lp: &Langport, ws: &Workspace, (file, line): (&str, usize), files: &[&str]) {
    let planned = renamed(lp, file, line, "twice");
    planned.verdict_is("fresh").contains(&format!("in {} files", files.len()));
    lp.tool("apply", &json!({"plan": planned.plan()})).fine().contains("no new problems");
    for file in files {
        let text = ws.read(file);
        assert!(text.contains("doubled") && !text.contains("twice"), "{file}: {text}");
    }
}

const C: &str = "//- lib.h\n#pragma once\nint twice(int n);\n//- lib.cpp\n#include \"lib.h\"\nint twice(int n) { return n + n; }
//- main.cpp\n#include \"lib.h\"\nint main() { return twice(1); }\n//- sub/other.cpp\n#include \"../lib.h\"\nint four() { return twice(2); }\n";
const C_USES: &[&str] = &["lib.cpp:2:5", "lib.h:2:5", "main.cpp:2:21", "sub/other.cpp:2:21"];

fn c(row: &Row) {
    c_in(row, &Workspace::new(C));
}

fn c_flags(row: &Row) {
    let ws = Workspace::new(C);
    ws.write("compile_flags.txt", "-std=c++17\n");
    c_in(row, &ws);
}

fn c_in(row: &Row, ws: &Workspace) {
    for place in [("lib.h", 2), ("main.cpp", 2)] {
        let lp = start(row, ws);
        uses(&lp, place, C_USES);
    }
    let lp = start(row, ws);
    let callers = lp.tool("calls", &at("lib.h", 2, "twice"));
    callers.says("fresh · clangd · 2 callers").contains("four").contains("main.cpp");
    // What the shell writes between two questions.
    ws.write("late.cpp", "#include \"lib.h\"\nint six() { return twice(3); }\n");
    let with_late = [C_USES, &["late.cpp:2:20"]].concat();
    uses(&lp, ("lib.h", 2), &with_late);
    ws.remove("late.cpp");
    uses(&lp, ("lib.h", 2), C_USES);
    drop(lp);
    renames(&start(row, ws), ws, ("lib.h", 2), &["lib.cpp", "lib.h", "main.cpp", "sub/other.cpp"]);
}

/// What the database does not list.
fn c_beside(row: &Row) {
    let ws = Workspace::new(C);
    let root = ws.root().to_string_lossy().into_owned();
    let commands = json!([{"directory": root, "file": "lib.cpp", "command": "c++ -c lib.cpp"}]);
    ws.write("build/compile_commands.json", &commands.to_string());
    uses(&start(row, &ws), ("lib.h", 2), C_USES);
    renames(&start(row, &ws), &ws, ("main.cpp", 2), &["lib.cpp", "lib.h", "main.cpp", "sub/other.cpp"]);
}

/// A use of an operator does not spell its name.
fn c_operators(row: &Row) {
    let ws = Workspace::new(
        "//- v.h\nstruct V { int x; V operator+(const V& o) const; };\n//- m.cpp\n#include \"v.h\"\nV f(V a, V b) { return a + b; }\n",
    );
    let lp = start(row, &ws);
    let found = lp.tool("references", &json!({"file_path": "v.h", "line": 1, "column": 21}));
    places_are(found.verdict_is("fresh"), &["m.cpp:2:26", "v.h:1:21"]);
}

const TYPESCRIPT: &str = "//- lib.ts\nexport function twice(n: number) { return n + n; }\nexport interface Shape { area(): number }
//- main.ts\nimport { twice } from \"./lib\";\nexport const main = () => twice(1);
//- sub/other.ts\nimport { twice, Shape } from \"../lib\";\nexport function four() { return twice(2); }\nexport class Square implements Shape { area() { return 4; } }\n";
const TYPESCRIPT_USES: &[&str] =
    &["lib.ts:1:17", "main.ts:1:10", "main.ts:2:27", "sub/other.ts:1:10", "sub/other.ts:2:33"];

fn typescript(row: &Row) {
    let ws = Workspace::new(TYPESCRIPT);
    for place in [("lib.ts", 1), ("main.ts", 2)] {
        uses(&start(row, &ws), place, TYPESCRIPT_USES);
    }
    let callers = start(row, &ws).tool("calls", &at("lib.ts", 1, "twice"));
    callers.verdict_is("fresh").contains("main.ts:2").contains("sub/other.ts:2");
    let mut shape = at("lib.ts", 2, "Shape");
    shape["kind"] = json!("implementation");
    start(row, &ws).tool("definition", &shape).verdict_is("fresh").contains("sub/other.ts:3");
    renames(&start(row, &ws), &ws, ("lib.ts", 1), &["lib.ts", "main.ts", "sub/other.ts"]);
}

/// Scripts that share what is global.
fn javascript(row: &Row) {
    let ws = Workspace::new(
        "//- lib.js\nfunction twice(n) { return n + n; }\n//- main.js\nconst m = twice(1);\n//- sub/other.js\nfunction four() { return twice(2); }\n",
    );
    uses(&start(row, &ws), ("lib.js", 1), &["lib.js:1:10", "main.js:1:11", "sub/other.js:1:26"]);
    renames(&start(row, &ws), &ws, ("lib.js", 1), &["lib.js", "main.js", "sub/other.js"]);
}

/// The users are no part of the project.
fn outside(row: &Row) {
    let ws = Workspace::new(TYPESCRIPT);
    ws.write("tsconfig.json", "{ \"compilerOptions\": { \"strict\": true }, /* one */ \"files\": [\"lib.ts\"] }\n");
    for place in [("lib.ts", 1), ("sub/other.ts", 2)] {
        uses(&start(row, &ws), place, TYPESCRIPT_USES);
    }
    renames(&start(row, &ws), &ws, ("lib.ts", 1), &["lib.ts", "main.ts", "sub/other.ts"]);
}

/// The users are another project.
fn another(row: &Row) {
    let ws = Workspace::new(
        "//- package-lock.json\n{}\n//- a/tsconfig.json\n{\"include\": [\"src\"]}\n//- b/tsconfig.json\n{\"include\": [\"src\"]}
//- a/src/lib.ts\nexport function twice(n: number) { return n + n; }
//- b/src/one.ts\nimport { twice } from \"../../a/src/lib\";\nexport const one = twice(1);
//- b/src/two.ts\nimport { twice } from \"../../a/src/lib\";\nexport const two = twice(2);\n",
    );
    let places =
        ["a/src/lib.ts:1:17", "b/src/one.ts:1:10", "b/src/one.ts:2:20", "b/src/two.ts:1:10", "b/src/two.ts:2:20"];
    uses(&start(row, &ws), ("a/src/lib.ts", 1), &places);
    renames(&start(row, &ws), &ws, ("a/src/lib.ts", 1), &["a/src/lib.ts", "b/src/one.ts", "b/src/two.ts"]);
}

/// Who imports a default gives it a name of its own.
fn default_export(row: &Row) {
    let ws = Workspace::new(
        "//- lib.ts\nexport default function twice(n: number) { return n + n; }\n//- main.ts\nimport two from \"./lib\";\nexport const main = () => two(1);\n",
    );
    uses(&start(row, &ws), ("lib.ts", 1), &["lib.ts:1:25", "main.ts:1:8", "main.ts:2:27"]);
    renamed(&start(row, &ws), "lib.ts", 1, "twice").verdict_is("fresh").contains("1 place in 1 file");
}

/// Neither follows a name through `module.exports`, and both would rename it there.
fn common_js(row: &Row) {
    let ws = Workspace::new(
        "//- lib.js\nfunction twice(n) { return n + n; }\nmodule.exports = { twice };\n//- main.js\nconst { twice } = require(\"./lib\");\nexports.main = () => twice(1);\n",
    );
    let lp = start(row, &ws);
    lp.tool("references", &at("lib.js", 1, "twice")).verdict_is("partial").contains("not among it: main.js");
    renamed(&lp, "lib.js", 1, "twice").fails("refused").contains("main.js");
}

/// Callers are looked for in the project of what is called, and a rename of what is imported ends there, too.
fn callers_stay(row: &Row) {
    let ws = Workspace::new(TYPESCRIPT);
    ws.write("tsconfig.json", "{ \"files\": [\"lib.ts\", \"main.ts\"] }\n");
    let lp = start(row, &ws);
    let answer = lp.tool("calls", &at("lib.ts", 1, "twice"));
    answer.verdict_is("partial").contains("not among it: sub/other.ts");
    answer.contains("function main  main.ts:2:14  at 2").lacks("function four");
    drop(lp);
    renamed(&start(row, &ws), "sub/other.ts", 2, "twice").fails("refused").contains("main.ts");
}

fn css(row: &Row) {
    let ws = Workspace::new(
        "//- lib.css\n:root { --wide: 2px; }\n.twice { color: red; }\n.once { top: 0 }\n//- main.css\n.a { width: var(--wide); }
//- page.html\n<p class=\"twice\"></p>\n//- _v.scss\n$gap: 1px;\n//- use.scss\n@use \"v\";\n.b { top: v.$gap; }\n",
    );
    let lp = start(row, &ws);
    let part = |file: &str, line: usize, name: &str, missing: &str| {
        let missing = format!("not among it: {missing}");
        lp.tool("references", &at(file, line, name)).verdict_is("partial").contains(&missing);
        renamed(&lp, file, line, name).fails("refused").contains(&missing);
    };
    part("lib.css", 1, "--wide", "main.css");
    part("lib.css", 2, "twice", "page.html");
    part("_v.scss", 1, "$gap", "use.scss");
    lp.tool("references", &at("lib.css", 3, "once")).says("fresh · css · 1 reference in 1 file");
}

fn just(row: &Row) {
    let ws = Workspace::new("//- justfile\nimport \"lib.just\"\n\nmain: twice\n  echo\n//- lib.just\ntwice:\n  echo\n");
    let lp = start(row, &ws);
    lp.tool("references", &at("lib.just", 1, "twice")).verdict_is("partial").contains("not among it: justfile");
    renamed(&lp, "lib.just", 1, "twice").fails("refused");
    lp.tool("references", &at("justfile", 3, "main")).verdict_is("fresh");
}

fn html(row: &Row) {
    let ws = Workspace::new(
        "//- a.html\n<script>function twice(n) { return n; }</script>\n//- b.html\n<script>twice(1);</script>\n",
    );
    let lp = start(row, &ws);
    lp.tool("references", &at("a.html", 1, "twice")).verdict_is("partial").contains("not among it: b.html");
    // The two ends of an element.
    renamed(&lp, "b.html", 1, "script").verdict_is("fresh").contains("2 places in 1 file");
}

fn svelte(row: &Row) {
    let ws = Workspace::new(
        "//- package.json\n{}\n//- Lib.svelte\n<script lang=\"ts\">\n  export let twice: number;\n</script>\n<p>{twice}</p>
//- main.svelte\n<script lang=\"ts\">\n  import Lib from \"./Lib.svelte\";\n</script>\n<Lib twice={1} />\n",
    );
    let lp = start(row, &ws);
    lp.tool("references", &at("Lib.svelte", 2, "twice")).verdict_is("partial").contains("not among it: main.svelte");
    renamed(&lp, "Lib.svelte", 2, "twice").verdict_is("fresh").contains("3 places in 2 files");
    // Asked about a use, it gives what is imported another name in this file only.
    ws.write("util.ts", "export function four() { return 4; }\n");
    ws.write("main.svelte", "<script lang=\"ts\">\n  import { four } from \"./util\";\n  four();\n</script>\n");
    renamed(&lp, "main.svelte", 3, "four").fails("refused").contains("util.ts");
}

fn fortran(row: &Row) {
    let ws = Workspace::new(
        "//- lib.f90
module lib
contains
  integer function twice(n) result(r)
    integer, intent(in) :: n
    r = n + n
  end function twice
  integer function thrice(n)
    integer, intent(in) :: n
    thrice = n + n + n
  end function thrice
end module lib
//- sub/main.f90
program main
  use lib
  print *, twice(1), thrice(1)
end program main
",
    );
    for place in [("lib.f90", 3), ("sub/main.f90", 3)] {
        let lp = start(row, &ws);
        uses(&lp, place, &["lib.f90:3:20", "lib.f90:6:16", "sub/main.f90:3:12"]);
        // It overlooks the assignment.
        let (file, _) = place;
        let line = if file == "lib.f90" { 7 } else { 3 };
        lp.tool("references", &at(file, line, "thrice")).verdict_is("partial").lacks("9:5");
        renamed(&lp, file, line, "thrice").fails("refused").contains("overlooks");
    }
    renames(&start(row, &ws), &ws, ("lib.f90", 3), &["lib.f90", "sub/main.f90"]);
}

fn shell(row: &Row) {
    let ws = Workspace::new(
        "//- lib.sh\n#!/bin/bash\ntwice() { echo $(( $1 * 2 )); }\n//- sub/main.sh\n#!/bin/bash\nsource ../lib.sh\ntwice 1\n",
    );
    for place in [("lib.sh", 2), ("sub/main.sh", 3)] {
        uses(&start(row, &ws), place, &["lib.sh:2:1", "sub/main.sh:3:1"]);
    }
    renames(&start(row, &ws), &ws, ("lib.sh", 2), &["lib.sh", "sub/main.sh"]);
}

fn found(lp: &Langport, query: &str, places: &[&str]) {
    places_are(lp.tool("workspace_symbols", &json!({"query": query})).verdict_is("fresh"), places);
}

/// Each by a session of its own: nothing is open yet.
fn c_symbols(row: &Row) {
    let ws = Workspace::new(C);
    found(&start(row, &ws), "four", &["sub/other.cpp:2:5"]);
    let lp = start(row, &ws);
    found(&lp, "FOU", &["sub/other.cpp:2:5"]);
    lp.hover(&json!({"symbol": "main"})).verdict_is("fresh").contains("main.cpp:2:5");
    ws.write("late.cpp", "namespace shop { int fourth() { return 4; } }\n");
    found(&lp, "four", &["late.cpp:1:22", "sub/other.cpp:2:5"]);
    found(&lp, "shop::fourth", &["late.cpp:1:22"]);
    ws.remove("late.cpp");
    found(&lp, "four", &["sub/other.cpp:2:5"]);
    drop(lp);
    let commands = json!([{"directory": ws.root(), "file": "lib.cpp", "command": "c++ -c lib.cpp"}]);
    ws.write("build/compile_commands.json", &commands.to_string());
    found(&start(row, &ws), "four", &["sub/other.cpp:2:5"]);
}

fn typescript_symbols(row: &Row) {
    let ws = Workspace::new(TYPESCRIPT);
    found(&start(row, &ws), "four", &["sub/other.ts:2:17"]);
    let lp = start(row, &ws);
    found(&lp, "Squ", &["sub/other.ts:3:14"]);
    lp.hover(&json!({"symbol": "main"})).verdict_is("fresh").contains("main.ts:2:14");
    ws.write("late.ts", "export function fourth() { return 4; }\n");
    found(&lp, "four", &["late.ts:1:17", "sub/other.ts:2:17"]);
    if row.name != "typescript7" {
        // That one panics where a file of no project is gone, and the answer is `failed`.
        ws.remove("late.ts");
        found(&lp, "four", &["sub/other.ts:2:17"]);
    }
    drop(lp);
    ws.write("tsconfig.json", "{ \"files\": [\"lib.ts\"] }\n");
    found(&start(row, &ws), "Square", &["sub/other.ts:3:14"]);
}

fn symbols_elsewhere(row: &Row) {
    let ws = Workspace::new(
        "//- package-lock.json\n{}\n//- a/tsconfig.json\n{\"include\": [\"src\"]}\n//- b/tsconfig.json\n{\"include\": [\"src\"]}
//- a/src/lib.ts\nexport function twice(n: number) { return n + n; }
//- b/src/one.ts\nexport const one = 1;
//- b/src/two.ts\nexport function twiceTwo() { return 2; }\n",
    );
    found(&start(row, &ws), "twice", &["a/src/lib.ts:1:17", "b/src/two.ts:1:17"]);
}

/// What is in a moved folder refers to itself as before; an index is imported by its folder, and by `.`.
fn folders(row: &Row) {
    let ws = Workspace::new(
        "//- lib.ts\nexport const one = 1;\n//- types.d.ts\nexport interface Shape { area: number }
//- shop/index.ts\nexport const all = 3;\nexport * from \"./inner\";\n//- shop/inner.ts\nexport const inner = 1;
//- shop/a.ts\nimport { all } from \"./index\";\nexport const a = all;\n//- shop/b.ts\nimport { all } from \".\";\nexport const b = all;
//- shop/c.ts\nimport { one } from \"../lib\";\nexport const c = one;
//- use.ts\nimport { all } from \"./shop\";\nimport { Shape } from \"./types\";\nexport const d: Shape = { area: all };\n",
    );
    let moved = |from: &str, to: &str| {
        let lp = start(row, &ws);
        let planned = lp.tool("move_file", &json!({"from": from, "to": to}));
        planned.verdict_is("fresh");
        lp.tool("apply", &json!({"plan": planned.plan()})).fine().contains("no new problems");
    };
    let inside = (ws.read("shop/index.ts"), ws.read("shop/a.ts"), ws.read("shop/b.ts"));
    moved("shop", "deep/store");
    let here = |name: &str| ws.read(&format!("deep/store/{name}.ts"));
    assert_eq!((here("index"), here("a"), here("b")), inside);
    assert!(here("c").contains("\"../../lib\""), "{}", here("c"));
    assert!(ws.read("use.ts").contains("\"./deep/store\""), "{}", ws.read("use.ts"));
    moved("deep/store/index.ts", "deep/store/main.ts");
    assert!(here("a").contains("\"./main\"") && here("b").contains("\"./main\""), "{} {}", here("a"), here("b"));
    moved("types.d.ts", "kinds.d.ts");
    assert!(ws.read("use.ts").contains("\"./kinds\""), "{}", ws.read("use.ts"));
}

/// Asked about what is exported by another name, both rename that where it is imported, and not where it is exported.
fn exported_as(row: &Row) {
    let ws = Workspace::new(
        "//- lib.ts\nfunction once() { return 1; }\nexport { once as twice };\n//- main.ts\nimport { twice } from \"./lib\";\nexport const main = twice();\n",
    );
    let lp = start(row, &ws);
    lp.diagnostics("main.ts").verdict_is("fresh");
    renamed(&lp, "lib.ts", 1, "once").fails("refused").contains("another name: `twice` at main.ts");
    renames(&lp, &ws, ("main.ts", 2), &["lib.ts", "main.ts"]);
}

/// What others include is no file of its own to clangd.
fn c_included(row: &Row) {
    let ws = Workspace::new(C);
    ws.write("part.inc", "int part() { return twice(9); }\n");
    ws.write("whole.cpp", "#include \"lib.h\"\n#include \"part.inc\"\n");
    let lp = start(row, &ws);
    lp.tool("references", &at("lib.h", 2, "twice")).verdict_is("partial").contains("not among it: part.inc");
    renamed(&lp, "lib.h", 2, "twice").fails("refused").contains("part.inc");
}
