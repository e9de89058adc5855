//! `textDocument/documentSymbol`: a tree of `DocumentSymbol` or a flat list of `SymbolInformation`, flattened into
//! document order with the depth of each.

use serde::de::{MapAccess, SeqAccess};

use super::basic::{Flag, PlaceShape, RangeShape, Short, Small, TagSet, Tags};
use super::shape::{Shape, item, key, skip, value};
use super::sought::Sought;
use super::{Caps, Found, ReadError, order, read};
use crate::protocol::positions::Range;
use crate::protocol::types::{Outline, Symbol};

/// Nesting that is followed. serde_json stops at 128 levels of JSON and a symbol takes two.
const DEPTH: u16 = 60;
/// `SymbolTag.Deprecated`.
const DEPRECATED: u32 = 1;

/// Reads an outline. Past the cap what is sought is kept, with what it is in.
///
/// # Errors
///
/// When the answer is neither `null` nor a list.
pub fn outline(raw: &[u8], caps: &Caps, sought: &Sought) -> Result<Outline, ReadError> {
    read(raw, "an outline or null", || OutlineShape { wants: Wants { caps, sought } })
}

/// What is kept.
#[derive(Clone, Copy)]
struct Wants<'w> {
    caps: &'w Caps,
    sought: &'w Sought,
}

impl Wants<'_> {
    /// Symbols that are kept in all: past the cap those that are sought, and what they are in.
    fn most(&self) -> usize {
        match self.sought {
            Sought::Any => self.caps.items,
            _ => self.caps.items + self.caps.items / 2,
        }
    }

    /// How many symbols from this one on are sought by their names.
    fn named(&self, symbols: &[Symbol]) -> usize {
        let named = |symbol: &&Symbol| self.sought.by_name() && self.sought.fits(&symbol.name, symbol.depth);
        symbols.iter().filter(named).count()
    }
}

struct OutlineShape<'w> {
    wants: Wants<'w>,
}

impl<'de> Shape<'de> for OutlineShape<'_> {
    type Value = Result<Outline, Found>;

    fn other(self, found: Found) -> Self::Value {
        Err(found)
    }

    fn null(self) -> Self::Value {
        Ok(Outline::default())
    }

    fn array<A: SeqAccess<'de>>(self, array: A) -> Result<Self::Value, A::Error> {
        let mut outline = Outline::default();
        Siblings { wants: self.wants, into: &mut outline, depth: 0 }.array(array)?;
        if !self.wants.sought.by_name() {
            outline.missed = outline.total - outline.symbols.len();
        }
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
    wants: Wants<'o>,
    into: &'o mut Outline,
    depth: u16,
}

impl<'de> Shape<'de> for Siblings<'_> {
    type Value = ();

    fn other(self, _: Found) {}

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        while item(&mut array, SymbolShape { wants: self.wants, into: &mut *self.into, depth: self.depth })?.is_some() {
        }
        Ok(())
    }
}

struct SymbolShape<'o> {
    wants: Wants<'o>,
    into: &'o mut Outline,
    depth: u16,
}

impl SymbolShape<'_> {
    /// Where the symbol will stand: before its children, which may be read before its name.
    fn reserve(&mut self) -> Option<usize> {
        (self.into.symbols.len() < self.wants.most()).then(|| {
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
                "name" => name = value(&mut object, Short(self.wants.caps.name))?,
                "detail" => detail = value(&mut object, Short(self.wants.caps.line))?,
                "containerName" => container = value(&mut object, Short(self.wants.caps.name))?,
                "kind" => kind = value(&mut object, Small)?,
                "range" => range = value(&mut object, RangeShape)?,
                "selectionRange" => selection = value(&mut object, RangeShape)?,
                "location" => location = value(&mut object, PlaceShape)?.range,
                "tags" => tags = value(&mut object, Tags)?,
                "deprecated" => deprecated = value(&mut object, Flag)?,
                "children" if self.depth < DEPTH => {
                    let depth = self.depth + 1;
                    value(&mut object, Siblings { wants: self.wants, into: &mut *self.into, depth })?;
                }
                "children" => {
                    let deeper = value(&mut object, CountShape)?;
                    self.into.dropped += deeper;
                    self.into.missed += if self.wants.sought.by_name() { deeper } else { 0 };
                }
                _ => skip(&mut object)?,
            }
        }
        let flat = range.is_none() && location.is_some();
        let is_sought = name.as_deref().is_some_and(|name| self.wants.sought.fits(name, self.depth));
        let Some((name, range)) = name.zip(range.or(location)) else {
            // Its children cannot be placed without it.
            let own = usize::from(is_sought && self.wants.sought.by_name());
            let below = self.into.symbols.get(before + 1..).map_or(0, |below| self.wants.named(below));
            self.into.missed += own + below;
            self.into.dropped += 1 + self.into.total - total_before;
            self.into.total = total_before;
            self.into.symbols.truncate(before);
            return Ok(());
        };
        self.into.total += 1;
        self.into.flat |= flat;
        if slot.is_none() && is_sought {
            self.into.missed += 1;
        }
        if before >= self.wants.caps.items && !is_sought && self.into.symbols.len() <= before + 1 {
            // Nothing that is sought is in it.
            self.into.symbols.truncate(before);
            return Ok(());
        }
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
