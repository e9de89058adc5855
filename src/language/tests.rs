use std::path::Path;

use super::*;

fn of(path: &str) -> Option<&'static str> {
    detect(Path::new(path), || None)
}

fn script(line: &str) -> Option<&'static str> {
    detect(Path::new("bin/tool"), || Some(line.to_owned()))
}

#[test]
fn a3_1_d2_13_names_and_endings() {
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
        ("x.hh", "cpp"),
        ("x.hxx", "cpp"),
        ("q.graphql", "graphql"),
        ("s.prisma", "prisma"),
        ("c.jsonc", "jsonc"),
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

#[test]
fn a3_1_every_pattern_of_the_table_finds_its_language() {
    let names = include_str!("tables/names.txt").lines().filter(|line| !line.starts_with('#'));
    let mut tried = 0;
    for (language, patterns) in names.filter_map(|line| line.split_once(": ")) {
        for pattern in patterns.split(' ').filter(|pattern| !pattern.contains(['*', '?', '{', '['])) {
            let name = if pattern.starts_with('.') { format!("dir/some{pattern}") } else { format!("dir/{pattern}") };
            assert_eq!(of(&name), Some(language), "{name}");
            tried += 1;
        }
    }
    assert!(tried > 500, "{tried}");
}

/// The language of a file with this text.
fn text(name: &str, text: &str) -> Option<&'static str> {
    detect(Path::new(name), || Some(text.to_owned()))
}

#[test]
fn a3_2_mode_lines_and_headers_where_the_name_says_nothing() {
    for (head, language) in [
        ("#!/bin/sh\n# -*- mode: python -*-\n", Some("shellscript")),
        ("# -*- mode: python; coding: utf-8 -*-\n", Some("python")),
        ("/* -*- C++ -*- */\n", Some("cpp")),
        ("\n// -*- tab-width: 4; Mode: js2-mode -*-\n", Some("javascript")),
        ("-- -*- mode: rust-ts-mode -*-\n", Some("rust")),
        ("# -*- coding: utf-8 -*-\n", None),
        ("# vim: set ft=ruby:\n", Some("ruby")),
        ("// vim:ts=4:filetype=typescriptreact\n", Some("typescriptreact")),
        ("a\nb\nc\n# vi: syntax=sh\n", Some("shellscript")),
        ("a\nb\nc\nd\ne\n# vim: ft=ruby\n", None),
        ("regex: ft=ruby\n", None),
        ("# vim: ft=no-such-language\n", None),
        ("<?php echo 1;", Some("php")),
        ("\u{feff}<?xml version='1.0'?>", Some("xml")),
        ("<!DOCTYPE HTML>\n", Some("html")),
        ("%YAML 1.2\n---\n", Some("yaml")),
        ("#compdef tool\n", Some("shellscript")),
        ("diff --git a/x b/x\n", Some("diff")),
        ("just words\n", None),
    ] {
        assert_eq!(text("bin/tool", head), language, "{head:?}");
    }
    // A name that is clear is not doubted.
    assert_eq!(text("a.py", "# vim: ft=ruby\n"), Some("python"));
}

#[test]
fn a3_2_the_text_decides_where_several_languages_share_an_ending() {
    for (name, head, language) in [
        ("a.h", "#include <stdio.h>\nint add(int a, int b);\n", "c"),
        ("a.h", "/* class of its own\n namespace x */\n// class y\nstruct a { int b; };\n", "c"),
        ("a.h", "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif\n", "c"),
        ("a.h", "#ifdef __cplusplus\nnamespace a {\n#if X\n#endif\nclass B;\n}\n#endif\nint f(void);\n", "c"),
        ("a.h", "#pragma once\n#include <string>\n", "cpp"),
        ("a.h", "#include <sys/types.h>\n#include <vector>\n", "cpp"),
        ("a.h", "/* x */ namespace shop {\n", "cpp"),
        ("a.h", "template <typename T> struct A;\n", "cpp"),
        ("a.h", "class A {\n public:\n};\n", "cpp"),
        ("a.h", "void f(std::size_t);\n", "cpp"),
        ("a.h", "#import <Foundation/Foundation.h>\n@class A;\n", "objective-c"),
        ("a.h", "class A;\n@interface B\n@end\n", "objective-c"),
        ("a.h", "// -*- C++ -*-\nint f();\n", "cpp"),
        ("a.h", "", "c"),
        ("a.m", "#import \"A.h\"\n@implementation A\n@end\n", "objective-c"),
        ("a.m", "% Doubles.\nfunction y = twice(x)\n", "matlab"),
        ("a.m", "classdef A\n", "matlab"),
        ("a.m", "#!/usr/bin/octave\nx = 1\n", "matlab"),
        ("a.m", "(* A package *)\nBeginPackage[\"A`\"]\n", "wolfram"),
        ("a.m", "int x;\n", "objective-c"),
        ("a.v", "module main\n\nfn main() {\n}\n", "v"),
        ("a.v", "// adder\nmodule add(input a, input b, output c);\nendmodule\n", "verilog"),
        ("a.v", "`timescale 1ns/1ps\n", "verilog"),
        ("a.v", "(* keep = \"true\" *)\nmodule a;\n", "verilog"),
        ("a.v", "(** Numbers. *)\nRequire Import Arith.\n", "coq"),
        ("a.v", "Theorem plus : forall n, n = n.\nProof.\n", "coq"),
        ("a.v", "x := 1\n", "v"),
        ("a.ts", "export const a = 1;\n", "typescript"),
        ("a.ts", "#!/usr/bin/env node\nlet a: number;\n", "typescript"),
        ("a.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n<TS>\n", "xml"),
        ("a.ts", "<!DOCTYPE TS>\n<TS version=\"2.1\">\n", "xml"),
        ("a.d.ts", "declare const a: number;\n", "typescript"),
        ("a.pl", "#!/usr/bin/perl -w\n", "perl"),
        ("a.pl", "#!/bin/sh\neval 'exec perl -x $0'\nuse strict;\n", "perl"),
        ("a.pl", "use strict;\nmy $x = 1;\n", "perl"),
        ("a.pl", "#!/usr/bin/env swipl\n", "prolog"),
        ("a.pl", ":- module(family, [parent/2]).\n", "prolog"),
        ("a.pl", "% Who is whose.\nparent(tom, bob).\n", "prolog"),
        ("a.pl", "grand(X, Z) :- parent(X, Y), parent(Y, Z).\n", "prolog"),
        ("a.pl", "use v6;\nsay 1;\n", "raku"),
        ("a.pl", "# nothing yet\n", "perl"),
    ] {
        assert_eq!(text(name, head), Some(language), "{name}: {head:?}");
    }
    // A video is of no language, and what cannot be read is what its name says.
    assert_eq!(text("a.ts", "G\0\u{fffd}"), None);
    assert_eq!(of("a.h"), Some("c"));
}

#[test]
fn a3_2_what_stands_beyond_the_head_is_not_seen() {
    let late = format!("{}class A {{}};\n", "int a;\n".repeat(HEAD));
    assert_eq!(text("a.h", &late), Some("c"));
    let wide = "ä".repeat(HEAD);
    assert_eq!(text("a.h", &wide), Some("c"));
}

proptest::proptest! {
    #[test]
    fn a3_2_no_text_panics(name in "\\PC{0,8}(\\.(h|m|v|ts|pl))?", head in "(?s).{0,300}") {
        let _ = detect(Path::new(&name), || Some(head));
    }

    #[test]
    fn a3_2_no_text_of_signs_panics(
        ending in "(h|m|v|ts|pl)",
        parts in proptest::collection::vec("(-\\*-|vim:|ft=|mode:|#|!|/\\*|\\*/|//|@interface|#if|__cplusplus|#endif|:-|\\(\\*|\n| |;|ä|\u{feff}|class |module )", 0..40),
    ) {
        let found = detect(Path::new(&format!("a.{ending}")), || Some(parts.concat()));
        proptest::prop_assert!(found.is_none_or(is_known));
    }

    #[test]
    fn no_name_and_no_line_panics(name in "\\PC{0,24}", line in "\\PC{0,40}") {
        let _ = detect(Path::new(&name), || Some(line));
    }
}
