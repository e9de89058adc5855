//! What the fake changes by itself: every whole word that is renamed, blanks at the ends of lines, and `ERR`, for which
//! it offers a fix where it is told of the problem that it reported; likewise for `WANTS` an import from each file that it
//! knows to declare the word.

use serde_json::{Value, json};

use super::{answers::Scene, text};

impl Scene<'_> {
    fn edit(&self, whole: &str, from: usize, to: usize, new: &str) -> Value {
        json!({"range": self.range(whole, from, to), "newText": new})
    }

    fn renamed(&self, uri: &str, params: &Value) -> Vec<(String, Vec<Value>)> {
        let Some(word) = self.word(uri, params) else { return Vec::new() };
        let new = params["newName"].as_str().unwrap_or_default();
        let files = self.mirror.all().into_iter().map(|(uri, whole)| {
            let places = text::occurrences(whole, &word).into_iter();
            (uri.to_owned(), places.map(|at| self.edit(whole, at, at + word.len(), new)).collect::<Vec<_>>())
        });
        files.filter(|(_, edits)| !edits.is_empty()).collect()
    }

    /// As `documentChanges`, with the versions of open documents; null where no word stands.
    pub(crate) fn rename(&self, uri: &str, params: &Value) -> Value {
        let renamed = self.renamed(uri, params);
        if renamed.is_empty() {
            return Value::Null;
        }
        let change = |(uri, edits): (String, Vec<Value>)| {
            let version = self.mirror.open.get(&uri).map(|document| document.version);
            json!({"textDocument": {"uri": uri, "version": version}, "edits": edits})
        };
        json!({"documentChanges": renamed.into_iter().map(change).collect::<Vec<_>>()})
    }

    /// As `changes`.
    pub(crate) fn rename_as_changes(&self, uri: &str, params: &Value) -> Value {
        let changes: serde_json::Map<_, _> =
            self.renamed(uri, params).into_iter().map(|(uri, edits)| (uri, Value::Array(edits))).collect();
        json!({ "changes": changes })
    }

    pub(crate) fn prepare_rename(&self, uri: &str, params: &Value) -> Value {
        match self.word(uri, params) {
            Some(word) => json!({"defaultBehavior": !word.is_empty()}),
            None => Value::Null,
        }
    }

    /// Takes the blanks at the ends of lines away, in the asked lines.
    pub(crate) fn format(&self, uri: &str, params: &Value) -> Value {
        let whole = self.mirror.text(uri).unwrap_or_default();
        let line = |key: &str| params["range"][key]["line"].as_u64().and_then(|n| usize::try_from(n).ok());
        let (first, last) = (line("start").unwrap_or(0), line("end").unwrap_or(usize::MAX));
        let mut at = 0;
        let mut edits = Vec::new();
        for (n, row) in whole.split('\n').enumerate() {
            let content = row.trim_end_matches('\r');
            let kept = content.trim_end_matches(' ').len();
            if kept < content.len() && (first..=last).contains(&n) {
                edits.push(self.edit(whole, at + kept, at + content.len(), ""));
            }
            at += row.len() + 1;
        }
        Value::Array(edits)
    }

    /// A fix for each problem that it is told of, if it is one of its own with its data.
    pub(crate) fn actions(&self, uri: &str, params: &Value) -> Value {
        let lazy = self.script.capabilities["codeActionProvider"]["resolveProvider"] == true;
        let told = params["context"]["diagnostics"].as_array().cloned().unwrap_or_default();
        let fixes = told.iter().filter(|problem| problem["data"]["fix"].is_string()).map(|problem| {
            let mut action = json!({
                "title": format!("mend line {}", problem["range"]["start"]["line"].as_u64().unwrap_or_default() + 1),
                "kind": "quickfix",
                "isPreferred": true,
                "diagnostics": [problem],
                "data": {"uri": uri, "problem": problem},
            });
            if !lazy {
                action["edit"] = self.fix(&action);
            }
            action
        });
        let wanted = |problem: &Value| problem["data"]["wanted"].as_str().map(str::to_owned);
        Value::Array(fixes.chain(told.iter().filter_map(wanted).flat_map(|word| self.imports(uri, &word))).collect())
    }

    fn imports(&self, uri: &str, word: &str) -> Vec<Value> {
        let declares = |whole: &str| whole.lines().any(|line| line.starts_with(&format!("def {word}(")));
        let import = |from: &str| {
            let name = from.rsplit('/').next().unwrap_or_default();
            let start = json!({"line": 0, "character": 0});
            let edit =
                json!({"range": {"start": start, "end": start}, "newText": format!("from {name} import {word}\n")});
            json!({"title": format!("import {word} from {name}"), "kind": "quickfix", "edit": {"changes": {uri: [edit]}}})
        };
        let all = self.mirror.all();
        all.iter().filter(|(from, whole)| **from != uri && declares(whole)).map(|(from, _)| import(from)).collect()
    }

    /// The action with its edit.
    pub(crate) fn resolve(&self, action: &Value) -> Value {
        let mut action = action.clone();
        action["edit"] = self.fix(&action);
        action
    }

    fn fix(&self, action: &Value) -> Value {
        let uri = action["data"]["uri"].as_str().unwrap_or_default();
        let problem = &action["data"]["problem"];
        json!({"changes": {uri: [{"range": problem["range"], "newText": problem["data"]["fix"]}]}})
    }
}
