//! Servers inside bubblewrap: what they see of the machine, and that they work all the same.

use std::fs;

use serde_json::json;

use crate::support::{Definition, Langport, Workspace};

use super::{builder, needs, servers, servers::Need, without_mark};

needs! {
    [Bwrap] => sec_02_a_sandbox_shows_the_server_nothing_else;
    [Pyright, Ruff, Bwrap] => sec_02_pyright_and_ruff_work_in_a_sandbox;
}

/// A shell that looks around, and tells on stderr what it has seen.
fn prying(ws: &Workspace) -> Definition {
    let secret = ws.home().join("secret");
    fs::write(&secret, "SECRET-CONTENT").unwrap();
    let outside = ws.home().join("state-marker");
    let script = format!(
        "exec 1>&2; cat {secret} || echo no-secret; echo x > {root}/written || echo no-write; echo x > {outside}; \
         cat a.py; echo y > $TMPDIR/own && echo own-tmp; ls /proc | grep -c '^[0-9]'; \
         cat /proc/net/dev | grep -c eth || echo no-net; kill -0 {langport} || echo no-processes; \
         v=$(cat /proc/sys/vm/swappiness); echo $v > /proc/sys/vm/swappiness || echo no-kernel; exit 7",
        secret = secret.display(),
        root = ws.root().display(),
        outside = outside.display(),
        langport = std::process::id(),
    );
    Definition::command("pry", "/bin/sh").key(&format!("args = [\"-c\", {}]", json!(script)))
}

fn sec_02_a_sandbox_shows_the_server_nothing_else() {
    for (mode, writes) in [("bwrap", false), ("bwrap-write", true)] {
        let ws = Workspace::new("//- a.py\nthe-source\n");
        let mut lp = Langport::builder(&ws)
            .server(prying(&ws))
            .config(&format!("sandbox = \"{mode}\""))
            .max_wait(10_000)
            .start();
        lp.tolerate();
        let answer = lp.hover(&json!({"file_path": "a.py", "line": 1, "column": 1}));
        assert!(answer.is_error, "{answer}");
        let status = lp.tool("status", &json!({"server": "pry"}));
        let seen = format!("{answer}\n{status}");
        assert!(!seen.contains("SECRET-CONTENT"), "{seen}");
        assert!(seen.contains("no-processes") && seen.contains("no-kernel"), "{seen}");
        assert_eq!(ws.path("written").exists(), writes, "{seen}");
        assert!(!ws.home().join("state-marker").exists(), "{seen}");
    }
}

fn sec_02_pyright_and_ruff_work_in_a_sandbox() {
    let ws = servers::shop();
    let needs = [Need::Pyright, Need::Ruff];
    let at = json!({"file_path": "shop/checkout.py", "line": 46, "symbol": "add"});
    let free = builder(&ws, &needs).start();
    let (hover, problems) = (free.hover(&at), free.diagnostics("shop/checkout.py"));
    hover.says("fresh · pyright · hover").contains("def add(");
    let shut_in = builder(&ws, &needs).config("sandbox = \"bwrap\"").start();
    assert_eq!(shut_in.hover(&at).text, hover.text);
    assert_eq!(without_mark(&shut_in.diagnostics("shop/checkout.py").text), without_mark(&problems.text));
    // It follows what happens outside.
    let text = ws.read("shop/checkout.py");
    ws.write("shop/checkout.py", &text.replace("\"1\")", "1)"));
    let [here, there] = [&shut_in, &free].map(|lp| without_mark(&lp.diagnostics("shop/checkout.py").text).to_owned());
    assert_eq!(here, there);
    assert_ne!(here, without_mark(&problems.text));
    // Both are in one workspace, whose leftovers are looked for.
    let mut both = [free, shut_in];
    both.iter_mut().for_each(|lp| assert!(lp.hang_up().is_some()));
}
