//! An edit becomes a plan: its steps are played through, what they come to is gathered, and held against the limits.

use std::path::Path;

use super::ignored;
use super::net;
use super::plan::Plan;
use super::planner::{Planner, Told};
use super::policy::Policy;
use super::refusal::{Refusal, RefusalCode};
use crate::protocol::positions::Encoding;
use crate::protocol::types::WorkspaceEdit;
use crate::workspace::disk::Disk;
use crate::workspace::roots::Roots;

/// Computes and checks what `edit` comes to. `told` is what the server knew of a file when it computed the edit: where the
/// disk has another text now, the edit is refused.
///
/// # Errors
/// When any part of the edit is invalid, not allowed, or was computed for another state of the files; or when all of it
/// changes nothing ([`RefusalCode::Nothing`]).
pub fn plan(
    roots: &Roots,
    disk: &Disk,
    policy: &Policy,
    edit: &WorkspaceEdit,
    encoding: Encoding,
    title: String,
    told: &dyn Fn(&Path) -> Option<Told>,
) -> Result<Plan, Refusal> {
    let mut planner = Planner::new(roots, disk, policy, encoding, told);
    for step in &edit.steps {
        planner.step(step)?;
    }
    let (effects, shown) = net::effects(&mut planner)?;
    if effects.is_empty() {
        return Err(Refusal::new(RefusalCode::Nothing, "the edit changes nothing", "nothing to apply"));
    }
    if effects.len() > policy.files {
        return Err(Refusal::too_large(format!(
            "it touches {} files and folders, more than {}",
            effects.len(),
            policy.files
        )));
    }
    let mut plan = Plan::new(title, effects, shown, planner.places)?;
    if plan.bytes() > policy.plan_bytes {
        return Err(Refusal::too_large(format!(
            "it would hold {} bytes, more than {}",
            plan.bytes(),
            policy.plan_bytes
        )));
    }
    plan.ignored = ignored::among(roots, plan.files().map(|(_, path, _)| path));
    plan.to_confirm = edit.to_confirm.clone();
    Ok(plan)
}
