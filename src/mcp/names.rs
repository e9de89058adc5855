//! How tools are called on the wire, and every spelling in which a call is taken.

use std::str::FromStr;

use crate::tools::ToolId;

/// The spelling of tool names in lists. Several clients refuse `/` and `.` in a name and then fail every request, so
/// neither is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolNames {
    /// `lsp_workspace_symbols`
    #[default]
    Underscore,
    /// `lsp/workspace-symbols`, the canonical id
    Slash,
    /// `lsp.workspace-symbols`
    Dot,
}

impl FromStr for ToolNames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "underscore" => Ok(Self::Underscore),
            "slash" => Ok(Self::Slash),
            "dot" => Ok(Self::Dot),
            other => Err(format!("tool_names is `{other}`; it can be `underscore`, `slash` or `dot`")),
        }
    }
}

impl ToolNames {
    /// The tool's name in this spelling.
    pub fn name(self, tool: ToolId) -> String {
        match self {
            Self::Underscore => tool.canonical().replace(['/', '-'], "_"),
            Self::Slash => tool.canonical().to_owned(),
            Self::Dot => tool.canonical().replace('/', "."),
        }
    }

    /// langport's own words with the tools in them as this client knows them.
    pub fn respell(self, text: &str) -> String {
        if self == Self::Slash || !text.contains("lsp/") {
            return text.to_owned();
        }
        ToolId::ALL.into_iter().fold(text.to_owned(), |text, tool| text.replace(tool.canonical(), &self.name(tool)))
    }
}

/// Letters and digits only, lower case: `lsp/workspace-symbols`, `LSP_WORKSPACE_SYMBOLS` and `lspWorkspaceSymbols` are
/// one.
fn squeeze(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// The id without its namespace, squeezed: `workspacesymbols`.
fn bare(tool: ToolId) -> String {
    squeeze(tool.canonical().trim_start_matches("lsp/"))
}

/// The tool that a call means, in any spelling: with or without `lsp`, behind a client's prefix `mcp__server__`.
pub fn parse(name: &str) -> Option<ToolId> {
    let find = |name: &str| {
        let name = squeeze(name);
        ToolId::ALL.into_iter().find(|tool| {
            let bare = bare(*tool);
            name == bare || name.strip_prefix("lsp") == Some(bare.as_str())
        })
    };
    if name.len() > 256 {
        return None;
    }
    find(name).or_else(|| {
        let (_, last) = name.rsplit_once("__")?;
        find(last)
    })
}

/// What words of a name ask for: as other servers of this kind, and people, call it.
fn words(tool: ToolId) -> &'static [&'static str] {
    match tool {
        ToolId::Diagnostics => &["diagnos", "problem", "error", "lint", "check"],
        ToolId::Hover => &["hover", "docs", "documentation"],
        ToolId::Definition => &["definition", "declaration", "implementation", "goto"],
        ToolId::References => &["reference", "refs", "usage", "uses"],
        ToolId::Completions => &["complet", "autocomplet", "suggest"],
        ToolId::Signature => &["signature"],
        ToolId::Symbols => &["symbol", "outline"],
        ToolId::WorkspaceSymbols => &["symbol"],
        ToolId::Calls => &["call"],
        ToolId::Types => &["type", "supertype", "subtype"],
        ToolId::Rename => &["rename"],
        ToolId::CodeActions => &["action", "quickfix", "refactor"],
        ToolId::Format => &["format"],
        ToolId::MoveFile => &["move"],
        ToolId::Apply => &["apply", "undo"],
        ToolId::Status => &["status", "server", "restart"],
    }
}

/// The words of a name, lower case: `findReferences` has two.
fn split(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars().take(80) {
        let begins = c.is_ascii_uppercase() && small || !c.is_ascii_alphanumeric();
        if begins {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.push(c.to_ascii_lowercase()));
        }
        small = c.is_ascii_lowercase();
    }
    words.retain(|word| word.len() > 2 && word != "lsp");
    words
}

/// The names that one that no tool has may mean, best first: a slip of the pen, or a word for the same. Perhaps none.
pub fn nearest(name: &str, names: ToolNames) -> Vec<String> {
    let last = name.rsplit_once("__").map_or(name, |(_, last)| last);
    let squeezed: String = squeeze(last).chars().take(80).collect();
    let squeezed = squeezed.strip_prefix("lsp").unwrap_or(&squeezed);
    let parts = split(last);
    let far = |tool: ToolId| {
        let bare = bare(tool);
        let slips = strsim::damerau_levenshtein(squeezed, &bare);
        let has = |part: &String| words(tool).iter().any(|word| part.starts_with(word));
        if slips <= bare.len() / 4 {
            Some(slips)
        } else if squeezed.len() >= 4 && (bare.contains(squeezed) || squeezed.contains(bare.as_str())) {
            Some(10)
        } else {
            parts.iter().any(has).then_some(20)
        }
    };
    let mut near: Vec<(usize, ToolId)> = ToolId::ALL.into_iter().filter_map(|tool| Some((far(tool)?, tool))).collect();
    near.sort_unstable();
    near.truncate(3);
    near.into_iter().map(|(_, tool)| names.name(tool)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_taken() {
        for (name, tool) in [
            ("lsp/hover", ToolId::Hover),
            ("lsp_hover", ToolId::Hover),
            ("lsp.hover", ToolId::Hover),
            ("hover", ToolId::Hover),
            ("LSP_HOVER", ToolId::Hover),
            ("Lsp:Hover", ToolId::Hover),
            ("lspHover", ToolId::Hover),
            ("mcp__x__lsp_hover", ToolId::Hover),
            ("mcp__my_server__hover", ToolId::Hover),
            ("workspaceSymbols", ToolId::WorkspaceSymbols),
            ("workspace-symbols", ToolId::WorkspaceSymbols),
            ("lsp/workspace-symbols", ToolId::WorkspaceSymbols),
            ("mcp__langport__lsp_workspace_symbols", ToolId::WorkspaceSymbols),
            ("symbols", ToolId::Symbols),
            ("lsp_symbols", ToolId::Symbols),
        ] {
            assert_eq!(parse(name), Some(tool), "{name}");
        }
        for name in ["", "lsp", "lsp_", "hoover", "ho ver s", "mcp__hover__", "lsp_lsp_hover"] {
            assert_eq!(parse(name), None, "{name}");
        }
    }

    #[test]
    fn no_spelling_means_two_tools() {
        let mut all: Vec<String> = ToolId::ALL.into_iter().map(bare).collect();
        all.extend(ToolId::ALL.into_iter().map(|tool| format!("lsp{}", bare(tool))));
        let before = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), before);
    }

    #[test]
    fn every_style_can_be_called() {
        for names in [ToolNames::Underscore, ToolNames::Slash, ToolNames::Dot] {
            for tool in ToolId::ALL {
                assert_eq!(parse(&names.name(tool)), Some(tool));
            }
        }
    }

    #[test]
    fn advice_names_what_is_listed() {
        let advice = "search with lsp/workspace-symbols, or call lsp/symbols";
        assert_eq!(ToolNames::Underscore.respell(advice), "search with lsp_workspace_symbols, or call lsp_symbols");
        assert_eq!(ToolNames::Dot.respell("see lsp/status"), "see lsp.status");
        assert_eq!(ToolNames::Slash.respell(advice), advice);
        assert_eq!(ToolNames::Underscore.respell("lsp/nothing of ours"), "lsp/nothing of ours");
    }

    #[test]
    fn near_names() {
        let check =
            |name: &str, expected: &[&str]| assert_eq!(nearest(name, ToolNames::Underscore), expected, "{name}");
        check("lsp_hovr", &["lsp_hover"]);
        check("hoover", &["lsp_hover"]);
        check("mcp__other__lsp_renmae", &["lsp_rename"]);
        check("lsp_document_symbols", &["lsp_symbols", "lsp_workspace_symbols"]);
        check("goto_definition", &["lsp_definition"]);
        check("findReferences", &["lsp_references"]);
        check("get_diagnostics_for_file", &["lsp_diagnostics"]);
        check("incomingCalls", &["lsp_calls"]);
        check("lsp/implementation", &["lsp_definition"]);
        check("restart_server", &["lsp_status"]);
        check("lsp_types_of", &["lsp_types"]);
        // Nothing that could be meant is nothing.
        for name in ["", "lsp", "read_file", "bash", "web_search", "zzzzzzzz", "lsp_", "日本語", "todo_write"] {
            check(name, &[]);
        }
        assert_eq!(nearest("lsp_hovr", ToolNames::Slash), ["lsp/hover"]);
        assert_eq!(nearest("goto_definition", ToolNames::Dot), ["lsp.definition"]);
    }
}
