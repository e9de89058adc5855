//! Running a package manager: one program at a time, in the foreground, on the user's word.
#![expect(clippy::disallowed_methods, reason = "this is one of the places that spawn processes")]

use std::{
    io::{self, BufRead, BufReader, Read},
    process::{Command, ExitStatus, Stdio},
    sync::mpsc::{self, RecvTimeoutError, SyncSender},
    thread,
    time::{Duration, Instant},
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

/// A line longer than this is told in pieces.
const LINE: usize = 2_000;
/// Lines that wait to be told; a program that writes faster waits.
const LINES: usize = 64;
/// What a program leaves running may keep its pipes open: this long after its end nobody listens any more.
const LINGER: Duration = Duration::from_millis(500);

/// Runs a program to its end, telling each line that it prints. It has no input.
///
/// # Errors
/// It cannot be started.
pub fn run_tool(spawn: &Spawn, told: &mut dyn FnMut(&str)) -> io::Result<ExitStatus> {
    let mut command = Command::new(&spawn.program);
    command
        .args(&spawn.args)
        .current_dir(&spawn.cwd)
        .env_clear()
        .envs(spawn.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(target_os = "linux")]
    let (mut child, _known) = super::process::orphans::start(|| command.spawn(), |child| Some(child.id()))?;
    #[cfg(not(target_os = "linux"))]
    let mut child = command.spawn()?;
    let (send, lines) = mpsc::sync_channel(LINES);
    if let Some(pipe) = child.stdout.take() {
        follow(pipe, send.clone());
    }
    if let Some(pipe) = child.stderr.take() {
        follow(pipe, send);
    }
    let mut end: Option<(ExitStatus, Instant)> = None;
    loop {
        match lines.recv_timeout(Duration::from_millis(100)) {
            Ok(line) => told(&line),
            Err(RecvTimeoutError::Disconnected) => return end.map_or_else(|| child.wait(), |(status, _)| Ok(status)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        match end {
            Some((status, at)) if at.elapsed() > LINGER => return Ok(status),
            Some(_) => {}
            None => end = child.try_wait()?.map(|status| (status, Instant::now())),
        }
    }
}

/// Sends every line that comes from a pipe, in a thread of its own, until its end or until nobody listens.
fn follow(pipe: impl Read + Send + 'static, send: SyncSender<String>) {
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        let flush = |line: &mut Vec<u8>| {
            let text = String::from_utf8_lossy(line).trim_end().to_owned();
            line.clear();
            text.is_empty() || send.send(text).is_ok()
        };
        loop {
            let read = match pipe.fill_buf() {
                Ok([]) | Err(_) => break,
                // A carriage return alone is how bars are drawn.
                Ok(bytes) => match bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
                    Some(end) => {
                        line.extend_from_slice(&bytes[..end]);
                        if !flush(&mut line) {
                            return;
                        }
                        end + 1
                    }
                    None => {
                        line.extend_from_slice(bytes);
                        bytes.len()
                    }
                },
            };
            pipe.consume(read);
            if line.len() > LINE && !flush(&mut line) {
                return;
            }
        }
        flush(&mut line);
    });
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

    fn check(script: &str, expected: &expect_test::Expect) {
        let spawn = Spawn {
            program: "/bin/sh".into(),
            args: vec!["-c".to_owned(), script.to_owned()],
            cwd: "/".into(),
            env: vec![("GIVEN".to_owned(), "yes".to_owned())],
            bounds: Default::default(),
        };
        let mut seen = Vec::new();
        let status = run_tool(&spawn, &mut |line| seen.push(line.to_owned())).unwrap();
        seen.sort();
        expected.assert_eq(&format!("{:?} {}", status.code(), seen.join("|")));
    }

    #[test]
    fn every_line_is_told_and_the_end_too() {
        check(
            "echo a; echo \"$GIVEN$HOME\" >&2; printf '10%%\\r20%%\\r\\n'; printf last; exit 3",
            &expect_test::expect!["Some(3) 10%|20%|a|last|yes"],
        );
        check("cat", &expect_test::expect!["Some(0) "]);
    }

    #[test]
    fn what_a_program_leaves_running_keeps_nobody_waiting() {
        let start = Instant::now();
        check("sleep 9 & echo done; kill -9 $$", &expect_test::expect!["None done"]);
        assert!(start.elapsed() < Duration::from_secs(8));
    }
}
