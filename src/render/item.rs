//! One item of an answer's body: its harmless form, its lines of text, its JSON.

use serde::Serialize;
use serde_json::Value;

use super::changes::{action_text, clean_action, clean_diff, diff_text};
use super::clean::{MESSAGE, NAME, PATH, SHORT, block, indent, line, path, sentences, source};
use crate::tools::outcome::{
    ActionLine, Body, CompletionLine, DiffLine, Fact, FoundSymbol, HoverText, Place, Problem, RelatedPlace,
    SignatureLine, StatusLine, SymbolLine, TreeLine,
};

/// Characters of prose or code that are looked at: no budget is larger.
const LONG: usize = 40_000;
/// Related places, call sites, facts, lines of output that one item shows.
const FEW: usize = 8;
const SITES: usize = 20;
const FACTS: usize = 40;
const OUTPUT: usize = 30;
/// Nesting that is still shown as indentation.
const DEPTH: u32 = 24;

/// An item in its harmless form: every text cleaned and capped.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Item {
    Problem(Problem),
    Hover(HoverText),
    Place(Place),
    Completion(CompletionLine),
    Signature(SignatureLine),
    Symbol(SymbolLine),
    Found(FoundSymbol),
    Tree(TreeLine),
    Status(StatusLine),
    Action(ActionLine),
    Diff(DiffLine),
}

/// How the items of an answer stand to each other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Style {
    /// Places are grouped under their file.
    pub(super) grouped: bool,
    /// There are several: the active one is marked.
    pub(super) several: bool,
}

/// Items in the body.
pub(super) fn count(body: &Body) -> usize {
    match body {
        Body::None => 0,
        Body::Hover(_) => 1,
        Body::Problems(list) => list.len(),
        Body::Places(list) => list.len(),
        Body::Completions(list) => list.len(),
        Body::Signatures(list) => list.len(),
        Body::Symbols(list) => list.len(),
        Body::Found(list) => list.len(),
        Body::Tree(list) => list.len(),
        Body::Status(list) => list.len(),
        Body::Actions(list) => list.len(),
        Body::Diff(list) => list.len(),
    }
}

impl Item {
    /// The item at `at`, cleaned.
    pub(super) fn nth(body: &Body, at: usize) -> Option<Self> {
        Some(match body {
            Body::None => return None,
            Body::Hover(hover) if at == 0 => Self::Hover(clean_hover(hover)),
            Body::Hover(_) => return None,
            Body::Problems(list) => Self::Problem(clean_problem(list.get(at)?)),
            Body::Places(list) => Self::Place(clean_place(list.get(at)?)),
            Body::Completions(list) => Self::Completion(clean_completion(list.get(at)?)),
            Body::Signatures(list) => Self::Signature(clean_signature(list.get(at)?)),
            Body::Symbols(list) => Self::Symbol(clean_symbol(list.get(at)?)),
            Body::Found(list) => Self::Found(clean_found(list.get(at)?)),
            Body::Tree(list) => Self::Tree(clean_tree(list.get(at)?)),
            Body::Status(list) => Self::Status(clean_status(list.get(at)?)),
            Body::Actions(list) => Self::Action(clean_action(list.get(at)?)),
            Body::Diff(list) => Self::Diff(clean_diff(list.get(at)?)),
        })
    }

    /// The item's lines. What stands in `before` already (a file's name, a source line) is not said again.
    pub(super) fn text(&self, before: Option<&Self>, style: Style) -> String {
        match self {
            Self::Problem(problem) => problem_text(problem, before),
            Self::Hover(hover) => hover_text(hover),
            Self::Place(place) => place_text(place, before, style),
            Self::Completion(item) => behind(
                2,
                &[
                    item.label.clone(),
                    item.kind.clone(),
                    item.detail.clone().unwrap_or_default(),
                    item.insert.as_ref().map(|insert| format!("inserts {insert}")).unwrap_or_default(),
                    if item.deprecated { "deprecated".to_owned() } else { String::new() },
                ],
            ),
            Self::Signature(signature) => signature_text(signature, style),
            Self::Symbol(symbol) => {
                let hidden = if symbol.hidden > 0 { format!("(+{} inside)", symbol.hidden) } else { String::new() };
                behind(
                    deep(symbol.depth),
                    &[
                        words(&[&symbol.line.to_string(), &symbol.kind, &symbol.name]),
                        symbol.detail.clone().unwrap_or_default(),
                        hidden,
                    ],
                )
            }
            Self::Found(found) => join(&[
                at(&found.file, found.line, found.column),
                words(&[&found.kind, &found.name]),
                found.container.as_ref().map(|container| format!("in {container}")).unwrap_or_default(),
            ]),
            Self::Tree(tree) => tree_text(tree),
            Self::Status(status) => status_text(status),
            Self::Action(action) => action_text(action),
            Self::Diff(diff) => diff_text(diff, before),
        }
    }

    /// The item as structured content shows it.
    pub(super) fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}

fn at(file: &str, line: u32, column: u32) -> String {
    format!("{file}:{line}:{column}")
}

/// Spaces before an item at this depth.
fn deep(depth: u32) -> usize {
    2 + 2 * depth.min(DEPTH) as usize
}

/// The parts behind spaces that stand whatever the parts are.
fn behind<const N: usize>(spaces: usize, parts: &[String; N]) -> String {
    format!("{:spaces$}{}", "", join(parts))
}

/// The parts that are not blank, two spaces apart.
fn join<const N: usize>(parts: &[String; N]) -> String {
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()).collect();
    parts.join("  ")
}

/// The words that are not empty, a space apart.
fn words(words: &[&str]) -> String {
    let words: Vec<&str> = words.iter().copied().filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

fn problem_text(problem: &Problem, before: Option<&Item>) -> String {
    let mut tag =
        [problem.source.as_deref(), problem.code.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    if !tag.is_empty() {
        tag = format!("[{tag}]");
    }
    let message = if problem.message.is_empty() { "(no message)" } else { &problem.message };
    let mut out =
        join(&[at(&problem.file, problem.line, problem.column), format!("{}: {message}", problem.severity), tag]);
    let shown =
        matches!(before, Some(Item::Problem(other)) if other.file == problem.file && other.line == problem.line);
    if let Some(text) = problem.text.as_ref().filter(|text| !shown && !text.is_empty()) {
        out.push_str("\n  ");
        out.push_str(text);
    }
    for place in &problem.related {
        out.push_str("\n    ");
        out.push_str(&join(&[at(&place.file, place.line, place.column), place.message.clone()]));
    }
    out
}

fn hover_text(hover: &HoverText) -> String {
    let mut out = at(&hover.file, hover.line, hover.column);
    for code in &hover.code {
        out.push('\n');
        out.push_str(&indent(code, 2));
    }
    if !hover.prose.is_empty() {
        out.push_str(if hover.code.is_empty() { "\n" } else { "\n\n" });
        out.push_str(&indent(&hover.prose, 2));
    }
    if hover.truncated {
        out.push_str("\n  … (the server sent more)");
    }
    out
}

fn place_text(place: &Place, before: Option<&Item>, style: Style) -> String {
    let role = place.role.as_ref().map(|role| format!(" {role}")).unwrap_or_default();
    let text = place.text.clone().unwrap_or_default();
    if !style.grouped {
        let head = format!("{}{role}", at(&place.file, place.line, place.column));
        return if text.is_empty() { head } else { format!("{head}\n  {text}") };
    }
    let row = join(&[format!("  {}:{}{role}", place.line, place.column), text]);
    match before {
        Some(Item::Place(other)) if other.file == place.file => row,
        _ => format!("{}\n{row}", place.file),
    }
}

fn signature_text(signature: &SignatureLine, style: Style) -> String {
    let lead = if style.several && signature.active { "  > " } else { "  " };
    let mut out = String::from(lead);
    match signature.active_parameter.as_deref().filter(|parameter| !parameter.is_empty()) {
        None => out.push_str(&signature.label),
        Some(parameter) => match parameter_at(&signature.label, parameter) {
            Some(start) => {
                let end = start + parameter.len();
                let label = &signature.label;
                out.push_str(&format!("{}«{parameter}»{}", &label[..start], &label[end..]));
            }
            None => out.push_str(&format!("{}\n    active parameter: {parameter}", signature.label)),
        },
    }
    if let Some(text) = signature.documentation.as_ref().filter(|text| !text.is_empty()) {
        out.push('\n');
        out.push_str(&indent(text, 4));
    }
    out
}

/// Where the parameter stands as a whole word behind the opening bracket; none when that is not clear.
fn parameter_at(label: &str, parameter: &str) -> Option<usize> {
    let open = label.find('(').map_or(0, |at| at + 1);
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut whole = label[open..].match_indices(parameter).map(|(at, _)| at + open).filter(|at| {
        let before = label[..*at].chars().next_back().is_none_or(|c| !word(c));
        before && label[at + parameter.len()..].chars().next().is_none_or(|c| !word(c))
    });
    whole.next().filter(|_| whole.next().is_none())
}

fn tree_text(tree: &TreeLine) -> String {
    let shown: Vec<String> = tree.sites.iter().take(SITES).map(u32::to_string).collect();
    let sites = match (shown.is_empty(), tree.sites.len() > SITES) {
        (true, _) => String::new(),
        (false, true) => format!("at {}, … ({} in all)", shown.join(", "), tree.sites.len()),
        (false, false) => format!("at {}", shown.join(", ")),
    };
    behind(
        deep(tree.depth),
        &[
            words(&[&tree.kind, &tree.name]),
            at(&tree.file, tree.line, tree.column),
            sites,
            if tree.repeated { "(shown above)".to_owned() } else { String::new() },
        ],
    )
}

fn status_text(status: &StatusLine) -> String {
    let mut out = join(&[status.name.clone(), status.state.clone(), format!("({})", status.scope)]);
    let mut row = String::new();
    for fact in &status.facts {
        let text = format!("{}: {}", fact.label, fact.value);
        if !row.is_empty() && row.chars().count() + text.chars().count() > 118 {
            out.push_str(&format!("\n  {row}"));
            row.clear();
        }
        if !row.is_empty() {
            row.push_str("; ");
        }
        row.push_str(&text);
    }
    if !row.is_empty() {
        out.push_str(&format!("\n  {row}"));
    }
    if !status.output.is_empty() {
        out.push_str("\n  output:");
        for text in &status.output {
            out.push_str(&format!("\n    {text}"));
        }
    }
    out
}

fn maybe(text: Option<&String>, cap: usize) -> Option<String> {
    text.map(|text| line(text, cap)).filter(|text| !text.is_empty())
}

fn clean_problem(problem: &Problem) -> Problem {
    let related = problem.related.iter().take(FEW).map(|place| RelatedPlace {
        file: path(&place.file, PATH),
        message: sentences(&place.message, MESSAGE),
        ..*place
    });
    Problem {
        file: path(&problem.file, PATH),
        severity: line(&problem.severity, SHORT),
        message: sentences(&problem.message, MESSAGE),
        code: maybe(problem.code.as_ref(), SHORT),
        source: maybe(problem.source.as_ref(), SHORT),
        text: problem.text.as_ref().map(|text| source(text, problem.column)),
        related: related.collect(),
        ..*problem
    }
}

fn clean_hover(hover: &HoverText) -> HoverText {
    let code = hover.code.iter().take(64).map(|code| block(code, LONG)).filter(|code| !code.is_empty());
    HoverText { file: path(&hover.file, PATH), code: code.collect(), prose: block(&hover.prose, LONG), ..*hover }
}

fn clean_place(place: &Place) -> Place {
    Place {
        file: path(&place.file, PATH),
        text: place.text.as_ref().map(|text| source(text, place.column)),
        role: maybe(place.role.as_ref(), SHORT),
        ..*place
    }
}

fn clean_completion(item: &CompletionLine) -> CompletionLine {
    let label = line(&item.label, NAME);
    CompletionLine {
        kind: line(&item.kind, SHORT),
        detail: maybe(item.detail.as_ref(), SHORT),
        insert: maybe(item.insert.as_ref(), NAME).filter(|insert| *insert != label),
        label,
        deprecated: item.deprecated,
    }
}

fn clean_signature(signature: &SignatureLine) -> SignatureLine {
    SignatureLine {
        label: line(&signature.label, 600),
        active: signature.active,
        active_parameter: maybe(signature.active_parameter.as_ref(), NAME),
        documentation: signature.documentation.as_ref().map(|text| block(text, 600)),
    }
}

fn clean_symbol(symbol: &SymbolLine) -> SymbolLine {
    SymbolLine {
        kind: line(&symbol.kind, SHORT),
        name: line(&symbol.name, NAME),
        detail: maybe(symbol.detail.as_ref(), SHORT),
        ..*symbol
    }
}

fn clean_found(found: &FoundSymbol) -> FoundSymbol {
    FoundSymbol {
        file: path(&found.file, PATH),
        kind: line(&found.kind, SHORT),
        name: line(&found.name, NAME),
        container: maybe(found.container.as_ref(), NAME),
        ..*found
    }
}

fn clean_tree(tree: &TreeLine) -> TreeLine {
    TreeLine {
        kind: line(&tree.kind, SHORT),
        name: line(&tree.name, NAME),
        file: path(&tree.file, PATH),
        sites: tree.sites.iter().take(1_000).copied().collect(),
        ..*tree
    }
}

fn clean_status(status: &StatusLine) -> StatusLine {
    let skip = status.output.len().saturating_sub(OUTPUT);
    let facts = status.facts.iter().take(FACTS);
    let facts = facts.map(|fact| Fact { label: line(&fact.label, SHORT), value: line(&fact.value, MESSAGE) });
    let output = status.output.iter().skip(skip).map(|text| line(text, NAME));
    StatusLine {
        name: line(&status.name, NAME),
        scope: line(&status.scope, SHORT),
        state: line(&status.state, NAME),
        facts: facts.filter(|fact| !fact.value.is_empty()).collect(),
        output: output.filter(|text| !text.is_empty()).collect(),
    }
}
