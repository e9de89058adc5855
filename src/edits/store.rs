//! The plans of one workspace, by caller, and what was made of them. Plans are kept in memory only: what has not been
//! applied when langport ends was never there.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use super::apply::{Engine, Made};
use super::compute;
use super::diff::Kind;
use super::fates::{Fate, Fates};
use super::plan::{Folders, Plan, PlanId, Wake};
use super::planner::Told;
use super::policy::Policy;
use super::refusal::{Refusal, RefusalCode};
use crate::protocol::positions::Encoding;
use crate::protocol::types::WorkspaceEdit;
use crate::sys::below::Hook;
use crate::workspace::disk::Disk;
use crate::workspace::roots::Roots;

/// What the store keeps.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Plans of a caller; a further one pushes the oldest out.
    pub plans: usize,
    /// How long a plan is kept.
    pub lifetime: Duration,
    /// Bytes of a caller's plans, and bytes kept to take plans back.
    pub bytes: u64,
    /// Applied plans that can be taken back.
    pub undo: usize,
    /// How long another process's change is waited for.
    pub wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            plans: 32,
            lifetime: Duration::from_secs(30 * 60),
            bytes: 64 << 20,
            undo: 16,
            wait: Duration::from_secs(5),
        }
    }
}

/// Bytes of all callers' plans, and of what takes them back, in multiples of what one may have.
const CALLERS: u64 = 4;

/// What an applied (or taken back) plan did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    pub created: Vec<PathBuf>,
    pub changed: Vec<PathBuf>,
    pub deleted: Vec<PathBuf>,
    /// From and to; folders too.
    pub renamed: Vec<(PathBuf, PathBuf)>,
    /// Those among all of these that are folders.
    pub folders: Folders,
    /// It can be taken back; never so for what was itself taken back.
    pub undo: bool,
    /// What an earlier writer that was killed had left half made, and was finished (or dropped) first.
    pub recovered: Vec<Recovered>,
}

/// What became of a change whose writer was killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// It was decided and has been finished; otherwise it was dropped.
    pub finished: bool,
    /// Files that somebody else has changed since: left as they are.
    pub left: Vec<PathBuf>,
}

/// The plans of one workspace, and the one way to make them.
#[derive(Debug)]
pub struct Changes {
    roots: Roots,
    policy: RwLock<Arc<Policy>>,
    limits: Limits,
    engine: Engine,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    plans: Vec<Held>,
    made: Vec<Past>,
    fates: Fates,
}

#[derive(Debug)]
struct Held {
    caller: u64,
    plan: Arc<Plan>,
    until: Instant,
}

#[derive(Debug)]
struct Past {
    caller: u64,
    id: PlanId,
    made: Made,
    /// What else it may have had to do with.
    wake: Wake,
}

impl Changes {
    /// The changes of the workspace with these roots; journals and locks go below `state`.
    #[must_use]
    pub fn new(state: &Path, roots: &Roots, policy: Policy, limits: Limits) -> Changes {
        Changes::hooked(state, roots, policy, limits, Hook::default())
    }

    /// As [`Changes::new`]; `hook` is asked before each step that writes. For tests of what happens when one fails.
    #[must_use]
    pub fn hooked(state: &Path, roots: &Roots, policy: Policy, limits: Limits, hook: Hook) -> Changes {
        let engine = Engine::new(state, roots, limits.wait, hook);
        Changes { roots: roots.clone(), policy: RwLock::new(Arc::new(policy)), limits, engine, state: Mutex::default() }
    }

    /// What may be changed, from now on.
    pub fn govern(&self, policy: Policy) {
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }

    fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// As [`compute::plan`], for this workspace. Nothing is kept yet.
    ///
    /// # Errors
    /// As [`compute::plan`].
    pub fn plan(
        &self,
        disk: &Disk,
        edit: &WorkspaceEdit,
        encoding: Encoding,
        title: String,
        told: &dyn Fn(&Path) -> Option<Told>,
    ) -> Result<Plan, Refusal> {
        compute::plan(&self.roots, disk, &self.policy(), edit, encoding, title, told)
    }

    /// Keeps a plan for its caller. The oldest ones give way.
    ///
    /// # Errors
    /// When it is larger than all that a caller may have.
    pub fn keep(&self, caller: u64, plan: Plan) -> Result<PlanId, Refusal> {
        let (id, bytes) = (plan.id.clone(), plan.bytes());
        if bytes > self.limits.bytes {
            return Err(Refusal::too_large(format!("it holds {bytes} bytes, more than {}", self.limits.bytes)));
        }
        let mut state = self.state();
        let until = Instant::now() + self.limits.lifetime;
        state.plans.push(Held { caller, plan: Arc::new(plan), until });
        // The oldest first, as long as there is too much of anything.
        loop {
            let own = || state.plans.iter().filter(|held| held.caller == caller);
            let sum = |bytes: u64, held: &Held| bytes + held.plan.bytes();
            let oldest = if own().count() > self.limits.plans || own().fold(0, sum) > self.limits.bytes {
                state.plans.iter().position(|held| held.caller == caller)
            } else {
                (state.plans.iter().fold(0, sum) > CALLERS * self.limits.bytes).then_some(0)
            };
            match oldest {
                Some(at) => {
                    let Held { caller, plan, .. } = state.plans.remove(at);
                    state.fates.note(caller, &plan.id, Fate::PushedOut);
                }
                None => return Ok(id),
            }
        }
    }

    /// A caller's plan.
    ///
    /// # Errors
    /// When there is none of that id, or none any more; another caller's is none.
    pub fn get(&self, caller: u64, id: &PlanId) -> Result<Arc<Plan>, Refusal> {
        let state = self.state();
        let held = state.plans.iter().find(|held| held.caller == caller && held.plan.id == *id);
        held.map(|held| Arc::clone(&held.plan)).ok_or_else(|| state.fates.unmakeable(caller, id))
    }

    /// Forgets a plan; whether there was one.
    pub fn drop_plan(&self, caller: u64, id: &PlanId) -> bool {
        let mut state = self.state();
        let before = state.plans.len();
        state.plans.retain(|held| held.caller != caller || held.plan.id != *id);
        let dropped = state.plans.len() < before;
        if dropped {
            state.fates.note(caller, id, Fate::Dropped);
        }
        dropped
    }

    /// Forgets all that a caller has: it is gone.
    pub fn forget(&self, caller: u64) {
        let past = {
            let mut state = self.state();
            state.plans.retain(|held| held.caller != caller);
            state.fates.forget(caller);
            take(&mut state.made, |past| past.caller == caller)
        };
        self.engine.forget(past.into_iter().map(|past| past.made).collect());
        self.engine.leave();
    }

    /// Makes a plan, whole or not at all. Blocks.
    ///
    /// # Errors
    /// When it is not there, not allowed, or any of its files is not as it was; nothing is changed then.
    pub fn apply(&self, caller: u64, id: &PlanId) -> Result<Applied, Refusal> {
        self.make(caller, &*self.get(caller, id)?, &Wake::default())
    }

    /// As [`Changes::apply`], of a plan that was [got](Changes::get) before: it is made however many others have pushed it
    /// out since. Its wake is kept for who takes it back.
    ///
    /// # Errors
    /// As [`Changes::apply`].
    pub fn make(&self, caller: u64, plan: &Plan, wake: &Wake) -> Result<Applied, Refusal> {
        self.permitted()?;
        let id = &plan.id;
        let (applied, made) = self.engine.apply(plan, &self.policy())?;
        let mut state = self.state();
        state.plans.retain(|held| held.caller != caller || held.plan.id != *id);
        state.fates.note(caller, id, Fate::Made);
        state.made.extend(made.map(|made| Past { caller, id: id.clone(), made, wake: wake.clone() }));
        let mut dropped = Vec::new();
        // As with plans: nobody's changes push out another's, unless all together are too much.
        loop {
            let own = || state.made.iter().filter(|past| past.caller == caller);
            let sum = |bytes: u64, past: &Past| bytes + past.made.bytes;
            let oldest = if own().count() > self.limits.undo || own().fold(0, sum) > self.limits.bytes {
                state.made.iter().position(|past| past.caller == caller)
            } else {
                (state.made.iter().fold(0, sum) > CALLERS * self.limits.bytes).then_some(0)
            };
            let Some(at) = oldest else { break };
            dropped.push(state.made.remove(at));
        }
        drop(state);
        self.engine.forget(dropped.into_iter().map(|past| past.made).collect());
        Ok(applied)
    }

    /// What [`Changes::undo`] would do to each file, as [`Plan::files`] says it; nothing where there is nothing to take
    /// back.
    #[must_use]
    pub fn taken_back_by(&self, caller: u64, id: &PlanId) -> Vec<(Kind, PathBuf, Option<PathBuf>)> {
        let state = self.state();
        let past = state.made.iter().find(|past| past.caller == caller && past.id == *id);
        past.map(|past| past.made.backwards().collect()).unwrap_or_default()
    }

    /// Whether there is such an applied plan to be taken back.
    ///
    /// # Errors
    /// When not, with what became of it.
    pub fn can_undo(&self, caller: u64, id: &PlanId) -> Result<(), Refusal> {
        self.state().past(caller, id).map(drop)
    }

    /// By what other files may depend on what [`Changes::undo`] would change.
    #[must_use]
    pub fn wake_of(&self, caller: u64, id: &PlanId) -> Wake {
        let state = self.state();
        let past = state.made.iter().find(|past| past.caller == caller && past.id == *id);
        past.map(|past| past.wake.clone()).unwrap_or_default()
    }

    /// Takes an applied plan back: the files get their very bytes again. Blocks.
    ///
    /// # Errors
    /// When the caller has applied no such plan, or any of its files is not as the plan left it.
    pub fn undo(&self, caller: u64, id: &PlanId) -> Result<Applied, Refusal> {
        self.permitted()?;
        let past = {
            let mut state = self.state();
            let at = state.past(caller, id)?;
            // Nobody else may take it back meanwhile.
            state.fates.note(caller, id, Fate::TakingBack);
            state.made.remove(at)
        };
        match self.engine.undo(&past.made) {
            Ok(applied) => {
                self.state().fates.note(caller, id, Fate::TakenBack);
                self.engine.forget(vec![past.made]);
                Ok(applied)
            }
            Err(mut refusal) => {
                let mut state = self.state();
                state.fates.note(caller, id, Fate::Made);
                state.made.push(past);
                if refusal.code == RefusalCode::Conflict && refusal.next.contains("plan it again") {
                    // There is nothing to plan.
                    refusal.next = "take the change back by other means".into();
                }
                Err(refusal)
            }
        }
    }

    /// Finishes or drops what a killed writer left half made. [`Changes::apply`] and [`Changes::undo`] do that first, too.
    ///
    /// # Errors
    /// When another process is changing the workspace, or the file system says no.
    pub fn recover(&self) -> Result<Vec<Recovered>, Refusal> {
        self.permitted()?;
        self.engine.recover()
    }

    /// Whether anybody has left something that may have to be finished or dropped.
    #[must_use]
    pub fn has_journals(&self) -> bool {
        self.engine.has_journals()
    }

    fn permitted(&self) -> Result<(), Refusal> {
        if self.policy().read_only {
            let code = RefusalCode::ReadOnly;
            return Err(Refusal::new(
                code,
                "this workspace is not to be changed",
                "it is served read-only: ask the user",
            ));
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        for Held { caller, plan, .. } in take(&mut state.plans, |held| held.until <= now) {
            state.fates.note(caller, &plan.id, Fate::Old);
        }
        state
    }
}

impl State {
    /// Where a caller's applied plan is.
    fn past(&self, caller: u64, id: &PlanId) -> Result<usize, Refusal> {
        if self.plans.iter().any(|held| held.caller == caller && held.plan.id == *id) {
            let next = "there is nothing to take back; `plan` with its id makes it";
            return Err(Refusal::new(RefusalCode::Invalid, "that plan has not been made", next));
        }
        let at = self.made.iter().position(|past| past.caller == caller && past.id == *id);
        at.ok_or_else(|| self.fates.untakeable(caller, id))
    }
}

/// What served to take plans back is of no use to anybody else.
impl Drop for Changes {
    fn drop(&mut self) {
        let past = std::mem::take(&mut self.state().made);
        self.engine.forget(past.into_iter().map(|past| past.made).collect());
        self.engine.leave();
    }
}

fn take<T>(all: &mut Vec<T>, which: impl Fn(&T) -> bool) -> Vec<T> {
    let (taken, kept) = std::mem::take(all).into_iter().partition(which);
    *all = kept;
    taken
}
