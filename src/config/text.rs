//! Where in a TOML text something stands, and what a mistyped word was meant to be: for messages.

use super::nearest;

/// The line of a TOML error and what it says, in one line.
pub(crate) fn toml_error(text: &str, error: &toml::de::Error) -> (Option<usize>, String) {
    let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    (line, explained(error.message()))
}

/// serde's list of everything that could have stood there, made into the one that was meant.
fn explained(message: &str) -> String {
    let Some((head, list)) = message.split_once(", expected ") else { return message.to_owned() };
    let (Some(found), true) = (quoted(head).next(), head.starts_with("unknown ")) else { return message.to_owned() };
    match nearest::nearest(found, quoted(list)).first() {
        Some(meant) => format!("{head}: did you mean `{meant}`?"),
        None => message.to_owned(),
    }
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The line that a value of a key stands on: the first from the key's on that has it in quotes, else the key's.
pub(crate) fn line_of_value(text: &str, key: &str, value: &str) -> Option<usize> {
    let first = line_of(text, key)?;
    let quoted = [format!("\"{value}\""), format!("'{value}'")];
    let has = |line: &str| quoted.iter().any(|quoted| line.contains(quoted.as_str()));
    let found = text.lines().enumerate().skip(first - 1).find(|(_, line)| has(line));
    Some(found.map_or(first, |(number, _)| number + 1))
}

/// The line that a dotted key stands on, found by a look: else that of its table.
pub(crate) fn line_of(text: &str, key: &str) -> Option<usize> {
    let (table, last) = key.rsplit_once('.').map_or((None, key), |(table, last)| (Some(table), last));
    let mut inside = table.is_none();
    let mut header = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if let Some(name) = line.strip_prefix('[') {
            let name = name.split(']').next().unwrap_or_default();
            inside = Some(name) == table;
            if name == key || inside {
                header = Some(number + 1);
            }
        } else if inside && line.strip_prefix(last).is_some_and(|rest| rest.trim_start().starts_with(['=', '.'])) {
            return Some(number + 1);
        }
    }
    header
}
