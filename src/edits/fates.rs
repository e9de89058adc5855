//! What became of plans that are no longer there, for whoever names one again. Words only: nothing can be made or taken
//! back by what is kept here.

use std::collections::VecDeque;

use super::plan::PlanId;
use super::refusal::{Refusal, RefusalCode};

/// Plans that are remembered, of one caller and of all.
const OWN: usize = 256;
const ALL: usize = 1024;

/// Why a plan is no longer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Its time was over.
    Old,
    /// Later ones took its place.
    PushedOut,
    Dropped,
    Made,
    TakingBack,
    TakenBack,
}

/// The fates of all callers' plans, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Fates(VecDeque<(u64, PlanId, Fate)>);

impl Fates {
    /// What became of a plan last.
    pub(super) fn note(&mut self, caller: u64, id: &PlanId, fate: Fate) {
        self.0.retain(|(whose, known, _)| *whose != caller || known != id);
        self.0.push_back((caller, id.clone(), fate));
        let own = self.0.iter().filter(|(whose, ..)| *whose == caller).count();
        let oldest = match own > OWN {
            true => self.0.iter().position(|(whose, ..)| *whose == caller),
            false => (self.0.len() > ALL).then_some(0),
        };
        oldest.and_then(|at| self.0.remove(at));
    }

    pub(super) fn forget(&mut self, caller: u64) {
        self.0.retain(|(whose, ..)| *whose != caller);
    }

    fn of(&self, caller: u64, id: &PlanId) -> Option<Fate> {
        self.0.iter().find(|(whose, known, _)| *whose == caller && known == id).map(|(.., fate)| *fate)
    }

    /// Why there is no such plan to be made.
    pub(super) fn unmakeable(&self, caller: u64, id: &PlanId) -> Refusal {
        let (what, next) = match self.of(caller, id) {
            None => return unknown(id, "plan it again"),
            Some(Fate::Old) => ("the time of that plan is over", "plan it again"),
            Some(Fate::PushedOut) => ("that plan has made room for later ones", "plan it again"),
            Some(Fate::Dropped) => ("that plan was dropped", "plan it again"),
            Some(Fate::Made) => ("that plan has been made already", "`undo` with its id takes it back"),
            Some(Fate::TakingBack) => ("that plan has been made, and is being taken back", "plan it again"),
            Some(Fate::TakenBack) => ("that plan has been made and taken back", "plan it again"),
        };
        Refusal::new(RefusalCode::Expired, what, next)
    }

    /// Why there is no such plan to be taken back.
    pub(super) fn untakeable(&self, caller: u64, id: &PlanId) -> Refusal {
        let (what, next) = match self.of(caller, id) {
            None => return unknown(id, "take the change back by other means"),
            Some(Fate::Old | Fate::PushedOut | Fate::Dropped) => {
                ("that plan was never made, and is kept no longer", "there is nothing to take back")
            }
            Some(Fate::Made) => {
                ("what would take that plan back is kept no longer", "take the change back by other means")
            }
            Some(Fate::TakingBack) => ("that plan is being taken back by another call", "wait for that one"),
            Some(Fate::TakenBack) => (
                "that plan has been taken back already",
                "there is nothing more to take back: to make it again, plan it anew",
            ),
        };
        Refusal::new(RefusalCode::Expired, what, next)
    }
}

/// One of another caller is none, too; one of an earlier session cannot be told from one that never was.
fn unknown(id: &PlanId, next: &str) -> Refusal {
    if id.is_well_formed() {
        let what = format!("this session has no plan `{id}`: plans end with the session that they were made in");
        return Refusal::new(RefusalCode::Expired, what, next);
    }
    let shown: String = id.as_str().chars().filter(char::is_ascii_alphanumeric).collect();
    let what = format!("`{shown}` is the id of no plan, and never was");
    Refusal::new(RefusalCode::NotFound, what, "give the id that a planner's first line ends in")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> PlanId {
        PlanId::given(&format!("plan{number}"))
    }

    #[test]
    fn the_last_is_told_to_its_caller_alone() {
        let mut fates = Fates::default();
        fates.note(1, &id(1), Fate::Made);
        fates.note(1, &id(1), Fate::TakenBack);
        assert_eq!(fates.untakeable(1, &id(1)).what, "that plan has been taken back already");
        assert_eq!(fates.untakeable(2, &id(1)).code, RefusalCode::NotFound);
        assert_eq!(fates.unmakeable(1, &PlanId::given("a`b · c")).what, "`abc` is the id of no plan, and never was");
        let random = PlanId::random().unwrap();
        for refusal in [fates.unmakeable(1, &random), fates.untakeable(2, &random)] {
            assert_eq!(refusal.code, RefusalCode::Expired);
            assert!(refusal.what.starts_with("this session has no plan"));
        }
        fates.forget(1);
        assert_eq!(fates.unmakeable(1, &id(1)).code, RefusalCode::NotFound);
    }

    #[test]
    fn they_are_bounded_and_nobody_pushes_out_anothers() {
        let mut fates = Fates::default();
        fates.note(2, &id(0), Fate::Made);
        (0..ALL).for_each(|number| fates.note(1, &id(number), Fate::Old));
        assert_eq!(fates.0.len(), OWN + 1);
        assert_eq!(fates.unmakeable(2, &id(0)).code, RefusalCode::Expired);
        for caller in 3..12 {
            (0..OWN).for_each(|number| fates.note(caller, &id(number), Fate::Old));
        }
        assert_eq!(fates.0.len(), ALL);
    }
}
