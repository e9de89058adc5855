//! Files that come between a plan and its making, and between making it and taking it back, with real servers: no use is
//! left behind in silence, and what breaks is said.

use libtest_mimic::Trial;
use serde_json::json;

use crate::support::{Langport, Workspace};

use super::definitions::{Row, row_of, row_trial, start};

pub(super) fn trials() -> Vec<Trial> {
    let trial = |name: &str, test: fn(&Row)| {
        let shown = name.replace('-', "_");
        row_trial(format!("real::wake::dia_02_edt_01_files_that_come_later_{shown}"), row_of(name), test)
    };
    vec![
        trial("pyright", python),
        trial("ty", python),
        trial("gopls", go),
        trial("typescript7", typescript),
        trial("typescript-language-server", typescript),
    ]
}

fn python(row: &Row) {
    let ws = Workspace::new(
        "//- a.py\ndef tally(x: int) -> int:\n    return x\n//- b.py\nfrom a import tally\nprint(tally(1))\n",
    );
    later(row, &ws, ("a.py", 1), "new.py", "from a import tally\nprint(tally(3))\n");
}

fn go(row: &Row) {
    let ws = Workspace::new(
        "//- go.mod\nmodule ex.com/m\n\ngo 1.22\n//- a.go\npackage m\n\nfunc tally(x int) int { return x }\n//- b.go\npackage m\n\nvar B = tally(1)\n",
    );
    later(row, &ws, ("a.go", 3), "new.go", "package m\n\nvar N = tally(3)\n");
}

fn typescript(row: &Row) {
    let ws = Workspace::new(
        "//- tsconfig.json\n{}\n//- a.ts\nexport function tally(x: number) { return x }\n//- b.ts\nimport { tally } from \"./a\"\ntally(1)\n",
    );
    later(row, &ws, ("a.ts", 1), "new.ts", "import { tally } from \"./a\"\ntally(3)\n");
}

fn later(row: &Row, ws: &Workspace, (file, line): (&str, usize), new: &str, text: &str) {
    let lp: Langport = start(row, ws);
    let planned = || {
        let arguments = json!({"file_path": file, "line": line, "symbol": "tally", "new_name": "total"});
        lp.tool("rename", &arguments)
    };
    let first = planned();
    first.verdict_is("fresh").contains("in 2 files");
    ws.write(new, text);
    lp.tool("apply", &json!({"plan": first.plan()})).fails("conflict").contains(new);
    let again = planned();
    again.verdict_is("fresh").contains("in 3 files");
    ws.remove(new);
    lp.tool("apply", &json!({"plan": again.plan()})).fails("conflict");
    let last = planned();
    let made = lp.tool("apply", &json!({"plan": last.plan()}));
    made.fine().verdict_is("fresh").contains("no new problems in the 2 files looked at");
    // The agent goes on with the new name, and then has it taken back.
    ws.write(new, &text.replace("tally", "total"));
    let back = lp.tool("apply", &json!({"undo": last.plan()}));
    back.fine().contains("new problem").contains(&format!("{new}:")).contains("new error").lacks("no new problems");
}
