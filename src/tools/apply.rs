//! `lsp/apply`: makes a plan or takes one back, the only tool that writes; then tells the servers and says which problems
//! are new and which are gone.

use std::{path::PathBuf, sync::Arc};

use serde_json::{Map, Value};

use crate::edits::{Applied, Kind, Plan, PlanId};

use super::{
    Consent,
    args::{Args, invalid},
    ask::Ask,
    compare::{Compared, Look},
    engine::{Confirm, Engine},
    file::failure,
    kinds::count,
    outcome::{Body, Code, Failure, Outcome, Page, Verdict},
    plan::{defect, refused},
};

/// Files whose problems are compared.
const FILES: usize = 16;

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
    let (title, plan) = match &wish {
        Wish::Make(id) => {
            let plan = engine.changes.get(ask.caller.id, id).map_err(failed)?;
            (plan.title.clone(), Some(plan))
        }
        Wish::TakeBack(id) => (format!("plan {id}"), None),
    };
    let mut before = match &plan {
        Some(plan) => ask.look(&now_of(plan), ask.deadline - (ask.left() * 2 / 3)).await,
        None => Look::default(),
    };
    if let Some(plan) = &plan {
        before.absent =
            plan.files().filter(|(kind, ..)| *kind == Kind::Created).map(|(_, path, _)| path.to_owned()).collect();
    }
    let applied = make(engine, ask.caller.id, &wish, plan).await?;
    engine.pool.catch_up().await;
    for (from, to) in &applied.renamed {
        engine.pool.tell_moved(from, to);
    }
    let mut after = ask.look(&after_of(&applied), ask.deadline).await;
    after.absent = applied.deleted.iter().cloned().collect();
    Ok(answer(ask, &wish, &title, &applied, &before, &after))
}

async fn make(engine: &Engine, caller: u64, wish: &Wish, plan: Option<Arc<Plan>>) -> Result<Applied, Failure> {
    let changes = Arc::clone(&engine.changes);
    let (Wish::Make(id) | Wish::TakeBack(id)) = wish;
    let id = id.clone();
    // Writing blocks; once begun it goes on to its end, whoever still listens.
    let made = tokio::task::spawn_blocking(move || match plan {
        Some(plan) => changes.make(caller, &plan),
        None => changes.undo(caller, &id),
    });
    made.await.map_err(|_| defect())?.map_err(|refusal| refused(&engine.ground, &refusal))
}

/// The files of a plan, as they are before it is made.
fn now_of(plan: &Plan) -> Vec<(PathBuf, PathBuf)> {
    let there = plan.files().map(|(_, path, from)| (from.unwrap_or(path).to_owned(), path.to_owned()));
    there.filter(|(now, _)| now.is_file()).take(FILES).collect()
}

/// The files that a change has left.
fn after_of(applied: &Applied) -> Vec<(PathBuf, PathBuf)> {
    let moved = applied.renamed.iter().map(|(_, to)| to);
    let all = applied.changed.iter().chain(&applied.created).chain(moved).filter(|path| path.is_file());
    let mut files: Vec<PathBuf> = all.cloned().collect();
    files.sort_unstable();
    files.dedup();
    files.into_iter().take(FILES).map(|path| (path.clone(), path)).collect()
}

fn answer(ask: &Ask<'_>, wish: &Wish, title: &str, applied: &Applied, before: &Look, after: &Look) -> Outcome {
    let Applied { created, changed, deleted, renamed, undo, recovered } = applied;
    let mut done = Vec::new();
    for (number, what) in
        [(changed.len(), "changed"), (created.len(), "created"), (renamed.len(), "moved"), (deleted.len(), "deleted")]
    {
        if number > 0 {
            done.push(format!("{} {what}", count(number, "file", "files")));
        }
    }
    let (verb, compared) = match wish {
        Wish::Make(_) => ("made", Compared::of(before, after)),
        Wish::TakeBack(_) => ("taken back", Compared::present(after)),
    };
    let mut summary = format!("{title} {verb}: {}", done.join(", "));
    summary.push_str(&format!("; {}", compared.summary(after.verdict(), before.is_known())));
    if let Wish::Make(id) = wish
        && *undo
    {
        summary.push_str(&format!("; undo {id}"));
    }
    let mut notes = after.notes.clone();
    let touched = changed.len() + created.len() + renamed.len();
    if touched > FILES {
        notes.push(format!("the problems of {} were not looked at", count(touched - FILES, "file", "files")));
    }
    for earlier in recovered {
        let what = if earlier.finished { "finished" } else { "dropped" };
        notes.push(format!("an earlier change that was interrupted was {what} first"));
        let left: Vec<String> = earlier.left.iter().map(|path| ask.engine.ground.roots.display(path)).collect();
        if !left.is_empty() {
            notes.push(format!("left alone, since somebody else has changed them: {}", left.join(", ")));
        }
    }
    // The change is made, whatever is known of what it did: that is no failure.
    let verdict = match after.verdict() {
        verdict if verdict.is_failure() => Verdict::Unanswered,
        verdict => verdict,
    };
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
