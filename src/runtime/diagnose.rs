//! Asks a session for a file's problems, by whichever channel the server offers at that moment, and judges what came:
//! nothing is called fresh that the server has not said of this very text.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    protocol::{
        read::{self, Caps},
        types::{FileRef, Listed, Report},
        uri::path_to_uri,
    },
    registry::{DiagnosticMode, Finality},
};

use super::{
    beside::Beside,
    ground::{Ground, Seen},
    heard::Record,
    query::{Answer, Question, Reply},
    readiness::Standing,
    session::Session,
    shortfall::Shortfall,
    store::Push,
    sync::Focus,
    verdict::Verdict,
};

/// Pulls again when the server asked for a refresh meanwhile, at most this often.
const REFRESHED: usize = 3;
/// Asks again about a file that was written meanwhile, at most this often.
const REWRITTEN: usize = 5;
/// Kept back from the deadline, so that the answer is on its way when it strikes.
const SLACK: Duration = Duration::from_millis(50);

impl Session {
    pub(super) async fn diagnose(&self, ground: &Ground, question: &Question) -> Result<Reply, Shortfall> {
        let mut round = 0;
        loop {
            round += 1;
            let (mut reply, seen) = self.problems(ground, question).await?;
            let path = question.file.as_deref().ok_or(Shortfall::Moved)?;
            // Written while the server was at it: the answer is about a text that is gone.
            if !self.as_told(ground, path) {
                if round < REWRITTEN && question.left() > SLACK {
                    continue;
                }
                reply.verdict = Verdict::Stale;
                reply.reason = Some("the file keeps changing".into());
            }
            (reply.verdict, reply.reason) = seen.judged(reply.verdict, reply.reason);
            if reply.reason.is_none() {
                // "No problems" of a server that may not look at everything says so.
                reply.reason.clone_from(&self.entry.def.untrusted.note);
            }
            return Ok(reply);
        }
    }

    async fn problems(&self, ground: &Ground, question: &Question) -> Result<(Reply, Seen), Shortfall> {
        let mut seen = self.caught_up_with_disk(ground, question).await;
        let mut focus = self.sync_or_why(ground, question)?.ok_or(Shortfall::Moved)?;
        if !matches!(self.heard.standing(), Standing::Ready) {
            self.wait_ready(question.left() / 2).await;
            seen = self.caught_up_with_disk(ground, question).await;
            focus = self.sync_or_why(ground, question)?.ok_or(Shortfall::Moved)?;
        }
        let mode = self.entry.def.diagnostics.mode;
        let mut news = self.heard.news();
        let (mut retriggered, mut confirmed) = (false, false);
        let (mut asked, mut reopened) = (false, false);
        loop {
            news.mark_unchanged();
            // Decided anew each time: servers register pulling late, twice, and take it back.
            let identifiers = self.identifiers(question, mode);
            if !identifiers.is_empty() {
                self.wait_refresh(&focus, question).await;
                return Ok((self.pull(ground, question, focus, identifiers).await?, seen));
            }
            if !std::mem::replace(&mut asked, true)
                && let Some(reply) = self.asked(question, &focus).await?
            {
                return Ok((reply, seen));
            }
            if !std::mem::replace(&mut reopened, true) && self.heard.record().store.is_lost(&focus.path) {
                focus = self.reopen(ground, focus)?;
            }
            let judged = {
                // Judged and collected under one lock: another call may close the file, and its list goes with it.
                let mut record = self.heard.record();
                match self.push_verdict(&mut record, &focus, question) {
                    Judged::Now(verdict, reason)
                        if verdict != Verdict::Unconfirmed || confirmed || !self.can_confirm() =>
                    {
                        return Ok((self.reply(&record, &focus, verdict, reason), seen));
                    }
                    other => other,
                }
            };
            match judged {
                Judged::Now(..) => {
                    confirmed = true;
                    let (told, proven) = self.confirm(ground, question, focus).await?;
                    focus = told;
                    if proven {
                        return Ok((self.confirmed(ground, &focus, question)?, seen));
                    }
                }
                Judged::Wait(_) if !retriggered && self.told_before_changes(&focus) => {
                    retriggered = true;
                    focus = self.retrigger(ground, focus)?;
                }
                Judged::Never(shortfall) => return Err(shortfall),
                Judged::Lost => return Err(self.lost(ground, &focus)),
                Judged::Wait(until) => {
                    if self.wire.is_closed() {
                        return Err(self.died());
                    }
                    self.wait_news(&mut news, until + Duration::from_millis(1)).await;
                }
            }
        }
    }

    /// The server has said that it has looked at everything: its last list is the truth.
    fn confirmed(&self, ground: &Ground, focus: &Focus, question: &Question) -> Result<Reply, Shortfall> {
        let mut record = self.heard.record();
        record.verified.insert(focus.path.clone(), (focus.sent.version, focus.epoch));
        Ok(match self.push_verdict(&mut record, focus, question) {
            Judged::Now(verdict, reason) => self.reply(&record, focus, verdict, reason),
            Judged::Wait(_) | Judged::Never(_) => self.reply(&record, focus, Verdict::Fresh, None),
            Judged::Lost => {
                drop(record);
                return Err(self.lost(ground, focus));
            }
        })
    }

    /// Whether something else has changed since the text was told.
    fn told_before_changes(&self, focus: &Focus) -> bool {
        focus.sent.at < self.heard.record().changed_at(&focus.path)
    }

    fn identifiers(&self, question: &Question, mode: DiagnosticMode) -> Vec<Option<String>> {
        let Some(file) = question.file.as_deref().filter(|_| mode != DiagnosticMode::Push) else { return Vec::new() };
        let languages = self.entry.def.diagnostics.pull_languages.as_ref();
        if languages.is_some_and(|languages| !languages.contains(&question.language)) {
            return Vec::new();
        }
        let providers = self.heard.record().effective.diagnostic_providers(&question.language, file);
        providers.into_iter().map(|provider| provider.identifier).collect()
    }

    /// Pulls from every provider in parallel.
    async fn pull(
        &self,
        ground: &Ground,
        question: &Question,
        mut focus: Focus,
        identifiers: Vec<Option<String>>,
    ) -> Result<Reply, Shortfall> {
        let mut outrun = false;
        for round in 0.. {
            let before = self.heard.record().moved_on();
            let pulls =
                identifiers.iter().map(|identifier| self.pull_one(ground, question, &focus, identifier.as_deref()));
            for pulled in join_all(pulls).await {
                pulled?;
            }
            let asked_again = {
                let record = self.heard.record();
                // Closed meanwhile, to make room for others: several servers answer "empty" for a file that is not open.
                outrun = record.sent.get(&focus.path).is_none_or(|sent| sent.version != focus.sent.version);
                outrun || record.moved_on() != before
            };
            // It began to load the project anew after it was asked: what it said before is about the old one.
            let loading = !matches!(self.heard.standing(), Standing::Ready);
            if loading {
                self.wait_ready(question.left() / 2).await;
            }
            let asked_again = asked_again || loading;
            if !asked_again || round + 1 >= REFRESHED || question.left() < SLACK * 2 {
                break;
            }
            focus = self.sync_or_why(ground, question)?.ok_or(Shortfall::Moved)?;
        }
        let mut news = self.heard.news();
        let end = question.deadline.checked_sub(SLACK).unwrap_or(question.deadline);
        loop {
            news.mark_unchanged();
            let until = {
                let mut record = self.heard.record();
                // Judged and collected under one lock: another call may close the file, and its reports go with it.
                let (verdict, reason) = self.pull_verdict(&mut record, &focus, &identifiers, outrun);
                let now = Instant::now();
                match self.beside(&record, &focus, now) {
                    Beside::Unsettled(_) if verdict == Verdict::Fresh && now >= end => {
                        let reason = Some("it is still at work".to_owned());
                        return Ok(self.reply(&record, &focus, Verdict::Settling, reason));
                    }
                    Beside::Unsettled(until) if verdict == Verdict::Fresh => until.unwrap_or(end).min(end),
                    Beside::Lost => {
                        let why = record.store.lost(&focus.path, focus.sent).unwrap_or("could not be kept");
                        let file = ground.roots.display(&focus.path);
                        let reason = Some(format!("what it pushed of {file} {why}"));
                        return Ok(self.reply(&record, &focus, verdict.max(Verdict::Partial), reason));
                    }
                    _ => return Ok(self.reply(&record, &focus, verdict, reason)),
                }
            };
            if self.wire.is_closed() {
                return Err(self.died());
            }
            self.wait_news(&mut news, until + Duration::from_millis(1)).await;
        }
    }

    fn pull_verdict(
        &self,
        record: &mut Record,
        focus: &Focus,
        identifiers: &[Option<String>],
        outrun: bool,
    ) -> (Verdict, Option<String>) {
        let whole = identifiers.iter().all(|identifier| {
            let report = record.store.pulled(&focus.path, identifier.as_deref().unwrap_or_default());
            report.is_some_and(|report| report.version == focus.sent.version)
        });
        match record.readiness.standing(Instant::now()) {
            Standing::Loading { .. } => (Verdict::Indexing, Some("it is still loading the project".to_owned())),
            Standing::Ready if outrun || !whole => {
                (Verdict::Stale, Some("the file was told anew while it was asked".to_owned()))
            }
            Standing::Ready => (Verdict::Fresh, None),
        }
    }

    async fn pull_one(
        &self,
        ground: &Ground,
        question: &Question,
        focus: &Focus,
        identifier: Option<&str>,
    ) -> Result<(), Shortfall> {
        let name = identifier.unwrap_or_default();
        // One that is only counted any more is asked for anew.
        let previous = self.heard.record().store.pulled(&focus.path, name).cloned();
        let previous = previous.filter(|report| !report.list().is_only_counted());
        let mut params = json!({"textDocument": {"uri": path_to_uri(&focus.path)}});
        if let Some(identifier) = identifier {
            params["identifier"] = identifier.into();
        }
        if let Some(id) = previous.as_ref().and_then(|report| report.result_id.clone()) {
            params["previousResultId"] = id.into();
        }
        let response = self.request_retrying(ground, question, "textDocument/diagnostic", &params).await?;
        let report =
            read::report(response.result(), &Caps::default()).map_err(|error| Shortfall::Shape(error.to_string()))?;
        // Null is no report, and so no clean bill.
        let report = report.ok_or_else(|| Shortfall::Unanswered { after: focus.sent.at.elapsed() })?;
        let mut record = self.heard.record();
        let version = focus.sent.version;
        match report {
            Report::Full { list, result_id, related } => {
                // The asked file's own report last: however many others came along, it is kept.
                for (file, report) in related {
                    if let (FileRef::Path(path), Report::Full { list, result_id, .. }) = (file, report) {
                        let version = record.sent.get(&path).map_or(0, |sent| sent.version);
                        record.store.pull(&path, name, list, result_id, version);
                    }
                }
                record.store.pull(&focus.path, name, list, result_id, version);
            }
            Report::Unchanged { .. } => {
                // Since the report that was named, not since another call's newer one.
                let Some(mut same) = previous else {
                    return Err(Shortfall::Shape("\"unchanged\", but it has reported nothing before".into()));
                };
                same.version = version;
                record.store.repeat(&focus.path, name, same);
            }
        }
        Ok(())
    }

    /// What a server that only pushes has said of the focused text.
    fn push_verdict(&self, record: &mut Record, focus: &Focus, question: &Question) -> Judged {
        match self.pushed_verdict(record, focus, question) {
            // The last that it said is not there to be judged.
            Judged::Now(..) | Judged::Never(_) if record.store.lost(&focus.path, focus.sent).is_some() => Judged::Lost,
            other => other,
        }
    }

    fn pushed_verdict(&self, record: &mut Record, focus: &Focus, question: &Question) -> Judged {
        let now = Instant::now();
        // Closed meanwhile to make room: its lists are gone, and their absence says nothing.
        if record.sent.get(&focus.path).is_none_or(|sent| sent.version < focus.sent.version) {
            return Judged::Now(Verdict::Stale, Some("the file was closed while it was asked about".into()));
        }
        let standing = record.readiness.standing(now);
        let ready = matches!(standing, Standing::Ready);
        if record.verified.get(&focus.path) == Some(&(focus.sent.version, focus.epoch)) {
            return Judged::Now(Verdict::Fresh, None);
        }
        let at_work = record.at_work(&focus.path, now);
        let state = record.store.push_state(&focus.path, focus.sent, record.changed_at(&focus.path), now);
        let end = question.deadline.checked_sub(SLACK).unwrap_or(question.deadline);
        let over = now >= end;
        match state {
            Push::Current { quiet, empty, versioned, more } => {
                let first = versioned && self.entry.def.diagnostics.finality == Finality::First && ready;
                let settle = self.settle(record, &focus.path, empty, versioned, more);
                if first || (quiet >= settle && ready && !at_work) {
                    record.verified.insert(focus.path.clone(), (focus.sent.version, focus.epoch));
                    return Judged::Now(Verdict::Fresh, None);
                }
                if over {
                    return match (ready, at_work) {
                        (false, _) => Judged::Now(Verdict::Indexing, Some("it is still loading the project".into())),
                        (true, _) => Judged::Now(Verdict::Settling, Some("it is still at work".into())),
                    };
                }
                let quiet_at = now + settle.saturating_sub(quiet);
                Judged::Wait(if quiet < settle { end.min(quiet_at) } else { end })
            }
            Push::Older if self.silence_counts(record, focus, now, at_work, ready) => {
                let changed = focus.sent.at.max(record.changed_at(&focus.path));
                let seconds = now.saturating_duration_since(changed).as_secs_f32();
                Judged::Now(
                    Verdict::Unconfirmed,
                    Some(format!("not updated since the last change, {seconds:.1} s ago")),
                )
            }
            Push::Older if over => {
                Judged::Now(Verdict::Stale, Some("only an older text was analysed in the time allowed".into()))
            }
            Push::Lost => Judged::Lost,
            Push::Never if over => Judged::Never(match standing {
                Standing::Loading { progress, .. } => Shortfall::Loading { progress },
                Standing::Ready => Shortfall::Unanswered { after: now.saturating_duration_since(focus.sent.at) },
            }),
            Push::Older | Push::Never => {
                Judged::Wait(self.silence_ends(record, focus).filter(|at| *at > now).unwrap_or(end).min(end))
            }
        }
    }

    /// All channels of the file, merged. What was pushed for another version than the one on disk is not among it,
    /// unless the verdict says that it is old.
    fn reply(&self, record: &Record, focus: &Focus, verdict: Verdict, reason: Option<String>) -> Reply {
        let mut lists = record.store.reports(&focus.path, focus.sent.version);
        if let Some(pushed) = record.store.pushed(&focus.path)
            && self.counts_beside(!lists.is_empty())
        {
            let old = matches!(
                record.store.push_state(&focus.path, focus.sent, record.changed_at(&focus.path), Instant::now()),
                Push::Older
            );
            let proven = record.verified.get(&focus.path) == Some(&(focus.sent.version, focus.epoch));
            if !old || proven || matches!(verdict, Verdict::Stale | Verdict::Unconfirmed) {
                lists.push(pushed.list());
            }
        }
        Reply {
            answer: Answer::Problems(Listed::merge(lists)),
            verdict,
            reason,
            remarks: Vec::new(),
            encoding: self.encoding,
        }
    }
}

/// What can be said now.
enum Judged {
    Now(Verdict, Option<String>),
    Never(Shortfall),
    /// Its list of this text could not be kept.
    Lost,
    Wait(Instant),
}
