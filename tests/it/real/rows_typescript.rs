//! Rows for TypeScript and JavaScript.

use serde_json::json;

use crate::support::{Langport, Workspace};

use super::definitions::{Across, At, Is, Row, Untried};

pub(super) const ROWS: &[Row] = &[TYPESCRIPT7, TYPESCRIPT_LANGUAGE_SERVER, DENO];

const ADD: At = ("main.ts", 3, "add");

/// What every server for TypeScript says alike.
const TYPESCRIPT: Row = Row {
    needs: &["npm", "node"],
    fixture: r#"//- tsconfig.json
{ "compilerOptions": { "strict": true, "types": [], "plugins": [{ "name": "trap" }] } }
//- package-lock.json
{}
//- .gitignore
node_modules/
//- node_modules/trap/package.json
{ "name": "trap", "main": "index.js", "version": "1.0.0" }
//- node_modules/trap/index.js
require("fs").writeFileSync("EXECUTED", "a plug-in");
module.exports = () => ({ create: (info) => info.languageService });
//- node_modules/typescript/package.json
{ "name": "typescript", "version": "5.9.3" }
//- node_modules/typescript/lib/tsserver.js
require("fs").writeFileSync(__dirname + "/../../../EXECUTED", "the repository's TypeScript");
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
    workspace_symbols: Is(("Cart", &["shop.ts:6:14"])),
    rename: Is((("main.ts", 3, "add"), "renamed", "6 places in 3 files")),
    format: Is(("main.ts", "would change nothing")),
    more: Some(typescript),
    ..Row::NEW
};

const TYPESCRIPT7: Row = Row { name: "typescript7", ..TYPESCRIPT };

const TYPESCRIPT_LANGUAGE_SERVER: Row = Row { name: "typescript-language-server", ..TYPESCRIPT };

const DENO: Row = Row {
    name: "deno",
    needs: &["python3"],
    fixture: r#"//- deno.json
{ "lint": { "plugins": ["./plugin.ts"] } }
//- plugin.ts
Deno.writeTextFileSync("EXECUTED", "a plug-in");
export default { name: "trap", rules: {} };
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
import { add, Cart } from "./shop.ts";

export const sum: string = add(1, 2);
export const all = new Cart().total();
//- other.ts
import { add } from "./shop.ts";

export const three = add(1, 2);
"#,
    workspace_symbols: Untried,
    more: None,
    rename: Is((("main.ts", 3, "add"), "renamed", "6 places in 3 files")),
    format: Is(("main.ts", "would change nothing")),
    ..TYPESCRIPT
};

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
