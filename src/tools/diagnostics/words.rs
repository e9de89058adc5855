//! The words for what was found: counts by severity, over how many files, and nothing that was not looked at is called
//! free of problems.

use crate::{
    protocol::types::Severity,
    tools::{kinds::count, outcome::Verdict},
};

/// What an answer counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    /// Errors, warnings, infos, hints; and those that only say that code is unused or deprecated, by severity.
    pub all: [usize; 4],
    pub faint: [usize; 4],
    /// Too many to be read.
    pub beyond: usize,
    /// Only new problems are meant; so many known ones are gone.
    pub new: Option<usize>,
    /// Files that were looked at, and those with something to list. One that was asked for by name is not counted.
    pub files: Option<(usize, usize)>,
    /// Files that were not reached.
    pub unreached: usize,
}

impl Counts {
    /// Counts one problem.
    pub(super) fn add(&mut self, severity: Severity, faint: bool) {
        self.all[severity as usize] += 1;
        self.faint[severity as usize] += usize::from(faint);
    }

    /// Whether a problem is listed: what is merely unused or deprecated only where hints are asked for.
    pub(super) fn lists(severity: Severity, faint: bool, least: Severity) -> bool {
        severity <= least && (!faint || least == Severity::Hint)
    }
}

/// The counts; "no problems" is said only of texts that have been analysed.
pub(super) fn summary(counts: &Counts, least: Severity, verdict: Verdict) -> String {
    let new = counts.new.is_some();
    let words = [
        (Severity::Error, "error", "errors"),
        (Severity::Warning, "warning", "warnings"),
        (Severity::Info, "info", "infos"),
        (Severity::Hint, "hint", "hints"),
    ];
    let (mut listed, mut hidden, mut faint) = (Vec::new(), Vec::new(), 0);
    for (severity, one, many) in words {
        let (all, weak) = (counts.all[severity as usize], counts.faint[severity as usize]);
        let shown = if Counts::lists(severity, true, least) {
            all
        } else if Counts::lists(severity, false, least) {
            all - weak
        } else {
            0
        };
        let (one, many) = if new { (format!("new {one}"), format!("new {many}")) } else { (one.into(), many.into()) };
        if shown > 0 {
            listed.push(count(shown, &one, &many));
        }
        if all > shown {
            hidden.push(count(all - shown, &one, &many));
            faint += if shown == 0 || shown == all - weak { weak.min(all - shown) } else { 0 };
        }
    }
    let nothing = if new { "no new problems" } else { "no problems" };
    let mut text = if !listed.is_empty() {
        listed.join(", ")
    } else {
        match verdict {
            Verdict::Fresh => nothing.into(),
            Verdict::Settling => format!("{nothing} so far"),
            Verdict::Partial if counts.files.is_some() => format!("{nothing} where an answer came"),
            Verdict::Partial => format!("{nothing} from those that have answered"),
            Verdict::Unconfirmed => format!("{nothing} when last heard of, not confirmed since"),
            Verdict::Stale if counts.files.is_some() => "nothing known of the present texts".into(),
            Verdict::Stale => "nothing known of the present text".into(),
            Verdict::Indexing => "not analysed yet; ask again".into(),
            _ if counts.files.is_some() => "no answer yet: this says nothing about the files; ask again".into(),
            _ => "no answer yet: this says nothing about the file; ask again".into(),
        }
    };
    match counts.files {
        Some((all, with)) if !listed.is_empty() => {
            text.push_str(&format!(" in {with} of {}", count(all, "file", "files")));
        }
        Some((all, _)) => text.push_str(&format!(" in {}", count(all, "file", "files"))),
        None => {}
    }
    if let Some(gone @ 1..) = counts.new {
        text.push_str(&format!(", {gone} gone"));
    }
    if !hidden.is_empty() {
        let unused = match faint {
            0 => String::new(),
            faint => format!(", {faint} of them unused or deprecated code"),
        };
        text.push_str(&format!(" ({} not listed{unused})", hidden.join(", ")));
    }
    if counts.beyond > 0 {
        text.push_str(&format!(", {} more were cut off", counts.beyond));
    }
    if counts.unreached > 0 {
        text.push_str(&format!("; {} not reached", count(counts.unreached, "file", "files")));
    }
    if verdict == Verdict::Stale && !listed.is_empty() {
        text.push_str(if counts.files.is_some() { " in older texts" } else { " in an older text" });
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(counts: &Counts, least: Severity, verdict: Verdict, expected: &Expect) {
        expected.assert_eq(&summary(counts, least, verdict));
    }

    #[test]
    fn no_problems_is_said_of_an_analysed_text_only() {
        let some = Counts { all: [1, 2, 0, 3], ..Counts::default() };
        check(&some, Severity::Warning, Verdict::Fresh, &expect!["1 error, 2 warnings (3 hints not listed)"]);
        check(&Counts::default(), Severity::Warning, Verdict::Fresh, &expect!["no problems"]);
        let one = Counts { all: [0, 1, 0, 0], ..Counts::default() };
        check(&one, Severity::Error, Verdict::Fresh, &expect!["no problems (1 warning not listed)"]);
        for files in [None, Some((3, 0))] {
            for verdict in [Verdict::Unanswered, Verdict::Indexing, Verdict::Stale] {
                let counts = Counts { files, ..Counts::default() };
                assert!(!summary(&counts, Severity::Hint, verdict).contains("no problems"), "{verdict:?}");
            }
        }
    }

    #[test]
    fn unused_code_is_counted_and_listed_with_hints_only() {
        let counts = Counts { all: [1, 0, 2, 3], faint: [0, 0, 1, 2], ..Counts::default() };
        check(
            &counts,
            Severity::Warning,
            Verdict::Fresh,
            &expect!["1 error (2 infos, 3 hints not listed, 3 of them unused or deprecated code)"],
        );
        check(
            &counts,
            Severity::Info,
            Verdict::Fresh,
            &expect!["1 error, 1 info (1 info, 3 hints not listed, 3 of them unused or deprecated code)"],
        );
        check(&counts, Severity::Hint, Verdict::Fresh, &expect!["1 error, 2 infos, 3 hints"]);
    }

    #[test]
    fn files_and_what_is_new() {
        let counts = Counts { all: [2, 0, 0, 0], new: Some(1), files: Some((5, 1)), ..Counts::default() };
        check(&counts, Severity::Warning, Verdict::Fresh, &expect!["2 new errors in 1 of 5 files, 1 gone"]);
        let none = Counts { new: Some(0), files: Some((5, 0)), unreached: 7, ..Counts::default() };
        check(
            &none,
            Severity::Warning,
            Verdict::Partial,
            &expect!["no new problems where an answer came in 5 files; 7 files not reached"],
        );
        let stale = Counts { all: [1, 0, 0, 0], files: Some((2, 1)), ..Counts::default() };
        check(&stale, Severity::Warning, Verdict::Stale, &expect!["1 error in 1 of 2 files in older texts"]);
    }
}
