use expect_test::expect;

use super::*;

fn all(names: ToolNames, output: Output) -> Vec<Value> {
    tools(&ToolId::ALL, names, output).iter().map(|tool| serde_json::to_value(tool).unwrap()).collect()
}

/// Every object in a schema, with its path.
fn walk(value: &Value, path: &str, see: &mut dyn FnMut(&str, &JsonObject)) {
    match value {
        Value::Object(map) => {
            see(path, map);
            for (key, value) in map {
                walk(value, &format!("{path}/{key}"), see);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| walk(value, path, see)),
        _ => {}
    }
}

#[test]
fn names_that_every_client_takes() {
    let names = all(ToolNames::Underscore, Output::Text)
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect::<Vec<_>>();
    for name in &names {
        assert!(name.len() <= 32 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
    }
    expect!["lsp_diagnostics lsp_hover lsp_definition lsp_references lsp_completions lsp_signature lsp_symbols lsp_workspace_symbols lsp_calls lsp_types lsp_rename lsp_code_actions lsp_format lsp_move_file lsp_apply lsp_status"].assert_eq(&names.join(" "));
}

#[test]
fn light_and_stable() {
    for output in [Output::Text, Output::Structured, Output::Both] {
        let list = serde_json::to_string(&all(ToolNames::Underscore, output)).unwrap();
        assert!(list.len() <= 11_800, "{output:?}: {} bytes", list.len());
        assert_eq!(list, serde_json::to_string(&all(ToolNames::Underscore, output)).unwrap());
    }
    expect!["9759"]
        .assert_eq(&serde_json::to_string(&all(ToolNames::Underscore, Output::Text)).unwrap().len().to_string());
}

#[test]
fn descriptions_are_short() {
    for tool in ToolId::ALL {
        let length = description(tool).chars().count();
        assert!((20..=400).contains(&length), "{tool:?}: {length}");
    }
}

#[test]
fn schemas_are_flat() {
    for tool in all(ToolNames::Slash, Output::Both) {
        let name = tool["name"].as_str().unwrap();
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert_eq!(schema["type"], "object", "{name}");
            assert!(schema["properties"].is_object(), "{name}");
            for required in schema["required"].as_array().into_iter().flatten() {
                assert!(schema["properties"].get(required.as_str().unwrap()).is_some(), "{name}: {required}");
            }
            walk(schema, name, &mut |path, map| {
                for key in ["$ref", "$defs", "$schema", "oneOf", "anyOf", "allOf", "not", "const", "format", "nullable"]
                {
                    assert!(!map.contains_key(key) || path.ends_with("/properties"), "{path}: {key}");
                }
                if !path.ends_with("/properties") {
                    assert!(map.get("type").is_some_and(Value::is_string), "{path}: type");
                    assert!(map["type"] != "array" || map["items"].is_object(), "{path}: items");
                    assert!(map.get("default").is_none_or(|default| !default.is_null()), "{path}: default");
                }
            });
        }
    }
}

#[test]
fn everything_is_said_of_each() {
    for (tool, entry) in ToolId::ALL.into_iter().zip(all(ToolNames::Dot, Output::Text)) {
        assert_eq!(entry["_meta"]["langport/id"], tool.canonical());
        assert!(entry["title"].is_string());
        assert!(entry.get("outputSchema").is_none());
        let writes = tool == ToolId::Apply;
        assert_eq!(
            entry["annotations"],
            json!({"readOnlyHint": !writes, "destructiveHint": writes, "idempotentHint": !writes, "openWorldHint": false})
        );
        assert!(entry["inputSchema"]["properties"]["cursor"].is_object(), "{tool:?}");
    }
}

#[test]
fn arguments() {
    let lines: Vec<String> = all(ToolNames::Slash, Output::Text)
        .iter()
        .map(|tool| {
            let schema = &tool["inputSchema"];
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let names = schema["properties"]
                .as_object()
                .unwrap()
                .keys()
                .map(|key| if required.contains(&json!(key)) { format!("{key}!") } else { key.clone() });
            format!("{}: {}", tool["name"].as_str().unwrap(), names.collect::<Vec<_>>().join(" "))
        })
        .collect();
    expect![[r#"
        lsp/diagnostics: cursor file_path new_only scope severity since
        lsp/hover: column cursor file_path line occurrence symbol
        lsp/definition: column cursor file_path kind line occurrence symbol
        lsp/references: column cursor file_path include_declaration line occurrence symbol
        lsp/completions: column cursor file_path line occurrence symbol
        lsp/signature: column cursor file_path line occurrence symbol
        lsp/symbols: cursor depth file_path! query
        lsp/workspace-symbols: cursor kind query!
        lsp/calls: column cursor depth direction file_path line occurrence symbol
        lsp/types: column cursor depth direction file_path line occurrence symbol
        lsp/rename: allow_partial column cursor file_path line new_name! occurrence symbol
        lsp/code-actions: action cursor end_column end_line file_path only start_column start_line
        lsp/format: cursor end_column end_line file_path! start_column start_line
        lsp/move-file: cursor from! to!
        lsp/apply: cursor plan undo
        lsp/status: cursor file_path restart server"#]]
    .assert_eq(&lines.join("\n"));
}
