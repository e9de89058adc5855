//! The log that a scripted server writes: what it received, in order, and what broke the rules.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::eventually;

/// Reads one server's log.
#[derive(Debug, Clone)]
pub(crate) struct Log(PathBuf);

impl Log {
    pub(crate) fn new(path: &Path) -> Self {
        Self(path.to_path_buf())
    }

    /// All whole lines so far.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let text = std::fs::read(&self.0).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().filter_map(|l| serde_json::from_str(l).ok()).collect()
    }

    /// The messages received, in order.
    pub(crate) fn received(&self) -> Vec<Value> {
        self.lines().into_iter().filter(|l| l.get("in").is_some()).map(|mut l| l["in"].take()).collect()
    }

    /// The methods received, in order, answers left out.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.received().iter().filter_map(|m| m["method"].as_str().map(str::to_owned)).collect()
    }

    /// The params of every message with this method.
    pub(crate) fn of(&self, method: &str) -> Vec<Value> {
        self.received().into_iter().filter(|m| m["method"] == method).map(|mut m| m["params"].take()).collect()
    }

    pub(crate) fn count(&self, method: &str) -> usize {
        self.of(method).len()
    }

    /// Waits until `method` has come `times` times; answers with its params in order.
    #[track_caller]
    pub(crate) fn wait(&self, method: &str, times: usize) -> Vec<Value> {
        eventually(&format!("{times} × {method}; the server got {:?}", self.methods()), || {
            Some(self.of(method)).filter(|m| m.len() >= times)
        })
    }

    /// What an event said, each time it happened.
    pub(crate) fn events(&self, name: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|l| l["event"] == name).collect()
    }

    #[track_caller]
    pub(crate) fn wait_event(&self, name: &str, times: usize) -> Vec<Value> {
        eventually(&format!("{times} × event {name}"), || Some(self.events(name)).filter(|e| e.len() >= times))
    }

    pub(crate) fn starts(&self) -> usize {
        self.events("start").len()
    }

    /// Process ids, in the order of the starts.
    pub(crate) fn pids(&self) -> Vec<u32> {
        self.events("start").iter().filter_map(|e| u32::try_from(e["pid"].as_u64()?).ok()).collect()
    }

    /// What langport answered to the server's own request with this id.
    #[track_caller]
    pub(crate) fn answer_to(&self, id: &Value) -> Value {
        eventually(&format!("an answer to the server's request {id}"), || {
            self.events("answer").into_iter().find(|e| e["id"] == *id).map(|mut e| e["answer"].take())
        })
    }

    /// Broken rules.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.events("violation").iter().map(|e| e["about"].as_str().unwrap_or_default().to_owned()).collect()
    }
}
