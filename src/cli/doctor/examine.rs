//! One definition on this machine: what is installed, whether it starts, what is wrong and what mends it.

use std::{path::PathBuf, sync::Arc};

use super::{
    Surroundings,
    report::{From, Server, Standing},
};
use crate::{
    cli::list::{self, State},
    registry::{Entry, Getting, LaunchError, Recipe, locate},
    render,
    runtime::{pool::Pool, probe::Probe, shortfall::Shortfall},
    sys::files,
};

/// Characters that one text of a server may have.
const TEXT: usize = 200;

/// What looks at servers.
pub(super) struct Examiner {
    pub pool: Arc<Pool>,
    pub around: Surroundings,
}

/// What is to be looked at.
pub(super) struct Case {
    pub entry: Arc<Entry>,
    /// What it serves: in the project, or at all.
    pub languages: Vec<String>,
    /// Where it is started.
    pub root: PathBuf,
    /// The root is part of a project, else an empty folder that is made for it.
    pub in_project: bool,
}

impl Examiner {
    /// Whether there is anything to start.
    pub(super) fn starts(&self, case: &Case) -> bool {
        locate(&case.entry, &self.around).is_ok()
    }

    /// Looks at one definition.
    pub(super) async fn look(&self, case: Case) -> Server {
        let Case { entry, languages, root, in_project } = case;
        let mut server = Server::of(&entry, languages, in_project.then(|| root.display().to_string()));
        match list::state(&entry, &self.around) {
            State::Installed { program, pin, outdated } => {
                server.program = Some(program);
                server.from = Some(From::Langport);
                if outdated && let Some(wanted) = pinned(&entry) {
                    server
                        .remarks
                        .push(format!("its definition asks for {wanted}: run `langport install {}`", entry.name));
                }
                server.installed = Some(pin);
                server.outdated = outdated;
            }
            State::Found { program } => {
                server.program = Some(program);
                server.from = Some(From::Machine);
            }
            State::NotInstalled { reason } => {
                server.state = Standing::Missing;
                server.problem = Some(reason);
                server.mend = Some(self.getting(&entry));
                return server;
            }
            State::Unusable { reason } => {
                server.problem = Some(reason.clone());
                (server.state, server.mend) = match locate(&entry, &self.around) {
                    Err(LaunchError::Untrusted { .. }) => {
                        (Standing::Untrusted, Some(format!("use one outside the project: {}", self.getting(&entry))))
                    }
                    Err(LaunchError::NoProgram { path, flaw }) => {
                        server.problem = Some(format!("`{}` {}", path.display(), flaw.words()));
                        (Standing::Unusable, Some(format!("{} ({})", flaw.advice(&path), entry.source)))
                    }
                    // No project can be trusted yet: there is nothing to do.
                    Err(LaunchError::Executes) => (Standing::Untrusted, None),
                    _ => (Standing::Unusable, Some(format!("correct {}", entry.source))),
                };
                return server;
            }
        }
        if !in_project && let Err(error) = files::create_dirs(&root) {
            server.fails(format!("the folder to start it in cannot be made: {error}"), Vec::new(), None);
            return server;
        }
        match self.pool.probe(&entry, &root).await {
            Ok(probe) => works(&mut server, &entry, probe),
            Err(shortfall) => {
                let mend = mend(&entry, &server, &shortfall);
                let output = shortfall.lines().iter().map(|line| render::line(line, TEXT)).collect();
                server.fails(shortfall.to_string(), output, Some(mend));
            }
        }
        server
    }

    /// How a missing server is installed.
    fn getting(&self, entry: &Entry) -> String {
        let Some(recipe) = Recipe::of(&entry.def.install) else {
            return entry.getting().map_or_else(
                || format!("install `{}`, or correct `command` in {}", entry.def.command, entry.source),
                |getting| getting.to_string(),
            );
        };
        let install = format!("run `langport install {}`", entry.name);
        let lacking = recipe.needs().filter(|names| !names.iter().any(|name| self.around.find(name).is_ok()));
        let lacking: Vec<_> = lacking.filter_map(|names| names.first().copied()).collect();
        if lacking.is_empty() { install } else { format!("install {} first, then: {install}", lacking.join(" and ")) }
    }
}

fn works(server: &mut Server, entry: &Entry, probe: Probe) {
    server.state = Standing::Works;
    server.start_ms = Some(u64::try_from(probe.took.as_millis()).unwrap_or(u64::MAX));
    server.capabilities = Some(probe.capabilities.clone());
    server.diagnostics = probe
        .capabilities
        .contains(&crate::config::Capability::Diagnostics)
        .then_some(if probe.pulls { "pull" } else { "push" });
    server.encoding = Some(probe.encoding.name());
    if let Some(info) = probe.server {
        server.version = info.plain_version().map(|version| render::line(version, TEXT));
        server.calls_itself = Some(render::line(info.name.trim(), TEXT));
        server.says = Some(render::line(&info.shown(), TEXT));
    }
    let declared = entry.def.capabilities.iter().flatten();
    let absent: Vec<_> = declared.filter(|declared| !probe.capabilities.contains(declared)).map(|c| c.word()).collect();
    if !absent.is_empty() {
        server.remarks.push(format!("its definition promises what it does not offer: {}", absent.join(", ")));
    }
    if let Some(line) = probe.junk.first() {
        let line = render::line(line, TEXT);
        server.remarks.push(format!("it writes lines to its standard output that are no messages, such as: {line}"));
    }
    if server.from == Some(From::Machine)
        && let (Some(version), Some(wanted)) = (&server.version, pinned(entry))
        && older(version, &wanted)
    {
        server.remarks.push(format!("it is version {version}, older than what the definition was made for: {wanted}"));
    }
}

/// What helps a server that does not start.
fn mend(entry: &Entry, server: &Server, shortfall: &Shortfall) -> String {
    if let Shortfall::Definition(_) = shortfall {
        return format!("correct {}", entry.source);
    }
    let words = if shortfall.lines().is_empty() { "" } else { "see its last words; " };
    if let Shortfall::NotStarted { hint: Some(hint), .. } = shortfall {
        return format!("{words}{}", Getting::Advice(hint.clone()));
    }
    let name = &entry.name;
    let installs = Recipe::of(&entry.def.install).is_some();
    match server.from {
        Some(From::Langport) if server.outdated => format!("{words}`langport install {name}` brings another version"),
        Some(From::Langport) => format!("{words}`langport install {name} --again` installs it anew"),
        _ if installs => format!("{words}`langport install {name}` puts one of langport's own before it"),
        _ => format!("{words}mend or reinstall `{}`", entry.def.command),
    }
}

fn pinned(entry: &Entry) -> Option<String> {
    Recipe::of(&entry.def.install).map(|recipe| recipe.pin())
}

/// Whether a version is older than that of the first package of a pin. What has no version in it is never older.
fn older(version: &str, pin: &str) -> bool {
    let package = pin.split(' ').nth(1).unwrap_or_default();
    let wanted = package.rsplit_once("==").or_else(|| package.rsplit_once('@')).map_or("", |(_, version)| version);
    match (numbers(version), numbers(wanted)) {
        (Some(version), Some(wanted)) => version < wanted,
        _ => false,
    }
}

/// The first dotted number of a text.
fn numbers(text: &str) -> Option<Vec<u64>> {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let found = text.split(|c| !digits(c)).map(|part| part.trim_matches('.')).find(|part| part.contains('.'))?;
    found.split('.').map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let check = |version, pin, expected| assert_eq!(older(version, pin), expected, "{version} {pin}");
        check("0.9.0", "npm @scope/srv@0.10.0", true);
        check("0.10.0", "pip srv==0.10.0", false);
        check("gopls v0.19.1 (devel)", "go golang.org/x/tools/gopls@v0.20.0 other@v9.9.9", true);
        check("1.2.0", "cargo srv@1.1.9", false);
        check("nightly", "npm srv@1.0.0", false);
        check("3", "npm srv", false);
    }
}
