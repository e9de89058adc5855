//! Remarks below an answer's first line: who is missing, which files are worth less than the rest, how problems were
//! compared, and what is not listed.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashSet},
};

use super::sweep::{Missing, Sweep};
use crate::tools::{
    ask::Ask,
    kinds::count,
    outcome::{ServerVerdict, Verdict},
    problems::{last_words, note},
};

/// Names of files in one remark.
const NAMED: usize = 8;
/// Reasons that are told with their files.
const GROUPS: usize = 8;

/// A reason, and the files that have it.
type Group<'a> = (String, Vec<&'a str>);

/// How files were compared.
#[derive(Default)]
pub(super) struct Judging {
    pub gone: usize,
    /// There may be more that are gone.
    pub more_gone: bool,
    /// By lines alone.
    pub by_lines: usize,
    /// Files of which nothing was known before.
    pub unknown: Vec<String>,
    /// Files of which not all was known before that would tell what is new.
    pub doubtful: Vec<String>,
    /// Files with the number of their problems, told for the first time, that are no new ones: nothing has changed.
    pub still: Vec<String>,
    /// Files that depend on changed ones, and have the problems that they had.
    pub unchanged: usize,
    /// Files that may depend on changed ones, and whose problems are all taken for older ones.
    pub aside: usize,
    /// Problems that count as new for what they name, and may be older.
    pub unsure: usize,
    /// Files with the number of their problems that do not count, although nothing is known of before.
    pub older: Vec<String>,
}

impl Judging {
    /// Files that were asked about and are not listed.
    pub(super) fn left_out(&self) -> usize {
        self.unchanged + self.aside
    }
}

/// What servers lack, and of several files those whose verdict is not the best one. Answers with the last words of
/// servers that are gone.
pub(super) fn remarks(ask: &Ask<'_>, notes: &mut Vec<String>, sweep: &Sweep, several: bool) -> Vec<String> {
    let mut told: HashSet<String> = HashSet::new();
    let mut words = Vec::new();
    for Missing { server: name, shortfall, .. } in sweep.checked.iter().flat_map(|one| &one.missing) {
        let text = note(name, shortfall);
        if told.insert(numberless(&text)) {
            notes.push(text);
            words.extend(last_words(ask, name, shortfall));
        }
    }
    if !several || sweep.checked.len() < 2 {
        return words;
    }
    // Worst first.
    let mut groups: BTreeMap<(Reverse<Verdict>, String), Group<'_>> = BTreeMap::new();
    for one in sweep.checked.iter().filter(|one| one.verdict != Verdict::Fresh) {
        let worst = one.parts.iter().max_by_key(|part| part.verdict);
        // What a server lacks has been said above, once.
        let told = |part: &ServerVerdict| one.missing.iter().any(|missing| missing.id == part.id);
        let reason = worst.map(|part| match part.reason.as_ref().filter(|_| !told(part)) {
            Some(reason) => format!(" ({}: {reason})", part.server),
            None => format!(" ({})", part.server),
        });
        let reason = reason.unwrap_or_default();
        let key = (Reverse(one.verdict), numberless(&reason));
        groups.entry(key).or_insert_with(|| (reason, Vec::new())).1.push(&one.shown);
    }
    let beyond: usize = groups.values().skip(GROUPS).map(|(_, files)| files.len()).sum();
    notes.extend(
        groups
            .into_iter()
            .take(GROUPS)
            .map(|((Reverse(verdict), _), (reason, files))| format!("{}{reason}: {}", verdict.word(), named(&files))),
    );
    if beyond > 0 {
        notes.push(format!("for other reasons not fresh: {}", count(beyond, "file", "files")));
    }
    words
}

/// How problems were compared, and what is not listed.
pub(super) fn remarks_on_judging(notes: &mut Vec<String>, judging: &Judging, capped: &[String], phrase: &str) {
    if judging.by_lines > 0 {
        let files = count(judging.by_lines, "file", "files");
        notes.push(format!("{files} compared by lines: what stands on lines changed {phrase} counts as new"));
    }
    if judging.unsure > 0 {
        let problems = count(judging.unsure, "problem", "problems");
        notes.push(format!("{problems} on other lines listed for naming what has changed {phrase}: may be older"));
    }
    if !judging.older.is_empty() {
        let files: Vec<&str> = judging.older.iter().map(String::as_str).collect();
        let files = named(&files);
        notes.push(format!("not counted, on unchanged lines that name nothing that has changed {phrase}: {files}"));
    }
    if !judging.unknown.is_empty() {
        let files: Vec<&str> = judging.unknown.iter().map(String::as_str).collect();
        notes.push(format!("no earlier answer to compare with, so all problems are listed: {}", named(&files)));
    }
    if !judging.doubtful.is_empty() {
        let files: Vec<&str> = judging.doubtful.iter().map(String::as_str).collect();
        let why = "a server had not answered before, or there was too much to keep";
        notes.push(format!("what counts as new may be older, {why}: {}", named(&files)));
    }
    if !judging.still.is_empty() {
        let files: Vec<&str> = judging.still.iter().map(String::as_str).collect();
        notes.push(format!("not listed, since nothing at all has changed {phrase}: {}", named(&files)));
    }
    if judging.unchanged > 0 {
        let files = count(judging.unchanged, "more file", "more files");
        notes.push(format!("asked again because of the changes, nothing new: {files}"));
    }
    if !capped.is_empty() {
        let files: Vec<&str> = capped.iter().map(String::as_str).collect();
        notes.push(format!("not all are listed, ask with file_path for the rest: {}", named(&files)));
    }
}

/// A text without its numbers: what differs in them alone (how long it took) is one reason.
fn numberless(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect()
}

fn named(files: &[&str]) -> String {
    let shown = files.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    if files.len() > NAMED { format!("{shown} and {} more", files.len() - NAMED) } else { shown }
}
