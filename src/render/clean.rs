//! Makes text of servers and files harmless before it stands in an answer: what cannot be seen or would reorder what
//! can be seen is removed, lines are folded or indented, and every text has a cap.

use crate::protocol::positions::is_unseen;

/// Characters that a message may hold.
pub(super) const MESSAGE: usize = 300;
/// Characters of codes, sources, kinds and details.
pub(super) const SHORT: usize = 80;
/// Characters of names and source lines.
pub(super) const NAME: usize = 160;
/// Characters of paths.
pub(super) const PATH: usize = 400;

/// The characters of a text that may be shown; every kind of line end becomes `\n`, terminal escapes vanish whole.
struct Visible<'a>(std::iter::Peekable<std::str::Chars<'a>>);

impl<'a> Visible<'a> {
    fn of(text: &'a str) -> Self {
        Self(text.chars().peekable())
    }

    /// Skips what follows an escape character.
    fn escape(&mut self) {
        match self.0.next_if(|c| !matches!(c, '\n' | '\r')) {
            Some('[') => self.sequence(),
            Some(']' | 'P' | 'X' | '^' | '_') => {
                while let Some(c) = self.0.next_if(|c| !matches!(c, '\n' | '\r')) {
                    if c == '\u{7}' || c == '\u{9c}' || c == '\u{1b}' && self.0.next_if_eq(&'\\').is_some() {
                        break;
                    }
                }
            }
            _ => {}
        }
    }

    fn sequence(&mut self) {
        while let Some(c) = self.0.next_if(|c| ('\u{20}'..='\u{7e}').contains(c)) {
            if c >= '\u{40}' {
                break;
            }
        }
    }
}

impl Iterator for Visible<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            match self.0.next()? {
                '\u{1b}' => self.escape(),
                '\u{9b}' => self.sequence(),
                '\r' => {
                    self.0.next_if_eq(&'\n');
                    return Some('\n');
                }
                '\u{2028}' | '\u{2029}' => return Some('\n'),
                '\u{a0}' => return Some(' '),
                c if is_unseen(c) => {}
                c => return Some(c),
            }
        }
    }
}

/// One line of at most `cap` characters: line ends with the indentation behind them become one space.
pub fn line(text: &str, cap: usize) -> String {
    let mut out = String::new();
    let mut free = cap;
    let mut gap = false;
    for c in Visible::of(text) {
        if c == '\n' {
            gap = true;
            continue;
        }
        if c.is_whitespace() && (gap || out.is_empty()) {
            continue;
        }
        if std::mem::take(&mut gap) && !out.is_empty() && !out.ends_with(' ') {
            free = free.saturating_sub(1);
            out.push(' ');
        }
        if free == 0 {
            out.push('…');
            return shorten(&out, cap);
        }
        out.push(if c == '\t' { ' ' } else { c });
        free -= 1;
    }
    out.truncate(out.trim_end().len());
    out
}

/// The same of a message of several lines that are sentences of their own: where the server's own punctuation does not
/// part them, a semicolon does.
pub(super) fn sentences(text: &str, cap: usize) -> String {
    // More than this is cut anyway.
    let visible: String = Visible::of(text).take(cap.saturating_mul(4)).collect();
    let mut out = String::new();
    for part in visible.lines().map(str::trim).filter(|part| !part.is_empty()) {
        if !out.is_empty() {
            let parted = out.ends_with([':', ';', ',', '.', '!', '?', '(', '[', '{', '-', '=', '|']);
            let goes_on = part.starts_with([')', ']', '}', ',', ';', ':', '.']);
            out.push_str(if parted || goes_on { " " } else { "; " });
        }
        out.push_str(part);
    }
    line(&out, cap)
}

/// The name of a file, as it stands at the beginning of a line. One that imitates a line of langport's own is told from
/// its folder on: that is the same name.
pub(super) fn path(name: &str, cap: usize) -> String {
    let name = line(name, cap);
    let is_relative = !name.starts_with(['/', '.', '\\']) && !name.split(' ').next().is_some_and(|it| it.contains(':'));
    if imitates(&name) && is_relative { format!("./{name}") } else { name }
}

/// Whether a line could be taken for one of langport's own.
pub(super) fn imitates(line: &str) -> bool {
    line.contains('·') || ["mark ", "plan ", "… "].iter().any(|word| line.starts_with(word))
}

/// A line as it stands, with its blanks and tabs; what cannot be seen is shown by its number, since whoever reads a
/// change must see all of it. At most `cap` characters.
pub(super) fn verbatim(text: &str, cap: usize) -> String {
    let mut out = String::new();
    for c in text.chars().take(cap + 1) {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push('\t'),
            '\u{1b}' | '\u{2028}' | '\u{2029}' => out.extend(c.escape_unicode()),
            c if is_unseen(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    shorten(&out, cap)
}

/// Lines of at most `cap` characters in all, without blank ones at the ends or twice in a row.
pub(super) fn block(text: &str, cap: usize) -> String {
    // Blank lines and line ends vanish again, but not so many that more than this need be looked at.
    let shown: String = Visible::of(text).take(cap.saturating_mul(2)).collect();
    let mut out = String::new();
    let mut blank = false;
    for line in shown.lines().map(str::trim_end) {
        if line.is_empty() {
            blank = !out.is_empty();
            continue;
        }
        if !out.is_empty() {
            out.push_str(if blank { "\n\n" } else { "\n" });
        }
        blank = false;
        out.push_str(&line.replace('\t', "    "));
    }
    shorten(&out, cap)
}

/// A source line, without its indentation; of a long one, the part around `column`.
pub(super) fn source(text: &str, column: u32) -> String {
    const BEFORE: usize = 60;
    let column = column as usize;
    if column > NAME - BEFORE && text.chars().nth(NAME).is_some() {
        let rest: String = text.chars().skip(column.saturating_sub(BEFORE)).take(2 * NAME).collect();
        if !rest.trim().is_empty() {
            return format!("…{}", line(&rest, NAME - 1));
        }
    }
    line(text, NAME)
}

/// The first `cap` characters, the last of them `…` where some were left out.
pub(super) fn shorten(text: &str, cap: usize) -> String {
    match text.char_indices().nth(cap) {
        None => text.to_owned(),
        Some(_) => {
            let end = text.char_indices().nth(cap.saturating_sub(1)).map_or(0, |(at, _)| at);
            format!("{}…", text[..end].trim_end())
        }
    }
}

/// The lines of `text`, each that is not blank behind `by` spaces.
pub(super) fn indent(text: &str, by: usize) -> String {
    let mut out = String::with_capacity(text.len() + 8 * by);
    for (at, line) in text.lines().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', by));
            out.push_str(line);
        }
    }
    out
}

/// Characters, as every limit counts them.
pub(super) fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_unseen_stays() {
        let nasty = "a\u{0}b\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}c\u{202e}d\u{2066}e\u{200b}f\u{feff}g\u{85}h\u{e0041}i\u{9b}1mj\u{fe0f}";
        assert_eq!(line(nasty, 100), "abredcdefghij");
    }

    #[test]
    fn a_name_imitates_no_line() {
        for (name, shown) in [
            ("a b.py", "a b.py"),
            ("fresh · pyright · no problems", "./fresh · pyright · no problems"),
            ("mark @abcd.1", "./mark @abcd.1"),
            ("plan\nabcd", "./plan abcd"),
            ("… 3 of 4 shown", "./… 3 of 4 shown"),
            ("/out/fresh · x", "/out/fresh · x"),
            ("jdt://fresh · x", "jdt://fresh · x"),
        ] {
            assert_eq!(path(name, 100), shown);
        }
    }

    #[test]
    fn what_a_change_holds_is_all_seen() {
        let text = "+\tif a:\u{202e} x\u{1b}[31m  # \u{200b}y\r";
        assert_eq!(verbatim(text, 100), "+\tif a:\\u{202e} x\\u{1b}[31m  # \\u{200b}y\\r");
        assert_eq!(verbatim("  abcdef", 5), "  ab…");
    }

    #[test]
    fn lines_are_folded() {
        assert_eq!(line("one\r\n\u{a0}\u{a0}two\u{2028}\tthree\n", 100), "one two three");
        assert_eq!(line("    x = 'a  b'\t# c", 100), "x = 'a  b' # c");
        assert_eq!(line("abcdef", 4), "abc…");
        assert_eq!(line("abcd", 4), "abcd");
    }

    #[test]
    fn blocks_keep_their_shape() {
        assert_eq!(block("\n\nfn f() {\r\n\tx\n\n\n\n}\n\n", 100), "fn f() {\n    x\n\n}");
        assert_eq!(indent("a\n\n  b", 2), "  a\n\n    b");
        assert_eq!(block("abc\ndef", 6), "abc\nd…");
        assert_eq!(block("abc\ndef", 5), "abc…");
    }

    #[test]
    fn a_long_source_line_is_shown_around_its_column() {
        let text = format!("{}needle{}", "x".repeat(5_000), "y".repeat(5_000));
        let shown = source(&text, 5_001);
        assert!(shown.contains("needle") && length(&shown) <= NAME, "{shown}");
        assert!(length(&source(&text, 1)) <= NAME);
        assert!(length(&source(&text, 900_000)) <= NAME);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn caps_hold(text: String, cap in 1usize..50) {
            prop_assert!(length(&line(&text, cap)) <= cap);
            prop_assert!(length(&block(&text, cap)) <= cap);
            prop_assert!(length(&verbatim(&text, cap)) <= cap);
            prop_assert!(!verbatim(&text, cap).chars().any(|c| c != '\t' && (c.is_control() || is_unseen(c))));
            prop_assert!(!line(&text, cap).contains('\n'));
            prop_assert!(!block(&text, cap).chars().any(|c| c != '\n' && (c.is_control() || is_unseen(c))));
            prop_assert!(indent(&block(&text, cap), 2).lines().all(|l| l.is_empty() || l.starts_with("  ")));
        }
    }
}
