//! What is wrong with a definition although its TOML is right.

use std::net::SocketAddr;

use regex::Regex;
use serde_json::{Map, Value};

use super::{
    Scope,
    definition::{Definition, Packages, Transport},
    marker::Marker,
    name::ScopedName,
    settings,
};
use crate::{config::nearest, language};

/// Variables that make a program load somebody else's code.
const DENIED: &[&str] = &["NODE_OPTIONS"];
const DENIED_PREFIXES: &[&str] = &["LD_", "DYLD_"];
/// The longest wait that a definition may ask for.
const MAX_WAIT_MS: u64 = 600_000;

/// A key with what is wrong about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Issue {
    pub(super) key: String,
    pub(super) what: String,
}

/// Everything that is wrong with a definition of some scope.
pub(super) fn issues(def: &Definition, scope: Scope) -> Vec<Issue> {
    let mut found = Found(Vec::new());
    name(def, scope, &mut found);
    command(def, &mut found);
    languages(def, &mut found);
    if let Some(both) = def.lacks.iter().find(|lacking| def.capabilities.iter().flatten().any(|own| own == *lacking)) {
        found.add("lacks", format!("`{}` is among its `capabilities`", both.word()));
    }
    for (field, table) in [("env", &def.env), ("untrusted.env", &def.untrusted.env)] {
        for variable in table.keys() {
            environment(field, variable, &mut found);
        }
    }
    for variable in &def.pass_env {
        environment("pass_env", variable, &mut found);
    }
    if def.nice.is_some_and(|nice| nice > 19) {
        found.add("nice", "is more than 19");
    }
    for (field, table) in
        [("workspace_settings", &def.workspace_settings), ("untrusted.settings", &def.untrusted.settings)]
    {
        tree(field, table, &mut found);
    }
    root(def, &mut found);
    share(def, &mut found);
    ready(def, &mut found);
    reach(def, &mut found);
    install(def, &mut found);
    found.0
}

struct Found(Vec<Issue>);

impl Found {
    fn add(&mut self, key: impl Into<String>, what: impl Into<String>) {
        self.0.push(Issue { key: key.into(), what: what.into() });
    }
}

fn name(def: &Definition, scope: Scope, found: &mut Found) {
    match def.name.parse::<ScopedName>() {
        Err(error) => found.add("name", error.to_string()),
        Ok(name) if name.namespace() == Some("builtin") && scope != Scope::Builtin => {
            let own = name.name();
            found.add(
                "name",
                format!("`builtin/` is for langport's own: call it `local/{own}`, which `{own}` then means first"),
            );
        }
        Ok(_) => {}
    }
}

fn command(def: &Definition, found: &mut Found) {
    let command = def.command.as_str();
    let parts = || command.split(['/', '\\']);
    if command.trim().is_empty() {
        found.add("command", "is empty");
    } else if parts().any(|part| part == "..") {
        found.add("command", format!("`{command}` climbs out of a folder: write the path out"));
    } else if parts().count() > 1
        && !["/", "~/", "${"].iter().any(|start| command.starts_with(start))
        && !is_drive(command)
    {
        found.add("command", format!("`{command}` is a relative path: write a bare name, an absolute path, or ~/…"));
    } else if command.contains(char::is_whitespace) && !command.contains('/') && !command.contains('\\') {
        found.add("command", format!("`{command}` is one program, no shell reads it: put its arguments into `args`"));
    }
    match (def.transport, &def.address) {
        (Transport::Stdio, Some(_)) => found.add("address", "is only for the transport `tcp`"),
        (Transport::Tcp, None) => found.add("address", "is missing: the transport `tcp` takes `host:port`"),
        (Transport::Tcp, Some(address)) if !address.contains("${") => {
            let loopback = address.strip_prefix("localhost:").map_or_else(
                || address.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_loopback()),
                |port| port.parse::<u16>().is_ok(),
            );
            if !loopback {
                found.add(
                    "address",
                    format!("`{address}` is not `host:port` on this machine (127.0.0.1, [::1], localhost)"),
                );
            }
        }
        _ => {}
    }
}

fn is_drive(command: &str) -> bool {
    matches!(command.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

fn languages(def: &Definition, found: &mut Found) {
    if def.languages.is_empty() && def.extensions.is_empty() {
        found.add("languages", "is empty: name at least one language, or `extensions` with theirs");
    }
    for (ending, id) in &def.extensions {
        if !ending.starts_with('.') || ending.contains(['/', '*']) {
            found.add("extensions", format!("`{ending}` is not the ending of a file name: it begins with a dot"));
        }
        if id.is_empty() {
            found.add("extensions", format!("`{ending}` has no language"));
        }
    }
    if !def.filenames.is_empty() && def.languages.is_empty() {
        found.add("filenames", "needs `languages`: the first one is theirs");
    }
    for id in &def.languages {
        // An id of its own is fine where the definition says which files it stands for.
        let own = def.extensions.values().any(|other| other == id) || !def.filenames.is_empty();
        if !own && !language::is_known(id) {
            let hint = nearest::hint(id, language::known());
            found.add(
                "languages",
                format!("`{id}` is no language that files are known to be in{hint}; `extensions` can say which"),
            );
        }
    }
}

fn environment(field: &str, variable: &str, found: &mut Found) {
    if variable.is_empty() || variable.contains(['=', '\0']) {
        found.add(field, format!("`{variable}` is not the name of a variable"));
    } else if DENIED.contains(&variable) || DENIED_PREFIXES.iter().any(|prefix| variable.starts_with(prefix)) {
        found.add(field, format!("`{variable}` makes a program load other code: it is never set"));
    }
}

fn tree(field: &str, table: &Map<String, Value>, found: &mut Found) {
    if let Some(key) = table.keys().find(|key| key.split('.').any(str::is_empty)) {
        found.add(field, format!("`{key}` has an empty part"));
    }
    if let Err(conflict) = settings::nest(table) {
        found.add(field, conflict.to_string());
    }
}

/// What is the same for all roots can be told to one process. Whether an environment is, is seen when two roots meet.
fn share(def: &Definition, found: &mut Found) {
    if !def.root.share {
        return;
    }
    let told = (&def.command, &def.args, &def.env, &def.initialization, &def.workspace_settings, &def.untrusted);
    let told = serde_json::to_string(&told).unwrap_or_default();
    if told.contains("${root") {
        found.add("root.share", "cannot be, since `${root}` is another one for each root");
    }
}

fn root(def: &Definition, found: &mut Found) {
    let markers = def.root.markers.iter().flatten().map(|marker| ("root.markers", marker));
    let all = markers.chain(def.root.exclude.iter().map(|marker| ("root.exclude", marker)));
    for (field, marker) in all {
        if let Err(reason) = Marker::parse(marker) {
            found.add(field, reason);
        }
    }
    for path in &def.watch.paths {
        if path.is_empty() || path.starts_with(['/', '~']) || path.split(['/', '\\']).any(|part| part == "..") {
            found.add("watch.paths", format!("`{path}` is not a path inside the root"));
        }
    }
}

fn ready(def: &Definition, found: &mut Found) {
    for (field, pattern) in [
        ("ready.log", &def.ready.log),
        ("ready.progress", &def.ready.progress),
        ("ready.standing", &def.ready.standing),
        ("reach.nameless", &def.reach.nameless),
        ("reach.overlooks", &def.reach.overlooks),
        ("diagnostics.work.working", &def.diagnostics.work.as_ref().map(|work| work.working.clone())),
    ] {
        if let Some(Err(error)) = pattern.as_deref().map(Regex::new) {
            // regex draws the place over several lines; the last one says what it is.
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
            found.add(field, format!("is not a regular expression: {reason}"));
        }
    }
    for (field, globs) in
        [("ready.again", &def.ready.again), ("watch.files", &def.watch.files), ("watch.restart", &def.watch.restart)]
    {
        for glob in globs {
            if let Err(error) = globset::Glob::new(glob) {
                found.add(field, format!("`{glob}`: {}", error.kind()));
            }
        }
    }
    let signal = def.ready.log.is_some()
        || def.ready.notification.is_some()
        || def.ready.progress.is_some()
        || def.ready.refresh;
    if !def.ready.again.is_empty() && !signal {
        found.add("ready.again", "needs a signal that can come again: log, notification or progress");
    }
    let waits = [
        ("ready.grace_ms", Some(def.ready.grace_ms)),
        ("ready.again_ms", Some(def.ready.again_ms)),
        ("ready.timeout_ms", Some(def.ready.timeout_ms)),
        ("diagnostics.settle_ms", def.diagnostics.settle_ms),
        ("diagnostics.empty_ms", def.diagnostics.empty_ms),
    ];
    for (field, wait) in waits {
        if wait.is_some_and(|wait| wait > MAX_WAIT_MS) {
            found.add(field, format!("is more than {MAX_WAIT_MS} (ten minutes)"));
        }
    }
}

fn reach(def: &Definition, found: &mut Found) {
    for list in &def.reach.lists {
        if list.is_empty() || list.starts_with(['/', '~']) || list.split(['/', '\\']).any(|part| part == "..") {
            found.add("reach.lists", format!("`{list}` is not a path inside a folder"));
        }
    }
    for (file, pattern) in &def.reach.packages {
        if file.is_empty() || file.contains(['/', '\\']) {
            found.add("reach.packages", format!("`{file}` is not the name of a file"));
        }
        match Regex::new(pattern) {
            Ok(pattern) if pattern.captures_len() > 1 => {}
            Ok(_) => found.add("reach.packages", format!("`{pattern}` has no group for the name")),
            Err(_) => found.add("reach.packages", format!("`{pattern}` is not a regular expression")),
        }
    }
    for id in def.reach.also.iter().filter(|id| !language::is_known(id)) {
        let hint = nearest::hint(id, language::known());
        found.add("reach.also", format!("`{id}` is no language that files are known to be in{hint}"));
    }
}

fn install(def: &Definition, found: &mut Found) {
    let install = &def.install;
    let managers = [
        ("npm", &install.npm, "@"),
        ("pip", &install.pip, "=="),
        ("cargo", &install.cargo, "@"),
        ("go", &install.go, "@"),
    ];
    let given: Vec<_> =
        managers.iter().filter_map(|(name, packages, pin)| Some((*name, packages.as_ref()?, *pin))).collect();
    for (name, packages, pin) in given {
        pinned(&format!("install.{name}"), packages, pin, found);
    }
}

fn pinned(field: &str, packages: &Packages, pin: &str, found: &mut Found) {
    if packages.iter().next().is_none() {
        found.add(field, "is empty");
    }
    for package in packages.iter() {
        let (name, version) = package.rsplit_once(pin).unwrap_or((package, ""));
        let exact = |c: char| c.is_ascii_alphanumeric() || ".-+_".contains(c);
        let named = |c: char| c.is_ascii_alphanumeric() || "@/._-[]".contains(c);
        if name.is_empty() || name.starts_with(['-', '.', '/']) || !name.chars().all(named) {
            found.add(field, format!("`{package}` is not the name of a package"));
        } else if !version.starts_with(|c: char| c.is_ascii_digit() || c == 'v') || !version.chars().all(exact) {
            found.add(field, format!("`{package}` is not pinned: write `package{pin}version`"));
        }
    }
}
