//! Settings and definitions brought together: which definitions serve, and how names become languages. What is wrong with
//! either is told with its place; flags and managed settings have to be right, of the rest the faulty part is left out.

use anyhow::Context;

use crate::{
    binding::{BindError, Binding, Bound},
    config::{self, Flags, Loaded, Origins, Settings, nearest},
    language::{self, Overrides},
    registry::Registry,
    sys::{dirs::Dirs, env::Env},
};

/// Everything that was read.
pub(super) struct Settled {
    pub settings: Settings,
    pub registry: Registry,
    pub bound: Bound,
    pub languages: Overrides,
    /// What was left out or looks like a mistake.
    pub problems: Vec<String>,
    /// Why nothing is written, where a mistake is the reason.
    pub forbidden: Option<String>,
}

impl Settled {
    /// Reads settings and definitions.
    ///
    /// # Errors
    /// Flags and managed settings that are wrong.
    pub(super) fn read(dirs: &Dirs, env: &Env, flags: &Flags) -> anyhow::Result<Self> {
        let Loaded { settings, problems, origins, forbidden } = config::load(dirs, env, flags)?;
        let (registry, left_out) = Registry::load(dirs);
        let (bound, unknown) = Bound::resolve_known(&registry, &Binding::of(&settings));
        let mut problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        problems.extend(left_out.iter().map(ToString::to_string));
        for error in unknown {
            let told = unbound(&origins, &error);
            anyhow::ensure!(!origins.is_binding(error.key()), told);
            problems.push(format!("{told} (it is left out)"));
        }
        problems.extend(strange_languages(&settings, &registry, &origins));
        let languages = bound.languages(&settings).context("filetypes")?;
        Ok(Self { settings, registry, bound, languages, problems, forbidden })
    }
}

/// A binding that names what is not there, with its place.
pub(super) fn unbound(origins: &Origins, error: &BindError) -> String {
    origins.wrong(error.key(), error.value(), error.to_string()).to_string()
}

/// Languages that files are given and that nothing knows: a slip of the pen, most likely.
pub(super) fn strange_languages(settings: &Settings, registry: &Registry, origins: &Origins) -> Vec<String> {
    let spoken =
        || registry.all().iter().flat_map(|entry| entry.def.languages.iter().chain(entry.def.extensions.values()));
    let known = |id: &String| language::is_known(id) || spoken().any(|own| own == id);
    let strange = settings.filetypes.iter().filter(|(_, id)| !known(id));
    let told = strange.map(|(pattern, id)| {
        let names = language::known().into_iter().chain(spoken().map(String::as_str));
        let meant = match nearest::hint(id, names) {
            hint if hint.is_empty() => "; `langport list` shows those that are served".to_owned(),
            hint => hint,
        };
        let what = format!("gives {pattern:?} the language `{id}`, which nothing knows{meant}");
        origins.wrong("filetypes", pattern, what).to_string()
    });
    told.collect()
}
