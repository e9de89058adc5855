//! `lsp/code-actions`: what the servers of a file offer to do there, linters included; or, for one of those, named by its
//! id or its title, a plan of what it changes.

use futures::future::join_all;
use serde_json::{Map, Value};

use crate::{
    protocol::positions::Point,
    runtime::{
        query::{Answer, Pick, Query, Reply},
        shortfall::Shortfall,
    },
};

use super::{
    action_ids::{Kept, content, is_id},
    args::{Args, invalid},
    ask::{Ask, Heard},
    cursor,
    file::{File, failure},
    kinds::count,
    outcome::{ActionLine, Body, Code, Failure, Outcome, Page, ServerVerdict, Verdict},
    places::fingerprint,
    plan::{Change, Planned},
    problems::{all_failed, last_words, missing, note, without_the_unsupporting},
    span::Given,
};

/// Kinds that one call may ask for.
const KINDS: usize = 16;
/// Actions that a failure lists.
const LISTED: usize = 20;
const AGAIN: &str = "list the actions again";

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let given = args.text("file_path")?;
    let range = Given::read(&mut args)?;
    let only = args.words("only")?;
    let action = args.text("action")?;
    let token = args.text("cursor")?;
    args.finish()?;
    if let Some(id) = action.as_deref().filter(|action| given.is_none() || is_id(action)) {
        return take(ask, given.as_deref(), id, token.as_deref()).await;
    }
    if only.len() > KINDS {
        return Err(invalid(format!("`only` has {} kinds", only.len()), format!("give at most {KINDS}")));
    }
    let given = given.ok_or_else(|| invalid("no file is named", "give file_path"))?;
    let file = ask.file(&given)?;
    let span = range.in_text(&file.lines, &file.shown)?;
    let offers = offers(ask, &file, span, only, action.clone()).await?;
    match action {
        Some(title) => by_title(ask, &file, offers, &title, token.as_deref()).await,
        None => list(ask, &file, offers, token.as_deref()),
    }
}

/// What the servers of a file offer.
struct Offers {
    heard: Vec<Heard>,
    servers: Vec<ServerVerdict>,
    verdict: Verdict,
    /// In the order of the servers, for each what it thinks best first.
    found: Vec<(Kept, ActionLine)>,
    /// Actions that were cut off.
    beyond: usize,
    /// Those that cannot be taken there, where no kind was asked for.
    impossible: usize,
}

async fn offers(
    ask: &Ask<'_>,
    file: &File,
    span: Option<(Point, Point)>,
    only: Vec<String>,
    title: Option<String>,
) -> Result<Offers, Failure> {
    let serving = ask.serving(file)?;
    let question = ask.question(file, Query::Actions { span, only: only.clone(), title });
    let bound: Vec<_> = serving.answering.iter().chain(&serving.linters).collect();
    let asked = bound.iter().map(|(entry, root)| ask.ask(entry, root, &question));
    let heard: Vec<Heard> = without_the_unsupporting(join_all(asked).await);
    let servers: Vec<ServerVerdict> = heard.iter().map(|one| ask.part(one)).collect();
    let verdict = Verdict::combine(servers.iter().map(|server| server.verdict));
    if verdict.is_failure() {
        return Err(all_failed(ask, missing(ask, &heard), servers));
    }
    let several = heard.len() > 1;
    let mut found: Vec<(bool, Kept, ActionLine)> = Vec::new();
    let (mut beyond, mut impossible) = (0, 0);
    for one in &heard {
        let Ok(Reply { answer: Answer::Actions(actions), .. }) = &one.result else { continue };
        let Some((_, root)) = bound.iter().find(|(entry, _)| entry.name == one.entry.name) else { continue };
        beyond += actions.list.total - actions.list.items.len();
        for action in &actions.list.items {
            // typescript-language-server names all of its refactorings everywhere, with why each is impossible: that is
            // worth saying only to whoever asks for a kind.
            if action.disabled.is_some() && only.is_empty() {
                impossible += 1;
                continue;
            }
            let kept = Kept {
                caller: ask.caller.id,
                entry: one.entry.clone(),
                root: root.clone(),
                file: file.path.clone(),
                content: content(&file.lines),
                span,
                only: only.clone(),
                pick: Pick {
                    title: action.title.clone(),
                    kind: action.kind.clone(),
                    nth: action.nth,
                    may_run: !ask.engine.limits.read_only,
                },
            };
            let line = ActionLine {
                action: String::new(),
                title: action.title.clone(),
                kind: action.kind.clone(),
                preferred: action.preferred,
                disabled: action.disabled.clone(),
                server: several.then(|| ask.engine.display(&one.entry).to_string()),
            };
            found.push((!action.preferred || action.disabled.is_some(), kept, line));
        }
    }
    // What the server thinks best comes first.
    found.sort_by_key(|(rest, ..)| *rest);
    let found = found.into_iter().map(|(_, kept, line)| (kept, line)).collect();
    Ok(Offers { heard, servers, verdict, found, beyond, impossible })
}

fn list(ask: &Ask<'_>, file: &File, offers: Offers, token: Option<&str>) -> Result<Outcome, Failure> {
    let Offers { heard, servers, verdict, found, beyond, impossible } = offers;
    let print = fingerprint(
        ask,
        (&file.path, file.lines.text(), found.iter().map(|(_, line)| format!("{line:?}")).collect::<Vec<_>>()),
    );
    let offset = cursor::resume(ask.tool, token, print)?;
    let total = found.len();
    let page: Vec<_> = found.into_iter().skip(offset).take(ask.page_items()).collect();
    let lines = with_ids(ask, page);
    let mut summary = match total {
        0 if verdict == Verdict::Fresh => "no actions there".to_owned(),
        0 => "no actions so far".to_owned(),
        n => format!("{}; pass one's id as `action` for its plan", count(n, "action", "actions")),
    };
    if beyond > 0 {
        summary.push_str(&format!(" ({} cut off)", count(beyond, "more was", "more were")));
    }
    if impossible > 0 {
        summary.push_str(&format!(" ({impossible} are impossible there; `only` tells why)"));
    }
    let mut notes: Vec<String> = missing(ask, &heard).map(|(name, shortfall)| note(&name, shortfall)).collect();
    notes.extend(heard.iter().filter_map(|one| one.result.as_ref().ok()).flat_map(|reply| reply.remarks.clone()));
    let details = missing(ask, &heard).flat_map(|(name, shortfall)| last_words(ask, &name, shortfall)).collect();
    Ok(Outcome {
        verdict,
        servers,
        summary,
        notes,
        details,
        body: Body::Actions(lines),
        page: Page { offset, total, fingerprint: print, ..Page::default() },
    })
}

/// Gives each an id that can be passed back.
fn with_ids(ask: &Ask<'_>, found: Vec<(Kept, ActionLine)>) -> Vec<ActionLine> {
    let (kept, mut lines): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    for (line, id) in lines.iter_mut().zip(ask.engine.actions.keep(kept)) {
        line.action = id;
    }
    lines
}

/// The plan of the one action that is called so, there.
async fn by_title(
    ask: &Ask<'_>,
    file: &File,
    offers: Offers,
    title: &str,
    token: Option<&str>,
) -> Result<Outcome, Failure> {
    // As answers show it: on one line.
    let folded = |title: &str| title.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = folded(title);
    let (mut same, others): (Vec<_>, Vec<_>) =
        offers.found.into_iter().partition(|(_, line)| folded(&line.title) == wanted);
    // Of those that look alike the very title goes before, and what can be taken now.
    narrow(&mut same, |(kept, _)| kept.pick.title == title);
    narrow(&mut same, |(_, line)| line.disabled.is_none());
    if same.len() == 1
        && let Some((kept, _)) = same.pop()
    {
        return plan_of(ask, file, &kept, token).await;
    }
    let (code, what, next, shown) = if same.is_empty() && offers.beyond > 0 {
        let what = format!(
            "no action that could be read of {} is called so there, and {} more could not be",
            file.shown, offers.beyond
        );
        (Code::Failed, what, "give another range, or `only` with its kind", others)
    } else if same.is_empty() {
        let what = format!(
            "no action of {} is called so there; it has {}",
            file.shown,
            count(others.len(), "other", "others")
        );
        (Code::NotFound, what, "give the id or the whole title of one, or another range", others)
    } else {
        let what = format!("{} of {} are called so", count(same.len(), "action", "actions"), file.shown);
        (Code::Ambiguous, what, "give the id of one, or `only` with its kind", same)
    };
    let shown = with_ids(ask, shown.into_iter().take(LISTED).collect());
    let line = |line: ActionLine| {
        let parts = [Some(line.action), Some(line.title), line.kind.map(|kind| format!("[{kind}]")), line.server];
        parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
    };
    // Who has not told all that it has is named.
    let servers = if offers.verdict == Verdict::Fresh { Vec::new() } else { offers.servers };
    Err(Failure { details: shown.into_iter().map(line).collect(), servers, ..failure(code, what, next) })
}

/// Keeps what fits, where anything does.
fn narrow<T>(items: &mut Vec<T>, fits: impl Fn(&T) -> bool) {
    if items.iter().any(&fits) {
        items.retain(fits);
    }
}

/// The plan of an action that was listed.
async fn take(ask: &Ask<'_>, given: Option<&str>, id: &str, token: Option<&str>) -> Result<Outcome, Failure> {
    let expired = |what: String| failure(Code::Expired, what, AGAIN);
    let kept = ask.engine.actions.get(ask.caller.id, id);
    let kept = kept.ok_or_else(|| expired("there is no action of that id, or no longer".into()))?;
    let file = ask.file(&kept.file.to_string_lossy())?;
    if let Some(given) = given
        && ask.file(given)?.path != file.path
    {
        return Err(invalid(format!("that action is one of {}", file.shown), "leave file_path out, or name that file"));
    }
    if content(&file.lines) != kept.content {
        return Err(expired(format!("{} has changed since its actions were listed", file.shown)));
    }
    plan_of(ask, &file, &kept, token).await
}

async fn plan_of(ask: &Ask<'_>, file: &File, kept: &Kept, token: Option<&str>) -> Result<Outcome, Failure> {
    let query = Query::Act { span: kept.span, only: kept.only.clone(), pick: kept.pick.clone() };
    let heard = ask.ask(&kept.entry, &kept.root, &ask.question(file, query)).await;
    let reply = match &heard.result {
        Ok(reply) => reply,
        Err(Shortfall::Gone) => {
            let name = ask.engine.display(&kept.entry);
            let what = format!("{name} no longer offers that action for {}", file.shown);
            return Err(failure(Code::Expired, what, AGAIN));
        }
        Err(shortfall) => return Err(ask.no_change(&heard, shortfall)),
    };
    let Answer::Edit(proposal) = &reply.answer else { return Err(super::wrong_kind()) };
    let nothing = || failure(Code::NotFound, "the action changes nothing", "choose another one");
    let title = format!("an action on {}", file.shown);
    let mut edit = proposal.edit.clone().ok_or_else(nothing)?;
    let mut notes = [&proposal.notes[..], &reply.remarks[..]].concat();
    notes.extend(ask.in_one_checkout(&file.path, &mut edit));
    let (change, along) = ask.with_moves(&heard, &file.path, Change::of(proposal, edit, reply.encoding)).await?;
    notes.extend(along);
    match ask.plan(title, change).await? {
        Planned::Nothing => Err(nothing()),
        Planned::Plan(plan) => {
            let mut planned = ask.keep(&[heard], *plan, notes, token)?;
            // The server's own words: they stand below.
            planned.details.insert(0, kept.pick.title.clone());
            Ok(planned)
        }
    }
}
