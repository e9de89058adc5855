//! The part of an answer that fits: how many items, which cursor leads on, as text and as JSON.

use serde_json::{Map, Value, json};

use super::{
    clean::{length, shorten},
    head::{self, number},
    item::{self, Item, Style},
};
use crate::tools::{
    ToolId, cursor,
    outcome::{Body, Outcome},
};

/// Characters kept free for the line that says what was left out.
const TAIL: usize = 110;

/// An answer within its budget.
pub(super) struct Page<'a> {
    outcome: &'a Outcome,
    tool: ToolId,
    max_chars: usize,
    head: Vec<String>,
    style: Style,
    /// Items in the body.
    here: usize,
    /// Items that can be paged through.
    total: usize,
}

impl<'a> Page<'a> {
    pub(super) fn new(outcome: &'a Outcome, tool: ToolId, max_chars: usize) -> Self {
        let here = item::count(&outcome.body);
        let total = outcome.page.total.max(outcome.page.offset + here);
        let grouped = matches!(outcome.body, Body::Places(_)) && tool == ToolId::References;
        let style = Style { grouped, several: total > 1 };
        Self { outcome, tool, max_chars, head: head::outcome(outcome, max_chars), style, here, total }
    }

    fn room(&self) -> usize {
        let head: usize = self.head.iter().map(|line| length(line) + 1).sum();
        let mark = self.mark().map_or(0, |mark| length(&mark) + 1);
        self.max_chars.saturating_sub(head + mark)
    }

    /// The last line of all, where the answer stands for a point in time.
    fn mark(&self) -> Option<String> {
        self.outcome.page.mark.as_ref().map(|mark| format!("mark {mark}"))
    }

    /// Whether nothing follows the first `shown` items.
    fn whole(&self, shown: usize) -> bool {
        self.outcome.page.offset + shown >= self.total
    }

    /// The items that `size` says fit, at least one.
    fn fitting(&self, room: usize, mut size: impl FnMut(&Item, Option<&Item>) -> usize) -> usize {
        let mut used = 0;
        let mut before = None;
        for at in 0..self.here {
            let Some(item) = Item::nth(&self.outcome.body, at) else { return at };
            used += size(&item, before.as_ref());
            let room = if self.whole(at + 1) { room } else { room.saturating_sub(self.tail_room()) };
            if used > room {
                return at.max(1);
            }
            before = Some(item);
        }
        self.here
    }

    /// The items whose text fits.
    pub(super) fn fitting_text(&self) -> usize {
        // A page that does not begin with the first item says so in its last line, however little follows.
        let room =
            if self.outcome.page.offset > 0 { self.room().saturating_sub(self.tail_room()) } else { self.room() };
        self.fitting(room, |item, before| length(&item.text(before, self.style)) + 1)
    }

    /// The items whose JSON fits.
    pub(super) fn fitting_structured(&self) -> usize {
        let frame = length(&self.frame(0).to_string());
        self.fitting(self.max_chars.saturating_sub(frame), |item, _| length(&item.json().to_string()) + 1)
    }

    fn cursor(&self, shown: usize) -> Option<String> {
        let page = &self.outcome.page;
        (!self.whole(shown)).then(|| cursor::encode(self.tool, page.offset + shown, page.fingerprint))
    }

    /// The text with the first `shown` items.
    pub(super) fn text(&self, shown: usize) -> String {
        let mut out = self.head.join("\n");
        let tail = self.tail(shown);
        let reserve = tail.as_ref().map_or(0, |tail| length(tail) + 1);
        let mut before = None;
        for at in 0..shown {
            let Some(item) = Item::nth(&self.outcome.body, at) else { break };
            let mut text = item.text(before.as_ref(), self.style);
            if at == 0 {
                // Only a single item that is larger than the whole budget is ever cut.
                text = shorten(&text, self.room().saturating_sub(reserve));
            }
            out.push('\n');
            out.push_str(&text);
            before = Some(item);
        }
        if let Some(tail) = tail {
            out.push('\n');
            out.push_str(&tail);
        }
        let Some(mark) = self.mark() else { return shorten(&out, self.max_chars) };
        format!("{}\n{mark}", shorten(&out, self.max_chars.saturating_sub(length(&mark) + 1)))
    }

    fn tail_room(&self) -> usize {
        TAIL + length(&self.narrower())
    }

    /// What makes the list shorter, said once.
    fn narrower(&self) -> String {
        let with = match self.tool {
            _ if self.outcome.page.offset > 0 => return String::new(),
            ToolId::Diagnostics => "severity, file_path, new_only",
            ToolId::WorkspaceSymbols => "a longer query, kind",
            ToolId::Symbols => "query, depth",
            ToolId::Completions => "more of the word",
            _ => return String::new(),
        };
        format!("; narrow it with {with}")
    }

    /// The last line, where items are left out before or behind.
    fn tail(&self, shown: usize) -> Option<String> {
        let offset = self.outcome.page.offset;
        if shown == 0 || offset == 0 && self.whole(shown) {
            return None;
        }
        let part =
            if offset == 0 { number(shown) } else { format!("{}–{}", number(offset + 1), number(offset + shown)) };
        let line = format!("… {part} of {} shown", number(self.total));
        Some(match self.cursor(shown) {
            Some(cursor) => format!("{line}; more: cursor \"{cursor}\"{}", self.narrower()),
            None => line,
        })
    }

    /// Everything but the items.
    fn frame(&self, shown: usize) -> Value {
        let outcome = self.outcome;
        let mut frame = Map::new();
        frame.insert("verdict".into(), json!(outcome.verdict.word()));
        let servers = outcome.servers.iter().take(32).map(|server| {
            let mut entry = Map::new();
            entry.insert("server".into(), json!(super::clean::line(&server.server, super::clean::SHORT)));
            entry.insert("verdict".into(), json!(server.verdict.word()));
            if let Some(reason) = &server.reason {
                entry.insert("reason".into(), json!(super::clean::line(reason, 120)));
            }
            Value::Object(entry)
        });
        frame.insert("servers".into(), servers.collect());
        frame.insert("summary".into(), json!(super::clean::line(&outcome.summary, 300)));
        if self.head.len() > 1 {
            frame.insert("notes".into(), json!(self.head[1..]));
        }
        frame.insert("items".into(), json!([]));
        if self.here > 0 {
            frame.insert("offset".into(), json!(outcome.page.offset));
            frame.insert("total".into(), json!(self.total));
        }
        if let Some([error, warning, info, hint]) = self.outcome.page.counts {
            frame.insert("counts".into(), json!({"error": error, "warning": warning, "info": info, "hint": hint}));
        }
        if let Some(mark) = &self.outcome.page.mark {
            frame.insert("mark".into(), json!(mark));
        }
        if let Some(cursor) = self.cursor(shown).filter(|_| self.here > 0) {
            frame.insert("cursor".into(), json!(cursor));
        }
        Value::Object(frame)
    }

    /// The structured content with the first `shown` items.
    pub(super) fn structured(&self, shown: usize) -> Value {
        let mut frame = self.frame(shown);
        let room = self.max_chars.saturating_sub(length(&frame.to_string()));
        let mut items: Vec<Value> =
            (0..shown).filter_map(|at| Item::nth(&self.outcome.body, at)).map(|item| item.json()).collect();
        if let [only] = items.as_mut_slice() {
            cut(only, room);
        }
        frame["items"] = Value::Array(items);
        frame
    }
}

/// Cuts a value that is over the budget on its own: its long texts and lists first, a file's name last.
fn cut(value: &mut Value, room: usize) {
    let mut cap = room.max(1);
    while length(&value.to_string()) > room && cap > 1 {
        cap = cap * 3 / 4;
        cut_parts(value, cap);
    }
}

fn cut_parts(value: &mut Value, cap: usize) {
    match value {
        Value::String(text) => *text = shorten(text, cap),
        Value::Array(list) => {
            list.truncate(cap.max(1));
            list.iter_mut().for_each(|value| cut_parts(value, cap));
        }
        Value::Object(map) => {
            let parts = map.iter_mut().filter(|(key, _)| *key != "file" || cap < 32);
            parts.for_each(|(_, value)| cut_parts(value, cap));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The schema of the structured content: one for every tool, flat, and no longer than a program needs to rely on it.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "verdict": {"type": "string"},
            "items": {"type": "array", "items": {"type": "object"}}
        }
    })
}
