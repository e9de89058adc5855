//! `textDocumentSync` in all its forms: what a server wants to be told of a document.

use serde_json::Value;

/// How changes are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChangeKind {
    #[default]
    None,
    Full,
    Incremental,
}

/// A server that wants `didSave`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Save {
    pub include_text: bool,
}

/// What a server wants to be told of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DocumentSync {
    /// Wants `didOpen` and `didClose`.
    pub open_close: bool,
    pub change: ChangeKind,
    /// Wants `didSave`.
    pub save: Option<Save>,
}

impl ChangeKind {
    fn read(value: Option<&Value>) -> Self {
        match value.and_then(Value::as_f64) {
            Some(1.0) => Self::Full,
            Some(2.0) => Self::Incremental,
            _ => Self::None,
        }
    }
}

impl Save {
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Null | Value::Bool(false) => None,
            _ => Some(Self { include_text: value.get("includeText").and_then(Value::as_bool).unwrap_or(false) }),
        }
    }
}

impl DocumentSync {
    /// From the static capability.
    pub(super) fn fixed(value: Option<&Value>) -> Self {
        match value {
            Some(Value::Number(_)) => {
                let change = ChangeKind::read(value);
                let told = change != ChangeKind::None;
                // The short form stands for everything, as editors read it.
                Self { open_close: told, change, save: told.then(Save::default) }
            }
            Some(options @ Value::Object(_)) => {
                let change = ChangeKind::read(options.get("change"));
                let open_close = options.get("openClose").and_then(Value::as_bool);
                Self {
                    // Changes of a document that was never opened make no sense.
                    open_close: open_close.unwrap_or(change != ChangeKind::None),
                    change,
                    save: options.get("save").and_then(Save::read),
                }
            }
            _ => Self::default(),
        }
    }

    /// Adds a registration that is for this document.
    pub(super) fn register(&mut self, method: &str, options: &Value) {
        match method {
            "textDocument/didOpen" | "textDocument/didClose" => self.open_close = true,
            "textDocument/didChange" => {
                self.open_close = true;
                self.change = ChangeKind::read(options.get("syncKind"));
            }
            "textDocument/didSave" => {
                let include_text = options.get("includeText").and_then(Value::as_bool).unwrap_or(false);
                self.save = Some(Save { include_text });
            }
            _ => {}
        }
    }
}
