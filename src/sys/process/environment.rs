//! Which variables of our environment a server gets to see: those on a list, never all.

use crate::sys::env::Env;

/// Names that are passed on. What is not here is not passed on, unless a definition names it: tokens and keys of the
/// agent's host are no business of a language server.
const ALLOWED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TMP",
    "TEMP",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    // Where toolchains and their caches lie. Without them a server starts another toolchain than the user's, or
    // fills a second cache.
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "JAVA_HOME",
    "GRADLE_USER_HOME",
    "DOTNET_ROOT",
    "NVM_DIR",
    "VOLTA_HOME",
    "PYENV_ROOT",
    "GEM_HOME",
    "SDKROOT",
    "DEVELOPER_DIR",
    // Needed for any program to run on NixOS and Guix.
    "LOCALE_ARCHIVE",
    "NIX_SSL_CERT_FILE",
    "GUIX_LOCPATH",
    // Windows.
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PATHEXT",
    "COMSPEC",
];

/// Beginnings of names that are passed on.
const ALLOWED_PREFIXES: &[&str] = &["LC_", "XDG_"];

/// The complete environment of a server: what is allowed of ours, what `extra_names` adds of ours, and `set` over it.
#[must_use]
pub fn allowed_env(extra_names: &[String], set: &[(String, String)]) -> Vec<(String, String)> {
    allowed(&Env::current(), extra_names, set)
}

fn allowed(ours: &Env, extra_names: &[String], set: &[(String, String)]) -> Vec<(String, String)> {
    let wanted = |name: &str| {
        let listed = ALLOWED.contains(&name) || ALLOWED_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        (listed || extra_names.iter().any(|extra| extra == name)) && !set.iter().any(|(key, _)| key == name)
    };
    let passed = ours.iter().filter(|(name, _)| wanted(name)).map(|(n, v)| (n.to_owned(), v.to_owned()));
    let mut env: Vec<(String, String)> = passed.collect();
    for (index, (name, value)) in set.iter().enumerate() {
        // The last of several values counts, as in a shell.
        if !set[index + 1..].iter().any(|(later, _)| later == name) {
            env.push((name.clone(), value.clone()));
        }
    }
    env
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(ours: &[(&str, &str)], extra: &[&str], set: &[(&str, &str)], expected: &Expect) {
        let extra: Vec<String> = extra.iter().map(|&name| name.to_owned()).collect();
        let set: Vec<(String, String)> = set.iter().map(|&(n, v)| (n.to_owned(), v.to_owned())).collect();
        let env = allowed(&ours.iter().copied().collect(), &extra, &set);
        expected.assert_eq(&env.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn secrets_and_loaders_stay_behind() {
        let ours = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("XDG_CACHE_HOME", "/x"),
            ("ANTHROPIC_API_KEY", "secret"),
            ("GITHUB_TOKEN", "secret"),
            ("LD_PRELOAD", "/evil.so"),
            ("NODE_OPTIONS", "--require evil"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x"),
            ("DYLD_INSERT_LIBRARIES", "/evil"),
        ];
        check(&ours, &[], &[], &expect!["LC_ALL=C PATH=/bin XDG_CACHE_HOME=/x"]);
        check(
            &ours,
            &["GITHUB_TOKEN"],
            &[("PATH", "/a"), ("A", "1"), ("A", "2")],
            &expect!["GITHUB_TOKEN=secret LC_ALL=C XDG_CACHE_HOME=/x PATH=/a A=2"],
        );
    }
}
