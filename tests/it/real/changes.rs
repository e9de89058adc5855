//! Changes by real servers, made and taken back: a symbol renamed in a dozen files of every shape, from its declaration
//! and from a use; formatting; imports put in order and mended when a file moves. What is not meant stays byte by byte.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::support::{Langport, Workspace};

use super::definitions::{Row, row_of, row_trial, start};

pub(super) fn trials() -> Vec<Trial> {
    let named = |name: &str| row_of(name);
    let rename = |row: &'static Row, test: fn(&Row)| {
        row_trial(format!("real::changes::rename_in_every_file_{}", row.name.replace('-', "_")), row, test)
    };
    let trial = |name: &str, row: &'static Row, test: fn(&Row)| row_trial(format!("real::changes::{name}"), row, test);
    vec![
        rename(named("pyright"), python),
        rename(named("ty"), python),
        rename(named("typescript-language-server"), typescript),
        rename(named("typescript7"), typescript),
        rename(named("gopls"), go),
        rename(named("clangd"), c),
        rename(named("rust-analyzer"), rust),
        trial("format_ruff", named("ruff"), format_python),
        trial("format_biome", named("biome"), format_typescript),
        trial("format_gopls", named("gopls"), format_go),
        trial("format_rust_analyzer", named("rust-analyzer"), format_rust),
        trial("format_clangd", named("clangd"), format_c),
        trial("organize_imports_ruff", named("ruff"), organize_python),
        trial("organize_imports_typescript_language_server", named("typescript-language-server"), organize_typescript),
        trial("edt_07_fixes_typescript_language_server", named("typescript-language-server"), fix_typescript),
        trial("e12_extract_by_command_typescript", named("typescript-language-server"), extract_typescript),
        trial("e12_move_to_a_new_file_typescript", named("typescript-language-server"), new_file_typescript),
        trial("edt_07_fixes_clangd", named("clangd"), fix_c),
        trial("move_file_typescript_language_server", named("typescript-language-server"), move_typescript),
        trial("move_file_typescript7", named("typescript7"), move_typescript),
    ]
}

/// The files of a project, byte by byte.
type Files = BTreeMap<String, String>;

/// The shapes that texts have: a mark at the beginning, line ends, letters in front of the name.
fn shaped(number: usize, text: &str) -> String {
    let text = if number % 3 == 1 { text.replace('\n', "\r\n") } else { text.to_owned() };
    if number.is_multiple_of(4) { format!("\u{feff}{text}") } else { text }
}

/// A declaration in one file, and eleven that use it.
fn project(declaration: (&str, &str), uses: impl Fn(usize) -> (String, String)) -> Files {
    let mut files = Files::from([(declaration.0.to_owned(), declaration.1.to_owned())]);
    for number in 0..11 {
        let (file, text) = uses(number);
        files.insert(file, shaped(number, &text));
    }
    files
}

fn workspace(files: &Files) -> Workspace {
    let ws = Workspace::new("");
    let root = ws.root().to_string_lossy().into_owned();
    files.iter().for_each(|(file, text)| ws.write(file, &text.replace("$root", &root)));
    ws
}

#[track_caller]
fn is(ws: &Workspace, files: &Files, when: &str) {
    let root = ws.root().to_string_lossy().into_owned();
    for (file, text) in files {
        let text = text.replace("$root", &root);
        let there = fs::read(ws.path(file)).unwrap();
        assert!(there == text.as_bytes(), "{file}, {when}: {:?} expected, {:?}", text, String::from_utf8_lossy(&there));
    }
}

/// Renames `tally` from its declaration and from a use, makes both and takes them back.
fn rename_everywhere(row: &Row, files: &Files, places: [(&str, usize); 2]) {
    let ws = workspace(files);
    let lp = start(row, &ws);
    for (file, line) in places {
        let place = json!({"file_path": file, "line": line, "symbol": "tally", "new_name": "grand_total"});
        let planned = lp.tool("rename", &place);
        planned.fine().contains("in 12 files");
        is(&ws, files, "planned");
        let renamed: Files =
            files.iter().map(|(file, text)| (file.clone(), text.replace("tally", "grand_total"))).collect();
        let made = lp.tool("apply", &json!({"plan": planned.plan()}));
        made.fine().contains("12 files changed").contains("no new problems");
        is(&ws, &renamed, "made");
        lp.diagnostics(file).fine().lacks("error");
        let back = lp.tool("apply", &json!({"undo": planned.plan()}));
        back.fine().contains("taken back");
        is(&ws, files, "taken back");
    }
}

fn python(row: &Row) {
    let files = project(("lib.py", "def tally(a: int) -> int:\n    return a\n"), |n| {
        (
            format!("m{n}.py"),
            format!("from lib import tally\n\ns = \"😀é\"; r = tally({n})\n漢字 = [tally(1), r]  # 漢字\n"),
        )
    });
    let files = Files::from_iter(files.into_iter().chain([("pyproject.toml".into(), String::new())]));
    rename_everywhere(row, &files, [("lib.py", 1), ("m1.py", 3)]);
}

fn typescript(row: &Row) {
    let mut files = project(("lib.ts", "export function tally(a: number): number {\n  return a;\n}\n"), |n| {
        let uses = format!("const s{n} = \"😀é\"; export const 漢字{n} = [s{n}, tally({n})]; /* 漢字 */ tally(1);\n");
        (format!("m{n}.ts"), format!("import {{ tally }} from \"./lib\";\n{uses}"))
    });
    files.insert("package.json".into(), "{}\n".into());
    files.insert(
        "tsconfig.json".into(),
        "{ \"compilerOptions\": { \"strict\": true }, \"include\": [\"*.ts\"] }\n".into(),
    );
    rename_everywhere(row, &files, [("lib.ts", 1), ("m1.ts", 2)]);
}

fn go(row: &Row) {
    let mut files = project(("lib.go", "package shop\n\nfunc tally(a int) int { return a }\n"), |n| {
        (format!("m{n}.go"), format!("package shop\n\nvar s{n}, r{n} = \"😀é\", tally({n}) /* 漢字 */ + tally(1)\n"))
    });
    files.insert("go.mod".into(), "module example.com/shop\n\ngo 1.21\n".into());
    rename_everywhere(row, &files, [("lib.go", 3), ("m1.go", 3)]);
}

fn c(row: &Row) {
    let mut files = project(("lib.h", "#pragma once\nint tally(int a);\n"), |n| {
        let uses = format!(
            "int f{n}(void) {{ const char *s = \"😀é\"; (void)s; /* 漢字 */ return tally({n}) + tally(1); }}\n"
        );
        (format!("m{n}.c"), format!("#include \"lib.h\"\n{uses}"))
    });
    let commands: Vec<Value> = (0..11)
        .map(|n| json!({"directory": "$root", "file": format!("m{n}.c"), "command": format!("cc -c m{n}.c")}))
        .collect();
    files.insert("compile_commands.json".into(), serde_json::to_string(&commands).unwrap());
    rename_everywhere(row, &files, [("lib.h", 2), ("m1.c", 2)]);
}

fn rust(row: &Row) {
    let modules: String = (0..11).map(|n| format!("pub mod m{n};\n")).collect();
    let library = format!("{modules}pub fn tally(a: i32) -> i32 {{\n    a\n}}\n");
    let mut files = project(("src/lib.rs", &library), |n| {
        let uses = format!("    let s = \"😀é\"; let _ = s; /* 漢字 */ crate::tally({n}) + crate::tally(1)\n");
        (format!("src/m{n}.rs"), format!("pub fn f() -> i32 {{\n{uses}}}\n"))
    });
    files.insert("Cargo.toml".into(), "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n".into());
    rename_everywhere(row, &files, [("src/lib.rs", 12), ("src/m1.rs", 2)]);
}

/// Formats a file, makes it, finds nothing more to format, and takes it back.
fn formats(row: &Row, fixture: &str, file: &str, formatted: &str) {
    let ws = Workspace::new(fixture);
    let before = ws.read(file);
    let lp = start(row, &ws);
    let planned = lp.tool("format", &json!({"file_path": file}));
    lp.tool("apply", &json!({"plan": planned.plan()})).fine();
    assert_eq!(ws.read(file), formatted);
    lp.tool("format", &json!({"file_path": file})).fine().contains("would change nothing");
    lp.tool("apply", &json!({"undo": planned.plan()})).fine();
    assert_eq!(ws.read(file), before);
}

fn format_python(row: &Row) {
    formats(row, "//- ruff.toml\n//- a.py\nx = [1,2 , 3]\ns = '😀'\n", "a.py", "x = [1, 2, 3]\ns = \"😀\"\n");
    // Line ends stay what they were.
    let ws = Workspace::new("//- ruff.toml\n");
    ws.write("a.py", "\u{feff}x = [1,2]\r\ny = 1\r\n");
    let lp = start(row, &ws);
    let plan = lp.tool("format", &json!({"file_path": "a.py"})).plan();
    lp.tool("apply", &json!({"plan": plan})).fine();
    assert_eq!(ws.read("a.py"), "\u{feff}x = [1, 2]\r\ny = 1\r\n");
}

fn format_typescript(row: &Row) {
    formats(row, "//- biome.json\n{}\n//- a.ts\nexport const  a = {b:1}\n", "a.ts", "export const a = { b: 1 };\n");
}

fn format_go(row: &Row) {
    let fixture =
        "//- go.mod\nmodule example.com/a\n\ngo 1.21\n//- a.go\npackage a\n\nfunc F( a int)int{\nreturn a\n}\n";
    formats(row, fixture, "a.go", "package a\n\nfunc F(a int) int {\n\treturn a\n}\n");
}

fn format_rust(row: &Row) {
    let fixture = "//- Cargo.toml\n[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n//- src/lib.rs\npub fn f( a:i32)->i32{\na\n}\n";
    formats(row, fixture, "src/lib.rs", "pub fn f(a: i32) -> i32 {\n    a\n}\n");
}

fn format_c(row: &Row) {
    let fixture = "//- compile_flags.txt\n-xc\n//- a.c\nint f( int a){\nreturn a;\n}\n";
    formats(row, fixture, "a.c", "int f(int a) { return a; }\n");
}

/// The id of the first listed action whose line holds all these words.
fn action(lp: &Langport, arguments: &Value, words: &str) -> String {
    let listed = lp.tool("code_actions", arguments);
    let body = listed.fine().body();
    let line = body.lines().find(|line| line.contains(words));
    let line = line.unwrap_or_else(|| panic!("an action with {words:?} expected\n{listed}"));
    line.trim_start().split("  ").next().unwrap_or_default().to_owned()
}

/// Takes an action and makes its plan.
fn take(lp: &Langport, arguments: &Value, words: &str) {
    let id = action(lp, arguments, words);
    let plan = lp.tool("code_actions", &json!({"action": id})).plan();
    lp.tool("apply", &json!({"plan": plan})).fine();
}

fn organize_python(row: &Row) {
    let ws = Workspace::new("//- ruff.toml\n//- a.py\nimport sys\nimport os\n\nprint(os, sys)\n");
    let lp = start(row, &ws);
    take(&lp, &json!({"file_path": "a.py", "only": "source.organizeImports"}), "source.organizeImports");
    assert_eq!(ws.read("a.py"), "import os\nimport sys\n\nprint(os, sys)\n");
    ws.write("a.py", "import os\n\nx = 1\n");
    take(&lp, &json!({"file_path": "a.py", "only": "source.fixAll"}), "source.fixAll");
    assert_eq!(ws.read("a.py"), "\nx = 1\n");
}

const WEB: &str = "//- package.json\n{}\n//- tsconfig.json\n{ \"compilerOptions\": { \"strict\": true }, \"include\": [\"**/*.ts\"] }\n//- lib.ts\nexport const one = 1;\nexport const two = 2;\nexport function helperOne() {}\n";

fn organize_typescript(row: &Row) {
    let ws =
        Workspace::new(&format!("{WEB}//- use.ts\nimport {{ two, one }} from \"./lib\";\nconsole.log(one, two);\n"));
    let lp = start(row, &ws);
    take(&lp, &json!({"file_path": "use.ts", "only": "source.organizeImports"}), "source.organizeImports");
    assert_eq!(ws.read("use.ts"), "import { one, two } from \"./lib\";\nconsole.log(one, two);\n");
}

fn fix_typescript(row: &Row) {
    let ws = Workspace::new(&format!("{WEB}//- use.ts\nhelperOne();\n"));
    let lp = start(row, &ws);
    let here = json!({"file_path": "use.ts", "start_line": 1, "start_column": 1, "end_line": 1, "end_column": 10});
    take(&lp, &here, "import from \"./lib\"");
    assert!(ws.read("use.ts").starts_with("import { helperOne } from \"./lib\";"), "{:?}", ws.read("use.ts"));
    lp.diagnostics("use.ts").verdict_is("fresh").contains("no problems");
}

/// Its refactorings are commands: the edit comes while the command runs, and becomes a plan.
/// The server makes the new file by itself before it says what is to be in it.
fn new_file_typescript(row: &Row) {
    let ws =
        Workspace::new(&format!("{WEB}//- a.ts\nexport class Big {{\n  n = 1;\n}}\nexport const big = new Big();\n"));
    let before = ws.read("a.ts");
    let lp = start(row, &ws);
    let files = || {
        let names = fs::read_dir(ws.root()).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<BTreeSet<_>>()
    };
    let there = files();
    let selected =
        json!({"file_path": "a.ts", "start_line": 1, "end_line": 3, "end_column": 2, "only": "refactor.move"});
    let id = action(&lp, &selected, "Move to a new file");
    let planned = lp.tool("code_actions", &json!({"action": id}));
    assert_eq!(files(), there, "{planned}");
    lp.tool("apply", &json!({"plan": planned.contains("Big.ts (new)").plan()})).fine().contains("no new problems");
    assert!(ws.read("Big.ts").contains("class Big") && ws.read("a.ts").contains("import { Big } from \"./Big\""));
    lp.tool("apply", &json!({"undo": planned.plan()})).fine();
    assert_eq!((files(), ws.read("a.ts")), (there, before));
}

fn extract_typescript(row: &Row) {
    let ws = Workspace::new(&format!("{WEB}//- use.ts\nexport function f(a: number) {{\n  return a * (1 + 2);\n}}\n"));
    let before = ws.read("use.ts");
    let lp = start(row, &ws);
    let selected = json!({"file_path": "use.ts", "start_line": 2, "start_column": 14, "end_line": 2, "end_column": 21, "only": "refactor.extract"});
    let id = action(&lp, &selected, "Extract to constant in enclosing scope");
    let planned = lp.tool("code_actions", &json!({"action": id}));
    assert_eq!(ws.read("use.ts"), before, "{planned}");
    lp.diagnostics("use.ts").verdict_is("fresh").contains("no problems");
    lp.tool("symbols", &json!({"file_path": "use.ts"})).lacks("newLocal");
    lp.tool("apply", &json!({"plan": planned.plan()})).fine();
    assert!(ws.read("use.ts").contains("const newLocal = 1 + 2;"), "{}", ws.read("use.ts"));
    lp.tool("symbols", &json!({"file_path": "use.ts"})).contains("newLocal");
    lp.tool("apply", &json!({"undo": planned.plan()})).fine();
    assert_eq!(ws.read("use.ts"), before);
}

fn fix_c(row: &Row) {
    let ws = Workspace::new("//- compile_flags.txt\n-xc\n//- m.c\nint main(void){ return 0 }\n");
    let lp = start(row, &ws);
    take(&lp, &json!({"file_path": "m.c", "start_line": 1}), "';'");
    assert_eq!(ws.read("m.c"), "int main(void){ return 0; }\n");
}

fn move_typescript(row: &Row) {
    let ws = Workspace::new(&format!(
        "{WEB}//- use.ts\nimport {{ one }} from \"./lib\";\nconsole.log(one);\n//- deep/inner.ts\nimport {{ two }} from \"../lib\";\nexport const four = two + two;\n"
    ));
    let (used, inner) = (ws.read("use.ts"), ws.read("deep/inner.ts"));
    let lp = start(row, &ws);
    lp.diagnostics("use.ts").verdict_is("fresh").contains("no problems");
    let planned = lp.tool("move_file", &json!({"from": "lib.ts", "to": "core/base.ts"}));
    planned.fine().contains("lib.ts -> core/base.ts");
    let made = lp.tool("apply", &json!({"plan": planned.plan()}));
    made.fine().contains("no new problems");
    assert_eq!(ws.read("use.ts"), used.replace("./lib", "./core/base"));
    assert_eq!(ws.read("deep/inner.ts"), inner.replace("../lib", "../core/base"));
    lp.diagnostics("use.ts").verdict_is("fresh").contains("no problems");
    lp.diagnostics("deep/inner.ts").verdict_is("fresh").contains("no problems");
    lp.tool("apply", &json!({"undo": planned.plan()})).fine();
    assert_eq!((ws.read("use.ts"), ws.read("deep/inner.ts")), (used, inner));
    // A file that imports others moves, too.
    let planned = lp.tool("move_file", &json!({"from": "deep/inner.ts", "to": "inner.ts"}));
    lp.tool("apply", &json!({"plan": planned.plan()})).fine().contains("no new problems");
    assert!(ws.read("inner.ts").contains("from \"./lib\""), "{}", ws.read("inner.ts"));
}
