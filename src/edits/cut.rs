//! Long lines of a diff: what changes in them is shown, its beginning and its end at least, and how much is left out. A
//! plan that hides what it writes could not be judged.

/// Characters of a line that are shown whole.
const SHOWN: usize = 400;
/// Of a longer one: unchanged ones on either side of the change.
const AROUND: usize = 40;
/// Characters of a long change's beginning and of its end.
const HEAD: usize = 280;
const TAIL: usize = 120;

/// A line as it is shown, `other` standing in its place before or after the change.
pub(super) fn shown(line: &str, other: Option<&str>) -> String {
    let line = bare(line);
    if line.len() <= SHOWN || line.chars().nth(SHOWN).is_none() {
        return line.to_owned();
    }
    let (mut start, mut end) = (0, line.len());
    if let Some(other) = other.map(bare) {
        let same = line.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let rest = line.len().min(other.len()) - same;
        let tail = line.bytes().rev().zip(other.bytes().rev()).take(rest).take_while(|(a, b)| a == b).count();
        start = back(line, boundary(line, same, false), AROUND);
        end = forth(line, boundary(line, line.len() - tail, true), AROUND);
    }
    let middle = &line[start..end];
    let mut out = left_out(&line[..start]);
    let (head, tail) = (forth(middle, 0, HEAD), back(middle, middle.len(), TAIL));
    if head < tail {
        out.push_str(&middle[..head]);
        out.push_str(&left_out(&middle[head..tail]));
        out.push_str(&middle[tail..]);
    } else {
        out.push_str(middle);
    }
    out.push_str(&left_out(&line[end..]));
    out
}

fn bare(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// The next place between two characters, in front of `at` or behind it.
fn boundary(text: &str, mut at: usize, behind: bool) -> usize {
    while !text.is_char_boundary(at) {
        if behind { at += 1 } else { at -= 1 }
    }
    at
}

/// The place so many characters before or behind another one.
fn back(text: &str, at: usize, characters: usize) -> usize {
    text[..at].char_indices().rev().take(characters).last().map_or(at, |(at, _)| at)
}

fn forth(text: &str, at: usize, characters: usize) -> usize {
    text[at..].char_indices().nth(characters).map_or(text.len(), |(more, _)| at + more)
}

fn left_out(text: &str) -> String {
    match text.chars().count() {
        0 => String::new(),
        characters => format!("…({characters} characters)…"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_lines_stay() {
        let line = "é".repeat(400);
        assert_eq!(shown(&format!("{line}\r\n"), None), line);
    }

    #[test]
    fn the_end_of_what_is_written_is_shown() {
        let hidden = format!("z{};import os;os.system(1)#\n", " ".repeat(1000));
        let shown = shown(&hidden, Some("x = 1\n"));
        assert!(shown.starts_with("z   ") && shown.ends_with(";import os;os.system(1)#"), "{shown}");
        assert!(shown.contains("…(625 characters)…"), "{shown}");
    }

    #[test]
    fn a_change_in_the_middle_of_a_long_line_is_shown_with_what_is_around_it() {
        let (before, after) = ("a".repeat(5_000), "b".repeat(3_000));
        let line = |word: &str| format!("{before}{word}{after}");
        let (old, new) = (line("old"), line("new"));
        let around =
            |word| format!("…(4960 characters)…{0}{word}{1}…(2960 characters)…", "a".repeat(40), "b".repeat(40));
        assert_eq!(shown(&old, Some(&new)), around("old"));
        assert_eq!(shown(&new, Some(&old)), around("new"));
        // Where one is the beginning of the other, and a letter that is cut by comparing bytes.
        assert!(shown(&format!("{before}xyz"), Some(&before)).ends_with("xyz"));
        assert!(shown(&line("é"), Some(&line("è"))).contains("aé"));
    }

    proptest! {
        #[test]
        fn bounded_and_never_silent(old in "[ab é😀]{0,900}", new in "[ab é😀]{0,900}") {
            let out = shown(&new, Some(&old));
            assert!(out.chars().count() <= HEAD + TAIL + 3 * 30 + 1);
            if !out.contains("…(") {
                assert_eq!(out, new);
            }
        }
    }
}
