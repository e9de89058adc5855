//! Projects beside and inside each other that use what another one declares: uses are found there as well, from whichever
//! side they are asked for, or the answer names what it lacks. What cannot depend on the asked project is left alone.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::support::{Answer, Langport, Workspace};

use super::{
    definitions::{Row, row_of, row_trial, start},
    places_are,
};

pub(super) fn trials() -> Vec<Trial> {
    let trial = |case: &str, name: &str, test: fn(&Row)| {
        row_trial(format!("real::monorepo::{case}_{}", name.replace('-', "_")), row_of(name), test)
    };
    let mut trials = vec![
        trial("edt_01_lif_09_modules_joined_by_replace", "gopls", replaced),
        trial("edt_01_lif_09_modules_of_one_go_work", "gopls", worked),
        trial("edt_01_lif_09_crates_joined_by_path", "rust-analyzer", crates),
        trial("edt_01_lif_09_folders_of_cmake", "clangd", cmake),
        trial("edt_01_lif_09_nested_pyproject", "pyright", distributions),
    ];
    for name in ["typescript7", "typescript-language-server"] {
        trials.push(trial("edt_01_lif_09_packages_of_npm", name, packages));
        trials.push(trial("edt_01_lif_09_relative_imports", name, relative));
    }
    trials
}

fn at(file: &str, line: usize, symbol: &str) -> Value {
    json!({"file_path": file, "line": line, "symbol": symbol})
}

fn uses(row: &Row, ws: &Workspace, (file, line, name): (&str, usize, &str), places: &[&str]) {
    let lp = start(row, ws);
    let found = lp.tool("references", &at(file, line, name));
    places_are(found.verdict_is("fresh").lacks("alone"), places);
    // Asked again, and with everything open that was opened for it.
    places_are(lp.tool("references", &at(file, line, name)).verdict_is("fresh").lacks("alone"), places);
}

/// What is exported in Go begins with a capital letter.
fn new_name(name: &str) -> &'static str {
    if name == "Sum" { "Total" } else { "total" }
}

fn renamed(lp: &Langport, (file, line, name): (&str, usize, &str)) -> Answer {
    let mut arguments = at(file, line, name);
    arguments["new_name"] = json!(new_name(name));
    lp.tool("rename", &arguments)
}

/// Renames and makes it: these files have the new name, and none of them the old one.
fn renames(row: &Row, ws: &Workspace, place: (&str, usize, &str), files: &[&str]) {
    let lp = start(row, ws);
    let planned = renamed(&lp, place);
    planned.verdict_is("fresh").contains(&format!("in {} files", files.len())).lacks("alone");
    lp.tool("apply", &json!({"plan": planned.plan()}))
        .fine()
        .verdict_is("fresh")
        .contains("problems in the")
        .lacks("error");
    for file in files {
        let text = ws.read(file);
        assert!(text.contains(new_name(place.2)) && !text.contains(place.2), "{file}: {text}");
    }
}

const CORE: &str = "//- packages/core/package.json
{\"name\": \"@x/core\", \"type\": \"module\", \"exports\": {\".\": \"./src/index.ts\"}}
//- packages/core/tsconfig.json
{\"compilerOptions\": {\"strict\": true, \"module\": \"nodenext\", \"composite\": true}, \"include\": [\"src\"]}
//- packages/core/src/index.ts
export function tally(x: number) { return x }
//- packages/alone/package.json
{\"name\": \"alone\", \"type\": \"module\"}
//- packages/alone/tsconfig.json
{\"compilerOptions\": {\"strict\": true}, \"include\": [\"src\"]}
//- packages/alone/src/own.ts
export function tally(x: string) { return x }
";

fn packages(row: &Row) {
    let ws = Workspace::new(&format!(
        "//- package.json
{{\"name\": \"root\", \"private\": true, \"workspaces\": [\"packages/*\"]}}
{CORE}//- packages/app/package.json
{{\"name\": \"@x/app\", \"type\": \"module\", \"dependencies\": {{\"@x/core\": \"*\"}}}}
//- packages/app/tsconfig.json
{{\"compilerOptions\": {{\"strict\": true, \"module\": \"nodenext\", \"composite\": true}}, \"include\": [\"src\"], \"references\": [{{\"path\": \"../core\"}}]}}
//- packages/app/src/main.ts
import {{ tally }} from \"@x/core\"
tally(1)
"
    ));
    std::fs::create_dir_all(ws.path("node_modules/@x")).unwrap();
    std::os::unix::fs::symlink("../../packages/core", ws.path("node_modules/@x/core")).unwrap();
    let places = ["packages/core/src/index.ts:1:17", "packages/app/src/main.ts:1:10", "packages/app/src/main.ts:2:1"];
    uses(row, &ws, ("packages/core/src/index.ts", 1, "tally"), &places);
    uses(row, &ws, ("packages/app/src/main.ts", 2, "tally"), &places);
    let files = ["packages/core/src/index.ts", "packages/app/src/main.ts"];
    renames(row, &ws, ("packages/core/src/index.ts", 1, "tally"), &files);
}

/// No manifest says that one uses the other.
fn relative(row: &Row) {
    let ws = Workspace::new(&format!(
        "{CORE}//- packages/app/tsconfig.json
{{\"compilerOptions\": {{\"strict\": true, \"module\": \"esnext\", \"moduleResolution\": \"bundler\"}}}}
//- packages/app/main.ts
import {{ tally }} from \"../core/src/index\"
tally(1)
"
    ));
    let places = ["packages/core/src/index.ts:1:17", "packages/app/main.ts:1:10", "packages/app/main.ts:2:1"];
    uses(row, &ws, ("packages/core/src/index.ts", 1, "tally"), &places);
    renames(
        row,
        &ws,
        ("packages/core/src/index.ts", 1, "tally"),
        &["packages/core/src/index.ts", "packages/app/main.ts"],
    );
}

const SUB: &str = "//- sub/go.mod
module ex.com/m/sub

go 1.22
//- sub/s.go
package sub

func Sum() int { return 1 }
//- sub/in/u.go
package in

import \"ex.com/m/sub\"

var T = sub.Sum()
//- z.go
package m

import \"ex.com/m/sub\"

var Z = sub.Sum()
//- alone/go.mod
module ex.com/m/alone

go 1.22
//- alone/a.go
package alone

func Sum() int { return 2 }
";
const SUB_USES: &[&str] = &["sub/s.go:3:6", "sub/in/u.go:5:13", "z.go:5:13"];

fn replaced(row: &Row) {
    let ws = Workspace::new(&format!(
        "{SUB}//- go.mod\nmodule ex.com/m\n\ngo 1.22\n\nrequire ex.com/m/sub v0.0.0\n\nreplace ex.com/m/sub => ./sub\n"
    ));
    uses(row, &ws, ("sub/s.go", 3, "Sum"), SUB_USES);
    uses(row, &ws, ("z.go", 5, "Sum"), SUB_USES);
    let callers = start(row, &ws).tool("calls", &at("sub/s.go", 3, "Sum"));
    callers.verdict_is("partial").contains("not among it: z.go");
    renames(row, &ws, ("sub/s.go", 3, "Sum"), &["sub/s.go", "sub/in/u.go", "z.go"]);
    assert!(ws.read("alone/a.go").contains("Sum"));
}

fn worked(row: &Row) {
    let ws = Workspace::new(&format!(
        "{SUB}//- go.mod\nmodule ex.com/m\n\ngo 1.22\n//- go.work\ngo 1.22\n\nuse (\n\t.\n\t./sub\n)\n"
    ));
    uses(row, &ws, ("sub/s.go", 3, "Sum"), SUB_USES);
    renames(row, &ws, ("z.go", 5, "Sum"), &["sub/s.go", "sub/in/u.go", "z.go"]);
}

fn crates(row: &Row) {
    let ws = Workspace::new(
        "//- x/Cargo.toml
[package]
name = \"x\"
version = \"0.1.0\"
edition = \"2021\"
//- x/src/lib.rs
pub fn tally(x: u32) -> u32 { x }
//- app/Cargo.toml
[package]
name = \"app\"
version = \"0.1.0\"
edition = \"2021\"

[dependencies]
x = { path = \"../x\" }
//- app/src/main.rs
fn main() { x::tally(1); }
//- alone/Cargo.toml
[package]
name = \"alone\"
version = \"0.1.0\"
edition = \"2021\"
//- alone/src/lib.rs
pub fn tally() {}
",
    );
    let places = ["x/src/lib.rs:1:8", "app/src/main.rs:1:16"];
    uses(row, &ws, ("x/src/lib.rs", 1, "tally"), &places);
    renames(row, &ws, ("x/src/lib.rs", 1, "tally"), &["x/src/lib.rs", "app/src/main.rs"]);
}

fn cmake(row: &Row) {
    let ws = Workspace::new(
        "//- CMakeLists.txt\nproject(all)\nadd_subdirectory(lib)\nadd_subdirectory(app)\n//- lib/CMakeLists.txt\nadd_library(lib lib.cpp)
//- lib/lib.h\n#pragma once\nint tally(int n);\n//- lib/lib.cpp\n#include \"lib.h\"\nint tally(int n) { return n; }
//- app/CMakeLists.txt\nadd_executable(app main.cpp)\ntarget_link_libraries(app lib)
//- app/main.cpp\n#include \"../lib/lib.h\"\nint main() { return tally(1); }
//- alone/CMakeLists.txt\nproject(alone)\n//- alone/a.cpp\nstatic int tally() { return 1; }\n",
    );
    uses(row, &ws, ("lib/lib.h", 2, "tally"), &["lib/lib.h:2:5", "lib/lib.cpp:2:5", "app/main.cpp:2:21"]);
    renames(row, &ws, ("lib/lib.h", 2, "tally"), &["lib/lib.h", "lib/lib.cpp", "app/main.cpp"]);
}

/// It finds uses from the other side, and renames nothing that is declared beyond the folder that it is asked in.
fn distributions(row: &Row) {
    let ws = Workspace::new(
        "//- core/pyproject.toml
[project]
name = \"core\"
//- core/core.py
def tally(x: int) -> int:
    return x
//- app/pyproject.toml
[project]
name = \"app\"
dependencies = [\"core\"]

[tool.pyright]
extraPaths = [\"../core\"]
//- app/main.py
from core import tally
tally(1)
//- alone/pyproject.toml
[project]
name = \"alone\"
//- alone/own.py
def tally(): ...
",
    );
    let places = ["core/core.py:1:5", "app/main.py:1:18", "app/main.py:2:1"];
    uses(row, &ws, ("core/core.py", 1, "tally"), &places);
    let lp = start(row, &ws);
    renamed(&lp, ("core/core.py", 1, "tally")).fails("refused").contains("app/main.py").lacks("alone");
}
