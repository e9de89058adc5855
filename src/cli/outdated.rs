//! `langport outdated`: what langport has installed, against the versions that the definitions ask for. Reads only what
//! is on this machine, and says what it therefore cannot know.

use serde::Serialize;
use serde_json::json;

use super::{list, out};
use crate::registry::{Recipe, Registry, Surroundings, install, locate};

/// Compares the installed servers with the versions that the definitions ask for. Asks no registry.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// Stdout cannot be written.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let around = list::surroundings()?;
    let (registry, left_out) = Registry::load(&around.dirs);
    list::report(&left_out);
    let report = Report::of(&registry, &around);
    out::print(&if args.json { report.json()? } else { report.text() })?;
    Ok(())
}

/// How what is installed stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Standing {
    /// Just what the definition asks for.
    Current,
    /// The definition asks for another version.
    Outdated,
    /// Its program is gone.
    Damaged,
    /// No definition has this name any more, or its definition is not one that langport can install.
    Undefined,
}

#[derive(Debug, Clone, Serialize)]
struct Row {
    name: String,
    state: Standing,
    /// Package manager and versions: `npm pyright@1.1.414`.
    installed: String,
    /// What the definition asks for.
    pinned: Option<String>,
    /// The command that mends it.
    update: Option<String>,
}

struct Report {
    rows: Vec<Row>,
    /// Definitions whose server somebody else installed.
    found: Vec<String>,
}

impl Report {
    fn of(registry: &Registry, around: &Surroundings) -> Self {
        let installed = install::all_installed(&around.dirs);
        let rows = installed.into_iter().map(|(name, installed)| {
            let entry = registry.all().iter().find(|entry| entry.name == name);
            let pinned = entry.and_then(|entry| Recipe::of(&entry.def.install)).map(|recipe| recipe.pin());
            let whole = entry.is_some_and(|entry| install::is_whole(entry, &around.dirs));
            let state = match &pinned {
                None => Standing::Undefined,
                Some(_) if !whole => Standing::Damaged,
                Some(pinned) if *pinned != installed.pin => Standing::Outdated,
                Some(_) => Standing::Current,
            };
            let mend = matches!(state, Standing::Outdated | Standing::Damaged);
            let update = mend.then(|| format!("langport install {name}"));
            Row { name: name.to_string(), state, installed: installed.pin, pinned, update }
        });
        let others = registry.all().iter().filter(|entry| locate(entry, around).is_ok_and(|found| !found.ours));
        Self { rows: rows.collect(), found: others.map(|entry| entry.name.to_string()).collect() }
    }

    /// What this says nothing about.
    fn not_looked_up(&self) -> Vec<String> {
        let mut lines = vec![
            "newer versions than the definitions ask for: no registry was asked (a newer langport brings newer \
             definitions)"
                .to_owned(),
        ];
        if !self.found.is_empty() {
            let names = self.found.join(", ");
            lines.push(format!("servers that langport did not install and finds on this machine: {names}"));
        }
        lines
    }

    fn json(&self) -> anyhow::Result<String> {
        let value = json!({"servers": self.rows, "not_looked_up": self.not_looked_up()});
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    }

    fn text(&self) -> String {
        let mut text = if self.rows.is_empty() {
            "langport has installed no server\n".to_owned()
        } else {
            let mut table = vec![["NAME", "INSTALLED", "STATE"].map(str::to_owned).to_vec()];
            table.extend(self.rows.iter().map(Row::cells));
            out::table(&table)
        };
        let mend = self.rows.iter().filter(|row| row.update.is_some());
        let names: Vec<&str> = mend.map(|row| row.name.as_str()).collect();
        if !names.is_empty() {
            text += &format!("\nTo bring these up to date, run `langport install {}`\n", names.join(" "));
        }
        text += "\nNot looked up:\n";
        for line in self.not_looked_up() {
            text += &format!("  {line}\n");
        }
        text
    }
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let pinned = self.pinned.as_deref().unwrap_or_default();
        let state = match self.state {
            Standing::Current => "current".to_owned(),
            Standing::Outdated => format!("the definition asks for {pinned}"),
            Standing::Damaged => "its program is gone".to_owned(),
            Standing::Undefined => "no definition installs this any more".to_owned(),
        };
        vec![self.name.clone(), self.installed.clone(), state]
    }
}

#[cfg(test)]
mod tests;
