//! What all planners share: a server's edit made into a plan that is kept for the caller, and its diff.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    edits::{FileDiff, Folders, Kind, Line, Plan, Promise, Refusal, RefusalCode, Told},
    protocol::{
        positions::Encoding,
        types::{EditStep, FileRef, WorkspaceEdit},
    },
    runtime::{ground::Ground, query::Proposal, shortfall::Shortfall},
    workspace::disk::Snapshot,
};

use super::{
    ask::{Ask, Heard},
    cursor,
    file::failure,
    kinds::count,
    outcome::{Body, Code, DiffLine, Failure, Outcome, Page, ServerVerdict, Verdict},
    places::fingerprint,
    short,
};

/// A change as it was computed.
#[derive(Default)]
pub(super) struct Change {
    pub edit: WorkspaceEdit,
    /// The texts that its ranges are about, and under which version each was told.
    pub told: HashMap<PathBuf, (Arc<Snapshot>, i32)>,
    pub encoding: Encoding,
}

impl Change {
    /// A server's own, of which this is the edit.
    pub(super) fn of(proposal: &Proposal, edit: WorkspaceEdit, encoding: Encoding) -> Self {
        Self { edit, told: proposal.told.clone(), encoding }
    }
}

/// Characters of a title: behind it the first line has to hold the plan's id, whatever the budget.
const TITLE: usize = 60;

/// What became of it.
pub(super) enum Planned {
    Plan(Box<Made>),
    /// It changes nothing.
    Nothing,
}

/// A plan with its diff.
pub(super) struct Made {
    plan: Plan,
    diff: Vec<FileDiff>,
}

impl Made {
    /// It is a rename that has to reach all of this.
    pub(super) fn promises(&mut self, promise: Promise) {
        self.plan.promise = Some(promise);
    }
}

impl Ask<'_> {
    /// Checks a change against the disk and the rules of the workspace; `title` says what it is, in langport's own words.
    ///
    /// # Errors
    /// Why it cannot be made, as the engine says it.
    pub(super) async fn plan(&self, title: String, change: Change) -> Result<Planned, Failure> {
        let (ground, changes) = (self.engine.ground.clone(), self.engine.changes.clone());
        let Change { edit, told: known, encoding } = change;
        if let Some(uri) = foreign(&edit) {
            let what = "the server's edit concerns what is no file of this machine";
            let mut refused = failure(Code::OutsideWorkspace, what, "make the change by other means");
            refused.details.push(uri.to_owned());
            return Err(refused);
        }
        let planning = move || {
            let told = |path: &Path| {
                let (snapshot, version) = known.get(path)?;
                Some(Told { snapshot: snapshot.clone(), version: Some(*version) })
            };
            let plan = changes.plan(&ground.disk, &edit, encoding, shortened(&title), &told)?;
            let diff = plan.diff();
            Ok(Made { plan, diff })
        };
        // Reading and comparing every file blocks.
        match tokio::task::spawn_blocking(planning).await {
            Ok(Ok(made)) => Ok(Planned::Plan(Box::new(made))),
            Ok(Err::<_, Refusal>(refusal)) if refusal.code == RefusalCode::Nothing => Ok(Planned::Nothing),
            Ok(Err(refusal)) => Err(refused(&self.engine.ground, &refusal)),
            Err(_) => Err(defect()),
        }
    }

    /// Why there is no change to plan: a planner without a plan has failed, whatever may still come.
    pub(super) fn no_change(&self, heard: &Heard, shortfall: &Shortfall) -> Failure {
        let name = self.engine.display(&heard.entry);
        let code = match shortfall.verdict() {
            Verdict::Indexing | Verdict::Unanswered => Code::Unavailable,
            _ => short::code(shortfall),
        };
        Failure {
            details: self.reasons(&heard.entry, shortfall),
            ..failure(code, format!("{name}: {shortfall}"), short::next_step(&name, shortfall))
        }
    }

    /// Keeps a plan of these servers and shows it: the first line ends in its id, the diff follows.
    ///
    /// # Errors
    /// When the cursor belongs to another plan, or it cannot be kept.
    pub(super) fn keep(
        &self,
        heard: &[Heard],
        made: Made,
        mut notes: Vec<String>,
        token: Option<&str>,
    ) -> Result<Outcome, Failure> {
        let ground = &self.engine.ground;
        let Made { plan, diff } = made;
        let mut lines = diff_lines(ground, &diff);
        // The labels are the server's own words.
        let consent = "marked by the server as needing a person's consent";
        let label = |label: &String| DiffLine { file: consent.into(), text: label.clone() };
        lines.splice(0..0, plan.to_confirm.iter().map(label));
        let print = fingerprint(self, &plan.hash);
        let offset = cursor::resume(self.tool, token, print)?;
        if !plan.ignored.is_empty() {
            let shown: Vec<String> = plan.ignored.iter().take(5).map(|path| ground.roots.display(path)).collect();
            notes.push(format!("git ignores {} of the files: {}", plan.ignored.len(), shown.join(", ")));
        }
        let total = lines.len();
        let texts = diff.iter().filter(|file| file.added + file.removed > 0 && file.kind != Kind::Deleted).count();
        let size = size(&plan, texts);
        let title = plan.title.clone();
        let servers: Vec<ServerVerdict> = heard.iter().map(|one| self.part(one)).collect();
        let id = self.engine.changes.keep(self.caller.id, plan).map_err(|refusal| refused(ground, &refusal))?;
        Ok(Outcome {
            verdict: Verdict::combine(servers.iter().map(|server| server.verdict)),
            servers,
            summary: format!("{title}: {size}; not made yet: plan {id}"),
            notes,
            details: Vec::new(),
            body: Body::Diff(lines.into_iter().skip(offset).take(self.page_items()).collect()),
            page: Page { offset, total, fingerprint: print, ..Page::default() },
        })
    }
}

/// How much a plan changes, in words; `texts` files have places that change.
pub(super) fn size(plan: &Plan, texts: usize) -> String {
    let counts = plan.counts;
    let mut parts = Vec::new();
    if plan.places > 0 && texts > 0 {
        parts.push(format!("{} in {}", count(plan.places, "place", "places"), count(texts, "file", "files")));
    } else if counts.changed > 0 {
        parts.push(format!("{} changed", count(counts.changed, "file", "files")));
    }
    for (number, what) in [(counts.created, "created"), (counts.renamed, "moved"), (counts.deleted, "deleted")] {
        if number > 0 {
            parts.push(format!("{} {what}", count(number, "file", "files")));
        }
    }
    parts.extend(in_words(counts.folders, "deleted"));
    parts.join(", ")
}

/// What happens to folders as wholes, in words; `empty` ones are deleted, or made again.
pub(super) fn in_words(folders: Folders, empty: &str) -> Vec<String> {
    let mut parts = Vec::new();
    if folders.renamed > 0 {
        let moved = count(folders.renamed, "folder", "folders");
        parts.push(format!("{moved} with {} moved", count(folders.within, "file", "files")));
    }
    if folders.deleted > 0 {
        parts.push(format!("{} {empty}", count(folders.deleted, "empty folder", "empty folders")));
    }
    parts
}

fn shortened(title: &str) -> String {
    match title.char_indices().nth(TITLE) {
        None => title.to_owned(),
        Some((end, _)) => format!("{}…", &title[..end]),
    }
}

/// A refusal of the engine as a tool's failure.
pub(super) fn refused(ground: &Ground, refusal: &Refusal) -> Failure {
    let code = match refusal.code {
        RefusalCode::Conflict => Code::Conflict,
        RefusalCode::OutsideWorkspace => Code::OutsideWorkspace,
        RefusalCode::ReadOnly => Code::ReadOnly,
        RefusalCode::Refused => Code::Refused,
        RefusalCode::TooLarge => Code::TooLarge,
        RefusalCode::Invalid => Code::Invalid,
        RefusalCode::Failed => Code::Failed,
        RefusalCode::Expired => Code::Expired,
        RefusalCode::NotFound | RefusalCode::Nothing => Code::NotFound,
    };
    // A name that nothing has yet is the server's text.
    let inside = refusal.path.as_ref().filter(|path| ground.roots.contains(path) && path.symlink_metadata().is_ok());
    let what = match inside {
        Some(path) => format!("{}: {}", ground.roots.display(path), refusal.what),
        None => refusal.what.clone(),
    };
    let mut failure = failure(code, what, refusal.next.clone());
    failure.details.extend(refusal.also.iter().map(|path| ground.roots.display(path)));
    if inside.is_none() {
        // A path that only the server knows is the server's text, and where a link leads the repository's.
        failure.details.extend(refusal.path.as_ref().map(|path| match &refusal.leads {
            Some(target) => format!("{} -> {}", ground.roots.display(path), target.display()),
            None => ground.roots.display(path),
        }));
    }
    failure
}

/// What an edit names beside files: the server's own text.
fn foreign(edit: &WorkspaceEdit) -> Option<&str> {
    edit.steps.iter().find_map(|step| {
        let files = match step {
            EditStep::Texts { file, .. } | EditStep::Create { file, .. } | EditStep::Delete { file, .. } => {
                [Some(file), None]
            }
            EditStep::Rename { from, to, .. } => [Some(from), Some(to)],
        };
        files.into_iter().flatten().find_map(|file| match file {
            FileRef::Foreign(uri) => Some(uri.as_str()),
            FileRef::Path(_) => None,
        })
    })
}

/// A task of langport's own that did not end as it should.
pub(super) fn defect() -> Failure {
    failure(Code::Failed, "the change met a defect in langport", "ask again; its stderr has the details")
}

/// The lines of a diff, each with its file and what happens to that.
pub(super) fn diff_lines(ground: &Ground, files: &[FileDiff]) -> Vec<DiffLine> {
    let mut lines = Vec::new();
    for file in files {
        let shown = ground.roots.display(&file.path);
        let mut head = match (file.kind, &file.from) {
            (Kind::Renamed, Some(from)) => format!("{} -> {shown}", ground.roots.display(from)),
            (Kind::Created, _) => format!("{shown} (new)"),
            (Kind::Deleted, _) => format!("{shown} (deleted)"),
            _ => shown,
        };
        if file.overwrites {
            head.push_str(" (what is there now is lost)");
        }
        if file.added + file.removed > 0 {
            head.push_str(&format!("  +{} -{}", file.added, file.removed));
        }
        let mut add = |text: String| lines.push(DiffLine { file: head.clone(), text });
        if file.hunks.is_empty() && file.left_out == 0 {
            add(String::new());
        }
        for hunk in &file.hunks {
            let (old, new) = ((hunk.old_start, hunk.old_lines), (hunk.new_start, hunk.new_lines));
            add(format!("@@ -{},{} +{},{} @@", old.0, old.1, new.0, new.1));
            for line in &hunk.lines {
                add(match line {
                    Line::Same(text) => format!(" {text}"),
                    Line::Removed(text) => format!("-{text}"),
                    Line::Added(text) => format!("+{text}"),
                    Line::Unended => "\\ No newline at end of file".to_owned(),
                });
            }
        }
        if file.opaque {
            add("(no text)".to_owned());
        }
        if file.left_out > 0 {
            add(format!("@@ {} more are not shown @@", count(file.left_out, "place", "places")));
        }
    }
    lines
}
