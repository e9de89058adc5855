#![expect(clippy::disallowed_methods, reason = "tests make their own folders")]

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::json;

use super::*;
use crate::registry::{Registry, Source};

struct Machine {
    temp: tempfile::TempDir,
    around: Surroundings,
}

impl Machine {
    /// A machine whose PATH has a folder outside the workspace, two inside it and a relative one.
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let dirs = Dirs {
            config: base.join("config"),
            state: base.join("state"),
            data: base.join("data"),
            managed: base.join("managed"),
        };
        fs::create_dir_all(base.join("repo/api")).unwrap();
        fs::create_dir_all(base.join("bin")).unwrap();
        std::os::unix::fs::symlink(base.join("repo"), base.join("link")).unwrap();
        let path = format!("{0}/repo/bin:.:relative:{0}/link/bin:{0}/bin", base.display());
        let home = base.join("home");
        let vars = [("PATH", path.as_str()), ("HOME", home.to_str().unwrap()), ("TOKEN", "secret"), ("PORT", "80")];
        let around = Surroundings { dirs, vars: vars.into_iter().collect(), workspace: vec![base.join("repo")] };
        Self { temp, around }
    }

    fn base(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap()
    }

    fn program(&self, path: &str) -> PathBuf {
        let path = self.base().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn resolve(&self, entry: &Entry) -> Result<Launch, LaunchError> {
        resolve(entry, &self.base().join("repo/api"), &self.around)
    }

    fn venv(&self, folder: &str) -> PathBuf {
        let venv = self.base().join(folder);
        fs::create_dir_all(venv.join("lib/python3.12/site-packages")).unwrap();
        fs::write(venv.join("pyvenv.cfg"), "").unwrap();
        venv
    }
}

fn entry(scope: Scope, text: &str) -> Entry {
    let text = if text.contains("command") { text.to_owned() } else { format!("command = \"srv\"\n{text}") };
    let def = toml::from_str(&format!("name = \"a/srv\"\nlanguages = [\"python\"]\n{text}")).unwrap();
    Entry { def, name: "a/srv".parse().unwrap(), source: Source::Builtin("x"), scope }
}

fn env<'a>(launch: &'a Launch, name: &str) -> Option<&'a str> {
    launch.env.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

#[test]
fn a_bare_command_is_never_found_in_the_workspace() {
    let machine = Machine::new();
    machine.program("repo/bin/srv");
    machine.program("repo/api/node_modules/.bin/srv");
    let entry = entry(Scope::User, "[install]\nnpm = \"srv@1\"");
    let error = machine.resolve(&entry).unwrap_err();
    let LaunchError::NotInstalled { command, searched, getting } = &error else { panic!("{error}") };
    assert_eq!(command, "srv");
    assert!(searched.contains("inside the workspace"), "{searched}");
    assert_eq!(getting.as_ref().and_then(Getting::command), Some("langport install a/srv"));

    let outside = machine.program("bin/srv");
    let launch = machine.resolve(&entry).unwrap();
    assert_eq!(launch.program, outside);
    // What the server looks for on PATH is not the workspace's either.
    assert_eq!(env(&launch, "PATH"), Some(machine.base().join("bin").to_str().unwrap()));

    // An installation of langport's own comes before PATH.
    let home = machine.around.dirs.data.join("servers/a/srv");
    let ours = machine.program("data/servers/a/srv/3/node_modules/.bin/srv");
    fs::write(home.join("current.json"), r#"{"folder":3,"manager":"npm","pin":"npm srv@1"}"#).unwrap();
    assert_eq!(locate(&entry, &machine.around), Ok(Found { program: ours, ours: true }));
}

#[test]
fn an_interpreter_that_is_a_link_into_the_workspace_is_not_on_path() {
    let mut machine = Machine::new();
    machine.program("bin/srv");
    machine.program("links/tool");
    let base = machine.base();
    let path = format!("{0}/links:{0}/bin", base.display());
    machine.around.vars = [("PATH", path.as_str())].into_iter().collect();
    let entry = entry(Scope::User, "");
    let searched = |machine: &Machine| env(&machine.resolve(&entry).unwrap(), "PATH").unwrap().to_owned();
    // A tool of the user's own that happens to lie in the workspace is nothing that a server calls.
    std::os::unix::fs::symlink(machine.program("repo/bin/mine"), base.join("links/mine")).unwrap();
    assert_eq!(searched(&machine), path);
    std::os::unix::fs::symlink(machine.program("repo/bin/node"), base.join("between")).unwrap();
    std::os::unix::fs::symlink(base.join("between"), base.join("links/node")).unwrap();
    assert_eq!(searched(&machine), base.join("bin").to_str().unwrap());
}

#[test]
fn what_would_execute_the_repository_does_not_run() {
    let machine = Machine::new();
    let never = entry(Scope::Builtin, "[untrusted]\nrun = \"none\"\n[install]\nnpm = \"srv@1\"");
    assert_eq!(locate(&never, &machine.around), Err(LaunchError::Executes), "there is no point in installing it");

    machine.program("bin/srv");
    let ours = entry(
        Scope::Builtin,
        r#"
        [initialization]
        lib = "${install}/lib"
        trusted = true
        [untrusted]
        run = "installed"
        initialization = { trusted = false }
        [install]
        npm = "srv@1"
        "#,
    );
    assert!(matches!(machine.resolve(&ours), Err(LaunchError::NotInstalled { getting: Some(_), .. })));
    let home = machine.around.dirs.data.join("servers/a/srv");
    machine.program("data/servers/a/srv/3/node_modules/.bin/srv");
    fs::write(home.join("current.json"), r#"{"folder":3,"manager":"npm","pin":"npm srv@1"}"#).unwrap();
    let launch = machine.resolve(&ours).unwrap();
    assert_eq!(launch.initialization, json!({"lib": home.join("3/lib"), "trusted": false}));
}

#[test]
fn a_path_that_follows_the_repository_is_the_repositorys() {
    let machine = Machine::new();
    let inside = machine.program("repo/api/bin/srv");
    let refused = machine.resolve(&entry(Scope::User, "command = \"${root}/bin/srv\"")).unwrap_err();
    assert_eq!(refused, LaunchError::Untrusted { program: inside.clone() });
    // One that the user wrote out is the user's choice.
    let written = format!("command = \"{}\"", inside.display());
    assert_eq!(machine.resolve(&entry(Scope::User, &written)).unwrap().program, inside);
    assert!(matches!(machine.resolve(&entry(Scope::Project, &written)), Err(LaunchError::Untrusted { .. })));
}

#[test]
fn everything_is_expanded() {
    let machine = Machine::new();
    machine.program("bin/srv");
    let entry = entry(
        Scope::User,
        r#"
        args = ["--root", "${root}", "--token=${TOKEN}", "--cache=${HOME}/${root_hash}", "--venv=${venv}"]
        unset = "null"
        [env]
        A = "${MISSING:a:b}"
        VIRTUAL_ENV = "${venv}"
        [initialization]
        port = "${PORT}"
        nested = [{ extra = ["${venv_site_packages}"] }]
        [workspace_settings]
        "srv.paths" = ["${venv_site_packages}", "${root}/x"]
        "srv.on" = true
        [untrusted]
        args = ["--no-plugins"]
        settings = { "srv.on" = false }
        env = { A = "safe" }
        "#,
    );
    let root = machine.base().join("repo/api");
    let launch = machine.resolve(&entry).unwrap();
    let hash = &launch.args[3][launch.args[3].len() - 16..];
    assert!(hash.chars().all(|c| c.is_ascii_hexdigit()), "{hash}");
    let cache = format!("--cache={}/{hash}", machine.base().join("home").display());
    assert_eq!(launch.args, ["--root", root.to_str().unwrap(), "--token=secret", &cache, "--no-plugins"]);
    assert_eq!(launch.shown[3], "--token=${TOKEN}");
    assert_eq!(launch.cwd, root);
    assert_eq!((env(&launch, "A"), env(&launch, "VIRTUAL_ENV")), (Some("safe"), None));
    assert_eq!(launch.initialization, json!({"port": "80", "nested": [{"extra": []}]}));
    let paths = json!([root.join("x")]);
    assert_eq!(*launch.settings.tree(), json!({"srv": {"paths": paths, "on": false}}));
    assert_eq!(launch.settings.lookup(Some("other")), Value::Null);
    assert!(!format!("{launch:?}").contains("secret"));

    let venv = machine.venv("repo/.venv");
    let launch = machine.resolve(&entry).unwrap();
    assert_eq!(env(&launch, "VIRTUAL_ENV"), venv.to_str());
    let packages = venv.join("lib/python3.12/site-packages");
    assert_eq!(launch.settings.lookup(Some("srv.paths")), json!([packages, root.join("x")]));
}

#[test]
fn what_cannot_be_expanded_names_its_key() {
    let machine = Machine::new();
    machine.program("bin/srv");
    let error = |scope, text: &str| machine.resolve(&entry(scope, text)).unwrap_err().to_string();
    expect_test::expect!["env.A: `${NOPE}` is not set: set it, or give a default, `${NOPE:…}`"]
        .assert_eq(&error(Scope::User, "[env]\nA = \"${NOPE}\""));
    machine.program("bin/srv");
    let project = "args = [\"${TOKEN}\"]";
    expect_test::expect!["args: `${TOKEN}` may not be read by a definition of the repository"]
        .assert_eq(&error(Scope::Project, project));
    assert!(machine.resolve(&entry(Scope::Project, "args = [\"${HOME}\"]")).is_ok());
}

#[test]
fn the_built_in_ones_get_a_virtual_environment_as_data() {
    let machine = Machine::new();
    for program in ["pyright-langserver", "ty", "ruff"] {
        machine.program(&format!("bin/{program}"));
    }
    let venv = machine.venv("repo/api/.venv");
    let (registry, _) = Registry::load(&machine.around.dirs);
    let launch = |name: &str| machine.resolve(registry.get(name).unwrap()).unwrap();

    let pyright = launch("pyright");
    assert_eq!(
        pyright.settings.lookup(Some("python.analysis.extraPaths")),
        json!([venv.join("lib/python3.12/site-packages")])
    );
    assert_eq!(pyright.settings.lookup(Some("python.pythonPath")), json!({}));
    assert_eq!(env(&launch("ty"), "VIRTUAL_ENV"), venv.to_str());

    fs::remove_dir_all(venv).unwrap();
    let pyright = launch("pyright");
    assert_eq!(*pyright.settings.tree(), json!({"python": {"analysis": {"extraPaths": []}}}));
    assert_eq!(env(&launch("ty"), "VIRTUAL_ENV"), None);
}

#[test]
fn variables_are_passed_on_by_name_and_absent_where_they_are_not_set() {
    let machine = Machine::new();
    machine.program("bin/srv");
    let text = "pass_env = [\"TOKEN\", \"GOFLAGS\", \"HOME\"]";
    let passed = |scope| machine.resolve(&entry(scope, text)).unwrap().pass_env;
    assert_eq!(passed(Scope::User), ["TOKEN", "GOFLAGS", "HOME"]);
    assert_eq!(passed(Scope::Project), ["HOME"]);
    let all: Vec<_> = crate::sys::process::allowed_env(&["LANGPORT_NO_SUCH_VARIABLE".to_owned()], &[]);
    assert!(!all.iter().any(|(name, _)| name == "LANGPORT_NO_SUCH_VARIABLE"));
}
