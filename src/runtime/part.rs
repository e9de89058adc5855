//! What an answer about the whole project is worth, where the server knows a part of its files: whole, a part, or whole
//! with a remark.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crate::{
    protocol::{
        Method, Support,
        read::{self, Caps},
        types::FileRef,
    },
    registry::Knows,
};

use super::{
    ground::Ground,
    query::{Answer, Hierarchy, Query, Question, Reply},
    reach::{Aim, Reached, named},
    session::Session,
    verdict::Verdict,
};

/// Files that a remark names.
const SHOWN: usize = 3;

impl Session {
    /// Judges an answer by what the server could see.
    pub(super) async fn judge_reach(
        &self,
        ground: &Ground,
        question: &Question,
        reached: &Reached<'_>,
        reply: &mut Reply,
    ) {
        if !reply.verdict.answered() {
            return;
        }
        let named = named(&reply.answer);
        let missing = |files: &BTreeSet<PathBuf>| files.difference(&named).cloned().collect::<BTreeSet<_>>();
        let (unseen, silent) = (missing(&reached.unseen), missing(&reached.opened));
        let asked_too: BTreeSet<PathBuf> = named.iter().chain(&question.file).cloned().collect();
        let word = reached.words.first().filter(|_| !reached.any);
        let for_symbols = reached.aim == Aim::Symbols;
        let moves = matches!(question.query, Query::Move { .. });
        let have = |files: &BTreeSet<PathBuf>| match (files.len(), word) {
            (_, None) if for_symbols => format!("{} may hold some", others(files)),
            (_, Some(_)) if moves => format!("{} may refer to it", others(files)),
            (_, None) => format!("{} may hold a use", others(files)),
            (1, Some(word)) if for_symbols => format!("1 other file has `{word}` in it"),
            (number, Some(word)) if for_symbols => format!("{number} other files have `{word}` in them"),
            (1, Some(word)) => format!("1 other file has the word `{word}`"),
            (number, Some(word)) => format!("{number} other files have the word `{word}`"),
        };
        let reach = &self.entry.def.reach;
        let (reason, files) = if !unseen.is_empty() && reach.knows == Knows::File {
            (format!("it knows one file only, and {}", have(&unseen)), unseen)
        } else if !unseen.is_empty() {
            (format!("it knows a part of the files, and {}", have(&unseen)), unseen)
        } else if reached.cut {
            ("it knows a part of the files, and the others could not all be searched".into(), BTreeSet::new())
        } else if for_symbols {
            return;
        } else if !silent.is_empty() && self.is_overlooked(ground, reached, &asked_too) {
            (format!("it overlooks some uses, and {}", have(&silent)), silent)
        } else if reach.knows == Knows::Project && self.is_overlooked(ground, reached, &asked_too) {
            ("it overlooks some uses of what is declared like this".into(), BTreeSet::new())
        } else if !silent.is_empty() && self.is_misread(ground, question, &silent).await {
            let says = self.says_what_it_is();
            (format!("without {says} it takes some of these files for another language, and {}", have(&silent)), silent)
        } else {
            match self.contradicted(ground, question, reached, &reply.answer, &named).await {
                Some(part) => part,
                None => {
                    self.remark(ground, question, word.map(String::as_str), &silent, reply);
                    return;
                }
            }
        };
        reply.verdict = Verdict::Partial;
        reply.reason = Some(reason);
        if !files.is_empty() {
            reply.remarks.push(format!("not among it: {}", shown(ground, &files)));
        }
    }

    /// Whether the asked file or one of these is taken for something else than it is.
    async fn is_misread(&self, ground: &Ground, question: &Question, others: &BTreeSet<PathBuf>) -> bool {
        if !question.file.iter().chain(others).any(|path| self.shows(path)) {
            return false;
        }
        for path in question.file.iter().chain(others) {
            if self.misreads(ground, &question.language, path).await {
                return true;
            }
        }
        false
    }

    /// Why a server's own references say that its answer is a part, and the files that lacks.
    async fn contradicted(
        &self,
        ground: &Ground,
        question: &Question,
        reached: &Reached<'_>,
        answer: &Answer,
        named: &BTreeSet<PathBuf>,
    ) -> Option<(String, BTreeSet<PathBuf>)> {
        let calls_stay = self.entry.def.reach.calls_stay && reached.is_across();
        let (at, calls) = match &question.query {
            Query::Rename { at, .. } => (*at, false),
            Query::Tree { at, hierarchy: Hierarchy::IncomingCalls, .. } if calls_stay => (*at, true),
            _ => return None,
        };
        let file = question.file.as_deref()?;
        let offers = self.heard.record().effective.can(Method::References, &question.language, file) == Support::Yes;
        if !offers {
            return None;
        }
        let focus = self.sync_or_why(ground, question).ok()??;
        let params = self.params(&Query::References { at, declaration: true }, Some(&focus)).ok()?;
        let response = self.request_retrying(ground, question, Method::References.name(), &params).await.ok()?;
        let used = read::locations(response.result(), &Caps::default(), None).ok()?;
        let inside = |file: FileRef| match file {
            FileRef::Path(path) => Some(path).filter(|path| ground.roots.contains(path) && is_own(path)),
            FileRef::Foreign(_) => None,
        };
        let mut missing: BTreeSet<PathBuf> = used.files.into_iter().filter_map(inside).collect();
        missing.retain(|path| !named.contains(path));
        if calls {
            // They are looked for where the called one is.
            let top = match answer {
                Answer::Tree(tree) => tree.nodes.first().map(|node| &node.item.file),
                _ => None,
            };
            let home = if let Some(FileRef::Path(home)) = top { home.as_path() } else { file };
            missing.retain(|path| self.are_apart(ground, path, home));
        } else {
            // What goes by another name stays as it is.
            let word = reached.words.first().map(String::as_str).unwrap_or_default();
            missing.retain(|path| ground.read(path).is_ok_and(|snapshot| snapshot.text.contains(word)));
        }
        let what = if calls { "looks for callers in one project" } else { "does not rename all that it refers to" };
        (!missing.is_empty()).then(|| (format!("it {what}: there are references in {}", others(&missing)), missing))
    }

    /// Says in how many files the word stands without being a use, as the server sees it.
    fn remark(
        &self,
        ground: &Ground,
        question: &Question,
        word: Option<&str>,
        silent: &BTreeSet<PathBuf>,
        reply: &mut Reply,
    ) {
        let told = matches!(question.query, Query::References { declaration: true, .. } | Query::Rename { .. });
        if let Some(word) = word.filter(|_| told && !silent.is_empty()) {
            let files = others(silent).replacen(" other", "", 1);
            reply.remarks.push(format!(
                "`{word}` also stands in {files} where it sees no use of this: {}",
                shown(ground, silent)
            ));
        }
    }
}

pub(super) fn others(files: &BTreeSet<PathBuf>) -> String {
    match files.len() {
        1 => "1 other file".to_owned(),
        number => format!("{number} other files"),
    }
}

pub(super) fn shown(ground: &Ground, files: &BTreeSet<PathBuf>) -> String {
    let mut shown: Vec<String> = files.iter().take(SHOWN).map(|path| ground.roots.display(path)).collect();
    if files.len() > SHOWN {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

/// Whether a file is not of an installed package.
fn is_own(path: &Path) -> bool {
    !path.components().any(|part| part.as_os_str() == "node_modules")
}
