//! A project's own configuration, wrong when its server starts and mended while it runs: the next answer goes by it.

use crate::support::{Langport, Workspace};

use super::{
    definitions::{Row, row_of, row_trial, start_in},
    needs,
    servers::Need,
    start,
};

needs! {
    [Pyright] => pyright_and_its_own_file, pyright_and_the_projects_file, pyright_gets_a_file;
    [Ty] => ty_and_its_own_file, ty_and_the_projects_file;
    [Ruff] => ruff_and_its_own_file, ruff_and_the_projects_file;
}

pub(super) fn more() -> Vec<libtest_mimic::Trial> {
    let row = row_of("clangd");
    vec![row_trial("real::configured::clangd_and_its_flags".to_owned(), row, clangd_and_its_flags)]
}

/// With each of these texts in the configuration the asked file has a problem, or none; twice around.
#[track_caller]
fn by(lp: &Langport, ws: &Workspace, ask: &str, file: &str, texts: &[(&str, Option<&str>)]) {
    for round in 0..2 {
        for (text, problem) in texts {
            ws.write(file, text);
            let answer = lp.diagnostics(ask);
            let when = format!("round {round}, {file} with {text}: {answer}");
            assert_eq!(answer.verdict(), "fresh", "{when}");
            match problem {
                Some(problem) => assert!(answer.has(problem), "{when}"),
                None => assert!(answer.has("no problems"), "{when}"),
            }
        }
    }
}

/// An import that is found where the configuration says so. Both folders are there: ty keeps to what it had where one is
/// not.
const ELSEWHERE: &str = "//- a.py\nimport far\n\nx: int = far.x\n//- code/far.py\nx = 1\n//- cod/near.py\nx = 1\n";
const LOST: Option<&str> = Some("\"far\" could not be resolved");

fn pyright_and_its_own_file() {
    let ws = Workspace::new(&format!("{ELSEWHERE}//- pyrightconfig.json\n{{ \"extraPaths\": [\"cod\"] }}\n"));
    let lp = start(&ws, &[Need::Pyright]);
    let wrong = "{ \"extraPaths\": [\"cod\"] }";
    // Broken altogether, it is as if there was none.
    let texts = [(wrong, LOST), ("{ \"extraPaths\": [\"code\"] }", None), ("{ \"extraPaths\": [", LOST)];
    by(&lp, &ws, "a.py", "pyrightconfig.json", &texts);
}

fn pyright_and_the_projects_file() {
    let wrong = "[tool.pyright]\nextraPaths = [\"cod\"]\n";
    let ws = Workspace::new(&format!("{ELSEWHERE}//- pyproject.toml\n{wrong}"));
    let lp = start(&ws, &[Need::Pyright]);
    let texts = [(wrong, LOST), ("[tool.pyright]\nextraPaths = [\"code\"]\n", None)];
    by(&lp, &ws, "a.py", "pyproject.toml", &texts);
}

fn pyright_gets_a_file() {
    let ws = Workspace::new(&format!("{ELSEWHERE}//- pyproject.toml\n[project]\nname = \"p\"\nversion = \"1\"\n"));
    let lp = start(&ws, &[Need::Pyright]);
    lp.diagnostics("a.py").verdict_is("fresh").contains("could not be resolved");
    for _ in 0..2 {
        ws.write("pyrightconfig.json", "{ \"extraPaths\": [\"code\"] }");
        lp.diagnostics("a.py").says("fresh · pyright · no problems");
        ws.remove("pyrightconfig.json");
        lp.diagnostics("a.py").verdict_is("fresh").contains("could not be resolved");
    }
}

const TY: Option<&str> = Some("Cannot resolve imported module `far`");

fn ty_and_its_own_file() {
    let wrong = "[environment]\nextra-paths = [\"cod\"]\n";
    let ws = Workspace::new(&format!("{ELSEWHERE}//- ty.toml\n{wrong}"));
    let lp = start(&ws, &[Need::Ty]);
    by(&lp, &ws, "a.py", "ty.toml", &[(wrong, TY), ("[environment]\nextra-paths = [\"code\"]\n", None)]);
}

fn ty_and_the_projects_file() {
    let text = |folder: &str| {
        format!("[project]\nname = \"p\"\nversion = \"1\"\n[tool.ty.environment]\nextra-paths = [\"{folder}\"]\n")
    };
    let (wrong, right) = (text("cod"), text("code"));
    let ws = Workspace::new(&format!("{ELSEWHERE}//- pyproject.toml\n{wrong}"));
    let lp = start(&ws, &[Need::Ty]);
    by(&lp, &ws, "a.py", "pyproject.toml", &[(&wrong, TY), (&right, None)]);
}

const RUFF: Option<&str> = Some("F401");

fn ruff_and_its_own_file() {
    let ws = Workspace::new("//- a.py\nimport os\n//- ruff.toml\nlint.select = [\"F\"]\n");
    let lp = start(&ws, &[Need::Ruff]);
    by(&lp, &ws, "a.py", "ruff.toml", &[("lint.select = [\"F\"]\n", RUFF), ("lint.ignore = [\"F401\"]\n", None)]);
}

fn ruff_and_the_projects_file() {
    let text = |line: &str| format!("[project]\nname = \"p\"\nversion = \"1\"\n[tool.ruff.lint]\n{line}\n");
    let (wrong, right) = (text("select = [\"F\"]"), text("ignore = [\"F401\"]"));
    let ws = Workspace::new(&format!("//- a.py\nimport os\n//- pyproject.toml\n{wrong}"));
    let lp = start(&ws, &[Need::Ruff]);
    by(&lp, &ws, "a.py", "pyproject.toml", &[(&wrong, RUFF), (&right, None)]);
}

const CLANG: &str = "//- a.c\n#include \"far.h\"\n\nint y = FAR;\n//- code/far.h\n#define FAR 1\n";
const NO_HEADER: Option<&str> = Some("'far.h' file not found");

fn clangd_and_its_flags(row: &Row) {
    let ws = Workspace::new(&format!("{CLANG}//- compile_flags.txt\n-Icod\n"));
    let lp = start_in(row, &ws, &[ws.root().to_owned()]);
    by(&lp, &ws, "a.c", "compile_flags.txt", &[("-Icod\n", NO_HEADER), ("-Icode\n", None)]);
}
