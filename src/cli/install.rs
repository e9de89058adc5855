//! `langport install`: what will be run and where it goes, a yes, and then just that. Servers by name, or what a project
//! needs.

use std::{
    io::{self, BufRead, IsTerminal},
    path::PathBuf,
};

use anyhow::{Context, anyhow, bail};

use super::{
    list, out,
    progress::Progress,
    project::{Project, Proposal},
    show,
};
use crate::{
    registry::{
        Entry, Registry, Surroundings,
        install::{Prepared, prepare, prepare_again},
    },
    sys::tool,
};

/// Installs language servers below langport's own data folder.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Names of definitions
    #[arg(value_name = "NAME", required_unless_present = "project")]
    pub names: Vec<String>,
    /// Install what this project needs and does not have: for each of its languages the first definition, and the linters
    #[arg(long = "for", value_name = "PATH", conflicts_with_all = ["names", "again"])]
    pub project: Option<PathBuf>,
    /// Install what is installed already once more
    #[arg(long)]
    pub again: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

/// Runs the command.
///
/// # Errors
/// A name is unknown, nobody said yes, or an installation failed.
pub fn run(args: &Args) -> anyhow::Result<()> {
    match &args.project {
        Some(path) => of_project(&Project::of(path)?, args.yes),
        None => by_name(args),
    }
}

fn by_name(args: &Args) -> anyhow::Result<()> {
    let mut around = list::surroundings()?;
    allow_home(&mut around);
    let (registry, left_out) = Registry::load(&around.dirs);
    list::report(&left_out);
    let waiting = plan(args, &registry, &around)?;
    if waiting.is_empty() {
        return Ok(());
    }
    out::print(&shown(&waiting))?;
    with_consent(waiting, args.yes)
}

fn of_project(project: &Project, yes: bool) -> anyhow::Result<()> {
    project.show()?;
    let missing = project.missing();
    let around = project.around_for_installing();
    let Proposal { waiting, by_hand, impossible } = Proposal::of(&missing, &around);
    let mut text = String::new();
    for (title, lines) in [("Left to you", &by_hand), ("Not possible here", &impossible)] {
        if !lines.is_empty() {
            text += &format!("\n{title}:\n  {}\n", lines.join("\n  "));
        }
    }
    if waiting.is_empty() {
        text += match (project.survey.languages.is_empty(), missing.is_empty()) {
            (true, _) => "\nNo file of a known language is here.\n",
            (false, true) => "\nNothing is to be installed.\n",
            (false, false) => "\nThere is nothing that langport could install.\n",
        };
        out::print(&text)?;
    } else {
        out::print(&format!("{text}\nTo be installed:\n{}", shown(&waiting)))?;
        with_consent(waiting, yes)?;
    }
    if !impossible.is_empty() {
        bail!("not everything that this project needs can be installed here");
    }
    Ok(())
}

/// A person who installs something from the home folder has package managers below it.
pub(super) fn allow_home(around: &mut Surroundings) {
    let home = around.vars.get("HOME").map(PathBuf::from);
    around.workspace.retain(|root| !home.as_ref().is_some_and(|home| home.starts_with(root)));
}

/// Asks, unless the yes was given, and installs.
fn with_consent(waiting: Vec<Prepared<'_>>, yes: bool) -> anyhow::Result<()> {
    if !yes && !asked()? {
        bail!("nothing was installed");
    }
    let all = waiting.len();
    match carry_out(waiting)? {
        0 => Ok(()),
        failed if failed == all => bail!("nothing was installed; the same command tries again"),
        failed => bail!("{failed} of {all} servers were not installed; the same command tries these again"),
    }
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

/// What is left to do: unknown names are an error before anything is done, what is installed already is said.
fn plan<'a>(args: &Args, registry: &'a Registry, around: &'a Surroundings) -> anyhow::Result<Vec<Prepared<'a>>> {
    let mut entries: Vec<&Entry> = Vec::new();
    for name in &args.names {
        let entry = show::find(registry, name)?;
        if !entries.iter().any(|other| other.name == entry.name) {
            entries.push(entry);
        }
    }
    let mut waiting = Vec::new();
    for entry in entries {
        if args.again {
            waiting.push(prepare_again(entry, around)?);
            continue;
        }
        match prepare(entry, around)? {
            Some(prepared) => waiting.push(prepared),
            None => out::print(&format!("{} is installed already\n", entry.name))?,
        }
    }
    Ok(waiting)
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
