//! `lsp/apply`: makes a plan or takes one back, the only tool that writes; then tells the servers and says which problems
//! are new and which are gone.

use std::{
    collections::{BTreeSet, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use ignore::DirEntry;
use serde_json::{Map, Value};

use crate::{
    edits::{Applied, Kind, Plan, PlanId, Wake},
    workspace::paths,
};

use super::{
    Consent,
    args::{Args, invalid},
    ask::Ask,
    compare::{Compared, Look},
    engine::{Confirm, Engine},
    file::failure,
    kinds::count,
    outcome::{Body, Code, Failure, Outcome, Page, Verdict},
    plan::{defect, in_words, refused},
    wake,
};

/// Files whose problems are compared: with those beside them no more than may be open at once.
const FILES: usize = 48;
/// Files of a moved folder that are looked at for whether anybody serves them.
const LOOKED_AT: usize = 2_000;

/// What is to be done.
enum Wish {
    Make(PlanId),
    TakeBack(PlanId),
}

impl Wish {
    fn read(arguments: &Map<String, Value>) -> Result<Self, Failure> {
        let mut args = Args::new(arguments);
        let (plan, undo) = (args.text("plan")?, args.text("undo")?);
        let token = args.text("cursor")?;
        args.finish()?;
        if token.is_some() {
            return Err(invalid("what a change has done has one page", "call lsp/diagnostics for the rest"));
        }
        match (plan, undo) {
            (Some(plan), None) => Ok(Self::Make(PlanId::given(&plan))),
            (None, Some(undo)) => Ok(Self::TakeBack(PlanId::given(&undo))),
            (None, None) => Err(invalid("no plan is named", "give plan, the id that a planner's first line ends in")),
            (Some(_), Some(_)) => Err(invalid("`plan` and `undo` are both given", "give one of them")),
        }
    }
}

/// What a person has to agree to before the call is made, if anything.
///
/// # Errors
/// When there is no such plan.
pub(super) fn consent(
    engine: &Engine,
    caller: u64,
    arguments: &Map<String, Value>,
) -> Result<Option<Consent>, Failure> {
    if engine.limits.confirm == Confirm::None || engine.limits.read_only {
        return Ok(None);
    }
    Ok(Some(match Wish::read(arguments)? {
        Wish::Make(id) => {
            let plan = engine.changes.get(caller, &id).map_err(|refusal| refused(&engine.ground, &refusal))?;
            let files: Vec<String> = plan.files().map(|(_, path, _)| engine.ground.roots.display(path)).collect();
            let what = format!("{}: {}", plan.title, super::plan::size(&plan, plan.counts.changed));
            Consent { plan: id.to_string(), hash: plan.hash.clone(), what, files }
        }
        // What an undo does is what the plan did: its id says all.
        Wish::TakeBack(id) => {
            engine.changes.can_undo(caller, &id).map_err(|refusal| refused(&engine.ground, &refusal))?;
            Consent { plan: id.to_string(), hash: "undo".into(), what: "take this plan back".into(), files: Vec::new() }
        }
    }))
}

pub(super) async fn run(
    ask: &Ask<'_>,
    arguments: &Map<String, Value>,
    granted: Option<&Consent>,
) -> Result<Outcome, Failure> {
    let wish = Wish::read(arguments)?;
    let engine = ask.engine;
    if let Some(wanted) = consent(engine, ask.caller.id, arguments)?
        && granted.is_none_or(|granted| (&granted.plan, &granted.hash) != (&wanted.plan, &wanted.hash))
    {
        let next = "call it with a client that can ask its user (elicitation), or set confirm to \"none\"";
        return Err(failure(Code::Refused, "a person has to agree to this plan, and none has", next));
    }
    let failed = |refusal| refused(&engine.ground, &refusal);
    let mut notes = Vec::new();
    let (title, files, plan) = match &wish {
        Wish::Make(id) => {
            let plan = engine.changes.get(ask.caller.id, id).map_err(failed)?;
            notes = ask.still_whole(&plan).await?;
            let files = plan.files().map(|(kind, path, from)| (kind, path.to_owned(), from.map(Path::to_owned)));
            let files: Vec<_> = files.collect();
            (plan.title.clone(), files, Some(plan))
        }
        Wish::TakeBack(id) => {
            engine.changes.can_undo(ask.caller.id, id).map_err(failed)?;
            (format!("plan {id}"), engine.changes.taken_back_by(ask.caller.id, id), None)
        }
    };
    let wake = match (&wish, &plan) {
        (_, Some(plan)) => wake::of(plan),
        (Wish::Make(id) | Wish::TakeBack(id), None) => engine.changes.wake_of(ask.caller.id, id),
    };
    let now = now_of(engine, &files);
    let named = files.iter().flat_map(|(_, path, from)| [Some(path), from.as_ref()]).flatten();
    let own: BTreeSet<PathBuf> = named.chain(now.iter().flat_map(|(now, then)| [now, then])).cloned().collect();
    let others = ask.affected(&wake, own, FILES.saturating_sub(now.len())).await;
    let beside: Vec<_> = others.files.iter().map(|path| (path.clone(), path.clone())).collect();
    let mut before = ask.look(&[now, beside.clone()].concat(), ask.deadline - (ask.left() * 2 / 3)).await;
    let created = files.into_iter().filter(|(kind, ..)| *kind == Kind::Created);
    before.absent = created.map(|(_, path, _)| path).collect();
    let applied = make(engine, ask.caller.id, &wish, plan, &wake).await?;
    engine.pool.catch_up().await;
    for (from, to) in &applied.renamed {
        engine.pool.tell_moved(from, to);
    }
    let left = after_of(engine, &applied);
    let mut after = ask.look(&[&left[..left.len().min(FILES)], &beside].concat(), ask.deadline).await;
    after.absent = applied.deleted.iter().cloned().collect();
    let mut made = answer(ask, &wish, &title, &applied, left.len(), &before, &after);
    if !others.left.is_empty() || others.cut {
        made.notes.push(match others.left.len() {
            0 => "not looked at: not every file could be searched for what has changed".to_owned(),
            number => {
                let files = count(number, "more file", "more files");
                format!("not looked at: {files} with a name that has changed: {}", ask.some_of(&others.left))
            }
        });
        // Of other changes it is only likely that these have to do with them.
        if wake.renames && !made.verdict.is_failure() {
            made.verdict = made.verdict.max(Verdict::Partial);
        }
    }
    made.notes.extend(notes);
    Ok(made)
}

async fn make(
    engine: &Engine,
    caller: u64,
    wish: &Wish,
    plan: Option<Arc<Plan>>,
    wake: &Wake,
) -> Result<Applied, Failure> {
    let changes = Arc::clone(&engine.changes);
    let (Wish::Make(id) | Wish::TakeBack(id)) = wish;
    let (id, wake) = (id.clone(), wake.clone());
    // Writing blocks; once begun it goes on to its end, whoever still listens.
    let writing = Arc::clone(&engine.writing).read_owned().await;
    let made = tokio::task::spawn_blocking(move || {
        let _writing = writing;
        match plan {
            Some(plan) => changes.make(caller, &plan, &wake),
            None => changes.undo(caller, &id),
        }
    });
    made.await.map_err(|_| defect())?.map_err(|refusal| refused(&engine.ground, &refusal))
}

/// The files of a change, as they are before it is made.
fn now_of(engine: &Engine, files: &[(Kind, PathBuf, Option<PathBuf>)]) -> Vec<(PathBuf, PathBuf)> {
    let there = files.iter().map(|(_, path, from)| (from.as_ref().unwrap_or(path), path));
    let each = there.flat_map(|(now, then)| {
        files_of(engine, now).into_iter().map(move |file| {
            let moved = paths::moved(&file, now, then);
            (file, moved.unwrap_or_else(|| then.clone()))
        })
    });
    let mut files: Vec<_> = each.collect();
    let mut seen = HashSet::new();
    files.retain(|(now, _)| seen.insert(now.clone()));
    files.truncate(FILES);
    files
}

/// The files that a change has left.
fn after_of(engine: &Engine, applied: &Applied) -> Vec<(PathBuf, PathBuf)> {
    let moved = applied.renamed.iter().map(|(_, to)| to);
    let all = applied.changed.iter().chain(&applied.created).chain(moved);
    let mut files: Vec<PathBuf> = all.flat_map(|path| files_of(engine, path)).collect();
    files.sort_unstable();
    files.dedup();
    files.into_iter().map(|path| (path.clone(), path)).collect()
}

/// The file itself; of a folder the files in it that servers may know.
fn files_of(engine: &Engine, path: &Path) -> Vec<PathBuf> {
    if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return path.is_file().then(|| path.to_owned()).into_iter().collect();
    }
    let below = ignore::WalkBuilder::new(path).follow_links(false).sort_by_file_path(Ord::cmp).build();
    let files = below.filter_map(Result::ok).filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.take(LOOKED_AT).map(DirEntry::into_path).filter(|path| engine.is_served(path)).collect()
}

fn answer(
    ask: &Ask<'_>,
    wish: &Wish,
    title: &str,
    applied: &Applied,
    touched: usize,
    before: &Look,
    after: &Look,
) -> Outcome {
    let Applied { created, changed, deleted, renamed, folders, undo, recovered } = applied;
    let back = matches!(wish, Wish::TakeBack(_));
    let (made, gone) = if back { (folders.deleted, 0) } else { (0, folders.deleted) };
    let mut done = Vec::new();
    for (number, what) in [
        (changed.len(), "changed"),
        (created.len() - made.min(created.len()), "created"),
        (renamed.len() - folders.renamed.min(renamed.len()), "moved"),
        (deleted.len() - gone.min(deleted.len()), "deleted"),
    ] {
        if number > 0 {
            done.push(format!("{} {what}", count(number, "file", "files")));
        }
    }
    done.extend(in_words(*folders, if back { "created" } else { "deleted" }));
    let verb = match wish {
        Wish::Make(_) => "made",
        Wish::TakeBack(_) => "taken back",
    };
    let compared = Compared::of(before, after);
    let unseen = touched > 0 && !after.asked_anybody();
    // The change is made, whatever is known of what it did: that is no failure.
    let mut verdict = match after.verdict() {
        // Nobody has looked.
        _ if unseen => Verdict::Unanswered,
        verdict if verdict.is_failure() => Verdict::Unanswered,
        verdict => verdict,
    };
    let mut notes = after.notes();
    notes.extend(after.doubts());
    if touched > FILES {
        notes.push(format!("the problems of {} were not looked at", count(touched - FILES, "file", "files")));
        verdict = verdict.max(Verdict::Partial);
    }
    let mut summary = format!("{title} {verb}: {}", done.join(", "));
    if unseen {
        summary.push_str("; no server was there to look for problems");
    } else {
        // Nothing is said of files that nobody has looked at.
        let said = compared.summary(verdict, before.is_known());
        let nothing = ["no new problems", "no problems"].into_iter().find(|words| said.starts_with(words));
        let proven = !said.contains(" so far") && !said.contains(" heard of");
        summary.push_str("; ");
        summary.push_str(&match nothing.filter(|_| proven) {
            Some(words) => {
                let files = count(after.looked_at(), "file", "files");
                said.replacen(words, &format!("{words} in the {files} looked at"), 1)
            }
            None => said,
        });
    }
    if let Wish::Make(id) = wish
        && *undo
    {
        summary.push_str(&format!("; undo {id}"));
    }
    for earlier in recovered {
        let what = if earlier.finished { "finished" } else { "dropped" };
        notes.push(format!("an earlier change that was interrupted was {what} first"));
        let left: Vec<String> = earlier.left.iter().map(|path| ask.engine.ground.roots.display(path)).collect();
        if !left.is_empty() {
            notes.push(format!("left alone, since somebody else has changed them: {}", left.join(", ")));
        }
    }
    if compared.left_out > 0 {
        let more = count(compared.left_out, "more problem is", "more problems are");
        notes.push(format!("{more} not shown: see lsp/diagnostics"));
    }
    let total = compared.items.len();
    Outcome {
        verdict,
        servers: after.servers(),
        summary,
        notes,
        details: Vec::new(),
        body: if total == 0 { Body::None } else { Body::Problems(compared.items) },
        page: Page { offset: 0, total, fingerprint: 0, ..Page::default() },
    }
}
