//! Files that a server takes for something else than they are, or does not look at: what it says of them is not all.

use std::path::Path;

use crate::sys::blocking::blocking;

use super::{
    ground::Ground,
    query::{Answer, Question, Reply},
    session::Session,
    verdict::Verdict,
};

/// Files of a folder that are looked at.
const BESIDE: usize = 1_000;

impl Session {
    /// Judges the problems of a file by what the server makes of the file itself.
    pub(super) async fn doubt(&self, ground: &Ground, question: &Question, reply: &mut Reply) {
        let Some(path) = question.file.as_deref().filter(|_| reply.verdict == Verdict::Fresh) else { return };
        let Answer::Problems(problems) = &reply.answer else { return };
        let aside = &self.entry.def.diagnostics.aside;
        let is_aside = problems.items.iter().filter_map(|item| item.code.as_ref()).any(|code| aside.contains(code));
        let reason = if is_aside {
            "it says that this file is no part of what it looks at".to_owned()
        } else if self.misreads(ground, &question.language, path).await && self.stands_beside(path) {
            let says = self.says_what_it_is();
            format!("it takes this file for one of another language, since no {says} says what it is")
        } else {
            return;
        };
        reply.verdict = Verdict::Partial;
        reply.reason = Some(reason);
    }

    /// Whether a file has one beside it that shows its language.
    fn stands_beside(&self, path: &Path) -> bool {
        blocking(|| {
            let beside = path.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
            beside.take(BESIDE).any(|file| self.shows(Path::new(&file.file_name())))
        })
    }

    /// Whether a file shows of what language those are that are misread.
    pub(super) fn shows(&self, path: &Path) -> bool {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        self.entry.def.reach.misread.iter().flat_map(|misread| &misread.among).any(|it| it == ending)
    }

    /// Whether a file of this language is taken for one of another.
    pub(super) async fn misreads(&self, ground: &Ground, language: &str, path: &Path) -> bool {
        let Some(misread) = self.entry.def.reach.misread.as_ref().filter(|misread| misread.language == language) else {
            return false;
        };
        let ending = path.extension().and_then(|ending| ending.to_str());
        if !ending.is_some_and(|ending| misread.endings.iter().any(|it| it == ending)) {
            return false;
        }
        let Some(root) = ground.roots.root_of(path) else { return false };
        let ceiling = &ground.roots.all()[root].path;
        let mut above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(ceiling));
        if above.any(|folder| misread.unless.iter().any(|name| folder.join(name).is_file())) {
            return false;
        }
        !self.is_listed(ground, path).await
    }

    /// The files that would say what others are.
    pub(super) fn says_what_it_is(&self) -> String {
        let reach = &self.entry.def.reach;
        let unless = reach.misread.iter().filter_map(|misread| misread.unless.first());
        let files: Vec<&str> = reach.lists.first().into_iter().chain(unless).map(String::as_str).collect();
        files.join(" or ")
    }
}
