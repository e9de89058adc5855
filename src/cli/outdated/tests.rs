use std::path::Path;

use expect_test::expect;

use super::*;
use crate::sys::{dirs::Dirs, files};

struct Machine {
    temp: tempfile::TempDir,
    registry: Registry,
    around: Surroundings,
}

fn program(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    files::create_private_dir(path.parent().unwrap()).unwrap();
    files::atomic_write(path, b"#!/bin/sh\n").unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn installed(around: &Surroundings, name: &str, pin: &str, command: Option<&str>) {
    let home = around.dirs.data.join("servers").join(name);
    files::create_private_dir(&home).unwrap();
    let current = format!(r#"{{"folder": 1, "manager": "npm", "pin": "{pin}"}}"#);
    files::atomic_write(&home.join("current.json"), current.as_bytes()).unwrap();
    if let Some(command) = command {
        program(&home.join("1/node_modules/.bin").join(command));
    }
}

/// The user's definitions only: the built-in ones change.
fn machine() -> Machine {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path();
    let dirs = Dirs {
        config: base.join("config"),
        state: base.join("state"),
        data: base.join("data"),
        managed: base.join("managed"),
    };
    for (name, command, recipe) in [
        ("a", "a-srv", "npm = \"a@2\""),
        ("b", "b-srv", "npm = \"b@1\""),
        ("c", "c-srv", "npm = \"c@1\""),
        ("d", "d-srv", "hint = \"x\""),
    ] {
        let path = dirs.config.join(format!("servers.d/{name}.toml"));
        files::create_private_dir(path.parent().unwrap()).unwrap();
        let text = format!("name = \"{name}\"\ncommand = \"{command}\"\nlanguages = [\"go\"]\n[install]\n{recipe}\n");
        files::atomic_write(&path, text.as_bytes()).unwrap();
    }
    let (registry, _) = Registry::load(&dirs);
    let user = registry.all().iter().filter(|entry| entry.name.namespace() == Some("local"));
    let registry = Registry::of(user.map(|entry| (**entry).clone()));
    let vars = [("PATH", base.join("bin").to_str().unwrap())].into_iter().collect();
    Machine { around: Surroundings { dirs, vars, workspace: Vec::new() }, registry, temp }
}

#[test]
fn what_is_installed_against_what_is_asked_for() {
    let Machine { temp, registry, around } = machine();
    installed(&around, "local/a", "npm a@1", Some("a-srv"));
    installed(&around, "local/b", "npm b@1", Some("b-srv"));
    installed(&around, "local/c", "npm c@1", None);
    installed(&around, "old/e", "npm e@1", Some("e-srv"));
    installed(&around, "host/old/f", "npm f@1", Some("f-srv"));
    program(&temp.path().join("bin/d-srv"));
    let report = Report::of(&registry, &around);
    expect![[r#"
        NAME        INSTALLED  STATE
        host:old/f  npm f@1    no definition installs this any more
        local/a     npm a@1    the definition asks for npm a@2
        local/b     npm b@1    current
        local/c     npm c@1    its program is gone
        old/e       npm e@1    no definition installs this any more

        To bring these up to date, run `langport install local/a local/c`

        Not looked up:
          newer versions than the definitions ask for: no registry was asked (a newer langport brings newer definitions)
          servers that langport did not install and finds on this machine: local/d
    "#]]
    .assert_eq(&report.text());
    let json: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    expect![[r#"{"installed":"npm a@1","name":"local/a","pinned":"npm a@2","state":"outdated","update":"langport install local/a"}"#]]
        .assert_eq(&json["servers"][1].to_string());
    let states: Vec<_> = json["servers"].as_array().unwrap().iter().map(|row| row["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["undefined", "outdated", "current", "damaged", "undefined"]);
    assert_eq!(json["not_looked_up"].as_array().unwrap().len(), 2);
}

#[test]
fn nothing_is_installed() {
    let Machine { registry, around, .. } = machine();
    expect![[r#"
        langport has installed no server

        Not looked up:
          newer versions than the definitions ask for: no registry was asked (a newer langport brings newer definitions)
    "#]]
    .assert_eq(&Report::of(&registry, &around).text());
}
