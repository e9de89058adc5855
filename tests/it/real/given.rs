//! Cases as users reported them, with the servers that they are about: names behind wide characters renamed, a problem's place
//! passed on to its fixes, and a rename as the very first question about a project.

use std::collections::BTreeMap;

use libtest_mimic::Trial;
use serde_json::json;

use crate::support::{Answer, Langport, Workspace};

use super::definitions::{Row, row_of, row_trial, start};

pub(super) fn trials() -> Vec<Trial> {
    let trial = |name: &str, server: &str, test: fn(&Row)| {
        let row = row_of(server);
        row_trial(format!("real::given::{name}_{}", server.replace('-', "_")), row, test)
    };
    vec![
        trial("pos_01_renamed_behind_wide_characters", "pyright", behind_wide_characters),
        trial("pos_01_renamed_behind_wide_characters", "ty", behind_wide_characters),
        trial("pos_02_renamed_behind_an_emoji", "clangd", behind_an_emoji_c),
        trial("pos_02_renamed_behind_an_emoji", "rust-analyzer", behind_an_emoji_rust),
        trial("pos_04_from_a_problem_to_its_fixes", "ruff", from_problem_to_fixes),
        trial("lif_09_renamed_as_the_first_question", "pyright", first_question_python),
        trial("lif_09_renamed_as_the_first_question", "ty", first_question_python),
        trial("lif_09_renamed_as_the_first_question", "typescript-language-server", first_question_typescript),
        trial("lif_09_renamed_as_the_first_question", "typescript7", first_question_typescript),
        trial("lif_09_renamed_as_the_first_question", "rust-analyzer", first_question_rust),
    ]
}

/// Renames what stands in this file at the first `name`, makes it, and takes it back: byte by byte.
#[track_caller]
fn renamed_and_back(lp: &Langport, ws: &Workspace, file: &str, name: &str, new_name: &str) {
    let text = ws.read(file);
    let column = text[..text.find(name).unwrap()].chars().rev().take_while(|c| *c != '\n').count() + 1;
    let line = text[..text.find(name).unwrap()].matches('\n').count() + 1;
    let at = json!({"file_path": file, "line": line, "column": column});
    lp.hover(&at).verdict_is("fresh").contains(name);
    let planned = lp.tool("rename", &json!({"file_path": file, "line": line, "column": column, "new_name": new_name}));
    planned.verdict_is("fresh").contains("2 places in 1 file");
    lp.tool("apply", &json!({"plan": planned.plan()})).fine().contains("no new problems");
    assert_eq!(ws.read(file), text.replace(name, new_name));
    lp.tool("apply", &json!({"undo": planned.plan()})).fine();
    assert_eq!(ws.read(file), text);
}

fn behind_wide_characters(row: &Row) {
    let ws = Workspace::new("//- pyproject.toml\n");
    let lp = start(row, &ws);
    for (text, name) in [
        ("s = \"😀é\"; total = 1; print(total)\n", "total"),
        ("s = \"漢字\"; total = 1; print(total)\n", "total"),
        ("s = \"😀é\"; été = 1; print(été)\n", "été"),
    ] {
        ws.write("face.py", text);
        for new_name in ["grand", "größe"] {
            let at = text.chars().take_while(|c| *c != ';').count() + 3;
            let at = json!({"file_path": "face.py", "line": 1, "column": at, "new_name": new_name});
            let planned = lp.tool("rename", &at);
            planned.verdict_is("fresh").contains("2 places in 1 file");
            lp.tool("apply", &json!({"plan": planned.plan()})).fine().contains("no new problems");
            assert_eq!(ws.read("face.py"), text.replace(name, new_name));
            lp.tool("apply", &json!({"undo": planned.plan()})).fine();
            assert_eq!(ws.read("face.py"), text);
        }
    }
}

fn behind_an_emoji_c(row: &Row) {
    let ws = Workspace::new("//- m.cpp\nint main(){ const char*s=\"😀\"; int value=1; return value; }\n");
    renamed_and_back(&start(row, &ws), &ws, "m.cpp", "value", "grand");
}

fn behind_an_emoji_rust(row: &Row) {
    let text = "pub fn f() -> i32 { let _s = \"😀é漢\"; let value = 1; value }\n";
    let ws = Workspace::new(&format!("{CARGO}//- src/lib.rs\n{text}"));
    renamed_and_back(&start(row, &ws), &ws, "src/lib.rs", "value", "grand");
}

fn from_problem_to_fixes(row: &Row) {
    let ws = Workspace::new(
        "//- ruff.toml\n//- deco.py\nimport functools\n\n@functools.cache\ndef slow(n):\n    import os\n    return n\n",
    );
    let lp = start(row, &ws);
    let problems = lp.diagnostics("deco.py");
    let place = problems.fine().places().pop().expect("the unused import comes last");
    assert_eq!(place, ("deco.py".to_owned(), 5, 12), "{problems}");
    let mut at = Answer::address(&place);
    (at["start_line"], at["start_column"]) = (at["line"].clone(), at["column"].clone());
    (at["end_line"], at["end_column"]) = (at["line"].clone(), at["column"].clone());
    for only_a_position in ["line", "column"] {
        at.as_object_mut().unwrap().remove(only_a_position);
    }
    let listed = lp.tool("code_actions", &at);
    let fix = listed.fine().body().lines().find(|line| line.contains("F401")).map(str::to_owned);
    let fix = fix.unwrap_or_else(|| panic!("the problem's own fix\n{listed}"));
    let id = fix.trim().split("  ").next().unwrap();
    let planned = lp.tool("code_actions", &json!({"action": id}));
    lp.tool("apply", &json!({"plan": planned.plan()})).fine().contains("1 gone");
    assert!(!ws.read("deco.py").contains("import os"), "{}", ws.read("deco.py"));
}

/// The first question of a fresh langport renames `hub`, declared there and used in every other file; nothing is left out, or
/// it says why it does not.
fn first_question(row: &Row, files: &BTreeMap<String, String>, (file, line): (&str, usize)) {
    let ws = Workspace::new("");
    files.iter().for_each(|(file, text)| ws.write(file, text));
    let lp = start(row, &ws);
    let at = json!({"file_path": file, "line": line, "symbol": "hub", "new_name": "axle"});
    let mut planned = lp.tool("rename", &at);
    for _ in 0..10 {
        if !planned.is_error {
            break;
        }
        planned.fails("refused").contains("allow_partial");
        planned = lp.tool("rename", &at);
    }
    let using = files.values().filter(|text| text.contains("hub")).count();
    planned.verdict_is("fresh").contains(&format!("in {using} files"));
    lp.tool("apply", &json!({"plan": planned.plan()})).fine().lacks("new error");
    for (file, text) in files {
        assert_eq!(ws.read(file), text.replace("hub", "axle"), "{file}");
    }
    lp.diagnostics(file).fine().lacks("error");
}

fn first_question_python(row: &Row) {
    let mut files = BTreeMap::from([
        ("pyproject.toml".to_owned(), String::new()),
        ("core.py".to_owned(), "def hub() -> int:\n    return 1\n".to_owned()),
    ]);
    files.extend((0..40).map(|n| (format!("m{n:02}.py"), "from core import hub\n\nx = hub()\n".to_owned())));
    first_question(row, &files, ("core.py", 1));
}

fn first_question_typescript(row: &Row) {
    let mut files = BTreeMap::from([
        ("package.json".to_owned(), "{}\n".to_owned()),
        ("tsconfig.json".to_owned(), "{ \"include\": [\"*.ts\"] }\n".to_owned()),
        ("core.ts".to_owned(), "export function hub(): number {\n  return 1;\n}\n".to_owned()),
    ]);
    let used = "import { hub } from \"./core\";\nexport const x = hub();\n";
    files.extend((0..40).map(|n| (format!("m{n:02}.ts"), used.to_owned())));
    first_question(row, &files, ("core.ts", 1));
}

const CARGO: &str = "//- Cargo.toml\n[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

fn first_question_rust(row: &Row) {
    let manifest = CARGO.split_once('\n').unwrap().1;
    let callers = "pub fn a() -> i32 { crate::hub() }\npub fn b() -> i32 { crate::hub() }\n";
    let files = [
        ("Cargo.toml", manifest),
        ("src/lib.rs", "pub mod other;\npub fn hub() -> i32 { 1 }\n"),
        ("src/other.rs", callers),
    ];
    let files = files.map(|(file, text)| (file.to_owned(), text.to_owned())).into();
    first_question(row, &files, ("src/lib.rs", 2));
}
