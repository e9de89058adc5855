//! Resources: `langport://status`, and `langport://diagnostics/{path}` for a file's problems. Each is the answer of a
//! tool under an address that a client can keep, read again and subscribe to.

use percent_encoding::percent_decode_str;
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Map, Value};

use crate::tools::ToolId;

const STATUS: &str = "langport://status";
const DIAGNOSTICS: &str = "langport://diagnostics/";
const TEXT: &str = "text/plain";

/// What an address stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    Status,
    /// A file, as the workspace calls it.
    Diagnostics(String),
}

impl Subject {
    /// Reads an address. None for one that langport does not have.
    pub(super) fn parse(uri: &str) -> Option<Self> {
        if uri == STATUS {
            return Some(Self::Status);
        }
        let path = percent_decode_str(uri.strip_prefix(DIAGNOSTICS)?).decode_utf8().ok()?;
        (!path.is_empty()).then(|| Self::Diagnostics(path.into_owned()))
    }

    /// The tool that answers, and its arguments.
    pub(super) fn call(&self) -> (ToolId, Map<String, Value>) {
        match self {
            Self::Status => (ToolId::Status, Map::new()),
            Self::Diagnostics(path) => {
                (ToolId::Diagnostics, Map::from_iter([("file_path".to_owned(), path.as_str().into())]))
            }
        }
    }
}

/// The addresses that need no path.
pub(super) fn list() -> Vec<Resource> {
    let status = Resource::new(STATUS, "status")
        .with_title("Language servers")
        .with_description("Every known language server: state, root, requests, restarts, last error.");
    vec![status.with_mime_type(TEXT)]
}

/// The addresses with one.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let diagnostics = ResourceTemplate::new(format!("{DIAGNOSTICS}{{+path}}"), "diagnostics")
        .with_title("A file's problems")
        .with_description(
            "The problems of a file as it is on disk now, with a verdict. The path is relative to the workspace.",
        );
    vec![diagnostics.with_mime_type(TEXT)]
}

/// What is said of an address that langport does not have.
pub(super) fn unknown() -> String {
    format!("no such resource: there are {STATUS} and {DIAGNOSTICS}PATH, the path relative to the workspace")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert_eq!(Subject::parse("langport://status"), Some(Subject::Status));
        let path = |uri: &str| match Subject::parse(uri) {
            Some(Subject::Diagnostics(path)) => Some(path),
            _ => None,
        };
        assert_eq!(path("langport://diagnostics/src/a%20b%23.py").as_deref(), Some("src/a b#.py"));
        assert_eq!(path("langport://diagnostics//abs/a.py").as_deref(), Some("/abs/a.py"));
        for other in ["langport://diagnostics/", "langport://diagnostics/%ff", "file:///a.py", "langport://", ""] {
            assert_eq!(Subject::parse(other), None, "{other}");
        }
    }
}
