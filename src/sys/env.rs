//! The process environment: read here, changed nowhere.
#![expect(clippy::disallowed_methods, reason = "this is where the environment is read")]

use std::collections::BTreeMap;
use std::path::PathBuf;

/// A variable of the real environment; `None` also where its value is not Unicode.
#[must_use]
pub fn var(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The home folder, as `$HOME` says.
#[must_use]
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

/// The folders of `$PATH`, in order, as they stand there.
#[must_use]
pub fn path_dirs() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// An environment as a value, so that what depends on one can be given another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Env(BTreeMap<String, String>);

impl Env {
    /// The real one; variables that are not Unicode are left out.
    #[must_use]
    pub fn current() -> Env {
        let unicode = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Env(std::env::vars_os().filter_map(unicode).collect())
    }

    /// A variable, set to anything, even to nothing.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All variables in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Env {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Env {
        Env(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}
