//! `langport install NAME…`: what will be run and where it goes, a yes, and then just that.

use std::io::{self, BufRead, IsTerminal};

use anyhow::{Context, bail};

use super::{list, out, show};
use crate::{
    registry::{
        Entry, Registry, Surroundings,
        install::{Prepared, prepare},
    },
    sys::tool,
};

/// Installs language servers below langport's own data folder.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Names of definitions
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

/// Runs the command.
///
/// # Errors
/// A name is unknown, nobody said yes, or an installation failed.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let mut around = list::surroundings()?;
    // A person who installs something from the home folder has package managers below it.
    let home = around.vars.get("HOME").map(std::path::PathBuf::from);
    around.workspace.retain(|root| !home.as_ref().is_some_and(|home| home.starts_with(root)));
    let (registry, left_out) = Registry::load(&around.dirs);
    list::report(&left_out);
    let waiting = plan(&args.names, &registry, &around)?;
    if waiting.is_empty() {
        return Ok(());
    }
    out::print(&shown(&waiting))?;
    if !args.yes && !asked()? {
        bail!("nothing was installed");
    }
    for prepared in waiting {
        let name = prepared.entry().name.clone();
        out::note(&format!("installing {name} …"));
        let program = prepared
            .install(&mut |command| {
                out::note(&format!("$ {}", Prepared::shown(command)));
                tool::run_tool(command)
            })
            .with_context(|| format!("{name} was not installed"))?;
        out::print(&format!("installed {name}: {}\n", program.display()))?;
    }
    Ok(())
}

/// What is left to do: unknown names are an error before anything is done, what is installed already is said.
fn plan<'a>(names: &[String], registry: &'a Registry, around: &'a Surroundings) -> anyhow::Result<Vec<Prepared<'a>>> {
    let mut entries: Vec<&Entry> = Vec::new();
    for name in names {
        let entry = show::find(registry, name)?;
        if !entries.iter().any(|other| other.name == entry.name) {
            entries.push(entry);
        }
    }
    let mut waiting = Vec::new();
    for entry in entries {
        match prepare(entry, around)? {
            Some(prepared) => waiting.push(prepared),
            None => out::print(&format!("{} is installed already\n", entry.name))?,
        }
    }
    Ok(waiting)
}

fn shown(waiting: &[Prepared<'_>]) -> String {
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
fn asked() -> anyhow::Result<bool> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        bail!("nothing was installed: there is no terminal to ask on; say --yes to run these commands");
    }
    out::print("Run these commands? [y/N] ")?;
    io::Write::flush(&mut io::stdout())?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
