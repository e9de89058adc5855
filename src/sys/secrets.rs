//! What must never be shown or written: the values of variables whose names say that they are secret, and what looks like
//! a credential wherever it stands. The list only grows; a value that is no strong secret by itself (`postgres`) is not on
//! it, for to hide a common word would make answers wrong.

use std::borrow::Cow;
use std::sync::{LazyLock, PoisonError, RwLock};

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use crate::sys::env::Env;

/// Stands for what is hidden.
pub const HIDDEN: &str = "[hidden]";

static KNOWN: RwLock<Vec<String>> = RwLock::new(Vec::new());
/// More are not remembered: an environment of this many secrets is somebody's joke.
const MOST: usize = 1_000;

/// Parts of a name, between underscores, that say that the value is secret.
const WORDS: &[&str] = &[
    "APIKEY",
    "AUTHTOKEN",
    "BEARER",
    "COOKIE",
    "CREDENTIAL",
    "CREDENTIALS",
    "JWT",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
];
/// Ends of names that are written in one word.
const ENDS: &[&str] = &["PASSWORD", "PASSWD", "TOKEN", "SECRET", "APIKEY"];

static LOOKS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    [
        // The name and password of a URL.
        (r"(?i)\b([a-z][a-z0-9+.\-]{0,30}://)[^\s/@]{1,300}@", "${1}[hidden]@"),
        (r"(?i)\b(bearer|basic)\s+[a-z0-9._~+/=\-]{8,}", "${1} [hidden]"),
        (
            r#"(?i)\b([a-z_\-]{0,30}(?:token|secret|password|passwd|api[_\-]?key)=)(["']?)[^\s"',;&$][^\s"',;&]{7,}"#,
            "${1}${2}[hidden]",
        ),
        (
            r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_\-]{16,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_\-]{20,}|sk-[A-Za-z0-9_\-]{20,}|xox[abprs]-[A-Za-z0-9\-]{10,}|A[KS]IA[0-9A-Z]{16}|eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]*)",
            "[hidden]",
        ),
    ]
    .into_iter()
    .filter_map(|(pattern, shown)| Some((Regex::new(pattern).ok()?, shown)))
    .collect()
});

/// Whether a variable's name says that its value is secret.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let parts: Vec<&str> = name.split(['_', '-', '.']).collect();
    let key = parts.iter().skip(1).any(|part| *part == "KEY");
    key || parts.iter().any(|part| WORDS.contains(part)) || ENDS.iter().any(|end| name.ends_with(end))
}

/// Remembers the secrets of a whole environment, those inside URLs too.
pub fn learn_all(env: &Env) {
    for (name, value) in env.iter() {
        learn(name, value);
    }
}

/// Remembers a variable's value where it is secret.
pub fn learn(name: &str, value: &str) {
    let password = value.split_once("://").and_then(|(_, rest)| {
        let (user, _) = rest.split(['/', '?', '#']).next()?.rsplit_once('@')?;
        Some(user.split_once(':').map_or(user, |(_, password)| password))
    });
    // A key has several lines, and what was read from a file ends in one; servers say them line by line.
    let lines = value.lines().map(str::trim).filter(|line| !line.starts_with("-----"));
    let whole = is_secret(name).then(|| std::iter::once(value.trim()).chain(lines));
    for secret in whole.into_iter().flatten().chain(password) {
        if is_strong(secret) {
            remember(secret);
        }
    }
}

/// Remembers the secrets of settings, by the names of their keys: `apiToken`, `password`.
pub fn learn_settings(settings: &Map<String, Value>) {
    for (name, value) in settings {
        learn_setting(name, value);
    }
}

fn learn_setting(name: &str, value: &Value) {
    match value {
        Value::String(text) => {
            let name = words_apart(name.rsplit('.').next().unwrap_or(name));
            // `maxTokens` and `semanticTokens` are no secrets.
            if !name.to_ascii_lowercase().ends_with("_tokens") {
                learn(&name, text);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| learn_setting(name, item)),
        Value::Object(below) => learn_settings(below),
        _ => {}
    }
}

/// `secretKey` as `secret_Key`.
fn words_apart(name: &str) -> String {
    let mut apart = String::with_capacity(name.len() + 4);
    let mut small = false;
    for c in name.chars() {
        if c.is_uppercase() && small {
            apart.push('_');
        }
        small = c.is_lowercase();
        apart.push(c);
    }
    apart
}

/// Whether a value is so much its own that no other text has it by chance.
fn is_strong(value: &str) -> bool {
    let is_place = value.starts_with(['/', '~', '.']) || value.contains("://");
    let mixed = value.contains(|c: char| c.is_ascii_digit()) && value.contains(|c: char| c.is_ascii_alphabetic());
    !is_place && (value.len() >= 16 || value.len() >= 8 && mixed)
}

fn remember(secret: &str) {
    // Logs and structured results are JSON.
    let json = Value::from(secret).to_string();
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    for form in [secret, json.trim_matches('"')] {
        if known.len() < MOST && !known.iter().any(|other| other == form) {
            known.push(form.to_owned());
        }
    }
    // What holds another one has to go first.
    known.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
}

/// The text without the known secrets.
#[must_use]
pub fn hide_known(text: &str) -> Cow<'_, str> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let mut text = Cow::Borrowed(text);
    for secret in known.iter().filter(|secret| !secret.is_empty()) {
        if memchr::memmem::find(text.as_bytes(), secret.as_bytes()).is_some() {
            text = Cow::Owned(text.replace(secret.as_str(), HIDDEN));
        }
    }
    text
}

/// The text without the known secrets and without what looks like one: for what servers and programs say of themselves,
/// never for the text of files.
#[must_use]
pub fn hide(text: &str) -> Cow<'_, str> {
    let mut text = hide_known(text);
    for (look, shown) in &*LOOKS {
        if look.is_match(&text) {
            let hidden = look.replace_all(&text, |found: &Captures<'_>| {
                let mut out = String::new();
                found.expand(shown, &mut out);
                out
            });
            text = Cow::Owned(hidden.into_owned());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn names_that_say_so() {
        for name in [
            "GITHUB_TOKEN",
            "ANTHROPIC_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "PGPASSWORD",
            "npm_config__authToken",
            "SSH_KEY",
            "MY_PAT",
            "DB_PASSWORD_FILE",
            "SESSION_COOKIE",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in
            ["PATH", "HOME", "PWD", "GIT_AUTHOR_NAME", "KEYBOARD", "KEY", "TOKENIZERS_PARALLELISM", "MONKEY", "LANG"]
        {
            assert!(!is_secret(name), "{name}");
        }
    }

    fn check(text: &str, expected: &Expect) {
        expected.assert_eq(&hide(text));
    }

    #[test]
    fn what_looks_like_a_credential() {
        check("GET https://me:pa55word@host/x?y", &expect!["GET https://[hidden]@host/x?y"]);
        check("postgres://app@db/x", &expect!["postgres://[hidden]@db/x"]);
        check("Authorization: Bearer abc.def-123456", &expect!["Authorization: Bearer [hidden]"]);
        check("--api-key=abcdefgh123 --port=80", &expect!["--api-key=[hidden] --port=80"]);
        check(&format!("x ghp_{} y", "a1".repeat(12)), &expect!["x [hidden] y"]);
        check(
            "unexpected token: identifier, token = value, basic types",
            &expect!["unexpected token: identifier, token = value, basic types"],
        );
        check("https://host/a@b and me@host", &expect!["https://host/a@b and me@host"]);
    }

    #[test]
    fn secrets_of_several_lines_and_of_settings() {
        learn("TEST_NL_TOKEN", "tok-with-newline-4711abc\n");
        learn(
            "TEST_PRIVATE_KEY",
            "-----BEGIN PRIVATE KEY-----\r\nMIIEvQIBADANBg01\r\nkqhkiG9w0BAQEF02\r\n-----END PRIVATE KEY-----\r\n",
        );
        let settings = serde_json::json!({
            "apiToken": "setting-token-123", "editor.maxTokens": "not-a-secret-123",
            "nested": {"secretKey": "nested-key-9876", "semanticTokens": {"style": "not-a-secret-456"}},
            "tokens": ["in-a-list-4711-x"], "servers": [{"password": "of-a-server-0815"}],
        });
        learn_settings(settings.as_object().unwrap());
        let text = "tok-with-newline-4711abc MIIEvQIBADANBg01 kqhkiG9w0BAQEF02 -----BEGIN PRIVATE KEY----- \
                    setting-token-123 not-a-secret-123 nested-key-9876 not-a-secret-456 in-a-list-4711-x of-a-server-0815";
        assert_eq!(
            hide_known(text),
            "[hidden] [hidden] [hidden] -----BEGIN PRIVATE KEY----- [hidden] not-a-secret-123 [hidden] \
             not-a-secret-456 [hidden] [hidden]"
        );
    }

    #[test]
    fn values_that_were_learnt() {
        learn("TEST_ONE_TOKEN", "qwx\"93-one");
        learn("TEST_URL", "mysql://root:hunter22x@localhost/db");
        learn("TEST_DB_PASSWORD", "postgres");
        learn("TEST_KEY_FILE_TOKEN", "/etc/keys/token1");
        learn("TEST_PLAIN", "plain-value-123456");
        let text = "a qwx\"93-one b hunter22x c postgres /etc/keys/token1 plain-value-123456 qwx\\\"93-one";
        assert_eq!(hide_known(text), "a [hidden] b [hidden] c postgres /etc/keys/token1 plain-value-123456 [hidden]");
    }
}
