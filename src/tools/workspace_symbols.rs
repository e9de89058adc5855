//! `lsp/workspace-symbols`: a search of the project for symbols.

use serde_json::{Map, Value};

use crate::protocol::types::{FileRef, SymbolHit};

use super::{
    args::{Args, invalid},
    ask::Ask,
    cursor,
    kinds::{self, count},
    locate::name_near,
    outcome::{Body, Failure, FoundSymbol, Outcome, Page, Verdict},
    places::{Reader, fingerprint},
    symbol_path::SymbolPath,
};

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let query = args.text("query")?.unwrap_or_default();
    let kind = args.text("kind")?.map(|kind| kind.to_lowercase());
    let token = args.text("cursor")?;
    args.finish()?;
    if query.is_empty() {
        // Some servers answer an empty query with everything they know, others with nothing: neither is of use.
        return Err(invalid("`query` is empty", "give a part of the name"));
    }
    if let Some(kind) = &kind
        && !(1..=26).any(|number| kinds::symbol(number) == kind)
    {
        let words: Vec<_> = (1..=26).map(kinds::symbol).collect();
        return Err(invalid(format!("`kind` is {kind:?}"), format!("give one of {}", words.join(", "))));
    }
    let search = ask.search(&query).await?;
    let verdict = search.verdict.unwrap_or(Verdict::Unavailable);
    let mut hits: Vec<_> = search
        .hits
        .iter()
        .filter(|(hit, _)| kind.as_ref().is_none_or(|kind| kinds::symbol(hit.kind) == kind))
        .filter(|(hit, _)| match &hit.file {
            FileRef::Path(path) => ask.engine.ground.roots.contains(path),
            FileRef::Foreign(_) => false,
        })
        .collect();
    let outside = search.hits.len() - hits.len();
    hits.sort_by_cached_key(|(hit, _)| (rank(hit, &query), hit.name.len(), hit.name.clone(), path(hit), hit.range));
    hits.dedup();
    let print =
        fingerprint(ask, hits.iter().map(|(hit, _)| (&hit.name, hit.kind, path(hit), hit.range)).collect::<Vec<_>>());
    let offset = cursor::resume(ask.tool, token.as_deref(), print)?;
    let total = hits.len();
    let mut items = Vec::new();
    for (hit, encoding) in hits.into_iter().skip(offset).take(ask.page_items()) {
        let mut reader = Reader::new(ask, *encoding);
        let (mut line, mut column) = (1, 1);
        if let (Some(range), FileRef::Path(file)) = (hit.range, &hit.file) {
            let span = reader.span(&hit.file, range);
            (line, column) = (span.line, span.column);
            let name = SymbolPath::parse(&hit.name).map_or_else(|| hit.name.clone(), |path| path.name().to_owned());
            if let Some(lines) = reader.lines(file) {
                let at =
                    name_near(&lines, crate::protocol::positions::Point { line: line - 1, column: column - 1 }, &name);
                (line, column) = (at.line + 1, at.column + 1);
            }
        }
        items.push(FoundSymbol {
            file: reader.shown(&hit.file),
            line,
            column,
            kind: kinds::symbol(hit.kind).into(),
            name: hit.name.clone(),
            container: hit.container.clone().filter(|container| !container.is_empty()),
        });
    }
    let mut summary = match verdict {
        _ if total > 0 => count(total, "symbol", "symbols"),
        Verdict::Unanswered => "no answer: this does not say that there are none; ask again".to_owned(),
        Verdict::Indexing => "no symbols found so far; ask again".to_owned(),
        _ => "no symbols found".to_owned(),
    };
    if search.beyond > 0 {
        summary.push_str(&format!(", {} more were cut off", search.beyond));
    }
    let mut notes = search.remarks;
    if outside > 0 && kind.is_none() {
        notes.push(format!("{} outside the workspace left out", count(outside, "symbol", "symbols")));
    }
    Ok(Outcome {
        verdict,
        servers: search.servers,
        summary,
        notes,
        details: Vec::new(),
        body: Body::Found(items),
        page: Page { offset, total, fingerprint: print, ..Page::default() },
    })
}

/// The same name first, then what begins with it, then the rest.
fn rank(hit: &SymbolHit, query: &str) -> u8 {
    let (name, folded) = (hit.name.to_lowercase(), query.to_lowercase());
    match () {
        () if hit.name == query => 0,
        () if name == folded => 1,
        () if name.starts_with(&folded) => 2,
        () => 3,
    }
}

fn path(hit: &SymbolHit) -> String {
    match &hit.file {
        FileRef::Path(path) => path.to_string_lossy().into_owned(),
        FileRef::Foreign(uri) => uri.clone(),
    }
}
