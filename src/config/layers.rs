//! Reading the layers and laying them over each other.

use std::{io::ErrorKind, path::Path};

use figment::{
    Figment, Profile,
    error::Kind,
    providers::{Format, Serialized, Toml},
    value::{Dict, Value},
};
use serde::Serialize;

use super::{
    Capability, Origins, Settings, count, nearest, salvage,
    settings::{Confirm, Output, Permission, Sandbox, ToolNames},
    text,
};
use crate::sys::{dirs::Dirs, env::Env};

/// The keys that flags of the command line set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Flags {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_names: Option<ToolNames>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_wait_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub languages: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<Capability>>,
}

/// What is wrong with a layer, or with one key of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{layer}{}: {}{what}", .line.map(|line| format!(":{line}")).unwrap_or_default(), .key.as_ref().map(|key| format!("`{key}` ")).unwrap_or_default())]
pub struct ConfigError {
    /// The file, the environment variable, or the flags.
    pub layer: String,
    pub line: Option<usize>,
    pub key: Option<String>,
    pub what: String,
}

/// Settings, and the layers that had to be left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    pub settings: Settings,
    /// The user's file and variables: what is wrong there never stops langport.
    pub problems: Vec<ConfigError>,
    pub origins: Origins,
    /// The mistake for whose sake nothing is written.
    pub forbidden: Option<String>,
}

/// What is said of a file that cannot be used.
pub const LEFT_OUT: &str = " (until this is mended nothing is written, and the file is left out but for its limits)";

/// Variables of langport's that are no settings.
const NOT_SETTINGS: &[&str] = &["CONFIG_DIR", "STATE_DIR", "DATA_DIR", "LOG", "FILE_LOG"];
const PREFIX: &str = "LANGPORT_";

/// Reads all layers.
///
/// # Errors
/// Managed configuration that cannot be used, since langport without it would do what it forbids; and flags, since whoever
/// gave them is there to mend them.
pub fn load(dirs: &Dirs, env: &Env, flags: &Flags) -> Result<Loaded, ConfigError> {
    let defaults = Figment::from(Serialized::defaults(Settings::default()));
    let mut problems = Vec::new();
    let managed = dirs.managed.is_dir();
    let file = if managed { &dirs.managed } else { &dirs.config }.join("config.toml");
    let mut figment = defaults.clone();
    let mut origins = Origins::default();
    let mut forbidden = None;
    let mut decreed = None;
    let mut asks = false;
    // One that cannot be seen, or a link that leads nowhere, is not as if there were none: it may forbid something.
    if file.symlink_metadata().map_or_else(|error| error.kind() != ErrorKind::NotFound, |_| true) {
        match of_file(&defaults, &file) {
            Ok((merged, written)) => {
                origins.file(&file, &written, managed);
                decreed = managed.then(|| merged.extract_inner::<Permission>("permission").ok()).flatten();
                asks = managed && merged.extract_inner::<Confirm>("confirm").ok() == Some(Confirm::Elicit);
                figment = merged;
            }
            Err(errors) if managed => return Err(together(errors)),
            Err(mut errors) => {
                // Nobody can know whether it forbade to write: so nothing is written until it can be read.
                let more = errors.len().saturating_sub(1);
                let more = if more > 0 {
                    // So many are looked for; behind the last one there may be others.
                    let least = if errors.len() < text::MISTAKES { "" } else { "at least " };
                    format!(" (and {least}{} there)", count(more, "more mistake", "more mistakes"))
                } else {
                    String::new()
                };
                forbidden = errors.first().map(|error| format!("{error}{more}"));
                if let Some(last) = errors.last_mut() {
                    last.what += LEFT_OUT;
                }
                problems.extend(errors);
                figment = salvage::limits(&figment, std::fs::read_to_string(&file).ok().as_deref());
            }
        }
    }
    for (variable, value) in env.iter() {
        let Some(name) = variable.strip_prefix(PREFIX) else { continue };
        if NOT_SETTINGS.contains(&name) || name.starts_with("FAKE_") || name.starts_with("TEST_") {
            continue;
        }
        // A list is written `a,b`, since brackets are awkward in a shell.
        let key = name.to_ascii_lowercase();
        let value = listed(&figment, &key, value);
        let layer = Dict::from([(key.clone(), value)]);
        match with(&figment, Serialized::from(layer, Profile::Default), &Layer::Variable(variable)) {
            Ok(merged) => {
                figment = merged;
                origins.variable(variable, &key);
            }
            Err(error) => {
                // `readonly` was meant to forbid something.
                if name == "PERMISSION" {
                    forbidden = Some(error.to_string());
                    figment = figment.merge(("permission", Permission::ReadOnly));
                } else if name == "CONFIRM" {
                    figment = figment.merge(("confirm", Confirm::Elicit));
                } else if name == "SANDBOX" {
                    figment = figment.merge(("sandbox", Sandbox::Bwrap));
                }
                problems.push(error);
            }
        }
    }
    let layer = Layer::Flags;
    figment = with(&figment, Serialized::from(flags, Profile::Default), &layer)?;
    for key in serde_json::to_value(flags).ok().iter().filter_map(|flags| flags.as_object()).flat_map(|map| map.keys())
    {
        origins.flag(key);
    }
    let mut settings: Settings = figment.extract().map_err(|error| told(&error, &layer))?;
    // What the administrator forbade, neither a variable nor a flag gives back.
    if decreed == Some(Permission::ReadOnly) {
        settings.permission = Permission::ReadOnly;
    }
    if asks {
        settings.confirm = Confirm::Elicit;
    }
    let forbidden = forbidden.filter(|_| {
        settings.permission == Permission::ReadOnly
            && decreed != Some(Permission::ReadOnly)
            && flags.permission != Some(Permission::ReadOnly)
    });
    Ok(Loaded { settings, problems, origins, forbidden })
}

/// Several mistakes of one file as one: the first, and the others behind it.
fn together(errors: Vec<ConfigError>) -> ConfigError {
    let mut errors = errors.into_iter();
    let mut first =
        errors.next().unwrap_or(ConfigError { layer: String::new(), line: None, key: None, what: String::new() });
    for ConfigError { line, key, what, .. } in errors {
        let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        let key = key.map(|key| format!("`{key}` ")).unwrap_or_default();
        first.what += &format!("; {line}{key}{what}");
    }
    first
}

/// The defaults with a file on top, and its text; else its mistakes, of which there is one at least.
fn of_file(defaults: &Figment, file: &Path) -> Result<(Figment, String), Vec<ConfigError>> {
    let layer = Layer::File(file);
    let fail = |line, what| ConfigError { layer: layer.name(), line, key: None, what };
    let written = std::fs::read_to_string(file).map_err(|error| vec![fail(None, unreadable(file, &error))])?;
    let read = |text: &str| {
        if let Err(error) = text.parse::<toml::Table>() {
            let (line, what) = text::toml_error(text, &error);
            return Err(fail(line, what));
        }
        with(defaults, Toml::string(text), &layer).map_err(|mut error| {
            // A value that is wrong is told in its first back-quotes.
            let value = error.what.split('`').nth(1).unwrap_or_default();
            error.line = error.key.as_ref().and_then(|key| text::line_of_value(text, key, value));
            error
        })
    };
    match read(&written) {
        Ok(merged) => Ok((merged, written)),
        Err(first) => {
            let found = text::mistakes(&written, |text| read(text).err(), |error| error.line);
            Err(if found.is_empty() { vec![first] } else { found })
        }
    }
}

fn unreadable(file: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "is a link that leads nowhere".to_owned(),
        ErrorKind::InvalidData => "is no text in UTF-8".to_owned(),
        _ if file.is_dir() => "is a folder, not a file".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

/// A list where the key holds one and the text has no brackets of its own.
fn listed(figment: &Figment, key: &str, text: &str) -> Value {
    let is_list = figment.find_value(key).is_ok_and(|value| value.as_array().is_some());
    if is_list && !text.trim_start().starts_with('[') {
        let items: Vec<_> = text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
        return Value::from(items);
    }
    // Numbers and booleans are read as such; parsing a value never fails.
    text.parse().unwrap_or_else(|_| Value::from(text))
}

enum Layer<'a> {
    File(&'a Path),
    Variable(&'a str),
    Flags,
}

impl Layer<'_> {
    fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Variable(name) => (*name).to_owned(),
            Self::Flags => "flags".to_owned(),
        }
    }
}

/// Lays a layer over the others and checks the result, so that what is wrong is wrong in this layer.
fn with(below: &Figment, layer: impl figment::Provider, name: &Layer<'_>) -> Result<Figment, ConfigError> {
    let merged = below.clone().merge(layer);
    let settings: Settings = merged.extract().map_err(|error| told(&error, name))?;
    match settings.out_of_bounds() {
        Some((key, what)) => Err(ConfigError { layer: name.name(), line: None, key: Some(key.to_owned()), what }),
        None => Ok(merged),
    }
}

fn told(error: &figment::Error, layer: &Layer<'_>) -> ConfigError {
    let path = error.path.join(".");
    let (key, what) = match &error.kind {
        Kind::UnknownField(field, known) => {
            let key = match layer {
                Layer::Variable(_) => None,
                Layer::File(_) | Layer::Flags => Some(field.clone()),
            };
            let hint = match (nearest::nearest(field, known.iter().copied()).first(), layer) {
                (Some(name), Layer::Variable(_)) => format!(": did you mean `{PREFIX}{}`?", name.to_ascii_uppercase()),
                (Some(name), Layer::File(_) | Layer::Flags) => format!(": did you mean `{name}`?"),
                (None, _) => String::new(),
            };
            (key, format!("is not a setting{hint}"))
        }
        Kind::UnknownVariant(value, known) => {
            let key = path.split('.').next().map(str::to_owned);
            let could = match nearest::nearest(value, known.iter().copied()).first() {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("it can be {}", known.join(", ")),
            };
            (key, format!("cannot be `{value}`: {could}"))
        }
        Kind::InvalidType(found, expected) => {
            let expected = if matches!(expected.as_str(), "usize" | "u64" | "u8") { "a number" } else { expected };
            // What is inside a table need not look like a key.
            let (key, inside) = match error.path.as_slice() {
                [] => (None, String::new()),
                [key] => (Some(key.clone()), String::new()),
                [key, inside @ ..] => (Some(key.clone()), format!("at `{}` ", inside.join("."))),
            };
            (key, format!("{inside}is {found}, but takes {expected}"))
        }
        other => ((!path.is_empty()).then_some(path), other.to_string()),
    };
    ConfigError { layer: layer.name(), line: None, key, what }
}

#[cfg(test)]
mod tests;
