//! `${NAME}` and `${NAME:default}` in the texts of a definition.

use serde_json::{Map, Value};

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Var {
    Value(String),
    /// A thing that langport knows how to look for, and that is not there (`${venv}`): a text that needs it is left out.
    Absent,
    NotSet,
    /// This definition may not read it.
    NotApproved,
}

/// Why a text cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    #[error("`${{{0}}}` is not set: set it, or give a default, `${{{0}:…}}`")]
    NotSet(String),
    #[error("`${{{0}}}` may not be read by a definition of the repository")]
    NotApproved(String),
    #[error("`${{{0}}}` is not the name of a variable")]
    BadName(String),
    #[error("a `${{` is never closed: write `$${{` for the characters themselves")]
    Unclosed,
}

/// Variables that a definition of the repository may read: they say where things are, never what they hold.
const FOR_PROJECTS: &[&str] = &["HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "TERM", "SHELL"];

/// Whether a variable says nothing secret, so that its value may be shown and be read by a definition of the repository.
pub(super) fn is_plain(name: &str) -> bool {
    FOR_PROJECTS.contains(&name) || name.starts_with("XDG_") || name.starts_with("LC_")
}

/// Expands a text; `None`: it needs something that is not there, and is left out.
pub(super) fn text(input: &str, vars: &dyn Fn(&str) -> Var) -> Result<Option<String>, ExpandError> {
    let mut out = String::with_capacity(input.len());
    let mut rest = input;
    let mut absent = false;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            out.push_str(&rest[..at - 1]);
            out.push_str("${");
            rest = &rest[at + 2..];
            continue;
        }
        out.push_str(&rest[..at]);
        let (inner, after) = closed(&rest[at + 2..]).ok_or(ExpandError::Unclosed)?;
        rest = after;
        let (name, default) = inner.split_once(':').map_or((inner, None), |(name, default)| (name, Some(default)));
        if !is_name(name) {
            return Err(ExpandError::BadName(name.chars().take(60).collect()));
        }
        match (vars(name), default) {
            (Var::Value(value), _) => out.push_str(&value),
            (Var::Absent | Var::NotSet, Some(default)) => match text(default, vars)? {
                Some(value) => out.push_str(&value),
                None => absent = true,
            },
            (Var::Absent, None) => absent = true,
            (Var::NotSet, None) => return Err(ExpandError::NotSet(name.to_owned())),
            (Var::NotApproved, _) => return Err(ExpandError::NotApproved(name.to_owned())),
        }
    }
    out.push_str(rest);
    Ok((!absent).then_some(out))
}

/// Splits behind the brace that closes an open one; braces inside a default are balanced.
fn closed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
    }
    None
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Expands every string inside a value; one that is left out takes its array element or key with it.
pub(super) fn value(input: &Value, vars: &dyn Fn(&str) -> Var) -> Result<Option<Value>, ExpandError> {
    Ok(Some(match input {
        Value::String(string) => match text(string, vars)? {
            Some(string) => Value::String(string),
            None => return Ok(None),
        },
        Value::Array(items) => {
            Value::Array(items.iter().filter_map(|item| value(item, vars).transpose()).collect::<Result<_, _>>()?)
        }
        Value::Object(object) => Value::Object(map(object, vars)?),
        other => other.clone(),
    }))
}

/// The same for a table.
pub(super) fn map(input: &Map<String, Value>, vars: &dyn Fn(&str) -> Var) -> Result<Map<String, Value>, ExpandError> {
    input
        .iter()
        .filter_map(|(key, item)| value(item, vars).transpose().map(|item| item.map(|item| (key.clone(), item))))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn vars(name: &str) -> Var {
        match name {
            "HOME" => Var::Value("/home/me".to_owned()),
            "EMPTY" => Var::Value(String::new()),
            "venv" => Var::Absent,
            "SECRET" => Var::NotApproved,
            _ => Var::NotSet,
        }
    }

    fn check(input: &str, expected: &str) {
        assert_eq!(
            text(input, &vars).map(|text| text.unwrap_or("(left out)".to_owned())),
            Ok(expected.to_owned()),
            "{input}"
        );
    }

    #[test]
    fn names_and_defaults() {
        check("plain $HOME {} $", "plain $HOME {} $");
        check("${HOME}/bin:${HOME}", "/home/me/bin:/home/me");
        check("${PYTHON_PATH:/usr/bin/python3}", "/usr/bin/python3");
        check("${VENV_PATH:}", "");
        check("${EMPTY:no}", "");
        check("${URL:http://x:80/a}", "http://x:80/a");
        check("${A:${B:${HOME}}/c}", "/home/me/c");
        check("${JSON:{\"a\": {}}}", "{\"a\": {}}");
        check("$${HOME} $$${HOME}", "${HOME} $${HOME}");
        check("${venv}", "(left out)");
        check("--venv=${venv}/bin", "(left out)");
        check("${venv:/usr}", "/usr");
        check("${X:${venv}}", "(left out)");
    }

    #[test]
    fn errors_say_what_to_do() {
        let error = |input: &str| text(input, &vars).unwrap_err().to_string();
        expect_test::expect!["`${NOPE}` is not set: set it, or give a default, `${NOPE:…}`"]
            .assert_eq(&error("a ${NOPE} b"));
        expect_test::expect!["a `${` is never closed: write `$${` for the characters themselves"]
            .assert_eq(&error("${HOME"));
        expect_test::expect!["`${a b}` is not the name of a variable"].assert_eq(&error("${a b}"));
        expect_test::expect!["`${}` is not the name of a variable"].assert_eq(&error("${}"));
        expect_test::expect!["`${SECRET}` may not be read by a definition of the repository"]
            .assert_eq(&error("${SECRET:x}"));
    }

    #[test]
    fn values_lose_what_is_left_out() {
        let input = json!({"a": ["${venv}", "${HOME}", 1, null, ["${venv}"]], "b": "${venv}", "c": {"d": "${venv}"}});
        assert_eq!(value(&input, &vars), Ok(Some(json!({"a": ["/home/me", 1, null, []], "c": {}}))));
        assert!(value(&json!({"a": [{"b": "${NOPE}"}]}), &vars).is_err());
    }

    proptest! {
        #[test]
        fn text_without_variables_stays(input in "[^$]{0,40}") {
            prop_assert_eq!(text(&input, &vars), Ok(Some(input)));
        }

        #[test]
        fn nothing_panics(input in "[${}:aHOME venv]{0,40}") {
            let _ = text(&input, &vars);
        }
    }
}
