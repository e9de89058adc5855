//! What the first lines of a text say of its language: `#!`, the mode lines of vim and Emacs, headers, and, for endings
//! that several languages share, what only one of them would write. Pure, and bounded to [`HEAD`] bytes and [`LINES`] lines.

use std::path::Path;

use super::{shebang, table};

/// Bytes of a file that are looked at.
pub const HEAD: usize = 4096;
/// Lines of it.
const LINES: usize = 100;
/// vim looks for mode lines in so many.
const MODE_LINES: usize = 5;
/// No language has a longer name.
const NAME: usize = 40;

/// The languages that claim one ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shared {
    /// C, C++, Objective-C.
    H,
    /// Objective-C, MATLAB, Wolfram.
    M,
    /// V, Verilog, Rocq.
    V,
    /// TypeScript, a translation of Qt, a video.
    Ts,
    /// Perl, Prolog, Raku.
    Pl,
}

/// What a text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Language(&'static str),
    /// It is of no language at all.
    NoText,
    Nothing,
}

impl Shared {
    fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        match ending.to_ascii_lowercase().as_str() {
            // `.H` is C++ alone.
            "h" if ending == "h" => Some(Self::H),
            "m" => Some(Self::M),
            "v" => Some(Self::V),
            "ts" if !path.to_str()?.ends_with(".d.ts") => Some(Self::Ts),
            "pl" => Some(Self::Pl),
            _ => None,
        }
    }

    fn claims(self, language: &str) -> bool {
        let claimants: &[&str] = match self {
            Self::H => &["c", "cpp", "objective-c", "objective-cpp", "cuda-cpp"],
            Self::M => &["objective-c", "objective-cpp", "matlab", "wolfram"],
            Self::V => &["v", "verilog", "systemverilog", "coq"],
            Self::Ts => &["typescript", "typescriptreact", "xml"],
            Self::Pl => &["perl", "prolog", "raku"],
        };
        claimants.contains(&language)
    }
}

/// Whether the name alone does not tell the language.
pub(super) fn is_shared(path: &Path) -> bool {
    Shared::of(path).is_some()
}

/// The language of a file whose name says nothing, or says several things.
pub(super) fn language(path: &Path, head: &str) -> Said {
    let text = self::head(head);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let shared = Shared::of(path);
    // A transport stream has a sync byte each 188 bytes, and no text holds a NUL.
    if shared == Some(Shared::Ts) && text.contains('\0') {
        return Said::NoText;
    }
    let first = text.lines().next().unwrap_or_default();
    let script = shebang::interpreter(first).and_then(|program| table::interpreter(&program));
    // Of those that share the ending: a TypeScript file may begin with node's `#!`, one of Perl with the shell's.
    let fits = |language: &&str| shared.is_none_or(|shared| shared.claims(language));
    script
        .filter(fits)
        .or_else(|| mode_line(text).filter(fits))
        .or_else(|| header(first).filter(fits))
        .or_else(|| shared.and_then(|shared| structure(shared, text)))
        .map_or(Said::Nothing, Said::Language)
}

/// The part of a text that is looked at.
pub fn head(text: &str) -> &str {
    let mut end = text.len().min(HEAD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].match_indices('\n').nth(LINES - 1).map_or(&text[..end], |(at, _)| &text[..at])
}

/// `-*- mode: c++ -*-` in the first line (the second after `#!`), `vim: set ft=cpp:` in one of the first.
fn mode_line(text: &str) -> Option<&'static str> {
    let emacs = text.lines().take(2).find_map(emacs);
    emacs.or_else(|| text.lines().take(MODE_LINES).find_map(vim)).and_then(named)
}

fn emacs(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("-*-")?;
    let (inside, _) = rest.split_once("-*-")?;
    if !inside.contains(':') {
        return Some(inside.trim());
    }
    inside.split(';').find_map(|part| {
        let (key, value) = part.split_once(':')?;
        key.trim().eq_ignore_ascii_case("mode").then(|| value.trim())
    })
}

/// `vim:`, `vi:` and `ex:` at the beginning or behind a blank, then options apart by blanks or colons.
fn vim(line: &str) -> Option<&str> {
    let after = ["vim:", "vi:", "ex:"].iter().find_map(|mark| {
        let at = line.find(mark)?;
        let free = line[..at].chars().next_back().is_none_or(char::is_whitespace);
        free.then(|| &line[at + mark.len()..])
    })?;
    after.split([' ', '\t', ':']).find_map(|option| {
        let (key, value) = option.split_once('=')?;
        ["ft", "filetype", "syntax", "syn"].contains(&key).then_some(value)
    })
}

/// The id that editors' names stand for.
fn named(mode: &str) -> Option<&'static str> {
    if mode.is_empty() || mode.len() > NAME {
        return None;
    }
    let mode = mode.to_ascii_lowercase();
    let mode = mode.strip_suffix("-mode").unwrap_or(&mode);
    let mode = mode.strip_suffix("-ts").unwrap_or(mode);
    table::mode(mode)
}

/// What the first line of a file can be of one language only.
fn header(first: &str) -> Option<&'static str> {
    let first = first.trim_start();
    let starts = |prefix: &str| first.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    [
        ("<?php", "php"),
        ("<?xml", "xml"),
        ("<!doctype html", "html"),
        ("<html", "html"),
        ("<svg", "xml"),
        ("%yaml", "yaml"),
        ("#compdef", "shellscript"),
        ("#autoload", "shellscript"),
        ("diff --git ", "diff"),
        ("\\documentclass", "latex"),
    ]
    .iter()
    .find_map(|(prefix, language)| starts(prefix).then_some(*language))
}

/// What only one of the languages of an ending would write. Comments count for none, except where they are the sign.
fn structure(shared: Shared, text: &str) -> Option<&'static str> {
    match shared {
        Shared::H => header_file(text),
        Shared::M => m_file(text),
        Shared::V => v_file(text),
        Shared::Ts => text.lines().take(3).any(|line| line.trim_start().starts_with("<!DOCTYPE TS")).then_some("xml"),
        Shared::Pl => pl_file(text),
    }
}

/// Lines of code of a language with C's comments, without the blanks around them.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter_map(move |line| {
        let mut line = line.trim();
        if inside {
            let (_, rest) = line.split_once("*/")?;
            inside = false;
            line = rest.trim_start();
        }
        while let Some(rest) = line.strip_prefix("/*") {
            let Some((_, rest)) = rest.split_once("*/") else {
                inside = true;
                return None;
            };
            line = rest.trim_start();
        }
        let line = line.split("//").next().unwrap_or_default().trim_end();
        (!line.is_empty()).then_some(line)
    })
}

fn begins(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.starts_with(word))
}

fn header_file(text: &str) -> Option<&'static str> {
    const OBJECTIVE: &[&str] = &["@interface", "@protocol", "@class ", "@end", "@import ", "#import "];
    const PLUS: &[&str] = &[
        "namespace ",
        "namespace{",
        "inline namespace ",
        "class ",
        "template <",
        "template<",
        "using ",
        "public:",
        "private:",
        "protected:",
        "virtual ",
        "constexpr ",
        "explicit ",
        "friend ",
        "enum class ",
        "static constexpr ",
        "inline constexpr ",
        "typename ",
        "noexcept",
    ];
    let mut found = None;
    // What stands between these is for C++ alone, in a header that C reads as well.
    let mut guarded = 0_usize;
    for line in code(text) {
        if begins(line, OBJECTIVE) {
            return Some("objective-c");
        }
        let directive = line.strip_prefix('#').map(str::trim_start);
        match directive {
            Some(rest) if rest.starts_with("if") && (guarded > 0 || rest.contains("__cplusplus")) => guarded += 1,
            Some(rest) if rest.starts_with("endif") => guarded = guarded.saturating_sub(1),
            _ => {}
        }
        // The headers of C++'s library have no ending.
        let library = directive.and_then(|rest| rest.strip_prefix("include")).is_some_and(|rest| {
            let rest = rest.trim();
            rest.starts_with('<') && rest.ends_with('>') && !rest.contains(['.', '/'])
        });
        let plus = begins(line, PLUS) || library || line.contains("std::") || line.contains("static_cast<");
        if guarded == 0 && plus && found.is_none() {
            found = Some("cpp");
        }
    }
    found
}

fn m_file(text: &str) -> Option<&'static str> {
    const OBJECTIVE: &[&str] =
        &["@interface", "@implementation", "@protocol", "@import ", "#import", "#include", "@class "];
    if code(text).any(|line| begins(line, OBJECTIVE)) {
        return Some("objective-c");
    }
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    if first.starts_with("(*") {
        return Some("wolfram");
    }
    let matlab = |line: &str| begins(line, &["function ", "classdef ", "function[", "end %"]);
    (first.starts_with('%') || text.lines().map(str::trim).any(matlab)).then_some("matlab")
}

fn v_file(text: &str) -> Option<&'static str> {
    const VERILOG: &[&str] =
        &["`timescale", "`define", "`include", "`default_nettype", "`ifdef", "`ifndef", "endmodule"];
    const ROCQ: &[&str] =
        &["Require ", "From ", "Theorem ", "Lemma ", "Definition ", "Inductive ", "Fixpoint ", "Section ", "Proof."];
    for line in code(text) {
        if begins(line, VERILOG) {
            return Some("verilog");
        }
        // V's `module main` stands alone.
        let ports = |rest: &str| rest.contains(['(', '#', ';']);
        if line.strip_prefix("module ").is_some_and(ports) {
            return Some("verilog");
        }
        // With `=` it is an attribute of Verilog's.
        let comment = line.starts_with("(*") && !line.contains('=');
        if comment || begins(line, ROCQ) && (line.ends_with('.') || line.contains(':')) {
            return Some("coq");
        }
        if begins(line, &["fn ", "pub fn ", "import ", "module ", "struct ", "pub struct ", "@["]) {
            return Some("v");
        }
    }
    None
}

fn pl_file(text: &str) -> Option<&'static str> {
    for line in text.lines().map(str::trim) {
        if line.starts_with("use v6") {
            return Some("raku");
        }
        if begins(line, &["use ", "package ", "my ", "our ", "sub ", "require ", "=pod", "=head", "$", "@"]) {
            return Some("perl");
        }
        if begins(line, &[":-", "?-"]) || line.starts_with(|c: char| c.is_ascii_lowercase()) && is_clause(line) {
            return Some("prolog");
        }
    }
    None
}

/// `head(X) :- body` or `fact(a).`
fn is_clause(line: &str) -> bool {
    line.contains(":-") || line.ends_with(").") && !line.contains([';', '$', '='])
}
