//! What we offer, and what servers declare and register.

use std::path::Path;

use expect_test::{Expect, expect};
use serde_json::json;

use super::super::positions::Encoding;
use super::*;

fn effective(capabilities: &Value) -> Effective {
    Effective::from_initialize(json!({ "capabilities": capabilities }).to_string().as_bytes()).expect("JSON")
}

fn registration(id: &str, method: &str, options: Value) -> Registration {
    Registration { id: id.to_owned(), method: method.to_owned(), options }
}

#[test]
fn the_offer() {
    fn lines(name: &str, value: &Value, shown: &mut String) {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    lines(&format!("{name}{key}."), value, shown);
                }
            }
            _ => *shown += &format!("{} {value}\n", name.trim_end_matches('.')),
        }
    }
    let mut shown = String::new();
    lines("", &client_capabilities(None), &mut shown);
    expect![[r#"
        general.positionEncodings ["utf-8","utf-16"]
        textDocument.callHierarchy.dynamicRegistration true
        textDocument.codeAction.codeActionLiteralSupport.codeActionKind.valueSet ["","quickfix","refactor","refactor.extract","refactor.inline","refactor.rewrite","source","source.organizeImports","source.fixAll"]
        textDocument.codeAction.dataSupport true
        textDocument.codeAction.disabledSupport true
        textDocument.codeAction.dynamicRegistration true
        textDocument.codeAction.honorsChangeAnnotations true
        textDocument.codeAction.isPreferredSupport true
        textDocument.codeAction.resolveSupport.properties ["edit","command"]
        textDocument.completion.completionItem.deprecatedSupport true
        textDocument.completion.completionItem.documentationFormat ["plaintext","markdown"]
        textDocument.completion.completionItem.labelDetailsSupport true
        textDocument.completion.completionItem.preselectSupport true
        textDocument.completion.completionItem.snippetSupport true
        textDocument.completion.completionItem.tagSupport.valueSet [1]
        textDocument.completion.completionItemKind.valueSet [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]
        textDocument.completion.completionList.itemDefaults ["editRange","insertTextFormat","data"]
        textDocument.completion.contextSupport true
        textDocument.completion.dynamicRegistration true
        textDocument.declaration.dynamicRegistration true
        textDocument.declaration.linkSupport true
        textDocument.definition.dynamicRegistration true
        textDocument.definition.linkSupport true
        textDocument.diagnostic.dataSupport true
        textDocument.diagnostic.dynamicRegistration true
        textDocument.diagnostic.relatedDocumentSupport true
        textDocument.diagnostic.relatedInformation true
        textDocument.diagnostic.tagSupport.valueSet [1,2]
        textDocument.documentSymbol.dynamicRegistration true
        textDocument.documentSymbol.hierarchicalDocumentSymbolSupport true
        textDocument.documentSymbol.symbolKind.valueSet [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26]
        textDocument.documentSymbol.tagSupport.valueSet [1]
        textDocument.formatting.dynamicRegistration true
        textDocument.hover.contentFormat ["markdown","plaintext"]
        textDocument.hover.dynamicRegistration true
        textDocument.implementation.dynamicRegistration true
        textDocument.implementation.linkSupport true
        textDocument.publishDiagnostics.codeDescriptionSupport false
        textDocument.publishDiagnostics.dataSupport true
        textDocument.publishDiagnostics.relatedInformation true
        textDocument.publishDiagnostics.tagSupport.valueSet [1,2]
        textDocument.publishDiagnostics.versionSupport true
        textDocument.rangeFormatting.dynamicRegistration true
        textDocument.references.dynamicRegistration true
        textDocument.rename.dynamicRegistration true
        textDocument.rename.honorsChangeAnnotations true
        textDocument.rename.prepareSupport true
        textDocument.rename.prepareSupportDefaultBehavior 1
        textDocument.signatureHelp.contextSupport true
        textDocument.signatureHelp.dynamicRegistration true
        textDocument.signatureHelp.signatureInformation.activeParameterSupport true
        textDocument.signatureHelp.signatureInformation.documentationFormat ["markdown","plaintext"]
        textDocument.signatureHelp.signatureInformation.parameterInformation.labelOffsetSupport true
        textDocument.synchronization.didSave true
        textDocument.synchronization.dynamicRegistration true
        textDocument.typeDefinition.dynamicRegistration true
        textDocument.typeDefinition.linkSupport true
        textDocument.typeHierarchy.dynamicRegistration true
        window.showDocument.support false
        window.workDoneProgress true
        workspace.applyEdit true
        workspace.configuration true
        workspace.diagnostics.refreshSupport true
        workspace.didChangeConfiguration.dynamicRegistration true
        workspace.didChangeWatchedFiles.dynamicRegistration true
        workspace.didChangeWatchedFiles.relativePatternSupport true
        workspace.executeCommand.dynamicRegistration true
        workspace.fileOperations.didRename true
        workspace.fileOperations.dynamicRegistration true
        workspace.fileOperations.willRename true
        workspace.symbol.dynamicRegistration true
        workspace.symbol.symbolKind.valueSet [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26]
        workspace.workspaceEdit.changeAnnotationSupport.groupsOnLabel false
        workspace.workspaceEdit.documentChanges true
        workspace.workspaceEdit.failureHandling "transactional"
        workspace.workspaceEdit.normalizesLineEndings false
        workspace.workspaceEdit.resourceOperations ["create","rename","delete"]
        workspace.workspaceFolders true
    "#]].assert_eq(&shown);
}

/// A key that LSP does not have, or a value of the wrong type, would be lost or refused on the way through the types.
#[test]
fn the_offer_is_of_lsp_s_shape() {
    let offered = client_capabilities(None);
    let typed: lsp_types::ClientCapabilities = serde_json::from_value(offered.clone()).unwrap();
    let mut lost = Vec::new();
    missing("", &offered, &serde_json::to_value(typed).unwrap(), &mut lost);
    expect![[r#"
        /textDocument/diagnostic/dataSupport
        /textDocument/diagnostic/relatedInformation
        /textDocument/diagnostic/tagSupport/valueSet
        /workspace/diagnostics/refreshSupport
    "#]]
    // LSP 3.17 and 3.18 have these; the types are older.
    .assert_eq(&lost.into_iter().map(|key: String| key + "\n").collect::<String>());
}

fn missing(name: &str, offered: &Value, kept: &Value, lost: &mut Vec<String>) {
    match offered {
        Value::Object(fields) => {
            for (key, value) in fields {
                missing(&format!("{name}/{key}"), value, &kept[key], lost);
            }
        }
        value if value != kept => lost.push(name.to_owned()),
        _ => {}
    }
}

#[test]
fn definitions_add_to_the_offer() {
    let extra =
        json!({ "experimental": { "serverStatusNotification": true }, "workspace": { "configuration": false } });
    let offer = client_capabilities(Some(&extra));
    assert_eq!(offer["experimental"]["serverStatusNotification"], true);
    assert_eq!(offer["workspace"]["configuration"], false);
    assert_eq!(offer["workspace"]["workspaceFolders"], true);
}

#[test]
fn providers_in_every_form() {
    let server = effective(&json!({
        "hoverProvider": {}, "definitionProvider": true, "referencesProvider": false, "completionProvider": null,
        "implementationProvider": { "documentSelector": [{ "language": "a" }] },
        "workspace": { "fileOperations": { "willRename": { "filters": [] } } },
    }));
    let can = |method| server.can(method, "a", Path::new("/w/x.a")) == Support::Yes;
    let able: Vec<_> = Method::ALL.iter().copied().filter(|method| can(*method)).collect();
    assert_eq!(able, [Method::Hover, Method::Definition, Method::Implementation, Method::WillRenameFiles]);
    assert_eq!(server.can(Method::Implementation, "b", Path::new("/w/x.b")), Support::No);
    assert!(server.offers(Method::Implementation));
    assert!(!Effective::from_initialize(b"null").expect("JSON").offers(Method::Hover));
    assert!(Effective::from_initialize(b"{").is_err());
}

#[test]
fn registered_and_unregistered() {
    let mut server = effective(&json!({}));
    let (json_file, other) = (Path::new("/w/deep/x.json"), Path::new("/w/x.css"));
    let can = |server: &Effective, path| server.can(Method::Formatting, "any", path) == Support::Yes;
    let method = Method::Formatting.name();
    let options = json!({ "documentSelector": [{ "pattern": "**/*.json", "scheme": "file" }] });
    server.register([registration("1", method, options.clone())]);
    assert!(can(&server, json_file) && !can(&server, other));
    server.register([registration("2", method, json!({ "documentSelector": null }))]);
    assert!(can(&server, other));
    server.unregister([("2", method), ("unknown", method), ("1", "other/method")]);
    assert!(can(&server, json_file) && !can(&server, other));
    // The same id twice is one registration.
    server.register([registration("1", method, options)]);
    server.unregister([("1", method)]);
    assert!(!can(&server, json_file));
    assert_eq!(server.revision(), 5);
}

#[test]
fn selectors() {
    let check = |selector: Value, language: &str, path: &str, expected: bool| {
        let mut server = effective(&json!({}));
        server.register([registration("1", Method::Hover.name(), json!({ "documentSelector": selector }))]);
        let can = server.can(Method::Hover, language, Path::new(path)) == Support::Yes;
        assert_eq!(can, expected, "{selector} {path}");
    };
    check(json!([]), "a", "/w/x.a", false);
    check(json!(["a"]), "a", "/w/x.a", true);
    check(json!([{ "language": "*" }]), "a", "/w/x.a", true);
    check(json!([{ "language": "b" }, { "language": "a", "scheme": "untitled" }]), "a", "/w/x.a", false);
    check(json!([{ "notebook": "jupyter", "language": "a" }]), "a", "/w/x.a", false);
    check(json!([{ "pattern": "*.a" }]), "a", "/w/deep/x.a", true);
    check(json!([{ "pattern": "**/*.{a,b}" }]), "a", "/w/deep/x.b", true);
    check(json!([{ "pattern": "**/[!x].a" }]), "a", "/w/x.a", false);
    check(json!([{ "pattern": "[" }]), "a", "/w/x.a", true);
    check(json!([{ "pattern": { "baseUri": "file:///w", "pattern": "*/x.a" } }]), "a", "/w/deep/x.a", true);
    check(json!([{ "pattern": { "baseUri": "file:///w", "pattern": "*/x.a" } }]), "a", "/other/deep/x.a", false);
}

#[test]
fn pulled_diagnostics_registered_late_and_twice() {
    let mut server = effective(&json!({ "diagnosticProvider": { "identifier": "p", "interFileDependencies": true } }));
    let method = Method::Diagnostic.name();
    server.register([registration("1", method, json!({ "identifier": "p", "workspaceDiagnostics": true }))]);
    server.register([registration("2", method, json!({ "interFileDependencies": false }))]);
    let providers = server.diagnostic_providers("a", Path::new("/w/x.a"));
    let p = DiagnosticProvider { identifier: Some("p".to_owned()), inter_file: true, workspace: true };
    assert_eq!(providers, [p, DiagnosticProvider::default()]);
}

#[test]
fn sync_in_every_form() {
    #[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
    fn check(value: &Value, expected: Expect) {
        let server = effective(&json!({ "textDocumentSync": value }));
        let DocumentSync { open_close, change, save } = server.sync("a", Path::new("/w/x.a"));
        let save = save.map_or("no save", |save| if save.include_text { "save with text" } else { "save" });
        expected.assert_eq(&format!("open {open_close}, {change:?}, {save}"));
    }
    check(&json!(null), expect!["open false, None, no save"]);
    check(&json!(0), expect!["open false, None, no save"]);
    check(&json!(1), expect!["open true, Full, save"]);
    check(&json!(2), expect!["open true, Incremental, save"]);
    check(&json!({ "openClose": true, "change": 0 }), expect!["open true, None, no save"]);
    check(&json!({ "change": 2 }), expect!["open true, Incremental, no save"]);
    check(&json!({ "openClose": false, "change": 2 }), expect!["open false, Incremental, no save"]);
    check(&json!({ "openClose": true, "change": 1, "save": true }), expect!["open true, Full, save"]);
    check(&json!({ "save": { "includeText": true } }), expect!["open false, None, save with text"]);
    check(&json!({ "openClose": true, "save": {} }), expect!["open true, None, save"]);
    check(&json!({ "openClose": true, "save": false }), expect!["open true, None, no save"]);

    let mut server = effective(&json!({}));
    let selector = json!([{ "language": "a" }]);
    server.register([
        registration("1", "textDocument/didOpen", json!({ "documentSelector": selector })),
        registration("2", "textDocument/didChange", json!({ "documentSelector": selector, "syncKind": 1 })),
        registration("3", "textDocument/didSave", json!({ "documentSelector": selector, "includeText": true })),
    ]);
    let save = Some(Save { include_text: true });
    let all = DocumentSync { open_close: true, change: ChangeKind::Full, save };
    assert_eq!(server.sync("a", Path::new("/w/x.a")), all);
    assert_eq!(server.sync("b", Path::new("/w/x.b")), DocumentSync::default());
}

#[test]
fn encodings() {
    let check = |result: Value, expected| {
        let server = Effective::from_initialize(result.to_string().as_bytes()).expect("JSON");
        assert_eq!(server.encoding(), expected, "{result}");
    };
    check(json!({}), Encoding::Utf16);
    check(json!({ "capabilities": { "positionEncoding": "utf-8" } }), Encoding::Utf8);
    check(json!({ "capabilities": { "positionEncoding": "utf-32" } }), Encoding::Utf32);
    check(json!({ "capabilities": { "positionEncoding": "ebcdic" } }), Encoding::Utf16);
    check(json!({ "capabilities": {}, "offsetEncoding": "utf-8" }), Encoding::Utf8);
}

#[test]
fn watches_in_every_form() {
    let check = |watcher: Value, path: &str, event, expected: bool| {
        let mut server = effective(&json!({}));
        let options = json!({ "watchers": [watcher, { "globPattern": 7 }, null] });
        server.register([registration("w", "workspace/didChangeWatchedFiles", options)]);
        assert_eq!(server.wants(Path::new(path), event, &["/w", "/v"]), expected, "{watcher} {path}");
        server.unregister([("w", "workspace/didChangeWatchedFiles")]);
        assert!(server.watches().next().is_none());
    };
    use FileEvent::{Changed, Created, Deleted};
    check(json!({ "globPattern": "**/*.py" }), "/w/a/b.py", Changed, true);
    check(json!({ "globPattern": "**/*.py" }), "/v/b.py", Changed, true);
    check(json!({ "globPattern": "**/*.py" }), "/other/b.py", Changed, false);
    check(json!({ "globPattern": "**" }), "/w/a/b.py", Deleted, true);
    check(json!({ "globPattern": "package.json" }), "/w/a/package.json", Changed, true);
    check(json!({ "globPattern": "src/*.c" }), "/w/src/a.c", Changed, true);
    check(json!({ "globPattern": "src/*.c" }), "/w/src/deep/a.c", Changed, false);
    check(json!({ "globPattern": "/elsewhere/lib/**/*.py" }), "/elsewhere/lib/a/b.py", Changed, true);
    check(json!({ "globPattern": "/w/**/{a,b}.{c,h}" }), "/w/x/b.h", Changed, true);
    for base in [json!("file:///w/sub"), json!("file:///w/sub/"), json!({ "uri": "file:///w/sub", "name": "sub" })] {
        check(json!({ "globPattern": { "baseUri": base, "pattern": "**/*.ts" } }), "/w/sub/x.ts", Changed, true);
        check(json!({ "globPattern": { "baseUri": base, "pattern": "**/*.ts" } }), "/w/x.ts", Changed, false);
    }
    check(json!({ "globPattern": { "baseUri": "file:///a%20b", "pattern": "*" } }), "/a b/x", Changed, true);
    check(json!({ "globPattern": { "baseUri": "untitled:x", "pattern": "**" } }), "/w/x", Changed, false);
    check(json!({ "globPattern": "**", "kind": 1 }), "/w/x", Created, true);
    check(json!({ "globPattern": "**", "kind": 5 }), "/w/x", Changed, false);
    check(json!({ "globPattern": "**", "kind": 4 }), "/w/x", Deleted, true);
    check(json!({ "globPattern": "**", "kind": 0 }), "/w/x", Deleted, false);
    check(json!({ "globPattern": "[" }), "/w/x", Deleted, false);
}

#[test]
fn prefixes_of_watches() {
    let check = |glob: Value, expected: &str| {
        let mut server = effective(&json!({}));
        let options = json!({ "watchers": [{ "globPattern": glob }] });
        server.register([registration("w", "workspace/didChangeWatchedFiles", options)]);
        let prefix = server.watches().next().expect("one").prefix();
        assert_eq!(prefix, Path::new(expected));
    };
    check(json!("**/*.py"), "");
    check(json!("node_modules/@types/**"), "node_modules/@types");
    check(json!("/site/packages/{a,b}/**"), "/site/packages");
    check(json!({ "baseUri": "file:///w/", "pattern": "build/*.json" }), "/w/build");
    check(json!({ "baseUri": "file:///w", "pattern": "**" }), "/w");
}

#[test]
fn watches_that_are_added_under_a_known_id_add_up() {
    let mut server = effective(&json!({}));
    let watching = |glob: &str| {
        let options = json!({ "watchers": [{ "globPattern": glob }] });
        registration("1", "workspace/didChangeWatchedFiles", options)
    };
    for glob in ["**/*.py", "**/*.pth", "**/*.pth"] {
        server.register([watching(glob)]);
    }
    assert_eq!(server.watches().count(), 2);
    server.unregister([("1", "workspace/didChangeWatchedFiles")]);
    assert_eq!(server.watches().count(), 0);
}

#[test]
fn moves_that_a_server_wants_to_hear_of() {
    let filter = |glob: &str, more: Value| {
        let mut pattern = json!({ "glob": glob });
        pattern.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        json!({ "filters": [{ "scheme": "file", "pattern": pattern }, { "scheme": "untitled", "pattern": { "glob": "**" } }] })
    };
    let fixed = json!({ "workspace": { "fileOperations": {
        "willRename": filter("**/*.{ts,js}", json!({ "matches": "file" })),
        "didRename": filter("**/*.TS", json!({ "options": { "ignoreCase": true } })),
    } } });
    let mut server = effective(&fixed);
    let will = |server: &Effective, path: &str, folder| server.hears_of(Moved::Will, Path::new(path), folder);
    assert!(will(&server, "/w/a.ts", false));
    assert!(!will(&server, "/w/a.ts", true), "only files");
    assert!(!will(&server, "/w/a.py", false));
    assert!(server.hears_of(Moved::Did, Path::new("/w/A.Ts"), false));
    server.register([registration("m", Moved::Will.name(), filter("**/lib", json!({ "matches": "folder" })))]);
    assert!(will(&server, "/w/lib", true) && !will(&server, "/w/lib", false));
    server.unregister([("m", Moved::Will.name())]);
    assert!(!will(&server, "/w/lib", true));
}

#[test]
fn commands_and_flags_of_providers() {
    let mut server = effective(&json!({
        "executeCommandProvider": { "commands": ["a.fix"] },
        "renameProvider": { "prepareProvider": true },
        "codeActionProvider": true,
    }));
    assert!(server.runs("a.fix") && !server.runs("b.fix"));
    server.register([registration("c", "workspace/executeCommand", json!({ "commands": ["b.fix"] }))]);
    assert!(server.runs("a.fix") && server.runs("b.fix"));
    let path = Path::new("/w/a.py");
    assert!(server.flag(Method::Rename, "prepareProvider", "python", path));
    assert!(!server.flag(Method::CodeAction, "resolveProvider", "python", path));
    let options = json!({ "resolveProvider": true, "documentSelector": [{ "language": "go" }] });
    server.register([registration("d", "textDocument/codeAction", options)]);
    assert!(!server.flag(Method::CodeAction, "resolveProvider", "python", path));
    assert!(server.flag(Method::CodeAction, "resolveProvider", "go", path));
}

#[test]
fn what_is_kept_of_registrations_is_bounded() {
    let mut server = effective(&json!({}));
    let large = json!({"x": vec![0; 20_000]});
    server.register((0..1_000).map(|n| registration(&n.to_string(), "x/y", large.clone())));
    // What still fits is taken, and what is taken back makes room.
    server.register([registration("hover", "textDocument/hover", large.clone())]);
    assert!(!server.offers(Method::Hover));
    server.register([registration("small", "textDocument/hover", json!({}))]);
    assert!(server.offers(Method::Hover));
    server.unregister([("small", "textDocument/hover"), ("0", "x/y"), ("1", "x/y")]);
    server.register([registration("hover", "textDocument/hover", large)]);
    assert!(server.offers(Method::Hover));
}

#[test]
fn an_answer_to_initialize_is_bounded() {
    let of = |zeros: usize| json!({"capabilities": {"hoverProvider": true, "x": vec![0; zeros]}}).to_string();
    assert!(Effective::from_initialize(of(50_000).as_bytes()).expect("JSON").offers(Method::Hover));
    let error = Effective::from_initialize(of(100_000).as_bytes()).expect_err("too large");
    assert!(error.to_string().contains("too large"), "{error}");
}

#[test]
fn a_selector_of_very_many_patterns_is_read_in_part() {
    let filters: Vec<_> = (0..5_000).map(|n| json!({"pattern": format!("**/*.x{n}")})).collect();
    let mut filters = filters;
    filters.push(json!({"language": "python"}));
    let server = effective(&json!({"hoverProvider": {"documentSelector": filters}}));
    let begun = std::time::Instant::now();
    assert_eq!(server.can(Method::Hover, "go", Path::new("/w/a.x63")), Support::Yes);
    assert_eq!(server.can(Method::Hover, "go", Path::new("/w/a.x64")), Support::No);
    assert_eq!(server.can(Method::Hover, "python", Path::new("/w/a.py")), Support::Yes);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}
