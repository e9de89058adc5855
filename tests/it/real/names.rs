//! Folders and files whose names URIs and globs treat specially.

use serde_json::json;

use crate::support::Workspace;

use super::{needs, places_are, servers::Need, start};

needs! {
    [Pyright] => uri_01_pyright;
}

const NAMES: [&str; 9] = ["a b", "#work", "[slug]", "50%", "a%20b", "naïve", "日本", "(auth)", "q?x"];

/// Each name as a folder and as a file in it, below a root that has all of them in its own name.
fn uri_01_pyright() {
    let ws = Workspace::named(
        "a b #work [slug] 50% a%20b naïve 日本 (auth) q?x",
        "//- pyproject.toml\n[project]\nname = \"p\"\nversion = \"1\"\n",
    );
    let file = |name: &str| format!("{name}/{name}.py");
    for (index, name) in NAMES.iter().enumerate() {
        let text = format!(
            "def there_{index}() -> int:\n    return 1\n\n\ndef here_{index}() -> str:\n    return there_{index}()\n"
        );
        ws.write(&file(name), &text);
    }
    let lp = start(&ws, &[Need::Pyright]);
    for (index, name) in NAMES.iter().enumerate() {
        let path = file(name);
        let place = |line: usize, column: usize| format!("{path}:{line}:{column}");
        let wrong = lp.diagnostics(&path);
        places_are(wrong.says("fresh · pyright · 1 error"), &[&place(6, 12)]);
        let call = json!({"file_path": path, "line": 6, "column": 12});
        let hover = lp.hover(&call);
        hover.says("fresh · pyright · hover").contains(&format!("def there_{index}() -> int")).contains(&place(6, 12));
        places_are(&lp.tool("definition", &call), &[&place(1, 5)]);
        places_are(lp.tool("references", &call).contains(&format!("\n{path}\n")), &[&place(1, 5), &place(6, 12)]);
        places_are(&lp.tool("workspace_symbols", &json!({"query": format!("there_{index}")})), &[&place(1, 5)]);
        lp.tool("symbols", &json!({"file_path": path})).contains(&format!("5 function here_{index}"));
        let callers = lp.tool("calls", &call);
        super::tree_is(
            &callers,
            &[&format!("there_{index} {}", place(1, 5)), &format!("there_{index}/here_{index} {} at 6", place(5, 5))],
        );
        lp.tool("completions", &json!({"file_path": path, "line": 6, "column": 19}))
            .fine()
            .contains(&format!("there_{index}"));
        lp.tool("signature", &json!({"file_path": path, "line": 6, "column": 20})).contains("() -> int");
        // A second step, after the file has changed.
        ws.write(&path, &format!("def there_{index}() -> str:\n    return \"1\"\n\n\ndef here_{index}() -> str:\n    return there_{index}()\n"));
        lp.diagnostics(&path).says("fresh · pyright · no problems");
        lp.hover(&call).contains(&format!("def there_{index}() -> str"));
        // As a URI and as an absolute path.
        let absolute = ws.path(&path).to_string_lossy().into_owned();
        for given in [ws.uri(&path), absolute] {
            places_are(&lp.tool("definition", &json!({"file_path": given, "line": 6, "column": 12})), &[&place(1, 5)]);
        }
    }
}
