//! Where each setting was set, for what is found out about it later: the layer, and in a file the line.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use super::{layers::ConfigError, text};

/// The layer that had the last word on each key that was set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(BTreeMap<String, Origin>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    layer: String,
    /// The text of a file.
    written: Option<Arc<str>>,
    /// Whoever set it must hear of a mistake before anything else is done.
    binding: bool,
}

impl Origins {
    /// The keys of a file; managed ones are binding.
    pub(super) fn file(&mut self, file: &Path, written: &str, managed: bool) {
        let Ok(table) = written.parse::<toml::Table>() else { return };
        let written: Arc<str> = written.into();
        for key in table.keys() {
            let layer = file.display().to_string();
            self.0.insert(key.clone(), Origin { layer, written: Some(written.clone()), binding: managed });
        }
    }

    pub(super) fn variable(&mut self, name: &str, key: &str) {
        self.0.insert(key.to_owned(), Origin { layer: name.to_owned(), written: None, binding: false });
    }

    pub(super) fn flag(&mut self, key: &str) {
        let layer = format!("--{}", key.replace('_', "-"));
        self.0.insert(key.to_owned(), Origin { layer, written: None, binding: true });
    }

    /// Whether a mistake in a key keeps langport from starting: those of flags and of the administrator do.
    pub fn is_binding(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|origin| origin.binding)
    }

    /// What is wrong with a value of a key.
    pub fn wrong(&self, key: &str, value: &str, what: String) -> ConfigError {
        let origin = self.0.get(key);
        let written = origin.and_then(|origin| origin.written.as_deref());
        ConfigError {
            layer: origin.map_or_else(|| "settings".to_owned(), |origin| origin.layer.clone()),
            line: written.and_then(|written| text::line_of_value(written, key, value)),
            // A flag and a variable are named already.
            key: written.map(|_| key.to_owned()),
            what,
        }
    }
}
