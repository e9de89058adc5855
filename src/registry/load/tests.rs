use expect_test::{Expect, expect};

use super::*;

/// Reads a definition of the user's and shows what is wrong with it.
fn check(text: &str, expected: &Expect) {
    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    add(text, Source::File("x.toml".into()), Scope::User, &mut entries, &mut errors);
    let mut shown = String::new();
    for error in &errors {
        shown += &format!("{error}\n");
    }
    if errors.is_empty() {
        shown += &format!("{} is fine\n", entries[0].name);
    }
    expected.assert_eq(&shown);
}

fn with(line: &str) -> String {
    format!("name = \"a/b\"\ncommand = \"c\"\nlanguages = [\"go\"]\n{line}\n")
}

#[test]
fn what_toml_and_types_tell() {
    check(
        "command = \"c\"\nlanguages = [\"go\"]",
        &expect![[r#"
        x.toml:1: missing field `name`
    "#]],
    );
    check(
        "name = \"a/b\"\nlanguages = [\"go\"]",
        &expect![[r#"
        x.toml:1: missing field `command`
    "#]],
    );
    check(
        &with("comand = \"x\""),
        &expect![[r#"
        x.toml:4: unknown field `comand`: did you mean `command`?
    "#]],
    );
    check(
        &with("comand = \"x\"\nrole = \"lintr\"\nargs = [\n1,\n2,\n]\n[root]\nmarker = []"),
        &expect![[r#"
            x.toml:4: unknown field `comand`: did you mean `command`?
            x.toml:5: unknown variant `lintr`: did you mean `linter`?
            x.toml:7: invalid type: integer `1`, expected a string
            x.toml:8: invalid type: integer `2`, expected a string
            x.toml:11: unknown field `marker`: did you mean `markers`?
        "#]],
    );
    check(
        &with("[root]\nmarker = []"),
        &expect![[r#"
        x.toml:5: unknown field `marker`: did you mean `markers`?
    "#]],
    );
    check(
        &with("capabilities = [\"hovr\"]"),
        &expect![[r#"
        x.toml:4: unknown variant `hovr`: did you mean `hover`?
    "#]],
    );
    check(
        &with("transport = \"pipe\""),
        &expect![[r#"
        x.toml:4: unknown variant `pipe`, expected `stdio` or `tcp`
    "#]],
    );
    check(
        &with("args = \"x\""),
        &expect![[r#"
        x.toml:4: invalid type: string "x", expected a sequence
    "#]],
    );
    check(
        "name = \"a/b\"\n= 1",
        &expect![[r#"
        x.toml:2: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
    "#]],
    );
    check(
        &with(""),
        &expect![[r#"
        a/b is fine
    "#]],
    );
}

#[test]
fn names_commands_and_languages() {
    check(
        "name = \"builtin/x\"\ncommand = \"c\"\nlanguages = [\"go\"]",
        &expect![[r#"
        x.toml:1: `name` `builtin/` is for langport's own: call it `local/x`, which `x` then means first
    "#]],
    );
    check(
        "name = \"a b\"\ncommand = \"../bin/c\"\nlanguages = []",
        &expect![[r#"
        x.toml:1: `name` `a b` is not a name of the form [[server:]namespace/]name: only letters, digits and - _ . + are allowed
        x.toml:2: `command` `../bin/c` climbs out of a folder: write the path out
        x.toml:3: `languages` is empty: name at least one language, or `extensions` with theirs
    "#]],
    );
    check(
        "name = \"x\"\ncommand = \"bin/c\"\nlanguages = [\"pyhton\"]",
        &expect![[r#"
        x.toml:2: `command` `bin/c` is a relative path: write a bare name, an absolute path, or ~/…
        x.toml:3: `languages` `pyhton` is no language that files are known to be in: did you mean `python`?; `extensions` can say which
    "#]],
    );
    check(
        "name = \"x\"\ncommand = \"c --stdio\"\nlanguages = [\"go\"]",
        &expect![[r#"
        x.toml:2: `command` `c --stdio` is one program, no shell reads it: put its arguments into `args`
    "#]],
    );
    check(
        "name = \"x\"\ncommand = \"~/bin/c\"\nlanguages = [\"own\"]\nextensions = { \".own\" = \"own\" }",
        &expect![[r#"
        local/x is fine
    "#]],
    );
    check(
        &with("extensions = { \"own\" = \"\" }"),
        &expect![[r#"
        x.toml:4: `extensions` `own` is not the ending of a file name: it begins with a dot
        x.toml:4: `extensions` `own` has no language
    "#]],
    );
}

#[test]
fn everything_else() {
    check(
        &with("[env]\nLD_PRELOAD = \"x\"\nNODE_OPTIONS = \"x\"\nDYLD_LIBRARY_PATH = \"x\"\nFINE = \"x\""),
        &expect![[r#"
        x.toml:4: `env` `DYLD_LIBRARY_PATH` makes a program load other code: it is never set
        x.toml:4: `env` `LD_PRELOAD` makes a program load other code: it is never set
        x.toml:4: `env` `NODE_OPTIONS` makes a program load other code: it is never set
    "#]],
    );
    check(
        &with("[ready]\nlog = \"(\"\ntimeout_ms = 99999999"),
        &expect![[r#"
        x.toml:5: `ready.log` is not a regular expression: unclosed group
        x.toml:6: `ready.timeout_ms` is more than 600000 (ten minutes)
    "#]],
    );
    check(
        &with("[ready]\nagain = [\"[\"]"),
        &expect![[r#"
            x.toml:5: `ready.again` `[`: unclosed character class; missing ']'
            x.toml:5: `ready.again` needs a signal that can come again: log, notification or progress
        "#]],
    );
    check(
        &with("[root]\nmarkers = [[\"[\"], [\"../x\", \"a.txt#k\"]]\n[watch]\npaths = [\"/etc\"]"),
        &expect![[r##"
        x.toml:5: `root.markers` `[`: unclosed character class; missing ']'
        x.toml:5: `root.markers` `../x` is not the name of a file inside a folder
        x.toml:5: `root.markers` `a.txt#k`: a key can be looked for in .json and .toml files only
        x.toml:7: `watch.paths` `/etc` is not a path inside the root
    "##]],
    );
    check(
        &with("[workspace_settings]\n\"a.b\" = 1\n\"a.b.c\" = 2\n\"..\" = 1"),
        &expect![[r#"
        x.toml:4: `workspace_settings` `..` has an empty part
        x.toml:4: `workspace_settings` `a.b.c` is set both to a value and to a table
    "#]],
    );
    check(
        &with("transport = \"tcp\"\naddress = \"example.com:80\""),
        &expect![[r#"
        x.toml:5: `address` `example.com:80` is not `host:port` on this machine (127.0.0.1, [::1], localhost)
    "#]],
    );
    check(
        &with("transport = \"tcp\"\naddress = \"127.0.0.1:80\""),
        &expect![[r#"
        a/b is fine
    "#]],
    );
    check(
        &with("[install]\nnpm = \"a\"\npip = [\"-r==1\", \"b>=1\"]"),
        &expect![[r#"
        x.toml:5: `install.npm` `a` is not pinned: write `package@version`
        x.toml:6: `install.pip` `-r==1` is not the name of a package
        x.toml:6: `install.pip` `b>=1` is not the name of a package
    "#]],
    );
}

#[test]
fn one_name_stands_once() {
    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    for file in ["a.toml", "b.toml"] {
        add(&with(""), Source::File(file.into()), Scope::User, &mut entries, &mut errors);
    }
    assert_eq!(entries.len(), 1);
    expect!["b.toml:1: `a/b` is already defined by a.toml"].assert_eq(&errors[0].to_string());
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "(name|command|languages|\\[root\\]|\\[ready\\]|=|\"|\\[|\\]|\\n|[a-z.#*/]){0,30}") {
        let (mut entries, mut errors) = (Vec::new(), Vec::new());
        add(&text, Source::File("x.toml".into()), Scope::User, &mut entries, &mut errors);
        proptest::prop_assert_eq!(entries.is_empty(), !errors.is_empty());
    }
}

#[test]
fn one_process_for_several_roots_is_told_the_same_for_all() {
    let with =
        |more: &str| format!("name = \"a/x\"\ncommand = \"x\"\nlanguages = [\"go\"]\n{more}\n[root]\nshare = true\n");
    check(
        &with(""),
        &expect![[r#"
        a/x is fine
    "#]],
    );
    check(
        &with("args = [\"${root}\"]"),
        &expect![[r#"
        x.toml:6: `root.share` cannot be, since `${root}` is another one for each root
    "#]],
    );
    check(
        &with("[workspace_settings]\na = \"${venv}/bin\""),
        &expect![[r#"
        a/x is fine
    "#]],
    );
}
