use std::path::Path;

use super::*;

fn of(path: &str) -> Option<&'static str> {
    detect(Path::new(path), || None)
}

fn script(line: &str) -> Option<&'static str> {
    detect(Path::new("bin/tool"), || Some(line.to_owned()))
}

#[test]
fn names_and_endings() {
    for (path, language) in [
        ("a/main.py", "python"),
        ("a/stub.pyi", "python"),
        ("v.tsx", "typescriptreact"),
        ("v.jsx", "javascriptreact"),
        ("v.mts", "typescript"),
        ("v.cjs", "javascript"),
        ("v.d.ts", "typescript"),
        ("UP.TS", "typescript"),
        ("x.C", "cpp"),
        ("x.c", "c"),
        ("x.h", "c"),
        ("x.hpp", "cpp"),
        ("x.m", "objective-c"),
        ("x.v", "v"),
        ("view.blade.php", "blade"),
        ("view.php", "php"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        ("go.mod", "go.mod"),
        (".bashrc", "shellscript"),
        (".env", "dotenv"),
        ("tsconfig.build.json", "jsonc"),
        ("p/.vscode/settings.json", "jsonc"),
        ("settings.json", "json"),
        ("docker-compose.yml", "dockercompose"),
        ("deploy.yml", "yaml"),
        ("/repo/.github/workflows/ci.yaml", "github-actions-workflow"),
        ("notes.lhs", "literate haskell"),
    ] {
        assert_eq!(of(path), Some(language), "{path}");
    }
    assert_eq!(of("README"), None);
    assert_eq!(of("x.unheard-of"), None);
}

#[test]
fn the_first_line_is_read_only_when_the_name_says_nothing() {
    assert_eq!(detect(Path::new("a.py"), || panic!("not asked for")), Some("python"));
    for (line, language) in [
        ("#!/bin/sh", Some("shellscript")),
        ("#!/usr/bin/env python3", Some("python")),
        ("#! /usr/bin/python3.12 -u", Some("python")),
        ("#!/usr/bin/env -S FOO=1 deno run", Some("typescript")),
        ("\u{feff}#!/usr/bin/env lua5.4", Some("lua")),
        ("#!C:\\tools\\ruby.exe", Some("ruby")),
        ("///usr/bin/env jbang", Some("java")),
        ("#!/usr/bin/env", None),
        ("#!", None),
        ("", None),
        ("print('no')", None),
        ("#!/opt/unheard-of", None),
    ] {
        assert_eq!(script(line), language, "{line}");
    }
}

#[test]
fn overrides_come_first_and_their_first_pattern_stands() {
    let overrides = Overrides::new([
        (".inc", "php"),
        (".h", "cpp"),
        (".h", "c"),
        ("**/legacy/*.pl", "prolog"),
        ("Jobfile", "ruby"),
    ])
    .unwrap();
    let of = |path: &str| overrides.detect(Path::new(path), || None);
    assert_eq!(of("a.inc"), Some("php"));
    assert_eq!(of("a.h"), Some("cpp"));
    assert_eq!(of("x/legacy/a.pl"), Some("prolog"));
    assert_eq!(of("x/a.pl"), Some("perl"));
    assert_eq!(of("Jobfile"), Some("ruby"));
    assert_eq!(of("a.py"), Some("python"));
    assert!(Overrides::new([("[", "c")]).is_err());
}

#[test]
fn known_languages_are_sorted_and_unique() {
    let all = known();
    assert!(all.is_sorted_by(|a, b| a < b));
    assert!(is_known("python") && is_known("gnuplot") && !is_known("pythonn"));
}

proptest::proptest! {
    #[test]
    fn no_name_and_no_line_panics(name in "\\PC{0,24}", line in "\\PC{0,40}") {
        let _ = detect(Path::new(&name), || Some(line));
    }
}
