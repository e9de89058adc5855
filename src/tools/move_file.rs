//! `lsp/move-file`: a plan that moves a file or folder and mends what refers to it.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use ignore::DirEntry;
use serde_json::{Map, Value};

use crate::{
    protocol::types::{EditStep, FileRef, WorkspaceEdit},
    registry::{Capability, DisplayName},
    runtime::query::Query,
    workspace::paths,
};

use super::{
    args::{Args, invalid},
    ask::Ask,
    file::{Serving, failure},
    links,
    outcome::{Code, Failure, Outcome},
    plan::Planned,
    together::{Asked, Joint, Part},
};

/// Servers that one move asks; the others are named.
const SERVERS: usize = 16;

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
    // To servers a file goes by the place that it is at: what they would mend is what refers to that.
    if let Some(link) = roots.link(&from) {
        let leads = link.read_link().map(|place| format!(" to {}", place.display())).unwrap_or_default();
        let what = format!("{} is a link{leads}: no server knows what refers to it", roots.display(&link));
        return Err(failure(Code::Refused, what, "move the link by other means, or give what it leads to"));
    }
    let source = roots.resolve_any(&from).map_err(|error| ask.no_path(&from, &error))?.path;
    let target = target(ask, &source, &to)?;
    let folder = source.is_dir();
    let shown = (roots.display(&source), roots.display(&target));
    if folder && target.starts_with(&source) {
        return Err(invalid(format!("{} lies in {}", shown.1, shown.0), "give a place outside of the folder"));
    }
    let asked = whom(ask, &source, folder).await?;
    let astray = if folder { links::astray(ask, &source, &target) } else { None };
    let query = Query::Move { from: source.clone(), to: target.clone(), folder };
    let Some(Joint { heard, mut change, mut notes }) =
        ask.ask_together(&asked.servers, &query, |edit| of_the_old_place(edit, &source, &target)).await?
    else {
        let names: Vec<DisplayName> = asked
            .servers
            .iter()
            .filter(|one| one.part == Part::Needed)
            .map(|one| ask.engine.display(&one.entry))
            .collect();
        let next = "move it by other means, then see lsp/diagnostics for what refers to it";
        let what = format!("{}: what refers to a moved file is not mended", names.join(", "));
        return Err(failure(Code::Unsupported, what, next));
    };
    notes.extend(ask.in_one_checkout(&source, &mut change.edit));
    // Who hears of moves and has no edit for one may know of nothing that refers to it, or not know the files that do.
    if change.edit.steps.iter().all(|step| is_the_move(step, &source)) {
        notes.push("no server has an edit for it: what may refer to it is left as it is".to_owned());
    }
    if !change.edit.steps.iter().any(|step| is_the_move(step, &source)) {
        change.edit.steps.push(EditStep::Rename {
            from: FileRef::Path(source),
            to: FileRef::Path(target),
            overwrite: false,
            ignore_if_exists: false,
        });
    }
    notes.extend(asked.not_asked());
    notes.extend(astray);
    match ask.plan(format!("move {} to {}", shown.0, shown.1), change).await? {
        Planned::Plan(plan) => ask.keep(&heard, *plan, notes, token.as_deref()),
        Planned::Nothing => Err(failure(Code::NotFound, "the move changes nothing", "give another place")),
    }
}

/// The new path: below a folder that is there, or as given.
fn target(ask: &Ask<'_>, source: &Path, given: &str) -> Result<PathBuf, Failure> {
    let roots = &ask.engine.ground.roots;
    let below = |folder: PathBuf| folder.join(source.file_name().unwrap_or_default());
    let place = roots.resolve_new(given).map_err(|error| super::file::no_path(given, &error))?;
    let wanted = match place {
        there if there == source => there,
        folder if folder.is_dir() || given.trim_end().ends_with('/') && !folder.exists() => below(folder),
        path => path,
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

/// Whom a move concerns.
#[derive(Default)]
pub(super) struct Whom {
    pub(super) servers: Vec<Asked>,
    /// The names of those that are too many.
    left_out: Vec<DisplayName>,
}

impl Whom {
    /// A remark on those that are left out.
    pub(super) fn not_asked(&self) -> Option<String> {
        let names = self.left_out.join(", ");
        (!names.is_empty()).then(|| format!("not asked, since one move asks {SERVERS} servers: {names}"))
    }

    fn add(&mut self, ask: &Ask<'_>, asked: Asked) {
        let known = |own: &&mut Asked| own.entry.name == asked.entry.name && own.root == asked.root;
        if let Some(own) = self.servers.iter_mut().find(known) {
            if asked.part == Part::Needed {
                own.part = Part::Needed;
            }
        } else if self.servers.len() < SERVERS {
            self.servers.push(asked);
        } else {
            let name = ask.engine.display(&asked.entry);
            if !self.left_out.contains(&name) {
                self.left_out.push(name);
            }
        }
    }
}

/// The servers of what is moved; then those of the rest of the project that run, or whose files refer to others of these
/// languages.
pub(super) async fn whom(ask: &Ask<'_>, source: &Path, folder: bool) -> Result<Whom, Failure> {
    let engine = ask.engine;
    let mut whom = Whom::default();
    let mut languages: HashSet<String> = HashSet::new();
    let moved: Vec<(PathBuf, String, Serving)> = if folder {
        inside(ask, source)?
    } else {
        let file = ask.file(&source.to_string_lossy())?;
        let serving = ask.serving(&file)?;
        vec![(file.path, file.language, serving)]
    };
    for (file, language, serving) in moved {
        let alone = if serving.answering.is_empty() { Part::Needed } else { Part::Possible };
        let linters = serving.linters.iter().map(|server| (server, alone));
        for ((entry, root), part) in serving.answering.iter().map(|server| (server, Part::Needed)).chain(linters) {
            let (entry, root) = (entry.clone(), root.clone());
            whom.add(ask, Asked { entry, root, file: file.clone(), language: language.clone(), part });
        }
        languages.insert(language);
    }
    // One that is missing keeps those that are there from nothing: what it would have done is told.
    let there: Vec<bool> = whom.servers.iter().map(|one| engine.available(&one.entry)).collect();
    if there.contains(&true) {
        whom.servers.iter_mut().zip(there).filter(|(_, there)| !there).for_each(|(one, _)| one.part = Part::Expected);
    }
    for sample in engine.present.samples(&engine.ground.roots, &engine.languages).await.iter() {
        for (entry, root) in engine.route(&sample.path, &sample.language, &sample.ceiling).answering {
            let refers = entry.def.refers_to.iter().any(|language| languages.contains(language));
            if entry.may(Capability::FileOperations) && (engine.pool.runs(&entry) || refers && engine.available(&entry))
            {
                let (file, language) = (sample.path.clone(), sample.language.clone());
                let part = if refers { Part::Expected } else { Part::Possible };
                whom.add(ask, Asked { entry, root, file, language, part });
            }
        }
    }
    Ok(whom)
}

/// For each language and folder below `folder` a file, with who serves it.
fn inside(ask: &Ask<'_>, folder: &Path) -> Result<Vec<(PathBuf, String, Serving)>, Failure> {
    const LOOKED_AT: usize = 2_000;
    let engine = ask.engine;
    let files = ignore::WalkBuilder::new(folder).follow_links(false).sort_by_file_path(Ord::cmp).build();
    let files = files.filter_map(Result::ok).filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for path in files.take(LOOKED_AT).map(DirEntry::into_path) {
        // Reading all of them would take long: a name says enough.
        let Some(language) = engine.languages.detect(&path, || None).map(str::to_owned) else { continue };
        let above = path.parent().map(Path::to_owned);
        let Some(root) = engine.ground.roots.root_of(&path).filter(|_| seen.insert((language.clone(), above))) else {
            continue;
        };
        let serving = engine.route(&path, &language, &engine.ground.roots.all()[root].path);
        if !serving.answering.is_empty() || !serving.linters.is_empty() {
            found.push((path, language, serving));
        }
    }
    if found.is_empty() {
        let what = format!("no language server serves a file in {}", engine.ground.roots.display(folder));
        return Err(failure(Code::Unavailable, what, "move it by other means"));
    }
    Ok(found)
}

fn is_the_move(step: &EditStep, from: &Path) -> bool {
    matches!(step, EditStep::Rename { from: FileRef::Path(old), .. } if old == from)
}

/// Edits of the moved file that name it by its new path, as typescript-language-server's do, are made before it is
/// moved. The move itself, which some servers name as well, is added by whoever asked for it.
pub(super) fn of_the_old_place(edit: &mut WorkspaceEdit, from: &Path, to: &Path) {
    if edit.steps.last().is_some_and(|step| is_the_move(step, from)) {
        edit.steps.pop();
    }
    let before = edit.steps.iter().position(|step| is_the_move(step, from)).unwrap_or(edit.steps.len());
    for step in &mut edit.steps[..before] {
        if let EditStep::Texts { file: FileRef::Path(path), .. } = step
            && let Some(old) = paths::moved(path, to, from)
        {
            *path = old;
        }
    }
}
