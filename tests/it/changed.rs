//! What changed since the last answer, a mark or a git revision: which files that is about, and what git has to do with it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    fake::script::{Act, Publish, Script},
    marks::{both, changed, commit, mark, serve, shell},
    support::{Definition, Langport, Workspace, eventually},
};

trials![
    changed_since_the_last_answer,
    changed_and_not_asked_about_is_not_forgotten,
    changed_and_not_answered_is_asked_again,
    changed_since_a_mark,
    changed_names_what_is_gone,
    changed_asks_again_what_depends_on_it,
    changed_and_pushed_between_two_messages,
    changed_pages_by_cursor,
    changed_without_git_or_mark,
    changed_without_events,
    changed_asks_about_what_names_a_changed_file,
    changed_below_a_folder,
    changed_of_many_files_that_are_pushed,
    git_differences_with_untracked_and_without_ignored,
    git_lines_decide_what_is_new,
    git_knows_what_langport_knew,
    git_revisions_that_are_none,
    git_executes_nothing_of_the_repository,
];

fn changed_since_the_last_answer() {
    both(|script| {
        let ws = Workspace::new("//- a.py\na\n//- b.py\nb = ERR\n//- c.py\nc = ERR\n//- notes.txt\nx\n");
        let lp = serve(&ws, script);
        let first = mark(&lp.diagnostics("a.py"));
        let none = changed(&lp);
        none.says(&format!("fresh · langport · nothing to look at has changed, since {first}")).lacks("no problems");
        let second = mark(&none);
        ws.write("a.py", "young = ERR\n");
        ws.write("new.py", "made = ERR\n");
        ws.write("notes.txt", "y\n");
        let answer = changed(&lp);
        answer.says(&format!("fresh · fake · 2 errors in 2 of 2 files, since {second}"));
        answer.contains("a.py:1:1").contains("new.py:1:1").lacks("b.py").lacks("c.py").lacks("notes");
        changed(&lp).contains("nothing to look at has changed");
    });
}

/// An answer about one file does not hide that another one has changed as well.
fn changed_and_not_asked_about_is_not_forgotten() {
    let ws = Workspace::new("//- a.py\na\n//- b.py\nb\n");
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    lp.diagnostics("a.py").fine();
    ws.write("a.py", "x = ERR\n");
    ws.write("b.py", "y = ERR\n");
    lp.diagnostics("a.py").says("fresh · fake · 1 error");
    let answer = changed(&lp);
    answer.contains("1 error in 1 of 1 file").contains("b.py:1:1").lacks("a.py:1:1");
}

/// "Ask again" means that the same is asked about.
fn changed_and_not_answered_is_asked_again() {
    let ws = Workspace::new("//- a.py\na\n//- b.py\nb\n");
    let silent = || vec![Act::Reply(Value::Null)];
    let turns = [vec![Act::Default], silent(), silent(), vec![Act::Default]];
    let lp = Langport::with(&ws, Script::watching("**/*").pull().each("textDocument/diagnostic", turns));
    lp.diagnostics("a.py").fine();
    ws.write("b.py", "x = ERR\n");
    changed(&lp).verdict_in(&["unanswered", "partial"]).lacks("x = ERR");
    changed(&lp).contains("1 error").contains("b.py:1:1");
    changed(&lp).contains("nothing to look at has changed");
}

fn changed_since_a_mark() {
    let ws = Workspace::new("//- a.py\na\n//- b.py\nb\n");
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    let first = mark(&lp.diagnostics("a.py"));
    ws.write("a.py", "x = ERR\n");
    let second = mark(&changed(&lp));
    ws.write("b.py", "y = ERR\n");
    let since = |mark: &str| lp.tool("diagnostics", &json!({"since": mark}));
    since(&first).contains("2 errors in 2 of 2 files");
    since(&second).contains("1 error in 1 of 1 file").contains("b.py:1:1");
    since(&first).contains("2 errors in 2 of 2 files");
}

fn changed_names_what_is_gone() {
    let ws = Workspace::new("//- a.py\na\n//- old/b.py\nb = ERR\n//- old/c.py\nc\n");
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    lp.diagnostics("a.py").fine();
    std::fs::remove_dir_all(ws.path("old")).unwrap();
    let answer = changed(&lp);
    answer
        .contains("nothing to look at has changed")
        .contains("gone: old/b.py, old/c.py")
        .contains("nothing new: 1 more");
}

fn changed_asks_again_what_depends_on_it() {
    both(|script| {
        let ws = Workspace::new("//- lib.py\n# PROVIDES tally\n//- use.py\nold = ERR\nNEEDS tally\n//- far.py\nx\n");
        let lp = serve(&ws, script);
        lp.diagnostics("use.py").fine().contains("1 error");
        lp.diagnostics("far.py").fine();
        let before = mark(&lp.diagnostics("lib.py"));
        ws.write("lib.py", "# LACKING\n");
        // Pushed lists that crossed the change are right, but not proven.
        let answer = changed(&lp);
        answer.verdict_in(&["fresh", "settling", "unconfirmed"]).contains("use.py:2:1").contains("old = ERR");
        answer.lacks("far.py:").contains("nothing new: 1 more file");
        let new = lp.tool("diagnostics", &json!({"scope": "changed", "since": before, "new_only": true}));
        new.contains("1 new error in 1 of 2 files").contains("use.py:2:1").lacks("old = ERR");
    });
}

/// It publishes dependents when it is told of the file on disk, and knows the new text of the open document only then.
fn changed_and_pushed_between_two_messages() {
    let ws = Workspace::new("//- lib.py\n# PROVIDES tally\n//- use.py\nNEEDS tally\n");
    let lp = Langport::builder(&ws).server(Definition::new("fake", Script::watching("**/*"))).max_wait(6_000).start();
    lp.diagnostics("use.py").says("fresh · fake · no problems");
    lp.diagnostics("lib.py").fine();
    for round in 0..3 {
        ws.write("lib.py", &format!("# LACKING {round}\n"));
        let answer = changed(&lp);
        assert!(answer.has("use.py:1:1") || answer.verdict() != "fresh", "unproven, and said so: {answer}");
        let one = lp.diagnostics("use.py");
        assert!(one.has("1 error") || one.verdict() != "fresh", "{one}");
        ws.write("lib.py", "# PROVIDES tally\n");
        changed(&lp).fine();
    }
}

fn changed_pages_by_cursor() {
    let ws = Workspace::new("//- a.py\na\n");
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    lp.diagnostics("a.py").fine();
    (0..6).for_each(|n| ws.write(&format!("f{n}.py"), &"long_enough_to_fill_a_page = ERR\n".repeat(40)));
    let mut answer = changed(&lp);
    answer.contains("240 errors in 6 of 6 files");
    let first = mark(&answer);
    let mut places = answer.places();
    while let Some(cursor) = answer.cursor() {
        answer = lp.tool("diagnostics", &json!({"scope": "changed", "cursor": cursor}));
        assert_eq!(mark(&answer.fine().clone()), first);
        places.extend(answer.places());
    }
    let mut once = places.clone();
    once.dedup();
    assert_eq!((places.len(), once.len()), (240, 240));
    // Another question, or other files, are no place to go on.
    let cursor = lp.tool("diagnostics", &json!({"scope": "changed", "since": first})).cursor();
    assert!(cursor.is_none());
    (0..6).for_each(|n| ws.write(&format!("f{n}.py"), &"another_one_to_fill_a_page = ERR\n".repeat(45)));
    let cursor = changed(&lp).cursor().expect("more than a page");
    lp.tool("diagnostics", &json!({"scope": "workspace", "cursor": cursor})).fails("expired");
    ws.write("f2.py", "z\n");
    lp.tool("diagnostics", &json!({"scope": "changed", "cursor": cursor})).fails("expired");
}

fn changed_without_git_or_mark() {
    let ws = Workspace::new("//- a.py\na\n//- b.py\nb\n");
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    eventually("the watch stands", || lp.tool("status", &json!({})).has("watching ").then_some(()));
    ws.write("b.py", "y = ERR\n");
    let answer = changed(&lp);
    answer.contains("1 error in 1 of 1 file, since langport started").contains("you have no mark yet");
}

fn changed_without_events() {
    let ws = Workspace::new("//- a.py\na\n//- b.py\nb\n");
    let server = Definition::new("fake", Script::watching("**/*").pull());
    let lp = Langport::builder(&ws).server(server).config("watch_events = false").start();
    // Time stamps of before the mark may be as young as its tick.
    std::thread::sleep(Duration::from_millis(60));
    lp.diagnostics("a.py").fine();
    ws.write("b.py", "y = ERR\n");
    let answer = changed(&lp);
    answer.verdict_is("fresh").contains("1 error in 1 of 1 file").contains("b.py:1:1");
}

fn changed_asks_about_what_names_a_changed_file() {
    let ws = Workspace::new("//- lib.py\nPROVIDES w\n//- use.py\nimport lib\nNEEDS w\n//- far.py\nNEEDS w\n");
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    lp.diagnostics("lib.py").verdict_is("fresh");
    ws.write("lib.py", "nothing\n");
    // Nobody has ever asked about either; far.py does not say what it depends on.
    let answer = changed(&lp);
    answer.contains("use.py:2:1").lacks("far.py");
}

fn changed_below_a_folder() {
    let ws = Workspace::new("//- src/a.py\na\n//- lib/b.py\nb\n");
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    lp.diagnostics("src/a.py").fine();
    ws.write("src/a.py", "x = ERR\n");
    ws.write("lib/b.py", "y = ERR\n");
    let answer = lp.tool("diagnostics", &json!({"scope": "changed", "file_path": "lib"}));
    answer.contains("1 error in 1 of 1 file").contains("lib/b.py:1:1").lacks("src/a.py");
    // What was left out has still not been asked about.
    changed(&lp).contains("src/a.py:1:1");
}

/// Opened together: none of them makes what is pushed of another one old.
fn changed_of_many_files_that_are_pushed() {
    let ws = Workspace::new("//- a.py\na\n");
    let versions = [true, false];
    for versioned in versions {
        let publish = Publish { versioned, ..Publish::default() };
        let lp = serve(&ws, Script::watching("**/*").publish(publish));
        lp.diagnostics("a.py").fine();
        (0..30).for_each(|n| ws.write(&format!("f{n}.py"), &format!("x{n}{versioned} = ERR\n")));
        changed(&lp).verdict_is("fresh").contains("30 errors in 30 of 30 files");
    }
}

fn git_differences_with_untracked_and_without_ignored() {
    let ws = Workspace::new(
        "//- .gitignore\nignored.py\n//- a.py\na\n//- same.py\ns = ERR\n//- gone.py\ng\n//- touched.py\nt = ERR\n",
    );
    commit(&ws);
    ws.write("a.py", "x = ERR\n");
    ws.write("new.py", "n = ERR\n");
    ws.write("ignored.py", "i = ERR\n");
    ws.write("touched.py", "t = ERR\n");
    ws.remove("gone.py");
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    // Without a mark the last commit is what is meant.
    let first = changed(&lp);
    first.says("fresh · fake · 2 errors in 2 of 2 files, since HEAD").contains("you have no mark yet");
    first.contains("gone: gone.py").contains("a.py:1:1").contains("new.py:1:1").lacks("ignored").lacks("touched.py");
    shell(&ws, "git add -A; git commit -q -m two; git tag v2");
    for revision in ["HEAD~1", "main~1", "v2~1", "HEAD^"] {
        let answer = lp.tool("diagnostics", &json!({"scope": "changed", "since": revision}));
        answer.contains(&format!("2 errors in 2 of 2 files, since {revision}"));
    }
    let clean = lp.tool("diagnostics", &json!({"since": "v2"}));
    clean.says("fresh · langport · nothing to look at has changed, since v2");
}

fn git_lines_decide_what_is_new() {
    let ws = Workspace::new("//- a.py\nold = ERR\nb\n");
    commit(&ws);
    ws.write("a.py", "1\n2\nold = ERR\nb\nyoung = ERR\n");
    ws.write("new.py", "made = ERR\n");
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    let answer = lp.tool("diagnostics", &json!({"scope": "changed", "since": "HEAD", "new_only": true}));
    answer.says("fresh · fake · 2 new errors in 2 of 2 files, since HEAD").contains("a.py:5:1").contains("new.py:1:1");
    answer.lacks("a.py:3:1").contains("compared by lines: what stands on lines changed since HEAD counts as new");
    let one = lp.tool("diagnostics", &json!({"file_path": "a.py", "since": "HEAD", "new_only": true}));
    one.says("fresh · fake · 1 new error, since HEAD").contains("compared by lines");
}

/// What was heard of the committed text is better than its lines alone.
fn git_knows_what_langport_knew() {
    let ws = Workspace::new("//- lib.py\n# PROVIDES tally\n//- use.py\nNEEDS tally\n");
    commit(&ws);
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    lp.diagnostics("use.py").says("fresh · fake · no problems");
    ws.write("lib.py", "# LACKING\n");
    let answer = lp.tool("diagnostics", &json!({"scope": "changed", "since": "HEAD", "new_only": true}));
    answer.contains("1 new error").contains("use.py:1:1");
}

fn git_revisions_that_are_none() {
    let ws = Workspace::new("//- a.py\na\n");
    let lp = Langport::with(&ws, Script::new());
    let since = |text: &str| lp.tool("diagnostics", &json!({"scope": "changed", "since": text}));
    since("HEAD").fails("unavailable").contains("not in a git work tree");
    shell(&ws, "git init -q .");
    since("HEAD").fails("not_found").contains("`HEAD`");
    changed(&lp).fine().contains("since langport started");
    commit(&ws);
    since("no-such-branch").fails("not_found").contains("no-such-branch");
    for text in ["--output=../stolen", "-c", "HEAD..main"] {
        since(text).fails("invalid");
    }
    assert!(!ws.home().join("stolen").exists());
    drop(lp);
    // Nor is there git on every machine.
    let bare = Langport::builder(&ws).server(Definition::new("fake", Script::new())).env("PATH", "/nowhere").start();
    bare.tool("diagnostics", &json!({"since": "HEAD"})).fails("unavailable").contains("git is needed");
    bare.tool("diagnostics", &json!({"scope": "changed"})).fine().contains("since langport started");
}

fn git_executes_nothing_of_the_repository() {
    let ws = Workspace::new("//- .gitattributes\n*.py diff=evil filter=evil\n//- a.py\na\n//- b.py\nb\n");
    commit(&ws);
    let trap = ws.home().join("trap");
    std::fs::write(&trap, format!("#!/bin/sh\ntouch {}\ncat\n", ws.home().join("sprung").display())).unwrap();
    shell(&ws, &format!("chmod +x {}", trap.display()));
    let trap = trap.display();
    for setting in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.gitProxy",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "pager.diff-index",
        "pager.ls-files",
        "alias.diff-index",
        "alias.ls-files",
        "credential.helper",
        "gpg.program",
        "interactive.diffFilter",
        "uploadpack.packObjectsHook",
    ] {
        shell(&ws, &format!("git config {setting} {trap}"));
    }
    shell(&ws, &format!("git config core.hooksPath {}; git config filter.evil.required true", ws.home().display()));
    for hook in ["post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman", "reference-transaction"] {
        std::fs::copy(ws.home().join("trap"), ws.home().join(hook)).unwrap();
        std::fs::copy(ws.home().join("trap"), ws.path(&format!(".git/hooks/{hook}"))).unwrap();
    }
    ws.write("a.py", "x = ERR\n");
    ws.write("b.py", "b\n");
    ws.write("new.py", "n = ERR\n");
    // As old as the index: git looks into such files, through their filters.
    shell(&ws, "touch -r .git/index a.py b.py");
    let lp = Langport::with(&ws, Script::watching("**/*").pull());
    let answer = lp.tool("diagnostics", &json!({"scope": "changed", "since": "HEAD", "new_only": true}));
    answer.says("fresh · fake · 2 new errors in 2 of 2 files, since HEAD");
    assert!(!ws.home().join("sprung").exists(), "the repository's configuration was executed");
}
