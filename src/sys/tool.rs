//! Running a package manager: one program at a time, in the foreground, on the user's word.
#![expect(clippy::disallowed_methods, reason = "this is one of the places that spawn processes")]

use std::{
    io,
    process::{Command, ExitStatus, Stdio},
};

use super::{env::Env, process::Spawn};

/// Variables that a package manager needs to reach its registry, also from behind a proxy or a mirror.
const NAMES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    "TZ",
    "NO_COLOR",
    "ALL_PROXY",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "FTP_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "GOPROXY",
    "GOSUMDB",
    "GONOSUMDB",
    "GONOPROXY",
    "GOPRIVATE",
    "GOINSECURE",
    "GOFLAGS",
    "GOPATH",
    "GOMODCACHE",
    "GOCACHE",
    "GOTOOLCHAIN",
    "GOROOT",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SYSTEMROOT",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "PATHEXT",
];

/// Families of such variables, by their beginning.
const PREFIXES: &[&str] =
    &["LC_", "XDG_", "PIP_", "UV_", "NPM_CONFIG_", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTRIES_", "CARGO_REGISTRY_"];

/// The part of an environment that a package manager gets.
pub fn tool_env(vars: &Env) -> Vec<(String, String)> {
    vars.iter()
        .filter(|(name, _)| {
            // npm and the proxies read their variables in lower case as well.
            let upper = name.to_ascii_uppercase();
            NAMES.contains(&upper.as_str()) || PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
        })
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Runs a program to its end. It has no input; what it prints goes to our stderr, since stdout may be a program's to
/// read.
///
/// # Errors
/// It cannot be started.
pub fn run_tool(spawn: &Spawn) -> io::Result<ExitStatus> {
    Command::new(&spawn.program)
        .args(&spawn.args)
        .current_dir(&spawn.cwd)
        .env_clear()
        .envs(spawn.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::from(io::stderr()))
        .stderr(Stdio::inherit())
        .status()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn mirrors_pass_and_everything_else_stays() {
        let given =
            ["PATH", "pip_index_url", "npm_config_registry", "https_proxy", "SSL_CERT_FILE", "GOPROXY", "LC_ALL"];
        let kept_back =
            ["NODE_OPTIONS", "LD_PRELOAD", "GITHUB_TOKEN", "OTEL_EXPORTER", "DYLD_INSERT_LIBRARIES", "PYTHONPATH"];
        let env = tool_env(&given.iter().chain(&kept_back).map(|&name| (name, "x")).collect());
        let names: BTreeSet<_> = env.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, BTreeSet::from(given));
    }
}
