//! `lsp/status`: servers and definitions as they are: what has been asked for or what serves a file line by line, the rest
//! by name.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures::future::join_all;
use serde_json::{Map, Value};

use crate::{
    protocol::WireStats,
    registry::{self, Capability, DisplayName, Entry, LaunchError, Role, Transport},
    runtime::{
        instance::{Instance, Past, State},
        probe,
        readiness::Standing,
        session::Session,
        shortfall::Shortfall,
    },
    sys::resident::resident,
};

use super::{
    args::Args,
    ask::Ask,
    cursor,
    file::failure,
    kinds::count,
    outcome::{Body, Code, Fact, Failure, Outcome, Page, ServerVerdict, StatusLine, Verdict},
    places::fingerprint,
    routing, short,
};

/// Lines of stderr that one instance shows.
const STDERR: usize = 5;
/// Folders that one instance shows.
const FOLDERS: usize = 5;
/// Names in one remark.
const NAMED: usize = 40;
/// What `server` is called for all of them.
const ALL: &str = "all";

/// Which definitions get lines.
enum Shown {
    /// Those with a server that has been started.
    Started,
    /// Every one.
    All,
    One(Arc<Entry>),
    /// Those that serve a file, with their roots.
    Serving(Vec<(Arc<Entry>, PathBuf)>),
}

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let server = args.text("server")?;
    let given = args.text("file_path")?;
    let restart = args.switch("restart", false)?;
    let token = args.text("cursor")?;
    args.finish()?;
    let engine = ask.engine;
    let only = match server.as_deref() {
        None => None,
        Some(name) => match engine.registry.get(name) {
            Some(entry) => Some(Shown::One(entry.clone())),
            None if name.eq_ignore_ascii_case(ALL) => Some(Shown::All),
            None => return Err(unknown(ask, name)),
        },
    };
    let mut notes: Vec<String> = engine.load_errors.iter().map(|error| format!("mistake: {error}")).collect();
    notes.extend(engine.later.iter().map(|setting| format!("settings: {setting}")));
    if restart {
        let Some(Shown::One(only)) = &only else {
            return Err(super::args::invalid("`restart` needs a server", "give the name of one as server, too"));
        };
        let chosen: Vec<_> =
            engine.pool.all().into_iter().filter(|instance| instance.entry.name == only.name).collect();
        for instance in &chosen {
            instance.reset().await;
        }
        notes.push(format!("{} stopped; the next call starts it anew", count(chosen.len(), "instance", "instances")));
    }
    let mut shown = only;
    let mut serves = None;
    if let Some(given) = &given {
        let explained = routing::explain(ask, given)?;
        notes.extend(explained.notes);
        serves = Some(explained.serving.len());
        shown.get_or_insert(Shown::Serving(explained.serving));
    }
    let shown = shown.unwrap_or(Shown::Started);
    let instances = engine.pool.all();
    join_all(instances.iter().map(|instance| instance.settled())).await;
    let mut lines = Vec::new();
    let mut rest = Vec::new();
    for entry in engine.registry.all() {
        let wanted = |instance: &&Arc<Instance>| {
            let root = |root: &PathBuf| *root == instance.root || holds(instance, root);
            instance.entry.name == entry.name
                && match &shown {
                    Shown::Serving(serving) => serving.iter().any(|(own, at)| own.name == entry.name && root(at)),
                    Shown::Started | Shown::All | Shown::One(_) => true,
                }
        };
        let own: Vec<&Arc<Instance>> = instances.iter().filter(wanted).collect();
        let listed = match &shown {
            Shown::Started => !own.is_empty(),
            Shown::All => true,
            Shown::One(only) => only.name == entry.name,
            Shown::Serving(serving) => serving.iter().any(|(own, _)| own.name == entry.name),
        };
        if !listed {
            rest.push(entry);
        } else if own.is_empty() {
            lines.push(idle_line(ask, entry));
        } else {
            lines.extend(own.into_iter().map(|instance| line(ask, instance)));
        }
    }
    if matches!(shown, Shown::Started) {
        notes.extend(in_short(ask, &rest));
    }
    let running = instances.iter().filter(|instance| instance.is_running()).count();
    notes.push(engine.ground.watcher.state().to_string());
    // What a running server does changes from one call to the next; the cursor holds while the lines stay the same ones.
    let print = fingerprint(ask, lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>());
    let offset = cursor::resume(ask.tool, token.as_deref(), print)?;
    let total = lines.len();
    let generation = engine.registry.generation();
    let read = if generation > 1 { format!(", read anew {}", times(generation - 1)) } else { String::new() };
    let definitions = count(engine.registry.all().len(), "definition", "definitions");
    let serving = serves.map(|number| format!("{number} of ")).unwrap_or_default();
    let file = if serves.is_some() { " for this file" } else { "" };
    Ok(Outcome {
        verdict: Verdict::Fresh,
        servers: Vec::<ServerVerdict>::new(),
        summary: format!("{serving}{definitions}{file}, {running} running{read}"),
        notes,
        details: Vec::new(),
        body: Body::Status(lines.into_iter().skip(offset).take(ask.page_items()).collect()),
        page: Page { offset, total, fingerprint: print, ..Page::default() },
    })
}

/// Whether an instance serves a root beside its own.
fn holds(instance: &Instance, root: &Path) -> bool {
    matches!(&instance.entered().state, State::Running(session) if session.folders().iter().any(|own| own == root))
}

/// The names of definitions that nothing has been asked of, by what can be said of them all.
fn in_short(ask: &Ask<'_>, entries: &[&Arc<Entry>]) -> Vec<String> {
    let mut by_state: Vec<(&str, Vec<DisplayName>)> =
        ["not started", NOT_INSTALLED, UNTRUSTED, UNUSABLE, "not bound"].map(|word| (word, Vec::new())).into();
    for entry in entries {
        let word = match registry::locate(entry, &ask.engine.around) {
            _ if !is_bound(ask, entry) => "not bound",
            Ok(_) => "not started",
            Err(error) => word(&error),
        };
        let own = by_state.iter_mut().find(|(known, _)| *known == word);
        own.into_iter().for_each(|(_, names)| names.push(ask.engine.display(entry)));
    }
    by_state.retain(|(_, names)| !names.is_empty());
    let told = by_state.iter().map(|(word, names)| {
        let first = names[..names.len().min(NAMED)].join(", ");
        let more = if names.len() > NAMED { format!(", {} more", names.len() - NAMED) } else { String::new() };
        format!("{word}: {} ({first}{more})", names.len())
    });
    let mut notes: Vec<String> = told.collect();
    if !notes.is_empty() {
        notes.push(
            "`server` with a name tells more of one, with \"all\" of each; `file_path` tells who serves a file".into(),
        );
    }
    notes
}

fn is_bound(ask: &Ask<'_>, entry: &Entry) -> bool {
    ask.engine.bound.entries().iter().any(|bound| bound.name == entry.name)
}

const NOT_INSTALLED: &str = "not installed";
const UNTRUSTED: &str = "untrusted";
const UNUSABLE: &str = "unusable";

/// The state of a definition that cannot be started.
fn word(error: &LaunchError) -> &'static str {
    match error {
        LaunchError::NotInstalled { .. } => NOT_INSTALLED,
        LaunchError::Untrusted { .. } | LaunchError::Executes => UNTRUSTED,
        LaunchError::NoProgram { .. } | LaunchError::Expand { .. } | LaunchError::Invalid { .. } => UNUSABLE,
    }
}

fn times(n: u64) -> String {
    if n == 1 { "once".into() } else { format!("{n} times") }
}

fn unknown(ask: &Ask<'_>, name: &str) -> Failure {
    let near = ask.engine.registry.nearest(name);
    let next = if near.is_empty() {
        "lsp/status with server \"all\" has all names".to_owned()
    } else {
        format!("did you mean {}?", near.join(", "))
    };
    failure(Code::NotFound, format!("no definition is called {name:?}"), next)
}

fn fact(label: &str, value: impl Into<String>) -> Fact {
    Fact { label: label.into(), value: value.into() }
}

fn base(ask: &Ask<'_>, entry: &Entry, state: &str) -> StatusLine {
    let mut facts = vec![fact("languages", entry.def.languages.join(", "))];
    if entry.def.role == Role::Linter {
        facts.push(fact("role", "linter"));
    }
    if entry.def.transport == Transport::Tcp {
        facts.push(fact("transport", "tcp"));
    }
    if !is_bound(ask, entry) {
        facts.push(fact("binding", "not bound"));
    }
    facts.push(fact("defined in", entry.source.to_string()));
    StatusLine {
        name: entry.name.to_string(),
        scope: entry.scope.word().into(),
        state: state.into(),
        facts,
        output: Vec::new(),
    }
}

/// A definition that no call has needed yet.
fn idle_line(ask: &Ask<'_>, entry: &Entry) -> StatusLine {
    match registry::locate(entry, &ask.engine.around) {
        Ok(found) => {
            let mut line = base(ask, entry, "not started");
            line.facts.push(fact("program", found.program.display().to_string()));
            line
        }
        Err(error) => {
            let mut line = base(ask, entry, word(&error));
            line.facts.push(fact("reason", error.to_string()));
            if let LaunchError::Executes = error {
                line.facts.push(fact("next", short::trusting(&ask.engine.display(entry))));
            }
            line
        }
    }
}

fn line(ask: &Ask<'_>, instance: &Instance) -> StatusLine {
    let entered = instance.entered();
    let word = match &entered.state {
        State::Running(session) if matches!(session.heard.standing(), Standing::Loading { .. }) => "indexing",
        other => other.phase().word(),
    };
    let mut line = base(ask, &instance.entry, word);
    line.facts.push(fact("instance", instance.id.to_string()));
    line.facts.push(fact("root", instance.root.display().to_string()));
    line.facts.push(fact("since", format!("{} ago", ago(entered.since.elapsed()))));
    match &entered.state {
        State::Running(session) => {
            line.facts.push(fact("because", entered.cause.clone()));
            running(session, &mut line);
        }
        // The reason says it better.
        State::Failed(shortfall) | State::Broken(shortfall) => failed(ask, instance, shortfall, &mut line),
        State::Stopped | State::Starting { .. } | State::Stopping | State::Ended => {
            line.facts.push(fact("because", entered.cause.clone()));
            line.output.extend(entered.past.iter().flat_map(|past| past.stderr.clone()));
        }
    }
    if !matches!(entered.state, State::Running(_)) {
        gone(ask, instance, entered.past.as_ref(), &mut line);
    }
    let (starts, callers) = (instance.starts(), instance.callers());
    line.facts.push(fact("starts", starts.to_string()));
    line.facts.push(fact("restarts", starts.saturating_sub(1).to_string()));
    if callers > 0 {
        line.facts.push(fact("callers", callers.to_string()));
    }
    if let Some((failure, at)) = instance.last_failure()
        && !matches!(entered.state, State::Failed(_) | State::Broken(_))
    {
        line.facts.push(fact("last failure", format!("{} ago: {failure}", ago(at.elapsed()))));
        line.output.splice(0..0, failure.lines().into_iter().map(|text| format!("before that: {text}")));
    }
    line
}

/// A time as people say it.
fn ago(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

fn running(session: &Session, line: &mut StatusLine) {
    let facts = &mut line.facts;
    if let Some(info) = session.heard.record().effective.server_info() {
        facts.push(fact("server", info.shown()));
    }
    if let Some(pid) = session.pid() {
        facts.push(fact("pid", pid.to_string()));
        if let Some(bytes) = resident(pid) {
            facts.push(fact("memory", format!("{} MiB", bytes >> 20)));
        }
    }
    let WireStats { sent, received, requests, pending, dropped, junk, .. } = session.wire.stats();
    facts.push(fact(
        "up",
        format!("{} s, started in {} ms", session.started.elapsed().as_secs(), session.handshake.as_millis()),
    ));
    facts.push(fact("program", session.launch.program.display().to_string()));
    let folders = session.folders();
    if folders.len() > 1 {
        let mut names: Vec<String> = folders.iter().take(FOLDERS).map(|folder| folder.display().to_string()).collect();
        if folders.len() > FOLDERS {
            names.push(format!("{} more", folders.len() - FOLDERS));
        }
        facts.push(fact("folders", names.join(", ")));
    }
    facts.push(fact("documents", session.open_documents().to_string()));
    facts.push(fact("requests", format!("{requests} made, {pending} pending")));
    facts.push(fact("messages", format!("{sent} sent, {received} received, {dropped} dropped")));
    if let Some(command) = session.command() {
        let left = if command.left { ", and nobody waits for it any more" } else { "" };
        facts.push(fact(
            "command",
            format!("one of its own has been running for {}{left}", ago(command.since.elapsed())),
        ));
        line.output.push(format!("the command: {}", command.name));
    }
    let able = probe::capabilities(&session.heard.record().effective);
    facts.push(fact("can", able.into_iter().map(Capability::word).collect::<Vec<_>>().join(", ")));
    if let Standing::Loading { progress: Some(progress), .. } = session.heard.standing() {
        line.output.push(progress);
    }
    line.output.extend(junk.into_iter().map(|junk| format!("junk on its output: {junk}")));
    line.output.extend(session.stderr.last(STDERR));
}

/// What there is to say of one that has no process: what would be run, and what ran last.
fn gone(ask: &Ask<'_>, instance: &Instance, past: Option<&Past>, line: &mut StatusLine) {
    if let Ok(found) = registry::locate(&instance.entry, &ask.engine.around) {
        line.facts.push(fact("program", found.program.display().to_string()));
    }
    let Some(past) = past else { return };
    if let Some(server) = &past.server {
        line.facts.push(fact("last server", server.shown()));
    }
    if let Some(pid) = past.pid {
        line.facts.push(fact("last pid", pid.to_string()));
    }
}

fn failed(ask: &Ask<'_>, instance: &Instance, shortfall: &Shortfall, line: &mut StatusLine) {
    line.facts.push(fact("reason", shortfall.to_string()));
    line.facts.push(fact("next", short::next_step(&ask.engine.display(&instance.entry), shortfall)));
    line.output.extend(shortfall.lines());
}
