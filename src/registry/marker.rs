//! Root markers: file names, globs, and files that hold a key.

use std::{io::Read, path::Path};

use globset::{Glob, GlobMatcher};

/// A manifest is read up to this size to look for a key.
const MANIFEST_BYTES: u64 = 1 << 20;
/// Entries of a folder that are compared with a glob.
const FOLDER_ENTRIES: usize = 10_000;

/// A thing that marks a folder.
#[derive(Debug)]
pub(super) enum Marker<'a> {
    Name(&'a str),
    Glob(GlobMatcher),
    Key { file: &'a str, key: &'a str },
}

impl<'a> Marker<'a> {
    /// # Errors
    /// In langport's own words.
    pub(super) fn parse(text: &'a str) -> Result<Self, String> {
        if text.is_empty() || text.starts_with('/') || text.split(['/', '\\']).any(|part| part == "..") {
            return Err(format!("`{text}` is not the name of a file inside a folder"));
        }
        if let Some((file, key)) = text.split_once('#') {
            if !file.ends_with(".json") && !file.ends_with(".toml") {
                return Err(format!("`{text}`: a key can be looked for in .json and .toml files only"));
            }
            return if key.is_empty() {
                Err(format!("`{text}`: the key is missing"))
            } else {
                Ok(Self::Key { file, key })
            };
        }
        if text.contains(['*', '?', '[', '{']) {
            let glob = Glob::new(text).map_err(|error| format!("`{text}`: {}", error.kind()))?;
            return Ok(Self::Glob(glob.compile_matcher()));
        }
        Ok(Self::Name(text))
    }

    /// Whether a folder has it.
    pub(super) fn is_in(&self, folder: &Path) -> bool {
        match self {
            Self::Name(name) => folder.join(name).exists(),
            Self::Glob(glob) => std::fs::read_dir(folder)
                .into_iter()
                .flatten()
                .take(FOLDER_ENTRIES)
                .any(|entry| entry.is_ok_and(|entry| glob.is_match(entry.file_name()))),
            Self::Key { file, key } => has_key(&folder.join(file), key),
        }
    }
}

fn has_key(path: &Path, key: &str) -> bool {
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MANIFEST_BYTES).read_to_string(&mut text));
    if read.is_err() {
        return false;
    }
    if path.extension().is_some_and(|extension| extension == "toml") {
        let Ok(table) = text.parse::<toml::Table>() else { return false };
        let mut parts = key.split('.');
        let first = parts.next().and_then(|part| table.get(part));
        return parts.fold(first, |value, part| value?.get(part)).is_some();
    }
    let Ok(manifest) = serde_json::from_str::<serde_json::Value>(&text) else { return false };
    ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"]
        .iter()
        .filter_map(|group| manifest.get(group))
        .chain([&manifest])
        .any(|table| table.get(key).is_some())
}
