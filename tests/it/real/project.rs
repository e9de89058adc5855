//! Whole-project answers: complete from the first call on, and complete again after files and folders appear.

use std::fs;

use serde_json::json;

use crate::support::{Answer, Langport, Workspace};

use super::{needs, servers::Need, start};

needs! {
    [Pyright] => syn_03_pyright, lif_09_pyright;
    [Ty] => syn_03_ty, lif_09_ty;
}

const FILES: usize = 40;
/// The declaration, and an import and a call in each file.
const ALL: usize = 1 + 2 * FILES;

/// `hub` in one file, and forty that call it.
fn hub() -> Workspace {
    let ws = Workspace::new(
        "//- pyproject.toml\n[project]\nname = \"p\"\nversion = \"1\"\n//- core.py\ndef hub() -> int:\n    return 1\n",
    );
    for number in 0..FILES {
        ws.write(&format!("m{number:02}.py"), "from core import hub\n\nx = hub()\n");
    }
    ws
}

fn references(lp: &Langport) -> Answer {
    lp.tool("references", &json!({"file_path": "core.py", "line": 1, "symbol": "hub"}))
}

#[track_caller]
fn counted(lp: &Langport, server: &str, references_: usize, files: usize, when: &str) {
    let answer = references(lp);
    let first = format!("fresh · {server} · {references_} references in {files} files");
    assert_eq!(answer.first(), first, "{when}\n{answer}");
    assert_eq!(answer.places().len(), references_, "{when}\n{answer}");
}

fn syn_03(need: Need) {
    let (ws, server) = (hub(), need.name());
    let lp = start(&ws, &[need]);
    counted(&lp, server, ALL, 41, "at first");

    ws.write("late.py", "from core import hub\n\nz = hub()\n");
    counted(&lp, server, ALL + 2, 42, "the first call after a file was made");
    let found = lp.tool("references", &json!({"symbol": "hub"}));
    assert!(found.has("late.py"), "{found}");

    // Folders that come in one go, already full.
    let outside = ws.home().join("made");
    fs::create_dir_all(outside.join("deep/deeper")).expect("folders");
    for file in ["one.py", "deep/two.py", "deep/deeper/three.py"] {
        fs::write(outside.join(file), "from core import hub\n\ny = hub()\n").expect("a file");
    }
    fs::rename(&outside, ws.path("made")).expect("a renamed folder");
    counted(&lp, server, ALL + 8, 45, "the first call after a folder was moved in");

    // And folders that are made and filled while langport looks.
    for number in 0..5 {
        ws.write(&format!("new{number}/a/b/c.py"), "from core import hub\n\ny = hub()\n");
    }
    counted(&lp, server, ALL + 18, 50, "the first call after folders were made");

    ws.remove("late.py");
    fs::remove_dir_all(ws.path("made")).expect("a removed folder");
    counted(&lp, server, ALL + 10, 46, "the first call after files were removed");
}

fn syn_03_pyright() {
    syn_03(Need::Pyright);
}

fn syn_03_ty() {
    syn_03(Need::Ty);
}

/// The very first call of a fresh langport: all of them, or it says that it does not know all.
fn lif_09(need: Need, fresh_starts: usize) {
    let ws = hub();
    for start_number in 0..fresh_starts {
        let lp = start(&ws, &[need]);
        let answer = references(&lp);
        match answer.verdict() {
            "fresh" => assert_eq!(answer.places().len(), ALL, "start {start_number}\n{answer}"),
            "indexing" => {
                answer.contains("there may be more");
                // It ends, and then with everything.
                let whole = (0..10).map(|_| references(&lp)).find(|answer| answer.verdict() == "fresh");
                assert_eq!(whole.map(|answer| answer.places().len()), Some(ALL), "start {start_number}");
            }
            _ => panic!("start {start_number}: neither all nor indexing\n{answer}"),
        }
        // What else asks about the whole project.
        let callers = lp.tool("calls", &json!({"file_path": "core.py", "line": 1, "symbol": "hub"}));
        assert_eq!(callers.verdict(), "fresh", "{callers}");
    }
}

fn lif_09_pyright() {
    lif_09(Need::Pyright, 3);
}

fn lif_09_ty() {
    lif_09(Need::Ty, 3);
}
