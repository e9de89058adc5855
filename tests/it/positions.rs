//! Columns: one unit for agents, whatever the server counts in; coordinates that go round; miscounted ones.

use serde_json::{Value, json};

use crate::{
    fake::script::Script,
    support::{Answer, Langport, Workspace},
};

trials![
    pos_01_a_column_counts_code_points,
    pos_01_a_name_may_be_non_ascii,
    pos_02_the_servers_encoding_is_used_both_ways,
    pos_04_coordinates_of_one_tool_work_in_the_next,
    pos_05_a_miscounted_column_is_helped,
    pos_05_a_position_past_the_end_shows_the_line,
    d1_20_lines_and_columns_begin_with_one,
];

const FACE: &str = "//- face.py\ns = \"😀é\"; total = 1; print($0total)\n";
const HAN: &str = "//- face.py\ns = \"漢字\"; total = 1; print($0total)\n";

/// The last position that the server was asked about.
fn asked(langport: &Langport) -> Value {
    langport.log().of("textDocument/hover").last().expect("a hover").clone()["position"].take()
}

fn pos_01_a_column_counts_code_points() {
    for (fixture, units) in [(FACE, 28), (HAN, 27)] {
        let ws = Workspace::new(fixture);
        let lp = Langport::with(&ws, Script::new());
        lp.hover(&ws.at()).verdict_is("fresh").contains("WORD total");
        assert_eq!(asked(&lp), json!({"line": 0, "character": units}));
        let references = lp.tool("references", &ws.at());
        let expected = [("face.py".to_owned(), 1, 11), ("face.py".to_owned(), 1, 28)];
        assert_eq!(references.places(), expected, "{references}");
        let named = json!({"file_path": "face.py", "line": 1, "symbol": "total", "occurrence": 2});
        lp.hover(&named).contains("WORD total");
        assert_eq!(asked(&lp), json!({"line": 0, "character": units}));
    }
}

fn pos_01_a_name_may_be_non_ascii() {
    let ws = Workspace::new("//- m.py\nx = '😀'; été = 1; print($0été)\n");
    let lp = Langport::with(&ws, Script::new());
    lp.hover(&ws.at()).contains("WORD été");
    lp.hover(&json!({"file_path": "m.py", "line": 1, "symbol": "été"})).contains("WORD été");
    assert_eq!(asked(&lp), json!({"line": 0, "character": 10}));
    let references = lp.tool("references", &ws.at());
    assert_eq!(references.places().len(), 2, "{references}");
}

fn pos_02_the_servers_encoding_is_used_both_ways() {
    let plain = Script::new();
    let clangd = Script { old_encoding: Some("utf-8".into()), ..Script::new() };
    let scripts = [
        (plain.clone(), 28),
        (plain.clone().encoding("utf-16"), 28),
        (plain.clone().encoding("utf-8"), 31),
        (plain.encoding("utf-32"), 27),
        (clangd, 31),
    ];
    for (script, column) in scripts {
        let ws = Workspace::new(FACE);
        let lp = Langport::with(&ws, script);
        lp.hover(&ws.at()).contains("WORD total");
        assert_eq!(asked(&lp), json!({"line": 0, "character": column}));
        let offered = &lp.log().of("initialize")[0]["capabilities"]["general"]["positionEncodings"];
        assert!(["utf-8", "utf-16"].iter().all(|e| offered.as_array().unwrap().contains(&json!(e))), "{offered}");
        let references = lp.tool("references", &ws.at());
        let expected = [("face.py".to_owned(), 1, 11), ("face.py".to_owned(), 1, 28)];
        assert_eq!(references.places(), expected, "{references}");
        ws.write("face.py", "# grown\ns = \"😀é\"; total = 1; print(total)\n");
        lp.hover(&json!({"file_path": "face.py", "line": 2, "column": 28})).contains("WORD total");
    }
}

fn pos_04_coordinates_of_one_tool_work_in_the_next() {
    let text =
        "import functools\n\n@functools.cache\ndef slow(n):\n    return n  # ERR\n\ndef user():\n    return slow(1)\n";
    let ws = Workspace::new(&format!("//- deco.py\n{text}"));
    let lp = Langport::with(&ws, Script::new());
    let outline = lp.tool("symbols", &json!({"file_path": "deco.py"}));
    let row =
        outline.body().lines().find(|l| l.contains("slow")).unwrap_or_else(|| panic!("{outline}")).trim().to_owned();
    assert!(row.starts_with("4 ") || row.starts_with("4:"), "the name's line, not the decorator's: {row:?}");
    lp.hover(&json!({"file_path": "deco.py", "line": 4, "symbol": "slow"})).contains("WORD slow");
    let start = json!({"file_path": "deco.py", "line": 4, "column": 5});
    let answers = [
        lp.tool("references", &start),
        lp.tool("definition", &json!({"file_path": "deco.py", "line": 8, "column": 12})),
        lp.tool("workspace_symbols", &json!({"query": "slow"})),
    ];
    for answer in &answers {
        let places = answer.places();
        assert!(!places.is_empty(), "{answer}");
        for place in &places {
            lp.hover(&Answer::address(place)).contains("WORD slow");
        }
    }
    for place in lp.tool("calls", &start).places() {
        lp.hover(&Answer::address(&place)).fine().contains("WORD");
    }
    let problems = lp.diagnostics("deco.py");
    assert_eq!(problems.places(), [("deco.py".to_owned(), 5, 1)], "{problems}");
}

fn pos_05_a_miscounted_column_is_helped() {
    let ws = Workspace::new("//- calc.py\ndef run():\n    return add_up(1, 2)\n//- lib.py\ndef add_up(a, b): pass\n");
    let lp = Langport::with(&ws, Script::new());
    let at = |column| json!({"file_path": "calc.py", "line": 2, "column": column});
    lp.tool("definition", &at(2)).contains("add_up").contains("12");
    // On the comma stands no name: that is said, with the names there are.
    let between = lp.tool("definition", &at(20));
    between.fine().contains("no name stands there").contains("names: return at column 5, add_up at column 12");
    lp.tool("definition", &at(18)).fine().contains("lib.py:1:5");
    let named = json!({"file_path": "calc.py", "line": 2, "symbol": "add_up"});
    lp.tool("definition", &named).fine().contains("lib.py:1:5");
    lp.tool("definition", &json!({"file_path": "calc.py", "line": "2", "character": "12"}))
        .fine()
        .contains("lib.py:1:5");
    let moved = lp.tool("definition", &json!({"file_path": "calc.py", "line": 1, "symbol": "add_up"}));
    moved.fine().contains("lib.py:1:5").contains("2");
    let wrong = lp.tool("definition", &json!({"file_path": "calc.py", "line": 2, "symbol": "add_down"}));
    assert!(wrong.is_error, "{wrong}");
    wrong.contains("add_up");
}

fn pos_05_a_position_past_the_end_shows_the_line() {
    let ws = Workspace::new("//- calc.py\nvalue = 1\n");
    let lp = Langport::with(&ws, Script::new());
    let past = lp.hover(&json!({"file_path": "calc.py", "line": 1, "column": 40}));
    assert!(past.is_error, "{past}");
    past.contains("value = 1");
    let below = lp.hover(&json!({"file_path": "calc.py", "line": 90, "column": 1}));
    assert!(below.is_error, "{below}");
    for zero in [
        json!({"file_path": "calc.py", "line": 0, "column": 1}),
        json!({"file_path": "calc.py", "line": 1, "column": 0}),
    ] {
        lp.hover(&zero).fails("invalid");
    }
    assert_eq!(lp.log().count("textDocument/hover"), 0, "no such position reaches a server");
}

fn d1_20_lines_and_columns_begin_with_one() {
    let ws = Workspace::new(
        "//- a.py\ndef first(): pass\n//- b.py\nclass Base: pass\nclass Sub(Base): pass\ndef go():\n    first()\n    missing()\n",
    );
    let lp = Langport::with(&ws, Script::new());
    let call = json!({"file_path": "b.py", "line": 4, "column": 5});
    let with = |kind: &str| json!({"file_path": "b.py", "line": 4, "column": 5, "kind": kind});
    lp.hover(&call).contains("received 3:4");
    for kind in ["definition", "declaration", "type_definition", "implementation"] {
        let answer = lp.tool("definition", &with(kind));
        assert_eq!(answer.places(), [("a.py".to_owned(), 1, 5)], "{kind}: {answer}");
        answer.contains("def first(): pass");
    }
    assert_eq!(lp.tool("references", &call).places().len(), 2);
    lp.tool("symbols", &json!({"file_path": "b.py"})).contains("1 class Base").contains("2 class Sub");
    lp.tool("workspace_symbols", &json!({"query": "first"})).contains("a.py:1:5");
    lp.tool("calls", &json!({"file_path": "a.py", "line": 1, "column": 5})).fine().contains("go").contains("b.py");
    let outgoing = json!({"file_path": "b.py", "line": 3, "column": 5, "direction": "outgoing"});
    lp.tool("calls", &outgoing).fine().contains("first").contains("a.py");
    lp.tool("types", &json!({"file_path": "b.py", "line": 2, "column": 7})).fine().contains("Base");
    let down = json!({"file_path": "b.py", "line": 1, "column": 7, "direction": "subtypes"});
    lp.tool("types", &down).fine().contains("Sub");
    lp.tool("signature", &json!({"file_path": "b.py", "line": 4, "column": 11})).fine().contains("first(");
    lp.tool("completions", &json!({"file_path": "b.py", "line": 4, "column": 8})).fine().contains("first");
    let nothing = lp.tool("definition", &json!({"file_path": "b.py", "line": 5, "column": 6}));
    nothing.fine().verdict_is("fresh");
    assert!(nothing.places().is_empty() && nothing.first().contains("no "), "an empty answer says so: {nothing}");
}
