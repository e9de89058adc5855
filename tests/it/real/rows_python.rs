//! Rows for the servers of Python; pyright, ty and ruff are also tried at length on the example project and on Flask.

use serde_json::json;

use crate::support::{Langport, Workspace};

use super::definitions::{Across, At, Is, Row, Unsupported};

pub(super) const ROWS: &[Row] = &[PYRIGHT, TY, RUFF, BASEDPYRIGHT, PYREFLY, ZUBAN];

const PYRIGHT: Row = Row { name: "pyright", more: None, ..BASEDPYRIGHT };

const TY: Row = Row {
    name: "ty",
    problem: ("Object of type `int` is not assignable to `str`", 3, 10),
    across: Some(Across {
        file: "lib.py",
        find: "-> int",
        replace: "-> str",
        problem: "Object of type `str` is not assignable to `int`",
    }),
    workspace_symbols: Is(("twice", &["lib.py:1:5"])),
    ..PYTHON
};

const RUFF: Row = Row {
    name: "ruff",
    needs: &["python3"],
    fixture: "//- ruff.toml
line-length = 100
//- main.py
import os

print(\"shop\")
",
    file: "main.py",
    problem: ("`os` imported but unused", 1, 8),
    mend: ("print(\"shop\")", "print(os.name)"),
    across: Some(Across {
        file: "ruff.toml",
        find: "line-length = 100",
        replace: "lint.select = [\"T20\"]",
        problem: "`print` found",
    }),
    ..Row::NEW
};

const PY: At = ("main.py", 3, "twice");

/// What every type checker for Python says alike.
const PYTHON: Row = Row {
    needs: &["python3"],
    fixture: "//- pyproject.toml
[project]
name = \"demo\"
version = \"1\"
//- lib.py
def twice(n: int) -> int:
    \"\"\"Doubles a number.\"\"\"
    return n + n
//- main.py
from lib import twice

x: str = twice(1)
//- other.py
from lib import twice

y = twice(2)
",
    file: "main.py",
    mend: ("x: str", "x: int"),
    hover: Is((PY, "Doubles a number.")),
    definition: Is((PY, &["lib.py:1:5"])),
    references: Is((PY, &["lib.py:1:5", "main.py:1:17", "main.py:3:10", "other.py:1:17", "other.py:3:5"])),
    symbols: Is(("lib.py", &["1 function twice"])),
    ..Row::NEW
};

const BASEDPYRIGHT: Row = Row {
    name: "basedpyright",
    needs: &["npm", "node"],
    problem: ("Type \"int\" is not assignable to declared type \"str\"", 3, 10),
    across: Some(Across {
        file: "lib.py",
        find: "-> int",
        replace: "-> str",
        problem: "is not assignable to declared type \"int\"",
    }),
    workspace_symbols: Is(("twice", &["lib.py:1:5"])),
    more: Some(no_interpreter_of_the_repository),
    rename: Is((("main.py", 3, "twice"), "renamed", "5 places in 3 files")),
    format: Unsupported,
    ..PYTHON
};

/// The `.venv` of a repository is a program of the repository.
fn no_interpreter_of_the_repository(lp: &Langport, ws: &Workspace) {
    ws.write(".venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n");
    let touched = ws.path("executed");
    ws.write(".venv/bin/python", &format!("#!/bin/sh\ntouch {}\nexec python3 \"$@\"\n", touched.display()));
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(ws.path(".venv/bin/python"), executable).expect("an executable file");
    lp.tool("status", &json!({"restart": true, "server": "basedpyright"}));
    lp.diagnostics("main.py").verdict_is("fresh").contains("no problems");
    assert!(!touched.exists(), "the interpreter of the repository was run");
}

const PYREFLY: Row = Row {
    name: "pyrefly",
    trusted: true,
    problem: ("`int` is not assignable to `str`", 3, 10),
    across: Some(Across {
        file: "lib.py",
        find: "-> int",
        replace: "-> str",
        problem: "`str` is not assignable to `int`",
    }),
    workspace_symbols: Is(("twice", &["lib.py:1:5"])),
    rename: Is((("main.py", 3, "twice"), "renamed", "5 places in 3 files")),
    format: Unsupported,
    ..PYTHON
};

const ZUBAN: Row = Row {
    name: "zuban",
    problem: ("expression has type \"int\", variable has type \"str\"", 3, 10),
    across: Some(Across { file: "lib.py", find: "-> int", replace: "-> str", problem: "variable has type \"int\"" }),
    rename: Is((("main.py", 3, "twice"), "renamed", "5 places in 3 files")),
    format: Unsupported,
    ..PYTHON
};
