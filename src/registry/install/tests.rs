use std::os::unix::{fs::PermissionsExt, process::ExitStatusExt};

use super::*;
use crate::registry::{Registry, Scope, Source};

struct Machine {
    temp: tempfile::TempDir,
    around: Surroundings,
}

fn program(path: &Path) {
    files::create_private_dir(path.parent().unwrap()).unwrap();
    files::atomic_write(path, b"#!/bin/sh\n").unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn machine() -> Machine {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path();
    program(&base.join("bin/npm"));
    let dirs = Dirs {
        config: base.join("config"),
        state: base.join("state"),
        data: base.join("data"),
        managed: base.join("managed"),
    };
    let vars = [("PATH", base.join("bin").to_str().unwrap()), ("TOKEN", "x"), ("npm_config_registry", "http://mirror")]
        .into_iter()
        .collect();
    Machine { around: Surroundings { dirs, vars, workspace: Vec::new() }, temp }
}

fn entry(recipe: &str) -> Entry {
    let text = format!("name = \"a/srv\"\ncommand = \"srv\"\nlanguages = [\"go\"]\n[install]\n{recipe}\n");
    Entry {
        def: toml::from_str(&text).unwrap(),
        name: "a/srv".parse().unwrap(),
        source: Source::Builtin("x"),
        scope: Scope::Builtin,
    }
}

/// Does what npm would.
fn npm(command: &Spawn) -> io::Result<ExitStatus> {
    program(&command.cwd.join("node_modules/.bin/srv"));
    Ok(ExitStatus::from_raw(0))
}

fn folders(machine: &Machine) -> Vec<u64> {
    let mut folders = numbered(&machine.temp.path().join("data/servers/a/srv"));
    folders.sort_unstable();
    folders
}

#[test]
fn a_first_one_a_second_one_and_nothing_to_do() {
    let machine = machine();
    let around = &machine.around;
    let one = entry("npm = \"srv@1.0.0\"");
    let prepared = prepare(&one, around).unwrap().unwrap();
    assert_eq!(prepared.replaces, None);
    assert_eq!(prepared.commands.len(), 1);
    assert_eq!(prepared.commands[0].program, machine.temp.path().join("bin/npm"));
    let names: Vec<_> = prepared.commands[0].env.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["PATH", "npm_config_registry"]);
    // Nothing is made before the yes.
    assert!(!around.dirs.data.exists());
    let path = prepared.install(&mut npm).unwrap();
    assert_eq!(path, machine.temp.path().join("data/servers/a/srv/1/node_modules/.bin/srv"));
    assert_eq!(installed(&around.dirs, &one.name).unwrap().pin, "npm srv@1.0.0");
    assert!(prepare(&one, around).unwrap().is_none());

    let two = entry("npm = \"srv@2.0.0\"");
    let prepared = prepare(&two, around).unwrap().unwrap();
    assert_eq!(prepared.replaces.as_ref().unwrap().pin, "npm srv@1.0.0");
    prepared.install(&mut npm).unwrap();
    // The old one stays for servers that still run, until the next.
    assert_eq!(folders(&machine), [1, 2]);
    prepare(&one, around).unwrap().unwrap().install(&mut npm).unwrap();
    assert_eq!(folders(&machine), [2, 3]);
}

#[test]
fn a_failed_one_leaves_the_old_one() {
    let machine = machine();
    let around = &machine.around;
    prepare(&entry("npm = \"srv@1.0.0\""), around).unwrap().unwrap().install(&mut npm).unwrap();
    let two = entry("npm = \"srv@2.0.0\"");

    let failed = prepare(&two, around).unwrap().unwrap().install(&mut |_| Ok(ExitStatus::from_raw(256)));
    assert!(matches!(failed, Err(InstallError::Failed { .. })), "{failed:?}");
    let empty = prepare(&two, around).unwrap().unwrap().install(&mut |_| Ok(ExitStatus::from_raw(0)));
    assert!(matches!(empty, Err(InstallError::NoProgram(_))), "{empty:?}");
    let broken = prepare(&two, around).unwrap().unwrap().install(&mut |_| Err(io::Error::other("no")));
    assert!(matches!(broken, Err(InstallError::Io { .. })), "{broken:?}");

    assert_eq!(folders(&machine), [1]);
    assert_eq!(installed(&around.dirs, &two.name).unwrap().pin, "npm srv@1.0.0");
    let found = crate::registry::locate(&two, around).unwrap();
    assert!(found.ours && found.program.ends_with("1/node_modules/.bin/srv"));
}

#[test]
fn what_was_planned_before_another_one_finished_is_not_run() {
    let machine = machine();
    let one = entry("npm = \"srv@1.0.0\"");
    let late = prepare(&one, &machine.around).unwrap().unwrap();
    prepare(&one, &machine.around).unwrap().unwrap().install(&mut npm).unwrap();
    let result = late.install(&mut |_| panic!("not run"));
    assert!(matches!(result, Err(InstallError::Overtaken { .. })), "{result:?}");
}

#[test]
fn a_damaged_one_is_installed_again() {
    let machine = machine();
    let one = entry("npm = \"srv@1.0.0\"");
    let path = prepare(&one, &machine.around).unwrap().unwrap().install(&mut npm).unwrap();
    files::remove(&path).unwrap();
    assert!(prepare(&one, &machine.around).unwrap().is_some());
}

#[test]
fn what_is_missing_is_named() {
    let machine = machine();
    let error = prepare(&entry("pip = \"srv==1\""), &machine.around).unwrap_err().to_string();
    assert!(error.starts_with("installing a/srv takes pip: no program `python3` in "), "{error}");
    let error = prepare(&entry("hint = \"see srv.dev\""), &machine.around).unwrap_err().to_string();
    assert_eq!(error, "a/srv is not one that langport installs; its definition says: see srv.dev");
}

#[test]
fn the_built_in_recipes_can_be_planned() {
    let machine = machine();
    for manager in ["python3", "go"] {
        program(&machine.temp.path().join("bin").join(manager));
    }
    let (registry, _) = Registry::load(&machine.around.dirs);
    for entry in registry.all().iter().filter(|entry| Recipe::of(&entry.def.install).is_some()) {
        assert!(prepare(entry, &machine.around).unwrap().is_some(), "{}", entry.name);
    }
}

#[test]
fn commands_are_quoted_for_a_shell() {
    let command = Spawn {
        program: "/a b/npm".into(),
        args: vec!["x@1".to_owned(), "it's".to_owned(), String::new()],
        cwd: "/data/1".into(),
        env: vec![("PATH".to_owned(), "/bin:/data/1".to_owned()), ("GOBIN".to_owned(), "/data/1/bin".to_owned())],
        bounds: Default::default(),
    };
    assert_eq!(Prepared::shown(&command), "GOBIN=/data/1/bin '/a b/npm' x@1 'it'\\''s' ''");
}
