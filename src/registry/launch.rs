//! What a definition means for one root: the program, its arguments, environment and settings, with everything expanded.

use std::{
    cell::OnceCell,
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::{
    Entry, Getting, Scope,
    definition::{Run, Transport},
    expand::{self, ExpandError, Var},
    install,
    settings::{self, ServerSettings},
    venv::Venv,
};
use crate::sys::{
    dirs::Dirs,
    env::Env,
    lookup::{self, Flaw, LookupError},
    process::Bounds,
    secrets, shims,
};

/// Characters of a command that a message has.
const SHOWN: usize = 160;

/// Programs that servers, and the scripts that start them, call by name. A folder of PATH in which one of these is a link
/// into the workspace is as good as inside it.
const CALLED: &[&str] = &[
    "node",
    "npm",
    "npx",
    "deno",
    "bun",
    "python",
    "python3",
    "ruby",
    "perl",
    "java",
    "go",
    "cargo",
    "rustc",
    "rustfmt",
    "rustup",
    "git",
    "sh",
    "bash",
    "env",
    "cc",
    "gcc",
    "g++",
    "c++",
    "clang",
    "clang++",
    "shellcheck",
    "shfmt",
];

/// What langport knows of the machine when it starts servers.
#[derive(Debug, Clone)]
pub struct Surroundings {
    pub dirs: Dirs,
    /// The environment that langport was started with.
    pub vars: Env,
    /// The workspace's folders, canonical: no bare command is ever found inside them.
    pub workspace: Vec<PathBuf>,
}

impl Surroundings {
    /// Those of this process.
    pub fn of_process(dirs: Dirs, workspace: Vec<PathBuf>) -> Self {
        Self { dirs, vars: Env::current(), workspace }
    }

    /// The folders of PATH as they stand there.
    pub(super) fn path_dirs(&self) -> Vec<PathBuf> {
        std::env::split_paths(self.vars.get("PATH").unwrap_or_default()).collect()
    }

    /// Finds a program on PATH outside the workspace, one that is more than a shim.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, program: &str) -> Result<PathBuf, LookupError> {
        let lacking = |program: &Path| shims::lacking(program, &self.vars);
        lookup::find_whole(program, &self.path_dirs(), &self.workspace, &lacking)
    }

    /// PATH without what is relative or inside the workspace: what a server finds there is run by it. `first` go before.
    fn safe_path(&self, first: &[PathBuf]) -> String {
        let lured = |dir: &Path| CALLED.iter().any(|name| self.is_inside(&dir.join(name)));
        let safe = self.path_dirs().into_iter().filter(|dir| dir.is_absolute() && !self.is_inside(dir) && !lured(dir));
        std::env::join_paths(first.iter().cloned().chain(safe))
            .ok()
            .and_then(|path| path.into_string().ok())
            .unwrap_or_default()
    }

    /// Whether a path lies in the workspace, as it is written or as it really is.
    pub(super) fn is_inside(&self, path: &Path) -> bool {
        let real = path.canonicalize();
        let inside = |path: &Path| self.workspace.iter().any(|root| path.starts_with(root));
        inside(path) || real.is_ok_and(|real| inside(&real))
    }
}

/// A program that was found, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub program: PathBuf,
    /// langport installed it.
    pub ours: bool,
}

/// Everything that starting a server takes.
#[derive(Clone, PartialEq)]
pub struct Launch {
    pub program: PathBuf,
    pub args: Vec<String>,
    /// The root.
    pub cwd: PathBuf,
    /// What is set beside the few variables that every server gets; PATH is always among them, without the workspace.
    pub env: Vec<(String, String)>,
    /// Variables of langport's own that it gets as well.
    pub pass_env: Vec<String>,
    pub bounds: Bounds,
    /// It sees other processes, so that it can watch whether langport still runs.
    pub sees_langport: bool,
    pub transport: Transport,
    pub address: Option<String>,
    /// `initializationOptions`; null where there are none.
    pub initialization: Value,
    pub settings: ServerSettings,
    pub client_capabilities: Map<String, Value>,
    pub replies: BTreeMap<String, Value>,
    /// Program and arguments for people and logs: variables that may hold a secret stand by their names.
    pub shown: Vec<String>,
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Launch")
            .field("command", &self.shown)
            .field("cwd", &self.cwd)
            .field("env", &names)
            .finish_non_exhaustive()
    }
}

impl Launch {
    /// The command as messages name it.
    pub fn command(&self) -> String {
        let whole = self.shown.join(" ");
        match whole.char_indices().nth(SHOWN) {
            Some((cut, _)) => format!("{}…", &whole[..cut]),
            None => whole,
        }
    }
}

/// Whether a server that was started for one root is told and given the very same for another: then one process can
/// serve both. Two virtual environments are enough to say no.
pub fn alike(entry: &Entry, one: &Path, other: &Path, around: &Surroundings) -> bool {
    let launch = |root| resolve(entry, root, around).map(|launch| Launch { cwd: PathBuf::new(), ..launch });
    matches!((launch(one), launch(other)), (Ok(one), Ok(other)) if one == other)
}

/// Why a server cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    #[error("{searched}{}", .getting.as_ref().map(|getting| format!("; {getting}")).unwrap_or_default())]
    NotInstalled {
        command: String,
        /// What was looked for and where.
        searched: String,
        getting: Option<Getting>,
    },
    /// The command is a path at which there is something else than a program.
    #[error("`{}` {}; {}", path.display(), flaw.words(), flaw.advice(path))]
    NoProgram { path: PathBuf, flaw: Flaw },
    /// The program is part of the repository.
    #[error("`{}` is part of the workspace, which is not trusted", .program.display())]
    Untrusted { program: PathBuf },
    /// Nothing keeps it from executing the repository.
    #[error("untrusted: this server executes code of the repository")]
    Executes,
    #[error("{field}: {error}")]
    Expand {
        /// The key of the definition.
        field: String,
        error: ExpandError,
    },
    #[error("{field}: {reason}")]
    Invalid { field: String, reason: String },
}

/// Finds the program of a definition: an absolute one as it is, a bare one among what langport installed for this
/// definition, then on PATH outside the workspace. Where the command follows the root, that of the workspace stands for
/// it. Looks at the disk each time.
///
/// # Errors
/// It is not there, it is part of the repository, or its command cannot be expanded.
pub fn locate(entry: &Entry, around: &Surroundings) -> Result<Found, LaunchError> {
    let root = around.workspace.first().map_or(Path::new("/"), PathBuf::as_path);
    Variables::of(entry, root, around).locate()
}

/// Works out how to start a server for a root.
///
/// # Errors
/// The program is missing or part of the repository, or a text cannot be expanded.
pub fn resolve(entry: &Entry, root: &Path, around: &Surroundings) -> Result<Launch, LaunchError> {
    let def = &entry.def;
    let vars = Variables::of(entry, root, around);
    let Found { program, .. } = vars.locate()?;

    // Nothing is trusted yet: what switches off the execution of the repository's content always applies.
    let untrusted = &def.untrusted;
    let mut args = Vec::new();
    let mut shown = vec![program.display().to_string()];
    for (field, list) in [("args", &def.args), ("untrusted.args", &untrusted.args)] {
        for arg in list {
            args.extend(vars.text(field, arg)?);
            shown.extend(vars.shown(field, arg)?.map(|arg| secrets::hide(&arg).into_owned()));
        }
    }
    // What was installed together finds each other: a linter that the server runs.
    let ours = install::bin_dirs(&around.dirs, &entry.name);
    let mut env = BTreeMap::from([("PATH".to_owned(), around.safe_path(&ours))]);
    for (field, table) in [("env", &def.env), ("untrusted.env", &untrusted.env)] {
        for (name, value) in table {
            match vars.text(&format!("{field}.{name}"), value)? {
                Some(value) => {
                    secrets::learn(name, &value);
                    env.insert(name.clone(), value)
                }
                None => env.remove(name),
            };
        }
    }
    let mut tree = vars.settings("workspace_settings", &def.workspace_settings)?;
    settings::overlay(&mut tree, vars.settings("untrusted.settings", &untrusted.settings)?);
    let mut initialization = vars.map("initialization", &def.initialization)?;
    settings::overlay(&mut initialization, vars.map("untrusted.initialization", &untrusted.initialization)?);
    secrets::learn_settings(&tree);
    secrets::learn_settings(&initialization);
    Ok(Launch {
        program,
        args,
        cwd: root.to_owned(),
        bounds: Bounds {
            nice: def.nice,
            memory_mb: def.memory_mb,
            scratch: !env.contains_key("TMPDIR"),
            private_cache: def.private_cache,
        },
        env: env.into_iter().collect(),
        // A definition of the repository gets to see nothing that may be secret.
        pass_env: def
            .pass_env
            .iter()
            .filter(|name| entry.scope != Scope::Project || expand::is_plain(name))
            .cloned()
            .collect(),
        sees_langport: true,
        transport: def.transport,
        address: match &def.address {
            Some(address) => vars.text("address", address)?,
            None => None,
        },
        initialization: if initialization.is_empty() { Value::Null } else { Value::Object(initialization) },
        settings: ServerSettings::new(tree, def.unset),
        client_capabilities: def.client_capabilities.clone(),
        replies: def.replies.clone(),
        shown,
    })
}

/// The variables of one definition for one root.
struct Variables<'a> {
    entry: &'a Entry,
    around: &'a Surroundings,
    root: &'a Path,
    venv: OnceCell<Option<Venv>>,
}

impl<'a> Variables<'a> {
    fn of(entry: &'a Entry, root: &'a Path, around: &'a Surroundings) -> Self {
        Self { entry, around, root, venv: OnceCell::new() }
    }

    /// Looked for once, and only if a text asks for it.
    fn venv(&self) -> Option<&Venv> {
        let active = self.around.vars.get("VIRTUAL_ENV");
        self.venv.get_or_init(|| Venv::of(self.root, &self.around.workspace, active)).as_ref()
    }

    fn var(&self, name: &str) -> Var {
        // A path that is no text cannot be passed on in one.
        let path =
            |path: Option<&Path>| path.and_then(Path::to_str).map_or(Var::Absent, |path| Var::Value(path.to_owned()));
        match name {
            "root" => path(Some(self.root)),
            "root_hash" => {
                Var::Value(format!("{:016x}", xxhash_rust::xxh3::xxh3_64(self.root.as_os_str().as_encoded_bytes())))
            }
            "python" => path(["python3", "python"].iter().find_map(|name| self.around.find(name).ok()).as_deref()),
            "install" => {
                let dirs = &self.around.dirs;
                let current = install::installed(dirs, &self.entry.name);
                path(current.map(|current| install::folder(dirs, &self.entry.name, &current)).as_deref())
            }
            "venv" => path(self.venv().map(|venv| venv.path.as_path())),
            "venv_site_packages" => path(self.venv().and_then(|venv| venv.site_packages.as_deref())),
            _ if self.entry.scope == Scope::Project && !expand::is_plain(name) => Var::NotApproved,
            _ => self.around.vars.get(name).map_or(Var::NotSet, |value| Var::Value(value.to_owned())),
        }
    }

    fn text(&self, field: &str, input: &str) -> Result<Option<String>, LaunchError> {
        expand::text(input, &|name| self.var(name)).map_err(in_field(field))
    }

    /// The same for people.
    fn shown(&self, field: &str, input: &str) -> Result<Option<String>, LaunchError> {
        let masked = |name: &str| match self.var(name) {
            Var::Value(_) if self.around.vars.get(name).is_some() && !expand::is_plain(name) => {
                Var::Value(format!("${{{name}}}"))
            }
            other => other,
        };
        expand::text(input, &masked).map_err(in_field(field))
    }

    fn map(&self, field: &str, input: &Map<String, Value>) -> Result<Map<String, Value>, LaunchError> {
        expand::map(input, &|name| self.var(name)).map_err(in_field(field))
    }

    fn settings(&self, field: &str, input: &Map<String, Value>) -> Result<Map<String, Value>, LaunchError> {
        settings::nest(&self.map(field, input)?)
            .map_err(|conflict| LaunchError::Invalid { field: field.to_owned(), reason: conflict.to_string() })
    }

    fn locate(&self) -> Result<Found, LaunchError> {
        // Nothing is trusted yet. What may not run need not be installed either.
        let allowed = self.entry.def.untrusted.run;
        if allowed == Run::None {
            return Err(LaunchError::Executes);
        }
        let Found { program, ours } = self.look()?;
        match allowed {
            Run::Installed if !ours => {
                let searched = format!("`{}` would take the repository's libraries", program.display());
                Err(self.missing(&self.entry.def.command, searched))
            }
            _ => Ok(Found { program, ours }),
        }
    }

    fn look(&self) -> Result<Found, LaunchError> {
        let written = &self.entry.def.command;
        let command =
            self.text("command", written)?.ok_or_else(|| self.missing(written, format!("`{written}` is not there")))?;
        let absolute = Path::new(&command).is_absolute() || command.starts_with("~/");
        if !absolute {
            let ours = install::bin_dirs(&self.around.dirs, &self.entry.name);
            if let Ok(program) = lookup::find_program(&command, &ours, &[]) {
                return Ok(Found { program, ours: true });
            }
        }
        let program = self.around.find(&command).map_err(|error| match error {
            LookupError::Unusable { path, flaw } if flaw.is_there() => LaunchError::NoProgram { path, flaw },
            error => self.missing(&command, error.to_string()),
        })?;
        // A path that the user wrote out is the user's choice; one that follows the repository is the repository's.
        let follows =
            ["${root", "${venv"].iter().any(|var| written.contains(var)) || self.entry.scope == Scope::Project;
        if follows && self.around.is_inside(&program) {
            return Err(LaunchError::Untrusted { program });
        }
        Ok(Found { program, ours: false })
    }

    fn missing(&self, command: &str, searched: String) -> LaunchError {
        LaunchError::NotInstalled { command: command.to_owned(), searched, getting: self.entry.getting() }
    }
}

fn in_field(field: &str) -> impl FnOnce(ExpandError) -> LaunchError {
    move |error| LaunchError::Expand { field: field.to_owned(), error }
}

#[cfg(test)]
mod tests;
