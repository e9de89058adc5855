//! Columns are code points whatever a server counts in, and what one tool prints the next one takes.

use serde_json::json;

use crate::support::{Answer, Langport, Workspace};

use super::{needs, places_are, servers::Need, start};

needs! {
    [Pyright] => pos_01_utf_16_pyright, pos_04_pyright, pos_05_pyright;
    [Ty] => pos_01_utf_8_ty, pos_04_ty;
}

/// Emoji, marks that combine, Chinese characters and non-ASCII names before what is asked for.
const FACE: &str = "//- pyproject.toml
[project]
name = \"p\"
version = \"1\"
//- face.py
s = \"😀é\"; $0total = int(1); print($0total)
t = \"日本語と漢字\"; count = 2.5; print(t, $0count)
été = str(\"🧑‍🚀\"); print(été, $0été)
名前 = str(\"𝒳𝒴\"); print(\"👩‍👩‍👧‍👦\", $0名前, $0missing)
def größe(länge: int) -> int: return länge
print(\"🎉🎉🎉\", $0größe($05))
";

fn pos_01(need: Need) {
    let ws = Workspace::new(FACE);
    let lp = start(&ws, &[need]);
    let names = ["total", "total", "count", "été", "名前", "missing", "größe"];
    for (index, name) in names.iter().enumerate().filter(|(_, name)| **name != "missing") {
        let at = ws.nth(index);
        let hover = lp.hover(&at);
        // A hover stands at the name's first character.
        let place = (at["file_path"].as_str().unwrap().to_owned(), ws.marks()[index].line, ws.marks()[index].column);
        assert_eq!(hover.fine().places()[0], place, "{name}\n{hover}");
    }
    let types = [("int", 1), ("float", 2), ("str", 3), ("str", 4), ("(länge: int) -> int", 6)];
    for (kind, mark) in types {
        lp.hover(&ws.nth(mark)).contains(kind);
    }
    places_are(&lp.tool("definition", &ws.nth(1)), &["face.py:1:11"]);
    places_are(&lp.tool("references", &ws.nth(0)), &["face.py:1:11", "face.py:1:33"]);
    places_are(&lp.tool("references", &ws.nth(2)), &["face.py:2:15", "face.py:2:37"]);
    places_are(&lp.tool("references", &ws.nth(3)), &["face.py:3:1", "face.py:3:25", "face.py:3:30"]);
    places_are(&lp.tool("references", &ws.nth(4)), &["face.py:4:1", "face.py:4:34"]);
    places_are(&lp.tool("definition", &ws.nth(6)), &["face.py:5:5"]);
    let problems = lp.diagnostics("face.py");
    problems.contains(" · 1 error").contains("missing");
    assert_eq!(problems.places()[0], ("face.py".to_owned(), 4, 38), "{problems}");
    lp.tool("signature", &ws.nth(7)).contains("(«länge: int») -> int");
    // The same by name.
    places_are(
        &lp.tool("references", &json!({"file_path": "face.py", "line": 3, "symbol": "été", "occurrence": 2})),
        &["face.py:3:1", "face.py:3:25", "face.py:3:30"],
    );
    places_are(&lp.tool("workspace_symbols", &json!({"query": "größe"})), &["face.py:5:5"]);
    // After the line has grown by an astral character.
    let text = ws.read("face.py").replacen("😀é", "😀é🤖", 1);
    ws.write("face.py", &text);
    places_are(
        &lp.tool("references", &json!({"file_path": "face.py", "line": 1, "column": 12})),
        &["face.py:1:12", "face.py:1:34"],
    );
}

fn pos_01_utf_16_pyright() {
    pos_01(Need::Pyright);
}

fn pos_01_utf_8_ty() {
    pos_01(Need::Ty);
}

const DECO: &str = "//- pyproject.toml
[project]
name = \"p\"
version = \"1\"
//- deco.py
import functools


@functools.cache
def slow(n):
    return n


class Box:
    @property
    def width(self):
        return slow(1) + unknown


print(slow(2))
";

/// Requires that an address lands on `slow`.
#[track_caller]
fn lands(lp: &Langport, at: &serde_json::Value) {
    let hover = lp.hover(at);
    assert!(
        hover.verdict() == "fresh" && hover.has("slow") || hover.has("_lru_cache_wrapper"),
        "{at} does not land on `slow`\n{hover}"
    );
    // ty names the wrapper's `__call__` as well.
    let definition = lp.tool("definition", at);
    assert!(definition.places().contains(&("deco.py".to_owned(), 5, 5)), "{at}\n{definition}");
}

/// Every coordinate that an answer prints.
#[track_caller]
fn all_land(lp: &Langport, answer: &Answer, count: usize) {
    let places = answer.places();
    assert_eq!(places.len(), count, "{answer}");
    for place in places {
        lands(lp, &Answer::address(&place));
    }
}

fn pos_04(need: Need) {
    let ws = Workspace::new(DECO);
    let lp = start(&ws, &[need]);
    let outline = lp.tool("symbols", &json!({"file_path": "deco.py", "depth": 1}));
    let line =
        outline.body().lines().find_map(|line| line.trim().split_once(" function slow")?.0.parse::<usize>().ok());
    assert_eq!(line, Some(5), "the line of the name, not of the decorator\n{outline}");
    lands(&lp, &json!({"file_path": "deco.py", "line": line, "symbol": "slow"}));
    all_land(&lp, &lp.tool("workspace_symbols", &json!({"query": "slow"})), 1);
    for kind in ["definition", "declaration"] {
        let answer =
            lp.tool("definition", &json!({"file_path": "deco.py", "line": 12, "symbol": "slow", "kind": kind}));
        let own = answer.places().into_iter().find(|place| place.0 == "deco.py").unwrap_or_else(|| panic!("{answer}"));
        lands(&lp, &Answer::address(&own));
    }
    all_land(&lp, &lp.tool("references", &json!({"file_path": "deco.py", "symbol": "slow"})), 3);
    all_land(&lp, &lp.tool("references", &json!({"symbol": "slow"})), 3);
    let width = lp.tool("workspace_symbols", &json!({"query": "width"}));
    assert_eq!(width.places()[0], ("deco.py".to_owned(), 11, 9), "{width}");
    // What a problem prints is the place of the name that is wrong.
    let problems = lp.diagnostics("deco.py");
    let at = Answer::address(&problems.places()[0]);
    assert_eq!(at, json!({"file_path": "deco.py", "line": 12, "column": 26}), "{problems}");
    lp.hover(&at).fine();
    // The tree's own lines, too.
    let calls =
        lp.tool("calls", &json!({"file_path": "deco.py", "line": 11, "symbol": "width", "direction": "outgoing"}));
    let slow =
        calls.places().into_iter().find(|place| place.1 == 5).unwrap_or_else(|| panic!("the call of slow\n{calls}"));
    lands(&lp, &Answer::address(&slow));
}

fn pos_04_pyright() {
    pos_04(Need::Pyright);
}

fn pos_04_ty() {
    pos_04(Need::Ty);
}

fn pos_05_pyright() {
    let ws =
        Workspace::new("//- calc.py\ndef run():\n    return add_up(1, 2)\n\ndef add_up(a, b):\n    return a + b\n");
    let lp = start(&ws, &[Need::Pyright]);
    let indent = lp.tool("definition", &json!({"file_path": "calc.py", "line": 2, "column": 1}));
    indent.fails("invalid").contains("return at column 5, add_up at column 12");
    places_are(&lp.tool("definition", &json!({"file_path": "calc.py", "line": 2, "column": 18})), &["calc.py:4:5"]);
    places_are(
        &lp.tool("definition", &json!({"file_path": "calc.py", "line": 2, "symbol": "add_up"})),
        &["calc.py:4:5"],
    );
    lp.tool("definition", &json!({"file_path": "calc.py", "line": 2, "column": 99}))
        .fails("invalid")
        .contains("return add_up(1, 2)");
}
