use expect_test::expect;

use super::*;
use crate::sys::dirs::Dirs;

fn machine() -> (tempfile::TempDir, Registry, Surroundings) {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path();
    let dirs = Dirs {
        config: base.join("config"),
        state: base.join("state"),
        data: base.join("data"),
        managed: base.join("managed"),
    };
    let folder = dirs.config.join("servers.d");
    crate::sys::files::create_private_dir(&folder).unwrap();
    let definition = "name = \"x\"\ncommand = \"/bin/sh\"\nargs = [\"${TOKEN}\", \"${HOME}\", \"--root=${root}\"]\nlanguages = [\"go\"]\n";
    crate::sys::files::atomic_write(&folder.join("x.toml"), definition.as_bytes()).unwrap();
    let (registry, errors) = Registry::load(&dirs);
    assert_eq!(errors, []);
    let vars = [("PATH", ""), ("TOKEN", "secret"), ("HOME", "/home/me")].into_iter().collect();
    let around = Surroundings { dirs, vars, workspace: vec!["/repo".into()] };
    (temp, registry, around)
}

#[test]
fn secrets_stand_by_their_names() {
    let (temp, registry, around) = machine();
    let shown = Shown::of(find(&registry, "x").unwrap(), &registry, &around).unwrap();
    let text = shown.text().replace(temp.path().to_str().unwrap(), "BASE");
    expect![[r#"
        local/x
        source      BASE/config/servers.d/x.toml
        scope       user
        generation  1
        server      found: /bin/sh
        root        /repo
        command     /bin/sh ${TOKEN} /home/me --root=/repo

        name = "x"
        command = "/bin/sh"
        args = ["${TOKEN}", "${HOME}", "--root=${root}"]
        languages = ["go"]
    "#]]
    .assert_eq(&text);
    assert!(!shown.json().unwrap().contains("secret"));
}

#[test]
fn unknown_names_name_the_nearest() {
    let (_temp, registry, _) = machine();
    let error = |name: &str| find(&registry, name).unwrap_err().to_string();
    expect!["no definition is called `rufff`: did you mean `ruff` or `sqruff`?"].assert_eq(&error("rufff"));
    expect!["no definition is called `qqqq`: `langport list` shows all of them"].assert_eq(&error("qqqq"));
}
