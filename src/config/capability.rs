//! The words that name what a server can do.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! capabilities {
    ($($(#[$doc:meta])* $variant:ident = $word:literal,)*) => {
        /// What a server can do, as definitions and bindings name it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Capability {
            $($(#[$doc])* $variant,)*
        }

        impl Capability {
            /// Every capability, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word for it.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}

capabilities! {
    /// Problems, pushed or pulled.
    Diagnostics = "diagnostics",
    Hover = "hover",
    Completions = "completions",
    /// Definition, declaration, type definition and implementation.
    Definitions = "definitions",
    References = "references",
    Rename = "rename",
    CodeActions = "code_actions",
    Formatting = "formatting",
    SignatureHelp = "signature_help",
    DocumentSymbols = "document_symbols",
    WorkspaceSymbols = "workspace_symbols",
    CallHierarchy = "call_hierarchy",
    TypeHierarchy = "type_hierarchy",
    /// What a server wants to say when files move.
    FileOperations = "file_operations",
}

/// A word that names no capability.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not a capability{}", super::nearest::hint(.word, Capability::ALL.iter().map(|c| c.word())))]
pub struct UnknownCapability {
    pub word: String,
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Capability {
    type Err = UnknownCapability;

    fn from_str(word: &str) -> Result<Self, UnknownCapability> {
        Self::ALL
            .iter()
            .copied()
            .find(|capability| capability.word() == word)
            .ok_or_else(|| UnknownCapability { word: word.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_serde_reads_and_writes() {
        for &capability in Capability::ALL {
            assert_eq!(serde_json::to_value(capability).unwrap(), capability.word());
            assert_eq!(capability.word().parse(), Ok(capability));
        }
        assert_eq!(Capability::ALL.len(), 14);
    }

    #[test]
    fn an_unknown_word_names_the_nearest() {
        expect_test::expect!["`hovr` is not a capability: did you mean `hover`?"]
            .assert_eq(&"hovr".parse::<Capability>().unwrap_err().to_string());
    }
}
