//! Rows for the web beside TypeScript: JSON, CSS, HTML, YAML, linters, Docker, Svelte.

use std::process::Command;

use serde_json::json;

use super::definitions::{Across, Is, Row, Unsupported};
use super::servers;

pub(super) const ROWS: &[Row] = &[JSON, CSS, HTML, YAML, BIOME, OXLINT, ESLINT, DOCKERFILE, COMPOSE, SVELTE];

const JSON: Row = Row {
    name: "json",
    needs: &["npm", "node"],
    fixture: r#"//- a.json
{
  "$schema": "./schema.json",
  "name": "shop",
  "items": [1, 2 3]
}
//- schema.json
{
  "$schema": "https://example.invalid/is-not-fetched.json",
  "properties": { "name": { "type": "string", "description": "What it is called" } }
}
"#,
    file: "a.json",
    problem: ("Expected comma", 4, 18),
    mend: ("2 3", "2, 3"),
    across: Some(Across {
        file: "schema.json",
        find: "\"string\"",
        replace: "\"number\"",
        problem: "Incorrect type. Expected \"number\"",
    }),
    hover: Is((("a.json", 3, "name"), "What it is called")),
    definition: Unsupported,
    references: Unsupported,
    symbols: Is(("a.json", &["3 string name", "4 array items", "4 number 2"])),
    workspace_symbols: Unsupported,
    rename: Unsupported,
    format: Is(("a.json", "format a.json: 4 places")),
    more: Some(|lp, _| {
        lp.diagnostics("schema.json").says("fresh · json · no problems");
    }),
    ..Row::NEW
};

const CSS: Row = Row {
    name: "css",
    needs: &["npm", "node"],
    fixture: r"//- a.css
:root {
  --main: #fff;
}
.card {
  color: var(--main)
  margin: 0;
}
",
    file: "a.css",
    problem: ("semi-colon expected", 6, 9),
    mend: ("var(--main)", "var(--main);"),
    hover: Is((("a.css", 5, "color"), "Sets the color of an element's text")),
    definition: Is((("a.css", 5, "main"), &["a.css:2:3"])),
    references: Is((("a.css", 5, "main"), &["a.css:2:3", "a.css:5:14"])),
    symbols: Is(("a.css", &["1 class :root", "4 class .card"])),
    workspace_symbols: Unsupported,
    rename: Is((("a.css", 5, "main"), "--accent", "2 places in 1 file")),
    format: Is(("a.css", "format a.css: 1 place")),
    more: Some(|lp, ws| {
        lp.hover(&json!({"file_path": "a.css", "line": 5, "symbol": "color"})).lacks("base64");
        ws.write("b.scss", "$main: #fff;\n.card { color: $mian; .inner { margin: 0 }\n");
        lp.diagnostics("b.scss").verdict_is("fresh").contains("} expected");
    }),
    ..Row::NEW
};

const HTML: Row = Row {
    name: "html",
    needs: &["npm", "node"],
    fixture: r#"//- a.html
<!DOCTYPE html>
<html>
<head>
<title>Shop</title>
<style>
.card { color: red }
</style>
</head>
<body>
<script>
const n = ;
function price(a) { return a + n }
price(1);
</script>
<p class="card">x</p>
</body>
</html>
"#,
    file: "a.html",
    problem: ("Expression expected", 11, 11),
    mend: ("n = ;", "n = 1;"),
    hover: Is((("a.html", 13, "price"), "function price(a: any)")),
    definition: Is((("a.html", 13, "price"), &["a.html:12:10"])),
    references: Is((("a.html", 13, "price"), &["a.html:12:10", "a.html:13:1"])),
    symbols: Is(("a.html", &["2 field html", "3 field head", "9 field body"])),
    workspace_symbols: Unsupported,
    rename: Is((("a.html", 13, "price"), "renamed", "2 places in 1 file")),
    format: Is(("a.html", "format a.html: 1 place")),
    ..Row::NEW
};

const YAML: Row = Row {
    name: "yaml",
    needs: &["npm", "node"],
    fixture: r#"//- a.yaml
# yaml-language-server: $schema=./schema.json
name: shop
first: &first [1, 2
second: *first
//- schema.json
{ "properties": { "name": { "type": "string", "description": "What it is called" } } }
"#,
    file: "a.yaml",
    problem: ("must be sufficiently indented and end with a ]", 4, 1),
    mend: ("[1, 2", "[1, 2]"),
    across: Some(Across {
        file: "schema.json",
        find: "\"string\"",
        replace: "\"number\"",
        problem: "Incorrect type. Expected \"number\"",
    }),
    hover: Is((("a.yaml", 2, "name"), "What it is called")),
    definition: Is((("a.yaml", 4, "first"), &["a.yaml:3:15"])),
    references: Unsupported,
    symbols: Is(("a.yaml", &["2 string name", "3 array first"])),
    workspace_symbols: Unsupported,
    format: Is(("a.yaml", "would change nothing")),
    ..Row::NEW
};

const BIOME: Row = Row {
    name: "biome",
    needs: &["npm", "node"],
    fixture: "//- biome.json
{}
//- a.ts
export function price(x: number) {
  debugger;
  return x;
}
",
    file: "a.ts",
    problem: ("unexpected use of the debugger statement", 2, 3),
    mend: ("  debugger;\n", ""),
    across: Some(Across {
        file: "biome.json",
        find: "{}",
        replace: "{\"linter\": {\"rules\": {\"style\": {\"noDefaultExport\": \"error\", \"noMagicNumbers\": \"error\", \"useNamingConvention\": {\"level\": \"error\", \"options\": {\"conventions\": [{\"selector\": {\"kind\": \"function\"}, \"formats\": [\"PascalCase\"]}]}}}}}}",
        problem: "useNamingConvention",
    }),
    hover: Unsupported,
    definition: Unsupported,
    references: Unsupported,
    symbols: Unsupported,
    workspace_symbols: Unsupported,
    rename: Unsupported,
    format: Is(("a.ts", "format a.ts: 1 place")),
    ..Row::NEW
};

const OXLINT: Row = Row {
    name: "oxlint",
    trusted: true,
    fixture: "//- .oxlintrc.json
{}
//- a.ts
export function price(x: number) {
  debugger;
  return x;
}
",
    problem: ("`debugger` statement is not allowed", 2, 3),
    across: Some(Across {
        file: ".oxlintrc.json",
        find: "{}",
        replace: "{\"rules\": {\"func-style\": \"error\"}}",
        problem: "func-style",
    }),
    rename: Unsupported,
    format: Unsupported,
    ..BIOME
};

const ESLINT: Row = Row {
    name: "eslint",
    trusted: true,
    fixture: "//- eslint.config.mjs
export default [{ rules: { \"no-debugger\": \"error\" } }];
//- a.js
export function price(x) {
  debugger;
  return x;
}
",
    prepare: Some(|ws| {
        const ESLINT: &str = "eslint@9.39.5";
        let folder = servers::folder().join("eslint-9.39.5");
        let filled = servers::once(&folder, |folder| {
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-fund", "--no-audit", "--ignore-scripts", ESLINT, "--prefix"]).arg(folder);
            servers::run(npm.current_dir(folder))
        });
        filled.expect("ESLint is there");
        std::os::unix::fs::symlink(folder.join("node_modules"), ws.path("node_modules")).expect("a link");
    }),
    file: "a.js",
    problem: ("Unexpected 'debugger' statement", 2, 3),
    across: Some(Across {
        file: "eslint.config.mjs",
        find: "\"no-debugger\"",
        replace: "\"no-unused-vars\": \"error\", \"func-style\"",
        problem: "Expected a function expression",
    }),
    rename: Unsupported,
    format: Unsupported,
    ..BIOME
};

const DOCKERFILE: Row = Row {
    name: "dockerfile",
    needs: &["npm", "node"],
    fixture: "//- Dockerfile
FROM alpine AS base
ARG NAME=1
FROM base
RUNN echo $NAME
",
    file: "Dockerfile",
    problem: ("Unknown instruction: RUNN", 4, 1),
    mend: ("RUNN", "RUN"),
    hover: Is((("Dockerfile", 4, "RUN"), "Execute any commands on top of the current image")),
    definition: Is((("Dockerfile", 3, "base"), &["Dockerfile:1:16"])),
    references: Unsupported,
    symbols: Is(("Dockerfile", &["1 function FROM", "4 function RUN"])),
    workspace_symbols: Unsupported,
    format: Is(("Dockerfile", "would change nothing")),
    ..Row::NEW
};

const COMPOSE: Row = Row {
    name: "compose",
    needs: &["npm", "node"],
    fixture: "//- compose.yaml
services:
  web:
    image: [nginx
",
    file: "compose.yaml",
    problem: ("must be sufficiently indented and end with a ]", 4, 1),
    mend: ("[nginx", "nginx"),
    hover: Is((("compose.yaml", 3, "image"), "The image that will be pulled for the service")),
    definition: Unsupported,
    references: Unsupported,
    symbols: Unsupported,
    workspace_symbols: Unsupported,
    rename: Unsupported,
    format: Is(("compose.yaml", "would change nothing")),
    ..Row::NEW
};

const SVELTE: Row = Row {
    name: "svelte",
    needs: &["npm", "node"],
    fixture: r#"//- package.json
{ "type": "module" }
//- svelte.config.js
import { writeFileSync } from "fs";
writeFileSync("EXECUTED", "the configuration");
export default {};
//- tsconfig.json
{ "compilerOptions": { "strict": true, "types": [] } }
//- shop.ts
export function add(a: number, b: number): number {
  return a + b;
}
//- a.svelte
<script lang="ts">
  import { add } from "./shop";
  const sum: string = add(1, 2);
</script>

<p>{sum}</p>
"#,
    file: "a.svelte",
    problem: ("Type 'number' is not assignable to type 'string'", 3, 9),
    mend: ("sum: string", "sum: number"),
    across: Some(Across {
        file: "shop.ts",
        find: "b: number)",
        replace: "b: string)",
        problem: "Argument of type 'number' is not assignable to parameter of type 'string'",
    }),
    hover: Is((("a.svelte", 3, "add"), "add(a: number, b: number): number")),
    definition: Is((("a.svelte", 3, "add"), &["shop.ts:1:17"])),
    references: Is((("a.svelte", 3, "add"), &["a.svelte:2:12", "a.svelte:3:23", "shop.ts:1:17"])),
    symbols: Is(("a.svelte", &["1 field script", "3 constant sum"])),
    workspace_symbols: Is(("add", &["shop.ts:1:17"])),
    format: Is(("a.svelte", "would change nothing")),
    ..Row::NEW
};
