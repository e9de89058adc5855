//! The edit that a server wants to make while one of its commands runs: held, so that it becomes a plan. At any other
//! time nothing is held, and what a server wants to change is refused.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::protocol::{read, types::WorkspaceEdit};

/// Where edits of a running command go; nowhere, while none runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Desk(Arc<Mutex<Option<Held>>>);

/// What has come.
#[derive(Debug)]
enum Held {
    Nothing,
    Edit(WorkspaceEdit),
    /// Why it cannot be planned.
    Unfit(String),
}

/// While this lives, one edit is held.
#[derive(Debug)]
pub(super) struct Holding(Desk);

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Option<Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on one edit is held.
    pub(super) fn hold(&self) -> Holding {
        *self.lock() = Some(Held::Nothing);
        Holding(self.clone())
    }

    /// The server wants to make an edit.
    pub(super) fn offered(&self, params: &[u8]) -> Result<(), String> {
        let mut held = self.lock();
        let Some(held) = held.as_mut() else {
            return Err("langport changes files only when its user asks for it".into());
        };
        let unfit = match (&*held, read::edit_inside(params)) {
            (Held::Nothing, Ok(Some(edit))) => {
                *held = Held::Edit(edit);
                return Ok(());
            }
            (Held::Nothing, Ok(None)) => "its command asked for an edit without saying which".to_owned(),
            (Held::Nothing, Err(error)) => format!("its command asked for an edit that cannot be read: {error}"),
            // The second one would be about texts as the first one leaves them.
            (Held::Edit(_) | Held::Unfit(_), _) => "its command wants to change files more than once".to_owned(),
        };
        *held = Held::Unfit(unfit.clone());
        Err(unfit)
    }
}

impl Holding {
    /// Whether something has come.
    pub(super) fn has_any(&self) -> bool {
        self.0.lock().as_ref().is_some_and(|held| !matches!(held, Held::Nothing))
    }

    /// What has come; from now on edits are refused.
    pub(super) fn take(self) -> Result<Option<WorkspaceEdit>, String> {
        match self.0.lock().take() {
            Some(Held::Edit(edit)) => Ok(Some(edit)),
            Some(Held::Unfit(why)) => Err(why),
            Some(Held::Nothing) | None => Ok(None),
        }
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.0.lock().take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDIT: &[u8] = br#"{"label": "x", "edit": {"changes": {}}}"#;

    #[test]
    fn an_edit_is_held_while_a_command_runs_and_only_then() {
        let desk = Desk::default();
        assert!(desk.offered(EDIT).is_err());
        let holding = desk.hold();
        assert!(desk.offered(EDIT).is_ok());
        assert!(holding.take().unwrap().is_some());
        assert!(desk.offered(EDIT).is_err());
        drop(desk.hold());
        assert!(desk.offered(EDIT).is_err());
    }

    #[test]
    fn more_than_one_is_none() {
        let desk = Desk::default();
        let holding = desk.hold();
        assert!(desk.offered(EDIT).is_ok());
        assert!(desk.offered(EDIT).is_err());
        assert!(holding.take().is_err());
        let holding = desk.hold();
        assert!(desk.offered(b"{}").is_err());
        assert!(holding.take().is_err());
    }
}
