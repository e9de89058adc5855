//! Names that a file uses and a server does not know, because it knows the open files only: what may declare them is opened
//! before it is asked what mends that. What cannot be looked at makes the answer a part.

use crate::{
    protocol::types::{Diagnostic, Severity},
    registry::{Capability, Knows},
    workspace::words,
};

use super::{
    ground::Ground,
    part::{others, shown},
    query::{Lack, Question},
    reach::Reached,
    session::Session,
    shortfall::Shortfall,
    sync::Focus,
    verdict::Verdict,
};

impl Session {
    /// Opens the files that may declare what these problems say is not known.
    ///
    /// # Errors
    /// With the reason why the server cannot be asked.
    pub(super) async fn reach_undeclared(
        &self,
        ground: &Ground,
        question: &Question,
        focus: &Focus,
        problems: impl Iterator<Item = &Diagnostic>,
    ) -> Result<Option<Reached<'_>>, Shortfall> {
        let reach = &self.entry.def.reach;
        if reach.knows == Knows::Project || reach.local.contains(&Capability::CodeActions) {
            return Ok(None);
        }
        let mut names: Vec<String> = Vec::new();
        for name in problems.filter_map(|problem| self.undeclared(focus, problem)) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        if names.is_empty() || self.is_listed(ground, &focus.path).await {
            return Ok(None);
        }
        self.reach_names(ground, question, names).await.map(Some)
    }

    /// The name that a problem says is not known.
    fn undeclared<'f>(&self, focus: &'f Focus, problem: &Diagnostic) -> Option<&'f str> {
        let reach = &self.entry.def.reach;
        let counts = match &reach.undeclared[..] {
            [] => problem.severity == Severity::Error,
            codes => problem.code.as_ref().is_some_and(|code| codes.contains(code)),
        };
        let (start, end) = (problem.range.start, problem.range.end);
        let from = focus.lines.point(start, self.encoding);
        let upto = focus.lines.point(end, self.encoding);
        let line = focus.lines.line(from.line).filter(|_| counts)?;
        let end = if upto.line == from.line { usize::try_from(upto.column).ok()? } else { usize::MAX };
        words::name_from(line, usize::try_from(from.column).ok()?, end, &reach.letters)
    }

    /// Has the server look again at a file that it was told of before it had looked at what was opened for it: another
    /// question may have had it do so in between, and then what it says of the file counts as the newest.
    pub(super) fn look_again(&self, ground: &Ground, reached: &Reached<'_>, focus: &Focus) -> Result<(), Shortfall> {
        let before = {
            let record = self.heard.record();
            let told = record.sent.get(&focus.path).map_or(focus.sent.at, |sent| sent.at);
            reached.opened.iter().filter_map(|path| record.store.pushed(path)).any(|list| list.at > told)
        };
        if before && self.entry.def.ready.published {
            self.retrigger(ground, focus.clone())?;
        }
        Ok(())
    }

    /// What the answer lacks; `indexed` says whether the server has looked at all that was opened for it.
    pub(super) fn lack(&self, ground: &Ground, reached: &Reached<'_>, indexed: bool) -> Option<Lack> {
        let unseen = &reached.unseen;
        let have = match (&reached.words[..], unseen.len()) {
            ([name], 1) => format!("1 other file has the word `{name}`"),
            ([name], number) => format!("{number} other files have the word `{name}`"),
            (_, 1) => "1 other file has names that it does not know".to_owned(),
            (_, number) => format!("{number} other files have names that it does not know"),
        };
        let (verdict, reason) = if !unseen.is_empty() {
            let knows = if self.entry.def.reach.knows == Knows::File { "one file only" } else { "a part of the files" };
            (Verdict::Partial, format!("it knows {knows}, and {have}"))
        } else if reached.cut {
            (Verdict::Partial, "it knows a part of the files, and the others could not all be searched".to_owned())
        } else if !indexed {
            let files = others(&reached.opened);
            (Verdict::Indexing, format!("it has not looked at {files} yet that may declare what is missing"))
        } else {
            return None;
        };
        let remark = (!unseen.is_empty()).then(|| format!("not looked at: {}", shown(ground, unseen)));
        Some(Lack { verdict, reason, remark })
    }
}
