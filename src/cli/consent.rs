//! What is to be installed: shown to a person, agreed to, and then just that is run.

use std::{
    io::{self, BufRead, IsTerminal},
    path::PathBuf,
};

use anyhow::{Context, anyhow, bail};

use super::{out, progress::Progress};
use crate::{
    registry::{Surroundings, install::Prepared},
    sys::tool,
};

/// A person who installs something from the home folder has package managers below it.
pub(super) fn allow_home(around: &mut Surroundings) {
    let home = around.vars.get("HOME").map(PathBuf::from);
    around.workspace.retain(|root| !home.as_ref().is_some_and(|home| home.starts_with(root)));
}

/// The commands, for people.
pub(super) fn shown(waiting: &[Prepared<'_>]) -> String {
    let mut text = String::new();
    for prepared in waiting {
        text += &format!("{} ({}) into {}:\n", prepared.entry().name, prepared.pin(), prepared.folder.display());
        for command in &prepared.commands {
            text += &format!("    {}\n", Prepared::shown(command));
        }
        if let Some(old) = &prepared.replaces {
            text += &format!("  in the place of {}\n", old.pin);
        }
    }
    text
}

/// Asks on the terminal.
pub(super) fn asked() -> anyhow::Result<bool> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        bail!("nothing was installed: there is no terminal to ask on; say --yes to run these commands");
    }
    out::print("Run these commands? [y/N] ")?;
    io::Write::flush(&mut io::stdout())?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).context("the answer")?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Installs one after the other; one that fails does not keep the others. Answers with how many failed; why is told.
pub(super) fn carry_out(waiting: Vec<Prepared<'_>>) -> anyhow::Result<usize> {
    let all = waiting.len();
    let mut failed = 0;
    for (index, prepared) in waiting.into_iter().enumerate() {
        let name = prepared.entry().name.clone();
        let count = if all > 1 { format!(" ({} of {all})", index + 1) } else { String::new() };
        let what = format!("installing {name}{count}");
        match install_one(prepared, &what) {
            Ok(program) => out::print(&format!("installed {name}: {}\n", program.display()))?,
            Err(error) => {
                failed += 1;
                out::note(&format!("{name} was not installed: {error:#}"));
            }
        }
    }
    Ok(failed)
}

/// Lines of a package manager's that are shown when it failed.
const LAST_WORDS: usize = 12;

fn install_one(prepared: Prepared<'_>, what: &str) -> anyhow::Result<PathBuf> {
    let progress = Progress::new();
    progress.say(what);
    let mut said: Vec<String> = Vec::new();
    let done = prepared.install(&mut |command| {
        progress.note(&format!("$ {}", Prepared::shown(command)));
        tool::run_tool(command, &mut |line| {
            progress.say(&if progress.is_fleeting() { format!("{what}: {line}") } else { line.to_owned() });
            if said.len() >= SAID {
                said.remove(0);
            }
            said.push(line.to_owned());
        })
    });
    progress.clear();
    done.map_err(|error| {
        // In a log they stand above already.
        if progress.is_fleeting() {
            let last = said.len().saturating_sub(LAST_WORDS);
            said[last..].iter().for_each(|line| out::note(&format!("  | {line}")));
        }
        if said.iter().any(|line| tells_no_network(line)) { anyhow!(NO_NETWORK) } else { error.into() }
    })
}

/// Lines of a package manager's that are looked through when it failed.
const SAID: usize = 200;
const NO_NETWORK: &str = "the package registry could not be reached (is there a network, or a proxy to be named in \
                          HTTPS_PROXY?); what was installed before is untouched";

/// What package managers say where there is no network.
fn tells_no_network(line: &str) -> bool {
    let line = line.to_lowercase();
    const SIGNS: &[&str] = &[
        // npm
        "enotfound",
        "eai_again",
        "econnrefused",
        "econnreset",
        "etimedout",
        "enetunreach",
        "ehostunreach",
        "err_socket_timeout",
        // pip
        "failed to establish a new connection",
        "temporary failure in name resolution",
        "name or service not known",
        "cannot connect to proxy",
        "read timed out",
        // cargo
        "could not resolve host",
        "could not connect to server",
        "couldn't connect to server",
        "failed to connect to",
        // go
        "dial tcp",
        "no such host",
        // all of them
        "network is unreachable",
        "connection refused",
    ];
    SIGNS.iter().any(|sign| line.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_managers_say_without_a_network() {
        for line in [
            "npm error code ENOTFOUND",
            "npm error FetchError: request to http://127.0.0.1:9/pyright failed, reason: connect ECONNREFUSED 127.0.0.1:9",
            "WARNING: Retrying … after connection broken by 'NewConnectionError('… Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')'",
            "warning: spurious network error (2 tries remaining): [6] Could not resolve hostname (Could not resolve host: index.example)",
            "go: golang.org/x/tools/gopls@v0.20.0: Get \"https://proxy.example/…\": dial tcp: lookup proxy.example: no such host",
        ] {
            assert!(tells_no_network(line), "{line}");
        }
        for line in
            ["npm error code E404", "ERROR: No matching distribution found for ty==9", "error: no matching package"]
        {
            assert!(!tells_no_network(line), "{line}");
        }
    }
}
