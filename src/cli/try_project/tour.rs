//! The questions of a tour about one language: an outline, a hover, references, problems, each on a file that fits.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde_json::json;
use tokio::time::Instant;

use super::{
    agent::{Agent, Made, Went},
    tally::Tally,
};
use crate::{
    cli::{out, project::survey::Language},
    tools::{
        ToolId,
        outcome::{Body, SymbolLine, Verdict},
    },
};

/// Files whose outlines are compared.
const OUTLINES: usize = 5;
/// Symbols whose references are compared.
const SYMBOLS: usize = 4;
/// Files that are asked for problems, and how long that may take.
const PROBLEMS: usize = 12;
const SCAN: std::time::Duration = std::time::Duration::from_secs(30);
/// Kinds of symbols that have members.
const TYPES: &[&str] = &["class", "interface", "struct", "enum", "module", "namespace", "object", "type"];
/// Kinds of symbols that only hold others.
const SPACES: &[&str] = &["namespace", "module", "package"];
/// An outline of this worth ends the search for a better one.
const GOOD: usize = 24;

/// A tour of one project.
pub(super) struct Tour<'a> {
    pub root: &'a Path,
    pub agent: &'a Agent,
    pub tally: &'a mut Tally,
}

impl Tour<'_> {
    /// Asks about one language; answers with the file to break in a copy.
    pub(super) async fn of(&mut self, language: &Language) -> io::Result<Option<PathBuf>> {
        let Some((file, outline)) = self.outline(language).await else { return Ok(None) };
        if self.tally.step(&outline)? == Went::Wrong {
            // Whatever keeps the server from this keeps it from everything.
            return Ok(None);
        }
        let candidates = symbols(&outline);
        if candidates.is_empty() {
            out::print("  without a symbol to ask about there is no hover and there are no references\n")?;
        } else {
            self.about(&file, &candidates).await?;
        }
        let clean = self.problems(language, &file).await?;
        Ok(Some(clean.unwrap_or(file)))
    }

    /// The outline of the file that shows most.
    async fn outline(&self, language: &Language) -> Option<(PathBuf, Made)> {
        let mut best: Option<(usize, PathBuf, Made)> = None;
        for file in language.files.iter().take(OUTLINES) {
            let made = self.agent.call(ToolId::Symbols, json!({"file_path": self.shown(file)})).await;
            let worth = worth(&made);
            let went = made.went();
            if best.as_ref().is_none_or(|(before, ..)| worth > *before) {
                best = Some((worth, file.clone(), made));
            }
            // The next file would tell the same.
            if worth >= GOOD || went != Went::Well {
                break;
            }
        }
        best.map(|(_, file, made)| (file, made))
    }

    /// Hover and references of the symbol that is used most.
    async fn about(&mut self, file: &Path, candidates: &[SymbolLine]) -> io::Result<()> {
        let mut best: Option<(usize, &SymbolLine, Made)> = None;
        for symbol in candidates.iter().take(SYMBOLS) {
            let made = self.agent.call(ToolId::References, self.address(file, symbol)).await;
            let uses = made.answer.as_ref().map_or(0, |outcome| outcome.page.total);
            let went = made.went();
            if best.as_ref().is_none_or(|(before, ..)| uses > *before) {
                best = Some((uses, symbol, made));
            }
            if went != Went::Well {
                break;
            }
        }
        let Some((_, symbol, references)) = best else { return Ok(()) };
        let hover = self.agent.call(ToolId::Hover, self.address(file, symbol)).await;
        self.tally.step(&hover)?;
        self.tally.step(&references)?;
        Ok(())
    }

    /// The problems of the worst of a few files; answers with one that has none.
    async fn problems(&mut self, language: &Language, file: &Path) -> io::Result<Option<PathBuf>> {
        let until = Instant::now() + SCAN;
        let mut worst: Option<((bool, usize), Made)> = None;
        let mut clean = None;
        let mut asked = 0;
        let others = language.files.iter().map(PathBuf::as_path).filter(|other| *other != file);
        for other in std::iter::once(file).chain(others).take(PROBLEMS) {
            if asked > 0 && Instant::now() > until {
                break;
            }
            self.agent.progress.say(&format!("looking for problems: {}", self.shown(other)));
            let made = self.agent.call(ToolId::Diagnostics, json!({"file_path": self.shown(other)})).await;
            asked += 1;
            let problems = errors(&made);
            if made.answer.as_ref().is_ok_and(|outcome| outcome.verdict == Verdict::Fresh && outcome.page.total == 0) {
                clean.get_or_insert_with(|| other.to_owned());
            }
            let went = made.went();
            // One that is not answered is not passed over for one that is.
            let rank = (went == Went::Wrong, problems);
            if worst.as_ref().is_none_or(|(before, _)| rank > *before) {
                worst = Some((rank, made));
            }
            if went != Went::Well || (problems > 0 && clean.is_some()) {
                break;
            }
        }
        let Some(((wrong, problems), made)) = worst else { return Ok(clean) };
        self.tally.step(&made)?;
        if asked > 1 {
            let found = match (wrong, problems) {
                (true, _) => "this one was not answered",
                (false, 0) => "none has problems",
                (false, _) => "this one has most problems",
            };
            out::print(&format!("  {asked} files were asked about; {found}\n"))?;
        }
        Ok(clean)
    }

    /// By name, as agents do best, where the server's name for it is a plain one.
    fn address(&self, file: &Path, symbol: &SymbolLine) -> serde_json::Value {
        let plain = symbol.name.chars().all(|c| c == '_' || c.is_alphanumeric());
        match plain {
            true => json!({"file_path": self.shown(file), "line": symbol.line, "symbol": symbol.name}),
            false => json!({"file_path": self.shown(file), "line": symbol.line, "column": symbol.column}),
        }
    }

    fn shown(&self, file: &Path) -> String {
        shown(self.root, file)
    }
}

/// A file as an agent names it.
pub(super) fn shown(root: &Path, file: &Path) -> String {
    let inside = file.strip_prefix(root).unwrap_or(file);
    inside.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// How much an outline shows: its symbols, and above all what types have inside.
fn worth(made: &Made) -> usize {
    let members: usize = outermost(lines(made)).iter().map(|(members, _)| *members).sum();
    lines(made).len().min(10) + 2 * members.min(20)
}

/// The outermost symbols of an outline, the types with most members first.
fn symbols(made: &Made) -> Vec<SymbolLine> {
    let mut outermost = outermost(lines(made));
    // A sort that keeps the order of equals.
    outermost.sort_by_key(|(members, _)| std::cmp::Reverse(*members));
    outermost.into_iter().map(|(_, symbol)| symbol.clone()).collect()
}

/// The outermost symbols, each with the number of its members where it is a type. What functions have inside are
/// parameters and variables. A namespace with something inside is not worth a question: what is inside counts as outermost.
fn outermost(lines: &[SymbolLine]) -> Vec<(usize, &SymbolLine)> {
    let mut found: Vec<(usize, &SymbolLine)> = Vec::new();
    let mut outer = 0;
    for (at, symbol) in lines.iter().enumerate() {
        outer = outer.min(symbol.depth);
        let inside = lines.get(at + 1).is_some_and(|next| next.depth > symbol.depth);
        if symbol.depth == outer && inside && SPACES.contains(&symbol.kind.as_str()) {
            outer += 1;
            continue;
        }
        match found.last_mut() {
            Some((members, above)) if symbol.depth > outer => {
                *members += usize::from(TYPES.contains(&above.kind.as_str()));
            }
            _ => found.push((0, symbol)),
        }
    }
    found
}

fn lines(made: &Made) -> &[SymbolLine] {
    match made.answer.as_ref().map(|outcome| &outcome.body) {
        Ok(Body::Symbols(lines)) => lines,
        _ => &[],
    }
}

/// How bad a list of problems is: an error weighs more than any number of warnings.
pub(super) fn errors(made: &Made) -> usize {
    match made.answer.as_ref().map(|outcome| &outcome.body) {
        Ok(Body::Problems(problems)) => {
            problems.iter().map(|problem| if problem.severity == "error" { 1_000 } else { 1 }).sum()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(depth: u32, kind: &str, name: &str) -> SymbolLine {
        SymbolLine {
            depth,
            kind: kind.into(),
            name: name.into(),
            detail: None,
            line: 1,
            column: 1,
            end_line: 1,
            hidden: 0,
        }
    }

    #[test]
    fn members_count_for_types_only() {
        let lines = [
            line(0, "function", "f"),
            line(1, "variable", "a"),
            line(1, "variable", "b"),
            line(0, "class", "C"),
            line(1, "method", "m"),
        ];
        let found: Vec<_> =
            outermost(&lines).into_iter().map(|(members, symbol)| (members, symbol.name.as_str())).collect();
        assert_eq!(found, [(0, "f"), (1, "C")]);
        assert!(outermost(&[]).is_empty());
    }

    #[test]
    fn what_a_namespace_holds_is_outermost() {
        let lines = [
            line(0, "namespace", "a"),
            line(1, "namespace", "b"),
            line(2, "struct", "S"),
            line(3, "field", "f"),
            line(1, "function", "g"),
            line(0, "class", "C"),
            line(1, "method", "m"),
            line(0, "namespace", "empty"),
        ];
        let found: Vec<_> = outermost(&lines).into_iter().map(|(n, symbol)| (n, symbol.name.as_str())).collect();
        assert_eq!(found, [(1, "S"), (0, "g"), (1, "C"), (0, "empty")]);
    }

    #[test]
    fn files_are_named_from_the_root() {
        assert_eq!(shown(Path::new("/p"), Path::new("/p/a b/c.py")), "a b/c.py");
    }
}
