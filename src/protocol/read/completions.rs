//! `textDocument/completion`: a list of items, or a list object with defaults. Documentation is never read.

use std::cell::Cell;
use std::cmp::Ordering;

use serde::de::{MapAccess, SeqAccess};

use super::basic::{Flag, Short, Small, TagSet, Tags};
use super::shape::{Shape, key, skip, value};
use super::sought::{BestOf, Fit};
use super::{Caps, Found, ReadError, read};
use crate::protocol::types::{Capped, Completion, Completions};

/// `InsertTextFormat.Snippet`.
const SNIPPET: u8 = 2;

/// Reads completions. Where they are too many those are kept that fit what is typed, the first ones in the server's own
/// order.
///
/// # Errors
///
/// When the answer is neither `null`, nor a list, nor an object with `items`.
pub fn completions(raw: &[u8], caps: &Caps, typed: &str) -> Result<Completions, ReadError> {
    let typed = typed.to_lowercase();
    read(raw, "completions or null", || ListShape { caps: *caps, typed: &typed, seen: Cell::default() })
}

struct ListShape<'t> {
    caps: Caps,
    typed: &'t str,
    /// How many there are that begin with what is typed, and that have its letters.
    seen: Cell<[usize; 2]>,
}

type Order = fn(&Item, &Item) -> Ordering;

impl ListShape<'_> {
    fn items(&self) -> BestOf<ItemShape<'_>, Order> {
        let each = ItemShape { caps: self.caps, typed: self.typed, seen: &self.seen };
        let order: Order = |a, b| a.fit.cmp(&b.fit).then_with(|| a.completion.order(&b.completion));
        BestOf { cap: self.caps.items, each, order }
    }

    fn complete(&self, list: Capped<Item>, incomplete: bool, snippets: bool) -> Completions {
        let kept = |fit| list.items.iter().filter(|item| item.fit == fit).count();
        let [begin, letters] = self.seen.get();
        // Those that only have the letters are of no use beside others.
        let missed = if begin > 0 { begin - kept(Fit::Begins) } else { letters - kept(Fit::Letters) };
        let items = list.items.into_iter().map(|item| item.with_default(snippets)).collect();
        Completions { items, incomplete, total: list.total, dropped: list.dropped, missed }
    }
}

impl<'de> Shape<'de> for ListShape<'_> {
    type Value = Result<Completions, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Completions::default())
    }

    fn array<A: SeqAccess<'de>>(self, array: A) -> Result<Self::Value, A::Error> {
        Ok(self.items().array(array)?.map(|items| self.complete(items, false, false)))
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut items = Err(Found::Without("items"));
        let (mut incomplete, mut snippets) = (false, false);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "items" => items = value(&mut object, self.items())?.map_err(|_| Found::Without("items")),
                "isIncomplete" => incomplete = value(&mut object, Flag)?,
                "itemDefaults" => snippets = value(&mut object, DefaultsShape)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(items.map(|items| self.complete(items, incomplete, snippets)))
    }
}

/// Whether the list's default is a snippet; the other defaults (ranges, commit characters, data) are not needed.
struct DefaultsShape;

impl<'de> Shape<'de> for DefaultsShape {
    type Value = bool;

    fn other(self, _: Found) -> bool {
        false
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<bool, A::Error> {
        let mut format = None;
        while let Some(key) = key(&mut object)? {
            match &*key {
                "insertTextFormat" => format = value(&mut object, Small)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(format == Some(SNIPPET))
    }
}

/// A completion whose format the list's defaults may still decide; they may come behind the items.
struct Item {
    completion: Completion,
    fit: Fit,
    format: Option<u8>,
}

impl Item {
    fn with_default(mut self, snippets: bool) -> Completion {
        self.completion.snippet = self.format.map_or(snippets, |format| format == SNIPPET);
        self.completion
    }
}

#[derive(Clone, Copy)]
struct ItemShape<'s> {
    caps: Caps,
    typed: &'s str,
    seen: &'s Cell<[usize; 2]>,
}

impl<'de> Shape<'de> for ItemShape<'_> {
    type Value = Option<Item>;

    fn other(self, _: Found) -> Option<Item> {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<Item>, A::Error> {
        let (name, line) = (Short(self.caps.name), Short(self.caps.line));
        let mut completion = Completion::default();
        let (mut label, mut format, mut tags) = (None, None, TagSet::default());
        let (mut insert, mut edit, mut edit_text) = (None, None, None);
        let mut details = LabelDetails::default();
        while let Some(key) = key(&mut object)? {
            match &*key {
                "label" => label = value(&mut object, name)?,
                "labelDetails" => details = value(&mut object, LabelDetailsShape(self.caps.line))?,
                "kind" => completion.kind = value(&mut object, Small)?,
                "tags" => tags = value(&mut object, Tags)?,
                "detail" => completion.detail = value(&mut object, line)?,
                "sortText" => completion.sort_text = value(&mut object, name)?,
                "filterText" => completion.filter_text = value(&mut object, name)?,
                "insertText" => insert = value(&mut object, line)?,
                "textEdit" => edit = value(&mut object, EditShape(self.caps.line))?,
                "textEditText" => edit_text = value(&mut object, line)?,
                "insertTextFormat" => format = value(&mut object, Small)?,
                "deprecated" => completion.deprecated = value(&mut object, Flag)?,
                "preselect" => completion.preselect = value(&mut object, Flag)?,
                _ => skip(&mut object)?,
            }
        }
        let Some(label) = label else { return Ok(None) };
        completion.label = label;
        completion.insert_text = edit.or(edit_text).or(insert);
        completion.deprecated |= tags.has(1);
        completion.detail = completion.detail.or(details.detail);
        completion.description = details.description;
        let fit = completion.fit(self.typed);
        let mut seen = self.seen.get();
        if let Some(number) = seen.get_mut(fit as usize) {
            *number += 1;
        }
        self.seen.set(seen);
        Ok(Some(Item { completion, fit, format }))
    }
}

#[derive(Default)]
struct LabelDetails {
    detail: Option<String>,
    description: Option<String>,
}

struct LabelDetailsShape(usize);

impl<'de> Shape<'de> for LabelDetailsShape {
    type Value = LabelDetails;

    fn other(self, _: Found) -> LabelDetails {
        LabelDetails::default()
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<LabelDetails, A::Error> {
        let mut details = LabelDetails::default();
        while let Some(key) = key(&mut object)? {
            match &*key {
                "detail" => details.detail = value(&mut object, Short(self.0))?,
                "description" => details.description = value(&mut object, Short(self.0))?,
                _ => skip(&mut object)?,
            }
        }
        Ok(details)
    }
}

/// `newText` of a `TextEdit` or `InsertReplaceEdit`.
struct EditShape(usize);

impl<'de> Shape<'de> for EditShape {
    type Value = Option<String>;

    fn other(self, _: Found) -> Option<String> {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<String>, A::Error> {
        let mut text = None;
        while let Some(key) = key(&mut object)? {
            match &*key {
                "newText" => text = value(&mut object, Short(self.0))?,
                _ => skip(&mut object)?,
            }
        }
        Ok(text)
    }
}
