//! What is said when there is no answer: each reason with its verdict or code, and the next step.

use std::sync::Arc;

use tokio::time::Instant;

use crate::{
    registry::{Capability, DisplayName, Entry, Getting, Role, Run},
    runtime::shortfall::{Occupied, Shortfall},
};

use super::{
    ask::{Ask, Heard},
    file::{File, Serving, failure},
    outcome::{Body, Code, Failure, Outcome, Page, ServerVerdict, Verdict},
};

impl Ask<'_> {
    /// A server's part in an answer.
    pub(super) fn part(&self, heard: &Heard) -> ServerVerdict {
        let (verdict, reason) = match &heard.result {
            Ok(reply) => (reply.verdict, reply.reason.clone()),
            Err(shortfall) => (shortfall.verdict(), Some(brief(shortfall))),
        };
        self.verdict_of(&heard.entry, verdict, reason)
    }

    /// The same of one whose verdict is known.
    pub(super) fn verdict_of(&self, entry: &Entry, verdict: Verdict, reason: Option<String>) -> ServerVerdict {
        ServerVerdict { id: entry.name.clone(), server: self.engine.display(entry), verdict, reason }
    }

    /// What a server says of itself, with the paths as answers show them.
    pub(super) fn lines(&self, shortfall: &Shortfall) -> Vec<String> {
        let roots = &self.engine.ground.roots;
        shortfall.lines().iter().map(|line| roots.relative(line)).collect()
    }

    /// What a single server's missing answer means for the call: an outcome with its verdict while an answer may still
    /// come, else a failure.
    pub(super) fn short(&self, heard: &Heard, shortfall: &Shortfall) -> Result<Outcome, Failure> {
        let name = self.engine.display(&heard.entry);
        let verdict = shortfall.verdict();
        if !verdict.is_failure() {
            return Ok(Outcome {
                verdict,
                servers: vec![self.verdict_of(&heard.entry, verdict, None)],
                summary: format!("no answer: {shortfall}; {}", next_step(&name, shortfall)),
                notes: Vec::new(),
                details: self.lines(shortfall),
                body: Body::None,
                page: Page::default(),
            });
        }
        let next = match shortfall {
            Shortfall::Unsupported(what) => self.instead(&heard.entry, what),
            other => next_step(&name, other),
        };
        let details = self.reasons(&heard.entry, shortfall);
        Err(Failure { details, ..failure(code(shortfall), format!("{name}: {shortfall}"), next) })
    }

    /// What stands below a failure: what the server says of itself, and, where one is not installed, mistakes for whose sake
    /// another one that was to serve the same languages may be left out.
    pub(super) fn reasons(&self, entry: &Entry, shortfall: &Shortfall) -> Vec<String> {
        let mut reasons = self.lines(shortfall);
        if matches!(shortfall, Shortfall::NotInstalled { .. }) {
            reasons.extend(listed(mistakes_about(self, &entry.def.languages).into_iter()));
        }
        reasons
    }

    /// Who serves the same languages and has what a server lacks.
    fn instead(&self, lacking: &Entry, what: &'static str) -> String {
        let shortfall = Shortfall::Unsupported(what);
        let Ok(capability) = what.parse::<Capability>() else { return next_step("", &shortfall) };
        let engine = self.engine;
        let alike = |entry: &&Arc<Entry>| {
            entry.name != lacking.name
                && entry.def.role == Role::Primary
                && entry.def.untrusted.run != Run::None
                && entry.may_instead(capability)
                && lacking.def.languages.iter().any(|language| entry.speaks(language))
        };
        let able: Vec<DisplayName> =
            engine.registry.all().iter().filter(alike).map(|entry| engine.display(entry)).collect();
        match able.first() {
            None => next_step("", &shortfall),
            Some(first) => {
                let names = able[..able.len().min(INSTEAD)].join(" or ");
                format!("{names} has it: ask the user to start langport with `--bind {first}`, or use another tool")
            }
        }
    }
}

/// Definitions that are named for one that lacks something.
const INSTEAD: usize = 3;

impl Ask<'_> {
    /// An address could not be resolved because a server that was needed for it has not answered.
    pub(super) fn unanswered(&self, heard: &Heard, shortfall: &Shortfall) -> Failure {
        let name = self.engine.display(&heard.entry);
        let what = format!("{name} could not be asked where the symbol is: {shortfall}");
        let next = match shortfall.verdict().is_failure() {
            true => next_step(&name, shortfall),
            false if matches!(shortfall, Shortfall::Busy(_)) => next_step(&name, shortfall),
            false => "ask again, or give file_path, line and symbol".into(),
        };
        Failure {
            details: self.reasons(&heard.entry, shortfall),
            servers: vec![self.part(heard)],
            ..failure(code(shortfall), what, next)
        }
    }
}

/// The code of a failure with this reason.
pub(super) fn code(shortfall: &Shortfall) -> Code {
    match shortfall {
        Shortfall::Moved => Code::Conflict,
        Shortfall::Declined(..) => Code::Refused,
        Shortfall::TooLarge(_) => Code::TooLarge,
        Shortfall::Gone => Code::Expired,
        other => match other.verdict() {
            Verdict::Unavailable => Code::Unavailable,
            Verdict::Unsupported => Code::Unsupported,
            _ => Code::Failed,
        },
    }
}

/// The reason in a few words, beside a server's name.
pub(super) fn brief(shortfall: &Shortfall) -> String {
    match shortfall {
        Shortfall::NotInstalled { .. } => "not installed".into(),
        Shortfall::Unsupported(_) => String::new(),
        other => other.to_string(),
    }
}

/// What helps, where nothing that the server says of itself is shown.
pub(super) fn next_step_apart(name: &str, shortfall: &Shortfall) -> String {
    let told = match shortfall {
        Shortfall::NotStarted { stderr, .. } if !stderr.is_empty() => Some(LAST_WORDS),
        Shortfall::Server { .. } => return "another place or tool may work".into(),
        _ => None,
    };
    let next = next_step(name, shortfall);
    match told.and_then(|told| next.strip_prefix(told)) {
        Some(rest) => format!("lsp/status with server {name:?} has its last words; {rest}"),
        None => next,
    }
}

const LAST_WORDS: &str = "see its last words below; ";

/// What helps.
pub(super) fn next_step(name: &str, shortfall: &Shortfall) -> String {
    match shortfall {
        Shortfall::NotInstalled { getting: Some(getting), .. } => getting.to_string(),
        Shortfall::NotInstalled { getting: None, command, .. } => {
            format!("install `{command}`, or correct `command` in its definition")
        }
        Shortfall::NoProgram { path, flaw } => flaw.advice(path),
        Shortfall::Untrusted(_) => trusting(name),
        Shortfall::Definition(_) => format!("correct its definition; `langport show {name}` tells where it is"),
        Shortfall::NotStarted { hint, stderr, .. } => {
            let words = if stderr.is_empty() { "" } else { LAST_WORDS };
            match hint {
                Some(hint) => format!("{words}{}", Getting::Advice(hint.clone())),
                None => format!("{words}the next call tries again"),
            }
        }
        Shortfall::Broken { hint, until, .. } => {
            let left = until.saturating_duration_since(Instant::now()).as_secs() + 1;
            let hint = hint.as_ref().map(|hint| format!(" ({})", Getting::Advice(hint.clone()))).unwrap_or_default();
            format!(
                "mend the cause{hint}: it is started again when asked after {left} s, at once when its program or a \
                 manifest of the project changes, or by lsp/status with server {name:?} and restart true"
            )
        }
        Shortfall::Alone | Shortfall::PoolFull { .. } | Shortfall::Unasked => "ask again".into(),
        Shortfall::Unsupported(_) => "use another tool, or read the file".into(),
        Shortfall::Busy(Occupied::Command { .. }) => {
            format!("ask again when it has ended, or end it by lsp/status with server {name:?} and restart true")
        }
        Shortfall::Busy(Occupied::Calls | Occupied::Late | Occupied::Crowd { .. }) => "ask again".into(),
        Shortfall::Busy(_) => {
            format!("ask again; if it stays so, lsp/status with server {name:?} and restart true starts it anew")
        }
        Shortfall::Starting { .. } | Shortfall::Loading { .. } | Shortfall::Unanswered { .. } => "ask again".into(),
        Shortfall::Server { .. } => "see its message below; another place or tool may work".into(),
        Shortfall::Shape(_) => format!("ask again; if it stays, {name} and langport disagree on the protocol"),
        Shortfall::Lost { .. } => "mend what it says so much about, split the file, or have it report less".into(),
        Shortfall::Died { .. } => "ask again: it is started anew".into(),
        Shortfall::File(_) => "check the file".into(),
        Shortfall::Moved | Shortfall::Outrun | Shortfall::Replaced => "ask again".into(),
        Shortfall::Homeless(_) => "ask again when it is there again".into(),
        Shortfall::Declined(..) => "another place, name or action may do".into(),
        Shortfall::TooLarge(_) => "ask for a smaller change".into(),
        Shortfall::Gone => "list the actions again".into(),
    }
}

/// Mistakes that are named as a reason.
const MISTAKES: usize = 3;

/// Mistakes in settings and definitions that say something of one of these languages: what is left out for their sake is
/// missed here, most likely.
fn mistakes_about<'m>(ask: &'m Ask<'_>, languages: &[String]) -> Vec<&'m str> {
    let about = |mistake: &&str| {
        let mistake = mistake.to_lowercase();
        languages.iter().any(|language| mistake.contains(&format!("`{}`", language.to_lowercase())))
    };
    ask.engine.load_errors.iter().map(String::as_str).filter(about).collect()
}

/// No definition serves a file. Where a mistake may be the reason, that is named.
pub(super) fn no_server(ask: &Ask<'_>, file: &File) -> Failure {
    let failure = no_server_at_all(ask, file);
    match *mistakes_about(ask, std::slice::from_ref(&file.language)) {
        [first, ref more @ ..] => {
            let next = format!("mend the mistake that is likely the reason: {first}");
            Failure { next, details: listed(more.iter().copied()), ..failure }
        }
        // Any of them may have taken away what was to serve it.
        [] => Failure { details: listed(ask.engine.load_errors.iter().map(String::as_str)), ..failure },
    }
}

fn listed<'m>(mistakes: impl Iterator<Item = &'m str>) -> Vec<String> {
    mistakes.take(MISTAKES).map(|mistake| format!("mistake: {mistake}")).collect()
}

fn no_server_at_all(ask: &Ask<'_>, file: &File) -> Failure {
    let what = if file.language.is_empty() {
        format!("the language of {} is not known", file.shown)
    } else {
        format!("no language server is bound for {} files such as {}", file.language, file.shown)
    };
    let able = ask.engine.registry.for_language(&file.language).next();
    let next = match able {
        // `--bind` alone would take away what is served now.
        Some(entry) => {
            format!(
                "ask the user to start langport with `--auto`, or with `--bind {}` added",
                ask.engine.display(entry)
            )
        }
        None => unserved(file),
    };
    failure(Code::Unavailable, what, next)
}

/// What a user can do for a file that no definition is for.
pub(super) fn unserved(file: &File) -> String {
    if !file.language.is_empty() {
        return "`langport list` shows what can be served; a definition in servers.d of the configuration folder adds a \
                server for it"
            .into();
    }
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let kind = match file.path.extension() {
        Some(ending) => format!(".{}", ending.to_string_lossy()),
        None => name.into_owned(),
    };
    format!(
        "`filetypes` in config.toml says what it is in, such as {{ {kind:?} = \"python\" }}; `langport list` shows the \
         languages that are served, a definition in servers.d adds one"
    )
}

/// How a user allows a server that executes repositories.
pub(super) fn trusting(name: &str) -> String {
    format!(
        "only the user can allow it, for every repository: by a copy of its definition (`langport show {name} --toml`) \
         in servers.d of the configuration folder, without `run` in `[untrusted]`"
    )
}

/// Nobody but linters serves a file.
pub(super) fn only_linters(ask: &Ask<'_>, serving: &Serving) -> Failure {
    only_report(ask, &serving.linters.iter().map(|(entry, _)| entry).collect::<Vec<_>>())
}

/// Linters have no answer to this; names who has.
pub(super) fn only_report(ask: &Ask<'_>, linters: &[&Arc<Entry>]) -> Failure {
    let engine = ask.engine;
    let names: Vec<String> = linters.iter().map(|entry| engine.display(entry).to_string()).collect();
    let speaks = |entry: &&Arc<Entry>| {
        entry.def.role == Role::Primary
            && linters.iter().any(|linter| linter.def.languages.iter().any(|language| entry.speaks(language)))
    };
    let able: Vec<String> =
        engine.registry.all().iter().filter(speaks).map(|entry| engine.display(entry).to_string()).collect();
    let next = match able.is_empty() {
        true => "use lsp/diagnostics, or read the file".into(),
        false => format!("use lsp/diagnostics, or start langport with one of {} bound", able.join(", ")),
    };
    let what = format!("{}: a linter only reports problems", names.join(", "));
    failure(Code::Unsupported, what, next)
}
