//! Call and type hierarchies. Each item is kept as it came, because it goes back to the server with the next question.

use serde::de::{MapAccess, SeqAccess};
use serde_json::value::RawValue;

use super::basic::{RangeShape, Short, Small, Uri};
use super::keys::WithText;
use super::shape::{Many, Shape, key, skip, value};
use super::{Caps, Found, ReadError, read};
use crate::protocol::positions::Range;
use crate::protocol::types::{Call, Capped, HierarchyItem};
use crate::protocol::uri::uri_to_ref;

/// Bytes of an item that is worth sending back.
const RAW: usize = 64 * 1024;
/// Call sites of one edge that are kept.
const SITES: usize = 1000;

/// Reads the items of `prepareCallHierarchy`, `prepareTypeHierarchy`, `typeHierarchy/supertypes` and `…/subtypes`.
///
/// # Errors
///
/// When the answer is neither `null` nor a list.
pub fn hierarchy_items(raw: &[u8], caps: &Caps) -> Result<Capped<HierarchyItem>, ReadError> {
    read(raw, "hierarchy items or null", || Items { caps: *caps })
}

/// Reads the edges of `callHierarchy/incomingCalls` (with `from`) or `…/outgoingCalls` (with `to`).
///
/// # Errors
///
/// When the answer is neither `null` nor a list.
pub fn calls(raw: &[u8], caps: &Caps) -> Result<Capped<Call>, ReadError> {
    read(raw, "calls or null", || Many { cap: caps.items, each: CallShape { caps: *caps } })
}

/// A list of items, or a single one.
struct Items {
    caps: Caps,
}

impl<'de> Shape<'de> for Items {
    type Value = Result<Capped<HierarchyItem>, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Capped::default())
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut list = Capped::default();
        while let Some(read) = array.next_element_seed(WithText::new(RAW, ItemShape { caps: self.caps }))? {
            match read {
                Some((item, raw)) => {
                    list.total += 1;
                    if list.items.len() < self.caps.items {
                        list.items.push(item.with(raw));
                    }
                }
                None => list.dropped += 1,
            }
        }
        Ok(Ok(list))
    }
}

/// An item that is kept as it stands.
struct Item {
    name: String,
    kind: u8,
    detail: Option<String>,
    file: crate::protocol::types::FileRef,
    range: Range,
    selection: Range,
}

impl Item {
    fn with(self, raw: &RawValue) -> HierarchyItem {
        let Self { name, kind, detail, file, range, selection } = self;
        HierarchyItem { name, kind, detail, file, range, selection, raw: raw.to_owned() }
    }
}

struct ItemShape {
    caps: Caps,
}

impl<'de> Shape<'de> for ItemShape {
    type Value = Option<Item>;

    fn other(self, _: Found) -> Option<Item> {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<Item>, A::Error> {
        let (mut name, mut kind, mut detail, mut uri) = (None, None, None, None);
        let (mut range, mut selection) = (None, None);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "name" => name = value(&mut object, Short(self.caps.name))?,
                "kind" => kind = value(&mut object, Small)?,
                "detail" => detail = value(&mut object, Short(self.caps.line))?,
                "uri" => uri = value(&mut object, Uri)?,
                "range" => range = value(&mut object, RangeShape)?,
                "selectionRange" => selection = value(&mut object, RangeShape)?,
                _ => skip(&mut object)?,
            }
        }
        let uri = uri.filter(|uri| !uri.is_empty());
        let Some(((name, uri), range)) = name.zip(uri).zip(range.or(selection)) else { return Ok(None) };
        Ok(Some(Item {
            name,
            kind: kind.unwrap_or(0),
            detail: detail.filter(|detail: &String| !detail.is_empty()),
            file: uri_to_ref(&uri),
            range,
            selection: selection.unwrap_or(range),
        }))
    }
}

#[derive(Clone, Copy)]
struct CallShape {
    caps: Caps,
}

impl<'de> Shape<'de> for CallShape {
    type Value = Option<Call>;

    fn other(self, _: Found) -> Option<Call> {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<Call>, A::Error> {
        let (mut item, mut sites) = (None, Vec::new());
        while let Some(key) = key(&mut object)? {
            match &*key {
                "from" | "to" => item = object.next_value_seed(WithText::new(RAW, ItemShape { caps: self.caps }))?,
                "fromRanges" => {
                    let list = value(&mut object, Many { cap: SITES, each: RangeShape })?;
                    sites = list.map(|list| list.items).unwrap_or_default();
                }
                _ => skip(&mut object)?,
            }
        }
        Ok(item.map(|(item, raw)| Call { item: item.with(raw), sites }))
    }
}
