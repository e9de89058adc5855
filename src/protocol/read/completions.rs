//! `textDocument/completion`: a list of items, or a list object with defaults. Documentation is never read.

use serde::de::{MapAccess, SeqAccess};

use super::basic::{Flag, Short, Small, TagSet, Tags};
use super::shape::{Many, Shape, key, skip, value};
use super::{Caps, Found, ReadError, read};
use crate::protocol::types::{Capped, Completion, Completions};

/// `InsertTextFormat.Snippet`.
const SNIPPET: u8 = 2;

/// Reads completions.
///
/// # Errors
///
/// When the answer is neither `null`, nor a list, nor an object with `items`.
pub fn completions(raw: &[u8], caps: &Caps) -> Result<Completions, ReadError> {
    read(raw, "completions or null", || ListShape { caps: *caps })
}

struct ListShape {
    caps: Caps,
}

impl ListShape {
    fn items(&self) -> Many<ItemShape> {
        Many { cap: self.caps.items, each: ItemShape { caps: self.caps } }
    }
}

impl<'de> Shape<'de> for ListShape {
    type Value = Result<Completions, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Completions::default())
    }

    fn array<A: SeqAccess<'de>>(self, array: A) -> Result<Self::Value, A::Error> {
        Ok(self.items().array(array)?.map(|items| complete(items, false, false)))
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
        Ok(items.map(|items| complete(items, incomplete, snippets)))
    }
}

fn complete(list: Capped<Item>, incomplete: bool, snippets: bool) -> Completions {
    let items = list.items.into_iter().map(|item| item.with_default(snippets)).collect();
    Completions { items, incomplete, total: list.total, dropped: list.dropped }
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
    format: Option<u8>,
}

impl Item {
    fn with_default(mut self, snippets: bool) -> Completion {
        self.completion.snippet = self.format.map_or(snippets, |format| format == SNIPPET);
        self.completion
    }
}

#[derive(Clone, Copy)]
struct ItemShape {
    caps: Caps,
}

impl<'de> Shape<'de> for ItemShape {
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
        Ok(Some(Item { completion, format }))
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
