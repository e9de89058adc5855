//! Questions about many files: a server's own view of its whole project, files opened together, and the files that
//! servers know something of.

use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures::future::join_all;
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::{
    protocol::{
        read::{self, Caps, FileReport},
        types::{FileRef, Listed, Report},
    },
    registry::{DiagnosticMode, Entry},
};

use super::{
    ground::Ground,
    instance::State,
    pool::Pool,
    query::{Answer, Query, Question, Reply},
    readiness::Standing,
    session::Session,
    shortfall::Shortfall,
    sync::SyncError,
    verdict::Verdict,
};

impl Session {
    /// Asks for the problems of the whole project, where the definition says that such a report can be relied on: tombi
    /// reads files again some time after it was told of them, and says until then what they held before; pyright never
    /// ends its report and begins it with empty lists for what it has not looked at. Files that the server does not name,
    /// or that another of its sources may know more of, are left out: that it is silent about them proves nothing.
    pub(super) async fn survey(&self, ground: &Ground, question: &Question) -> Result<Reply, Shortfall> {
        if !self.entry.def.diagnostics.project {
            return Err(Shortfall::Unsupported(question.query.wants()));
        }
        self.wait_ready(question.left() / 2).await;
        let seen = self.caught_up_with_disk(ground, question).await;
        self.sync_or_why(ground, question)?;
        let providers = match self.entry.def.diagnostics.mode {
            DiagnosticMode::Push => Vec::new(),
            _ => self.heard.record().effective.project_providers(),
        };
        if providers.is_empty() || providers.iter().any(|(_, whole)| !whole) {
            return Err(Shortfall::Unsupported(question.query.wants()));
        }
        let asked = providers.iter().map(|(identifier, _)| self.survey_one(ground, question, identifier.as_deref()));
        let mut by_file: HashMap<PathBuf, Vec<Listed>> = HashMap::new();
        for reports in join_all(asked).await {
            for report in reports? {
                let FileRef::Path(path) = report.file else { continue };
                if let Report::Full { list, .. } = report.report
                    && self.is_told(&path, report.version)
                {
                    by_file.entry(path).or_default().push(list);
                }
            }
        }
        if let Standing::Loading { progress, .. } = self.heard.standing() {
            // There is more time for it where the files are asked about.
            return Err(Shortfall::Loading { progress });
        }
        let record = self.heard.record();
        let whole = |(path, lists): &(PathBuf, Vec<_>)| {
            // What it pushes besides is merged where the file itself is asked about.
            lists.len() == providers.len() && record.store.pushed(path).is_none_or(|pushed| pushed.list().is_empty())
        };
        let files = by_file.into_iter().filter(whole).map(|(path, lists)| (path, Listed::merge(lists)));
        let answer = Answer::Project(files.collect());
        let (verdict, reason) = seen.judged(Verdict::Fresh, self.entry.def.untrusted.note.clone());
        Ok(Reply { answer, verdict, reason, remarks: Vec::new(), encoding: self.encoding })
    }

    /// One source's report. No earlier result ids are sent: ty keeps such a request until something changes, and says
    /// "no problems" of any file that they name and it does not know, a deleted one or one that is left out.
    async fn survey_one(
        &self,
        ground: &Ground,
        question: &Question,
        identifier: Option<&str>,
    ) -> Result<Vec<FileReport>, Shortfall> {
        let mut params = json!({"previousResultIds": []});
        if let Some(identifier) = identifier {
            params["identifier"] = identifier.into();
        }
        let response = self.request_retrying(ground, question, "workspace/diagnostic", &params).await?;
        let report = read::workspace_report(response.result(), &Caps::default())
            .map_err(|error| Shortfall::Shape(error.to_string()))?;
        Ok(report.map(|report| report.items).unwrap_or_default())
    }

    /// Whether a report is about the text that the server was last told; of a file that is not open it read the disk.
    fn is_told(&self, path: &Path, version: Option<i32>) -> bool {
        let sent = self.heard.record().sent.get(path).copied();
        sent.is_none_or(|sent| version.is_none_or(|version| version == sent.version))
    }

    /// Files that are open, or of which problems are known.
    fn known_files(&self) -> BTreeSet<PathBuf> {
        let record = self.heard.record();
        let known = record.sent.keys().cloned();
        known.chain(record.store.with_problems().map(Path::to_owned)).collect()
    }
}

impl Pool {
    /// Opens files together, before each of them is asked about.
    ///
    /// # Errors
    /// With the reason why the server cannot be asked anything.
    pub async fn open(
        &self,
        caller: u64,
        entry: &Arc<Entry>,
        root: &Path,
        files: &[(&Path, &str)],
        deadline: Instant,
    ) -> Result<(), Shortfall> {
        let (session, _claim) = self.session(caller, entry, root, deadline).await?;
        let _hold = session.hold();
        session.follow_wishes(self.ground()).await;
        self.ground().barrier().await;
        match session.sync_all(self.ground(), files) {
            // What ails a file, or a session that is to be replaced, shows again where the file is asked about.
            Ok(_) | Err(SyncError::Read(_) | SyncError::Overflow | SyncError::Homeless | SyncError::Ending) => Ok(()),
            Err(SyncError::Closed) => {
                session.settle_death().await;
                Err(session.died())
            }
        }
    }

    /// What a server says of its whole project within `longest`.
    ///
    /// # Errors
    /// With the reason why there is no answer; many servers cannot be asked so.
    pub async fn survey(
        &self,
        caller: u64,
        entry: &Arc<Entry>,
        root: &Path,
        longest: Duration,
    ) -> Result<Reply, Shortfall> {
        let deadline = Instant::now() + longest;
        let query = Query::ProjectDiagnostics;
        let question = Question { file: None, language: String::new(), query, asked: Instant::now(), deadline };
        let asked = self.ask(caller, entry, root, &question);
        timeout(longest, asked).await.unwrap_or(Err(Shortfall::Unanswered { after: longest }))
    }

    /// For each running server its definition, each folder that it serves and the files that it knows something of.
    pub fn known_files(&self) -> Vec<(Arc<Entry>, PathBuf, BTreeSet<PathBuf>)> {
        let mut all = Vec::new();
        for instance in self.all() {
            let State::Running(session) = instance.state() else { continue };
            let files = session.known_files();
            // Files of one folder may depend on those of another one that the same process serves.
            let folders = session.folders();
            all.extend(folders.iter().map(|folder| (instance.entry.clone(), folder.clone(), files.clone())));
        }
        all
    }
}
