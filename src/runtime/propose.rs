//! Gets a change to files out of a server: asked again until it touches only texts that are open and stand as they were
//! told, so that every range in it is about the bytes on the disk.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::{
    protocol::{
        Method,
        positions::Point,
        read::{self, Caps, ReadError},
        types::{EditStep, FileRef, Prepared, TextEdit, WorkspaceEdit},
        uri::path_to_uri,
        weight::tree,
    },
    workspace::disk::Snapshot,
};

use super::{
    ground::Ground,
    query::{Lack, Proposal, Query, Question},
    session::Session,
    shortfall::Shortfall,
    sync::Focus,
};

/// Asks again at most this often, each time with more of the touched files open.
const ROUNDS: usize = 4;
/// Files that one edit may touch: all of them are opened.
const TARGETS: usize = 1_000;
/// Not worth another round.
const SLACK: Duration = Duration::from_millis(200);

/// An edit as it was computed.
#[derive(Debug, Default)]
pub(super) struct Computed {
    pub edit: Option<WorkspaceEdit>,
    /// Remarks of langport's own.
    pub notes: Vec<String>,
    /// Why it may be a part of what there is to change.
    pub lack: Option<Lack>,
    /// The server takes it for made.
    pub held: bool,
}

impl From<Option<WorkspaceEdit>> for Computed {
    fn from(edit: Option<WorkspaceEdit>) -> Self {
        Self { edit, ..Self::default() }
    }
}

impl Session {
    /// The change that `question` asks for.
    pub(super) async fn proposal(
        &self,
        ground: &Ground,
        question: &Question,
        mut focus: Focus,
    ) -> Result<Proposal, Shortfall> {
        for round in 1..=ROUNDS {
            let mark = self.newest_version();
            let began = SystemTime::now();
            let Computed { edit, notes, lack, held } = self.compute(ground, question, &focus).await?;
            let Some(mut edit) = edit else { return Ok(Proposal { notes, lack, ..Proposal::default() }) };
            if held {
                self.unmade(ground, &mut edit, began);
            }
            let targets = targets(ground, &edit);
            if targets.len() > TARGETS {
                return Err(Shortfall::TooLarge(format!(
                    "its edit touches {} files, more than {TARGETS}",
                    targets.len()
                )));
            }
            // Whatever was written while the server computed has to be seen before the texts are compared.
            self.caught_up_with_disk(ground, question).await;
            let told = self.as_computed(ground, &edit, &targets, mark);
            if held {
                self.back_to_disk(ground, &edit)?;
            }
            if let Some(told) = told {
                return Ok(Proposal { edit: Some(edit), told, notes, lack });
            }
            if round == ROUNDS || question.left() < SLACK {
                break;
            }
            focus = self.open_beside(ground, question, &targets)?;
            if question.query.project_wide() {
                self.wait_counted(question).await;
                self.wait_published(question).await;
            }
        }
        Err(Shortfall::Moved)
    }

    async fn compute(&self, ground: &Ground, question: &Question, focus: &Focus) -> Result<Computed, Shortfall> {
        match &question.query {
            Query::Rename { at, new_name } => {
                self.rename(ground, question, focus, *at, new_name).await.map(Computed::from)
            }
            Query::Format { span } => self.format(ground, question, focus, *span).await.map(Computed::from),
            Query::Act { span, only, pick } => self.act(ground, question, *span, only, pick).await,
            Query::Move { from, to, folder } => {
                self.will_move(ground, question, from, to, *folder).await.map(Computed::from)
            }
            _ => Err(Shortfall::Unsupported(question.query.wants())),
        }
    }

    async fn rename(
        &self,
        ground: &Ground,
        question: &Question,
        focus: &Focus,
        at: Point,
        new_name: &str,
    ) -> Result<Option<WorkspaceEdit>, Shortfall> {
        let mut params =
            json!({"textDocument": {"uri": path_to_uri(&focus.path)}, "position": self.position(focus, at)?});
        let prepares =
            self.heard.record().effective.flag(Method::Rename, "prepareProvider", &question.language, &focus.path);
        if prepares {
            let asked = self.request_retrying(ground, question, "textDocument/prepareRename", &params).await;
            let response = asked.map_err(declined)?;
            let prepared = read::prepare_rename(response.result(), &Caps::default()).map_err(unreadable)?;
            if prepared == Prepared::No {
                return Err(Shortfall::Declined("nothing that stands there can be renamed".into(), Vec::new()));
            }
        }
        params["newName"] = new_name.into();
        let response =
            self.request_retrying(ground, question, "textDocument/rename", &params).await.map_err(declined)?;
        read::workspace_edit(response.result()).map_err(unreadable)
    }

    async fn format(
        &self,
        ground: &Ground,
        question: &Question,
        focus: &Focus,
        span: Option<(Point, Point)>,
    ) -> Result<Option<WorkspaceEdit>, Shortfall> {
        let options = super::indentation::options(focus.lines.text());
        let mut params = json!({"textDocument": {"uri": path_to_uri(&focus.path)}, "options": options});
        if let Some((start, end)) = span {
            params["range"] = json!({"start": self.position(focus, start)?, "end": self.position(focus, end)?});
        }
        let method = question.query.method().name();
        let response = self.request_retrying(ground, question, method, &params).await.map_err(declined)?;
        let edits = read::text_edits(response.result()).map_err(unreadable)?;
        Ok(edits.map(|edits| of_one_file(&focus.path, edits)))
    }

    async fn will_move(
        &self,
        ground: &Ground,
        question: &Question,
        from: &Path,
        to: &Path,
        folder: bool,
    ) -> Result<Option<WorkspaceEdit>, Shortfall> {
        let files = self.heard_moves(super::moves::Moved::Will, from, to, folder);
        let params = json!({ "files": super::moves::renamed(&files) });
        let method = question.query.method().name();
        let response = self.request_retrying(ground, question, method, &params).await.map_err(declined)?;
        read::workspace_edit(response.result()).map_err(unreadable)
    }

    /// The texts that an edit was computed from, if each is open, was told before the edit was asked for, and is what
    /// stands on the disk now.
    fn as_computed(
        &self,
        ground: &Ground,
        edit: &WorkspaceEdit,
        targets: &[PathBuf],
        mark: i32,
    ) -> Option<HashMap<PathBuf, (Arc<Snapshot>, i32)>> {
        let desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told = HashMap::new();
        for path in targets {
            // What cannot be read cannot be edited either: whoever plans says why.
            let Ok(snapshot) = ground.read(path) else { continue };
            let sent = desk.documents.told(path)?;
            if desk.documents.hash(path) != Some(snapshot.hash) || sent.version > mark {
                return None;
            }
            told.insert(path.clone(), (snapshot, sent.version));
        }
        let meant = |step: &EditStep| match step {
            EditStep::Texts { file: FileRef::Path(path), version: Some(version), .. } => {
                desk.documents.told(path).is_none_or(|sent| i64::from(sent.version) == *version)
            }
            _ => true,
        };
        edit.steps.iter().all(meant).then_some(told)
    }

    fn newest_version(&self) -> i32 {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner).documents.newest()
    }

    /// Brings the server in step with the disk, with these files open beside the asked one.
    fn open_beside(&self, ground: &Ground, question: &Question, files: &[PathBuf]) -> Result<Focus, Shortfall> {
        let own = question.file.as_deref().and_then(Path::extension);
        let beside: Vec<(PathBuf, String)> = files
            .iter()
            .filter(|path| question.file.as_ref() != Some(path))
            .map(|path| {
                let same = path.extension() == own;
                let language = if same { question.language.clone() } else { self.language_of(path) };
                (path.clone(), language)
            })
            .collect();
        self.sync_beside_or_why(ground, question, &beside)?.ok_or(Shortfall::Moved)
    }

    pub(super) fn language_of(&self, path: &Path) -> String {
        let known = self.speaks(path).or_else(|| crate::language::detect(path, || None));
        known.unwrap_or("plaintext").to_owned()
    }
}

/// The existing files of the workspace whose texts an edit changes, under the names that they have now.
fn targets(ground: &Ground, edit: &WorkspaceEdit) -> Vec<PathBuf> {
    let (mut made, mut seen, mut targets) = (HashSet::new(), HashSet::new(), Vec::new());
    for step in &edit.steps {
        match step {
            EditStep::Texts { file: FileRef::Path(path), .. }
                if !made.contains(path) && seen.insert(path) && ground.roots.contains(path) && path.is_file() =>
            {
                targets.push(path.clone());
            }
            EditStep::Create { file: FileRef::Path(path), .. } | EditStep::Rename { to: FileRef::Path(path), .. } => {
                made.insert(path);
            }
            _ => {}
        }
    }
    targets
}

/// An edit of one file.
fn of_one_file(path: &Path, edits: Vec<TextEdit>) -> WorkspaceEdit {
    let file = FileRef::Path(path.to_owned());
    WorkspaceEdit { steps: vec![EditStep::Texts { file, version: None, edits }], to_confirm: Vec::new() }
}

/// A server that answers a request for a change with an error refuses that change: gopls and pyright say so why a name
/// will not do.
pub(super) fn declined(shortfall: Shortfall) -> Shortfall {
    match shortfall {
        Shortfall::Server { code, message } if !matches!(code, -32802..=-32800 | -32603) => {
            Shortfall::Declined("it refuses".into(), vec![message])
        }
        other => other,
    }
}

/// Why an edit could not be read.
pub(super) fn unreadable(error: ReadError) -> Shortfall {
    match error {
        ReadError::TooLarge(limit) => Shortfall::TooLarge(format!("its edit holds more than {limit}")),
        other => Shortfall::Shape(other.to_string()),
    }
}

/// What a server has sent, as it is sent back to it.
pub(super) fn json_of(raw: &serde_json::value::RawValue) -> Result<Value, Shortfall> {
    tree(raw.get().as_bytes())
        .ok_or_else(|| Shortfall::TooLarge("it holds more than is sent back to the server".into()))
}
