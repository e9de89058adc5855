//! Whether the edits of a rename stand where the old name does: a server that has another text in mind, or counts lines in
//! another way, writes into what stands there instead.

use std::{collections::HashSet, path::Path, sync::Arc};

use unicode_ident::is_xid_continue;

use crate::{
    protocol::{
        positions::{Encoding, LineMap, Position},
        types::{EditStep, FileRef, TextEdit, WorkspaceEdit},
    },
    runtime::query::Proposal,
};

use super::{ask::Ask, locate::Spot};

/// Places that are named one by one.
const SHOWN: usize = 3;

/// Edits that stand elsewhere.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// Places that the text does not have: the edit is about another text.
    pub outside: Vec<String>,
    /// Where something else than the old name would become the new one.
    pub others: Vec<String>,
}

/// What is wrong with one edit.
#[derive(Debug, PartialEq, Eq)]
enum Stray {
    Outside,
    /// Blanks, or nothing at all.
    Nothing,
    /// More than one line.
    Lines,
    /// TypeScript's servers, asked about what is exported by another name, rename it in the files that import it by that,
    /// and the export stays.
    Name(String),
}

pub(super) fn strays(
    ask: &Ask<'_>,
    spot: &Spot,
    proposal: &Proposal,
    edit: &WorkspaceEdit,
    encoding: Encoding,
    new_name: &str,
) -> Strays {
    let ground = &ask.engine.ground;
    let asked = spot.file.lines.identifier_at(spot.at).map(|name| bare(name.text));
    let names = Names { asked: asked.as_deref(), new: new_name };
    let mut found = Strays::default();
    // Of what an earlier step makes, moves here or edits, nobody has the text.
    let mut made: Vec<&Path> = Vec::new();
    let mut edited: HashSet<&Path> = HashSet::new();
    for step in &edit.steps {
        let (path, edits) = match step {
            EditStep::Texts { file: FileRef::Path(path), edits, .. } => (path.as_path(), edits),
            EditStep::Create { file: FileRef::Path(path), .. } | EditStep::Rename { to: FileRef::Path(path), .. } => {
                made.push(path);
                continue;
            }
            _ => continue,
        };
        if made.iter().any(|place| path.starts_with(place)) {
            continue;
        }
        let told = proposal.told.get(path).map(|(snapshot, _)| Arc::clone(snapshot));
        let Some(snapshot) = told.or_else(|| ground.read(path).ok()) else { continue };
        let lines = ground.lines(&snapshot);
        let first = edited.insert(path);
        for (edit, stray) in names.strays(&lines, edits, encoding) {
            if found.outside.len() >= SHOWN && found.others.len() >= SHOWN {
                return found;
            }
            let shown = ground.roots.display(path);
            let at = lines.point(edit.range.start, encoding);
            let place = format!("{shown}:{}:{}", at.line + 1, at.column + 1);
            let (list, line) = match stray {
                Stray::Name(old) => (&mut found.others, format!("another name: `{old}` at {place}")),
                _ if !first => continue,
                Stray::Nothing => (&mut found.others, format!("no name at {place}")),
                Stray::Lines => (&mut found.others, format!("several lines at {place}")),
                Stray::Outside => {
                    let Position { line, character } = edit.range.start;
                    let told = format!("no such place: {shown}:{}:{}", u64::from(line) + 1, u64::from(character) + 1);
                    (&mut found.outside, told)
                }
            };
            if list.len() < SHOWN {
                list.push(line);
            }
        }
    }
    found
}

/// The last word of a name, without a sigil before it.
fn bare(name: &str) -> String {
    let word = name.trim_matches(|c| !is_xid_continue(c)).rsplit(|c| !is_xid_continue(c)).next().unwrap_or_default();
    // Fortran and SQL fold case.
    word.to_lowercase()
}

#[derive(Clone, Copy)]
struct Names<'n> {
    /// The old one, bare; none where the asked place has no identifier.
    asked: Option<&'n str>,
    new: &'n str,
}

impl<'n> Names<'n> {
    fn strays<'e>(
        self,
        lines: &LineMap,
        edits: &'e [TextEdit],
        encoding: Encoding,
    ) -> impl Iterator<Item = (&'e TextEdit, Stray)> {
        // Some take the old name away with one edit, and insert the new one with another.
        let gone = |edit: &&TextEdit| {
            edit.text.is_empty() && self.asked == Some(bare(lines.range_text(edit.range, encoding)).as_str())
        };
        let beside: HashSet<Position> =
            edits.iter().filter(gone).flat_map(|edit| [edit.range.start, edit.range.end]).collect();
        edits.iter().filter_map(move |edit| Some((edit, self.stray(lines, edit, encoding, &beside)?)))
    }

    /// What holds more than the new name is no stray: `old as new`, `new: `, a path, an import.
    fn stray(self, lines: &LineMap, edit: &TextEdit, encoding: Encoding, beside: &HashSet<Position>) -> Option<Stray> {
        let (start, end) = (edit.range.start, edit.range.end);
        if end < start {
            // Refused for that, when it is read as an edit.
            return None;
        }
        let old = lines.range_text(edit.range, encoding);
        // A whole line or text is often ended by a number that is too high.
        let whole = || !old.is_empty() && self.asked.is_none_or(|asked| old.to_lowercase().contains(asked));
        if !lines.has(start, encoding) || !(lines.has(end, encoding) || whole()) {
            return Some(Stray::Outside);
        }
        let asked = self.asked.filter(|_| edit.text == self.new)?;
        if old.contains(['\n', '\r']) {
            return Some(Stray::Lines);
        }
        let word = bare(old);
        if word.is_empty() {
            return (!old.is_empty() || !beside.contains(&start)).then_some(Stray::Nothing);
        }
        (word != asked).then_some(Stray::Name(word))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::protocol::positions::Range;

    const TEXT: &str = "tally = 1\nprint(tally)\n# nothing here\n";

    /// Edits as `line:column-line:column text`, the new name being `total`.
    fn check(edits: &[&str], expected: &Expect) {
        let number = |text: &str| text.parse().unwrap();
        let position = |text: &str| {
            let (line, character) = text.split_once(':').unwrap();
            Position { line: number(line), character: number(character) }
        };
        let read = |edit: &&str| {
            let (range, text) = edit.split_once(' ').unwrap();
            let (start, end) = range.split_once('-').unwrap();
            let range = Range { start: position(start), end: position(end) };
            TextEdit { range, text: text.to_owned(), snippet: false }
        };
        let edits: Vec<_> = edits.iter().map(read).collect();
        let names = Names { asked: Some("tally"), new: "total" };
        let lines = LineMap::new(TEXT.into());
        let found: Vec<_> =
            names.strays(&lines, &edits, Encoding::Utf16).map(|(_, stray)| format!("{stray:?}")).collect();
        expected.assert_eq(&found.join(", "));
    }

    #[test]
    fn what_no_rename_writes() {
        check(&["99:0-99:5 total", "1:50-1:55 total", "1:12-1:13 total"], &expect!["Outside, Outside, Outside"]);
        check(&["3:1-3:1 x", "4:0-4:0 total: "], &expect!["Outside, Outside"]);
        check(&["0:5-0:8 total", "1:0-1:0 total", "2:14-2:14 total"], &expect!["Nothing, Nothing, Nothing"]);
        check(&["0:0-3:0 total", "2:2-2:9 total"], &expect![[r#"Lines, Name("nothing")"#]]);
        // An insertion at the name itself doubles it.
        check(&["0:0-0:0 total"], &expect!["Nothing"]);
    }

    #[test]
    fn what_renames_do_write() {
        check(&["0:0-0:5 total", "1:6-1:11 total"], &expect![""]);
        // Shorthands, aliases, texts beside, lines and texts as a whole, minimal differences.
        check(
            &["1:6-1:6 total: ", "1:11-1:11 : total", "1:6-1:11 tally as total", "2:0-2:0 use total;\n"],
            &expect![""],
        );
        check(&["1:0-1:999 print(total)", "0:0-4294967295:0 total = 1\nprint(total)\n"], &expect![""]);
        check(&["0:1-0:5 otal", "1:7-1:11 otal"], &expect![""]);
        check(&["0:0-0:5 ", "0:5-0:5 total", "1:6-1:6 total", "1:6-1:11 "], &expect![""]);
        // Said to be none elsewhere.
        check(&["0:5-0:0 total"], &expect![""]);
    }
}
