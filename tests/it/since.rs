//! What a change breaks in files that it is not made in, since a mark or a git revision: found by what they name, and
//! never taken for older than it is without a word.

use serde_json::json;

use crate::{
    fake::script::Script,
    marks::{commit, mark},
    support::{Answer, Langport, Workspace},
};

trials![
    x2_what_breaks_elsewhere_since_a_revision,
    x2_heard_of_after_the_change_is_new_since_a_revision,
    x2_a_file_alone_since_a_revision,
    x2_what_a_deleted_file_breaks,
    x2_what_is_clean_is_not_said_to_be_left_out,
    changed_asks_about_what_uses_a_changed_name,
];

/// `tally` is declared in `lib`; `use` imports it, `chain` has it from somebody else.
const PROJECT: &str = "//- lib.py\ntally = 1  # PROVIDES tally\n//- use.py\nimport lib\nold = ERR\nNEEDS tally\n\
    //- chain.py\nNEEDS tally\n//- far.py\nfar = ERR\n";

fn start(ws: &Workspace) -> Langport {
    Langport::with(ws, Script::watching("**/*").pull())
}

fn since_head(lp: &Langport) -> Answer {
    lp.tool("diagnostics", &json!({"scope": "changed", "since": "HEAD", "new_only": true}))
}

fn x2_what_breaks_elsewhere_since_a_revision() {
    let ws = Workspace::new(PROJECT);
    commit(&ws);
    ws.write("lib.py", "\ntally = 2  # LACKING\n");
    let lp = start(&ws);
    let answer = since_head(&lp);
    answer.says("fresh · fake · 2 new errors in 2 of 3 files, since HEAD");
    answer.contains("use.py:3:1").contains("chain.py:1:1").lacks("old = ERR").lacks("far.py");
    answer.contains("2 problems on other lines").contains("may be older");
    answer.contains("not counted").contains("use.py (1)");
    // Without `new_only` a dependent shows for the same reason.
    let all = lp.tool("diagnostics", &json!({"scope": "changed", "since": "HEAD"}));
    all.contains("use.py:3:1").contains("chain.py:1:1");
    ws.write("lib.py", "tally = 1  # PROVIDES tally\n");
    since_head(&lp).contains("nothing to look at has changed");
}

/// What langport knows of a text may rest on other files as they are now.
fn x2_heard_of_after_the_change_is_new_since_a_revision() {
    let ws = Workspace::new(PROJECT);
    commit(&ws);
    ws.write("lib.py", "tally = 2  # LACKING\n");
    let lp = start(&ws);
    lp.diagnostics("use.py").says("fresh · fake · 2 errors");
    since_head(&lp).contains("use.py:3:1").lacks("old = ERR");
    since_head(&lp).contains("use.py:3:1").lacks("old = ERR");
}

fn x2_a_file_alone_since_a_revision() {
    let ws = Workspace::new(PROJECT);
    commit(&ws);
    ws.write("lib.py", "tally = 2  # LACKING\n");
    let lp = start(&ws);
    let one = |file: &str| lp.tool("diagnostics", &json!({"file_path": file, "since": "HEAD", "new_only": true}));
    one("use.py").says("fresh · fake · 1 new error, since HEAD").contains("use.py:3:1").contains("may be older");
    one("far.py").says("fresh · fake · no new problems, since HEAD").contains("not counted").contains("far.py (1)");
}

fn x2_what_a_deleted_file_breaks() {
    let ws = Workspace::new(PROJECT);
    commit(&ws);
    ws.remove("lib.py");
    let lp = start(&ws);
    since_head(&lp).contains("gone: lib.py").contains("use.py:3:1").contains("chain.py:1:1").lacks("old = ERR");
}

fn x2_what_is_clean_is_not_said_to_be_left_out() {
    let ws = Workspace::new("//- lib.py\ntally = 1\n//- use.py\nimport lib\ntally\n");
    commit(&ws);
    ws.write("lib.py", "tally = 2\n");
    let lp = start(&ws);
    let answer = since_head(&lp);
    answer.says("fresh · fake · no new problems in 1 file, since HEAD");
    answer.contains("nothing new: 1 more file").lacks("not counted").lacks("may be older");
}

/// Nobody has ever asked about it, and it does not name the file.
fn changed_asks_about_what_uses_a_changed_name() {
    let ws = Workspace::new(PROJECT);
    let lp = start(&ws);
    let before = mark(&lp.diagnostics("lib.py"));
    ws.write("lib.py", "tally = 2  # LACKING\n");
    let answer = lp.tool("diagnostics", &json!({"scope": "changed", "since": before}));
    answer.contains("use.py:3:1").contains("chain.py:1:1").lacks("far.py");
}
