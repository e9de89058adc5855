//! What a formatter is told of indentation: guessed from the text, since a server that has its own settings, such as an
//! `.editorconfig`, does not ask. Pure.

use serde_json::{Value, json};

/// Lines that are looked at.
const LINES: usize = 2_000;
/// Where a text shows nothing.
const USUAL: u32 = 4;

/// LSP `FormattingOptions` for a text.
pub(super) fn options(text: &str) -> Value {
    let (mut tabs, mut spaces) = (0_u32, 0_u32);
    let mut steps = [0_u32; 9];
    let mut before = 0;
    for line in text.lines().take(LINES).filter(|line| !line.trim().is_empty()) {
        if line.starts_with('\t') {
            tabs += 1;
            continue;
        }
        let depth = line.len() - line.trim_start_matches(' ').len();
        spaces += u32::from(depth > 0);
        // A block comment's continuation is indented by one.
        if depth > before && (2..=8).contains(&(depth - before)) {
            steps[depth - before] += 1;
        }
        before = depth;
    }
    let most = (2..=8_u32).rev().max_by_key(|step| steps[*step as usize]).filter(|step| steps[*step as usize] > 0);
    let mut options = json!({"tabSize": most.unwrap_or(USUAL), "insertSpaces": tabs <= spaces});
    // The servers for JSON and CSS end a text without a line end where they are not told.
    if text.ends_with('\n') {
        options["insertFinalNewline"] = true.into();
    }
    options
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: &Expect) {
        expected.assert_eq(&options(text).to_string());
    }

    #[test]
    fn guessed_from_what_is_there() {
        check("", &expect![[r#"{"insertSpaces":true,"tabSize":4}"#]]);
        check(
            "a {\n  b {\n    c\n  }\n}\n",
            &expect![[r#"{"insertFinalNewline":true,"insertSpaces":true,"tabSize":2}"#]],
        );
        check(
            "def f():\n    if x:\n        y\n",
            &expect![[r#"{"insertFinalNewline":true,"insertSpaces":true,"tabSize":4}"#]],
        );
        check(
            "func f() {\n\tif x {\n\t\ty\n\t}\n}\n",
            &expect![[r#"{"insertFinalNewline":true,"insertSpaces":false,"tabSize":4}"#]],
        );
        check(
            "/*\n * text\n * text\n */\nx {\n  y\n}\n",
            &expect![[r#"{"insertFinalNewline":true,"insertSpaces":true,"tabSize":2}"#]],
        );
    }
}
