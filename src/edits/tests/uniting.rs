//! Edits of several servers made one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use crate::edits::text;
use crate::edits::unite::{Clash, Part, unite};
use crate::protocol::positions::{Encoding, LineMap, Position, Range};
use crate::protocol::types::{EditStep, FileRef, TextEdit, WorkspaceEdit};

const TEXT: &str = "import a\nimport 😀b\nlast\n";

/// An edit of `/f`: byte offsets of [`TEXT`] and what comes there, as a server of this encoding writes it.
fn edit(encoding: Encoding, places: &[(usize, usize, &str)]) -> WorkspaceEdit {
    let lines = LineMap::new(TEXT.into());
    let one = |(start, end, text): &(usize, usize, &str)| TextEdit {
        range: Range { start: lines.position(*start, encoding), end: lines.position(*end, encoding) },
        text: (*text).to_owned(),
        snippet: false,
    };
    let edits = places.iter().map(one).collect();
    let file = FileRef::Path(PathBuf::from("/f"));
    WorkspaceEdit { steps: vec![EditStep::Texts { file, version: Some(1), edits }], to_confirm: Vec::new() }
}

fn united(parts: &[(Encoding, WorkspaceEdit)]) -> Result<WorkspaceEdit, Clash> {
    let text = |_: &Path| Some(Arc::from(TEXT));
    let parts: Vec<Part<'_>> =
        parts.iter().map(|(encoding, edit)| Part { edit, encoding: *encoding, text: &text }).collect();
    unite(&parts)
}

/// What the text becomes, or why it does not.
fn become_(parts: &[(Encoding, WorkspaceEdit)]) -> String {
    match united(parts) {
        Err(clash) => format!("{clash:?}"),
        Ok(edit) => {
            let [EditStep::Texts { version: None, edits, .. }] = &edit.steps[..] else { panic!("{edit:?}") };
            let edited = text::edit(&LineMap::new(TEXT.into()), edits, Encoding::Utf8, 1000);
            edited.map_or_else(|error| error.to_string(), |edited| edited.text.to_string())
        }
    }
}

/// What one server wants, and what it counts in.
type Wish<'w> = (Encoding, &'w [(usize, usize, &'w str)]);

fn check(parts: &[Wish<'_>], expected: &Expect) {
    let parts: Vec<_> = parts.iter().map(|(encoding, places)| (*encoding, edit(*encoding, places))).collect();
    expected.assert_eq(&become_(&parts));
}

const U8: Encoding = Encoding::Utf8;
const U16: Encoding = Encoding::Utf16;

#[test]
fn places_of_all_servers_whatever_they_count_in() {
    // Behind the emoji the two count differently.
    check(&[(U16, &[(20, 21, "c")]), (U8, &[(7, 8, "x"), (22, 26, "end")])], &expect!["import x\nimport 😀c\nend\n"]);
    // The same twice is once.
    check(&[(U16, &[(20, 21, "c")]), (U8, &[(20, 21, "c")])], &expect!["import a\nimport 😀c\nlast\n"]);
    check(&[(U8, &[(0, 0, "1"), (0, 0, "2")]), (U8, &[(5, 5, "3")])], &expect!["12impor3t a\nimport 😀b\nlast\n"]);
    check(&[(U8, &[(0, 6, "use")]), (U8, &[(6, 7, "_")])], &expect!["use_a\nimport 😀b\nlast\n"]);
}

#[test]
fn what_contradicts_itself_is_no_edit() {
    check(
        &[(U16, &[(7, 8, "x")]), (U8, &[(7, 8, "y")])],
        &expect![[r#"Place { path: "/f", line: 0, parts: [0, 1] }"#]],
    );
    check(
        &[(U16, &[(0, 21, "x")]), (U8, &[(1, 2, "y"), (20, 21, "z")])],
        &expect![[r#"Place { path: "/f", line: 0, parts: [0, 1] }"#]],
    );
    check(&[(U8, &[(9, 9, "x")]), (U8, &[(9, 9, "y")])], &expect![[r#"Place { path: "/f", line: 1, parts: [0, 1] }"#]]);
    // One server's own contradiction is found where every edit's is.
    check(&[(U8, &[(0, 5, "x"), (3, 8, "y")]), (U8, &[(22, 26, "z")])], &expect!["two edits overlap (line 1)"]);
    let twice = WorkspaceEdit {
        steps: [edit(U8, &[(0, 1, "x")]).steps, edit(U8, &[(3, 4, "y")]).steps].concat(),
        to_confirm: Vec::new(),
    };
    assert_eq!(united(&[(U8, edit(U8, &[(7, 8, "z")])), (U8, twice)]), Err(Clash::Steps(1)));
    let file = FileRef::Path(PathBuf::from("/g"));
    let made = EditStep::Create { file, overwrite: false, ignore_if_exists: false };
    let made = WorkspaceEdit { steps: vec![made], to_confirm: Vec::new() };
    assert_eq!(united(&[(U8, made), (U8, edit(U8, &[(7, 8, "z")]))]), Err(Clash::Steps(0)));
}

#[test]
fn texts_that_differ_are_no_one_text() {
    let (one, other) = (edit(U8, &[(0, 1, "x")]), edit(U8, &[(3, 4, "y")]));
    let (old, new) = (|_: &Path| Some(Arc::from(TEXT)), |_: &Path| Some(Arc::from("newer")));
    let none = |_: &Path| None;
    let first = || Part { edit: &one, encoding: U8, text: &old };
    let clash = Err(Clash::Text("/f".into()));
    // `import 😀b`: between the halves there is no place.
    let mut halved = edit(U16, &[(0, 0, "x")]);
    let EditStep::Texts { edits, .. } = &mut halved.steps[0] else { panic!("{halved:?}") };
    let half = Position { line: 1, character: 8 };
    edits[0].range = Range { start: half, end: half };
    let inside = Clash::Inside { path: "/f".into(), line: 1, part: 1 };
    assert_eq!(united(&[(U8, edit(U8, &[(0, 1, "z")])), (U16, halved)]), Err(inside));
    assert_eq!(unite(&[first(), Part { edit: &other, encoding: U8, text: &new }]), clash);
    assert_eq!(unite(&[first(), Part { edit: &other, encoding: U8, text: &none }]), clash);
}

proptest! {
    /// Whoever of several servers sends which place, the text becomes the same.
    #[test]
    fn dealt_out_or_not_it_is_the_same_edit(cuts in prop::collection::btree_set(0usize..26, 2..9), deal: u16) {
        let cuts: Vec<usize> = cuts.into_iter().filter(|at| TEXT.is_char_boundary(*at)).collect();
        let places: Vec<(usize, usize, &str)> = cuts.chunks_exact(2).map(|cut| (cut[0], cut[1], "<>")).collect();
        let encodings = [U16, U8, Encoding::Utf32];
        let parts: Vec<_> = encodings.iter().enumerate().map(|(number, encoding)| {
            let own = |at: &usize| usize::from(deal >> (2 * at) & 3) % 3 == number;
            let own: Vec<_> = (0..places.len()).filter(own).map(|at| places[at]).collect();
            (*encoding, edit(*encoding, &own))
        }).collect();
        prop_assert_eq!(become_(&parts), become_(&[(U8, edit(U8, &places))]));
    }
}
