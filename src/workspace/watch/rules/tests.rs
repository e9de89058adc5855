//! What is left out, and what takes it back.

use expect_test::{Expect, expect};

use super::*;
use crate::sys::files;

fn check(tree: &[(&str, &str)], patterns: &[&str], folders: &[&str], expected: &Expect) {
    let tmp = tempfile::tempdir().unwrap();
    let top = tmp.path().canonicalize().unwrap();
    let root = top.join("repo/ws");
    files::create_dirs(&root).unwrap();
    for (path, content) in tree {
        files::create_dirs(top.join("repo").join(path).parent().unwrap()).unwrap();
        files::write(&top.join("repo").join(path), content.as_bytes()).unwrap();
    }
    let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
    let mut rules = Rules::new(std::slice::from_ref(&root), &patterns);
    for (path, _) in tree {
        if let Some(holder) = path.strip_suffix(".gitignore") {
            rules.source(&top.join("repo").join(holder.trim_end_matches('/')), true);
        }
    }
    let kept = folders.iter().filter(|folder| !rules.leaves_out(&root.join(folder)));
    expected.assert_eq(&kept.copied().collect::<Vec<_>>().join(" "));
}

#[test]
fn what_git_ignores() {
    let tree = [
        (".git/HEAD", ""),
        (".git/info/exclude", "private/\n"),
        (".gitignore", "/ws/out\nbuild/\n"),
        ("ws/.gitignore", "gen\n!kept/build\n"),
        ("ws/kept/.gitignore", "!gen\n"),
    ];
    let folders = ["src", "out", "build", "kept", "kept/build", "kept/gen", "gen", "private", ".git", "a/gen"];
    check(&tree, &[], &folders, &expect!["src kept kept/build kept/gen"]);
}

#[test]
fn what_tools_mark_and_what_the_user_takes_back() {
    let tree = [("ws/target/CACHEDIR.TAG", ""), ("ws/env/pyvenv.cfg", ""), ("ws/src/a", "")];
    let folders = ["src", "target", "env", "node_modules", "src/__pycache__", ".git", "docs"];
    check(&tree, &[], &folders, &expect!["src docs"]);
    check(&tree, &["!node_modules", "!target", "!.git", "/docs"], &folders, &expect!["src target node_modules"]);
}
