//! A package that is installed while its project is open, as real servers see it: files come into a folder that nobody
//! watches, and only the package manager's record tells.

use std::process::Command;

use crate::support::{Langport, Workspace};

use super::{definitions::put_in_place, needs, servers};

needs! {
    [Pyright] => x3_installed_and_removed_pyright, x3_installed_and_removed_typescript7,
        x3_installed_and_removed_typescript_language_server;
    [Ty] => x3_installed_and_removed_ty, x3_installed_and_removed_basedpyright, x3_installed_and_removed_zuban,
        x3_an_environment_that_comes_later_zuban, x3_an_environment_that_comes_later_ty;
}

fn start(ws: &Workspace, name: &str) -> Langport {
    put_in_place(name);
    Langport::builder(ws)
        .config("max_wait_ms = 55000\nrequest_timeout_ms = 50000")
        .arg("--bind")
        .arg(&format!("builtin/{name}"))
        .env("LANGPORT_DATA_DIR", &servers::folder().to_string_lossy())
        .start()
}

/// Installs and removes twice; after each the answer is the right one.
fn rounds(lp: &Langport, file: &str, install: impl Fn(), remove: impl Fn()) {
    for round in 0..2 {
        let answer = lp.diagnostics(file);
        assert!(answer.has("· 1 error"), "round {round}, not installed: {answer}");
        answer.verdict_is("fresh").contains("lately");
        install();
        let answer = lp.diagnostics(file);
        assert!(answer.first().ends_with("no problems"), "round {round}, installed: {answer}");
        answer.verdict_is("fresh");
        remove();
    }
}

fn python(name: &str) {
    let ws = Workspace::new(
        "//- pyproject.toml\n[project]\nname = \"p\"\nversion = \"1\"\n//- use.py\nfrom lately import total\n\nprint(total(1))\n",
    );
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--without-pip", ".venv"]).current_dir(ws.root());
    assert!(venv.output().expect("python3 starts").status.success());
    let library = std::fs::read_dir(ws.path(".venv/lib")).unwrap().flatten().next().expect("a library").path();
    let packages = library.strip_prefix(ws.root()).unwrap().join("site-packages");
    let path = |name: &str| packages.join(name).to_string_lossy().into_owned();
    let lp = start(&ws, name);
    let install = || {
        ws.write(&path("lately/__init__.py"), "def total(x: int) -> int:\n    return x\n");
        ws.write(&path("lately-1.0.dist-info/METADATA"), "Name: lately\nVersion: 1.0\n");
    };
    let remove = || {
        std::fs::remove_dir_all(ws.path(&path("lately"))).unwrap();
        std::fs::remove_dir_all(ws.path(&path("lately-1.0.dist-info"))).unwrap();
    };
    rounds(&lp, "use.py", install, remove);
}

/// There is no environment when the server starts.
fn later(name: &str) {
    let ws = Workspace::new(
        "//- pyproject.toml\n[project]\nname = \"p\"\nversion = \"1\"\n//- use.py\nfrom lately import total\n\nprint(total(1))\n",
    );
    let lp = start(&ws, name);
    lp.diagnostics("use.py").verdict_is("fresh").contains("1 error").contains("lately");
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--without-pip", ".venv"]).current_dir(ws.root());
    assert!(venv.output().expect("python3 starts").status.success());
    let library = std::fs::read_dir(ws.path(".venv/lib")).unwrap().flatten().next().expect("a library").path();
    let packages = library.strip_prefix(ws.root()).unwrap().join("site-packages");
    ws.write(&packages.join("lately/__init__.py").to_string_lossy(), "def total(x: int) -> int:\n    return x\n");
    ws.write(&packages.join("lately-1.0.dist-info/METADATA").to_string_lossy(), "Name: lately\nVersion: 1.0\n");
    lp.diagnostics("use.py").verdict_is("fresh").contains("no problems");
}

fn x3_an_environment_that_comes_later_zuban() {
    later("zuban");
}

fn x3_an_environment_that_comes_later_ty() {
    later("ty");
}

fn node(name: &str) {
    let ws = Workspace::new(
        "//- package.json\n{\"name\": \"p\", \"private\": true}\n//- tsconfig.json\n{\"compilerOptions\": {\"strict\": true}}\n\
         //- use.ts\nimport { total } from \"lately\";\n\nconsole.log(total(1));\n//- node_modules/.package-lock.json\n{}\n",
    );
    let lp = start(&ws, name);
    let install = || {
        ws.write(
            "node_modules/lately/package.json",
            "{\"name\": \"lately\", \"version\": \"1.0.0\", \"types\": \"i.d.ts\"}\n",
        );
        ws.write("node_modules/lately/i.d.ts", "export function total(x: number): number;\n");
        ws.write("node_modules/.package-lock.json", "{\"packages\": {\"node_modules/lately\": {}}}\n");
    };
    let remove = || {
        std::fs::remove_dir_all(ws.path("node_modules/lately")).unwrap();
        ws.write("node_modules/.package-lock.json", "{}\n");
    };
    rounds(&lp, "use.ts", install, remove);
}

fn x3_installed_and_removed_pyright() {
    python("pyright");
}

fn x3_installed_and_removed_ty() {
    python("ty");
}

fn x3_installed_and_removed_basedpyright() {
    python("basedpyright");
}

fn x3_installed_and_removed_zuban() {
    python("zuban");
}

fn x3_installed_and_removed_typescript7() {
    node("typescript7");
}

fn x3_installed_and_removed_typescript_language_server() {
    node("typescript-language-server");
}
