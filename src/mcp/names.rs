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

/// The names nearest to one that no tool has, best first.
pub fn nearest(name: &str, names: ToolNames) -> Vec<String> {
    let name: String = squeeze(name).chars().take(80).collect();
    let name = name.strip_prefix("lsp").unwrap_or(&name);
    let mut near: Vec<(f64, ToolId)> = ToolId::ALL
        .into_iter()
        .map(|tool| {
            let bare = bare(tool);
            let inside = name.len() >= 4 && (bare.contains(name) || name.contains(bare.as_str()));
            (if inside { 0.95 } else { strsim::jaro_winkler(name, &bare) }, tool)
        })
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
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
        assert_eq!(nearest("lsp_hovr", ToolNames::Underscore)[0], "lsp_hover");
        assert_eq!(nearest("lsp_document_symbols", ToolNames::Slash)[0], "lsp/symbols");
        assert_eq!(nearest("goto_definition", ToolNames::Dot)[0], "lsp.definition");
        assert_eq!(nearest("find_references", ToolNames::Underscore)[0], "lsp_references");
    }
}
