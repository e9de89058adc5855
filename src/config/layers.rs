//! Reading the layers and laying them over each other.

use std::path::{Path, PathBuf};

use figment::{
    Figment, Profile,
    error::Kind,
    providers::{Format, Serialized, Toml},
    value::{Dict, Value},
};
use serde::Serialize;

use super::{
    Capability, Settings, nearest,
    settings::{Output, Permission, ToolNames},
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
#[error("{layer}: {}{what}", .key.as_ref().map(|key| format!("`{key}` ")).unwrap_or_default())]
pub struct ConfigError {
    /// The file, the environment variable, or the flags.
    pub layer: String,
    pub key: Option<String>,
    pub what: String,
}

/// Settings, and the layers that had to be left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    pub settings: Settings,
    /// The user's file and variables: what is wrong there never stops langport.
    pub problems: Vec<ConfigError>,
}

/// Variables of langport's that are no settings.
const NOT_SETTINGS: &[&str] = &["CONFIG_DIR", "STATE_DIR", "DATA_DIR", "LOG"];
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
    if file.exists() {
        match with(&defaults, Toml::file_exact(&file), &Layer::File(&file)) {
            Ok(merged) => figment = merged,
            Err(error) if managed => return Err(error),
            Err(error) => problems.push(error),
        }
    }
    for (variable, value) in env.iter() {
        let Some(name) = variable.strip_prefix(PREFIX) else { continue };
        if NOT_SETTINGS.contains(&name) || name.starts_with("FAKE_") {
            continue;
        }
        // A list is written `a,b`, since brackets are awkward in a shell.
        let key = name.to_ascii_lowercase();
        let value = listed(&figment, &key, value);
        let layer = Dict::from([(key, value)]);
        match with(&figment, Serialized::from(layer, Profile::Default), &Layer::Variable(variable)) {
            // What the administrator forbade is not given back by a variable.
            Ok(merged) => figment = merged,
            Err(error) => problems.push(error),
        }
    }
    let layer = Layer::Flags;
    figment = with(&figment, Serialized::from(flags, Profile::Default), &layer)?;
    let mut settings: Settings = figment.extract().map_err(|error| told(error, &layer))?;
    if managed {
        keep_managed(&file, &defaults, &mut settings);
    }
    Ok(Loaded { settings, problems })
}

/// A managed `read-only` is the last word.
fn keep_managed(file: &Path, defaults: &Figment, settings: &mut Settings) {
    let decreed = defaults.clone().merge(Toml::file_exact(file)).extract::<Settings>();
    if decreed.is_ok_and(|decreed| decreed.permission == Permission::ReadOnly) {
        settings.permission = Permission::ReadOnly;
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
    File(&'a PathBuf),
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
    let settings: Settings = merged.extract().map_err(|error| told(error, name))?;
    match settings.out_of_bounds() {
        Some((key, what)) => Err(ConfigError { layer: name.name(), key: Some(key.to_owned()), what }),
        None => Ok(merged),
    }
}

fn told(error: figment::Error, layer: &Layer<'_>) -> ConfigError {
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
        Kind::UnknownVariant(value, known) => (Some(path), format!("cannot be `{value}`: {}", known.join(", "))),
        other => ((!path.is_empty()).then_some(path), other.to_string()),
    };
    ConfigError { layer: layer.name(), key, what }
}

#[cfg(test)]
mod tests;
