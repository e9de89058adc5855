//! Makes a server that only pushes look again at a file, in the way that its definition names: because something that
//! the file may depend on has changed, or to prove that silence means "nothing new".

use std::path::Path;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    protocol::uri::path_to_uri,
    registry::{Barrier, Confirm, Retrigger},
};

use super::{
    documents::Nudge,
    ground::Ground,
    query::{Question, Shortfall},
    session::{Focus, Session},
};

impl Session {
    /// Nudges the server because of a change elsewhere; tells where the file stands then.
    pub(super) fn retrigger(&self, ground: &Ground, focus: Focus) -> Result<Focus, Shortfall> {
        let nudge = match self.entry.def.diagnostics.retrigger {
            Retrigger::None => return Ok(focus),
            Retrigger::Change => Nudge::Change,
            Retrigger::Save => Nudge::Save,
            Retrigger::Reopen => Nudge::Reopen,
        };
        self.nudge(ground, focus, nudge)
    }

    /// Whether the definition names a way to confirm silence.
    pub(super) fn can_confirm(&self) -> bool {
        self.entry.def.diagnostics.confirm.is_some()
    }

    /// Confirms silence. True when the server has answered that it has analysed everything, so that the last list is
    /// the truth; otherwise it has only been nudged, and speaks or not.
    pub(super) async fn confirm(
        &self,
        ground: &Ground,
        question: &Question,
        focus: Focus,
    ) -> Result<(Focus, bool), Shortfall> {
        match &self.entry.def.diagnostics.confirm {
            None => Ok((focus, false)),
            Some(Confirm::Save) => self.nudge(ground, focus, Nudge::Save).map(|focus| (focus, false)),
            Some(Confirm::Reopen) => self.nudge(ground, focus, Nudge::Reopen).map(|focus| (focus, false)),
            Some(Confirm::Command(command)) => {
                let params = json!({"command": command, "arguments": []});
                let response = self.request_once(question, "workspace/executeCommand", &params).await?;
                // A list that came before the answer counts.
                self.wire.caught_up(response.order).await;
                Ok((focus, true))
            }
        }
    }

    /// Waits until the server has answered that it has analysed the text; tells when, or nothing where it refused.
    pub(super) async fn pass(
        &self,
        question: &Question,
        focus: &Focus,
        barrier: &Barrier,
    ) -> Result<Option<Instant>, Shortfall> {
        let path = focus.path.to_string_lossy();
        let uri = path_to_uri(&focus.path);
        let arguments: Vec<Value> = barrier.arguments.iter().map(|value| filled(value, &uri, &path)).collect();
        let params = json!({"command": barrier.command, "arguments": arguments});
        match self.request_once(question, "workspace/executeCommand", &params).await {
            Ok(response) => {
                self.wire.caught_up(response.order).await;
                Ok(Some(Instant::now()))
            }
            Err(died @ Shortfall::Died { .. }) => Err(died),
            // Then only time tells.
            Err(_) => Ok(None),
        }
    }

    fn nudge(&self, ground: &Ground, focus: Focus, nudge: Nudge) -> Result<Focus, Shortfall> {
        self.tell_again(ground, &focus.path, nudge).map_err(|error| self.unsynced(error))?;
        let snapshot = ground.read(&focus.path).map_err(|error| Shortfall::File(error.to_string()))?;
        let path: &Path = &focus.path;
        let sent = self.heard.record().sent.get(path).copied().ok_or(Shortfall::Moved)?;
        Ok(Focus { sent, lines: ground.lines(&snapshot), ..focus })
    }
}

/// An argument with the file's names in its texts.
fn filled(value: &Value, uri: &str, path: &str) -> Value {
    match value {
        Value::String(text) => text.replace("${uri}", uri).replace("${path}", path).into(),
        Value::Array(items) => items.iter().map(|item| filled(item, uri, path)).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), filled(value, uri, path))).collect(),
        other => other.clone(),
    }
}
