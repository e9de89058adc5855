//! Reading definitions: what is built in, and the folders of the user or of the machine's administrator.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Definition, Entry, Scope, ScopedName, Source, validate};
use crate::{
    config::{count, text},
    sys::dirs::Dirs,
};

macro_rules! builtin {
    ($file:literal) => {
        ($file, include_str!(concat!("../../servers.d/", $file)))
    };
}

/// The built-in definitions: of one group, the first that is available serves.
const BUILTIN: &[(&str, &str)] = &[
    builtin!("pyright.toml"),
    builtin!("ruff.toml"),
    builtin!("ty.toml"),
    builtin!("basedpyright.toml"),
    builtin!("pyrefly.toml"),
    builtin!("zuban.toml"),
    builtin!("typescript7.toml"),
    builtin!("typescript-language-server.toml"),
    builtin!("deno.toml"),
    builtin!("biome.toml"),
    builtin!("oxlint.toml"),
    builtin!("eslint.toml"),
    builtin!("svelte.toml"),
    builtin!("json.toml"),
    builtin!("css.toml"),
    builtin!("html.toml"),
    builtin!("yaml.toml"),
    builtin!("dockerfile.toml"),
    builtin!("compose.toml"),
    builtin!("clangd.toml"),
    builtin!("gopls.toml"),
    builtin!("rust-analyzer.toml"),
    builtin!("bash.toml"),
    builtin!("fortls.toml"),
    builtin!("tombi.toml"),
    builtin!("rumdl.toml"),
    builtin!("just.toml"),
    builtin!("sqruff.toml"),
];

/// A definition is a small file.
const MAX_BYTES: u64 = 256 * 1024;
const MAX_FILES: usize = 500;

/// A definition that is left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{source_file}{}: {what}", .line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct LoadError {
    pub source_file: String,
    pub line: Option<usize>,
    pub what: String,
}

/// Every definition in order, and those that are left out.
pub(super) fn load(dirs: &Dirs) -> (Vec<Arc<Entry>>, Vec<LoadError>) {
    let mut entries = Vec::new();
    let mut errors = Vec::new();
    let (folder, scope) = match dirs.managed.is_dir() {
        // What the administrator set up takes the place of what the user did.
        true => (dirs.managed.join("servers.d"), Scope::Managed),
        false => (dirs.config.join("servers.d"), Scope::User),
    };
    for path in files(&folder, &mut errors) {
        let source = Source::File(path.clone());
        match read(&path) {
            Ok(text) => add(&text, source, scope, &mut entries, &mut errors),
            Err(what) => errors.push(LoadError { source_file: source.to_string(), line: None, what }),
        }
    }
    for (file, text) in BUILTIN {
        add(text, Source::Builtin(file), Scope::Builtin, &mut entries, &mut errors);
    }
    (entries, errors)
}

/// Puts definitions back in their place whose file is faulty now, or in a folder that cannot be read now.
pub(super) fn keep(before: &[Arc<Entry>], entries: &mut Vec<Arc<Entry>>, errors: &mut [LoadError]) {
    for old in before {
        let Source::File(file) = &old.source else { continue };
        let taken = |now: &Arc<Entry>| now.name == old.name || now.source == old.source;
        if entries.iter().any(taken) {
            continue;
        }
        let mut faults = errors.iter_mut().filter(|error| file.starts_with(&error.source_file)).peekable();
        if faults.peek().is_none() {
            continue;
        }
        for fault in faults {
            fault.what += &format!(" (`{}` stays as it was)", old.name);
        }
        let after = |now: &Arc<Entry>| match &now.source {
            Source::File(path) => path > file,
            Source::Builtin(_) => true,
        };
        let place = entries.iter().position(after).unwrap_or(entries.len());
        entries.insert(place, old.clone());
    }
}

/// The `*.toml` of a folder by name; a folder that is not there holds none.
fn files(folder: &Path, errors: &mut Vec<LoadError>) -> Vec<PathBuf> {
    let mut fail =
        |what: String| errors.push(LoadError { source_file: folder.display().to_string(), line: None, what });
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            fail(format!("cannot be read: {error}"));
            return Vec::new();
        }
    };
    let mut paths: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .filter(|path| !path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")))
        .collect();
    paths.sort();
    if paths.len() > MAX_FILES {
        fail(format!(
            "holds {}, of which the first {MAX_FILES} are read",
            count(paths.len(), "definition", "definitions")
        ));
        paths.truncate(MAX_FILES);
    }
    paths
}

fn read(path: &Path) -> Result<String, String> {
    let size = path.metadata().map_err(|error| format!("cannot be read: {error}"))?;
    if !size.is_file() {
        return Err("is not a file".to_owned());
    }
    if size.len() > MAX_BYTES {
        return Err(format!("is larger than {} KiB", MAX_BYTES / 1024));
    }
    std::fs::read_to_string(path).map_err(|error| format!("cannot be read: {error}"))
}

fn add(written: &str, source: Source, scope: Scope, entries: &mut Vec<Arc<Entry>>, errors: &mut Vec<LoadError>) {
    let mut fail = |line, what| errors.push(LoadError { source_file: source.to_string(), line, what });
    let def = match parse(written) {
        Ok(def) => def,
        Err(mistakes) => return mistakes.into_iter().for_each(|(line, what)| fail(line, what)),
    };
    let issues = validate::issues(&def, scope);
    if !issues.is_empty() {
        for issue in issues {
            fail(text::line_of(written, &issue.key), format!("`{}` {}", issue.key, issue.what));
        }
        return;
    }
    let Ok(name) = def.name.parse::<ScopedName>() else { return };
    let name = name.in_namespace("local");
    if let Some(other) = entries.iter().find(|entry| entry.name == name) {
        return fail(text::line_of(written, "name"), format!("`{name}` is already defined by {}", other.source));
    }
    entries.push(Arc::new(Entry { def, name, source, scope }));
}

/// Reads one definition, or tells its mistakes.
fn parse(source: &str) -> Result<Definition, Vec<Mistake>> {
    let read = |text: &str| toml::from_str::<Definition>(text).map_err(|error| text::toml_error(text, &error));
    let first = match read(source) {
        Ok(def) => return Ok(def),
        Err(first) => first,
    };
    // What is taken out to read the rest is not missing.
    let further = |text: &str| read(text).err().filter(|(_, what)| !what.starts_with("missing field"));
    let mut found = text::mistakes(source, further, |mistake| mistake.0);
    if !found.contains(&first) {
        found.insert(0, first);
    }
    Err(found)
}

/// A line, and what is wrong with it.
type Mistake = (Option<usize>, String);

#[cfg(test)]
mod tests;
