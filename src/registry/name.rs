//! Scoped names, `[[server:]namespace/]name`: the identity of a definition; and display names, which are no identity.

use std::{borrow::Borrow, fmt, ops::Deref, str::FromStr};

use schemars::JsonSchema;
use serde::Serialize;

/// A definition's name. A bare one has no namespace: it means the first of `local/`, `builtin/` that has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopedName {
    server: Option<String>,
    namespace: Option<String>,
    name: String,
}

/// What answers call a definition, for whoever reads them: no definition and no instance is ever looked up by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct DisplayName(String);

impl DisplayName {
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }
}

impl Deref for DisplayName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for DisplayName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for DisplayName {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl fmt::Display for DisplayName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The namespaces that a bare name is looked for in, in this order.
pub const DEFAULT_NAMESPACES: [&str; 2] = ["local", "builtin"];

/// Why a text is no scoped name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a name of the form [[server:]namespace/]name: {reason}")]
pub struct NameError {
    pub text: String,
    pub reason: &'static str,
}

impl ScopedName {
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The last part: what answers show where no two are alike.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same name with a namespace: its own, else `namespace`.
    #[must_use]
    pub fn in_namespace(&self, namespace: &str) -> Self {
        Self { namespace: Some(self.namespace.clone().unwrap_or_else(|| namespace.to_owned())), ..self.clone() }
    }
}

impl FromStr for ScopedName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let fail = |reason| NameError { text: text.chars().take(100).collect(), reason };
        let (scope, name) = match text.rsplit_once('/') {
            Some((scope, name)) => (Some(scope), name),
            None => (None, text),
        };
        let (server, namespace) =
            match scope.map(|scope| scope.split_once(':').map_or((None, scope), |(s, n)| (Some(s), n))) {
                Some((server, namespace)) => (server, Some(namespace)),
                None => (None, None),
            };
        for part in [server, namespace, Some(name)].into_iter().flatten() {
            check(part).map_err(fail)?;
        }
        Ok(Self { server: server.map(Into::into), namespace: namespace.map(Into::into), name: name.to_owned() })
    }
}

/// Parts become folder names: so they may neither be `..` nor begin with a dot or a dash.
fn check(part: &str) -> Result<(), &'static str> {
    if part.is_empty() {
        return Err("a part is empty");
    }
    if part.len() > 64 {
        return Err("a part is longer than 64 characters");
    }
    if !part.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err("each part begins with a letter or a digit");
    }
    if !part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+')) {
        return Err("only letters, digits and - _ . + are allowed");
    }
    Ok(())
}

impl fmt::Display for ScopedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(server) = &self.server {
            write!(f, "{server}:")?;
        }
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn valid_and_invalid_forms() {
        let parts = |text: &str| {
            let name: ScopedName = text.parse().unwrap();
            (name.server, name.namespace, name.name)
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parts("pyright"), (None, None, "pyright".to_owned()));
        assert_eq!(parts("local/pyright"), (None, some("local"), "pyright".to_owned()));
        assert_eq!(parts("host:ns/c++.x"), (some("host"), some("ns"), "c++.x".to_owned()));
        for bad in ["", "/", "a/", "/a", "host:/a", ":ns/a", "a/b/c", "host:a", "..", "a/..", "-x/a", "a b", "é", "a\n"]
        {
            assert!(bad.parse::<ScopedName>().is_err(), "{bad:?}");
        }
        assert!("x".repeat(65).parse::<ScopedName>().is_err());
    }

    #[test]
    fn a_bare_name_takes_a_namespace() {
        let name: ScopedName = "pyright".parse().unwrap();
        assert_eq!(name.in_namespace("local").to_string(), "local/pyright");
        let name: ScopedName = "a/pyright".parse().unwrap();
        assert_eq!(name.in_namespace("local").to_string(), "a/pyright");
    }

    proptest! {
        #[test]
        fn what_parses_is_printed_as_it_was(text in "(([a-z0-9]{1,4}:)?[a-z0-9][a-z_.+-]{0,5}/)?[A-Za-z0-9][a-z0-9_.+-]{0,8}") {
            let name: ScopedName = text.parse().unwrap();
            prop_assert_eq!(name.to_string(), text);
        }

        #[test]
        fn anything_else_is_an_error_or_round_trips(text in "\\PC{0,20}") {
            if let Ok(name) = text.parse::<ScopedName>() {
                prop_assert_eq!(name.to_string(), text);
            }
        }
    }
}
