//! Makes bounded text, structured content, or both of what a tool answered. Knows the grammar of answers and their
//! budget; knows nothing of the wire that carries them, nor of how the answer came about.

mod changes;
mod clean;
mod head;
mod item;
mod page;

use std::borrow::Cow;

use serde_json::Value;

pub use crate::tools::cursor;
use crate::{
    sys::secrets,
    tools::{
        ToolId,
        outcome::{Failure, Outcome},
    },
};
pub use clean::line;
pub use page::schema;

/// What an answer is made into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// What every client shows, and the cheapest.
    #[default]
    Text,
    /// For programs; the text is the same JSON, for clients that show only text.
    Structured,
    /// Both, saying the same.
    Both,
}

impl std::str::FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "text" => Ok(Self::Text),
            "structured" => Ok(Self::Structured),
            "both" => Ok(Self::Both),
            other => Err(format!("output is `{other}`; it can be `text`, `structured` or `both`")),
        }
    }
}

/// How to render.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The tool that answered: its cursors carry it.
    pub tool: ToolId,
    pub output: Output,
    /// Characters of the whole text, and of the structured content; held between 500 and 40,000.
    pub max_chars: usize,
}

/// An answer, ready for any wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// Complete on its own.
    pub text: String,
    /// Never there for errors: several clients drop it then.
    pub structured: Option<Value>,
    pub is_error: bool,
}

impl Rendered {
    /// Whatever a server or a file says: the secrets of langport's environment are in no answer.
    fn without_secrets(mut self) -> Self {
        if let Cow::Owned(text) = secrets::hide_known(&self.text) {
            self.text = text;
        }
        if let Some(structured) = &self.structured
            && let Cow::Owned(text) = secrets::hide_known(&structured.to_string())
        {
            self.structured = serde_json::from_str(&text).ok();
        }
        self
    }
}

/// Characters of a failure, whatever the budget: some clients cut longer ones without a word.
const FAILURE: usize = 4_000;

/// Renders an answer.
pub fn outcome(outcome: &Outcome, options: Options) -> Rendered {
    let max_chars = options.max_chars.clamp(500, 40_000);
    let is_error = head::is_error(outcome.verdict);
    let output = if is_error { Output::Text } else { options.output };
    let page = page::Page::new(outcome, options.tool, max_chars);
    let (text, structured) = match output {
        Output::Text => (page.text(page.fitting_text()), None),
        Output::Structured => {
            let value = page.structured(page.fitting_structured());
            (value.to_string(), Some(value))
        }
        Output::Both => {
            let fitting = page.fitting_text().min(page.fitting_structured());
            (page.text(fitting), Some(page.structured(fitting)))
        }
    };
    Rendered { text, structured, is_error }.without_secrets()
}

/// Renders a failure.
pub fn failure(failure: &Failure, max_chars: usize) -> Rendered {
    let room = max_chars.clamp(500, FAILURE);
    let mut lines = head::failure(failure);
    let mut used: usize = lines.iter().map(|line| clean::length(line) + 1).sum();
    for (at, detail) in failure.details.iter().enumerate() {
        let detail = clean::indent(&clean::block(detail, clean::MESSAGE), 2);
        if detail.is_empty() {
            continue;
        }
        used += clean::length(&detail) + 1;
        if used + 24 > room {
            lines.push(format!("  … {} more", head::number(failure.details.len() - at)));
            break;
        }
        lines.push(detail);
    }
    Rendered { text: clean::shorten(&lines.join("\n"), room), structured: None, is_error: true }.without_secrets()
}

#[cfg(test)]
mod tests;
