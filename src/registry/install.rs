//! Installing a server below langport's data folder, beside an older one and then in its place.
//!
//! `servers/NAMESPACE/NAME/` holds numbered folders and `current.json`, which says which of them is the one: an
//! installation is made whole in a folder of its own, where it stays (scripts of virtual environments hold their own path),
//! and one atomic write of `current.json` puts it in place.

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitStatus,
};

use serde::{Deserialize, Serialize};

use super::{Entry, Getting, Recipe, ScopedName, Surroundings};
use crate::sys::{
    dirs::Dirs,
    files,
    lookup::{self, LookupError},
    process::{Bounds, Spawn},
    tool,
};

/// What is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Installed {
    /// The number of its folder.
    folder: u64,
    manager: String,
    /// [`Recipe::pin`] of what was installed.
    pub pin: String,
}

/// Why a server was not installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("{name} is not one that langport installs; {}", .advice.as_ref().map_or_else(|| "its definition does not say how".to_owned(), Getting::to_string))]
    NoRecipe { name: ScopedName, advice: Option<Getting> },
    #[error("installing {name} takes {needs}: {error}")]
    NoManager { name: ScopedName, needs: String, error: Box<LookupError> },
    #[error("another langport has just installed {name}: `langport list` shows it, the same command again checks it")]
    Overtaken { name: ScopedName },
    #[error("`{command}` ended with {status}; what was installed before is untouched")]
    Failed { command: String, status: ExitStatus },
    #[error("the packages do not contain the program: {0}; what was installed before is untouched")]
    NoProgram(Box<LookupError>),
    #[error("{what} {}: {error}", .path.display())]
    Io { what: &'static str, path: PathBuf, error: io::Error },
}

fn io_error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> InstallError {
    let path = path.to_owned();
    move |error| InstallError::Io { what, path, error }
}

/// The folder that holds all installations of a definition.
fn home(dirs: &Dirs, name: &ScopedName) -> PathBuf {
    let mut home = dirs.data.join("servers");
    for part in [name.server(), name.namespace(), Some(name.name())].into_iter().flatten() {
        home.push(part);
    }
    home
}

/// What is installed for a definition.
pub fn installed(dirs: &Dirs, name: &ScopedName) -> Option<Installed> {
    let text = std::fs::read_to_string(home(dirs, name).join("current.json")).ok()?;
    serde_json::from_str(&text).ok()
}

/// Everything that is installed, in the order of the names, also what no definition names any more.
pub fn all_installed(dirs: &Dirs) -> Vec<(ScopedName, Installed)> {
    let mut found = Vec::new();
    let mut open = vec![Vec::<String>::new()];
    while let Some(parts) = open.pop() {
        let folder = dirs.data.join("servers").join(parts.iter().collect::<PathBuf>());
        let name = match parts.as_slice() {
            [namespace, name] => format!("{namespace}/{name}").parse::<ScopedName>().ok(),
            [server, namespace, name] => format!("{server}:{namespace}/{name}").parse().ok(),
            _ => None,
        };
        let current = name.and_then(|name| Some((installed(dirs, &name)?, name)));
        if let Some((current, name)) = current {
            found.push((name, current));
        } else if parts.len() < 3 {
            let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            open.extend(names.map(|name| parts.iter().cloned().chain([name]).collect()));
        }
    }
    found.sort_by_key(|(name, _)| name.to_string());
    found
}

/// The folders that hold the programs of what is installed; empty where nothing is.
pub fn bin_dirs(dirs: &Dirs, name: &ScopedName) -> Vec<PathBuf> {
    let current = installed(dirs, name);
    let dirs_of = |current: Installed| {
        let folder = folder(dirs, name, &current);
        Recipe::bin_dirs(&current.manager).map(|dir| folder.join(dir)).collect()
    };
    current.map(dirs_of).unwrap_or_default()
}

/// The folder with everything that was installed for a definition.
pub fn folder(dirs: &Dirs, name: &ScopedName, current: &Installed) -> PathBuf {
    home(dirs, name).join(current.folder.to_string())
}

/// An installation that only waits for a yes.
#[derive(Debug)]
pub struct Prepared<'a> {
    entry: &'a Entry,
    dirs: &'a Dirs,
    recipe: Recipe,
    number: u64,
    pub folder: PathBuf,
    /// Every command, in order, exactly as it will be run.
    pub commands: Vec<Spawn>,
    /// What it takes the place of.
    pub replaces: Option<Installed>,
}

/// Works out what installing a definition means here; `None`: just that is installed already.
///
/// # Errors
/// There is no recipe, or its package manager is missing.
pub fn prepare<'a>(entry: &'a Entry, around: &'a Surroundings) -> Result<Option<Prepared<'a>>, InstallError> {
    let pinned = Recipe::of(&entry.def.install).map(|recipe| recipe.pin());
    let current = installed(&around.dirs, &entry.name).filter(|_| is_whole(entry, &around.dirs));
    match current {
        Some(current) if Some(&current.pin) == pinned.as_ref() => Ok(None),
        _ => prepare_again(entry, around).map(Some),
    }
}

/// Whether the program is there, of what is installed for a definition.
pub fn is_whole(entry: &Entry, dirs: &Dirs) -> bool {
    lookup::find_program(&entry.def.command, &bin_dirs(dirs, &entry.name), &[]).is_ok()
}

/// Works out what installing a definition means here, whether or not just that is installed already.
///
/// # Errors
/// There is no recipe, or its package manager is missing.
pub fn prepare_again<'a>(entry: &'a Entry, around: &'a Surroundings) -> Result<Prepared<'a>, InstallError> {
    let name = || entry.name.clone();
    let recipe = Recipe::of(&entry.def.install)
        .ok_or_else(|| InstallError::NoRecipe { name: name(), advice: entry.getting() })?;
    let dirs = &around.dirs;
    let replaces = installed(dirs, &entry.name);
    let home = home(dirs, &entry.name);
    let number = numbered(&home).into_iter().max().unwrap_or(0) + 1;
    let folder = home.join(number.to_string());
    let mut commands = Vec::new();
    for step in recipe.plan(&folder).steps {
        let find = |program: &String| match Path::new(program).starts_with(&folder) {
            true => Ok(PathBuf::from(program)),
            false => around.find(program),
        };
        let mut found = step.programs.iter().map(find);
        let first = found.next().unwrap_or_else(|| find(&String::new()));
        let program = first.or_else(|error| found.find_map(Result::ok).ok_or(error)).map_err(|error| {
            InstallError::NoManager { name: name(), needs: recipe.manager(), error: Box::new(error) }
        })?;
        let mut env = tool::tool_env(&around.vars);
        env.extend(step.env);
        commands.push(Spawn { program, args: step.args, cwd: folder.clone(), env, bounds: Bounds::default() });
    }
    Ok(Prepared { entry, dirs, recipe, number, folder, commands, replaces })
}

impl Prepared<'_> {
    /// A command for people: quoted where a shell would need it, with the variables that lead into its folder.
    pub fn shown(command: &Spawn) -> String {
        let inside = |(_, value): &&(String, String)| Path::new(value).starts_with(&command.cwd);
        let env = command.env.iter().filter(inside).map(|(name, value)| format!("{name}={}", quoted(value)));
        let program = quoted(&command.program.display().to_string());
        let words = env.chain([program]).chain(command.args.iter().map(|arg| quoted(arg)));
        words.collect::<Vec<_>>().join(" ")
    }

    pub fn entry(&self) -> &Entry {
        self.entry
    }

    /// The pins that will be installed.
    pub fn pin(&self) -> String {
        self.recipe.pin()
    }

    /// Runs the commands and puts the result in place; returns the program. `run` runs one command.
    ///
    /// # Errors
    /// A command failed or the program is not there afterwards: what was installed before stays.
    pub fn install(self, run: &mut dyn FnMut(&Spawn) -> io::Result<ExitStatus>) -> Result<PathBuf, InstallError> {
        let home = home(self.dirs, &self.entry.name);
        files::create_private_dir(&home).map_err(io_error("cannot create", &home))?;
        let lock = home.join("lock");
        let _held = files::lock(&lock).map_err(io_error("cannot lock", &lock))?;
        // Somebody may have installed it between the plan and the yes, or while we waited.
        if self.folder.exists() || installed(self.dirs, &self.entry.name) != self.replaces {
            return Err(InstallError::Overtaken { name: self.entry.name.clone() });
        }
        let result = self.build(run);
        let keep = match &result {
            Ok(_) => Some(self.number),
            Err(_) => None,
        };
        // A server that still runs reads its files from the folder that was current until now.
        let keep = [keep, self.replaces.as_ref().map(|current| current.folder)];
        for number in numbered(&home).into_iter().filter(|&number| !keep.contains(&Some(number))) {
            let old = home.join(number.to_string());
            if let Err(error) = files::remove_tree(&old) {
                tracing::warn!(path = %old.display(), %error, "an old installation stays");
            }
        }
        result
    }

    fn build(&self, run: &mut dyn FnMut(&Spawn) -> io::Result<ExitStatus>) -> Result<PathBuf, InstallError> {
        files::create_private_dir(&self.folder).map_err(io_error("cannot create", &self.folder))?;
        for command in &self.commands {
            let status = run(command).map_err(io_error("cannot run", &command.program))?;
            if !status.success() {
                return Err(InstallError::Failed { command: Self::shown(command), status });
            }
        }
        let manager = self.recipe.manager();
        let bins: Vec<_> = Recipe::bin_dirs(&manager).map(|dir| self.folder.join(dir)).collect();
        let program = lookup::find_program(&self.entry.def.command, &bins, &[])
            .map_err(|error| InstallError::NoProgram(Box::new(error)))?;
        let current = Installed { folder: self.number, manager, pin: self.recipe.pin() };
        let path = home(self.dirs, &self.entry.name).join("current.json");
        let bytes = serde_json::to_vec_pretty(&current).unwrap_or_default();
        files::atomic_write(&path, &bytes).map_err(io_error("cannot write", &path))?;
        Ok(program)
    }
}

/// The numbers of the folders in a folder.
fn numbered(home: &Path) -> Vec<u64> {
    let entries = std::fs::read_dir(home).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@,+%~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests;
