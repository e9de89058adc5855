//! File operations: of which files a server wants to hear that they are moved (`FileOperationRegistrationOptions`).

use std::path::Path;

use serde_json::Value;

use super::Glob;

/// The request before a move, which mends what refers to the file, and the notification after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    Will,
    Did,
}

impl Moved {
    /// The method's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Will => "workspace/willRenameFiles",
            Self::Did => "workspace/didRenameFiles",
        }
    }

    pub(super) fn pointer(self) -> &'static str {
        match self {
            Self::Will => "/workspace/fileOperations/willRename",
            Self::Did => "/workspace/fileOperations/didRename",
        }
    }
}

/// More than any server names; what comes beyond is ignored.
const FILTERS: usize = 1_000;

/// Whether any filter of these options is for a path.
pub(super) fn matches(options: &Value, path: &Path, folder: bool) -> bool {
    let filters = options.get("filters").and_then(Value::as_array);
    filters.into_iter().flatten().take(FILTERS).any(|filter| {
        let text = |key: &str| filter.pointer(key).and_then(Value::as_str);
        let kind = match text("/pattern/matches") {
            Some("file") => !folder,
            Some("folder") => folder,
            _ => true,
        };
        let scheme = text("/scheme").is_none_or(|scheme| scheme == "file");
        let glob = text("/pattern/glob").is_some_and(|glob| {
            let ignore_case = filter.pointer("/pattern/options/ignoreCase") == Some(&Value::Bool(true));
            let glob = if ignore_case { Glob::new(&glob.to_lowercase()) } else { Glob::new(glob) };
            let lower = path.to_string_lossy().to_lowercase();
            glob.matches(if ignore_case { Path::new(&lower) } else { path })
        });
        kind && scheme && glob
    })
}
