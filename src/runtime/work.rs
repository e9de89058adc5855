//! What a server tells of its work at single files: clangd parses the includes of a text after it has published a first
//! list for it, and that list is short.

use std::path::PathBuf;

use regex::Regex;
use serde_json::Value;
use tokio::time::Instant;

use crate::protocol::{types::FileRef, uri::uri_to_ref};

/// How it is told.
#[derive(Debug, Clone)]
pub struct WorkRule {
    /// A notification of the server's own, whose `uri` is the file's.
    pub method: String,
    /// The field of its parameters (dots descend) that says what the server is doing.
    pub field: String,
    /// What it says there while lists are being made.
    pub working: Regex,
}

impl WorkRule {
    /// The file that a notification is about, and whether the server is at work at it.
    pub(super) fn read(&self, method: &str, params: &Value) -> Option<(PathBuf, bool)> {
        if method != self.method {
            return None;
        }
        let FileRef::Path(path) = uri_to_ref(params.get("uri")?.as_str()?) else { return None };
        let state = self.field.split('.').try_fold(params, |value, key| value.get(key))?.as_str()?;
        Some((path, self.working.is_match(state)))
    }
}

/// What is known of the work at one file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    busy: bool,
    /// When it was last told to be over.
    over: Option<Instant>,
    /// The newest text has brought a list.
    listed: bool,
    /// Work has begun after that list: another one follows.
    more: bool,
}

impl Work {
    /// The server was told a new text.
    pub(super) fn told(&mut self) {
        (self.listed, self.more) = (false, false);
    }

    /// A list for the newest text has come.
    pub(super) fn listed(&mut self) {
        (self.listed, self.more) = (true, false);
    }

    /// The server has said whether it is at work.
    pub(super) fn heard(&mut self, busy: bool, now: Instant) {
        self.busy = busy;
        if busy {
            self.more |= self.listed;
        } else {
            self.over = Some(now);
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy
    }

    /// Whether a list has to follow the one that is there.
    pub(super) fn owes_more(&self) -> bool {
        self.more
    }

    /// From when on it has been quiet, at the earliest.
    pub(super) fn quiet_since(&self, list: Instant) -> Instant {
        self.over.map_or(list, |over| over.max(list))
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use serde_json::json;

    use super::*;

    #[test]
    fn the_file_and_the_state_are_read() {
        let rule = WorkRule {
            method: "textDocument/clangd.fileStatus".into(),
            field: "state".into(),
            working: Regex::new("parsing|queued").unwrap(),
        };
        let read = |params| rule.read("textDocument/clangd.fileStatus", &params);
        let told = |state: &str| json!({"uri": "file:///w/a.cpp", "state": state});
        let path = Path::new("/w/a.cpp").to_owned();
        assert_eq!(read(told("parsing includes, running Update")), Some((path.clone(), true)));
        assert_eq!(read(told("idle")), Some((path.clone(), false)));
        assert_eq!(read(told("running Hover")), Some((path, false)));
        for wrong in [json!({}), json!({"uri": 3, "state": "idle"}), json!({"uri": "file:///w/a.cpp"}), json!(null)] {
            assert_eq!(read(wrong), None);
        }
        assert_eq!(rule.read("other", &told("idle")), None);
    }

    #[test]
    fn work_after_a_list_owes_another_one() {
        let t = Instant::now();
        let ms = |n| t + Duration::from_millis(n);
        let mut work = Work::default();
        work.heard(true, t);
        assert!(work.is_busy() && !work.owes_more(), "no list yet");
        work.listed();
        work.heard(true, ms(1));
        assert!(work.owes_more());
        work.heard(false, ms(2));
        assert!(!work.is_busy() && work.owes_more(), "idle for a moment between two threads of the server");
        work.listed();
        work.heard(false, ms(4));
        assert!(!work.is_busy() && !work.owes_more());
        assert_eq!(work.quiet_since(ms(3)), ms(4));
        work.heard(true, ms(5));
        work.told();
        assert!(work.is_busy() && !work.owes_more(), "another text: its first list is to come");
    }
}
