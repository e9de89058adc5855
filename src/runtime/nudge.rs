//! Makes a server that only pushes look again at a file, in the way that its definition names: because something that
//! the file may depend on has changed, or to prove that silence means "nothing new".

use std::path::Path;

use serde_json::json;

use crate::registry::{Confirm, Retrigger};

use super::{documents::Nudge, ground::Ground, query::Question, session::Session, shortfall::Shortfall, sync::Focus};

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

    /// Has the server say once more what it has pushed, where only its count is left.
    pub(super) fn reopen(&self, ground: &Ground, focus: Focus) -> Result<Focus, Shortfall> {
        self.nudge(ground, focus, Nudge::Reopen)
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
                // A list that came before the answer counts.
                self.request_once(question, "workspace/executeCommand", &params).await?;
                Ok((focus, true))
            }
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
