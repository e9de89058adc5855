//! `lsp/symbols`: the outline of a file, one line a symbol.

use serde_json::{Map, Value};

use crate::{
    protocol::{
        positions::{Encoding, LineMap},
        read::Sought,
        types::Outline,
    },
    runtime::query::{Answer, Query},
};

use super::{
    args::{Args, invalid},
    ask::Ask,
    cursor,
    kinds::{self, count},
    locate::name_in,
    outcome::{Body, Failure, Outcome, Page, SymbolLine},
    places::fingerprint,
    symbol_path::SymbolPath,
};

/// Levels shown by default.
const DEPTH: u32 = 2;

pub(super) async fn run(ask: &Ask<'_>, arguments: &Map<String, Value>) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let given = args.text("file_path")?;
    let depth = args.number("depth")?.unwrap_or(DEPTH);
    let query = args.text("query")?.unwrap_or_default();
    let token = args.text("cursor")?;
    args.finish()?;
    let given = given.ok_or_else(|| invalid("no file is named", "give file_path"))?;
    let file = ask.file(&given)?;
    // All that is shown, where there is more than can be kept.
    let sought = if query.is_empty() { Sought::Above(depth) } else { Sought::Part(query.to_lowercase()) };
    let heard = ask.ask_primary(&file, Query::Outline { sought }).await?;
    let reply = match &heard.result {
        Ok(reply) => reply,
        Err(shortfall) => return ask.short(&heard, shortfall),
    };
    let Answer::Outline(outline) = &reply.answer else { return Err(super::wrong_kind()) };
    let lines = lines(outline, &file.lines, reply.encoding, depth, &query);
    let print = fingerprint(ask, (&file.path, format!("{lines:?}")));
    let offset = cursor::resume(ask.tool, token.as_deref(), print)?;
    let total = lines.len();
    let items = lines.into_iter().skip(offset).take(ask.page_items()).collect();
    let all = outline.total;
    let summary = match (total, query.is_empty()) {
        (0, true) => "no symbols".into(),
        (0, false) if outline.missed > 0 => format!("none found so far of {}", count(all, "symbol", "symbols")),
        (0, false) => format!("none of {} fits the query", count(all, "symbol", "symbols")),
        (n, _) if n < all => format!("{} of {}", n, count(all, "symbol", "symbols")),
        (n, _) => count(n, "symbol", "symbols"),
    };
    Ok(Outcome {
        verdict: reply.verdict,
        servers: vec![ask.part(&heard)],
        summary,
        notes: Vec::new(),
        details: Vec::new(),
        body: Body::Symbols(items),
        page: Page { offset, total, fingerprint: print, ..Page::default() },
    })
}

/// The lines to show: those down to `depth`, or whatever fits `query` at any depth.
fn lines(outline: &Outline, text: &LineMap, encoding: Encoding, depth: u32, query: &str) -> Vec<SymbolLine> {
    let query = query.to_lowercase();
    let mut lines: Vec<SymbolLine> = Vec::new();
    for symbol in &outline.symbols {
        let level = u32::from(symbol.depth);
        let fits = !query.is_empty() && symbol.name.to_lowercase().contains(&query);
        if query.is_empty() && level >= depth {
            // Counted at the nearest ancestor that is shown.
            if let Some(parent) = lines.last_mut() {
                parent.hidden += 1;
            }
            continue;
        }
        if !query.is_empty() && !fits {
            continue;
        }
        let name = SymbolPath::parse(&symbol.name).map_or_else(|| symbol.name.clone(), |path| path.name().to_owned());
        let at = name_in(text, symbol, outline.flat, encoding, &name);
        let end = text.point(symbol.range.end, encoding);
        lines.push(SymbolLine {
            depth: if query.is_empty() { level } else { 0 },
            kind: kinds::symbol(symbol.kind).into(),
            name: symbol.name.clone(),
            detail: symbol.detail.clone(),
            line: at.line + 1,
            column: at.column + 1,
            end_line: end.line + 1,
            hidden: 0,
        });
    }
    lines
}
