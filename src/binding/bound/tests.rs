use expect_test::expect;

use super::*;
use crate::registry::{Scope, Source};

/// `name: language role group` lines.
fn registry(lines: &[&str]) -> Registry {
    Registry::of(lines.iter().map(|line| {
        let mut words = line.split_whitespace();
        let mut next = || words.next().unwrap();
        let (name, language, role, rest) = (next(), next(), next(), words.next());
        let group = rest.map(|group| format!("group = \"{group}\"\n")).unwrap_or_default();
        let text =
            format!("name = \"{name}\"\ncommand = \"x\"\nlanguages = [\"{language}\"]\nrole = \"{role}\"\n{group}");
        Entry {
            def: toml::from_str(&text).unwrap(),
            name: name.parse().unwrap(),
            source: Source::Builtin("x"),
            scope: Scope::Builtin,
        }
    }))
}

fn python() -> Registry {
    registry(&[
        "builtin/pyright python primary python-types",
        "builtin/ruff python linter",
        "builtin/ty python primary python-types",
        "builtin/gopls go primary",
    ])
}

/// Who serves `a.py`, where only the names in `here` are installed and `away` are kept off by their roots.
fn check(binding: &Binding, here: &[&str], away: &[&str], expected: &expect_test::Expect) {
    let bound = Bound::resolve(&python(), binding).unwrap();
    let serving = bound.for_file(Path::new("/r/a.py"), Some("python"), |entry| match entry.name.name() {
        name if away.contains(&name) => Fit::Never,
        name if here.contains(&name) => Fit::Ready,
        _ => Fit::Missing,
    });
    let names = |entries: &[Arc<Entry>]| entries.iter().map(|entry| entry.name.name()).collect::<Vec<_>>().join(",");
    expected.assert_eq(&format!(
        "{} also {} linters {} alternatives {} absent {}",
        serving.primary.as_ref().map_or("-", |entry| entry.name.name()),
        names(&serving.also),
        names(&serving.linters),
        names(&serving.alternatives),
        names(&serving.absent),
    ));
}

#[test]
fn of_alternatives_the_first_that_is_here_serves() {
    let auto = Binding::Auto;
    check(&auto, &["pyright", "ty", "ruff"], &[], &expect!["pyright also  linters ruff alternatives ty absent "]);
    check(&auto, &["ty"], &[], &expect!["ty also  linters  alternatives pyright absent ruff"]);
    check(&auto, &[], &[], &expect!["pyright also  linters  alternatives ty absent ruff"]);
    check(&auto, &["pyright", "ty"], &["pyright", "ruff"], &expect!["ty also  linters  alternatives  absent "]);
}

#[test]
fn what_is_named_serves_in_that_order() {
    let explicit = |names: &[&str]| Binding::Explicit(names.iter().map(|&name| name.to_owned()).collect());
    check(
        &explicit(&["ty", "ruff", "builtin/pyright", "ty"]),
        &[],
        &[],
        &expect!["ty also pyright linters ruff alternatives  absent "],
    );
    check(&explicit(&["gopls"]), &["gopls"], &[], &expect!["- also  linters  alternatives  absent "]);
}

#[test]
fn languages_bind_what_serves_them_and_no_other_file() {
    check(
        &Binding::Languages(vec!["python".to_owned()]),
        &["ty"],
        &[],
        &expect!["ty also  linters  alternatives pyright absent ruff"],
    );
    check(&Binding::Languages(vec!["go".to_owned()]), &["ty"], &[], &expect!["- also  linters  alternatives  absent "]);
}

#[test]
fn what_is_not_there_is_named() {
    let error = |binding: Binding| Bound::resolve(&python(), &binding).unwrap_err().to_string();
    expect!["no definition is called `pyrite`: did you mean `pyright`?"]
        .assert_eq(&error(Binding::Explicit(vec!["pyrite".to_owned()])));
    expect!["no definition serves the language `pyhton`: did you mean `python`?"]
        .assert_eq(&error(Binding::Languages(vec!["pyhton".to_owned()])));
    let strange = error(Binding::Explicit(vec!["{command: x}".to_owned()]));
    assert_eq!(strange, "no definition is called `{command: x}`; `langport list` shows all of them");
}

#[test]
fn definitions_and_settings_say_what_names_mean() {
    let text = "name = \"a/b\"\ncommand = \"x\"\nlanguages = [\"own\"]\nextensions = { \".own\" = \"own\", \".py\" = \"own\" }\nfilenames = [\"Ownfile\"]\n";
    let entry = Entry {
        def: toml::from_str(text).unwrap(),
        name: "a/b".parse().unwrap(),
        source: Source::Builtin("x"),
        scope: Scope::User,
    };
    let bound = Bound::resolve(&Registry::of([entry]), &Binding::Auto).unwrap();
    let settings = Settings { filetypes: [(".py".to_owned(), "python".to_owned())].into(), ..Settings::default() };
    let languages = bound.languages(&settings).unwrap();
    let of = |path: &str| languages.detect(Path::new(path), || None);
    assert_eq!(
        (of("a.own"), of("Ownfile"), of("a.py"), of("a.go")),
        (Some("own"), Some("own"), Some("python"), Some("go"))
    );
    // A file that a definition names itself is served whatever its language is called.
    for path in ["/r/a.own", "/r/Ownfile"] {
        assert!(bound.for_file(Path::new(path), None, |_| Fit::Ready).primary.is_some(), "{path}");
    }
}

#[test]
fn capabilities_are_what_any_may_have() {
    let bound = Bound::resolve(&python(), &Binding::Auto).unwrap();
    assert!(bound.may(Capability::Rename), "undeclared counts as can");
    assert!(!Bound::resolve(&Registry::default(), &Binding::Auto).unwrap().may(Capability::Hover));
}
