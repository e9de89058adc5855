//! Several callers of one langport.

use std::sync::Barrier;

use serde_json::json;

use crate::{
    fake::script::{Act, Script},
    support::{Langport, Workspace},
};

trials![a7_5_several_callers_have_one_process];

/// Three at once, each with questions of its own, from before the server runs until some are gone.
fn a7_5_several_callers_have_one_process() {
    let ws = Workspace::new("//- a.py\nalpha\nERR\n//- b.py\nbeta\nERR\n//- c.py\ngamma\nERR\n");
    let lp = Langport::with(&ws, Script::new().pull().on("initialize", [Act::Sleep(200), Act::Default]));
    let start = Barrier::new(3);
    let pids = || {
        let mut pids: Vec<_> = lp.log().events("start").iter().map(|start| start["pid"].clone()).collect();
        pids.dedup();
        pids
    };
    std::thread::scope(|scope| {
        for (rounds, file, word) in [(1, "a.py", "alpha"), (2, "b.py", "beta"), (4, "c.py", "gamma")] {
            let (lp, start) = (&lp, &start);
            scope.spawn(move || {
                start.wait();
                for _ in 0..rounds {
                    let at = json!({"file_path": file, "line": 1, "column": 1});
                    lp.hover(&at).verdict_is("fresh").contains(&format!("WORD {word}"));
                    lp.diagnostics(file).says("fresh · fake · 1 error").contains(file);
                }
            });
        }
    });
    assert_eq!(pids().len(), 1);
    assert_eq!(lp.log().count("textDocument/didOpen"), 3);
    assert_eq!(lp.log().count("shutdown"), 0, "who is done takes nothing from the others");
    lp.tool("status", &json!({})).contains("1 running");
}
