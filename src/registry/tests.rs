use std::path::Path;

use super::*;

fn registry(definitions: &[(&str, &str)]) -> (Registry, Vec<LoadError>, tempfile::TempDir) {
    let temp = tempfile::tempdir().unwrap();
    let dirs = dirs(temp.path());
    let folder = dirs.config.join("servers.d");
    crate::sys::files::create_private_dir(&folder).unwrap();
    for (file, text) in definitions {
        crate::sys::files::atomic_write(&folder.join(file), text.as_bytes()).unwrap();
    }
    let (registry, errors) = Registry::load(&dirs);
    (registry, errors, temp)
}

fn dirs(base: &Path) -> Dirs {
    Dirs {
        config: base.join("config"),
        state: base.join("state"),
        data: base.join("data"),
        managed: base.join("managed"),
    }
}

fn names(registry: &Registry) -> Vec<String> {
    registry.all().iter().map(|entry| entry.name.to_string()).collect()
}

#[test]
fn the_built_in_ones_are_in_order_and_without_fault() {
    let (registry, errors, _temp) = registry(&[]);
    assert_eq!(errors, []);
    let names = names(&registry);
    let place = |name: &str| names.iter().position(|other| other == name);
    // The first of a group that is there serves.
    for [first, second] in [["pyright", "ty"], ["typescript7", "typescript-language-server"]] {
        let [first, second] = [first, second].map(|name| place(&format!("builtin/{name}")));
        assert!(first.is_some() && first < second, "{names:?}");
    }
    for entry in registry.all() {
        assert!(!entry.def.description.is_empty(), "{}", entry.name);
        assert!(entry.getting().is_some(), "{}", entry.name);
    }
}

#[test]
fn every_file_of_servers_d_is_built_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("servers.d");
    let mut files: Vec<_> =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let (registry, ..) = registry(&[]);
    let mut built_in: Vec<_> = registry
        .all()
        .iter()
        .map(|entry| match &entry.source {
            Source::Builtin(file) => (*file).to_owned(),
            Source::File(path) => path.display().to_string(),
        })
        .collect();
    built_in.sort();
    assert_eq!(built_in, files);
}

#[test]
fn the_users_come_first_and_a_broken_one_disturbs_nobody() {
    let (registry, errors, temp) = registry(&[
        ("b.toml", "name = \"pyright\"\ncommand = \"my-pyright\"\nlanguages = [\"python\"]\n"),
        ("a.toml", "name = \"team/gopls\"\ncommand = \"gopls\"\nlanguages = [\"go\"]\n"),
        ("c.toml", "name = "),
        (".hidden.toml", "nothing"),
        ("readme.md", "nothing"),
    ]);
    assert_eq!(names(&registry)[..2], ["team/gopls", "local/pyright"]);
    assert!(registry.all()[2..].iter().all(|entry| entry.scope == Scope::Builtin));
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].source_file, temp.path().join("config/servers.d/c.toml").display().to_string());
    assert_eq!(errors[0].line, Some(1));

    // A bare name means the first of local/, builtin/; one that is nowhere else may leave its namespace out too.
    assert_eq!(registry.get("pyright").unwrap().name.to_string(), "local/pyright");
    assert_eq!(registry.get("builtin/pyright").unwrap().scope, Scope::Builtin);
    assert_eq!(registry.get("ty").unwrap().name.to_string(), "builtin/ty");
    assert_eq!(registry.get("team/gopls").unwrap().scope, Scope::User);
    assert!(registry.get("nothing").is_none() && registry.get("../x").is_none());
    assert_eq!(registry.nearest("pyrigth")[0], "pyright");
    let python: Vec<_> = registry.for_language("python").map(|entry| entry.name.to_string()).collect();
    assert_eq!(python[..2], ["local/pyright", "builtin/pyright"]);

    // The display name is no identity.
    let pyright = registry.get("builtin/pyright").unwrap();
    assert_eq!(&*registry.display_name(pyright), "builtin/pyright");
    assert_eq!(&*registry.display_name(registry.get("ty").unwrap()), "ty");
}

#[test]
fn managed_definitions_take_the_place_of_the_users() {
    let (_, _, temp) = registry(&[("a.toml", "name = \"mine\"\ncommand = \"x\"\nlanguages = [\"go\"]\n")]);
    let dirs = dirs(temp.path());
    let managed = dirs.managed.join("servers.d");
    crate::sys::files::create_private_dir(&managed).unwrap();
    crate::sys::files::atomic_write(
        &managed.join("a.toml"),
        b"name = \"theirs\"\ncommand = \"x\"\nlanguages = [\"go\"]\n",
    )
    .unwrap();
    let (registry, errors) = Registry::load(&dirs);
    assert_eq!(errors, []);
    assert_eq!(names(&registry)[0], "local/theirs");
    assert_eq!(registry.all()[0].scope, Scope::Managed);
    assert!(registry.get("mine").is_none());
}

#[test]
fn each_reload_is_a_new_generation() {
    let (registry, _, temp) = registry(&[]);
    let (next, _) = registry.reload(&dirs(temp.path()));
    assert_eq!((registry.generation(), next.generation()), (1, 2));
}

#[test]
fn what_is_faulty_stays_as_it_was_in_its_place_and_what_is_gone_goes() {
    let definition = |name: &str| format!("name = \"{name}\"\ncommand = \"x\"\nlanguages = [\"go\"]\n");
    let [a, b, c] = ["a", "b", "c"].map(definition);
    let (first, _, temp) = registry(&[("a.toml", &a), ("b.toml", &b), ("c.toml", &c)]);
    let folder = dirs(temp.path()).config.join("servers.d");
    crate::sys::files::atomic_write(&folder.join("b.toml"), b"name = ").unwrap();
    crate::sys::files::atomic_write(&folder.join("d.toml"), b"name = ").unwrap();
    crate::sys::files::remove(&folder.join("c.toml")).unwrap();
    let (second, errors) = first.reload(&dirs(temp.path()));
    assert_eq!(names(&second)[..2], ["local/a", "local/b"]);
    assert!(second.get("local/c").is_none());
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(errors[0].contains("b.toml:1") && errors[0].contains("`local/b` stays as it was"), "{errors:?}");
    assert!(errors[1].contains("d.toml:1") && !errors[1].contains("stays"), "{errors:?}");
    // As long as it is faulty, it stays; another one may take its name meanwhile.
    crate::sys::files::atomic_write(&folder.join("d.toml"), b.as_bytes()).unwrap();
    let (third, _) = second.reload(&dirs(temp.path()));
    assert_eq!(names(&third)[..2], ["local/a", "local/b"]);
    assert_eq!(third.all()[1].source, Source::File(folder.join("d.toml")));
}

#[test]
fn what_a_running_server_does_not_hear_of_needs_no_new_start() {
    let entry = |more: &str| {
        let def = toml::from_str(&format!("name = \"a/x\"\ncommand = \"x\"\nlanguages = [\"go\"]\n{more}")).unwrap();
        Entry { def, name: "a/x".parse().unwrap(), source: Source::Builtin("x"), scope: Scope::User }
    };
    let old = entry("");
    for alike in [
        "description = \"d\"",
        "group = \"g\"",
        "refers_to = [\"c\"]",
        "role = \"linter\"",
        "[root]\nmarkers = [[\"a\"]]",
        "[install]\nnpm = \"x@1\"",
    ] {
        assert!(entry(alike).runs_alike(&old), "{alike}");
    }
    for other in [
        "args = [\"-v\"]",
        "[env]\nA = \"1\"",
        "[initialization]\na = 1",
        "[ready]\ngrace_ms = 1",
        "[root]\nshare = true",
    ] {
        assert!(!entry(other).runs_alike(&old), "{other}");
    }
}

#[test]
fn per_04_rust_analyzer_builds_into_a_folder_of_its_own() {
    let (registry, ..) = registry(&[]);
    let entry = registry.get("rust-analyzer").unwrap();
    assert_eq!(entry.def.workspace_settings.get("rust-analyzer.cargo.targetDir"), Some(&true.into()));
    let cargo = entry.def.initialization.get("cargo").and_then(|cargo| cargo.get("targetDir"));
    assert_eq!(cargo, Some(&true.into()), "and from the first moment");
}
