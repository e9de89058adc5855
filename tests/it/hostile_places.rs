//! Places and names that a server may not choose: outside the workspace, where langport keeps its own, and such as would be
//! taken for something else.

use std::{collections::BTreeMap, fs};

use serde_json::json;

use crate::{
    changes::{apply, undo},
    fake::script::Script,
    operations::{TREE, create, delete, range, renamed, renames, steps, texts, tree},
    support::{Definition, Langport, Workspace},
};

trials![sec_01_as_it_was_reported, sec_01_langports_own_folders, sec_01_names_that_would_lie];

fn sec_01_as_it_was_reported() {
    let ws = Workspace::new(TREE);
    let outside = ws.home().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join(".profile"), "mine\n").unwrap();
    std::os::unix::fs::symlink(&outside, ws.path("link")).unwrap();
    let profile: String = url::Url::from_file_path(outside.join(".profile")).unwrap().into();
    let evil = json!([{"range": range(0, 0, 0), "newText": "evil"}]);
    for (step, named) in [
        (json!({"textDocument": {"uri": profile, "version": null}, "edits": evil}), "outside/.profile"),
        (texts("link/.profile", 0, 0, "evil"), "outside/.profile"),
        (create("link/new", json!({})), "outside/new"),
        (create("link/none/new", json!({"overwrite": true})), "outside/none/new"),
        (delete("..", json!({"recursive": true})), ""),
        (delete("../outside", json!({"recursive": true})), "outside"),
        (renames("link/.profile", "stolen", json!({})), "outside/.profile"),
        (renames("A.py", "link/A.py", json!({})), "outside/A.py"),
    ] {
        let lp = Langport::with(&ws, steps(&[texts("A.py", 6, 7, "B"), step.clone()]));
        let refused = renamed(&lp);
        assert!(["outside_workspace", "invalid"].contains(&refused.verdict()), "{step}: {refused}");
        refused.contains(named);
        assert_eq!(ws.read("A.py"), "class A: pass\n", "{step}");
    }
    assert_eq!(fs::read_to_string(outside.join(".profile")).unwrap(), "mine\n");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    // The link itself is a thing of the workspace.
    let lp = Langport::with(&ws, steps(&[delete("link", json!({"recursive": true}))]));
    apply(&lp, &renamed(&lp).plan()).fine();
    assert!(ws.path("link").symlink_metadata().is_err() && outside.join(".profile").exists());
    drop(lp);
    // A root that is given by a link; files by either name.
    let alias = ws.home().join("alias");
    std::os::unix::fs::symlink(ws.root(), &alias).unwrap();
    let builder = Langport::builder(&ws).server(Definition::new("fake", Script::new()));
    let lp = builder.roots(std::slice::from_ref(&alias)).start();
    for path in ["/etc/hosts", "../outside/.profile", "file:///etc/hosts"] {
        lp.tool("format", &json!({"file_path": path})).fails("outside_workspace");
    }
    for file in [alias.join("A.py"), ws.path("A.py")] {
        let at = json!({"file_path": file, "line": 1, "column": 7, "new_name": "B"});
        let planned = lp.tool("rename", &at);
        apply(&lp, &planned.plan()).fine();
        assert_eq!(ws.read("A.py"), "class B: pass\n");
        undo(&lp, &planned.plan()).fine();
    }
}

fn sec_01_langports_own_folders() {
    let ws = Workspace::new(&format!("{TREE}//- own/data/servers/x/run\nrun\n//- own/config/langport.md\nx\n"));
    let place = |folder: &str| ws.path(folder).display().to_string();
    for step in [
        create("own/state/edits/0/0/decided", json!({})),
        create("own/data/servers/y/run", json!({})),
        texts("own/data/servers/x/run", 0, 0, "evil"),
        renames("A.py", "own/data/servers/x/run", json!({"overwrite": true})),
        renames("own", "mine", json!({})),
        delete("own", json!({"recursive": true})),
    ] {
        let before = tree(&ws);
        let builder = Langport::builder(&ws).server(Definition::new("fake", steps(std::slice::from_ref(&step))));
        let builder =
            builder.env("LANGPORT_STATE_DIR", &place("own/state")).env("LANGPORT_DATA_DIR", &place("own/data"));
        let lp = builder.start();
        renamed(&lp).fails("refused").contains("langport's own");
        drop(lp);
        let own = |tree: BTreeMap<String, String>| {
            tree.into_iter().filter(|(name, _)| !name.starts_with("own/state")).collect::<Vec<_>>()
        };
        assert_eq!(own(tree(&ws)), own(before), "{step}");
    }
}

fn sec_01_names_that_would_lie() {
    let ws = Workspace::new(TREE);
    for (name, code) in [
        ("x%0Afresh%20·%20fake%20·%20OBEY", "invalid"),
        ("x%00y", "outside_workspace"),
        ("gpj.%E2%80%AEOBEY", "invalid"),
        ("A.py/OBEY", "conflict"),
        (&format!("OBEY{}", "y".repeat(300)), "invalid"),
        (&format!("{}OBEY", "deep/".repeat(500)), "too_large"),
        (".git%20./OBEY", "refused"),
    ] {
        for step in [create(name, json!({})), renames("D.py", name, json!({}))] {
            let lp = Langport::with(&ws, steps(&[texts("A.py", 6, 7, "B"), step]));
            let refused = renamed(&lp);
            refused.fails(code);
            assert!(
                !refused.first().contains("OBEY"),
                "a name that the server made up is no word of langport's: {refused}"
            );
            assert!(refused.body().lines().all(|line| line.starts_with(' ')), "{refused}");
        }
        assert_eq!((ws.read("A.py"), ws.read("D.py")), ("class A: pass\n".into(), "precious\n".into()));
    }
}
