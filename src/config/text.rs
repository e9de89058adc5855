//! Where in a TOML text something stands, and what a mistyped word was meant to be: for messages.

use super::nearest;

/// Mistakes of one file that are told.
pub(crate) const MISTAKES: usize = 8;

/// The mistakes of a TOML text, by their lines: what is wrong is taken out, and the rest read again. `read` tells the
/// first one that it meets. Of a text that is no TOML only one is known.
pub(crate) fn mistakes<E>(
    text: &str,
    read: impl Fn(&str) -> Option<E>,
    line_of: impl Fn(&E) -> Option<usize>,
) -> Vec<E> {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut found: Vec<E> = Vec::new();
    while let Some(mistake) = read(&lines.join("\n")) {
        let line = line_of(&mistake);
        let first = found.is_empty();
        if first && text.parse::<toml::Table>().is_err() {
            return vec![mistake];
        }
        if first || line.is_some() && !found.iter().any(|other| line_of(other) == line) {
            found.push(mistake);
        }
        let Some(at) = line.and_then(|line| line.checked_sub(1)).filter(|at| *at < lines.len()) else { break };
        if lines[at].is_empty() || found.len() >= MISTAKES || !take_out(&mut lines, at) {
            break;
        }
    }
    found.sort_by_key(|mistake| line_of(mistake));
    found
}

/// Empties a line, with all of the table that it begins, or all of its value; whether TOML is left.
fn take_out(lines: &mut [&str], at: usize) -> bool {
    let table = lines[at].trim_start().starts_with('[');
    lines[at] = "";
    for next in at + 1..=lines.len() {
        let ends = lines.get(next).is_none_or(|line| line.trim_start().starts_with('['));
        if (!table || ends) && lines.join("\n").parse::<toml::Table>().is_ok() {
            return true;
        }
        if let Some(line) = lines.get_mut(next) {
            *line = "";
        }
    }
    false
}

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
