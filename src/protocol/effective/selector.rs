//! Document selectors: which files a registration is for.

use std::path::Path;

use serde_json::Value;

use super::watch::Base;
use super::{Glob, Globs};

/// More than any server names; what comes beyond is ignored.
const FILTERS: usize = 1_000;
/// Patterns of one that is read anew for each question.
const FIXED: usize = 64;

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
    /// The selector in static options, where they carry one.
    pub(super) fn fixed(options: &Value) -> Self {
        Self::read(options, FIXED, &mut Globs::default())
    }

    /// The selector in registration options.
    pub(super) fn of(options: &Value, globs: &mut Globs) -> Self {
        Self::read(options, FILTERS, globs)
    }

    fn read(options: &Value, most: usize, globs: &mut Globs) -> Self {
        match options.get("documentSelector") {
            Some(Value::Array(filters)) => {
                let mut patterns = 0;
                let fits = |filter: &&Value| {
                    let has_one = filter.get("pattern").is_some();
                    patterns += usize::from(has_one);
                    !has_one || patterns <= most
                };
                let filters = filters.iter().filter(fits).take(FILTERS);
                Self(Some(filters.map(|filter| Filter::read(filter, globs)).collect()))
            }
            // Not of LSP's shape, but what is meant is plain.
            Some(filter @ (Value::Object(_) | Value::String(_))) => Self(Some(vec![Filter::read(filter, globs)])),
            _ => Self(None),
        }
    }

    pub(super) fn matches(&self, language: &str, path: &Path) -> bool {
        self.0.as_ref().is_none_or(|filters| filters.iter().any(|filter| filter.matches(language, path)))
    }
}

impl Filter {
    fn read(filter: &Value, globs: &mut Globs) -> Self {
        if let Some(language) = filter.as_str() {
            return Self { language: Some(language.to_owned()), pattern: None, for_files: true };
        }
        let text = |key: &str| filter.get(key).and_then(Value::as_str);
        let pattern = filter.get("pattern").and_then(Base::and_pattern);
        // A pattern that cannot be read is left out: the language still says enough.
        let pattern = pattern.map(|(base, pattern)| (base, globs.get(pattern))).filter(|(_, glob)| glob.is_readable());
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
