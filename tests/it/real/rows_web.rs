//! Rows for the web: TypeScript, JavaScript, JSON, CSS, HTML, YAML.

use serde_json::json;

use crate::support::{Langport, Workspace};

use super::definitions::{Across, At, Is, Row, Unsupported};

pub(super) const ROWS: &[Row] = &[JSON, TYPESCRIPT7, TYPESCRIPT_LANGUAGE_SERVER];

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

const ADD: At = ("main.ts", 3, "add");

/// What every server for TypeScript says alike.
const TYPESCRIPT: Row = Row {
    needs: &["npm", "node"],
    fixture: r#"//- tsconfig.json
{ "compilerOptions": { "strict": true, "types": [] } }
//- shop.ts
/** Adds two. */
export function add(a: number, b: number): number {
  return a + b;
}

export class Cart {
  total(): number {
    return add(1, 2);
  }
}
//- main.ts
import { add, Cart } from "./shop";

export const sum: string = add(1, 2);
export const all = new Cart().total();
//- other.ts
import { add } from "./shop";

export const three = add(1, 2);
"#,
    file: "main.ts",
    problem: ("Type 'number' is not assignable to type 'string'", 3, 14),
    mend: ("sum: string", "sum: number"),
    across: Some(Across {
        file: "shop.ts",
        find: "b: number)",
        replace: "b: string)",
        problem: "Argument of type 'number' is not assignable to parameter of type 'string'",
    }),
    hover: Is((ADD, "add(a: number, b: number): number")),
    definition: Is((ADD, &["shop.ts:2:17"])),
    references: Is((
        ADD,
        &["main.ts:1:10", "main.ts:3:28", "shop.ts:2:17", "shop.ts:8:12", "other.ts:1:10", "other.ts:3:22"],
    )),
    symbols: Is(("shop.ts", &["2 function add", "6 class Cart", "7 method total"])),
    more: Some(typescript),
    ..Row::NEW
};

const TYPESCRIPT7: Row = Row { name: "typescript7", workspace_symbols: Is(("Cart", &["shop.ts:6:14"])), ..TYPESCRIPT };

const TYPESCRIPT_LANGUAGE_SERVER: Row =
    Row { name: "typescript-language-server", workspace_symbols: Is(("Cart", &["shop.ts:6:1"])), ..TYPESCRIPT };

/// A clean file that stays clean, and a file that appears.
fn typescript(lp: &Langport, ws: &Workspace) {
    for round in 0..3 {
        ws.write("other.ts", &format!("import {{ add }} from \"./shop\";\n\nexport const three = add(1, {round});\n"));
        lp.diagnostics("other.ts").verdict_is("fresh").contains("no problems");
    }
    ws.write("late.ts", "import { add } from \"./shop\";\n\nexport const four = add(2, 2);\n");
    let uses = lp.tool("references", &json!({"file_path": "shop.ts", "line": 2, "symbol": "add"}));
    uses.verdict_is("fresh").contains("8 references in 4 files");
}
