//! A project as commands that prepare for it see it: its languages, the definitions that serve them, where their servers
//! are, and what getting the missing ones takes. Starts nothing.

pub(super) mod survey;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use self::survey::{Language, Survey};
use super::{
    consent,
    list::{self, State},
    out,
    settled::Settled,
};
use crate::{
    binding::{Bound, Fit, Serving},
    config::{Flags, count},
    registry::{
        self, Entry, Registry, Role, Surroundings,
        install::{InstallError, Prepared, prepare},
    },
    sys::{dirs::Dirs, env::Env},
    workspace::roots::Roots,
};

/// A project and what serves it.
pub(super) struct Project {
    pub root: PathBuf,
    pub survey: Survey,
    registry: Registry,
    bound: Bound,
    around: Surroundings,
    /// What is wrong with settings and definitions.
    problems: Vec<String>,
}

/// A definition that serves the project, or would if it were installed.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pub entry: Arc<Entry>,
    /// What it serves here.
    pub languages: Vec<String>,
    /// The best example of these files.
    pub example: PathBuf,
    /// The definition that would have served, and why it cannot.
    stands_for: Option<String>,
}

/// What getting the missing servers takes.
#[derive(Debug, Default)]
pub(super) struct Proposal<'a> {
    /// langport can install these.
    pub waiting: Vec<Prepared<'a>>,
    /// A person has to install these; each with what to do.
    pub by_hand: Vec<String>,
    /// These cannot be installed here; each with the reason.
    pub impossible: Vec<String>,
}

impl Project {
    /// Looks at a folder and at what is installed.
    pub(super) fn of(path: &Path) -> anyhow::Result<Self> {
        let env = Env::current();
        let dirs = Dirs::from_env(&env)?;
        let Settled { registry, bound, languages, problems, .. } = Settled::read(&dirs, &env, &Flags::default())?;
        let roots = Roots::new([path])?;
        let root = roots.all()[0].path.clone();
        let around = Surroundings::of_process(dirs, vec![root.clone()]);
        let survey = Survey::of(&root, &languages);
        Ok(Self { root, survey, registry, bound, around, problems })
    }

    /// What a person installs with, who has package managers below a project that is the home folder.
    pub(super) fn around_for_installing(&self) -> Surroundings {
        let mut around = self.around.clone();
        consent::allow_home(&mut around);
        around
    }

    /// Who serves a language, by its best example.
    fn serving(&self, language: &Language) -> Serving {
        let Some(file) = language.files.first() else { return Serving::default() };
        self.bound.for_file(file, Some(&language.id), |entry| {
            match registry::root_of(file, &entry.def.root, &self.root) {
                None => Fit::Never,
                Some(_) if self.is_here(entry) => Fit::Ready,
                Some(_) => Fit::Missing,
            }
        })
    }

    /// The languages that a server answers for, now.
    pub(super) fn ready(&self) -> impl Iterator<Item = &Language> {
        self.survey
            .languages
            .iter()
            .filter(|language| self.serving(language).answering().any(|entry| self.is_here(entry)))
    }

    /// The languages that nobody here can be asked about, each with who would serve and what helps.
    pub(super) fn absent(&self) -> Vec<String> {
        let served = self.survey.languages.iter().map(|language| (language, self.serving(language)));
        served
            .filter(|(_, serving)| !serving.is_empty() && !serving.answering().any(|entry| self.is_here(entry)))
            .filter_map(|(language, serving)| {
                let entry = serving.primary.or_else(|| serving.linters.into_iter().next())?;
                Some(format!("{} ({})", language.id, self.state(&entry)))
            })
            .collect()
    }

    /// What a person has to do before a language has a server that langport cannot install.
    pub(super) fn by_hand(&self, language: &Language) -> Option<String> {
        let entry = self.serving(language).primary?;
        let Err(InstallError::NoRecipe { advice: Some(advice), .. }) = prepare(&entry, &self.around) else {
            return None;
        };
        Some(format!("{} ({}: {advice})", language.id, self.registry.display_name(&entry)))
    }

    /// The languages that no definition serves.
    pub(super) fn unserved(&self) -> Vec<&Language> {
        self.survey.languages.iter().filter(|language| self.serving(language).is_empty()).collect()
    }

    fn is_here(&self, entry: &Entry) -> bool {
        registry::locate(entry, &self.around).is_ok()
    }

    fn is_missing(&self, entry: &Entry) -> bool {
        matches!(list::state(entry, &self.around), State::NotInstalled { .. })
    }

    /// The definitions that serve the project. Where the first of a language is missing and cannot be installed here,
    /// the first that can stands for it.
    pub(super) fn servers(&self) -> Vec<Server> {
        let around = self.around_for_installing();
        let mut all: Vec<Server> = Vec::new();
        for language in &self.survey.languages {
            let Some(example) = language.files.first() else { continue };
            let serving = self.serving(language);
            let mut add = |entry: &Arc<Entry>, stands_for: Option<String>| match all
                .iter_mut()
                .find(|server| server.entry.name == entry.name)
            {
                Some(server) => server.languages.push(language.id.clone()),
                None => all.push(Server {
                    entry: entry.clone(),
                    languages: vec![language.id.clone()],
                    example: example.clone(),
                    stands_for,
                }),
            };
            if let Some(primary) = &serving.primary {
                match self.instead_of(primary, &serving.alternatives, &around) {
                    Some((entry, why)) => add(entry, Some(why)),
                    None => add(primary, None),
                }
            }
            for entry in serving.also.iter().chain(&serving.linters).chain(&serving.absent) {
                add(entry, None);
            }
        }
        all
    }

    /// Of the alternatives, the first that can be installed here where `primary` cannot; and why.
    fn instead_of<'e>(
        &self,
        primary: &Entry,
        alternatives: &'e [Arc<Entry>],
        around: &Surroundings,
    ) -> Option<(&'e Arc<Entry>, String)> {
        if !self.is_missing(primary) {
            return None;
        }
        let Err(error) = prepare(primary, around) else { return None };
        // What would be here and still not run is no help.
        let helps = |entry: &&Arc<Entry>| self.is_missing(entry) && prepare(entry, around).is_ok();
        let entry = alternatives.iter().find(helps)?;
        Some((entry, format!("in the place of {}: {error}", self.registry.display_name(primary))))
    }

    /// What serves the project and is not here.
    pub(super) fn missing(&self) -> Vec<Arc<Entry>> {
        let entries = self.servers().into_iter().map(|server| server.entry);
        entries.filter(|entry| self.is_missing(entry)).collect()
    }

    /// Prints the languages and the servers.
    pub(super) fn show(&self) -> anyhow::Result<()> {
        for problem in &self.problems {
            out::note(&format!("langport: {problem}"));
        }
        out::print(&format!("{}\n", self.root.display()))?;
        let (served, unserved): (Vec<_>, Vec<_>) =
            self.survey.languages.iter().partition(|language| !self.serving(language).is_empty());
        let counted = |languages: &[&Language]| {
            let each: Vec<_> = languages
                .iter()
                .map(|language| format!("{} ({})", language.id, count(language.count, "file", "files")))
                .collect();
            each.join(", ")
        };
        let mut rows = Vec::new();
        let mut row = |label: &str, text: String| rows.push(vec![format!("  {label}"), text]);
        if !served.is_empty() {
            row("languages", counted(&served));
        }
        if !unserved.is_empty() {
            row("not served", counted(&unserved));
        }
        if self.survey.cut {
            row("", "the project is larger than what was looked at".to_owned());
        }
        for Server { entry, languages, stands_for, .. } in self.servers() {
            let role = if entry.def.role == Role::Linter { ", linter" } else { "" };
            let state = self.state(&entry);
            let why = stands_for.map(|why| format!(" ({why})")).unwrap_or_default();
            row(&self.registry.display_name(&entry), format!("{}{role}: {state}{why}", languages.join(", ")));
        }
        out::print(&out::table(&rows))?;
        Ok(())
    }

    /// Where a server is, or what gets it here.
    fn state(&self, entry: &Entry) -> String {
        match list::state(entry, &self.around) {
            State::Installed { program, pin, .. } => format!("{program} ({pin}, installed by langport)"),
            State::Found { program } => format!("{program} (found)"),
            state @ State::NotInstalled { .. } => match entry.getting() {
                Some(getting) => format!("not installed; {getting}{}", state.passed_over()),
                None => format!("not installed: `{}` is not on PATH", entry.def.command),
            },
            State::Unusable { reason } => reason,
        }
    }

    /// Installs what is missing: shows the commands, asks if `ask` says so, runs them. Answers with the number of
    /// installations that failed; why is told, and so is what langport cannot install here.
    pub(super) fn install(&self, ask: bool) -> anyhow::Result<usize> {
        let missing = self.missing();
        let around = self.around_for_installing();
        let proposal = Proposal::of(&missing, &around);
        for reason in proposal.by_hand.iter().chain(&proposal.impossible) {
            out::note(reason);
        }
        if proposal.waiting.is_empty() {
            return Ok(0);
        }
        out::print(&format!("\nTo be installed:\n{}", consent::shown(&proposal.waiting)))?;
        if ask && !consent::asked()? {
            return Ok(0);
        }
        consent::carry_out(proposal.waiting)
    }

    /// What a person can do who has no server for what is here.
    pub(super) fn advice(&self) -> String {
        let definitions = self.around.dirs.config.join("servers.d");
        format!(
            "`langport list` shows what langport can serve; a file in {} adds a language server",
            definitions.display()
        )
    }
}

impl<'a> Proposal<'a> {
    /// Looks at what is missing; what has been installed meanwhile is left out.
    pub(super) fn of(missing: &'a [Arc<Entry>], around: &'a Surroundings) -> Self {
        let mut proposal = Self::default();
        for entry in missing {
            match prepare(entry, around) {
                Ok(prepared) => proposal.waiting.extend(prepared),
                Err(error @ InstallError::NoRecipe { .. }) => proposal.by_hand.push(error.to_string()),
                Err(error) => proposal.impossible.push(error.to_string()),
            }
        }
        proposal
    }
}
