//! What a change breaks in files that it is not made in, since a mark or a git revision: found by what they name, and
//! never taken for older than it is without a word.

use serde_json::json;

use crate::{
    fake::script::Script,
    marks::{commit, mark, shell},
    support::{Answer, Definition, Langport, Workspace},
};

trials![
    x2_what_breaks_elsewhere_since_a_revision,
    x2_heard_of_after_the_change_is_new_since_a_revision,
    x2_a_file_alone_since_a_revision,
    x2_what_a_deleted_file_breaks,
    x2_what_is_clean_is_not_said_to_be_left_out,
    changed_asks_about_what_uses_a_changed_name,
    x2_a_submodule_is_compared_with_its_own_commit,
    x2_a_repository_of_its_own_is_said_to_be_left_out,
    x2_a_folder_of_the_workspace_that_is_gone_is_named,
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

fn x2_a_submodule_is_compared_with_its_own_commit() {
    let library = Workspace::new("//- lib.py\nold = ERR\n");
    commit(&library);
    let ws = Workspace::new("//- main.py\nfine\n");
    commit(&ws);
    let from = library.root().to_string_lossy().into_owned();
    shell(
        &ws,
        &format!("git -c protocol.file.allow=always submodule --quiet add {from} deep/sub; git commit -qm with"),
    );
    let lp = start(&ws);
    since_head(&lp).verdict_is("fresh").contains("nothing to look at has changed");
    ws.write("deep/sub/lib.py", "old = ERR\nnew = ERR\n");
    since_head(&lp).says("fresh · fake · 1 new error in 1 of 1 file, since HEAD").contains("deep/sub/lib.py:2:");
    // What is committed in there differs from the commit that the outer repository has.
    shell(&ws, "git -C deep/sub commit -qam more");
    since_head(&lp).says("fresh · fake · 1 new error in 1 of 1 file, since HEAD");
}

fn x2_a_repository_of_its_own_is_said_to_be_left_out() {
    let ws = Workspace::new("//- main.py\nfine\n");
    commit(&ws);
    ws.write("main.py", "new = ERR\n");
    ws.write("own/lib.py", "fine\n");
    shell(&ws, "cd own; git init -q .; git add .; git commit -qm own");
    let lp = start(&ws);
    since_head(&lp).verdict_is("partial").contains("own is left out").contains("main.py:1:");
}

fn x2_a_folder_of_the_workspace_that_is_gone_is_named() {
    let ws = Workspace::new("//- one/a.py\nfine\n//- two/b.py\nold = ERR\n");
    let definition = Definition::new("fake", Script::watching("**/*").pull());
    let lp = Langport::builder(&ws).server(definition).roots(&[ws.path("one"), ws.path("two")]).start();
    let everything = || lp.tool("diagnostics", &json!({"scope": "workspace"}));
    everything().says("fresh · fake · 1 error in 1 of 2 files");
    std::fs::remove_dir_all(ws.path("two")).unwrap();
    everything().verdict_is("partial").contains("two is gone");
    lp.tool("diagnostics", &json!({"scope": "changed"})).verdict_is("partial").contains("two is gone");
    std::fs::remove_dir_all(ws.path("one")).unwrap();
    everything().fails("not_found");
}
