//! Rows for what compiles, for shells, and for files of settings and prose.

use serde_json::json;

use crate::support::{Langport, Workspace};

use super::{
    definitions::{Across, At, Is, Row, Unsupported},
    places_are, rust,
};

pub(super) const ROWS: &[Row] = &[CLANGD, GOPLS, RUST_ANALYZER, BASH, FORTLS, TOMBI, RUMDL, JUST, SQRUFF];

const C: At = ("main.cpp", 4, "twice");

const CLANGD: Row = Row {
    name: "clangd",
    needs: &["python3"],
    fixture: "//- compile_flags.txt
-std=c++17
//- lib.h
#pragma once
/// Doubles a number.
int twice(int n);
//- lib.cpp
#include \"lib.h\"

int twice(int n) { return n + n; }
//- main.cpp
#include \"lib.h\"

int main() {
  return twice(\"a\");
}
//- other.cpp
#include \"lib.h\"

int four() { return twice(2); }
",
    file: "main.cpp",
    problem: ("No matching function for call to 'twice'", 4, 10),
    mend: ("\"a\"", "1"),
    across: Some(Across {
        file: "lib.h",
        find: "(int n)",
        replace: "(int n, int m)",
        problem: "No matching function for call to 'twice'",
    }),
    hover: Is((C, "Doubles a number.")),
    definition: Is((C, &["lib.h:3:5"])),
    symbols: Is(("other.cpp", &["3 function four"])),
    rename: Is((("main.cpp", 4, "twice"), "renamed", "4 places in 4 files")),
    format: Is(("main.cpp", "format main.cpp: 2 places")),
    more: Some(clangd),
    ..Row::NEW
};

/// Closed files that change, come and go: none of them is told to clangd by anybody but langport.
fn clangd(lp: &Langport, ws: &Workspace) {
    let uses = || lp.tool("references", &json!({"file_path": "main.cpp", "line": 4, "symbol": "twice"}));
    lp.diagnostics("lib.cpp").verdict_is("fresh");
    ws.write("other.cpp", "#include \"lib.h\"\n\n\nint four() { return twice(2) + twice(3); }\n");
    places_are(
        uses().verdict_is("fresh"),
        &["lib.cpp:3:5", "lib.h:3:5", "main.cpp:4:10", "other.cpp:4:21", "other.cpp:4:32"],
    );
    ws.write("late.cpp", "#include \"lib.h\"\nint six() { return twice(3); }\n");
    let found = uses();
    assert!(found.verdict_is("fresh").places().contains(&("late.cpp".to_owned(), 2, 20)), "{found}");
    ws.write("lib.h", "#pragma once\n\n\n\nint twice(int n);\n");
    let declared = json!({"file_path": "main.cpp", "line": 4, "symbol": "twice", "kind": "declaration"});
    places_are(lp.tool("definition", &declared).verdict_is("fresh"), &["lib.h:5:5"]);
    ws.write("main.cpp", "#include \"new.h\"\n\nint main() { return made(); }\n");
    lp.diagnostics("main.cpp").verdict_is("fresh").contains("'new.h' file not found");
    ws.write("new.h", "int made();\n");
    lp.diagnostics("main.cpp").verdict_is("fresh").contains("no problems");
}

const GO: At = ("main.go", 6, "Twice");

const GOPLS: Row = Row {
    name: "gopls",
    needs: &["go"],
    env: GO_ENV,
    fixture: "//- go.mod
module example.com/demo

go 1.21
//- lib/lib.go
package lib

// Twice doubles a number.
func Twice(n int) int {
\treturn n + n
}
//- main.go
package main

import \"example.com/demo/lib\"

func main() {
\tprintln(lib.Twice(\"a\"))
}
//- lib/lib_test.go
package lib

import \"testing\"

func TestTwice(t *testing.T) {
\t_ = Twice(3)
}
",
    file: "main.go",
    problem: ("cannot use \"a\"", 6, 20),
    mend: ("\"a\"", "1"),
    across: Some(Across {
        file: "lib/lib.go",
        find: "(n int)",
        replace: "(n int, m int)",
        problem: "not enough arguments in call to lib.Twice",
    }),
    hover: Is((GO, "Twice doubles a number.")),
    definition: Is((GO, &["lib/lib.go:4:6"])),
    references: Is((GO, &["lib/lib.go:4:6", "lib/lib_test.go:6:6", "main.go:6:14"])),
    symbols: Is(("lib/lib.go", &["4 function Twice"])),
    workspace_symbols: Is(("lib.Twice", &["lib/lib.go:4:6", "lib/lib_test.go:5:6"])),
    rename: Is((("main.go", 6, "Twice"), "Double", "4 places in 3 files")),
    format: Is(("main.go", "would change nothing")),
    more: Some(gopls),
    ..Row::NEW
};

/// It refuses to be pulled for go.mod, and what it pushes there comes late.
fn gopls(lp: &Langport, ws: &Workspace) {
    let text = ws.read("go.mod");
    ws.write("go.mod", &format!("{text}\nwrong\n"));
    lp.diagnostics("go.mod").verdict_is("fresh").contains("unknown directive: wrong");
    ws.write("go.mod", &text);
    lp.diagnostics("go.mod").verdict_is("fresh").contains("no problems");
    lp.diagnostics("main.go").verdict_is("fresh").contains("no problems");
}

/// Go's caches are those of the machine: HOME is a test's own.
pub(super) const GO_ENV: &[(&str, &str)] = &[("GOPATH", "${target}/go"), ("GOCACHE", "${target}/go-cache")];

const RUST: At = ("src/main.rs", 2, "twice");

const RUST_ANALYZER: Row = Row {
    name: "rust-analyzer",
    needs: &["cargo"],
    installed: false,
    machine: Some(rust::machine),
    note: " (without cargo check)",
    fixture: "//- Cargo.toml
[workspace]
members = [\"lib\"]

[package]
name = \"demo\"
version = \"0.1.0\"
edition = \"2021\"

[dependencies]
lib = { path = \"lib\" }
//- lib/Cargo.toml
[package]
name = \"lib\"
version = \"0.1.0\"
edition = \"2021\"
//- lib/src/lib.rs
/// Doubles a number.
pub fn twice(n: i32) -> i32 {
    n + n
}
//- src/main.rs
fn main() {
    let n: i32 = lib::twice(\"a\");
    println!(\"{n}\");
}
",
    file: "src/main.rs",
    problem: ("expected i32, found &'static str", 2, 29),
    mend: ("\"a\"", "1"),
    across: Some(Across {
        file: "lib/src/lib.rs",
        find: "(n: i32) -> i32",
        replace: "(n: i64) -> i64",
        problem: "expected i32, found i64",
    }),
    hover: Is((RUST, "Doubles a number.")),
    definition: Is((RUST, &["lib/src/lib.rs:2:8"])),
    references: Is((RUST, &["lib/src/lib.rs:2:8", "src/main.rs:2:23"])),
    symbols: Is(("lib/src/lib.rs", &["2 function twice"])),
    workspace_symbols: Is(("twice", &["lib/src/lib.rs:2:8"])),
    rename: Is((("src/main.rs", 2, "twice"), "renamed", "2 places in 2 files")),
    format: Is(("src/main.rs", "would change nothing")),
    ..Row::NEW
};

const SHELL: At = ("main.sh", 3, "twice");

const BASH: Row = Row {
    name: "bash",
    needs: &["npm", "node", "python3"],
    fixture: "//- lib.sh
#!/bin/bash
# Says it twice.
twice() {
  echo \"$1$1\"
}
//- main.sh
#!/bin/bash
source ./lib.sh
twice $undefined_
",
    file: "main.sh",
    problem: ("undefined_ is referenced but not assigned", 3, 7),
    mend: ("$undefined_", "once"),
    hover: Is((SHELL, "Says it twice.")),
    definition: Is((SHELL, &["lib.sh:3:1"])),
    references: Is((SHELL, &["lib.sh:3:1", "main.sh:3:1"])),
    symbols: Is(("lib.sh", &["3 function twice"])),
    workspace_symbols: Is(("twice", &["lib.sh:3:1"])),
    rename: Is((("main.sh", 3, "twice"), "renamed", "2 places in 2 files")),
    format: Is(("main.sh", "would change nothing")),
    more: Some(bash),
    ..Row::NEW
};

fn bash(lp: &Langport, ws: &Workspace) {
    ws.write("late.sh", "#!/bin/bash\nsource ./lib.sh\ntwice it\n");
    let uses = lp.tool("references", &json!({"file_path": "main.sh", "line": 3, "symbol": "twice"}));
    places_are(uses.verdict_is("fresh"), &["late.sh:3:1", "lib.sh:3:1", "main.sh:3:1"]);
}

const FORTRAN: At = ("main.f90", 5, "twice");

const FORTLS: Row = Row {
    name: "fortls",
    needs: &["python3"],
    fixture: "//- lib.f90
module lib
  implicit none
contains
  subroutine twice(n)
    integer, intent(in) :: n
    print *, n, n
  end subroutine twice
end module lib
//- main.f90
program main
  use lib
  implicit none
  integer :: n
  integer :: n
  call twice(1)
end program main
",
    file: "main.f90",
    problem: ("Variable \"n\" declared twice in scope", 5, 14),
    mend: ("  integer :: n\n  integer :: n\n", "  integer :: n\n"),
    hover: Is((FORTRAN, "SUBROUTINE twice(n)")),
    definition: Is((FORTRAN, &["lib.f90:4:14"])),
    references: Is((FORTRAN, &["lib.f90:4:14", "lib.f90:7:18", "main.f90:5:8"])),
    symbols: Is(("lib.f90", &["1 module lib"])),
    workspace_symbols: Is(("twice", &["lib.f90:4:14"])),
    rename: Is((("main.f90", 5, "twice"), "renamed", "3 places in 2 files")),
    format: Unsupported,
    more: Some(fortls),
    ..Row::NEW
};

fn fortls(lp: &Langport, ws: &Workspace) {
    // It calls this no more than information.
    let told = || lp.tool("diagnostics", &json!({"file_path": "main.f90", "severity": "info"}));
    let lib = ws.read("lib.f90");
    ws.write("lib.f90", &lib.replace("module lib", "module lib2"));
    told().verdict_is("fresh").contains("Module \"lib\" not found in project");
    ws.write("lib.f90", &lib);
    told().says("fresh · fortls · no problems");
    let uses = || lp.tool("references", &json!({"file_path": "main.f90", "line": 5, "symbol": "twice"}));
    ws.write("late.f90", "program late\n  use lib\n  call twice(2)\nend program late\n");
    places_are(uses().verdict_is("fresh"), &["late.f90:3:8", "lib.f90:4:14", "lib.f90:7:18", "main.f90:5:8"]);
    ws.remove("late.f90");
    places_are(uses().verdict_is("fresh"), &["lib.f90:4:14", "lib.f90:7:18", "main.f90:5:8"]);
}

const TOMBI: Row = Row {
    name: "tombi",
    needs: &["python3"],
    fixture: "//- a.toml
[server]
port = 80
host =
",
    file: "a.toml",
    problem: ("expected value", 3, 7),
    mend: ("host =", "host = \"x\""),
    hover: Is((("a.toml", 2, "port"), "server.port")),
    symbols: Is(("a.toml", &["1 object server", "2 number port"])),
    workspace_symbols: Unsupported,
    rename: Unsupported,
    format: Is(("a.toml", "would change nothing")),
    ..Row::NEW
};

const RUMDL: Row = Row {
    name: "rumdl",
    needs: &["python3"],
    fixture: "//- a.md
# Title

##Part

See [b](b.md#intro).
//- b.md
# B

## Intro

Text.
",
    file: "a.md",
    problem: ("No space after ## in heading", 3, 3),
    mend: ("##Part", "## Part"),
    across: Some(Across { file: "b.md", find: "Intro", replace: "Other", problem: "Link fragment 'intro' not found" }),
    symbols: Is(("a.md", &["1 string Title", "3 string Part"])),
    format: Is(("a.md", "would change nothing")),
    ..Row::NEW
};

const JUST: Row = Row {
    name: "just",
    needs: &["python3"],
    fixture: "//- justfile
build: tset
  echo build

test:
  echo test
",
    file: "justfile",
    problem: ("Recipe `tset` not found", 1, 8),
    mend: ("tset", "test"),
    hover: Is((("justfile", 1, "test"), "echo test")),
    definition: Is((("justfile", 1, "test"), &["justfile:4:1"])),
    references: Is((("justfile", 1, "test"), &["justfile:1:8", "justfile:4:1"])),
    symbols: Is(("justfile", &["1 function build", "4 function test"])),
    workspace_symbols: Unsupported,
    rename: Is((("justfile", 1, "test"), "renamed", "2 places in 1 file")),
    format: Is(("justfile", "would change nothing")),
    ..Row::NEW
};

const SQRUFF: Row = Row {
    name: "sqruff",
    needs: &["python3"],
    fixture: "//- a.sql
SELECT a  FROM b;
",
    file: "a.sql",
    problem: ("Expected only single space", 1, 9),
    mend: ("  FROM", " FROM"),
    hover: Unsupported,
    definition: Unsupported,
    references: Unsupported,
    symbols: Unsupported,
    workspace_symbols: Unsupported,
    rename: Unsupported,
    format: Is(("a.sql", "would change nothing")),
    ..Row::NEW
};
