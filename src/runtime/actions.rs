//! Code actions: asked for with the server's own diagnostics, resolved when one is taken; a command runs only then, one
//! at a time, and the edit that it wants to make is held instead of made.

use std::{
    collections::HashSet,
    path::Path,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::protocol::{
    Method,
    positions::{Point, Range},
    read::{self, Caps, Wanted, is_below},
    types::{Capped, CodeAction, Diagnostic, EditStep, FileRef, WorkspaceEdit},
    uri::path_to_uri,
    weight::tree,
};
use crate::sys::files;

use super::{
    commands::LATE,
    documents::Nudge,
    ground::Ground,
    propose::{Computed, declined, json_of, unreadable},
    query::{Actions, Answer, Pick, Query, Question, Reply},
    reach::Reached,
    session::Session,
    shortfall::Shortfall,
    sync::Focus,
    verdict::Verdict,
};

/// A command that has not ended after this is taken for lost.
const LONGEST: Duration = Duration::from_secs(300);
/// Asks again for the problems of a file that was written meanwhile, at most this often.
const REWRITTEN: usize = 5;
/// Kinds of actions that need no name from elsewhere.
const APART: &[&str] = &["refactor", "source.organizeImports"];

/// A file with its problems.
struct Known {
    focus: Focus,
    problems: Vec<Diagnostic>,
    verdict: Option<Verdict>,
}

/// The actions for a file, and what is open for them.
pub(super) struct Offered<'a> {
    pub actions: Actions,
    focus: Focus,
    _reached: Option<Reached<'a>>,
}

impl Session {
    /// The problems of the asked file, as it stands now.
    async fn known(&self, ground: &Ground, question: &Question) -> Result<Known, Shortfall> {
        let mut round = 0;
        loop {
            round += 1;
            // Actions are the better for diagnostics, but can do without.
            let longest = question.left() / 2;
            let asked = Question { query: Query::Diagnostics, deadline: Instant::now() + longest, ..question.clone() };
            let (problems, verdict) = match self.diagnose(ground, &asked).await {
                Ok(Reply { answer: Answer::Problems(problems), verdict, .. }) => (problems.items, Some(verdict)),
                Ok(_) => (Vec::new(), None),
                // It died, or the file is gone: the next request would end the same way.
                Err(error @ (Shortfall::Died { .. } | Shortfall::File(_) | Shortfall::Outrun)) => return Err(error),
                Err(Shortfall::Unsupported(_)) => (Vec::new(), None),
                Err(other) => (Vec::new(), Some(other.verdict())),
            };
            let told = question.file.as_ref().and_then(|path| self.heard.record().sent.get(path).copied());
            let focus = self.sync_or_why(ground, question)?.ok_or(Shortfall::Moved)?;
            // Written since: they are about a text that is gone.
            let same = told.is_some_and(|told| told.version == focus.sent.version);
            if same || problems.is_empty() || round == REWRITTEN {
                return Ok(Known { focus, problems, verdict });
            }
        }
    }

    /// The actions for a part of a file, or all of it.
    pub(super) async fn actions(
        &self,
        ground: &Ground,
        question: &Question,
        span: Option<(Point, Point)>,
        wanted: Wanted<'_>,
    ) -> Result<Offered<'_>, Shortfall> {
        let only = wanted.only;
        let mut known = self.known(ground, question).await?;
        let mut range = self.range_of(&known.focus, span)?;
        let (mut reached, mut lack) = (None, None);
        if only.is_empty() || !only.iter().all(|kind| is_below(kind, APART)) {
            // What mends a whole file is asked for anywhere in it.
            let whole = only.iter().any(|kind| is_below(kind, &["source"]));
            let concerned = known.problems.iter().filter(|problem| whole || touches(problem.range, range));
            reached = self.reach_undeclared(ground, question, &known.focus, concerned).await?;
        }
        if let Some(reached) = &reached {
            let mut indexed = true;
            if reached.has_opened() {
                indexed = self.wait_published(question).await;
                self.look_again(ground, reached, &known.focus)?;
                // It may see the same problems otherwise now: clangd's have what mends them in themselves.
                known = self.known(ground, question).await?;
                range = self.range_of(&known.focus, span)?;
            }
            lack = self.lack(ground, reached, indexed);
        }
        let Known { focus, problems, verdict } = known;
        let overlapping = problems.iter().filter(|problem| touches(problem.range, range)).map(wire);
        let mut context = json!({"diagnostics": overlapping.collect::<Vec<_>>(), "triggerKind": 1});
        if !only.is_empty() {
            context["only"] = json!(only);
        }
        let params = json!({"textDocument": {"uri": path_to_uri(&focus.path)}, "range": range, "context": context});
        let response = self.request_retrying(ground, question, Method::CodeAction.name(), &params).await?;
        let list = read::code_actions(response.result(), &Caps::default(), wanted)
            .map_err(|error| Shortfall::Shape(error.to_string()))?;
        Ok(Offered { actions: Actions { list, diagnosed: verdict, lack }, focus, _reached: reached })
    }

    fn range_of(&self, focus: &Focus, span: Option<(Point, Point)>) -> Result<Range, Shortfall> {
        Ok(match span {
            Some((start, end)) => Range { start: self.position(focus, start)?, end: self.position(focus, end)? },
            None => Range { start: Default::default(), end: focus.lines.position(usize::MAX, self.encoding) },
        })
    }

    /// What the picked action changes.
    pub(super) async fn act(
        &self,
        ground: &Ground,
        question: &Question,
        span: Option<(Point, Point)>,
        only: &[String],
        pick: &Pick,
    ) -> Result<Computed, Shortfall> {
        // What was opened stays so until it has computed its edit.
        let wanted = Wanted { only, title: Some(&pick.title) };
        let Offered { actions, focus, _reached } = self.actions(ground, question, span, wanted).await?;
        let (Capped { items, .. }, lack) = (actions.list, actions.lack);
        let picked =
            |action: &CodeAction| action.title == pick.title && action.kind == pick.kind && action.nth == pick.nth;
        let mut action = items.into_iter().find(picked).ok_or(Shortfall::Gone)?;
        if let Some(reason) = action.disabled {
            return Err(Shortfall::Declined("the action cannot be taken now".into(), vec![reason]));
        }
        let resolves =
            self.heard.record().effective.flag(Method::CodeAction, "resolveProvider", &question.language, &focus.path);
        if !action.has_edit && resolves {
            let raw = json_of(&action.raw)?;
            // A bare command is no action that could be resolved.
            if !raw["command"].is_string() {
                let asked = self.request_retrying(ground, question, "codeAction/resolve", &raw).await;
                let response = asked.map_err(declined)?;
                action = read::code_action(response.result(), &Caps::default()).map_err(unreadable)?;
            }
        }
        let mut notes = Vec::new();
        let edit = match action.has_edit {
            true => read::edit_inside(action.raw.get().as_bytes()).map_err(unreadable)?,
            false => None,
        };
        // gopls puts an empty edit beside the command that makes the real one.
        if edit.as_ref().is_some_and(changes_anything) {
            if action.command.is_some() {
                notes.push("the action would run a command of the server afterwards: it is left out".to_owned());
            }
            return Ok(Computed { edit, notes, lack, held: false });
        }
        if action.command.is_none() {
            return Ok(Computed { notes, lack, ..Computed::default() });
        }
        if !pick.may_run {
            return Err(Shortfall::Declined("the action is a command, and read-only none is run".into(), Vec::new()));
        }
        let edit = self.run(question, &json_of(&action.raw)?).await?;
        Ok(Computed { edit, notes, lack, held: true })
    }

    /// Runs an action's command; gives the edit that the server asks for meanwhile.
    async fn run(&self, question: &Question, action: &Value) -> Result<Option<WorkspaceEdit>, Shortfall> {
        let command = if action["command"].is_string() { action } else { &action["command"] };
        let name = command["command"].as_str().unwrap_or_default();
        if !self.heard.record().effective.runs(name) {
            return Err(Shortfall::Declined(
                "the action runs a command of editors, not of the server".into(),
                Vec::new(),
            ));
        }
        let mut params = json!({"command": name});
        if let Some(arguments) = command.get("arguments").filter(|arguments| arguments.is_array()) {
            params["arguments"] = arguments.clone();
        }
        let mut command = self.commands.take(name, question.left()).await?;
        let holding = self.heard.hold_edits();
        // What it answers is of no use, and must not keep the edit out.
        let asked = self.request(Method::ExecuteCommand.name(), &params, LONGEST);
        let asked = command.asked.insert(asked.map_err(|error| self.why(question, error))?);
        let allowed = question.left().min(self.limits.request_timeout);
        let answered = timeout(allowed, asked).await.map_err(|_| Shortfall::Unanswered { after: allowed })?;
        (command.asked, command.late) = (None, Some(Instant::now() + LATE));
        let response = answered.map_err(|error| declined(self.why(question, error)))?;
        // What it has asked for before it answered is here by then.
        let _ = timeout(question.left(), self.wire.caught_up(response.order)).await;
        if !holding.has_any() {
            let mut news = self.heard.news();
            let until = Instant::now() + LATE.min(question.left());
            while !holding.has_any() && Instant::now() < until && !self.wire.is_closed() {
                self.wait_news(&mut news, until).await;
            }
        }
        command.late = None;
        holding.take().map_err(|why| Shortfall::Declined(why, Vec::new()))
    }

    /// The server takes an edit for made that was only planned: it is told what stands on the disk.
    pub(super) fn back_to_disk(&self, ground: &Ground, edit: &WorkspaceEdit) -> Result<(), Shortfall> {
        for step in &edit.steps {
            let EditStep::Texts { file: FileRef::Path(path), .. } = step else { continue };
            if !self.is_open(path) {
                continue;
            }
            let nudge = if self.rules(&self.language_of(path), path).change { Nudge::Change } else { Nudge::Reopen };
            self.tell_again(ground, path, nudge).map_err(|error| Shortfall::File(error.to_string()))?;
        }
        Ok(())
    }

    /// Takes back the empty files that the server has made by itself for an edit that is only planned, as TypeScript's does
    /// for "Move to a new file": the edit creates them instead.
    pub(super) fn unmade(&self, ground: &Ground, edit: &mut WorkspaceEdit, began: SystemTime) {
        let mut made = HashSet::new();
        let mut steps = Vec::with_capacity(edit.steps.len());
        for step in std::mem::take(&mut edit.steps) {
            if let EditStep::Texts { file: FileRef::Path(path), .. } = &step
                && !made.contains(path)
                && ground.roots.contains(path)
                && is_new_and_empty(path, began)
                && files::remove(path).is_ok()
            {
                made.insert(path.clone());
                let file = FileRef::Path(path.clone());
                steps.push(EditStep::Create { file, overwrite: false, ignore_if_exists: false });
            }
            steps.push(step);
        }
        edit.steps = steps;
    }

    fn is_open(&self, path: &Path) -> bool {
        self.desk().documents.hash(path).is_some()
    }
}

/// The worth of a list of actions: those for problems that are not known yet are missing.
pub(super) fn worth(actions: &Actions) -> (Verdict, Option<String>) {
    match (actions.diagnosed, &actions.lack) {
        (Some(verdict), _) if !matches!(verdict, Verdict::Fresh | Verdict::Unconfirmed) => {
            (Verdict::Settling, Some("fixes for problems that are not known yet are missing".into()))
        }
        (_, Some(lack)) => (lack.verdict, Some(lack.reason.clone())),
        _ => (Verdict::Fresh, None),
    }
}

fn changes_anything(edit: &WorkspaceEdit) -> bool {
    edit.steps.iter().any(|step| !matches!(step, EditStep::Texts { edits, .. } if edits.is_empty()))
}

fn is_new_and_empty(path: &Path, began: SystemTime) -> bool {
    let Ok(there) = path.symlink_metadata() else { return false };
    // File systems count time more coarsely than the clock does.
    let since = began - Duration::from_millis(20);
    there.is_file() && there.len() == 0 && there.created().or_else(|_| there.modified()).is_ok_and(|at| at >= since)
}

/// Whether two ranges have a place in common; their ends count, as they do where an editor's cursor stands.
fn touches(a: Range, b: Range) -> bool {
    a.start <= b.end && b.start <= a.end
}

/// A diagnostic as the server sent it, with its code and data; where that was not kept, what is known of it.
fn wire(problem: &Diagnostic) -> Value {
    if let Some(raw) = &problem.wire.0
        && let Some(raw) = tree(raw.as_bytes())
    {
        return raw;
    }
    let mut made = json!({"range": problem.range, "severity": problem.severity as u8 + 1, "message": problem.message});
    if let Some(code) = &problem.code {
        // A number was one: so TypeScript's are.
        made["code"] =
            code.parse::<u32>().ok().filter(|number| number.to_string() == *code).map_or(json!(code), Value::from);
    }
    if let Some(source) = &problem.source {
        made["source"] = json!(source);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_at_the_end_of_a_problem_is_of_it() {
        let range = |a: u32, b: u32| {
            let at = |character| crate::protocol::positions::Position { line: 0, character };
            Range { start: at(a), end: at(b) }
        };
        assert!(touches(range(2, 4), range(4, 4)));
        assert!(touches(range(2, 2), range(0, 9)));
        assert!(!touches(range(2, 4), range(5, 6)));
    }
}
