//! Resolves an address to a place: text alone where it has a line, the outline for a name in a file, a search of the
//! project for a name alone. Ambiguity answers with addresses that can be passed straight back.

use serde_json::json;

use crate::{
    protocol::{
        positions::{LineMap, Point},
        read::Sought,
        types::{FileRef, Outline, Symbol, SymbolHit},
    },
    runtime::{
        query::{Answer, Query, Reply},
        shortfall::Shortfall,
    },
};

use super::{
    address::{Address, Aim, Found, LISTED, in_text, listed, occurrences},
    ask::{Ask, Heard},
    file::{File, failure},
    outcome::{Code, Failure, ServerVerdict, Verdict},
    symbol_path::SymbolPath,
};

/// Candidates that a message lists.
const CANDIDATES: usize = 20;
/// Lines of a declaration in which its name is looked for, where the server gives only the whole range.
const DECLARATION: u32 = 20;

/// A place in a file of the workspace.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    pub file: File,
    pub at: Point,
    pub notes: Vec<String>,
}

impl Spot {
    /// For an empty answer: where the line has identifiers, since agents often miss the right column.
    pub(super) fn names(&self) -> Option<String> {
        let names = self.file.lines.identifiers_on(self.at.line);
        // Names are text of the file: only their columns are langport's to tell.
        let columns: Vec<String> = names.iter().take(LISTED).map(|name| (name.start + 1).to_string()).collect();
        let here = if self.file.lines.identifier_at(self.at).is_some() { "" } else { "no name stands there: " };
        (!columns.is_empty())
            .then(|| format!("{here}line {} has names at columns {}", self.at.line + 1, columns.join(", ")))
    }

    /// The same with the names themselves, to stand below.
    pub(super) fn names_there(&self) -> Option<String> {
        listed(&self.file.lines, self.at.line)
    }
}

impl Ask<'_> {
    /// The place that an address means.
    ///
    /// # Errors
    /// As the address's forms say: `invalid`, `not_found`, `ambiguous`, or why the file cannot be read.
    pub(super) async fn locate(&self, address: &Address, aim: Aim) -> Result<Spot, Failure> {
        let Some(given) = &address.file else {
            let symbol = address.symbol.as_deref().unwrap_or_default();
            return self.by_symbol(symbol).await;
        };
        let file = self.file(given)?;
        if address.line.is_some() {
            let Found { at, note } = in_text(&file.lines, &file.shown, address, aim)?;
            return Ok(Spot { file, at, notes: note.into_iter().collect() });
        }
        let symbol = address.symbol.as_deref().unwrap_or_default();
        self.in_file(file, symbol, address.occurrence).await
    }

    /// A name in a file: a declaration that the outline has, else the first use.
    async fn in_file(&self, file: File, symbol: &str, occurrence: Option<u32>) -> Result<Spot, Failure> {
        let path = SymbolPath::parse(symbol)
            .ok_or_else(|| failure(Code::Invalid, "`symbol` holds no name", "give a name such as Cart/add"))?;
        let sought = Sought::Path(path.segments().to_vec());
        let heard = self.ask_primary(&file, Query::Outline { sought }).await?;
        let outline = match &heard.result {
            Ok(Reply { answer: Answer::Outline(outline), encoding, .. }) => Some((outline, encoding)),
            // Whatever keeps the server from this answer would keep it from the next: it is told at once.
            Err(shortfall) if !matches!(shortfall, Shortfall::Unsupported(_)) => {
                return Err(self.unanswered(&heard, shortfall));
            }
            _ => None,
        };
        let mut found: Vec<Point> = Vec::new();
        if let Some((outline, encoding)) = &outline {
            for index in matching(outline, &path) {
                let symbol = &outline.symbols[index];
                found.push(name_in(&file.lines, symbol, outline.flat, **encoding, path.name()));
            }
            found.dedup();
        }
        // What is asked for may be among what could not be read.
        let lost = outline.filter(|(outline, _)| outline.missed > 0).map(|(outline, _)| {
            let all = outline.total + outline.dropped;
            format!("{} of the {all} symbols of {} could be read", outline.symbols.len(), file.shown)
        });
        if let Some(wanted) = occurrence
            && !found.is_empty()
        {
            let at = found.get(wanted as usize - 1).copied();
            let at = at.ok_or_else(|| match lost {
                Some(lost) => self.unread(&heard, &lost),
                None => failure(
                    Code::Invalid,
                    format!("{} has {} of that name, and occurrence {wanted} was asked for", file.shown, found.len()),
                    "give a smaller occurrence",
                ),
            })?;
            return Ok(Spot { file, at, notes: Vec::new() });
        }
        match (&found[..], lost) {
            ([at], lost) => {
                let notes = lost.map(|lost| format!("{lost}: there may be others of that name"));
                Ok(Spot { file, at: *at, notes: notes.into_iter().collect() })
            }
            ([], Some(lost)) => Err(self.unread(&heard, &lost)),
            ([], None) => self.first_use(file, symbol, &path, occurrence, outline.map(|(outline, _)| outline)),
            _ => {
                let candidates = found
                    .iter()
                    .map(|at| (file.shown.clone(), *at, file.lines.line(at.line).unwrap_or_default().to_owned()));
                Err(ambiguous(path.name(), candidates.collect(), found.len()))
            }
        }
    }

    /// The outline has more than could be read, and what is asked for may be in the rest.
    fn unread(&self, heard: &Heard, lost: &str) -> Failure {
        let what = format!("{lost}, and what is asked for may be among the others");
        let open = failure(Code::Failed, what, "give file_path, line and symbol");
        Failure { servers: vec![self.part(heard)], ..open }
    }

    fn first_use(
        &self,
        file: File,
        symbol: &str,
        path: &SymbolPath,
        occurrence: Option<u32>,
        outline: Option<&Outline>,
    ) -> Result<Spot, Failure> {
        let uses = (0..file.lines.line_count()).flat_map(|row| {
            let columns = occurrences(&file.lines, row, path.name(), symbol);
            columns.into_iter().map(move |column| Point { line: row, column })
        });
        let wanted = occurrence.map_or(0, |wanted| wanted as usize - 1);
        let at = if path.is_qualified() { None } else { uses.into_iter().nth(wanted) };
        let Some(at) = at else {
            let mut not_found = failure(
                Code::NotFound,
                format!("{} has no symbol of that name", file.shown),
                "call lsp/symbols for what the file declares, or give file_path, line and symbol",
            );
            if let Some(outline) = outline {
                let names = outline.symbols.iter().map(|symbol| symbol.name.as_str());
                let near = crate::config::nearest::nearest(path.name(), names);
                not_found.details.extend((!near.is_empty()).then(|| format!("similar: {}", near.join(", "))));
            }
            return Err(not_found);
        };
        let note = format!("it is not declared in {}: line {} has its use", file.shown, at.line + 1);
        Ok(Spot { file, at, notes: vec![note] })
    }

    /// A name alone: searched for in the whole project.
    async fn by_symbol(&self, symbol: &str) -> Result<Spot, Failure> {
        let path = SymbolPath::parse(symbol)
            .ok_or_else(|| failure(Code::Invalid, "`symbol` holds no name", "give a name such as Cart/add"))?;
        let search = self.search(path.name()).await?;
        let hits: Vec<&(SymbolHit, crate::protocol::positions::Encoding)> =
            search.hits.iter().filter(|(hit, _)| hit_matches(hit, &path)).collect();
        let mut spots: Vec<Spot> = Vec::new();
        for (hit, encoding) in hits.iter().take(CANDIDATES * 2) {
            let FileRef::Path(target) = &hit.file else { continue };
            if !self.engine.ground.roots.contains(target) {
                continue;
            }
            let Ok(file) = self.file(&target.to_string_lossy()) else { continue };
            let at = match hit.range {
                Some(range) => {
                    let start = file.lines.point(range.start, *encoding);
                    name_near(&file.lines, start, path.name())
                }
                None => match (0..file.lines.line_count()).find_map(|row| {
                    occurrences(&file.lines, row, path.name(), symbol).first().map(|c| Point { line: row, column: *c })
                }) {
                    Some(at) => at,
                    None => continue,
                },
            };
            if !spots.iter().any(|spot| spot.file.path == file.path && spot.at == at) {
                spots.push(Spot { file, at, notes: Vec::new() });
            }
        }
        let is_whole = search.verdict.is_some_and(Verdict::answered);
        match spots.len() {
            1 => {
                let mut spot = spots.swap_remove(0);
                if !is_whole {
                    // Another one of that name may be meant.
                    let part = "the search for it did not reach everything: there may be others of that name";
                    spot.notes.push(part.to_owned());
                    spot.notes.extend(search.remarks);
                }
                Ok(spot)
            }
            // That nobody knows it is only said when everybody has answered.
            0 if !is_whole => {
                let may_come =
                    |server: &ServerVerdict| !server.verdict.answered() && server.verdict != Verdict::Unavailable;
                // Who is not there will not be there next time either.
                let next = match search.servers.iter().any(may_come) {
                    true => "ask again, or give file_path with the symbol",
                    false => "give file_path with the symbol; lsp/status has what is missing",
                };
                let what = "the search for a symbol of that name did not reach everything";
                let mut open = failure(Code::Failed, what, next);
                open.details.extend(search.remarks);
                open.servers = search.servers;
                Err(open)
            }
            0 => {
                let mut not_found = failure(
                    Code::NotFound,
                    "no server knows a symbol of that name in the project",
                    "give file_path with the symbol, or search with lsp/workspace-symbols",
                );
                not_found.servers = search.servers;
                Err(not_found)
            }
            n => {
                let candidates = spots.iter().map(|spot| {
                    (
                        spot.file.shown.clone(),
                        spot.at,
                        spot.file.lines.line(spot.at.line).unwrap_or_default().to_owned(),
                    )
                });
                Err(ambiguous(path.name(), candidates.collect(), n))
            }
        }
    }
}

/// Several places fit: each as an address.
fn ambiguous(name: &str, candidates: Vec<(String, Point, String)>, total: usize) -> Failure {
    let mut ambiguous = failure(Code::Ambiguous, format!("{total} symbols fit"), "pass one of these addresses");
    for (file, at, line) in candidates.into_iter().take(CANDIDATES) {
        let address = json!({"file_path": file, "line": at.line + 1, "symbol": name});
        ambiguous.details.push(format!("{address}  {}", line.trim()));
    }
    ambiguous
}

/// Symbols of an outline whose path ends with the asked one.
fn matching(outline: &Outline, path: &SymbolPath) -> Vec<usize> {
    let mut chain: Vec<Vec<String>> = Vec::new();
    let mut found = Vec::new();
    for (index, symbol) in outline.symbols.iter().enumerate() {
        chain.truncate(usize::from(symbol.depth));
        let own = SymbolPath::parse(&symbol.name).map(SymbolPath::into_segments).unwrap_or_default();
        let mut full: Vec<String> = chain.iter().flatten().cloned().collect();
        if outline.flat
            && let Some(container) = symbol.container.as_deref().and_then(SymbolPath::parse)
        {
            full.extend(container.into_segments());
        }
        full.extend(own.iter().cloned());
        if path.matches(&full) {
            found.push(index);
        }
        while chain.len() < usize::from(symbol.depth) {
            chain.push(Vec::new());
        }
        chain.push(own);
    }
    found
}

/// Where a symbol's name stands.
pub(super) fn name_in(
    lines: &LineMap,
    symbol: &Symbol,
    flat: bool,
    encoding: crate::protocol::positions::Encoding,
    name: &str,
) -> Point {
    let start = lines.point(if flat { symbol.range.start } else { symbol.selection.start }, encoding);
    if flat { name_near(lines, start, name) } else { start }
}

/// The first occurrence of a name from a place on, within a few lines; the place itself where there is none. Servers
/// that give a whole declaration begin it at a decorator, a comment or a keyword.
pub(super) fn name_near(lines: &LineMap, from: Point, name: &str) -> Point {
    for row in from.line..from.line.saturating_add(DECLARATION).min(lines.line_count()) {
        let columns = occurrences(lines, row, name, name);
        let first = columns.into_iter().find(|column| row > from.line || *column >= from.column);
        if let Some(column) = first {
            return Point { line: row, column };
        }
    }
    from
}

fn hit_matches(hit: &SymbolHit, path: &SymbolPath) -> bool {
    let mut full =
        hit.container.as_deref().and_then(SymbolPath::parse).map(SymbolPath::into_segments).unwrap_or_default();
    if let FileRef::Path(file) = &hit.file
        && full.is_empty()
        && let Some(stem) = file.file_stem()
    {
        full.push(stem.to_string_lossy().into_owned());
    }
    full.extend(SymbolPath::parse(&hit.name).map(SymbolPath::into_segments).unwrap_or_default());
    path.matches(&full)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::positions::{Position, Range};

    fn symbol(name: &str, depth: u16, line: u32) -> Symbol {
        let range = Range { start: Position { line, character: 0 }, end: Position { line, character: 1 } };
        Symbol {
            name: name.into(),
            detail: None,
            kind: 5,
            range,
            selection: range,
            depth,
            container: None,
            deprecated: false,
        }
    }

    #[test]
    fn nested_names_make_a_path() {
        let outline = Outline {
            symbols: vec![
                symbol("Cart", 0, 0),
                symbol("add", 1, 1),
                symbol("Basket", 0, 3),
                symbol("add(int)", 1, 4),
                symbol("add", 0, 6),
            ],
            total: 5,
            ..Outline::default()
        };
        let find = |text: &str| matching(&outline, &SymbolPath::parse(text).unwrap());
        assert_eq!(find("add"), [1, 3, 4]);
        assert_eq!(find("Cart/add"), [1]);
        assert_eq!(find("Basket.add"), [3]);
        assert!(find("Shop.add").is_empty());
    }

    #[test]
    fn the_name_of_a_decorated_declaration() {
        let lines = LineMap::new("@cache\n# a comment\ndef slow(n):\n    return n\n".into());
        assert_eq!(name_near(&lines, Point::default(), "slow"), Point { line: 2, column: 4 });
        assert_eq!(name_near(&lines, Point::default(), "quick"), Point::default());
    }
}
