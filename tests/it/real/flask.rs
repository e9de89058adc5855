//! Flask 3.1.3 as it comes from the registry, its dependencies in a virtual environment that is passed on as data; and
//! that it is no more than data.

use serde_json::{Value, json};

use crate::support::{Answer, Langport, Workspace};

use super::{needs, places_are, servers, servers::Need, start, tree_is};

needs! {
    [Pyright, Flask] => pyright_reads_flask;
    [Ty, Flask] => ty_reads_flask;
    [Ruff, Flask] => ruff_reads_flask;
    [Pyright, Ty, Ruff] => nothing_in_an_environment_is_run;
}

const APP: &str = "src/flask/app.py";
const HELPERS: &str = "src/flask/helpers.py";

fn named(file: &str, line: usize, symbol: &str) -> Value {
    json!({"file_path": file, "line": line, "symbol": symbol})
}

/// The lines that an answer prints for a file.
fn lines(answer: &Answer, file: &str) -> Vec<usize> {
    let top = |line: &&str| line.starts_with(file);
    let place = |line: &str| line.split(':').nth(1).and_then(|line| line.parse().ok());
    let mut lines: Vec<usize> = answer.body().lines().filter(top).filter_map(place).collect();
    lines.sort_unstable();
    lines
}

/// A place in the environment, by whichever path the server names it.
#[track_caller]
fn in_environment(answer: &Answer, end: &str) {
    let places = answer.fine().places();
    assert_eq!(places.len(), 1, "{answer}");
    let (path, line, column) = &places[0];
    let place = format!("{path}:{line}:{column}");
    assert!(
        place.contains("venv/lib/python") && place.ends_with(&format!("site-packages/{end}")),
        "{end} expected in\n{answer}"
    );
}

/// What both type checkers say alike.
fn alike(lp: &Langport, server: &str) {
    // Only the environment has Werkzeug.
    in_environment(&lp.tool("definition", &named(HELPERS, 12, "_wz_abort")), "werkzeug/exceptions.py:890:5");
    in_environment(&lp.tool("definition", &named(HELPERS, 14, "BaseResponse")), "werkzeug/wrappers/response.py:39:7");
    let flag = lp.tool("references", &named(HELPERS, 28, "get_debug_flag"));
    places_are(
        flag.says(&format!("fresh · {server} · 8 references in 4 files")),
        &[
            "src/flask/app.py:40:22",
            "src/flask/app.py:628:30",
            "src/flask/cli.py:24:22",
            "src/flask/cli.py:369:25",
            "src/flask/cli.py:981:13",
            "src/flask/helpers.py:28:5",
            "src/flask/sansio/app.py:25:23",
            "src/flask/sansio/app.py:495:29",
        ],
    );
    flag.contains("28:5 definition  def get_debug_flag() -> bool:");
    lp.hover(&named(HELPERS, 577, "get_root_path"))
        .contains("def get_root_path(import_name: str) -> str")
        .contains("Find the root path of a package");
    let signature = lp.tool("signature", &json!({"file_path": HELPERS, "line": 573, "column": 9}));
    signature
        .contains("(«directory: PathLike[str] | str», path: PathLike[str] | str, environ: ")
        .contains("Send a file from within a directory");
    places_are(
        &lp.tool("workspace_symbols", &json!({"query": "send_from_directory", "kind": "function"})),
        &["src/flask/helpers.py:533:5"],
    );
    let callers = lp.tool("calls", &json!({"file_path": HELPERS, "symbol": "get_debug_flag", "depth": 2}));
    tree_is(
        &callers,
        &[
            "get_debug_flag src/flask/helpers.py:28:5",
            "get_debug_flag/load_app src/flask/cli.py:333:9 at 369",
            "get_debug_flag/load_app/decorator src/flask/cli.py:395:9 at 397",
            "get_debug_flag/load_app/get_command src/flask/cli.py:617:9 at 631",
            "get_debug_flag/load_app/list_commands src/flask/cli.py:644:9 at 653",
            "get_debug_flag/load_app/run_command src/flask/cli.py:943:5 at 963 (shown above)",
            "get_debug_flag/make_config src/flask/sansio/app.py:482:9 at 495",
            "get_debug_flag/make_config/__init__ src/flask/sansio/app.py:282:9 at 319",
            "get_debug_flag/run src/flask/app.py:546:9 at 628",
            "get_debug_flag/run_command src/flask/cli.py:943:5 at 981",
        ],
    );
    let callees =
        lp.tool("calls", &json!({"file_path": HELPERS, "symbol": "send_from_directory", "direction": "outgoing"}));
    callees
        .says(&format!("fresh · {server} · 2 callees"))
        .contains("_prepare_send_file_kwargs  src/flask/helpers.py:394:5  at 573");
    callees.contains("site-packages/werkzeug/utils.py:531:5  at 572");
    let outline = lp.tool("symbols", &json!({"file_path": HELPERS, "depth": 1}));
    let functions: Vec<String> =
        outline.body().lines().map(|line| line.trim().split("  ").next().unwrap_or_default().to_owned()).collect();
    for function in [
        "28 function get_debug_flag",
        "195 function url_for",
        "533 function send_from_directory",
        "635 function _split_blueprint_path",
    ] {
        assert!(functions.iter().any(|own| own == function), "{function} expected in\n{outline}");
    }
}

/// The first answer loads the whole project, which takes a loaded machine a while.
fn started(ws: &Workspace, need: Need) -> Langport {
    let lp = start(ws, &[need]);
    lp.tool("symbols", &json!({"file_path": HELPERS})).verdict_is("fresh");
    lp
}

fn pyright_reads_flask() {
    let ws = servers::flask_project();
    let lp = started(&ws, Need::Pyright);
    let app = lp.diagnostics(APP);
    app.verdict_is("fresh")
        .contains("· pyright · 2 errors")
        .contains("src/flask/app.py:218:5")
        .contains("src/flask/app.py:995:18");
    app.contains("reportIncompatibleVariableOverride").contains("src/flask/sansio/app.py:280:5  Overridden symbol");
    // An extra that is not installed: the only import that cannot be resolved.
    app.contains("Import \"asgiref.sync\" could not be resolved");
    lp.diagnostics(HELPERS).says("fresh · pyright · no problems");
    alike(&lp, "pyright");
    let members = lp.tool("completions", &json!({"file_path": HELPERS, "line": 268, "column": 29}));
    members
        .says("fresh · pyright · 10 completions, more when more is typed")
        .contains("  redirect  method")
        .contains("  root_path  variable");
    lp.tool("types", &json!({"file_path": APP, "symbol": "Flask"})).fails("unsupported").contains("pyright");
}

fn ty_reads_flask() {
    let ws = servers::flask_project();
    let lp = started(&ws, Need::Ty);
    let app = lp.diagnostics(APP);
    app.verdict_is("fresh").contains("· ty · 29 errors, 2 warnings").contains("asgiref.sync");
    let expected = [
        218, 359, 361, 412, 413, 414, 418, 419, 420, 500, 723, 742, 876, 892, 901, 961, 964, 995, 1110, 1195, 1199,
        1199, 1201, 1201, 1225, 1226, 1227, 1236, 1311, 1328, 1362,
    ];
    assert_eq!(lines(&app, APP), expected, "in the answer\n{app}");
    let helpers = lp.diagnostics(HELPERS);
    helpers.contains("fresh · ty · 8 errors, 1 warning");
    assert_eq!(lines(&helpers, HELPERS), [105, 109, 112, 126, 189, 387, 518, 572, 610], "in the answer\n{helpers}");
    alike(&lp, "ty");
    let above = lp.tool("types", &json!({"file_path": APP, "symbol": "Flask", "depth": 3}));
    tree_is(
        &above,
        &[
            "Flask src/flask/app.py:81:7",
            "Flask/App src/flask/sansio/app.py:59:7",
            "Flask/App/Scaffold src/flask/sansio/scaffold.py:52:7",
            "Flask/App/Scaffold/object builtins.pyi",
        ],
    );
    // ty names each of them twice.
    let below = lp.tool("types", &json!({"file_path": "src/flask/sansio/scaffold.py", "symbol": "Scaffold", "direction": "subtypes", "depth": 3}));
    tree_is(
        below.says("fresh · ty · 4 subtypes"),
        &[
            "Scaffold src/flask/sansio/scaffold.py:52:7",
            "Scaffold/App src/flask/sansio/app.py:59:7",
            "Scaffold/App/Flask src/flask/app.py:81:7",
            "Scaffold/Blueprint src/flask/sansio/blueprints.py:119:7",
            "Scaffold/Blueprint/Blueprint src/flask/blueprints.py:18:7",
        ],
    );
}

fn ruff_reads_flask() {
    let ws = servers::flask_project();
    let lp = start(&ws, &[Need::Ruff]);
    let app = lp.diagnostics(APP);
    app.says("fresh · ruff · 7 warnings").contains("PLE0704").contains("BLE001").contains("SIM101").contains("I001");
    assert_eq!(lines(&app, APP), [1, 58, 807, 850, 918, 1220, 1512], "in the answer\n{app}");
    let helpers = ["src/flask/helpers.py:1:1", "src/flask/helpers.py:414:20"];
    places_are(lp.diagnostics(HELPERS).says("fresh · ruff · 2 warnings"), &helpers);
    let source = ws.read(HELPERS);
    ws.write(HELPERS, &source.replace("import os\n", "import os\nimport json\n"));
    let added = lp.diagnostics(HELPERS);
    let moved = [helpers[0], "src/flask/helpers.py:5:8", "src/flask/helpers.py:415:20"];
    places_are(added.says("fresh · ruff · 3 warnings").contains("`json` imported but unused"), &moved);
}

/// A repository may bring an environment whose programs are its own.
fn nothing_in_an_environment_is_run() {
    let cfg = "home = /usr/bin\nversion = 3.11.2\n";
    let program = "#!/bin/sh\ntouch \"$(dirname \"$0\")/../../ran-$(basename \"$0\")\"\n";
    for need in [Need::Pyright, Need::Ty, Need::Ruff] {
        let ws = Workspace::new(
            "//- pyproject.toml\n[project]\nname = \"p\"\nversion = \"1\"\n//- use.py\nfrom dep import answer\n\nprint(answer(1))\n",
        );
        ws.write(".venv/pyvenv.cfg", cfg);
        ws.write(
            ".venv/lib/python3.11/site-packages/dep.py",
            "def answer(question: int) -> int:\n    return question\n",
        );
        for name in ["python", "python3", "python3.11", "pyright-langserver", "ty", "ruff", "node"] {
            let path = format!(".venv/bin/{name}");
            ws.write(&path, program);
            std::fs::set_permissions(ws.path(&path), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        let lp = start(&ws, &[need]);
        lp.diagnostics("use.py").says(&format!("fresh · {} · no problems", need.name()));
        if need != Need::Ruff {
            lp.hover(&named("use.py", 3, "answer")).verdict_is("fresh").contains("def answer(question: int) -> int");
            in_environment(&lp.tool("definition", &named("use.py", 3, "answer")), "dep.py:1:5");
        }
        drop(lp);
        let ran: Vec<_> = std::fs::read_dir(ws.root()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert!(!ran.iter().any(|name| name.to_string_lossy().starts_with("ran-")), "{}: {ran:?}", need.name());
    }
}
