//! Which servers serve a project's languages, where they are, and what getting the missing ones takes.

use std::{path::PathBuf, sync::Arc};

use anyhow::Context;

use super::survey::{Language, Survey};
use crate::{
    binding::{Binding, Bound, Fit, Serving},
    cli::{
        install,
        list::{self, State},
        out,
    },
    config::{self, Flags, Loaded},
    registry::{self, Entry, Registry, Role, Surroundings},
    sys::{dirs::Dirs, env::Env},
    workspace::roots::Roots,
};

/// A project and what serves it.
pub(super) struct Served {
    pub root: PathBuf,
    pub survey: Survey,
    registry: Registry,
    bound: Bound,
    around: Surroundings,
}

impl Served {
    /// Looks at a folder and at what is installed. No server starts.
    pub(super) fn of(path: &std::path::Path) -> anyhow::Result<Self> {
        let env = Env::current();
        let dirs = Dirs::from_env(&env)?;
        let Loaded { settings, .. } = config::load(&dirs, &env, &Flags::default())?;
        let (registry, _) = Registry::load(&dirs);
        let bound = Bound::resolve(&registry, &Binding::of(&settings))?;
        let names = bound.languages(&settings).context("filetypes")?;
        let roots = Roots::new([path])?;
        let root = roots.all()[0].path.clone();
        let around = Surroundings::of_process(dirs, vec![root.clone()]);
        let survey = Survey::of(&root, &names);
        Ok(Self { root, survey, registry, bound, around })
    }

    /// Who serves a language, by its best example.
    fn serving(&self, language: &Language) -> Serving {
        let Some(file) = language.files.first() else { return Serving::default() };
        self.bound.for_file(file, Some(&language.id), |entry| {
            match registry::root_of(file, &entry.def.root, &self.root) {
                None => Fit::Never,
                Some(_) if registry::locate(entry, &self.around).is_ok() => Fit::Ready,
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

    fn is_here(&self, entry: &Entry) -> bool {
        registry::locate(entry, &self.around).is_ok()
    }

    /// The definitions that serve the project, with the languages of each.
    fn serving_all(&self) -> Vec<(Arc<Entry>, Vec<&str>)> {
        let mut all: Vec<(Arc<Entry>, Vec<&str>)> = Vec::new();
        for language in &self.survey.languages {
            let serving = self.serving(language);
            for entry in serving.all().chain(&serving.absent) {
                match all.iter_mut().find(|(other, _)| other.name == entry.name) {
                    Some((_, languages)) => languages.push(&language.id),
                    None => all.push((entry.clone(), vec![&language.id])),
                }
            }
        }
        all
    }

    /// What serves the project and is not here.
    pub(super) fn missing(&self) -> Vec<Arc<Entry>> {
        let all = self.serving_all().into_iter().map(|(entry, _)| entry);
        all.filter(|entry| matches!(list::state(entry, &self.around), State::NotInstalled { .. })).collect()
    }

    /// Prints the languages and the servers.
    pub(super) fn show(&self) -> anyhow::Result<()> {
        out::print(&format!("{}\n", self.root.display()))?;
        let (served, unserved): (Vec<_>, Vec<_>) =
            self.survey.languages.iter().partition(|language| !self.serving(language).is_empty());
        let counted = |languages: &[&Language]| {
            let each: Vec<_> = languages
                .iter()
                .map(|language| {
                    format!(
                        "{} ({} {})",
                        language.id,
                        language.count,
                        if language.count == 1 { "file" } else { "files" }
                    )
                })
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
        for (entry, languages) in self.serving_all() {
            let role = if entry.def.role == Role::Linter { ", linter" } else { "" };
            let state = match list::state(&entry, &self.around) {
                State::Installed { program, pin, .. } => format!("{program} ({pin}, installed by langport)"),
                State::Found { program } => format!("{program} (found)"),
                State::NotInstalled { .. } => match entry.install_hint() {
                    Some(hint) => format!("not installed: {hint}"),
                    None => format!("not installed: `{}` is not on PATH", entry.def.command),
                },
                State::Unusable { reason } => reason,
            };
            row(self.registry.display_name(&entry).as_str(), format!("{}{role}: {state}", languages.join(", ")));
        }
        out::print(&out::table(&rows))?;
        Ok(())
    }

    /// Installs what is missing: shows the commands, asks if `ask` says so, runs them. Answers with the number of
    /// servers that could not be installed; why is told.
    pub(super) fn install(&self, ask: bool) -> anyhow::Result<usize> {
        let missing = self.missing();
        let mut around = self.around.clone();
        install::allow_home(&mut around);
        let mut waiting = Vec::new();
        let mut wrong = 0;
        for entry in &missing {
            match registry::install::prepare(entry, &around) {
                Ok(prepared) => waiting.extend(prepared),
                Err(error) => {
                    wrong += 1;
                    out::note(&error.to_string());
                }
            }
        }
        if waiting.is_empty() {
            return Ok(wrong);
        }
        out::print(&format!("\nTo be installed:\n{}", install::shown(&waiting)))?;
        if ask && !install::asked()? {
            return Ok(wrong);
        }
        for prepared in waiting {
            if let Err(error) = install::carry_out(prepared) {
                wrong += 1;
                out::note(&format!("{error:#}"));
            }
        }
        Ok(wrong)
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
