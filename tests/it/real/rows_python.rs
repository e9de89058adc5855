//! Rows for the servers of Python that are also tried at length on the example project and on Flask.

use super::definitions::{Across, Is, Row};
use super::rows_native::{BASEDPYRIGHT, PYTHON};

pub(super) const ROWS: &[Row] = &[PYRIGHT, TY, RUFF];

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
