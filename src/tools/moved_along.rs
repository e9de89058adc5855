//! Files that a server moves within another change, as rust-analyzer does when a module is renamed: what refers to them is
//! asked for as for any move. A server that knows that its client asks leaves those edits out of the change itself.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    edits::{self, unite},
    protocol::{
        positions::Encoding,
        types::{EditStep, FileRef, WorkspaceEdit},
    },
    runtime::query::Query,
    workspace::{disk::Snapshot, paths},
};

use super::{
    ask::{Ask, Heard},
    file::failure,
    move_file::{of_the_old_place, whom},
    outcome::{Code, Failure},
    plan::Change,
    together::{Joint, Part},
};

/// The texts that edits are about, and under which version each was told.
type Texts = HashMap<PathBuf, (Arc<Snapshot>, i32)>;

/// Moves of one change that are asked about.
const MOVES: usize = 16;

impl Ask<'_> {
    /// `change` of the server that `heard` is the answer of, with what its moves ask of other files; and remarks.
    ///
    /// # Errors
    /// When that server, which has to know, does not answer for a move, or the edits contradict each other.
    pub(super) async fn with_moves(
        &self,
        heard: &Heard,
        asked: &Path,
        change: Change,
    ) -> Result<(Change, Vec<String>), Failure> {
        let mut all = moves(&change.edit);
        all.retain(|(from, _)| self.engine.ground.roots.contains(from));
        let moves = &all[..all.len().min(MOVES)];
        let (mut joints, mut notes) = (Vec::new(), Vec::new());
        for (from, to) in moves {
            let Some(mut joint) = self.around(heard, from, to).await? else { continue };
            notes.extend(joint.notes);
            notes.extend(self.in_one_checkout(asked, &mut joint.change.edit));
            if !joint.change.edit.steps.is_empty() {
                joints.push(joint.change);
            }
        }
        if all.len() > moves.len() {
            let more = all.len() - moves.len();
            notes
                .push(format!("what refers to {more} more of the moved files is left as it is: it moves over {MOVES}"));
        }
        if joints.is_empty() {
            return Ok((change, notes));
        }
        let Change { edit, mut told, encoding } = change;
        let (texts, rest) = apart(edit, moves);
        let in_new_files = rest.steps.iter().any(|step| matches!(step, EditStep::Texts { .. }));
        if in_new_files && encoding != Encoding::Utf8 {
            let what = "the edit moves files and writes into others that it makes: they cannot be brought together";
            return Err(failure(Code::Refused, what, "move the files first (lsp/move-file), then ask again"));
        }
        let mut texts_of = vec![told.clone()];
        texts_of.extend(joints.iter().map(|joint| joint.told.clone()));
        let text_in = |told: &Texts, path: &Path| match told.get(path) {
            Some((snapshot, _)) => Some(Arc::clone(&snapshot.text)),
            // The server named it by its new place only.
            None => self.engine.ground.read(path).ok().map(|snapshot| Arc::clone(&snapshot.text)),
        };
        let lookups: Vec<_> = texts_of.iter().map(|told| move |path: &Path| text_in(told, path)).collect();
        let all = std::iter::once((&texts, encoding)).chain(joints.iter().map(|joint| (&joint.edit, joint.encoding)));
        let parts: Vec<_> =
            all.zip(&lookups).map(|((edit, encoding), text)| edits::Part { edit, encoding, text }).collect();
        let name = self.engine.display(&heard.entry);
        let mut edit = unite(&parts).map_err(|clash| self.clash(clash, &|_| name.to_string()))?;
        edit.steps.extend(rest.steps);
        edit.to_confirm.extend(rest.to_confirm);
        told.extend(texts_of.drain(1..).flatten());
        Ok((Change { edit, told, encoding: Encoding::Utf8 }, notes))
    }

    /// What is to change around one move; nothing where no server can say.
    async fn around(&self, heard: &Heard, from: &Path, to: &Path) -> Result<Option<Joint>, Failure> {
        let folder = from.is_dir();
        // What nobody serves nobody refers to; what may not be moved is refused with the whole.
        let Ok(mut asked) = whom(self, from, folder).await else { return Ok(None) };
        for one in &mut asked.servers {
            if one.entry.name == heard.entry.name {
                one.part = Part::Author;
            } else if one.part == Part::Needed {
                one.part = Part::Expected;
            }
        }
        let query = Query::Move { from: from.to_owned(), to: to.to_owned(), folder };
        let joint = self
            .ask_together(&asked.servers, &query, |edit| {
                of_the_old_place(edit, from, to);
                // The change has the move itself.
                edit.steps.retain(|step| !matches!(step, EditStep::Rename { .. }));
            })
            .await?;
        Ok(joint.map(|mut joint| {
            joint.notes.extend(asked.not_asked());
            joint
        }))
    }
}

/// The files and folders on the disk that an edit moves, with their new places; others have nothing that refers to them.
fn moves(edit: &WorkspaceEdit) -> Vec<(PathBuf, PathBuf)> {
    let moved = edit.steps.iter().filter_map(|step| match step {
        EditStep::Rename { from: FileRef::Path(from), to: FileRef::Path(to), .. } if from.exists() => {
            Some((from.clone(), to.clone()))
        }
        _ => None,
    });
    moved.collect()
}

/// The edits of texts that stand on the disk now, by their names of now, and all else that the edit does.
fn apart(edit: WorkspaceEdit, moves: &[(PathBuf, PathBuf)]) -> (WorkspaceEdit, WorkspaceEdit) {
    let mut texts = WorkspaceEdit { to_confirm: edit.to_confirm, ..WorkspaceEdit::default() };
    let mut rest = WorkspaceEdit::default();
    let mut made: HashSet<PathBuf> = HashSet::new();
    for step in edit.steps {
        match step {
            EditStep::Texts { file: FileRef::Path(path), version, edits } if !made.contains(&path) => {
                let path = if path.exists() { path } else { before(&path, moves) };
                texts.steps.push(EditStep::Texts { file: FileRef::Path(path), version, edits });
            }
            EditStep::Create { file: FileRef::Path(path), overwrite, ignore_if_exists } => {
                made.insert(path.clone());
                rest.steps.push(EditStep::Create { file: FileRef::Path(path), overwrite, ignore_if_exists });
            }
            other => rest.steps.push(other),
        }
    }
    (texts, rest)
}

/// Where a file of a new place comes from.
fn before(path: &Path, moves: &[(PathBuf, PathBuf)]) -> PathBuf {
    moves.iter().find_map(|(from, to)| paths::moved(path, to, from)).unwrap_or_else(|| path.to_owned())
}
