//! Call and type trees: what `lsp/calls` and `lsp/types` share.

use serde_json::{Map, Value};

use crate::{
    protocol::types::FileRef,
    runtime::query::{Answer, Hierarchy, Query},
};

use super::{
    address::{Address, Aim},
    args::{Args, invalid},
    ask::Ask,
    cursor, kinds,
    outcome::{Body, Failure, Outcome, Page, TreeLine},
    places::{Reader, fingerprint},
};

/// The deepest tree.
const DEEPEST: u32 = 5;
/// Call sites of one line.
const SITES: usize = 10;

/// What the nodes of a tree are called.
pub(super) struct Words {
    pub one: &'static str,
    pub many: &'static str,
}

pub(super) async fn run(
    ask: &Ask<'_>,
    arguments: &Map<String, Value>,
    directions: &[(&'static str, Hierarchy); 2],
    words: impl FnOnce(Hierarchy) -> Words,
) -> Result<Outcome, Failure> {
    let mut args = Args::new(arguments);
    let address = Address::read(&mut args)?;
    let hierarchy = args.choice("direction", directions, directions[0].1)?;
    let depth = args.number("depth")?.unwrap_or(1);
    let token = args.text("cursor")?;
    args.finish()?;
    if depth > DEEPEST {
        return Err(invalid(format!("`depth` is {depth}"), format!("give a depth from 1 to {DEEPEST}")));
    }
    let spot = ask.locate(&address, Aim::Name).await?;
    let heard = ask.ask_primary(&spot.file, Query::Tree { at: spot.at, hierarchy, depth }).await?;
    let reply = match &heard.result {
        Ok(reply) => reply,
        Err(shortfall) => return ask.short(&heard, shortfall),
    };
    let Answer::Tree(tree) = &reply.answer else { return Err(super::wrong_kind()) };
    let mut reader = Reader::new(ask, reply.encoding);
    // The files of the nodes above, from the top down.
    let mut above: Vec<&FileRef> = Vec::new();
    let lines: Vec<TreeLine> = tree
        .nodes
        .iter()
        .map(|node| {
            let span = reader.span(&node.item.file, node.item.selection);
            above.truncate(node.depth as usize);
            let own = &node.item.file;
            let calling =
                if hierarchy == Hierarchy::OutgoingCalls { above.last().copied().unwrap_or(own) } else { own };
            above.push(own);
            let mut sites: Vec<u32> = node.sites.iter().map(|site| reader.span(calling, *site).line).collect();
            sites.sort_unstable();
            sites.dedup();
            sites.truncate(SITES);
            TreeLine {
                depth: node.depth,
                kind: kinds::symbol(node.item.kind).into(),
                name: node.item.name.clone(),
                file: reader.shown(&node.item.file),
                line: span.line,
                column: span.column,
                sites,
                repeated: node.repeated,
            }
        })
        .collect();
    let words = words(hierarchy);
    let found = lines.iter().filter(|line| line.depth > 0).count();
    let mut summary = match (lines.is_empty(), found) {
        (true, _) => "nothing of this kind stands here".to_owned(),
        (false, 0) => format!("no {}", words.many),
        (false, n) => kinds::count(n, words.one, words.many),
    };
    if tree.cut {
        summary.push_str(", cut off there");
    }
    let mut notes = spot.notes.clone();
    notes.extend(reply.remarks.iter().cloned());
    let mut details = Vec::new();
    if lines.is_empty() {
        notes.extend(spot.names());
        details.extend(spot.names_there());
    }
    let print = fingerprint(ask, format!("{lines:?}"));
    let offset = cursor::resume(ask.tool, token.as_deref(), print)?;
    let total = lines.len();
    let items = lines.into_iter().skip(offset).take(ask.page_items()).collect();
    Ok(Outcome {
        verdict: reply.verdict,
        servers: vec![ask.part(&heard)],
        summary,
        notes,
        details,
        body: Body::Tree(items),
        page: Page { offset, total, fingerprint: print, ..Page::default() },
    })
}
