//! The words for what was found: counts by severity, over how many files, and nothing that was not looked at is called
//! free of problems.

use crate::{
    protocol::types::{Severity, Tally},
    tools::{kinds::count, outcome::Verdict},
};

/// What an answer counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    /// Those that the answer is about.
    pub told: Tally,
    /// Those that were too many to keep: part of the others, but where only new problems are meant.
    pub cut: Tally,
    /// Entries of servers' lists that could not be read.
    pub malformed: usize,
    /// Only new problems are meant; so many known ones are gone.
    pub new: Option<usize>,
    /// Not all were known, then or now: more may be gone.
    pub more_gone: bool,
    /// Of some files nothing was known before: what is counted as new may have been there.
    pub unsure: bool,
    /// Files that were looked at, and those with something to list. One that was asked for by name is not counted.
    pub files: Option<(usize, usize)>,
    /// Files that were not reached.
    pub unreached: usize,
}

impl Counts {
    /// Whether a problem is listed: what is merely unused or deprecated only where hints are asked for.
    pub(super) fn lists(severity: Severity, faint: bool, least: Severity) -> bool {
        severity <= least && (!faint || least == Severity::Hint)
    }
}

const WORDS: [(Severity, &str, &str); 4] = [
    (Severity::Error, "error", "errors"),
    (Severity::Warning, "warning", "warnings"),
    (Severity::Info, "info", "infos"),
    (Severity::Hint, "hint", "hints"),
];

/// Those that are listed, by severity.
pub(super) fn listed(tally: &Tally, least: Severity) -> [usize; 4] {
    WORDS.map(|(severity, ..)| {
        let (all, faint) = (tally.all[severity as usize], tally.faint[severity as usize]);
        if Counts::lists(severity, true, least) {
            all
        } else if Counts::lists(severity, false, least) {
            all - faint
        } else {
            0
        }
    })
}

/// The counts; "no problems" is said only of texts that have been analysed.
pub(super) fn summary(counts: &Counts, least: Severity, verdict: Verdict) -> String {
    let new = counts.new.is_some();
    let shown_of = listed(&counts.told, least);
    let cut = listed(&counts.cut, least);
    let cut: Vec<String> = WORDS
        .iter()
        .zip(cut)
        .filter(|(_, number)| *number > 0)
        .map(|((_, one, many), number)| count(number, one, many))
        .collect();
    let (mut listed, mut hidden, mut faint) = (Vec::new(), Vec::new(), 0);
    for ((severity, one, many), shown) in WORDS.into_iter().zip(shown_of) {
        let (all, weak) = (counts.told.all[severity as usize], counts.told.faint[severity as usize]);
        let what = match (new, counts.unsure) {
            (true, true) => "perhaps new ",
            (true, false) => "new ",
            (false, _) => "",
        };
        let (one, many) = (format!("{what}{one}"), format!("{what}{many}"));
        if shown > 0 {
            listed.push(count(shown, &one, &many));
        }
        if all > shown {
            hidden.push(count(all - shown, &one, &many));
            faint += if shown == 0 || shown == all - weak { weak.min(all - shown) } else { 0 };
        }
    }
    let nothing = match (new, counts.malformed) {
        (true, _) if !cut.is_empty() => "no new problems among those that were kept",
        (true, _) => "no new problems",
        (false, 0) => "no problems",
        (false, _) => "no problems that could be read",
    };
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
        let least = if counts.more_gone { "at least " } else { "" };
        text.push_str(&format!(", {least}{gone} gone"));
    }
    if !hidden.is_empty() {
        let unused = match faint {
            0 => String::new(),
            faint => format!(", {faint} of them unused or deprecated code"),
        };
        text.push_str(&format!(" ({} not listed{unused})", hidden.join(", ")));
    }
    if !cut.is_empty() {
        let compared = if new { "not compared, " } else { "" };
        text.push_str(&format!("; {compared}too many to keep: {}", cut.join(", ")));
    }
    if counts.malformed > 0 {
        text.push_str(&format!("; {} could not be read", count(counts.malformed, "entry", "entries")));
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

    fn told(all: [usize; 4]) -> Counts {
        Counts { told: Tally { all, ..Tally::default() }, ..Counts::default() }
    }

    #[test]
    fn what_is_not_kept_is_counted_and_never_clean() {
        let cut = |all| Tally { all, ..Tally::default() };
        let flood = Counts { cut: cut([0, 0, 0, 4_444]), ..told([300, 0, 0, 5_000]) };
        check(&flood, Severity::Warning, Verdict::Fresh, &expect!["300 errors (5,000 hints not listed)"]);
        check(
            &flood,
            Severity::Hint,
            Verdict::Fresh,
            &expect!["300 errors, 5,000 hints; too many to keep: 4,444 hints"],
        );
        let new = Counts { new: Some(0), cut: cut([7, 0, 0, 9]), ..Counts::default() };
        check(
            &new,
            Severity::Warning,
            Verdict::Fresh,
            &expect!["no new problems among those that were kept; not compared, too many to keep: 7 errors"],
        );
        let odd = Counts { malformed: 2, ..Counts::default() };
        check(
            &odd,
            Severity::Warning,
            Verdict::Fresh,
            &expect!["no problems that could be read; 2 entries could not be read"],
        );
    }

    #[test]
    fn no_problems_is_said_of_an_analysed_text_only() {
        let some = told([1, 2, 0, 3]);
        check(&some, Severity::Warning, Verdict::Fresh, &expect!["1 error, 2 warnings (3 hints not listed)"]);
        check(&Counts::default(), Severity::Warning, Verdict::Fresh, &expect!["no problems"]);
        let one = told([0, 1, 0, 0]);
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
        let counts = Counts { told: Tally { all: [1, 0, 2, 3], faint: [0, 0, 1, 2] }, ..Counts::default() };
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
        let counts = Counts { new: Some(1), files: Some((5, 1)), ..told([2, 0, 0, 0]) };
        check(&counts, Severity::Warning, Verdict::Fresh, &expect!["2 new errors in 1 of 5 files, 1 gone"]);
        let unsure = Counts { unsure: true, ..counts };
        check(&unsure, Severity::Warning, Verdict::Fresh, &expect!["2 perhaps new errors in 1 of 5 files, 1 gone"]);
        let more = Counts { more_gone: true, ..counts };
        check(&more, Severity::Warning, Verdict::Fresh, &expect!["2 new errors in 1 of 5 files, at least 1 gone"]);
        let none = Counts { new: Some(0), files: Some((5, 0)), unreached: 7, ..Counts::default() };
        check(
            &none,
            Severity::Warning,
            Verdict::Partial,
            &expect!["no new problems where an answer came in 5 files; 7 files not reached"],
        );
        let stale = Counts { files: Some((2, 1)), ..told([1, 0, 0, 0]) };
        check(&stale, Severity::Warning, Verdict::Stale, &expect!["1 error in 1 of 2 files in older texts"]);
    }
}
