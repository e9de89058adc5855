//! Counts the steps of a tour and remembers what went wrong.

use std::io;

use super::agent::{Made, Went};
use crate::cli::out;

/// What a tour has seen so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    steps: usize,
    wrong: Vec<String>,
}

impl Tally {
    /// Shows a call and counts it.
    pub(super) fn step(&mut self, made: &Made) -> io::Result<Went> {
        made.show()?;
        self.steps += 1;
        let went = made.went();
        if went == Went::Wrong {
            self.wrong(format!("{} was not answered", made.call));
        }
        Ok(went)
    }

    /// Something that should have worked did not.
    pub(super) fn wrong(&mut self, what: impl Into<String>) {
        self.wrong.push(what.into());
    }

    /// What a person reads last.
    pub(super) fn close(&self) -> io::Result<()> {
        let steps = if self.steps == 1 { "1 call".to_owned() } else { format!("{} calls", self.steps) };
        if self.wrong.is_empty() {
            return out::print(&format!("\n{steps}, everything went as it should\n"));
        }
        out::print(&format!("\n{steps}; not as it should be:\n"))?;
        self.wrong.iter().try_for_each(|what| out::print(&format!("  {what}\n")))
    }

    pub(super) fn exit_code(&self) -> u8 {
        u8::from(!self.wrong.is_empty())
    }
}
