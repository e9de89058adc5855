//! Counts the steps of a tour and remembers what went wrong.

use std::io;

use super::agent::{Made, Went};
use crate::{cli::out, config::count};

/// What a tour has seen so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    steps: usize,
    answered: usize,
    wrong: Vec<String>,
    absent: Vec<String>,
    /// What a person has to do before the language that is asked about now has a server, where langport cannot do it.
    pub(super) by_hand: Option<String>,
}

impl Tally {
    /// Shows a call and counts it.
    pub(super) fn step(&mut self, made: &Made) -> io::Result<Went> {
        made.show()?;
        Ok(self.count(made, 1))
    }

    /// Counts calls that are alike, or of which this one went worst.
    pub(super) fn count(&mut self, made: &Made, calls: usize) -> Went {
        self.steps += calls;
        let went = made.went();
        match &self.by_hand {
            _ if went != Went::Wrong => self.answered += calls,
            // A name on PATH that is no server yet, as rustup's `rust-analyzer` without the component.
            Some(help) if made.is_unavailable() => self.absent(help.clone()),
            _ => self.wrong(format!("{} was not answered", made.call)),
        }
        went
    }

    /// A language that nobody here can be asked about; what helps.
    pub(super) fn absent(&mut self, what: impl Into<String>) {
        self.absent.push(what.into());
    }

    /// Something that should have worked did not.
    pub(super) fn wrong(&mut self, what: impl Into<String>) {
        self.wrong.push(what.into());
    }

    /// What a person reads last.
    pub(super) fn close(&self) -> io::Result<()> {
        if !self.absent.is_empty() {
            out::print("\nNot shown, for want of a server:\n")?;
            self.absent.iter().try_for_each(|what| out::print(&format!("  {what}\n")))?;
        }
        let steps = count(self.steps, "call", "calls");
        if self.wrong.is_empty() {
            let how = match (self.answered, self.absent.len()) {
                (0, 1..) => "nothing was answered",
                _ => "everything went as it should",
            };
            return out::print(&format!("\n{steps}, {how}\n"));
        }
        out::print(&format!("\n{steps}; not as it should be:\n"))?;
        self.wrong.iter().try_for_each(|what| out::print(&format!("  {what}\n")))
    }

    pub(super) fn exit_code(&self) -> u8 {
        u8::from(!self.wrong.is_empty() || (self.answered == 0 && !self.absent.is_empty()))
    }
}
