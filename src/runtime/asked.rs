//! Asks a server by the commands that its definition names: for a file's problems one that pushes them late, in parts and
//! without version, and for symbols one that searches a single project otherwise.

use futures::future::try_join_all;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    protocol::{
        positions::Encoding,
        read::{self, Caps},
        types::{Listed, SymbolHits},
        uri::path_to_uri,
    },
    registry::ServerCommand,
};

use super::{
    ground::Ground,
    query::{Answer, Question, Reply},
    readiness::Standing,
    session::Session,
    shortfall::Shortfall,
    sync::Focus,
    verdict::Verdict,
};

/// What a search for symbols has found.
pub(super) struct Symbols {
    pub hits: SymbolHits,
    pub encoding: Encoding,
    /// Why it may be a part.
    pub part: Option<String>,
}

impl Session {
    /// What the commands say, or nothing where one was refused: then what the server pushes has to do.
    ///
    /// # Errors
    /// When the server died.
    pub(super) async fn asked(&self, question: &Question, focus: &Focus) -> Result<Option<Reply>, Shortfall> {
        let commands = &self.entry.def.diagnostics.ask;
        if commands.is_empty() {
            return Ok(None);
        }
        let lists = match try_join_all(commands.iter().map(|command| self.ask_one(question, focus, command))).await {
            Ok(lists) => lists,
            Err(died @ Shortfall::Died { .. }) => return Err(died),
            Err(refused) => {
                tracing::debug!(server = %self.entry.name, %refused, "it does not answer what its problems are");
                return Ok(None);
            }
        };
        let mut record = self.heard.record();
        if record.sent.get(&focus.path).is_none_or(|sent| sent.version != focus.sent.version) {
            // Told anew, or closed to make room, by another call: the answers may be about either text.
            return Ok(None);
        }
        let (verdict, reason) = match record.readiness.standing(Instant::now()) {
            Standing::Loading { .. } => (Verdict::Indexing, Some("it is still loading the project".to_owned())),
            Standing::Ready => (Verdict::Fresh, None),
        };
        let answer = Answer::Problems(Listed::merge(lists));
        Ok(Some(Reply { answer, verdict, reason, remarks: Vec::new(), encoding: self.encoding.in_utf16() }))
    }

    /// Searches for symbols: by the command that the definition names, else as LSP has it.
    pub(super) async fn symbols(
        &self,
        ground: &Ground,
        question: &Question,
        query: &str,
    ) -> Result<Symbols, Shortfall> {
        let shape = |error: read::ReadError| Shortfall::Shape(error.to_string());
        let mut part = None;
        if let Some(command) = &self.entry.def.reach.search {
            let fill = |value| filled(value, &[("${query}", query)]);
            let arguments: Vec<Value> = command.arguments.iter().map(fill).collect();
            let params = json!({"command": command.command, "arguments": arguments});
            let asked = self.request_once(question, "workspace/executeCommand", &params).await;
            match asked
                .and_then(|answer| read::tsserver_symbols(answer.result(), &Caps::default(), query).map_err(shape))
            {
                Ok(hits) => return Ok(Symbols { hits, encoding: self.encoding.in_utf16(), part: None }),
                // An older one, perhaps.
                Err(Shortfall::Server { .. } | Shortfall::Shape(_) | Shortfall::Unsupported(_)) => {
                    part = Some("it may have searched one of several projects".into());
                }
                Err(other) => return Err(other),
            }
        }
        let (method, params) = (question.query.method().name(), json!({"query": query}));
        let response = self.request_retrying(ground, question, method, &params).await?;
        let hits = read::symbol_hits(response.result(), &Caps::default(), query).map_err(shape)?;
        Ok(Symbols { hits, encoding: self.encoding, part })
    }

    async fn ask_one(&self, question: &Question, focus: &Focus, command: &ServerCommand) -> Result<Listed, Shortfall> {
        let path = focus.path.to_string_lossy();
        let uri = path_to_uri(&focus.path);
        let arguments: Vec<Value> =
            command.arguments.iter().map(|value| filled(value, &[("${uri}", &uri), ("${path}", &path)])).collect();
        let params = json!({"command": command.command, "arguments": arguments});
        let response = self.request_once(question, "workspace/executeCommand", &params).await?;
        read::tsserver_problems(response.result(), &Caps::default())
            .map_err(|error| Shortfall::Shape(error.to_string()))
    }
}

/// An argument with what stands for these names in its texts.
fn filled(value: &Value, with: &[(&str, &str)]) -> Value {
    match value {
        Value::String(text) => with.iter().fold(text.clone(), |text, (name, with)| text.replace(name, with)).into(),
        Value::Array(items) => items.iter().map(|item| filled(item, with)).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), filled(value, with))).collect(),
        other => other.clone(),
    }
}
