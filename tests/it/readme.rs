//! The README says what is so: its tables are those of the program, its example works, its links lead somewhere.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use langport::{config::Settings, registry::schema, tools::ToolId};
use serde_json::Value;

use crate::support::Workspace;

trials![
    the_table_of_keys_is_that_of_the_settings,
    the_tools_are_those_that_exist,
    capabilities_that_are_not_called_as_their_tools_are_told,
    the_example_of_a_definition_works,
    links_lead_somewhere,
];

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

fn readme() -> String {
    fs::read_to_string(path()).unwrap()
}

/// What stands between two texts.
#[track_caller]
fn between<'t>(text: &'t str, begin: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("README.md has no {begin:?}"));
    rest.split_once(end).unwrap_or_else(|| panic!("README.md has no {end:?}")).0
}

/// The keys as the README shows them.
fn keys() -> String {
    let schema: Value = serde_json::from_str(&schema::config()).unwrap();
    let defaults = serde_json::to_value(Settings::default()).unwrap();
    let mut table = "| key | default | meaning |\n|---|---|---|\n".to_owned();
    for (key, value) in schema["properties"].as_object().unwrap() {
        let shape = value["$ref"].as_str().map_or(value, |name| &schema["$defs"][name.rsplit('/').next().unwrap()]);
        let said = value["description"].as_str().or(shape["description"].as_str()).unwrap();
        let said = said.replace('\n', " ");
        let mut choices: Vec<&str> = shape["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        choices.extend(shape["oneOf"].as_array().into_iter().flatten().filter_map(|one| one["const"].as_str()));
        let choices: Vec<String> = choices.iter().map(|choice| format!("`{choice}`")).collect();
        let choices = if choices.is_empty() { String::new() } else { format!(" {}.", choices.join(", ")) };
        table += &format!("| `{key}` | `{}` | {said}{choices} |\n", defaults[key]);
    }
    table
}

fn the_table_of_keys_is_that_of_the_settings() {
    let readme = readme();
    let (begin, end) = ("<!-- keys -->\n", "<!-- /keys -->");
    let shown = between(&readme, begin, end);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let new = readme.replace(&format!("{begin}{shown}{end}"), &format!("{begin}{}{end}", keys()));
        // The other tests read it meanwhile.
        let beside = path().with_extension("md.tmp");
        fs::write(&beside, new).unwrap();
        fs::rename(beside, path()).unwrap();
        return;
    }
    assert_eq!(shown, keys(), "UPDATE_EXPECT=1 cargo test writes it anew");
}

fn the_tools_are_those_that_exist() {
    let readme = readme();
    let table = between(&readme, "## The tools", "All take");
    let shown: Vec<&str> = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let there: Vec<String> = ToolId::ALL.iter().map(|tool| tool.canonical().replace(['/', '-'], "_")).collect();
    assert_eq!(shown, there);
}

fn capabilities_that_are_not_called_as_their_tools_are_told() {
    let readme = readme();
    let told = between(&readme, "A capability is called", "Servers start").replace('\n', " ");
    for tool in ToolId::ALL {
        let Some(capability) = tool.capability() else { continue };
        let name = tool.canonical().replace(['/', '-'], "_");
        let said = told.contains(&format!("`{}` for `{name}`", capability.word()));
        let alike = name.trim_start_matches("lsp_") == capability.word();
        assert!(said != alike, "{name}: {}", capability.word());
    }
}

fn the_example_of_a_definition_works() {
    let readme = readme();
    let ws = Workspace::new("//- run.sh\n#!/bin/sh\n");
    let folder = ws.home().join("config/servers.d");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("bash.toml"), between(&readme, "<!-- definition -->\n```toml\n", "```")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_langport"));
    command.args(["show", "bash"]).current_dir(ws.root()).env_clear().env("HOME", ws.home());
    let shown = command.env("LANGPORT_CONFIG_DIR", ws.home().join("config")).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&shown.stdout), String::from_utf8_lossy(&shown.stderr));
    assert!(shown.status.success() && err.is_empty(), "{err}");
    assert!(out.contains("local/bash") && out.contains("langport install local/bash"), "{out}");
}

fn links_lead_somewhere() {
    let readme = readme();
    let links: BTreeSet<&str> = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(links.len() > 3, "{links:?}");
    for link in links {
        assert!(path().with_file_name(link).exists(), "{link}");
    }
}
