//! Rows for the web: TypeScript, JavaScript, JSON, CSS, HTML, YAML.

use super::definitions::{Is, Row, Unsupported};

pub(super) const ROWS: &[Row] = &[JSON];

const JSON: Row = Row {
    name: "json",
    needs: &["npm"],
    fixture: r#"//- a.json
{
  "name": "shop",
  "items": [1, 2 3]
}
"#,
    file: "a.json",
    problem: ("Expected comma", 3, 18),
    mend: ("2 3", "2, 3"),
    // A schema would have to be fetched.
    references: Unsupported,
    symbols: Is(("a.json", &["2 string name", "3 array items", "3 number 2"])),
    workspace_symbols: Unsupported,
    ..Row::NEW
};
