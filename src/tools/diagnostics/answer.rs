//! Makes an answer of what was heard: judged as a whole, compared with what was known, put in order, cut to its caps,
//! marked and remembered.

use std::{
    collections::BTreeMap,
    hash::{Hash, Hasher},
    path::Path,
};

use indexmap::IndexMap;
use xxhash_rust::xxh3::Xxh3;

use super::{
    Moment, Request, Scope,
    changed::Basis,
    compare::{Baseline, Compared, Told, compare, lines},
    memory::{Noted, Point, Still, hash},
    pages::Kept,
    remarks::{Judging, remarks, remarks_on_judging},
    sweep::{Checked, Found, Sweep},
    words::{Counts, listed, summary},
};
use crate::{
    config::count,
    protocol::types::Severity,
    registry::ScopedName,
    runtime::ground::Seen,
    tools::{
        ask::Ask,
        outcome::{Failure, Outcome, Problem, ServerVerdict, Verdict},
        places::fingerprint,
        problems::all_failed,
    },
};

/// Problems that an answer and its further pages hold at the most.
const LISTED: usize = 2_000;

/// Why a file is among those that were asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// By its name.
    Asked,
    Edited,
    /// It may depend on one that was edited: told of only where its problems are others than before.
    Dependent,
    /// Part of the workspace.
    Found,
}

/// An answer in the making.
pub(super) struct Answering<'a> {
    ask: &'a Ask<'a>,
    request: Request,
    asked: u64,
    moment: Moment,
    basis: Basis,
    phrase: String,
    pub notes: Vec<String>,
    /// Not all that belongs to the question could be looked at.
    pub cut: bool,
    /// There are files that nobody here can look at, however often it is asked.
    pub unserved: bool,
    /// The world once everything was heard, where every change was seen.
    pub still: Option<Still>,
}

/// A problem on its way into the list.
struct Line {
    rank: Rank,
    severity: Severity,
    problem: Problem,
}

impl<'a> Answering<'a> {
    pub(super) fn new(
        ask: &'a Ask<'a>,
        request: Request,
        asked: u64,
        moment: Moment,
        basis: Basis,
        phrase: String,
    ) -> Self {
        let (notes, cut, unserved, still) = Default::default();
        Self { ask, request, asked, moment, basis, phrase, notes, cut, unserved, still }
    }

    /// The answer; marks and remembers it.
    pub(super) fn outcome(mut self, mut sweep: Sweep, rank: impl Fn(&Path) -> Rank) -> Result<Outcome, Failure> {
        let several = self.request.scope != Scope::File;
        if several {
            self.look_again(&mut sweep);
        }
        let (mut verdict, servers) = self.judged(&sweep);
        if verdict.is_failure() {
            return Err(self.all_failed(&sweep, servers));
        }
        if several {
            self.judge_scope(&sweep, &mut verdict);
        }
        let memory = &self.ask.engine.memory;
        let generation = self.ask.engine.registry.generation();
        let sure = (self.moment.seen == Seen::All).then_some(generation);
        let point = memory.mark(self.moment.seq, self.moment.at, sure);
        let mut counts = Counts { unreached: sweep.unreached, ..Counts::default() };
        let (mut lines, mut with, mut judging) = (Vec::new(), 0, Judging::default());
        for one in &sweep.checked {
            let rank = rank(&one.path);
            let told = Told::of(one);
            let compared = self.compare(one, rank, &told, &mut judging);
            self.remember(one, told, point);
            let Some(compared) = compared else { continue };
            with += usize::from(self.list(one, rank, &compared, &mut counts, &mut lines));
        }
        if several {
            counts.files = Some((sweep.checked.len() - judging.left_out(), with));
        }
        if self.request.new_only {
            counts.new = Some(judging.gone);
            counts.more_gone = judging.more_gone;
        }
        // What has not been answered yet is asked about again next time.
        let whole = several && self.request.file_path.is_none() && sweep.unreached == 0 && !self.cut;
        memory.tell(self.ask.caller.id, point, whole && sweep.checked.iter().all(Checked::is_whole));
        let compared_files = sweep.checked.len() - judging.left_out();
        counts.unsure = !judging.unknown.is_empty() || !judging.doubtful.is_empty();
        if judging.unknown.len() == compared_files && compared_files > 0 {
            // Nothing is new against nothing.
            counts.new = None;
        }
        let text = self.summary(&counts, verdict);
        let (listed, capped) = self.ordered(lines, several);
        let mut notes = std::mem::take(&mut self.notes);
        let details = remarks(self.ask, &mut notes, &sweep, several);
        remarks_on_judging(&mut notes, &judging, &capped, &self.phrase);
        let mark = memory.print(point);
        let texts: Vec<_> = sweep.checked.iter().map(|one| (one.path.clone(), hash(&one.text))).collect();
        let print = fingerprint(self.ask, (&texts, format!("{listed:?}"), &text));
        let limits = &self.ask.engine.limits;
        let most = if several { limits.diagnostics_delivery } else { limits.diagnostics_file };
        let kept = Kept {
            fingerprint: print,
            asked: self.asked,
            generation,
            seq: self.moment.seq,
            texts,
            listed,
            verdict,
            servers,
            summary: text,
            notes,
            details,
            counts: counts.told.all,
            mark,
            page: self.ask.page_items().min(most),
        };
        let outcome = kept.outcome(0);
        if kept.listed.len() > 1 {
            memory.keep(kept);
        }
        Ok(outcome)
    }

    /// Whether a problem counts, and is listed where it does. None where the file is left out of the answer.
    fn compare(&self, one: &Checked, rank: Rank, told: &Told, judging: &mut Judging) -> Option<Compared> {
        let wanted = self.request.new_only || rank == Rank::Dependent;
        if !wanted {
            return Some(Compared { new: vec![true; told.known.len()], ..Compared::default() });
        }
        let baseline = self.basis.baseline(&self.ask.engine.memory, &one.path, &one.text, self.still);
        let mut compared = compare(&baseline, told);
        let (unsure, older) = self.by_names(one, &mut compared);
        let by_lines = matches!(baseline, Baseline::Text(_));
        if by_lines && older > 0 {
            judging.older.push(format!("{} ({older})", one.shown));
        }
        if rank == Rank::Dependent && one.verdict.answered() && !compared.differs() {
            judging.unchanged += usize::from(!by_lines || older == 0);
            judging.aside += usize::from(by_lines && older > 0);
            return None;
        }
        let least = self.request.least;
        let counts = |found: &Found| !found.again && Counts::lists(found.severity, found.faint, least);
        judging.unsure += unsure;
        if let Baseline::Known(then) = &baseline {
            let gone = compared.gone.iter().filter_map(|at| then.known.get(*at));
            judging.gone += gone.filter(|known| known.severity <= least).count();
            judging.more_gone |= compared.more_gone[..=least as usize].contains(&true);
        }
        if compared.unknown {
            judging.unknown.push(one.shown.clone());
        } else if one.found.iter().zip(&compared.unsure).any(|(found, unsure)| *unsure && counts(found)) {
            judging.doubtful.push(one.shown.clone());
        }
        if matches!(baseline, Baseline::Same) {
            let number = one.found.iter().filter(|found| counts(found)).count();
            judging.still.extend((number > 0).then(|| format!("{} ({number})", one.shown)));
        }
        judging.by_lines += usize::from(by_lines);
        if !self.request.new_only {
            compared.new.fill(true);
        }
        Some(compared)
    }

    /// Counts as new what names something that has changed since a revision, wherever it stands: what was known of a text
    /// may rest on other files as they are now. Tells how many these are, and how many are taken for older ones.
    fn by_names(&self, one: &Checked, compared: &mut Compared) -> (usize, usize) {
        let Basis::Revision { touched, .. } = &self.basis else { return (0, 0) };
        let lines = lines(&one.text);
        let (mut unsure, mut older) = (0, 0);
        for (found, new) in one.found.iter().zip(&mut compared.new).filter(|(_, new)| !**new) {
            let counts = !found.again && Counts::lists(found.severity, found.faint, self.request.least);
            let line = (found.problem.line as usize).checked_sub(1).and_then(|at| lines.get(at)).copied();
            if touched.is_named(line.unwrap_or_default()) || touched.is_named(&found.problem.message) {
                *new = true;
                unsure += usize::from(counts);
            } else {
                older += usize::from(counts);
            }
        }
        (unsure, older)
    }

    /// Counts and lists what is to be told of a file; whether there is anything to list.
    fn list(&self, one: &Checked, rank: Rank, compared: &Compared, counts: &mut Counts, lines: &mut Vec<Line>) -> bool {
        let (before, least) = (lines.len(), self.request.least);
        counts.cut += one.cut;
        counts.malformed += one.malformed;
        if !self.request.new_only {
            counts.told += one.cut;
        }
        let counted = one.found.iter().zip(&compared.new).filter(|(found, new)| **new && !found.again);
        for (found, _) in counted {
            counts.told.add(found.severity, found.faint);
            if Counts::lists(found.severity, found.faint, least) {
                lines.push(Line { rank, severity: found.severity, problem: found.problem.clone() });
            }
        }
        lines.len() > before || !self.request.new_only && listed(&one.cut, least).iter().any(|number| *number > 0)
    }

    /// What changed while the files were asked about: those that did are old, and the others may depend on them.
    fn look_again(&mut self, sweep: &mut Sweep) {
        let engine = self.ask.engine;
        let mut moved = false;
        for one in &mut sweep.checked {
            let same = engine.ground.read(&one.path).is_ok_and(|now| now.text == one.text);
            if !same {
                moved = true;
                one.lower(Verdict::Stale, "it changed while others were asked about");
            }
        }
        let changes = engine.ground.watcher.since(self.moment.seq);
        if moved || changes.overflow || changes.events.iter().any(|change| engine.concerns(&change.path)) {
            for one in &mut sweep.checked {
                one.lower(Verdict::Settling, "files changed meanwhile: ask again");
            }
        }
    }

    /// The verdict of the whole, and each server's part in it.
    fn judged(&self, sweep: &Sweep) -> (Verdict, Vec<ServerVerdict>) {
        if let [one] = sweep.checked.as_slice() {
            return (one.verdict, one.parts.clone());
        }
        let mut by_server: IndexMap<&ScopedName, Vec<&ServerVerdict>> = IndexMap::new();
        for part in sweep.checked.iter().flat_map(|one| &one.parts) {
            by_server.entry(&part.id).or_default().push(part);
        }
        let mut servers: Vec<ServerVerdict> = by_server.values().filter_map(|parts| merged(parts)).collect();
        // Why one is missing is said below the first line, once.
        let missing = |id: &ScopedName| sweep.checked.iter().flat_map(|one| &one.missing).any(|it| it.id == *id);
        for server in servers.iter_mut().filter(|server| server.verdict.is_failure() && missing(&server.id)) {
            server.reason = None;
        }
        // A file's own verdict is "partial" where one of its servers has not answered.
        let verdict = match sweep.checked.is_empty() {
            true => Verdict::Fresh,
            false => Verdict::combine(sweep.checked.iter().map(|one| one.verdict)),
        };
        (verdict, servers)
    }

    /// What is missing of the scope itself.
    fn judge_scope(&mut self, sweep: &Sweep, verdict: &mut Verdict) {
        if (sweep.unreached > 0 || self.cut || self.unserved) && verdict.answered() {
            *verdict = Verdict::Partial;
        }
        if self.moment.seen != Seen::All && !matches!(self.basis, Basis::Revision { .. }) {
            let (judged, reason) = self.moment.seen.judged(*verdict, None);
            *verdict = judged;
            self.notes.extend(reason.filter(|_| sweep.checked.is_empty()));
        }
    }

    fn remember(&self, one: &Checked, told: Told, point: Point) {
        if told.is_answered() {
            let noted = Noted { told: told.answered(), still: self.still, whole: one.is_whole() };
            self.ask.engine.memory.record(&one.path, noted, point, self.ask.caller.id);
        }
    }

    /// In their order, within the cap of each file and of all; what is beyond is said.
    fn ordered(&self, mut lines: Vec<Line>, several: bool) -> (Vec<Problem>, Vec<String>) {
        lines.sort_by(|a, b| place(a).cmp(&place(b)));
        let mut capped = Vec::new();
        if several {
            let most = self.ask.engine.limits.diagnostics_file;
            let mut of_file: BTreeMap<String, usize> = BTreeMap::new();
            lines.retain(|line| {
                let number = of_file.entry(line.problem.file.clone()).or_default();
                *number += 1;
                *number <= most
            });
            let over = of_file.iter().filter(|(_, number)| **number > most);
            capped.extend(over.map(|(file, number)| format!("{file} ({most} of {number})")));
            if lines.len() > LISTED {
                capped.push(format!("all files together ({LISTED} of {})", lines.len()));
                lines.truncate(LISTED);
            }
        }
        (lines.into_iter().map(|line| line.problem).collect(), capped)
    }

    fn summary(&self, counts: &Counts, verdict: Verdict) -> String {
        let nothing = counts.files.is_some_and(|(all, _)| all == 0);
        let mut text = if !nothing {
            summary(counts, self.request.least, verdict)
        } else if self.request.scope == Scope::Changed {
            "nothing to look at has changed".into()
        } else {
            "there is no file that a server is here for".into()
        };
        if !self.phrase.is_empty() {
            text.push_str(&format!(", {}", self.phrase));
        }
        text
    }

    fn all_failed(&self, sweep: &Sweep, servers: Vec<ServerVerdict>) -> Failure {
        let missing = sweep.checked.iter().flat_map(|one| &one.missing);
        all_failed(self.ask, missing.map(|one| (one.server.clone(), &one.shortfall)), servers)
    }
}

impl Checked {
    /// Whether everybody has answered from whom an answer can come: who is missing will not answer next time either.
    fn is_whole(&self) -> bool {
        let missing = |verdict| matches!(verdict, Verdict::Unavailable | Verdict::Unsupported);
        self.parts.iter().all(|part| part.verdict.answered() || missing(part.verdict))
    }

    /// Whatever was said better of this file is only worth so much.
    fn lower(&mut self, verdict: Verdict, reason: &str) {
        for part in self.parts.iter_mut().filter(|part| part.verdict < verdict) {
            part.verdict = verdict;
            part.reason = Some(reason.to_owned());
        }
        self.verdict = Verdict::combine(self.parts.iter().map(|part| part.verdict));
    }
}

impl Ask<'_> {
    /// What tells one question from another.
    pub(super) fn fingerprint_of(&self, request: &Request) -> u64 {
        let mut hasher = Xxh3::new();
        request.hash(&mut hasher);
        self.caller.id.hash(&mut hasher);
        hasher.finish()
    }

    /// The world as it is now that all was heard, where every change was seen.
    pub(super) async fn still(&self, moment: Moment) -> Option<Still> {
        let ground = &self.engine.ground;
        let sure = moment.seen == Seen::All && ground.barrier().await == Seen::All;
        sure.then(|| Still { seq: ground.watcher.head(), generation: self.engine.registry.generation() })
    }
}

/// One server's part in an answer about many files.
fn merged(parts: &[&ServerVerdict]) -> Option<ServerVerdict> {
    let verdict = Verdict::combine(parts.iter().map(|part| part.verdict));
    let fresh = parts.iter().filter(|part| part.verdict == Verdict::Fresh).count();
    let first = parts.first()?;
    let alike = parts.iter().all(|part| part.reason == first.reason);
    let reason = if alike || fresh == parts.len() {
        first.reason.clone()
    } else {
        Some(format!("{fresh} of {}", count(parts.len(), "file", "files")))
    };
    Some(ServerVerdict { id: first.id.clone(), server: first.server.clone(), verdict, reason })
}

/// Where a problem stands in the list.
fn place(line: &Line) -> (Rank, Severity, &str, u32, u32, &str) {
    let problem = &line.problem;
    (line.rank, line.severity, &problem.file, problem.line, problem.column, &problem.message)
}
