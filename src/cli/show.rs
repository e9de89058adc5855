//! `langport show NAME`: one definition, and what it means here.

use anyhow::Context;
use serde_json::json;

use super::{
    list::{self, State},
    out,
};
use crate::registry::{
    Entry, Getting, Registry, Surroundings,
    install::{self, InstallError},
    resolve,
};

/// Shows a definition and what it means in this folder.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Name of the definition
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print a copy of the definition, named `local/…`: the beginning of one of your own
    #[arg(long, conflicts_with = "json")]
    pub toml: bool,
}

/// Runs the command.
///
/// # Errors
/// There is no such definition, or stdout cannot be written.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let around = list::surroundings()?;
    let (registry, left_out) = Registry::load(&around.dirs);
    list::report(&left_out);
    let entry = find(&registry, &args.name)?;
    if args.toml {
        out::print(&copy(entry)?)?;
        return Ok(());
    }
    let shown = Shown::of(entry, &registry, &around)?;
    out::print(&if args.json { shown.json()? } else { shown.text() })?;
    Ok(())
}

/// A definition as a file of the user's own.
fn copy(entry: &Entry) -> anyhow::Result<String> {
    let mut def = entry.def.clone();
    def.name = format!("local/{}", entry.name.name());
    toml::to_string(&def).context("the definition holds a null, which TOML has not: copy its file")
}

/// A definition by name, or an error that says which there are.
pub(super) fn find<'a>(registry: &'a Registry, name: &str) -> anyhow::Result<&'a Entry> {
    registry.get(name).map(AsRef::as_ref).with_context(|| {
        let near = registry.nearest(name);
        let names = if near.is_empty() {
            "`langport list` shows all of them".to_owned()
        } else {
            format!("did you mean {}?", near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or "))
        };
        format!("no definition is called `{name}`: {names}")
    })
}

struct Shown<'a> {
    entry: &'a Entry,
    generation: u64,
    state: State,
    /// The commands that install it.
    steps: Vec<String>,
    /// Program and arguments, or why there are none.
    command: Result<Vec<String>, String>,
    root: String,
}

impl<'a> Shown<'a> {
    fn of(entry: &'a Entry, registry: &Registry, around: &Surroundings) -> anyhow::Result<Self> {
        let root = around.workspace.first().context("there is no workspace")?;
        let launch = resolve(entry, root, around);
        let steps = match install::prepare(entry, around) {
            Ok(Some(prepared)) => prepared.commands.iter().map(install::Prepared::shown).collect(),
            Ok(None) | Err(InstallError::NoRecipe { .. }) => Vec::new(),
            Err(error) => vec![format!("({error})")],
        };
        Ok(Self {
            entry,
            generation: registry.generation(),
            state: list::state(entry, around),
            steps,
            command: launch.map(|launch| launch.shown).map_err(|error| error.to_string()),
            root: root.display().to_string(),
        })
    }

    fn json(&self) -> anyhow::Result<String> {
        let value = json!({
            "name": self.entry.name.to_string(),
            "scope": self.entry.scope.word(),
            "source": self.entry.source.to_string(),
            "generation": self.generation,
            "server": self.state,
            "install": self.entry.getting().as_ref().and_then(Getting::command),
            "advice": self.entry.getting().as_ref().and_then(Getting::advice),
            "install_runs": self.steps,
            "root": self.root,
            "command": self.command.as_ref().ok(),
            "problem": self.command.as_ref().err(),
            "definition": self.entry.def,
        });
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    }

    fn text(&self) -> String {
        let entry = self.entry;
        let mut lines = vec![format!("{}  {}", entry.name, entry.def.description).trim_end().to_owned()];
        lines.push(format!("source      {}", entry.source));
        lines.push(format!("scope       {}", entry.scope));
        lines.push(format!("generation  {}", self.generation));
        let server = match &self.state {
            State::Installed { program, pin, .. } => format!("installed ({pin}): {program}"),
            State::Found { program } => format!("found: {program}"),
            State::NotInstalled { reason } => format!("not installed: {reason}"),
            State::Unusable { reason } => format!("not usable: {reason}"),
        };
        lines.push(format!("server      {server}"));
        // What is installed as the definition says needs no advice on how.
        let current = matches!(self.state, State::Installed { outdated: false, .. });
        if let Some(getting) = entry.getting().filter(|_| !current) {
            lines.push(format!("install     {getting}"));
        }
        lines.extend(self.steps.iter().map(|step| format!("            {step}")));
        lines.push(format!("root        {}", self.root));
        let command = match &self.command {
            Ok(words) => words.join(" "),
            Err(problem) => format!("none: {problem}"),
        };
        lines.push(format!("command     {command}"));
        lines.push(String::new());
        let mut text = lines.join("\n") + "\n";
        // TOML has no null: an entry that holds one can only be shown as JSON.
        text += &toml::to_string(&entry.def).or_else(|_| serde_json::to_string_pretty(&entry.def)).unwrap_or_default();
        text
    }
}

#[cfg(test)]
mod tests;
