//! Asks one session one question: sync, readiness, request, retries, reading, and what the answer is worth.

use std::{path::PathBuf, sync::atomic::Ordering, time::Duration};

use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::protocol::{
    Method, RequestError, Response, Support,
    positions::{Point, Position},
    read::{self, Caps, ReadError, Wanted},
    types::{EditStep, Listed, SymbolHits, WorkspaceEdit},
    uri::path_to_uri,
};
use crate::registry::Capability;

use super::{
    ground::Ground,
    query::{Actions, Answer, Proposal, Query, Question, Reply, Target, Tree},
    reach::ROUNDS,
    readiness::Standing,
    session::Session,
    shortfall::{Occupied, Shortfall},
    sync::{Focus, SyncError},
    verdict::Verdict,
};

/// Pauses before each retry of a read-only request that the server dropped because the text moved on (LSP codes
/// -32801, -32802, -32800): the first right after a sync.
const RETRIES: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// So long after its start a server may still say what it can do.
const REGISTERS: Duration = Duration::from_secs(1);

/// Pauses between two project-wide answers that have to agree.
const AGREE: [Duration; 7] = [
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

impl Session {
    /// Asks `question`.
    ///
    /// # Errors
    /// With the reason why there is no answer.
    pub async fn ask(&self, ground: &Ground, question: &Question) -> Result<Reply, Shortfall> {
        // What may have come while nobody could listen.
        self.wire.heard_out().await;
        self.supports(question).await?;
        let _pin = question.file.as_deref().map(|file| self.pin(file));
        if question.query == Query::Diagnostics {
            let mut reply = self.diagnose(ground, question).await?;
            self.doubt(ground, question, &mut reply).await;
            return Ok(reply);
        }
        if question.query == Query::ProjectDiagnostics {
            return self.survey(ground, question).await;
        }
        let elsewhere = self.elsewhere(ground, question).await;
        let mut reply = self.ask_reached(ground, question).await?;
        if let Some(elsewhere) = elsewhere {
            self.unite(ground, question, elsewhere, &mut reply).await;
        }
        Ok(reply)
    }

    /// Asks with every file open that may hold a use, where the server knows open ones only.
    async fn ask_reached(&self, ground: &Ground, question: &Question) -> Result<Reply, Shortfall> {
        let Some(mut reached) = self.reach(ground, question).await? else {
            return self.ask_agreed(ground, question).await;
        };
        let mut reply = self.ask_agreed(ground, question).await?;
        let mut rounds = 0;
        while reply.verdict.answered() && self.reach_on(ground, question, &mut reached, &reply).await? {
            if rounds == ROUNDS {
                reached.cut = true;
                break;
            }
            rounds += 1;
            reply = self.ask_agreed(ground, question).await?;
        }
        self.judge_reach(ground, question, &reached, &mut reply).await;
        Ok(reply)
    }

    pub(super) async fn ask_agreed(&self, ground: &Ground, question: &Question) -> Result<Reply, Shortfall> {
        let reply = self.ask_once(ground, question).await?;
        if question.query.project_wide() && reply.verdict == Verdict::Fresh && self.must_agree() {
            return self.until_agreed(ground, question, reply).await;
        }
        Ok(reply)
    }

    fn must_agree(&self) -> bool {
        !self.agreed.load(Ordering::Relaxed) && self.heard.record().readiness.wants_agreement()
    }

    /// Asks again until two answers have the same size: some servers tell nobody that they are still loading.
    async fn until_agreed(&self, ground: &Ground, question: &Question, mut last: Reply) -> Result<Reply, Shortfall> {
        for pause in AGREE {
            if question.left() < pause * 2 {
                break;
            }
            sleep(pause).await;
            let next = self.ask_once(ground, question).await?;
            let agreed = size(&next.answer) == size(&last.answer);
            last = next;
            if agreed {
                self.agreed.store(true, Ordering::Relaxed);
                return Ok(last);
            }
        }
        last.verdict = Verdict::Indexing;
        last.reason = Some("its answers still grow".into());
        Ok(last)
    }

    /// Whether the server can answer, once it has said all that it can do.
    async fn supports(&self, question: &Question) -> Result<(), Shortfall> {
        let capability = question.query.capability();
        let listed = self.entry.def.capabilities.as_ref();
        if listed.is_some_and(|listed| !listed.contains(&capability)) && !self.learnt(capability, question).await {
            return Err(Shortfall::Unsupported(question.query.wants()));
        }
        // Problems are pushed where they cannot be pulled, and who tells of a whole project is seen where it is asked.
        let diagnostics = matches!(question.query, Query::Diagnostics | Query::ProjectDiagnostics);
        if diagnostics || self.offers(question) {
            return Ok(());
        }
        // It may register late: what it lacks is only known once it has loaded.
        self.wait_ready(question.left() / 2).await;
        // ruff is ready at once, and registers its formatter a moment later.
        let end = question.deadline.min(self.started + self.handshake + REGISTERS);
        let mut news = self.heard.news();
        while !self.offers(question) && Instant::now() < end && !self.wire.is_closed() {
            news.mark_unchanged();
            self.wait_news(&mut news, end).await;
        }
        if self.offers(question) { Ok(()) } else { Err(Shortfall::Unsupported(question.query.wants())) }
    }

    /// Whether the server has registered something that its definition does not list.
    async fn learnt(&self, capability: Capability, question: &Question) -> bool {
        let known = || self.heard.record().learned.contains(&capability);
        if known() {
            return true;
        }
        self.wait_ready(question.left() / 2).await;
        known()
    }

    fn offers(&self, question: &Question) -> bool {
        if let Query::Move { from, to, folder } = &question.query {
            return !self.heard_moves(super::moves::Moved::Will, from, to, *folder).is_empty();
        }
        let (record, method) = (self.heard.record(), question.query.method());
        match &question.file {
            // A search of the project is no matter of the file that stands for it.
            Some(file) if method != Method::WorkspaceSymbol => {
                record.effective.can(method, &question.language, file) == Support::Yes
            }
            _ => record.effective.offers(method),
        }
    }

    /// Waits until the server is ready, for at most `longest`; tells where it stands then.
    pub(super) async fn wait_ready(&self, longest: Duration) -> Standing {
        let end = Instant::now() + longest;
        let mut news = self.heard.news();
        loop {
            news.mark_unchanged();
            let standing = self.heard.standing();
            let now = Instant::now();
            let Standing::Loading { until, .. } = &standing else { return standing };
            if now >= end || self.wire.is_closed() {
                return standing;
            }
            // A little past the point where silence alone decides.
            self.wait_news(&mut news, end.min(*until + Duration::from_millis(1))).await;
        }
    }

    /// Waits while the server counts its files anew; nothing else is asked meanwhile, since some servers put it off
    /// while they are asked things.
    pub(super) async fn wait_counted(&self, question: &Question) {
        let mut news = self.heard.news();
        loop {
            news.mark_unchanged();
            let now = Instant::now();
            let Some(until) = self.heard.record().readiness.counting(now) else { return };
            if self.wire.is_closed() || now >= question.deadline {
                return;
            }
            self.wait_news(&mut news, until.min(question.deadline)).await;
        }
    }

    /// Waits for something new from the server, for its end, or until a point in time.
    pub(super) async fn wait_news(&self, news: &mut watch::Receiver<u64>, until: Instant) {
        tokio::select! {
            _ = news.changed() => {}
            _ = self.wire.closed() => {}
            // What it has said in time counts, though nobody has come to read it yet.
            () = sleep_until(until) => self.wire.heard_out().await,
        }
    }

    pub(super) fn sync_or_why(&self, ground: &Ground, question: &Question) -> Result<Option<Focus>, Shortfall> {
        self.sync_beside_or_why(ground, question, &[])
    }

    /// The same with other files open as well.
    pub(super) fn sync_beside_or_why(
        &self,
        ground: &Ground,
        question: &Question,
        beside: &[(PathBuf, String)],
    ) -> Result<Option<Focus>, Shortfall> {
        let focus = question.file.as_deref().map(|path| (path, question.language.as_str()));
        let synced = match self.sync_beside(ground, focus, beside) {
            // The file only stands for its project there: it may be gone, or be none that can be told.
            Err(SyncError::Read(_)) if matches!(question.query, Query::Symbols { .. }) => {
                self.sync_beside(ground, None, beside)
            }
            other => other,
        };
        synced.map_err(|error| self.unsynced(error))
    }

    /// Why a file could not be told, to whoever asked.
    pub(super) fn unsynced(&self, error: SyncError) -> Shortfall {
        match error {
            SyncError::Read(_) | SyncError::Homeless if !self.root.is_dir() => Shortfall::Homeless(self.root.clone()),
            SyncError::Read(error) => Shortfall::File(error.to_string()),
            SyncError::Closed => self.died(),
            SyncError::Ending if self.wire.is_closed() => self.died(),
            SyncError::Overflow | SyncError::Homeless | SyncError::Ending => Shortfall::Outrun,
        }
    }

    async fn ask_once(&self, ground: &Ground, question: &Question) -> Result<Reply, Shortfall> {
        let mut seen = self.caught_up_with_disk(ground, question).await;
        let mut focus = self.sync_or_why(ground, question)?;
        let beside = self.loads_beside(question);
        if !beside && !matches!(self.heard.standing(), Standing::Ready) {
            self.wait_ready(question.left() / 2).await;
            seen = self.caught_up_with_disk(ground, question).await;
            focus = self.sync_or_why(ground, question)?;
        }
        focus = focus.map(|focus| self.up_to_date(ground, focus)).transpose()?;
        let (mut known, mut encoding) = (true, self.encoding);
        let (mut worth, mut reason, mut remarks) = (Verdict::Fresh, None, Vec::new());
        if question.query.project_wide() {
            self.wait_counted(question).await;
            known = self.wait_published(question).await;
        }
        let answer = match &question.query {
            Query::Tree { at, hierarchy, depth } => {
                let focus = focus.as_ref().ok_or(Shortfall::Moved)?;
                Answer::Tree(self.tree(question, focus, *at, *hierarchy, *depth).await?)
            }
            Query::Actions { span, only, title } => {
                let actions =
                    self.actions(ground, question, *span, Wanted { only, title: title.as_deref() }).await?.actions;
                (worth, reason) = super::actions::worth(&actions);
                remarks.extend(actions.lack.as_ref().and_then(|lack| lack.remark.clone()));
                Answer::Actions(actions)
            }
            Query::Rename { .. } | Query::Format { .. } | Query::Act { .. } | Query::Move { .. } => {
                let focus = focus.ok_or(Shortfall::Moved)?;
                let proposal = self.proposal(ground, question, focus).await?;
                if let Some(lack) = &proposal.lack {
                    (worth, reason) = (lack.verdict, Some(lack.reason.clone()));
                    remarks.extend(lack.remark.clone());
                }
                Answer::Edit(proposal)
            }
            Query::Symbols { query } => {
                let found = self.symbols(ground, question, query).await?;
                encoding = found.encoding;
                if found.part.is_some() {
                    (worth, reason) = (Verdict::Partial, found.part);
                }
                Answer::Symbols(found.hits)
            }
            query => {
                let params = self.params(query, focus.as_ref())?;
                let response = self.request_retrying(ground, question, query.method().name(), &params).await?;
                read_answer(question, response.result()).map_err(|error| Shortfall::Shape(error.to_string()))?
            }
        };
        if let Some(missing) = answer.unread().filter(|_| worth == Verdict::Fresh) {
            (worth, reason) = (Verdict::Partial, Some(missing));
        }
        let (verdict, reason) = match self.heard.standing() {
            Standing::Ready if known => (worth, reason.take()),
            Standing::Ready => (Verdict::Indexing, Some("it has not looked at every changed file yet".into())),
            Standing::Loading { .. } if beside && self.loads_beside(question) => (
                worth.max(Verdict::Settling),
                Some(reason.take().unwrap_or_else(|| "it is loading another folder".into())),
            ),
            Standing::Loading { .. } => (Verdict::Indexing, Some("it is still loading the project".into())),
        };
        let (verdict, reason) = seen.judged(verdict, reason);
        Ok(Reply { answer, verdict, reason, remarks, encoding })
    }

    /// A request whose answer the server may refuse because the text moved on; asked again after another sync.
    pub(super) async fn request_retrying(
        &self,
        ground: &Ground,
        question: &Question,
        method: &str,
        params: &Value,
    ) -> Result<Response, Shortfall> {
        let mut retries = RETRIES.into_iter();
        loop {
            match self.request_once(question, method, params).await {
                Err(Shortfall::Server { code, message }) if matches!(code, -32802..=-32800) => {
                    let Some(pause) = retries.next().filter(|pause| question.left() > *pause) else {
                        return Err(Shortfall::Server { code, message });
                    };
                    sleep(pause).await;
                    self.caught_up_with_disk(ground, question).await;
                    self.sync_or_why(ground, question)?;
                }
                other => return other,
            }
        }
    }

    pub(super) async fn request_once(
        &self,
        question: &Question,
        method: &str,
        params: &Value,
    ) -> Result<Response, Shortfall> {
        let (begun, allowed) = (Instant::now(), question.left().min(self.limits.request_timeout));
        if allowed.is_zero() {
            return Err(Shortfall::Busy(Occupied::Late));
        }
        let pending = self.request(method, params, allowed).map_err(|error| self.why(question, error))?;
        let response = pending.await.map_err(|error| self.why(question, error))?;
        // What the server told before it answered is known by then: its answer takes a shorter way than what it tells.
        match timeout(question.left(), self.wire.caught_up(response.order)).await {
            Ok(()) => Ok(response),
            Err(_) => Err(Shortfall::Unanswered { after: begun.elapsed() }),
        }
    }

    pub(super) fn why(&self, question: &Question, error: RequestError) -> Shortfall {
        match error {
            RequestError::Timeout { after, .. } => match self.heard.standing() {
                Standing::Loading { progress, .. } => Shortfall::Loading { progress },
                Standing::Ready => Shortfall::Unanswered { after },
            },
            RequestError::Server { code: -32601, .. } => Shortfall::Unsupported(question.query.wants()),
            RequestError::Server { code, message, .. } => Shortfall::Server { code, message },
            RequestError::Unusable(why) => Shortfall::Shape(format!("it {why}")),
            RequestError::Closed(_) => self.died(),
            RequestError::Busy => Shortfall::Busy(Occupied::Requests { number: self.wire.stats().pending }),
            RequestError::Backlog => Shortfall::Busy(Occupied::Unread),
        }
    }

    /// The parameters of a request about one place or file.
    pub(super) fn params(&self, query: &Query, focus: Option<&Focus>) -> Result<Value, Shortfall> {
        let focus = focus.ok_or(Shortfall::Moved)?;
        let document = json!({"uri": path_to_uri(&focus.path)});
        let Some(at) = query.at() else { return Ok(json!({"textDocument": document})) };
        let position = self.position(focus, at)?;
        let mut params = json!({"textDocument": document, "position": position});
        match query {
            Query::References { declaration, .. } => params["context"] = json!({"includeDeclaration": declaration}),
            Query::Completions { .. } => params["context"] = json!({"triggerKind": 1}),
            Query::Signature { .. } => params["context"] = json!({"triggerKind": 1, "isRetrigger": false}),
            _ => {}
        }
        Ok(params)
    }

    pub(super) fn position(&self, focus: &Focus, at: Point) -> Result<Position, Shortfall> {
        focus.lines.from_point(at, self.encoding).ok_or(Shortfall::Moved)
    }
}

fn read_answer(question: &Question, raw: &[u8]) -> Result<Answer, ReadError> {
    let caps = Caps::default();
    Ok(match &question.query {
        Query::Hover { .. } => Answer::Hover(read::hover(raw, &caps)?),
        Query::Locations { .. } | Query::References { .. } => {
            Answer::Locations(read::locations(raw, &caps, question.file.as_deref())?)
        }
        Query::Completions { typed, .. } => Answer::Completions(read::completions(raw, &caps, typed)?),
        Query::Signature { .. } => Answer::Signatures(read::signatures(raw, &caps)?),
        Query::Outline { sought } => Answer::Outline(read::outline(raw, &caps, sought)?),
        // These are several requests, and read where those are made.
        Query::Symbols { .. } => Answer::Symbols(SymbolHits::default()),
        Query::Diagnostics | Query::ProjectDiagnostics => Answer::Problems(Listed::default()),
        Query::Tree { .. } => Answer::Tree(Tree::default()),
        Query::Actions { .. } => Answer::Actions(Actions::default()),
        Query::Rename { .. } | Query::Format { .. } | Query::Act { .. } | Query::Move { .. } => {
            Answer::Edit(Proposal::default())
        }
    })
}

/// What has to agree between two answers.
fn size(answer: &Answer) -> usize {
    match answer {
        Answer::Locations(list) => list.total,
        Answer::Symbols(list) => list.total,
        Answer::Tree(tree) => tree.nodes.len(),
        Answer::Problems(list) => list.told().sum(),
        Answer::Project(files) => files.iter().map(|(_, list)| list.told().sum()).sum(),
        Answer::Completions(list) => list.total,
        Answer::Outline(list) => list.total,
        Answer::Edit(proposal) => proposal.edit.as_ref().map_or(0, edits),
        Answer::Actions(actions) => actions.list.total,
        Answer::Hover(_) | Answer::Signatures(_) => 0,
    }
}

/// Replacements and operations of an edit.
fn edits(edit: &WorkspaceEdit) -> usize {
    let size = |step: &EditStep| match step {
        EditStep::Texts { edits, .. } => edits.len(),
        EditStep::Create { .. } | EditStep::Rename { .. } | EditStep::Delete { .. } => 1,
    };
    edit.steps.iter().map(size).sum()
}

impl Target {
    /// The word for it in an answer.
    pub fn word(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Declaration => "declaration",
            Self::TypeDefinition => "type definition",
            Self::Implementation => "implementation",
        }
    }
}
