//! What goes on while a person waits: one line on stderr, updated in place, where that is a terminal; elsewhere a plain
//! line for everything new.

use std::{
    io::{self, IsTerminal},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::out;
use crate::render;

/// Characters that a line may have, whatever the terminal's width.
const CHARS: usize = 300;
/// How often the line shows that time passes.
const TICK: Duration = Duration::from_millis(200);

/// Tells a person who waits. Clones tell on the same line; it vanishes with the last of them.
#[derive(Debug, Clone)]
pub(super) struct Progress(Arc<Mutex<Shown>>);

#[derive(Debug)]
struct Shown {
    terminal: bool,
    /// Drawn from the first word on.
    bar: Option<ProgressBar>,
    last: String,
}

impl Progress {
    /// Nothing is shown yet.
    pub(super) fn new() -> Self {
        Self::on(io::stderr().is_terminal())
    }

    fn on(terminal: bool) -> Self {
        Self(Arc::new(Mutex::new(Shown { terminal, bar: None, last: String::new() })))
    }

    /// Whether the line is updated in place, so that what was said a moment ago is gone.
    pub(super) fn is_fleeting(&self) -> bool {
        self.lock().terminal
    }

    /// What goes on now. The text may come from a program or a server.
    pub(super) fn say(&self, text: &str) {
        let text = render::line(text, CHARS);
        let mut shown = self.lock();
        if shown.terminal {
            shown.bar.get_or_insert_with(bar).set_message(text);
        } else if let Some(line) = shown.plain(&text) {
            out::note(&line);
        }
    }

    /// A line that stays.
    pub(super) fn note(&self, text: &str) {
        match &self.lock().bar {
            Some(bar) => bar.suspend(|| out::note(text)),
            None => out::note(text),
        }
    }

    /// Takes the line away until something is said again.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Shown> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    /// The line for a log, unless it differs from the last one only in its numbers: seconds and percentages.
    fn plain(&mut self, text: &str) -> Option<String> {
        let same = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        let new = !text.is_empty() && same(text) != same(&self.last);
        text.clone_into(&mut self.last);
        new.then(|| format!("… {text}"))
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        self.last.clear();
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.clear();
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("  {spinner} {elapsed}  {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    bar
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_log_gets_a_line_for_everything_new() {
        let progress = Progress::on(false);
        let mut shown = progress.lock();
        let said =
            ["pyright is starting, 1 s", "pyright is starting, 2 s", "", "ready", "ready", "pyright is starting, 1 s"];
        let lines: Vec<_> = said.iter().filter_map(|text| shown.plain(text)).collect();
        expect![[r#"
            [
                "… pyright is starting, 1 s",
                "… ready",
                "… pyright is starting, 1 s",
            ]
        "#]]
        .assert_debug_eq(&lines);
    }

    #[test]
    fn a_line_appears_with_the_first_word_and_goes_when_told() {
        let progress = Progress::on(true);
        assert!(progress.lock().bar.is_none());
        progress.clone().say("at \u{1b}[31mwork");
        assert_eq!(progress.lock().bar.as_ref().map(ProgressBar::message), Some("at work".to_owned()));
        progress.clear();
        assert!(progress.lock().bar.is_none());
    }
}
