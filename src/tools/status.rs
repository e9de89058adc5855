//! `lsp/status`: every known definition and instance, as they are.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    protocol::WireStats,
    registry::{self, Entry, Role},
    runtime::{
        instance::{Instance, State},
        query::Shortfall,
        readiness::Standing,
        session::Session,
    },
};

use super::{
    args::Args,
    ask::Ask,
    cursor,
    file::failure,
    kinds::count,
    outcome::{Body, Code, Fact, Failure, Outcome, Page, ServerVerdict, StatusLine, Verdict},
    places::fingerprint,
    short,
};

/// Lines of stderr that one instance shows.
const STDERR: usize = 5;

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let server = args.text("server")?;
    let given = args.text("file_path")?;
    let restart = args.switch("restart", false)?;
    let token = args.text("cursor")?;
    args.finish()?;
    let engine = ask.engine;
    let only = match &server {
        Some(name) => Some(engine.registry.get(name).cloned().ok_or_else(|| unknown(ask, name))?),
        None => None,
    };
    let mut notes: Vec<String> =
        engine.load_errors.iter().map(|error| format!("a definition was left out: {error}")).collect();
    if restart {
        let only = only.as_ref().ok_or_else(|| super::args::invalid("`restart` needs a server", "give server, too"))?;
        let chosen: Vec<_> =
            engine.pool.all().into_iter().filter(|instance| instance.entry.name == only.name).collect();
        for instance in &chosen {
            instance.reset().await;
        }
        notes.push(format!("{} stopped; the next call starts it anew", count(chosen.len(), "instance", "instances")));
    }
    if let Some(given) = &given {
        notes.extend(routing(ask, given)?);
    }
    let instances = engine.pool.all();
    let mut lines = Vec::new();
    for entry in engine.registry.all() {
        if only.as_ref().is_some_and(|only| only.name != entry.name) {
            continue;
        }
        let own: Vec<&Arc<Instance>> = instances.iter().filter(|instance| instance.entry.name == entry.name).collect();
        if own.is_empty() {
            lines.push(idle_line(ask, entry));
        }
        lines.extend(own.into_iter().map(|instance| line(ask, instance)));
    }
    let running = instances.iter().filter(|instance| matches!(instance.state(), State::Running(_))).count();
    notes.push(format!("watching: {}", engine.ground.watcher.state()));
    // What a running server does changes from one call to the next; the cursor holds while the lines stay the same ones.
    let print = fingerprint(ask, lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>());
    let offset = cursor::resume(ask.tool, token.as_deref(), print)?;
    let total = lines.len();
    Ok(Outcome {
        verdict: Verdict::Fresh,
        servers: Vec::<ServerVerdict>::new(),
        summary: format!("{}, {running} running", count(engine.registry.all().len(), "definition", "definitions")),
        notes,
        body: Body::Status(lines.into_iter().skip(offset).take(ask.page_items()).collect()),
        page: Page { offset, total, fingerprint: print, ..Page::default() },
    })
}

fn unknown(ask: &Ask<'_>, name: &str) -> Failure {
    let near = ask.engine.registry.nearest(name);
    let next = if near.is_empty() {
        "call lsp/status without server for all names".to_owned()
    } else {
        format!("did you mean {}?", near.join(", "))
    };
    failure(Code::NotFound, format!("no definition is called {name:?}"), next)
}

/// Which servers a file goes to, and why.
fn routing(ask: &Ask<'_>, given: &str) -> Result<Vec<String>, Failure> {
    let file = ask.file(given)?;
    let language = if file.language.is_empty() { "unknown" } else { &file.language };
    let mut notes = vec![format!("{}: language {language}", file.shown)];
    match ask.serving(&file) {
        Ok(serving) => {
            for (role, list) in [("answers", &serving.answering), ("adds diagnostics", &serving.linters)] {
                for (entry, root) in list {
                    let root = ask.engine.ground.roots.display(root);
                    notes.push(format!(
                        "{} {role}; root {}",
                        ask.engine.display(entry),
                        if root.is_empty() { "." } else { &root }
                    ));
                }
            }
        }
        Err(failure) => notes.push(failure.what),
    }
    Ok(notes)
}

fn fact(label: &str, value: impl Into<String>) -> Fact {
    Fact { label: label.into(), value: value.into() }
}

fn base(ask: &Ask<'_>, entry: &Entry, state: &str) -> StatusLine {
    let mut facts = vec![fact("languages", entry.def.languages.join(", "))];
    if entry.def.role == Role::Linter {
        facts.push(fact("role", "linter"));
    }
    if !ask.engine.bound.entries().iter().any(|bound| bound.name == entry.name) {
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
            let mut line = base(ask, entry, "not installed");
            line.facts.push(fact("reason", error.to_string()));
            line
        }
    }
}

fn line(ask: &Ask<'_>, instance: &Instance) -> StatusLine {
    let state = instance.state();
    let word = match &state {
        State::Running(session) if matches!(session.heard.standing(), Standing::Loading { .. }) => "indexing",
        other => other.word(),
    };
    let mut line = base(ask, &instance.entry, word);
    line.facts.push(fact("root", instance.root.display().to_string()));
    match &state {
        State::Running(session) => running(session, &mut line),
        State::Starting { since } => line.facts.push(fact("since", format!("{} s", since.elapsed().as_secs()))),
        State::Failed(shortfall) | State::Broken(shortfall) => failed(ask, instance, shortfall, &mut line),
        State::Stopped => {}
    }
    line.facts.push(fact("starts", instance.starts().to_string()));
    line
}

fn running(session: &Session, line: &mut StatusLine) {
    if let Some(pid) = session.pid() {
        line.facts.push(fact("pid", pid.to_string()));
    }
    let WireStats { sent, received, pending, dropped, junk, .. } = session.wire.stats();
    line.facts.push(fact(
        "up",
        format!("{} s, started in {} ms", session.started.elapsed().as_secs(), session.handshake.as_millis()),
    ));
    line.facts.push(fact("program", session.launch.program.display().to_string()));
    line.facts.push(fact("documents", session.open_documents().to_string()));
    line.facts
        .push(fact("messages", format!("{sent} sent, {received} received, {pending} pending, {dropped} dropped")));
    if let Standing::Loading { progress: Some(progress), .. } = session.heard.standing() {
        line.output.push(progress);
    }
    line.output.extend(junk.into_iter().map(|junk| format!("junk on its output: {junk}")));
    line.output.extend(session.stderr.last(STDERR));
}

fn failed(ask: &Ask<'_>, instance: &Instance, shortfall: &Shortfall, line: &mut StatusLine) {
    line.facts.push(fact("reason", shortfall.to_string()));
    line.facts.push(fact("next", short::next_step(&ask.engine.display(&instance.entry), shortfall)));
    line.output.extend(shortfall.lines());
}
