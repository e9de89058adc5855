//! `langport install`: what will be run and where it goes, a yes, and then just that. Servers by name, or what a project
//! needs.

use std::path::PathBuf;

use anyhow::bail;

use super::{
    consent::{allow_home, asked, carry_out, shown},
    list, out,
    project::{Project, Proposal},
    show,
};
use crate::registry::{
    Entry, Registry, Surroundings,
    install::{Prepared, prepare, prepare_again},
};

/// Installs language servers below langport's own data folder.
#[derive(Debug, Clone, clap::Args)]
#[command(override_usage = "langport install [OPTIONS] <NAME>...\n       langport install [OPTIONS] --for <PATH>")]
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
