//! Code actions and the lines of a plan's diff.

use super::{
    clean::{MESSAGE, NAME, PATH, SHORT, line, path, verbatim},
    item::Item,
};
use crate::tools::outcome::{ActionLine, DiffLine};

/// Characters of a line of a diff: long ones come shortened, with what is left out of them counted.
const LINE: usize = 600;

pub(super) fn clean_action(action: &ActionLine) -> ActionLine {
    let maybe = |text: &Option<String>, cap| text.as_ref().map(|text| line(text, cap)).filter(|text| !text.is_empty());
    ActionLine {
        action: line(&action.action, SHORT),
        title: line(&action.title, NAME),
        kind: maybe(&action.kind, SHORT),
        preferred: action.preferred,
        disabled: action.disabled.as_ref().map(|why| line(why, MESSAGE)),
        server: maybe(&action.server, SHORT),
    }
}

pub(super) fn action_text(action: &ActionLine) -> String {
    let mut out = format!("  {}  {}", action.action, action.title);
    let mut add = |text: &str| {
        out.push_str("  ");
        out.push_str(text);
    };
    if let Some(kind) = &action.kind {
        add(&format!("[{kind}]"));
    }
    if action.preferred {
        add("preferred");
    }
    if let Some(server) = &action.server {
        add(server);
    }
    match action.disabled.as_deref() {
        Some("") => add("not now"),
        Some(why) => add(&format!("not now: {why}")),
        None => {}
    }
    out
}

pub(super) fn clean_diff(diff: &DiffLine) -> DiffLine {
    DiffLine { file: path(&diff.file, PATH + SHORT), text: verbatim(&diff.text, LINE) }
}

/// A file's name stands once above its lines; a file whose contents stay has no line.
pub(super) fn diff_text(diff: &DiffLine, before: Option<&Item>) -> String {
    let row = if diff.text.is_empty() { String::new() } else { format!("  {}", diff.text) };
    match before {
        Some(Item::Diff(other)) if other.file == diff.file => row,
        _ if row.is_empty() => diff.file.clone(),
        _ => format!("{}\n{row}", diff.file),
    }
}
