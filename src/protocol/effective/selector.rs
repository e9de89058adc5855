//! Document selectors: which files a registration is for.

use std::path::Path;

use serde_json::Value;

use super::Glob;
use super::watch::Base;

/// Filters of one selector that are read, and patterns among them: each is compiled.
const FILTERS: usize = 1_000;
const PATTERNS: usize = 64;

/// No selector, or a null one, means every file.
#[derive(Debug, Clone)]
pub(super) struct Selector(Option<Vec<Filter>>);

#[derive(Debug, Clone)]
struct Filter {
    language: Option<String>,
    pattern: Option<(Base, Glob)>,
    /// A filter for notebooks or for a scheme other than `file` matches no file.
    for_files: bool,
}

impl Selector {
    /// The selector in registration options, or in static ones that carry it.
    pub(super) fn of(options: &Value) -> Self {
        match options.get("documentSelector") {
            Some(Value::Array(filters)) => {
                let mut patterns = 0;
                let fits = |filter: &&Value| {
                    patterns += usize::from(filter.get("pattern").is_some());
                    filter.get("pattern").is_none() || patterns <= PATTERNS
                };
                Self(Some(filters.iter().filter(fits).take(FILTERS).map(Filter::read).collect()))
            }
            // Not of LSP's shape, but what is meant is plain.
            Some(filter @ (Value::Object(_) | Value::String(_))) => Self(Some(vec![Filter::read(filter)])),
            _ => Self(None),
        }
    }

    pub(super) fn matches(&self, language: &str, path: &Path) -> bool {
        self.0.as_ref().is_none_or(|filters| filters.iter().any(|filter| filter.matches(language, path)))
    }
}

impl Filter {
    fn read(filter: &Value) -> Self {
        if let Some(language) = filter.as_str() {
            return Self { language: Some(language.to_owned()), pattern: None, for_files: true };
        }
        let text = |key: &str| filter.get(key).and_then(Value::as_str);
        let pattern = filter.get("pattern").and_then(Base::and_pattern);
        // A pattern that cannot be read is left out: the language still says enough.
        let pattern = pattern.map(|(base, pattern)| (base, Glob::new(pattern))).filter(|(_, glob)| glob.is_readable());
        Self {
            language: text("language").filter(|language| *language != "*").map(str::to_owned),
            pattern,
            for_files: filter.get("notebook").is_none()
                && text("scheme").is_none_or(|scheme| matches!(scheme, "file" | "*")),
        }
    }

    fn matches(&self, language: &str, path: &Path) -> bool {
        self.for_files
            && self.language.as_ref().is_none_or(|wanted| wanted == language)
            && self.pattern.as_ref().is_none_or(|(base, glob)| match base {
                Base::Workspace => glob.matches(path),
                Base::Folder(folder) => path.strip_prefix(folder).is_ok_and(|rest| glob.matches(rest)),
                Base::Elsewhere => false,
            })
    }
}
