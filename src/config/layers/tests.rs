use expect_test::{Expect, expect};

use super::*;
use crate::sys::files;

struct Machine(tempfile::TempDir);

impl Machine {
    fn new(user: Option<&str>, managed: Option<&str>) -> Self {
        let temp = tempfile::tempdir().unwrap();
        for (folder, text) in [("config", user), ("managed", managed)] {
            if let Some(text) = text {
                files::create_private_dir(&temp.path().join(folder)).unwrap();
                files::atomic_write(&temp.path().join(folder).join("config.toml"), text.as_bytes()).unwrap();
            }
        }
        Self(temp)
    }

    fn load(&self, env: &[(&str, &str)], flags: &Flags) -> Result<Loaded, ConfigError> {
        let at = |folder: &str| self.0.path().join(folder);
        let dirs = Dirs { config: at("config"), state: at("state"), data: at("data"), managed: at("managed") };
        load(&dirs, &env.iter().copied().collect(), flags)
    }

    /// Loads, and shows what is wrong.
    fn check(&self, env: &[(&str, &str)], expected: &Expect) -> Settings {
        let loaded = self.load(env, &Flags::default()).unwrap();
        let mut shown = String::new();
        for problem in &loaded.problems {
            shown += &format!("{}\n", problem.to_string().replace(self.0.path().to_str().unwrap(), "BASE"));
        }
        expected.assert_eq(&shown);
        loaded.settings
    }
}

#[test]
fn later_layers_win_and_tables_keep_the_rest() {
    let machine = Machine::new(
        Some("max_chars = 4000\ninstances = 4\npermission = \"read-only\"\n[filetypes]\n\".inc\" = \"php\""),
        None,
    );
    assert_eq!(Machine::new(None, None).load(&[], &Flags::default()).unwrap().settings, Settings::default());
    let env = [
        ("LANGPORT_MAX_CHARS", "5000"),
        ("LANGPORT_WATCH_EVENTS", "false"),
        ("LANGPORT_BIND", "ty, ruff"),
        ("OTHER", "x"),
    ];
    let flags = Flags {
        permission: Some(Permission::WorkspaceWrite),
        bind: Some(vec!["pyright".to_owned()]),
        ..Flags::default()
    };
    let Loaded { settings, problems, .. } = machine.load(&env, &flags).unwrap();
    assert_eq!(problems, []);
    assert_eq!((settings.instances, settings.max_chars, settings.watch_events), (4, 5000, false));
    assert_eq!(settings.permission, Permission::WorkspaceWrite);
    assert_eq!(settings.bind, ["pyright"]);
    assert_eq!(settings.filetypes[".inc"], "php");
    assert_eq!(settings.max_wait_ms, 25_000);
    let alone = machine.load(&env, &Flags::default()).unwrap().settings;
    assert_eq!(alone.bind, ["ty", "ruff"]);
}

#[test]
fn a_wrong_layer_of_the_users_is_named_and_left_out() {
    let file = |text: &str, expected: &Expect| Machine::new(Some(text), None).check(&[], expected);
    file(
        "max_char = 1",
        &expect![[r#"
        BASE/config/config.toml:1: `max_char` is not a setting: did you mean `max_chars`? (until this is mended nothing is written, and the file is left out but for its limits)
    "#]],
    );
    file(
        "max_chars = 99999",
        &expect![[r#"
            BASE/config/config.toml:1: `max_chars` is 99999, and has to be within 200 and 40000 (until this is mended nothing is written, and the file is left out but for its limits)
        "#]],
    );
    file(
        "max_chars = \"many\"",
        &expect![[r#"
        BASE/config/config.toml:1: `max_chars` is string "many", but takes a number (until this is mended nothing is written, and the file is left out but for its limits)
    "#]],
    );
    file(
        "nice = \"low\"",
        &expect![[r#"
        BASE/config/config.toml:1: `nice` is string "low", but takes a number (until this is mended nothing is written, and the file is left out but for its limits)
    "#]],
    );
    file(
        "output = \"xml\"",
        &expect![[r#"
        BASE/config/config.toml:1: `output` cannot be `xml`: it can be text, structured, both (until this is mended nothing is written, and the file is left out but for its limits)
    "#]],
    );
    file(
        "output = ",
        &expect![[r#"
        BASE/config/config.toml:1: string values must be quoted, expected literal string (until this is mended nothing is written, and the file is left out but for its limits)
    "#]],
    );
    file(
        "capabilities = [\"hovr\"]",
        &expect![[r#"
        BASE/config/config.toml:1: `capabilities` cannot be `hovr`: did you mean `hover`? (until this is mended nothing is written, and the file is left out but for its limits)
    "#]],
    );
    let settings = file(
        "instances = 3\n[filetypes]\n\"[\" = \"c\"",
        &expect![[r#"
            BASE/config/config.toml:3: `filetypes` has `[`, which is no glob: unclosed character class; missing ']' (until this is mended nothing is written, and the file is left out but for its limits)
        "#]],
    );
    assert_eq!(settings, Settings { permission: Permission::ReadOnly, ..Settings::default() });
}

#[test]
fn every_mistake_of_a_file_is_told_at_once() {
    let text = "max_char = 1\noutput = \"xml\"\n\ncapabilities = [\n  \"hovr\",\n  \"hover\",\n]\ninstances = 4\nnice = 40\n[permision]\nx = 1\n[filetypes]\n\".x\" = 3\n\".y\" = \"c\"\n";
    Machine::new(Some(text), None).check(
        &[],
        &expect![[r#"
            BASE/config/config.toml:1: `max_char` is not a setting: did you mean `max_chars`?
            BASE/config/config.toml:2: `output` cannot be `xml`: it can be text, structured, both
            BASE/config/config.toml:5: `capabilities` cannot be `hovr`: did you mean `hover`?
            BASE/config/config.toml:9: `nice` is 40, and has to be within 0 and 19
            BASE/config/config.toml:10: `permision` is not a setting: did you mean `permission`?
            BASE/config/config.toml:13: `filetypes` at `.x` is signed int `3`, but takes a string (until this is mended nothing is written, and the file is left out but for its limits)
        "#]],
    );
    let loaded = Machine::new(Some(text), None).load(&[], &Flags::default()).unwrap();
    assert!(loaded.forbidden.unwrap().ends_with("did you mean `max_chars`? (and 5 more mistakes there)"));
    let managed = Machine::new(None, Some("max_char = 1\nnice = 40")).load(&[], &Flags::default());
    let said = managed.unwrap_err().to_string();
    assert!(said.ends_with("did you mean `max_chars`?; line 2: `nice` is 40, and has to be within 0 and 19"), "{said}");
    let many: String = (0..100).map(|n| format!("key_{n} = 1\n")).collect();
    assert_eq!(Machine::new(Some(&many), None).load(&[], &Flags::default()).unwrap().problems.len(), 8);
}

#[test]
fn a_wrong_variable_costs_only_itself() {
    let machine = Machine::new(Some("instances = 3"), None);
    let env = [
        ("LANGPORT_CONFIG_DIR", "/x"),
        ("LANGPORT_LOG", "debug"),
        ("LANGPORT_MAX_CHAR", "1"),
        ("LANGPORT_MAX_CHARS", "1"),
        ("LANGPORT_MAX_WAIT_MS", "5000"),
        ("LANGPORT_OUTPUT", "xml"),
        ("LANGPORT_PERMISSION", "readonly"),
    ];
    let settings = machine.check(
        &env,
        &expect![[r#"
            LANGPORT_MAX_CHAR: is not a setting: did you mean `LANGPORT_MAX_CHARS`?
            LANGPORT_MAX_CHARS: `max_chars` is 1, and has to be within 200 and 40000
            LANGPORT_OUTPUT: `output` cannot be `xml`: it can be text, structured, both
            LANGPORT_PERMISSION: `permission` cannot be `readonly`: did you mean `read-only`?
        "#]],
    );
    assert_eq!((settings.instances, settings.max_chars, settings.max_wait_ms), (3, 8000, 5000));
    assert_eq!(settings.permission, Permission::ReadOnly);
}

#[test]
fn managed_configuration_takes_the_place_of_the_users_and_is_never_ignored() {
    let machine = Machine::new(Some("instances = 3"), Some("permission = \"read-only\"\nmax_chars = 900"));
    let flags = Flags { permission: Some(Permission::WorkspaceWrite), ..Flags::default() };
    let settings = machine.load(&[("LANGPORT_PERMISSION", "workspace-write")], &flags).unwrap().settings;
    assert_eq!((settings.instances, settings.max_chars, settings.permission), (16, 900, Permission::ReadOnly));

    assert!(Machine::new(None, Some("permision = \"read-only\"")).load(&[], &Flags::default()).is_err());
}

#[test]
fn where_a_setting_was_set_is_known() {
    let machine =
        Machine::new(Some("max_chars = 900\nbind = [\n  \"ty\",\n  'nope',\n]\n[filetypes]\n\".inc\" = \"phq\""), None);
    let flags = Flags { languages: Some(vec!["x".to_owned()]), ..Flags::default() };
    let Loaded { origins, .. } = machine.load(&[("LANGPORT_WITHHELD", "a,b")], &flags).unwrap();
    let check = |key: &str, value: &str, expected: Expect| {
        let told = origins.wrong(key, value, "is so".to_owned()).to_string();
        let told = told.replace(machine.0.path().to_str().unwrap(), "BASE");
        expected.assert_eq(&format!("{told} {}", origins.is_binding(key)));
    };
    check("bind", "nope", expect!["BASE/config/config.toml:4: `bind` is so false"]);
    check("bind", "ty", expect!["BASE/config/config.toml:3: `bind` is so false"]);
    check("bind", "other", expect!["BASE/config/config.toml:2: `bind` is so false"]);
    check("filetypes", ".inc", expect!["BASE/config/config.toml:7: `filetypes` is so false"]);
    check("withheld", "b", expect!["LANGPORT_WITHHELD: is so false"]);
    check("languages", "x", expect!["--languages: is so true"]);
    check("documents", "1", expect!["settings: is so false"]);
}

#[test]
fn the_mistake_that_forbids_to_write_is_known() {
    let forbidden = |text: &str, env: &[(&str, &str)], flags: &Flags| {
        let loaded = Machine::new(Some(text), None).load(env, flags).unwrap();
        loaded.forbidden.map(|told| told.rsplit_once("config.toml").map_or(told.clone(), |(_, told)| told.to_owned()))
    };
    let (none, faulty) = (Flags::default(), "max_char = 1");
    let told = forbidden(faulty, &[], &none);
    assert_eq!(told.as_deref(), Some(":1: `max_char` is not a setting: did you mean `max_chars`?"));
    let variable = forbidden("", &[("LANGPORT_PERMISSION", "readonly")], &none);
    assert!(variable.is_some_and(|told| told.starts_with("LANGPORT_PERMISSION: ")));
    let flags = |permission| Flags { permission: Some(permission), ..Flags::default() };
    // A flag does not know better than the file what that forbids.
    assert!(forbidden(faulty, &[], &flags(Permission::WorkspaceWrite)).is_some());
    assert_eq!(forbidden(faulty, &[], &flags(Permission::ReadOnly)), None);
    assert_eq!(forbidden("permission = \"read-only\"", &[], &none), None);
}

/// What shuts in and limits counts in a file with a mistake; what of it cannot be read counts as the strictest.
#[test]
fn a_mistake_lets_nobody_out() {
    let kept = |text: &str| {
        let settings = Machine::new(Some(text), None).load(&[], &Flags::default()).unwrap().settings;
        (settings.sandbox, settings.memory_mb, settings.capabilities.len(), settings.max_chars)
    };
    let chars = Settings::default().max_chars;
    let typo = "max_char = 5\n";
    let limits = "sandbox = \"bwrap-write\"\nmemory_mb = 512\ncapabilities = [\"hover\"]\nmax_chars = 4000\n";
    assert_eq!(kept(&format!("{limits}{typo}")), (Sandbox::BwrapWrite, 512, 1, chars));
    assert_eq!(kept(&format!("{limits}restarts = 100000\n")), (Sandbox::BwrapWrite, 512, 1, chars));
    // No TOML at all.
    assert_eq!(kept(&format!("{limits}output = text\n")), (Sandbox::BwrapWrite, 512, 1, chars));
    assert_eq!(kept("sandbox = bwrap\n").0, Sandbox::Bwrap);
    assert_eq!(kept("sandbox = \"bwarp\"\nmemory_mb = -1\n"), (Sandbox::Bwrap, 0, 0, chars));
    assert_eq!(kept(typo), (Sandbox::None, 0, 0, chars));
    let variable = [("LANGPORT_SANDBOX", "bwarp")];
    let loaded = Machine::new(None, None).load(&variable, &Flags::default()).unwrap();
    assert_eq!((loaded.settings.sandbox, loaded.problems.len()), (Sandbox::Bwrap, 1));
}
