//! `langport list`: every definition, and whether its server is here.

use serde::Serialize;

use super::out;
use crate::{
    config::nearest,
    registry::{Entry, Getting, LaunchError, LoadError, Recipe, Registry, Role, Surroundings, install, locate},
    sys::{dirs::Dirs, env::Env, lookup},
};

/// Lists the definitions of language servers.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Only those that serve this language id
    #[arg(long, value_name = "LANGUAGE")]
    pub language: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// No definition serves the language, or stdout cannot be written.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let around = surroundings()?;
    let (registry, left_out) = Registry::load(&around.dirs);
    let rows = rows(&registry, args.language.as_deref(), &around)?;
    if args.json {
        out::print(&json(&rows, &left_out)?)?;
    } else {
        out::print(&text(&rows))?;
        report(&left_out);
    }
    Ok(())
}

/// This process's, with the current folder as the workspace, as `serve` takes it.
pub(super) fn surroundings() -> anyhow::Result<Surroundings> {
    let env = Env::current();
    let dirs = Dirs::from_env(&env)?;
    let here = std::env::current_dir()?.canonicalize()?;
    Ok(Surroundings { dirs, vars: env, workspace: vec![here] })
}

/// Names the definitions that are left out.
pub(super) fn report(left_out: &[LoadError]) {
    for error in left_out {
        out::note(&format!("left out: {error}"));
    }
}

/// A definition on this machine.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Row {
    name: String,
    description: String,
    scope: &'static str,
    source: String,
    languages: Vec<String>,
    role: &'static str,
    group: Option<String>,
    #[serde(flatten)]
    pub(super) state: State,
    /// The command that installs it.
    install: Option<String>,
    /// What a person has to do, where there is none.
    advice: Option<String>,
    #[serde(skip)]
    getting: Option<Getting>,
    /// What installing takes, where langport can do it.
    needs: Option<Needs>,
}

/// Whether a server is here.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum State {
    /// langport installed it.
    Installed {
        program: String,
        pin: String,
        /// The definition pins another version by now.
        outdated: bool,
    },
    /// Found on PATH or where the definition says.
    Found {
        program: String,
    },
    NotInstalled {
        reason: String,
    },
    /// It is here and may not or cannot be used.
    Unusable {
        reason: String,
    },
}

impl State {
    /// That a program was found which is of no use.
    pub(super) fn passed_over(&self) -> &str {
        let Self::NotInstalled { reason } = self else { return "" };
        lookup::passed_over_in(reason)
    }
}

#[derive(Debug, Clone, Serialize)]
struct Needs {
    program: &'static str,
    found: Option<String>,
}

fn rows(registry: &Registry, language: Option<&str>, around: &Surroundings) -> anyhow::Result<Vec<Row>> {
    let wanted = |entry: &Entry| language.is_none_or(|language| entry.speaks(language));
    let rows: Vec<_> = registry.all().iter().filter(|entry| wanted(entry)).map(|entry| row(entry, around)).collect();
    match language {
        Some(language) if rows.is_empty() => {
            let known = registry.all().iter().flat_map(|entry| &entry.def.languages).map(String::as_str);
            anyhow::bail!("no definition serves the language `{language}`{}", nearest::hint(language, known))
        }
        _ => Ok(rows),
    }
}

fn row(entry: &Entry, around: &Surroundings) -> Row {
    // Of several package managers, the first that is missing is told.
    let needs = Recipe::of(&entry.def.install).and_then(|recipe| {
        let all = recipe.needs().map(|names| Needs {
            program: names.first().copied().unwrap_or_default(),
            found: names.iter().find_map(|name| around.find(name).ok()).map(|path| path.display().to_string()),
        });
        all.min_by_key(|needs| needs.found.is_some())
    });
    let getting = entry.getting();
    Row {
        name: entry.name.to_string(),
        description: entry.def.description.clone(),
        scope: entry.scope.word(),
        source: entry.source.to_string(),
        languages: entry.def.languages.clone(),
        role: match entry.def.role {
            Role::Primary => "primary",
            Role::Linter => "linter",
        },
        group: entry.def.group.clone(),
        state: state(entry, around),
        install: getting.as_ref().and_then(Getting::command).map(str::to_owned),
        advice: getting.as_ref().and_then(Getting::advice).map(str::to_owned),
        getting,
        needs,
    }
}

/// Whether the server of an entry is here.
pub(super) fn state(entry: &Entry, around: &Surroundings) -> State {
    match locate(entry, around) {
        Ok(found) => {
            let program = found.program.display().to_string();
            let installed = found.ours.then(|| install::installed(&around.dirs, &entry.name)).flatten();
            match installed {
                Some(installed) => {
                    let pinned = Recipe::of(&entry.def.install).map(|recipe| recipe.pin());
                    State::Installed {
                        program,
                        outdated: pinned.is_some_and(|pin| pin != installed.pin),
                        pin: installed.pin,
                    }
                }
                None => State::Found { program },
            }
        }
        Err(LaunchError::NotInstalled { searched, .. }) => State::NotInstalled { reason: searched },
        Err(error) => State::Unusable { reason: error.to_string() },
    }
}

fn text(rows: &[Row]) -> String {
    let mut table = vec![["NAME", "LANGUAGES", "ROLE", "SCOPE", "SERVER"].map(str::to_owned).to_vec()];
    for row in rows {
        let server = match &row.state {
            State::Installed { pin, outdated: false, .. } => format!("installed ({pin})"),
            State::Installed { pin, outdated: true, .. } => {
                format!("installed ({pin}); newer: run `{}`", row.install.as_deref().unwrap_or_default())
            }
            State::Found { program } => format!("found: {program}"),
            State::NotInstalled { .. } => missing(row),
            State::Unusable { reason } => reason.clone(),
        };
        table.push(vec![row.name.clone(), row.languages.join(","), row.role.to_owned(), row.scope.to_owned(), server]);
    }
    out::table(&table)
}

fn missing(row: &Row) -> String {
    let getting = row.getting.as_ref().map(|getting| format!("; {getting}")).unwrap_or_default();
    let needs = match &row.needs {
        Some(Needs { program, found: None }) => format!(" (needs {program}, which is not here)"),
        _ => String::new(),
    };
    format!("not installed{getting}{needs}{}", row.state.passed_over())
}

fn json(rows: &[Row], left_out: &[LoadError]) -> anyhow::Result<String> {
    let left_out: Vec<_> = left_out.iter().map(ToString::to_string).collect();
    let value = serde_json::json!({ "definitions": rows, "left_out": left_out });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

#[cfg(test)]
mod tests;
