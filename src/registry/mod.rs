//! Definitions of language servers: their names, their order, where they came from, how they are installed and started.
//! Knows nothing of running servers.

mod definition;
mod expand;
pub mod install;
mod launch;
mod load;
mod manners;
mod marker;
mod name;
mod reach;
mod recipe;
mod root;
mod sandbox;
pub mod schema;
mod settings;
mod stamp;
mod validate;
mod venv;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use definition::{Definition, Install, LineEnds, Packages, Role, Root, RootMode, Run, Transport, Unset, Untrusted};
pub use expand::ExpandError;
pub use launch::{Found, Launch, LaunchError, Surroundings, alike, locate, resolve};
pub use load::LoadError;
pub use manners::{
    Confirm, DiagnosticMode, Diagnostics, Finality, Ready, ReadyNotification, Retrigger, ServerCommand, Watch,
    WorkNotification,
};
pub use name::{DEFAULT_NAMESPACES, DisplayName, NameError, ScopedName};
pub use reach::{Knows, Reach};
pub use recipe::{Plan, Recipe, Step};
pub use root::{marked_by, root_of};
pub use sandbox::{Confinement, confine};
pub use settings::ServerSettings;
pub use stamp::stamp;

pub use crate::config::{Capability, Sandbox, UnknownCapability};
use crate::{config::nearest, sys::dirs::Dirs};

/// Where a definition comes from, the strongest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Builtin,
    /// The repository: used only once it is trusted.
    Project,
    User,
    /// The machine's administrator.
    Managed,
}

impl Scope {
    pub fn word(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Project => "project",
            Self::User => "user",
            Self::Managed => "managed",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Where a definition was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Part of langport: the name of the file in its sources.
    Builtin(&'static str),
    File(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(file) => write!(f, "builtin (servers.d/{file})"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A definition with its identity.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub def: Definition,
    /// Always with a namespace.
    pub name: ScopedName,
    pub source: Source,
    pub scope: Scope,
}

impl Entry {
    /// Whether it serves files of a language.
    pub fn speaks(&self, language: &str) -> bool {
        self.def.languages.iter().any(|own| own == language) || self.def.extensions.values().any(|own| own == language)
    }

    /// The language of a file that the definition names itself.
    pub fn language_of(&self, path: &Path) -> Option<&str> {
        let name = path.file_name()?.to_str()?;
        let by_ending = self.def.extensions.iter().find(|(ending, _)| name.ends_with(ending.as_str()));
        let by_name = || self.def.languages.first().filter(|_| self.def.filenames.iter().any(|own| own == name));
        by_ending.map(|(_, language)| language).or_else(by_name).map(String::as_str)
    }

    /// Whether it may be asked for something: declared, or not declared at all, which is only known once it runs.
    pub fn may(&self, capability: Capability) -> bool {
        self.def.capabilities.as_ref().is_none_or(|declared| declared.contains(&capability))
    }

    /// Whether it is worth a try for something that another definition lacks.
    pub fn may_instead(&self, capability: Capability) -> bool {
        self.may(capability) && !self.def.lacks.contains(&capability)
    }

    /// Whether a server of this definition runs as one of the other does: names, descriptions, and what decides which
    /// files it gets need no new start.
    pub fn runs_alike(&self, other: &Self) -> bool {
        let running = |entry: &Self| {
            let mut def = entry.def.clone();
            def.description.clear();
            def.group = None;
            def.refers_to.clear();
            def.role = Role::default();
            def.lacks.clear();
            def.root = Root { share: def.root.share, ..Root::default() };
            def.install = Install { hint: def.install.hint, ..Install::default() };
            (def, entry.scope)
        };
        running(self) == running(other)
    }

    /// How a server that is not here is got, where that is known.
    pub fn getting(&self) -> Option<Getting> {
        match Recipe::of(&self.def.install) {
            Some(_) => Some(Getting::Command(format!("langport install {}", self.name))),
            None => self.def.install.hint.clone().map(Getting::Advice),
        }
    }
}

/// How a server that is not here is got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Getting {
    /// By a command of langport's.
    Command(String),
    /// By what the definition tells a person: it need not be a command.
    Advice(String),
}

impl Getting {
    pub fn command(&self) -> Option<&str> {
        match self {
            Self::Command(command) => Some(command),
            Self::Advice(_) => None,
        }
    }

    pub fn advice(&self) -> Option<&str> {
        match self {
            Self::Command(_) => None,
            Self::Advice(advice) => Some(advice),
        }
    }
}

impl fmt::Display for Getting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => write!(f, "run `{command}`"),
            Self::Advice(advice) => write!(f, "its definition says: {advice}"),
        }
    }
}

/// All definitions in their order: managed or user before builtin, inside a scope by file name.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    generation: u64,
    entries: Vec<Arc<Entry>>,
}

impl Registry {
    /// Reads every definition. One that cannot be used is reported and left out.
    pub fn load(dirs: &Dirs) -> (Self, Vec<LoadError>) {
        let (entries, errors) = load::load(dirs);
        (Self { generation: 1, entries }, errors)
    }

    /// The next generation, read anew. What is faulty now and was not before stays as it was.
    pub fn reload(&self, dirs: &Dirs) -> (Self, Vec<LoadError>) {
        let (mut entries, mut errors) = load::load(dirs);
        load::keep(&self.entries, &mut entries, &mut errors);
        (Self { generation: self.generation + 1, entries }, errors)
    }

    /// A registry of given entries, in this order.
    pub fn of(entries: impl IntoIterator<Item = Entry>) -> Self {
        Self { generation: 1, entries: entries.into_iter().map(Arc::new).collect() }
    }

    /// Rises with each reload.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub fn all(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// Those that serve a language, in order.
    pub fn for_language<'a>(&'a self, language: &'a str) -> impl Iterator<Item = &'a Arc<Entry>> {
        self.entries.iter().filter(move |entry| entry.speaks(language))
    }

    /// By scoped name, or by a bare one: then the first of `local/`, `builtin/`, then any namespace that has it alone.
    pub fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        let name: ScopedName = name.parse().ok()?;
        let named = |wanted: &ScopedName| self.entries.iter().find(|entry| entry.name == *wanted);
        if name.namespace().is_some() {
            return named(&name);
        }
        DEFAULT_NAMESPACES.iter().find_map(|namespace| named(&name.in_namespace(namespace))).or_else(|| {
            let mut alike = self.entries.iter().filter(|entry| entry.name.name() == name.name());
            alike.next().filter(|_| alike.next().is_none())
        })
    }

    /// The names that `given` may have been meant for, as they can be passed to [`Self::get`].
    pub fn nearest(&self, given: &str) -> Vec<String> {
        let bare = given.rsplit('/').next().unwrap_or(given);
        let names: Vec<&str> = self.entries.iter().map(|entry| entry.name.name()).collect();
        nearest::nearest(bare, names).into_iter().map(str::to_owned).collect()
    }

    /// What answers call an entry: its last name, or the scoped one where two end alike.
    pub fn display_name(&self, entry: &Entry) -> DisplayName {
        let alike = self.entries.iter().filter(|other| other.name.name() == entry.name.name()).count();
        DisplayName::new(if alike > 1 { entry.name.to_string() } else { entry.name.name().to_owned() })
    }
}

#[cfg(test)]
mod tests;
