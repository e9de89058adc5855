//! What the fake answers by itself: words of the texts it was told of, no language.
//!
//! `def NAME` and `class NAME` declare, every whole word is a reference, a line with `ERR` is an error (`WARN`, `INFO`,
//! `HINT` likewise), and `NEEDS word` is one while no file says `PROVIDES word`. `WANTS word` is one at the word, of the
//! code `U1`, while the same file does not say `import word`.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{
    mirror::Mirror,
    script::Script,
    text::{self, Unit},
};

/// What an answer is made from.
pub(crate) struct Scene<'a> {
    pub(crate) script: &'a Script,
    pub(crate) mirror: &'a Mirror,
    pub(crate) unit: Unit,
}

const PROVIDERS: [(&str, &str); 20] = [
    ("textDocument/hover", "hoverProvider"),
    ("textDocument/definition", "definitionProvider"),
    ("textDocument/declaration", "declarationProvider"),
    ("textDocument/typeDefinition", "typeDefinitionProvider"),
    ("textDocument/implementation", "implementationProvider"),
    ("textDocument/references", "referencesProvider"),
    ("textDocument/documentSymbol", "documentSymbolProvider"),
    ("workspace/symbol", "workspaceSymbolProvider"),
    ("textDocument/completion", "completionProvider"),
    ("textDocument/signatureHelp", "signatureHelpProvider"),
    ("textDocument/prepareCallHierarchy", "callHierarchyProvider"),
    ("textDocument/prepareTypeHierarchy", "typeHierarchyProvider"),
    ("textDocument/diagnostic", "diagnosticProvider"),
    ("workspace/diagnostic", "diagnosticProvider"),
    ("textDocument/rename", "renameProvider"),
    ("textDocument/prepareRename", "renameProvider"),
    ("textDocument/formatting", "documentFormattingProvider"),
    ("textDocument/rangeFormatting", "documentRangeFormattingProvider"),
    ("textDocument/codeAction", "codeActionProvider"),
    ("codeAction/resolve", "codeActionProvider"),
];

/// A declaration: name, line, column of the name in bytes of the whole text.
struct Declared<'t> {
    name: &'t str,
    class: bool,
    /// Byte offset of the name.
    at: usize,
    /// First line, decorators included.
    first: usize,
    line: usize,
}

fn declared(whole: &str) -> Vec<Declared<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut first = None;
    for (line, content) in whole.split('\n').enumerate() {
        let code = content.trim_start();
        let keyword = ["def ", "class ", "function "].iter().find(|k| code.starts_with(**k));
        if let Some(keyword) = keyword {
            let at = start + content.len() - code.len() + keyword.len();
            if let Some((begin, name)) = text::word_at(whole, at) {
                let first = first.take().unwrap_or(line);
                found.push(Declared { name, class: *keyword == "class ", at: begin, first, line });
            }
        }
        first = code.starts_with('@').then_some(first.unwrap_or(line));
        start += content.len() + 1;
    }
    found
}

impl Scene<'_> {
    /// The answer, or the error, or `None` for silence.
    pub(crate) fn answer(&self, method: &str, params: &Value) -> Option<Result<Value, (i64, String)>> {
        let provider = PROVIDERS.iter().find(|(m, _)| *m == method).map(|(_, p)| *p);
        let registered = method.ends_with("/diagnostic") && self.script.pull_registered;
        let offered = provider.is_none_or(|p| !matches!(self.script.capabilities[p], Value::Null | Value::Bool(false)));
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
        let known = match method {
            "initialize" => Some(self.initialize()),
            "shutdown" => Some(Value::Null),
            "callHierarchy/incomingCalls" => Some(self.incoming(params["item"]["name"].as_str().unwrap_or_default())),
            "callHierarchy/outgoingCalls" => Some(self.outgoing(&params["item"])),
            "typeHierarchy/supertypes" => Some(self.types(params["item"]["name"].as_str().unwrap_or_default(), true)),
            "typeHierarchy/subtypes" => Some(self.types(params["item"]["name"].as_str().unwrap_or_default(), false)),
            _ if !offered && !registered => None,
            "textDocument/diagnostic" => Some(self.report(uri, params["identifier"].as_str())),
            "textDocument/hover" => Some(self.hover(uri, params)),
            "textDocument/references" => Some(self.references(&self.word(uri, params).unwrap_or_default())),
            "textDocument/documentSymbol" => Some(self.outline(uri)),
            "workspace/symbol" => Some(self.symbols(params["query"].as_str().unwrap_or_default())),
            "textDocument/completion" => Some(self.completions(uri, params)),
            "textDocument/signatureHelp" => Some(self.signature(uri, params)),
            "textDocument/rename" => Some(self.rename(uri, params)),
            "textDocument/prepareRename" => Some(self.prepare_rename(uri, params)),
            "textDocument/formatting" | "textDocument/rangeFormatting" => Some(self.format(uri, params)),
            "textDocument/codeAction" => Some(self.actions(uri, params)),
            "codeAction/resolve" => Some(self.resolve(params)),
            "textDocument/prepareCallHierarchy" | "textDocument/prepareTypeHierarchy" => {
                Some(Value::Array(self.word(uri, params).map_or_else(Vec::new, |w| self.items(&w))))
            }
            _ if provider.is_some() => Some(self.declarations(&self.word(uri, params).unwrap_or_default())),
            _ => None,
        };
        match known {
            Some(result) => Some(Ok(result)),
            None if self.script.unknown_silent => None,
            None => Some(Err((-32601, format!("{method} is not supported")))),
        }
    }

    fn initialize(&self) -> Value {
        let mut capabilities = self.script.capabilities.clone();
        if let (Some(encoding), Some(map)) = (&self.script.encoding, capabilities.as_object_mut()) {
            map.insert("positionEncoding".into(), json!(encoding));
        }
        let mut result =
            json!({"capabilities": capabilities, "serverInfo": {"name": self.script.name, "version": "1"}});
        if let Some(encoding) = &self.script.old_encoding {
            result["offsetEncoding"] = json!(encoding);
        }
        result
    }

    pub(crate) fn word(&self, uri: &str, params: &Value) -> Option<String> {
        let whole = self.mirror.text(uri)?;
        let position = &params["position"];
        let line = usize::try_from(position["line"].as_u64()?).ok()?;
        let column = usize::try_from(position["character"].as_u64()?).ok()?;
        let at = text::offset(whole, line, column, self.unit)?;
        text::word_at(whole, at).map(|(_, w)| w.to_owned())
    }

    pub(crate) fn range(&self, whole: &str, from: usize, to: usize) -> Value {
        let point = |at| {
            let (line, character) = text::place(whole, at, self.unit);
            json!({"line": line, "character": character})
        };
        json!({"start": point(from), "end": point(to)})
    }

    fn hover(&self, uri: &str, params: &Value) -> Value {
        let Some(word) = self.word(uri, params) else { return Value::Null };
        let (line, column) = (&params["position"]["line"], &params["position"]["character"]);
        let content = self
            .mirror
            .text(uri)
            .and_then(|t| text::lines(t).get(usize::try_from(line.as_u64()?).ok()?).map(|l| l.trim().to_owned()));
        let value =
            format!("```fake\nWORD {word}\n```\nreceived {line}:{column}, line: {}", content.unwrap_or_default());
        json!({"contents": {"kind": "markdown", "value": value}})
    }

    fn declarations(&self, word: &str) -> Value {
        let mut found = Vec::new();
        for (uri, whole) in self.mirror.all() {
            for d in declared(whole).iter().filter(|d| d.name == word) {
                found.push(json!({"uri": uri, "range": self.range(whole, d.at, d.at + word.len())}));
            }
        }
        if found.is_empty() { Value::Null } else { Value::Array(found) }
    }

    /// Every whole word in every known text.
    pub(crate) fn references(&self, word: &str) -> Value {
        let mut found = Vec::new();
        if !word.is_empty() {
            for (uri, whole) in self.mirror.all() {
                for at in text::occurrences(whole, word) {
                    found.push(json!({"uri": uri, "range": self.range(whole, at, at + word.len())}));
                }
            }
        }
        Value::Array(found)
    }

    fn outline(&self, uri: &str) -> Value {
        let whole = self.mirror.text(uri).unwrap_or_default();
        let lines = text::lines(whole);
        let symbol = |d: &Declared<'_>| {
            let end = lines.get(d.line).map_or(0, |l| self.unit.length(l));
            json!({
                "name": d.name, "kind": if d.class { 5 } else { 12 }, "selectionRange": self.range(whole, d.at, d.at + d.name.len()),
                "range": {"start": {"line": d.first, "character": 0}, "end": {"line": d.line, "character": end}},
            })
        };
        Value::Array(declared(whole).iter().map(symbol).collect())
    }

    fn symbols(&self, query: &str) -> Value {
        let mut found = Vec::new();
        for (uri, whole) in self.mirror.all() {
            for d in declared(whole).iter().filter(|d| d.name.contains(query)) {
                let range = self.range(whole, d.at, d.at + d.name.len());
                found.push(json!({"name": d.name, "kind": if d.class { 5 } else { 12 }, "location": {"uri": uri, "range": range}}));
            }
        }
        Value::Array(found)
    }

    fn completions(&self, uri: &str, params: &Value) -> Value {
        let prefix = self.word(uri, params).unwrap_or_default();
        let names =
            self.mirror.all().into_values().flat_map(declared).map(|d| d.name).filter(|n| n.starts_with(&prefix));
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names.dedup();
        Value::Array(names.iter().map(|n| json!({"label": n, "kind": 3, "detail": format!("fake {n}")})).collect())
    }

    fn signature(&self, uri: &str, params: &Value) -> Value {
        let line = params["position"]["line"].as_u64().and_then(|l| usize::try_from(l).ok()).unwrap_or_default();
        let column = params["position"]["character"].as_u64().and_then(|l| usize::try_from(l).ok()).unwrap_or_default();
        let whole = self.mirror.text(uri).unwrap_or_default();
        let at = text::offset(whole, line, column, self.unit).unwrap_or_default();
        let start = at - text::place(whole, at, Unit::Utf8).1;
        let Some(open) = whole[start..at].rfind('(') else { return Value::Null };
        let Some((_, name)) = text::word_at(whole, start + open) else { return Value::Null };
        let active = whole[start + open..at].matches(',').count();
        json!({"signatures": [{"label": format!("{name}(first, second)"), "parameters": [{"label": "first"}, {"label": "second"}]}],
            "activeSignature": 0, "activeParameter": active})
    }

    fn items(&self, word: &str) -> Vec<Value> {
        let mut items = Vec::new();
        for (uri, whole) in self.mirror.all() {
            for d in declared(whole).iter().filter(|d| d.name == word) {
                let range = self.range(whole, d.at, d.at + word.len());
                items.push(json!({"name": word, "kind": if d.class { 5 } else { 12 }, "uri": uri, "range": range, "selectionRange": range,
                    "data": {"kept": [uri, word]}}));
            }
        }
        items
    }

    /// Call sites `word(` with the declaration that stands nearest above them.
    fn sites<'t>(&self, whole: &'t str, word: &str) -> Vec<(usize, &'t str)> {
        let declared = declared(whole);
        let calls = text::occurrences(whole, word).into_iter().filter(|at| whole[at + word.len()..].starts_with('('));
        calls
            .filter(|at| !declared.iter().any(|d| d.at == *at))
            .filter_map(|at| declared.iter().rev().find(|d| d.at < at).map(|d| (at, d.name)))
            .collect()
    }

    fn incoming(&self, word: &str) -> Value {
        let mut calls = Vec::new();
        for (uri, whole) in self.mirror.all() {
            for (at, caller) in self.sites(whole, word) {
                for item in self.items(caller).into_iter().filter(|i| i["uri"] == uri) {
                    calls.push(json!({"from": item, "fromRanges": [self.range(whole, at, at + word.len())]}));
                }
            }
        }
        Value::Array(calls)
    }

    fn outgoing(&self, item: &Value) -> Value {
        let whole = self.mirror.text(item["uri"].as_str().unwrap_or_default()).unwrap_or_default();
        let mut calls = Vec::new();
        let mut names: Vec<&str> = self.mirror.all().into_values().flat_map(declared).map(|d| d.name).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            for (at, _) in self.sites(whole, name).into_iter().filter(|(_, caller)| item["name"] == *caller) {
                let range = self.range(whole, at, at + name.len());
                calls.extend(self.items(name).into_iter().map(|to| json!({"to": to, "fromRanges": [range]})));
            }
        }
        Value::Array(calls)
    }

    /// `class A(B)` makes B a supertype of A.
    fn types(&self, word: &str, up: bool) -> Value {
        let mut found = Vec::new();
        for whole in self.mirror.all().into_values() {
            for d in declared(whole).iter().filter(|d| d.class) {
                let line = text::lines(whole)[d.line];
                let base = line.split(['(', ')']).nth(1).unwrap_or_default();
                if up && d.name == word {
                    found.extend(self.items(base));
                } else if !up && base == word {
                    found.extend(self.items(d.name));
                }
            }
        }
        Value::Array(found)
    }

    fn report(&self, uri: &str, identifier: Option<&str>) -> Value {
        let version = self.mirror.open.get(uri).map_or(0, |d| d.version);
        let whole = self.mirror.open.get(uri).map(|d| d.text.as_str()).unwrap_or_default();
        let mut items = self.problems(whole, version);
        if let Some(id) = identifier {
            items.retain(|d| d["message"].as_str().is_some_and(|m| m.contains(id)));
        }
        json!({"kind": "full", "items": items})
    }

    /// The diagnostics of a text.
    pub(crate) fn problems(&self, whole: &str, version: i64) -> Vec<Value> {
        let mut found = Vec::new();
        for (i, line) in text::lines(whole).into_iter().enumerate() {
            let severity = ["ERR", "WARN", "INFO", "HINT"].iter().position(|k| line.contains(k));
            let needed = line.split_once("NEEDS ").map(|(_, w)| w.trim());
            let missing = needed.filter(|w| !self.mirror.all().values().any(|t| t.contains(&format!("PROVIDES {w}"))));
            let (severity, message) = match (severity, missing) {
                (Some(s), _) => (s + 1, format!("{} (version {version})", line.trim())),
                (None, Some(word)) => (1, format!("{word} is not provided")),
                (None, None) => continue,
            };
            let range =
                json!({"start": {"line": i, "character": 0}, "end": {"line": i, "character": self.unit.length(line)}});
            let mut problem =
                json!({"range": range, "severity": severity, "source": "fake", "code": "F1", "message": message});
            if line.contains("ERR") {
                problem["data"] = json!({"fix": line.replace("ERR", "fine")});
            }
            found.push(problem);
        }
        for at in whole.match_indices("WANTS ").map(|(at, wants)| at + wants.len()) {
            let Some((at, word)) = text::word_at(whole, at) else { continue };
            if !whole.contains(&format!("import {word}")) {
                found.push(json!({
                    "range": self.range(whole, at, at + word.len()), "severity": 1, "source": "fake", "code": "U1",
                    "message": format!("{word} is not known"), "data": {"wanted": word, "version": version},
                }));
            }
        }
        found
    }
}

/// The folder that `initialize` names.
pub(crate) fn root_of(params: &Value) -> Option<PathBuf> {
    let folder = params["workspaceFolders"][0]["uri"].as_str().or(params["rootUri"].as_str())?;
    url::Url::parse(folder).ok()?.to_file_path().ok()
}
