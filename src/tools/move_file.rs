//! `lsp/move-file`: a plan that moves a file or folder and mends what refers to it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::{
    protocol::types::{EditStep, FileRef, WorkspaceEdit},
    runtime::query::{Answer, Query, Shortfall},
    workspace::roots::PathError,
};

use super::{
    args::{Args, invalid},
    ask::Ask,
    file::{File, failure},
    outcome::{Code, Failure, Outcome},
    plan::{Planned, Wanted},
    short,
};

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let (from, to) = (args.text("from")?, args.text("to")?);
    let token = args.text("cursor")?;
    args.finish()?;
    let from = from.ok_or_else(|| invalid("nothing is named that is to be moved", "give from"))?;
    let to = to.ok_or_else(|| invalid("no new place is named", "give to"))?;
    if to.chars().any(char::is_control) {
        return Err(invalid("the new place holds a control character", "give a path of printable characters"));
    }
    let roots = &ask.engine.ground.roots;
    let source = roots.resolve_any(&from).map_err(|error| ask.no_path(&from, &error))?.path;
    let target = target(ask, &source, &to)?;
    let folder = source.is_dir();
    let shown = (roots.display(&source), roots.display(&target));
    if folder && target.starts_with(&source) {
        return Err(invalid(format!("{} lies in {}", shown.1, shown.0), "give a place outside of the folder"));
    }
    let asked = if folder { asked_for(ask, &source)? } else { ask.file(&from)? };
    let serving = ask.serving(&asked)?;
    let query = Query::Move { from: source.clone(), to: target.clone(), folder };
    let question = ask.question(&asked, query);
    let mut last = None;
    for (entry, root) in serving.answering.iter().chain(&serving.linters) {
        let heard = ask.ask(entry, root, &question).await;
        let reply = match &heard.result {
            Ok(reply) => reply,
            Err(Shortfall::Unsupported(_)) => {
                last.get_or_insert(heard);
                continue;
            }
            Err(shortfall) => return Err(ask.no_change(&heard, shortfall)),
        };
        if !reply.verdict.answered() {
            let name = ask.engine.display(&heard.entry);
            let why = reply.reason.clone().unwrap_or_else(|| "it does not know the whole project yet".into());
            let mut refused = failure(Code::Refused, format!("{name}: {why}"), "ask again in a moment");
            refused.servers.push(ask.part(&heard));
            return Err(refused);
        }
        let Answer::Edit(proposal) = &reply.answer else { return Err(super::wrong_kind()) };
        let edit = with_move(proposal.edit.clone().unwrap_or_default(), &source, &target);
        let title = format!("move {} to {}", shown.0, shown.1);
        let wanted = Wanted { title, edit, proposal: proposal.clone(), encoding: reply.encoding };
        return match ask.plan(wanted).await? {
            Planned::Plan(plan) => ask.keep(&heard, *plan, Vec::new(), token.as_deref()),
            Planned::Nothing => Err(failure(Code::NotFound, "the move changes nothing", "give another place")),
        };
    }
    Err(match last {
        Some(heard) => {
            let name = ask.engine.display(&heard.entry);
            let next = "move it by other means, then see lsp/diagnostics for what refers to it";
            failure(Code::Unsupported, format!("{name} does not mend what refers to a moved file"), next)
        }
        None => short::no_server(ask, &asked),
    })
}

/// The new path: below a folder that is there, or as given.
fn target(ask: &Ask<'_>, source: &Path, given: &str) -> Result<PathBuf, Failure> {
    let roots = &ask.engine.ground.roots;
    let below = |folder: PathBuf| folder.join(source.file_name().unwrap_or_default());
    let wanted = match roots.resolve_any(given) {
        Ok(there) if there.path == source => {
            return Err(invalid("it is there already", "give another place"));
        }
        Ok(there) if there.path.is_dir() => below(there.path),
        Ok(there) => there.path,
        Err(PathError::NotFound(path)) if given.trim_end().ends_with('/') => below(path),
        Err(PathError::NotFound(path)) => path,
        Err(error) => return Err(super::file::no_path(given, &error)),
    };
    if wanted == source {
        return Err(invalid("it is there already", "give another place"));
    }
    if wanted.symlink_metadata().is_ok() {
        let shown = roots.display(&wanted);
        return Err(failure(Code::Conflict, format!("{shown} exists already"), "give a place where nothing is"));
    }
    Ok(wanted)
}

/// A file of the folder for which servers are found: the first that somebody serves.
fn asked_for(ask: &Ask<'_>, folder: &Path) -> Result<File, Failure> {
    const LOOKED_AT: usize = 2_000;
    let files = ignore::WalkBuilder::new(folder).follow_links(false).sort_by_file_path(Ord::cmp).build();
    let files = files.filter_map(Result::ok).filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let mut served = files.take(LOOKED_AT).filter_map(|entry| {
        // Reading all of them would take long: a name says enough.
        ask.engine.languages.detect(entry.path(), || None)?;
        let file = ask.file(&entry.path().to_string_lossy()).ok()?;
        ask.serving(&file).is_ok().then_some(file)
    });
    served.next().ok_or_else(|| {
        let shown = ask.engine.ground.roots.display(folder);
        let next = "move it by other means";
        failure(Code::Unavailable, format!("no language server serves a file in {shown}"), next)
    })
}

/// The server's edit, and behind it the move itself. Edits of the moved file that name it by its new path, as
/// typescript-language-server's do, are made before it is moved.
fn with_move(mut edit: WorkspaceEdit, from: &Path, to: &Path) -> WorkspaceEdit {
    let mut moved = false;
    for step in &mut edit.steps {
        match step {
            EditStep::Rename { from: FileRef::Path(old), .. } => moved |= old == from,
            EditStep::Texts { file: FileRef::Path(path), .. } if !moved => {
                if let Ok(rest) = path.strip_prefix(to) {
                    // Joining an empty path would add a slash.
                    *path = if rest.as_os_str().is_empty() { from.to_owned() } else { from.join(rest) };
                }
            }
            _ => {}
        }
    }
    if !moved {
        edit.steps.push(EditStep::Rename {
            from: FileRef::Path(from.to_owned()),
            to: FileRef::Path(to.to_owned()),
            overwrite: false,
            ignore_if_exists: false,
        });
    }
    edit
}
