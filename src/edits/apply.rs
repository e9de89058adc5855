//! Makes plans.
use super::{
    plan::Plan,
    policy::Policy,
    refusal::Refusal,
    store::{Applied, Recovered},
};
use crate::{sys::below::Hook, workspace::roots::Roots};
use std::{path::Path, time::Duration};
#[derive(Debug)]
pub(super) struct Engine;
#[derive(Debug)]
pub(super) struct Made {
    pub(super) bytes: u64,
}
fn later() -> Refusal {
    Refusal::new(super::RefusalCode::Failed, "not yet", "wait")
}
impl Engine {
    pub(super) fn new(_: &Path, _: &Roots, _: Duration, _: Hook) -> Engine {
        Engine
    }
    pub(super) fn apply(&self, _: &Plan, _: &Policy) -> Result<(Applied, Made), Refusal> {
        Err(later())
    }
    pub(super) fn undo(&self, _: &Made, _: &Policy) -> Result<Applied, Refusal> {
        Err(later())
    }
    pub(super) fn recover(&self) -> Result<Vec<Recovered>, Refusal> {
        Err(later())
    }
    pub(super) fn drop_journal(&self, _: Made) {}
}
