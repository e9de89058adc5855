//! Code actions and diffs.

use super::*;
use crate::tools::outcome::{ActionLine, DiffLine};

fn line(file: &str, text: &str) -> DiffLine {
    DiffLine { file: file.to_owned(), text: text.to_owned() }
}

#[test]
fn a_diff_names_each_file_once_and_shows_what_cannot_be_seen() {
    let body = Body::Diff(vec![
        line("a.py  +1 -1", "@@ -1,2 +1,2 @@"),
        line("a.py  +1 -1", " if x:"),
        line("a.py  +1 -1", "-\ttally = 1"),
        line("a.py  +1 -1", "+\ttotal\u{202e} = 1\r"),
        line("b.py -> c.py", ""),
        line("d.py (new)  +1 -0", "+fresh · pyright · no problems"),
    ]);
    check(
        ToolId::Rename,
        &fresh("rename to total: 1 place in 1 file, 1 file moved; not made yet: plan abc", body),
        &expect![[r#"
            fresh · pyright · rename to total: 1 place in 1 file, 1 file moved; not made yet: plan abc
            a.py  +1 -1
              @@ -1,2 +1,2 @@
               if x:
              -	tally = 1
              +	total\u{202e} = 1\r
            b.py -> c.py
            d.py (new)  +1 -0
              +fresh · pyright · no problems"#]],
    );
}

#[test]
fn actions_are_one_line_each() {
    let action = |id: &str, title: &str| ActionLine {
        action: id.to_owned(),
        title: title.to_owned(),
        kind: Some("quickfix".to_owned()),
        preferred: false,
        disabled: None,
        server: None,
    };
    let body = Body::Actions(vec![
        ActionLine {
            preferred: true,
            server: Some("ruff".to_owned()),
            ..action("a-1", "Remove\nunused \u{200b}import")
        },
        ActionLine { kind: None, disabled: Some("nothing is selected".to_owned()), ..action("a-2", "Extract") },
    ]);
    check(
        ToolId::CodeActions,
        &fresh("2 actions", body),
        &expect![[r#"
            fresh · pyright · 2 actions
              a-1  Remove unused import  [quickfix]  preferred  ruff
              a-2  Extract  not now: nothing is selected"#]],
    );
}
