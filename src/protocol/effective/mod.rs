//! What a server can do at this moment: its `initialize` result as it came, and on top of it what it has registered
//! since. Pure.

mod files;
mod globs;
mod methods;
mod selector;
mod sync;
mod watch;

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

pub use self::files::Moved;
use self::globs::Glob;
pub use self::methods::Method;
use self::selector::Selector;
pub use self::sync::{ChangeKind, DocumentSync, Save};
pub use self::watch::{FileEvent, Watch};
use super::host::Registration;
use super::positions::Encoding;

/// More than any server needs; what comes beyond is ignored.
const REGISTRATIONS: usize = 4_096;
/// The memory that their options may take, and the bytes of all different patterns that are watched: compiled, one takes
/// some hundred times its own length.
const OPTIONS: usize = 8 << 20;
const PATTERNS: usize = 32 << 10;
/// Bytes of an answer to `initialize`, which is kept as a tree; the longest that are seen have some 30 KiB.
const INITIALIZE: usize = 1 << 20;

/// Whether a server can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    Yes,
    No,
}

/// Why an answer to `initialize` tells nothing.
#[derive(Debug, thiserror::Error)]
pub enum InitializeError {
    #[error("is no JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("has {0} bytes, more than the {INITIALIZE} that are read")]
    TooLarge(usize),
}

/// One source of pulled diagnostics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiagnosticProvider {
    /// Sent back with each request.
    pub identifier: Option<String>,
    /// A change in one file may change another's diagnostics.
    pub inter_file: bool,
    /// Answers `workspace/diagnostic` too.
    pub workspace: bool,
}

/// The name that a server gives itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerInfo {
    pub name: String,
    pub version: Option<String>,
}

impl ServerInfo {
    /// Its version, where that is one for people: gopls puts a whole object there.
    pub fn plain_version(&self) -> Option<&str> {
        self.version.as_deref().map(str::trim).filter(|version| !version.is_empty() && !version.starts_with('{'))
    }

    /// Name and version, each once: clangd's version begins with its name.
    pub fn shown(&self) -> String {
        let name = self.name.trim();
        let Some(version) = self.plain_version() else { return name.to_owned() };
        let begins = version.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        if begins { version.to_owned() } else { format!("{name} {version}").trim_start().to_owned() }
    }
}

/// The static capabilities with the dynamic ones on top.
#[derive(Debug, Clone, Default)]
pub struct Effective {
    result: Value,
    dynamic: Vec<Entry>,
    watches: Vec<(String, Watch)>,
    revision: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    id: String,
    method: String,
    options: Value,
    selector: Selector,
    /// The memory that the options take.
    weight: usize,
}

/// The memory that a value takes, or a little more.
fn weight(value: &Value) -> usize {
    let inside: usize = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        // A node of the map has room for more than one member.
        Value::Object(members) => members.iter().map(|(key, value)| 128 + key.len() + weight(value)).sum(),
    };
    size_of::<Value>() + inside
}

impl Effective {
    /// From the JSON text of the `initialize` result.
    ///
    /// # Errors
    ///
    /// The text is no JSON, or too long.
    pub fn from_initialize(result: &[u8]) -> Result<Self, InitializeError> {
        if result.len() > INITIALIZE {
            return Err(InitializeError::TooLarge(result.len()));
        }
        Ok(Self { result: serde_json::from_slice(result)?, ..Self::default() })
    }

    /// Takes the `initialize` result beside what was registered already: some servers register before they answer.
    pub fn set_static(&mut self, told: Self) {
        self.result = told.result;
        self.revision += 1;
    }

    /// The `initialize` result as it came.
    pub fn initialize_result(&self) -> &Value {
        &self.result
    }

    /// Rises whenever something was registered or unregistered.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    pub fn server_info(&self) -> Option<ServerInfo> {
        let info = self.result.get("serverInfo")?;
        let text = |key: &str| info.get(key).and_then(Value::as_str).map(|text| text.chars().take(80).collect());
        Some(ServerInfo { name: text("name")?, version: text("version") })
    }

    /// The unit of `character` that the server chose.
    pub fn encoding(&self) -> Encoding {
        // clangd answers older clients beside the capabilities.
        let chosen = self.capability("positionEncoding").or_else(|| self.result.get("offsetEncoding"));
        match chosen.and_then(Value::as_str) {
            Some("utf-8") => Encoding::Utf8,
            Some("utf-32") => Encoding::Utf32,
            _ => Encoding::Utf16,
        }
    }

    /// The same id and method again replaces: servers register anew when their settings change.
    pub fn register(&mut self, registrations: impl IntoIterator<Item = Registration>) {
        for Registration { id, method, options } in registrations {
            self.dynamic.retain(|entry| entry.id != id || entry.method != method);
            let weight = weight(&options);
            let taken: usize = self.dynamic.iter().map(|entry| entry.weight).sum();
            if self.dynamic.len() >= REGISTRATIONS || taken + weight > OPTIONS {
                continue;
            }
            if method == watch::METHOD {
                self.watch(&id, &options);
            }
            let selector = Selector::of(&options);
            self.dynamic.push(Entry { id, method, options, selector, weight });
        }
        self.revision += 1;
    }

    fn watch(&mut self, id: &str, options: &Value) {
        let distinct: HashSet<&str> = self.watches().map(Watch::pattern).collect();
        let mut room = PATTERNS.saturating_sub(distinct.iter().map(|pattern| pattern.len()).sum());
        for wish in watch::wishes(options) {
            // pyrefly adds to what it watches under the id that it has: until it is taken back, all of it holds.
            if self.watches.iter().any(|(of, known)| of == id && known.is_of(&wish)) {
                continue;
            }
            if self.watches.len() >= REGISTRATIONS {
                return;
            }
            // The same pattern in many folders is compiled once.
            let alike = self.watches().find(|known| known.pattern() == wish.pattern);
            let watch = match (alike, room.checked_sub(wish.pattern.len())) {
                (Some(alike), _) => wish.like(alike),
                (None, Some(left)) => {
                    room = left;
                    wish.compiled()
                }
                (None, None) => continue,
            };
            self.watches.push((id.to_owned(), watch));
        }
    }

    /// Ids and methods; unknown ones are ignored.
    pub fn unregister<'a>(&mut self, gone: impl IntoIterator<Item = (&'a str, &'a str)>) {
        for (id, method) in gone {
            self.remove(id, method);
        }
        self.revision += 1;
    }

    fn remove(&mut self, id: &str, method: &str) {
        self.dynamic.retain(|entry| entry.id != id || entry.method != method);
        if method == watch::METHOD {
            self.watches.retain(|(known, _)| known != id);
        }
    }

    /// Whether the server answers this for a file.
    pub fn can(&self, method: Method, language: &str, path: &Path) -> Support {
        let fixed = self.fixed(method).is_some_and(|options| Selector::of(options).matches(language, path));
        if fixed || self.registered(method.name()).any(|entry| entry.selector.matches(language, path)) {
            Support::Yes
        } else {
            Support::No
        }
    }

    /// Whether the server answers this for any file at all.
    pub fn offers(&self, method: Method) -> bool {
        self.fixed(method).is_some() || self.registered(method.name()).next().is_some()
    }

    /// Whether the server serves several folders and wants to be told as they come and go. What it asks for late counts
    /// as well as what it says at once.
    pub fn takes_folders(&self) -> bool {
        let told = self.capability("workspace").and_then(|workspace| workspace.get("workspaceFolders"));
        let supported = told.is_some_and(|told| told.get("supported") == Some(&Value::Bool(true)));
        let notified = told.and_then(|told| told.get("changeNotifications"));
        // An id, under which it registers for it, is a yes.
        let wants = notified.is_some_and(|it| it.as_bool().unwrap_or_else(|| it.is_string()));
        supported && (wants || self.registered("workspace/didChangeWorkspaceFolders").next().is_some())
    }

    /// The sources of pulled diagnostics for a file. Those with the same identifier are one, however often they were
    /// registered.
    pub fn diagnostic_providers(&self, language: &str, path: &Path) -> Vec<DiagnosticProvider> {
        let fixed = self.fixed(Method::Diagnostic).filter(|options| Selector::of(options).matches(language, path));
        let dynamic = self.registered(Method::Diagnostic.name());
        let dynamic = dynamic.filter(|entry| entry.selector.matches(language, path)).map(|entry| &entry.options);
        let mut providers: Vec<DiagnosticProvider> = Vec::new();
        for options in fixed.into_iter().chain(dynamic) {
            let flag = |key: &str| options.get(key).and_then(Value::as_bool).unwrap_or(false);
            let identifier = options.get("identifier").and_then(Value::as_str).map(str::to_owned);
            let (inter_file, workspace) = (flag("interFileDependencies"), flag("workspaceDiagnostics"));
            match providers.iter_mut().find(|known| known.identifier == identifier) {
                Some(known) => {
                    known.inter_file |= inter_file;
                    known.workspace |= workspace;
                }
                None => providers.push(DiagnosticProvider { identifier, inter_file, workspace }),
            }
        }
        providers
    }

    /// The identifiers of all sources of pulled diagnostics, whatever files they are for, each once; and whether each of
    /// them can be asked about the whole project.
    pub fn project_providers(&self) -> Vec<(Option<String>, bool)> {
        let fixed = self.fixed(Method::Diagnostic);
        let dynamic = self.registered(Method::Diagnostic.name()).map(|entry| &entry.options);
        let mut providers: Vec<(Option<String>, bool)> = Vec::new();
        for options in fixed.into_iter().chain(dynamic) {
            let identifier = options.get("identifier").and_then(Value::as_str).map(str::to_owned);
            let whole = options.get("workspaceDiagnostics").and_then(Value::as_bool).unwrap_or(false);
            match providers.iter_mut().find(|(known, _)| *known == identifier) {
                Some((_, known)) => *known |= whole,
                None => providers.push((identifier, whole)),
            }
        }
        providers
    }

    /// Whether the provider of this for a file has set a flag of its options (`prepareProvider`, `resolveProvider`).
    pub fn flag(&self, method: Method, name: &str, language: &str, path: &Path) -> bool {
        let fixed = self.fixed(method).filter(|options| Selector::of(options).matches(language, path));
        let dynamic = self.registered(method.name()).filter(|entry| entry.selector.matches(language, path));
        fixed
            .into_iter()
            .chain(dynamic.map(|entry| &entry.options))
            .any(|options| options.get(name) == Some(&Value::Bool(true)))
    }

    /// Whether the server runs a command of this name.
    pub fn runs(&self, command: &str) -> bool {
        let fixed = self.fixed(Method::ExecuteCommand).into_iter();
        let all = fixed.chain(self.registered(Method::ExecuteCommand.name()).map(|entry| &entry.options));
        let mut names = all.filter_map(|options| options.get("commands")?.as_array()).flatten();
        names.any(|name| name.as_str() == Some(command))
    }

    /// Whether the server wants to hear that a file or folder is moved, before or after it is.
    pub fn hears_of(&self, moved: Moved, path: &Path, folder: bool) -> bool {
        let fixed = self.result.get("capabilities").and_then(|all| all.pointer(moved.pointer())).into_iter();
        let dynamic = self.registered(moved.name()).map(|entry| &entry.options);
        fixed.chain(dynamic).any(|options| files::matches(options, path, folder))
    }

    /// How the server wants to be told of a file.
    pub fn sync(&self, language: &str, path: &Path) -> DocumentSync {
        let mut sync = DocumentSync::fixed(self.capability("textDocumentSync"));
        for entry in self.dynamic.iter().filter(|entry| entry.selector.matches(language, path)) {
            sync.register(&entry.method, &entry.options);
        }
        sync
    }

    /// Everything that the server wants to hear of through `workspace/didChangeWatchedFiles`.
    pub fn watches(&self) -> impl Iterator<Item = &Watch> {
        self.watches.iter().map(|(_, watch)| watch)
    }

    /// Whether any watch wants to hear that this happened to a file.
    pub fn wants(&self, path: &Path, event: FileEvent, roots: &[impl AsRef<Path>]) -> bool {
        self.watches().any(|watch| watch.wants(path, event, roots))
    }

    fn registered(&self, method: &str) -> impl Iterator<Item = &Entry> {
        self.dynamic.iter().filter(move |entry| entry.method == method)
    }

    fn capability(&self, key: &str) -> Option<&Value> {
        self.result.get("capabilities")?.get(key)
    }

    /// A provider's options: `true` and objects, empty ones too, say yes.
    fn fixed(&self, method: Method) -> Option<&Value> {
        let value = self.result.get("capabilities")?.pointer(method.pointer())?;
        (!matches!(value, Value::Null | Value::Bool(false))).then_some(value)
    }
}
