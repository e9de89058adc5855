//! `textDocument/documentSymbol`: a tree of `DocumentSymbol` or a flat list of `SymbolInformation`, flattened into
//! document order with the depth of each.

use serde::de::{MapAccess, SeqAccess};

use super::basic::{Flag, PlaceShape, RangeShape, Short, Small, TagSet, Tags};
use super::shape::{Shape, item, key, skip, value};
use super::{Caps, Found, ReadError, order, read};
use crate::protocol::positions::Range;
use crate::protocol::types::{Outline, Symbol};

/// Nesting that is followed. serde_json stops at 128 levels of JSON and a symbol takes two.
const DEPTH: u16 = 60;
/// `SymbolTag.Deprecated`.
const DEPRECATED: u32 = 1;

/// Reads an outline.
///
/// # Errors
///
/// When the answer is neither `null` nor a list.
pub fn outline(raw: &[u8], caps: &Caps) -> Result<Outline, ReadError> {
    read(raw, "an outline or null", || OutlineShape { caps: *caps })
}

struct OutlineShape {
    caps: Caps,
}

impl<'de> Shape<'de> for OutlineShape {
    type Value = Result<Outline, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Outline::default())
    }

    fn array<A: SeqAccess<'de>>(self, array: A) -> Result<Self::Value, A::Error> {
        let mut outline = Outline::default();
        Siblings { caps: &self.caps, into: &mut outline, depth: 0 }.array(array)?;
        if outline.flat {
            order::nest(&mut outline.symbols);
        } else {
            order::sort_tree(&mut outline.symbols);
        }
        Ok(Ok(outline))
    }
}

/// A list of symbols of one depth.
struct Siblings<'o> {
    caps: &'o Caps,
    into: &'o mut Outline,
    depth: u16,
}

impl<'de> Shape<'de> for Siblings<'_> {
    type Value = ();

    fn other(self, _: Found) {}

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        while item(&mut array, SymbolShape { caps: self.caps, into: &mut *self.into, depth: self.depth })?.is_some() {}
        Ok(())
    }
}

struct SymbolShape<'o> {
    caps: &'o Caps,
    into: &'o mut Outline,
    depth: u16,
}

impl SymbolShape<'_> {
    /// Where the symbol will stand: before its children, which may be read before its name.
    fn reserve(&mut self) -> Option<usize> {
        (self.into.symbols.len() < self.caps.items).then(|| {
            self.into.symbols.push(Symbol {
                name: String::new(),
                detail: None,
                kind: 0,
                range: Range::default(),
                selection: Range::default(),
                depth: self.depth,
                container: None,
                deprecated: false,
            });
            self.into.symbols.len() - 1
        })
    }
}

impl<'de> Shape<'de> for SymbolShape<'_> {
    type Value = ();

    fn other(self, _: Found) {
        self.into.dropped += 1;
    }

    fn object<A: MapAccess<'de>>(mut self, mut object: A) -> Result<(), A::Error> {
        let (before, total_before) = (self.into.symbols.len(), self.into.total);
        let slot = self.reserve();
        let (mut name, mut detail, mut container, mut kind) = (None, None, None, None);
        let (mut range, mut selection, mut location) = (None, None, None);
        let (mut tags, mut deprecated) = (TagSet::default(), false);
        while let Some(key) = key(&mut object)? {
            match &*key {
                "name" => name = value(&mut object, Short(self.caps.name))?,
                "detail" => detail = value(&mut object, Short(self.caps.line))?,
                "containerName" => container = value(&mut object, Short(self.caps.name))?,
                "kind" => kind = value(&mut object, Small)?,
                "range" => range = value(&mut object, RangeShape)?,
                "selectionRange" => selection = value(&mut object, RangeShape)?,
                "location" => location = value(&mut object, PlaceShape)?.range,
                "tags" => tags = value(&mut object, Tags)?,
                "deprecated" => deprecated = value(&mut object, Flag)?,
                "children" if self.depth < DEPTH => {
                    let depth = self.depth + 1;
                    value(&mut object, Siblings { caps: self.caps, into: &mut *self.into, depth })?;
                }
                "children" => self.into.dropped += value(&mut object, CountShape)?,
                _ => skip(&mut object)?,
            }
        }
        let flat = range.is_none() && location.is_some();
        let Some((name, range)) = name.zip(range.or(location)) else {
            // Its children cannot be placed without it.
            self.into.dropped += 1 + self.into.total - total_before;
            self.into.total = total_before;
            self.into.symbols.truncate(before);
            return Ok(());
        };
        self.into.total += 1;
        self.into.flat |= flat;
        if let Some(symbol) = slot.and_then(|slot| self.into.symbols.get_mut(slot)) {
            *symbol = Symbol {
                name,
                detail: detail.filter(|detail: &String| !detail.is_empty()),
                kind: kind.unwrap_or(0),
                range,
                selection: selection.unwrap_or(range),
                depth: self.depth,
                container: container.filter(|container: &String| !container.is_empty()),
                deprecated: deprecated || tags.has(DEPRECATED),
            };
        }
        Ok(())
    }
}

/// How many items a list has.
struct CountShape;

impl<'de> Shape<'de> for CountShape {
    type Value = usize;

    fn other(self, _: Found) -> usize {
        0
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<usize, A::Error> {
        let mut count = 0;
        while array.next_element::<serde::de::IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(count)
    }
}
