//! A binding, resolved against the registry.

use std::{path::Path, sync::Arc};

use crate::{
    config::{Settings, nearest},
    language::{Overrides, PatternError},
    registry::{Capability, Entry, Registry, Role},
};

/// Which definitions serve, as it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Binding {
    /// These, in this order.
    Explicit(Vec<String>),
    /// What serves these languages.
    Languages(Vec<String>),
    /// Whatever the files need.
    #[default]
    Auto,
}

impl Binding {
    /// What the settings ask for: names before languages.
    pub fn of(settings: &Settings) -> Self {
        if !settings.bind.is_empty() {
            Self::Explicit(settings.bind.clone())
        } else if !settings.languages.is_empty() {
            Self::Languages(settings.languages.clone())
        } else {
            Self::Auto
        }
    }
}

/// A binding that names what is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    #[error("no definition is called `{name}`{}", guess(.meant.as_deref()))]
    UnknownName { name: String, meant: Option<String> },
    #[error("no definition serves the language `{language}`{}", guess(.meant.as_deref()))]
    UnknownLanguage { language: String, meant: Option<String> },
}

/// What was meant, else where it can be found.
fn guess(name: Option<&str>) -> String {
    match name {
        Some(name) => format!(": did you mean `{name}`?"),
        None => "; `langport list` shows all of them".to_owned(),
    }
}

impl BindError {
    /// The setting that is wrong.
    pub fn key(&self) -> &'static str {
        match self {
            Self::UnknownName { .. } => "bind",
            Self::UnknownLanguage { .. } => "languages",
        }
    }

    /// What it names.
    pub fn value(&self) -> &str {
        match self {
            Self::UnknownName { name, .. } => name,
            Self::UnknownLanguage { language, .. } => language,
        }
    }
}

/// Whether a definition can serve a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    Ready,
    /// It would serve it, and is not installed or not allowed to run.
    Missing,
    /// Its root rule keeps it away from the file.
    Never,
}

/// The definitions that serve an agent.
#[derive(Debug, Clone)]
pub struct Bound {
    binding: Binding,
    entries: Vec<Arc<Entry>>,
    generation: u64,
}

/// Who serves a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Serving {
    /// Answers questions. It may be missing on this machine: then it is the one to install.
    pub primary: Option<Arc<Entry>>,
    /// Answer after it, where the binding names several: the first that is capable.
    pub also: Vec<Arc<Entry>>,
    /// Only their problems and actions are merged.
    pub linters: Vec<Arc<Entry>>,
    /// Would serve in the place of the primary one.
    pub alternatives: Vec<Arc<Entry>>,
    /// Linters that are not installed.
    pub absent: Vec<Arc<Entry>>,
}

impl Serving {
    /// All that serve, the primary one first.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.primary.iter().chain(&self.also).chain(&self.linters)
    }

    /// Those that answer questions, in the order in which they are asked.
    pub fn answering(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.primary.iter().chain(&self.also)
    }

    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }
}

impl Bound {
    /// Resolves a binding.
    ///
    /// # Errors
    /// It names a definition or a language that the registry does not have.
    pub fn resolve(registry: &Registry, binding: &Binding) -> Result<Self, BindError> {
        let (bound, unknown) = Self::resolve_known(registry, binding);
        unknown.into_iter().next().map_or(Ok(bound), Err)
    }

    /// Resolves a binding without what the registry does not have.
    pub fn resolve_known(registry: &Registry, binding: &Binding) -> (Self, Vec<BindError>) {
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        let mut unknown = Vec::new();
        match binding {
            Binding::Auto => entries.extend(registry.all().iter().cloned()),
            Binding::Explicit(names) => {
                for name in names {
                    let Some(entry) = registry.get(name) else {
                        let meant = registry.nearest(name).into_iter().next();
                        unknown.push(BindError::UnknownName { name: name.clone(), meant });
                        continue;
                    };
                    if !entries.iter().any(|other| other.name == entry.name) {
                        entries.push(Arc::clone(entry));
                    }
                }
            }
            Binding::Languages(languages) => {
                for language in languages {
                    if registry.for_language(language).next().is_none() {
                        unknown.push(unknown_language(registry, language));
                    }
                }
                let wanted = |entry: &&Arc<Entry>| languages.iter().any(|language| entry.speaks(language));
                entries.extend(registry.all().iter().filter(wanted).cloned());
            }
        }
        (Self { binding: binding.clone(), entries, generation: registry.generation() }, unknown)
    }

    /// The definitions of this binding, in order.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The generation of the registry that this was resolved against.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether any definition declares a capability, or declares none: what is unknown counts as can.
    pub fn may(&self, capability: Capability) -> bool {
        self.entries.iter().any(|entry| entry.may(capability))
    }

    /// How names become languages here: what the user set, then what the definitions say.
    ///
    /// # Errors
    /// A pattern of the settings that is no glob (settings that were read are free of it).
    pub fn languages(&self, settings: &Settings) -> Result<Overrides, PatternError> {
        let set = settings.filetypes.iter().map(|(pattern, language)| (pattern.clone(), language.clone()));
        let defined = self.entries.iter().flat_map(|entry| {
            let names = entry
                .def
                .filenames
                .iter()
                .filter_map(|name| Some((name.clone(), entry.def.languages.first()?.clone())));
            entry.def.extensions.clone().into_iter().chain(names)
        });
        Overrides::new(set.chain(defined))
    }

    /// Who serves a file of a language (as [`Self::languages`] tells it).
    pub fn for_file(&self, path: &Path, language: Option<&str>, fit: impl Fn(&Entry) -> Fit) -> Serving {
        let allowed = match (&self.binding, language) {
            (Binding::Languages(languages), Some(language)) => languages.iter().any(|own| own == language),
            (Binding::Languages(_), None) => false,
            (Binding::Auto | Binding::Explicit(_), _) => true,
        };
        let serves = |entry: &&Arc<Entry>| {
            allowed && (language.is_some_and(|language| entry.speaks(language)) || entry.language_of(path).is_some())
        };
        let fitting: Vec<_> = self
            .entries
            .iter()
            .filter(serves)
            .map(|entry| (Arc::clone(entry), fit(entry)))
            .filter(|(_, fit)| *fit != Fit::Never)
            .collect();
        if matches!(self.binding, Binding::Explicit(_)) { explicit(fitting) } else { chosen(fitting) }
    }
}

/// Everything that is named serves, missing or not.
fn explicit(fitting: Vec<(Arc<Entry>, Fit)>) -> Serving {
    let mut serving = Serving::default();
    for (entry, _) in fitting {
        match (entry.def.role, &serving.primary) {
            (Role::Linter, _) => serving.linters.push(entry),
            (Role::Primary, None) => serving.primary = Some(entry),
            (Role::Primary, Some(_)) => serving.also.push(entry),
        }
    }
    serving
}

/// One primary server, the first that is there, and every linter that is there.
fn chosen(fitting: Vec<(Arc<Entry>, Fit)>) -> Serving {
    let mut serving = Serving::default();
    let (primaries, linters): (Vec<_>, Vec<_>) =
        fitting.into_iter().partition(|(entry, _)| entry.def.role == Role::Primary);
    let first = primaries.iter().position(|(_, fit)| *fit == Fit::Ready).unwrap_or(0);
    for (index, (entry, _)) in primaries.into_iter().enumerate() {
        if index == first {
            serving.primary = Some(entry);
        } else {
            serving.alternatives.push(entry);
        }
    }
    for (entry, fit) in linters {
        if fit == Fit::Ready { serving.linters.push(entry) } else { serving.absent.push(entry) }
    }
    serving
}

fn unknown_language(registry: &Registry, language: &str) -> BindError {
    let known = registry.all().iter().flat_map(|entry| &entry.def.languages).map(String::as_str);
    let meant = nearest::nearest(language, known).first().map(|&name| name.to_owned());
    BindError::UnknownLanguage { language: language.to_owned(), meant }
}

#[cfg(test)]
mod tests;
